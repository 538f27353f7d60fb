"""Lists of names of the library, loaded only when a help page shows them or a value is checked.

Importing the modules that define them takes longer than showing a help page, and most pages do not
need them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

__all__ = [
    "OneOf",
    "OptionWithNames",
    "either",
    "encodings",
    "pretokenizers",
    "shard_formats",
    "stages",
    "tokenizer_formats",
]

_Names = Callable[[], Iterable[str]]


def tokenizer_formats() -> Iterable[str]:
    """The file formats of tokenizers."""
    from digram.formats import FORMATS

    return FORMATS


def shard_formats() -> Iterable[str]:
    """The formats of training files."""
    from digram.shards.formats import FORMATS

    return FORMATS


def encodings() -> Iterable[str]:
    """The published encodings, and those of BERT's files."""
    from digram.formats import ENCODINGS, vocab_txt

    return [*ENCODINGS, *vocab_txt.ENCODINGS]


def pretokenizers() -> Iterable[str]:
    """The published pretokenizers, and `none`."""
    from digram.pretokenizers import NAMED

    return [*NAMED, "none"]


def stages() -> Iterable[str]:
    """The stages of a normalizer that need no values."""
    from digram.pretokenizers.shell import STAGES

    return STAGES


def either(names: Iterable[str]) -> str:
    """Names as a phrase.

    >>> either(["a", "b", "c"])
    'a, b or c'
    """
    *most, last = names
    return f"{', '.join(most)} or {last}"


class OneOf(click.Choice[str]):
    """A choice among names that are loaded when they are needed."""

    def __init__(self, names: _Names) -> None:
        self._names = names
        self.case_sensitive = True

    def __getattr__(self, name: str) -> Any:
        if name != "choices":
            raise AttributeError(name)
        self.choices = tuple(self._names())
        return self.choices


class OptionWithNames(click.Option):
    """An option in whose help `{names}` is replaced by a list of names."""

    def __init__(self, *args: Any, names: _Names, **more: Any) -> None:
        super().__init__(*args, **more)
        self._names = names

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = (self.help or "").replace("{names}", either(self._names()))
        return super().get_help_record(ctx)
