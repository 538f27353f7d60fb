"""How ids become text, if not as the bytes of tokens: `digram.Decoding`, and the steps of one.

steps     `Replace`, `Fuse`, `Ctc`, ...: what makes new tokens of a list of tokens
decoding  `Decoding`, a list of steps
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram._util.on_first_use import on_first_use

if TYPE_CHECKING:
    from digram.decoders.decoding import Decoding
    from digram.decoders.steps import (
        BpeDecoder,
        ByteFallback,
        ByteLevel,
        Ctc,
        Fuse,
        Metaspace,
        Replace,
        Spaced,
        Step,
        StripEnds,
        WordPiece,
    )

__all__ = [
    "BpeDecoder",
    "ByteFallback",
    "ByteLevel",
    "Ctc",
    "Decoding",
    "Fuse",
    "Metaspace",
    "Replace",
    "Spaced",
    "Step",
    "StripEnds",
    "WordPiece",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "steps": __all__,
            "decoding": ["Decoding"],
        },
    )
