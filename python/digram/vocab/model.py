"""The interface between tokenizers and kinds of models.

A `Definition` has a `Model`, and uses only the methods of `Model`. Code that needs the merges of
BPE requests them explicitly, with `require_bpe` or `require_ranked`; no other code depends on the
kind.

A kind consists of two classes. The `Model` is a plain value. The `Kernel` is the part that a
tokenizer keeps in addition to the tables in the core: it determines the ids of a new pretoken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain
from operator import add, lt
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, overload

from digram import _core
from digram._util.validation import flag
from digram.errors import DigramError, OptionError, VocabError, show
from digram.vocab.picky import made, single_symbols
from digram.vocab.schemes import Picky, Scheme

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = [
    "TOGETHER",
    "BpeKernel",
    "BpeModel",
    "Fault",
    "Kernel",
    "Model",
    "bpe",
    "picky",
    "require_bpe",
    "require_ranked",
]


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

    @abstractmethod
    def tables(self, tokens: list[bytes | None]) -> _core.Model:
        """Its tables in the core, with the tokens; `VocabError` if they do not match."""

    def rows(self) -> Sequence[Sequence[int]]:
        """The numbers of the model for the digest, in addition to tokens and `Kernel.to_dict`."""
        return ()

    @abstractmethod
    def fault(self, definition: Definition) -> Fault | None:
        """The first inconsistency in the model of this definition; None if there is none."""

    @abstractmethod
    def made(self, definition: Definition) -> set[int]:
        """The ids of the tokens that are made from other tokens."""

    @abstractmethod
    def unreached(self, definition: Definition) -> list[int]:
        """The ids of unreachable tokens, except the empty token."""


class Kernel(ABC):
    """The part of a model that a tokenizer keeps in addition to the tables in the core."""

    __slots__ = ()

    kind: ClassVar[str]

    @property
    @abstractmethod
    def by_rank(self) -> bool:
        """Whether merges are applied by rank alone, so that encoding is local.

        The proofs in docs/algorithm.md require this.
        """

    @property
    @abstractmethod
    def label(self) -> str | None:
        """One word for a `repr`; None for BPE by rank."""

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


@dataclass(frozen=True, slots=True)
class BpeModel(Model):
    """The model of a BPE tokenizer: its merges, and how they are applied.

    >>> import digram
    >>> digram.train("banana", max_merges=1, pretokenizer=None).definition.model
    BpeModel(merges=[(97, 110, 256)], ignore_merges=False, scheme=None)

    `merges` are (left id, right id, resulting id) in rank order. `ignore_merges` makes a whole
    pretoken that is a token that token, whatever the merges say, as in tiktoken. `scheme` says how
    merges are applied, where not by rank alone (`digram.vocab.schemes`).

    Nothing is checked before `Tokenizer(definition)`, which raises `VocabError` where merges do not
    fit the tokens.
    """

    merges: list[tuple[int, int, int]]
    _: KW_ONLY
    ignore_merges: bool = False
    scheme: Scheme | None = None

    kind: ClassVar[str] = "bpe"

    @property
    def portable(self) -> bool:
        """Whether merges are applied by rank alone."""
        return self.scheme is None

    def kernel(self) -> BpeKernel:
        """How the merges are applied."""
        return BpeKernel(self.ignore_merges, self.scheme)

    def tables(self, tokens: list[bytes | None]) -> _core.Model:
        """Tokens and merges in the core."""
        merges = self.merges
        if not isinstance(merges, list):
            raise TypeError(f"the merges of a BpeModel are a list, not {show(merges)}")
        try:
            return _core.Model(tokens, merges)
        except ValueError as error:
            if isinstance(error, DigramError):
                raise
            rank = next(n for n, ids in enumerate(merges) if len(ids) != 3)
            raise TypeError(f"merges[{rank}] = {show(merges[rank])} is not three ids") from None
        except OverflowError:
            rank = next(
                n for n, ids in enumerate(merges) if not all(0 <= id < 1 << 32 for id in ids)
            )
            raise VocabError(
                f"merges[{rank}] = {show(merges[rank])} has an id that is in no vocabulary.",
                index=rank,
                value=merges[rank],
            ) from None

    def rows(self) -> Sequence[Sequence[int]]:
        """The merges."""
        return self.merges

    def fault(self, definition: Definition) -> Fault | None:
        """Check that each merge makes the token of its parts, once, and follows its parts."""
        tokens, apart = definition.tokens, definition.byte_ids
        if _are_plain(self.merges, tokens, apart):
            return None
        fallback = set(apart or ())
        return _wrong_merge(self.merges, tokens, fallback) or _wrong_order(self.merges, tokens)

    def made(self, definition: Definition) -> set[int]:
        """The ids made by merges or events."""
        ids = {id for _, _, id in self.merges}
        if isinstance(self.scheme, Picky):
            tokens = definition.tokens
            symbols = single_symbols(tokens, definition.unit, definition.byte_ids)
            by_events = made(self.scheme, symbols)
            ids |= {id for id, token in enumerate(tokens) if token in by_events}
        return ids

    def unreached(self, definition: Definition) -> list[int]:
        """Tokens that no merge makes and that are neither base tokens nor whole pretokens."""
        known = self.made(definition) | set(definition.byte_ids or ())
        one = _is_byte if definition.unit == "byte" else _is_character
        lost = [
            id
            for id, token in enumerate(definition.tokens)
            if token and id not in known and not one(token)
        ]
        if lost and self.ignore_merges:
            split = definition.pretokenizer.splitter().split
            lost = [id for id in lost if len(split(definition.tokens[id] or b"")) > 1]
        return lost


@dataclass(frozen=True, slots=True)
class BpeKernel(Kernel):
    """How merges are applied; see `BpeModel`."""

    ignore_merges: bool = False
    scheme: Scheme | None = None

    kind: ClassVar[str] = "bpe"

    @property
    def by_rank(self) -> bool:
        """Whether the merge with the lowest rank is always applied first."""
        return self.scheme is None

    @property
    def label(self) -> str | None:
        """The kind of the scheme."""
        return None if self.scheme is None else self.scheme.kind

    @property
    def description(self) -> str | None:
        """The description of the scheme."""
        return None if self.scheme is None else str(self.scheme)

    def to_dict(self) -> dict[str, Any]:
        """`ignore_merges`, and the scheme if there is one."""
        scheme = {} if self.scheme is None else {"scheme": self.scheme.to_dict()}
        return {"ignore_merges": self.ignore_merges, **scheme}

    def core(self) -> _core.Algorithm:
        """The scheme, or merges by rank alone."""
        ignore_merges = flag("ignore_merges", self.ignore_merges)
        if self.scheme is None:
            return _core.Algorithm.ranked(ignore_merges)
        if not isinstance(self.scheme, Scheme):
            raise TypeError(f"scheme is one of digram.vocab.schemes, not {show(self.scheme)}")
        if ignore_merges:
            raise VocabError(
                "ignore_merges needs merges that are applied by rank alone, not "
                f"{self.scheme.kind}.",
                value=self.scheme.kind,
            )
        return self.scheme.core()

    def model(self, tables: _core.Model) -> BpeModel:
        """The model with the merges of these tables."""
        return BpeModel(tables.merges(), ignore_merges=self.ignore_merges, scheme=self.scheme)


@overload
def bpe(of: Model) -> BpeModel | None: ...
@overload
def bpe(of: Kernel) -> BpeKernel | None: ...
def bpe(of: Model | Kernel) -> BpeModel | BpeKernel | None:
    """The argument if it is BPE; None for another kind."""
    return of if isinstance(of, BpeModel | BpeKernel) else None


@overload
def require_bpe(of: Model, what: str) -> BpeModel: ...
@overload
def require_bpe(of: Kernel, what: str) -> BpeKernel: ...
def require_bpe(of: Model | Kernel, what: str) -> BpeModel | BpeKernel:
    """The argument if it is BPE. Raises `OptionError` for another kind, naming `what`."""
    found = bpe(of)
    if found is None:
        raise OptionError(
            f"{what} needs the merges of a BPE tokenizer, but the model of this one is of the kind "
            f"{show(of.kind)}.",
            value=of.kind,
            hint="Use a BPE tokenizer, such as one made by digram.train.",
        )
    return found


@overload
def require_ranked(of: Model, what: str) -> BpeModel: ...
@overload
def require_ranked(of: Kernel, what: str) -> BpeKernel: ...
def require_ranked(of: Model | Kernel, what: str) -> BpeModel | BpeKernel:
    """The argument if it is BPE with merges applied by rank alone, which `what` needs.

    Raises `OptionError` for another kind, and for a scheme.
    """
    found = require_bpe(of, what)
    if found.scheme is not None:
        raise OptionError(
            f"{what} needs merges that are applied by rank alone, but this tokenizer applies them "
            f"differently ({found.scheme.kind}).",
            value=found.scheme.kind,
            hint="Use a tokenizer without it, or train a new one.",
        )
    return found


def picky(of: Model | Kernel) -> Picky | None:
    """The events of PickyBPE; None for all other models."""
    found = bpe(of)
    scheme = None if found is None else found.scheme
    return scheme if isinstance(scheme, Picky) else None


Merges = list[tuple[int, int, int]]
TOGETHER = "Do the vocabulary and the merges belong together? Special tokens cannot be in merges."


def _is_byte(token: bytes) -> bool:
    return len(token) == 1


def _is_character(token: bytes) -> bool:
    return len(token.decode(errors="replace")) == 1


def _are_plain(merges: Merges, tokens: list[bytes | None], byte_ids: list[int] | None) -> bool:
    """Whether the merges are certainly valid, by fast checks of all at once.

    If the ids rise along the merges and are above those of the parts, no merge occurs twice and
    every part is made earlier.
    """
    lefts = [left for left, _, _ in merges]
    rights = [right for _, right, _ in merges]
    made = [result for _, _, result in merges]
    if byte_ids is not None or min([*lefts, *rights], default=0) < 0:
        return False
    if not (all(map(lt, lefts, made)) and all(map(lt, rights, made))):
        return False
    if not all(map(lt, made, made[1:])) or (made and made[-1] >= len(tokens)):
        return False
    token = tokens.__getitem__
    if b"" in map(token, chain(lefts, rights)):
        return False
    try:
        return list(map(add, map(token, lefts), map(token, rights))) == list(map(token, made))
    except TypeError:  # a part without a token
        return False


def _wrong_merge(merges: Merges, tokens: list[bytes | None], fallback: set[int]) -> Fault | None:
    for rank, merge in enumerate(merges):
        for one in merge:
            if not 0 <= one < len(tokens) or tokens[one] is None or one in fallback:
                return Fault(f"id {show(one)} is not an ordinary token.", one, TOGETHER, rank)
        left, right, made = (tokens[one] or b"" for one in merge)
        if not (left and right):
            return Fault("one of its parts is empty.", merge[2], TOGETHER, rank)
        if left + right != made:
            problem = f"its parts are {show(left + right)}, but id {merge[2]} is {show(made)}."
            return Fault(problem, merge[2], TOGETHER, rank)
    return None


def _wrong_order(merges: Merges, tokens: list[bytes | None]) -> Fault | None:
    first_made: dict[int, int] = {}
    for rank, (_, _, token_id) in enumerate(merges):
        first_made.setdefault(token_id, rank)
    made_at = first_made.get
    seen: set[tuple[int, int]] = set()
    for rank, (left, right, _) in enumerate(merges):
        if (left, right) in seen or made_at(left, -1) >= rank or made_at(right, -1) >= rank:
            pair = f"{show(tokens[left])} + {show(tokens[right])}"
            if (left, right) in seen:
                return Fault(f"{pair} occurs twice.", rank, "Remove one.", rank)
            problem = f"{pair} has a part that is made by a later merge."
            hint = "Sort the merges into the order in which they were learned."
            return Fault(problem, rank, hint, rank)
        seen.add((left, right))
    return None
