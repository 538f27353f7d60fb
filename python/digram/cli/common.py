"""What the verbs share: their options, the tokenizer, stdin and stdout, JSON and tables."""

from __future__ import annotations

import contextlib
import errno
import functools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

if TYPE_CHECKING:
    from digram.pretokenizers import Digits, Pretokenizer
    from digram.tokenizer import Tokenizer

__all__ = [
    "FORMATS",
    "allow_loss_option",
    "emit",
    "emit_bytes",
    "emit_json",
    "example",
    "heading",
    "json_option",
    "log",
    "open_input",
    "pretokenizer_from",
    "pretokenizer_options",
    "save",
    "several",
    "special_option",
    "stdin",
    "unescaped",
    "with_tokenizer",
]

FORMATS = {
    "huggingface": "tokenizer.json, as transformers, vLLM and tokenizers read it",
    "tiktoken": "one .tiktoken file; carries no pattern, no special tokens",
    "vocab_merges": "a folder: vocab.json and merges.txt; carries no pattern",
    "seed_pair": "a folder: vocabulary.json and merges.json; no pretokenizer",
}
_DIGITS = ("individual", "threes_from_left", "threes_from_right")
_Verb = TypeVar("_Verb", bound=Callable[..., Any])

allow_loss_option = click.option(
    "--allow-loss", is_flag=True, help="Leave out what the format cannot carry."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
special_option = click.option(
    "--special",
    type=click.Choice(["text", "parse", "raise"]),
    default="text",
    show_default=True,
    help="What the text of a special token in the input becomes: plain text, that token, or an "
    "error.",
)


def example(*commands: str) -> str:
    """The end of a help page: how one calls it."""
    return "\n".join(["\b", "Example:", *(f"  {command}" for command in commands)])


def with_tokenizer(verb: _Verb) -> _Verb:
    """Give a verb the options that name a tokenizer, and the tokenizer itself as `tok`."""

    @functools.wraps(verb)
    def loading(
        *args: Any, tokenizer: str, pretokenizer: str | None, encoding: str | None, **rest: Any
    ) -> Any:
        return verb(*args, tok=_load(tokenizer, pretokenizer, encoding), **rest)

    for option in (
        click.option(
            "--encoding",
            metavar="NAME",
            help="A published encoding (r50k_base, cl100k_base, o200k_base) whose pattern and "
            "special tokens belong to a .tiktoken file.",
        ),
        click.option(
            "--pretokenizer",
            metavar="NAME",
            help="The pretokenizer of a file that does not carry its own (a .tiktoken file, "
            "vocab.json with merges.txt): a name, or none.",
        ),
        click.option(
            "-t", "--tokenizer", metavar="PATH", required=True, help="A tokenizer's file or folder."
        ),
    ):
        option(loading)
    return loading  # type: ignore[return-value]


def _load(path: str, pretokenizer: str | None, encoding: str | None) -> Tokenizer:
    from pathlib import Path

    import digram

    options: dict[str, Any] = {}
    if pretokenizer is not None:
        options["pretokenizer"] = None if pretokenizer == "none" else pretokenizer
    if encoding is not None:
        options["encoding"] = encoding
    return digram.load(Path(path), **options)


def pretokenizer_options(verb: _Verb) -> _Verb:
    """The options that spell a pretokenizer out; `pretokenizer_from` reads them."""
    for option in (
        click.option(
            "--digits",
            type=click.Choice(_DIGITS),
            help="Cut runs of digits first: one by one, or in groups of three.",
        ),
        click.option(
            "--regex",
            multiple=True,
            metavar="PATTERN",
            help="A pattern of your own in place of a named pretokenizer; repeat it for several "
            "splits, one after the other.",
        ),
    ):
        option(verb)
    return verb


def pretokenizer_from(
    name: str | None, regex: Sequence[str], digits: Digits | None
) -> Pretokenizer | None:
    """The pretokenizer that the three options spell; None when none of them is given."""
    from digram.pretokenizers import Pretokenizer, Regex

    if regex and name is not None:
        raise click.UsageError("--regex takes the place of --pretokenizer; give one of them.")
    if regex:
        return Pretokenizer([Regex(pattern) for pattern in regex], digits=digits)
    if name is None and digits is not None:
        raise click.UsageError("--digits needs --pretokenizer or --regex beside it.")
    return None if name is None else Pretokenizer(None if name == "none" else name, digits=digits)


def save(tok: Tokenizer, output: str, format_: str | None, allow_loss: bool) -> None:
    """Save to a path, or to stdout where `output` is `-`."""
    from pathlib import Path

    if output != "-":
        tok.save(Path(output), format=format_, allow_loss=allow_loss)
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "tokenizer.json"
        tok.save(saved, format=format_, allow_loss=allow_loss)
        if saved.is_dir():
            raise click.UsageError("this format is a folder of files and cannot go to stdout.")
        emit_bytes(saved.read_bytes())


def unescaped(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    r"""A click callback: `\n`, `\r`, `\t`, `\0`, `\x1e` and `\\` as in Python; else as is."""
    if value is None:
        return None
    named = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\"}
    return re.sub(
        r"\\([nrt0\\]|x[0-7][0-9a-fA-F])",
        lambda match: named.get(match[1]) or chr(int(match[1][1:], 16)),
        value,
    )


def stdin() -> BufferedReader:
    """Bytes from stdin."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "stdin is closed")
    return cast(BufferedReader, sys.stdin.buffer)


def emit_bytes(data: bytes, *, flush: bool = False) -> None:
    """Write all of `data` to stdout."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "stdout is closed")
    rest = memoryview(data)
    while rest:  # unbuffered (PYTHONUNBUFFERED), a write may take a part only
        rest = rest[sys.stdout.buffer.write(rest) :]
    if flush:
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def open_input(path: str) -> Iterator[BufferedReader]:
    """A regular file to read, or stdin where `path` is `-`."""
    if path == "-":
        yield stdin()
        return
    from digram.sources import files

    found = files(path).paths
    if len(found) != 1:
        raise click.UsageError(f"{path!r} names {len(found)} files; this verb reads one.")
    with found[0].open("rb") as file:
        yield file


def emit(text: str) -> None:
    """Write text to stdout as UTF-8, whatever the locale."""
    emit_bytes(text.encode("utf-8", "backslashreplace"))


def emit_json(value: Any) -> None:
    """Print a value as JSON, one line for each item of a list of objects."""
    import json

    emit(json.dumps(value, ensure_ascii=False) + "\n")


def log(message: str) -> None:
    """Tell the person at the terminal, not the program that reads stdout."""
    click.echo(message, err=True)


def several(number: int, noun: str) -> str:
    """A number with its noun: `1 merge`, `2,000 merges`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def heading(text: str) -> str:
    """A heading for stdout: bold where colours are welcome."""
    from digram.terminal import use_color

    return f"\x1b[1m{text}\x1b[0m" if use_color(sys.stdout) else text
