"""Change vocabularies: extend, prune, replace, unite and shrink; and adapt a model to it."""

from digram.adapt.change import Change, EmbeddingPlan
from digram.adapt.extending import extend
from digram.adapt.joining import replace_tokens, union
from digram.adapt.pruning import prune, uses
from digram.adapt.shrinking import shrink

__all__ = [
    "Change",
    "EmbeddingPlan",
    "extend",
    "prune",
    "replace_tokens",
    "shrink",
    "union",
    "uses",
]
