"""The vocabulary as a list to search and sort, of which the page shows some rows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from digram.analysis.explain.symbols import Rule, Symbols
from digram.errors import OptionError

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["SEARCHES", "SORTS", "Vocabulary"]

SORTS = ("id", "token", "bytes", "rank", "count")
SEARCHES = ("text", "id", "hex")
_REMEMBERED = 8
"""The number of lists to keep, for scrolling through one of them."""


class Vocabulary:
    """The tokens of a tokenizer in several orders, with the merges that make them.

    >>> import digram
    >>> tok = digram.train("low lower", max_merges=2, special_tokens=["<s>"])
    >>> Vocabulary(tok).rows("ow", sort="bytes", descending=True)
    {'total': 1, 'rows': [[257, '6c6f77', 1, 2, False]]}
    >>> Vocabulary(tok).rows("258", by="id")["rows"]
    [[258, '3c733e', None, None, True]]

    Costly parts are computed at first use and kept; they take some 800 bytes per token.
    """

    def __init__(self, tok: Tokenizer) -> None:
        self._tok = tok
        self._lists: dict[tuple[str, str, str, bool], Sequence[int]] = {}
        self._lock = threading.Lock()

    def rows(
        self,
        search: str = "",
        *,
        by: str = "text",
        sort: str = "id",
        descending: bool = False,
        start: int = 0,
        count: int = 100,
    ) -> dict[str, Any]:
        """The number of matching tokens, and `count` rows of them from `start` on.

        A row is the id, the bytes in hexadecimal, the rank of the merge that makes the token, the
        count of its pair in the training corpus (None if unknown), and whether it is a special
        token. `by` is the kind of search: "text" that a token contains, case-insensitive unless the
        search has capitals; an "id"; or bytes in "hex" that it contains. `sort` is "id", "token"
        (by its bytes), "bytes" (their number), "rank" or "count"; tokens without the value come
        last. Raises `OptionError` for other values. A new list takes time linear in the vocabulary,
        and the first use of an order the time of sorting.
        """
        asked = (search, by, sort, descending)
        with self._lock:  # the page requests several parts of a list at once
            found = self._lists.get(asked)
            if found is None:
                found = self._list(*asked)
                while len(self._lists) >= _REMEMBERED:
                    self._lists.pop(next(iter(self._lists)))
                self._lists[asked] = found
        rows = [self._row(id) for id in found[start : start + count]]
        return {"total": len(found), "rows": rows}

    @cached_property
    def symbols(self) -> Symbols:
        """The merges by pair and by token."""
        return Symbols(self._tok)

    def _made(self, id: int) -> Rule | None:
        """The merge that makes a token; None if no merge does."""
        return None if id in self._special else self.symbols.making(id)

    @cached_property
    def _tokens(self) -> dict[int, bytes]:
        tokens = enumerate(self._tok._model.tokens())
        found = {id: token for id, token in tokens if token is not None}
        found.update({id: text.encode() for text, id in self._tok.special_tokens.items()})
        return dict(sorted(found.items()))

    @cached_property
    def _lower(self) -> dict[int, bytes]:
        """Lower-case tokens for case-insensitive search; only tokens of whole characters change."""
        return {
            id: token.lower() if token.isascii() else _folded(token)
            for id, token in self._tokens.items()
        }

    @cached_property
    def _special(self) -> frozenset[int]:
        return frozenset(self._tok.special_tokens.values())

    def _row(self, id: int) -> list[Any]:
        one = self._made(id)
        rank, count = (None, None) if one is None else (one.rank, one.frequency)
        return [id, self._tokens[id].hex(), rank, count, id in self._special]

    def _list(self, search: str, by: str, sort: str, descending: bool) -> Sequence[int]:
        if sort not in SORTS:
            raise OptionError(f"sort={sort!r:.40} is none of {', '.join(SORTS)}.", value=sort)
        found = self._searched(search, by)
        key = self._key(sort)
        known = [id for id in found if key(id) is not None]
        known.sort(key=key, reverse=descending)
        return (
            known + [id for id in found if key(id) is None] if sort in ("rank", "count") else known
        )

    def _searched(self, search: str, by: str) -> list[int]:
        """The matching ids, in order."""
        if by not in SEARCHES:
            raise OptionError(f"by={by!r:.40} is none of {', '.join(SEARCHES)}.", value=by)
        if not search:
            return [*self._tokens]
        if by == "id":
            digits = search.replace(",", "").strip()
            id = int(digits) if digits.isdecimal() and len(digits) < 12 else -1
            return [id] if id in self._tokens else []
        if by == "hex":
            try:
                wanted = bytes.fromhex(search)
            except ValueError:
                raise OptionError(
                    f"{search!r:.80} is not bytes in hexadecimal.",
                    value=search,
                    hint="Write two digits per byte, as in e4 b8 ad.",
                ) from None
            return [id for id, token in self._tokens.items() if wanted in token]
        exact = search != search.lower()
        wanted = (search if exact else search.lower()).encode()
        among = self._tokens if exact else self._lower
        return [id for id, token in among.items() if wanted in token]

    def _key(self, sort: str) -> Callable[[int], Any]:
        tokens = self._tokens
        if sort == "token":
            return tokens.__getitem__
        if sort == "bytes":
            return lambda one: len(tokens[one])
        if sort == "rank":
            return lambda one: None if (made := self._made(one)) is None else made.rank
        if sort == "count":
            return lambda one: None if (made := self._made(one)) is None else made.frequency
        return lambda one: one


def _folded(token: bytes) -> bytes:
    return token.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")
