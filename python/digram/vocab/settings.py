"""What a tokenizer keeps of its definition beside the tables in the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.model import Kernel
from digram.vocab.special_tokens import SpecialToken

if TYPE_CHECKING:  # most tokenizers have none of them
    from digram.decoders.decoding import Decoding
    from digram.vocab.definition import TrainingRecord
    from digram.vocab.limits import Padding, Truncation
    from digram.vocab.special_roles import SpecialRoles
    from digram.vocab.special_tokens import Matching
    from digram.vocab.template import Template

__all__ = ["OnUnknown", "Settings", "Side", "TrimOffsets", "Unit"]

Unit = Literal["byte", "char"]
Side = Literal["left", "right"]
OnUnknown = Literal["error", "bytes"] | SpecialToken | bytes
TrimOffsets = Literal["spaces", "spaces but the prefix"]


class Settings(NamedTuple):
    """The fields of a definition other than tokens and the tables of the model."""

    pretokenizer: Pretokenizer
    kernel: Kernel
    unit: Unit = "byte"
    on_unknown: OnUnknown = "error"
    byte_ids: list[int] | None = None
    training: TrainingRecord | None = None
    template: Template | None = None
    context_size: int | None = None
    pad_token: str | None = None
    special_roles: SpecialRoles | None = None
    chat_templates: dict[str, str] | None = None
    matching: dict[str, Matching] | None = None
    space_symbol: str | None = None
    strip_first_space: bool = False
    cleanup: bool = False
    decoding: Decoding | None = None
    dropout: float | None = None
    trim_offsets: TrimOffsets | None = None
    truncation: Truncation | None = None
    padding: Padding | None = None
    truncation_side: Side = "right"
    padding_side: Side = "right"
    reserved: dict[str, range] | None = None
