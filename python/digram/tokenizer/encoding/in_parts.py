"""The encoding of texts in parts, with the interface of the core's `Encoded`.

A part is text or a `SpecialToken`. The text between special tokens is encoded as a text of its own,
as `Tokenizer.encode` does. Offsets are those of the parts end to end, in which a special token has
its text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from digram._util.validation import utf8_bytes
from digram.errors import DigramError, placed
from digram.vocab.special_tokens import SpecialToken

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram._core import Core

__all__ = ["EncodedInParts", "is_in_parts", "joined"]

T = TypeVar("T")
Place = Callable[[int], str]


def is_in_parts(text: object) -> bool:
    """Whether a text is given in parts."""
    return isinstance(text, list | tuple)


def joined(text: Any) -> str | bytes:
    """The parts of a text end to end.

    >>> joined(["a", SpecialToken("<s>"), "b"]), joined([SpecialToken("<s>"), b"b"]), joined("a")
    ('a<s>b', b'<s>b', 'a')
    """
    if not is_in_parts(text):
        return text  # type: ignore[no-any-return]
    parts = [part.text if isinstance(part, SpecialToken) else part for part in text]
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    return b"".join(utf8_bytes("a part", part) for part in parts)


class _Piece(NamedTuple):
    """Neighbouring parts of text, with its number among all of them; or a special token."""

    text: str | bytes
    number: int | None
    id: int


class EncodedInParts:
    """The ids of several texts, some of them in parts, with their places."""

    def __init__(
        self,
        tok: Core,
        texts: Sequence[Any],
        special: str | Collection[str] | None,
        unit: str | None,
        threads: int | None,
        place: Place | None,
    ) -> None:
        self._arguments = (tok, [*texts], special, unit, threads, None)
        self._unit = unit
        self._pieces: list[list[_Piece]] = []
        plain: list[Any] = []
        owners: list[int] = []
        known: dict[SpecialToken, int] = {}
        for index, text in enumerate(texts):
            name = f"text[{index}]" if place is None else place(index)
            self._pieces.append(_pieces(tok, text, plain, known, name))
            owners += [index] * (len(plain) - len(owners))

        def place_of(number: int) -> str:
            index = owners[number]
            return f"text[{index}]" if place is None else place(index)

        self._encoded = tok._encoded(plain, special, unit, threads, place_of)
        self._plain_bounds = self._encoded.bounds()
        self._bounds = [0]
        for pieces in self._pieces:
            self._bounds.append(self._bounds[-1] + sum(map(self._count, pieces)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments

    def bounds(self) -> list[int]:
        """The end of each text among all ids, with a zero before the first."""
        return [*self._bounds]

    def ids(self, start: int, stop: int) -> list[int]:
        """Some of all ids."""
        return self._all_ids[start:stop]

    def spans(self, start: int, stop: int) -> list[tuple[int, int]]:
        """The start and end, in its text, of some of the tokens."""
        return self._all_spans[start:stop]

    def pretokens(self, start: int, stop: int) -> list[int]:
        """The number of the pretoken of some of the tokens, from 0 in each text."""
        return self._all_pretokens[start:stop]

    def texts_of(self, start: int, stop: int, id: int) -> list[bytes | None]:
        """The normalized texts of some of the tokens, those with an id; None for others."""
        texts = self._encoded.texts_of(0, self._plain_bounds[-1], id)
        found: list[bytes | None] = []
        for pieces in self._pieces:
            for piece in pieces:
                found += [None] if piece.number is None else texts[slice(*self._window(piece))]
        return found[start:stop]

    def token_at(self, start: int, stop: int, position: int) -> int | None:
        """The first of some tokens of one text that covers a position."""
        spans = self.spans(start, stop)
        index = bisect_right(spans, position, key=lambda span: span[1])
        return start + index if index < len(spans) and spans[index][0] <= position else None

    def tokens_of_pretoken(self, start: int, stop: int, pretoken: int) -> tuple[int, int]:
        """The first token of a pretoken, and the one after its last."""
        numbers = self._all_pretokens
        first = bisect_left(numbers, pretoken, start, stop)
        return first, bisect_right(numbers, pretoken, start, stop)

    def numpy_ids(self) -> NDArray[np.uint32]:
        """All ids."""
        import numpy as np

        return np.array(self._all_ids, np.uint32)

    def numpy_spans(self) -> NDArray[np.int64]:
        """All spans, one per row."""
        import numpy as np

        return np.array(self._all_spans, np.int64).reshape(-1, 2)

    def _window(self, piece: _Piece) -> tuple[int, int]:
        assert piece.number is not None
        return self._plain_bounds[piece.number], self._plain_bounds[piece.number + 1]

    def _count(self, piece: _Piece) -> int:
        if piece.number is None:
            return 1
        start, stop = self._window(piece)
        return stop - start

    @cached_property
    def _all_ids(self) -> list[int]:
        ids = self._encoded.ids(0, self._plain_bounds[-1])
        found: list[int] = []
        for pieces in self._pieces:
            for piece in pieces:
                if piece.number is None:
                    found.append(piece.id)
                else:
                    start, stop = self._window(piece)
                    found += ids[start:stop]
        return found

    @cached_property
    def _all_spans(self) -> list[tuple[int, int]]:
        spans = self._encoded.spans(0, self._plain_bounds[-1])
        found: list[tuple[int, int]] = []
        for pieces in self._pieces:
            at, unit = 0, self._unit or _usual_unit(pieces)
            for piece in pieces:
                if piece.number is None:
                    end = at + _length(piece.text, unit)
                    found.append((at, end))
                    at = end
                    continue
                start, stop = self._window(piece)
                found += [(at + first, at + last) for first, last in spans[start:stop]]
                at += _length(piece.text, unit) if len(pieces) > 1 else 0
        return found

    @cached_property
    def _all_pretokens(self) -> list[int]:
        numbers = self._encoded.pretokens(0, self._plain_bounds[-1])
        found: list[int] = []
        for pieces in self._pieces:
            before = 0
            for piece in pieces:
                if piece.number is None:
                    found.append(before)
                    before += 1
                    continue
                start, stop = self._window(piece)
                found += [before + number for number in numbers[start:stop]]
                before = found[-1] + 1 if start < stop else before
        return found


def _pieces(
    tok: Core, text: Any, plain: list[Any], known: dict[SpecialToken, int], name: str
) -> list[_Piece]:
    """The pieces of a text; those of text are appended to `plain`, and ids put into `known`."""
    if not is_in_parts(text):
        plain.append(text)
        return [_Piece(text, len(plain) - 1, 0)]
    if not any(isinstance(part, SpecialToken) for part in text):
        raise TypeError(
            f"{name} is a list without a SpecialToken, which may be parts, words or a pair; join "
            "its parts, or pass is_split_into_words=True or pair="
        )
    is_str = all(isinstance(part, str | SpecialToken) for part in text)
    pieces: list[_Piece] = []
    run: list[Any] = []

    def end_run() -> None:
        if run:
            plain.append("".join(run) if is_str else b"".join(run))
            pieces.append(_Piece(plain[-1], len(plain) - 1, 0))
            run.clear()

    for number, part in enumerate(text):
        if isinstance(part, SpecialToken):
            end_run()
            if part not in known:
                known[part] = _id_of(tok, part, name)
            pieces.append(_Piece(part.text, None, known[part]))
        elif isinstance(part, str | bytes):
            run.append(part if is_str else utf8_bytes(f"{name}[{number}]", part))
        else:
            raise TypeError(
                f"{name}[{number}] is str, bytes or SpecialToken, not {type(part).__name__}"
            )
    end_run()
    if not is_str:
        pieces = [piece._replace(text=utf8_bytes(name, piece.text)) for piece in pieces]
    return pieces


def _id_of(tok: Core, token: SpecialToken, name: str) -> int:
    try:
        return tok.encode([token])[0]
    except DigramError as error:
        placed(error, name)
        raise


def _usual_unit(pieces: Sequence[_Piece]) -> str:
    return "bytes" if any(isinstance(piece.text, bytes) for piece in pieces) else "characters"


def _length(text: str | bytes, unit: str) -> int:
    """The length of a text in a unit; each bad sequence of bytes is a character, U+FFFD."""
    if unit == "bytes":
        return len(text) if isinstance(text, bytes) else len(text.encode())
    characters = text.decode(errors="replace") if isinstance(text, bytes) else text
    return len(characters) if unit == "characters" else len(characters.encode("utf-16-le")) // 2
