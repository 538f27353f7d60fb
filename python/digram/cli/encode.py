"""`digram encode` and `digram decode`: text to ids and back, in streams or in files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from digram.cli import common, training_files

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["decode", "encode"]

_BLOCK = 1 << 16  # bytes read, or ids written, at once
_LONGEST_ID = 20  # digits; far beyond any id, and short enough to keep in a message
_WIDTHS = {"u16": 2, "u32": 4}

_input = click.argument("file", default="-", metavar="[FILE]")
_raw = click.option(
    "--raw", type=click.Choice(list(_WIDTHS)), help="Ids as little-endian integers, no separators."
)


@click.command(
    options_metavar="-t PATH [OPTIONS]",
    epilog=common.example(
        "digram encode -t tokenizer.json < book.txt > book.ids",
        "digram encode -t tokenizer.json corpus/ -o shards --format megatron",
    ),
)
@click.argument("files", nargs=-1, metavar="[FILES]...")
@common.with_tokenizer
@click.option("--lines", is_flag=True, help="One line of ids for each line of text.")
@_raw
@common.source_options
@common.special_option
@click.option("--threads", type=int, metavar="N", help="Default: one for each core.")
@training_files.options
def encode(
    *,
    tok: Tokenizer,
    files: tuple[str, ...],
    lines: bool,
    raw: str | None,
    special: Any,
    threads: int | None,
    told: common.Told,
    **options: Any,
) -> None:
    """Turn text into ids: on stdout, or in files that trainers read.

    To stdout, the text of one file or of stdin becomes one line of ids with spaces between them; it
    is held in memory. With --lines each line is a text of its own, without its line feed, and
    memory stays small. So are the records of JSON lines and tables, and documents between
    separators: a line of ids each. `digram decode` with the same options gives the bytes back; with
    --lines, the last line ends in a line feed even if it did not before.

    With -o, FILES are files, folders (all below them but hidden ones) and quoted patterns, where **
    crosses folders; - is stdin. Each file is a document unless it holds several. The folder gets
    shards of documents, each followed by the end-of-text token, and a manifest of what was made of
    what; memory stays small. After a kill, the same command with --resume goes on.
    """
    if training_files.asked(options):
        if lines or raw:
            flag = "--lines" if lines else "--raw"
            raise click.UsageError(f"{flag} is for ids on stdout; leave it out beside -o.")
        given = files or ("-",)
        training_files.write(tok, given, told, special=special, threads=threads, **options)
        return
    if len(files) > 1:
        raise click.UsageError(f"ids of {len(files)} files go to a folder: give -o and --format.")
    file = files[0] if files else "-"
    documents = _holds_documents(file, told)
    if raw and (lines or documents):
        cause = "leave out --lines" if lines else "documents need them"
        raise click.UsageError(f"--raw has no place for line ends; {cause}.")
    if lines and documents:
        raise click.UsageError("each document is a line of ids already; leave out --lines.")
    if raw == "u16" and tok.vocab_size > 1 << 16:
        raise click.UsageError(
            f"--raw u16 holds ids below 65,536, and this vocabulary has {tok.vocab_size:,}; "
            "use --raw u32."
        )
    if documents:
        _encode_documents(tok, file, told, special, threads)
        return
    with common.open_input(file, told.format) as text:
        if lines:
            _encode_lines(tok, text, special, threads)
            return
        flat = tok.encode_batch([text.read()], special=special, threads=threads, out="numpy").ids
    if raw:
        common.emit_bytes(flat.astype(f"<u{_WIDTHS[raw]}").tobytes())
        return
    for start in range(0, len(flat), _BLOCK):
        ids = " ".join(map(str, flat[start : start + _BLOCK].tolist()))
        common.emit((" " if start else "") + ids)
    common.emit("\n")


def _holds_documents(file: str, told: common.Told) -> bool:
    """Whether the input holds several texts, other than its lines."""
    if told.separator is not None:
        return True
    from digram.corpus import check_format

    if file == "-":
        return told.format is not None and check_format(told.format).form != "text"
    found = common.files(file, told=told)
    return found.kind(common.one_of(found, file)).form != "text"


def _encode_documents(
    tok: Tokenizer, file: str, told: common.Told, special: Any, threads: int | None
) -> None:
    from digram._util.progress import progress
    from digram.cli.corpus import texts_in
    from digram.corpus import Corpus

    source, _ = texts_in((file,), told)
    corpus = Corpus.of(source)
    done = 0
    with (
        progress("Encoding", corpus.size) as advance,
        contextlib.closing(corpus.batches()) as reading,
    ):
        for batch in reading:
            for ids in tok.encode_batch(batch, special=special, threads=threads):
                common.emit(" ".join(map(str, ids)) + "\n")
            advance(reading.done - done)
            done = reading.done


def _encode_lines(tok: Tokenizer, text: BufferedReader, special: Any, threads: int | None) -> None:
    from digram._util.progress import progress
    from digram.corpus import batches

    with progress("Encoding") as advance:
        for batch in batches(line.removesuffix(b"\n") for line in text):
            for ids in tok.encode_batch(batch, special=special, threads=threads):
                common.emit(" ".join(map(str, ids)) + "\n")
            advance(sum(map(len, batch)) + len(batch))


@click.command(
    options_metavar="-t PATH [OPTIONS]",
    epilog=common.example(
        "digram decode -t tokenizer.json < book.ids",
        "digram decode -t tokenizer.json shards --documents 0:3",
    ),
)
@_input
@common.with_tokenizer
@click.option("--lines", is_flag=True, help="One line of text for each line of ids.")
@click.option("--skip-special-tokens", is_flag=True, help="Leave special tokens out of the text.")
@_raw
@click.option(
    "--documents",
    metavar="M:N",
    callback=training_files.numbers,
    help="Of a folder or file of digram encode -o: the documents from M (0 is the first) to before "
    "N; one number is that document.",
)
def decode(
    *,
    tok: Tokenizer,
    file: str,
    lines: bool,
    skip_special_tokens: bool,
    raw: str | None,
    documents: slice | None,
) -> None:
    """Turn ids from FILE or stdin into text on stdout.

    Ids are decimal, with white space between them, unless --raw says otherwise. The bytes are
    exact: nothing is replaced where they are no UTF-8. Memory stays small for any length. A folder
    that digram encode -o wrote is read as such; of its files, --documents says that they are meant.
    """
    if documents is not None or Path(file).is_dir():
        if raw:
            raise click.UsageError("--raw is for ids without a format; leave it out here.")
        for text in training_files.texts(tok, file, documents, lines, skip_special_tokens):
            common.emit_bytes(text + b"\n" if lines else text)
        return
    if lines and raw:
        raise click.UsageError("--raw has no place for line ends; leave out --lines.")
    done = 0
    with common.open_bytes(file) as stream:
        if raw:
            chunks = _raw_ids(stream, _WIDTHS[raw])
        else:
            chunks = _decimal_ids(stream if lines else _blocks(stream))
        for ids in chunks:
            text = _decoded(tok, ids, done, skip_special_tokens)
            common.emit_bytes(text + b"\n" if lines else text, flush=True)
            done += len(ids)


def _decoded(tok: Tokenizer, ids: list[int], before: int, skip: bool) -> bytes:
    from digram.errors import TokenIdError

    try:
        return tok.decode_bytes(ids, skip_special_tokens=skip)
    except TokenIdError as error:
        if error.index is None or not before:
            raise
        index = before + error.index  # counted in the whole input, not in this chunk
        raise TokenIdError(
            f"ids[{index}] = {error.value} is not in this vocabulary (0..{tok.vocab_size - 1}).",
            index=index,
            value=error.value,
        ) from None


def _blocks(stream: BufferedReader) -> Iterator[bytes]:
    """Blocks that end where an id ends."""
    rest = b""
    while block := stream.read1(_BLOCK):  # what is there now: a pipe is not made to wait
        block = rest + block
        rest = b"" if block[-1:].isspace() else block.rsplit(None, 1)[-1]
        if len(rest) > _BLOCK:  # no id is that long; let it be refused before memory runs out
            rest = b""
        yield block[: len(block) - len(rest)]
    yield rest


def _decimal_ids(blocks: Iterable[bytes]) -> Iterator[list[int]]:
    from digram.errors import TokenIdError

    done = 0
    for block in blocks:
        words = block.split()
        for index, word in enumerate(words):
            if not word.isdigit() or len(word) > _LONGEST_ID:
                shown = word[:_LONGEST_ID].decode("ascii", "backslashreplace")
                raise TokenIdError(
                    f"ids[{done + index}] is {shown!r}, which is not an id.",
                    index=done + index,
                    value=shown,
                    hint="Ids are decimal numbers with white space between them; for binary input "
                    "use --raw.",
                )
        yield list(map(int, words))
        done += len(words)


def _raw_ids(stream: BufferedReader, width: int) -> Iterator[list[int]]:
    import numpy as np

    from digram.errors import CorruptFileError

    offset = 0
    rest = b""
    while block := stream.read1(_BLOCK):
        block = rest + block
        whole = len(block) - len(block) % width
        rest = block[whole:]
        offset += whole
        yield np.frombuffer(block[:whole], f"<u{width}").tolist()
    if rest:
        raise CorruptFileError(
            f"the input ends at byte {offset + len(rest)}, within an id of {width} bytes.",
            offset=offset,
            hint="It is truncated, or was written with another width.",
        )
