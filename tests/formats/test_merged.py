"""SentencePiece's BPE in other formats, for which other programs give the same ids."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from formats.test_sentencepiece import OPTIONS, PARTS, texts, trained
from tokenizers import Tokenizer

import digram
from digram import Definition, Pretokenizer, VocabError
from digram.formats import sentencepiece
from digram.formats._sentencepiece_file import Kind, ModelFile, Normalization, Piece, Type
from digram.formats.huggingface import dumps
from digram.pretokenizers import Prepend, Replace

spm = pytest.importorskip("sentencepiece")

# Hugging Face's library finds control pieces in all text.
TEXTS = [part for part in PARTS if part not in ("<s>", "</s>", "<unk>")]
PLAIN = Normalization(name="identity", remove_extra_whitespaces=False)
FOUND: dict[str, dict[str, Any]] = {
    "Llama 2": OPTIONS["Llama 2"],
    "Gemma": OPTIONS["Gemma"],
    "unknown characters": {
        "model_type": "bpe",
        "character_coverage": 0.98,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
    "characters": {
        "model_type": "char",
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
}


@pytest.mark.parametrize("name", FOUND)
def test_other_libraries_give_the_same_ids(name: str, tmp_path: Path) -> None:
    data = trained(**FOUND[name])
    scored = digram.Tokenizer(sentencepiece.loads(data))
    assert scored.definition.model.kind == "scored"
    scored.save(tmp_path / "tokenizer.json", format="huggingface")
    processor = spm.SentencePieceProcessor(model_proto=data)
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = digram.load(tmp_path / "tokenizer.json")
    assert again.special_tokens == scored.special_tokens
    unknown = processor.unk_id()
    for text in texts(400, 3, TEXTS):
        ids = processor.encode(text)
        encoded = theirs.encode(text, add_special_tokens=False)
        assert encoded.ids == again.encode(text) == scored.encode(text) == ids, text
        decoded = theirs.decode(ids, skip_special_tokens=False)
        assert decoded == again.decode(ids) == scored.decode(ids), text
        assert unknown in ids or decoded == processor.decode(ids), text


@pytest.mark.parametrize("name", ["Llama 2", "characters"])
def test_a_gguf_file_has_the_same_ids(name: str, tmp_path: Path) -> None:
    scored = digram.Tokenizer(sentencepiece.loads(trained(**FOUND[name])))
    scored.save(tmp_path / "a.gguf")
    again = digram.load(tmp_path / "a.gguf")
    for text in texts(200, 4, TEXTS):
        assert again.encode(text) == scored.encode(text), text
        assert again.decode(again.encode(text)) == scored.decode(scored.encode(text)), text


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *((name, "tokenizer.json") for name in FOUND),
        ("Llama 2", "a.gguf"),
        ("characters", "a.gguf"),
    ],
)
def test_the_model_file_of_merges_has_the_same_ids(name: str, file: str, tmp_path: Path) -> None:
    data = trained(**FOUND[name])
    digram.Tokenizer(sentencepiece.loads(data)).save(tmp_path / file, allow_loss=True)
    merged = digram.load(tmp_path / file)
    merged.save(tmp_path / "again.model", allow_loss=True)
    again = digram.load(tmp_path / "again.model")
    assert merged.definition.model.kind == "bpe"
    assert again.definition.model.kind == "scored"
    theirs = spm.SentencePieceProcessor(model_file=str(tmp_path / "again.model"))
    before = spm.SentencePieceProcessor(model_proto=data)
    assert (theirs.unk_id(), theirs.eos_id()) == (before.unk_id(), before.eos_id())
    for text in texts(300, 5, TEXTS):
        ids = before.encode(text)
        assert theirs.encode(text) == again.encode(text) == merged.encode(text) == ids, text
        assert again.decode(ids) == merged.decode(ids), text


def of_merges(**fields: Any) -> digram.Tokenizer:
    """A tokenizer with the symbol "▁", some parts of which are others."""
    definition = Definition(
        tokens=[b"a", b"b", b" ", b"ab", b"aba"],
        model=digram.BpeModel([(0, 1, 3), (3, 0, 4)], fuse_unknown=True),
        pretokenizer=Pretokenizer(None, normalizer=[Replace("▁", " "), Prepend(" ")]),
        special_tokens={"<unk>": 5},
        unit="char",
        on_unknown=digram.SpecialToken("<unk>"),
        space_symbol="▁",
        strip_first_space=True,
    )
    return digram.Tokenizer(replace(definition, **fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pretokenizer": Pretokenizer(None)}, "which is not that of Llama 2"),
        ({"pretokenizer": Pretokenizer("gpt2")}, "which is not that of Llama 2"),
        ({"strip_first_space": False}, "strip_first_space=False"),
        ({"model": digram.BpeModel([(0, 1, 3), (3, 0, 4)])}, "an unknown token for each"),
        (
            {"model": digram.BpeModel([(0, 1, 3)], fuse_unknown=True, ignore_merges=True)},
            "not applied by rank alone",
        ),
        ({"model": digram.BpeModel([(0, 1, 3)], fuse_unknown=True)}, "no scores mean the merges"),
        ({"dropout": 0.5}, "dropout"),
        (
            {
                "special_tokens": {"<unk>": 5, "<x>": 6},
                "matching": {"<x>": digram.Matching(always=True)},
            },
            "it puts one behind each",
        ),
        (
            {
                "special_tokens": {"<unk>": 5, "  ": 6},
                "matching": {"  ": digram.Matching(always=True, normalized=False)},
                "pretokenizer": Pretokenizer(None, normalizer=Replace("▁", " ")),
                "strip_first_space": False,
            },
            "where the symbol of spaces stands",
        ),
        (
            {
                "special_tokens": {},
                "on_unknown": "error",
                "model": digram.BpeModel([(0, 1, 3), (3, 0, 4)]),
            },
            "unknown characters are an error",
        ),
        (
            {
                "special_tokens": {},
                "on_unknown": "bytes",
                "model": digram.BpeModel([(0, 1, 3), (3, 0, 4)]),
                "byte_ids": [*range(5, 261)],
                "tokens": [b"a", b"b", b" ", b"ab", b"aba", *(bytes([n]) for n in range(256))],
            },
            "without a special token for unknown characters",
        ),
    ],
)
def test_merges_that_no_model_file_means(
    fields: dict[str, Any], message: str, tmp_path: Path
) -> None:
    of_merges().save(tmp_path / "a.model")
    with pytest.raises(VocabError, match=message):
        of_merges(**fields).save(tmp_path / "b.model")
    assert not (tmp_path / "b.model").exists()


def test_ties_of_scores() -> None:
    """Overlapping tokens of one score: the leftmost is made first, which no merges mean."""
    rng = random.Random(5)
    equal = refused = 0
    for _ in range(60):
        letters = [Piece(letter, -20.0) for letter in ("▁", *"ab")]
        names = {"".join(rng.choices("ab", k=rng.randrange(2, 4))) for _ in range(4)}
        made = [Piece(name, -float(rng.randrange(3))) for name in sorted(names)]
        pieces = [Piece("<unk>", 0.0, Type.UNKNOWN), *letters, *made]
        data = ModelFile(pieces=pieces, kind=Kind.BPE, normalization=PLAIN).dumps()
        scored = digram.Tokenizer(sentencepiece.loads(data))
        try:
            theirs = Tokenizer.from_str(dumps(scored.definition).decode())
        except VocabError:
            with pytest.raises(VocabError, match="none mean the scores"):
                dumps(scored.definition)
            refused += 1
            continue
        equal += 1
        for _ in range(50):
            text = "".join(rng.choices("aab ", k=rng.randrange(12)))
            assert theirs.encode(text, add_special_tokens=False).ids == scored.encode(text), text
    assert min(equal, refused) > 5


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"normalization": Normalization()}, "the removal of spaces"),
        ({"whitespace_as_suffix": True}, "add_space='behind'"),
        ({"pieces": [Piece("▁b", -1.0, Type.UNUSED)]}, "pieces that are not in use"),
        ({"pieces": [Piece("<x>", 0.0, Type.USER_DEFINED)]}, "others put one behind each"),
    ],
)
def test_what_no_other_library_does(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    pieces = [Piece("<unk>", 0.0, Type.UNKNOWN), Piece("▁", -1.0), Piece("a", -2.0)]
    given = {"kind": Kind.BPE, "normalization": PLAIN, **fields}
    given["pieces"] = pieces + given.get("pieces", [])
    tok = digram.Tokenizer(sentencepiece.loads(ModelFile(**given).dumps()))
    for format in ("huggingface", "gguf"):
        with pytest.raises(VocabError, match=message):
            tok.save(tmp_path / "a", format=format)
    tok.save(tmp_path / "a.json")
    assert digram.load(tmp_path / "a.json") == tok
