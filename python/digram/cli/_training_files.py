"""`digram encode -o FOLDER`: encode files into training files, and decode these."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _inputs, _options, _printing, _reading, _saving
from digram.cli._choices import OneOf, OptionWithNames, shard_formats
from digram.errors import several

if TYPE_CHECKING:
    from digram.shards import TokenFiles
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["asked", "numbers", "options", "texts", "write"]

_PART = 1 << 16  # ids decoded at a time if documents are not separated

options = _options.together(
    click.option("-o", "--output", metavar="FOLDER", help="Write training files to this folder."),
    click.option(
        "--format",
        "format_",
        type=OneOf(shard_formats),
        metavar="NAME",
        cls=OptionWithNames,
        names=shard_formats,
        help="Format of the training files: {names}.",
    ),
    click.option(
        "--end-of-text",
        metavar="TOKEN",
        help="The special token after each document, or none.  [default: that of the tokenizer, if "
        "it has a known name]",
    ),
    click.option(
        "--dtype",
        metavar="TYPE",
        help="Type of the ids: uint16, uint32, ...  [default: the smallest that fits]",
    ),
    click.option(
        "--shard-tokens",
        type=_options.NUMBER,
        metavar="N",
        help="End a shard with the document that reaches N tokens.  [default: 100000000]",
    ),
    click.option(
        "--shard-size", metavar="SIZE", help='The same as a size of the ids, such as "1 GB".'
    ),
    click.option("--resume", is_flag=True, help="Resume the interrupted run in the folder."),
    click.option(
        "-q", "--quiet", is_flag=True, help="With -o: show no progress bar and no summary."
    ),
    click.option("--json", "as_json", is_flag=True, help="With -o: print a summary as JSON."),
)
"""What describes training files; all of it needs -o."""


def asked(options: dict[str, Any]) -> bool:
    """Whether -o is given; a usage error if it is not but an option needs it."""
    if options["output"] is not None:
        return True
    context = click.get_current_context()
    spelled = {one.name: max(one.opts, key=len) for one in context.command.params}
    for name, value in options.items():
        if (
            value is not None and value is not False
        ):  # not `in`, since 0 is a value and equals False
            raise click.UsageError(f"{spelled[name]} needs -o FOLDER.")
    return False


def write(
    tok: Tokenizer,
    files: tuple[str, ...],
    read_options: _reading.ReadOptions,
    *,
    output: str,
    format_: str | None,
    end_of_text: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Encode files into a folder, and report what was written."""
    import digram

    _saving.refuse_stdout("-o", output)
    if format_ is None:
        raise click.UsageError(
            f"give the format of the files with --format: {', '.join(shard_formats())}."
        )
    end: Any = ... if end_of_text is None else None if end_of_text == "none" else end_of_text
    source, _ = _inputs.texts_in(files, read_options)
    started = time.perf_counter()
    token_files = digram.encode_files(
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
        _printing.log(_summary(token_files, output, seconds))
    if as_json:
        facts = {
            "path": output,
            "format": token_files.format,
            "dtype": token_files.dtype.name,
            "documents": token_files.documents,
            "tokens": token_files.tokens,
            "skipped": token_files.skipped,
            "shards": len(token_files.paths),
            "seconds": round(seconds, 3),
        }
        _printing.emit_json(facts)


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
        raise click.BadParameter(f"{value!r} ends before it starts.")
    return slice(first, stop)


def texts(
    tok: Tokenizer, path: str, chosen: slice | None, lines: bool, skip: bool
) -> Iterator[bytes]:
    """The texts of training files: one per document, or arbitrary parts if `lines` is false."""
    from digram.shards import read_tokens

    decoded = partial(tok.decode_bytes, skip_special_tokens=skip)
    token_files = read_tokens(path)
    _check_tokenizer(token_files, tok, path)
    if chosen is not None:
        for number in _numbers(token_files, chosen, path):
            yield decoded(token_files[number])
    elif lines or tok.decoding is not None:  # steps may need all ids of a document at once
        yield from map(decoded, token_files)
    else:  # not every file stores the ends of documents, and they are not needed here
        for number in range(len(token_files.paths)):
            ids = token_files.shard(number)
            for start in range(0, len(ids), _PART):
                yield decoded(ids[start : start + _PART])


def _check_tokenizer(token_files: TokenFiles, tok: Tokenizer, path: str) -> None:
    """Raise if the ids are of another tokenizer: they would decode to wrong text unnoticed."""
    from digram.errors import ConfigMismatchError

    if token_files.tokenizer not in (None, tok.digest):
        raise ConfigMismatchError(
            f"these ids are of the tokenizer with digest {str(token_files.tokenizer)[:16]}, but "
            f"the digest of this one is {tok.digest[:16]}.",
            path=path,
            hint="Pass the tokenizer that encoded them; digram inspect shows the digest of each.",
        )


def _numbers(token_files: TokenFiles, chosen: slice, path: str) -> range:
    """The numbers of the requested documents; the first must exist."""
    from digram.errors import OptionError

    count = len(token_files)
    if chosen.start >= count and (chosen.start or chosen.stop is not None):
        there = f"they are 0 to {count - 1:,}" if count else "there are none"
        raise OptionError(
            f"there is no document {chosen.start:,}: {there}.", path=path, value=chosen.start
        )
    return range(count)[chosen]


def _summary(token_files: TokenFiles, output: str, seconds: float) -> str:
    return (
        f"Wrote {several(token_files.tokens, 'token')} of "
        f"{several(token_files.documents, 'document')}, in "
        f"{several(len(token_files.paths), 'shard')}, in {seconds:.1f} s.\nSaved {output}"
    )
