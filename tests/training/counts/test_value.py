"""`Counts` as a value: what it refuses, and its repr."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import digram
from digram import Counts, Pretokenizer, Regex, count_pretokens

TEXT = "the cat sat on the mat, and the other cats sat there too.\n" * 40


@pytest.fixture(scope="module")
def counts() -> Counts:
    return count_pretokens(TEXT, pretokenizer="gpt2")


def test_a_tokenizer_of_counts_saves_to_the_bytes_of_one_of_text(
    counts: Counts, tmp_path: Path
) -> None:
    digram.train(TEXT, pretokenizer="gpt2", vocab_size=300).save(tmp_path / "text.json")
    digram.train(counts, vocab_size=300).save(tmp_path / "counts.json")
    assert (tmp_path / "text.json").read_bytes() == (tmp_path / "counts.json").read_bytes()


def test_counts_of_files_are_those_of_their_text(counts: Counts, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    assert count_pretokens(tmp_path / "a.txt", pretokenizer="gpt2") == counts
    assert count_pretokens(digram.files(tmp_path), pretokenizer="gpt2") == counts
    lines = count_pretokens(digram.files(tmp_path, separator="\n"), pretokenizer="gpt2")
    assert lines == count_pretokens(TEXT.split("\n")[:-1], pretokenizer="gpt2")


def test_it_is_immutable(counts: Counts) -> None:
    for name in ("unit", "bytes", "new", "_held"):
        with pytest.raises(AttributeError):
            setattr(counts, name, 1)
    with pytest.raises(AttributeError):
        del counts._held
    with pytest.raises(TypeError):
        counts["the"] = 2  # type: ignore[index]


def test_equality_hash_and_repr(counts: Counts) -> None:
    same = count_pretokens(TEXT, pretokenizer="gpt2")
    assert counts == same
    assert {counts: 1}[same] == 1
    assert counts != counts.without_first()
    assert counts != count_pretokens(TEXT + " ", pretokenizer="gpt2")
    assert count_pretokens("a", pretokenizer="gpt2") != count_pretokens("a", pretokenizer=None)
    assert count_pretokens("a") != count_pretokens("a", unit="char")
    assert counts != {"the": 40}
    assert copy.deepcopy(counts) == pickle.loads(pickle.dumps(counts)) == counts
    assert repr(counts) == (
        '<digram.Counts: 14 distinct pretokens, 640 in all, of 1 document, pretokenizer="gpt2">'
    )


def test_nothing_counted() -> None:
    nothing = count_pretokens([])
    assert (len(nothing), nothing.bytes, nothing.documents) == (0, 0, 0)
    assert nothing.most_common() == []
    assert list(nothing) == []
    assert nothing + nothing == nothing
    assert digram.train(nothing, max_merges=1).merges == []
    assert Counts.from_arrow(nothing) == pickle.loads(pickle.dumps(nothing)) == nothing


def test_one_piece_of_many_bytes() -> None:
    long = count_pretokens("a" * 3_000_000 + "b" * 20, pretokenizer=None)
    assert pickle.loads(pickle.dumps(long)) == long
    assert long["a" * 3_000_000 + "b" * 20] == 1


def test_what_was_made_otherwise_does_not_go_together(counts: Counts) -> None:
    other = count_pretokens(TEXT, pretokenizer="o200k")
    together: Callable[[], object]
    for together in (
        lambda: counts + other,
        lambda: counts - other,
        lambda: sum([counts, other]),
        lambda: Counts.from_arrow(counts, like=other),
        lambda: Counts.from_arrow(counts, pretokenizer="o200k"),
        lambda: count_pretokens({"a": counts, "b": TEXT}, pretokenizer="o200k"),
    ):
        with pytest.raises(digram.ConfigMismatchError, match=r'pretokenizer="'):
            together()
    with pytest.raises(digram.ConfigMismatchError) as raised:
        digram.train(counts, pretokenizer="o200k", max_merges=1)
    assert str(raised.value) == (
        'these counts were made with pretokenizer="gpt2", but training needs '
        'pretokenizer="o200k". Count again, or pass pretokenizer="gpt2".'
    )
    with pytest.raises(digram.ConfigMismatchError, match=r"\. Count with .*rules=digram\.Rules"):
        digram.train(counts, rules=digram.Rules(units=["mg"]), max_merges=1)
    with pytest.raises(digram.ConfigMismatchError, match=r'unit="byte".*unit="char"'):
        digram.train(counts, unit="char", max_merges=1)
    with pytest.raises(digram.ConfigMismatchError, match=r"digram.Pretokenizer\('gpt2', digits="):
        counts + count_pretokens(TEXT, pretokenizer=Pretokenizer("gpt2", digits="individual"))


def test_the_same_pretokenizer_in_other_words_is_the_same(counts: Counts) -> None:
    written_out = Regex(Pretokenizer("gpt2").patterns[0])
    assert count_pretokens(TEXT, pretokenizer=written_out) == counts
    assert digram.train(counts, pretokenizer="r50k", unit="byte", max_merges=3) == digram.train(
        TEXT, pretokenizer="gpt2", max_merges=3
    )
    assert counts.fingerprint == count_pretokens("", pretokenizer=written_out).fingerprint
    assert counts.fingerprint != count_pretokens("", pretokenizer="gpt2", unit="char").fingerprint


def test_the_fingerprint_is_fixed_for_good(counts: Counts) -> None:
    assert counts.fingerprint == FINGERPRINT


FINGERPRINT = "ea12663827f500c6d0a4fb282bcab672d59e947489165f18178d057826013a4c"


def test_first_seen_needs_first_occurrences(counts: Counts) -> None:
    assert digram.train(counts, ties="first_seen", max_merges=9) == digram.train(
        TEXT, pretokenizer="gpt2", ties="first_seen", max_merges=9
    )
    for without in (counts.without_first(), counts - count_pretokens("", pretokenizer="gpt2")):
        with pytest.raises(digram.OptionError, match=r"count_pretokens"):
            digram.train(without, ties="first_seen", max_merges=9)


def test_options_for_text_are_refused_for_counts(counts: Counts) -> None:
    with pytest.raises(digram.OptionError, match=r"weights="):
        digram.train(counts, weights={"a": 1}, max_merges=1)
    with pytest.raises(digram.OptionError, match=r"weights="):
        count_pretokens(TEXT, weights={"a": 1})
    with pytest.raises(TypeError, match=r"already Counts"):
        count_pretokens(counts)
    with pytest.raises(digram.OptionError, match=r"unit='word'"):
        count_pretokens(TEXT, unit="word")  # type: ignore[arg-type]
    with pytest.raises(digram.OptionError, match=r"threads=0"):
        count_pretokens(TEXT, threads=0)


def test_named_sources(counts: Counts) -> None:
    more = "the dog"
    both = count_pretokens({"a": counts, "b": more}, pretokenizer="gpt2")
    assert both == counts + count_pretokens(more, pretokenizer="gpt2")
    with pytest.raises(digram.OptionError, match=r"names 'c'.*Corpora: 'a', 'b'"):
        count_pretokens({"a": "x", "b": "y"}, weights={"c": 1})
    with pytest.raises(digram.OptionError, match=r"no corpus"):
        count_pretokens({})
    with pytest.raises(digram.InvalidTextError, match=r"^corpus\['b'\]: text 1 is not UTF-8"):
        count_pretokens({"a": "x", "b": [b"y", b"\xff"]}, unit="char")
    record = digram.train({"a": "x"}, weights={"a": Decimal("1.5")}, max_merges=1).training
    assert record is not None
    assert json.dumps(record.options["weights"]) == '{"a": "1.5"}'


@pytest.mark.parametrize(
    "weight", [0, -1, 0.0, math.inf, math.nan, Fraction(-1, 3), 2**64, 1e-300, Decimal("NaN")]
)
def test_weights_that_make_no_sense(counts: Counts, weight: Any) -> None:
    with pytest.raises(digram.OptionError, match=r"^weight="):
        counts.scale(weight)
    with pytest.raises(digram.OptionError, match=r"^weights\['a'\]="):
        count_pretokens({"a": "x"}, weights={"a": weight})


@pytest.mark.parametrize("weight", [True, "2", None, 1j])
def test_weights_that_are_no_numbers(counts: Counts, weight: Any) -> None:
    with pytest.raises(TypeError, match=r"is a number"):
        counts.scale(weight)


def test_a_float_is_the_number_that_it_prints_as() -> None:
    """A tenth of 5 is a half, and goes to the even 0; the float is a little more than a tenth."""
    five = Counts({"a": 5, "b": 15, "c": 25}, pretokenizer=None)
    assert dict(five.scale(0.1).items()) == {b"b": 2, b"c": 2}
    assert five.scale(0.1) == five.scale(Fraction(1, 10)) == five.scale(Decimal("0.1"))


def test_what_is_more_than_64_bits_is_refused() -> None:
    most = Counts({"a": 2**64 - 1}, pretokenizer=None)
    assert most["a"] == most.bytes == 2**64 - 1
    for more in (
        lambda: most + most,
        lambda: most.scale(2),
        lambda: most + Counts({"b": 1}, pretokenizer=None),
        lambda: Counts({"ab": 2**63}, pretokenizer=None),
        lambda: most.save("never.arrow"),
        lambda: Counts.from_arrow(most),
    ):
        with pytest.raises(digram.LimitExceededError, match=r"2\^6"):
            more()
    assert not Path("never.arrow").exists()
    half = Counts({"a": 2**63 - 1}, pretokenizer=None)
    assert pickle.loads(pickle.dumps(half)) == half


@pytest.mark.parametrize("pieces", [{"": 1}, {"a": 0}, {"a": -1}, {"a": 2**64}])
def test_pieces_that_no_text_has(pieces: dict[str, int]) -> None:
    with pytest.raises(digram.OptionError, match=r"not a pretoken"):
        Counts(pieces, pretokenizer=None)


def test_pieces_and_counts_of_other_types() -> None:
    with pytest.raises(TypeError, match=r"whole number"):
        Counts({"a": 1.0}, pretokenizer=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"str or bytes"):
        Counts([(7, 1)], pretokenizer=None)  # type: ignore[list-item]
    with pytest.raises(digram.InvalidTextError, match=r"surrogate"):
        Counts([("\ud800", 1)], pretokenizer=None)
    with pytest.raises(digram.InvalidTextError):
        Counts({b"\xff": 1}, pretokenizer=None, unit="char")


def test_filter_and_merge_refuse_what_makes_no_sense(counts: Counts) -> None:
    with pytest.raises(digram.OptionError, match=r"min_count=0"):
        counts.filter(min_count=0)
    with pytest.raises(TypeError, match=r"min_count"):
        counts.filter(min_count=1.5)  # type: ignore[arg-type]
    with pytest.raises(digram.OptionError, match=r"no counts to merge"):
        Counts.merge([])
    with pytest.raises(TypeError, match=r"parts\[1\]"):
        Counts.merge([counts, "the"])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        counts + 1  # type: ignore[operator]


def test_more_documents_than_there_are_cannot_be_taken_away() -> None:
    one, two = count_pretokens(["ab"]), count_pretokens(["a", "b"])
    with pytest.raises(digram.OptionError, match="have 2 documents, more than the 1 here"):
        one - two
