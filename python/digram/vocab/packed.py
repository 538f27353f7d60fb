"""A definition whose tokens and merges stay in the core, for loading and pickling.

Converting 100,000 tokens and merges to Python objects and back takes longer than the work itself.
`Definition` is the same as plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from digram import _core
from digram._util.validation import instance, mapping
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.model import Kernel, Model

if TYPE_CHECKING:  # importing it takes longer than reading a file
    from digram.decoders.decoding import Decoding
    from digram.vocab.definition import Definition, OnUnknown, TrainingRecord, TrimOffsets, Unit
    from digram.vocab.limits import Padding, Truncation
    from digram.vocab.special_roles import SpecialRoles
    from digram.vocab.special_tokens import Matching
    from digram.vocab.template import Template

__all__ = ["Compact", "Settings", "compacted"]


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
    reserved: dict[str, range] | None = None


class Compact(NamedTuple):
    """Tokens and merges in the core, special tokens by their ids, and the settings."""

    model: _core.Model
    special_tokens: dict[str, int]
    settings: Settings

    def plain(self) -> Definition:
        """The definition as plain values, made at each call."""
        from digram.vocab.definition import Definition
        from digram.vocab.special_roles import SpecialRoles

        fields = self.settings._asdict()
        return Definition(
            tokens=self.model.tokens(),
            model=fields.pop("kernel").model(self.model),
            special_tokens=self.special_tokens,
            **{
                **fields,
                "special_roles": self.settings.special_roles or SpecialRoles(),
                "chat_templates": dict(self.settings.chat_templates or {}),
                "matching": dict(self.settings.matching or {}),
                "reserved": dict(self.settings.reserved or {}),
            },
        )

    def digest(self) -> str:
        """The digest of the definition, without making plain values."""
        from digram.vocab.definition import Packed, digest_of

        settings, packed_model = self.settings, Packed(*self.model.packed())
        return digest_of(settings, settings.kernel, self.special_tokens, packed_model)


def compacted(definition: Definition) -> Compact:
    """A definition with its tokens and merges in the core.

    Raises `VocabError` if the merges do not match the tokens.
    """
    # `Definition` cannot be imported here, so check the fields that are used.
    d = definition
    if not isinstance(getattr(d, "tokens", None), list):
        raise TypeError("definition is a digram.Definition, whose tokens are a list")
    instance("definition.model", d.model, Model)
    end = len(d.tokens)
    while end and d.tokens[end - 1] is None:  # the highest id must have a token
        end -= 1
    model = d.model.tables(d.tokens if end == len(d.tokens) else d.tokens[:end])
    mapping("reserved", d.reserved, "names and ranges of ids")
    mapping("matching", d.matching, "special tokens and digram.Matching")
    mapping("chat_templates", d.chat_templates, "names and templates")
    return Compact(
        model,
        d.special_tokens,
        Settings(
            pretokenizer=d.pretokenizer,
            kernel=d.model.kernel(),
            unit=d.unit,
            on_unknown=d.on_unknown,
            byte_ids=d.byte_ids,
            training=d.training,
            template=d.template,
            context_size=d.context_size,
            pad_token=d.pad_token,
            special_roles=d.special_roles,
            chat_templates=None if d.chat_templates == {} else d.chat_templates,
            matching=None if d.matching == {} else d.matching,
            space_symbol=d.space_symbol,
            strip_first_space=d.strip_first_space,
            cleanup=d.cleanup,
            decoding=d.decoding,
            dropout=d.dropout,
            trim_offsets=d.trim_offsets,
            truncation=d.truncation,
            padding=d.padding,
            reserved=None if d.reserved == {} else d.reserved,
        ),
    )
