"""Models whose tokens have scores: Unigram, and BPE as SentencePiece stores it."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from digram import _core
from digram._util.validation import choice
from digram.errors import VocabError, show
from digram.vocab.model import Fault, Kernel, Model

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = [
    "Addition",
    "ScoredKernel",
    "ScoredModel",
    "UnigramKernel",
    "UnigramModel",
    "in_single",
]

Addition = Literal["double", "single"]
"""The precision of sums of scores: 64 bits as in Hugging Face's libraries, or 32 as in
SentencePiece."""

_MISMATCH = "Give each ordinary token a score, and None to all other ids."


def in_single(score: float) -> float:
    """The 32-bit number that is nearest to a score; OverflowError if there is none.

    >>> in_single(0.1)
    0.10000000149011612
    """
    found: float = struct.unpack("f", struct.pack("f", score))[0]
    return found


@dataclass(frozen=True, slots=True)
class UnigramModel(Model):
    """The model of a Unigram tokenizer: the score of each token.

    A pretoken becomes the tokens whose scores have the highest sum. Of equal sums, the one with the
    longest last token is taken, and so on from the right.

    >>> import digram
    >>> from digram.vocab.scores import UnigramModel
    >>> tok = digram.Tokenizer(digram.Definition(
    ...     tokens=[b"a", b"b", b"ab"], model=UnigramModel([-1.0, -1.5, -2.0], unknown=-12.0),
    ...     unit="char", pretokenizer=digram.Pretokenizer(None)))
    >>> tok.tokens(tok.encode("abb"))
    [b'ab', b'b']

    `scores[id]` is the logarithm of a probability, None for ids that no text becomes: those of
    special tokens and of fallback bytes. `unknown` is the score of a character that is no token;
    consecutive ones become one unknown token. `addition` says how sums are rounded, which matters
    because different sums are often nearly equal: in "double" precision, as Hugging Face's
    libraries do, or in "single", as SentencePiece does. `user_defined` are the tokens whose scores
    SentencePiece computes from their lengths, and `unused` those that no text becomes although they
    are ordinary.

    Nothing is checked before `Tokenizer(definition)`, which raises `VocabError` where scores do not
    fit the tokens.
    """

    scores: list[float | None]
    _: KW_ONLY
    unknown: float
    addition: Addition = "double"
    user_defined: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()

    kind: ClassVar[str] = "unigram"

    @property
    def portable(self) -> bool:
        """Whether Hugging Face's libraries give the same ids: they add in double precision."""
        return self.addition == "double" and not self.unused

    def kernel(self) -> UnigramKernel:
        """The same values."""
        return UnigramKernel(
            self.scores,
            unknown=self.unknown,
            addition=self.addition,
            user_defined=self.user_defined,
            unused=self.unused,
        )

    def tables(self, tokens: list[bytes | None]) -> _core.Model:
        """The tokens in the core."""
        return _core.Model(tokens, [])

    def fault(self, definition: Definition) -> Fault | None:
        """Check that the ordinary tokens have scores."""
        if not _is_finite(self.unknown):
            problem = f"the score of unknown characters is {show(self.unknown)}."
            return Fault(problem, self.unknown, "Make it a finite number.")
        return _wrong_score(self.scores, self.unused, definition)

    def made(self, definition: Definition) -> set[int]:
        """The ids of tokens of several characters."""
        return _long(self.scores, definition)

    def unreached(self, definition: Definition) -> list[int]:
        """None: whether one is unreachable depends on the scores, and the core finds out."""
        return []


@dataclass(frozen=True, slots=True)
class UnigramKernel(Kernel):
    """The scores of tokens; see `UnigramModel`."""

    scores: list[float | None]
    _: KW_ONLY
    unknown: float
    addition: Addition = "double"
    user_defined: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()

    kind: ClassVar[str] = "unigram"

    @property
    def by_rank(self) -> bool:
        """False."""
        return False

    @property
    def label(self) -> str | None:
        """The kind."""
        return self.kind

    @property
    def description(self) -> str | None:
        """The kind, and how scores are added."""
        return f"unigram, scores are added in {self.addition} precision"

    def to_dict(self) -> dict[str, Any]:
        """The kind and all values."""
        return {
            "kind": self.kind,
            "scores": self.scores,
            "unknown": self.unknown,
            "addition": self.addition,
            "user_defined": list(self.user_defined),
            "unused": list(self.unused),
        }

    def core(self) -> _core.Algorithm:
        """The scores, without those of tokens that are not in use."""
        choice("addition", self.addition, "double", "single")
        scores = _checked(self.scores)
        for id in _ids("unused", self.unused, scores):
            scores[id] = None
        return _core.Algorithm.unigram(scores, self.unknown, self.addition == "single")

    def model(self, tables: _core.Model) -> UnigramModel:
        """The model with these scores."""
        return UnigramModel(
            self.scores,
            unknown=self.unknown,
            addition=self.addition,
            user_defined=self.user_defined,
            unused=self.unused,
        )


@dataclass(frozen=True, slots=True)
class ScoredModel(Model):
    """BPE by the scores of tokens, as SentencePiece stores it.

    Two neighbours are merged if their text is a token. The token with the highest score is made
    first, and of equal scores the leftmost. So there is no list of merges: each way to split a
    token is one, and parts of it need not be tokens.

    >>> import digram
    >>> from digram.vocab.scores import ScoredModel
    >>> tok = digram.Tokenizer(digram.Definition(
    ...     tokens=[b"a", b"b", b"ab", b"bb"], model=ScoredModel([0.0, 0.0, -2.0, -1.0]),
    ...     unit="char", pretokenizer=digram.Pretokenizer(None)))
    >>> tok.tokens(tok.encode("abb"))
    [b'a', b'bb']

    `scores[id]` is None for ids that no text becomes: those of special tokens and of fallback
    bytes. `unused` are tokens that are made like others and are split again at the end.
    Consecutive unknown characters become one unknown token.

    Nothing is checked before `Tokenizer(definition)`, which raises `VocabError` where scores do not
    fit the tokens.
    """

    scores: list[float | None]
    _: KW_ONLY
    unused: tuple[int, ...] = ()

    kind: ClassVar[str] = "scored"

    @property
    def portable(self) -> bool:
        """False: other libraries merge by rank."""
        return False

    def kernel(self) -> ScoredKernel:
        """The same values."""
        return ScoredKernel(self.scores, unused=self.unused)

    def tables(self, tokens: list[bytes | None]) -> _core.Model:
        """The tokens in the core."""
        return _core.Model(tokens, [])

    def fault(self, definition: Definition) -> Fault | None:
        """Check that the ordinary tokens have scores."""
        return _wrong_score(self.scores, self.unused, definition)

    def made(self, definition: Definition) -> set[int]:
        """The ids of tokens of several characters."""
        return _long(self.scores, definition)

    def unreached(self, definition: Definition) -> list[int]:
        """None: whether one is unreachable depends on the scores, and the core finds out."""
        return []


@dataclass(frozen=True, slots=True)
class ScoredKernel(Kernel):
    """The scores of tokens; see `ScoredModel`."""

    scores: list[float | None]
    _: KW_ONLY
    unused: tuple[int, ...] = ()

    kind: ClassVar[str] = "scored"

    @property
    def by_rank(self) -> bool:
        """False."""
        return False

    @property
    def label(self) -> str | None:
        """The kind."""
        return self.kind

    @property
    def description(self) -> str | None:
        """The order of the merges."""
        return "BPE by the scores of tokens, as in SentencePiece"

    def to_dict(self) -> dict[str, Any]:
        """The kind and all values."""
        return {"kind": self.kind, "scores": self.scores, "unused": list(self.unused)}

    def core(self) -> _core.Algorithm:
        """The scores."""
        scores = _checked(self.scores)
        return _core.Algorithm.scored(scores, list(_ids("unused", self.unused, scores)))

    def model(self, tables: _core.Model) -> ScoredModel:
        """The model with these scores."""
        return ScoredModel(self.scores, unused=self.unused)


def _is_finite(score: object) -> bool:
    return isinstance(score, int | float) and math.isfinite(score)


def _checked(scores: object) -> list[float | None]:
    """A copy of scores; `VocabError` and TypeError for values that are none."""
    if not isinstance(scores, list):
        raise TypeError(f"scores are a list, not {show(scores)}")
    kinds = {float, int, type(None)}
    if not set(map(type, scores)) <= kinds:
        wrong = next(id for id, one in enumerate(scores) if type(one) not in kinds)
        raise TypeError(f"scores[{wrong}] is a number or None, not {show(scores[wrong])}")
    return list(scores)


def _ids(what: str, ids: Sequence[int], scores: list[float | None]) -> Sequence[int]:
    """The ids; `VocabError` for one without a score."""
    for id in ids:
        if type(id) is not int or not 0 <= id < len(scores) or scores[id] is None:
            raise VocabError(f"{what} has the id {show(id)}, which has no score.", value=id)
    return ids


def _wrong_score(
    scores: list[float | None], unused: tuple[int, ...], definition: Definition
) -> Fault | None:
    fallback = set(definition.byte_ids or ())
    for id, token in enumerate(definition.tokens):
        score = scores[id] if id < len(scores) else None
        if token is None or id in fallback:
            if score is not None:
                problem = f"id {id} has a score, but is not the id of an ordinary token."
                return Fault(problem, id, _MISMATCH)
        elif not _is_finite(score):
            return Fault(f"token {show(token)} has the score {show(score)}.", id, _MISMATCH)
    if any(score is not None for score in scores[len(definition.tokens) :]):
        return Fault("there are more scores than tokens.", len(scores), _MISMATCH)
    return None


def _long(scores: list[float | None], definition: Definition) -> set[int]:
    return {
        id
        for id, (token, score) in enumerate(zip(definition.tokens, scores, strict=False))
        if token is not None and score is not None and len(token.decode(errors="replace")) > 1
    }
