"""`-t PATH`: the options that name a tokenizer, and loading it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import _options, _pretokenizers
from digram.cli._choices import OptionWithNames, either, encodings, pretokenizers

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = [
    "described_options",
    "load",
    "load_any",
    "tokenizer_option",
    "tokenizers_option",
    "with_encoding",
    "with_tokenizer",
]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


_EXAMPLE = "Name a tokenizer with it, as in -t tokenizer.json."


class _TokenizerPath(click.types.StringParamType):
    """The path of a tokenizer; the error for a missing one shows `example`."""

    def __init__(self, example: str) -> None:
        self.example = example

    def get_missing_message(self, param: click.Parameter, ctx: click.Context | None) -> str:
        return self.example


tokenizer_option = click.option(
    "-t",
    "--tokenizer",
    type=_TokenizerPath(_EXAMPLE),
    metavar="PATH",
    required=True,
    help="A tokenizer's file or folder.",
)


def tokenizers_option(text: str, example: str = _EXAMPLE) -> Callable[[_Verb], _Verb]:
    """The option that names several tokenizers, as `tokenizers`."""
    return click.option(
        "-t",
        "--tokenizer",
        "tokenizers",
        type=_TokenizerPath(example),
        metavar="PATH",
        multiple=True,
        required=True,
        help=f"A tokenizer's file or folder; {text}",
    )


described_options = _options.together(
    click.option(
        "--pretokenizer",
        metavar="NAME",
        cls=OptionWithNames,
        names=pretokenizers,
        help="The pretokenizer of a file that does not store one (a .tiktoken file, vocab.json "
        "with merges.txt): {names}.",
    ),
    _pretokenizers.pretokenizer_options,
    click.option(
        "--encoding",
        metavar="NAME",
        cls=OptionWithNames,
        names=encodings,
        help="The published encoding that a .tiktoken file contains; names its pattern and special "
        "tokens: {names}.",
    ),
)
"""The options for facts that a tokenizer's file may not store; `load` reads them."""


def with_tokenizer(verb: _Verb) -> _Verb:
    """Give a verb the options that name a tokenizer, and the tokenizer itself as `tok`."""

    @functools.wraps(verb)
    def loading(*args: Any, tokenizer: str, **rest: Any) -> Any:
        return verb(*args, tok=load(tokenizer, rest), **rest)

    return tokenizer_option(described_options(loading))  # type: ignore[return-value]


def load(path: str, options: dict[str, Any]) -> Tokenizer:
    """Load the tokenizer at a path; removes the options of `described_options` from `options`.

    A path may end with the encoding of its file, as in `cl100k_base.tiktoken:cl100k_base`. It
    overrides the option, so that each of several files can name its own.
    """
    import digram

    given = path
    path, own = with_encoding(path)
    name, regex, digits = (options.pop(key) for key in ("pretokenizer", "regex", "digits"))
    keywords: dict[str, Any] = {}
    pretokenizer = _pretokenizers.pretokenizer_from(name, regex, digits)
    if pretokenizer is not None:
        keywords["pretokenizer"] = pretokenizer
    encoding = options.pop("encoding")
    if own is not None or encoding is not None:
        keywords["encoding"] = own or encoding
    try:
        return digram.load(path, **keywords)
    except FileNotFoundError as error:
        if error.filename == path:
            error.filename = f"-t {given}"
        raise


def load_any(path: str, described: dict[str, Any]) -> Tokenizer:
    """Load a tokenizer; `described` applies only if the file does not describe itself."""
    if any(described.values()):
        from digram.formats import describes_itself

        if describes_itself(with_encoding(path)[0]):
            described = dict.fromkeys(described)
    return load(path, described)


def with_encoding(path: str) -> tuple[str, str | None]:
    """Split a path from the encoding named after it.

    >>> with_encoding("here/cl100k_base.tiktoken:cl100k_base")
    ('here/cl100k_base.tiktoken', 'cl100k_base')
    >>> with_encoding("tokenizer.json")
    ('tokenizer.json', None)
    """
    import os

    file, colon, encoding = path.rpartition(":")
    if not colon or os.path.lexists(path):
        return path, None
    known = encodings()
    if encoding in known:
        return file, encoding
    if os.path.lexists(file):
        raise click.UsageError(
            f"{encoding!r}, after {file!r}, is not a published encoding. Choose from "
            f"{either(known)}."
        )
    return path, None
