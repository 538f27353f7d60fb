"""How well a tokenizer does on text: of one corpus, or of several by name."""

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
from digram.errors import OptionError, several
from digram.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


__all__ = ["Evaluation", "Measures", "Parallel", "evaluate", "tallied"]


@dataclass(frozen=True, eq=False)
class Measures:
    """What a tokenizer does with a corpus, in numbers. Each is defined in docs/evaluation.md.

    >>> import digram
    >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
    >>> found = digram.evaluate(tok, "low low é").total
    >>> found.tokens, found.bytes, found.characters, found.words, found.documents
    (6, 10, 9, 3, 1)
    >>> found.bytes_per_token, found.fertility, found.whole_words, found.coverage
    (1.66..., 1.33..., 0.66..., 0.88...)

    A share of nothing is 0: all are, where there is no text.
    """

    tally: Tally
    vocab_size: int
    """How many tokens text can become, the base of `renyi_efficiency`: all but the special ones."""
    alpha: float
    """The order of `renyi_efficiency` and `renyi_entropy`."""

    @property
    def documents(self) -> int:
        """How many texts there are; in parallel text, lines."""
        return len(self.tally.lengths)

    @property
    def bytes(self) -> int:
        """The bytes of the text, in UTF-8."""
        return self.tally.bytes

    @property
    def characters(self) -> int:
        """Its code points; of bytes that are no UTF-8, what one U+FFFD would stand for is one."""
        return self.tally.characters

    @property
    def words(self) -> int:
        """Its words: what stands between white space."""
        return self.tally.words

    @cached_property
    def tokens(self) -> int:
        """Its tokens."""
        return int(self.tally.times.sum())

    @property
    def bytes_per_token(self) -> float:
        """`bytes` / `tokens`, the compression."""
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
        """How many tokens there are for a word; those of white space alone are left out."""
        return _ratio(self.tokens - self.tally.blank_tokens, self.words)

    @property
    def whole_words(self) -> float:
        """The share of words that are one token, alone or with a space before them."""
        return _ratio(self.tally.whole_words, self.words)

    @property
    def coverage(self) -> float:
        """The share of characters that stand whole in a token.

        The others are spread over several tokens as bytes, or an unknown token stands for them.
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
        """How many different tokens stand in the text."""
        return int((self.tally.times > 0).sum())

    @property
    def vocabulary_used(self) -> float:
        """`tokens_used` / `vocab_size`."""
        return _ratio(self.tokens_used, self.vocab_size)

    @property
    def times(self) -> NDArray[np.uint64]:
        """How often each token stands in the text, by id."""
        return self.tally.times

    @property
    def lengths(self) -> NDArray[np.uint64]:
        """How many tokens each text has, in their order."""
        return self.tally.lengths

    def to_dict(self) -> dict[str, float]:
        """The numbers by name, as JSON has them."""
        return {name: getattr(self, name) for name in _NAMES}


_NAMES = (
    "documents", "bytes", "characters", "words", "tokens", "bytes_per_token",
    "characters_per_token", "words_per_token", "tokens_per_document", "fertility", "whole_words",
    "coverage", "entropy", "renyi_entropy", "renyi_efficiency", "tokens_used", "vocabulary_used",
)  # fmt: skip


@dataclass(frozen=True)
class Parallel:
    """Costs by language on parallel text, which says the same in each, line by line.

    >>> found = Parallel({"en": 20.0, "sw": 30.0, "shn": 100.0}, reference="en")
    >>> found.premium, found.best, found.worst, found.gini
    ({'en': 1.0, 'sw': 1.5, 'shn': 5.0}, 'en', 'shn', 0.35...)
    """

    tokens_per_line: dict[str, float]
    reference: str

    @property
    def premium(self) -> dict[str, float]:
        """The tokens of each as a multiple of the reference's. Petrov et al. 2023."""
        base = self.tokens_per_line[self.reference]
        return {name: _ratio(cost, base) for name, cost in self.tokens_per_line.items()}

    @property
    def gini(self) -> float:
        """How unequal `tokens_per_line` are: 0 for equal ones. Foroutan et al. 2025."""
        return gini(list(self.tokens_per_line.values()))

    @property
    def best(self) -> str:
        """The one with the fewest tokens; of equal ones the first."""
        return min(self.tokens_per_line, key=self.tokens_per_line.__getitem__)

    @property
    def worst(self) -> str:
        """The one with the most tokens; of equal ones the first."""
        return max(self.tokens_per_line, key=self.tokens_per_line.__getitem__)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as JSON has them."""
        names = ("reference", "tokens_per_line", "premium", "gini", "best", "worst")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `digram.evaluate` returns; `print` shows it as a table.

    `total` are the measures of all text; of several corpora `by_name` has those of each, and with
    a reference `parallel` compares them. `skipped` is how many records without a text there were.
    """

    total: Measures
    by_name: dict[str, Measures]
    parallel: Parallel | None

    @property
    def skipped(self) -> int:
        """Records that were skipped under `on_error="skip"`."""
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
        """All of it as plain values, as JSON has them."""
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
    separator: str | bytes | None = None,
    alpha: float = 2.5,
    threads: int | None = None,
    progress: bool | None = None,
) -> Evaluation:
    """How well it does on text: compression, fertility, coverage, Rényi efficiency, and more.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", vocab_size=260)
    >>> found = digram.evaluate(tok, ["the lowest", "low é"])
    >>> found.total.bytes_per_token, found.total.fertility, found.total.coverage
    (1.6, 2.25, 0.93...)

    What comes in is what `digram.train` takes: texts, files, or an iterator of texts; each text
    is a document, and `separator` cuts them. Several corpora, by name, are measured one by one
    and together. With a `reference`, text n of each says the same as text n of the others, and
    `parallel` has what each costs beside it:

    >>> found = digram.evaluate(tok, {"en": "low tower", "sw": "mnara mfupi"}, reference="en")
    >>> found.by_name["sw"].tokens, found.parallel.premium
    (11, {'en': 1.0, 'sw': 1.57...})

    `print(found)` shows all of it as a table, `found.to_dict()` gives it as plain values. Each
    measure, its unit and its corpus are in docs/evaluation.md; `alpha` is the order of Rényi's
    entropy. The text of special tokens stays text.

    Raises `OptionError` for a reference that is not a name, for corpora of unequal numbers of
    texts beside one, and for a negative `alpha`; else as `encode`, with the name of the corpus.

    Takes two to three times as long as encoding, in parallel on `threads` threads, and some
    1 µs for each token of the vocabulary. Memory: a batch of texts or the longest one, 8 bytes
    for each text, and the distinct words.
    """
    instance("tok", tok, Tokenizer)
    check_order(alpha)
    named = named_corpora(corpus, reference, separator)
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
    """What is counted of each corpus, by its name; a bar with a title shows how far it is."""
    return each_source(
        named,
        lambda one, advance: tally(tok, one, facts, threads=threads, advance=advance),
        title,
        progress=progress,
    )


def _parallel(by_name: dict[str, Measures], reference: str) -> Parallel:
    lines = by_name[reference].documents
    for name, one in by_name.items():
        if one.documents != lines:
            raise OptionError(
                f"{name!r} has {several(one.documents, 'text')} and {reference!r} {lines:,}, so "
                "they do not say the same line by line.",
                value=name,
                hint=r'Files are cut into lines by separator="\n". Text that is not parallel has '
                "no reference.",
            )
    return Parallel({n: one.tokens_per_document for n, one in by_name.items()}, reference)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
