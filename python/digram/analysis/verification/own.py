"""A `digram.Tokenizer` as a side of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from digram.analysis.verification.sides import Answers, Mode, Side
from digram.errors import InternalError
from digram.pretokenizers.normalizers import SentencePiece
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.special_roles import ROLES

__all__ = ["OwnSide"]


class OwnSide(Side):
    """A tokenizer of digram."""

    facts = ("ids", "offsets", "decoded", "decoded_without_special")

    def __init__(self, tok: Tokenizer, name: str | None, threads: int | None) -> None:
        super().__init__()
        self._tok, self._threads = tok, threads
        self.name = "digram" if name is None else f"digram, {name}"
        self.trims = tok._settings.trim_offsets is not None
        self.by_steps = tok._settings.decoding is not None
        self.puts_empty_space = any(
            isinstance(stage, SentencePiece) and stage.add_space is not None
            for stage in tok.pretokenizer.normalizer
        )
        self.takes_bytes = tok.unit == "byte"
        self.settings = _settings(tok)

    @property
    def special_tokens(self) -> list[str]:
        return list(self._tok.special_tokens)

    def tokens(self) -> Iterable[bytes | None]:
        return self._tok.vocab

    def spelled(self, ids: Sequence[int]) -> list[bytes]:
        return self._tok.tokens(ids)

    def ask(self, texts: list[str] | list[bytes], mode: Mode) -> Answers:
        tok, threads = self._tok, self._threads
        ids = tok.encode_batch(texts, special=mode, threads=threads)
        called = tok(texts, special=mode, add_special_tokens=False, threads=threads).encodings
        if ids != [one.ids for one in called]:  # of one text, in the end: see `answers`
            raise InternalError("encode and the call give different ids.")
        return Answers(
            ids,
            [list(one.offsets) for one in called],
            tok.decode_batch(ids, threads=threads),
            tok.decode_batch(ids, skip_special_tokens=True, threads=threads),
        )


def _settings(tok: Tokenizer) -> dict[str, Any]:
    """What a tokenizer tells programs that run a model, by its name in words."""
    roles = {f"{role} token": getattr(tok.special_roles, role) for role in ROLES}
    names = ("pad_token", "padding_side", "truncation_side", "context_size", "chat_templates")
    more = {name.replace("_", " "): getattr(tok, name) for name in (*names, "template")}
    return roles | more
