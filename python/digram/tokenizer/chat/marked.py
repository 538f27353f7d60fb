"""Text that knows its origin: `Marked`, a `str` whose parts say who wrote them.

A template is rendered with marked texts. What is not proven to come from the template is content,
so an operation that loses marks makes text of a template content, never the reverse.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from itertools import accumulate
from typing import Any, NamedTuple, SupportsIndex

__all__ = [
    "CONTENT",
    "GENERATED",
    "MODEL",
    "TEMPLATE",
    "Marked",
    "Mixed",
    "Run",
    "blended",
    "joined",
    "marks_of",
    "text_of",
]

CONTENT, MODEL, TEMPLATE = 0, 1, 2
"""Who wrote a text, in the order of trust: others, the model in its own messages, the template."""

GENERATED = 1 << 40
"""The value of `Run.said` in a `{% generation %}` block."""

_MOST_PARTS = 1_000
"""The texts that a mixed one is known to be made of; a template could double them without end."""


class Mixed(NamedTuple):
    """What a text was made of in an unknown way, if that includes text of the template."""

    template: tuple[str, ...]
    others: tuple[str, ...]


class Run(NamedTuple):
    """Consecutive characters of one origin.

    `said` is the number, from 1, of the message of the assistant that the characters come from; 0
    for others. `mixed` has the texts that these characters were made of, if the template wrote some
    of them, and they are not known to be kept in order.
    """

    length: int
    trust: int
    said: int
    mixed: Mixed | None = None


class Marked(str):
    """A `str` with the origin of its characters, as runs.

    >>> both = Marked("<s>", TEMPLATE) + " Hi "
    >>> both.strip().runs()
    [Run(length=3, trust=2, said=0, mixed=None), Run(length=3, trust=0, said=0, mixed=None)]
    >>> (both.upper()).runs()
    [Run(length=7, trust=0, said=0, mixed=Mixed(template=('<s>',), others=(' Hi ',)))]

    Methods that keep the order of characters keep their origin. The result of others has the least
    trust of all texts that take part.
    """

    __slots__ = ("_runs", "_starts")

    _runs: tuple[Run, ...]
    _starts: list[int]

    def __new__(cls, text: object = "", trust: int = CONTENT, said: int = 0) -> Marked:
        self = super().__new__(cls, text)
        self._runs = (Run(str.__len__(self), trust, said),) if self else ()
        self._starts = [0] * len(self._runs)
        return self

    @classmethod
    def _of(cls, text: str, runs: Iterable[Run]) -> Marked:
        """A text with runs, of which neighbours of one origin are joined."""
        self = super().__new__(cls, text)
        found: list[Run] = []
        for run in runs:
            if found and found[-1][1:] == run[1:]:
                found[-1] = Run(found[-1].length + run.length, run.trust, run.said)
            elif run.length:
                found.append(run)
        self._runs = tuple(found)
        self._starts = [0, *accumulate(run.length for run in found[:-1])][: len(found)]
        return self

    # Names that start with "_" cannot be reached in the sandbox, and no method raises the trust.
    def runs(self) -> list[Run]:
        """The runs, none of which is empty."""
        return list(self._runs)

    def said_by_model(self) -> Marked:
        """The same text, marked as what a `{% generation %}` block has."""
        return Marked._of(self, [run._replace(said=GENERATED) for run in self._runs])

    def __str__(self) -> str:
        return self

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return str.__ne__(self, other) if isinstance(other, str) else NotImplemented

    def __reduce__(self) -> Any:
        return Marked._of, (str.__str__(self), self._runs)

    # --- operators

    def __add__(self, other: str) -> Marked:
        return joined((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: str) -> Marked:
        return joined((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, number: SupportsIndex) -> Marked:
        text = str.__mul__(self, number)
        return Marked._of(text, self._runs * (len(text) // len(self) if self else 0))

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> Marked:
        return blended(str.__mod__(self, values), self, values)

    def __rmod__(self, pattern: str) -> Marked:
        return blended(str.__mod__(pattern, self), self, pattern)

    def __getitem__(self, index: SupportsIndex | slice) -> Marked:
        text = str.__getitem__(self, index)
        if not isinstance(index, slice):
            at = range(len(self))[index]
            return self._part(at, at + 1)
        start, stop, step = index.indices(len(self))
        if step == 1:
            return self._part(start, max(start, stop))
        marks = [run for run in self._runs for _ in range(run.length)][index]
        return Marked._of(text, [run._replace(length=1) for run in marks])

    def __iter__(self) -> Iterator[Marked]:
        at = 0
        for run in self._runs:
            for character in str.__getitem__(self, slice(at, at + run.length)):
                yield Marked._of(character, [run._replace(length=1)])
            at += run.length

    def _part(self, start: int, stop: int) -> Marked:
        runs = []
        # Texts are cut into many parts, so runs before a part are not read.
        for index in range(max(bisect_right(self._starts, start) - 1, 0), len(self._runs)):
            run, at = self._runs[index], self._starts[index]
            if at >= stop:
                break
            first, last = max(at, start), min(at + run.length, stop)
            if first < last:
                runs.append(run._replace(length=last - first))
        return Marked._of(str.__getitem__(self, slice(start, stop)), runs)

    def _parts(self, parts: Iterable[str]) -> list[Marked]:
        """Parts that follow each other in this text, with what is left out between them."""
        found, at = [], 0
        for part in parts:
            at = str.index(self, part, at)
            found.append(self._part(at, at + len(part)))
            at += len(part)
        return found

    # --- methods that keep the order of characters

    def strip(self, chars: str | None = None) -> Marked:
        """As `str.strip`."""
        return self.lstrip(chars).rstrip(chars)

    def lstrip(self, chars: str | None = None) -> Marked:
        """As `str.lstrip`."""
        return self._part(len(self) - len(str.lstrip(self, chars)), len(self))

    def rstrip(self, chars: str | None = None) -> Marked:
        """As `str.rstrip`."""
        return self._part(0, len(str.rstrip(self, chars)))

    def removeprefix(self, prefix: str) -> Marked:
        """As `str.removeprefix`."""
        return self._part(len(self) - len(str.removeprefix(self, prefix)), len(self))

    def removesuffix(self, suffix: str) -> Marked:
        """As `str.removesuffix`."""
        return self._part(0, len(str.removesuffix(self, suffix)))

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Marked]:  # type: ignore[override]
        """As `str.split`."""
        parts = str.split(self, sep, maxsplit)
        return self._parts(parts) if sep is None else self._spaced(parts, len(sep))

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[Marked]:  # type: ignore[override]
        """As `str.rsplit`."""
        parts = str.rsplit(self, sep, maxsplit)
        return self._from_end(parts) if sep is None else self._spaced(parts, len(sep))

    def splitlines(self, keepends: bool = False) -> list[Marked]:  # type: ignore[override]
        """As `str.splitlines`."""
        whole, found, at = str.splitlines(self, True), list[Marked](), 0
        for kept, line in zip(whole, str.splitlines(self, keepends), strict=True):
            found.append(self._part(at, at + len(line)))
            at += len(kept)
        return found

    def partition(self, sep: str) -> tuple[Marked, Marked, Marked]:
        """As `str.partition`."""
        first, middle, last = self._spaced(str.partition(self, sep), 0)
        return first, middle, last

    def rpartition(self, sep: str) -> tuple[Marked, Marked, Marked]:
        """As `str.rpartition`."""
        first, middle, last = self._spaced(str.rpartition(self, sep), 0)
        return first, middle, last

    def _spaced(self, parts: Iterable[str], gap: int) -> list[Marked]:
        """Parts with the same number of characters between each two."""
        found, at = [], 0
        for part in parts:
            found.append(self._part(at, at + len(part)))
            at += len(part) + gap
        return found

    def _from_end(self, parts: list[str]) -> list[Marked]:
        found, end = list[Marked](), len(self)
        for part in reversed(parts):
            at = str.rindex(self, part, 0, end)
            found.append(self._part(at, at + len(part)))
            end = at
        return found[::-1]

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> Marked:
        """As `str.replace`."""
        if old:
            return joined(self.split(old, count), new)
        text = str.replace(self, old, new, count)
        pieces = [piece for one in self for piece in (new, one)] + [new]
        whole = joined(pieces)
        return whole if whole == text else blended(text, self, new)

    def join(self, items: Iterable[str]) -> Marked:
        """As `str.join`."""
        return joined(items, self)


def _opaque(name: str) -> Callable[..., Marked]:
    method = getattr(str, name)

    @wraps(method)
    def call(self: Marked, *args: Any, **named: Any) -> Marked:
        return blended(method(self, *args, **named), self, args, named)

    return call


for _name in (
    *("capitalize", "casefold", "center", "expandtabs", "format", "format_map", "ljust", "lower"),
    *("rjust", "swapcase", "title", "translate", "upper", "zfill"),
):
    setattr(Marked, _name, _opaque(_name))


def joined(items: Iterable[str], separator: str = "") -> Marked:
    """As `separator.join(items)`, with the origin of each character.

    >>> joined(["a", Marked("b", TEMPLATE)], "-").runs()
    [Run(length=2, trust=0, said=0, mixed=None), Run(length=1, trust=2, said=0, mixed=None)]
    """
    texts = [*items]
    runs = list[Run]()
    between = _runs_of(separator)
    for number, text in enumerate(texts):
        if number:
            runs += between
        runs += _runs_of(text)
    return Marked._of(str.join(separator, texts), runs)


def _runs_of(text: str) -> tuple[Run, ...]:
    if isinstance(text, Marked):
        return text._runs
    return (Run(len(text), CONTENT, 0),) if text else ()


def blended(text: str, *sources: Any) -> Marked:
    """A text made of others in an unknown way."""
    trust, said = marks_of(sources)
    mixed = None if trust == TEMPLATE else _mixed(sources)
    return Marked._of(text, [Run(len(text), trust, said, mixed)] if text else [])


def text_of(value: Any) -> str:
    """The text that a template writes for a value.

    >>> text_of({"a": Marked("b", TEMPLATE)}).runs()[0].mixed.template
    ('b',)
    """
    return value if isinstance(value, str) else blended(str(value), value)


def marks_of(value: Any) -> tuple[int, int]:
    """The least trust of all texts in a value, and the message of the assistant that is in it.

    >>> marks_of({"a": [Marked("b", TEMPLATE), 7]}), marks_of(7)
    ((0, 0), (0, 0))
    """
    trusts, said = set[int](), 0
    for one in _leaves(value):
        if isinstance(one, Marked):
            trusts.update(run.trust for run in one._runs)
            said = max(said, *(run.said for run in one._runs), 0)
        else:
            trusts.add(CONTENT)
    return min(trusts, default=CONTENT), said


def _mixed(value: Any) -> Mixed | None:
    """The texts in a value by who wrote them; None if the template wrote none."""
    template, others = list[str](), list[str]()
    for one in _leaves(value):
        if not isinstance(one, Marked):
            others += [one] * isinstance(one, str)
            continue
        at = 0
        for run in one._runs:
            part = str.__getitem__(one, slice(at, at + run.length))
            at += run.length
            if run.mixed is not None:
                template += run.mixed.template
                others += run.mixed.others
            else:
                (template if run.trust == TEMPLATE else others).append(part)
    if not template:
        return None
    # Without the others, no special token in the text counts as theirs.
    known = others if len(others) <= _MOST_PARTS else []
    return Mixed(tuple(dict.fromkeys(template)), tuple(known))


def _leaves(value: Any) -> Iterator[Any]:
    """The texts in a value, and what is none of the values of JSON."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            left += one
        elif one is not None and not isinstance(one, bool | int | float):
            yield one
