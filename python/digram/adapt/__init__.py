"""Vocabularies that change: extended, pruned, merged; and what that means for a model."""

from digram.adapt.change import Change, EmbeddingPlan
from digram.adapt.extending import extend
from digram.adapt.joining import merge, swap
from digram.adapt.pruning import prune, uses
from digram.adapt.ruling import with_rules

__all__ = ["Change", "EmbeddingPlan", "extend", "merge", "prune", "swap", "uses", "with_rules"]
