"""Names that the library has a list of, asked for when a page shows them or a value is checked.

The rooms that hold these lists take longer to import than a help page to show, and most pages show
none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

__all__ = [
    "Naming",
    "OneOf",
    "either",
    "encodings",
    "pretokenizers",
    "shard_formats",
    "tokenizer_formats",
]

_Names = Callable[[], Iterable[str]]


def tokenizer_formats() -> Iterable[str]:
    """The formats that tokenizers are saved in."""
    from digram.formats import FORMATS

    return FORMATS


def shard_formats() -> Iterable[str]:
    """The formats of files that trainers read."""
    from digram.shards.formats import FORMATS

    return FORMATS


def encodings() -> Iterable[str]:
    """The published encodings."""
    from digram.formats import ENCODINGS

    return ENCODINGS


def pretokenizers() -> Iterable[str]:
    """The published pretokenizers, and none."""
    from digram.pretokenizers import NAMED

    return [*NAMED, "none"]


def either(names: Iterable[str]) -> str:
    """Names as one says them.

    >>> either(["a", "b", "c"])
    'a, b or c'
    """
    *most, last = names
    return f"{', '.join(most)} or {last}"


class OneOf(click.Choice[str]):
    """A choice among the names of a list."""

    def __init__(self, names: _Names) -> None:
        self._names = names
        self.case_sensitive = True

    def __getattr__(self, name: str) -> Any:
        if name != "choices":
            raise AttributeError(name)
        self.choices = tuple(self._names())
        return self.choices


class Naming(click.Option):
    """An option whose help has `{names}` where the names of a list stand."""

    def __init__(self, *args: Any, names: _Names, **more: Any) -> None:
        super().__init__(*args, **more)
        self._names = names

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = (self.help or "").replace("{names}", either(self._names()))
        return super().get_help_record(ctx)
