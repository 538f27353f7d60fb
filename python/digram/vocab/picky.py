"""The events of PickyBPE: learning them, and describing them by the bytes of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING, Literal, NamedTuple

from digram import _core
from digram.errors import VocabError
from digram.vocab.schemes import Picky

if TYPE_CHECKING:
    from digram.vocab.definition import StopReason
    from digram.vocab.settings import Unit

__all__ = ["Event", "Picked", "learn_events", "made", "replayed", "single_symbols"]


@dataclass(frozen=True, slots=True)
class Event:
    """An event of PickyBPE in training, which is repeated when encoding; an entry of `tok.events`.

    >>> import digram
    >>> tok = digram.train("the the hut she", max_merges=2, picky=0.6, pretokenizer="gpt2")
    >>> tok.events[-1]
    Event(kind='drop', token=b'he', parts=(b'h', b'e'), count=1)

    A "merge" replaces each adjacent pair of its two `parts` by `token`. A "drop" removes `token`
    from the vocabulary and replaces it by `parts`: those of its first merge, or their parts if they
    were dropped before. `count` is the count of the pair in the training corpus when it was chosen,
    or the remaining count of the dropped token; None if it is not known.
    """

    kind: Literal["merge", "drop"]
    token: bytes
    parts: tuple[bytes, ...]
    count: int | None


class Picked(NamedTuple):
    """The result of learning; ids start with those of the base."""

    tokens: list[bytes]
    """The base and the remaining tokens, in the order in which they were first made."""
    scheme: Picky
    counts: list[int]
    """The count of each event."""
    stop_reason: StopReason


# A token can double at each merge, so that a small file could exhaust memory. The core has the same
# limits.
_MOST, _MOST_IN_ALL = 1 << 24, 1 << 28


def learn_events(
    counts: _core.Counts | _core.SortedCounts,
    options: _core.MergeOptions,
    base: str | bytes,
    *,
    with_bytes: bool,
    threshold: float,
    room: int | None,
    on_progress: Callable[[int, int], object],
) -> Picked:
    """Learn merges, and drop tokens that become too rare; `base` is that of the options."""
    tokens, live, events, stop = _core.train_picky(
        counts, options, threshold=threshold, room=room, on_progress=on_progress
    )
    fallback = 256 * with_bytes
    # Numbers are by value, so that events do not depend on the order of ids.
    place = {symbol: number for number, symbol in enumerate(sorted(base))}
    numbers = [*repeat(0, fallback), *(place[symbol] for symbol in base)]
    numbers += range(len(base), len(tokens) - fallback)
    numbered = tuple(
        (numbers[left],) if right is None else (numbers[left], numbers[right])
        for left, right, _ in events
    )
    left_over = [tokens[number] for number in live]
    return Picked(left_over, Picky(numbered), [count for _, _, count in events], stop)


def single_symbols(
    tokens: Iterable[bytes | None], unit: Unit, byte_ids: Iterable[int] | None
) -> list[bytes]:
    """The base tokens among `tokens`: bytes, or characters without the fallback bytes."""
    apart = {*(byte_ids or ())}
    of_unit = [token for id, token in enumerate(tokens) if token is not None and id not in apart]
    if unit == "byte":
        return [token for token in of_unit if len(token) == 1]
    return [token for token in of_unit if len(token) <= 4 and len(token.decode()) == 1]


def made(scheme: Picky, base: Iterable[bytes]) -> set[bytes]:
    """All tokens that events make, including those dropped later; faster than `replayed`."""
    tokens = sorted(base)
    known, total = set[bytes](), 0
    try:
        for left, right in (event for event in scheme.events if len(event) == 2):
            size = len(tokens[left]) + len(tokens[right])
            if size > _MOST or total + size > _MOST_IN_ALL:
                raise VocabError(
                    f"an event makes a token of {size:,} bytes; the limits are {_MOST:,} "
                    f"for a token and {_MOST_IN_ALL:,} for all."
                )
            token = tokens[left] + tokens[right]
            if token not in known:
                total += size
                known.add(token)
                tokens.append(token)
    except IndexError:
        raise VocabError("an event merges a token that no earlier event makes.") from None
    return known


def replayed(
    scheme: Picky, base: Iterable[bytes], counts: Sequence[int | None] | None
) -> list[Event]:
    """The events with the bytes of tokens. `base` are the base tokens, of one unit.

    Raises `VocabError` for inconsistent events.
    """
    # UTF-8 sorts in the order of code points.
    tokens = sorted(base)
    number = dict[bytes, int]()
    live, made_of = set(range(len(tokens))), dict[int, tuple[int, int]]()
    found = []
    known = chain(counts or (), repeat(None))
    for time, (event, count) in enumerate(zip(scheme.events, known, strict=False)):
        if not live.issuperset(event) or (len(event) == 1 and event[0] not in made_of):
            raise VocabError(
                f"event {time} names a token that cannot be merged or dropped at this time.",
                value=event,
                hint="Load the file that digram saved.",
            )
        if len(event) == 2:
            left, right = event
            token = tokens[left] + tokens[right]
            if token not in number:
                number[token] = len(tokens)
                made_of[len(tokens)] = left, right
                tokens.append(token)
            live.add(number[token])
            found.append(Event("merge", token, (tokens[left], tokens[right]), count))
        else:
            [dropped] = event
            live.remove(dropped)
            waiting, parts = [dropped], list[bytes]()
            while waiting:
                one = waiting.pop()
                if one in live:
                    parts.append(tokens[one])
                else:
                    waiting += reversed(made_of[one])
            found.append(Event("drop", tokens[dropped], tuple(parts), count))
    return found
