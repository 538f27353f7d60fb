"""Measuring: how well a tokenizer does on text. Each measure is defined in docs/evaluation.md.

formulas    entropy, Rényi's efficiency, Gini: of plain numbers
vocabulary  what is counted of each token, once for all texts
tally       what is counted of a corpus, in one pass
evaluation  the measures that follow from it, of one corpus or of several by name
table       these as a person reads them in a terminal
"""

from __future__ import annotations

from digram.metrics.advice import Advice, Recommendation, advise
from digram.metrics.curve import Curve, Point, curve
from digram.metrics.evaluation import Evaluation, Measures, Parallel, evaluate
from digram.metrics.formulas import entropy, gini, renyi_efficiency, renyi_entropy
from digram.metrics.scaling import Law, law

__all__ = [
    "Advice",
    "Curve",
    "Evaluation",
    "Law",
    "Measures",
    "Parallel",
    "Point",
    "Recommendation",
    "advise",
    "curve",
    "entropy",
    "evaluate",
    "gini",
    "law",
    "renyi_efficiency",
    "renyi_entropy",
]
