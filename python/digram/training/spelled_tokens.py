"""Find the text of special tokens in a corpus; training treats it as ordinary text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from digram._util.warning import warn
from digram.corpus import Further, Text
from digram.corpus.file_types import files_with
from digram.errors import several

__all__ = ["Spotter"]

_SHOWN = 3  # number of tokens named in a warning
_ALL = 64 << 20  # bytes or characters, after which only a share of the batches is checked,
_ONE_IN = 16  # one in this many, since searching for many tokens is slower than counting
_ANY = ("utf-8", "surrogatepass")


class Spotter:
    """Counts the occurrences of special tokens in texts, and warns of them at the end.

    >>> spotter = Spotter(["<s>", "</s>"])
    >>> [*spotter.over([["a<s>b", b"</s><s>"], ["c"]])]
    [['a<s>b', b'</s><s>'], ['c']]
    >>> spotter.found
    Counter({'<s>': 2, '</s>': 1})

    Searches each text once for all tokens with the same beginning, about 1.5 ms per megabyte.
    After the first 64 MB only some of the texts are searched, and the numbers are lower bounds.
    """

    def __init__(self, special_tokens: Sequence[str]) -> None:
        self.found: Counter[str] = Counter()
        self._looked, self._is_whole = 0, True
        groups: dict[str, list[str]] = {}
        for token in special_tokens:
            if isinstance(token, str) and token:  # other values are refused elsewhere
                groups.setdefault(token[:2], []).append(token)
        self._groups = [(_beginning(some), some) for some in groups.values()]
        self._bytes = [
            (start.encode(*_ANY), [(token, token.encode(*_ANY)) for token in some])
            for start, some in self._groups
        ]
        lengths = [len(bytes) for _, some in self._bytes for _, bytes in some]
        self._longest, self._tail = max(lengths, default=1), b""

    def over(self, batches: Iterable[list[Text]]) -> Iterator[list[Text]]:
        """Yield the same batches, after searching them."""
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
        if isinstance(text, Further):  # a token may span the parts of a long text
            for _, spelled in self._bytes:
                for token, bytes in spelled:
                    if overlap := len(bytes) - 1:
                        self._add([(token, (self._tail[-overlap:] + text[:overlap]).count(bytes))])
            self._tail = (self._tail + text[-self._longest :])[-self._longest :]
        else:
            self._tail = text[-self._longest :]

    def _add(self, counted: Iterable[tuple[str, int]]) -> None:
        for token, number in counted:
            if number:
                self.found[token] += number

    def warn(self) -> None:
        """Warn of the special tokens that were found."""
        if not self.found:
            return
        first, *_ = ranked = [token for token, _ in self.found.most_common()]
        named = ", ".join(
            f"{token!r} {several(self.found[token], 'time')}" for token in ranked[:_SHOWN]
        )
        more = f", and {several(len(ranked) - _SHOWN, 'other')}" if len(ranked) > _SHOWN else ""
        bound = "" if self._is_whole else "at least "
        separator = f"separator={first!r}"
        warn(
            "the corpus contains the text of special tokens, and training treats it as ordinary "
            f"text: {bound}{named}{more}. If one of them separates documents, split the texts at "
            f"it, as {files_with(separator)} does; remove others from "
            "the texts."
        )


def _beginning(tokens: Sequence[str]) -> str:
    """The common prefix of several tokens."""
    least, greatest = min(tokens), max(tokens)
    same = (a == b for a, b in zip(least, greatest, strict=False))
    return least[: next((at for at, is_same in enumerate(same) if not is_same), len(least))]
