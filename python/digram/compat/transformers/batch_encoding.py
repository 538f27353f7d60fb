"""`BatchEncoding`, with the methods of transformers'."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping, Sequence
from typing import Any

from digram.compat.transformers.padded import PaddedEncoding
from digram.errors import OptionError, show

__all__ = ["BatchEncoding", "as_tensors"]


class BatchEncoding(UserDict[str, Any]):
    """The result of a call: a dictionary of lists or arrays, with the places of tokens.

    Values are also attributes, as in `batch.input_ids`.
    """

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        encoding: Sequence[PaddedEncoding] | None = None,
        tensor_type: str | None = None,
        prepend_batch_axis: bool = False,
    ) -> None:
        self.data = {} if data is None else dict(data)
        self._rows = None if encoding is None else list(encoding)
        self.convert_to_tensors(tensor_type, prepend_batch_axis)

    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, str):
            return self.data[item]
        if isinstance(item, slice):
            return {key: value[item] for key, value in self.data.items()}
        return self._row(item)

    def __getattr__(self, item: str) -> Any:
        if item.startswith("__") or item == "data":
            raise AttributeError(item)
        try:
            return self.data[item]
        except KeyError:
            raise AttributeError(item) from None

    @property
    def is_fast(self) -> bool:
        """Whether there are places of tokens."""
        return self._rows is not None

    @property
    def encodings(self) -> list[PaddedEncoding] | None:
        """The encodings of the texts."""
        return self._rows

    @property
    def n_sequences(self) -> int | None:
        """2 for texts with pairs, 1 for others; None without places of tokens."""
        return self._rows[0].n_sequences if self._rows else None

    def tokens(self, batch_index: int = 0) -> list[str]:
        """The texts of the tokens."""
        return self._row(batch_index).tokens

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """The number of the word of each token."""
        return self._row(batch_index).word_ids

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """0 for tokens of the text, 1 for tokens of its pair, None for others."""
        return self._row(batch_index).sequence_ids

    def token_to_sequence(self, batch_or_token_index: int, token_index: int | None = None) -> Any:
        """The entry of `sequence_ids` of a token."""
        batch, token = _pair(batch_or_token_index, token_index)
        return self._row(batch).token_to_sequence(token)

    def token_to_word(self, batch_or_token_index: int, token_index: int | None = None) -> Any:
        """The entry of `word_ids` of a token."""
        batch, token = _pair(batch_or_token_index, token_index)
        return self._row(batch).token_to_word(token)

    def token_to_chars(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> tuple[int, int] | None:
        """The start and end of a token in its text; None for an added token."""
        batch, token = _pair(batch_or_token_index, token_index)
        return self._row(batch).token_to_chars(token)

    def char_to_token(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The index of the token at a place of the text; None if there is none."""
        batch, char = _pair(batch_or_char_index, char_index)
        return self._row(batch).char_to_token(char, sequence_index)

    def char_to_word(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The number of the word at a place of the text; None if there is none."""
        batch, char = _pair(batch_or_char_index, char_index)
        return self._row(batch).char_to_word(char, sequence_index)

    def word_to_tokens(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> tuple[int, int] | None:
        """The indices of the first token of a word and of the one after its last."""
        batch, word = _pair(batch_or_word_index, word_index)
        return self._row(batch).word_to_tokens(word, sequence_index)

    def word_to_chars(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> tuple[int, int] | None:
        """The start and end of a word in its text; None if there is no such word."""
        batch, word = _pair(batch_or_word_index, word_index)
        return self._row(batch).word_to_chars(word, sequence_index)

    def convert_to_tensors(
        self, tensor_type: str | None = None, prepend_batch_axis: bool = False
    ) -> BatchEncoding:
        """Convert the values to arrays of NumPy ("np") or tensors of PyTorch ("pt")."""
        if tensor_type is not None:
            for key, value in self.data.items():
                self.data[key] = as_tensors(
                    key, [value] if prepend_batch_axis else value, tensor_type
                )
        return self

    def to(self, device: Any, *, non_blocking: bool = False) -> BatchEncoding:
        """Move all tensors of PyTorch to a device."""
        for key, value in self.data.items():
            if hasattr(value, "to"):
                self.data[key] = value.to(device, non_blocking=non_blocking)
        return self

    def _row(self, index: int) -> PaddedEncoding:
        if self._rows is None:
            raise OptionError("this result has no places of tokens.", value=index)
        return self._rows[index]


def as_tensors(key: str, value: Any, tensor_type: str) -> Any:
    """An array or a tensor of values; `OptionError`, a `ValueError`, if rows differ in length."""
    if tensor_type not in ("np", "pt"):
        raise OptionError(
            f"return_tensors={show(tensor_type)} is not known. Pass 'np', 'pt' or None.",
            value=tensor_type,
        )
    try:
        if tensor_type == "np":
            import numpy as np

            rows = isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple)
            if rows and len(set(map(len, value))) > 1:
                # As transformers does, which takes no tensor of PyTorch for such rows.
                return np.asarray([np.asarray(row) for row in value], dtype=object)
            return np.asarray(value, dtype=np.int64 if _is_empty(value) else None)
        try:
            import torch
        except ImportError:
            raise OptionError(
                "return_tensors='pt' needs PyTorch.", hint="Install it: `pip install torch`."
            ) from None
        return torch.tensor(value, dtype=torch.int64 if _is_empty(value) else None)
    except OptionError:
        raise
    except (ValueError, TypeError) as error:
        raise OptionError(
            f"the rows of {key} differ in length, so they are no tensor: {error}.",
            hint="Activate truncation and padding with padding=True and truncation=True.",
        ) from None


def _is_empty(value: Any) -> bool:
    """Whether there is no number in lists of lists, from which a type would follow."""
    return isinstance(value, list | tuple) and all(map(_is_empty, value))


def _pair(first: int, second: int | None) -> tuple[int, int]:
    """The index of the text, 0 by default, and the other index."""
    return (0, first) if second is None else (first, second)
