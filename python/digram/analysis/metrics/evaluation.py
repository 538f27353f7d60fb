"""How well a tokenizer does on text: on one corpus, or on several named ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from digram._util.validation import check_threads, instance
from digram.analysis.metrics.formulas import (
    check_order,
    entropy,
    gini,
    renyi_efficiency,
    renyi_entropy,
)
from digram.analysis.metrics.naming import each_source, named_corpora
from digram.analysis.metrics.tally import Tally, tally, together
from digram.analysis.metrics.vocabulary import Vocabulary, vocabulary
from digram.corpus import Corpus, CorpusLike
from digram.corpus.file_types import files_with
from digram.errors import OptionError, several
from digram.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


__all__ = ["Evaluation", "Measures", "Parallel", "evaluate", "tallied"]


@dataclass(frozen=True, eq=False)
class Measures:
    """The measures of a tokenizer on a corpus. docs/evaluation.md defines each.

    >>> import digram
    >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
    >>> found = digram.evaluate(tok, "low low é").total
    >>> found.tokens, found.bytes, found.characters, found.words, found.documents
    (6, 10, 9, 3, 1)
    >>> found.bytes_per_token, found.fertility, found.whole_words, found.coverage
    (1.66..., 1.33..., 0.66..., 0.88...)

    A ratio without text is 0.
    """

    tally: Tally
    vocab_size: int
    """The number of tokens that text can become, the base of `renyi_efficiency`: all but special
    ones."""
    alpha: float
    """The order of `renyi_efficiency` and `renyi_entropy`."""

    @property
    def documents(self) -> int:
        """The number of texts; in parallel text, of lines."""
        return len(self.tally.lengths)

    @property
    def bytes(self) -> int:
        """The length of the text in UTF-8."""
        return self.tally.bytes

    @property
    def characters(self) -> int:
        """The number of code points; invalid UTF-8 counts as the U+FFFD that would replace it."""
        return self.tally.characters

    @property
    def words(self) -> int:
        """The number of words, which white space separates."""
        return self.tally.words

    @cached_property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.tally.times.sum())

    @property
    def bytes_per_token(self) -> float:
        """`bytes` / `tokens`: the compression."""
        return _ratio(self.bytes, self.tokens)

    @property
    def characters_per_token(self) -> float:
        """`characters` / `tokens`."""
        return _ratio(self.characters, self.tokens)

    @property
    def words_per_token(self) -> float:
        """`words` / `tokens`."""
        return _ratio(self.words, self.tokens)

    @property
    def tokens_per_document(self) -> float:
        """`tokens` / `documents`."""
        return _ratio(self.tokens, self.documents)

    @property
    def fertility(self) -> float:
        """The tokens per word; tokens of white space alone are not counted."""
        return _ratio(self.tokens - self.tally.blank_tokens, self.words)

    @property
    def whole_words(self) -> float:
        """The share of words that are one token, by themselves or with a space before them."""
        return _ratio(self.tally.whole_words, self.words)

    @property
    def coverage(self) -> float:
        """The share of characters that are not split between tokens.

        The others are split into bytes, or represented by an unknown token.
        """
        return _ratio(self.tally.whole_characters, self.characters)

    @cached_property
    def entropy(self) -> float:
        """Shannon's entropy of a token, in bits."""
        return entropy(self.tally.times)

    @cached_property
    def renyi_entropy(self) -> float:
        """Rényi's entropy of a token, of order `alpha`, in bits."""
        return renyi_entropy(self.tally.times, self.alpha)

    @cached_property
    def renyi_efficiency(self) -> float:
        """`renyi_entropy` / log₂ `vocab_size`."""
        return renyi_efficiency(self.tally.times, self.vocab_size, self.alpha)

    @cached_property
    def tokens_used(self) -> int:
        """The number of distinct tokens in the text."""
        return int((self.tally.times > 0).sum())

    @property
    def vocabulary_used(self) -> float:
        """`tokens_used` / `vocab_size`."""
        return _ratio(self.tokens_used, self.vocab_size)

    @property
    def times(self) -> NDArray[np.uint64]:
        """The count of each token in the text, by id."""
        return self.tally.times

    @property
    def lengths(self) -> NDArray[np.uint64]:
        """The number of tokens of each text, in order."""
        return self.tally.lengths

    def to_dict(self) -> dict[str, float]:
        """The numbers by name, ready for JSON."""
        return {name: getattr(self, name) for name in _NAMES}


_NAMES = (
    "documents", "bytes", "characters", "words", "tokens", "bytes_per_token",
    "characters_per_token", "words_per_token", "tokens_per_document", "fertility", "whole_words",
    "coverage", "entropy", "renyi_entropy", "renyi_efficiency", "tokens_used", "vocabulary_used",
)  # fmt: skip


@dataclass(frozen=True)
class Parallel:
    """Costs by language on parallel text: texts with the same content, line by line.

    >>> found = Parallel({"en": 20.0, "sw": 30.0, "shn": 100.0}, reference="en")
    >>> found.premium, found.best, found.worst, found.gini
    ({'en': 1.0, 'sw': 1.5, 'shn': 5.0}, 'en', 'shn', 0.35...)
    """

    tokens_per_line: dict[str, float]
    reference: str

    @property
    def premium(self) -> dict[str, float]:
        """The tokens of each language as a multiple of the reference's. Petrov et al. 2023."""
        base = self.tokens_per_line[self.reference]
        return {name: _ratio(cost, base) for name, cost in self.tokens_per_line.items()}

    @property
    def gini(self) -> float:
        """The inequality of `tokens_per_line`; 0 if all are equal. Foroutan et al. 2025."""
        return gini(list(self.tokens_per_line.values()))

    @property
    def best(self) -> str:
        """The language with the fewest tokens; the first, if several are equal."""
        return min(self.tokens_per_line, key=self.tokens_per_line.__getitem__)

    @property
    def worst(self) -> str:
        """The language with the most tokens; the first, if several are equal."""
        return max(self.tokens_per_line, key=self.tokens_per_line.__getitem__)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        names = ("reference", "tokens_per_line", "premium", "gini", "best", "worst")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The result of `digram.evaluate`; `print` shows it as a table.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", vocab_size=260)
    >>> found = digram.evaluate(tok, {"a": "low tower", "b": "lowest"})
    >>> found.total.tokens, found.by_name["b"].bytes_per_token
    (11, 1.5)

    `total` has the measures of all text. For named corpora `by_name` has those of each, and
    with a reference `parallel` compares them. `skipped` is the number of records that were skipped.
    """

    total: Measures
    by_name: dict[str, Measures]
    parallel: Parallel | None

    @property
    def skipped(self) -> int:
        """The number of records skipped under `on_error="skip"`."""
        return self.total.tally.skipped

    def __str__(self) -> str:
        from digram.analysis.metrics.table import table

        return table(self)

    def __repr__(self) -> str:
        of, names = self.total, list(self.by_name)
        parts = [
            several(of.tokens, "token"),
            f"{of.bytes_per_token:.3g} bytes per token",
            *([f"by_name={names if len(names) <= 4 else [*names[:3], '...']}"] if names else []),
        ]
        return f"<digram.Evaluation: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        return {
            "vocab_size": self.total.vocab_size,
            "alpha": self.total.alpha,
            "skipped": self.skipped,
            "total": self.total.to_dict(),
            "by_name": {name: one.to_dict() for name, one in self.by_name.items()},
            "parallel": None if self.parallel is None else self.parallel.to_dict(),
        }


def evaluate(
    tok: Tokenizer,
    corpus: CorpusLike | Mapping[str, CorpusLike],
    *,
    reference: str | None = None,
    alpha: float = 2.5,
    threads: int | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """Measure a tokenizer on text: compression, fertility, coverage, Rényi efficiency, and more.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", vocab_size=260)
    >>> found = digram.evaluate(tok, ["the lowest", "low é"])
    >>> found.total.bytes_per_token, found.total.fertility, found.total.coverage
    (1.6, 2.25, 0.93...)

    `corpus` is what `digram.train` accepts: texts, files, or an iterator of texts. Each text is a
    document. Several named corpora are measured one by one and together. With a `reference`, text n
    of each corpus has the same content as text n of the others, and `parallel` compares their
    costs:

    >>> found = digram.evaluate(tok, {"en": "low tower", "sw": "mnara mfupi"}, reference="en")
    >>> found.by_name["sw"].tokens, found.parallel.premium
    (11, {'en': 1.0, 'sw': 1.57...})

    `print(found)` shows all measures as a table; `found.to_dict()` returns plain values.
    docs/evaluation.md defines each measure, its unit and its corpus; `alpha` is the order of
    Rényi's entropy. The text of special tokens is encoded as ordinary text.

    Raises `OptionError` if `reference` is not the name of a corpus, if the corpora have different
    numbers of texts beside a reference, and for a negative `alpha`; and the errors of `encode`,
    with the name of the corpus.

    Takes two to three times as long as encoding, on `threads` threads in parallel, and some 1 µs
    per token of the vocabulary. Memory: a batch of texts or the longest one, 8 bytes per text, and
    the distinct words.
    """
    instance("tok", tok, Tokenizer)
    check_order(alpha)
    named = named_corpora(corpus, reference)
    facts = vocabulary(tok, check_threads(threads))
    found = tallied(tok, named, facts, "Evaluating", threads=threads, progress=progress)
    total = Measures(together([*found.values()]), facts.size, alpha)
    by_name = {n: Measures(t, facts.size, alpha) for n, t in found.items() if n is not None}
    return Evaluation(total, by_name, None if reference is None else _parallel(by_name, reference))


def tallied(
    tok: Tokenizer,
    named: Mapping[str | None, Corpus],
    facts: Vocabulary,
    title: str,
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> dict[str | None, Tally]:
    """The counts of each corpus, by name; a bar with the given title shows the progress."""
    return each_source(
        named,
        lambda one, advance: tally(tok, one, facts, threads=threads, advance=advance),
        title,
        progress=progress,
    )


def _parallel(by_name: dict[str, Measures], reference: str) -> Parallel:
    number = by_name[reference].documents
    lines = r'separator="\n"'
    for name, one in by_name.items():
        if one.documents != number:
            raise OptionError(
                f"{name!r} has {several(one.documents, 'text')} and {reference!r} {number:,}, so "
                "their texts are not parallel, line by line.",
                value=name,
                hint=f"Pass {files_with(lines)} to split files into lines. Leave out "
                "reference= for text that is not parallel.",
            )
    return Parallel({n: one.tokens_per_document for n, one in by_name.items()}, reference)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
