"""How much is worked out at a time, how much waits, and who is sent away."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import digram
from digram.web import work as module
from digram.web.guard import GoneError, RefusalError
from digram.web.work import MOST_HELD, MOST_WAITING, Work

TEXT = "".join(f"{n} sheep and {n * n} goats\n" for n in range(200_000))


def stays() -> asyncio.Future[None]:
    """Of one who waits for his answer."""
    return asyncio.get_running_loop().create_future()


def leaves() -> asyncio.Future[None]:
    """Of one who has left."""
    future = stays()
    future.set_result(None)
    return future


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """In a thread of its own, since that of the tests may have a loop, of the browser."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(asyncio.wait_for(main(), 60))).result()


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for what other threads do."""
    while not is_so():
        await asyncio.sleep(0.005)


def test_so_many_at_a_time_in_the_order_of_their_coming() -> None:
    order: list[int] = []
    running, most = 0, 0
    lock = threading.Lock()

    def job(number: int) -> int:
        nonlocal running, most
        with lock:
            order.append(number)
            running += 1
            most = max(most, running)
        time.sleep(0.01)
        with lock:
            running -= 1
        return number

    async def main() -> None:
        work = Work(2)
        asked = [work.do(lambda number=number: job(number), stays()) for number in range(12)]  # type: ignore[misc]
        assert await asyncio.gather(*asked) == [*range(12)]

    run(main)
    assert most == 2
    assert sorted(order[:2]) == [0, 1]
    assert all(abs(at - number) <= 1 for at, number in enumerate(order))


def test_who_comes_when_too_many_wait_is_sent_away() -> None:
    go = threading.Event()

    async def main() -> None:
        work = Work(1)
        asked = [asyncio.ensure_future(work.do(go.wait, stays())) for _ in range(MOST_WAITING + 1)]
        await until(lambda: len(work._waiting) == MOST_WAITING)
        with pytest.raises(RefusalError, match="busy: 16 questions are waiting") as refused:
            await work.do(go.wait, stays())
        assert (refused.value.status, refused.value.headers) == (503, {"retry-after": "2"})
        go.set()
        assert await asyncio.gather(*asked) == [True] * (MOST_WAITING + 1)
        assert await work.do(lambda: 1, stays()) == 1

    run(main)


def test_whose_turn_does_not_come_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.05)
    go = threading.Event()

    async def main() -> None:
        work = Work(1)
        first = asyncio.ensure_future(work.do(go.wait, stays()))
        await until(lambda: bool(work._running))
        with pytest.raises(RefusalError, match=r"not started within 0\.05 s"):
            await work.do(go.wait, stays())
        go.set()
        assert await first
        assert not work._waiting

    run(main)


def test_what_nobody_waits_for_is_not_begun() -> None:
    go, done = threading.Event(), list[int]()

    async def main() -> None:
        work = Work(1)
        first = asyncio.ensure_future(work.do(go.wait, stays()))
        await until(lambda: bool(work._running))
        gone = stays()
        second = asyncio.ensure_future(work.do(lambda: done.append(2), gone))
        third = asyncio.ensure_future(work.do(lambda: done.append(3), stays()))
        await until(lambda: len(work._waiting) == 2)
        gone.set_result(None)
        with pytest.raises(GoneError):
            await second
        go.set()
        await asyncio.gather(first, third)
        with pytest.raises(GoneError):
            await work.do(lambda: done.append(4), leaves())
        await until(lambda: not work._running)

    run(main)
    assert done[:1] == [3]


def test_what_nobody_waits_for_is_stopped(tok: digram.Tokenizer) -> None:
    ended: list[BaseException] = []

    def job() -> None:
        try:
            while True:  # else a fast machine is done before it can be stopped
                tok.count(TEXT)
        except BaseException as error:
            ended.append(error)
            raise

    async def main() -> None:
        work, gone = Work(1), stays()
        asked = asyncio.ensure_future(work.do(job, gone))
        await until(lambda: bool(work._running))
        gone.set_result(None)
        with pytest.raises(GoneError):
            await asked
        assert await work.do(lambda: 5, stays()) == 5  # the one place is free again

    run(main)
    assert [type(error) for error in ended] == [KeyboardInterrupt]


def test_answers_that_are_not_taken_hold_up_the_next() -> None:
    async def main() -> None:
        work = Work(2)
        with work.holding(MOST_HELD):
            asked = asyncio.ensure_future(work.do(lambda: 1, stays()))
            await asyncio.sleep(0.05)
            assert not asked.done()
        assert await asked == 1

    run(main)


def test_an_end_stops_what_runs_and_refuses_what_waits(tok: digram.Tokenizer) -> None:
    def job() -> None:
        while True:
            tok.count(TEXT)

    async def main() -> None:
        work = Work(1)
        asked = [asyncio.ensure_future(work.do(job, stays())) for _ in range(3)]
        await until(lambda: len(work._waiting) == 2)
        work.stop()
        for one in asked:
            with pytest.raises(RefusalError, match="is stopping"):
                await one
        with pytest.raises(RefusalError, match="is stopping"):
            await work.do(lambda: 1, stays())
        work.join(10)
        assert not work._running

    run(main)


def test_errors_come_through() -> None:
    async def main() -> None:
        work = Work(1)
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await work.do(lambda: 1 // 0, stays())

    run(main)


def test_a_system_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    async def main() -> None:
        work = Work(1)
        with monkeypatch.context() as patched:
            patched.setattr("digram.web.work.threading.Thread", Refusing)
            with pytest.raises(RefusalError, match="cannot start a thread"):
                await work.do(lambda: 1, stays())
        assert await work.do(lambda: 1, stays()) == 1

    run(main)
