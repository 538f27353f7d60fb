"""The vocabulary as a list that one searches and sorts, of which a page sees some rows."""

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
"""Lists that are kept, for a person who scrolls through one of them."""


class Vocabulary:
    """The tokens of a tokenizer, in any of some orders, and how each is made.

    >>> import digram
    >>> tok = digram.train("low lower", max_merges=2, special_tokens=["<s>"])
    >>> Vocabulary(tok).rows("ow", sort="bytes", descending=True)
    {'total': 1, 'rows': [[257, '6c6f77', 1, 2, False]]}
    >>> Vocabulary(tok).rows("258", by="id")["rows"]
    [[258, '3c733e', None, None, True]]

    What is costly is made at its first use and kept, some 800 bytes a token.
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
        """How many tokens were found, and of these `count` rows from `start` on.

        A row is the id, the bytes in hexadecimal, the rank of the merge that makes the token, how
        often its pair stood in the corpus then (None where that is not known), and whether it is a
        special token. `by` says what is looked for: "text" that a token holds, in any case unless
        the search has capitals; an "id"; bytes in "hex" that it holds. `sort` is "id", "token" (by
        its bytes), "bytes" (how many), "rank" or "count"; what has none comes last. Raises
        `OptionError` for other words. A new list takes time linear in the vocabulary (in the
        first use of an order, that of sorting it).
        """
        asked = (search, by, sort, descending)
        with self._lock:  # a page asks for several parts of a list at once
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
        """Its merges by pair and by token."""
        return Symbols(self._tok)

    def _made(self, id: int) -> Rule | None:
        """The merge that makes a token; None where there is none."""
        return None if id in self._special else self.symbols.making(id)

    @cached_property
    def _tokens(self) -> dict[int, bytes]:
        tokens = enumerate(self._tok._model.tokens())
        found = {id: token for id, token in tokens if token is not None}
        found.update({id: text.encode() for text, id in self._tok.special_tokens.items()})
        return dict(sorted(found.items()))

    @cached_property
    def _lower(self) -> dict[int, bytes]:
        """For a search in any case; of characters, where a token holds whole ones."""
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
        """The ids found, in their order."""
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
                    hint="Write two digits a byte, as in e4 b8 ad.",
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
