"""How tokens are displayed: in a terminal, in a notebook, and on a page.

symbols    the symbol for each character: nothing is hidden, and nothing does harm
colors     background colours that differ between adjacent tokens
width      the number of terminal columns of a text
terminal   tokens as text for a terminal
html       tokens as self-contained HTML that is safe on any page
notebook   output in a notebook
"""

from __future__ import annotations

from digram.display.colors import COLORS, Color, color_of
from digram.display.symbols import (
    Drawn,
    around,
    drawn,
    harmless,
    in_context,
    joined,
    runs,
    visible,
)
from digram.display.width import columns, isolated

__all__ = [
    "COLORS",
    "Color",
    "Drawn",
    "around",
    "color_of",
    "columns",
    "drawn",
    "harmless",
    "in_context",
    "isolated",
    "joined",
    "runs",
    "visible",
]
