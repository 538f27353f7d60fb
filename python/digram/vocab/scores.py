"""Models whose tokens have scores: Unigram, and BPE as SentencePiece stores it."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

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
    "Spelled",
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


class Spelled(NamedTuple):
    """The name of a token that stands for something else, but that text becomes too."""

    text: str
    id: int
    score: float


class _OfScores(Model):
    """What both models have in common."""

    __slots__ = ()

    scores: list[float | None]
    unused: tuple[int, ...]

    def fault(self, definition: Definition) -> Fault | None:
        """Check that the ordinary tokens have scores."""
        return _wrong_score(self.scores, self.unused, definition)

    def made(self, definition: Definition) -> set[int]:
        """The ids of tokens of several characters."""
        return _long(self.scores, definition)


@dataclass(frozen=True, slots=True)
class UnigramModel(_OfScores):
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
    libraries do, or in "single", as SentencePiece does, to which the scores are rounded too.
    `user_defined` are the tokens whose scores SentencePiece computes from their lengths, and
    `unused` those that no text becomes although they are ordinary. `spelled` are names of fallback
    bytes that text becomes too: in Hugging Face's libraries the text "<0x41>" is the token of a
    byte. All bytes of consecutive unknown characters then have the offsets of all of these
    characters.

    Nothing is checked before `Tokenizer(definition)`, which raises `VocabError` where scores do not
    fit the tokens.
    """

    scores: list[float | None]
    _: KW_ONLY
    unknown: float
    addition: Addition = "double"
    user_defined: tuple[int, ...] = ()
    unused: tuple[int, ...] = ()
    spelled: tuple[Spelled, ...] = ()

    kind: ClassVar[str] = "unigram"

    @property
    def portable(self) -> bool:
        """Whether Hugging Face's libraries give the same ids: they add in double precision."""
        return self.addition == "double" and not self.unused

    def kernel(self) -> UnigramKernel:
        """The same values."""
        return UnigramKernel(self)

    def fault(self, definition: Definition) -> Fault | None:
        """Check that the ordinary tokens have scores."""
        if not _is_finite(self.unknown):
            problem = f"the score of unknown characters is {show(self.unknown)}."
            return Fault(problem, self.unknown, "Make it a finite number.")
        wrong = _wrong_score(self.scores, self.unused, definition)
        return wrong or _wrong_name(self.spelled, definition)


@dataclass(frozen=True, slots=True)
class UnigramKernel(Kernel):
    """The scores of tokens."""

    of: UnigramModel

    kind: ClassVar[str] = "unigram"

    @property
    def description(self) -> str | None:
        """The kind, and how scores are added."""
        return f"unigram, scores are added in {self.of.addition} precision"

    def to_dict(self) -> dict[str, Any]:
        """The kind and all values."""
        of = self.of
        return {
            "kind": self.kind,
            "scores": of.scores,
            "unknown": of.unknown,
            "addition": of.addition,
            "user_defined": list(of.user_defined),
            "unused": list(of.unused),
            **({"spelled": [list(one) for one in of.spelled]} if of.spelled else {}),
        }

    def core(self) -> _core.Algorithm:
        """The scores, without those of tokens that are not in use."""
        of = self.of
        choice("addition", of.addition, "double", "single")
        scores = _checked(of.scores)
        for id in _ids("unused", of.unused, scores):
            scores[id] = None
        spelled = [(one.text, one.id, one.score) for one in of.spelled]
        return _core.Algorithm.unigram(scores, of.unknown, of.addition == "single", spelled)

    def model(self, tables: _core.Model) -> UnigramModel:
        """The model with these scores."""
        return self.of


@dataclass(frozen=True, slots=True)
class ScoredModel(_OfScores):
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
        return ScoredKernel(self)


@dataclass(frozen=True, slots=True)
class ScoredKernel(Kernel):
    """The scores of tokens."""

    of: ScoredModel

    kind: ClassVar[str] = "scored"

    @property
    def description(self) -> str | None:
        """The order of the merges."""
        return "BPE by the scores of tokens, as in SentencePiece"

    def to_dict(self) -> dict[str, Any]:
        """The kind and all values."""
        return {"kind": self.kind, "scores": self.of.scores, "unused": list(self.of.unused)}

    def core(self) -> _core.Algorithm:
        """The scores."""
        scores = _checked(self.of.scores)
        return _core.Algorithm.scored(scores, list(_ids("unused", self.of.unused, scores)))

    def model(self, tables: _core.Model) -> ScoredModel:
        """The model with these scores."""
        return self.of


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


def _wrong_name(spelled: tuple[Spelled, ...], definition: Definition) -> Fault | None:
    """A name that is not one of a byte, or of a token that is found in all text."""
    always = {text for text, one in definition.matching.items() if one.always}
    known = {*(definition.byte_ids or ()), *map(definition.special_tokens.get, always)}
    for one in spelled:
        if one.id not in known or not one.text or not _is_finite(one.score):
            problem = f"{show(one)} is not the name of a fallback byte or an added token."
            return Fault(problem, one.id, "Leave it out of spelled.")
    return None


def _long(scores: list[float | None], definition: Definition) -> set[int]:
    return {
        id
        for id, (token, score) in enumerate(zip(definition.tokens, scores, strict=False))
        if token is not None and score is not None and len(token.decode(errors="replace")) > 1
    }
