"""The state of the shards: handed out, done, lost or duplicated; independent of engines.

A result is identified by the number of its shard, the digest of the content that the worker read,
and the digest of the task's configuration. The first result of a shard counts. Later ones must
equal it, and change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from digram.errors import ConfigMismatchError, InternalError, LimitExceededError

__all__ = ["Key", "Result", "Roster"]

Shard = TypeVar("Shard")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Key:
    """Identifies a result: content and configuration as SHA-256."""

    shard: int
    content: str
    configuration: str


@dataclass(frozen=True, slots=True)
class Result(Generic[Value]):
    """The result of a worker; `digest` is the SHA-256 of the value.

    `skipped` counts the records of the shard without text, if they may be skipped.
    """

    key: Key
    digest: str
    value: Value
    skipped: int = 0


class Roster(Generic[Shard, Value]):
    """Hands out shards, takes results, and returns their values in the order of the shards.

    >>> roster: Roster[str, int] = Roster(["a", "bb"], at_once=2, retries=1)
    >>> roster.next(), roster.next(), roster.next()
    ((0, 'a'), (1, 'bb'), None)
    >>> roster.lost(0, OSError("the worker is gone"))
    >>> roster.next()
    (0, 'a')
    >>> second = Result(Key(1, "...", "..."), "...", 2)
    >>> roster.back(second), roster.back(second), list(roster.ready())
    (True, False, [])
    >>> roster.back(Result(Key(0, "...", "..."), "...", 1)), list(roster.ready())
    (True, [1, 2])
    >>> roster.next(), roster.done
    (None, True)

    At most `at_once` shards are handed out or wait for an earlier one, so that many shards and
    values are held, plus the digests of all. A lost shard is handed out again, up to `retries`
    times.
    """

    def __init__(self, shards: Iterable[Shard], *, at_once: int, retries: int) -> None:
        self._shards = enumerate(shards)
        self._at_once = at_once
        self._retries = retries
        self._held: dict[int, Shard] = {}  # handed out and not done
        self._again: list[int] = []  # to be handed out again
        self._losses: dict[int, int] = {}
        self._late: set[int] = set()
        self._known: dict[int, tuple[Key, str]] = {}  # the key and digest of each result
        self._values: dict[int, Value] = {}  # values that wait for an earlier one
        self._given = 0  # values returned
        self._taken = 0  # shards taken from the iterable
        self._ended = False

    @property
    def done(self) -> bool:
        """Whether all values were returned; only `next` notices that there are no more shards."""
        return self._ended and self._given == self._taken

    def next(self) -> tuple[int, Shard] | None:
        """The next shard to hand out, with its number; None if there is none now."""
        while self._again:
            number = self._again.pop()
            if number in self._held:  # it has not come back since
                return number, self._held[number]
        if self._ended or self._taken - self._given >= self._at_once:
            return None
        for number, shard in self._shards:
            self._held[number] = shard
            self._taken = number + 1
            return number, shard
        self._ended = True
        return None

    def back(self, result: Result[Value]) -> bool:
        """Take a result; returns False if the shard had one already.

        Raises if it contradicts the known result: the content of a shard changed, a worker has
        another configuration, or the same work had two results.
        """
        number = result.key.shard
        known = self._known.get(number)
        if known is not None:
            _check_same(known, result)
            return False
        self._known[number] = result.key, result.digest
        self._values[number] = result.value
        del self._held[number]
        return True

    def lost(self, number: int, why: BaseException) -> None:
        """A shard is lost; raises `LimitExceededError` if that happened too often."""
        if number not in self._held:  # another worker has done it
            return
        losses = self._losses[number] = self._losses.get(number, 0) + 1
        if losses > self._retries:
            raise LimitExceededError(
                f"shard {number} was lost {losses} times, the last time to {_described(why)}",
                index=number,
                value=losses,
                hint="Workers are mostly killed because memory ran out: make the shards "
                "smaller, or run fewer workers; retries= allows more losses.",
            ) from why
        self._again.insert(0, number)

    def late(self) -> None:
        """No result arrives: hand out all outstanding shards again, but each only once more."""
        slow = self._held.keys() - self._late
        self._late |= slow
        self._again = sorted(slow.union(self._again), reverse=True)

    def ready(self) -> Iterator[Value]:
        """The next values, in order."""
        while self._given in self._values:
            value = self._values.pop(self._given)
            self._given += 1
            yield value


def _check_same(known: tuple[Key, str], result: Result[Value]) -> None:
    key, digest = known
    number = key.shard
    if key.content != result.key.content:
        raise ConfigMismatchError(
            f"shard {number} has changed since it was read before.",
            index=number,
            hint="Do not change the files during the run, and let all workers read the same files.",
        )
    if key.configuration != result.key.configuration:
        raise ConfigMismatchError(
            f"shard {number} was done with two configurations.",
            index=number,
            hint="Install the same version of digram on every worker.",
        )
    if digest != result.digest:
        raise InternalError(
            f"shard {number} had two results: SHA-256 {digest} and {result.digest}.",
            index=number,
            hint="A machine may have faulty memory; please report it if it happens again.",
        )


def _described(why: BaseException) -> str:
    text = str(why).strip()
    return f"{type(why).__name__}: {text}" if text else f"{type(why).__name__}."
