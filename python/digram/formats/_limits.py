"""The `truncation` and the `padding` of a tokenizer.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from digram.errors import CorruptFileError, OptionError
from digram.formats._json import expect
from digram.formats._show import show
from digram.formats._splits import only
from digram.vocab.definition import Definition
from digram.vocab.limits import Padding, Truncation

__all__ = ["from_padding", "from_truncation", "to_padding", "to_truncation"]

_STRATEGIES = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}
_SIDES = {"Right": "right", "Left": "left"}


def from_truncation(value: Any, path: str | None) -> Truncation | None:
    """The truncation of a file. Raises `CorruptFileError` for a damaged one."""
    if value is None:
        return None
    where = "truncation"
    given = expect(value, dict, where, path)
    only(given, {"direction", "max_length", "strategy", "stride"}, where, path)
    numbers = [expect(given.get(key), int, f"{where}.{key}", path) for key in _NUMBERS]
    strategy = _choice(given, "strategy", _STRATEGIES, where, path)
    side = _choice(given, "direction", _SIDES, where, path, "Right")  # older files have none
    try:
        return Truncation(numbers[0], strategy, numbers[1], side)  # type: ignore[arg-type]
    except OptionError as error:
        raise CorruptFileError(f"{where}: {error.message}", path=path) from None


_NUMBERS = ("max_length", "stride")


def from_padding(value: Any, special: Mapping[str, int], path: str | None) -> Padding | None:
    """The padding of a file with these special tokens. Raises `CorruptFileError`."""
    if value is None:
        return None
    where = "padding"
    given = expect(value, dict, where, path)
    known = {"strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"}
    only(given, known, where, path)
    strategy, length = given.get("strategy"), None
    if isinstance(strategy, dict) and [*strategy] == ["Fixed"]:
        length = expect(strategy["Fixed"], int, f"{where}.strategy.Fixed", path)
    elif strategy != "BatchLongest":
        raise CorruptFileError(
            f"{where}.strategy {show(strategy)} is neither BatchLongest nor Fixed.", path=path
        )
    side = _choice(given, "direction", _SIDES, where, path)
    token = expect(given.get("pad_token"), str, f"{where}.pad_token", path)
    id = expect(given.get("pad_id"), int, f"{where}.pad_id", path)
    type_id = expect(given.get("pad_type_id"), int, f"{where}.pad_type_id", path)
    multiple = given.get("pad_to_multiple_of")
    if multiple is not None:
        expect(multiple, int, f"{where}.pad_to_multiple_of", path)
    named = None if special.get(token) == id else id
    try:
        return Padding(token, length, side, multiple or None, type_id, named)  # type: ignore[arg-type]
    except OptionError as error:
        raise CorruptFileError(f"{where}: {error.message}", path=path) from None


def _choice(
    given: dict[str, Any],
    key: str,
    known: dict[str, str],
    where: str,
    path: str | None,
    default: str | None = None,
) -> str:
    value = given.get(key, default)
    if not isinstance(value, str) or value not in known:
        names = " or ".join(known)
        raise CorruptFileError(f"{where}.{key} {show(value)} is not {names}.", path=path)
    return known[value]


def to_truncation(truncation: Truncation | None) -> dict[str, Any] | None:
    """The `truncation` of a file.

    >>> to_truncation(Truncation(5))
    {'direction': 'Right', 'max_length': 5, 'strategy': 'LongestFirst', 'stride': 0}
    """
    if truncation is None:
        return None
    return {
        "direction": truncation.side.title(),
        "max_length": truncation.max_length,
        "strategy": "".join(part.title() for part in truncation.strategy.split("_")),
        "stride": truncation.overlap,
    }


def to_padding(definition: Definition) -> dict[str, Any] | None:
    """The `padding` of a file; it has the id that the token has now."""
    padding = definition.padding
    if padding is None:
        return None
    return {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": padding.side.title(),
        "pad_to_multiple_of": padding.multiple_of,
        "pad_id": definition.special_tokens[padding.token] if padding.id is None else padding.id,
        "pad_type_id": padding.type_id,
        "pad_token": padding.token,
    }
