"""The class `Counts`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NoReturn, Self, SupportsIndex, TypeAlias, get_args

from digram import _core
from digram._util.validation import any_number, choice, fraction, instance, iterable, whole_number
from digram.corpus import arrow_checks
from digram.errors import ConfigMismatchError, OptionError, several, show
from digram.pretokenizers.pretokenizer import (
    MISSING,
    Pretokenizer,
    PretokenizerLike,
    Regex,
    resolve,
)
from digram.pretokenizers.shell import said_of
from digram.training.counts.settings import (
    COLUMNS,
    CountsMetadata,
    fingerprint,
    from_json,
    spelled,
    to_json,
)
from digram.vocab.settings import Unit

__all__ = ["Counts", "check_same"]

Piece: TypeAlias = bytes  # in the class below, `bytes` is a number
_AT_ONCE = 1 << 12  # pretokens converted to Python objects at a time
_MAX_COUNT = (1 << 64) - 1


class Counts:
    """The distinct pretokens of a corpus with their counts, made by `digram.count_pretokens`.

    >>> import digram
    >>> counts = digram.count_pretokens("the cat and the dog and the bird", pretokenizer="gpt2")
    >>> counts["the"], counts[b" the"], counts["cow"], len(counts)
    (1, 2, 0, 6)
    >>> counts.most_common(2)
    [(b' and', 2), (b' the', 2)]
    >>> more = digram.count_pretokens("the end", pretokenizer="gpt2")
    >>> (counts + more)["the"]
    2
    >>> digram.train(counts + more, max_merges=2).merges
    [(b'h', b'e'), (b't', b'he')]

    `digram.train(counts, ...)` gives the same result as training on the text. Counts of parts of a
    corpus add up to those of the whole, so that they can be made on different machines. The parts
    must have the same pretokenizer and unit, otherwise `ConfigMismatchError` is raised. Counts have
    64 bits; larger ones raise `LimitExceededError`.

    Counts may include the first occurrence of each pretoken, which `ties="first_seen"` needs; those
    made from text do (`has_first`). Iteration is in that order, otherwise in the order of bytes.

    Objects are immutable. Two are equal if they have the same pretokens, counts, first occurrences,
    totals and settings; equal counts are saved to equal bytes. Memory: some 32 bytes for each
    distinct pretoken in addition to its bytes. Iteration is linear; the first look-up sorts.
    """

    __slots__ = ("_held", "_pretokenizer", "_skipped", "_unit")

    _held: _core.Counts
    _pretokenizer: Pretokenizer
    _unit: Unit
    _skipped: int

    def __new__(
        cls,
        pieces: Mapping[Piece, int] | Mapping[str, int] | Iterable[tuple[Piece | str, int]],
        *,
        pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None,
        unit: Unit = "byte",
    ) -> Self:
        """Make counts from pretokens that were split by `pretokenizer`.

        >>> counts = Counts({"low": 5, "lower": 2}, pretokenizer="whitespace")
        >>> counts.bytes, counts.pretokens, counts.documents, counts.has_first
        (25, 7, 0, False)

        Without first occurrences. Raises `OptionError` for an empty piece or a count below 1.
        """
        pairs = pieces.items() if isinstance(pieces, Mapping) else pieces
        core = _core.Counts.from_pairs(_checked(pairs))
        return cls._of(core, resolve(pretokenizer), check_unit(unit))

    @classmethod
    def _of(
        cls, core: _core.Counts, pretokenizer: Pretokenizer, unit: Unit, skipped: int = 0
    ) -> Self:
        if unit == "char":
            core.characters()  # raises for invalid UTF-8
        made = object.__new__(cls)
        for name, value in (
            ("_held", core),
            ("_pretokenizer", pretokenizer),
            ("_unit", unit),
            ("_skipped", skipped),
        ):
            object.__setattr__(made, name, value)
        return made

    def _with(self, core: _core.Counts) -> Self:
        return self._of(core, self._pretokenizer, self._unit, self._skipped)

    def __setattr__(self, name: str, _value: object) -> NoReturn:
        raise AttributeError(f"counts are immutable, and {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"counts are immutable, and {name} cannot be deleted")

    # --- content

    @property
    def pretokenizer(self) -> Pretokenizer:
        """The pretokenizer that split the text."""
        return self._pretokenizer

    @property
    def unit(self) -> Unit:
        """The unit from which merges start: "byte" or "char"."""
        return self._unit

    @property
    def documents(self) -> int:
        """The number of texts that were counted; filters and weights do not change it."""
        return self._held.documents

    @property
    def skipped(self) -> int:
        """The number of records without text that were skipped under `on_error="skip"`."""
        return self._skipped

    @property
    def bytes(self) -> int:
        """The size of all pretokens, in bytes: the sum of their lengths times their counts."""
        return self._held.bytes

    @property
    def pretokens(self) -> int:
        """The number of all pretokens, including repeated ones: the sum of the counts."""
        return self._held.pretokens

    @property
    def has_first(self) -> bool:
        """Whether the first occurrence of each pretoken is known."""
        return self._held.end is not None

    @property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of the pretokenizer and the unit."""
        return fingerprint(self._pretokenizer, self._unit)

    def __len__(self) -> int:
        """The number of distinct pretokens."""
        return len(self._held)

    def __getitem__(self, piece: str | Piece) -> int:
        """Return the count of a pretoken, a `str` or `bytes`; 0 if it does not occur."""
        return self._held.get(piece)

    def __contains__(self, piece: str | Piece) -> bool:
        return self._held.get(piece) > 0

    def __iter__(self) -> Iterator[Piece]:
        return (piece for piece, _ in self.items())

    def items(self) -> Iterator[tuple[Piece, int]]:
        """Iterate over the distinct pretokens, as bytes, with their counts.

        >>> import digram
        >>> dict(digram.count_pretokens("low low", pretokenizer="whitespace").items())
        {b'low': 1, b' low': 1}

        The order is that of iteration over the counts themselves. Takes linear time.
        """
        for start in range(0, len(self), _AT_ONCE):
            yield from self._held.items(start, _AT_ONCE)

    def most_common(self, n: SupportsIndex | None = None) -> list[tuple[Piece, int]]:
        """Return the `n` most frequent pretokens with their counts, the most frequent first.

        >>> import digram
        >>> digram.count_pretokens("low low low", pretokenizer="whitespace").most_common(1)
        [(b' low', 2)]

        Without `n`, returns all. Pretokens with equal counts are in the order of bytes. Takes time
        linear in the distinct pretokens, and sorts the result.
        """
        number = len(self) if n is None else any_number("n", n)
        return self._held.most_common(max(0, min(number, len(self))))

    # --- operations

    def __add__(self, other: Counts) -> Self:
        """Return the sum of two counts, as if the other's text followed this one's.

        Raises `ConfigMismatchError` for counts with another pretokenizer or unit, and
        `LimitExceededError` for a count of more than 64 bits. `Counts.merge` adds up many.
        """
        return self.merge([self, other]) if isinstance(other, Counts) else NotImplemented

    def __radd__(self, other: object) -> Self:
        # `sum` starts from 0.
        return self if type(other) is int and other == 0 else NotImplemented

    @classmethod
    def merge(cls, parts: Iterable[Counts]) -> Self:
        """Return the sum of several counts, as if their texts followed each other.

        >>> import digram
        >>> parts = [digram.count_pretokens(text) for text in ("a b", "b c", "c d")]
        >>> digram.Counts.merge(parts) == digram.count_pretokens(["a b", "b c", "c d"])
        True

        The result has first occurrences if all parts have them; without them the order of the parts
        does not matter (`without_first`). Takes time linear in the number of entries, unlike `sum`.
        Raises the errors of `+`, and `OptionError` if there are no parts.
        """
        found = list(iterable("parts", parts, "several Counts"))
        for index, part in enumerate(found):
            if not isinstance(part, Counts):
                raise TypeError(f"parts[{index}] is of type {type(part).__name__}, not Counts.")
        if not found:
            raise OptionError("there are no counts to merge.", hint="Pass at least one.")
        for part in found[1:]:
            check_same(part, found[0], "these counts", "but the first ones with")
        return cls._of(
            _core.Counts.merge([part._held for part in found]),
            found[0]._pretokenizer,
            found[0]._unit,
            sum(part._skipped for part in found),
        )

    def __sub__(self, other: Counts) -> Self:
        """Return the counts without those of a part of the corpus.

        >>> import digram
        >>> both, part = (digram.count_pretokens(text) for text in (["low", "lower"], "lower"))
        >>> dict((both - part).items())
        {b'low': 1}

        The result has no first occurrences. Raises `OptionError`, which names the pretoken, if a
        count would become negative, and `ConfigMismatchError` for counts with another pretokenizer
        or unit.
        """
        if not isinstance(other, Counts):
            return NotImplemented
        check_same(other, self, "the counts to subtract", "but these with")
        left = max(0, self._skipped - other._skipped)
        return self._of(self._held.subtract(other._held), self._pretokenizer, self._unit, left)

    def filter(self, *, min_count: int) -> Self:
        """Return the counts without pretokens that occur fewer than `min_count` times.

        >>> import digram
        >>> counts = digram.count_pretokens("low low low", pretokenizer="whitespace")
        >>> dict(counts.filter(min_count=2).items())
        {b' low': 2}

        Raises `OptionError` if `min_count` is less than 1. Takes linear time.
        """
        minimum = whole_number("min_count", min_count, 1, maximum=_MAX_COUNT)
        return self._with(self._held.filter(minimum))

    def scale(self, weight: Any) -> Self:
        """Return the counts multiplied by `weight`, as if the corpus were repeated.

        >>> counts = Counts({"low": 5, "new": 1}, pretokenizer=None)
        >>> dict(counts.scale(3).items()), dict(counts.scale(0.5).items())
        ({b'low': 15, b'new': 3}, {b'low': 2})

        A weight is a positive number: an int, a float (read as the decimal number that it prints
        as), a `Fraction` or a `Decimal`. Products are exact, and then rounded to the nearest whole
        number, half to even; pretokens with a count of 0 are removed. Whole weights are not
        rounded: to weight two corpora 1 to 1.5, use 2 and 3. Documents and first occurrences do not
        change. Raises `OptionError` for other weights, and `LimitExceededError` for a count of more
        than 64 bits. Takes linear time.
        """
        return self._with(self._held.scale(*fraction(weight, "weight")))

    def without_first(self) -> Self:
        """Return the counts without first occurrences, so that the order of the corpus does not
        matter.

        >>> import digram
        >>> one, other = (digram.count_pretokens(texts) for texts in (["a", "b"], ["b", "a"]))
        >>> one == other, one.without_first() == other.without_first()
        (False, True)
        """
        return self._with(self._held.without_first())

    # --- files and tables

    def save(self, path: str | PathLike[str]) -> None:
        """Save to a file: Arrow's file format, or Parquet if the name ends in `.parquet`.

        >>> import digram, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "counts.arrow"
        >>> counts = digram.count_pretokens("low low lower")
        >>> counts.save(path)
        >>> digram.Counts.load(path) == counts
        True

        The file has a row for each pretoken, sorted: `piece: binary`, `count: int64` and, if it is
        known, `first: int64` (bytes before its first occurrence); the metadata have the
        pretokenizer, the unit and the totals. The file is replaced atomically. Raises
        `LimitExceededError` for a count beyond 2^63, `OptionError` for Parquet if pyarrow is not
        installed, and `OSError` if the file cannot be written.
        """
        from digram.training.counts import files

        files.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Load saved counts; the name of the file does not matter.

        >>> import digram, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "counts.arrow"
        >>> digram.count_pretokens("low low lower").save(path)
        >>> len(digram.Counts.load(path))
        3

        Raises `CorruptFileError` for a file that is damaged or was not saved by digram (for other
        tables use `from_arrow`), and `OSError` if it cannot be read. Memory: the file and the
        counts.
        """
        from digram.training.counts import files

        core, metadata = files.load(path)
        return cls._of(core, metadata.pretokenizer, metadata.unit, metadata.skipped)

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        *,
        like: Counts | None = None,
        pretokenizer: PretokenizerLike = MISSING,
        unit: Unit | None = None,
        documents: int = 0,
    ) -> Self:
        """Make counts from a table of pyarrow, polars, duckdb or any library that supports Arrow.

        >>> import digram, pyarrow
        >>> table = pyarrow.table({"piece": [b"low", b"er", b"low"], "count": [2, 1, 3]})
        >>> counts = digram.Counts.from_arrow(table, pretokenizer="gpt2")
        >>> counts["low"], counts.has_first
        (5, False)

        The table has a column `piece` (bytes or text) and a column `count` (whole numbers), and may
        have `first`; other columns are ignored. Rows with the same piece are added up. Pass the
        settings as `pretokenizer=` and `unit=` ("byte" by default), or as `like=` other counts; a
        table made by digram stores them.

        Raises `OptionError`, with the row as `.index`, for invalid columns and rows, and
        `ConfigMismatchError` if the table was made with other settings.
        """
        if like is not None:
            instance("like", like, Counts)
        documents = whole_number("documents", documents, 0)
        core, line = _core.Counts.from_arrow(arrow_checks.whole(table, COLUMNS))
        metadata = None if line is None else from_json(line)
        if like is not None:
            cut, of = like._pretokenizer, like._unit
        elif pretokenizer is not MISSING:
            cut, of = resolve(pretokenizer), check_unit(unit or "byte")
        elif metadata is not None:
            cut, of = metadata.pretokenizer, metadata.unit
        else:
            raise OptionError(
                "the table does not store its pretokenizer.",
                hint='Pass pretokenizer="o200k" (or what it was), or like= with counts made alike.',
            )
        if metadata is None:
            # First occurrences are byte offsets in the text.
            return cls._of(core.of_corpus(documents, core.bytes), cut, of)
        stated = (metadata.pretokenizer, metadata.unit)
        check_made(stated, (cut, of), "the counts of the table", "but the call has")
        # For a part of a table, the number of documents is not known.
        whole = (metadata.bytes, metadata.pretokens) == (core.bytes, core.pretokens)
        number = documents or (metadata.documents if whole else 0)
        return cls._of(
            core.of_corpus(number, metadata.end), cut, of, metadata.skipped if whole else 0
        )

    def to_arrow(self) -> Any:
        """Return these counts as a `pyarrow.Table`, with the columns of `save`.

        >>> import digram
        >>> digram.count_pretokens("low low").to_arrow().column_names
        ['piece', 'count', 'first']

        Other libraries accept the counts themselves, by Arrow's PyCapsule protocol. Raises
        `ImportError` if pyarrow is not installed.
        """
        from digram.training.counts import files

        return files.pyarrow("a table of pyarrow").table(self)

    def __arrow_c_schema__(self) -> object:
        return self._held.arrow_schema(self._metadata())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as an Arrow stream, sorted by piece. `requested_schema` is ignored."""
        return self._held.arrow_stream(self._metadata())

    def _metadata(self) -> str:
        return to_json(
            CountsMetadata(
                self._pretokenizer,
                self._unit,
                self.documents,
                self.bytes,
                self.pretokens,
                self._held.end,
                self._skipped,
            )
        )

    # --- comparison

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        alike = (self._pretokenizer, self._unit) == (other._pretokenizer, other._unit)
        return alike and self._skipped == other._skipped and self._held.equals(other._held)

    def __hash__(self) -> int:
        return hash((self.fingerprint, len(self), self.documents, self.bytes, self.pretokens))

    def __repr__(self) -> str:
        return (
            f"<digram.Counts: {several(len(self), 'distinct pretoken')}, {self.pretokens:,} in "
            f"all, of {several(self.documents, 'document')}, "
            f"pretokenizer={spelled(self._pretokenizer)}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        from digram.training.counts import files

        return _restored, (b"".join(files.to_bytes(self)),)


def _restored(data: bytes) -> Counts:
    from digram.training.counts import files

    core, what = files.from_bytes(data)
    return Counts._of(core, what.pretokenizer, what.unit, what.skipped)


def check_unit(unit: Unit) -> Unit:
    """Check that a unit is known."""
    choice("unit", unit, *get_args(Unit))
    return unit


def check_same(some: Counts, others: Counts, what: str, with_what: str) -> None:
    """Raises `ConfigMismatchError` if two counts were made with different settings."""
    check_made(
        (some._pretokenizer, some._unit), (others._pretokenizer, others._unit), what, with_what
    )


def check_made(
    made: tuple[Pretokenizer, Unit],
    wanted: tuple[Pretokenizer, Unit],
    what: str,
    wants: str,
    *,
    fixed: bool = False,
) -> None:
    """Raises `ConfigMismatchError` if the settings `made` differ from those `wanted`.

    `fixed` says that no argument can change the wanted settings, so that the hint names none.
    """
    rules = wanted[0].rules
    fixed = fixed or (rules is not None and rules != made[0].rules)
    for one, other in (
        [said_of(cut, f"pretokenizer={spelled(cut)}") for cut, _ in (made, wanted)],
        [f'unit="{unit}"' for _, unit in (made, wanted)],
    ):
        if one != other:
            raise ConfigMismatchError(
                f"{what} were made with {one}, {wants} {other}.",
                value=one,
                hint=f"Count with {other}." if fixed else f"Count again, or pass {one}.",
            )


def _checked(pairs: Iterable[tuple[bytes | str, int]]) -> Iterator[tuple[bytes | str, int]]:
    for index, pair in enumerate(iterable("pieces", pairs, "pretokens with their counts")):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"pieces[{index}] is a pretoken with its count, not {show(pair)}")
        piece, count = pair
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"the count of {show(piece)} is {show(count)}, not a whole number")
        if not isinstance(piece, str | bytes):
            raise TypeError(f"a pretoken is str or bytes, not {type(piece).__name__}")
        if not piece or not 1 <= count < 1 << 64:
            raise OptionError(
                f"{show(piece)} with count {show(count)} is not a pretoken of a text.",
                index=index,
                value=count,
            )
        yield piece, count
