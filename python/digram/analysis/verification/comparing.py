"""Whether two sides give the same answers, for many texts at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from digram.analysis.verification.sides import (
    FACTS,
    Answers,
    Fact,
    Mode,
    Offsets,
    Side,
    answers,
)
from digram.analysis.verification.value import Outcome, What
from digram.errors import OptionError

__all__ = ["Difference", "Pair", "Texts", "batches", "size_of"]

Texts = list[str] | list[bytes]

_OF_PARSING: Fact = "decoded_without_special"
_TEXTS, _BYTES = 512, 1 << 18  # of a batch: libraries are not interrupted within it


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs for a text: the fact, and the first token or character that is not the same."""

    index: int
    what: What
    place: int


class Pair:
    """Two sides that are asked the same."""

    def __init__(self, a: Side, b: Side, own: bool, offsets: bool = True) -> None:
        """`own` says whether one of them is digram, which has documented differences.

        Without `offsets` these are not compared.
        """
        self.sides, self._offsets = (a, b), offsets
        self.undecoded = a.undecoded | b.undecoded if own else frozenset()
        modes: list[Mode] = ["text", "parse"]
        self.modes = [mode for mode in modes if mode in a.modes and mode in b.modes]
        self.widens = a.puts_empty_space != b.puts_empty_space and not (
            a.ends_at_next or b.ends_at_next
        )
        """Whether only one side gives the space that is put before a text an empty range."""
        self.refused = self.left_out = 0
        if not self.modes:
            raise OptionError(
                f"nothing can be compared: {a.name} takes special tokens only as {a.modes[0]}, and "
                f"{b.name} only as {b.modes[0]}.",
                hint="Compare each of them with a digram.Tokenizer.",
            )

    def facts(self, mode: Mode) -> tuple[Fact, ...]:
        """What both sides tell."""
        shared = [fact for fact in FACTS if all(fact in side.facts for side in self.sides)]
        if not self._offsets:
            shared = [fact for fact in shared if fact != "offsets"]
        # Where special tokens are text, ids of special tokens occur only if they are always found.
        return tuple(fact for fact in shared if mode == "parse" or fact != _OF_PARSING)

    def differences(self, texts: Texts, mode: Mode, count: bool = False) -> list[Difference]:
        """All texts of a batch on which the sides differ, in order."""
        one, other = (answers(side, texts, mode) for side in self.sides)
        facts = self.facts(mode)
        if not one.errors and not other.errors and self._same(one, other, facts):
            return []
        found = [self._difference(index, one, other, facts) for index in range(len(texts))]
        if count:
            self.refused += len(one.errors.keys() & other.errors.keys())
            self.left_out += sum(map(self._is_undecoded, one.ids)) if self.undecoded else 0
        return [each for each in found if each is not None]

    def outcomes(self, text: str | bytes, mode: Mode) -> tuple[Outcome, Outcome]:
        """What each side makes of one text."""
        one, other = (_outcome(side, text, mode) for side in self.sides)
        return one, other

    def check_steadiness(self, texts: Texts, mode: Mode) -> None:
        """Raise `OptionError` if a side gives other ids for the same texts when asked again."""
        for side in self.sides:
            if answers(side, texts, mode).ids != answers(side, texts, mode).ids:
                raise OptionError(
                    f"{side.name} gives other ids for the same text from call to call.",
                    hint="Turn off dropout and sampling.",
                )

    def _same(self, one: Answers, other: Answers, facts: Sequence[Fact]) -> bool:
        if self.undecoded and any(map(self._is_undecoded, one.ids)):
            return False  # compared one by one
        return all(_values(one, fact, self) == _values(other, fact, self) for fact in facts)

    def _is_undecoded(self, ids: list[int]) -> bool:
        return not self.undecoded.isdisjoint(ids)

    def _is_replaced(self, *decoded: str) -> bool:
        return any(side.replaces_runs for side in self.sides) and "\ufffd" in "".join(decoded)

    def _difference(
        self, index: int, one: Answers, other: Answers, facts: Sequence[Fact]
    ) -> Difference | None:
        if index in one.errors or index in other.errors:
            both = index in one.errors and index in other.errors
            return None if both else Difference(index, "error", 0)
        for fact in facts:
            if fact.startswith("decoded") and self._is_undecoded(one.ids[index]):
                continue
            mine, theirs = (_value(getattr(each, fact)[index], fact, self) for each in (one, other))
            if mine == theirs or (fact.startswith("decoded") and self._is_replaced(mine, theirs)):
                continue
            return Difference(index, fact, _first(mine, theirs))
        return None


def _values(of: Answers, fact: Fact, pair: Pair) -> Any:
    """The answers on a fact, in the form that both sides can give."""
    found = getattr(of, fact)
    if fact == "ids":
        return found
    return [_value(one, fact, pair) for one in found]


def _value(answer: Any, fact: Fact, pair: Pair) -> Any:
    """The answer on a fact of one text, in the form that both sides can give."""
    if fact.startswith("decoded") and any(side.strips_spaces for side in pair.sides):
        return answer.lstrip(" ")
    if fact == "offsets" and any(side.ends_at_next for side in pair.sides):
        answer = _apart(answer)
    if fact == "offsets" and pair.widens:
        answer = _widened(answer)
    if fact == "offsets" and not all(side.has_ends for side in pair.sides):
        return [each if isinstance(each, int) else each[0] for each in answer]
    return answer


def _apart(offsets: Offsets) -> Offsets:
    """The offsets in which each token ends where the next one starts.

    >>> _apart([(0, 1), (0, 1), (2, 3)])
    [(0, 0), (0, 2), (2, 3)]
    """
    spans = [(one, one) if isinstance(one, int) else one for one in offsets]
    nexts = [start for start, _ in spans[1:]]
    ends = [*nexts, *(end for _, end in spans[-1:])]
    return [*zip((start for start, _ in spans), ends, strict=True)]


def _widened(offsets: Offsets) -> Offsets:
    """The offsets in which an empty range is that of the character behind it.

    >>> _widened([(0, 0), (0, 1), (1, 3)])
    [(0, 1), (0, 1), (1, 3)]
    """
    spans = [(one, one) if isinstance(one, int) else one for one in offsets]
    return [(start, max(end, start + 1)) for start, end in spans]


def _first(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The first index at which two sequences differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _outcome(side: Side, text: str | bytes, mode: Mode) -> Outcome:
    found = answers(side, [text], mode)  # type: ignore[arg-type]
    if found.errors:
        return Outcome((), (), None, None, None, found.errors[0])
    offsets: tuple[tuple[int, int | None], ...] | None = None
    if found.offsets is not None:
        offsets = tuple(
            (one, None) if isinstance(one, int) else (one[0], one[1]) for one in found.offsets[0]
        )
    return Outcome(
        tuple(found.ids[0]),
        tuple(side.spelled(found.ids[0])),
        offsets,
        None if found.decoded is None else found.decoded[0],
        None if found.decoded_without_special is None else found.decoded_without_special[0],
    )


def batches(texts: Iterator[str] | Iterator[bytes]) -> Iterator[Texts]:
    """Texts in lists of a moderate size."""
    batch: list[Any] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if len(batch) >= _TEXTS or size >= _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def size_of(texts: Texts) -> int:
    """The size of texts in bytes of UTF-8."""
    return sum(len(text) if isinstance(text, bytes) else len(text.encode()) for text in texts)
