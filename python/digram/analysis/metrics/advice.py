"""From a curve, a law and what is usual to a size of the vocabulary, with the reasons."""

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
    """A kind of model: how large its vocabulary usually is, and a typical number of parameters."""

    usual: tuple[int, int]
    parameters: float


MODELS = {
    "small": Kind((8_000, 16_000), 100e6),
    "base": Kind((32_000, 50_000), 3e9),
    "large": Kind((50_000, 100_000), 7e9),
    "multilingual": Kind((100_000, 250_000), 7e9),
}
# The first parameters of each: where the law leaves what is usual before.
_BASE, _LARGE = 500e6, 4e9


@dataclass(frozen=True)
class Recommendation:
    """A size of the vocabulary for one model, and why.

    `parameters` are those of the model without the vocabulary, `width` that of its embeddings.
    `usual` are the sizes of such models, `law` what Tao et al. 2024 predict. Of a curve, `least` is
    the size with which the model reads the text with the least arithmetic. Without one it is None.
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
        """All of it as plain values, as JSON has them."""
        return {
            **{name: getattr(self, name) for name in ("model", "parameters", "width")},
            "usual": list(self.usual),
            "law": self.law._asdict(),
            **{name: getattr(self, name) for name in ("least", "vocab_size")},
            "reasons": list(self.reasons),
        }


@dataclass(frozen=True)
class Advice:
    """What `digram.advise` returns: a recommendation for each kind of model, or for yours.

    >>> import digram
    >>> found = digram.advise(parameters="2.87B")
    >>> [*found.recommendations], found["base"].vocab_size
    (['base'], 38000)
    >>> print(found)
    base: train 38,000 tokens.
      This is for a model of 2.87B parameters, those of the vocabulary left out,
        with embeddings 3,200 wide.
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
        """All of it as plain values, as JSON has them."""
        return {name: one.to_dict() for name, one in self.recommendations.items()}


def advise(
    curve: Curve | None = None,
    *,
    parameters: float | str | None = None,
    width: int | None = None,
    multilingual: bool = False,
) -> Advice:
    """How large a vocabulary should be: for small, base, large and multilingual models, or yours.

    >>> import digram
    >>> digram.advise()
    <digram.Advice: small 9,700, base 39,000, large 62,000, multilingual 100,000>
    >>> digram.advise(parameters="70B")["large"].law
    Law(iso_flops=211860, derivative=230861, loss=217961)

        curve: what `digram.curve` found on a text; without it the advice knows of no text.
        parameters: those of your model, the vocabulary's left out, as a number or as "7B"; one
            recommendation then, for it. Without them typical models of the four kinds.
        width: that of its embeddings. By default what models of its size have.
        multilingual: it is to read many languages.

    `print` shows each size with its reasons, `to_dict()` gives plain values. How the size is chosen
    is told in docs/advice.md: the vocabulary scaling law, adapted to the text of the curve, kept
    within what is usual for such models, two digits of it. Raises `OptionError` for parameters that
    are not number between a million and 10^15, and for `width` or `multilingual` without them.
    """
    width = None if width is None else whole_number("width", width, 1)
    multilingual = flag("multilingual", multilingual)
    if curve is not None:
        instance("curve", curve, Curve)
    if parameters is None:
        for name, value in (("multilingual", multilingual or None), ("width", width)):
            if value is not None:
                raise OptionError(
                    f"{name}={value} is for one model, and parameters= is not given.",
                    value=value,
                    hint='Pass parameters="7B" too, for the model you have in mind.',
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
        f"This is for a model of {short(parameters)} parameters, those of the vocabulary left out, "
        f"with embeddings {width:,} wide.",
        f"{model.capitalize()} models of today have {usual[0]:,} to {usual[1]:,} tokens.",
        _law(predicted),
    ]
    if not TRAINED[0] <= parameters <= TRAINED[1]:
        reasons[-1] += " It was found on models of 33M to 3B parameters, and is drawn on to this."
    wanted: float = predicted.middle
    least = None
    if curve is not None:
        least, times, reason = _on_text(curve, parameters, width)
        wanted *= times
        reasons.append(reason)
    # What the law says of a model that was named goes before what is usual; but it is of English.
    low = usual[0] if model == "multilingual" else min(usual[0], *predicted)
    high = max(usual[1], *predicted)
    if not low <= wanted <= high:
        side = "less than" if wanted < low else "more than"
        reasons.append(
            f"That makes {_rounded(wanted):,} tokens, {side} such models have and the law gives: "
            f"the advice stays within {low:,} to {high:,}."
        )
    size = _rounded(min(max(wanted, low), high))
    if curve is not None:
        reasons += _trade(curve, usual, width)
    return Recommendation(model, parameters, width, usual, predicted, least, size, tuple(reasons))


def _law(predicted: Law) -> str:
    first, last = (_rounded(size, 3) for size in (min(predicted), max(predicted)))
    return f"The scaling law of Tao et al. (2024) gives {first:,} to {last:,} tokens for it."


def _on_text(curve: Curve, parameters: float, width: int) -> tuple[int, float, str]:
    """The size of least arithmetic, as a multiple of that on the text of the law, and in words."""
    least, theirs = curve.best_size(parameters, width), english_least(parameters, width)
    first, last = curve.sizes[0], curve.sizes[-1]
    times = least / theirs
    if least == last:  # there may be less beyond
        times = max(times, 1.0)
        reason = (
            f"The model reads this text with less and less arithmetic up to {last:,} tokens, where "
            "the curve ends."
        )
    elif least == first:
        times = min(times, 1.0)
        reason = (
            f"The model reads this text with the least arithmetic under {first:,} tokens, where "
            "the curve begins."
        )
    else:
        reason = (
            "The model reads this text with the least arithmetic under "
            f"{_rounded(least, 3):,} tokens."
        )
    reason += (
        f" With the English text of the law that is {_rounded(theirs, 3):,}, so what the law gives "
        f"is multiplied by {times:.2g}."
    )
    return least, times, reason


def _trade(curve: Curve, usual: tuple[int, int], width: int) -> list[str]:
    """What the larger of the usual sizes gives for what."""
    low, high = max(usual[0], curve.sizes[0]), min(usual[1], curve.sizes[-1])
    if low >= high:
        return [
            f"The curve ends at {curve.sizes[-1]:,} tokens. To see what more of them would do for "
            f"this text, train {usual[1]:,} and ask again."
        ]
    ratio = curve.tokens_at(high) / (curve.tokens_at(low) or 1)
    return [
        f"{high:,} tokens in place of {low:,} make this text {1 - ratio:.1%} shorter and attention "
        f"{1 - ratio**2:.1%} cheaper, and add {short((high - low) * width)} parameters."
    ]


def _rounded(size: float, digits: int = 2) -> int:
    """A size without digits that mean nothing."""
    return int(float(f"{size:.{digits}g}"))


def _lines(of: Recommendation) -> list[str]:
    import textwrap

    return [
        textwrap.fill(reason, 78, initial_indent="  ", subsequent_indent="    ")
        for reason in of.reasons
    ]
