"""The tables of formats in docs/support.md, which this file writes if it is run as a program.

Small tokenizers of every kind are saved in every format and loaded again, and files of other
programs are loaded. The table says what worked.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import mutants
from gguf_files import keys, packed
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from vocabularies import SAMPLES, trained

import digram
from digram import Definition, DigramError, VocabError, WordPieceModel
from digram.formats import gguf, huggingface, sentencepiece, vocab_txt
from digram.formats._gguf_splits import _REFUSED as REFUSED_SPLITS
from digram.formats._merged import merged
from digram.formats._protobuf import bytes_field
from digram.formats._registry import FORMATS, TokenizerFormat
from digram.formats._sentencepiece_file import Kind, ModelFile, Normalization, Piece, Type
from digram.formats.gguf import _REFUSED as REFUSED_KINDS

PAGE = Path(__file__).parents[2] / "docs" / "support.md"
START, END = "<!-- made by tests/formats/test_support_formats.py -->\n", "<!-- end of formats -->"

KINDS: dict[str, Callable[[Definition], bool]] = {
    "BPE of bytes": lambda of: of.model.kind == "bpe" and of.unit == "byte" and of.model.portable,
    "BPE of characters": lambda of: of.model.kind == "bpe" and of.unit == "char",
    "BPE by scores": lambda of: of.model.kind == "scored",
    "Unigram": lambda of: of.model.kind == "unigram",
    "WordPiece": lambda of: of.model.kind == "wordpiece",
    "words": lambda of: of.model.kind == "wordlevel",
    "longest token": lambda of: of.model.kind == "greedy",
    "others": lambda of: of.model.kind == "bpe" and not of.model.portable,
}
"""The kinds of models: whether a definition is one."""
TEXTS = ("low an  na", "12 ana, <call>é\n")


def kind_of(definition: Definition) -> str:
    return next(name for name, fits in KINDS.items() if fits(definition))


UNKNOWN = Piece("<unk>", 0.0, Type.UNKNOWN)
SPACED = [Piece("▁", -1.0), Piece("a", -3.0), Piece("▁a", -2.0)]
BYTE_PIECES = [Piece(f"<0x{byte:02X}>", 0.0, Type.BYTE) for byte in range(256)]


def model_file(**fields: Any) -> bytes:
    """A `.model` with few pieces."""
    pieces = [UNKNOWN, *SPACED[: 2 if fields.get("kind") is Kind.CHAR else 3]]
    return replace(ModelFile(pieces=pieces), **fields).dumps()


def definitions() -> Iterator[Definition]:
    """Tokenizers of every kind, with what files of each format have."""
    yield from SAMPLES.values()
    yield from (file.load(file.data) for file in mutants.FILES.values())
    plain = Normalization(name="identity", remove_extra_whitespaces=False)
    for kind in Kind:
        yield sentencepiece.loads(model_file(kind=kind, normalization=plain))
    fallback = {"pieces": [UNKNOWN, *SPACED, *BYTE_PIECES], "byte_fallback": True}
    by_scores = sentencepiece.loads(model_file(kind=Kind.BPE, normalization=plain, **fallback))
    yield by_scores
    yield merged(by_scores, "a file of merges")
    pieces = models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0)], 0, False)
    theirs = Tokenizer(pieces)
    theirs.pre_tokenizer, theirs.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    yield huggingface.loads(theirs.to_str().encode())
    yield trained(superwords="two-stage")
    yield trained(picky=0.8)
    bert = vocab_txt.loads(mutants.FILES["vocab.txt"].data, encoding="bert-uncased")
    yield replace(bert, model=WordPieceModel(max_word_chars=1 << 30))
    special = {"unknown": 100, "seperator": 102, "padding": 0, "cls": 101, "mask": 103}
    names = [f"[{id}]" for id in range(104)] + ["▁low", "er", "▁a", "n"]
    yield gguf.loads(
        packed(
            keys(
                model=(8, "bert"),
                tokens=(9, (8, names)),
                token_type=None,
                merges=None,
                **{f"{key}_token_id": (4, id) for key, id in special.items()},
            )
        )
    )


def written(definition: Definition, format: TokenizerFormat) -> Definition:
    """The tokenizer saved in a format and loaded again; raises if the format cannot store it."""
    tok = digram.Tokenizer(definition)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("a" if format.pairs else f"a{format.suffix or ''}")
        tok.save(path, format=format.name)
        given = {} if format.describes_itself else {"pretokenizer": definition.pretokenizer}
        again = digram.load(path, **given)  # type: ignore[arg-type]
    for text in TEXTS:
        try:
            ids = tok.encode(text)
        except DigramError:  # a character that is not known
            continue
        assert again.encode(text) == ids, (format.name, definition)
        assert again.decode(ids) == tok.decode(ids), (format.name, definition)
    return again.definition


def outcomes() -> dict[tuple[str, str], tuple[str, str]]:
    """For each format and kind of model what is supported, and if nothing is written, why not."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for definition in definitions():
        kind = kind_of(definition)
        for name, format in FORMATS.items():
            if found.get((name, kind), ("", ""))[0]:
                continue
            try:
                again = written(definition, format)
            except VocabError as error:
                reason = str(error).split(". ")[0].rstrip(".")
                found.setdefault((name, kind), ("", reason))
            else:
                as_other = "" if kind_of(again) == kind else f", as {kind_of(again)}"
                found[name, kind] = (f"written{as_other}" if as_other else "yes", "")
    return found


def refused_files() -> Iterator[tuple[str, str, bytes]]:
    """Files that digram recognises and does not load: the format, what is in them, and the file."""
    for kind in REFUSED_KINDS:
        yield ".gguf", f"model `{kind}`", packed(keys(model=(8, kind)))
    for pre in REFUSED_SPLITS:
        yield ".gguf", f"pre `{pre}`", packed(keys(pre=(8, pre)))
    kinds: dict[str, dict[str, Any]] = {
        "words with `byte_fallback`": {
            "kind": Kind.WORD,
            "byte_fallback": True,
            "pieces": [UNKNOWN, *SPACED, *BYTE_PIECES],
        },
        "words, some of them not in use": {
            "kind": Kind.WORD,
            "pieces": [UNKNOWN, *SPACED, Piece("▁b", -1.0, Type.UNUSED)],
        },
        "`escape_whitespaces` false": {"normalization": Normalization(escape_whitespaces=False)},
    }
    for name, fields in kinds.items():
        yield "SentencePiece's `.model`", name, model_file(**fields)
    map_of_decoding = bytes_field(5, bytes_field(2, b"\4\0\0\0\0\0\0\0"))
    yield "SentencePiece's `.model`", "a denormalizer", model_file() + map_of_decoding


def first_sentence(error: DigramError) -> str:
    return error.message.split(". ")[0].rstrip(".").replace("|", r"\|")


def table() -> str:
    found = outcomes()
    lines = ["| format | " + " | ".join(KINDS) + " |", "|---" * (1 + len(KINDS)) + "|"]
    for name, format in FORMATS.items():
        cells = [found[name, kind][0] or "–" for kind in KINDS]
        lines.append(f"| `{name}`: {format.files} | {' | '.join(cells)} |")
    lines += ["", "| format | refused when it is written | why |", "|---|---|---|"]
    for name in FORMATS:
        reasons: dict[str, list[str]] = {}
        for kind in KINDS:
            _, reason = found[name, kind]
            if reason:
                general = re.sub(
                    r", but the model of this.*|, but this tokenizer has one.*", "", reason
                )
                reasons.setdefault(general, []).append(kind)
        for reason, kinds in reasons.items():
            lines.append(f"| `{name}` | {', '.join(kinds)} | {reason} |")
    lines += ["", "| format | refused when it is read | why |", "|---|---|---|"]
    for files, what, data in refused_files():
        with tempfile.NamedTemporaryFile(delete=False) as file:
            file.write(data)
        try:
            digram.load(file.name)
        except VocabError as error:
            lines.append(f"| {files} | {what} | {first_sentence(error)} |")
        else:
            raise AssertionError(f"{what} is loaded")
        finally:
            Path(file.name).unlink()
    return "\n".join(lines) + "\n"


def test_the_page_says_which_formats_are_supported() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index(START) + len(START) : page.index(END)] == table()


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(START) + len(START)], text[text.index(END) :]
    PAGE.write_text(before + table() + after, encoding="utf-8")
