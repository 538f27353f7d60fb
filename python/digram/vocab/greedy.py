"""The longest token at each place, as a model of bytes: that of RWKV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from digram import _core
from digram.vocab.model import Fault, Kernel, Model

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = ["GreedyKernel", "GreedyModel"]


@dataclass(frozen=True, slots=True)
class GreedyModel(Model):
    """The model of a tokenizer that takes the longest token at each place, such as that of RWKV.

    >>> import digram
    >>> tok = digram.Tokenizer(digram.Definition(
    ...     tokens=[*(bytes([byte]) for byte in range(256)), b"ab", b"bcd"],
    ...     model=digram.GreedyModel(), pretokenizer=digram.Pretokenizer(None)))
    >>> tok.tokens(tok.encode("abcd"))
    [b'ab', b'c', b'd']

    From left to right, the longest token that the rest of a pretoken begins with is taken, and
    what follows later does not matter. `unit` is "byte", so each byte is a token.

    Nothing is checked before `Tokenizer(definition)`, which raises `VocabError` where the
    definition does not fit. Encoding takes time linear in the text and in the length of the longest
    token.
    """

    kind: ClassVar[str] = "greedy"

    @property
    def portable(self) -> bool:
        """False: no library but RWKV's and llama.cpp supports it."""
        return False

    def kernel(self) -> GreedyKernel:
        """The same model; it has no settings."""
        return GreedyKernel()

    def fault(self, definition: Definition) -> Fault | None:
        """Check that the units are bytes."""
        if definition.unit != "byte":
            problem = 'a model of the longest token needs unit="byte".'
            return Fault(problem, definition.unit, 'Set unit="byte", and give each byte a token.')
        return None

    def made(self, definition: Definition) -> set[int]:
        """The ids of tokens of several bytes."""
        return {id for id, token in enumerate(definition.tokens) if token and len(token) > 1}


@dataclass(frozen=True, slots=True)
class GreedyKernel(Kernel):
    """The algorithm of `GreedyModel`."""

    kind: ClassVar[str] = "greedy"

    @property
    def description(self) -> str | None:
        """A sentence for a summary."""
        return "greedy: the longest token at each place"

    def to_dict(self) -> dict[str, Any]:
        """The kind."""
        return {"kind": self.kind}

    def core(self) -> _core.Algorithm:
        """The algorithm for the core."""
        return _core.Algorithm.greedy()

    def model(self, tables: _core.Model) -> GreedyModel:
        """The model."""
        return GreedyModel()
