"""From whatever is a source to texts: whole, in parts, and in batches that are read ahead."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

from digram._util.validation import is_frame
from digram.corpus.file_source import Files, Stream, Streams, files, with_separator
from digram.corpus.prefetch import Ahead
from digram.corpus.reader import Pass, Reading
from digram.corpus.separators import cut_texts, separator_bytes
from digram.corpus.tables import Table, is_table
from digram.corpus.text import LastBorder, Text, Unread, in_parts, kind_name
from digram.errors import InvalidTextError

__all__ = [
    "Source",
    "batches",
    "documents",
    "file_stamps",
    "in_batches",
    "parts",
    "separator_of",
    "settled",
    "total_bytes",
]

Source: TypeAlias = (
    Text | os.PathLike[str] | Files | Table | Iterable[Text] | Iterable[os.PathLike[str]]
)

Some = TypeVar("Some")

AHEAD = 4 << 20
"""Bytes of a batch that is read ahead; there are three of them at most. Counting is as fast with
batches of 4 MiB as with larger ones."""
PER_TEXT = 64  # bytes that a Python object takes beside its text, so that tiny texts count too


def documents(source: Source, separator: str | bytes | None = None) -> Reading[Text]:
    r"""The texts of a source, in order, read as they are asked for.

    >>> list(documents("one text"))
    ['one text']
    >>> list(documents(["one", b"two"]))
    ['one', b'two']
    >>> list(documents("first\n\n\n\nsecond\n", separator="\n\n"))
    ['first', 'second\n']

    A `str` or `bytes` is one text; a `Path` (file or folder), a list of them or `files(...)` are
    files, read as `files` says; `table(...)` is a column of a table; any other iterable gives
    texts. Text files are read as bytes, so that nothing is lost. A `separator` cuts every text and
    file into documents at each occurrence, from the left; the separator itself and empty documents
    are dropped. Without one, texts stay as they are given. The documents never join.

    Raises TypeError for an item that is neither text nor path, or that mixes the two, with its
    index; OSError and `OptionError` as `files`, before the first text; `OptionError` for an empty
    separator, or one other than that of `files(..., separator=...)`. Holds one text at a time;
    with a separator, one document and a block of its file.
    """
    seen = Pass()
    found = _texts(_found(source, separator), seen)
    whole = (text.whole() if isinstance(text, Unread) else text for text in found)
    return Reading(whole, seen)


def settled(source: Some, separator: str | bytes | None) -> Some | Files:
    r"""The same source, as `Files` with their separator where it names files; else as it is.

    >>> path = getfixture("tmp_path") / "a.txt"
    >>> _ = path.write_text("one\n\ntwo")
    >>> settled(path, "\n\n") == settled([path], "\n\n") == files(path, separator="\n\n")
    True
    >>> settled(["some", "texts"], "\n\n")
    ['some', 'texts']

    Folders and patterns are looked at here and never again: whoever asks the result for sizes, for
    stamps and for texts is told of the same files. An iterator stays one, also of paths. Raises as
    `documents` does before the first text.
    """
    cut = separator_bytes(separator)
    if isinstance(source, Files | Stream):
        return with_separator(source, cut)
    if isinstance(source, Streams):
        return replace(source, sources=tuple(with_separator(one, cut) for one in source.sources))
    if isinstance(source, os.PathLike):
        return with_separator(files(source), cut)
    if (
        isinstance(source, list | tuple)
        and source
        and all(isinstance(item, os.PathLike) for item in source)
    ):
        return with_separator(files(*source), cut)
    return source


def separator_of(source: Source, separator: str | bytes | None) -> bytes | None:
    """The separator that cuts a settled source."""
    if isinstance(source, Streams):  # a command line has one for all
        return source.sources[0].separator
    return source.separator if isinstance(source, Files | Stream) else separator_bytes(separator)


def parts(
    source: Source,
    separator: str | bytes | None,
    last_border: LastBorder,
    most: int | None = None,
) -> Reading[Text]:
    """The same texts, but those of text files in parts: a file need not fit into memory.

    >>> path = getfixture("tmp_path") / "a.txt"
    >>> _ = path.write_bytes(b"one two " * (1 << 17))
    >>> found = list(parts(path, None, lambda text, start: text.rfind(b" ")))
    >>> [type(part).__name__ for part in found], b"".join(found) == path.read_bytes()
    (['bytes', 'Further'], True)

    All parts but the first of a document are `Further`. A file is cut where `last_border` says of
    what was read of it so far; `OptionError` where more than `most` bytes cannot be cut, or where
    a line of JSON is longer.
    """
    seen = Pass()
    return Reading(_parts(_found(source, separator), seen, last_border, most), seen)


def in_batches(
    source: Source,
    separator: str | bytes | None = None,
    last_border: LastBorder | None = None,
    most: int | None = None,
) -> Reading[list[Text]]:
    """The texts in batches; those of files are read ahead by a thread.

    >>> list(in_batches(["one", "two"]))
    [['one', 'two']]

    With `last_border` they come in `parts`. Texts that a caller's own iterator gives are taken from
    it in the caller's thread, and so are those of stdin. Close the pass when it is given up.
    Memory: three batches of 4 MiB, or one of 8 MiB without a thread, and the longest text.
    """
    seen = Pass()
    found = _found(source, separator)
    texts: Iterator[Text]
    if last_border is None:
        read = _texts(found, seen)
        texts = (text.whole() if isinstance(text, Unread) else text for text in read)
    else:
        texts = _parts(found, seen, last_border, most)
    if isinstance(found, Files):
        return Reading(Ahead(batches(texts, AHEAD), seen.end), seen)
    return Reading(batches(texts), seen)


def batches(texts: Iterable[Text], size: int = 8 << 20) -> Iterator[list[Text]]:
    """Lists of texts of about `size` bytes each, so that one call of the core takes many texts.

    >>> list(batches(["a" * 100, "b" * 100, "c" * 1000, "d"], size=300))
    [['aaa...', 'bbb...'], ['ccc...'], ['d']]

    A list ends with the text that reaches the size (a `str` counts its characters, and every text
    its 64 bytes of overhead), so it is never empty and holds a longer text alone or last.
    """
    batch: list[Text] = []
    held = 0
    for text in texts:
        batch.append(text)
        held += len(text) + PER_TEXT
        if held >= size:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def file_stamps(source: Source) -> list[list[int]] | None:
    """The sizes of `Files`, in bytes, and when each was changed; None for another source.

    >>> file_stamps("a text") is None
    True
    """
    if not isinstance(source, Files):
        return None
    found = [path.stat() for path in source.paths]
    return [[one.st_size for one in found], [one.st_mtime_ns for one in found]]


def total_bytes(source: Source) -> int | None:
    """About how many bytes a settled source holds, for a progress bar.

    >>> total_bytes("naïve")
    5
    >>> total_bytes(iter(["a", "b"])) is None
    True

    None for an iterator or a table. A `str` counts its characters, files what they take on the
    disk (see `Reading.done`). Reads no file, only the sizes.
    """
    if isinstance(source, str | bytes):
        return len(source)
    if isinstance(source, Files):
        return source.size
    if isinstance(source, list | tuple):
        return sum(len(item) for item in source if isinstance(item, str | bytes))
    return None


_Found: TypeAlias = "Files | Streams | Table | Iterator[Text | Unread]"


def _found(source: Source | Streams, separator: str | bytes | None) -> _Found:
    """The texts, or what holds them."""
    source, cut = settled(source, separator), separator_bytes(separator)
    if isinstance(source, Files | Streams):
        return source
    if isinstance(source, str | bytes):
        return cut_texts([source] if cut is None else _characters([source], "source"), cut)
    if isinstance(source, Table):
        return source if cut is None else replace(source, separator=cut)
    if isinstance(source, Mapping) or not isinstance(source, Iterable) or is_frame(source):
        hint = _OF_A_TABLE if is_table(source) or is_frame(source) else ""
        raise TypeError(
            f"a source is a text, a Path, digram.files(...), digram.table(...), or an iterable of "
            f"texts or Paths, not {kind_name(source)}{hint}."
        )
    items = iter(source)
    start: list[Any] = list(itertools.islice(items, 1))
    items = itertools.chain(start, items)
    if start and isinstance(start[0], os.PathLike):
        paths = list(_checked(source, items, (os.PathLike,), "a Path, as the first item is"))
        return with_separator(files(*paths), cut)
    texts = _checked(source, items, (str, bytes), "str or bytes")
    return texts if cut is None else cut_texts(_characters(texts), cut)


def _characters(texts: Iterable[Text], name: str | None = None) -> Iterator[Text]:
    """The same texts, before they are cut: after it nobody knows which one a document was part of.

    So a lone surrogate, which the core refuses with the number of the document, is refused here.
    """
    for number, text in enumerate(texts):
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise InvalidTextError(
                    f"{name or f'source[{number}]'} has a lone surrogate "
                    f"(U+{ord(text[error.start]):04X}) at index {error.start}, which is no "
                    "character.",
                    index=error.start,
                    hint='Decode the source with errors="replace", or pass its bytes.',
                ) from None
        yield text


_OF_A_TABLE = '; of a table name the column, as in digram.table(data, "text")'


def _checked(
    source: object, items: Iterable[Any], kinds: tuple[type, ...], expected: str
) -> Iterator[Any]:
    for index, item in enumerate(items):
        if not isinstance(item, kinds):
            hint = _OF_A_TABLE if is_table(source) else ""
            raise TypeError(f"source[{index}] is {kind_name(item)}, expected {expected}{hint}.")
        yield item


def _texts(found: _Found, seen: Pass, most: int | None = None) -> Iterator[Text | Unread]:
    """The texts, in a pass of which `seen` keeps what becomes of it."""
    if isinstance(found, Files | Streams):
        return found.texts(seen, most)
    return found.texts(seen) if isinstance(found, Table) else found


def _parts(found: _Found, seen: Pass, last_border: LastBorder, most: int | None) -> Iterator[Text]:
    for text in _texts(found, seen, most):
        if isinstance(text, Unread):
            yield from in_parts(text, last_border, most)
        else:
            yield text
