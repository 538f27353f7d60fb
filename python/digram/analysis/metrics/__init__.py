"""Measuring: how well a tokenizer does on text.

Each measure is defined in docs/evaluation.md, docs/advice.md or docs/comparing.md.

formulas    entropy, Rényi's efficiency, Gini, divergence: of plain numbers
naming      named corpora, or one without a name
vocabulary  what is counted of each token, once for all texts
tally       what is counted of a corpus, in one pass
evaluation  the measures that follow from it, of one corpus or of several by name
table       these as a person reads them in a terminal
curve       what all smaller vocabularies inside one do with a text; curve_table shows it
scaling     the vocabulary scaling law
advice      from a law, a curve and what is usual to a size
kinds       what kind of text a piece is: words of a script, numbers, ...
places      where two tokenizers cut the same text differently
overlap     what two vocabularies share
comparison  all of it about two tokenizers; comparison_table shows it
"""

from __future__ import annotations

from digram.analysis.metrics.advice import Advice, Recommendation, advise
from digram.analysis.metrics.comparison import Both, Comparison, compare
from digram.analysis.metrics.evaluation import Evaluation, Measures, Parallel, evaluate
from digram.analysis.metrics.formulas import (
    entropy,
    gini,
    jensen_shannon,
    renyi_efficiency,
    renyi_entropy,
)
from digram.analysis.metrics.overlap import Numbers, Overlap, Used
from digram.analysis.metrics.places import Place
from digram.analysis.metrics.scaling import Law, law
from digram.analysis.metrics.size_curve import Curve, Point, curve

__all__ = [
    "Advice",
    "Both",
    "Comparison",
    "Curve",
    "Evaluation",
    "Law",
    "Measures",
    "Numbers",
    "Overlap",
    "Parallel",
    "Place",
    "Point",
    "Recommendation",
    "Used",
    "advise",
    "compare",
    "curve",
    "entropy",
    "evaluate",
    "gini",
    "jensen_shannon",
    "law",
    "renyi_efficiency",
    "renyi_entropy",
]
