"""`digram encode -o FOLDER`: files in, training files out; and the way back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import common, corpus

if TYPE_CHECKING:
    from digram.bulk import TokenFiles
    from digram.tokenizer import Tokenizer

__all__ = ["FORMATS", "asked", "numbers", "options", "texts", "write"]

# What `digram.sinks.FORMATS` holds, for the help page; the tests hold them equal.
FORMATS = ("megatron", "nanogpt", "llmc", "datatrove", "dolma", "npy", "parquet", "arrow")
_Verb = TypeVar("_Verb", bound=Callable[..., Any])

_OPTIONS = (
    click.option("-o", "--output", metavar="FOLDER", help="Write files that trainers read there."),
    click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        metavar="NAME",
        help=f"Their format: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
    ),
    click.option(
        "--end-of-text",
        metavar="TOKEN",
        help="The special token after each document, or none. Default: the tokenizer's own, where "
        "it is known by its name.",
    ),
    click.option(
        "--dtype", metavar="TYPE", help="uint16, uint32, ...  Default: the smallest that fits."
    ),
    click.option(
        "--shard-tokens",
        type=int,
        metavar="N",
        help="A shard ends with the document that reaches so many tokens.  [default: 100000000]",
    ),
    click.option("--shard-size", metavar="SIZE", help='The same in bytes of ids, as in "1 GB".'),
    click.option("--resume", is_flag=True, help="Go on with the run that the folder holds."),
    click.option("-q", "--quiet", is_flag=True, help="No bar and no summary, with -o."),
    click.option("--json", "as_json", is_flag=True, help="Print a summary as JSON, with -o."),
)


def options(verb: _Verb) -> _Verb:
    """The options that are for files, but for -o all without effect on stdout."""
    for option in reversed(_OPTIONS):
        option(verb)
    return verb


def asked(options: dict[str, Any]) -> bool:
    """Whether ids go to a folder; a usage error for options that need one, where none is given."""
    if options["output"] is not None:
        return True
    context = click.get_current_context()
    spelled = {one.name: max(one.opts, key=len) for one in context.command.params}
    for name, value in options.items():
        if value not in (None, False):
            raise click.UsageError(f"{spelled[name]} is for files; say where with -o FOLDER.")
    return False


def write(
    tok: Tokenizer,
    files: tuple[str, ...],
    told: common.Told,
    *,
    output: str,
    format_: str | None,
    end_of_text: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Encode files into a folder, and say what was written."""
    if format_ is None:
        raise click.UsageError(f"say which files with --format: {', '.join(FORMATS)}.")
    end: Any = ... if end_of_text is None else None if end_of_text == "none" else end_of_text
    source, _ = corpus.texts_in(files, told)
    started = time.perf_counter()
    found = tok.encode_files(
        source,
        output,
        format=format_,
        separator=told.separator,
        end_of_text=end,
        progress=False if quiet else None,
        **options,
    )
    seconds = time.perf_counter() - started
    if not quiet:
        common.log(_summary(found, output, seconds))
    if as_json:
        facts = {
            "path": output,
            "format": found.format,
            "dtype": found.dtype.name,
            "documents": found.documents,
            "tokens": found.tokens,
            "shards": len(found.paths),
            "seconds": round(seconds, 3),
        }
        common.emit_json(facts)


def numbers(_ctx: click.Context, _option: click.Parameter, value: str | None) -> slice | None:
    """A click callback: `3:7`, `3:`, `:7`, or `3` alone."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d*):(\d*)|(\d+)", value, re.ASCII)
    if match is None:
        raise click.BadParameter(f"{value!r} is not of the form 0:3.")
    if match[3]:
        return slice(int(match[3]), int(match[3]) + 1)
    return slice(int(match[1] or 0), int(match[2]) if match[2] else None)


def texts(tok: Tokenizer, path: str, chosen: slice | None) -> Iterator[bytes]:
    """What documents of training files say."""
    from digram.bulk import read_tokens

    found = read_tokens(path)
    if chosen is None:
        yield from (tok.decode_bytes(ids) for ids in found)
        return
    for number in range(len(found))[chosen]:
        yield tok.decode_bytes(found[number])


def _summary(found: TokenFiles, output: str, seconds: float) -> str:
    return (
        f"Wrote {common.several(found.tokens, 'token')} of "
        f"{common.several(found.documents, 'document')}, in "
        f"{common.several(len(found.paths), 'shard')}, in {seconds:.1f} s.\nSaved {output}"
    )
