"""Hugging Face's `tokenizers.Tokenizer`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from digram.analysis.verification.sides import Answers, Fact, Mode, Side

__all__ = ["FastSide", "byte_letters", "load", "made", "trims", "without_trimming"]


def made(value: Any) -> Side:
    """The side of a `Tokenizer`, or of a class of `tokenizers.implementations`."""
    import tokenizers

    plain = value if isinstance(value, tokenizers.Tokenizer) else value._tokenizer
    return FastSide(plain, f"tokenizers {tokenizers.__version__}")


def load(path: str, _encoding: str | None) -> Any:
    """Load a tokenizer.json, or that of a folder."""
    import tokenizers

    if os.path.isdir(path):
        path = os.path.join(path, "tokenizer.json")
    return tokenizers.Tokenizer.from_file(path)


class FastSide(Side):
    """A copy of a tokenizer, so that settings can be changed for the comparison."""

    facts: tuple[Fact, ...] = ("ids", "offsets", "decoded", "decoded_without_special")

    def __init__(self, given: Any, name: str) -> None:
        super().__init__()
        self.name = name
        try:
            self._fast = type(given).from_str(given.to_str())
        except Exception as error:  # a part that is written in Python
            self._fast, self.modes = given, ("parse",)
            self.notes.append(f"{name} with special tokens as text: it cannot be copied ({error})")
        else:
            self._fast.no_truncation()
            self._fast.no_padding()
        added = self._fast.get_added_tokens_decoder()
        self._added = [token.content for token in added.values()]
        self.undecoded = byte_letters(
            self._fast.decoder, {id: one.content for id, one in added.items()}
        )

    @property
    def special_tokens(self) -> list[str]:
        return self._added

    def tokens(self) -> Iterable[bytes | None]:
        ids = [[id] for id in sorted(self._fast.get_vocab().values())]
        return [text.encode() for text in self._fast.decode_batch(ids)]

    def spelled(self, ids: Sequence[int]) -> list[bytes]:
        return [(self._fast.id_to_token(id) or "").encode() for id in ids]

    def ask(self, texts: list[str] | list[bytes], mode: Mode) -> Answers:
        fast = self._fast
        if "text" in self.modes:
            fast.encode_special_tokens = mode == "text"
        found = fast.encode_batch(texts, add_special_tokens=False)
        ids = [one.ids for one in found]
        return Answers(
            ids,
            [one.offsets for one in found],
            fast.decode_batch(ids, skip_special_tokens=False),
            fast.decode_batch(ids, skip_special_tokens=True),
        )

    def untrimmed(self) -> None:
        processor = self._fast.post_processor
        if trims(processor):
            if "text" in self.modes:  # it is a copy
                without_trimming(self._fast)
                self.notes.append(f"trimmed offsets: those of {self.name} are compared untrimmed")
            else:
                self.facts = ("ids", "decoded", "decoded_without_special")
                self.notes.append(f"offsets: {self.name} trims them, digram does not")


def trims(processor: Any) -> bool:
    """Whether a post-processor leaves the spaces of a token out of its offsets."""

    def within(described: Any) -> bool:
        if described.get("type") == "Sequence":
            return any(map(within, described["processors"]))
        kind, trim = described.get("type"), described.get("trim_offsets", True)
        return kind in ("ByteLevel", "RobertaProcessing") and bool(trim)

    return processor is not None and within(json.loads(processor.__getstate__()))


def without_trimming(fast: Any) -> None:
    """Replace the post-processor, which then only determines offsets, by one that does nothing."""
    from tokenizers import processors

    fast.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B:1")


def byte_letters(decoder: Any, added: dict[int, str]) -> frozenset[int]:
    """The added tokens that the library decodes as bytes, since they consist of their letters."""
    described = "" if decoder is None else decoder.__getstate__().decode()
    if "ByteLevel" not in described:
        return frozenset()
    from tokenizers import pre_tokenizers

    letters = set(pre_tokenizers.ByteLevel.alphabet())
    return frozenset(
        id for id, text in added.items() if not text.isascii() and letters.issuperset(text)
    )
