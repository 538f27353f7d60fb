"""What the page shows in numbers: the curve of vocabulary size, and the measures by language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from digram.analysis.metrics import curve, evaluate
from digram.analysis.metrics.size_curve import SIZES
from digram.errors import DigramError, OptionError
from digram.vocab.reserved_ids import Family, family
from digram.web.problems import problem

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["MOST_TEXTS", "curves", "measures"]

MOST_TEXTS = 200
"""Texts with a name, in one question."""

SMALL = (300, 400, 500, 700)
"""Sizes of a curve below those that `digram.curve` has without being asked."""


def curves(toks: Sequence[Tokenizer], text: str) -> list[dict[str, Any]]:
    """What each tokenizer and the smaller ones inside it do with a text; or why there is nothing.

    >>> import digram
    >>> tok = digram.train("she sells sea shells by the sea shore", vocab_size=266)
    >>> [found] = curves([tok], "sea shells")
    >>> found["own"], [(one["vocab_size"], one["tokens"]) for one in found["points"]]
    (266, [(257, 9), (266, 6)])

    All have points at the same sizes, as far as each goes, and at that of each: `own` is the
    tokenizer's. Takes the time of `digram.curve`.
    """
    known = [_inside(tok) for tok in toks]
    own = {one.size for one in known if isinstance(one, Family)}
    found = []
    for tok, one in zip(toks, known, strict=True):
        try:
            if isinstance(one, DigramError):
                raise one
            within = {n for n in (*SMALL, *SIZES, *own) if one.min_size <= n <= one.size}
            points = curve(tok, [text], sizes=within | {one.min_size}, progress=False).points
            found.append({"own": one.size, "points": [point.to_dict() for point in points]})
        except DigramError as error:
            found.append(problem(error))
    return found


def measures(
    toks: Sequence[Tokenizer], texts: Mapping[str, str], reference: str | None
) -> list[dict[str, Any]]:
    """What each tokenizer does with each of some texts; or why there is nothing.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=2)
    >>> [found] = measures([tok], {"one": "low", "two": "slow"}, "one")
    >>> found["by_name"]["two"]["tokens"], found["parallel"]["premium"]
    (2, {'one': 1.0, 'two': 2.0})

    With a reference each line of a text says what that line of the others does. Takes the time of
    `digram.evaluate`. Raises `OptionError` where there are more than 200 texts.
    """
    if len(texts) > MOST_TEXTS:
        raise OptionError(
            f"{len(texts)} texts are more than {MOST_TEXTS}.",
            hint="Of more there is `digram evaluate`.",
        )
    separator = None if reference is None else "\n"
    found = []
    for tok in toks:
        try:
            of = evaluate(
                tok,
                {name: [text] for name, text in texts.items()},
                reference=reference,
                separator=separator,
                progress=False,
            )
            found.append(of.to_dict())
        except DigramError as error:
            found.append(problem(error))
    return found


def _inside(tok: Tokenizer) -> Family | DigramError:
    """The sizes inside a vocabulary; or why there are none."""
    try:
        inside = family(tok.definition)
        if not inside.learned:
            raise OptionError("this vocabulary holds no merges, and no smaller ones inside it.")
        return inside
    except DigramError as error:
        return error
