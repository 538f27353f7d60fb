"""A definition whose tokens and merges stay in the core, for loading and pickling.

Converting 100,000 tokens and merges to Python objects and back takes longer than the work itself.
`Definition` is the same as plain values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from digram import _core
from digram._util.validation import instance, mapping
from digram.vocab.model import Model
from digram.vocab.settings import Settings

if TYPE_CHECKING:  # importing it takes longer than reading a file
    from digram.vocab.definition import Definition

__all__ = ["Compact", "compacted"]


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
            special_tokens=dict(self.special_tokens),
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
    of_model = _without_gaps(d.model, end)
    mapping("reserved", d.reserved, "names and ranges of ids")
    mapping("matching", d.matching, "special tokens and digram.Matching")
    mapping("chat_templates", d.chat_templates, "names and templates")
    return Compact(
        model,
        d.special_tokens,
        Settings(
            pretokenizer=d.pretokenizer,
            kernel=of_model.kernel(),
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
            truncation_side=d.truncation_side,
            padding_side=d.padding_side,
            reserved=None if d.reserved == {} else d.reserved,
        ),
    )


def _without_gaps(model: Model, size: int) -> Model:
    """The model without scores of ids behind the last token, which a file does not have."""
    scores = getattr(model, "scores", None)
    if not isinstance(scores, list) or any(one is not None for one in scores[size:]):
        return model  # it is checked later
    changed: Any = model
    return model if len(scores) <= size else replace(changed, scores=scores[:size])
