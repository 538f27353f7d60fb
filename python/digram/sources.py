"""What comes in: texts, and files that hold texts.

`documents` is the one place that turns whatever `train` accepts into texts, and `files` names
files by pattern or folder. A `str` or `bytes` is always a text, never the name of a file.
"""

from __future__ import annotations

import errno
import fnmatch
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

from digram.errors import OptionError

__all__ = [
    "Files",
    "Further",
    "Source",
    "Text",
    "Unread",
    "batches",
    "blocks",
    "documents",
    "file_stamps",
    "files",
    "parts",
    "read",
    "separator_of",
    "settled",
    "total_bytes",
    "unread",
]

Text: TypeAlias = str | bytes

BLOCK = 1 << 16  # bytes; 200 MB in lines took 0.6 s with 64 KiB, 1.2 s with 1 MiB
PART = 1 << 20  # bytes; of a file that is one document so much is read at once
_PER_TEXT = 64  # bytes that a Python object takes beside its text, so that tiny texts count too

# Files whose bytes are not their text, and how to read them oneself. A reader for a suffix takes
# its line's place; until then such a file is refused, since its raw bytes would train nonsense.
_NOT_PLAIN_TEXT = {
    ".gz": "(gzip.open(p).read() for p in paths), or `zcat FILES | digram train -`",
    ".bz2": "(bz2.open(p).read() for p in paths), or `bzcat FILES | digram train -`",
    ".xz": "(lzma.open(p).read() for p in paths), or `xzcat FILES | digram train -`",
    ".zst": "what `zstdcat FILES | digram train -` reads",
    ".zip": "(archive.read(name) for name in archive.namelist())",
    ".jsonl": '(json.loads(line)["text"] for line in open(path))',
    ".ndjson": '(json.loads(line)["text"] for line in open(path))',
    ".parquet": 'pyarrow.parquet.read_table(path)["text"].to_pylist()',
    ".arrow": 'pyarrow.feather.read_table(path)["text"].to_pylist()',
    ".feather": 'pyarrow.feather.read_table(path)["text"].to_pylist()',
}


@dataclass(frozen=True, slots=True)
class Files:
    """Files as a source of texts: made by `files`, iterated as documents.

    `paths` are in the order in which they are read. With a `separator` (bytes) each file is cut
    into documents, else a file is one document.
    """

    paths: tuple[Path, ...]
    separator: bytes | None = None

    def __iter__(self) -> Iterator[bytes]:
        for path in self.paths:
            with path.open("rb") as file:
                yield from read(file, self.separator)

    def __repr__(self) -> str:
        shown = ", ".join(repr(str(path)) for path in self.paths[:2])
        more = f", … {len(self.paths):,} in all" if len(self.paths) > 2 else ""
        cut = "" if self.separator is None else f", separator={self.separator!r}"
        return f"<digram.Files: {shown}{more}{cut}>"

    @property
    def size(self) -> int:
        """The bytes of all files together, as they are now."""
        return sum(path.stat().st_size for path in self.paths)


Kind = TypeVar("Kind")
Source: TypeAlias = Text | os.PathLike[str] | Files | Iterable[Text] | Iterable[os.PathLike[str]]


def files(
    pattern: str | os.PathLike[str],
    *more: str | os.PathLike[str],
    separator: str | bytes | None = None,
) -> Files:
    r"""The regular files that a path, a folder or a glob pattern names, sorted.

    >>> folder = getfixture("tmp_path")
    >>> for name in ("b.txt", "a.txt", "deep/c.txt", ".hidden"):
    ...     path = folder / name
    ...     path.parent.mkdir(exist_ok=True)
    ...     _ = path.write_text(f"one in {name}\n\ntwo in {name}")
    >>> [path.name for path in files(folder).paths]
    ['a.txt', 'b.txt', 'c.txt']
    >>> list(files(folder / "*.txt", separator="\n\n"))
    [b'one in a.txt', b'two in a.txt', b'one in b.txt', b'two in b.txt']

    A folder means all files below it. In a pattern `*`, `?` and `[...]` stay within a name, `**`
    stands for any number of folders. As in a shell, names that start with a dot are left out
    unless the pattern writes the dot; links to files are followed, links to folders are not below
    `**` or a folder. What exists under exactly the given name is never taken for a pattern.
    With several patterns the files come in that order, each file once.

    `separator` cuts each file into documents; see `documents`. Raises FileNotFoundError when a
    pattern matches nothing, OSError for what is not a regular file, `OptionError` for a kind of
    file that cannot be read as text yet (.gz, .zst, .jsonl, .parquet, ...). Looks at names only:
    nothing is read before the result is iterated.
    """
    found: dict[Path, None] = {}
    for one in (pattern, *more):
        found.update(dict.fromkeys(_matches(os.fspath(one))))
    for path in found:
        _check_kind(path)
    return Files(tuple(found), _separator_bytes(separator))


def documents(source: Source, separator: str | bytes | None = None) -> Iterator[Text]:
    r"""The texts of a source, in order, read as they are asked for.

    >>> list(documents("one text"))
    ['one text']
    >>> list(documents(["one", b"two"]))
    ['one', b'two']
    >>> list(documents("first\n\n\n\nsecond\n", separator="\n\n"))
    ['first', 'second\n']

    A `str` or `bytes` is one text; a `Path` (file or folder), a list of them or `files(...)` are
    files; any other iterable gives texts. Files are read as bytes, so that nothing is lost. A
    `separator` cuts every text and file into documents at each occurrence, from the left; the
    separator itself and empty documents are dropped. Without one, texts stay as they are given.
    The documents never join.

    Raises TypeError for an item that is neither text nor path, or that mixes the two, with its
    index; OSError and `OptionError` as `files`, before the first text; `OptionError` for an empty
    separator, or one other than that of `files(..., separator=...)`. Holds one text at a time;
    with a separator, one document and a block of its file.
    """
    found = _found(source, separator)
    return (b"".join(text.blocks) if isinstance(text, Unread) else text for text in found)


def settled(source: Kind, separator: str | bytes | None) -> Kind | Files:
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
    cut = _separator_bytes(separator)
    if isinstance(source, Files):
        return _with_separator(source, cut)
    if isinstance(source, os.PathLike):
        return Files(files(source).paths, cut)
    if (
        isinstance(source, list | tuple)
        and source
        and all(isinstance(item, os.PathLike) for item in source)
    ):
        return Files(files(*source).paths, cut)
    return source


def separator_of(source: Source, separator: str | bytes | None) -> bytes | None:
    """The separator that cuts a settled source."""
    return source.separator if isinstance(source, Files) else _separator_bytes(separator)


def _found(source: Source, separator: str | bytes | None) -> Files | Iterator[Text | Unread]:
    """The documents, or the files that hold them."""
    source, cut = settled(source, separator), _separator_bytes(separator)
    if isinstance(source, Files):
        return source
    if isinstance(source, str | bytes):
        return _cut_texts([source], cut)
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise TypeError(
            f"a source is a text, a Path, digram.files(...), or an iterable of texts or Paths, "
            f"not {_kind(source)}."
        )
    items = iter(source)
    start: list[Any] = list(itertools.islice(items, 1))
    items = itertools.chain(start, items)
    if start and isinstance(start[0], os.PathLike):
        paths = list(_checked(items, (os.PathLike,), "a Path, as the first item is"))
        return Files(files(*paths).paths, cut)
    texts = _checked(items, (str, bytes, Unread), "str or bytes")
    return texts if cut is None else _cut_texts(texts, cut)


class Further(bytes):
    """A part of a text that goes on where the part before it ends."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """A text that is not read yet, and what to call it; an iterator may give such for texts."""

    blocks: Iterable[bytes]
    name: str


LastBorder: TypeAlias = Callable[[bytes, int], int]
"""The last place, at or after some, where a text may be cut into parts; 0 where none is known."""


def parts(
    source: Source,
    separator: str | bytes | None,
    last_border: LastBorder,
    most: int | None = None,
) -> Iterator[Text]:
    """The same texts, but those of files in parts: a file need not fit into memory.

    >>> path = getfixture("tmp_path") / "a.txt"
    >>> _ = path.write_bytes(b"one two " * (1 << 17))
    >>> found = list(parts(path, None, lambda text, start: text.rfind(b" ")))
    >>> [type(part).__name__ for part in found], b"".join(found) == path.read_bytes()
    (['bytes', 'Further'], True)

    All parts but the first of a document are `Further`. A file is cut where `last_border` says of
    what was read of it so far; `OptionError` where more than `most` bytes cannot be cut.
    """
    found = _found(source, separator)
    if isinstance(found, Files) and found.separator is None:
        found = unread(found)
    for text in found:
        if isinstance(text, Unread):
            yield from _in_parts(text, last_border, most)
        else:
            yield text


def unread(found: Files) -> Iterator[Unread]:
    """Each file as one text; it is open until the next one is asked for."""
    for path in found.paths:
        with path.open("rb") as file:
            yield Unread(blocks(file, PART), os.fspath(path))


def blocks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """What is in a stream, in blocks of so many bytes."""
    return iter(lambda: stream.read(size), b"")


def _in_parts(text: Unread, last_border: LastBorder, most: int | None) -> Iterator[bytes]:
    held: list[bytes] = []  # what is read and in no part yet
    size = 0
    end = b""  # the last bytes of it: what is before them was searched
    kind: type[bytes] = bytes
    for block in text.blocks:
        # A place is told by the characters around it, of at most four bytes each.
        cut = last_border(end + block, 4 if size >= 8 else 0)
        held.append(block)
        if cut:
            known = b"".join(held)
            at = size - len(end) + cut
            yield kind(known[:at])
            kind, held = Further, [known[at:]]
            size = len(known) - at
            end = held[0][-8:]
            del known
        else:
            size += len(block)
            end = (end + block)[-8:]
        if most is not None and size > most:
            raise OptionError(
                f"there are {size:,} bytes without a place where one knows that the pretokenizer "
                "cuts: more than memory_limit= leaves room for.",
                path=text.name,
                value=size,
                hint="Cut the file into documents with separator=, raise the limit, or choose "
                'another pretokenizer; "gpt2" or "o200k" cut at nearly every space.',
            )
    if held or kind is bytes:
        yield kind(b"".join(held))


def read(stream: BinaryIO, separator: str | bytes | None = None) -> Iterator[bytes]:
    r"""The documents of an open binary stream.

    >>> import io
    >>> list(read(io.BytesIO(b"one--two----three"), "--"))
    [b'one', b'two', b'three']

    Without a separator the whole stream is one document; with one, memory is bounded by the
    longest document and a block of 64 KiB. Linear in the stream.
    """
    cut = _separator_bytes(separator)
    if cut is None:
        yield stream.read()
    else:
        yield from _cut_blocks(blocks(stream, BLOCK), cut)


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
        held += len(text) + _PER_TEXT
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
    """About how many bytes a settled source holds, for a progress bar; None for an iterator.

    >>> total_bytes("naïve")
    5
    >>> total_bytes(iter(["a", "b"])) is None
    True

    A `str` counts its characters. Reads no file, only the sizes.
    """
    if isinstance(source, str | bytes):
        return len(source)
    if isinstance(source, Files):
        return source.size
    if isinstance(source, list | tuple):
        return sum(len(item) for item in source if isinstance(item, str | bytes))
    return None


def _cut_texts(texts: Iterable[Text], separator: bytes | None) -> Iterator[Text]:
    if separator is None:
        yield from texts
        return
    try:
        as_str = separator.decode()
    except UnicodeDecodeError:
        as_str = None
    for text in texts:
        if isinstance(text, bytes):
            yield from filter(None, text.split(separator))
        elif as_str is not None:
            yield from filter(None, text.split(as_str))
        else:
            raise OptionError(
                f"separator={separator!r} is not UTF-8 and cannot cut a str.",
                value=separator,
                hint="Give the texts as bytes.",
            )


def _cut_blocks(blocks: Iterable[bytes], separator: bytes) -> Iterator[bytes]:
    pending = bytearray()
    for block in blocks:
        # A separator may begin in one block and end in the next. What was searched before is not
        # searched again, so a document of many blocks costs its length, not its square.
        unsearched = max(0, len(pending) - len(separator) + 1)
        pending += block
        if pending.find(separator, unsearched) >= 0:
            *whole, last = bytes(pending).split(separator)
            yield from filter(None, whole)
            pending = bytearray(last)
    if pending:
        yield bytes(pending)


def _checked(items: Iterable[Any], kinds: tuple[type, ...], expected: str) -> Iterator[Any]:
    for index, item in enumerate(items):
        if not isinstance(item, kinds):
            raise TypeError(f"source[{index}] is {_kind(item)}, expected {expected}.")
        yield item


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}"


def _separator_bytes(separator: str | bytes | None) -> bytes | None:
    if separator is None:
        return None
    if not isinstance(separator, str | bytes):
        raise TypeError(f"separator is {_kind(separator)}, expected str, bytes or None.")
    if not separator:
        raise OptionError(
            "an empty separator cuts nowhere.",
            value=separator,
            hint="Leave out separator= for whole texts.",
        )
    if isinstance(separator, bytes):
        return separator
    try:
        return separator.encode()
    except UnicodeEncodeError as error:
        raise OptionError(
            f"separator={separator!r} holds a lone surrogate.",
            value=separator,
            index=error.start,
            hint="Give it as bytes.",
        ) from None


def _with_separator(source: Files, separator: bytes | None) -> Files:
    if separator is None or separator == source.separator:
        return source
    if source.separator is not None:
        raise OptionError(
            f"separator={separator!r} contradicts files(..., separator={source.separator!r}).",
            value=separator,
            hint="Give it once.",
        )
    return Files(source.paths, separator)


def _matches(pattern: str) -> list[Path]:
    if os.path.isdir(pattern):
        found = list(_expand(pattern, ["**", "*"]))
        remedy = "there is no file in this folder"
    elif os.path.exists(pattern):
        if not os.path.isfile(pattern):
            raise OSError(
                errno.EINVAL,
                "not a regular file; pass its text, or pipe it into `digram train -`",
                pattern,
            )
        return [Path(pattern)]
    else:
        parts = Path(pattern).parts
        fixed = next((i for i, part in enumerate(parts) if _is_magic(part)), None)
        if fixed is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such file or folder", pattern)
        start = os.path.join(*parts[:fixed]) if fixed else os.curdir
        found = list(_expand(start, _simplified(parts[fixed:]))) if os.path.isdir(start) else []
        remedy = "no file matches this pattern; `**` crosses folders, `*` does not"
    if not found:
        raise FileNotFoundError(errno.ENOENT, remedy, pattern)
    return [Path(path) for path in sorted(found, key=lambda path: path.split(os.sep))]


def _is_magic(part: str) -> bool:
    return any(character in part for character in "*?[")


def _simplified(parts: Iterable[str]) -> list[str]:
    """One `**` for each run of them, and a name after the last: `a/**` means `a/**/*`."""
    runs = itertools.groupby(parts, key=lambda part: part == "**")
    kept = [part for deep, run in runs for part in (["**"] if deep else run)]
    return [*kept, "*"] if kept[-1] == "**" else kept


def _expand(folder: str, parts: list[str]) -> Iterator[str]:
    # Not `glob`: it follows links to folders below `**`, so a link to a parent gives each file
    # up to forty times, and two such links never end.
    head, rest = parts[0], parts[1:]
    if head == "**":
        yield from _expand(folder, rest)
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                yield from _expand(entry.path, parts)
    elif not _is_magic(head):
        path = os.path.join(folder, head)
        if rest and os.path.isdir(path):
            yield from _expand(path, rest)
        elif not rest and os.path.isfile(path):
            yield path
    else:
        wanted = re.compile(fnmatch.translate(head))
        for entry in _entries(folder):
            if entry.name.startswith(".") and not head.startswith("."):
                continue
            if wanted.match(entry.name):
                if rest and entry.is_dir():
                    yield from _expand(entry.path, rest)
                elif not rest and entry.is_file():
                    yield entry.path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return list(entries)


def _check_kind(path: Path) -> None:
    recipe = _NOT_PLAIN_TEXT.get(path.suffix.lower())
    if recipe is not None:
        raise OptionError(
            f"{path.suffix} files are not read yet, and their bytes are not their text.",
            path=path,
            value=path.suffix,
            hint=f"Pass the texts themselves, for example {recipe}; or leave such files out with "
            "a pattern like 'folder/**/*.txt'.",
        )
