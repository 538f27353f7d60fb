"""`digram encode -o FOLDER`: files in, training files out; and the way back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from digram.cli import common, corpus
from digram.cli.names import Naming, OneOf, shard_formats

if TYPE_CHECKING:
    from digram.shards import TokenFiles
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["asked", "numbers", "options", "texts", "write"]

_PART = 1 << 16  # ids that are decoded at once, where documents play no part
_Verb = TypeVar("_Verb", bound=Callable[..., Any])

_OPTIONS = (
    click.option("-o", "--output", metavar="FOLDER", help="Write files that trainers read there."),
    click.option(
        "--format",
        "format_",
        type=OneOf(shard_formats),
        metavar="NAME",
        cls=Naming,
        names=shard_formats,
        help="Their format: {names}.",
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
        type=common.NUMBER,
        metavar="N",
        help="A shard ends with the document that reaches this many tokens.  [default: 100000000]",
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
        if value is not None and value is not False:  # 0 is a value, and equal to False
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
    import digram

    common.check_folder("-o", output)
    if format_ is None:
        raise click.UsageError(f"say which files with --format: {', '.join(shard_formats())}.")
    end: Any = ... if end_of_text is None else None if end_of_text == "none" else end_of_text
    source, _ = corpus.texts_in(files, told)
    started = time.perf_counter()
    found = digram.encode_files(
        tok,
        source,
        output,
        format=format_,
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
            "skipped": found.skipped,
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
    first, stop = int(match[1] or 0), int(match[2]) if match[2] else None
    if stop is not None and stop <= first:
        raise click.BadParameter(f"{value!r} ends before it begins.")
    return slice(first, stop)


def texts(
    tok: Tokenizer, path: str, chosen: slice | None, lines: bool, skip: bool
) -> Iterator[bytes]:
    """What training files say: a text a document, or any parts where nothing goes between them."""
    from digram.shards import read_tokens

    decoded = partial(tok.decode_bytes, skip_special_tokens=skip)
    found = read_tokens(path)
    _check_whose(found, tok, path)
    if chosen is not None:
        for number in _numbers(found, chosen, path):
            yield decoded(found[number])
    elif lines:
        yield from map(decoded, found)
    else:  # where documents end is of no matter, and not every file tells
        for number in range(len(found.paths)):
            ids = found.shard(number)
            for start in range(0, len(ids), _PART):
                yield decoded(ids[start : start + _PART])


def _check_whose(found: TokenFiles, tok: Tokenizer, path: str) -> None:
    """Refuses ids of another tokenizer: they would be other text, and nobody would notice."""
    from digram.errors import ConfigMismatchError

    if found.tokenizer not in (None, tok.digest):
        raise ConfigMismatchError(
            f"these ids are of the tokenizer with digest {str(found.tokenizer)[:16]}, and this one "
            f"has {tok.digest[:16]}.",
            path=path,
            hint="Give the one that encoded them; digram inspect shows the digest of each.",
        )


def _numbers(found: TokenFiles, chosen: slice, path: str) -> range:
    """The numbers of the documents that are asked for, of which the first must be there."""
    from digram.errors import OptionError

    count = len(found)
    if chosen.start >= count and (chosen.start or chosen.stop is not None):
        there = f"they are 0 to {count - 1:,}" if count else "there are none"
        raise OptionError(
            f"there is no document {chosen.start:,}: {there}.", path=path, value=chosen.start
        )
    return range(count)[chosen]


def _summary(found: TokenFiles, output: str, seconds: float) -> str:
    return (
        f"Wrote {common.several(found.tokens, 'token')} of "
        f"{common.several(found.documents, 'document')}, in "
        f"{common.several(len(found.paths), 'shard')}, in {seconds:.1f} s.\nSaved {output}"
    )
