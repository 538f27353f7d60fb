"""The best vocabulary size for a model: the scaling law of Tao et al. 2024, in its three forms.

Tao, Liu, Dou, Muennighoff, Wan, Luo, Lin, Wong 2024, "Scaling Laws with Vocabulary: Larger Models
Deserve Larger Vocabularies", NeurIPS (arXiv 2407.13623). The paper prints only a few digits of the
coefficients; these are from the program that the authors published
(github.com/sail-sg/scaling-with-vocab, optimal_Nv_predict.py).

N is the number of a model's parameters without the vocabulary, F the arithmetic of its training in
floating-point operations, d the width of its embeddings, V the size of the vocabulary and V d the
number of its parameters. All three forms assume that a model is trained on the amount of text that
is best for its size.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from digram.errors import OptionError, show

__all__ = ["TRAINED", "Law", "english_least", "law", "number_of", "width_of"]

TRAINED = (33e6, 3e9)
"""The parameters, without the vocabulary, of the models that the law was fitted to and tested
on."""

# N = exp(_N) F^0.5, and V d = exp(_V) F^_V_POWER, fitted to the best models of each F.
_N, _V, _V_POWER = -2.4846510161625193, -1.589031299255507, 0.4163622634135234
# V d = _BEST (N / 33e6)^_GAMMA: from the best of the smallest models, 6,144 tokens of width 512.
_BEST, _BEST_OF, _GAMMA = 3_145_728, 33_000_000, 0.8353974035228025
# loss = A1 / N^a1 + _A2 / (V d)^_ALPHA2 + _B / D^_BETA - E, with parameters in millions and the
# tokens of training D in thousands of millions. A1 and E do not affect the best V.
_A2, _B, _ALPHA2, _BETA = (
    0.19584238398665638,
    2.1241123120064955,
    0.6707374679896795,
    0.44660634152009615,
)
# Tokens per character of the authors' English text: a ln²V + b ln V + c, up to 200,000.
_TOKENS = (0.00639222, -0.15811069, 1.20470122)
_ENGLISH = range(1_000, 200_001)

# The authors' embedding widths, by the maximum number of parameters.
_WIDTHS = (
    (50e6, 512), (200e6, 768), (500e6, 1024), (1e9, 1536), (2e9, 2048), (5e9, 3200), (10e9, 4096),
    (20e9, 5120), (50e9, 6048), (100e9, 8192), (200e9, 12288), (500e9, 16384), (1e12, 20480),
)  # fmt: skip
_WIDEST = 24576

_NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMBT]?)\s*", re.IGNORECASE)


class Law(NamedTuple):
    """The best vocabulary size by each of the three forms, in tokens."""

    iso_flops: int
    """Fitted to the models with the least loss for the same arithmetic of training."""
    derivative: int
    """Scaled from one model: the size of least arithmetic grows with N as it does on their text."""
    loss: int
    """The minimum of a formula of the loss that was fitted to all models."""

    @property
    def middle(self) -> int:
        """The median of the three."""
        return sorted(self)[1]


def law(parameters: float, width: int | None = None) -> Law:
    """The best sizes for a model of this many parameters, without those of the vocabulary.

    >>> law(2.87e9), law(70e9)
    (Law(iso_flops=37942, derivative=40993, loss=35272), Law(iso_flops=211860, ..., loss=217961))

    `width` is the width of the embeddings, by default the authors'. Outside of `TRAINED` the sizes
    are extrapolations.
    """
    width = width_of(parameters) if width is None else width
    arithmetic = (parameters / math.exp(_N)) ** 2
    by_flops = math.exp(_V) * arithmetic**_V_POWER
    by_derivative = _BEST * (parameters / _BEST_OF) ** _GAMMA
    by_loss = 1e6 * _least_loss(parameters / 1e6, arithmetic / 1e15)
    return Law(*(round(found / width) for found in (by_flops, by_derivative, by_loss)))


def _least_loss(others: float, arithmetic: float) -> float:
    """The parameters of the vocabulary, in millions, at the minimum of the loss formula.

    F = 6 (N + V d) D ties the amount of text to the vocabulary. Up to one size, the vocabulary's
    term gains more from further parameters than the smaller amount of text costs.
    """

    def gains(vocabulary: float) -> bool:
        gain = _ALPHA2 * _A2 * vocabulary ** -(_ALPHA2 + 1)
        text = _BETA * _B * (6 / arithmetic) ** _BETA
        return bool(gain > text * (others + vocabulary) ** (_BETA - 1))

    low, high = 1e-6, 1e9
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gains(middle) else (low, middle)
    return low


def english_least(parameters: float, width: int) -> int:
    """The size at which the authors' models read their English text with the least arithmetic.

    >>> english_least(33e6, 512), english_least(2.87e9, 3200)
    (10323, 65928)

    Reading a text takes (N + V d) times its tokens. The second form of the law uses how this size
    grows with N; the best size itself is smaller, since rare tokens are learned badly.
    """
    import numpy as np

    sizes = np.arange(_ENGLISH.start, _ENGLISH.stop)
    logs = np.log(sizes)
    a, b, c = _TOKENS
    return int(sizes[((parameters + width * sizes) * (a * logs**2 + b * logs + c)).argmin()])


def width_of(parameters: float) -> int:
    """The embedding width of a model of this many parameters.

    >>> width_of(124e6), width_of(7e9)
    (768, 4096)
    """
    return next((width for most, width in _WIDTHS if parameters <= most), _WIDEST)


def number_of(parameters: float | str) -> float:
    """Parse a number of parameters, such as 7e9, "7B" or "350M".

    >>> number_of("350M"), number_of("1.5 b"), number_of(7e9)
    (350000000.0, 1500000000.0, 7000000000.0)
    """
    match = _NUMBER.fullmatch(parameters) if isinstance(parameters, str) else None
    number = 0.0
    if match is not None:
        number = float(match[1]) * 1000.0 ** " kmbt".index((match[2] or " ").lower())
    elif isinstance(parameters, int | float) and not isinstance(parameters, bool):
        # An int may be too large for a float; both ends are refused below.
        number = float(max(0, min(parameters, 1 << 60)))
    if not 1e6 <= number < 1e15:
        raise OptionError(
            f"parameters={show(parameters)} is not a number of parameters between a million and "
            "10^15.",
            value=parameters,
            hint='Write it as "7B" or "350M", without the parameters of the vocabulary.',
        )
    return number
