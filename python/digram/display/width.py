r"""The number of terminal columns of a text, and isolating its direction.

The texts measured here come from `symbols` and contain no control characters.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

__all__ = ["columns", "is_inner_jamo", "isolated"]

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
# Unicode's isolates: with the direction of the first letter, left to right, and the end of one.
_OWN, _LEFT_TO_RIGHT, _END = "\u2068", "\u2066", "\u2069"


def columns(text: str) -> int:
    r"""The number of terminal columns of a text: two for a wide character, none for a mark.

    >>> columns("abc"), columns("中文"), columns("e\u0301"), columns("\x1b[1mbold\x1b[0m")
    (3, 4, 1, 4)
    >>> columns("👨\u200d👩\u200d👧"), columns("🇩🇪"), columns("👍🏽"), columns("❤\ufe0f")
    (2, 2, 2, 2)

    A family, a flag, and a face with a skin tone take two, as in current terminals.
    """
    if text.isascii() and "\x1b" not in text:
        return len(text)
    # Imported at first use, since `import digram` needs no terminal.
    from rich.cells import cell_len

    return cell_len(_STYLE.sub("", text))


def isolated(text: str, direction: Literal["own", "left to right"] = "own") -> str:
    r"""Isolate a text, so that its direction does not move the text around it.

    >>> isolated("abc"), isolated("שלום"), isolated("A2=ע", "left to right")
    ('abc', '\u2068שלום\u2069', '\u2066A2=ע\u2069')

    Terminals that reorder text by direction would otherwise lay out a line of Arabic tokens,
    brackets included, from the right, but the ids below it from the left. `direction` is the
    direction inside the text.
    """
    if text.isascii() or not any(
        unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text
    ):
        return text
    return f"{_OWN if direction == 'own' else _LEFT_TO_RIGHT}{text}{_END}"


def is_inner_jamo(character: str) -> bool:
    """Whether it is a vowel or final of a Korean syllable, which shares the cell of the initial."""
    return "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7fb"
