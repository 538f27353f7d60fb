"""What a tokenizer is, as plain values: the meeting point of training, files and the core."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from digram.pretokenizers import Pretokenizer
from digram.special import Special

__all__ = ["Definition", "OnUnknown", "StopReason", "TrainingRecord", "Unit"]

Unit = Literal["byte", "char"]
OnUnknown = Literal["error", "bytes"] | Special
StopReason = Literal["vocab_size", "max_merges", "min_frequency", "no_pairs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRecord:
    """Where a trained tokenizer comes from. It takes no part in equality or in the digest.

    `bytes` and `pretokens` are totals over the corpus, `distinct_pretokens` counts different ones;
    `counts[r]` is how often the pair of the merge of rank r stood in the corpus when it was
    chosen; `options` holds the arguments of `train` that shaped the result.
    """

    ties: str
    stop_reason: StopReason
    documents: int
    bytes: int
    pretokens: int
    distinct_pretokens: int
    options: dict[str, Any]
    counts: list[int]
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """Everything that decides what a tokenizer does.

    `tokens[id]` are the bytes of an ordinary token; None marks a hole or a special token.
    `merges` are (left id, right id, resulting id) in rank order. With unit "char" each character
    is a base token, `on_unknown` says what becomes of the others ("error", "bytes", or a
    `Special` token of `special_tokens`), and `byte_ids` are the 256 ids of the single bytes where
    they are the fallback. `ignore_merges` makes a whole pretoken that is a token that token,
    whatever the merges say, as in tiktoken.
    """

    tokens: list[bytes | None]
    merges: list[tuple[int, int, int]]
    pretokenizer: Pretokenizer
    special_tokens: dict[str, int] = field(default_factory=dict)
    unit: Unit = "byte"
    on_unknown: OnUnknown = "error"
    byte_ids: list[int] | None = None
    ignore_merges: bool = False
    training: TrainingRecord | None = None
