"""Published shapes with every option that their files use, with the library itself beside them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from formats.more_shapes import (
    MARKER,
    MORE_SHAPES,
    code_llama,
    deberta,
    galactica,
    nougat,
    seamless,
)
from formats.test_pipelines import made
from strategies import real, scaled
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import digram
from digram import VocabError
from digram.formats.huggingface import dumps, loads

LEVEL = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

VARIANTS: dict[str, Callable[[], Tokenizer]] = {
    **{
        f"Code Llama {scheme} {flags}": partial(
            code_llama,
            scheme,
            normalized=flags[0],
            in_vocabulary=flags[1],
            is_special=flags[2],
            strips=flags[3],
        )
        for scheme in (None, "first", "always", "never")
        for flags in product((False, True), repeat=4)
        if scheme is None or flags[3]
    },
    **{
        f"Seamless {scheme} {strips} {nested}": partial(
            seamless, scheme, strips=strips, nested=nested
        )
        for scheme, strips, nested in product(
            ("first", "always", "never"), (False, True), (False, True)
        )
    },
    **{
        f"DeBERTa {scheme} {flags}": partial(
            deberta, scheme, lowercase=flags[0], by_punctuation=flags[1], split=flags[2]
        )
        for scheme in ("first", "always", "never")
        for flags in product((False, True), repeat=3)
    },
}
PARTS = [
    *(
        "▁<PRE>",
        "<PRE>",
        " <SUF>",
        "▁▁<MID>",
        "▁",
        "▁▁",
        " ",
        "  ",
        "\n",
        "\t",
        "<s>",
        "</s>",
        "[MASK]",
    ),
    *(MARKER, MARKER[:-1], MARKER[1:], "S", "-", "--", "!!", "!?", "(", "[]", "~~~", "``", "''"),
    *("…", "ﬃ", "①", "\u3000", "\u00a0", "\u200b", "e\u0301", "é", "日本語", "\u0301", "\x00", "|"),
    *(
        "def",
        "the",
        "a",
        "A",
        "I",
        "12",
        "3",
        ".",
        ",",
        "x[0]",
        "__eng__",
        "<mask>",
        "LAGV",
        "<unk>",
    ),
]


def texts(count: int, seed: int = 0) -> list[str]:
    """Texts of the parts that these stages change, and each part alone and beside spaces."""
    choose = random.Random(seed)
    alone = [form for part in PARTS for form in (part, f" {part}", f"{part} ", f"{part}a")]
    return alone + ["".join(choose.choices(PARTS, k=choose.randrange(1, 12))) for _ in range(count)]


def check(theirs: Tokenizer, count: int, fuzz: int) -> None:
    definition = loads(theirs.to_str().encode())
    ours = digram.Tokenizer(definition)
    found = digram.verify(ours, theirs, texts(count), fuzz=fuzz)
    assert found.equal, str(found)
    assert all({*parts} >= {"ids", "offsets", "decoded"} for parts in found.compared.values())
    written = dumps(definition)
    assert loads(written) == definition
    again = digram.verify(
        ours, Tokenizer.from_str(written.decode()), texts(count // 4, seed=1), fuzz=fuzz // 4
    )
    assert again.equal, str(again)


@pytest.mark.parametrize("name", VARIANTS)
def test_options_of_published_files(name: str) -> None:
    check(VARIANTS[name](), 300, 200)


@pytest.mark.parametrize("name", MORE_SHAPES)
def test_families_at_length(name: str) -> None:
    check(MORE_SHAPES[name](), scaled(2000), scaled(1000))


@pytest.mark.parametrize("name", MORE_SHAPES)
def test_families_over_languages(name: str, shared_data: Callable[[str], Path]) -> None:
    corpus: list[str] = []
    for path in sorted(shared_data("flores-dev").glob("*.txt")):
        corpus += path.read_text(encoding="utf-8").splitlines()[: real(25)]
    assert len(corpus) > 1000
    theirs = MORE_SHAPES[name]()
    found = digram.verify(digram.Tokenizer(loads(theirs.to_str().encode())), theirs, corpus)
    assert found.equal, str(found)


def test_a_removed_text_has_no_token() -> None:
    for family in (galactica, nougat):
        ours = digram.Tokenizer(loads(family().to_str().encode()))
        letters = [ours.encode(letter) for letter in ("M", "K")]
        assert ours.encode(f"M{MARKER}K") == letters[0] + letters[1]
        assert ours.encode(MARKER) == []
        offsets = ours(f"M{MARKER}K", add_special_tokens=False).offsets
        assert offsets == [(0, 1), (len(MARKER) + 1, len(MARKER) + 2)]


def cut(*stages: Any) -> bytes:
    pre = pre_tokenizers.Sequence([*stages, LEVEL])
    return str(made(None, pre, [], []).to_str()).encode()


def removed(pattern: Any, invert: bool = False) -> Any:
    return pre_tokenizers.Split(pattern, "removed", invert=invert)


@pytest.mark.parametrize(
    "stages",
    [
        [removed("ab")],
        [removed(". +")],
        [removed(Regex("ab|bc+|(?:1 )+"))],
        [removed(Regex("[ab]{2}"))],
        [removed(Regex("a+?b"))],
        [removed("ab"), pre_tokenizers.WhitespaceSplit()],
        [pre_tokenizers.WhitespaceSplit(), removed("ab")],
        [pre_tokenizers.Digits(), removed("ab"), pre_tokenizers.Punctuation()],
    ],
)
def test_texts_left_out_as_a_whole(stages: list[Any]) -> None:
    data = cut(*stages)
    theirs, ours = Tokenizer.from_str(data.decode()), digram.Tokenizer(loads(data))
    choose = random.Random(3)
    corpus = [
        "".join(choose.choices("abc1 .+x", k=choose.randrange(1, 20))) for _ in range(scaled(3000))
    ]
    found = digram.verify(ours, theirs, corpus, fuzz=300)
    assert found.equal, str(found)


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        (
            [pre_tokenizers.ByteLevel(add_prefix_space=True), removed("ab")],
            "of type Split after ByteLevel",
        ),
    ],
)
def test_what_cannot_be_left_out_is_named(stages: list[Any], message: str) -> None:
    with pytest.raises(VocabError, match=message):
        loads(cut(*stages))


@pytest.mark.parametrize(
    "stages",
    [
        [removed(Regex("ab"), invert=True)],
        [removed("ab", invert=True)],
        [removed(Regex(r"\w+|[.+]"), invert=True)],
        [removed(Regex(r"\w+(?=[.+])|x"), invert=True)],
        [removed(Regex(r"(?<=[a-z])1|b(?!c)"), invert=True)],
        [removed(Regex(r"(?<=a)(?=b)|c+"), invert=True)],
        [removed(Regex("ab(?!c)"))],
        [removed(Regex(r"(?<=1)[abc]+|(?<!\w)x"))],
        [removed(Regex(r"(?<=a)(?=b)"))],
        [removed(Regex("a++b"))],
        [removed(Regex(r"(?<![\s\S])a|x(?![\s\S])"))],
        [removed("a b"), pre_tokenizers.WhitespaceSplit()],
        [removed(Regex("ab+")), pre_tokenizers.Whitespace()],
        [pre_tokenizers.WhitespaceSplit(), removed(Regex(r"\w+?[bx]"), invert=True)],
        [pre_tokenizers.Digits(), removed(Regex("[a-z]+[.]"), invert=True), removed("b.")],
        [removed(Regex(r"[^+]+\+?"), invert=True), pre_tokenizers.Punctuation("removed")],
        [removed(Regex(r"\w+ "), invert=True), pre_tokenizers.ByteLevel(add_prefix_space=True)],
        [
            removed(Regex(r"\w+(?= )"), invert=True),
            pre_tokenizers.Split(Regex("[ab]"), "isolated"),
            pre_tokenizers.Split(Regex("c"), "contiguous"),
        ],
    ],
)
def test_what_is_kept_depends_on_what_is_beside_it(stages: list[Any], tmp_path: Path) -> None:
    """The regex finds its matches in the whole text, as that library does."""
    levels = [one for one in stages if isinstance(one, pre_tokenizers.ByteLevel)]
    pre = pre_tokenizers.Sequence([*stages, *([] if levels else [LEVEL])])
    data = str(made(None, pre, [], []).to_str()).encode()
    theirs, definition = Tokenizer.from_str(data.decode()), loads(data)
    ours = digram.Tokenizer(definition)
    choose = random.Random(3)
    corpus = [
        "".join(choose.choices("abc1 .+x", k=choose.randrange(1, 20))) for _ in range(scaled(3000))
    ]
    found = digram.verify(ours, theirs, corpus, fuzz=300)
    assert found.equal, str(found)
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    again = digram.load(path)
    assert (again, again.definition) == (ours, definition)
    written = digram.verify(again, Tokenizer.from_file(str(path)), corpus[:1000])
    assert written.equal, str(written)
    ours.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json").definition == definition
    text = " ".join(corpus[:200])
    stream = [id for ids in ours.encode_stream([text[:99], text[99:]]) for id in ids]
    assert stream == ours.encode(text)


@pytest.mark.parametrize("scheme", ["always", "never", "first"])
def test_words_that_are_kept_before_a_metaspace(scheme: Any) -> None:
    vocab = {name: id for id, name in enumerate(["<unk>", "▁", *"abc1.+x"])}
    theirs = Tokenizer(models.BPE(vocab, [], unk_token="<unk>"))
    theirs.pre_tokenizer = pre_tokenizers.Sequence(
        [
            removed(Regex(r"\w+(?=[ .])"), invert=True),
            pre_tokenizers.Metaspace("▁", prepend_scheme=scheme),
        ]
    )
    theirs.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    data = theirs.to_str().encode()
    if scheme == "first":
        with pytest.raises(VocabError, match="scheme first after a stage that leaves out matches"):
            loads(data)
        return
    ours = digram.Tokenizer(loads(data))
    choose = random.Random(scheme)
    corpus = ["".join(choose.choices("abc1 .+x▁", k=choose.randrange(1, 20))) for _ in range(1000)]
    found = digram.verify(ours, theirs, corpus, fuzz=300)
    assert found.equal, str(found)
    assert loads(dumps(ours.definition)) == ours.definition


@pytest.mark.parametrize(
    "regex",
    [
        r"([!.,])\1*",
        r"\d|([a-c\-+])\1+",
        r"([ab])\1| +",
        r"""[\(\)]|([!"\#\$%\&'\*\+,\-\./:;<=>\?\\\^_`\|\~])\1*""",
        r"([\!-\/])\1*",
    ],
)
def test_runs_of_one_character(regex: str) -> None:
    data = cut(pre_tokenizers.Split(Regex(regex), "isolated"))
    theirs, ours = Tokenizer.from_str(data.decode()), digram.Tokenizer(loads(data))
    ascii_runs = [char * n + "a" for char in map(chr, range(0x20, 0x7F)) for n in (1, 2, 3)]
    choose = random.Random(5)
    mixed = ["".join(choose.choices("!.,-+abc/ \\", k=12)) for _ in range(1500)]
    found = digram.verify(ours, theirs, [*ascii_runs, *mixed], fuzz=300)
    assert found.equal, str(found)


@pytest.mark.parametrize("regex", [r"(a)\1", r"([^a])\1*", r"(([ab])\1*)+", r"([\w])\1*"])
def test_other_references_are_refused(regex: str) -> None:
    with pytest.raises(digram.PatternError, match=r"\\\\1"):
        loads(cut(pre_tokenizers.Split(Regex(regex), "isolated")))


def test_metaspace_puts_its_first_space_where_the_text_begins() -> None:
    """The scheme "first" is about the given text: none if what began it is left out."""
    theirs = deberta("first")
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    for text in (" a", "a", "…", "…a", "\u200ba", "[MASK]a", " [MASK] a"):
        found = theirs.encode(text, add_special_tokens=False)
        assert ours.encode(text, special="parse") == found.ids, text
        whole = ours(text, special="parse", add_special_tokens=False)
        assert whole.ids == found.ids
        assert [tuple(span) for span in whole.offsets] == found.offsets, text


def test_long_texts_begin_as_short_ones() -> None:
    """The start of a text is normalized on its own to find what comes from its first character."""
    theirs = seamless("first", nested=True)
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    for start in (" ", "…", "e\u0301", "\u0301", "", "\x00", "\u3000\u3000"):
        for text in (start + "the theatre " * 3000, start + "\u0301" * 500 + " a"):
            assert ours.encode(text) == theirs.encode(text, add_special_tokens=False).ids, start


def test_stages_that_metaspace_cannot_follow_are_named() -> None:
    file = json.loads(deberta().to_str())
    metaspace = file["pre_tokenizer"]["pretokenizers"][-1]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    file["pre_tokenizer"]["pretokenizers"] = [level, metaspace]
    with pytest.raises(VocabError, match="of type ByteLevel before Metaspace is not supported"):
        loads(json.dumps(file).encode())


def test_a_normalizer_of_two_spaces_and_late_tokens() -> None:
    """Tokens that are searched for in normalized text are decoded as they are there."""
    theirs = code_llama(normalized=True)
    assert isinstance(theirs.normalizer, normalizers.Normalizer)
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    for text in ("▁<PRE>", " <PRE>", "  <PRE>a", "x▁<PRE>"):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert ours.encode(text, special="parse") == ids
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
        assert ours.decode_batch([ids], skip_special_tokens=True) == [theirs.decode(ids)]
