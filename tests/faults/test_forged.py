"""Files whose digest was made to fit what was changed: refused, or read as what they say."""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import digram
from digram import DigramError, OptionError
from digram._util import json_files
from digram._util.validation import fraction, fraction_in

VALUES: list[Any] = [
    *(None, True, -1, 0, 1, 2**70, 1.5, "x", "x" * 70_000, [], {}, [1], {"a": 1}, [[]]),
    *("1e99999999", "1e-99999999", "1/0", "inf", "nan", "-1", "1/" + "9" * 90),
]


def leaves(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values, those that hold others included."""
    if way:
        yield way
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in inner:
            yield from leaves(one, (*way, key))


def forgeries(file: Path, key: str) -> Iterator[tuple[Any, ...]]:
    """Puts each value in each place, or nothing; gives what was changed."""
    before = json.loads(file.read_text(encoding="utf-8"))
    plain = {name: one for name, one in before.items() if name not in (key, "sha256")}
    for way in leaves(plain):
        for value in (*VALUES, ...):
            changed = copy.deepcopy(plain)
            at: Any = changed
            for step in way[:-1]:
                at = at[step]
            if value is ...:
                del at[way[-1]]
            else:
                at[way[-1]] = value
            digest = json_files.digest(changed)
            file.write_text(json.dumps({key: before[key], "sha256": digest, **changed}))
            yield way, value


def attack(file: Path, key: str, use: Callable[[], object]) -> None:
    refused = read = 0
    began = time.process_time()
    for way, value in forgeries(file, key):
        said = ""
        try:
            use()
            read += 1
        except DigramError as error:
            refused += 1
            said = str(error)
        except Exception as error:
            raise AssertionError(f"{way} = {str(value)[:50]}") from error
        assert len(said) < 2_500, (way, value)
    print(f"\n{file.name}: {refused:,} forgeries refused, {read:,} read")
    assert refused > 400
    assert time.process_time() - began < 60  # an exponent alone took longer


def test_a_forged_id_space(tmp_path: Path) -> None:
    tok = digram.train("low low lower", vocab_size=258)
    space = digram.IdSpace({"text": tok, "image": 16, "act": ["a", "b"]})
    path = tmp_path / "space.json"
    space.save(path)

    def use() -> None:
        found = digram.IdSpace.load(path, tokenizers={"text": tok})
        assert repr(found)
        assert found.ranges

    attack(path, "digram_id_space", use)


def test_a_forged_history(tmp_path: Path) -> None:
    history = digram.VocabularyHistory().add("low low lower").next(vocab_size=258).decay(0.5)
    history = (
        history.add("new", weight=2).next(add=1).add("x", name="more").forget("x", name="more")
    )
    history.save(tmp_path / "t")

    def use() -> None:
        found = digram.VocabularyHistory.load(tmp_path / "t")
        assert (found.counts, found.parts, found.recent) is not None
        assert [str(one) for one in (*found.log, *found.versions)]
        assert found.add("more").decay(0.5).log
        assert isinstance(hash(found), int)
        for number in range(len(found.versions)):
            found.map(1, number + 1)
        found.save(tmp_path / "again")

    attack(tmp_path / "t" / "history.json", "digram_history", use)


LARGE = [
    *(
        Decimal("1e99999999"),
        Decimal("1e-99999999"),
        Decimal("-1e99999999"),
        Decimal("1e999999999"),
    ),
    *(10**100_000, Fraction(1, 10**100_000), 1e308, 1e-300, Decimal("1" * 100_000)),
]


@pytest.mark.parametrize("value", LARGE, ids=lambda value: type(value).__name__)
def test_numbers_that_take_for_ever(value: Any) -> None:
    counts = digram.count_pretokens("low low lower")
    history = digram.VocabularyHistory().add("low")
    calls: list[Callable[[], object]] = [
        lambda: counts.scale(value),
        lambda: history.decay(value),
        lambda: history.add("low", weight=value),
        lambda: digram.count_pretokens({"a": "low"}, weights={"a": value}),
        lambda: digram.train({"a": "low"}, weights={"a": value}, max_merges=1),
    ]
    began = time.process_time()
    for call in calls:
        with pytest.raises(OptionError, match=r"64 bits|not a positive number") as caught:
            call()
        assert len(str(caught.value)) < 300
    assert time.process_time() - began < 5


def test_numbers_as_they_are_written() -> None:
    for text in ("1e99999999", "1e-99999999", "1" * 1000, "1/0", "x", "", "nan", "inf", "1e"):
        with pytest.raises(ValueError, match=r"number|digits"):
            fraction_in(text)
    long = "1" + "0" * 300_000
    for value in (Decimal("0.5"), Decimal(f"0.5{'0' * 300_000}"), Fraction(1, 2), 0.5):
        assert fraction(value, "weight") == (1, 2)
    assert fraction(Decimal(f"{long}e-300000"), "weight") == (1, 1)
    exact = Decimal((0, tuple(map(int, str(5**63))), -63))
    assert fraction(exact, "weight") == (1, 2**63)


SIZES = {"large": 10**5000, "negative": -(10**5000), "text": "9" * 5000 + " GB", "nan": math.nan}


@pytest.mark.parametrize("value", SIZES.values(), ids=SIZES)
def test_sizes_that_are_none(value: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: digram.train("low", max_merges=1, memory_limit=value),
        lambda: digram.estimate_training(value, 64_000),
        lambda: digram.advise(parameters=value),
    ]
    for call in calls:
        with pytest.raises(OptionError, match=r"not a size|not a number of parameters") as caught:
            call()
        assert len(str(caught.value)) < 400


def test_a_limit_beyond_all_memory_is_none() -> None:
    assert digram.train("low low", max_merges=1, memory_limit=2**70).merge_log
