"""The curve of vocabulary size: the results of every smaller vocabulary inside one on a text.

One encoding gives all of them. In a vocabulary of at most r merges, a token of rank r becomes the
two tokens that it was merged from, whatever its context (docs/algorithm.md, locality). So merges
are undone from the last to the first on the counts of the tokens, without encoding the text again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from digram._util.validation import check_threads, instance, iterable, real_number, whole_number
from digram.analysis.metrics.evaluation import tallied
from digram.analysis.metrics.naming import named_corpora
from digram.analysis.metrics.tally import Tally, together
from digram.analysis.metrics.vocabulary import Vocabulary, vocabulary
from digram.corpus import CorpusLike
from digram.errors import OptionError, several, show
from digram.pretokenizers.pretokenizer import resolve
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.bpe import require_ranked
from digram.vocab.reserved_ids import Family, family

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.vocab.definition import Definition

__all__ = ["OFTEN", "SIZES", "Curve", "Point", "curve", "curve_of"]

SIZES = (
    1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 24_000, 32_000, 40_000, 50_000, 64_000, 80_000,
    100_000, 128_000, 160_000, 200_000, 250_000,
)  # fmt: skip
"""The default sizes of a curve, as far as they fit; the vocabulary's own size comes last."""

OFTEN = 100
"""The count from which on a token is frequent in a text. Gowda, May 2020."""


@dataclass(frozen=True, slots=True)
class Point:
    """The results of the vocabulary of one size on the text. docs/advice.md defines each number.

    `embedding_parameters` is None if the curve has no width.
    """

    vocab_size: int
    """As for `digram.shrink`: all ids, special and reserved ones included, before padding."""
    tokens: int
    bytes_per_token: float
    tokens_per_document: float
    """The mean length of a sequence."""
    attention: float
    """`tokens_per_document` squared: the pairs that attention computes for a text of mean
    length."""
    fertility: float
    """The tokens per word; tokens of white space alone are not counted."""
    coverage: float
    """The share of characters that are not split between tokens."""
    vocabulary_used: float
    """The share of the vocabulary that occurs in the text."""
    frequent: float
    """The share of the vocabulary that occurs at least a hundred times."""
    embedding_parameters: int | None

    def to_dict(self) -> dict[str, float | int | None]:
        """The numbers by name, ready for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True)
class Curve:
    """The result of `digram.curve`; `print` shows it as a table.

    >>> import digram
    >>> text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
    >>> tok = digram.train(text, vocab_size=276)
    >>> found = digram.curve(tok, text, sizes=[260, 268, 276], width=64)
    >>> [(point.vocab_size, point.tokens, point.embedding_parameters) for point in found.points]
    [(260, 47, 16640), (268, 24, 17152), (276, 16, 17664)]
    >>> found[268].attention
    576.0

    `points` are in the order of their sizes. `documents`, `bytes`, `characters` and `words` count
    the text; `skipped` is the number of records that were skipped.
    """

    points: tuple[Point, ...]
    width: int | None
    documents: int
    bytes: int
    characters: int
    words: int
    skipped: int
    every: NDArray[np.int64] = field(compare=False, repr=False)
    """The number of tokens of the text at every size from the first of `sizes` to the last."""

    @property
    def sizes(self) -> list[int]:
        """The requested sizes, ascending."""
        return [point.vocab_size for point in self.points]

    def __getitem__(self, vocab_size: int) -> Point:
        """The point of a size; `OptionError` if the curve has none."""
        size = whole_number("vocab_size", vocab_size, 1)
        for point in self.points:
            if point.vocab_size == size:
                return point
        raise OptionError(
            f"the curve has no point at {show(vocab_size)}.",
            value=vocab_size,
            hint=f"Choose one of its sizes: {', '.join(map(str, self.sizes))}.",
        )

    def tokens_at(self, vocab_size: int) -> int:
        """The number of tokens of the text at any size between the first and the last."""
        place = whole_number("vocab_size", vocab_size, 1) - self.sizes[0]
        if not 0 <= place < len(self.every):
            raise OptionError(
                f"the curve goes from {self.sizes[0]} to {self.sizes[-1]}, and "
                f"{show(vocab_size)} is outside of it.",
                value=vocab_size,
            )
        return int(self.every[place])

    def best_size(self, parameters: float, width: int) -> int:
        """The size at which a model reads the text with the least arithmetic.

        >>> import digram
        >>> text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
        >>> found = digram.curve(digram.train(text, vocab_size=276), text, sizes=[257, 276])
        >>> found.best_size(1_000, width=64), found.best_size(100, width=1_000)
        (276, 276)

        Reading a token takes some 2 (N + V d) operations, where N is the number of the model's
        other parameters, V the vocabulary size and d the width; training takes three times that. So
        the result is the size that minimizes (N + V d) times the tokens of the text; the first, if
        several do.
        """
        import numpy as np

        parameters, width = real_number("parameters", parameters), whole_number("width", width, 1)
        sizes = np.arange(self.sizes[0], self.sizes[-1] + 1, dtype=np.float64)
        return int(sizes[((parameters + width * sizes) * self.every).argmin()])

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __str__(self) -> str:
        from digram.analysis.metrics.curve_table import table

        return table(self)

    def __repr__(self) -> str:
        sizes = f"{self.sizes[0]:,} to {self.sizes[-1]:,}"
        return f"<digram.Curve: {several(len(self), 'size')}, {sizes}>"

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        names = ("width", "documents", "bytes", "characters", "words", "skipped")
        return {
            **{name: getattr(self, name) for name in names},
            "points": [point.to_dict() for point in self.points],
        }


def curve(
    tok: Tokenizer,
    corpus: CorpusLike | Mapping[str, CorpusLike],
    *,
    sizes: Iterable[int] | None = None,
    width: int | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Curve:
    """Measure this vocabulary and the smaller ones inside it on a text, size by size.

    >>> import digram
    >>> text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
    >>> tok = digram.train(text, vocab_size=276)
    >>> found = digram.curve(tok, text, sizes=[260, 268, 276])
    >>> [(point.vocab_size, point.tokens) for point in found]
    [(260, 47), (268, 24), (276, 16)]
    >>> found[260].tokens == digram.shrink(tok, 260).count(text)
    True

    `corpus` is as for `evaluate`; several corpora count as one. `sizes` are those of `shrink`; the
    default is round sizes from 1,000 on, and this tokenizer's own. With the `width` of a model's
    embeddings each point has the number of their parameters. `print(found)` shows a table,
    `found.to_dict()` returns plain values, and `digram.advise(found)` a recommendation.

    All numbers are exactly those of `shrink`'s tokenizers, and together take as long as one
    `evaluate`: the text is encoded once, and merges are undone on the counts of the tokens, at some
    1 µs per token of the vocabulary. Raises the errors of `shrink` and `evaluate`.
    """
    instance("tok", tok, Tokenizer)
    width = None if width is None else whole_number("width", width, 1)
    definition = tok.definition
    inside = family(definition)
    asked = _sizes(sizes, inside)
    named = named_corpora(corpus, None)
    facts = vocabulary(tok, check_threads(threads))
    each = tallied(tok, named, facts, "Measuring", threads=threads, progress=progress)
    return _of(together([*each.values()]), definition, inside, facts, asked, width)


def curve_of(tok: Tokenizer, each: Sequence[Tally], sizes: Iterable[int]) -> list[Curve]:
    """The curves of tallied texts, one for each, without encoding the texts again.

    >>> import digram
    >>> text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
    >>> tok = digram.train(text, vocab_size=276)
    >>> found = curve_of(tok, [digram.evaluate(tok, text).total.tally], sizes=[260, 276])
    >>> found == [digram.curve(tok, text, sizes=[260, 276])]
    True
    """
    definition = tok.definition
    inside, facts = family(definition), vocabulary(tok)
    asked = _sizes(sizes, inside)
    return [_of(found, definition, inside, facts, asked, None) for found in each]


def _of(
    found: Tally,
    definition: Definition,
    inside: Family,
    facts: Vocabulary,
    sizes: Sequence[int],
    width: int | None,
) -> Curve:
    import numpy as np

    states = [*_undone(definition, inside, sizes, found.times)]
    points = [_point(found, facts, state, width) for state in states]
    return Curve(
        points=tuple(reversed(points)),
        width=width,
        documents=len(found.lengths),
        bytes=found.bytes,
        characters=found.characters,
        words=found.words,
        skipped=found.skipped,
        every=np.array(list(chain.from_iterable(state.totals for state in states)), np.int64)[::-1],
    )


def _sizes(sizes: Iterable[int] | None, inside: Family) -> list[int]:
    """The sizes of the points, descending; `OptionError` for a size outside of the family."""
    if sizes is None:
        return sorted({inside.size, *(n for n in SIZES if inside.min_size <= n < inside.size)})[
            ::-1
        ]
    sizes = iterable("sizes", sizes, "several sizes")
    asked = sorted({whole_number("vocab_size", size, 1) for size in sizes}, reverse=True)
    if not asked:
        raise OptionError("sizes is empty.", value=sizes)
    for size in asked:
        inside.removed(size)
    return asked


class _Undone(NamedTuple):
    """The counts of a text under a vocabulary of one size."""

    size: int
    removed: int
    times: NDArray[np.uint64]
    """The count of each token, by its id in the whole vocabulary."""
    totals: list[int]
    """The number of tokens at each size, from just below that of the previous state down to this
    one."""


def _undone(
    definition: Definition, inside: Family, sizes: Sequence[int], times: NDArray[np.uint64]
) -> Iterator[_Undone]:
    """Undo merges from the last to the first, and stop at each size; sizes are descending."""
    import numpy as np

    merges = require_ranked(definition.model, "a curve of sizes").merges
    parts: dict[int, Sequence[int]] = {id: (left, right) for left, right, id in merges}
    parts |= _whole(definition)
    number, total, done = times.tolist(), int(times.sum()), 0
    for size in sizes:
        removed, totals = inside.size - size, []
        for place in range(done, removed):
            id = inside.learned[-1 - place]
            count, number[id] = number[id], 0
            if count:
                total -= count
                of = [*parts[id]]
                while of:
                    part = of.pop()
                    if part > id and part in parts:  # already undone
                        of += parts[part]
                    else:
                        number[part] += count
                        total += count
            totals.append(total)
        done = removed
        # Sizes above the largest requested one are not recorded.
        known = totals if size < sizes[0] else [total]
        yield _Undone(size, removed, np.array(number, np.uint64), known)


def _whole(definition: Definition) -> dict[int, Sequence[int]]:
    """The replacement of tokens that only match whole pretokens, for vocabularies without them.

    If pretokens are looked up before merging, a token may be in use that no merges lead to. A
    vocabulary without it encodes its bytes.
    """
    model = require_ranked(definition.model, "a curve of sizes")
    if not model.ignore_merges:
        return {}

    only_merges = replace(model, ignore_merges=False)
    merging = Tokenizer(replace(definition, model=only_merges, pretokenizer=resolve(None)))
    ids = merging.unreachable()
    return dict(zip(ids, merging.encode_batch(merging.tokens(ids)), strict=True))


def _point(of: Tally, facts: Vocabulary, state: _Undone, width: int | None) -> Point:
    times = state.times
    tokens, known = int(times.sum()), facts.size - state.removed
    length = _ratio(tokens, len(of.lengths))
    return Point(
        vocab_size=state.size,
        tokens=tokens,
        bytes_per_token=_ratio(of.bytes, tokens),
        tokens_per_document=length,
        attention=length**2,
        fertility=_ratio(tokens - int(times[facts.is_blank].sum()), of.words),
        coverage=_ratio(int((times * facts.characters).sum()), of.characters),
        vocabulary_used=_ratio(int((times > 0).sum()), known),
        frequent=_ratio(int((times >= OFTEN).sum()), known),
        embedding_parameters=None if width is None else state.size * width,
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
