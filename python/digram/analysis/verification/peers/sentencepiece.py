"""Google's `SentencePieceProcessor`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from digram.analysis.verification.sides import Answers, Mode, Side
from digram.names import Found

__all__ = ["load", "made"]

_SPACE = "\u2581"


def made(value: Any) -> Side:
    """The side of a processor."""
    return _SentencePieceSide(value)


def load(found: Found, _encoding: str | None) -> Any:
    """Load a .model, or the tokenizer.model of a folder."""
    import sentencepiece

    path = found.path
    if os.path.isdir(path):
        path = os.path.join(path, "tokenizer.model")
    return sentencepiece.SentencePieceProcessor(model_file=path)


class _SentencePieceSide(Side):
    """A processor.

    Its offsets follow each other: a token ends where the next one starts, also where both share a
    character, such as one that is written as bytes, and where characters between them are removed.
    """

    modes = ("text",)
    ends_at_next = True

    def __init__(self, given: Any) -> None:
        super().__init__()
        import sentencepiece

        self._processor = given
        self.name = f"sentencepiece {sentencepiece.__version__}"
        self.notes.append(f"special tokens parsed: {self.name} takes control symbols as text")
        try:
            given.encode(["a"], return_type="offset_mapping", **_PLAIN)
        except Exception:
            self.facts = ("ids", "decoded")  # before 0.2.2

    def beside_digram(self, *, trims: bool, by_steps: bool) -> None:
        self.strips_spaces = True
        self.undecoded = frozenset([self._processor.unk_id()])
        self.undecoded_kind = "tokens for unknown text"
        self.notes.append(
            f"ends of tokens that another one follows: {self.name} gives the start of that one"
        )
        self.notes.append(
            f"the number of spaces at the start of decoded text: {self.name} may leave out several"
        )

    @property
    def special_tokens(self) -> list[str]:
        of = self._processor
        special = [id for id in range(len(of)) if of.is_control(id) or of.is_unknown(id)]
        return [of.id_to_piece(id) for id in special]

    def tokens(self) -> Iterable[bytes | None]:
        pieces = self._processor.id_to_piece(list(range(len(self._processor))))
        return [piece.replace(_SPACE, " ").encode() for piece in pieces]

    def spelled(self, ids: Sequence[int]) -> list[bytes]:
        return [self._processor.id_to_piece(id).encode() for id in ids]

    def ask(self, texts: list[str] | list[bytes], mode: Mode) -> Answers:
        if "offsets" in self.facts:
            found = self._processor.encode(texts, return_type="offset_mapping", **_PLAIN)
            ids, offsets = [one["ids"] for one in found], [one["offsets"] for one in found]
        else:
            ids, offsets = self._processor.encode(texts, out_type=int, **_PLAIN), None
        return Answers(ids, offsets, self._processor.decode(ids))


# A processor may have been made with other options.
_PLAIN = {"add_bos": False, "add_eos": False, "reverse": False, "enable_sampling": False}
