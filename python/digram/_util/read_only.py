"""Dictionaries that properties return, which refuse changes: they would change nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

__all__ = ["ReadOnly"]

K = TypeVar("K")
V = TypeVar("V")


class ReadOnly(dict[K, V]):
    """A dictionary that cannot be changed; `remedy` is how what it shows is changed instead.

    >>> found = ReadOnly({"<s>": 256}, "call tok.with_special_tokens")
    >>> found, found == {"<s>": 256}, found | {"<t>": 257}
    ({'<s>': 256}, True, {'<s>': 256, '<t>': 257})
    >>> found.clear()
    Traceback (most recent call last):
        ...
    TypeError: it is read-only: call tok.with_special_tokens, or change a copy, dict(...)

    It is a `dict`, unlike `types.MappingProxyType`, so that `json` and `pickle` take it. Copies by
    `copy()` and `|` are plain ones.
    """

    __slots__ = ("_remedy",)

    def __init__(self, items: Mapping[K, V], remedy: str) -> None:
        super().__init__(items)
        self._remedy = remedy

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"it is read-only: {self._remedy}, or change a copy, dict(...)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[K, V]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[K, V]:
        from copy import deepcopy

        return deepcopy(dict(self), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnly, (dict(self), self._remedy)
