"""The interface between tokenizers and kinds of models.

A `Definition` has a `Model`, and uses only the methods of `Model`. Code that needs the merges of
BPE requests them explicitly, with `require_bpe` or `require_ranked` of `digram.vocab.bpe`; no other
code depends on the kind.

A kind consists of two classes. The `Model` is a plain value. The `Kernel` is the part that a
tokenizer keeps in addition to the tables in the core: it determines the ids of a new pretoken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from digram import _core

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = ["Fault", "Kernel", "Model"]


class Fault(NamedTuple):
    """An inconsistency in a model; readers of files add path and line."""

    problem: str
    value: object
    hint: str
    rank: int | None = None
    """The rank of the wrong merge, if the fault is in a merge."""


class Model(ABC):
    """How pretokens are encoded: the part of a `Definition` that depends on the kind of model.

    Tokens, the unit, `on_unknown` and `byte_ids` are in the `Definition`, since every kind has
    them.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The name of the kind, such as "bpe"."""
    may_have_empty: ClassVar[bool] = False
    """Whether a token of a character vocabulary may be empty."""

    @property
    @abstractmethod
    def portable(self) -> bool:
        """Whether other libraries support it."""

    @abstractmethod
    def kernel(self) -> Kernel:
        """What a tokenizer keeps of it beside the tables in the core."""

    def tables(self, tokens: list[bytes | None]) -> _core.Model:
        """Its tables in the core, with the tokens; `VocabError` if they do not match."""
        return _core.Model(tokens, [])

    def rows(self) -> Sequence[Sequence[int]]:
        """The numbers of the model for the digest, in addition to tokens and `Kernel.to_dict`."""
        return ()

    @abstractmethod
    def fault(self, definition: Definition) -> Fault | None:
        """The first inconsistency in the model of this definition; None if there is none."""

    @abstractmethod
    def made(self, definition: Definition) -> set[int]:
        """The ids of the tokens that are made from other tokens."""

    def unreached(self, definition: Definition) -> list[int]:
        """The ids of unreachable tokens, except the empty token.

        None, if the core finds them out.
        """
        return []


class Kernel(ABC):
    """The part of a model that a tokenizer keeps in addition to the tables in the core."""

    __slots__ = ()

    kind: ClassVar[str]

    @property
    def by_rank(self) -> bool:
        """Whether merges are applied by rank alone, so that encoding is local.

        The proofs in docs/algorithm.md require this.
        """
        return False

    @property
    def label(self) -> str | None:
        """One word for a `repr`; None for BPE by rank."""
        return self.kind

    @property
    @abstractmethod
    def description(self) -> str | None:
        """A sentence for a summary; None for BPE by rank."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The settings that determine ids in addition to the tables, as JSON for the digest.

        Every kind except BPE includes its name under "kind".
        """

    @abstractmethod
    def core(self) -> _core.Algorithm:
        """The algorithm by which the core encodes pretokens."""

    @abstractmethod
    def model(self, tables: _core.Model) -> Model:
        """The `Model` with the content of these tables."""
