"""GGUF with tokens of characters: scores and merges mean the same ids as in llama.cpp."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import sentencepiece
from formats.test_pipelines import gemma_with_runs
from gguf_files import PIECES, RUNS, ids_of, merged, packed, scored

import digram
from digram import (
    LimitExceededError,
    Template,
    VocabError,
)
from digram.formats._scores import merges_of
from digram.formats._sentencepiece_file import Kind, ModelFile, Normalization, Piece, Type
from digram.formats.gguf import dumps, loads


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


def test_user_defined_tokens_that_merges_make() -> None:
    """Gemma's runs of spaces in older files: llama.cpp merges characters to tokens of all types."""
    types = [2, 3, 3, *[6] * 256, *[1] * 8, 4, 4, 4, 4]
    normal, defined = loads(packed(scored())), loads(packed(scored(token_type=(9, (5, types)))))
    for text in ("      n", "a  b", "ban   an", "a    b n"):
        assert ids_of(defined, text) == ids_of(normal, text)
    assert loads(dumps(defined)) == defined
    # A token with a user-defined one in it, which is cut out of all text before, cannot be made.
    ids = [*PIECES, *RUNS, "b\t", "\t"]
    more = scored(
        tokens=(9, (8, ids)),
        scores=(9, (6, [*scored()["tokenizer.ggml.scores"][1][1], -5.0, 0.0])),
        token_type=(9, (5, [*scored()["tokenizer.ggml.token_type"][1][1], 1, 4])),
    )
    found = loads(packed(more))
    assert ids_of(found, "ab\t") == [ids.index(name) for name in ("▁a", "b", "\t")]
    assert loads(dumps(found)) == found


def by_scores(pieces: dict[str, float]) -> tuple[bytes, sentencepiece.SentencePieceProcessor]:
    """A file with these pieces and all bytes, and SentencePiece, whose rule llama.cpp has."""
    first = [("<unk>", Type.UNKNOWN), ("<s>", Type.CONTROL), ("</s>", Type.CONTROL)]
    first += [(f"<0x{byte:02X}>", Type.BYTE) for byte in range(256)]
    model = ModelFile(
        pieces=[
            *(Piece(text, 0.0, kind) for text, kind in first),
            *(Piece(text, score, Type.NORMAL) for text, score in pieces.items()),
        ],
        kind=Kind.BPE,
        byte_fallback=True,
        whitespace_as_suffix=False,
        normalization=Normalization(
            charsmap=b"", add_dummy_prefix=True, remove_extra_whitespaces=False
        ),
    )
    data = packed(
        scored(
            tokens=(9, (8, [text for text, _ in first] + [*pieces])),
            scores=(9, (6, [0.0] * len(first) + [*pieces.values()])),
            token_type=(9, (5, [2, 3, 3, *[6] * 256, *[1] * len(pieces)])),
        )
    )
    return data, sentencepiece.SentencePieceProcessor(model_proto=model.dumps())


@pytest.mark.filterwarnings("ignore:.*are unreachable")
def test_scores_that_no_merges_mean(tmp_path: Path) -> None:
    """Equal ones, parts of lower scores, parts that are no tokens; runs of any length."""
    rng = random.Random(7)
    kept = 0
    for number in range(60):
        texts = {"".join(rng.choices("▁ab", k=rng.randrange(2, 6))) for _ in range(12)}
        texts |= {"▁" * length for length in range(2, (2, 4, 8, 32)[number % 4])}
        scores = (-1.0, -2.0, -2.0, -1000.0) if number % 3 else (-1000.0,)
        pieces = dict.fromkeys("▁ab", -5.0) | {one: rng.choice(scores) for one in sorted(texts)}
        data, theirs = by_scores(pieces)
        tok = digram.Tokenizer(loads(data))
        kept += tok.definition.model.kind == "scored"
        for _ in range(200):
            text = "".join(rng.choices("  ab", k=rng.randrange(1, 40)))
            text += rng.choice(("", " " * rng.randrange(70)))
            assert tok.encode(text) == theirs.encode(text), text
            assert tok.decode(tok.encode(text)) == text
        for format in ("gguf", "digram"):
            tok.save(tmp_path / "again", format=format)
            assert digram.load(tmp_path / "again") == tok
    assert kept > 30


def test_gemma_of_spaces_that_are_user_defined() -> None:
    """A run of up to 31 spaces is one token, and what is longer begins with such runs."""
    runs = ["▁" * length for length in range(2, 32)]
    data = scored(
        tokens=(9, (8, [*PIECES, *runs, "\n", "\n\n"])),
        scores=(9, (6, [0.0] * 263 + [-1.0, -2.0, -3.0, -4.0, 0.0] + [-1000.0] * 32)),
        token_type=(9, (5, [2, 3, 3, *[6] * 256, *[1] * 8, 4, *[4] * 32])),
    )
    found = loads(packed(data))
    names = [*PIECES, *runs, "\n", "\n\n"]
    for length in range(2, 100):
        ids = ids_of(found, "a" + " " * length + "n\n\n\n")
        wanted = ["▁a", *["▁" * 31] * (length // 31), "▁" * (length % 31), "n", "\n\n", "\n"]
        assert [names[id] for id in ids] == [name for name in wanted if name]
    assert loads(dumps(found)) == found


@pytest.mark.parametrize("format", ["gguf", "huggingface"])
def test_tokens_that_are_split_again_are_refused(format: str, tmp_path: Path) -> None:
    found = loads(packed(scored(scores=None)))
    assert isinstance(found.model, digram.ScoredModel)
    model = replace(found.model, unused=(PIECES.index("an"),))
    with pytest.raises(VocabError, match="cannot store tokens that are split again"):
        digram.Tokenizer(replace(found, model=model)).save(tmp_path / "t", format=format)


def test_a_file_without_scores() -> None:
    """All are equal: the leftmost neighbours are merged first."""
    found = loads(packed(scored(scores=None)))
    assert found.model.kind == "scored"
    assert ids_of(found, "ban") == [PIECES.index("▁"), PIECES.index("ban")]


def test_gemma_as_a_gguf(tmp_path: Path) -> None:
    gemma_with_runs().save(str(tmp_path / "tokenizer.json"))
    tok = digram.load(tmp_path / "tokenizer.json")
    tok.save(tmp_path / "gemma.gguf")
    with pytest.warns(UserWarning, match="unreachable"):  # those with a line end in them
        again = digram.load(tmp_path / "gemma.gguf")
    for text in ("a  b\t\tc\n\n\nd    e", "\t\n\t", "low   lower ▁▁x"):
        assert again.encode(text) == tok.encode(text)


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
