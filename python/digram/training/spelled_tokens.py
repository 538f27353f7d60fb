"""Special tokens whose text stands in a corpus: training learns from it as from any text."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from digram.corpus import Further, Text
from digram.errors import several

__all__ = ["Spotter"]

_SHOWN = 3  # tokens that a warning names
_ALL = 64 << 20  # bytes, or characters, after which only a share of the batches is checked:
_ONE_IN = 16  # counting is faster than searching for many tokens
_ANY = ("utf-8", "surrogatepass")


class Spotter:
    """Counts the places of special tokens in texts as they go by, and warns of them at the end.

    >>> spotter = Spotter(["<s>", "</s>"])
    >>> [*spotter.over([["a<s>b", b"</s><s>"], ["c"]])]
    [['a<s>b', b'</s><s>'], ['c']]
    >>> spotter.found
    Counter({'<s>': 2, '</s>': 1})

    Takes one search of each text for all tokens that begin alike, some 1.5 ms a megabyte. Beyond
    the first 64 MB only a part of the texts is looked at, and what is found is the least there is.
    """

    def __init__(self, special_tokens: Sequence[str]) -> None:
        self.found: Counter[str] = Counter()
        self._looked, self._is_whole = 0, True
        groups: dict[str, list[str]] = {}
        for token in special_tokens:
            if isinstance(token, str) and token:  # others are refused elsewhere
                groups.setdefault(token[:2], []).append(token)
        self._groups = [(_beginning(some), some) for some in groups.values()]
        self._bytes = [
            (start.encode(*_ANY), [(token, token.encode(*_ANY)) for token in some])
            for start, some in self._groups
        ]
        lengths = [len(bytes) for _, some in self._bytes for _, bytes in some]
        self._longest, self._tail = max(lengths, default=1), b""

    def over(self, batches: Iterable[list[Text]]) -> Iterator[list[Text]]:
        """The same texts, looked at."""
        for number, batch in enumerate(batches):
            if self._looked < _ALL or number % _ONE_IN == 0:
                self._looked += sum(map(len, batch))
                for text in batch:
                    self._look(text)
            else:
                self._is_whole, self._tail = False, b""
            yield batch

    def _look(self, text: Text) -> None:
        if isinstance(text, str):
            for prefix, some in self._groups:
                if prefix in text:
                    self._add((token, text.count(token)) for token in some)
            return
        for start, spelled in self._bytes:
            if start in text:
                self._add((token, text.count(bytes)) for token, bytes in spelled)
        if isinstance(text, Further):  # a token may stand across where a long text was cut
            for _, spelled in self._bytes:
                for token, bytes in spelled:
                    if most := len(bytes) - 1:
                        self._add([(token, (self._tail[-most:] + text[:most]).count(bytes))])
            self._tail = (self._tail + text[-self._longest :])[-self._longest :]
        else:
            self._tail = text[-self._longest :]

    def _add(self, counted: Iterable[tuple[str, int]]) -> None:
        for token, number in counted:
            if number:
                self.found[token] += number

    def warn(self) -> None:
        """Tells, once, what was found."""
        if not self.found:
            return
        first, *_ = ranked = [token for token, _ in self.found.most_common()]
        named = ", ".join(
            f"{token!r} {several(self.found[token], 'time')}" for token in ranked[:_SHOWN]
        )
        more = f", and {several(len(ranked) - _SHOWN, 'other')}" if len(ranked) > _SHOWN else ""
        least = "" if self._is_whole else "at least "
        warnings.warn(
            "the corpus holds the text of special tokens, and it was learned from as text: "
            f"{least}{named}"
            f"{more}. Where one ends documents, pass separator={first!r}; take others out of the "
            "texts.",
            stacklevel=1,
        )


def _beginning(tokens: Sequence[str]) -> str:
    """What all of some tokens begin with."""
    least, greatest = min(tokens), max(tokens)
    same = (a == b for a, b in zip(least, greatest, strict=False))
    return least[: next((at for at, is_same in enumerate(same) if not is_same), len(least))]
