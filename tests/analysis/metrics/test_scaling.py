"""The vocabulary scaling law, against the figures that its authors print."""

from __future__ import annotations

import math
from typing import Any

import pytest

import digram
from digram.analysis.metrics import scaling
from digram.analysis.metrics.scaling import english_least, law, number_of, width_of

# The first table of the paper, in thousands of tokens, for models beyond those it was found on.
PUBLISHED = {
    3e9: (39, 43, 37),
    7e9: (62, 67, 60),
    13e9: (83, 91, 81),
    30e9: (142, 154, 142),
    70e9: (212, 231, 218),
    130e9: (237, 258, 248),
    300e9: (356, 389, 384),
}


@pytest.mark.parametrize("parameters", PUBLISHED)
def test_predictions_are_the_published_ones(parameters: float) -> None:
    expected = PUBLISHED[parameters]
    assert tuple(round(size / 1000) for size in law(parameters)) == pytest.approx(expected, abs=1)


def test_what_the_abstract_says_of_llama_2_70b() -> None:
    """216 thousand tokens, 7 times what it has. Its embeddings, in and out, are not part of N."""
    predicted = law(68_976_648_192 - 2 * 32_000 * 8_192)
    assert min(predicted) < 216_000 < max(predicted)
    assert predicted.middle == pytest.approx(216_000, rel=0.02)


def test_the_loss_is_least_there() -> None:
    """The third form, by looking at the formula itself on both sides."""
    for parameters in (33e6, 2.87e9, 70e9):
        width = width_of(parameters)
        arithmetic = (parameters / math.exp(-2.4846510161625193)) ** 2

        def loss(
            size: float, n: float = parameters, d: int = width, f: float = arithmetic
        ) -> float:
            vocabulary = size * d
            tokens = f / (6 * (n + vocabulary))
            return float(
                0.19584238398665638 / (vocabulary / 1e6) ** 0.6707374679896795
                + 2.1241123120064955 / (tokens / 1e9) ** 0.44660634152009615
            )

        best = law(parameters).loss
        assert loss(best) < min(loss(best * 0.99), loss(best * 1.01))
        assert loss(best) < min(loss(best * 0.5), loss(best * 2))


def test_the_derivative_is_zero_at_the_size_of_least_arithmetic() -> None:
    """(N + V d) f(V), differentiated by hand, where f is what they fitted to their text."""
    a, b, c = 0.00639222, -0.15811069, 1.20470122
    for parameters in (33e6, 302e6, 2.87e9):
        width = width_of(parameters)

        def slope(size: int, n: float = parameters, d: int = width) -> float:
            log = math.log(size)
            tokens = a * log**2 + b * log + c
            return d * tokens + (n + size * d) * (2 * a * log + b) / size

        least = english_least(parameters, width)
        assert slope(least - 1) < 0 < slope(least + 1)


def test_the_exponent_follows_from_it() -> None:
    """They find 0.8354 by a robust fit through the smallest model; plain squares give the same."""
    models = [33e6, 85e6, 151e6, 302e6, 631e6, 1.13e9, 2.87e9]
    best = [english_least(n, width_of(n)) * width_of(n) for n in models]
    xs = [math.log(n / models[0]) for n in models]
    ys = [math.log(v / best[0]) for v in best]
    exponent = sum(x * y for x, y in zip(xs, ys, strict=True)) / sum(x * x for x in xs)
    assert exponent == pytest.approx(0.8353974, abs=0.005)


def test_larger_models_deserve_larger_vocabularies() -> None:
    """And slower than they grow: the parameters of the vocabulary by some 0.83 of the power."""
    for first, second in ((1e8, 1e9), (1e10, 1e11)):
        for one, other in zip(law(first, 1_000), law(second, 1_000), strict=True):
            assert 10**0.8 < other / one < 10**0.9


def test_width_divides() -> None:
    assert law(7e9, 2048) == pytest.approx([2 * size for size in law(7e9, 4096)], abs=1)
    assert width_of(1e18) == 24576
    assert [width for _, width in scaling._WIDTHS] == sorted(w for _, w in scaling._WIDTHS)


@pytest.mark.parametrize("parameters", ["7", "7 GB", "", 0, -1, 1e15, float("nan"), True, None])
def test_what_is_no_number_of_parameters(parameters: Any) -> None:
    with pytest.raises(digram.OptionError, match="is not a number of parameters"):
        number_of(parameters)
