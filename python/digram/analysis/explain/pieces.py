"""A text in pieces: pretokens and special tokens, each with its ids.

If the tokenizer normalizes text, the pieces are those of the normalized text.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from digram.vocab.special_tokens import rule_of

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.vocab.special_tokens import OnSpecial

__all__ = ["Piece", "pieces"]


class Piece(NamedTuple):
    """A pretoken or a special token, and its offset in the normalized text, in bytes."""

    start: int
    text: bytes
    ids: list[int]
    is_special: bool

    @property
    def end(self) -> int:
        """The offset of its end."""
        return self.start + len(self.text)


def pieces(tok: Tokenizer, text: str | bytes, special: OnSpecial) -> list[Piece]:
    """The pieces of a text, in order; joined they are the text, or the normalized text."""
    encoded = tok._encoded([text], rule_of(special), "bytes")
    number = encoded.bounds()[1]
    data = text.encode() if isinstance(text, str) else text
    names = {id: name.encode() for name, id in tok.special_tokens.items()}
    found = zip(
        encoded.pretokens(0, number), encoded.ids(0, number), encoded.spans(0, number), strict=True
    )
    unknown = tok._unknown_id
    made: list[Piece] = []
    at = 0
    for _, together in groupby(found, key=lambda one: one[0]):
        group = list(together)
        ids = [id for _, id, _ in group]
        piece = data[group[0][2][0] : group[-1][2][1]]
        is_special = len(ids) == 1 and ids[0] in names and ids[0] != unknown
        is_special = is_special or (len(ids) == 1 and names.get(ids[0]) == piece)
        if tok.pretokenizer.normalizes and not is_special and unknown not in ids:
            piece = b"".join(tok.tokens(ids))
        made.append(Piece(at, piece, ids, is_special))
        at += len(piece)
    return made
