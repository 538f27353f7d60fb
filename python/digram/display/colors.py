"""Backgrounds of tokens, in an order in which neighbours stay apart."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COLORS", "Color", "color_of"]


class Color(NamedTuple):
    """One background, for terminals and for pages."""

    terminal: int
    """Its number in the palette of 256: light, so that black text reads well on it."""
    red: int
    green: int
    blue: int

    @property
    def css(self) -> str:
        """A veil of the hue: the text keeps its own colour, on a light page as on a dark one.

        >>> COLORS[0].css
        'rgba(0,70,200,.3)'
        """
        return f"rgba({self.red},{self.green},{self.blue},.3)"


# Found by a search: neighbours in this ring stay apart in a terminal, on paper and on a dark page,
# for eyes that tell red from green badly as well. The tests measure it.
COLORS = (
    Color(153, 0, 70, 200),
    Color(222, 255, 200, 0),
    Color(224, 140, 0, 0),
    Color(183, 200, 0, 255),
    Color(156, 0, 255, 0),
    Color(115, 70, 255, 200),
)


def color_of(position: int) -> Color:
    """The background of the token at a position: unlike those of its neighbours.

    >>> color_of(0) != color_of(1), color_of(0) == color_of(6)
    (True, True)
    """
    return COLORS[position % len(COLORS)]
