"""Vocabularies that change: extended for a domain, and what that means for a model."""

from digram.adapt.change import Change, EmbeddingPlan
from digram.adapt.extending import extend

__all__ = ["Change", "EmbeddingPlan", "extend"]
