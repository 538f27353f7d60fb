"""The sections of a report's page, except for the properties of the tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from digram._util.progress import amount
from digram.analysis.metrics.size_curve import SIZES
from digram.display import html
from digram.errors import several
from digram.reports import words
from digram.reports.drawings import ALL
from digram.reports.parts import (
    Markup,
    chip,
    chips,
    element,
    figure,
    named_list,
    paragraph,
    shown,
    table,
)

if TYPE_CHECKING:
    from digram.analysis.audit import Finding
    from digram.analysis.metrics import Measures
    from digram.reports.contents import Group
    from digram.reports.gathering import Report
    from digram.reports.samples import Sample

__all__ = ["Sections"]

_CURVES = 6  # the number of texts whose curves have a column
_ISOLATES = re.compile("[\u2066-\u2069]")  # needed in a terminal, but not on a page


class Sections:
    """The sections of one report; figures and tables are numbered as they are created."""

    def __init__(self, of: Report) -> None:
        self.of = of
        self.figures = count(1)
        self.tables = count(1)
        self.total = of.evaluation.total
        self.named = of.evaluation.by_name

    def __iter__(self) -> Iterator[tuple[str, str, Iterator[str]]]:
        """Each with its anchor, its title and its parts; the parts are created in this order."""
        yield "measures", "Measures", self.measures()
        yield "size", "Size of the vocabulary", self.size()
        if self.of.parallel is not None:
            yield "languages", "Languages", self.languages()
        yield "vocabulary", "The vocabulary", self.vocabulary()
        yield "audit", "Audit", self.audit()
        yield "samples", "Samples", self.samples()
        yield "sources", "Sources", (element("p", line) for line in words.SOURCES)

    def measures(self) -> Iterator[str]:
        rows = [self._measured(name, one) for name, one in self.named.items()]
        marked = {}
        if len(rows) > 1:
            marked[len(rows)] = "sum"
            rows.append(self._measured(ALL, self.total))
        head = ["text", "documents", "size", "tokens", *(one.name for one in words.MEASURES)]
        yield self._table("The measures of the tokenizer on each text.", head, rows, marked=marked)
        yield element("h3", "The measures")
        yield named_list((one.name, one.definition) for one in words.MEASURES)

    def _measured(self, name: str, of: Measures) -> list[str]:
        sums = [f"{of.documents:,}", amount(of.bytes), f"{of.tokens:,}"]
        return [name, *sums, *(one.shown(of) for one in words.MEASURES)]

    def size(self) -> Iterator[str]:
        curves = self.of.curves
        if not curves:
            yield paragraph(f"There is no curve: {self.of.no_curve}")
            return
        whole = curves[""] if "" in curves else next(iter(curves.values()))
        own = whole.sizes[-1]
        names = [name for name in curves if name] if len(curves) <= _CURVES + 1 else [""]
        sizes = [size for size in whole.sizes if size in SIZES or size == own]
        if len(sizes) < 4:
            sizes = whole.sizes[:: max(len(whole.sizes) // 8, 1)]
            sizes = [*dict.fromkeys([*sizes, own])]
        head = [
            "tokens",
            *(name or ALL for name in names),
            "used",
            "frequent",
        ]
        rows = [
            [
                f"{size:,}",
                *(f"{curves[name][size].bytes_per_token:.3f}" for name in names),
                words.share(whole[size].vocabulary_used),
                words.share(whole[size].frequent),
            ]
            for size in sizes
        ]
        yield paragraph(
            "Each smaller vocabulary is a prefix of this one, and its numbers are exact: "
            "merges are undone on the counts of the tokens in the text."
        )
        caption = (
            "Smaller vocabularies: bytes per token of each text; the share of the vocabulary that "
            "occurs in all text (used), and that occurs at least a hundred times (frequent)."
        )
        right = self._table(caption, head, rows, marked={len(rows) - 1: "here"}, texts=0)
        yield element("div", self._figure("curve"), right, class_="beside")

    def languages(self) -> Iterator[str]:
        found = self.of.parallel
        assert found is not None
        costs = found.parallel
        assert costs is not None
        order = sorted(costs.premium, key=lambda name: (costs.premium[name], name))
        lines = found.by_name[costs.reference].documents
        yield paragraph(
            f"{several(lines, 'line')} with the same content in {several(len(order), 'language')}, "
            f"compared with {costs.reference}. Fewest tokens: {costs.best}. Most tokens: "
            f"{costs.worst}, {costs.premium[costs.worst]:.2f} times those of the reference. "
            f"Gini coefficient of the costs: {costs.gini:.3f}."
        )
        head = [
            "language",
            "tokens per line",
            "premium",
            "bytes per token",
            "characters per token",
            "coverage",
        ]
        rows = []
        for name in order:
            one = found.by_name[name]
            numbers = costs.tokens_per_line[name], one.bytes_per_token, one.characters_per_token
            cost, size, characters = (f"{number:,.2f}" for number in numbers)
            premium = f"{costs.premium[name]:,.2f}×"
            rows.append([name, cost, premium, size, characters, words.share(one.coverage)])
        right = self._table(
            "The cost of the same lines.", head, rows, marked={order.index(costs.reference): "here"}
        )
        yield element("div", self._figure("premium"), right, class_="beside")
        yield named_list(words.PARALLEL.items())

    def vocabulary(self) -> Iterator[str]:
        contents = self.of.contents
        share = contents.unused / (contents.learned or 1)
        yield paragraph(
            f"Of {contents.learned:,} learned tokens {contents.unused:,} ({words.share(share)}) "
            "do not occur in the text. They may be parts of tokens that do: a token that is always "
            "merged further never occurs."
        )
        lengths = self._groups("bytes", "Tokens by length in bytes.", contents.by_length)
        yield element("div", self._figure("lengths"), lengths, class_="beside")
        kinds = self._groups("kind", "Tokens by kind and script.", contents.by_kind)
        yield element("div", self._figure("kinds"), kinds, class_="beside")
        total = self.total.tokens or 1
        most = element(
            "div",
            element("h3", "The most used tokens"),
            paragraph("Below each token its share of the tokens of the text.", class_="note"),
            chips(contents.most_used, lambda one: f"{one.times / total:.2%}"),
        )
        yield element("div", self._figure("ranks"), most, class_="beside")
        yield element("h3", "The least used tokens")
        yield paragraph(
            "Learned tokens with the fewest occurrences in the text; equal ones in the order of "
            "learning. Below each token its count.",
            class_="note",
        )
        yield chips(contents.least_used, lambda one: f"{one.times:,}")
        yield element("h3", "The longest tokens")
        rows = [
            [chip(one.token, at), f"{one.id:,}", f"{len(one.token):,}", f"{one.times:,}"]
            for at, one in enumerate(contents.longest)
        ]
        yield self._table("", ["token", "id", "bytes", "times in text"], rows)
        yield element("h3", "The longest words")
        yield chips(contents.longest_words, lambda one: f"{one.times:,}")

    def _groups(self, title: str, caption: str, groups: list[Group]) -> Markup:
        tokens = sum(one.tokens for one in groups) or 1
        times = sum(one.times for one in groups) or 1
        head = [title, "tokens", "of all", "used", "times in text", "of text"]
        rows = [
            [one.name, f"{one.tokens:,}", words.share(one.tokens / tokens), f"{one.used:,}",
             f"{one.times:,}", words.share(one.times / times)]
            for one in groups
        ]  # fmt: skip
        return self._table(caption, head, rows)

    def audit(self) -> Iterator[str]:
        found = self.of.audit
        yield paragraph(
            f"Possible defects of the vocabulary, among {found.tokens:,} ordinary "
            f"and {found.special_tokens:,} special tokens and in all text. An error is a fault, a "
            "warning is undesirable, and a note is for information."
        )
        rows = [
            [
                element("span", one.severity, class_=f"mark {one.severity}"),
                one.kind.replace("_", " "),
                self._explained(one),
                f"{one.count:,}",
                words.share(one.share),
            ]
            for one in found.findings
        ]
        head = ["", "finding", "description, with examples", "number", "share"]
        yield self._table("Findings, the most serious first.", head, rows, texts=3)
        none = [kind.replace("_", " ") for kind, one in found.by_kind.items() if not one.count]
        if none:
            yield paragraph(f"Checked, and not found: {', '.join(none)}.", class_="note")

    def _explained(self, one: Finding) -> Markup:
        """The description of a finding, and its tokens or its details."""
        tokens = self.of.examples[one.kind]
        limit = words.LIMITS.get(one.kind)
        what = one.explanation if limit is None else f"{one.explanation} ({limit})"
        if one.kind in words.TOLD or not tokens:
            lines = [
                element("div", element("code", _ISOLATES.sub("", line))) for line in one.details[:4]
            ]
            return element("div", what, *lines)
        drawn = [chip(entry.token, at, f"id {entry.id}") for at, entry in enumerate(tokens)]
        more = " …" if one.count > len(tokens) else ""
        return element("div", what, element("div", *drawn, more))

    def samples(self) -> Iterator[str]:
        yield paragraph(
            "The beginning of each text. Adjacent tokens have different colours; · is a space, "
            "↵ the end of a line, and ⟨E4…⟩ a part of a character."
        )
        for name, one in self.of.samples.items():
            yield _sample(name, one)
        if self.of.lines:
            assert self.of.parallel is not None
            assert self.of.parallel.parallel is not None
            costs = self.of.parallel.parallel.premium
            order = sorted(self.of.lines, key=lambda name: (costs[name], name))
            lines = [_sample(name, self.of.lines[name]) for name in order]
            title = f"The first line in {several(len(lines), 'language')}, the cheapest first"
            yield element("details", element("summary", title), *lines)

    def _figure(self, name: str) -> Markup:
        chart = self.of.charts.get(name)
        return figure(chart, next(self.figures), words.FIGURES[name]) if chart else Markup()

    def _table(
        self,
        caption: str,
        head: list[str],
        rows: list[list[str]],
        marked: dict[int, str] | None = None,
        texts: int = 1,
    ) -> Markup:
        if caption:
            title = element("b", f"Table {next(self.tables)}.")
            caption = Markup(f"{title} {shown(caption)}")
        return table(caption, head, rows, texts=texts, marked=marked)


def _sample(name: str, of: Sample) -> Markup:
    number = several(len(of.ids), "token")
    extent = f", its {number}" if of.is_whole else f", the first {number}"
    titles = [f"id {id}" for id in of.ids]
    drawn = element("div", Markup(html.tokens(of.tokens, titles=titles)), class_="text")
    note = element("span", extent, class_="note")
    return Markup(element("h3", name, note) + drawn)
