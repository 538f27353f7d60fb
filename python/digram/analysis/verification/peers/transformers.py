"""A tokenizer of `transformers`, fast or slow, called as models call it."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Sequence
from typing import Any

from digram.analysis.verification.peers.tokenizers import (
    by_bytes,
    byte_letters,
    is_trimming,
    lowercase_of,
    of_text,
    without_trimming,
)
from digram.analysis.verification.sides import Answers, Mode, Side
from digram.names import Found

__all__ = ["load", "made"]


def made(value: Any) -> Side:
    """The side of a tokenizer of transformers."""
    return _TransformersSide(value)


def load(found: Found, encoding: str | None) -> Any:
    """Load a tokenizer.json, the folder of a model, or a vocab.txt with its encoding.

    Nothing is downloaded, and no code is run.
    """
    import transformers

    path = found.path
    if os.path.isdir(path):
        return transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
    lowercase = lowercase_of(path, encoding)
    if lowercase is not None:
        return transformers.BertTokenizerFast(path, do_lower_case=lowercase)
    return transformers.PreTrainedTokenizerFast(tokenizer_file=path)


class _TransformersSide(Side):
    def __init__(self, given: Any) -> None:
        super().__init__()
        import transformers

        self._tok = given
        kind = "fast" if given.is_fast else "slow"
        self.name = f"transformers {transformers.__version__}, {type(given).__name__}, {kind}"
        self.facts = ("ids", "decoded", "decoded_without_special")
        if given.is_fast:
            self.facts = ("ids", "offsets", "decoded", "decoded_without_special")
            added = {id: one.content for id, one in given.added_tokens_decoder.items()}
            self.undecoded = byte_letters(given.backend_tokenizer.decoder, added)
        else:
            self._tok = copy.copy(given)  # its attribute is set, since calls ignore the option
            if not all(one.special for one in given.added_tokens_decoder.values()):
                self.modes = ("parse",)
                reason = "it would not find the added tokens that are not special either"
                self.notes.append(f"special tokens as text: {self.name}: {reason}")

    @property
    def special_tokens(self) -> list[str]:
        return [*dict.fromkeys([*self._tok.get_added_vocab(), *self._tok.all_special_tokens])]

    def tokens(self) -> Iterable[bytes | None]:
        ids = [[id] for id in sorted(self._tok.get_vocab().values())]
        return [text.encode() for text in self._decoded(ids, False)]

    def spelled(self, ids: Sequence[int]) -> list[bytes]:
        return [str(one).encode() for one in self._tok.convert_ids_to_tokens(list(ids))]

    def ask(self, texts: list[str] | list[bytes], mode: Mode) -> Answers:
        if not self._tok.is_fast:
            self._tok.split_special_tokens = mode == "text"
        found = self._tok(
            texts,
            add_special_tokens=False,
            split_special_tokens=mode == "text",
            return_offsets_mapping=self._tok.is_fast,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        ids = found["input_ids"]
        offsets = None
        if self._tok.is_fast:
            offsets = [[tuple(span) for span in one] for one in found["offset_mapping"]]
        return Answers(ids, offsets, self._decoded(ids, False), self._decoded(ids, True))

    def _decoded(self, ids: list[list[int]], skip: bool) -> list[str]:
        options = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": False}
        if not self._tok.is_fast:
            options["spaces_between_special_tokens"] = False
        return [self._tok.decode(one, **options) for one in ids]

    def beside_digram(self, *, trims: bool, by_steps: bool) -> None:
        if self._tok.is_fast and by_bytes(self._tok.backend_tokenizer.decoder):
            self.replaces_runs = True
            reason = "it replaces all bytes beside one that is not UTF-8"
            self.notes.append(
                f"decoded texts with U+FFFD, where they differ: {self.name}: {reason}"
            )
        if self._tok.is_fast and of_text(self._tok.backend_tokenizer, self.special_tokens):
            self.modes = ("parse",)
            reason = "its model has them too, and makes them of text"
            self.notes.append(f"special tokens as text: {self.name}: {reason}")
        fast = self._tok.backend_tokenizer if self._tok.is_fast else None
        if not trims and fast is not None and is_trimming(fast.post_processor):
            self._tok = copy.deepcopy(self._tok)
            without_trimming(self._tok.backend_tokenizer)
            self.notes.append(f"trimmed offsets: those of {self.name} are compared untrimmed")
