"""Numbers as characters, the input of the core.

Number k of an alphabet is the k-th character from U+0100 on, without surrogates. So sequences are
merged by the same code as text, and other programs can read the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from digram._util.validation import iterable
from digram.errors import InvalidTextError, OptionError, several, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = Sequence[int] | NDArray[Any]
    """A sequence: unsigned 32-bit integers."""

__all__ = ["Alphabet"]

_FIRST, _SURROGATES, _HOW_MANY_SURROGATES = 0x100, 0xD800, 0x800
MAX_SYMBOLS = 0x110000 - _HOW_MANY_SURROGATES - _FIRST
"""The number of characters that exist."""


class Alphabet:
    """The numbers that sequences consist of, ascending: those below `size`, or a list of them.

    >>> alphabet = Alphabet.of([7, 2, 2, 100])
    >>> len(alphabet), alphabet.numbers.tolist()
    (3, [2, 7, 100])
    >>> alphabet.text([2, 100, 7])
    'ĀĂā'
    >>> alphabet.sequence("ĀĂā").tolist()
    [2, 100, 7]
    """

    __slots__ = ("_is_range", "numbers")

    numbers: NDArray[np.uint32]

    def __init__(self, numbers: NDArray[np.uint32]) -> None:
        """From ascending numbers; see `of`."""
        self.numbers = numbers
        self.numbers.setflags(write=False)
        self._is_range = not len(numbers) or int(numbers[-1]) == len(numbers) - 1

    @classmethod
    def of(cls, symbols: int | Numbers) -> Alphabet:
        """The numbers below `symbols`, or those that it lists.

        Raises `OptionError` for more than 1,111,808 numbers, and for a number outside of 32 bits.
        """
        import numpy as np

        if isinstance(symbols, bool | np.bool_):
            raise TypeError(
                f"symbols must be a number of symbols, or a list of them, not {show(symbols)}"
            )
        listed = None
        if isinstance(symbols, int | np.integer):
            number = int(symbols)
        else:
            listed = np.unique(as_array(symbols, "symbols"))
            number = len(listed)
        if not 1 <= number <= MAX_SYMBOLS:
            raise OptionError(
                f"symbols: {several(number, 'symbol')} are not between 1 and {MAX_SYMBOLS:,}.",
                value=number if listed is None else None,
                hint="Pass fewer, or at least one.",
            )
        return cls(np.arange(number, dtype=np.uint32) if listed is None else listed)

    @property
    def size(self) -> int | None:
        """The number of symbols if they are the numbers below it; None for a list with gaps."""
        return len(self) if self._is_range else None

    def characters(self) -> list[str]:
        """The character of each number."""
        return [*_text(_codes(self._places_of_all()))]

    def text(self, sequence: Numbers, name: str = "sequence") -> str:
        """The characters of a sequence.

        Raises `InvalidTextError` for a number outside of this alphabet, with its index.
        """
        return _text(_codes(self.places(as_array(sequence, name), name)))

    def places(self, sequence: NDArray[np.uint32], name: str) -> NDArray[np.uint32]:
        """The index of each number in the alphabet."""
        import numpy as np

        if self._is_range:
            wrong = sequence >= len(self)
            places = sequence
        else:
            places = np.searchsorted(self.numbers, sequence).astype(np.uint32)
            wrong = self.numbers[np.minimum(places, len(self) - 1)] != sequence
        if wrong.any():
            index = int(wrong.argmax())
            raise InvalidTextError(
                f"{name}[{index}] = {int(sequence[index])} is none of the "
                f"{several(len(self), 'symbol')}.",
                index=index,
                value=int(sequence[index]),
                hint="Train with symbols= that include all possible numbers.",
            )
        return places

    def sequence(self, text: str) -> NDArray[np.uint32]:
        """The numbers of a text of the alphabet's characters."""
        import numpy as np

        codes = np.frombuffer(text.encode("utf-32-le"), "<u4")
        places = codes - np.where(codes >= _SURROGATES, _FIRST + _HOW_MANY_SURROGATES, _FIRST)
        found: NDArray[np.uint32] = self.numbers[places]
        return found

    def _places_of_all(self) -> NDArray[np.uint32]:
        import numpy as np

        return np.arange(len(self), dtype=np.uint32)

    def __len__(self) -> int:
        return len(self.numbers)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Alphabet):
            return NotImplemented
        return self.numbers.tobytes() == other.numbers.tobytes()

    def __hash__(self) -> int:
        return hash(self.numbers.tobytes())

    def __repr__(self) -> str:
        kind = "" if self._is_range else f" up to {int(self.numbers[-1]):,}"
        return f"<digram.Alphabet: {several(len(self), 'symbol')}{kind}>"


def as_array(sequence: Numbers | Iterable[int], name: str) -> NDArray[np.uint32]:
    """A sequence as a one-dimensional array; an array of uint32 is not copied.

    Raises `TypeError` if it is not a sequence of integers, and `InvalidTextError` for a number
    below 0 or above 32 bits.
    """
    import numpy as np

    if isinstance(sequence, str | bytes | bytearray):
        raise TypeError(f"{name} must be a sequence of integers, not {type(sequence).__name__}")
    found = sequence if isinstance(sequence, np.ndarray) else _listed(sequence, name)
    if not found.size:
        return np.zeros(0, np.uint32)
    if found.dtype.kind not in "iu":
        raise TypeError(f"{name} must be a sequence of integers, not of {found.dtype}")
    if found.ndim != 1:
        raise TypeError(f"{name} has {found.ndim} dimensions; a sequence has one")
    if found.dtype != np.uint32:
        wrong = (found < 0) | (found > 0xFFFFFFFF)
        if wrong.any():
            index = int(wrong.argmax())
            _refuse_number(int(found[index]), name, index)
    return found.astype(np.uint32, copy=False)


def as_arrays(sequences: Iterable[Numbers]) -> Iterator[NDArray[np.uint32]]:
    """Several sequences as arrays, one at a time; see `as_array`."""
    import numpy as np

    for number, one in enumerate(iterable("sequences", sequences, "several sequences")):
        if isinstance(one, int | np.integer):
            raise TypeError(f"sequences[{number}] is an int; pass a list of sequences")
        yield as_array(one, f"sequences[{number}]")


def _listed(sequence: Iterable[int], name: str) -> NDArray[Any]:
    import numpy as np

    try:
        each = iter(sequence)
    except TypeError:
        kind = type(sequence).__name__
        raise TypeError(f"{name} must be a sequence of integers, not {kind}") from None
    numbers = [*each]
    try:
        found = np.asarray(numbers)
    except ValueError:  # lists of different lengths
        found = np.asarray(numbers, object)
    if found.dtype.kind not in "fO" or not all(isinstance(n, int | np.integer) for n in numbers):
        return found
    # Integers that fit no NumPy type together, or that NumPy converted to another type.
    for index, number in enumerate(numbers):
        if not 0 <= number <= 0xFFFFFFFF:
            _refuse_number(int(number), name, index)
    return np.asarray(numbers, np.uint32)


def _refuse_number(number: int, name: str, index: int) -> NoReturn:
    raise InvalidTextError(
        f"{name}[{index}] = {show(number)} is not an unsigned 32-bit integer.",
        index=index,
        value=number,
    )


def _codes(places: NDArray[np.uint32]) -> NDArray[np.uint32]:
    import numpy as np

    codes = places + np.uint32(_FIRST)
    codes[codes >= _SURROGATES] += np.uint32(_HOW_MANY_SURROGATES)
    return codes


def _text(codes: NDArray[np.uint32]) -> str:
    return codes.astype("<u4", copy=False).tobytes().decode("utf-32-le")
