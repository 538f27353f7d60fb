"""Collecting a report; and the report as a page, as figures and as plain values."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from digram._util.storage import atomic_write
from digram._util.validation import instance, mapping, path_name, word
from digram.analysis.audit import audit
from digram.analysis.metrics import evaluate
from digram.analysis.metrics.evaluation import Evaluation
from digram.analysis.metrics.naming import check_names
from digram.analysis.metrics.size_curve import SIZES, Curve, curve_of
from digram.corpus import Corpus, CorpusLike, Text
from digram.display import harmless
from digram.errors import OptionError, VocabError, several, show
from digram.reports import words
from digram.reports.contents import Contents, Entry, contents
from digram.reports.drawings import ALL
from digram.reports.lines import by_line, first_lines
from digram.reports.samples import Sample, check_readable_again, sample
from digram.tokenizer.summary import facts
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.reserved_ids import family

if TYPE_CHECKING:
    from digram.analysis.audit import Audit, Finding
    from digram.reports.charts import Chart

__all__ = ["Report", "report"]

_STEPS = 40  # sizes of a curve, in addition to the round ones
_EXAMPLES, _ROOM = 12, 96  # the maximum number of tokens of a finding, and of their bytes
_NO_TOKENS = ("gaps", "ids_beyond")  # findings about ids that may have no token
_LINE = 60  # the maximum number of tokens to show of a parallel line


@dataclass(frozen=True, eq=False)
class Report:
    """The result of `digram.report` as values; `save` writes the page.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
    >>> found = digram.report(tok, {"a": ["low lower"], "b": ["slow"]}, title="low")
    >>> found
    <digram.Report: 'low', 260 tokens, 2 texts>
    >>> [*found.charts]
    ['curve', 'ranks', 'lengths', 'kinds']
    >>> found.charts["curve"].data[0]
    {'corpus': 'a', 'vocab_size': 257, 'tokens': 7, 'bytes_per_token': 1.28...}

    `curves` is empty if the vocabulary contains no smaller ones; `no_curve` gives the reason.
    """

    title: str
    tokenizer: dict[str, Any]
    """Its size, settings and training record."""
    evaluation: Evaluation
    parallel: Evaluation | None
    curves: dict[str, Curve]
    """The curves by the names of the texts; if there are several, '' is that of all together."""
    no_curve: str
    contents: Contents
    audit: Audit
    examples: dict[str, list[Entry]]
    """Some tokens of each kind of finding that is about tokens."""
    samples: dict[str, Sample]
    lines: dict[str, Sample]
    """The first line that is empty in none of the parallel texts, by the names of the texts."""

    @cached_property
    def charts(self) -> dict[str, Chart]:
        """The figures by name, in the order of the page. Their data needs no other package."""
        from digram.reports.charts import charts

        return charts(self)

    def html(self) -> str:
        """The page as one self-contained HTML document."""
        from digram.reports.page import page

        return page(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, a self-contained HTML document.

        >>> import digram, pathlib, tempfile
        >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
        >>> digram.report(tok, ["low lower"]).save(path)
        >>> path.read_text()[:15]
        '<!doctype html>'

        The file is replaced atomically: a crash leaves either the old file or the new one. Raises
        `OptionError` if altair, which draws the figures, is not installed, and `OSError` if the
        file cannot be written. Drawing takes some seconds.
        """
        atomic_write(path_name(path), self.html().encode())

    def save_figures(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write each figure as `NAME.svg`, `NAME.png` and `NAME.csv`, and return the paths.

        The folder is created if it does not exist. Raises the errors of `save`.
        """
        place = Path(path_name(folder, "folder"))
        place.mkdir(parents=True, exist_ok=True)
        paths = [place / f"{name}.{kind}" for name in self.charts for kind in ("svg", "png", "csv")]
        for path in paths:
            self.charts[path.stem].save(path)
        return paths

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        return {
            "title": self.title,
            "tokenizer": self.tokenizer,
            "evaluation": self.evaluation.to_dict(),
            "parallel": None if self.parallel is None else self.parallel.to_dict(),
            "curves": {name: one.to_dict() for name, one in self.curves.items()},
            "contents": self.contents.to_dict(),
            "audit": self.audit.to_dict(),
            "samples": {name: one.to_dict() for name, one in self.samples.items()},
            "lines": {name: one.to_dict() for name, one in self.lines.items()},
            "figures": {name: list(one.data) for name, one in self.charts.items()},
        }

    def __repr__(self) -> str:
        size = several(self.tokenizer["tokens"], "token")
        texts = several(len(self.evaluation.by_name), "text")
        parallel = "" if self.parallel is None else f", {len(self.parallel.by_name)} parallel"
        return f"<digram.Report: {self.title!r}, {size}, {texts}{parallel}>"

    def _repr_html_(self) -> str:
        from digram.reports.page import framed

        return framed(self.html())


def report(
    tok: Tokenizer,
    corpus: CorpusLike | Mapping[str, CorpusLike],
    *,
    parallel: Mapping[str, CorpusLike] | None = None,
    reference: str | None = None,
    title: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> Report:
    """Report on a tokenizer with some texts: one page, its figures, its numbers.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
    >>> found = digram.report(tok, {"prose": ["low lower"]}, title="A tokenizer of low words")
    >>> [(name, chart.title) for name, chart in found.charts.items()][0]
    ('curve', 'Compression by size of the vocabulary')
    >>> found.evaluation.total.tokens
    3

        corpus: a corpus as for `evaluate`, or several by name; each must be readable several times.
        parallel: parallel texts by name, with the same content line by line, as for `evaluate`;
            files and strings are split into lines.
        reference: the parallel text that the others are compared with. Without `parallel` the texts
            of `corpus` are the parallel ones, as in `evaluate(tok, texts, reference=...)`.
        title: the title of the page.

    `save("report.html")` writes one file that needs no network and no script. `charts` are the
    figures as data, SVG and PNG; `save_figures` writes all of them; `to_dict()` returns plain
    values. The same inputs give the same bytes. docs/report.md describes the page.

    Drawing needs `pip install ".[plots]"` and takes some seconds. The texts are encoded twice.
    Raises the errors of `evaluate`, and `OptionError` for an iterator, which cannot be read twice,
    and for names that would look alike, or like the name of all texts together.
    """
    instance("tok", tok, Tokenizer)
    texts = dict(corpus) if isinstance(corpus, Mapping) else {"corpus": corpus}
    if parallel is not None:
        mapping("parallel", parallel, "names and texts")
    elif reference is not None:
        parallel = texts
    title = several(len(tok), "token") if title is None else word("title", title)
    lines = None if parallel is None else {n: by_line(one) for n, one in parallel.items()}
    _check(texts, lines, reference)
    evaluation = evaluate(tok, texts, threads=threads, progress=progress)
    costs, firsts = None, dict[str, Text]()
    if lines is not None:
        costs = evaluate(tok, lines, reference=reference, threads=threads, progress=progress)
        firsts = first_lines(lines, costs)
    read = chain.from_iterable(Corpus.of(one).documents() for one in texts.values())
    audited = audit(tok, read, rare=words.RARE, long=words.LONG, threads=threads, progress=progress)
    curves, no_curve = _curves(tok, evaluation)
    return Report(
        title=title,
        tokenizer=facts(tok),
        evaluation=evaluation,
        parallel=costs,
        curves=curves,
        no_curve=no_curve,
        contents=contents(tok, evaluation.total.times),
        audit=audited,
        examples={one.kind: _entries(tok, one, evaluation) for one in audited.findings},
        samples={name: sample(tok, one) for name, one in texts.items()},
        lines={name: sample(tok, one, most=_LINE) for name, one in firsts.items()},
    )


def _check(
    texts: Mapping[str, CorpusLike], lines: Mapping[str, CorpusLike] | None, reference: str | None
) -> None:
    _check_names("corpus", texts, {ALL: "are all texts together"} if len(texts) > 1 else {})
    if lines is not None:
        _check_names("parallel", lines, {})
    for argument, sources in (("corpus", texts), ("parallel", lines or {})):
        for name, one in sources.items():
            check_readable_again(f"{argument}[{name!r}]", one)
    if lines is not None and reference is None:
        raise OptionError(
            "parallel= is given without reference=.",
            hint=f"Pass reference=, one of {', '.join(map(repr, lines))}.",
        )


def _check_names(
    argument: str, sources: Mapping[str, CorpusLike], taken: Mapping[str, str]
) -> None:
    """Raise an error for names that would not distinguish the texts in tables and figures."""
    check_names(sources, None)
    shown = dict(taken)
    for name in sources:
        spelled = harmless(name)
        if not name or spelled in shown:
            reason = f"is shown as {spelled!r}, and so {shown[spelled]}" if name else "has no name"
            raise OptionError(
                f"{argument}[{show(name)}] {reason}.",
                value=name,
                hint="Rename this text.",
            )
        shown[spelled] = f"is {argument}[{name!r}]"


def _curves(tok: Tokenizer, evaluation: Evaluation) -> tuple[dict[str, Curve], str]:
    """The curve of each text and of all; or none, with the reason."""
    try:
        sizes = [*_sizes(tok)]
        if not sizes:
            return {}, "this vocabulary has no merges to leave out."
        named = {name: of.tally for name, of in evaluation.by_name.items()}
        if len(named) > 1:
            named[""] = evaluation.total.tally
        found = curve_of(tok, [*named.values()], sizes)
    except (VocabError, OptionError) as error:
        return {}, str(error)
    return dict(zip(named, found, strict=True)), ""


def _entries(tok: Tokenizer, finding: Finding, evaluation: Evaluation) -> list[Entry]:
    """Some of the tokens of a finding."""
    ids = finding.ids[:_EXAMPLES] if finding.kind not in _NO_TOKENS else ()
    times, found, size = evaluation.total.times, list[Entry](), 0
    for id in ids:
        found.append(Entry(id, tok.id_to_token(id), int(times[id])))
        size += len(found[-1].token)
        if size > _ROOM:
            break
    return found


def _sizes(tok: Tokenizer) -> Iterator[int]:
    """Sizes at equal ratios from the smallest to the whole vocabulary, and round ones between."""
    inside = family(tok.definition)
    if not inside.learned:
        return
    ratio = (inside.size / inside.min_size) ** (1 / _STEPS)
    steps = (round(inside.min_size * ratio**step) for step in range(_STEPS + 1))
    yield from sorted(
        {*steps, *(n for n in SIZES if inside.min_size <= n < inside.size), inside.size}
    )
