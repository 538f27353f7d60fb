"""The numbers on the page: the curve of vocabulary size, and the measures by language."""

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
"""The maximum number of named texts in one question."""

SMALL = (300, 400, 500, 700)
"""Sizes of a curve, in addition to the default sizes of `digram.curve`."""


def curves(toks: Sequence[Tokenizer], text: str) -> list[dict[str, Any]]:
    """The curve of each tokenizer on a text, or an error.

    >>> import digram
    >>> tok = digram.train("she sells sea shells by the sea shore", vocab_size=266)
    >>> [found] = curves([tok], "sea shells")
    >>> found["own"], [(one["vocab_size"], one["tokens"]) for one in found["points"]]
    (266, [(257, 9), (266, 6)])

    All curves have points at the same sizes, as far as they go, and at the size of each tokenizer;
    `own` is the size of the tokenizer itself. Takes as long as `digram.curve`.
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
    """The measures of each tokenizer on each text, or an error.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=2)
    >>> [found] = measures([tok], {"one": "low", "two": "slow"}, "one")
    >>> found["by_name"]["two"]["tokens"], found["parallel"]["premium"]
    (2, {'one': 1.0, 'two': 2.0})

    With a reference the texts are parallel, line by line. Takes as long as `digram.evaluate`.
    Raises `OptionError` for more than 200 texts.
    """
    if len(texts) > MOST_TEXTS:
        raise OptionError(
            f"there are {len(texts)} texts, and {MOST_TEXTS} are the maximum.",
            hint="Use `digram evaluate` for more.",
        )
    documents = {
        name: [text] if reference is None else [line for line in text.split("\n") if line]
        for name, text in texts.items()
    }
    found = []
    for tok in toks:
        try:
            of = evaluate(tok, documents, reference=reference, progress=False)
            found.append(of.to_dict())
        except DigramError as error:
            found.append(problem(error))
    return found


def _inside(tok: Tokenizer) -> Family | DigramError:
    """The sizes inside a vocabulary, or an error."""
    try:
        inside = family(tok.definition)
        if not inside.learned:
            raise OptionError("this vocabulary has no merges, and so no smaller ones inside it.")
        return inside
    except DigramError as error:
        return error
