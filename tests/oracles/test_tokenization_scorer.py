"""Entropies and Rényi efficiency of `tokenization-scorer`, by the authors of the measure."""

from __future__ import annotations

import pytest
import tokenization_scorer
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.analysis.metrics import entropy, renyi_efficiency, renyi_entropy

TEXTS = (
    "pick @@ed pick @@l @@ed pick @@les",
    "pick @@e @@d pick @@l @@e @@d pick @@l @@e @@s",
    "a a a a b",
)


def score(tokens: list[str], metric: str, **options: float) -> float:
    return float(tokenization_scorer.score(" ".join(tokens), metric, **options))


def compare(tokens: list[str], power: float) -> None:
    """Their base is the number of tokens that occur, unless they are given the vocabulary's."""
    times = [tokens.count(one) for one in set(tokens)]
    assert entropy(times) == pytest.approx(score(tokens, "shannon_entropy"), rel=1e-9, abs=1e-9)
    theirs = score(tokens, "shannon_efficiency", vocab=1000)
    assert renyi_efficiency(times, 1000, 1) == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    theirs = score(tokens, "renyi_entropy", power=power)
    assert renyi_entropy(times, power) == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    for base in {len(times), 1000}:
        theirs = score(tokens, "renyi_efficiency", power=power, vocab=base)
        assert renyi_efficiency(times, base, power) == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    theirs = score(tokens, "renyi_efficiency", power=power)
    assert renyi_efficiency(times, len(times), power) == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("power", [0.5, 2.0, 2.5, 3.0])
@pytest.mark.parametrize("text", TEXTS)
def test_its_own_examples(text: str, power: float) -> None:
    compare(text.split(), power)


@cases(50)
@given(st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=60), st.floats(1.5, 4))
def test_any_tokens(tokens: list[str], power: float) -> None:
    if len(set(tokens)) > 1:  # theirs divides by zero
        compare(tokens, power)


def test_an_evaluation() -> None:
    tok = digram.train("low low lower lowest slow slower", max_merges=8)
    text = "slow lower lowest slowest low low"
    found = digram.evaluate(tok, text, alpha=2.5).total
    ids = [str(id) for id in tok.encode(text)]
    theirs = score(ids, "renyi_efficiency", power=2.5, vocab=tok.vocab_size)
    assert found.renyi_efficiency == pytest.approx(theirs, rel=1e-12)
