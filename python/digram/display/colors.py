"""Background colours of tokens, in an order that keeps adjacent tokens distinct."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COLORS", "Color", "color_of"]


class Color(NamedTuple):
    """One background colour, for terminals and for pages."""

    terminal: int
    """Its number in the 256-colour palette: light enough for black text."""
    red: int
    green: int
    blue: int

    @property
    def css(self) -> str:
        """A transparent fill: the text keeps its own colour, on light and dark pages.

        >>> COLORS[0].css
        'rgba(0,70,200,.3)'
        """
        return f"rgba({self.red},{self.green},{self.blue},.3)"


# Chosen by a search: adjacent colours in this ring are distinct in a terminal, on paper and on a
# dark page, also with red-green colour blindness. The tests measure it.
COLORS = (
    Color(153, 0, 70, 200),
    Color(222, 255, 200, 0),
    Color(224, 140, 0, 0),
    Color(183, 200, 0, 255),
    Color(156, 0, 255, 0),
    Color(115, 70, 255, 200),
)


def color_of(position: int) -> Color:
    """The background of the token at a position; it differs from those of adjacent tokens.

    >>> color_of(0) != color_of(1), color_of(0) == color_of(6)
    (True, True)
    """
    return COLORS[position % len(COLORS)]
