"""Checks of arguments that several functions have, and their conversion for the core."""

from __future__ import annotations

import functools
import inspect
import operator
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from digram._core import MIN_MEMORY
from digram.errors import InvalidTextError, OptionError, show

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction


__all__ = [
    "any_number",
    "check_text",
    "check_threads",
    "choice",
    "flag",
    "fraction",
    "fraction_in",
    "instance",
    "iterable",
    "mapping",
    "memory_in_bytes",
    "path_name",
    "real_number",
    "refuse_one",
    "several_texts",
    "size_in_bytes",
    "utf8_bytes",
    "whole_number",
    "word",
]

_MAX_DIGITS = 128  # more than any fraction of 64-bit numbers needs
_MAX_BYTES = 1e24
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kMGTPE]?)(i?)(?:B|bytes)?\s*", re.IGNORECASE)

P = ParamSpec("P")
T = TypeVar("T")


def several_texts(texts: Iterable[T], one: str) -> list[T]:
    """The texts as a list; `one` is the function for a single text."""
    refuse_one(texts, one)
    return texts if isinstance(texts, list) else list(iterable("texts", texts, "several texts"))


def refuse_one(texts: object, one: str) -> None:
    """Raise `TypeError` for a single text; `one` is the function for it."""
    if isinstance(texts, str | bytes):
        raise TypeError(f"texts is several texts; pass one text to {one}, or put it in a list")
    if is_frame(texts):
        raise TypeError("texts is several texts, not a table; pass one of its columns")


def is_frame(value: object) -> bool:
    """Whether a value is a data frame, whose iteration gives column names in pandas."""
    kind = type(value)
    return hasattr(kind, "columns") and (
        hasattr(kind, "iloc") or hasattr(kind, "__arrow_c_stream__")
    )


def takes_no(**remedies: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function to explain options that similar functions have but it has not.

    >>> @takes_no(rules="Split the text by them before.")
    ... def count(text, *, unit="byte"): ...
    >>> count("a", rules=1)
    Traceback (most recent call last):
        ...
    TypeError: count() takes no rules=. Split the text by them before. It takes unit=.
    >>> count("a", units=1)
    Traceback (most recent call last):
        ...
    TypeError: count() takes no units=; did you mean unit=? It takes unit=.
    """

    def decorate(call: Callable[P, T]) -> Callable[P, T]:
        parameters = inspect.signature(call).parameters.values()
        names = [one.name for one in parameters]
        options = ", ".join(f"{one.name}=" for one in parameters if one.kind is one.KEYWORD_ONLY)

        @functools.wraps(call)
        def called(*args: P.args, **given: P.kwargs) -> T:
            for name in given:
                if name not in names:
                    import difflib

                    near = difflib.get_close_matches(name, names, 1)
                    what = f"; did you mean {near[0]}=?" if near else "."
                    what = f". {remedies[name]}" if name in remedies else what
                    raise TypeError(f"{call.__name__}() takes no {name}={what} It takes {options}.")
            return call(*args, **given)

        return called

    return decorate


def choice(name: str, value: Any, *allowed: str | None) -> None:
    """Raise `OptionError` unless the value is one of the allowed words.

    >>> choice("out", "tensor", "list", "numpy")
    Traceback (most recent call last):
        ...
    digram.errors.OptionError: out='tensor' is not known. Pass 'list' or 'numpy'.
    """
    # Only compare strings, since arrays compare item by item.
    known = isinstance(value, str) if value is not None else None in allowed
    if not known or value not in allowed:
        *others, last = map(repr, allowed)
        words = f"{', '.join(others)} or {last}"
        raise OptionError(f"{name}={show(value)} is not known. Pass {words}.", value=value)


def instance(name: str, value: Any, kind: type) -> None:
    """Raise `TypeError` unless the value is an instance of a class of digram.

    >>> from digram.errors import DigramError
    >>> instance("tok", 7, DigramError)
    Traceback (most recent call last):
        ...
    TypeError: tok is a digram.DigramError, not int
    """
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} is {article} digram.{kind.__name__}, not {type(value).__name__}")


def flag(name: str, value: Any) -> bool:
    """Convert True or False, of Python or NumPy, or 1 or 0, to a bool.

    >>> flag("resume", True), flag("resume", 0)
    (True, False)
    >>> flag("resume", "no")
    Traceback (most recent call last):
        ...
    TypeError: resume is True or False, not 'no'
    """
    try:
        number = operator.index(value)
    except TypeError:
        # NumPy bools have no __index__.
        number = int(value) if type(value).__name__ in ("bool", "bool_") else -1
    if number not in (0, 1):
        raise TypeError(f"{name} is True or False, not {show(value)}")
    return number == 1


def mapping(name: str, value: Any, what: str) -> None:
    """Raise `TypeError` unless the value is a mapping; `what` are its keys and values.

    >>> mapping("weights", [2, 1], "names and weights")
    Traceback (most recent call last):
        ...
    TypeError: weights is a dictionary of names and weights, not list
    """
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is a dictionary of {what}, not {type(value).__name__}")


def iterable(name: str, value: Iterable[T], what: str) -> Iterable[T]:
    """Check that a value can be iterated over; `what` it is.

    >>> iterable("keep", [1], "several tokens")
    [1]
    >>> iterable("keep", 1, "several tokens")
    Traceback (most recent call last):
        ...
    TypeError: keep is several tokens, as in a list, not 1
    """
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} is {what}, as in a list, not {show(value)}")
    return value


def path_name(path: Any, name: str = "path") -> str:
    r"""Convert a path to a `str` that is a valid file name; `name` is that of the argument.

    >>> path_name("shards/000.bin")
    'shards/000.bin'
    >>> path_name("a\0b")
    Traceback (most recent call last):
        ...
    digram.errors.OptionError: 'a\x00b' is not a name of a file: it contains a NUL.
    >>> path_name(7, "folder")
    Traceback (most recent call last):
        ...
    TypeError: folder is a str or a Path, not 7

    Python raises `ValueError` for such a name only when the file is opened.
    """
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise TypeError(f"{name} is a str or a Path, not {show(path)}") from None
    try:
        reason = "it contains a NUL" if b"\0" in os.fsencode(text) else None
    except UnicodeEncodeError:
        reason = "it contains a lone surrogate"
    if reason is not None:
        raise OptionError(f"{show(text)} is not a name of a file: {reason}.", value=path)
    return text


def word(name: str, value: Any) -> str:
    r"""Check that a value is a `str` without lone surrogates; `name` is for messages.

    >>> word("pad_token", "<pad>")
    '<pad>'
    >>> word("pad_token", "a\ud800")
    Traceback (most recent call last):
        ...
    digram.errors.InvalidTextError: pad_token has a lone surrogate (U+D800) at index 1, ...
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    utf8_bytes(name, value)
    return value


def check_text(what: str, value: object) -> None:
    """Raise `TypeError` for what is not a str, and `OptionError` for a lone surrogate in it.

    >>> check_text("the prefix", "##")
    >>> check_text("the prefix", b"##")
    Traceback (most recent call last):
        ...
    TypeError: the prefix is a str, not b'##'
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {show(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise OptionError(f"{what} has a lone surrogate.", value=value) from None


def utf8_bytes(name: str, text: str | bytes) -> bytes:
    r"""The UTF-8 of a `str`, or the bytes that are given; `name` says whose they are.

    >>> utf8_bytes("corpus[0]", "é"), utf8_bytes("corpus[1]", b"\xff")
    (b'\xc3\xa9', b'\xff')
    >>> utf8_bytes("corpus[2]", "a\ud800")
    Traceback (most recent call last):
        ...
    digram.errors.InvalidTextError: corpus[2] has a lone surrogate (U+D800) at index 1, ...

    `str.encode` alone would raise `UnicodeEncodeError`, which is a `ValueError`.
    """
    if not isinstance(text, str):
        return bytes(text)
    try:
        return str.encode(text)
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise InvalidTextError(
            f"{name} has a lone surrogate (U+{code:04X}) at index {error.start}, which is not a "
            "character.",
            index=error.start,
            value=code,
            hint='Decode the source with errors="replace", or pass its bytes.',
        ) from None


def real_number(name: str, value: Any) -> float:
    """Convert a finite number to a float.

    >>> real_number("alpha", 2), real_number("alpha", 0.5)
    (2.0, 0.5)

    Raises `TypeError` for a value that is not a number, `OptionError` for one that is not finite or
    too large for a float.
    """
    import decimal
    import math
    import numbers

    if isinstance(value, bool) or not isinstance(value, numbers.Real | decimal.Decimal):
        raise TypeError(f"{name} is a number, not {show(value)}")
    try:
        number = float(value)
    except (OverflowError, ValueError):  # larger than all floats; a signalling NaN
        number = math.inf
    if not math.isfinite(number):
        raise OptionError(f"{name}={show(value)} is not a finite number.", value=value)
    return number


def whole_number(name: str, value: Any, minimum: int, maximum: int = sys.maxsize) -> int:
    """Check that a value is a whole number of at least `minimum`.

    >>> whole_number("n", 3, 0), whole_number("n", 2**70, 0) == 2**63 - 1
    (3, True)

    A value above `maximum` becomes `maximum`: no text and no limit is so large. Raises `TypeError`
    for a value that is not a whole number, `OptionError` for one that is too small.
    """
    number = any_number(name, value)
    if number < minimum:
        raise OptionError(f"{name}={show(number)} is not at least {minimum}.", value=value)
    return min(number, maximum)


def any_number(name: str, value: Any) -> int:
    """Check that a value is a whole number, of any size and sign; otherwise `TypeError`.

    >>> any_number("token", -1)
    -1
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {show(value)}") from None


def check_threads(threads: int | None) -> int | None:
    """Check that the number of threads is None or at least 1."""
    return None if threads is None else whole_number("threads", threads, 1)


def fraction(value: Any, name: str) -> tuple[int, int]:
    """Convert a positive number to a numerator and a denominator of 64 bits.

    >>> fraction(3, "weight"), fraction(0.1, "weight")
    ((3, 1), (1, 10))

    A float is read as the decimal number that it prints as.
    """
    import decimal
    import fractions
    import numbers

    if isinstance(value, bool) or not isinstance(value, numbers.Rational | float | decimal.Decimal):
        raise TypeError(f"{name} is a number, not {show(value)}")
    try:
        if isinstance(value, numbers.Rational):
            exact = fractions.Fraction(value)
        else:
            number = decimal.Decimal(str(value)) if isinstance(value, float) else value
            exact = _of_decimal(number) if number.is_finite() else fractions.Fraction(0)
    except OverflowError:
        exact = None
    if exact is not None and exact <= 0:
        raise OptionError(f"{name}={_spelled(value)} is not a positive number.", value=value)
    if exact is None or max(exact.numerator, exact.denominator) >= 1 << 64:
        raise OptionError(
            f"{name}={_spelled(value)} has more digits than 64 bits hold.",
            value=value,
            hint="Round it.",
        )
    return exact.numerator, exact.denominator


def fraction_in(text: str) -> Fraction:
    """Parse a number exactly.

    >>> fraction_in("0.9"), fraction_in("2/3"), fraction_in("1e3")
    (Fraction(9, 10), Fraction(2, 3), Fraction(1000, 1))

    Raises ValueError for text that is not a number, and for too many digits.
    """
    import decimal
    import fractions

    if len(text) > _MAX_DIGITS:
        raise ValueError("the number has too many digits")
    try:
        if "/" in text:  # a fraction has no exponent
            return fractions.Fraction(text)
        number = decimal.Decimal(text)
        if not number.is_finite():
            raise ValueError(f"{show(text)} is not a number")
        return _of_decimal(number)
    except ArithmeticError:
        raise ValueError(f"{show(text)} is not a number, or too large or small a one") from None


def _of_decimal(number: Decimal) -> Fraction:
    """Convert a finite number to a fraction; OverflowError if it is far too long for 64 bits.

    This is checked first, since a power of ten with a large exponent may have a billion digits.
    """
    import fractions

    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int), "the number is finite"
    places = "".join(map(str, digits))
    significant = places.strip("0")
    if not significant:
        return fractions.Fraction(0)
    if len(significant) > _MAX_DIGITS or abs(number.adjusted()) > _MAX_DIGITS:
        raise OverflowError
    exponent += len(places) - len(places.rstrip("0"))
    return fractions.Fraction(f"{'-' * sign}{significant}e{exponent}")


def _spelled(value: Any) -> str:
    """The text of a number, shortened if it is long."""
    try:
        text = str(value)
    except ValueError:  # Python limits the conversion of large numbers
        return show(value)
    return text if len(text) <= 80 else show(value)


def size_in_bytes(name: str, value: float | str) -> float:
    """Convert a size, given in bytes or as "2 GB" (decimal) or "2 GiB", to bytes.

    >>> size_in_bytes("memory_limit", "2 GB"), size_in_bytes("memory_limit", "16MiB")
    (2000000000.0, 16777216.0)
    """
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        base = 1024 if match[3] else 1000
        number = float(match[1]) * float(base ** " kmgtpe".index((match[2] or " ").lower()))
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise OptionError(
            f"{name}={show(value)} is not a size.", value=value, hint='Write it as "500 GB".'
        )
    else:
        # An int may be too large for a float; 0.0 is refused below.
        number = float(value) if 0 < value < _MAX_BYTES else 0.0
    if not 1 <= number < _MAX_BYTES:
        raise OptionError(f"{name}={show(value)} is not a size.", value=value)
    return number


def memory_in_bytes(limit: int | str | None) -> int | None:
    """Check a limit of memory, and convert it to bytes; None for no limit.

    >>> memory_in_bytes("2 GB"), memory_in_bytes(None)
    (2000000000, None)
    """
    if limit is None:
        return None
    # The core cannot represent larger limits, which no machine has.
    memory = min(int(size_in_bytes("memory_limit", limit)), sys.maxsize)
    if memory < MIN_MEMORY:
        minimum = f"{MIN_MEMORY >> 20} MiB"
        raise OptionError(
            f"memory_limit={show(limit)} is less than the minimum of {minimum}.",
            value=limit,
            hint="With less memory the disk is read more often; 1 GB is a good limit.",
        )
    return memory
