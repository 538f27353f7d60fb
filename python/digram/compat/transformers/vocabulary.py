"""The vocabulary by the texts of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from digram.compat.transformers.names import names_of
from digram.compat.transformers.special import SpecialTokens
from digram.errors import TokenIdError, show

__all__ = ["TokenTexts"]


class TokenTexts(SpecialTokens):
    """The part of the interface that is about the texts and ids of tokens."""

    model_max_length: int
    _model_size: int

    @property
    def vocab_size(self) -> int:
        """The number of tokens of the model, without added ones that only the tokenizer has."""
        return self._model_size

    @property
    def max_len_single_sentence(self) -> int:
        """The tokens of a text for which `model_max_length` has room."""
        return self.model_max_length - self.num_special_tokens_to_add(pair=False)

    @property
    def max_len_sentences_pair(self) -> int:
        """The tokens of a text and its pair for which `model_max_length` has room."""
        return self.model_max_length - self.num_special_tokens_to_add(pair=True)

    def __len__(self) -> int:
        return len(names_of(self._tok).texts)

    def __bool__(self) -> bool:
        return True

    def get_vocab(self) -> dict[str, int]:
        """The ids of all tokens by their texts."""
        names = names_of(self._tok)
        return {**names.model, **names.added}

    @property
    def vocab(self) -> dict[str, int]:
        """The ids of all tokens by their texts."""
        return self.get_vocab()

    def convert_tokens_to_ids(self, tokens: str | Iterable[str]) -> Any:
        """The id of a token, or those of several; that of `unk_token` for unknown ones."""
        if isinstance(tokens, str):
            names = names_of(self._tok)
            id = names.added.get(tokens, names.model.get(tokens))
            return self.unk_token_id if id is None else id
        return [self.convert_tokens_to_ids(token) for token in tokens]

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The text of a token, or those of several; None for an unknown id."""
        texts = names_of(self._tok).texts
        if isinstance(ids, int):
            return texts.get(ids)
        skipped = set(self.all_special_ids) if skip_special_tokens else set()
        return [texts.get(int(id)) for id in ids if int(id) not in skipped]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """The decoded text of tokens. Raises `TokenIdError` for a text that is no token."""
        names = names_of(self._tok)
        ids = []
        for token in tokens:
            id = names.added.get(token, names.model.get(token))
            if id is None:
                raise TokenIdError(f"{show(token)} is not a token of this tokenizer.", value=token)
            ids.append(id)
        return self._tok.decode(ids)

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """The number of tokens that a call adds to a text, or to a text with its pair."""
        return len(self.build_inputs_with_special_tokens([], [] if pair else None))

    def build_inputs_with_special_tokens(
        self, token_ids_0: Sequence[int], token_ids_1: Sequence[int] | None = None
    ) -> list[int]:
        """The ids of a text, or of a text and its pair, with those that a call adds."""
        parts = self._tok._extra.layout.parts(token_ids_1 is not None, True)
        texts = (token_ids_0, token_ids_1 or ())
        found: list[int] = []
        for part in parts:
            found += [part.id] if part.sequence < 0 else texts[part.sequence]
        return found

    def get_special_tokens_mask(
        self,
        token_ids_0: Sequence[int],
        token_ids_1: Sequence[int] | None = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """1 for special tokens, 0 for others: of given ids, or of those that a call would make."""
        if already_has_special_tokens:
            special = set(self.all_special_ids)
            return [int(int(id) in special) for id in token_ids_0]
        parts = self._tok._extra.layout.parts(token_ids_1 is not None, True)
        texts = (token_ids_0, token_ids_1 or ())
        mask: list[int] = []
        for part in parts:
            mask += [1] if part.sequence < 0 else [0] * len(texts[part.sequence])
        return mask
