"""`digram encode` and `digram decode`: convert text to ids and back, as streams or files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from digram.cli import (
    _chats,
    _files_argument,
    _loading,
    _options,
    _printing,
    _reading,
    _texts_by_file,
    _training_files,
    _verbs,
)

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["decode", "encode"]

_BLOCK = 1 << 16  # bytes per read, or ids per write
_LONGEST_ID = 20  # digits; more than any id has, and short enough for a message
_WIDTHS = {"u16": 2, "u32": 4}

_raw = click.option(
    "--raw",
    type=click.Choice(list(_WIDTHS)),
    help="Ids are little-endian integers without separators.",
)


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram encode -t tokenizer.json < book.txt > book.ids",
        "digram encode -t tokenizer.json corpus/ -o shards --format megatron",
        "digram encode -t tokenizer.json chats.jsonl --chats --mask",
    ),
)
@_files_argument.optional
@_loading.with_tokenizer
@click.option("--lines", is_flag=True, help="Write one line of ids for each line of text.")
@_raw
@_chats.options
@click.option(
    "--mask",
    is_flag=True,
    help="With --chats, without -o: write lines of JSON with input_ids and assistant_masks, which "
    "are 1 for what the assistant says.",
)
@_reading.source_options
@_options.special_option
@_options.threads_option
@_training_files.options
def encode(
    *,
    tok: Tokenizer,
    files: tuple[str, ...],
    lines: bool,
    raw: str | None,
    chats: bool,
    chat_template: str | None,
    mask: bool,
    special: Any,
    threads: int | None,
    read_options: _reading.ReadOptions,
    **options: Any,
) -> None:
    """Turn text into ids: on stdout, or in files for training programs.

    Without -o, the text of one file or of stdin is written to stdout as one line of ids with spaces
    between them; the text is held in memory. With --lines each line is encoded by itself, without
    its line feed, in little memory. Records of JSON lines and tables, and documents between
    separators, also become a line of ids each. `digram decode` with the same options restores the
    bytes; with --lines, the last line always ends in a line feed.

    With -o, {files_in_folders} A file is one document unless it contains several. Shards of
    documents, each followed by the end-of-text token, and a manifest are written to the folder, in
    little memory. After a crash, run the same command with --resume.

    With --chats each record is a chat, encoded by the template of the tokenizer: a line of ids, or
    with -o a row of Parquet or Arrow files, whose column assistant_masks has what the assistant
    says.
    """
    read_options = _chats.checked(chats, chat_template, special, files, read_options)
    chat_template = _chats.template_of(tok, chat_template)
    if mask and not chats:
        raise click.UsageError("--mask needs --chats.")
    if _training_files.asked(options):
        if lines or raw or mask:
            flag = "--lines" if lines else "--raw" if raw else "--mask"
            raise click.UsageError(f"{flag} applies to ids on stdout; leave it out with -o.")
        given = files or ("-",)
        options["chats"] = (chat_template or True) if chats else False
        _training_files.write(tok, given, read_options, special=special, threads=threads, **options)
        return
    if len(files) > 1:
        raise click.UsageError(
            f"the ids of {len(files)} files are written to a folder: give -o and --format."
        )
    file = files[0] if files else "-"
    if chats:
        if lines or raw:
            flag = "--lines" if lines else "--raw"
            raise click.UsageError(f"each chat becomes a line of ids; leave out {flag}.")
        _encode_chats(tok, file, read_options, chat_template, mask, threads)
        return
    _encode_texts(tok, file, read_options, lines, raw, special, threads)


def _encode_texts(
    tok: Tokenizer,
    file: str,
    read_options: _reading.ReadOptions,
    lines: bool,
    raw: str | None,
    special: Any,
    threads: int | None,
) -> None:
    documents = _holds_documents(file, read_options)
    if raw and (lines or documents):
        cause = "leave out --lines" if lines else "several documents need them"
        raise click.UsageError(f"--raw cannot represent line ends; {cause}.")
    if lines and documents:
        raise click.UsageError("each document becomes a line of ids anyway; leave out --lines.")
    if raw == "u16" and tok.vocab_size > 1 << 16:
        raise click.UsageError(
            f"--raw u16 holds ids below 65,536, but this vocabulary has {tok.vocab_size:,} ids; "
            "use --raw u32."
        )
    if documents:
        _encode_documents(tok, file, read_options, special, threads)
        return
    with _reading.open_input(file, read_options.format) as text:
        if lines:
            _encode_lines(tok, text, special, threads)
            return
        flat = tok.encode_batch([text.read()], special=special, threads=threads, out="numpy").ids
    if raw:
        _printing.emit_bytes(flat.astype(f"<u{_WIDTHS[raw]}").tobytes())
        return
    for start in range(0, len(flat), _BLOCK):
        ids = " ".join(map(str, flat[start : start + _BLOCK].tolist()))
        _printing.emit((" " if start else "") + ids)
    _printing.emit("\n")


def _holds_documents(file: str, read_options: _reading.ReadOptions) -> bool:
    """Whether the input is several documents, as opposed to lines."""
    if read_options.separator is not None:
        return True
    from digram.corpus import check_format

    if file == "-":
        return read_options.format is not None and check_format(read_options.format).form != "text"
    source = _reading.text_files(file, read_options)
    return source.kind(_reading.one_of(source, file)).form != "text"


def _encode_documents(
    tok: Tokenizer, file: str, read_options: _reading.ReadOptions, special: Any, threads: int | None
) -> None:
    from digram._util.progress import progress
    from digram.cli._inputs import texts_in
    from digram.corpus import Corpus

    source, _ = texts_in((file,), read_options)
    corpus = Corpus.of(source)
    done = 0
    with (
        progress("Encoding", corpus.size) as advance,
        contextlib.closing(corpus.batches()) as reading,
    ):
        for batch in reading:
            for ids in tok.encode_batch(batch, special=special, threads=threads):
                _printing.emit(" ".join(map(str, ids)) + "\n")
            advance(reading.done - done)
            done = reading.done


def _encode_chats(
    tok: Tokenizer,
    file: str,
    read_options: _reading.ReadOptions,
    template: str | None,
    mask: bool,
    threads: int | None,
) -> None:
    from digram.corpus import batches

    for name, texts in _chats.in_lines(_texts_by_file.named([file], read_options, "Encoding")):
        done = 0
        for batch in cast("Iterator[list[bytes]]", batches(texts)):
            for chat in _chats.chats_of(tok, batch, template, name, done, threads):
                if mask:
                    row = {"input_ids": chat.ids, "assistant_masks": chat.assistant_mask}
                    _printing.emit(json.dumps(row) + "\n")
                else:
                    _printing.emit(" ".join(map(str, chat.ids)) + "\n")
            done += len(batch)


def _encode_lines(tok: Tokenizer, text: BufferedReader, special: Any, threads: int | None) -> None:
    from digram._util.progress import progress
    from digram.corpus import batches

    with progress("Encoding") as advance:
        for batch in batches(line.removesuffix(b"\n") for line in text):
            for ids in tok.encode_batch(batch, special=special, threads=threads):
                _printing.emit(" ".join(map(str, ids)) + "\n")
            advance(sum(map(len, batch)) + len(batch))


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram decode -t tokenizer.json < book.ids",
        "digram decode -t tokenizer.json shards --documents 0:3",
    ),
)
@_options.file_argument
@_loading.with_tokenizer
@click.option("--lines", is_flag=True, help="Write one line of text for each line of ids.")
@click.option("--skip-special-tokens", is_flag=True, help="Leave special tokens out of the text.")
@_raw
@click.option(
    "--documents",
    metavar="M:N",
    callback=_training_files.numbers,
    help="For a folder or file of digram encode -o: documents M (0 is the first) up to but not "
    "including N, or the one document M.",
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

    Ids are decimal, with white space between them, unless --raw is given. The bytes are exact:
    bytes that are not UTF-8 are written unchanged. Input of any length needs little memory. FILE
    can also be a folder that digram encode -o wrote, or with --documents a file in it.
    """
    if documents is not None or Path(file).is_dir():
        if raw:
            raise click.UsageError(
                "--raw is for plain ids, not for a folder or --documents; leave it out."
            )
        for text in _training_files.texts(tok, file, documents, lines, skip_special_tokens):
            _printing.emit_bytes(text + b"\n" if lines else text)
        return
    if lines and raw:
        raise click.UsageError("--raw cannot represent line ends; leave out --lines.")
    done = 0
    with _reading.open_bytes(file) as stream:
        if raw:
            chunks = _raw_ids(stream, _WIDTHS[raw])
        else:
            chunks = _decimal_ids(stream if lines else _blocks(stream))
        if tok.decoding is not None and not lines:
            chunks = iter([[id for ids in chunks for id in ids]])  # steps may need all ids at once
        for ids in chunks:
            text = _decoded(tok, ids, done, skip_special_tokens)
            _printing.emit_bytes(text + b"\n" if lines else text, flush=True)
            done += len(ids)


def _decoded(tok: Tokenizer, ids: list[int], before: int, skip: bool) -> bytes:
    from digram.errors import TokenIdError

    try:
        return tok.decode_bytes(ids, skip_special_tokens=skip)
    except TokenIdError as error:
        if error.index is None or not before:
            raise
        index = before + error.index  # counted from the start of the input, not of this chunk
        raise TokenIdError(
            f"ids[{index}] = {error.value} is not in this vocabulary (0..{tok.vocab_size - 1}).",
            index=index,
            value=error.value,
        ) from None


def _blocks(stream: BufferedReader) -> Iterator[bytes]:
    """Blocks that end at the end of an id."""
    rest = b""
    while block := stream.read1(_BLOCK):  # returns what a pipe has now, without waiting for more
        block = rest + block
        rest = b"" if block[-1:].isspace() else block.rsplit(None, 1)[-1]
        if len(rest) > _BLOCK:  # no id is this long: refuse it before memory runs out
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
                start = word[:_LONGEST_ID]
                raise TokenIdError(
                    f"ids[{done + index}] is {repr(start)[1:]}, which is not an id.",
                    index=done + index,
                    value=start.decode("ascii", "backslashreplace"),
                    hint="Ids are decimal numbers with white space between them. For a file of "
                    "digram encode -o, pass its folder; for bare ids of 16 or 32 bits, use --raw "
                    "u16 or --raw u32.",
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
            hint="It is truncated, or was written with another --raw.",
        )
