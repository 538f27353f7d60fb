"""The formulas of measures against their definitions, number by number."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import distance
from strategies import cases

import digram
from digram.analysis.metrics import entropy, gini, jensen_shannon, renyi_efficiency, renyi_entropy

times = st.lists(st.integers(0, 1_000_000), max_size=30)
some_times = times.filter(any)
orders = st.one_of(st.sampled_from([0, 0.5, 1, 1.5, 2, 2.5, 3]), st.floats(0, 60))
costs = st.lists(st.floats(1e-3, 1e6), min_size=1, max_size=20)


def shares(times: list[int]) -> list[float]:
    return [one / sum(times) for one in times if one]


@cases(200)
@given(some_times, orders)
def test_renyi_entropy_is_its_definition(times: list[int], alpha: float) -> None:
    if abs(alpha - 1) < 1e-3:
        return  # the definition cancels there; the limit is tested below
    defined = math.log2(math.fsum(p**alpha for p in shares(times))) / (1 - alpha)
    assert renyi_entropy(times, alpha) == pytest.approx(defined, rel=1e-9, abs=1e-9)


@cases(100)
@given(some_times)
def test_entropy_is_shannons(times: list[int]) -> None:
    defined = -math.fsum(p * math.log2(p) for p in shares(times))
    assert entropy(times) == renyi_entropy(times, 1)
    assert entropy(times) == pytest.approx(defined, rel=1e-12, abs=1e-12)


@cases(100)
@given(some_times, st.integers(2, 15), st.sampled_from([-1, 1]))
def test_renyi_comes_to_shannon_from_both_sides(times: list[int], digits: int, side: int) -> None:
    near = 1 + side * 10.0**-digits
    # The slope at 1 is minus half the variance of the surprise, in nats, and that is bounded here.
    assert renyi_entropy(times, near) == pytest.approx(entropy(times), abs=200 * 10.0**-digits)


@cases(100)
@given(some_times)
def test_renyi_at_its_ends(times: list[int]) -> None:
    found = shares(times)
    assert renyi_entropy(times, 0) == pytest.approx(math.log2(len(found)), abs=1e-12)
    assert renyi_entropy(times, math.inf) == pytest.approx(-math.log2(max(found)), abs=1e-12)
    assert renyi_entropy(times, 1e6) == pytest.approx(renyi_entropy(times, math.inf), rel=1e-3)


@cases(100)
@given(some_times, orders, orders, st.integers(1, 9))
def test_renyi_falls_with_its_order_and_knows_no_scale(
    times: list[int], one: float, other: float, factor: int
) -> None:
    low, high = sorted([one, other])
    assert renyi_entropy(times, high) <= renyi_entropy(times, low) + 1e-9
    assert renyi_entropy([factor * n for n in times], one) == pytest.approx(
        renyi_entropy(times, one), abs=1e-9
    )
    assert renyi_entropy([0, *times[::-1], 0], one) == pytest.approx(
        renyi_entropy(times, one), abs=1e-9
    )


@cases(100)
@given(some_times, orders)
def test_efficiency_is_a_share(times: list[int], alpha: float) -> None:
    assert 0 <= renyi_efficiency(times, max(len(times), 2), alpha) <= 1 + 1e-9
    uniform = renyi_efficiency([7] * len(times), len(times), alpha)
    assert uniform == pytest.approx(1 if len(times) > 1 else 0)


@cases(200)
@given(costs)
def test_gini_is_its_definition_by_pairs(costs: list[float]) -> None:
    number, mean = len(costs), math.fsum(costs) / len(costs)
    pairs = math.fsum(abs(one - other) for one, other in product(costs, costs))
    assert gini(costs) == pytest.approx(pairs / (2 * number**2 * mean), abs=1e-9)
    assert 0 <= gini(costs) <= 1 - 1 / number + 1e-9


@cases(100)
@given(costs, st.floats(1e-3, 1e3))
def test_gini_knows_no_scale_and_no_order(costs: list[float], factor: float) -> None:
    assert gini([factor * cost for cost in costs]) == pytest.approx(gini(costs), abs=1e-9)
    assert gini(costs[::-1]) == gini(costs)
    assert gini(costs * 2) == pytest.approx(gini(costs), abs=1e-9)
    assert gini([costs[0]] * len(costs)) == pytest.approx(0, abs=1e-12)


pairs = st.lists(st.tuples(st.integers(0, 1_000_000), st.integers(0, 1_000_000)), max_size=30)


@cases(200)
@given(pairs, st.integers(2, 9))
def test_divergence_is_its_definition(pairs: list[tuple[int, int]], factor: int) -> None:
    one, other = [one for one, _ in pairs], [other for _, other in pairs]
    if not any(one) or not any(other):
        assert jensen_shannon(one, other) == 0
        return
    p, q = ([number / sum(times) for number in times] for times in (one, other))
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    found = jensen_shannon(one, other)
    # From entropies of shares, which lose what is small beside them.
    defined = entropy(middle) - (entropy(p) + entropy(q)) / 2
    assert found == pytest.approx(defined, abs=1e-12)
    theirs = distance.jensenshannon(p, q, base=2) ** 2
    assert math.isnan(theirs) or found == pytest.approx(theirs, abs=1e-12)  # rounded below 0
    assert found == jensen_shannon(other, one)
    assert jensen_shannon([factor * number for number in one], other) == pytest.approx(found)
    assert 0 <= found <= 1
    assert jensen_shannon(one, one) == 0


def test_divergence_needs_the_same_tokens() -> None:
    with pytest.raises(digram.OptionError, match="counts of 2 tokens, and the other of 3"):
        jensen_shannon([1, 2], [1, 2, 3])


def test_nothing_to_measure() -> None:
    assert (
        renyi_entropy([]) == renyi_entropy([0, 0]) == entropy([]) == gini([]) == gini([0, 0]) == 0
    )
    assert renyi_efficiency([], 2) == renyi_efficiency([5], 1) == renyi_efficiency([5], 0) == 0


@pytest.mark.parametrize("alpha", [-0.1, -math.inf, math.nan])
def test_an_order_below_zero_is_refused(alpha: float) -> None:
    with pytest.raises(digram.OptionError, match=r"is not an order of Rényi's entropy"):
        renyi_entropy([1, 2], alpha)
    with pytest.raises(digram.OptionError):
        renyi_efficiency([1, 2], 1, alpha)


def test_an_order_is_a_number() -> None:
    for wrong in ("2.5", True, None):
        with pytest.raises(TypeError, match="alpha is a number"):
            renyi_entropy([1, 2], wrong)  # type: ignore[arg-type]
