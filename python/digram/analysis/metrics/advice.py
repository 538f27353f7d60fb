"""Recommend a vocabulary size, with reasons, from a curve, the scaling law and common practice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from digram._util.validation import flag, instance, whole_number
from digram.analysis.metrics.curve_table import short
from digram.analysis.metrics.scaling import TRAINED, Law, english_least, law, number_of, width_of
from digram.analysis.metrics.size_curve import Curve
from digram.errors import OptionError

__all__ = ["MODELS", "Advice", "Kind", "Recommendation", "advise"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model: its usual vocabulary sizes, and a typical number of parameters."""

    usual: tuple[int, int]
    parameters: float


MODELS = {
    "small": Kind((8_000, 16_000), 100e6),
    "base": Kind((32_000, 50_000), 3e9),
    "large": Kind((50_000, 100_000), 7e9),
    "multilingual": Kind((100_000, 250_000), 7e9),
}
# The smallest number of parameters of "base" and "large" models.
_BASE, _LARGE = 500e6, 4e9


@dataclass(frozen=True)
class Recommendation:
    """A vocabulary size for one model, with the reasons for it.

    `parameters` counts the model's parameters without the vocabulary, and `width` is the width of
    its embeddings. `usual` is the range of sizes of such models, and `law` what Tao et al. 2024
    predict. With a curve, `least` is the size at which the model reads the text with the least
    arithmetic; without one it is None.
    """

    model: str
    parameters: float
    width: int
    usual: tuple[int, int]
    law: Law
    least: int | None
    vocab_size: int
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.model}: train {self.vocab_size:,} tokens.", *_lines(self)])

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        return {
            **{name: getattr(self, name) for name in ("model", "parameters", "width")},
            "usual": list(self.usual),
            "law": self.law._asdict(),
            **{name: getattr(self, name) for name in ("least", "vocab_size")},
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True)
class Advice:
    """The result of `digram.advise`: a recommendation for each kind of model, or for yours.

    >>> import digram
    >>> found = digram.advise(parameters="2.87B")
    >>> [*found.recommendations], found["base"].vocab_size
    (['base'], 38000)
    >>> print(found)
    base: train 38,000 tokens.
      For a model of 2.87B parameters, not counting the vocabulary, with embeddings
        3,200 wide.
      Base models of today have 32,000 to 50,000 tokens.
      The scaling law of Tao et al. (2024) gives 35,300 to 41,000 tokens for it.
    """

    recommendations: dict[str, Recommendation]

    def __getitem__(self, model: str) -> Recommendation:
        return self.recommendations[model]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.recommendations.values()))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n} {one.vocab_size:,}" for n, one in self.recommendations.items())
        return f"<digram.Advice: {sizes}>"

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        return {name: one.to_dict() for name, one in self.recommendations.items()}


def advise(
    curve: Curve | None = None,
    *,
    parameters: float | str | None = None,
    width: int | None = None,
    multilingual: bool = False,
) -> Advice:
    """Recommend a vocabulary size: for small, base, large and multilingual models, or for yours.

    >>> import digram
    >>> digram.advise()
    <digram.Advice: small 9,700, base 39,000, large 62,000, multilingual 100,000>
    >>> digram.advise(parameters="70B")["large"].law
    Law(iso_flops=211860, derivative=230861, loss=217961)

        curve: the result of `digram.curve` on a text; without it the advice depends on no text.
        parameters: the number of your model's parameters without the vocabulary, as a number or as
            "7B"; gives one recommendation. By default typical models of the four kinds are used.
        width: the width of your model's embeddings; by default that of models of the same size.
        multilingual: whether the model is to read many languages.

    `print` shows each size with its reasons; `to_dict()` returns plain values. docs/advice.md
    describes how the size is chosen: by the vocabulary scaling law, adapted to the text of the
    curve, kept within the usual range of such models, and rounded to two digits. Raises
    `OptionError` if `parameters` is not a number between a million and 10^15, and if `width` or
    `multilingual` is given without it.
    """
    width = None if width is None else whole_number("width", width, 1)
    multilingual = flag("multilingual", multilingual)
    if curve is not None:
        instance("curve", curve, Curve)
    if parameters is None:
        for name, value in (("multilingual", multilingual or None), ("width", width)):
            if value is not None:
                raise OptionError(
                    f"{name}={value} needs parameters=, which is not given.",
                    value=value,
                    hint='Pass parameters="7B" too, with the number of your model.',
                )
        asked = {name: kind.parameters for name, kind in MODELS.items()}
    else:
        number = number_of(parameters)
        one = "small" if number < _BASE else "base" if number < _LARGE else "large"
        asked = {"multilingual" if multilingual else one: number}
    return Advice({name: _for(name, number, width, curve) for name, number in asked.items()})


def _for(model: str, parameters: float, width: int | None, curve: Curve | None) -> Recommendation:
    width = width_of(parameters) if width is None else width
    usual, predicted = MODELS[model].usual, law(parameters, width)
    reasons = [
        f"For a model of {short(parameters)} parameters, not counting the vocabulary, with "
        f"embeddings {width:,} wide.",
        f"{model.capitalize()} models of today have {usual[0]:,} to {usual[1]:,} tokens.",
        _law(predicted),
    ]
    if not TRAINED[0] <= parameters <= TRAINED[1]:
        reasons[-1] += " It was found on models of 33M to 3B parameters and is extrapolated here."
    wanted: float = predicted.middle
    least = None
    if curve is not None:
        least, times, reason = _on_text(curve, parameters, width)
        wanted *= times
        reasons.append(reason)
    # For a given model the law outweighs common practice, but it was found on English text.
    low = usual[0] if model == "multilingual" else min(usual[0], *predicted)
    high = max(usual[1], *predicted)
    if not low <= wanted <= high:
        side = "less than" if wanted < low else "more than"
        reasons.append(
            f"That makes {_rounded(wanted):,} tokens, {side} such models have and the law gives, "
            f"so the advice stays within {low:,} to {high:,}."
        )
    size = _rounded(min(max(wanted, low), high))
    if curve is not None:
        reasons += _trade(curve, usual, width)
    return Recommendation(model, parameters, width, usual, predicted, least, size, tuple(reasons))


def _law(predicted: Law) -> str:
    first, last = (_rounded(size, 3) for size in (min(predicted), max(predicted)))
    return f"The scaling law of Tao et al. (2024) gives {first:,} to {last:,} tokens for it."


def _on_text(curve: Curve, parameters: float, width: int) -> tuple[int, float, str]:
    """The size of least arithmetic, its ratio to that of the law's text, and a sentence on it."""
    least, theirs = curve.best_size(parameters, width), english_least(parameters, width)
    first, last = curve.sizes[0], curve.sizes[-1]
    times = least / theirs
    if least == last:  # the minimum may lie beyond the curve
        times = max(times, 1.0)
        reason = (
            f"The larger the vocabulary, up to the end of the curve at {last:,} tokens, the less "
            "arithmetic the model needs to read this text."
        )
    elif least == first:
        times = min(times, 1.0)
        reason = (
            "The model reads this text with the least arithmetic at the smallest size of the "
            f"curve, {first:,} tokens."
        )
    else:
        reason = (
            f"The model reads this text with the least arithmetic at {_rounded(least, 3):,} tokens."
        )
    reason += f" For the English text of the law that size is {_rounded(theirs, 3):,}"
    factor = f"{times:.2g}"
    reason += "." if factor == "1" else f", so the law's size is multiplied by {factor}."
    return least, times, reason


def _trade(curve: Curve, usual: tuple[int, int], width: int) -> list[str]:
    """What the larger of the usual sizes gains, and what it costs."""
    low, high = max(usual[0], curve.sizes[0]), min(usual[1], curve.sizes[-1])
    if low >= high:
        return [
            f"The curve ends at {curve.sizes[-1]:,} tokens. To see what more tokens would do for "
            f"this text, train {usual[1]:,} and call advise again."
        ]
    ratio = curve.tokens_at(high) / (curve.tokens_at(low) or 1)
    return [
        f"{high:,} tokens instead of {low:,} make this text {1 - ratio:.1%} shorter and attention "
        f"{1 - ratio**2:.1%} cheaper, and add {short((high - low) * width)} parameters."
    ]


def _rounded(size: float, digits: int = 2) -> int:
    """Round a size to its significant digits."""
    return int(float(f"{size:.{digits}g}"))


def _lines(of: Recommendation) -> list[str]:
    import textwrap

    return [
        textwrap.fill(reason, 78, initial_indent="  ", subsequent_indent="    ")
        for reason in of.reasons
    ]
