"""Where a document that is longer than a batch can be divided without changing its ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.corpus.text import LastBorder
from digram.vocab.special_tokens import OnSpecial

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["border_of"]

_LOOK = 1 << 12  # bytes to search before an unsuitable place
_CHARACTER = 4  # maximum bytes of a character; a place is judged by the text on both sides of it


def border_of(tok: Tokenizer, special: OnSpecial) -> LastBorder:
    """A function for the last place at which a text can be divided without changing its ids.

    >>> import digram
    >>> tok = digram.train("a b", max_merges=0, special_tokens=["<a b>"])
    >>> text = b"so long a text with <a b"
    >>> border_of(tok, "text")(text, 0), border_of(tok, "parse")(text, 0)
    (22, 19)

    It is a place where the pretokenizer certainly splits, and no added token that is found in all
    text reaches over it. If special tokens are parsed, none may have started before the place and
    continue after it. A text is not divided without a pretokenizer, or with one that has
    look-behind.
    """
    splitter = tok.pretokenizer.splitter()
    last_border = tok._last_border if tok._finds_in_all_text else splitter.last_border
    if special == "text" or not tok.special_tokens:
        return last_border
    names = [name.encode() for name in tok.special_tokens]
    begun = {name[:size] for name in names for size in range(1, len(name))}
    longest = max(map(len, names))
    rules = tok.pretokenizer.rules
    # Rules depend on this many bytes before the place.
    behind = 1 + max(map(len, rules.tokens()), default=0) if rules is not None else 0

    def last(text: bytes, start: int) -> int:
        at = last_border(text, start)
        while at >= longest:
            before = text[at - longest : at]
            if not any(before[-size:] in begun for size in range(1, longest)):
                return at
            low = max(at - _LOOK, 0)
            first = max(low - behind, 0)
            found = last_border(text[first:at], low - first + _CHARACTER if low else start)
            at = first + found if found else low + _CHARACTER if low else 0
        return 0

    return last


def _nowhere(_text: bytes, _start: int) -> int:
    return 0
