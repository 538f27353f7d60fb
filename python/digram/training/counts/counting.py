"""Count the pretokens of texts, or of several corpora with weights."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from digram import _core
from digram._util.progress import amount, note, progress_of_all
from digram._util.progress import progress as progress_bar
from digram._util.storage import advise_on_full_disk
from digram._util.validation import check_threads, fraction, memory_in_bytes
from digram.corpus import Corpus, CorpusLike, Further, Reading, Text
from digram.errors import CorruptFileError, InvalidTextError, OptionError, placed, show
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex, resolve
from digram.training.checkpoint import Checkpoint
from digram.training.counts.settings import fingerprint
from digram.training.counts.value import Counts, check_made, check_unit
from digram.training.spelled_tokens import Spotter
from digram.vocab.settings import Unit

__all__ = [
    "Corpora",
    "CorporaLike",
    "Counting",
    "corpora",
    "count_pretokens",
    "have_first",
    "made_with",
    "named_corpora",
    "separator_in_words",
    "weights_without_names",
]

CorporaLike: TypeAlias = CorpusLike | Mapping[str, CorpusLike | Counts]
"""One corpus, or several by name, of which some may already be `Counts`."""

Corpora: TypeAlias = "Corpus | Mapping[str, Corpus | Counts] | Counts"
"""The same, prepared for reading."""

Held: TypeAlias = _core.Counts | _core.SortedCounts
"""Counts in memory or on disk."""


def count_pretokens(
    corpus: CorporaLike,
    *,
    pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
    unit: Unit = "byte",
    weights: Mapping[str, Any] | None = None,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    progress: bool | None = None,
) -> Counts:
    """Count the pretokens of a corpus. The counts are much smaller, and sufficient for training.

    >>> import digram
    >>> counts = digram.count_pretokens(["low low", "lower"], pretokenizer="whitespace")
    >>> dict(counts.items())
    {b'low': 1, b' low': 1, b'lower': 1}
    >>> counts.documents, counts.bytes, counts.pretokens
    (2, 12, 3)

    `corpus`, `pretokenizer` and `unit` are those of `digram.train`, and training on the counts
    makes the same merges. A dictionary names several corpora, which are counted in order; some may
    be `Counts`. `weights` then has the weights of corpora (`Counts.scale`, with its rounding), 1 by
    default:

    >>> sources = {"en": "the cat", "sw": "paka"}
    >>> counts = digram.count_pretokens(sources, pretokenizer="gpt2", weights={"sw": 3})
    >>> counts["the"], counts["paka"], counts.bytes
    (1, 3, 19)

    The result does not depend on `threads` (one per core by default). `progress` shows a bar on
    stderr (by default if that is a terminal). Raises the errors of `train`. Memory: the distinct
    pretokens, and some 40 bytes for each; several times as much during counting, or up to
    `memory_limit` ("2 GB", as for `train`).
    """
    cut, unit = resolve(pretokenizer), check_unit(unit)
    threads = check_threads(threads)
    memory = memory_in_bytes(memory_limit)
    if isinstance(corpus, Counts):
        raise TypeError("corpus is already Counts; pass text")
    counting = Counting(cut, unit, threads, progress, memory)
    with advise_on_full_disk():
        counts, skipped = counting.count(corpora(corpus), weights)
        if isinstance(counts, _core.SortedCounts):
            counts = counts.to_memory()
    return Counts._of(counts, cut, unit, skipped)


class Counted(NamedTuple):
    """Counts, and the number of records that were skipped."""

    counts: Held
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Counting:
    """The settings for counting, with a limit of memory and a checkpoint."""

    cut: Pretokenizer
    unit: Unit
    threads: int | None
    progress: bool | None
    memory: int | None = None
    checkpoint: Checkpoint | None = None
    spotter: Spotter | None = None
    between: _core.Core | None = None
    """A tokenizer whose added tokens are left out where they are found in all text."""

    def count(self, corpus: Corpora, weights: Mapping[str, Any] | None) -> Counted:
        """Count one corpus or several; `Counts` are returned unchanged.

        The result is on disk if it did not fit into memory during counting, or was written to the
        checkpoint. The core decides whether merging has enough memory for it.
        """
        if isinstance(corpus, Mapping):
            return self._count_named(corpus, weights)
        if isinstance(corpus, Counts):
            return Counted(corpus._held, corpus.skipped)
        if weights is not None:
            raise weights_without_names()
        return self._count(corpus, self.checkpoint)

    def _count_named(
        self, sources: Mapping[str, Any], weights: Mapping[str, Any] | None
    ) -> Counted:
        factors = _factors(weights, sources)
        joiner = None
        if self.memory is not None:
            joiner = _core.Joiner(self.memory, self._folder(), have_first(sources))
        parts: list[_core.Counts] = []
        skipped = 0
        for number, (name, one) in enumerate(sources.items()):
            factor = factors.get(name, (1, 1))
            try:
                found, passed = self.count_one_of(number, name, one)
                skipped += passed
                if joiner is not None:
                    joiner.add(found, *factor)
                    continue
                found = found.to_memory() if isinstance(found, _core.SortedCounts) else found
                parts.append(found if factor == (1, 1) else found.scale(*factor))
            except Exception as error:
                placed(error, f"corpus[{name!r}]")
                raise
        if joiner is None:
            return Counted(_core.Counts.merge(parts), skipped)
        with progress_of_all("Joining", "pretokens", self.progress) as tell:
            return Counted(joiner.finish(tell), skipped)

    def count_one_of(self, number: int, name: str, corpus: Corpus | Counts) -> Counted:
        """Count one of several corpora, given its number and name."""
        if isinstance(corpus, Counts):
            made = (corpus.pretokenizer, corpus.unit)
            check_made(made, (self.cut, self.unit), "these counts", "but the call has")
            return Counted(corpus._held, corpus.skipped)
        point = None
        if self.checkpoint is not None:
            how = made_with(self.cut, self.unit, corpus)
            options = {"separator": separator_in_words(corpus)}
            point = self.checkpoint.part(number, how, corpus.stamps, options)
        return self._count(corpus, point, name)

    def _count(self, corpus: Corpus, point: Checkpoint | None, name: str | None = None) -> Counted:
        splitter, memory, between = self.cut.splitter(), self.memory, self.between
        size = corpus.size
        # A document that cannot be divided must leave memory for counting.
        largest = None if memory is None else memory // 4
        last_border = splitter.last_border if between is None else between._last_border
        reading = corpus.batches(last_border, largest)
        texts = _checked(reading) if self.unit == "char" else reading
        texts = texts if self.spotter is None else self.spotter.over(texts)
        if point is None:
            limit = None if memory is None else (memory, self._folder())
            counter = _core.Counter(splitter, memory=limit, between=between)
        else:
            counter = point.counter(splitter, memory, between)
            texts = point.rest(texts, counter, lambda: reading.skipped)
            if size is not None and corpus.stamps is None:  # files are read again from the start
                size = max(size - point.state.bytes, 0)
            if point.state.bytes and not point.merges:
                counted = amount(point.state.bytes)
                note(f"Resumed after {counted} counted in {point.folder}.", self.progress)
        try:
            with contextlib.closing(reading):
                self._add(counter, texts, reading, size, _titled("Counting", name))
        except CorruptFileError as error:
            # With a checkpoint, the documents before the record may be saved already.
            if error.record is not None and point is None:
                kind = "table" if error.path is None else "file"
                error.message += f" Nothing was counted from this {kind}."
                error.args = (error.message,)
            raise
        with progress_of_all(_titled("Joining", name), "pretokens", self.progress) as tell:
            counts = counter.finish_bounded(tell)
        if point is not None:
            point.counted(counts)
        return Counted(counts, reading.skipped if point is None else point.state.skipped)

    def _add(
        self,
        counter: _core.Counter,
        texts: Iterable[list[Text]],
        reading: Reading[list[Text]],
        size: int | None,
        title: str,
    ) -> None:
        done = 0
        with progress_bar(title, total=size, unit="B", enabled=self.progress) as advance:
            for batch in texts:
                begun = sum(not isinstance(text, Further) for text in batch)
                counter.add(batch, self.threads, begun)
                # For files the progress is the bytes read from disk, as the total is.
                advance(reading.done - done if reading.done else sum(map(len, batch)))
                done = reading.done

    def _folder(self) -> str | os.PathLike[str]:
        """The folder for data that does not fit into memory."""
        import tempfile

        return tempfile.gettempdir() if self.checkpoint is None else self.checkpoint.folder


def corpora(corpus: CorporaLike | Counts) -> Corpora:
    """Prepare the text or counts of a caller for reading; checks that all files exist.

    Raises the errors of `Corpus.of`, with the name of the corpus.
    """
    if isinstance(corpus, Counts):
        return corpus
    if not isinstance(corpus, Mapping):
        return Corpus.of(corpus)
    return named_corpora("corpus", corpus)


def named_corpora(
    argument: str, sources: Mapping[str, CorpusLike | Counts]
) -> dict[str, Corpus | Counts]:
    """Prepare several named corpora; `argument` is the name of the argument."""
    found: dict[str, Corpus | Counts] = {}
    for name, one in sources.items():
        try:
            found[name] = one if isinstance(one, Counts) else Corpus.of(one)
        except Exception as error:
            placed(error, f"{argument}[{name!r}]")
            raise
    return found


def made_with(cut: Pretokenizer, unit: Unit, corpus: Corpora) -> list[str]:
    """The settings that determine the counts of a text, to be stored in a checkpoint.

    They include the separator in use, normalized to bytes.
    """
    return [fingerprint(cut, unit), repr(_separator_in(corpus))]


def separator_in_words(corpus: Corpora) -> str:
    """The separator in use, for messages; as text, if it is UTF-8."""
    found = _separator_in(corpus)
    if found is None:
        return "no separator"
    try:
        return f"separator={json.dumps(found.decode(), ensure_ascii=False)}"
    except UnicodeDecodeError:
        return f"separator={found!r}"


def _separator_in(corpus: Corpora) -> bytes | None:
    """The separator in use; for several corpora that of the first."""
    several = corpus.values() if isinstance(corpus, Mapping) else [corpus]
    return next((one.separator for one in several if isinstance(one, Corpus)), None)


def have_first(sources: Mapping[str, Any]) -> bool:
    """Whether all sources have first occurrences."""
    return all(one.has_first for one in sources.values() if isinstance(one, Counts))


def weights_without_names() -> OptionError:
    """The error for weights with a single corpus."""
    return OptionError(
        "weights= needs several named corpora.",
        hint='Pass a dictionary, as in train({"en": ..., "sw": ...}, weights={"sw": 2}), or scale '
        "counts with Counts.scale.",
    )


def _titled(phase: str, corpus: str | None) -> str:
    """The title of a progress bar; with several corpora it includes the name."""
    return phase if corpus is None else f"{phase} {corpus}"


def _factors(
    weights: Mapping[str, Any] | None, sources: Mapping[str, Any]
) -> dict[str, tuple[int, int]]:
    if not sources:
        raise OptionError("the dictionary names no corpus.")
    for name in weights or {}:
        if name not in sources:
            raise OptionError(
                f"weights= names {show(name)}, but no corpus has that name.",
                value=name,
                hint=f"Corpora: {', '.join(map(repr, sources))}.",
            )
    return {n: fraction(weight, f"weights[{show(n)}]") for n, weight in (weights or {}).items()}


def _checked(batches: Iterable[list[Text]]) -> Iterator[list[Text]]:
    """Yield the batches; `InvalidTextError` for invalid UTF-8, with its place."""
    number, offset = -1, 0  # of the current text, and of its next part
    for batch in batches:
        for text in batch:
            if not isinstance(text, Further):
                number, offset = number + 1, 0
            if not isinstance(text, bytes):
                continue
            try:
                text.decode()
            except UnicodeDecodeError as error:
                offset += error.start
                raise InvalidTextError(
                    f'text {number} is not UTF-8 at byte {offset}; unit="char" needs UTF-8.',
                    index=number,
                    offset=offset,
                    hint='Convert it to UTF-8, or train with unit="byte".',
                ) from None
            offset += len(text)
        yield batch
