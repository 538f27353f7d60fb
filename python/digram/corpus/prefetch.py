"""Read ahead: a thread reads and unpacks the next texts while the current ones are processed."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar

from digram.errors import DigramError

__all__ = ["Ahead", "End", "put"]

T = TypeVar("T")

_CLOSING = 0.15  # seconds that closing waits for the thread, which is reading at most one block
_SOON = 0.05
"""Seconds after which a waiting thread checks whether to stop. Python handles a Ctrl-C that another
thread received only when the main thread runs."""

_running: weakref.WeakSet[Ahead[Any]] = weakref.WeakSet()


class End:
    """The last item from one thread to another: how the iteration ended."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


class Ahead(Iterator[T], Generic[T]):
    """Take the items of an iterator in a separate thread, one ahead.

    >>> with Ahead(iter([1, 2, 3])) as items:
    ...     list(items)
    [1, 2, 3]

    At most three items are held: the one that was returned, one that waits, and one that is being
    read. The order is kept, and an error is raised at its place. `close` stops the thread at its
    next item, or sooner if `on_close` can stop the iterator; leaving the `with` block and the end
    of the process do the same. A forked child has no such thread, and gets an error. Use it only
    for files: your own iterators, and streams that may block, are read in the calling thread.
    """

    _process = -1
    """The process that has the thread; none until the end of `__init__`, which Ctrl-C may stop."""

    def __init__(self, items: Iterator[T], on_close: Callable[[], None] | None = None) -> None:
        self._items = items
        self._on_close = on_close
        self._ready: queue.Queue[T | End] = queue.Queue(1)
        self._stop = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._ended = False
        self._process = os.getpid()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._process != os.getpid():
            # The queue may have been locked when the process forked, so do not touch it.
            raise DigramError(
                "this corpus was being read when the process forked, and its reader is in the "
                "parent.",
                hint="Start reading after the fork.",
            )
        if self._ended:
            raise StopIteration
        if self._thread is None:
            self._start()
        item = _taken(self._ready)
        if not isinstance(item, End):
            return item
        self._ended = True
        self.close()
        if item.error is None:
            raise StopIteration
        raise item.error

    def close(self) -> None:
        """Stop the thread, and close what it reads."""
        self._ended = True
        if self._thread is None or self._process != os.getpid():
            return
        self._stop.set()
        if self._on_close is not None:
            self._on_close()
        with contextlib.suppress(queue.Empty):
            self._ready.get_nowait()  # the thread may wait for space in the queue
        # Not `join`: it raises an error where Ctrl-C came while the thread was starting.
        self._stopped.wait(_CLOSING)
        _running.discard(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self._process == os.getpid():
            self._stop.set()

    def _start(self) -> None:
        # A daemon: the process would otherwise wait for the thread of an abandoned iterator.
        self._thread = threading.Thread(
            target=_take,
            args=(self._items, self._ready, self._stop, self._stopped),
            daemon=True,
            name="digram-reader",
        )
        _running.add(self)
        self._thread.start()


def _take(
    items: Iterator[T],
    ready: queue.Queue[T | End],
    stop: threading.Event,
    stopped: threading.Event,
) -> None:
    """The body of the thread. It refers to its iterator only by the queue."""
    error: BaseException | None = None
    try:
        for item in items:
            if not put(ready, item, stop):
                break
    except BaseException as raised:
        error = raised
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            with contextlib.suppress(Exception):
                close()
    put(ready, End(error), stop)
    stopped.set()


def put(ready: queue.Queue[T | End], item: T | End, stop: threading.Event) -> bool:
    """Pass an item on; False once the reader is closed."""
    while not stop.is_set():
        with contextlib.suppress(queue.Full):
            ready.put(item, timeout=_SOON)
            return True
    return False


def _taken(ready: queue.Queue[T | End]) -> T | End:
    while True:
        with contextlib.suppress(queue.Empty):
            return ready.get(timeout=_SOON)


@atexit.register
def _stop_all() -> None:
    """Stop all threads, so that none runs library code while the interpreter shuts down."""
    for one in list(_running):
        one.close()
