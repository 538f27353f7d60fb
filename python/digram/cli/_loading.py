"""`-t PATH`: the options that name a tokenizer, by its path or name, and loading it."""

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
    "download_option",
    "load",
    "load_any",
    "one",
    "pair_options",
    "short_name",
    "tokenizer_option",
    "tokenizers_option",
    "with_encoding",
    "with_tokenizer",
]

_Verb = TypeVar("_Verb", bound=Callable[..., Any])


_EXAMPLE = "Name a tokenizer with it, as in -t tokenizer.json."
_WHICH = (
    "A tokenizer's file or folder, or the name of a model, an encoding or a repository of Hugging "
    "Face"
)


class _TokenizerPath(click.types.StringParamType):
    """The path or name of a tokenizer; the error for a missing one shows `example`."""

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
    help=f"{_WHICH}.",
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
        help=f"{_WHICH}; {text}",
    )


_PAIR = "Name the other tokenizer with --against, as in -t old.json --against new.json."


def pair_options(text: str = "") -> Callable[[_Verb], _Verb]:
    """The options that name two tokenizers, as `tokenizers` and `against`; see `one`."""
    against = click.option(
        "--against",
        type=_TokenizerPath(_PAIR),
        metavar="OTHER",
        required=True,
        help=f"The other tokenizer, named as with -t{text}.",
    )
    # Several, so that a second -t is refused, and does not silently replace the first.
    return _options.together(tokenizers_option("the other one is that of --against."), against)


def one(tokenizers: tuple[str, ...]) -> str:
    """The tokenizer of `-t` beside `--against`."""
    if len(tokenizers) != 1:
        raise click.UsageError(f"-t is given {len(tokenizers)} times. {_PAIR}")
    return tokenizers[0]


download_option = click.option(
    "--download",
    is_flag=True,
    help="Fetch a tokenizer that is given by name from the network if it is not on this machine.",
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
        help="The published encoding that a .tiktoken file or those of GPT-2 and BERT contain, if "
        "that is not clear from the content; names the pattern and special tokens: {names}. May "
        "stand after the path, as in -t PATH:NAME.",
    ),
    download_option,
)
"""The options for facts that a tokenizer's file may not store, and for its download; `load` reads
them."""


def with_tokenizer(verb: _Verb) -> _Verb:
    """Give a verb the options that name a tokenizer, and the tokenizer itself as `tok`."""

    @functools.wraps(verb)
    def loading(*args: Any, tokenizer: str, **rest: Any) -> Any:
        return verb(*args, tok=load(tokenizer, rest), **rest)

    return tokenizer_option(described_options(loading))  # type: ignore[return-value]


def load(path: str, options: dict[str, Any], option: str = "-t") -> Tokenizer:
    """Load the tokenizer at a path, or with a name; removes the options of `described_options`.

    A path may end with the encoding of its file, as in `cl100k_base.tiktoken:cl100k_base`. It
    overrides the option, so that each of several files can name its own. `option` is the one that
    gave the path, for errors.
    """
    import digram

    given = path
    path, own = with_encoding(path)
    cut = [options.pop(key) for key in ("pretokenizer", "regex", "digits", "normalizer")]
    keywords: dict[str, Any] = {"download": options.pop("download")}
    pretokenizer = _pretokenizers.pretokenizer_from(*cut)
    if pretokenizer is not None:
        keywords["pretokenizer"] = pretokenizer
    encoding = options.pop("encoding")
    if own is not None or encoding is not None:
        keywords["encoding"] = own or encoding
    try:
        return digram.load(path, **keywords)
    except FileNotFoundError as error:
        if error.filename == path:
            error.filename = f"{option} {given}"
        raise


def load_any(path: str, described: dict[str, Any], option: str = "-t") -> Tokenizer:
    """Load a tokenizer; `described` applies only if the file does not describe itself."""
    download = described.pop("download")
    if any(described.values()):
        from digram.names import describes_itself

        if describes_itself(with_encoding(path)[0], download=download):
            described = dict.fromkeys(described)
    return load(path, described | {"download": download}, option)


def short_name(path: str) -> str:
    """What a tokenizer is called in a title: its file without the suffix, or the last part.

    >>> short_name("here/cl100k_base.tiktoken:cl100k_base"), short_name("Qwen/Qwen2.5-7B")
    ('cl100k_base', 'Qwen2.5-7B')
    """
    import os

    from digram.names.spelling import SUFFIXES

    name = os.path.basename(os.path.normpath(with_encoding(path)[0]))
    stem, suffix = os.path.splitext(name)
    return stem if suffix.lower() in SUFFIXES or os.path.isfile(path) else name


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
