"""A definition whose tokens and merges stay in the core: what loading and pickling pass on.

A list of 100,000 tokens and one of as many merges take longer to make, and to take apart again,
than all that is done with them in between. `Definition` is the same as plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from digram import _core
from digram._util.validation import instance, mapping
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.model import Kernel, Model

if TYPE_CHECKING:  # it takes longer to import than a file to read
    from digram.vocab.definition import Definition, OnUnknown, TrainingRecord, Unit
    from digram.vocab.template import Template

__all__ = ["Compact", "Settings", "compacted"]


class Settings(NamedTuple):
    """What a definition says besides its tokens and the tables of its model; see `Definition`."""

    pretokenizer: Pretokenizer
    kernel: Kernel
    unit: Unit = "byte"
    on_unknown: OnUnknown = "error"
    byte_ids: list[int] | None = None
    training: TrainingRecord | None = None
    template: Template | None = None
    context_size: int | None = None
    pad_token: str | None = None
    reserved: dict[str, range] | None = None


class Compact(NamedTuple):
    """Tokens and merges in the core, special tokens by their ids, and the settings."""

    model: _core.Model
    special_tokens: dict[str, int]
    settings: Settings

    def plain(self) -> Definition:
        """The same as plain values, built anew at each call."""
        from digram.vocab.definition import Definition

        fields = self.settings._asdict()
        return Definition(
            tokens=self.model.tokens(),
            model=fields.pop("kernel").model(self.model),
            special_tokens=self.special_tokens,
            **{**fields, "reserved": dict(self.settings.reserved or {})},
        )

    def digest(self) -> str:
        """That of the same as plain values, which are not made for it."""
        from digram.vocab.definition import Packed, digest_of

        settings, held = self.settings, Packed(*self.model.packed())
        return digest_of(settings, settings.kernel, self.special_tokens, held)


def compacted(definition: Definition) -> Compact:
    """A definition with its tokens and merges in the core.

    Raises `VocabError` where the merges do not fit the tokens.
    """
    # The room of definitions is above this one: what is asked for is what is read here.
    d = definition
    if not isinstance(getattr(d, "tokens", None), list):
        raise TypeError("definition is a digram.Definition, whose tokens are a list")
    instance("definition.model", d.model, Model)
    end = len(d.tokens)
    while end and d.tokens[end - 1] is None:  # the highest id is that of a token
        end -= 1
    model = d.model.tables(d.tokens if end == len(d.tokens) else d.tokens[:end])
    mapping("reserved", d.reserved, "names and ranges of ids")
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
            reserved=None if d.reserved == {} else d.reserved,
        ),
    )
