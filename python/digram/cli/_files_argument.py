"""The argument FILES, and the sentences on it that several help pages have.

The docstring of a verb names a sentence in braces, as in `{files_or_stdin}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["of_counts", "optional", "required"]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])

_FILES = "FILES are files, folders and quoted patterns"
_SENTENCES = {
    "files": _FILES,
    "files_or_stdin": f"{_FILES}; without FILES, or for -, stdin is read.",
    "files_in_folders": "FILES are files, folders (with all files below them except hidden ones) "
    "and quoted patterns, in which ** matches folders; - is stdin.",
    "kinds_of_files": "Files named .jsonl, .ndjson or .json contain JSON; .csv, .tsv, .parquet and "
    ".arrow are tables; .gz, .zst, .bz2 and .xz are decompressed; all other files are text. A text "
    "file is one document unless --separator splits it; each record is one too.",
}


class _Path(click.types.StringParamType):
    """A path; the error for a missing one says what can be named."""

    def __init__(self, missing: str) -> None:
        self.missing = missing

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return self.missing


def required(verb: _Verb) -> _Verb:
    """Give a verb the argument `FILES...`, and its docstring the sentences that it names."""
    return _named(verb, "Name files, or - for stdin.")


def of_counts(verb: _Verb) -> _Verb:
    """Give a verb the argument `FILES...`, for files of counts."""
    return _named(verb, "Name files of counts.")


def _named(verb: _Verb, missing: str) -> _Verb:
    _tell(verb)
    paths = click.argument(
        "files", nargs=-1, required=True, type=_Path(missing), metavar="FILES..."
    )
    return paths(verb)


def optional(verb: _Verb) -> _Verb:
    """Give a verb the argument `[FILES]...`, and its docstring the sentences that it names."""
    _tell(verb)
    return click.argument("files", nargs=-1, metavar="[FILES]...")(verb)


def _tell(verb: Callable[..., Any]) -> None:
    for name, sentence in _SENTENCES.items():
        verb.__doc__ = (verb.__doc__ or "").replace(f"{{{name}}}", sentence)
