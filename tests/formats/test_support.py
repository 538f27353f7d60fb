"""The table of support in docs/support.md. After a change: python tests/formats/test_support.py.

Each part of a tokenizer.json is put into a file by the library itself. The table says what digram
does with that file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

import digram
from digram import DigramError, VocabError
from digram.formats.huggingface import dumps, loads

PAGE = Path(__file__).parents[2] / "docs" / "support.md"
START, END = "<!-- made by tests/formats/test_support.py -->\n", "<!-- end -->"

LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
BYTES = {letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
LETTERS = {letter: i for i, letter in enumerate("abc ")}
BEHAVIORS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
NAMED_BYTES = [(f"<0x{byte:02X}>", -9.0) for byte in range(256)]
UNKNOWN: dict[str, Any] = {"vocab": {"[UNK]": 0, "a": 1, "##a": 2}, "unk_token": "[UNK]"}


def of_bytes(**parts: Any) -> Tokenizer:
    """A tokenizer of bytes with some parts."""
    made = Tokenizer(models.BPE(vocab=BYTES, merges=[]))
    made.pre_tokenizer, made.decoder = LEVEL, decoders.ByteLevel()
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def before_bytes(cut: Any) -> Tokenizer:
    return of_bytes(pre_tokenizer=pre_tokenizers.Sequence([cut, LEVEL]))


def spaced(cut: Any, normalizer: Any = None, decoder: Any = None) -> Tokenizer:
    vocab = {"<unk>": 0, "▁": 1, "a": 2}
    made = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>"))
    if cut is not None:
        made.pre_tokenizer = cut
    if normalizer is not None:
        made.normalizer = normalizer
    made.decoder = decoder or decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    return made


def of_model(model: Any, **parts: Any) -> Tokenizer:
    made = Tokenizer(model)
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def added(**flags: bool) -> Tokenizer:
    made = of_bytes()
    made.add_tokens([AddedToken("<x>", **{"special": False, "normalized": False, **flags})])
    return made


def of_normalizers() -> Iterator[tuple[str, Tokenizer]]:
    alone = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "Strip")
    for name in (*alone, "BertNormalizer"):
        yield f"`{name}`", of_bytes(normalizer=getattr(normalizers, name)())
    letters = normalizers.ByteLevel()
    yield "`ByteLevel`", of_bytes(normalizer=letters, pre_tokenizer=None)
    yield "`ByteLevel` before that pre-tokenizer", of_bytes(normalizer=letters)
    yield "`Prepend`", of_bytes(normalizer=normalizers.Prepend("▁"))
    yield "`Replace` of a text", of_bytes(normalizer=normalizers.Replace(" ", "▁"))
    yield "`Replace` of a regex", of_bytes(normalizer=normalizers.Replace(Regex(r"\s+"), " "))
    both = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    yield "`Sequence`", of_bytes(normalizer=both)
    yield "`Sequence` of nothing", of_bytes(normalizer=normalizers.Sequence([]))


def of_pre_tokenizers() -> Iterator[tuple[str, Tokenizer]]:
    cut: Any
    for behavior in BEHAVIORS:
        for inverted in (False, True):
            cut = pre_tokenizers.Split(Regex(r"\s+"), behavior, invert=inverted)
            yield f"`Split`, {behavior}{', inverted' * inverted}", before_bytes(cut)
    for behavior in BEHAVIORS[2:]:
        cut = pre_tokenizers.Split(Regex(r"\d{3}|\. (?=\p{Lu})"), behavior)
        yield f"`Split`, {behavior}, of any regex", before_bytes(cut)
    cut = pre_tokenizers.Split(Regex("a*"), "merged_with_next")
    yield "`Split`, merged or contiguous, that may match nothing", before_bytes(cut)
    yield "`Split` of an empty pattern", before_bytes(pre_tokenizers.Split("", "isolated"))
    for behavior in BEHAVIORS:
        yield f"`Punctuation`, {behavior}", before_bytes(pre_tokenizers.Punctuation(behavior))
    for single in (False, True):
        yield f"`Digits`{', individual' * single}", before_bytes(pre_tokenizers.Digits(single))
    for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"):
        yield f"`{name}`", before_bytes(getattr(pre_tokenizers, name)())
    yield "`CharDelimiterSplit`", before_bytes(pre_tokenizers.CharDelimiterSplit("_"))
    yield "`FixedLength`", before_bytes(pre_tokenizers.FixedLength(4))
    for prefixed in (False, True):
        cut = pre_tokenizers.ByteLevel(add_prefix_space=prefixed)
        yield f"`ByteLevel`{', add_prefix_space' * prefixed}", of_bytes(pre_tokenizer=cut)
    for later in (
        *(pre_tokenizers.Digits(), pre_tokenizers.Punctuation(), pre_tokenizers.Whitespace()),
        *(pre_tokenizers.Split("a", "isolated"), pre_tokenizers.Split("a", "removed")),
    ):
        cut = pre_tokenizers.Sequence([LEVEL, later])
        kind = json.loads(later.__getstate__())
        behavior = kind.get("behavior", "").lower()
        name = f"`{kind['type']}`{f', {behavior},' if kind['type'] == 'Split' else ''}"
        yield f"{name} after `ByteLevel`", of_bytes(pre_tokenizer=cut)
    for scheme in ("always", "first", "never"):
        for split in (True, False):
            cut = pre_tokenizers.Metaspace("▁", prepend_scheme=scheme, split=split)
            yield f"`Metaspace`, {scheme}{', split' * split}", spaced(cut)
    words = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁")]
    yield "`WhitespaceSplit` and `Metaspace`", spaced(pre_tokenizers.Sequence(words))
    for other in (
        pre_tokenizers.Digits(),
        pre_tokenizers.Punctuation(),
        pre_tokenizers.Split("a", "isolated"),
    ):
        name = json.loads(other.__getstate__())["type"]
        cut = pre_tokenizers.Sequence([pre_tokenizers.Metaspace("▁"), other])
        yield f"`Metaspace` and `{name}`", spaced(cut)
    bars = normalizers.Replace(" ", "▁")
    yield "`Replace` as normalizer, and `Digits`", spaced(pre_tokenizers.Digits(), bars)
    yield "`Sequence` of nothing", spaced(pre_tokenizers.Sequence([]), bars)


def of_the_rest() -> Iterator[tuple[str, Tokenizer]]:
    for flag in ("special", "lstrip", "rstrip", "single_word", "normalized"):
        yield f"added token, `{flag}`", added(**{flag: True})
    ends: tuple[Any, Any] = ("<x>", 256), ("<x>", 256)
    template = processors.TemplateProcessing(
        single="<x> $A", pair="<x> $A $B", special_tokens=[ends[0]]
    )
    for name, part in (
        ("TemplateProcessing", template),
        ("BertProcessing", processors.BertProcessing(*ends)),
        ("RobertaProcessing", processors.RobertaProcessing(*ends)),
        ("ByteLevel", processors.ByteLevel(trim_offsets=False)),
        ("ByteLevel`, `trim_offsets", processors.ByteLevel(trim_offsets=True)),
        ("Sequence", processors.Sequence([processors.ByteLevel(trim_offsets=False), template])),
    ):
        made = added(special=True)
        made.post_processor = part
        yield f"post-processor `{name}`", made
    limited = added(special=True)
    limited.enable_truncation(5)
    limited.enable_padding(pad_id=256, pad_token="<x>")
    yield "truncation and padding", limited
    pieces = of_model(
        models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), ("<x>", 0.0)], 0, False),
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoders.Metaspace(),
    )
    pieces.add_special_tokens(["<x>"])
    pieces.enable_truncation(5)
    pieces.enable_padding(pad_id=3, pad_token="<x>")
    yield "truncation and padding, with Unigram", pieces


def affixed(decoder: Any, **affixes: Any) -> Tokenizer:
    """A tokenizer of words, whose letters may be at all places of them."""
    before, behind = (
        affixes.get(name, "") for name in ("continuing_subword_prefix", "end_of_word_suffix")
    )
    names = [first + "a" + last for first in {"", before} for last in {"", behind}]
    vocab = {name: id for id, name in enumerate(["<u>", *sorted(names)])}
    return of_model(
        models.BPE(vocab=vocab, merges=[], unk_token="<u>", **affixes),
        pre_tokenizer=pre_tokenizers.WhitespaceSplit(),
        decoder=decoder,
    )


def affixed_bytes(affixes: dict[str, Any]) -> Tokenizer:
    """As CLIP."""
    ends = {name + "</w>": 256 + id for name, id in BYTES.items()}
    cut = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), LEVEL])
    model = models.BPE(vocab=BYTES | ends, merges=[], **affixes)
    return of_bytes(model=model, pre_tokenizer=cut)


def of_models() -> Iterator[tuple[str, Tokenizer]]:
    yield "BPE of bytes", of_bytes()
    letters = of_model(models.BPE(vocab=LETTERS | {"<u>": 9}, merges=[], unk_token="<u>"))
    letters.decoder = decoders.Fuse()
    yield "BPE of characters, `unk_token`", letters
    options: list[tuple[str, dict[str, Any]]] = [
        ("fuse_unk", {"unk_token": "<u>", "fuse_unk": True}),
        ("dropout", {"dropout": 0.1}),
    ]
    for name, fields in options:
        given = {"unk_token": "<u>", **fields}
        model = models.BPE(vocab=LETTERS | {"<u>": 9}, merges=[], **given)
        yield f"BPE, `{name}`", of_model(model, decoder=decoders.Fuse())
    yield (
        "BPE, `ignore_merges`",
        of_bytes(model=models.BPE(vocab=BYTES, merges=[], ignore_merges=True)),
    )
    ended, inner = {"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}
    yield "BPE, `end_of_word_suffix`", affixed(decoders.BPEDecoder(), **ended)
    yield "BPE, `continuing_subword_prefix`", affixed(decoders.WordPiece("##", False), **inner)
    yield "BPE, both", affixed(decoders.BPEDecoder(), **ended, **inner)
    yield "BPE of bytes, `end_of_word_suffix`", affixed_bytes(ended)
    for what, affixes in (
        ("`continuing_subword_prefix`", inner),
        ("both", ended | inner),
        ("`end_of_word_suffix`, white space kept", ended),
    ):
        before, behind = (affixes.get(next(iter(one)), "") for one in (inner, ended))
        names = [a + one + b for one in BYTES for a in {"", before} for b in {"", behind}]
        vocab = {name: id for id, name in enumerate(sorted(names))}
        yield f"BPE of bytes, {what}", of_bytes(model=models.BPE(vocab, [], **affixes))
    for name, affix, decoder in (
        ("a suffix", ended, decoders.BPEDecoder()),
        ("a prefix", inner, decoders.WordPiece("##", False)),
        ("both", ended | inner, decoders.BPEDecoder()),
    ):
        ignoring = affixed(decoder, **affix, ignore_merges=True, fuse_unk=True)
        yield f"BPE, `ignore_merges`, `fuse_unk` and {name}", ignoring
        yield (
            f"BPE, `byte_fallback` without tokens of bytes, and {name}",
            affixed(decoder, **affix, byte_fallback=True),
        )
    yield (
        "BPE of bytes, `ignore_merges` and a suffix",
        affixed_bytes(ended | {"ignore_merges": True}),
    )
    bytes_too = models.BPE(
        vocab={"<u>": 0, **{name: 1 + id for id, (name, _) in enumerate(NAMED_BYTES)}},
        merges=[],
        unk_token="<u>",
        byte_fallback=True,
        **ended,
    )
    cut = pre_tokenizers.WhitespaceSplit()
    yield (
        "BPE, `byte_fallback` and a suffix",
        of_model(bytes_too, pre_tokenizer=cut, decoder=decoders.BPEDecoder()),
    )
    yield (
        "WordPiece",
        of_model(
            models.WordPiece(**UNKNOWN),
            pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
            decoder=decoders.WordPiece(),
        ),
    )
    yield (
        "Unigram",
        of_model(
            models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0)], 0, False),
            pre_tokenizer=pre_tokenizers.Metaspace(),
            decoder=decoders.Metaspace(),
        ),
    )
    yield (
        "Unigram, `byte_fallback`",
        of_model(
            models.Unigram([("<unk>", 0.0), ("a", -2.0), *NAMED_BYTES], 0, True),
            decoder=decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()]),
        ),
    )
    for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer"):
        words = of_model(models.WordLevel({"[UNK]": 0, "a": 1}, "[UNK]"))
        words.pre_tokenizer = getattr(pre_tokenizers, name)()
        yield f"WordLevel, `{name}`", words
    yield "WordLevel without pre_tokenizer", of_model(models.WordLevel({"[UNK]": 0}, "[UNK]"))


def of_decoders() -> Iterator[tuple[str, Tokenizer]]:
    symbol, fuse, strip = (
        decoders.Replace("▁", " "),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    )
    yield "`ByteLevel`", of_bytes()
    yield "none", of_bytes(decoder=None)
    level = decoders.ByteLevel()
    yield "`Sequence` of `ByteLevel`, `Fuse`", of_bytes(decoder=decoders.Sequence([level, fuse]))

    def of_letters(decoder: Any) -> Tokenizer:
        model = models.BPE(vocab=LETTERS | {"<u>": 9}, merges=[], unk_token="<u>")
        return of_model(model, decoder=decoder)

    yield "`Fuse`", of_letters(fuse)
    yield "`Fuse`, `Strip`", of_letters(decoders.Sequence([fuse, strip]))
    yield "`Strip` of each token", of_letters(strip)
    yield "`Replace` of a regex", of_letters(decoders.Replace(Regex("a+"), "b"))
    yield "`CTC`", of_letters(decoders.CTC())
    yield "`BPEDecoder`", of_letters(decoders.BPEDecoder())
    yield "none, with characters", of_letters(None)
    anywhere = [decoders.CTC(), level, decoders.WordPiece(), decoders.Metaspace(), strip]
    yield "any others in any order", of_letters(decoders.Sequence(anywhere))
    llama = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    for parts in (
        [symbol, fuse],
        [symbol, fuse, strip],
        [symbol, decoders.ByteFallback(), fuse, strip],
        [decoders.ByteFallback(), symbol, strip],
    ):
        names = ", ".join(f"`{json.loads(one.__getstate__())['type']}`" for one in parts)
        yield names, spaced(None, llama, decoders.Sequence(parts))
    yield "`Metaspace`", spaced(pre_tokenizers.Metaspace(), None, decoders.Metaspace())
    words: dict[str, Any] = {"pre_tokenizer": pre_tokenizers.BertPreTokenizer()}
    wordpiece = of_model(models.WordPiece(**UNKNOWN), decoder=decoders.WordPiece(), **words)
    yield "`WordPiece`", wordpiece


GROUPS = {
    "Models": of_models,
    "Normalizers": of_normalizers,
    "Pre-tokenizers": of_pre_tokenizers,
    "Decoders": of_decoders,
    "Added tokens, post-processors and options": of_the_rest,
}


def outcome(theirs: Tokenizer) -> tuple[str, str]:
    """Whether a file is read and written, or why not."""
    try:
        definition = loads(theirs.to_str().encode())
    except DigramError as error:
        return "no", str(error).split(". ")[0].replace("|", r"\|").rstrip(".")
    tok = digram.Tokenizer(definition)
    try:
        written = dumps(definition)
    except VocabError as error:
        return "read", str(error).split(". ")[0].replace("|", r"\|").rstrip(".")
    again = Tokenizer.from_str(written.decode())
    # Truncation and padding are arguments of `tok(text)`.
    for one in (theirs, again):
        one.no_truncation()
        one.no_padding()
    of_letters = definition.unit == "char"
    for text in ("a", " a  aa") if of_letters else ("a", "a a\tb_c", " 12, <x>!  É"):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert tok.encode(text, special="parse") == ids, (theirs.to_str(), text)
        assert again.encode(text, add_special_tokens=False).ids == ids, (theirs.to_str(), text)
        offsets = theirs.encode(text, add_special_tokens=False).offsets
        assert tok(text, special="parse", add_special_tokens=False).offsets == offsets
        decoded = theirs.decode(ids, skip_special_tokens=False)
        of_words = definition.unit == "byte" and definition.decoding is None
        if of_words and "</w>" in decoded:
            decoded = decoded.replace("</w>", " ").removesuffix(" ")  # as transformers does
        assert tok.decode(ids) == decoded, theirs.to_str()
    return "yes", ""


def table() -> str:
    lines = []
    for title, parts in GROUPS.items():
        lines += [f"### {title}", "", "| part | supported | |", "|---|---|---|"]
        for name, theirs in parts():
            lines.append(f"| {name} | {' | '.join(outcome(theirs))} |")
        lines.append("")
    return "\n".join(lines)


def test_the_page_says_what_is_supported() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index(START) + len(START) : page.index(END)] == table()


def test_parts_are_refused_by_name() -> None:
    refused = [why for parts in GROUPS.values() for _, one in parts() if (why := outcome(one)[1])]
    assert 3 < len(refused) < 20
    assert all("not supported" in why or "cannot store" in why for why in refused)
    assert json.loads(of_bytes().to_str())["model"]["type"] == "BPE"


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(START) + len(START)], text[text.index(END) :]
    PAGE.write_text(before + table() + after, encoding="utf-8")
