"""BPE: its merges, and how they are applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

from digram import _core
from digram._util.validation import flag, real_number, word
from digram._util.wording import said
from digram.errors import DigramError, OptionError, VocabError, show
from digram.vocab.merges import are_plain, wrong_first_merges, wrong_merge, wrong_order
from digram.vocab.model import Fault, Kernel, Model

if TYPE_CHECKING:  # most tokenizers have no scheme
    from digram.vocab.definition import Definition
    from digram.vocab.schemes import Picky, Scheme

__all__ = [
    "BpeKernel",
    "BpeModel",
    "bpe",
    "check_dropout",
    "picky",
    "require_bpe",
    "require_ranked",
]


@dataclass(frozen=True, slots=True)
class BpeModel(Model):
    r"""The model of a BPE tokenizer: its merges, and how they are applied.

    >>> import digram
    >>> digram.train("banana", max_merges=1, pretokenizer=None).definition.model.merges
    [(97, 110, 256)]

    `merges` are (left id, right id, resulting id) in rank order. `ignore_merges` makes a whole
    pretoken that is a token that token, whatever the merges say, as in tiktoken. `fuse_unknown`
    makes all consecutive unknown characters of a pretoken one unknown token, where unknown
    characters have a token. `scheme` says how merges are applied, where not by rank alone
    (`digram.vocab.schemes`).

    `suffix` is what files write at the end of tokens that end a word, such as "</w>", and `prefix`
    what they write before tokens that begin none, such as "##"; "" means that there is no
    difference. Here tokens have a space instead: at the end if they end a word, and at the start
    if they begin one. So the pretokens are words with these spaces
    (`digram.pretokenizers.Words`). With the unit "char" a space belongs to the character beside
    it, and both are one symbol; with the unit "byte", which allows a suffix only, the first merges
    join each byte with the space. With `ignore_merges`, a word that is the name of a token in such
    files becomes that token: the word "low" becomes `low`, which ends no word, and "low</w>" the
    token of "low" at the end of a word.

    >>> from digram.pretokenizers import Pretokenizer, Regex, Words
    >>> words = Words((Regex(r"\s+"),), removed=Regex(r"\s"), suffix=" ")
    >>> definition = digram.Definition(
    ...     tokens=[b"l", b"o", b"w", b"w ", b"lo", b"low "],
    ...     model=digram.BpeModel([(0, 1, 4), (4, 3, 5)], suffix="</w>"),
    ...     pretokenizer=Pretokenizer(None, normalizer=words),
    ...     unit="char",
    ... )
    >>> tok = digram.Tokenizer(definition)
    >>> tok.encode("low lowlow"), tok.decode([5, 4, 2, 5])
    ([5, 4, 2, 5], 'low lowlow')

    Nothing is checked before `Tokenizer(definition)`, which raises `VocabError` where merges do not
    fit the tokens.
    """

    merges: list[tuple[int, int, int]]
    _: KW_ONLY
    ignore_merges: bool = False
    fuse_unknown: bool = False
    scheme: Scheme | None = None
    prefix: str = ""
    suffix: str = ""

    kind: ClassVar[str] = "bpe"

    @property
    def portable(self) -> bool:
        """Whether merges are applied by rank alone."""
        return self.scheme is None

    def kernel(self) -> BpeKernel:
        """How the merges are applied."""
        return BpeKernel(
            self.ignore_merges, self.scheme, self.fuse_unknown, self.prefix, self.suffix
        )

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
        if self.prefix or self.suffix:
            fault = _wrong_affix(self, definition)
            if fault is not None:
                return fault
        if are_plain(self.merges, tokens, apart):
            return None
        fallback = set(apart or ())
        return wrong_merge(self.merges, tokens, fallback) or wrong_order(self.merges, tokens)

    def made(self, definition: Definition) -> set[int]:
        """The ids made by merges or events."""
        ids = {id for _, _, id in self.merges}
        scheme = picky(self)
        if scheme is not None:
            from digram.vocab.picky import made, single_symbols

            tokens = definition.tokens
            symbols = single_symbols(tokens, definition.unit, definition.byte_ids)
            by_events = made(scheme, symbols)
            ids |= {id for id, token in enumerate(tokens) if token in by_events}
        return ids

    def unreached(self, definition: Definition) -> list[int]:
        """Tokens that no merge makes and that are neither base tokens nor whole pretokens."""
        known = self.made(definition) | set(definition.byte_ids or ())
        if isinstance(definition.on_unknown, bytes):
            known.add(definition.tokens.index(definition.on_unknown))
        one = _is_byte if definition.unit == "byte" else self._is_letter
        lost = [
            id
            for id, token in enumerate(definition.tokens)
            if token and id not in known and not one(token)
        ]
        if lost and self.ignore_merges:
            split = definition.pretokenizer.splitter().split
            named = self.kernel().named
            lost = [id for id in lost if len(split(named(definition.tokens[id] or b""))) > 1]
        return lost

    def _is_letter(self, token: bytes) -> bool:
        """Whether a token is one character, with the spaces that belong to it."""
        text = token.decode(errors="replace")
        if self.prefix and len(text) > 1:
            text = text.removeprefix(" ")
        if self.suffix and len(text) > 1:
            text = text.removesuffix(" ")
        return len(text) == 1


@dataclass(frozen=True, slots=True)
class BpeKernel(Kernel):
    """How merges are applied; see `BpeModel`."""

    ignore_merges: bool = False
    scheme: Scheme | None = None
    fuse_unknown: bool = False
    prefix: str = ""
    suffix: str = ""

    kind: ClassVar[str] = "bpe"

    @property
    def by_rank(self) -> bool:
        """Whether the merge with the lowest rank is always applied first, to all words alike."""
        return self.scheme is None and not (self.prefix or self.suffix)

    @property
    def affixes(self) -> str:
        """The prefix and the suffix for messages; "" if there are none.

        >>> BpeKernel(suffix="</w>").affixes
        "the suffix '</w>'"
        """
        named = (("prefix", self.prefix), ("suffix", self.suffix))
        return " and ".join(f"the {what} {show(affix)}" for what, affix in named if affix)

    @property
    def label(self) -> str | None:
        """The kind of the scheme."""
        return None if self.scheme is None else self.scheme.kind

    @property
    def description(self) -> str | None:
        """The description of the scheme."""
        if self.affixes:
            return f"BPE of words, whose tokens have {self.affixes} in files"
        return None if self.scheme is None else str(self.scheme)

    def named(self, token: bytes) -> bytes:
        """A token as files write it.

        >>> BpeKernel(prefix="##", suffix="</w>").named(b" low "), BpeKernel().named(b" low")
        (b'low</w>', b' low')
        """
        begins = not self.prefix or (len(token) > 1 and token.startswith(b" "))
        body = token[1:] if self.prefix and begins else token
        ends = bool(self.suffix) and len(body) > 1 and body.endswith(b" ")
        body = body[:-1] if ends else body
        return self.prefix.encode() * (not begins) + body + self.suffix.encode() * ends

    def to_dict(self) -> dict[str, Any]:
        """`ignore_merges`, and what else is set."""
        scheme = {} if self.scheme is None else {"scheme": self.scheme.to_dict()}
        fused = {"fuse_unknown": True} if self.fuse_unknown else {}
        affixes = {"prefix": self.prefix, "suffix": self.suffix} if self.affixes else {}
        return {"ignore_merges": self.ignore_merges, **scheme, **fused, **affixes}

    def core(self) -> _core.Algorithm:
        """The scheme, or merges by rank alone."""
        ignore_merges = flag("ignore_merges", self.ignore_merges)
        fuse_unknown = flag("fuse_unknown", self.fuse_unknown)
        prefix, suffix = (_affix(one, getattr(self, one)) for one in ("prefix", "suffix"))
        if self.affixes and self.scheme is not None:
            raise VocabError(
                f"{self.affixes} needs merges that are applied by rank alone.",
                value=self.prefix or self.suffix,
                hint="Set scheme=None.",
            )
        if self.scheme is None:
            affixes = prefix or None, suffix or None
            return _core.Algorithm.ranked(ignore_merges, fuse_unknown, *affixes)
        from digram.vocab.schemes import Scheme

        if not isinstance(self.scheme, Scheme):
            raise TypeError(f"scheme is one of digram.vocab.schemes, not {show(self.scheme)}")
        if ignore_merges or fuse_unknown:
            raise VocabError(
                f"{'ignore_merges' if ignore_merges else 'fuse_unknown'} needs merges that are "
                f"applied by rank alone, not {self.scheme.kind}.",
                value=self.scheme.kind,
            )
        return self.scheme.core()

    def model(self, tables: _core.Model) -> BpeModel:
        """The model with the merges of these tables."""
        return BpeModel(
            tables.merges(),
            ignore_merges=self.ignore_merges,
            fuse_unknown=self.fuse_unknown,
            scheme=self.scheme,
            prefix=self.prefix,
            suffix=self.suffix,
        )


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
            hint="Use a BPE tokenizer, such as one that "
            f"{said('digram.train', 'digram train')} makes.",
        )
    return found


@overload
def require_ranked(of: Model, what: str) -> BpeModel: ...
@overload
def require_ranked(of: Kernel, what: str) -> BpeKernel: ...
def require_ranked(of: Model | Kernel, what: str) -> BpeModel | BpeKernel:
    """The argument if it is BPE with merges applied by rank alone, which `what` needs.

    Raises `OptionError` for another kind, for a scheme, and for a prefix or suffix of words.
    """
    found = require_bpe(of, what)
    if found.scheme is not None:
        raise OptionError(
            f"{what} needs merges that are applied by rank alone, but this tokenizer applies them "
            f"differently ({found.scheme.kind}).",
            value=found.scheme.kind,
            hint="Use a tokenizer without it, or train a new one.",
        )
    if found.prefix or found.suffix:
        affixes = BpeKernel(prefix=found.prefix, suffix=found.suffix).affixes
        raise OptionError(
            f"{what} needs tokens that do not depend on their place in a word, but those of this "
            f"tokenizer do ({affixes}).",
            value=found.prefix or found.suffix,
            hint="Use a tokenizer without it, or train a new one.",
        )
    return found


def check_dropout(dropout: float | None, kernel: Kernel) -> None:
    """Raises `OptionError` unless a dropout is None or a probability, of a BPE model by rank."""
    if dropout is None:
        return
    if not 0 <= real_number("dropout", dropout) <= 1:
        raise OptionError(f"dropout={show(dropout)} is not a probability, from 0 to 1.")
    require_ranked(kernel, "dropout")


def picky(of: Model | Kernel) -> Picky | None:
    """The events of PickyBPE; None for all other models."""
    found = bpe(of)
    scheme = None if found is None else found.scheme
    if scheme is None:
        return None
    from digram.vocab.schemes import Picky

    return scheme if isinstance(scheme, Picky) else None


def _is_byte(token: bytes) -> bool:
    return len(token) == 1


def _affix(name: str, value: object) -> str:
    """The argument if it is a text that can be written; it may be empty."""
    return word(name, value) if value != "" else ""


def _wrong_affix(model: BpeModel, definition: Definition) -> Fault | None:
    """What does not go with a prefix or a suffix; see `BpeModel`."""
    if definition.unit == "byte":
        if model.prefix:
            problem = 'a prefix needs the unit "char".'
            return Fault(problem, model.prefix, "Set prefix to an empty text.")
        return wrong_first_merges(model.merges, definition.tokens)
    if definition.on_unknown == "bytes":
        problem = "unknown characters cannot become bytes if tokens have a prefix or a suffix."
        return Fault(problem, "bytes", 'Set on_unknown to "error" or to a special token.')
    return None
