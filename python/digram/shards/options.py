"""The options of a run, checked, and converted for the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np

from digram._util.validation import size_in_bytes, whole_number
from digram.errors import OptionError, show
from digram.shards.formats import FORMATS, Format, named
from digram.vocab.special_tokens import OnSpecial, check_special, named_tokens

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["END_TOKENS", "EndOfText", "Options"]

SHARD_TOKENS = 100_000_000
"""The default number of tokens of a shard, some hundred megabytes."""

END_TOKENS = (
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eos|>",
    "<eos>",
    "</s>",
    "[EOS]",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)
"""Known names of special tokens that end a document."""

EndOfText = str | int | EllipsisType | None
"""The token after each document: its text or id, `...` for the tokenizer's own, None for none."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that determine the files of a run, together with the tokenizer and the corpus."""

    format: Format
    dtype: np.dtype[Any]
    end: tuple[str, int] | None  # the token after each document, and its id
    shard_tokens: int
    special: OnSpecial
    chats: bool | str = False  # whether documents are chats, or the template for them

    @classmethod
    def of(
        cls,
        tok: Tokenizer,
        format: str,
        *,
        dtype: str | None,
        end_of_text: EndOfText,
        shard_tokens: int | None,
        shard_size: int | str | None,
        special: OnSpecial,
        chats: bool | str = False,
    ) -> Options:
        """Check the options of a call; `OptionError` for invalid ones."""
        chosen = named(format)
        chosen.needs()
        kind = _dtype(chosen, dtype, tok.vocab_size)
        end = _end(tok, end_of_text)
        tokens = _tokens(shard_tokens, shard_size, kind.itemsize)
        check_special(special)
        _check_chats(chats, special, chosen)
        return cls(chosen, kind, end, min(tokens, chosen.max_tokens), special, chats)

    def as_json(self) -> dict[str, Any]:
        """The options for the manifest."""
        special = self.special
        chats = {"chats": self.chats} if self.chats else {}
        return chats | {
            "format": self.format.name,
            "dtype": self.dtype.name,
            "end_of_text": None if self.end is None else {"token": self.end[0], "id": self.end[1]},
            "shard_tokens": self.shard_tokens,
            "special": special if isinstance(special, str) else sorted(special),
        }


def _check_chats(chats: bool | str, special: OnSpecial, format: Format) -> None:
    if not isinstance(chats, bool | str):
        raise TypeError(f"chats is True, False or a template, not {type(chats).__name__}")
    if not chats:
        return
    if not format.has_mask:
        masked = [name for name, one in FORMATS.items() if one.has_mask]
        raise OptionError(
            f"format={show(format.name)} has no place for what the assistant says.",
            value=format.name,
            hint=f"Formats for chats are {' and '.join(masked)}.",
        )
    if special != "text":
        raise OptionError(
            f"special={show(special)} does nothing, since chats are encoded by their template.",
            value=special,
        )


def _dtype(format: Format, asked: str | None, vocab_size: int) -> np.dtype[Any]:
    """The requested type of ids, or the smallest one of the format that fits."""
    if asked is None:
        for name, maximum in format.dtypes.items():
            if vocab_size <= maximum:
                return np.dtype(name).newbyteorder("<")
        raise OptionError(
            f"format={show(format.name)} has ids of {_either(format.dtypes)}, too small for the "
            f"{vocab_size:,} ids of this vocabulary.",
            value=format.name,
            hint=f"Choose a format with wider ids: {_wider(vocab_size)}.",
        )
    if asked not in format.dtypes:
        raise OptionError(
            f"format={show(format.name)} does not support dtype={show(asked)}.",
            value=asked,
            hint=f"It supports {_either(format.dtypes)}. Leave out dtype= for the smallest that "
            "fits.",
        )
    kind = np.dtype(asked)
    if vocab_size - 1 > np.iinfo(kind).max:
        raise OptionError(
            f"dtype={show(asked)} holds ids up to {np.iinfo(kind).max:,}, but this vocabulary has "
            f"ids up to {vocab_size - 1:,}.",
            value=asked,
            hint="Leave out dtype= for the smallest that fits.",
        )
    return kind.newbyteorder("<")


def _wider(vocab_size: int) -> str:
    return ", ".join(
        name for name, format in FORMATS.items() if max(format.dtypes.values()) >= vocab_size
    )


def _either(names: Mapping[str, Any]) -> str:
    return " or ".join(names)


def _end(tok: Tokenizer, asked: EndOfText) -> tuple[str, int] | None:
    special = tok.special_tokens
    if asked is None:
        return None
    if asked is Ellipsis:
        known = [token for token in END_TOKENS if token in special]
        if len(known) != 1:
            has = f"has {' and '.join(map(repr, known))}" if known else "has none with a known name"
            raise OptionError(
                f"which token ends a document? This tokenizer {has}.",
                hint="Pass one as end_of_text=, or end_of_text=None for none. "
                f"{named_tokens(special)}",
            )
        return known[0], special[known[0]]
    if isinstance(asked, str):
        if asked not in special:
            raise OptionError(
                f"end_of_text={show(asked)} is not a special token of this tokenizer.",
                value=asked,
                hint=f"{named_tokens(special)} In Python, with_special_tokens adds one.",
            )
        return asked, special[asked]
    id = whole_number("end_of_text", asked, 0)
    return tok.id_to_token(id).decode("utf-8", "backslashreplace"), id


def _tokens(tokens: int | None, size: int | str | None, width: int) -> int:
    """The number of tokens at which a shard ends."""
    if tokens is not None and size is not None:
        raise OptionError("shard_tokens= and shard_size= exclude each other; pass one of them.")
    if size is not None:
        return max(1, int(size_in_bytes("shard_size", size)) // width)
    return SHARD_TOKENS if tokens is None else whole_number("shard_tokens", tokens, 1)
