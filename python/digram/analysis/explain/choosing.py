"""Why a pretoken became its tokens in models without merges: WordPiece and Unigram."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from digram.analysis.explain.cuts import Cut
from digram.analysis.explain.pieces import Piece
from digram.vocab.scores import UnigramKernel
from digram.vocab.wordpiece import WordPieceKernel

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Alternative", "Choice", "Chooser", "Chosen"]

_MOST = 4
"""The number of segmentations to compare, with the one that was chosen."""
_LONGEST = 10_000  # bytes of a pretoken whose other segmentations are searched for


class Choice(NamedTuple):
    """A token of a pretoken.

    `score` is that of Unigram. `others` are the shorter tokens that WordPiece could have taken at
    this place, the longest first.
    """

    token: bytes
    id: int
    score: float | None
    others: tuple[bytes, ...]


class Alternative(NamedTuple):
    """Another segmentation of a pretoken, and the sum of its scores."""

    tokens: list[bytes]
    sum: float


@dataclass(frozen=True, eq=False, slots=True)
class Chosen:
    """A pretoken, and the tokens that were chosen for it.

    `start` is its offset in the text, in bytes. `how` is "longest" if the longest token at each
    place was taken (WordPiece), "scores" if the segmentation with the highest sum of scores was
    (Unigram), "unknown" for a word of WordPiece that became the unknown token, for the `reason`,
    and "special" for the text of a special token. `choices` has the tokens. For Unigram `sum` is
    the sum of scores, and `alternatives` are the next best segmentations.
    """

    start: int
    pretoken: bytes
    ids: list[int]
    how: Literal["longest", "scores", "unknown", "special"]
    cut: Cut
    choices: list[Choice] = field(default_factory=list)
    sum: float | None = None
    alternatives: list[Alternative] = field(default_factory=list)
    reason: str | None = None

    @property
    def tokens(self) -> list[bytes]:
        """The tokens of the pretoken."""
        return [one.token for one in self.choices]

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON; bytes are hexadecimal."""
        choices = [
            {
                "hex": one.token.hex(),
                "id": one.id,
                "score": one.score,
                "others": [other.hex() for other in one.others],
            }
            for one in self.choices
        ]
        alternatives = [
            {"tokens": [token.hex() for token in one.tokens], "sum": one.sum}
            for one in self.alternatives
        ]
        return {
            "start": self.start,
            "text": self.pretoken.decode("utf-8", "replace"),
            "hex": self.pretoken.hex(),
            "how": self.how,
            "cut": self.cut.to_dict(),
            "choices": choices,
            "sum": self.sum,
            "alternatives": alternatives,
            "reason": self.reason,
            "ids": self.ids,
        }


class Chooser:
    """Explains pretokens of one tokenizer."""

    def __init__(self, tok: Tokenizer, kernel: WordPieceKernel | UnigramKernel) -> None:
        self._tok, self._kernel = tok, kernel
        self._alone = tok._uncut()
        fallback = {*(tok.definition.byte_ids or ())}
        tokens = tok._model.tokens()
        self._known = {token for id, token in enumerate(tokens) if token and id not in fallback}
        self._longest = max(map(len, self._known), default=0)
        self._unknown = tok._unknown_id

    def normalized(self, piece: Piece) -> Piece:
        """The piece with its normalized text, which `pieces` does not know for unknown text."""
        if piece.is_special or self._unknown not in piece.ids:
            return piece
        return piece._replace(text=b"".join(self._tok.pretokenize(piece.text)))

    def chosen(self, piece: Piece, cut: Cut) -> Chosen:
        """Why a pretoken became its ids."""
        start, text, ids, is_special = piece
        tokens = self._tok.tokens(ids)
        if is_special:
            pairs = zip(tokens, ids, strict=True)
            choices = [Choice(token, id, None, ()) for token, id in pairs]
            return Chosen(start, text, ids, "special", cut, choices)
        if isinstance(self._kernel, UnigramKernel):
            return self._by_scores(piece, tokens, cut, self._kernel)
        if ids == [self._unknown]:
            choices = [Choice(tokens[0], ids[0], None, ())]
            reason = self._why_unknown(text, self._kernel)
            return Chosen(start, text, ids, "unknown", cut, choices, reason=reason)
        choices, at = [], 0
        for token, id in zip(tokens, ids, strict=True):
            # A word that begins with the prefix of files may begin with such a token.
            is_plain = text.startswith(token, at)
            others = self._fitting(text, at, len(token)) if is_plain else ()
            choices.append(Choice(token, id, None, others))
            at += len(token) if is_plain else len(f" {self._kernel.prefix}".encode()) + len(token)
        return Chosen(start, text, ids, "longest", cut, choices)

    def _fitting(self, text: bytes, at: int, below: int) -> tuple[bytes, ...]:
        """The tokens at a place that are shorter than some number of bytes."""
        sizes = range(min(below, len(text) - at + 1) - 1, 0, -1)
        fits = (text[at : at + size] for size in sizes)
        # A space alone begins no word.
        return tuple(one for one in fits if one in self._known and one != b" ")

    def _why_unknown(self, text: bytes, kernel: WordPieceKernel) -> str:
        letters = text.decode(errors="replace").removeprefix(" ")
        if len(letters) > kernel.max_word_chars:
            return f"it has more than {kernel.max_word_chars:,} characters"
        at = 0
        while fits := self._fitting(text, at, self._longest + 1):
            at += len(fits[0])
        rest = text[at:].decode(errors="replace").lstrip(" ")
        return f"no token fits at {rest[:1]!r}, character {len(letters) - len(rest) + 1}"

    def _by_scores(
        self, piece: Piece, tokens: list[bytes], cut: Cut, kernel: UnigramKernel
    ) -> Chosen:
        start, text, ids, _ = piece
        scores = kernel.of.scores
        choices = [
            Choice(token, id, scores[id] if id < len(scores) else None, ())
            for token, id in zip(tokens, ids, strict=True)
        ]
        total, others = None, []
        if len(text) <= _LONGEST:
            for found, value in self._alone.encode_best(text, _MOST):
                if found == ids:
                    total = value
                else:
                    others.append(Alternative(self._tok.tokens(found), value))
        return Chosen(start, text, ids, "scores", cut, choices, total, others[: _MOST - 1])
