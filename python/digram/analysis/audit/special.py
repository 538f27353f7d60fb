"""Hazards of special tokens and of ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Hazards", "hazards", "pattern"]

# Markup of HTML, XML and forums: `<s>`, `</b>`, `[b]`. Special tokens such as <|end|> contain
# symbols that markup does not.
_MARKUP = re.compile(r"</?[A-Za-z][A-Za-z0-9]*/?>|\[/?[A-Za-z][A-Za-z0-9]*\]")
_WORDS = re.compile(r"[\w\s.,;:!?'\"-]*")


class Hazards(NamedTuple):
    """Special tokens and ids, by hazard."""

    ordinary: list[int]
    """Special tokens that have the bytes of an ordinary token, or look like words."""
    overlapping: list[tuple[str, str]]
    """Pairs whose first is a part of the second."""
    spaced: list[int]
    """Special tokens that contain white space, or are empty."""
    markup: list[int]
    """Special tokens that look like markup."""
    gaps: list[int]
    """Ids below the highest that have no token."""
    beyond: list[int]
    """Ids of tokens that are not below the number of tokens."""


def hazards(tok: Tokenizer) -> Hazards:
    """Check special tokens and ids.

    >>> import digram
    >>> tok = digram.train("a", max_merges=0, special_tokens=["<s>", "<|a|>", "<|a|>b", "user"])
    >>> result = hazards(tok.with_special_tokens({"x y": 300}))
    >>> result.markup, result.overlapping, result.spaced, result.ordinary
    ([256], [('<|a|>', '<|a|>b')], [300], [259, 300])
    >>> len(result.gaps), result.beyond
    (40, [300])
    """
    special = tok.special_tokens
    tokens = tok._model.tokens()
    ids = {id for id, token in enumerate(tokens) if token is not None} | {*special.values()}
    ordinary = {token for id, token in enumerate(tokens) if id not in {*special.values()}}
    return Hazards(
        ordinary=[
            id
            for text, id in special.items()
            if text.encode() in ordinary or _WORDS.fullmatch(text)
        ],
        overlapping=_overlapping(special),
        spaced=[id for text, id in special.items() if re.search(r"\s", text)],
        markup=[id for text, id in special.items() if _MARKUP.fullmatch(text)],
        gaps=[id for id in range(tok.vocab_size) if id not in ids],
        beyond=sorted(id for id in ids if id >= len(tok)),
    )


def _overlapping(special: dict[str, int]) -> list[tuple[str, str]]:
    """Pairs whose first is inside the second."""
    texts = sorted(special, key=lambda text: (len(text), text))
    joined = "\x00".join(texts)
    pairs = []
    for number, text in enumerate(texts):
        if joined.count(text) > 1:  # most occur only once
            pairs += [(text, other) for other in texts[number + 1 :] if text in other]
    return pairs


def pattern(tok: Tokenizer) -> re.Pattern[bytes] | None:
    """A pattern of the texts of special tokens, the longest first; None if there are none."""
    texts = sorted(map(str.encode, tok.special_tokens), key=len, reverse=True)
    return re.compile(b"|".join(map(re.escape, texts))) if texts else None
