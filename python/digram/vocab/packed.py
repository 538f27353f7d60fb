"""A definition whose tokens and merges stay in the core: what loading and pickling pass on.

A list of 100,000 tokens and one of as many merges take longer to make, and to take apart again,
than all that is done with them in between. `Definition` is the same as plain values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from digram import _core
from digram._util.validation import mapping
from digram.errors import DigramError, VocabError, show
from digram.pretokenizers.pretokenizer import Pretokenizer

if TYPE_CHECKING:  # it takes longer to import than a file to read
    from digram.vocab.definition import Definition, OnUnknown, TrainingRecord, Unit
    from digram.vocab.schemes import Scheme
    from digram.vocab.template import Template

__all__ = ["Compact", "Settings", "compacted"]


class Settings(NamedTuple):
    """What a definition says besides its tokens and merges; see `Definition`."""

    pretokenizer: Pretokenizer
    unit: Unit = "byte"
    on_unknown: OnUnknown = "error"
    byte_ids: list[int] | None = None
    ignore_merges: bool = False
    training: TrainingRecord | None = None
    template: Template | None = None
    context_size: int | None = None
    pad_token: str | None = None
    reserved: dict[str, range] | None = None
    scheme: Scheme | None = None


class Compact(NamedTuple):
    """Tokens and merges in the core, special tokens by their ids, and the settings."""

    model: _core.Model
    special_tokens: dict[str, int]
    settings: Settings

    def plain(self) -> Definition:
        """The same as plain values, built anew at each call."""
        return self._with(self.model.tokens(), self.model.merges())

    def digest(self) -> str:
        """That of the same as plain values, which are not made for it."""
        from digram.vocab.definition import Packed, digest

        return digest(self._with([], []), Packed(*self.model.packed()))

    def _with(self, tokens: list[bytes | None], merges: list[tuple[int, int, int]]) -> Definition:
        from digram.vocab.definition import Definition

        return Definition(
            tokens=tokens,
            merges=merges,
            special_tokens=self.special_tokens,
            **{**self.settings._asdict(), "reserved": dict(self.settings.reserved or {})},
        )


def compacted(definition: Definition) -> Compact:
    """A definition with its tokens and merges in the core.

    Raises `VocabError` where the merges do not fit the tokens.
    """
    # The room of definitions is above this one: what is asked for is what is read here.
    d = definition
    for name, kind in (("tokens", list), ("merges", list)):
        if not isinstance(getattr(d, name, None), kind):
            raise TypeError(f"definition is a digram.Definition, whose {name} are a list")
    end = len(d.tokens)
    while end and d.tokens[end - 1] is None:  # the highest id is that of a token
        end -= 1
    try:
        model = _core.Model(d.tokens if end == len(d.tokens) else d.tokens[:end], d.merges)
    except ValueError as error:
        if isinstance(error, DigramError):
            raise
        rank = next(n for n, ids in enumerate(d.merges) if len(ids) != 3)
        raise TypeError(f"merges[{rank}] = {show(d.merges[rank])} is not three ids") from None
    except OverflowError:
        rank = next(n for n, ids in enumerate(d.merges) if not all(0 <= id < 1 << 32 for id in ids))
        raise VocabError(
            f"merges[{rank}] = {show(d.merges[rank])} has an id that is in no vocabulary.",
            index=rank,
            value=d.merges[rank],
        ) from None
    mapping("reserved", d.reserved, "names and ranges of ids")
    return Compact(
        model,
        d.special_tokens,
        Settings(
            pretokenizer=d.pretokenizer,
            unit=d.unit,
            on_unknown=d.on_unknown,
            byte_ids=d.byte_ids,
            ignore_merges=d.ignore_merges,
            training=d.training,
            template=d.template,
            context_size=d.context_size,
            pad_token=d.pad_token,
            reserved=None if d.reserved == {} else d.reserved,
            scheme=d.scheme,
        ),
    )
