r"""Parallel text in lines, including empty ones: lines with the same number have the same content.

A separator would drop empty documents and so shift the numbers of the lines after them.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from digram.corpus import BLOCK, AsFile, Corpus, CorpusLike, Files, Pass, Text, Unread

if TYPE_CHECKING:
    from digram.analysis.metrics.evaluation import Evaluation

__all__ = ["by_line", "first_lines"]

Some = TypeVar("Some", str, bytes)


def by_line(source: CorpusLike) -> CorpusLike:
    r"""Parallel text in lines: strings and files are split into lines, lists are lines already.

    >>> by_line("\none\n\ntwo\n")
    ['', 'one', '', 'two']
    """
    found: CorpusLike = Corpus.of(source).source
    if isinstance(found, str):
        return _lines(found, "\n")
    if isinstance(found, bytes):
        return _lines(found, b"\n")
    if isinstance(found, Files) and found.separator in (None, b"\n"):
        return _Lines(found.paths, None, found.field, found.format, found.on_error, found.folders)
    return found


def first_lines(sources: Mapping[str, CorpusLike], evaluation: Evaluation) -> dict[str, Text]:
    """The first line of each corpus that is empty in none of them; the first, if there is none.

    >>> import digram
    >>> lines = {"en": ["", "one", "two"], "sw": ["a", "moja", "mbili"]}
    >>> tok = digram.train("one", max_merges=0)
    >>> first_lines(lines, digram.evaluate(tok, lines, reference="en"))
    {'en': 'one', 'sw': 'moja'}
    """
    import numpy as np

    fewest = np.min([one.lengths for one in evaluation.by_name.values()], axis=0)
    number = next(iter(np.flatnonzero(fewest).tolist()), 0)
    return {name: _line(one, number) for name, one in sources.items()}


def _line(source: CorpusLike, number: int) -> Text:
    with contextlib.closing(Corpus.of(source).documents()) as reading:
        return next(islice(reading, number, None), b"")


class _Lines(Files):
    """Files as their lines; a record of JSON or of a table may have several."""

    __slots__ = ()

    def texts(self, seen: Pass, max_bytes: int | None = None) -> Iterator[bytes | Unread]:
        for text in Files.texts(self, seen, max_bytes):
            if isinstance(text, Unread):
                file = io.BufferedReader(AsFile(text.blocks), BLOCK)
                yield from (line.removesuffix(b"\n") for line in file)
            else:
                yield from _lines(text, b"\n") or [text]


def _lines(text: Some, end: Some) -> list[Some]:
    """The lines of a text; the end of the last line starts no new one."""
    lines = text.split(end)
    return lines if lines[-1] else lines[:-1]
