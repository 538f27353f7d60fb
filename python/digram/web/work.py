"""The work behind questions: a little of it at a time, some that waits, and none for who has left.

A question is worked out in a thread, since encoding a long text must not keep others waiting. What
bounds the memory of that is here: how many are worked out at a time, how many wait for their turn,
and how much of what was made is still to be taken. Whoever comes beyond that is told to come again.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from digram._core import Stopper
from digram.web.guard import COME_AGAIN, GoneError, RefusalError

__all__ = ["MOST_HELD", "MOST_WAITING", "Work"]

MOST_WAITING = 16
"""Questions of a kind that wait for their turn; each has a body of up to 1 MiB."""

MOST_HELD = 32 << 20
"""Bytes of answers that are being taken, from which on no further one is worked out."""

LONGEST_WAIT = 20.0
"""Seconds that a question waits for its turn."""

T = TypeVar("T")


class Work:
    """Work of one kind, done by up to `most` threads at a time.

    >>> work = Work(1)
    >>> async def asks():
    ...     return await work.do(lambda: 6 * 7, asyncio.get_running_loop().create_future())
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as loops:
    ...     loops.submit(asyncio.run, asks()).result()
    42

    All but `join` belongs to the thread of one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._running: dict[Stopper, threading.Thread] = {}
        self._is_over = False

    async def do(self, work: Callable[[], T], gone: asyncio.Future[None]) -> T:
        """What `work` returns, of a thread; what it raises, too.

        `gone` is done when nobody waits for that any more: then it is not begun, or stopped at the
        next long call of the core, and this raises `GoneError`. Raises `RefusalError` where too
        much waits already, where its turn does not come soon, and where the server stops.
        """
        await self._turn(gone)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()
        stopper = Stopper()

        def finish(result: T | None, error: BaseException | None) -> None:
            del self._running[stopper]
            self._call_next()
            if done.done():
                return
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(result)  # type: ignore[arg-type]

        def run() -> None:
            result, error = None, None
            try:
                with stopper:
                    result = work()
            except BaseException as raised:
                error = raised
            with suppress(RuntimeError):  # of a loop that is closed, where nobody waits
                loop.call_soon_threadsafe(finish, result, error)

        # Daemons: the process ends without waiting for a step that cannot be stopped.
        thread = threading.Thread(target=run, name="digram page: work", daemon=True)
        self._running[stopper] = thread
        try:
            thread.start()
        except RuntimeError:
            del self._running[stopper]
            raise _busy("the system starts no further thread.") from None
        finally:
            self._call_next()  # where there is room for more than this one
        try:
            either: set[asyncio.Future[Any]] = {done, gone}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not done.done():
                stopper.stop()
                done.cancel()
        if done.cancelled():
            raise GoneError
        if isinstance(done.exception(), KeyboardInterrupt):
            raise _ending()
        return done.result()

    @contextmanager
    def holding(self, size: int) -> Iterator[None]:
        """Count an answer as being taken, by its bytes, for the duration of a block."""
        self._held += size
        try:
            yield
        finally:
            self._held -= size
            self._call_next()

    def stop(self) -> None:
        """Stop what runs, and refuse what waits or comes."""
        self._is_over = True
        for stopper in self._running:
            stopper.stop()
        for turn in self._waiting:
            if not turn.done():
                turn.set_exception(_ending())

    def join(self, seconds: float) -> None:
        """Wait for what runs, but no longer than that for each."""
        for thread in [*self._running.values()]:
            thread.join(seconds)

    async def _turn(self, gone: asyncio.Future[None]) -> None:
        """Wait until it may begin."""
        if self._is_over:
            raise _ending()
        if gone.done():
            raise GoneError
        if self._is_free() and not self._waiting:
            return
        if len(self._waiting) >= MOST_WAITING:
            raise _busy(f"{MOST_WAITING} questions wait already.")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            either = {turn, gone}
            await asyncio.wait(either, timeout=LONGEST_WAIT, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                raise GoneError
            if not turn.done():
                raise _busy(f"the turn of this question did not come within {LONGEST_WAIT:g} s.")
            turn.result()
        except BaseException:
            self._waiting.remove(turn)
            self._call_next()  # whose turn it would have been
            raise
        self._waiting.remove(turn)

    def _is_free(self) -> bool:
        return len(self._running) < self._most and self._held < MOST_HELD

    def _call_next(self) -> None:
        """Wake the first that waits, where there is room."""
        if self._waiting and self._is_free():
            turn = self._waiting[0]
            if not turn.done():
                turn.set_result(None)


def _busy(why: str) -> RefusalError:
    return RefusalError(
        503,
        f"the server is busy: {why}",
        "Ask again in some seconds.",
        **{"retry-after": str(COME_AGAIN)},
    )


def _ending() -> RefusalError:
    return RefusalError(
        503, "the server is being stopped.", "Start `digram serve` again.", connection="close"
    )
