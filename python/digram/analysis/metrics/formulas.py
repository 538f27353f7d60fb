"""Formulas of measures: on counts of tokens, and on costs by language."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

from digram.errors import OptionError, show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "check_order",
    "entropy",
    "gini",
    "jensen_shannon",
    "renyi_efficiency",
    "renyi_entropy",
]


def entropy(times: ArrayLike) -> float:
    """Shannon's entropy of a token, in bits: -Σ p log₂ p, where p is the share of each token.

    >>> entropy([2, 2]), entropy([4, 0]), entropy([])
    (1.0, 0.0, 0.0)

    `times` is the count of each token in the text. Shannon 1948.
    """
    return renyi_entropy(times, 1.0)


def renyi_entropy(times: ArrayLike, alpha: float = 2.5) -> float:
    """Rényi's entropy of order `alpha`, in bits: log₂(Σ p^α) / (1 - α).

    >>> renyi_entropy([2, 2]), round(renyi_entropy([6, 2]), 3), round(entropy([6, 2]), 3)
    (1.0, 0.632, 0.811)

    The larger `alpha`, the greater the weight of frequent tokens: at 0 the result is log₂ of the
    number of tokens that occur, at 1 Shannon's entropy, at infinity -log₂ of the largest share.
    Never negative; 0 if there are no tokens. Raises `OptionError` for a negative `alpha`. Rényi
    1961.
    """
    import numpy as np

    check_order(alpha)
    shares = _shares(times)
    if len(shares) == 0:
        return 0.0
    if alpha == 1:
        found = -np.sum(shares * np.log2(shares))
    elif alpha == float("inf"):
        found = -np.log2(shares.max())
    elif abs(alpha - 1) < 0.5:
        # Σ p^α is close to 1 and its logarithm is divided by a small number, which would amplify
        # the rounding error of the sum.
        over = np.sum(shares * np.expm1((alpha - 1) * np.log(shares)))
        found = np.log1p(over) / np.log(2) / (1 - alpha)
    else:
        # Divide by the largest share, because p^α would underflow to 0 for large α.
        largest = shares.max()
        powers = np.sum((shares / largest) ** alpha)
        found = (alpha * np.log2(largest) + np.log2(powers)) / (1 - alpha)
    return max(0.0, float(found))


def renyi_efficiency(times: ArrayLike, vocab_size: int, alpha: float = 2.5) -> float:
    """Rényi's entropy as a share of its maximum, log₂ of the vocabulary size.

    >>> renyi_efficiency([2, 2], vocab_size=2), renyi_efficiency([2, 2, 0, 0], vocab_size=4)
    (1.0, 0.5)

    1 if all tokens are equally frequent; low if a few tokens make up most of the text, or many are
    hardly used. 0 for a vocabulary of one token. Zouhar et al. 2023, "Tokenization and the
    Noiseless Channel", found the best correlation with translation quality at an `alpha` of 2.5.
    """
    import numpy as np

    if vocab_size < 2:
        check_order(alpha)
        return 0.0
    return renyi_entropy(times, alpha) / float(np.log2(vocab_size))


def gini(costs: ArrayLike) -> float:
    """The inequality of costs: Σᵢⱼ |cᵢ - cⱼ| / (2 n² mean). 0 if all are equal; always below 1.

    >>> gini([3, 3, 3]), gini([1, 3]), gini([])
    (0.0, 0.25, 0.0)

    Gini 1912; applied to the tokens of languages by Foroutan et al. 2025, "Parity-Aware Byte-Pair
    Encoding".
    """
    import numpy as np

    found = np.sort(np.asarray(costs, np.float64))
    if len(found) == 0 or found.sum() == 0:
        return 0.0
    # The sum over all pairs, computed from the rank of each cost.
    ranks = 2 * np.arange(1, len(found) + 1) - len(found) - 1
    return max(0.0, float((ranks * found).sum() / (len(found) * found.sum())))


def jensen_shannon(times: ArrayLike, others: ArrayLike) -> float:
    """The divergence of the token counts of two texts, in bits: from 0 to 1.

    >>> jensen_shannon([2, 2], [1, 1]), jensen_shannon([5, 0], [0, 5])
    (0.0, 1.0)

    The Jensen-Shannon divergence of the shares p and q, H((p + q) / 2) - (H(p) + H(q)) / 2, where H
    is Shannon's entropy. 0 for equal shares, and if a text is empty; 1 if the texts have no token
    in common. Small samples always diverge a little, so compare with a random split. Raises
    `OptionError` for arrays of different lengths. Lin 1991, "Divergence Measures Based on the
    Shannon Entropy".
    """
    import numpy as np

    p, q = (np.asarray(found, np.float64) for found in (times, others))
    if p.shape != q.shape:
        raise OptionError(
            f"one text has counts of {p.size} tokens, and the other of {q.size}.",
            hint="Count both with one tokenizer.",
        )
    if not p.sum() or not q.sum():
        return 0.0
    p, q = p / p.sum(), q / q.sum()
    # Sum the terms of each share, none of which is negative: a difference of entropies would lose
    # small divergences to rounding.
    middle = (p + q) / 2
    found = sum(
        float((share[share > 0] * np.log2(share[share > 0] / middle[share > 0])).sum()) / 2
        for share in (p, q)
    )
    return min(max(found, 0.0), 1.0)


def check_order(alpha: float) -> None:
    """Raise an error if `alpha` is not an order of Rényi's entropy."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real):
        raise TypeError(f"alpha is a number, not {show(alpha)}")
    if not alpha >= 0:  # also true for NaN; infinity is valid
        raise OptionError(
            f"alpha={show(alpha)} is not an order of Rényi's entropy.",
            value=alpha,
            hint="Pass 0 or more; 2.5 is usual.",
        )


def _shares(times: ArrayLike) -> NDArray[np.float64]:
    import numpy as np

    found = np.asarray(times, np.float64)
    found = found[found > 0]
    return found / found.sum() if len(found) else found
