"""A thread that processes items while the calling thread makes the next ones."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from digram.corpus.prefetch import End, put
from digram.errors import DigramError

__all__ = ["Behind"]

Item = TypeVar("Item")

_SOON = 0.05  # seconds after which a waiting thread checks whether it should stop
_LONG = threading.TIMEOUT_MAX
_AT_EXIT = 5.0  # seconds to wait for an item at the end of the process

_running: weakref.WeakSet[Behind[Any]] = weakref.WeakSet()


class Behind(Generic[Item]):
    """Processes items on another thread.

    >>> found = []
    >>> with Behind(found.append, lambda: found.append("."), lambda: None) as behind:
    ...     for letter in "abc":
    ...         behind.put(letter)
    ...     behind.finish()
    >>> found
    ['a', 'b', 'c', '.']

    `take` gets each item, `end` is called after the last one, and `close` in every case. An error
    of these is raised by the next call here. A forked child has no such thread, and gets an error.
    """

    def __init__(
        self, take: Callable[[Item], None], end: Callable[[], None], close: Callable[[], None]
    ) -> None:
        self._take, self._end, self._close = take, end, close
        self._items: queue.Queue[Item | End] = queue.Queue(1)
        self._stopped = threading.Event()
        self._closed = threading.Event()
        self._error: BaseException | None = None
        self._process = os.getpid()
        try:
            threading.Thread(target=self._run, daemon=True, name="digram-writes").start()
            _running.add(self)
        except BaseException:  # Ctrl-C, after which the thread may run or not
            self._stopped.set()
            raise

    def put(self, item: Item) -> None:
        """Pass an item to the thread; waits while two are pending."""
        self._check_process()
        put(self._items, item, self._stopped)
        self._check()

    def finish(self) -> None:
        """Wait until all items are done."""
        self._check_process()
        put(self._items, End(), self._stopped)
        while not self._closed.wait(_SOON):
            pass
        self._check()

    def stop(self, seconds: float) -> None:
        """Stop after the current item, and wait for it up to `seconds`."""
        if self._process == os.getpid():
            self._stopped.set()
            self._closed.wait(seconds)

    def __enter__(self) -> Behind[Item]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop after the current item. After Ctrl-C, do not wait for it."""
        self.stop(_LONG if kind is None or issubclass(kind, Exception) else _SOON)

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise DigramError(
                "the process was forked during the run; the writing thread is in the parent.",
                hint="End the child with os._exit, or start another run there.",
            )

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                with contextlib.suppress(queue.Empty):
                    item = self._items.get(timeout=_SOON)
                    if isinstance(item, End):
                        self._end()
                        return
                    self._take(item)
                    del item
        except BaseException as error:  # raised by the next call of the other thread
            self._error = error
        finally:
            self._stopped.set()
            try:
                self._close()
            except BaseException as error:
                self._error = self._error or error
            self._closed.set()


@atexit.register
def _stop_all() -> None:
    """Stop all threads before the interpreter ends, so that none is inside a library."""
    for one in list(_running):
        one.stop(_AT_EXIT)
