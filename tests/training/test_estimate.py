"""Estimates and the laws below them: right on text that was not fitted, and sound at the edges."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, prose

import digram
from digram import OptionError, TrainingEstimate
from digram.pretokenizers.pretokenizer import resolve
from digram.training.estimate import RATES
from digram.training.heaps_law import GROWTH, KINDS, Law, Point, fitted, points

MIXED = {"english": 0.5, "code": 0.3, "multilingual": 0.2}


def counted(texts: list[str], pretokenizer: str | None) -> Point:
    """What a set says."""
    pretokens = [p for text in texts for p in digram.pretokenize(text.encode(), pretokenizer)]
    distinct = set(pretokens)
    once = sum(pretokens.count(p) == 1 for p in distinct) / max(len(distinct), 1)
    return Point(sum(len(t.encode()) for t in texts), len(distinct), len(b"".join(distinct)), once)


@cases(200)
@given(prose, st.integers(1, 20))
def test_points_are_what_counting_gives(corpus: list[str], first: int) -> None:
    found = list(points(corpus, resolve("gpt2"), first))
    if not any(corpus):
        assert not found
        return
    assert found[-1] == counted(corpus, "gpt2")
    assert found == [counted(prefix(corpus, point.text), "gpt2") for point in found]
    assert all(1.5 * a.text <= b.text for a, b in pairwise(found[:-1]))


def prefix(corpus: list[str], size: int) -> list[str]:
    taken: list[str] = []
    for text in corpus:
        if sum(len(t.encode()) for t in taken) >= size:
            break
        taken.append(text)
    return taken


@cases(200)
@given(st.floats(0.01, 100), st.floats(0.2, 1.0), st.floats(0.01, 100), st.floats(0.2, 1.0))
def test_a_law_is_found_again(a: float, b: float, c: float, d: float) -> None:
    sizes = [10**n for n in (6, 7, 8, 9)]
    growth = fitted([Point(n, round(1e9 * a * n**b), round(1e9 * c * n**d), 0.5) for n in sizes])
    assert math.isclose(growth.pretokens.exponent, b, abs_tol=1e-6)
    assert math.isclose(growth.bytes(10**12), 1e9 * c * 1e12**d, rel_tol=1e-4)
    assert math.isclose(growth.bytes.inverse(growth.bytes(123_456)), 123_456, rel_tol=1e-9)


def test_the_table_is_whole() -> None:
    assert set(GROWTH) == {(kind, cut) for kind in KINDS for cut in ("gpt2", "cl100k", "o200k")}
    for growth in GROWTH.values():
        assert 0 < growth.pretokens.exponent <= growth.bytes.exponent < 1  # longer ones come later
        assert 0 < growth.once < 1


@pytest.mark.parametrize(
    ("kind", "corpus"), [("english", "en"), ("code", "code"), ("multilingual", "multi")]
)
def test_the_laws_hold_on_real_text(
    kind: str, corpus: str, shared_data: Callable[[str], Path]
) -> None:
    """On half of a corpus, twice as much as was fitted. The bench looks at all of it."""
    data = shared_data(f"corpora/{corpus}.txt").read_bytes()
    texts = data[: len(data) // 2].split(b"<|endoftext|>")
    (point,) = points(texts, resolve("o200k"), 1 << 60)
    found = digram.estimate_training(point.text, 32_000, kind=kind, memory_limit="16 GB", cores=2)
    assert found.distinct_pretokens == pytest.approx(point.pretokens, rel=0.1)
    assert found.distinct_bytes == pytest.approx(point.bytes, rel=0.15)


def estimate(corpus_size: Any = "10 GB", **options: Any) -> TrainingEstimate:
    given: dict[str, Any] = {"vocab_size": 32_000, "memory_limit": "8 GB", "cores": 4}
    return digram.estimate_training(corpus_size, **given | options)


@cases(100)
@given(st.floats(4, 13), st.sampled_from([*KINDS, MIXED]), st.floats(0.1, 1))
def test_more_text_needs_more(power: float, kind: Any, less: float) -> None:
    large, small = estimate(10**power, kind=kind), estimate(10**power * less, kind=kind)
    assert small.distinct_pretokens <= large.distinct_pretokens
    assert small.seconds <= large.seconds * 1.1  # a spill comes in whole parts
    assert small.merging.memory <= large.merging.memory
    assert large.distinct_bytes <= large.corpus_bytes * 1.001


@cases(100)
@given(st.floats(4, 14), st.sampled_from([*KINDS, MIXED]), st.floats(8, 12), st.integers(1, 50))
def test_counting_stays_within_memory(power: float, kind: Any, room: float, machines: int) -> None:
    found = estimate(10**power, kind=kind, memory_limit=10**room, machines=machines)
    assert found.counting.memory <= 10**room
    roomy = estimate(10**power, kind=kind, memory_limit=1e20, machines=machines)
    assert roomy.counting.spill == 0
    assert (found.counting.spill > 0) == (roomy.counting.memory > 10**room)
    assert found.merging.memory <= 10**room
    assert (
        found.fits
        == (found.merging.spill == 0)
        == (roomy.merging.memory <= 10**room and roomy.fits)
    )
    assert bool(found.advice) == (not found.fits)


def test_merging_from_disk_takes_the_longer_the_less_memory_there_is() -> None:
    free = estimate("100 GB", memory_limit="1 TB")
    half, tenth = (estimate("100 GB", memory_limit=free.merging.memory / part) for part in (2, 10))
    assert free.fits
    assert not half.fits
    assert free.merging.seconds < half.merging.seconds < tenth.merging.seconds
    assert half.merging.spill > half.distinct_bytes


def test_more_than_is_merged_in_memory_is_merged_from_disk() -> None:
    found = estimate("100 TB", kind="multilingual", memory_limit="100 TB")
    assert found.distinct_bytes > 1 << 32
    assert not found.fits
    assert "merges a sample of " in found.advice


def test_machines_share_the_counting_and_send_what_they_found() -> None:
    one, many = estimate("1 TB"), estimate("1 TB", machines=10)
    assert many.counting.seconds < one.counting.seconds / 5
    assert (one.counting.traffic, many.counting.traffic > 0) == (0, True)
    assert many.merging == one.merging
    assert many.distinct_pretokens == one.distinct_pretokens


def test_cores_and_speed() -> None:
    slow = estimate(cores=1)
    assert estimate(cores=2).counting.seconds == pytest.approx(
        slow.counting.seconds / (1 + RATES.second_thread)
    )
    assert estimate(cores=1, speed=2.0).merging.seconds == pytest.approx(slow.merging.seconds / 2)


def test_a_sample_in_place_of_a_kind() -> None:
    texts = [f"{i} of {i * i % 1000}, and {i // 7}" for i in range(40_000)]
    found = estimate("10 MB", sample=texts, pretokenizer="whitespace")
    tok = digram.train(texts, max_merges=0, pretokenizer="whitespace")
    assert tok.training is not None
    there = estimate(tok.training.bytes, sample=texts, pretokenizer="whitespace")
    assert there.distinct_pretokens == pytest.approx(tok.training.distinct_pretokens, rel=0.05)
    assert found.kinds == {"as the sample": 1.0}
    assert found.beyond == pytest.approx(1e7 / tok.training.bytes)


def test_a_page_to_read() -> None:
    page = str(estimate("2 TB", kind=MIXED, machines=4, memory_limit="2 GB"))
    assert repr(estimate()) == str(estimate())
    for part in (
        "2.00 TB of text (50% english, 30% code, 20% multilingual), 32,000 tokens",
        "on 4 machines of 4 cores, 2.00 GB of memory",
        "spilled to disk",
        "sent on",
        'from disk    memory_limit="2.00 GB" gives the same merges; in memory ',
        f"rates of {RATES.measured}",
    ):
        assert part in page
    assert "from disk" not in str(estimate("10 MB"))
    assert "of memory (" in str(estimate("1 GB", kind="multilingual", memory_limit="5 GB"))


def test_plain_values() -> None:
    found = estimate()
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (5, 5),
        ("5", 5),
        ("1 kB", 1000),
        ("1.5GB", 1_500_000_000),
        ("2 GiB", 2 << 30),
        ("3tb", 3 * 10**12),
        ("7 M", 7_000_000),
    ],
)
def test_sizes(size: Any, expected: int) -> None:
    assert estimate(size).corpus_bytes == expected


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"corpus_size": "a lot"}, "corpus_size='a lot' is not a size"),
        ({"corpus_size": 0}, "corpus_size=0 is not a size"),
        ({"corpus_size": float("nan")}, "corpus_size=nan is not a size"),
        ({"corpus_size": -5}, "corpus_size=-5 is not a size"),
        ({"memory_limit": "8 XB"}, "memory_limit='8 XB' is not a size"),
        ({"kind": "poems"}, "no law for text of the kind 'poems'"),
        ({"kind": {"english": -1}}, "below 0"),
        ({"kind": {}}, "sum to 0"),
        ({"pretokenizer": "whitespace"}, "no law for the pretokenizer whitespace"),
        ({"pretokenizer": None}, "no law for the pretokenizer none"),
        ({"vocab_size": 0}, "vocab_size=0 is not at least 1"),
        ({"cores": 0}, "cores=0 is not at least 1"),
        ({"machines": -1}, "machines=-1 is not at least 1"),
        ({"speed": 0}, "speed=0 is not above 0"),
        ({"sample": ["one text"]}, "too little text"),
        ({"sample": []}, "too little text"),
    ],
)
def test_what_makes_no_sense(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        estimate(**{"corpus_size": "1 GB"} | options)


def test_laws_are_powers() -> None:
    assert Law(3.0, 0.5)(100) == pytest.approx(30)
