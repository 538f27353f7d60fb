"""Hugging Face's `tokenizers.Tokenizer`."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

from digram._util.storage import read_file
from digram.analysis.verification.sides import Answers, Fact, Mode, Side
from digram.errors import OptionError
from digram.formats import vocab_txt
from digram.formats._registry import starting
from digram.names import Found

__all__ = [
    "FastSide",
    "by_bytes",
    "byte_letters",
    "is_trimming",
    "load",
    "lowercase_of",
    "made",
    "of_text",
    "without_trimming",
]


def made(value: Any) -> Side:
    """The side of a `Tokenizer`, or of a class of `tokenizers.implementations`."""
    import tokenizers

    plain = value if isinstance(value, tokenizers.Tokenizer) else value._tokenizer
    return FastSide(plain, f"tokenizers {tokenizers.__version__}")


def load(found: Found, encoding: str | None) -> Any:
    """Load a tokenizer.json, or that of a folder, or a vocab.txt with its encoding."""
    import tokenizers

    path = found.path
    if os.path.isdir(path):
        path = os.path.join(path, "tokenizer.json")
    lowercase = lowercase_of(path, encoding)
    if lowercase is not None:
        return tokenizers.BertWordPieceTokenizer(path, lowercase=lowercase)
    return tokenizers.Tokenizer.from_file(path)


def lowercase_of(path: str, encoding: str | None) -> bool | None:
    """Whether the text for a vocab.txt is made lower case; None for any other file.

    Raises `OptionError` if the encoding does not say it.
    """
    format = starting(read_file(path)) if os.path.isfile(path) else None
    if format is None or format.name != "vocab_txt":
        return None
    if encoding not in vocab_txt.ENCODINGS:
        raise OptionError(
            "a vocab.txt does not say how text is normalized, and no encoding was named.",
            path=path,
            value=encoding,
            hint='Pass encoding="bert-uncased" or encoding="bert-cased".',
        )
    return encoding == "bert-uncased"


class FastSide(Side):
    """A copy of a tokenizer, so that settings can be changed for the comparison."""

    facts: tuple[Fact, ...] = ("ids", "offsets", "decoded", "decoded_without_special")

    def __init__(self, given: Any, name: str) -> None:
        super().__init__()
        self.name = name
        self._is_copy = True
        try:
            self._fast = type(given).from_str(given.to_str())
        except Exception as error:  # a part that is written in Python
            self._fast, self.modes, self._is_copy = given, ("parse",), False
            self.notes.append(f"{name} with special tokens as text: it cannot be copied ({error})")
        else:
            if type(given.model).__name__ == "Unigram":
                # Its scores are rounded when they are read from the text of the copy.
                self._fast.model = given.model
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
        if self._is_copy:
            fast.encode_special_tokens = mode == "text"
        found = fast.encode_batch(texts, add_special_tokens=False)
        ids = [one.ids for one in found]
        return Answers(
            ids,
            [one.offsets for one in found],
            fast.decode_batch(ids, skip_special_tokens=False),
            fast.decode_batch(ids, skip_special_tokens=True),
        )

    def beside_digram(self, *, trims: bool, by_steps: bool) -> None:
        suffix = getattr(self._fast.model, "end_of_word_suffix", None)
        if suffix and "ByteLevel" in _described(self._fast.decoder) and not by_steps:
            self.facts = ("ids", "offsets")
            self.notes.append(
                f"decoded text: {self.name} keeps the suffix {suffix!r} in it, digram puts a space"
            )
        if by_bytes(self._fast.decoder):
            self.replaces_runs = True
            reason = "it replaces all bytes beside one that is not UTF-8"
            self.notes.append(
                f"decoded texts with U+FFFD, where they differ: {self.name}: {reason}"
            )
        if "text" in self.modes and of_text(self._fast, self._added):
            self.modes = ("parse",)
            reason = "its model has them too, and makes them of text"
            self.notes.append(f"special tokens as text: {self.name}: {reason}")
        if not trims and is_trimming(self._fast.post_processor):
            if self._is_copy:
                without_trimming(self._fast)
                self.notes.append(f"trimmed offsets: those of {self.name} are compared untrimmed")
            else:
                self.facts = tuple(fact for fact in self.facts if fact != "offsets")
                self.notes.append(f"offsets: {self.name} trims them, that of digram does not")


def of_text(fast: Any, added: Iterable[str]) -> bool:
    """Whether the model makes added tokens of text that is not searched for them.

    Merges do not, but models that look up parts of a text have all entries of their vocabulary. BPE
    looks up characters, of which a special token may be one, and words if it ignores merges.
    """
    model = json.loads(fast.model.__getstate__())
    kind = model.get("type")
    vocab = fast.get_vocab(with_added_tokens=False)
    if kind not in ("Unigram", "WordLevel", "WordPiece"):
        special = (one for one in fast.get_added_tokens_decoder().values() if one.special)
        longest = math.inf if model.get("ignore_merges") else 1
        return any(len(one.content) <= longest and one.content in vocab for one in special)
    return any(text in vocab for text in added)


def by_bytes(decoder: Any) -> bool:
    """Whether a decoder joins tokens of bytes."""
    return decoder is not None and "ByteFallback" in decoder.__getstate__().decode()


def is_trimming(processor: Any) -> bool:
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


def _described(decoder: Any) -> str:
    return "" if decoder is None else str(decoder.__getstate__().decode())


def byte_letters(decoder: Any, added: dict[int, str]) -> frozenset[int]:
    """The added tokens that the library decodes as bytes, since they consist of their letters."""
    if "ByteLevel" not in _described(decoder):
        return frozenset()
    from tokenizers import pre_tokenizers

    letters = set(pre_tokenizers.ByteLevel.alphabet())
    return frozenset(
        id for id, text in added.items() if not text.isascii() and letters.issuperset(text)
    )
