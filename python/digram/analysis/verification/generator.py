"""Random texts for comparing tokenizers, the same for the same seed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator

from digram._util.validation import whole_number
from digram.analysis.verification.alphabet import CLASSES, any_character

__all__ = ["TextGenerator"]

_LONGEST_PIECE = 64  # bytes of a token that is joined to others
_MOST_PIECES = 200_000
_RUNS = (2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 129, 257, 600)


class TextGenerator:
    """Generates texts on which tokenizers may differ.

    >>> generator = TextGenerator(special_tokens=["<s>"], tokens=[b" low", b"er"])
    >>> texts = list(generator.texts(1000, seed=7))
    >>> len(texts), texts == list(generator.texts(1000, seed=7))
    (1000, True)
    >>> any("<s>" in text for text in texts), any(" lower" in text for text in texts)
    (True, True)

        special_tokens: the texts of special and other added tokens. Each stands before, after and
            between parts of each class, and inside other texts.
        tokens: tokens as bytes. Whole tokens and their beginnings are joined at random, also so
            that they overlap; those that are not UTF-8 only occur in `byte_texts`.

    The other parts of the texts are of fixed classes, see `digram.analysis.verification.CLASSES`:
    letters of many scripts, digits of all scripts, marks, white space, contractions, emoji
    sequences, and so on. A text has parts of several classes, so that their borders are met; a long
    run of one part; pieces of tokens; or any characters of Unicode. Lone surrogates do not occur.
    A text takes about 10 µs.
    """

    def __init__(
        self, special_tokens: Iterable[str] = (), tokens: Iterable[bytes | None] = ()
    ) -> None:
        self._special = sorted({text for text in special_tokens if text})
        short = {one for one in tokens if one and len(one) <= _LONGEST_PIECE}
        pieces = sorted(short)[:: 1 + len(short) // _MOST_PIECES]
        whole = [piece for piece in map(_decoded, pieces) if piece is not None]
        self._pieces = [piece for piece in whole if len(piece) > 1] or whole
        self._starting: dict[str, list[str]] = {}
        for piece in self._pieces:
            self._starting.setdefault(piece[0], []).append(piece)
        self._bytes = [piece for piece in pieces if _decoded(piece) is None]
        self._classes = [*CLASSES.values(), *([tuple(self._special)] if self._special else [])]
        weights = [("mixed", 40), ("run", 8), ("any", 8), ("beside", 16 if self._special else 0)]
        weights.append(("joined", 28 if self._pieces else 0))
        self._recipes = [name for name, _ in weights]
        self._weights = list(itertools.accumulate(weight for _, weight in weights))

    def texts(self, count: int, seed: int = 0) -> Iterator[str]:
        """Generate `count` texts; raises `OptionError` for numbers below 0."""
        count, seed = whole_number("count", count, 0), whole_number("seed", seed, 0)
        rng = random.Random(seed)
        recipes = [getattr(self, f"_{name}") for name in self._recipes]
        turns = itertools.count(rng.randrange(1 << 30))
        for _ in range(count):
            yield rng.choices(recipes, cum_weights=self._weights)[0](rng, turns)

    def byte_texts(self, count: int, seed: int = 0) -> Iterator[bytes]:
        r"""Generate `count` texts as bytes, most of which are not UTF-8.

        >>> texts = [*TextGenerator().byte_texts(100)]
        >>> sum(text.decode(errors="ignore").encode() != text for text in texts) > 50
        True
        """
        rng = random.Random(~whole_number("seed", seed, 0))
        for text in self.texts(count, seed):
            data = text.encode()
            for _ in range(rng.randrange(1, 4)):
                place = rng.randrange(len(data) + 1)
                kind = rng.randrange(4)
                if kind == 0:
                    data = data[:place] + data[place + 1 :]
                elif kind == 1:
                    data = data[:place] + rng.randbytes(rng.randrange(1, 5)) + data[place:]
                elif kind == 2 and self._bytes:
                    data = data[:place] + rng.choice(self._bytes) + data[place:]
                else:
                    data = data[:place] + rng.choice(_BROKEN) + data[place:]
            yield data

    def _mixed(self, rng: random.Random, _turns: Iterator[int]) -> str:
        """Parts of a few classes, or of all of them."""
        few = rng.choices(self._classes, k=rng.randrange(1, 5))
        classes = few if rng.random() < 0.7 else self._classes
        size = rng.randrange(1, 16)
        text = "".join(rng.choice(one) for one in rng.choices(classes, k=size))
        return text if rng.random() < 0.75 else f"{rng.choice(_OUTER)}{text}{rng.choice(_OUTER)}"

    def _run(self, rng: random.Random, turns: Iterator[int]) -> str:
        """A run of one part, between others."""
        part = rng.choice(rng.choice(self._classes))
        times = min(rng.choice(_RUNS), 1 + 1000 // len(part))
        before, after = (self._mixed(rng, turns) if rng.random() < 0.3 else "" for _ in "ab")
        return f"{before}{part * times}{after}"

    def _any(self, rng: random.Random, _turns: Iterator[int]) -> str:
        """Any characters of Unicode, or neighbours of one, as in a word."""
        size = rng.randrange(1, 9)
        if rng.random() < 0.5:
            return "".join(any_character(rng.random(), rng.random()) for _ in range(size))
        start = ord(any_character(rng.random(), rng.random()))
        start = min(start, 0x10FFFF - 24) if not 0xD7E8 <= start < 0xD800 else 0xD7E7
        return "".join(chr(start + rng.randrange(25)) for _ in range(size))

    def _beside(self, rng: random.Random, turns: Iterator[int]) -> str:
        """A special token beside a class; all pairs of both occur in turn."""
        turn, place = divmod(next(turns), 3)
        turn, kind = divmod(turn, len(self._classes))
        special = self._special[turn % len(self._special)]
        one, other = rng.choice(self._classes[kind]), rng.choice(self._classes[kind])
        if place == 0:
            return f"{special}{one}"
        return f"{one}{special}{other}" if place == 1 else f"{one}{special}"

    def _joined(self, rng: random.Random, _turns: Iterator[int]) -> str:
        """Tokens, beginnings of tokens, and parts between them.

        Where a token begins with the last character of the one before, that is often shared: then
        two tokens want it, and the order of merges decides.
        """
        text = ""
        for piece in rng.choices(self._pieces, k=rng.randrange(1, 8)):
            chance = rng.random()
            overlapping = self._starting.get(text[-1:])
            if chance < 0.4 and overlapping:
                text += rng.choice(overlapping)[1:]
            elif chance < 0.6:
                text += piece[: rng.randrange(1, len(piece) + 1)]
            elif chance < 0.7:
                text += piece + rng.choice(rng.choice(self._classes))
            else:
                text += piece
        return text


_OUTER = ("", " ", "  ", "\n", "\t", "\u2581", "\u3000", "\r\n", "\xa0")
_BROKEN = (
    *(b"\x80", b"\xbf", b"\xc0\x80", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x99", b"\xed\xa0\x80"),
    *(b"\xf4\x90\x80\x80", b"\xff", b"\xfe", b"\xe0\x80\x80", b"\xf8\x88\x80\x80\x80"),
)


def _decoded(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None
