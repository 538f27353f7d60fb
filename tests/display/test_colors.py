"""Colours of tokens: neighbours stay apart, for all eyes, and text reads well on them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from digram.display.colors import COLORS, color_of

Vector = NDArray[np.float64]

# How colours look to eyes without one kind of cones: Machado, Oliveira, Fernandes 2009.
EYES = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "no green cones": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
# From linear sRGB to XYZ, and its white.
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = XYZ @ np.ones(3)


def linear(color: Vector) -> Vector:
    """Light, from sRGB of 0 to 255."""
    share = color / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(color: Vector, eyes: str) -> Vector:
    """CIE L*a*b* of a colour as these eyes see it."""
    seen = np.clip(EYES[eyes] @ linear(color), 0, 1)
    ratio = XYZ @ seen / WHITE
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: Vector, other: Vector) -> float:
    """The contrast of WCAG."""
    lights = sorted(float(XYZ[1] @ linear(color)) for color in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def of_terminal(number: int) -> Vector:
    """A colour of the cube of the palette of 256, as xterm has it."""
    levels = [0, 95, 135, 175, 215, 255]
    place = number - 16
    return np.array([levels[place // 36], levels[place // 6 % 6], levels[place % 6]], float)


def on_page(number: int, page: float) -> Vector:
    """A veil on a page of some grey."""
    color = COLORS[number]
    veil = np.array([color.red, color.green, color.blue], float)
    share = float(color.css.rpartition(",")[2].rstrip(")"))
    return share * veil + (1 - share) * page


PAGES = {"paper": 255.0, "dark": 17.0}


@pytest.mark.parametrize("eyes", EYES)
def test_neighbours_are_apart(eyes: str) -> None:
    ring = [*range(len(COLORS)), 0]
    shown = {
        "terminal": [of_terminal(COLORS[n].terminal) for n in ring],
        **{name: [on_page(n, grey) for n in ring] for name, grey in PAGES.items()},
    }
    for name, colors in shown.items():
        for one, other in pairwise(colors):
            # Ten times what one sees when two colours touch.
            assert math.dist(lab(one, eyes), lab(other, eyes)) > 23, (name, one, other)


def test_text_reads_well() -> None:
    black, grey, white = np.zeros(3), np.full(3, 98.0), np.full(3, 238.0)
    for number, color in enumerate(COLORS):
        assert contrast(black, of_terminal(color.terminal)) > 7
        assert contrast(grey, of_terminal(color.terminal)) > 3  # signs
        assert contrast(np.full(3, 17.0), on_page(number, PAGES["paper"])) > 7
        assert contrast(white, on_page(number, PAGES["dark"])) > 7


def test_a_ring() -> None:
    for at in range(20):
        assert color_of(at) != color_of(at + 1)
    assert color_of(1_000_000) in COLORS
