"""Shards that are lost, repeated, late, or back in any order: always the result of one machine.

The schedules are drawn from seeds, and run the real tasks under the real rules; only the engine
is played. What an engine of one's own does to its tasks is tried in `tests/distributed/engines`.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow
import pytest

import digram
from digram.distributed.roster import Key, Result, Roster
from digram.distributed.rows import KEYS, counts_of, rows_of
from digram.distributed.shards import CountShard, EncodeShard
from digram.distributed.tasks import CountTexts, EncodeTexts

SCHEDULES = 2_000
TEXTS = [
    "the cat sat on the mat", "", "the dog", "lower lowest low", "ééé", "a" * 40, "12 345",
    "the cat", "\n\n", "naïve 世界", "low", "the", "x y z", "cat cat cat", " ", "lowest of the low",
]  # fmt: skip
COUNT = CountTexts.of("gpt2")
WHOLE = digram.count_pretokens(TEXTS, pretokenizer="gpt2")
TOK = digram.train(WHOLE, max_merges=30)


def shards(draw: random.Random) -> list[list[str]]:
    """The texts in order, in parts of any size, also of none."""
    cuts = sorted(draw.randrange(len(TEXTS) + 1) for _ in range(draw.randrange(6)))
    return [TEXTS[a:b] for a, b in zip([0, *cuts], [*cuts, len(TEXTS)], strict=True)]


class Play:
    """An engine that does to its tasks whatever engines do, as a seed says."""

    def __init__(self, draw: random.Random, work: Callable[[int, Any], Any]) -> None:
        self._draw = draw
        self._work = work
        self._out: list[tuple[int, Any]] = []
        self._results: list[Any] = []  # which came, and may come again
        self.events: dict[str, int] = {}

    def run(self, roster: Roster[Any, Any]) -> list[Any]:
        found: list[Any] = []
        while True:
            while (job := roster.next()) is not None:
                self._out.append(job)
            if roster.done:
                return found
            self._step(roster)
            found += roster.ready()

    def _step(self, roster: Roster[Any, Any]) -> None:
        event = self._draw.choice(
            ["back", "back", "back", "lost", "twice", "again", "late", "killed"]
        )
        if not self._out:
            event = "late"  # everybody is gone and nobody said so
        self.events[event] = self.events.get(event, 0) + 1
        if event == "again" and self._results:
            roster.back(self._draw.choice(self._results))
        elif event == "late":
            roster.late()
        elif event == "killed":  # a machine, with all that it had
            for number, _ in self._out:
                roster.lost(number, OSError("killed"))
            self._out.clear()
        elif event == "lost":
            number, _ = self._take()
            roster.lost(number, OSError("lost"))
        else:
            number, shard = self._take()
            for _ in range(1 + (event == "twice")):
                result = self._work(number, pickle.loads(pickle.dumps(shard)))
                assert isinstance(result, Result)
                self._results.append(pickle.loads(pickle.dumps(result)))
                roster.back(self._results[-1])

    def _take(self) -> tuple[int, Any]:
        return self._out.pop(self._draw.randrange(len(self._out)))


def test_any_schedule_counts_and_encodes_as_one_machine_does() -> None:
    counting = CountShard(COUNT)
    encoding = EncodeShard(EncodeTexts.of(TOK))
    ids = TOK.encode_batch(TEXTS)
    events: dict[str, int] = {}
    digests = set()
    for seed in range(SCHEDULES):
        draw = random.Random(seed)
        encodes = seed % 4 == 3
        play = Play(draw, encoding if encodes else counting)
        roster: Roster[Any, Any] = Roster(shards(draw), at_once=draw.randint(1, 6), retries=10_000)
        found = play.run(roster)
        for name, times in play.events.items():
            events[name] = events.get(name, 0) + times
        if encodes:
            each = [
                flat.ids[flat.offsets[i] : flat.offsets[i + 1]].tolist()
                for flat in found
                for i in range(len(flat.offsets) - 1)
            ]
            assert each == ids, seed
        else:
            counts = digram.Counts.merge(found)
            digests.add(counts._held.digest())
            assert counts == WHOLE, seed
    assert len(digests) == 1
    assert min(events.values()) > SCHEDULES / 4, events


def test_rows_add_up_in_any_order_and_in_any_steps() -> None:
    for seed in range(100):
        draw = random.Random(seed)
        tables = [rows_of(COUNT(part)) for part in shards(draw)]
        for _ in range(draw.randrange(4)):  # a shuffle: cut anywhere, in any order, partly summed
            rows = pyarrow.concat_tables(tables)
            order = draw.sample(range(len(rows)), len(rows))
            rows = rows.take(order)
            cut = draw.randrange(len(rows) + 1)
            tables = [rows.slice(0, cut), rows.slice(cut)]
            if draw.random() < 0.5:
                added = tables[0].group_by(KEYS).aggregate([("count", "sum")])
                tables[0] = added.rename_columns([*KEYS, "count"])
        assert counts_of(pyarrow.concat_tables(tables), COUNT) == WHOLE.without_first(), seed


DONE = Result(Key(0, "content", "configuration"), "digest", 7)


def roster(retries: int = 0) -> Roster[str, int]:
    found: Roster[str, int] = Roster(["a", "b"], at_once=2, retries=retries)
    assert found.next() == (0, "a")
    return found


@pytest.mark.parametrize(
    ("other", "kind", "message"),
    [
        (
            replace(DONE, key=replace(DONE.key, content="?")),
            digram.ConfigMismatchError,
            "has changed",
        ),
        (
            replace(DONE, key=replace(DONE.key, configuration="?")),
            digram.ConfigMismatchError,
            "two configurations",
        ),
        (replace(DONE, digest="?"), digram.InternalError, "two results"),
    ],
)
def test_a_result_that_contradicts_an_earlier_one(
    other: Result[int], kind: type[digram.DigramError], message: str
) -> None:
    one = roster()
    one.back(DONE)
    assert list(one.ready()) == [7]
    assert not one.back(DONE)  # again, and late
    with pytest.raises(kind, match=message) as raised:
        one.back(other)
    assert raised.value.index == 0


def test_a_shard_that_is_lost_too_often() -> None:
    one = roster(retries=2)
    for _ in range(2):
        one.lost(0, OSError("gone"))
        assert one.next() == (0, "a")
    why = OSError("gone")
    with pytest.raises(
        digram.LimitExceededError, match=r"shard 0 was lost 3 times.*gone"
    ) as raised:
        one.lost(0, why)
    assert raised.value.__cause__ is why


def test_a_shard_that_is_back_cannot_be_lost() -> None:
    one = roster(retries=0)
    one.back(DONE)
    one.lost(0, OSError("its second copy"))
    assert one.next() == (1, "b")


def test_late_shards_are_handed_out_a_second_time_only() -> None:
    one = roster()
    assert one.next() == (1, "b")
    for expected in ([(0, "a"), (1, "b")], []):
        one.late()
        found = []
        while (job := one.next()) is not None:
            found.append(job)
        assert found == expected
