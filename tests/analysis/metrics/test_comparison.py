"""What `digram.compare` finds, against borders worked out text by text by the definitions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

import pytest
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from oracles.published import encoding
from strategies import any_bytes, any_corpora, any_tokenizers, cases, texts

import digram
from digram.analysis.metrics import Both, Comparison, Numbers, Place
from digram.analysis.metrics.kinds import kind_of

Cuts = tuple[tuple[bytes, ...], tuple[bytes, ...]]
NAMES = [
    "gpt2", "o200k", "no pretokenizer", "digits from the right", "banana", "holes",
    "whole pretokens", "characters or bytes", "characters or unknown",
]  # fmt: skip
TOKENIZERS = {name: digram.Tokenizer(vocabularies.SAMPLES[name]) for name in NAMES}
TEXTS = ["the cat\tsat low lower", "", "naïve 中文字 中文", "slow 12345\n\n", "xyzzy banana ДОМ"]


class Naive(NamedTuple):
    """What is compared, by its definition."""

    total: Both
    by_kind: dict[str, Both]
    places: Counter[tuple[bytes, int, int]]
    cuts: set[tuple[bytes, Cuts]]
    times: tuple[Counter[bytes], Counter[bytes]]


def ends(tok: digram.Tokenizer, text: str | bytes) -> list[int]:
    """Where tokens end."""
    return [end for _, end in tok(text, offsets="bytes").offsets or []]


def pretokens(tok: digram.Tokenizer, text: str | bytes) -> list[int]:
    """Where pretokens end; without a pretokenizer, where tokens do."""
    if not tok.pretokenizer.patterns and tok.pretokenizer.digits is None:
        return ends(tok, text)
    found, end = [], 0
    for piece in tok.pretokenize(text):
        end += len(piece.encode() if isinstance(piece, str) else piece)
        found.append(end)
    return found


def pieces(data: bytes, borders: set[int]) -> Iterator[tuple[int, int]]:
    """What lies between borders that do not stand within a character."""
    whole = [n for n in sorted(borders) if n == len(data) or data[n] & 0xC0 != 0x80]
    return pairwise([0, *whole])


def cut(data: bytes, start: int, end: int, borders: Sequence[int]) -> tuple[bytes, ...]:
    inside = [n for n in borders if start < n <= end]
    return tuple(data[a:b] for a, b in pairwise([start, *inside]))


def naive(this: digram.Tokenizer, other: digram.Tokenizer, batch: Sequence[str | bytes]) -> Naive:
    pair = this, other
    by_kind: dict[str, Counter[str]] = {}
    places: Counter[tuple[bytes, int, int]] = Counter()
    cuts: set[tuple[bytes, Cuts]] = set()
    times: tuple[Counter[bytes], Counter[bytes]] = Counter(), Counter()
    for text in batch:
        data = text.encode() if isinstance(text, str) else text
        one, two = (ends(tok, text) for tok in pair)
        same = set[int]()
        for start, end in pieces(data, {*one} & {*two}):
            both = cut(data, start, end, one), cut(data, start, end, two)
            if both[0] == both[1]:
                same |= {*range(start, end)}
            else:
                places[data[start:end], len(both[0]), len(both[1])] += 1
                cuts.add((data[start:end], both))
        for start, end in pieces(data, {*pretokens(this, text)} & {*pretokens(other, text)}):
            of = by_kind.setdefault(kind_of(data[start:end]), Counter())
            of["bytes"] += end - start
            of["this"] += len(cut(data, start, end, one))
            of["other"] += len(cut(data, start, end, two))
            of["same"] += len(same & {*range(start, end)})
        for tok, count in zip(pair, times, strict=True):
            special = {*tok.special_tokens.values()}
            count.update(tok.id_to_token(id) for id in tok.encode(text) if id not in special)
    names = ("bytes", "this", "other", "same")
    sums: Counter[str] = sum(by_kind.values(), Counter())
    return Naive(
        Both(*(sums[name] for name in names)),
        {kind: Both(*(of[name] for name in names)) for kind, of in by_kind.items()},
        places,
        cuts,
        times,
    )


def check(
    this: digram.Tokenizer, other: digram.Tokenizer, batch: Sequence[str | bytes]
) -> Comparison:
    """Every number is that of the definition."""
    found, expected = (
        digram.compare(this, other, batch, top=10**6, threads=1),
        naive(this, other, batch),
    )
    assert found.total == expected.total
    assert found.total.this == sum(map(this.count, batch))
    assert found.total.other == sum(map(other.count, batch))
    assert found.by_kind == expected.by_kind
    assert [of.bytes for of in found.by_kind.values()] == sorted(
        (of.bytes for of in found.by_kind.values()), reverse=True
    )
    groups = found.this_fewer, found.other_fewer, found.as_many
    every = [place for group in groups for place in group]
    assert {(p.text, len(p.this), len(p.other)): p.count for p in every} == expected.places
    assert {(p.text, (p.this, p.other)) for p in every} <= expected.cuts
    for sign, group in zip((-1, 1, 0), groups, strict=True):
        assert {(p.saved > 0) - (p.saved < 0) for p in group} <= {sign}
        weights = [abs(p.saved) or p.count for p in group]
        assert weights == sorted(weights, reverse=True)
    # What places save is what the tokens of the text differ by.
    assert sum(place.saved for place in every) == found.total.this - found.total.other
    check_vocabulary(found, (this, other), expected.times)
    return found


def check_vocabulary(
    found: Comparison,
    pair: tuple[digram.Tokenizer, digram.Tokenizer],
    times: tuple[Counter[bytes], Counter[bytes]],
) -> None:
    held = [
        {token for id, token in enumerate(tok.definition.tokens) if token is not None}
        for tok in pair
    ]
    of = found.vocabulary
    shared, alone = held[0] & held[1], (held[0] - held[1], held[1] - held[0])
    assert of.total == Numbers(len(shared), *map(len, alone))
    assert ({*of.this_alone}, {*of.other_alone}) == alone
    assert (len(of.this_alone), len(of.other_alone)) == of.total[1:]
    kinds = [Counter(map(kind_of, tokens)) for tokens in (shared, *alone)]
    assert of.by_kind == {
        kind: Numbers(*(numbers[kind] for numbers in kinds))
        for kind in kinds[0] | kinds[1] | kinds[2]
    }
    for used, tokens, mine, count in zip(
        (of.this_used, of.other_used), (of.this_tokens, of.other_tokens), alone, times, strict=True
    ):
        assert {one.token: one.count for one in used} == {
            t: n for t, n in count.items() if t in mine
        }
        assert tokens == sum(one.count for one in used)
        assert [one.count for one in used] == sorted((one.count for one in used), reverse=True)
    assert of.jaccard == pytest.approx(len(shared) / len(held[0] | held[1]))


@cases(60)
@given(any_tokenizers, any_tokenizers, st.lists(texts, max_size=3), any_corpora)
def test_any_two_tokenizers(
    this: digram.Tokenizer, other: digram.Tokenizer, some: list[str], more: list[str]
) -> None:
    check(this, other, [*some, *more])


@cases(40)
@given(st.sampled_from(["gpt2", "no pretokenizer"]), st.lists(any_bytes, max_size=4))
def test_bytes_that_are_no_text(name: str, batch: list[bytes]) -> None:
    check(TOKENIZERS["o200k"], TOKENIZERS[name], batch)


@pytest.mark.parametrize(("this", "other"), [(a, b) for a, b in product(NAMES, NAMES) if a <= b])
def test_tokenizers_of_all_kinds(this: str, other: str) -> None:
    found = check(TOKENIZERS[this], TOKENIZERS[other], [*TEXTS, *vocabularies.texts(6)])
    if this == other:
        assert found.total.agreement == 1
        assert found.vocabulary.jaccard == 1
        assert (found.this_fewer, found.other_fewer, found.as_many) == ((), (), ())


def test_the_other_way_round() -> None:
    one, two = TOKENIZERS["gpt2"], TOKENIZERS["characters or bytes"]
    there, back = (digram.compare(a, b, TEXTS, top=99) for a, b in ((one, two), (two, one)))
    assert (there.total.this, there.total.other) == (back.total.other, back.total.this)
    assert there.total.same == back.total.same
    assert [place.text for place in there.this_fewer] == [p.text for p in back.other_fewer]
    assert there.vocabulary.this_used == back.vocabulary.other_used


def test_a_place_by_hand() -> None:
    words = digram.train("slow slower slowest low lower lowest", vocab_size=266)
    years = digram.train("low 2025 low 2026 low 2027", vocab_size=262)
    found = digram.compare(words, years, ["low slow 2025", "slow"])
    assert found.this_fewer == (
        Place(b" s", 1, (b" s",), (b" ", b"s")),
        Place(b"slow", 1, (b"slow",), (b"s", b"low")),
    )
    assert [place.saved for place in found.this_fewer] == [-1, -1]
    assert found.other_fewer == (Place(b"202", 1, (b"2", b"0", b"2"), (b"202",)),)
    assert found.by_kind["numbers"] == Both(bytes=4, this=4, other=2, same=1)
    assert found.by_kind["numbers"].change == -0.5
    assert found.by_kind["numbers"].agreement == 0.25


def test_sources_by_name(tmp_path: Path) -> None:
    this, other = TOKENIZERS["gpt2"], TOKENIZERS["o200k"]
    (tmp_path / "a.txt").write_text("low\nlower", encoding="utf-8")
    lines = digram.files(tmp_path / "a.txt", separator="\n")
    found = digram.compare(this, other, {"a": lines, "b": TEXTS[:3]})
    assert [*found.by_name] == ["a", "b"]
    assert found.by_name["a"] == digram.compare(this, other, ["low", "lower"]).total
    assert found.by_name["b"] == digram.compare(this, other, TEXTS[:3]).total
    whole = digram.compare(this, other, ["low", "lower", *TEXTS[:3]])
    assert (found.total, found.by_kind) == (whole.total, whole.by_kind)
    assert found.vocabulary == whole.vocabulary
    assert whole.by_name == {}


def test_records_without_a_text_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "low"}\n{"text": 3}\n', encoding="utf-8")
    source = digram.files(tmp_path / "a.jsonl", on_error="skip")
    with pytest.warns(UserWarning, match="1 record was skipped"):
        assert digram.compare(TOKENIZERS["gpt2"], TOKENIZERS["o200k"], source).skipped == 1


def test_no_text_at_all() -> None:
    found = check(TOKENIZERS["gpt2"], TOKENIZERS["o200k"], [])
    assert (found.total.change, found.total.agreement, found.by_kind) == (0, 1, {})
    assert "all text" in str(found)


def test_top() -> None:
    this, other = TOKENIZERS["gpt2"], TOKENIZERS["banana"]
    whole, few = (digram.compare(this, other, TEXTS, top=n) for n in (99, 2))
    assert len(whole.this_fewer) > 2
    assert few.this_fewer == whole.this_fewer[:2]
    assert few.vocabulary.this_used == whole.vocabulary.this_used[:2]
    assert few.vocabulary.this_tokens == whole.vocabulary.this_tokens
    assert digram.compare(this, other, TEXTS, top=0).this_fewer == ()


def test_what_makes_no_sense_is_refused() -> None:
    tok = TOKENIZERS["gpt2"]
    with pytest.raises(TypeError, match=r"other is a digram\.Tokenizer, not str"):
        digram.compare(tok, "cl100k", "low")  # type: ignore[arg-type]
    for options, message in (
        ({"top": -1}, "top=-1 is not at least 0"),
        ({"threads": 0}, "threads=0 is not at least 1"),
    ):
        with pytest.raises(digram.OptionError, match=message):
            digram.compare(tok, tok, "low", **options)  # type: ignore[arg-type]
    with pytest.raises(digram.OptionError, match="names no corpus"):
        digram.compare(tok, tok, {})
    with pytest.raises(TypeError, match=r"corpus\[1\] is of type int"):
        digram.compare(tok, tok, ["low", 3])  # type: ignore[arg-type]


def test_a_text_that_one_cannot_encode() -> None:
    strict = digram.Tokenizer(vocabularies.SAMPLES["characters or an error"])
    with pytest.raises(digram.InvalidTextError) as caught:
        digram.compare(TOKENIZERS["gpt2"], strict, {"fine": "low", "odd": ["low", "ж"]})
    assert any("odd" in note for note in [str(caught.value), *caught.value.__notes__])


def test_as_plain_values_and_as_tables() -> None:
    this, other = TOKENIZERS["gpt2"], TOKENIZERS["o200k"]
    found = digram.compare(
        this, other, {"a": TEXTS, "b": vocabularies.CORPUS}, names=("a" * 40, "中" * 20)
    )
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert found.to_dict()["total"]["this"] == found.total.this
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(digram.compare(this, this, "low lower")).startswith("<digram.Comparison: this ")


def test_published_vocabularies_as_tiktoken_cuts(shared_data: Callable[[str], Path]) -> None:
    """Sums, and what both cut alike, from the tokens that tiktoken gives."""
    names = ("cl100k_base", "o200k_base")
    pair = [digram.load(shared_data(f"vocabs/{n}.tiktoken"), encoding=n) for n in names]
    theirs = [encoding(name, shared_data) for name in names]
    paths = sorted(shared_data("flores-dev").glob("*.txt"))
    lines = {path.stem: path.read_text(encoding="utf-8").splitlines()[:8] for path in paths}
    found = digram.compare(pair[0], pair[1], lines)
    for name, batch in lines.items():
        sums = [0, 0, 0, 0]
        for line in batch:
            data, borders = line.encode(), []
            for tok in theirs:
                tokens = tok.decode_tokens_bytes(tok.encode_ordinary(line))
                borders.append([sum(map(len, tokens[: n + 1])) for n in range(len(tokens))])
            sums[0] += len(data)
            sums[1] += len(borders[0])
            sums[2] += len(borders[1])
            for start, end in pieces(data, {*borders[0]} & {*borders[1]}):
                one, two = (cut(data, start, end, of) for of in borders)
                sums[3] += (end - start) * (one == two)
        assert found.by_name[name] == Both(*sums), name
    assert found.total.change < -0.2
