"""The seam between what every tokenizer has and what one kind of model alone has.

A `Definition` holds a `Model`, and asks nothing of it but what stands in `Model`. What rests on the
merges of BPE asks for them by name, with `require_bpe` or `require_ranked`; no other place knows
which kinds there are.

A kind is two values. The `Model` is the plain one. The `Kernel` is what a tokenizer keeps of it
beside the tables in the core: how a pretoken that was not met before becomes ids.
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
    """What contradicts itself in a model; a file adds its path and line."""

    problem: str
    value: object
    hint: str
    rank: int | None = None
    """Of the merge that is wrong, where it is one."""


class Model(ABC):
    """How a pretoken becomes tokens: what a `Definition` holds of one kind of model.

    Tokens, the unit, `on_unknown` and `byte_ids` are not here: every kind has them, and formats,
    counts and analyses read them without asking the kind.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The name of the kind, as "bpe"."""

    @property
    @abstractmethod
    def portable(self) -> bool:
        """Whether libraries of others have an encoder for it."""

    @abstractmethod
    def kernel(self) -> Kernel:
        """What a tokenizer keeps of it beside the tables in the core."""

    @abstractmethod
    def tables(self, tokens: list[bytes | None]) -> _core.Model:
        """Its tables in the core, with the tokens; `VocabError` where they do not fit them."""

    def rows(self) -> Sequence[Sequence[int]]:
        """The numbers that a digest takes of it, beside the tokens and `Kernel.to_dict`."""
        return ()

    @abstractmethod
    def fault(self, definition: Definition) -> Fault | None:
        """What contradicts itself in the model of this definition; None for nothing."""

    @abstractmethod
    def made(self, definition: Definition) -> set[int]:
        """The ids of the tokens that it makes of others."""

    @abstractmethod
    def unreached(self, definition: Definition) -> list[int]:
        """The ids of tokens that no text yields. The token of no bytes is not among them."""


class Kernel(ABC):
    """What a tokenizer keeps of a model beside its tables in the core."""

    __slots__ = ()

    kind: ClassVar[str]

    @property
    @abstractmethod
    def by_rank(self) -> bool:
        """Whether merges are applied by rank alone, so that encodings are local.

        The proofs of docs/algorithm.md rest on that.
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
        """What decides ids beside the tables, as JSON; digests hold it among the settings.

        Every kind but BPE, which was there first, names itself in it, under "kind".
        """

    @abstractmethod
    def core(self) -> tuple[bool, _core.Scheme | None]:
        """For the core: whether a pretoken that is a token becomes it, and how others are made."""

    @abstractmethod
    def model(self, tables: _core.Model) -> Model:
        """The plain value again, with what these tables hold."""


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
        """Whether each merge makes a token of its parts, once, of what was made before."""
        tokens, apart = definition.tokens, definition.byte_ids
        if _are_plain(self.merges, tokens, apart):
            return None
        fallback = set(apart or ())
        return _wrong_merge(self.merges, tokens, fallback) or _wrong_order(self.merges, tokens)

    def made(self, definition: Definition) -> set[int]:
        """The ids that merges make, or events."""
        ids = {id for _, _, id in self.merges}
        if isinstance(self.scheme, Picky):
            from digram.vocab.picky import made, single_symbols

            tokens = definition.tokens
            symbols = single_symbols(tokens, definition.unit, definition.byte_ids)
            by_events = made(self.scheme, symbols)
            ids |= {id for id, token in enumerate(tokens) if token in by_events}
        return ids

    def unreached(self, definition: Definition) -> list[int]:
        """Those that no merge makes, and that are neither base tokens nor whole pretokens."""
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
        """Whether the lowest rank comes first, always."""
        return self.scheme is None

    @property
    def label(self) -> str | None:
        """The kind of the scheme."""
        return None if self.scheme is None else self.scheme.kind

    @property
    def description(self) -> str | None:
        """What the scheme holds."""
        return None if self.scheme is None else str(self.scheme)

    def to_dict(self) -> dict[str, Any]:
        """Whether merges are ignored; the scheme, where there is one."""
        scheme = {} if self.scheme is None else {"scheme": self.scheme.to_dict()}
        return {"ignore_merges": self.ignore_merges, **scheme}

    def core(self) -> tuple[bool, _core.Scheme | None]:
        """The same for the core."""
        if self.scheme is not None and not isinstance(self.scheme, Scheme):
            raise TypeError(f"scheme is one of digram.vocab.schemes, not {show(self.scheme)}")
        scheme = None if self.scheme is None else self.scheme.core()
        return flag("ignore_merges", self.ignore_merges), scheme

    def model(self, tables: _core.Model) -> BpeModel:
        """With the merges of these tables."""
        return BpeModel(tables.merges(), ignore_merges=self.ignore_merges, scheme=self.scheme)


@overload
def bpe(of: Model) -> BpeModel | None: ...
@overload
def bpe(of: Kernel) -> BpeKernel | None: ...
def bpe(of: Model | Kernel) -> BpeModel | BpeKernel | None:
    """The same as BPE; None for a model of another kind."""
    return of if isinstance(of, BpeModel | BpeKernel) else None


@overload
def require_bpe(of: Model, what: str) -> BpeModel: ...
@overload
def require_bpe(of: Kernel, what: str) -> BpeKernel: ...
def require_bpe(of: Model | Kernel, what: str) -> BpeModel | BpeKernel:
    """The same as BPE. Raises `OptionError` for another kind: `what` rests on merges."""
    found = bpe(of)
    if found is None:
        raise OptionError(
            f"{what} needs the merges of a BPE tokenizer, and the model of this one is of the kind "
            f"{show(of.kind)}.",
            value=of.kind,
            hint="Do it with a BPE tokenizer, as digram.train makes one.",
        )
    return found


@overload
def require_ranked(of: Model, what: str) -> BpeModel: ...
@overload
def require_ranked(of: Kernel, what: str) -> BpeKernel: ...
def require_ranked(of: Model | Kernel, what: str) -> BpeModel | BpeKernel:
    """The same as BPE whose merges are applied by rank alone, which `what` rests on.

    Raises `OptionError` for another kind, and where there is a scheme.
    """
    found = require_bpe(of, what)
    if found.scheme is not None:
        raise OptionError(
            f"{what} rests on merges that are applied by rank alone, and this tokenizer applies "
            f"them otherwise ({found.scheme.kind}).",
            value=found.scheme.kind,
            hint="Do it with a tokenizer without that, or train anew.",
        )
    return found


def picky(of: Model | Kernel) -> Picky | None:
    """The events of PickyBPE; None for all other models."""
    found = bpe(of)
    scheme = None if found is None else found.scheme
    return scheme if isinstance(scheme, Picky) else None


Merges = list[tuple[int, int, int]]
TOGETHER = (
    "Do the vocabulary and the merges belong together? Special tokens take no part in merges."
)


def _is_byte(token: bytes) -> bool:
    return len(token) == 1


def _is_character(token: bytes) -> bool:
    return len(token.decode(errors="replace")) == 1


def _are_plain(merges: Merges, tokens: list[bytes | None], byte_ids: list[int] | None) -> bool:
    """Whether the merges are right beyond doubt, as nearly all are; told in bulk.

    Ids rise along the merges and above those of the parts: then none stands there twice, and every
    part was made before.
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
                return Fault(f"{pair} stands there twice.", rank, "Remove one.", rank)
            problem = f"{pair} has a part that only a later merge makes."
            hint = "Put the merges into the order in which they were learned."
            return Fault(problem, rank, hint, rank)
        seen.add((left, right))
    return None
