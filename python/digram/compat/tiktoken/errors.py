"""The errors for which tiktoken raises a `KeyError`."""

from __future__ import annotations

from digram.errors import OptionError, TokenIdError

__all__ = ["UnknownModelError", "UnknownTokenError"]


class UnknownTokenError(TokenIdError, KeyError):
    """A token, or an id, that is not in the vocabulary."""


class UnknownModelError(OptionError, KeyError):
    """A model whose encoding is not known."""
