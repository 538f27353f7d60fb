"""The work behind questions: limited in parallel, with a queue, and cancelled when a client leaves.

Each question is answered in a thread, since encoding a long text must not block other questions.
Memory is bounded by limits on how many questions are worked on at a time, how many wait for their
turn, and how much of the answers has not been sent yet. Further questions are refused, with a time
to retry.
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
"""The maximum number of waiting questions of a kind; each has a body of up to 1 MiB."""

MOST_HELD = 32 << 20
"""The bytes of unsent answers from which on no further question is started."""

LONGEST_WAIT = 20.0
"""The maximum number of seconds that a question waits for its turn."""

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

    All methods but `join` must be called in the thread of one event loop.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._running: dict[Stopper, threading.Thread] = {}
        self._is_over = False

    async def do(self, work: Callable[[], T], gone: asyncio.Future[None]) -> T:
        """Run `work` in a thread, and return or raise what it does.

        `gone` is done when the client has left: then the work is not started, or stopped at the
        next long call of the core, and this raises `GoneError`. Raises `RefusalError` if too many
        questions wait, if the turn does not come in time, and if the server stops.
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
            with suppress(RuntimeError):  # the loop is closed, and nothing waits
                loop.call_soon_threadsafe(finish, result, error)

        # Daemon threads: the process ends without waiting for a step that cannot be stopped.
        thread = threading.Thread(target=run, name="digram page: work", daemon=True)
        self._running[stopper] = thread
        try:
            thread.start()
        except RuntimeError:
            del self._running[stopper]
            raise _busy("the system cannot start a thread.") from None
        finally:
            self._call_next()  # several may be free
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
        """Count an answer of this size as unsent for the duration of a `with` block."""
        self._held += size
        try:
            yield
        finally:
            self._held -= size
            self._call_next()

    def stop(self) -> None:
        """Stop running work, and refuse waiting and new work."""
        self._is_over = True
        for stopper in self._running:
            stopper.stop()
        for turn in self._waiting:
            if not turn.done():
                turn.set_exception(_ending())

    def join(self, seconds: float) -> None:
        """Wait for running work, at most that long for each thread."""
        for thread in [*self._running.values()]:
            thread.join(seconds)

    async def _turn(self, gone: asyncio.Future[None]) -> None:
        """Wait for a turn."""
        if self._is_over:
            raise _ending()
        if gone.done():
            raise GoneError
        if self._is_free() and not self._waiting:
            return
        if len(self._waiting) >= MOST_WAITING:
            raise _busy(f"{MOST_WAITING} questions are waiting.")
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            either = {turn, gone}
            await asyncio.wait(either, timeout=LONGEST_WAIT, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                raise GoneError
            if not turn.done():
                raise _busy(f"the question was not started within {LONGEST_WAIT:g} s.")
            turn.result()
        except BaseException:
            self._waiting.remove(turn)
            self._call_next()  # pass on the turn
            raise
        self._waiting.remove(turn)

    def _is_free(self) -> bool:
        return len(self._running) < self._most and self._held < MOST_HELD

    def _call_next(self) -> None:
        """Wake the first that waits, if a turn is free."""
        if self._waiting and self._is_free():
            turn = self._waiting[0]
            if not turn.done():
                turn.set_result(None)


def _busy(why: str) -> RefusalError:
    return RefusalError(
        503,
        f"the server is busy: {why}",
        "Retry in some seconds.",
        **{"retry-after": str(COME_AGAIN)},
    )


def _ending() -> RefusalError:
    return RefusalError(
        503, "the server is stopping.", "Start `digram serve` again.", connection="close"
    )
