"""What a tokenizer does with text, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from digram.audit import Audit
    from digram.metrics import Advice, Comparison, Curve, Evaluation
    from digram.obeying import RulesCheck
    from digram.report import Report
    from digram.rules import Rules
    from digram.sources import Source
    from digram.tokenizer import Tokenizer

__all__ = ["Measuring"]


class Measuring:
    """The part of a tokenizer that measures it."""

    __slots__ = ()

    def evaluate(
        self,
        source: Source | Mapping[str, Source],
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
        >>> found = tok.evaluate(["the lowest", "low é"])
        >>> found.total.bytes_per_token, found.total.fertility, found.total.coverage
        (1.6, 2.25, 0.93...)

        What comes in is what `digram.train` takes: texts, files, or an iterator of texts; each text
        is a document, and `separator` cuts them. Several sources, by name, are measured one by one
        and together. With a `reference`, text n of each says the same as text n of the others, and
        `parallel` has what each costs beside it:

        >>> found = tok.evaluate({"en": "low tower", "sw": "mnara mfupi"}, reference="en")
        >>> found.by_name["sw"].tokens, found.parallel.premium
        (11, {'en': 1.0, 'sw': 1.57...})

        `print(found)` shows all of it as a table, `found.as_dict()` gives it as plain values. Each
        measure, its unit and its source are in docs/evaluation.md; `alpha` is the order of Rényi's
        entropy. The text of special tokens stays text.

        Raises `OptionError` for a reference that is no name, for sources of unequal numbers of
        texts beside one, and for a negative `alpha`; else as `encode`, with the name of the source.

        Takes two to three times as long as encoding, in parallel on `threads` threads, and some
        1 µs for each token of the vocabulary. Memory: a batch of texts or the longest one, 8 bytes
        for each text, and the distinct words.
        """
        from digram.metrics import evaluate

        return evaluate(
            cast("Tokenizer", self),
            source,
            reference=reference,
            separator=separator,
            alpha=alpha,
            threads=threads,
            progress=progress,
        )

    def audit(
        self,
        source: Source | None = None,
        *,
        separator: str | bytes | None = None,
        rare: int = 10,
        long: int = 32,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Audit:
        """Look for what is wrong with the vocabulary: tokens in vain, doubled, broken, or a danger.

        >>> import digram
        >>> corpus = "play: play? play! play " * 9
        >>> tok = digram.train(corpus, vocab_size=264, pretokenizer="whitespace")
        >>> found = tok.audit(corpus)
        >>> found.by_kind["punctuation"].details
        ('[play] [·play] [·play!] [·play?] [·play:] [play:]',)

        Finds tokens that no text becomes (with a proof), that do not occur in the corpus or occur
        less than `rare` times, that are no whole characters, that are one word in several forms,
        that are junk, longer than `long` characters, or numbers that fall into groups unevenly;
        special tokens that text may hold; gaps in the ids; and text that does not come back. Each
        kind is defined in docs/audit.md. Without a source, what needs none.

        `print(found)` shows a table, `found.as_dict()` gives plain values, and a test holds it to
        limits, of numbers or shares:

        >>> assert not found.check(unreachable=0, unused=0.05, round_trip=0)
        >>> print(*found.check(punctuation=0))
        punctuation: 4 of 264 (1.5%), where none is allowed

        What comes in is what `digram.train` takes, and `separator` cuts it. The text of special
        tokens stays text. Raises `OptionError` for a `rare` or `long` below 1; else as `encode`.
        Takes what encoding and decoding take, and some 10 µs for each token of the vocabulary.
        Memory: a batch of texts or the longest one, with its ids.
        """
        from digram.audit import audit

        return audit(
            cast("Tokenizer", self),
            source,
            separator=separator,
            rare=rare,
            long=long,
            threads=threads,
            progress=progress,
        )

    def curve(
        self,
        source: Source | Mapping[str, Source],
        *,
        sizes: Iterable[int] | None = None,
        width: int | None = None,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Curve:
        """What this vocabulary and the smaller ones inside it do with a text, size by size.

        >>> import digram
        >>> text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
        >>> tok = digram.train(text, vocab_size=276)
        >>> found = tok.curve(text, sizes=[260, 268, 276])
        >>> [(point.vocab_size, point.tokens) for point in found]
        [(260, 47), (268, 24), (276, 16)]
        >>> found[260].tokens == tok.shrink(260).count(text)
        True

        `source` and `separator` are as for `evaluate`; several sources count as one. `sizes` are
        those of `shrink`; without them round ones from 1,000 on, and this tokenizer's own. With
        the `width` of a model's embeddings each point knows how many parameters they have.
        `print(found)` shows a table, `found.as_dict()` gives plain values, and
        `digram.advise(found)` a recommendation.

        All numbers are exactly those of `shrink`'s tokenizers, and cost one `evaluate` together:
        the text is encoded once, and merges are undone on how often each token stands in it, some
        1 µs a token of the vocabulary. Raises as `shrink` and `evaluate` do.
        """
        from digram.metrics import curve

        return curve(
            cast("Tokenizer", self),
            source,
            sizes=sizes,
            width=width,
            separator=separator,
            threads=threads,
            progress=progress,
        )

    def advise(
        self,
        source: Source | Mapping[str, Source],
        *,
        parameters: float | str | None = None,
        width: int | None = None,
        multilingual: bool = False,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Advice:
        """How large a vocabulary should be for a model of such text, with the reasons.

        >>> import digram
        >>> text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
        >>> tok = digram.train(text, vocab_size=276)
        >>> print(tok.advise(text, parameters="7B"))
        large: 62,000 tokens  (7B parameters beside it, width 4,096)
        ...

        `digram.advise` of `curve(source)`: the other arguments are theirs. Train to a larger size
        than you expect to need, and see what the smaller ones inside it do.
        """
        from digram.metrics import advise

        found = self.curve(source, separator=separator, threads=threads, progress=progress)
        return advise(found, parameters=parameters, width=width, multilingual=multilingual)

    def compare(
        self,
        other: Tokenizer,
        source: Source | Mapping[str, Source],
        *,
        names: tuple[str, str] = ("this", "other"),
        top: int = 10,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Comparison:
        """Which of two tokenizers needs fewer tokens for a text, and where; what each has alone.

        >>> import digram
        >>> words = digram.train("slow slower slowest low lower lowest", vocab_size=266)
        >>> years = digram.train("low 2025 low 2026 low 2027", vocab_size=262)
        >>> found = words.compare(years, {"words": "slow low", "years": "low 2025"})
        >>> found
        <digram.metrics.Comparison: this 8 tokens, other 7 (-12.5%), 56.2% cut alike>
        >>> found.by_name["words"].change, found.by_kind["numbers"].change
        (0.5, -0.5)
        >>> found.this_fewer
        (Place(text=b'slow', count=1, this=(b'slow',), other=(b's', b'low')),)

            source, separator: as for `evaluate`; sources with names are compared one by one too.
            names: what the tables call the two.
            top: how many places, and how many tokens that one has alone, are kept of each sort.

        `print(found)` shows tables, `found.as_dict()` gives plain values. What each field means is
        defined in docs/comparing.md. The two may differ in anything: unit, pretokenizer, size.
        Text that only one of them can encode raises as `encode` does.

        Costs both encodings with their offsets, and 0.3 to 0.6 µs for each token of either. Memory:
        some 40 times the longest text, the distinct places where the two differ, and the distinct
        pieces that are not ASCII.
        """
        from digram.metrics import compare

        return compare(
            cast("Tokenizer", self),
            other,
            source,
            names=names,
            top=top,
            separator=separator,
            threads=threads,
            progress=progress,
        )

    def report(
        self,
        corpus: Source | Mapping[str, Source],
        *,
        parallel: Mapping[str, Source] | None = None,
        reference: str | None = None,
        title: str | None = None,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Report:
        """All there is to say of a tokenizer on some texts: one page, its figures, its numbers.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
        >>> found = tok.report({"prose": ["low lower"]}, title="A tokenizer of low words")
        >>> [(name, chart.title) for name, chart in found.charts.items()][0]
        ('curve', 'Compression by size of the vocabulary')
        >>> found.evaluation.total.tokens
        3

            corpus: a source as for `evaluate`, or several by name, each of which can be read again.
            parallel: texts by name that say the same line by line, as for `evaluate`; files and
                strings are cut where lines end.
            reference: the one of these that the others are compared with.
            title: what the page is called.
            separator: cuts files of `corpus` into documents.

        `save("report.html")` writes one file that needs no network and no script, `charts` are the
        figures as data, SVG and PNG, `save_figures` writes all of them, `as_dict()` gives plain
        values. The same inputs give the same bytes. What the page says is told in docs/report.md.

        Drawing needs `pip install 'digram[plots]'`, and takes some seconds. The texts are encoded
        twice. Raises as `evaluate`, and `OptionError` for an iterator, which cannot be read again,
        and for names that would be shown alike, or as that of all texts together.
        """
        from digram.report import report

        return report(
            cast("Tokenizer", self),
            corpus,
            parallel=parallel,
            reference=reference,
            title=title,
            separator=separator,
            threads=threads,
            progress=progress,
        )

    def check_rules(
        self,
        source: Source,
        rules: Rules | None = None,
        *,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> RulesCheck:
        """Look whether a corpus becomes tokens as rules want it, and what the rules cost.

        >>> import digram
        >>> tok = digram.train("5 mg of iron, 10 mg", max_merges=9, pretokenizer="gpt2")
        >>> rules = digram.Rules(["iron"], units=["mg"])
        >>> found = tok.check_rules("5 mg of iron, 5mg", rules)
        >>> found.by_kind["units"].examples[0]
        Place(text='mg', became=(b' mg',), times=1, document=0, start=2)
        >>> found.violated, tok.with_rules(rules)[0].check_rules("5 mg of iron, 5mg").violated
        (2, 0)

        By this tokenizer's own rules, or by others, which need not be those it was made with: so a
        general vocabulary can be asked what it does to terms. A term or abbreviation is to be one
        token, with the space before it or without; a unit after a number to be one token and
        nothing else; no token may go over the end of a pattern's match or of a number, nor join
        digits that the policy parts; a forbidden token is not to occur. `by_kind` says of each kind
        how many places there are, how many violate the rule, and the most frequent of these with
        where they stand first; `several` counts matches and numbers that are more than one token.
        The cost is how many tokens there are with these rules and without any; it is None where
        merges are not applied by rank alone (`picky`, `superwords="boundless"`).

        `print(found)` shows a table. What comes in is what `digram.train` takes, and `separator`
        cuts it. Raises `OptionError` where there are no rules, and for unit "char"; else as
        `encode`. Takes three times as long as encoding, and some 2 µs for each place.
        """
        from digram.obeying import check_rules

        return check_rules(
            cast("Tokenizer", self),
            source,
            rules,
            separator=separator,
            threads=threads,
            progress=progress,
        )
