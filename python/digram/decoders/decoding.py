"""Decoding by steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from digram.decoders.steps import Spaced, Step
from digram.errors import OptionError, show

__all__ = ["Decoding"]

_MAX_STEPS = 1000


@dataclass(frozen=True, slots=True)
class Decoding:
    """How ids become text: steps of `digram.decoders`, applied to the tokens in order.

    >>> import digram
    >>> from dataclasses import replace
    >>> from digram.decoders import Ctc
    >>> tok = digram.train("hello", unit="char", max_merges=0, pretokenizer=None)
    >>> decoding = digram.Decoding([Ctc(pad="o", word_delimiter="h")])
    >>> heard = digram.Tokenizer(replace(tok.definition, decoding=decoding))
    >>> heard.decode(heard.encode("hello")), heard.decode(heard.encode("llolhe"))
    (' el', 'll e')

    Most tokenizers have none: their text is the bytes of the tokens. It is for files of other
    programs whose decoder does something else (`Definition.decoding`). A step makes new tokens of a
    list of tokens, of which the first are the names that a `tokenizer.json` has: letters for bytes,
    `<0x41>` for the fallback to a byte, `##` before tokens inside words. The last ones are joined.

    Without any step the names are joined. Some steps need all tokens of a text at once: then there
    are no offsets in decoded text, and `tok.decoder` raises `OptionError`; these are `Ctc`,
    `ByteFallback`, `BpeDecoder`, `Fuse` before other steps, and `ByteLevel` before others. The
    time is linear in the texts of all steps, which have at most 2^30 bytes; decoding a longer one
    raises `LimitExceededError`.
    """

    steps: Sequence[Step] = ()

    def __post_init__(self) -> None:
        steps = self.steps
        if isinstance(steps, str | bytes) or not isinstance(steps, Iterable):
            raise TypeError(f"steps is several steps of digram.decoders, not {show(steps)}")
        found = tuple(steps)
        for step in found:
            if not isinstance(step, get_args(Step)):
                raise TypeError(f"steps is several steps of digram.decoders, not {show(step)}")
        if len(found) > _MAX_STEPS:
            raise OptionError(
                f"a decoding has at most {_MAX_STEPS:,} steps, not {len(found):,}.",
                value=len(found),
            )
        if len(found) > 1 and Spaced() in found:
            raise OptionError("Spaced is the only step of a decoding.", value=found)
        object.__setattr__(self, "steps", found)

    def _described(self) -> list[tuple[object, ...]]:
        """The steps as the core reads them."""
        return [step._described() for step in self.steps]
