"""How tokens are drawn, wherever that is: in a terminal, in a notebook, in a page.

spelling   what stands for each character, so that nothing is hidden and nothing does harm
colors     backgrounds that stay apart side by side
cells      how many columns of a terminal a text takes
html       tokens as markup that is safe anywhere and needs nothing else
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
