"""Templates: the special tokens around a text, or around a pair of texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from digram._util.validation import iterable
from digram.errors import OptionError, show

__all__ = ["SEQUENCES", "Piece", "Template"]

Piece = tuple[str, int]
"""An item of a template: a special token, `$A` or `$B`, with its type id."""

SEQUENCES = ("$A", "$B")
"""The placeholders for the tokens of the text and of its pair."""

_TYPED = re.compile(r"(.+):([0-9]+)", re.DOTALL)
_LIMIT = 1 << 32


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Template:
    """The special tokens around a text (`single`), and around a text with its pair (`pair`).

    The syntax is that of Hugging Face's `TemplateProcessing`: pieces separated by spaces, with `$A`
    for the tokens of the text, `$B` for those of its pair, and the text of special tokens; `:1`
    gives a piece the type id 1 instead of 0.

    >>> import digram
    >>> template = digram.Template("<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1")
    >>> template.single
    (('<s>', 0), ('$A', 0), ('</s>', 0))
    >>> tok = digram.train("a b", max_merges=0, special_tokens=["<s>", "</s>"])
    >>> tok.with_template(template)("a", "b").ids
    [256, 97, 257, 98, 257]

    Write a template as a sequence if a special token contains a space: `["<my token>", ("$A", 1)]`,
    in which each `str` is a piece. Without `pair` the template is only for single texts, and a pair
    is an error. Raises `OptionError` unless each text occurs in its template exactly once.
    """

    single: tuple[Piece, ...]
    pair: tuple[Piece, ...] | None

    def __init__(
        self, single: str | Sequence[str | Piece], pair: str | Sequence[str | Piece] | None = None
    ) -> None:
        object.__setattr__(self, "single", _pieces(single, "single", SEQUENCES[:1]))
        pieces = None if pair is None else _pieces(pair, "pair", SEQUENCES)
        object.__setattr__(self, "pair", pieces)

    @property
    def tokens(self) -> list[str]:
        """The special tokens of the template, each once, in order of first occurrence."""
        names = (name for name, _ in (*self.single, *(self.pair or ())))
        return [name for name in dict.fromkeys(names) if name not in SEQUENCES]

    def __repr__(self) -> str:
        pair = "" if self.pair is None else f", pair={_written(self.pair)}"
        return f"Template({_written(self.single)}{pair})"


def _pieces(
    written: str | Sequence[str | Piece], which: str, needed: Sequence[str]
) -> tuple[Piece, ...]:
    parts: Iterable[str | Piece] = (
        written.split()
        if isinstance(written, str)
        else iterable(which, written, "a text or its pieces")
    )
    pieces = tuple(_piece(part) for part in parts)
    names = [name for name, _ in pieces]
    for name in SEQUENCES:
        if names.count(name) != (name in needed):
            wanted = "once" if name in needed else "0 times"
            raise OptionError(
                f"the template {which}={show(written)} has {name} {names.count(name)} times, but "
                f"should have it {wanted}.",
                value=written,
            )
    return pieces


def _piece(part: str | Piece) -> Piece:
    if isinstance(part, str):
        typed = _TYPED.fullmatch(part)
        name, type_id = (typed[1], int(typed[2])) if typed else (part, 0)
    else:
        if not isinstance(part, tuple | list) or len(part) != 2:
            raise TypeError(f"a piece of a template is a str and a number, not {show(part)}")
        name, type_id = part
        if not isinstance(name, str) or type(type_id) is not int:
            raise TypeError(f"a piece of a template is a str and a number, not {show(part)}")
    if not name or not 0 <= type_id < _LIMIT:
        raise OptionError(
            f"{show(part)} is not a piece of a template: it has a name, and a type id from 0 to "
            "2^32 - 1.",
            value=part,
        )
    return name, type_id


def _written(pieces: tuple[Piece, ...]) -> str:
    text = " ".join(f"{name}:{type_id}" if type_id else name for name, type_id in pieces)
    again = tuple(_piece(part) for part in text.split())
    return repr(text) if again == pieces else repr(list(pieces))
