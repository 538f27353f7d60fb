"""Counting: from texts, and from several sources with weights, to counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from digram import _core
from digram.arguments import check_threads, fraction
from digram.checkpoint import Checkpoint
from digram.counts.value import Counts, check_made, check_unit
from digram.definition import Unit
from digram.errors import InvalidTextError, OptionError, placed
from digram.pretokenizers import Pretokenizer, Regex, resolve
from digram.progress import progress as progress_bar
from digram.sources import Source, Text, batches, documents, total_bytes

__all__ = ["Sources", "count_pretokens", "count_within", "weights_without_names"]

Sources: TypeAlias = Source | Mapping[str, Source | Counts]
"""What can be counted: one source, or several by their names, of which some are counted already."""


def count_pretokens(
    source: Sources,
    *,
    pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
    unit: Unit = "byte",
    separator: str | bytes | None = None,
    weights: Mapping[str, Any] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Counts:
    """Count the pretokens of a corpus: all that training needs to know of it, much smaller.

    >>> import digram
    >>> counts = digram.count_pretokens(["low low", "lower"], pretokenizer="whitespace")
    >>> dict(counts.items())
    {b'low': 1, b' low': 1, b'lower': 1}
    >>> counts.documents, counts.bytes, counts.pretokens
    (2, 12, 3)

    `source`, `separator`, `pretokenizer` and `unit` are as for `digram.train`, and so are the
    merges that it learns of the counts. A dictionary names several sources, one after the other;
    counts may be among them. `weights` then says how much some of them count (`Counts.scale`, with
    its rounding), 1 by default:

    >>> sources = {"en": "the cat", "sw": "paka"}
    >>> counts = digram.count_pretokens(sources, pretokenizer="gpt2", weights={"sw": 3})
    >>> counts["the"], counts["paka"], counts.bytes
    (1, 3, 19)

    The result does not depend on `threads` (one for each core by default). That all bytes were
    counted is checked before anything is weighted. `progress` draws a bar on stderr (by default
    where that is a terminal). Raises as `train` does. Memory: the distinct pretokens, and some 40
    bytes for each.
    """
    cut, unit = resolve(pretokenizer), check_unit(unit)
    check_threads(threads)
    if isinstance(source, Counts):
        raise TypeError("source is already counts; pass the text they are to be made of")
    if not isinstance(source, Mapping):
        if weights is not None:
            raise weights_without_names()
        return Counts._of(_count(source, separator, cut, unit, threads, progress), cut, unit)
    factors = _factors(weights, source)
    parts = []
    for name, one in source.items():
        try:
            if isinstance(one, Counts):
                check_made(
                    (one.pretokenizer, one.unit), (cut, unit), "these counts", "asked for is"
                )
                part = one
            else:
                found = _count(one, separator, cut, unit, threads, progress, f" {name}")
                part = Counts._of(found, cut, unit)
        except Exception as error:
            placed(error, f"source[{name!r}]")
            raise
        factor = factors.get(name, (1, 1))
        parts.append(part if factor == (1, 1) else part._with(part._held.scale(*factor)))
    return Counts.merge(parts)


def weights_without_names() -> OptionError:
    """What is wrong with weights for one source."""
    return OptionError(
        "weights= is for several sources, by their names.",
        hint='Pass a dictionary, as in train({"en": ..., "sw": ...}, weights={"sw": 2}), or weigh '
        "counts with scale.",
    )


def _factors(
    weights: Mapping[str, Any] | None, sources: Mapping[str, Any]
) -> dict[str, tuple[int, int]]:
    if not sources:
        raise OptionError("the dictionary names no source.")
    for name in weights or {}:
        if name not in sources:
            raise OptionError(
                f"weights= names {name!r}, and no source has that name.",
                value=name,
                hint=f"Sources: {', '.join(map(repr, sources))}.",
            )
    return {n: fraction(weight, f"weights[{n!r}]") for n, weight in (weights or {}).items()}


def _count(
    source: Source,
    separator: str | bytes | None,
    cut: Pretokenizer,
    unit: Unit,
    threads: int | None,
    progress: bool | None,
    name: str = "",
) -> _core.Counts:
    counter = _core.Counter(cut.splitter())
    texts = batches(documents(source, separator))
    _add(counter, texts, unit, threads, progress, total_bytes(source), name)
    return counter.finish()


def count_within(
    source: Source,
    separator: str | bytes | None,
    cut: Pretokenizer,
    unit: Unit,
    threads: int | None,
    progress: bool | None,
    memory: int | None,
    checkpoint: Checkpoint | None,
) -> _core.Counts | _core.SortedCounts:
    """Counts that are on disk where the memory is too little, and noted in a checkpoint."""
    import tempfile

    size, texts = total_bytes(source), batches(documents(source, separator))
    if checkpoint is None:
        folder = tempfile.gettempdir()
        counter = _core.Counter(cut.splitter(), memory_limit=memory, folder=folder)
    else:
        counter = checkpoint.counter(cut.splitter(), memory)
        texts = checkpoint.rest(texts, counter)
        size = None if size is None else max(size - checkpoint.state.bytes, 0)
    _add(counter, texts, unit, threads, progress, size)
    counts = counter.finish_bounded()
    if memory is None and isinstance(counts, _core.SortedCounts):
        return counts.to_memory()
    return counts


def _add(
    counter: _core.Counter,
    texts: Iterable[list[Text]],
    unit: Unit,
    threads: int | None,
    progress: bool | None,
    size: int | None,
    name: str = "",
) -> None:
    with progress_bar(f"Counting{name}", total=size, unit="B", enabled=progress) as advance:
        done = 0
        for batch in texts:
            if unit == "char":
                _check_utf8(batch, done)
            counter.add(batch, threads)
            done += len(batch)
            advance(sum(map(len, batch)))


def _check_utf8(batch: Sequence[str | bytes], first: int) -> None:
    """Raise `InvalidTextError` for bytes that hold no characters."""
    for index, text in enumerate(batch, first):
        try:
            if isinstance(text, bytes):
                text.decode()
        except UnicodeDecodeError as error:
            raise InvalidTextError(
                f"text {index} is not UTF-8 at byte {error.start}; characters need UTF-8.",
                index=index,
                offset=error.start,
                hint='Convert it to UTF-8, or train with unit="byte".',
            ) from None
