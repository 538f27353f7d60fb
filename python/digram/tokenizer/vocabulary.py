"""The vocabulary as a mapping from tokens to ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from digram.errors import several, show

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Vocabulary"]


class Vocabulary(Mapping[bytes, int]):
    """A read-only mapping from the bytes of each token to its id, in the order of ids: `tok.vocab`.

    A look-up takes as long as `tok.token_to_id`; a list of the tokens is built only when you
    iterate. Keys are bytes, as in `tok.tokens`; a `str` is looked up by its UTF-8.
    """

    def __init__(self, tok: Tokenizer) -> None:
        self._tok = tok

    @cached_property
    def _ids(self) -> dict[bytes, int]:
        """The whole mapping; for several ids with the same bytes, the id that a look-up returns."""
        tok = self._tok
        tokens = {id: token for id, token in enumerate(tok._model.tokens()) if token is not None}
        tokens |= {id: text.encode() for text, id in tok.special_tokens.items()}
        found: dict[bytes, int] = {}
        for id, token in sorted(tokens.items()):
            if found.setdefault(token, id) != id:
                found[token] = self[token]
        return found

    def __getitem__(self, token: bytes | str) -> int:
        id = self._tok.token_to_id(token) if isinstance(token, bytes | str) else None
        if id is None:
            raise KeyError(token)
        return id

    def __contains__(self, token: object) -> bool:
        return isinstance(token, bytes | str) and self._tok.token_to_id(token) is not None

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self._tok,)

    def __repr__(self) -> str:
        first = ", ".join(f"{show(token)}: {id}" for token, id in [*self._ids.items()][:3])
        more = "" if len(self) <= 3 else ", ..."
        return f"<digram.Vocabulary: {several(len(self), 'token')} {{{first}{more}}}>"
