"""An encoding as the library tokenizers has it: with padding, and texts of tokens."""

from __future__ import annotations

from typing import Any

from digram.compat.transformers.names import names_of
from digram.tokenizer.encoding.encoding import Encoding
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["PaddedEncoding", "Padding"]


class Padding:
    """How the rows of a call are padded, with the tokenizer, which has the texts of tokens."""

    __slots__ = ("pad", "pad_id", "side", "tok", "width")

    def __init__(self, tok: Tokenizer, width: int, side: str, pad: tuple[int, str | None]) -> None:
        self.tok, self.width, self.side = tok, width, side
        self.pad_id, self.pad = pad


class PaddedEncoding:
    """The tokens of a text, as `BatchEncoding.encodings` has them.

    Properties are lists, which are created at each access.
    """

    __slots__ = ("_before", "_encoding", "_padding", "_width")

    def __init__(self, encoding: Encoding, padding: Padding) -> None:
        length = len(encoding)
        self._encoding, self._padding = encoding, padding
        self._width = max(length, padding.width)
        self._before = self._width - length if padding.side == "left" else 0

    def __len__(self) -> int:
        return self._width

    def padded(self, values: list[Any], pad: Any) -> list[Any]:
        """Values of the tokens, with one for each token of padding."""
        if len(values) == self._width:
            return values
        after = self._width - self._before - len(values)
        return [pad] * self._before + values + [pad] * max(after, 0)

    @property
    def ids(self) -> list[int]:
        """The ids of the tokens."""
        return self.padded(self._encoding.ids, self._padding.pad_id)

    @property
    def tokens(self) -> list[str]:
        """The texts of the tokens, as tokenizer.json has them."""
        return self.padded(names_of(self._padding.tok).of(self._encoding), self._padding.pad)

    @property
    def type_ids(self) -> list[int]:
        """The type ids of the tokens."""
        return self.padded(self._encoding.type_ids, 0)

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in its text."""
        return self.padded(self._encoding.offsets, (0, 0))

    @property
    def unpadded_offsets(self) -> list[tuple[int, int]]:
        """The offsets without those of padding."""
        return self._encoding.offsets

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, 1 for all other tokens."""
        return self.padded(self._encoding.attention_mask, 0)

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that the call added, 0 for those of the text."""
        return self.padded(self._encoding.special_tokens_mask, 1)

    @property
    def word_ids(self) -> list[int | None]:
        """The number of the word of each token."""
        return self.padded(self._encoding.word_ids, None)

    words = word_ids

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for tokens of the text, 1 for those of its pair, None for others."""
        return self.padded(self._encoding.sequence_ids, None)

    @property
    def n_sequences(self) -> int:
        """2 for a text with its pair, 1 for others."""
        return len(self._encoding._windows)

    @property
    def overflowing(self) -> list[PaddedEncoding]:
        """What truncation removed."""
        return [PaddedEncoding(one, self._padding) for one in self._encoding.overflowing]

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """The start and end of a token in its text; None for an added token."""
        at = token_index - self._before
        return self._encoding.token_to_chars(at) if 0 <= at < len(self._encoding) else None

    def token_to_sequence(self, token_index: int) -> int | None:
        """The entry of `sequence_ids` of a token."""
        return self.sequence_ids[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """The entry of `word_ids` of a token."""
        return self.word_ids[token_index]

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The index of the token at a place of the text; None if there is none."""
        found = self._encoding.char_to_token(char_pos, sequence_index)
        return None if found is None else found + self._before

    def char_to_word(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The number of the word at a place of the text; None if there is none."""
        token = self.char_to_token(char_pos, sequence_index)
        return None if token is None else self.word_ids[token]

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """The indices of the first token of a word and of the one after its last."""
        found = self._encoding.word_to_tokens(word_index, sequence_index)
        return None if found is None else (found[0] + self._before, found[1] + self._before)

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> tuple[int, int] | None:
        """The start and end of a word in its text; None if there is no such word."""
        found = self.word_to_tokens(word_index, sequence_index)
        if found is None:
            return None
        offsets = self.offsets
        return offsets[found[0]][0], offsets[found[1] - 1][1]

    def __repr__(self) -> str:
        return (
            f"Encoding(num_tokens={len(self)}, attributes=[ids, type_ids, tokens, offsets, "
            "attention_mask, special_tokens_mask, overflowing])"
        )
