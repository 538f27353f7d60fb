"""Metrics: how well a tokenizer does on text.

Each measure is defined in docs/evaluation.md, docs/advice.md or docs/comparing.md.

formulas    entropy, Rényi efficiency, Gini coefficient and divergence of plain numbers
naming      named corpora, or one corpus without a name
vocabulary  facts about each token, computed once for all texts
tally       the counts of a corpus, taken in one pass
evaluation  the measures computed from the counts, of one corpus or of several named ones
table       the measures as a table for a terminal
size_curve  the results of all smaller vocabularies inside one; curve_table shows them
scaling     the vocabulary scaling law
advice      a vocabulary size from the law, a curve and common practice
kinds       the kind of a piece of text: words of a script, numbers, ...
places      where two tokenizers split the same text differently
overlap     the tokens that two vocabularies share
comparison  the comparison of two tokenizers; comparison_table shows it
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
