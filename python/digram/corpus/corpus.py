"""`Corpus`: read any corpus as texts, whole, in parts, or in batches that are read ahead."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from digram._util.validation import is_frame
from digram._util.warning import warn
from digram.corpus.file_source import Files, Stream, Streams, files
from digram.corpus.prefetch import Ahead
from digram.corpus.reader import Pass, Reading
from digram.corpus.tables import Table, is_table
from digram.corpus.text import LastBorder, Text, Unread, in_parts, kind_name

__all__ = [
    "Corpus",
    "CorpusLike",
    "batches",
]

CorpusLike: TypeAlias = (
    Text | os.PathLike[str] | Files | Table | Iterable[Text] | Iterable[os.PathLike[str]]
)

AHEAD = 4 << 20
"""Bytes of a batch that is read ahead; there are at most three of them. Counting is as fast with
batches of 4 MiB as with larger ones."""
LONGEST_NAME = 256  # characters; a longer text is not looked for among the files
PER_TEXT = 64  # bytes of overhead of a Python object per text, so that tiny texts count too


@dataclass(frozen=True, slots=True)
class Corpus:
    """A corpus as the user passes it.

    >>> path = getfixture("tmp_path") / "a.txt"
    >>> _ = path.write_text("one")
    >>> Corpus.of(path) == Corpus.of([path]) == Corpus.of(files(path))
    True
    """

    source: Any
    """The corpus; paths are turned into `Files`."""

    @classmethod
    def of(cls, corpus: CorpusLike | Stream | Streams) -> Corpus:
        """Read a corpus.

        A `str` or `bytes` is one text; a `Path` (file or folder), a list of them or `files(...)`
        are files, read as `files` describes; `table(...)` is a column of a table; any other
        iterable yields texts. Folders and patterns are listed once, here: sizes, timestamps and
        texts are those of the same files. An iterator is read once, also one of paths. Files and
        tables split their texts at the `separator` that they were made with.

        Warns of a text that is the name of a file, since a `str` is always text. Raises `OSError`
        and `OptionError` as `files`.
        """
        _warn_of_names(corpus)
        if isinstance(corpus, os.PathLike):
            corpus = files(corpus)
        elif (
            isinstance(corpus, list | tuple)
            and corpus
            and all(isinstance(item, os.PathLike) for item in corpus)
        ):
            corpus = files(*corpus)
        return cls(corpus)

    @property
    def separator(self) -> bytes | None:
        r"""The separator of files or of a table; None for other texts.

        >>> path = getfixture("tmp_path") / "a.txt"
        >>> _ = path.write_text("one\n\ntwo")
        >>> Corpus.of(files(path, separator="\n\n")).separator
        b'\n\n'
        """
        found = self.source
        if isinstance(found, Streams):  # the command line has one separator for all
            found = found.sources[0]
        return found.separator if isinstance(found, Files | Stream | Table) else None

    @property
    def stamps(self) -> list[list[int]] | None:
        """The sizes of files, in bytes, and their modification times; None for another corpus.

        >>> Corpus.of("a text").stamps is None
        True
        """
        if not isinstance(self.source, Files):
            return None
        found = [path.stat() for path in self.source.paths]
        return [[one.st_size for one in found], [one.st_mtime_ns for one in found]]

    @property
    def size(self) -> int | None:
        """The approximate size in bytes, for a progress bar.

        >>> Corpus.of("naïve").size
        5
        >>> Corpus.of(iter(["a", "b"])).size is None
        True

        None for an iterator or a table. A `str` counts its characters, files their size on disk
        (see `Reading.done`). Reads no file, only the sizes.
        """
        corpus = self.source
        if isinstance(corpus, str | bytes):
            return len(corpus)
        if isinstance(corpus, Files):
            return corpus.size
        if isinstance(corpus, list | tuple):
            return sum(len(item) for item in corpus if isinstance(item, str | bytes))
        return None

    def documents(self) -> Reading[Text]:
        """The texts, in order, read while you iterate.

        >>> list(Corpus.of("one text").documents())
        ['one text']
        >>> list(Corpus.of(["one", b"two"]).documents())
        ['one', b'two']

        Text files are read as bytes, so that nothing is lost. Documents are never joined.

        Raises `TypeError`, with the index, for an item that is neither a text nor a path, and for a
        mix of the two. Holds one text at a time; with a separator, one document and a block of its
        file.
        """
        seen = Pass()
        found = _texts(self._found(), seen)
        whole = (text.whole() if isinstance(text, Unread) else text for text in found)
        return Reading(whole, seen)

    def parts(self, last_border: LastBorder, max_bytes: int | None = None) -> Reading[Text]:
        """The same texts, with text files in parts, so that a file need not fit into memory.

        >>> path = getfixture("tmp_path") / "a.txt"
        >>> _ = path.write_bytes(b"one two " * (1 << 17))
        >>> found = list(Corpus.of(path).parts(lambda text, start: text.rfind(b" ")))
        >>> [type(part).__name__ for part in found], b"".join(found) == path.read_bytes()
        (['bytes', 'Further'], True)

        All parts but the first of a document are `Further`. A file is split where `last_border`
        allows it; `OptionError` if there is no such place within `max_bytes` bytes, or if a line of
        JSON is longer.
        """
        seen = Pass()
        return Reading(_parts(self._found(), seen, last_border, max_bytes), seen)

    def batches(
        self, last_border: LastBorder | None = None, max_bytes: int | None = None
    ) -> Reading[list[Text]]:
        """The texts in batches; those of files are read ahead by a thread.

        >>> list(Corpus.of(["one", "two"]).batches())
        [['one', 'two']]

        With `last_border` they come in `parts`. The texts of your own iterator are taken from it in
        the calling thread, and so are those of stdin. Close the pass if you do not read it to its
        end. Memory: three batches of 4 MiB, or one of 8 MiB without a thread, and the longest text.
        """
        seen = Pass()
        found = self._found()
        texts: Iterator[Text]
        if last_border is None:
            read = _texts(found, seen)
            texts = (text.whole() if isinstance(text, Unread) else text for text in read)
        else:
            texts = _parts(found, seen, last_border, max_bytes)
        if isinstance(found, Files):
            return Reading(Ahead(batches(texts, AHEAD), seen.end), seen)
        return Reading(batches(texts), seen)

    def _found(self) -> _Found:
        """The texts, or the object that provides them."""
        corpus = self.source
        if isinstance(corpus, Files | Streams | Table):
            return corpus
        if isinstance(corpus, str | bytes):
            return iter([corpus])
        if isinstance(corpus, Mapping) or not isinstance(corpus, Iterable) or is_frame(corpus):
            hint = _OF_A_TABLE if is_table(corpus) or is_frame(corpus) else ""
            raise TypeError(
                "a corpus must be a text, a Path, digram.files(...), digram.table(...), or an "
                f"iterable of texts or Paths, not {kind_name(corpus)}{hint}."
            )
        items = iter(corpus)
        start: list[Any] = list(itertools.islice(items, 1))
        items = itertools.chain(start, items)
        if start and isinstance(start[0], os.PathLike):
            paths = list(_checked(corpus, items, (os.PathLike,), "a Path, as the first item is"))
            return files(*paths)
        return _checked(corpus, items, (str, bytes), "str or bytes")


def _warn_of_names(corpus: object) -> None:
    """Warn of a text, or of the first of several texts, that are names of files or folders."""
    texts: list[object] | tuple[object, ...] = [corpus] if isinstance(corpus, str) else []
    # A list with one text is that text, whatever it says.
    if isinstance(corpus, list | tuple) and len(corpus) > 1:
        texts = corpus[:3]
    names = [text for text in texts if isinstance(text, str) and _is_name(text)]
    if names and len(names) == len(texts):
        where, itself = "corpus[0]", ""
        if names[0] is corpus:
            where, itself = "the corpus", f"; for the text and no warning, pass [{corpus!r}]"
        warn(
            f"{where} is the text {names[0]!r}, which is also the name of a file or folder; for "
            f"its content pass pathlib.Path(...) or digram.files(...){itself}"
        )


def _is_name(text: str) -> bool:
    """Whether a text is the name of a file, or the path of a folder."""
    if not 0 < len(text) < LONGEST_NAME or "\n" in text:
        return False
    try:
        # A single word may be a folder by chance; a path with several parts is not.
        return os.path.isfile(text) or (os.sep in text.strip(os.sep) and os.path.isdir(text))
    except ValueError:  # a name cannot contain NUL
        return False


def batches(texts: Iterable[Text], size: int = 8 << 20) -> Iterator[list[Text]]:
    """Group texts into lists of about `size` bytes, so that one call of the core takes many texts.

    >>> list(batches(["a" * 100, "b" * 100, "c" * 1000, "d"], size=300))
    [['aaa...', 'bbb...'], ['ccc...'], ['d']]

    A list ends with the text that reaches the size (a `str` counts its characters, and every text
    64 bytes of overhead), so it is never empty, and a longer text is alone or last.
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


_Found: TypeAlias = "Files | Streams | Table | Iterator[Text | Unread]"


_OF_A_TABLE = '; for a table pass the column, as in digram.table(data, "text")'


def _checked(
    corpus: object, items: Iterable[Any], kinds: tuple[type, ...], expected: str
) -> Iterator[Any]:
    for index, item in enumerate(items):
        if not isinstance(item, kinds):
            hint = _OF_A_TABLE if is_table(corpus) else ""
            raise TypeError(f"corpus[{index}] is {kind_name(item)}, expected {expected}{hint}.")
        yield item


def _texts(found: _Found, seen: Pass, max_bytes: int | None = None) -> Iterator[Text | Unread]:
    """The texts; `seen` records the progress of the pass."""
    if isinstance(found, Files | Streams):
        return found.texts(seen, max_bytes)
    return found.texts(seen) if isinstance(found, Table) else found


def _parts(
    found: _Found, seen: Pass, last_border: LastBorder, max_bytes: int | None
) -> Iterator[Text]:
    for text in _texts(found, seen, max_bytes):
        if isinstance(text, Unread):
            yield from in_parts(text, last_border, max_bytes)
        else:
            yield text
