"""Measuring: how well a tokenizer does on text. Each measure is defined in docs/evaluation.md.

formulas    entropy, Rényi's efficiency, Gini: of plain numbers
vocabulary  what is counted of each token, once for all texts
tally       what is counted of a corpus, in one pass
evaluation  the measures that follow from it, of one corpus or of several by name
table       these as a person reads them in a terminal
"""

from __future__ import annotations

from digram.metrics.curve import Curve, Point, curve
from digram.metrics.evaluation import Evaluation, Measures, Parallel, evaluate
from digram.metrics.formulas import entropy, gini, renyi_efficiency, renyi_entropy

__all__ = [
    "Curve",
    "Evaluation",
    "Measures",
    "Parallel",
    "Point",
    "curve",
    "entropy",
    "evaluate",
    "gini",
    "renyi_efficiency",
    "renyi_entropy",
]
