"""Counts are what their definition says; adding commutes, forgetting undoes, maps join."""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from fractions import Fraction
from math import prod
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import any_corpora, any_tokenizers, cases, prose

import digram
from digram import reference

Step = tuple[Any, ...]
CUT = "gpt2"

names = st.sampled_from(["a", "b"])
weights = st.sampled_from([1, 1, 3, 0.5, Fraction(2, 3)])
factors = st.sampled_from([1, 0.9, 0.5, Fraction(1, 3), 0.01])
adds = st.tuples(st.just("add"), prose, names, weights)
steps = st.lists(
    adds
    | st.tuples(st.just("decay"), factors)
    | st.tuples(st.just("version"))
    | st.tuples(st.just("forget"), names),
    max_size=9,
)
"""What may be done with a history."""


def exact(number: Any) -> Fraction:
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def pieces(texts: list[str]) -> Counter[bytes]:
    return Counter(piece.encode() for text in texts for piece in digram.pretokenize(text, CUT))


def trained(todo: list[Step]) -> digram.VocabularyHistory:
    """A history after some steps."""
    history = digram.VocabularyHistory(pretokenizer=CUT)
    tok = digram.train("low lower", max_merges=2, pretokenizer=CUT)
    for what, *told in todo:
        if what == "add":
            texts, name, weight = told
            history = history.add(texts, name=name, weight=weight)
        elif what == "decay":
            history = history.decay(*told)
        elif what == "version":
            history = history.record(tok)
        elif any(entry.name == told[0] for entry in history.log):
            history = history.forget(name=told[0])
    return history


def weighed(todo: list[Step], *chosen: str) -> dict[bytes, int]:
    """What the steps come to by definition, of some names or of all."""
    batches: dict[tuple[int, str, Fraction], Counter[bytes]] = {}
    faded: list[Fraction] = [Fraction(1)]  # by how much what is closed by each step
    for what, *told in todo:
        if what == "add":
            texts, name, weight = told
            key = len(faded) - 1, name, exact(weight)
            batches[key] = batches.get(key, Counter()) + pieces(texts)
        elif what == "forget":
            batches = {key: counts for key, counts in batches.items() if key[1] != told[0]}
        else:
            faded[-1] = exact(told[0]) if told else Fraction(1)
            faded.append(Fraction(1))
    return reference.weigh(
        (counts, weight * prod(faded[epoch:], start=Fraction(1)))
        for (epoch, name, weight), counts in batches.items()
        if not chosen or name in chosen
    )


@cases(200)
@given(todo=steps)
def test_counts_are_those_of_the_reference(todo: list[Step]) -> None:
    history = trained(todo)
    assert dict(history.counts.items()) == weighed(todo)
    for name, part in history.parts.items():
        assert dict(part.items()) == weighed(todo, name)
    empty = digram.Counts({}, pretokenizer=CUT)
    assert digram.Counts.merge([empty, *history.parts.values()]) == history.counts
    assert history.made_on + history.recent == history.counts


@cases(100)
@given(todo=steps, more=st.lists(adds, max_size=4), seed=st.randoms(use_true_random=False))
def test_the_order_of_adds_does_not_matter(todo: list[Step], more: list[Step], seed: Any) -> None:
    mixed = [*more]
    seed.shuffle(mixed)
    assert trained([*todo, *more]) == trained([*todo, *mixed])


@cases(150)
@given(before=steps, add=adds, after=steps)
def test_forgetting_is_as_if_it_had_not_been_added(
    before: list[Step], add: Step, after: list[Step]
) -> None:
    """Also of a batch from which decay has taken what is rare."""
    epoch, at, named = 0, 0, list[Step]()
    for number, (what, *told) in enumerate([*before, add, *after]):
        at = len(named) if number == len(before) else at
        if what == "add":  # a name for each batch, so that it is known which one forgets
            named.append((what, told[0], f"{told[1]} {told[2]} {epoch}", told[2]))
        elif what != "forget":
            named.append((what, *told))
            epoch += 1
    _, texts, name, _ = named[at]
    history = trained(named)
    assert history.forget(texts, name=name) == trained(named[:at] + named[at + 1 :])


@cases(100)
@given(todo=steps, first=factors, second=factors)
def test_two_decays_are_one_by_their_product(todo: list[Step], first: Any, second: Any) -> None:
    history = trained(todo)
    twice = history.decay(first).decay(second)
    assert twice.counts == history.decay(exact(first) * exact(second)).counts


@cases(60)
@given(todo=steps, text=prose)
def test_what_changes_nothing(todo: list[Step], text: list[str]) -> None:
    history = trained(todo)
    assert dict(history.decay(1).counts.items()) == dict(history.counts.items())
    assert history.add(text, name="new").forget(text, name="new") == history
    assert history.add(text, name="new").forget(name="new") == history


@cases(80)
@given(tok=any_tokenizers, corpus=any_corpora, add=st.integers(1, 8), number=st.integers(1, 4))
def test_the_next_version_is_what_the_tokenizer_makes_of_the_counts(
    tok: digram.Tokenizer, corpus: list[str], add: int, number: int
) -> None:
    history = digram.VocabularyHistory.of(tok).add(corpus)
    assume(len(history.counts))
    grown, change = digram.extend(tok, corpus, add=add)
    extended = history.next(add=add)
    assert extended.tokenizer == grown
    assert extended.versions[1].change is not None
    assert extended.versions[1].change.id_map.tolist() == change.id_map.tolist()
    assert history.next(vocab_size=tok.vocab_size + add).tokenizer == grown
    assume(number <= len(tok.merges))
    assert history.next(swap=number).tokenizer == digram.replace_tokens(tok, corpus, number)[0]
    pruned, _ = digram.prune(tok, corpus, remove=number)
    assert history.next(remove=number).tokenizer == pruned
    assert history.next(vocab_size=tok.vocab_size - number).tokenizer == pruned


@cases(80)
@given(corpora=st.lists(prose, min_size=1, max_size=3), size=st.integers(257, 270))
def test_the_first_version_is_what_training_gives(corpora: list[list[str]], size: int) -> None:
    history = digram.VocabularyHistory(pretokenizer=CUT)
    for number, corpus in enumerate(corpora):
        history = history.add(iter(corpus), name=str(number))
    assume(len(history.counts))
    whole = digram.train(
        [text for corpus in corpora for text in corpus], vocab_size=size, pretokenizer=CUT
    )
    assert history.next(vocab_size=size).tokenizer == whole


@cases(60)
@given(tok=any_tokenizers, base=prose, recent=any_corpora)
def test_drift_measures_what_evaluating_the_text_does(
    tok: digram.Tokenizer, base: list[str], recent: list[str]
) -> None:
    history = (
        digram.VocabularyHistory(pretokenizer=tok.pretokenizer).add(base).record(tok).add(recent)
    )
    assume(len(history.recent))
    found = history.drift(add=4)
    for of, texts in ((found.recent, recent), (found.base, base)):
        total = digram.evaluate(tok, texts).total
        if of is None:
            assert total.bytes == 0
            continue
        assert of.times.tolist() == total.times.tolist()
        assert (of.bytes, of.tokens) == (total.bytes, total.tokens)
        assert of.bytes_per_token == total.bytes_per_token
        assert of.renyi_efficiency == total.renyi_efficiency
        assert of.vocabulary_used == total.vocabulary_used
    after = digram.extend(tok, recent, add=4, min_frequency=2)[0]
    assert found.gain.after == sum(after.count_batch(recent))
    if found.base is not None:
        old, new = (
            [piece for text in texts for piece in tok.pretokenize(text)] for texts in (base, recent)
        )
        assert found.unseen == sum(piece not in {*old} for piece in new) / len(new)


changes = st.lists(
    st.tuples(st.sampled_from(["add", "swap", "remove"]), st.integers(1, 4), prose),
    min_size=1,
    max_size=4,
)


def grown(
    tok: digram.Tokenizer, todo: list[tuple[str, int, list[str]]]
) -> digram.VocabularyHistory:
    """A history with a version for each change that can be made."""
    history = digram.VocabularyHistory.of(tok).add("low slower, low")
    for what, number, texts in todo:
        history = history.add(texts)
        if what == "add" or number <= len(history.tokenizer.merges):
            history = history.next(**{what: number})
    return history


@cases(60)
@given(tok=any_tokenizers, todo=changes)
def test_maps_join_in_one_direction(
    tok: digram.Tokenizer, todo: list[tuple[str, int, list[str]]]
) -> None:
    history = grown(tok, todo)
    last = len(history.versions)
    for a in range(1, last + 1):
        tokens = history.versions[a - 1].tokenizer.definition.tokens
        kept = [id if token is not None else -1 for id, token in enumerate(tokens)]
        assert history.map(a, a).id_map.tolist() == kept
        for b in range(a, last + 1):
            for c in range(b, last + 1):
                there = history.map(a, b).then(history.map(b, c))
                assert there.id_map.tolist() == history.map(a, c).id_map.tolist()
                back = history.map(c, b).then(history.map(b, a))
                assert back.id_map.tolist() == history.map(c, a).id_map.tolist()


@cases(60)
@given(tok=any_tokenizers, todo=changes)
def test_a_map_is_of_tokens_that_stayed_all_the_way(
    tok: digram.Tokenizer, todo: list[tuple[str, int, list[str]]]
) -> None:
    """Each old id is followed through the versions, by the bytes of its token."""
    history = grown(tok, todo)
    versions = history.versions
    map = history.map(1, len(versions)).id_map.tolist()
    back = history.map(len(versions), 1).id_map.tolist()
    tokens = [one.tokenizer.definition.tokens for one in versions]
    stayed = set(tokens[0]).intersection(*tokens)
    for id, new in enumerate(map):
        assert (new >= 0) == (tokens[0][id] in stayed)
        if new >= 0:
            assert tokens[-1][new] == tokens[0][id]
            assert back[new] == id
    assert sum(new >= 0 for new in map) == sum(old >= 0 for old in back)


@cases(40)
@given(todo=steps)
def test_what_is_saved_is_loaded(todo: list[Step]) -> None:
    history = trained(todo)
    with tempfile.TemporaryDirectory() as folder:
        history.save(folder)
        again = digram.VocabularyHistory.load(folder)
    assert again == history
    assert hash(again) == hash(history)
    assert again.log == history.log
    assert again.counts == history.counts
    assert again.add("new") == history.add("new")
    assert pickle.loads(pickle.dumps(history)) == history


@pytest.mark.parametrize("factor", [0.9, Fraction(2**61 - 1, 2**61), 0.123456789])
def test_weights_stay_within_64_bits_and_never_rise(factor: Any) -> None:
    history = digram.VocabularyHistory(pretokenizer=None).add("a" * 3)
    history = history.add(digram.Counts({"b": 10**18}, pretokenizer=None), weight=Fraction(7, 3))
    before: dict[str, Fraction] = {}
    for _ in range(60):
        history = history.decay(factor)
        for batch in history._batches:
            now = batch.weight
            key = next(iter(batch.counts)).decode()
            assert max(now.numerator, now.denominator) < 1 << 64
            assert now <= before.get(key, now)
            before[key] = now
    true = 10**18 * Fraction(7, 3) * exact(factor) ** 60
    assert abs(history.counts["b"] - true) <= 1 + true / 10**12


def test_weights_that_become_one_are_still_two_batches() -> None:
    close = Fraction(1, 2**64 - 2), Fraction(1, 2**64 - 3)
    history = digram.VocabularyHistory(pretokenizer=None)
    for weight in close:
        counts = digram.Counts({"b": 2**64 - 1}, pretokenizer=None)
        history = history.add(counts, weight=weight)
    faded = history.decay(0.9).add("new")
    first, second, _ = faded._batches
    assert first.weight == second.weight == Fraction(1, 2**64 - 1)
    assert (faded.counts["b"], faded.counts["new"]) == (2, 1)
