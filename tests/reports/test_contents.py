"""What a vocabulary holds, against counts of its tokens one by one."""

from __future__ import annotations

from collections import Counter

import pytest
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, texts
from vocabularies import bpe

import digram
from digram.analysis.metrics.kinds import kind_of
from digram.reports.contents import Group, contents, length_group

NAMES = ["gpt2", "no pretokenizer", "banana", "holes", "whole pretokens", "characters or bytes"]
TOKENIZERS = {name: digram.Tokenizer(vocabularies.SAMPLES[name]) for name in NAMES}


def naive(tok: digram.Tokenizer, batch: list[str], name_of: str) -> dict[str, Group]:
    """Groups of tokens by name, gone through one by one."""
    times = Counter(id for text in batch for id in tok.encode(text))
    special = {*tok.special_tokens.values()}
    found: dict[str, Group] = {}
    for id, token in enumerate(tok.definition.tokens):
        if token and id not in special:
            name = length_group(len(token)) if name_of == "length" else kind_of(token)
            old = found.get(name, Group(name, 0, 0, 0))
            used = old.used + (times[id] > 0)
            found[name] = Group(name, old.tokens + 1, used, old.times + times[id])
    return found


@cases(60)
@given(st.lists(texts, max_size=4), st.sampled_from(NAMES))
def test_groups_are_sums_over_tokens(batch: list[str], name: str) -> None:
    tok = TOKENIZERS[name]
    found = contents(tok, digram.evaluate(tok, batch).total.times)
    by_length, by_kind = naive(tok, batch, "length"), naive(tok, batch, "kind")
    assert {one.name: one for one in found.by_length if one.tokens} == by_length
    assert {one.name: one for one in found.by_kind} == by_kind
    assert [one.tokens for one in found.by_kind] == sorted(
        (one.tokens for one in found.by_kind), reverse=True
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_most_the_least_and_the_longest(name: str) -> None:
    tok = TOKENIZERS[name]
    batch = vocabularies.texts(40)
    times = Counter(id for text in batch for id in tok.encode(text))
    found = contents(tok, digram.evaluate(tok, batch).total.times)
    most = sorted((-count, id) for id, count in times.items())
    assert [(-one.times, one.id) for one in found.most_used] == most[: len(found.most_used)]
    made = {id for _, _, id in bpe(tok.definition).merges}
    least = sorted((times[id], id) for id in made)
    assert [(one.times, one.id) for one in found.least_used] == least[: len(found.least_used)]
    longest = sorted((-len(tok.id_to_token(id)), id) for id in made)
    assert [(-len(one.token), one.id) for one in found.longest] == longest[: len(found.longest)]
    assert (found.learned, found.unused) == (len(made), sum(not times[id] for id in made))
    for one in [*found.most_used, *found.least_used, *found.longest, *found.longest_words]:
        assert one.token == tok.id_to_token(one.id)
    assert all(kind_of(one.token).startswith("words") for one in found.longest_words)


def test_lengths_that_no_token_has_are_there() -> None:
    found = contents(
        TOKENIZERS["banana"], digram.evaluate(TOKENIZERS["banana"], "banana").total.times
    )
    names = [one.name for one in found.by_length]
    assert names == [str(length) for length in range(1, len(names) + 1)]
