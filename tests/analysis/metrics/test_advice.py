"""`digram.advise`: sizes with their reasons, from a law, a curve and what is usual."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import digram
from digram.analysis.metrics import Curve, Point, law
from digram.analysis.metrics.advice import MODELS
from digram.analysis.metrics.scaling import english_least

WIDTH = {"small": 768, "base": 3200, "large": 4096, "multilingual": 4096}


def curve_of(power: float, last: int = 260_000) -> Curve:
    """A curve of a text whose tokens fall with a power of the size."""
    sizes = np.arange(1_000, last + 1)
    every = (1e9 * sizes**-power).astype(np.int64)
    points = [
        Point(int(size), int(every[size - 1_000]), 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, None)
        for size in (1_000, 50_000, last)
    ]
    return Curve(tuple(points), None, 1, 1, 1, 1, 0, every)


def test_without_a_text_the_law_decides_within_what_is_usual() -> None:
    for name, one in digram.advise().recommendations.items():
        low, high = MODELS[name].usual
        assert one.law == law(one.parameters, WIDTH[name])
        assert low <= one.vocab_size <= high
        if name != "multilingual":  # where the law, found on English, gives fewer than is usual
            assert min(one.law) <= one.vocab_size <= max(one.law)
        assert one.least is None
    assert digram.advise()["multilingual"].vocab_size == 100_000


def test_the_usual_sizes_are_those_of_the_law() -> None:
    """The typical models are so large that the two agree."""
    for name in ("small", "base", "large"):
        low, high = MODELS[name].usual
        assert low <= min(law(MODELS[name].parameters)) <= max(law(MODELS[name].parameters)) <= high


def test_your_model() -> None:
    kinds = {"33M": "small", "499M": "small", "500M": "base", "3.9B": "base", "4B": "large"}
    for parameters, name in kinds.items():
        found = digram.advise(parameters=parameters)
        assert [*found.recommendations] == [name]
    many = digram.advise(parameters="70B", multilingual=True)
    assert [*many.recommendations] == ["multilingual"]
    # A model that was named goes by the law, past what is usual.
    assert digram.advise(parameters="70B")["large"].vocab_size == 220_000
    assert digram.advise(parameters="33M")["small"].vocab_size == 5_800
    assert many["multilingual"].vocab_size == 220_000
    assert digram.advise(parameters=7e9, width=2_048)["large"].law == law(7e9, 2_048)


def test_least_is_where_a_model_reads_the_text_with_the_least_arithmetic() -> None:
    """Of N^-p the least is at V = N p / (d (1 - p))."""
    for power in (0.05, 0.1):
        curve = curve_of(power)
        for parameters, width in ((100e6, 768), (3e9, 3200)):
            expected = parameters * power / (width * (1 - power))
            assert curve.best_size(parameters, width) == pytest.approx(expected, rel=0.02)


def test_a_text_that_needs_more_gets_more() -> None:
    sizes = []
    for power in (0.03, 0.08, 0.12):
        one = digram.advise(curve_of(power), parameters="3B")["base"]
        times = (one.least or 0) / english_least(3e9, 3200)
        expected = min(max(law(3e9).middle * times, 32_000), 50_000)
        assert one.vocab_size == pytest.approx(expected, rel=0.05)
        sizes.append(one.vocab_size)
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def test_reasons_name_what_the_curve_says() -> None:
    curve = curve_of(0.1)
    reasons = " ".join(digram.advise(curve, parameters="3B")["base"].reasons)
    ratio = curve.tokens_at(50_000) / curve.tokens_at(32_000)
    assert f"50,000 tokens instead of 32,000 make this text {1 - ratio:.1%} shorter" in reasons
    assert f"attention {1 - ratio**2:.1%} cheaper, and add 57.6M parameters" in reasons
    assert "at 104,000 tokens. For the English text of the law that size is 67,600" in reasons
    assert "so the law's size is multiplied by 1.5." in reasons
    assert "That makes 61,000 tokens, more than such models have" in reasons


def test_a_factor_of_one_is_not_told() -> None:
    reasons = " ".join(digram.advise(curve_of(0.1, last=60_000), parameters="7B")["large"].reasons)
    assert "For the English text of the law that size is " in reasons
    assert "multiplied by 1." not in reasons


def test_a_curve_that_ends_too_early_says_so() -> None:
    one = digram.advise(curve_of(0.1, last=60_000), parameters="7B", multilingual=True)
    reasons = " ".join(one["multilingual"].reasons)
    assert "up to the end of the curve at 60,000 tokens" in reasons
    assert "The curve ends at 60,000 tokens. To see what more" in reasons
    assert "train 250,000 and call advise again." in reasons


def test_a_curve_that_only_rises_is_least_where_it_begins() -> None:
    one = digram.advise(curve_of(0.0001), parameters="100M")["small"]
    assert one.least == 1_000
    assert any("at the smallest size of the curve" in reason for reason in one.reasons)
    assert one.vocab_size == 8_000


def test_sizes_between_the_points() -> None:
    text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
    tok = digram.train(text, vocab_size=276)
    found = digram.curve(tok, [text, "shells"], sizes=[260, 272])
    for size in range(260, 273):
        small = digram.shrink(tok, size)
        assert found.tokens_at(size) == small.count(text) + small.count("shells")
    for size in (259, 273):
        with pytest.raises(digram.OptionError, match=f"from 260 to 272, and {size} is"):
            found.tokens_at(size)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameters": "big"}, "parameters='big' is not a number of parameters"),
        ({"multilingual": True}, "multilingual=True needs parameters="),
        ({"width": 768}, "width=768 needs parameters="),
        ({"width": 0}, "width=0 is not at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(options: Any, message: str) -> None:
    with pytest.raises(digram.OptionError, match=message):
        digram.advise(**options)


def test_as_plain_values_and_as_text() -> None:
    found = digram.advise(curve_of(0.1))
    assert [*found.to_dict()] == [*MODELS]
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found).startswith("<digram.Advice: small ")
