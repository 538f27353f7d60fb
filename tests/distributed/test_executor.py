"""Executors that are slow, lose tasks or break: always the result of one machine, or an error.

Pools of processes whose workers are killed are in `tests/distributed/engines`.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_corpora, cases, ties

import digram
from digram.distributed import executor

SHARDS = [["the cat", "the dog"], [], ["lower lowest"], ["", "low"], ["the low"]]
TEXTS = [text for shard in SHARDS for text in shard]
TOK = digram.train(TEXTS, max_merges=20)


class Unreliable(Executor):
    """Runs a task at once, loses it, or breaks, as a seed says."""

    def __init__(self, draw: random.Random, breaks: bool) -> None:
        self._draw = draw
        self._breaks = breaks
        self._broken = False
        self.ended = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self._broken:
            raise BrokenExecutor("it broke before")
        event = self._draw.random()
        if event < 0.2 and self._breaks:
            self._broken = True
            future.set_exception(BrokenExecutor("it broke"))
        elif event < 0.3:
            future.set_exception(OSError("the worker is gone"))
        elif event < 0.4:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(fn(*args, **kwargs))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.ended = True


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as pool:
        yield pool


def test_pools_that_break_are_replaced_and_ended() -> None:
    whole = digram.count_pretokens(TEXTS)
    made: list[Unreliable] = []
    for seed in range(200):
        draw = random.Random(seed)

        def make(draw: random.Random = draw) -> Executor:
            made.append(Unreliable(draw, breaks=True))
            return made[-1]

        assert executor.count(make, SHARDS, at_once=draw.randint(1, 4), retries=100) == whole
        found = executor.encode(make, TOK, SHARDS, at_once=draw.randint(1, 4), retries=100)
        assert [flat.ids.tolist() for flat in found] == [
            TOK.encode_batch(shard, out="numpy").ids.tolist() for shard in SHARDS
        ]
    assert len(made) > 500
    assert all(one.ended for one in made)


def test_a_pool_that_cannot_be_replaced() -> None:
    pool = Unreliable(random.Random(1), breaks=True)
    with pytest.raises(digram.LimitExceededError, match=r"pool is broken.*lambda: Proc") as raised:
        executor.count(pool, SHARDS * 9, retries=100)
    assert isinstance(raised.value.__cause__, BrokenExecutor)
    assert not pool.ended  # whoever made it ends it


def test_a_shard_is_lost_too_often() -> None:
    class Gone(Unreliable):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(OSError("gone"))
            return future

    with pytest.raises(digram.LimitExceededError, match=r"shard 0 was lost 3 times, .* OSError"):
        executor.count(Gone(random.Random(), breaks=False), SHARDS, at_once=1, retries=2)


@cases(150)
@given(st.lists(any_corpora, max_size=5), ties, st.integers(1, 4))
def test_training_is_that_of_one_machine(
    pool: Executor, shards: list[list[str]], rule: Any, at_once: int
) -> None:
    texts = [text for shard in shards for text in shard]
    options: dict[str, Any] = {"max_merges": 9, "ties": rule, "pretokenizer": "whitespace"}
    tok = executor.train(pool, iter(shards), at_once=at_once, **options)
    expected = digram.train(texts, **options)
    assert tok == expected
    assert tok.training == expected.training


def test_saved_bytes_are_those_of_one_machine(pool: Executor, tmp_path: Path) -> None:
    executor.train(pool, SHARDS, vocab_size=270, special_tokens=iter(["<a>"])).save(
        tmp_path / "a.json"
    )
    digram.train(TEXTS, vocab_size=270, special_tokens=["<a>"]).save(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_files_are_shards(pool: Executor, tmp_path: Path) -> None:
    for number, shard in enumerate(SHARDS):
        (tmp_path / f"{number}.txt").write_text("--".join(shard), encoding="utf-8")
    found = digram.files(tmp_path, separator="--")
    whole = digram.count_pretokens(found)
    assert executor.count(pool, found) == whole
    parts = [digram.files(*paths, separator="--") for paths in (found.paths[:2], found.paths[2:])]
    assert executor.count(pool, parts) == whole
    uncut = digram.count_pretokens(tmp_path)
    for shards in (tmp_path, [found.paths[:2], list(found.paths[2:])]):
        assert executor.count(pool, shards) == uncut
    ids = [i for flat in executor.encode(pool, TOK, found) for i in flat.ids.tolist()]
    assert ids == TOK.encode_batch(list(found), out="numpy").ids.tolist()


class Hanging(Unreliable):
    """Some tasks are never done, and some only much later, when they were done by another."""

    def __init__(self) -> None:
        super().__init__(random.Random(), breaks=False)
        self.submitted = 0
        self._slow: list[Callable[[], None]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.submitted += 1
        if self.submitted == 1:
            return future
        if self.submitted == 2:
            self._slow.append(lambda: future.set_result(fn(*args, **kwargs)))
            return future
        future.set_result(fn(*args, **kwargs))
        if self.submitted > len(SHARDS):
            while self._slow:
                self._slow.pop()()
        return future


def test_a_straggler_is_done_again() -> None:
    pool = Hanging()
    found = executor.count(pool, SHARDS, at_once=9, patience=0.02)
    assert found == digram.count_pretokens(TEXTS)
    assert pool.submitted == len(SHARDS) + 2


def test_what_is_wrong_with_a_shard_names_it(pool: Executor, tmp_path: Path) -> None:
    with pytest.raises(digram.InvalidTextError, match="shard 1: text 1 is not UTF-8 at byte 0"):
        executor.count(pool, [[b"a"], [b"b", b"\xff"]], unit="char")
    with pytest.raises(TypeError, match=r"shard 2: corpus\[1\]"):
        executor.count(pool, [["a"], ["b"], ["c", 7]])  # type: ignore[list-item]
    gone = tmp_path / "gone.txt"
    gone.write_text("text")
    shards = digram.files(gone)
    gone.unlink()
    with pytest.raises(FileNotFoundError, match=r"gone\.txt"):
        executor.count(pool, shards)


@pytest.mark.parametrize("shards", ["a text", b"a text", {"a": ["b"]}, 7])
def test_what_is_no_list_of_shards(pool: Executor, shards: Any) -> None:
    with pytest.raises(TypeError, match="iterable of corpora"):
        executor.count(pool, shards)


def test_what_is_no_shard(pool: Executor) -> None:
    with pytest.raises(TypeError, match="a shard must be a text"):
        executor.count(pool, [["a"], 7])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="pool must be an Executor"):
        executor.count(7, [["a"]])  # type: ignore[arg-type]
    wrong: list[dict[str, Any]] = [{"at_once": 0}, {"retries": -1}, {"patience": -1}]
    for options in wrong:
        with pytest.raises(digram.OptionError, match=next(iter(options))):
            executor.count(pool, [["a"]], **options)


def test_no_shards_are_no_texts(pool: Executor) -> None:
    assert executor.count(pool, []) == digram.count_pretokens([])
    assert list(executor.encode(pool, TOK, [])) == []


def test_no_more_shards_are_taken_than_asked_for(pool: Executor) -> None:
    taken = 0

    def shards() -> Iterator[list[str]]:
        nonlocal taken
        for _ in range(50):
            taken += 1
            yield ["a"]

    for done, _ in enumerate(executor.encode(pool, TOK, shards(), at_once=3), 1):
        assert taken <= done + 3
    assert taken == 50


def test_a_run_that_is_given_up_takes_its_tasks_back() -> None:
    made: list[ThreadPoolExecutor] = []

    def make() -> Executor:
        made.append(ThreadPoolExecutor(1))
        return made[-1]

    found = executor.encode(make, TOK, [["a"]] * 9, at_once=9)
    next(found)
    found.close()  # type: ignore[attr-defined]
    with pytest.raises(RuntimeError, match="shutdown"):
        made[0].submit(print)


def test_ctrl_c_is_served_while_nothing_comes_back() -> None:
    class Never(Unreliable):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            return Future()

    pool = Never(random.Random(), breaks=False)
    timer = threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        executor.count(lambda: pool, SHARDS)
    assert pool.ended
    timer.join()


@pytest.mark.filterwarnings("ignore:1 record was skipped")  # the worker is this process
def test_records_that_are_skipped_are_told(pool: Executor, tmp_path: Path) -> None:
    for name, lines in (("a", '{"text": "low"}\n'), ("b", '{"text": 7}\n{"text": "lower"}\n')):
        (tmp_path / f"{name}.jsonl").write_text(lines)
    found = digram.files(tmp_path, on_error="skip")
    with pytest.warns(UserWarning, match="1 record skipped, the first in shard 1"):
        counts = executor.count(pool, found)
    with pytest.warns(UserWarning, match="1 record was skipped"):
        assert counts == digram.count_pretokens(found)
    assert counts.skipped == 1
    with pytest.warns(UserWarning, match="1 record skipped, the first in shard 1"):
        ids = list(executor.encode(pool, TOK, found))
    assert [flat.ids.tolist() for flat in ids] == [TOK.encode("low"), TOK.encode("lower")]
    with pytest.raises(digram.CorruptFileError, match=r"b\.jsonl, record 1"):
        executor.count(pool, digram.files(tmp_path))


def test_tables_are_shards(pool: Executor) -> None:
    tables = [digram.table(pyarrow.table({"text": shard})) for shard in (["low", "é"], ["lower"])]
    assert executor.count(pool, tables) == digram.count_pretokens(["low", "é", "lower"])
