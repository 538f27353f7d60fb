"""GGUF: the ids are llama.cpp's, what is written is read again, and hostile files are refused.

`testdata/formats/llama-cpp-splits.json` has the lengths in bytes of the pieces into which llama.cpp
splits some texts, for each value of `pre`.
"""

from __future__ import annotations

import json
import os
import random
import struct
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import vocabularies
from vocabularies import BANANA, PLAIN, SAMPLES, changed

import digram
from digram import (
    CorruptFileError,
    DigramError,
    LimitExceededError,
    Matching,
    Pretokenizer,
    Template,
    VocabError,
)
from digram.formats import gguf
from digram.formats._gguf_splits import _BY_NAME, _REFUSED
from digram.formats._scores import merges_of
from digram.formats.gguf import dumps, loads, read, write
from digram.pretokenizers import NFC

TESTDATA = Path(__file__).parents[2] / "testdata" / "formats"
GOLDEN = json.loads((TESTDATA / "llama-cpp-splits.json").read_text(encoding="utf-8"))
CARRIED = ["gpt2", "deepseek-v3", "individual digits", "holes"]
LETTERS = [
    chr(byte) if chr(byte).isprintable() and byte not in (32, 173) else "" for byte in range(256)
]
LATE = iter(range(256, 512))
LETTERS = [letter or chr(next(LATE)) for letter in LETTERS]

# A writer of its own: a type as the format numbers it, and a value.
NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "B",
    10: "Q",
    11: "q",
    12: "d",
}
Entry = tuple[int, Any]


def packed(entries: dict[str, Entry], *, order: str = "<", version: int = 3) -> bytes:
    def text(value: str | bytes) -> bytes:
        data = value.encode() if isinstance(value, str) else value
        return struct.pack(f"{order}Q", len(data)) + data

    def held(kind: int, value: Any) -> bytes:
        if kind == 8:
            return text(value)
        if kind == 9:
            inner, values = value
            head = struct.pack(f"{order}IQ", inner, len(values))
            return head + b"".join(held(inner, one) for one in values)
        return struct.pack(order + NUMBERS[kind], value)

    parts = [b"GGUF", struct.pack(f"{order}IQQ", version, 0, len(entries))]
    for key, (kind, value) in entries.items():
        parts += [text(key), struct.pack(f"{order}I", kind), held(kind, value)]
    return b"".join(parts)


def keys(**changes: Entry | None) -> dict[str, Entry]:
    """A small file of bytes: `an`, `th`, and a control token."""
    of = {
        "model": (8, "gpt2"),
        "pre": (8, "gpt-2"),
        "tokens": (9, (8, [*LETTERS, "an", "th", "<s>"])),
        "token_type": (9, (5, [1] * 258 + [3])),
        "merges": (9, (8, ["a n", "t h"])),
    }
    found: dict[str, Entry | None] = {**of, **changes}
    return {f"tokenizer.ggml.{key}": value for key, value in found.items() if value is not None}


PIECES = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
PIECES += ["▁", "a", "b", "n", "▁a", "an", "▁an", "ban", "<tag>"]
RUNS = ["▁▁", "▁▁▁", "▁▁▁▁"]


def scored(**changes: Entry | None) -> dict[str, Entry]:
    """A small file of characters with scores."""
    of = {
        "model": (8, "llama"),
        "tokens": (9, (8, [*PIECES, *RUNS])),
        "scores": (9, (6, [0.0] * 263 + [-1.0, -2.0, -3.0, -4.0, 0.0] + [-1e9] * 3)),
        "token_type": (9, (5, [2, 3, 3, *[6] * 256, *[1] * 8, 4, 1, 1, 1])),
        "add_bos_token": (7, 1),
    }
    found: dict[str, Entry | None] = {**of, **changes}
    return {f"tokenizer.ggml.{key}": value for key, value in found.items() if value is not None}


def ids_of(definition: digram.Definition, text: str, special: Any = "text") -> list[int]:
    return digram.Tokenizer(definition).encode(text, special=special)


@pytest.mark.parametrize("group", GOLDEN["splits"], ids=lambda group: group["pre"][0])
def test_texts_are_split_as_by_llama_cpp(group: dict[str, Any]) -> None:
    for pre in group["pre"]:
        split = gguf.pretokenizer(pre).splitter().split
        for text, lengths in zip(GOLDEN["texts"], group["lengths"], strict=True):
            assert [len(piece) for piece in split(text.encode())] == lengths, (pre, text)


def test_every_split_is_compared() -> None:
    assert {pre for group in GOLDEN["splits"] for pre in group["pre"]} == set(_BY_NAME)


@pytest.mark.parametrize("name", ["gpt-2", "refact", "llama-spm", "bert-bge"])
def test_published_vocabularies_give_the_ids_of_llama_cpp(
    shared_data: Callable[[str], Path], name: str
) -> None:
    path = shared_data(f"vocabs/ggml-vocab-{name}.gguf")
    texts = Path(f"{path}.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")
    expected = Path(f"{path}.out").read_text(encoding="utf-8").split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = digram.load(path)
    pairs = [*zip(texts, expected, strict=True)]
    assert len(pairs) > 40
    for text, ids in pairs:
        assert tok.encode(text) == [int(id) for id in ids.split()], text
    if name == "bert-bge":
        with pytest.raises(VocabError, match="only store the merges of a BPE tokenizer"):
            dumps(tok.definition)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert digram.Tokenizer(loads(dumps(tok.definition))) == tok


def test_a_file_without_pre_is_not_split_as_gpt_2(shared_data: Callable[[str], Path]) -> None:
    """The expected ids are llama.cpp's."""
    path = shared_data("vocabs/ggml-vocab-gpt-neox.gguf")
    with pytest.warns(UserWarning, match=r"13 of the 256 bytes have no token.*from 50,432") as told:
        tok = digram.load(path)
    assert [warning.filename for warning in told] == [__file__]
    for text, ids in {
        "Hello, y'all! 1234567 $$": [12092, 13, 340, 8, 455, 2, 209, 10683, 25133, 24, 209, 1890],
        "a    b\n\n  c": [66, 50274, 67, 535, 50276, 68],
        "x<|endoftext|>y": [89, 29, 93, 423, 1171, 1156, 49651, 90],
    }.items():
        assert tok.encode(text) == ids, text


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    definition = replace(SAMPLES[name], training=None)
    if definition.pretokenizer == Pretokenizer(None):
        definition = replace(definition, pretokenizer=Pretokenizer("gpt2"))
    ends = replace(
        definition,
        special_tokens=definition.special_tokens | {"<s>": 900, "<|call|>": 901, "</s>": 902},
        matching={"<|constrain|>": Matching(always=True)},
        template=Template("<s> $A </s>"),
        pad_token="</s>",
        context_size=77,
        chat_templates={"default": "{{ x }}", "tools": "é"},
    )
    ends = replace(ends, special_tokens=ends.special_tokens | {"<|constrain|>": 903})
    for one in (definition, ends):
        write(one, tmp_path / "a.gguf")
        assert read(tmp_path / "a.gguf") == loads(dumps(one)) == one
        digram.Tokenizer(one).save(tmp_path / "b.gguf")
        assert digram.load(tmp_path / "b.gguf") == digram.Tokenizer(one)
        assert (tmp_path / "a.gguf").read_bytes() == (tmp_path / "b.gguf").read_bytes()


def test_bytes_without_pre_types_and_specials() -> None:
    definition = loads(packed(keys(token_type=None)))
    assert definition.special_tokens == {}
    assert definition.tokens[256:] == [b"an", b"th", b"<s>"]
    assert ids_of(definition, "than") == [257, 256]
    assert loads(packed(keys(pre=None))).pretokenizer == gguf.pretokenizer("default")
    assert loads(packed(keys(pre=(8, "default")))).pretokenizer == gguf.pretokenizer("default")


def test_both_byte_orders_and_versions() -> None:
    for entries in (keys(), scored()):
        plain = loads(packed(entries))
        assert loads(packed(entries, order=">")) == plain
        assert loads(packed(entries, version=2)) == plain


def test_unwanted_keys_are_skipped() -> None:
    others: dict[str, Entry] = {
        "general.name": (8, "a model"),
        "a.texts": (9, (8, ["x" * 10] * 5)),
        "a.numbers": (9, (12, [0.5] * 9)),
        "a.flags": (9, (7, [0, 1])),
        "a.nested": (9, (9, [(9, [(8, ["deep"])]), (9, [])])),
        "a.byte": (0, 3),
        "a.big": (10, 1 << 63),
        "tokenizer.huggingface.json": (8, "{" * 9999),
    }
    assert loads(packed({**others, **keys()})) == loads(packed(keys()))


def test_the_types_of_tokens_say_where_they_are_found() -> None:
    names = [
        "<ctl>",
        "<user>",
        "<unk>",
        "[PAD261]",
        "[unused]",
        "<|im_end|>",
        "<|channel|>",
        "</s>",
    ]
    types = [3, 4, 2, 5, 5, 4, 3, 1]
    tokens = (9, (8, [*LETTERS, "an", "th", *names]))
    definition = loads(packed(keys(tokens=tokens, token_type=(9, (5, [1] * 258 + types)))))
    # A padding at its own id is no token; some texts decide more than their types.
    assert list(definition.special_tokens) == [name for name in names if name != "[PAD261]"]
    always = {text for text, one in definition.matching.items() if one.always}
    assert always == {"<user>", "<|channel|>"}
    text = "a<ctl><user>an<|im_end|><|channel|>"
    assert ids_of(definition, text)[-1] == definition.special_tokens["<|channel|>"]
    assert definition.special_tokens["<ctl>"] in ids_of(definition, text, "parse")
    assert definition.special_tokens["<ctl>"] not in ids_of(definition, text)
    call = loads(
        packed(
            keys(
                tokens=(9, (8, [*LETTERS, "an", "th", "<|end|>", "<|call|>", "<|return|>"])),
                token_type=(9, (5, [1] * 258 + [3, 3, 3])),
            )
        )
    )
    assert call.matching == {"<|end|>": Matching(always=True)}


def test_the_two_models_whose_special_tokens_take_white_space() -> None:
    phi = loads(packed({"general.name": (8, "Phi-3 mini"), **scored()}))
    assert [text for text, one in phi.matching.items() if one.rstrip] == ["</s>", "<tag>"]
    jina = loads(
        packed(
            keys(
                pre=(8, "jina-v2-code"),
                tokens=(9, (8, [*LETTERS, "an", "th", "<mask>"])),
            )
        )
    )
    assert jina.matching == {"<mask>": Matching(lstrip=True)}


def test_tokens_around_a_text() -> None:
    for changes, single in (
        ({}, None),
        ({"add_bos_token": (7, 1), "bos_token_id": (4, 258)}, ["<s>", "$A"]),
        (
            {"add_bos_token": (7, 1), "add_eos_token": (7, 1)}
            | {"bos_token_id": (4, 258), "eos_token_id": (4, 258)},
            ["<s>", "$A", "<s>"],
        ),
        ({"pre": (8, "llama-bpe"), "bos_token_id": (4, 258)}, ["<s>", "$A"]),
        ({"pre": (8, "llama-bpe"), "add_bos_token": (7, 0)}, None),
    ):
        template = loads(packed(keys(**changes))).template
        found = None if template is None else [name for name, _ in template.single]
        assert found == single, changes
    with pytest.raises(VocabError, match=r"token 11, 'ċ', as the bos token .* not supported"):
        loads(packed(keys(add_bos_token=(7, 1))))
    for pad, named in ((258, "<s>"), (97, None), (1 << 31, None)):
        assert loads(packed(keys(padding_token_id=(4, pad)))).pad_token == named
    told = loads(packed({"general.architecture": (8, "x"), "x.context_length": (4, 9), **keys()}))
    assert told.context_size == 9


def test_user_defined_tokens_that_merges_make() -> None:
    """Such a token is cut out of every text first, so that its merges are without effect."""
    types = (9, (5, [1] * 256 + [4, 1, 3]))
    definition = loads(packed(keys(token_type=types, merges=(9, (8, ["a n", "t h", "t h"])))))
    assert definition.special_tokens == {"an": 256, "<s>": 258}
    assert ids_of(definition, "than") == [257, 256]
    with pytest.raises(VocabError, match=r"merge 'a n' has the special token 'an'"):
        loads(packed(keys(token_type=(9, (5, [1] * 256 + [3, 1, 3])))))


def test_characters_with_scores() -> None:
    definition = loads(packed(scored()))
    assert (definition.unit, definition.on_unknown) == ("char", "bytes")
    assert definition.space_symbol == "▁"
    assert definition.strip_first_space
    assert definition.template == Template("<s> $A")
    tok = digram.Tokenizer(definition)
    for text, pieces in {
        "ban": ["▁", "ban"],
        "an": ["▁an"],
        " an": ["▁", "▁an"],
        "      n": ["▁▁▁▁", "▁▁▁", "n"],  # as llama.cpp: the longest run from the left, the rest
        "▁b": ["▁▁", "b"],
        "é": ["▁", "<0xC3>", "<0xA9>"],
        "a<tag>n": ["▁a", "<tag>", "▁", "n"],
        "<s>": ["▁", "<0x3C>", "<0x73>", "<0x3E>"],
    }.items():
        assert tok.encode(text) == [[*PIECES, *RUNS].index(piece) for piece in pieces], text
    assert tok.decode(tok.encode("a  nab é")) == "a  nab é"
    bare = loads(packed(scored(add_space_prefix=(7, 0), add_bos_token=(7, 0))))
    assert bare.template is None
    assert ids_of(bare, "ban") == [PIECES.index("ban")]
    whole = (9, (5, [int(score) for score in scored()["tokenizer.ggml.scores"][1][1]]))
    assert loads(packed(scored(scores=whole))) == definition
    for one in (definition, bare):
        assert loads(dumps(one)) == one


def merged(**changes: Entry | None) -> dict[str, Entry]:
    """A small file of characters with merges."""
    of = {
        "model": (8, "gemma4"),
        "tokens": (9, (8, [*PIECES, "\n", "\n\n"])),
        "token_type": (9, (5, [2, 3, 3, *[6] * 256, *[1] * 8, 4, 1, 4])),
        "merges": (9, (8, ["▁ a", "a n", "▁a n", "b an"])),
        "bos_token_id": (4, 1),
    }
    found: dict[str, Entry | None] = {**of, **changes}
    return {f"tokenizer.ggml.{key}": value for key, value in found.items() if value is not None}


@pytest.mark.parametrize("pre", [None, "gemma4", "granite-embed-multi-311m", "sarvam-moe"])
def test_characters_with_merges(pre: str | None) -> None:
    """With a vocabulary of 32,005 tokens llama.cpp gave the same ids for 3,000 texts."""
    kind = {} if pre is None else {"model": (8, "gpt2"), "pre": (8, pre)}
    definition = loads(packed(merged(**kind)))
    tok = digram.Tokenizer(definition)
    for text, pieces in {
        "ban": ["ban"],
        " an": ["▁an"],
        "  an": ["▁", "▁an"],
        "an\nan": ["an", "\n", "an"],
        "an\n\n\nan": ["an", "\n\n", "\n", "an"],
        "é": ["<0xC3>", "<0xA9>"],
        "a<tag>n": ["a", "<tag>", "n"],
    }.items():
        expected = [[*PIECES, "\n", "\n\n"].index(piece) for piece in pieces]
        assert tok.encode(text) == expected, text
    assert tok.decode(tok.encode("  ban\n é")) == "  ban\n é"
    assert (definition.template is None) is (pre == "sarvam-moe")


def test_line_ends_that_are_tokens_without_merges() -> None:
    """Gemma 4 takes a run of line ends as one token, if it is one; digram has no such rule."""
    types = (9, (5, [2, 3, 3, *[6] * 256, *[1] * 8, 4, 1, 1]))
    with pytest.raises(VocabError, match=r"token '\\n\\n', which is not user-defined, is not"):
        loads(packed(merged(token_type=types)))
    assert loads(packed(merged(model=(8, "gpt2"), pre=(8, "sarvam-moe"), token_type=types)))


def score_encode(text: str, scores: dict[str, float]) -> list[str]:
    """SentencePiece's rule: the pair whose joined text has the highest score, leftmost first."""
    parts = [*text]
    while True:
        joined = [a + b for a, b in pairwise(parts)]
        known = [(-scores[one], at) for at, one in enumerate(joined) if one in scores]
        if not known:
            return parts
        at = min(known)[1]
        parts[at : at + 2] = [joined[at]]


def rank_encode(text: str, ranks: dict[tuple[str, str], int]) -> list[str]:
    parts = [*text]
    while True:
        pairs = [*pairwise(parts)]
        known = [(ranks[pair], at) for at, pair in enumerate(pairs) if pair in ranks]
        if not known:
            return parts
        at = min(known)[1]
        parts[at : at + 2] = ["".join(pairs[at])]


def vocabularies_with_scores(number: int) -> Iterator[dict[str, float]]:
    rng = random.Random(number)
    for _ in range(number):
        letters = "abc"[: rng.choice([2, 3])]
        names = {"".join(rng.choices(letters, k=rng.randrange(2, 6))) for _ in range(12)}
        order = sorted(names, key=lambda name: (len(name) * rng.random(), name))
        ties = rng.choice([1, 1, 1, 2, 6])
        yield {name: -float(rank // ties) for rank, name in enumerate(order)}


def test_merges_mean_what_scores_mean() -> None:
    rng = random.Random(0)
    refused = 0
    for scores in vocabularies_with_scores(800):
        names = [*"abc", *scores]
        try:
            merges = merges_of(
                {name: id for id, name in enumerate(names)},
                [scores.get(name, 0.0) for name in names],
                None,
            )
        except VocabError:
            refused += 1
            continue
        ranks = {(names[a], names[b]): rank for rank, (a, b, _) in enumerate(merges)}
        for _ in range(30):
            text = "".join(rng.choices("abc", k=rng.randrange(12)))
            assert rank_encode(text, ranks) == score_encode(text, scores), (scores, text)
    assert 50 < refused < 600


@pytest.mark.parametrize("longest", [2, 4, 16])
def test_runs_of_equal_scores(longest: int) -> None:
    names = ["a" * length for length in range(1, longest + 1)] + ["b", "ab"]
    scores = dict.fromkeys(names[1:longest], -9.0) | {"ab": -1.0}
    merges = merges_of(
        {name: id for id, name in enumerate(names)}, [scores.get(one, 0) for one in names], None
    )
    ranks = {(names[a], names[b]): rank for rank, (a, b, _) in enumerate(merges)}
    for length in range(4 * longest):
        for text in ("a" * length, "a" * length + "b" + "a" * (length // 2)):
            assert rank_encode(text, ranks) == score_encode(text, scores), text


@pytest.mark.parametrize(
    ("names", "scores", "message"),
    [
        (["a", "b", "ab", "aba"], [0, 0, -3, -2], "'aba' has a higher score than its part 'ab'"),
        (["a", "ab", "aab"], [0, -1, -2], "'ab' is made of 'b', which is not a token"),
        (["a", "b", "ab", "ba"], [0, 0, -1, -1], "'ab' and 'ba' have the same score"),
        (["a", "aa", "aaa"], [0, -1, -1], "'a' repeated have the same score"),
        (["a", "b", "ab"], [0, 0, float("nan")], "the score of 'ab' is not a number"),
    ],
)
def test_scores_that_no_merges_equal(names: list[str], scores: list[float], message: str) -> None:
    with pytest.raises(VocabError, match=message):
        merges_of({name: id for id, name in enumerate(names)}, scores, None)


def test_long_tokens_with_scores_are_refused_in_time() -> None:
    names = ["a", "b"] + [f"{'ab' * 20_000}{'a' * n}" for n in range(1, 20)]
    with pytest.raises(LimitExceededError, match="the tokens are too long"):
        merges_of({name: id for id, name in enumerate([*names, "ab"])}, [0.0] * 22, None)


@pytest.mark.parametrize(
    ("entries", "error", "message"),
    [
        (keys(model=None), VocabError, "the file has no tokenizer"),
        (keys(model=(8, "bert")), VocabError, "the unknown token 'd' is not in the vocabulary"),
        (keys(model=(8, "t5")), VocabError, r"model 't5' \(a Unigram model\) is not"),
        (keys(model=(8, "new")), VocabError, "model 'new' is not supported"),
        (keys(model=(4, 1)), CorruptFileError, "tokenizer.ggml.model should be a text, not 1"),
        (keys(pre=(8, "new")), VocabError, "pre 'new' is not supported. Supported: gpt-2"),
        (keys(tokens=None), CorruptFileError, "the key tokenizer.ggml.tokens is missing"),
        (keys(merges=None), CorruptFileError, "the key tokenizer.ggml.merges is missing"),
        (keys(tokens=(8, "x")), CorruptFileError, "tokens should be a list of texts, not b'x'"),
        (keys(merges=(9, (5, [1]))), CorruptFileError, "list of texts, not a list of 1 numbers"),
        (keys(token_type=(9, (5, [1]))), CorruptFileError, "has 1 numbers for 259 tokens"),
        (keys(token_type=(9, (6, [1.0] * 259))), CorruptFileError, "numbers of 32 bits"),
        (keys(token_type=(9, (5, [9] * 259))), VocabError, "has the type 9, which is not known"),
        (keys(tokens=(9, (8, [*LETTERS, "a", "th", "x"]))), VocabError, "'a' has the ids 97 and"),
        (
            keys(tokens=(9, (8, [*LETTERS, b"\xff"]))),
            CorruptFileError,
            r"tokens\[256\] .*not UTF-8",
        ),
        (keys(merges=(9, (8, ["a q"]))), VocabError, "merge 0: .*needs token 'aq'"),
        (keys(merges=(9, (8, ["an"]))), VocabError, "merge 0"),
        (keys(add_bos_token=(4, 1)), CorruptFileError, "should be true or false, not 1"),
        (keys(add_bos_token=(7, 2)), CorruptFileError, "should be true or false, not 2"),
        (keys(bos_token_id=(9, (4, [1])), add_bos_token=(7, 1)), CorruptFileError, "be an id"),
        (keys(pre=(99, 1)), CorruptFileError, "has the type 99, which GGUF does not define"),
        (keys(tokens=(9, (9, []))), CorruptFileError, "an array of texts or numbers"),
        (scored(scores=(9, (6, [0.0]))), CorruptFileError, "scores has 1 numbers for"),
        (scored(scores=None), VocabError, "have the same score"),
        (scored(tokens=(9, (8, ["a"]))), VocabError, "256 of the tokens for bytes are missing"),
        (
            scored(tokens=(9, (8, [*PIECES[:-2], "a n", "x", *RUNS]))),
            VocabError,
            "'a n', which has a space, is not supported",
        ),
    ],
)
def test_what_is_refused(entries: dict[str, Entry], error: type[DigramError], message: str) -> None:
    packed_kinds = NUMBERS | {99: "B"}
    data = packed(entries) if 99 not in {kind for kind, _ in entries.values()} else None
    if data is None:
        NUMBERS.update(packed_kinds)
        data = packed(entries)
        del NUMBERS[99]
    with pytest.raises(error, match=message) as caught:
        loads(data, "x.gguf")
    assert caught.value.path == "x.gguf"


@pytest.mark.parametrize("pre", _REFUSED)
def test_splits_that_cannot_be_exact(pre: str) -> None:
    with pytest.raises(VocabError, match=rf"pre '{pre}' is not supported \(") as caught:
        loads(packed(keys(pre=(8, pre))))
    assert caught.value.value == pre


def test_a_truncated_file_is_refused_at_every_byte() -> None:
    data = packed(keys())
    for end in range(len(data)):
        with pytest.raises(DigramError):
            loads(data[:end], "x.gguf")
    with pytest.raises(
        CorruptFileError, match=r"should have .* bytes, but .* follow byte"
    ) as caught:
        loads(data[:-1], "x.gguf")
    assert caught.value.offset is not None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGML" + bytes(40), "does not start with GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1 of GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 4, 0, 0), "version 4 of GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "the number of keys is 1,152,"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 0, 0)[:16], "number of keys should have 8 bytes"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62) + bytes(40), "key 0 should have 4,611"),
        (packed({"a": (9, (8, []))})[:-8] + struct.pack("<Q", 1 << 61), "of elements of 'a' is 2,"),
        (packed({"a": (9, (4, []))})[:-8] + struct.pack("<Q", 1 << 61), "of elements of 'a' is 2,"),
        (
            packed({"tokenizer.ggml.tokens": (9, (8, []))})[:-8] + struct.pack("<Q", 1 << 40),
            "elements of 'tokenizer.ggml.tokens' is 1,099",
        ),
    ],
)
def test_lengths_and_counts_are_not_trusted(data: bytes, message: str) -> None:
    tracemalloc.start()
    with pytest.raises(DigramError, match=message):
        loads(data, "x.gguf")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_nested_arrays_and_repeated_keys_are_refused() -> None:
    deep: Entry = (8, [])
    for _ in range(40):
        deep = (9, [deep])
    with pytest.raises(CorruptFileError, match="nested more than 8 deep"):
        loads(packed({"a": (9, deep)}))
    entries = packed({"a": (0, 1), "b": (0, 1)}).replace(b"b", b"a")
    with pytest.raises(CorruptFileError, match=r"the key b'a' occurs twice"):
        loads(entries)


def test_weights_are_not_read(tmp_path: Path) -> None:
    """A sparse file of 64 GB after the metadata, and one whose metadata is as large."""
    path = tmp_path / "model.gguf"
    path.write_bytes(packed(keys()))
    os.truncate(path, 1 << 36)
    tracemalloc.start()
    assert digram.load(path) == digram.Tokenizer(loads(packed(keys())))
    assert tracemalloc.get_traced_memory()[1] < 32 << 20
    tracemalloc.stop()
    for key in ("a", "tokenizer.ggml.tokens"):
        name = struct.pack("<Q", len(key)) + key.encode()
        head = struct.pack("<IQQ", 3, 0, 2) + name + struct.pack("<IQ", 8, 1 << 34)
        path.write_bytes(b"GGUF" + head)
        os.truncate(path, 1 << 36)
        with pytest.raises(LimitExceededError, match="the limit for the metadata"):
            digram.load(path)


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        (replace(BANANA, special_tokens={}), "no split that is this pretokenizer"),
        (PLAIN, "no split that is this pretokenizer"),
        (SAMPLES["whitespace"], "no split that is this pretokenizer"),
        (SAMPLES["llama3"], r"llama3 exactly: .*'ſ.*gguf.pretokenizer\(\"llama-bpe\"\)"),
        (SAMPLES["qwen2"], r"qwen2 exactly: .*pretokenizer\(\"qwen2\"\)"),
        (SAMPLES["o200k"], r"o200k exactly: .*marks.*pretokenizer\(\"gpt-4o\"\)"),
        (SAMPLES["whole pretokens"], "cannot store ignore_merges"),
        (
            replace(SAMPLES["gpt2"], pretokenizer=Pretokenizer("gpt2", normalizer=NFC())),
            "no split that is this pretokenizer",
        ),
        (
            replace(SAMPLES["gpt2"], pretokenizer=gguf.pretokenizer("tekken")),
            "pretokens that are tokens are not merged",
        ),
        (changed(SAMPLES["gpt2"], tokens=[*SAMPLES["gpt2"].tokens, b""]), "the empty token"),
        (SAMPLES["characters or bytes"], "nothing is split"),
        (SAMPLES["characters or unknown"], "unknown characters are encoded as bytes"),
        (
            replace(SAMPLES["gpt2"], special_tokens={"he": 900}),
            "special token 'he' has the name of token",
        ),
        (
            replace(SAMPLES["gpt2"], special_tokens={"<|start|>": 900}),
            "'<|start|>' is found in all text by llama.cpp, whatever its type",
        ),
        (
            replace(
                SAMPLES["gpt2"],
                special_tokens={"</s>": 900},
                matching={"</s>": Matching(always=True)},
            ),
            "'</s>' is found only on request by llama.cpp",
        ),
        (
            replace(
                SAMPLES["gpt2"],
                special_tokens={"<x>": 900},
                matching={"<x>": Matching(rstrip=True)},
            ),
            "cannot store rstrip of '<x>'",
        ),
        (
            replace(SAMPLES["gpt2"], special_tokens={"<x>": 900}, template=Template("<x> <x> $A")),
            "one token before a text and one after it",
        ),
        (
            replace(
                SAMPLES["gpt2"],
                special_tokens={f"<|tool_{n}|>": 900 + n for n in range(3)},
                reserved={"tool": range(900, 903)},
            ),
            "cannot store the names of reserved ids",
        ),
    ],
)
def test_what_a_file_cannot_store(definition: digram.Definition, message: str) -> None:
    with pytest.raises(VocabError, match=message.replace("|", r"\|")):
        dumps(definition)


@pytest.mark.parametrize(
    ("name", "pre"),
    [("llama3", "dbrx"), ("cl100k", "dbrx"), ("qwen2", "qwen2"), ("o200k", "gpt-4o")],
)
def test_allow_loss_accepts_the_nearest_split(name: str, pre: str) -> None:
    definition = replace(SAMPLES[name], special_tokens={})
    again = loads(dumps(definition, allow_loss=True))
    assert again == replace(definition, training=None, pretokenizer=gguf.pretokenizer(pre))
    ours, theirs = digram.Tokenizer(definition), digram.Tokenizer(again)
    for text in vocabularies.texts(300):
        if text.isascii():
            assert ours.encode(text) == theirs.encode(text)


def test_bytes_without_a_token() -> None:
    """Such bytes are left out by llama.cpp; those that no text has get ids behind all others."""
    rare = [0xC0, 0xF1, 0xFF]
    names = [letter for byte, letter in enumerate(LETTERS) if byte not in rare]
    tokens, types = (9, (8, [*names, "an", "th", "<s>"])), (9, (5, [1] * 255 + [3]))
    with pytest.warns(UserWarning, match="3 of the 256 bytes have no token, such as 0xC0"):
        definition = loads(packed(keys(tokens=tokens, token_type=types)))
    assert [definition.tokens.index(bytes([byte])) for byte in rare] == [256, 257, 258]
    pieces = ["an", "Ġ", "Ã", "©"]
    assert ids_of(definition, "an é") == [[*names, "an"].index(piece) for piece in pieces]
    without_a = (9, (8, [*names[1:], "an", "th", "<s>"]))
    with pytest.raises(VocabError, match="4 of the 256 bytes have no token: 0x00, 0xC0"):
        loads(packed(keys(tokens=without_a, token_type=(9, (5, [1] * 254 + [3])))))
