"""Work before and after the work of the calling thread: one thread reads, another one writes."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Generator, Iterable
from typing import Any, Generic, TypeVar

__all__ = ["Behind", "ahead"]

Item = TypeVar("Item")

_SOON = 0.05  # seconds after which a thread that waits looks whether it still should


class _End:
    """The last item of a queue, with the error that ended it, if one did."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


def ahead(items: Iterable[Item]) -> Generator[Item, None, None]:
    """The same items, of which the next one is made on another thread meanwhile.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']

    Errors come where the item would. Whoever stops early closes the generator; the thread ends
    with the item that it is at.
    """
    ready: queue.Queue[Any] = queue.Queue(1)
    stopped = threading.Event()

    def run() -> None:
        end = _End()
        try:
            for item in items:
                if not _put(ready, item, stopped):
                    return
        except BaseException as error:  # told to whoever takes the items
            end = _End(error)
        _put(ready, end, stopped)

    threading.Thread(target=run, daemon=True, name="digram-reads").start()
    try:
        while True:
            found = _get(ready)
            if isinstance(found, _End):
                if found.error is not None:
                    raise found.error
                return
            yield found
            del found  # so that no more than one item is held while the next is waited for
    finally:
        stopped.set()


class Behind(Generic[Item]):
    """Something that takes items on another thread.

    >>> found = []
    >>> with Behind(found.append, lambda: found.append("."), lambda: None) as behind:
    ...     for letter in "abc":
    ...         behind.put(letter)
    ...     behind.finish()
    >>> found
    ['a', 'b', 'c', '.']

    `take` gets each item, `end` is called after the last one, and `close` in every case. An error
    of these is raised by the next call here.
    """

    def __init__(
        self, take: Callable[[Item], None], end: Callable[[], None], close: Callable[[], None]
    ) -> None:
        self._take, self._end, self._close = take, end, close
        self._items: queue.Queue[Any] = queue.Queue(1)
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True, name="digram-writes")
        self._thread.start()

    def put(self, item: Item) -> None:
        """Hand over an item; waits while two of them are there."""
        _put(self._items, item, self._stopped)
        self._check()

    def finish(self) -> None:
        """Wait until all is done."""
        _put(self._items, _End(), self._stopped)
        while self._thread.is_alive():
            self._thread.join(_SOON)
        self._check()

    def __enter__(self) -> Behind[Item]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop after the item that is being taken. After Ctrl-C that is not waited for."""
        self._stopped.set()
        if kind is None or issubclass(kind, Exception):
            self._thread.join()
        else:
            self._thread.join(_SOON)

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                with contextlib.suppress(queue.Empty):
                    item = self._items.get(timeout=_SOON)
                    if isinstance(item, _End):
                        self._end()
                        return
                    self._take(item)
                    del item
        except BaseException as error:  # told to whoever puts the items
            self._error = error
        finally:
            self._stopped.set()
            try:
                self._close()
            except BaseException as error:
                self._error = self._error or error


def _get(items: queue.Queue[Any]) -> Any:
    """The next item. Python sees a Ctrl-C that another thread received when it looks again."""
    while True:
        with contextlib.suppress(queue.Empty):
            return items.get(timeout=_SOON)


def _put(items: queue.Queue[Any], item: object, stopped: threading.Event) -> bool:
    """Whether the item is in the queue; it is not where nobody will take it."""
    while not stopped.is_set():
        with contextlib.suppress(queue.Full):
            items.put(item, timeout=_SOON)
            return True
    return False
