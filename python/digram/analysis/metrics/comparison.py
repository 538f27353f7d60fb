"""Two tokenizers on the same text: which needs fewer tokens, where, and which tokens differ."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from digram._util.validation import check_threads, instance, utf8_bytes, whole_number
from digram.analysis.metrics.kinds import Kinds
from digram.analysis.metrics.naming import each_source, named_corpora
from digram.analysis.metrics.overlap import Overlap, overlap, plain
from digram.analysis.metrics.places import Differences, Place, Sums, both
from digram.corpus import Corpus, CorpusLike
from digram.errors import several
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Both", "Comparison", "compare"]


@dataclass(frozen=True, slots=True)
class Both:
    """The tokens that two tokenizers need for the same text; `bytes` is its length in UTF-8.

    >>> found = Both(bytes=100, this=40, other=30, same=25)
    >>> found.change, found.agreement
    (-0.25, 0.25)
    """

    bytes: int
    this: int
    """The tokens of this tokenizer."""
    other: int
    """The tokens of the other."""
    same: int
    """The bytes that both split alike."""

    @property
    def change(self) -> float:
        """How many more tokens the other needs, as a share of this one's; negative for fewer."""
        return self.other / self.this - 1 if self.this else 0.0

    @property
    def agreement(self) -> float:
        """The share of the text that both split alike."""
        return self.same / self.bytes if self.bytes else 1.0

    def to_dict(self) -> dict[str, float]:
        """The numbers by name, ready for JSON."""
        names = ("bytes", "this", "other", "same", "change", "agreement")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Comparison:
    """The result of `digram.compare`; `print` shows it as tables.

    >>> import digram
    >>> words, years = (digram.train(text, max_merges=6) for text in ("slow slower", "2025 2026"))
    >>> found = digram.compare(words, years, "slow 2025")
    >>> found.total
    Both(bytes=9, this=6, other=7, same=2)

    `total` covers all text, `by_name` each named corpus, and `by_kind` words of each script,
    identifiers, numbers, punctuation and white space. `this_fewer` lists the places where this
    tokenizer saves the most tokens, `other_fewer` those where the other does, and `as_many` the
    most frequent places that both split into equally many tokens, but differently. `names` are the
    names of the two in the tables.
    """

    names: tuple[str, str]
    total: Both
    by_name: dict[str, Both]
    by_kind: dict[str, Both]
    this_fewer: tuple[Place, ...]
    other_fewer: tuple[Place, ...]
    as_many: tuple[Place, ...]
    vocabulary: Overlap
    skipped: int

    def __str__(self) -> str:
        from digram.analysis.metrics.comparison_table import table

        return table(self)

    def __repr__(self) -> str:
        total, (this, other) = self.total, self.names
        return (
            f"<digram.Comparison: {this} {several(total.this, 'token')}, {other} "
            f"{total.other:,} ({total.change:+.1%}), {total.agreement:.1%} cut alike>"
        )

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON; bytes as text and in hexadecimal."""
        return {
            "names": list(self.names),
            "skipped": self.skipped,
            "total": self.total.to_dict(),
            "by_name": {name: one.to_dict() for name, one in self.by_name.items()},
            "by_kind": {name: one.to_dict() for name, one in self.by_kind.items()},
            **{
                name: [_place(one) for one in getattr(self, name)]
                for name in ("this_fewer", "other_fewer", "as_many")
            },
            "vocabulary": self.vocabulary.to_dict(),
        }


def compare(
    this: Tokenizer,
    other: Tokenizer,
    corpus: CorpusLike | Mapping[str, CorpusLike],
    *,
    names: tuple[str, str] = ("this", "other"),
    top: int = 10,
    threads: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare two tokenizers on a text: which needs fewer tokens, where, and which tokens differ.

    >>> import digram
    >>> words = digram.train("slow slower slowest low lower lowest", vocab_size=266)
    >>> years = digram.train("low 2025 low 2026 low 2027", vocab_size=262)
    >>> found = digram.compare(words, years, {"words": "slow low", "years": "low 2025"})
    >>> found
    <digram.Comparison: this 8 tokens, other 7 (-12.5%), 56.2% cut alike>
    >>> found.by_name["words"].change, found.by_kind["numbers"].change
    (0.5, -0.5)
    >>> found.this_fewer
    (Place(text=b'slow', count=1, this=(b'slow',), other=(b's', b'low')),)

        corpus: as for `evaluate`; named corpora are also compared one by one.
        names: the names of the two tokenizers in the tables.
        top: the number of places, and of tokens found in only one vocabulary, to keep in each list.

    `print(found)` shows tables; `found.to_dict()` returns plain values. docs/comparing.md defines
    each field. The two tokenizers may differ in anything: unit, pretokenizer, size. Text that only
    one of them can encode raises the errors of `encode`.

    Takes as long as both encodings with offsets, plus 0.3 to 0.6 µs per token of either. Memory:
    some 40 times the longest text, the distinct places where the two differ, and the distinct
    non-ASCII pieces.
    """
    instance("this", this, Tokenizer)

    if not isinstance(other, Tokenizer):
        raise TypeError(f"other is a digram.Tokenizer, not {type(other).__name__}")
    top = whole_number("top", top, 0)
    work = _Work(this, other, check_threads(threads))
    found = each_source(
        named_corpora(corpus, None),
        work.of,
        "Comparing",
        progress=progress,
    )
    this_fewer, other_fewer, as_many = map(tuple, work.differences.most(top))
    kinds = sorted(work.by_kind.items(), key=lambda item: -item[1].bytes)
    return Comparison(
        names=names,
        total=Both(*reduce(Sums.plus, found.values(), Sums())),
        by_name={name: Both(*sums) for name, sums in found.items() if name is not None},
        by_kind={work.kinds.names[number]: Both(*sums) for number, sums in kinds},
        this_fewer=this_fewer,
        other_fewer=other_fewer,
        as_many=as_many,
        vocabulary=overlap(this, other, work.times, top),
        skipped=work.skipped,
    )


class _Work:
    """The sums over all texts."""

    def __init__(self, this: Tokenizer, other: Tokenizer, threads: int | None) -> None:
        import numpy as np

        self.pair, self.threads = (this, other), threads
        self.kinds, self.differences = Kinds(), Differences()
        self.by_kind: dict[int, Sums] = {}
        self.times = [np.zeros(tok.vocab_size, np.int64) for tok in self.pair]
        self.skipped = 0

    def of(self, corpus: Corpus, advance: Callable[[int], object]) -> Sums:
        """The sums of one corpus."""
        import numpy as np

        sums, first, done = Sums(), 0, 0
        reading = corpus.batches()
        with contextlib.closing(reading):
            for batch in reading:
                texts = [
                    utf8_bytes(f"corpus[{number}]", text)
                    for number, text in enumerate(batch, first)
                ]
                try:
                    by_kind, *ids = both(
                        texts, *self.pair, self.kinds, self.differences, self.threads
                    )
                except Exception as error:
                    error.add_note(f"in the batch that starts with text {first}")
                    raise
                first += len(batch)
                for n, each in enumerate(ids):
                    self.times[n] += np.bincount(each, minlength=len(self.times[n]))
                for number, more in by_kind.items():
                    self.by_kind[number] = self.by_kind.get(number, Sums()).plus(more)
                    sums = sums.plus(more)
                size = sum(map(len, texts))
                advance(reading.done - done if reading.done else size)
                done = reading.done
        self.skipped += reading.skipped
        return sums


def _place(place: Place) -> dict[str, Any]:
    return {
        **plain(place.text),
        "count": place.count,
        "saved": place.saved,
        "this": [plain(token) for token in place.this],
        "other": [plain(token) for token in place.other],
    }
