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
"""What may be done with a trainer."""


def exact(number: Any) -> Fraction:
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def pieces(texts: list[str]) -> Counter[bytes]:
    return Counter(piece.encode() for text in texts for piece in digram.pretokenize(text, CUT))


def trained(todo: list[Step]) -> digram.Trainer:
    """A trainer after some steps."""
    trainer = digram.Trainer(pretokenizer=CUT)
    tok = digram.train("low lower", max_merges=2, pretokenizer=CUT)
    for what, *told in todo:
        if what == "add":
            texts, name, weight = told
            trainer = trainer.add(texts, name=name, weight=weight)
        elif what == "decay":
            trainer = trainer.decay(*told)
        elif what == "version":
            trainer = trainer.record(tok)
        elif any(entry.name == told[0] for entry in trainer.log):
            trainer = trainer.forget(name=told[0])
    return trainer


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
    trainer = trained(todo)
    assert dict(trainer.counts.items()) == weighed(todo)
    for name, part in trainer.parts.items():
        assert dict(part.items()) == weighed(todo, name)
    empty = digram.Counts({}, pretokenizer=CUT)
    assert digram.Counts.merge([empty, *trainer.parts.values()]) == trainer.counts
    assert trainer.made_on + trainer.recent == trainer.counts


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
        if what == "add":  # a name for each batch, so that it is told which one forgets
            named.append((what, told[0], f"{told[1]} {told[2]} {epoch}", told[2]))
        elif what != "forget":
            named.append((what, *told))
            epoch += 1
    _, texts, name, _ = named[at]
    trainer = trained(named)
    assert trainer.forget(texts, name=name) == trained(named[:at] + named[at + 1 :])


@cases(100)
@given(todo=steps, first=factors, second=factors)
def test_two_decays_are_one_by_their_product(todo: list[Step], first: Any, second: Any) -> None:
    trainer = trained(todo)
    twice = trainer.decay(first).decay(second)
    assert twice.counts == trainer.decay(exact(first) * exact(second)).counts


@cases(60)
@given(todo=steps, text=prose)
def test_what_changes_nothing(todo: list[Step], text: list[str]) -> None:
    trainer = trained(todo)
    assert dict(trainer.decay(1).counts.items()) == dict(trainer.counts.items())
    assert trainer.add(text, name="new").forget(text, name="new") == trainer
    assert trainer.add(text, name="new").forget(name="new") == trainer


@cases(80)
@given(tok=any_tokenizers, corpus=any_corpora, add=st.integers(1, 8), number=st.integers(1, 4))
def test_the_next_version_is_what_the_tokenizer_makes_of_the_counts(
    tok: digram.Tokenizer, corpus: list[str], add: int, number: int
) -> None:
    trainer = digram.Trainer.of(tok).add(corpus)
    assume(len(trainer.counts))
    grown, change = digram.extend(tok, corpus, add=add)
    extended = trainer.next(add=add)
    assert extended.tokenizer == grown
    assert extended.versions[1].change is not None
    assert extended.versions[1].change.id_map.tolist() == change.id_map.tolist()
    assert trainer.next(vocab_size=tok.vocab_size + add).tokenizer == grown
    assume(number <= len(tok.merges))
    assert trainer.next(swap=number).tokenizer == digram.replace_tokens(tok, corpus, number)[0]
    pruned, _ = digram.prune(tok, corpus, remove=number)
    assert trainer.next(remove=number).tokenizer == pruned
    assert trainer.next(vocab_size=tok.vocab_size - number).tokenizer == pruned


@cases(80)
@given(corpora=st.lists(prose, min_size=1, max_size=3), size=st.integers(257, 270))
def test_the_first_version_is_what_training_gives(corpora: list[list[str]], size: int) -> None:
    trainer = digram.Trainer(pretokenizer=CUT)
    for number, corpus in enumerate(corpora):
        trainer = trainer.add(iter(corpus), name=str(number))
    assume(len(trainer.counts))
    whole = digram.train(
        [text for corpus in corpora for text in corpus], vocab_size=size, pretokenizer=CUT
    )
    assert trainer.next(vocab_size=size).tokenizer == whole


@cases(60)
@given(tok=any_tokenizers, base=prose, recent=any_corpora)
def test_drift_measures_what_evaluating_the_text_does(
    tok: digram.Tokenizer, base: list[str], recent: list[str]
) -> None:
    trainer = digram.Trainer(pretokenizer=tok.pretokenizer).add(base).record(tok).add(recent)
    assume(len(trainer.recent))
    found = trainer.drift(add=4)
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


def grown(tok: digram.Tokenizer, todo: list[tuple[str, int, list[str]]]) -> digram.Trainer:
    """A trainer with a version for each change that can be made."""
    trainer = digram.Trainer.of(tok).add("low slower, low")
    for what, number, texts in todo:
        trainer = trainer.add(texts)
        if what == "add" or number <= len(trainer.tokenizer.merges):
            trainer = trainer.next(**{what: number})
    return trainer


@cases(60)
@given(tok=any_tokenizers, todo=changes)
def test_maps_join_in_one_direction(
    tok: digram.Tokenizer, todo: list[tuple[str, int, list[str]]]
) -> None:
    trainer = grown(tok, todo)
    last = len(trainer.versions)
    for a in range(1, last + 1):
        tokens = trainer.versions[a - 1].tokenizer.definition.tokens
        kept = [id if token is not None else -1 for id, token in enumerate(tokens)]
        assert trainer.map(a, a).id_map.tolist() == kept
        for b in range(a, last + 1):
            for c in range(b, last + 1):
                there = trainer.map(a, b).then(trainer.map(b, c))
                assert there.id_map.tolist() == trainer.map(a, c).id_map.tolist()
                back = trainer.map(c, b).then(trainer.map(b, a))
                assert back.id_map.tolist() == trainer.map(c, a).id_map.tolist()


@cases(60)
@given(tok=any_tokenizers, todo=changes)
def test_a_map_is_of_tokens_that_stayed_all_the_way(
    tok: digram.Tokenizer, todo: list[tuple[str, int, list[str]]]
) -> None:
    """Each old id is followed through the versions, by the bytes of its token."""
    trainer = grown(tok, todo)
    versions = trainer.versions
    map = trainer.map(1, len(versions)).id_map.tolist()
    back = trainer.map(len(versions), 1).id_map.tolist()
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
    trainer = trained(todo)
    with tempfile.TemporaryDirectory() as folder:
        trainer.save(folder)
        again = digram.Trainer.load(folder)
    assert again == trainer
    assert hash(again) == hash(trainer)
    assert again.log == trainer.log
    assert again.counts == trainer.counts
    assert again.add("new") == trainer.add("new")
    assert pickle.loads(pickle.dumps(trainer)) == trainer


@pytest.mark.parametrize("factor", [0.9, Fraction(2**61 - 1, 2**61), 0.123456789])
def test_weights_stay_within_64_bits_and_never_rise(factor: Any) -> None:
    trainer = digram.Trainer(pretokenizer=None).add("a" * 3)
    trainer = trainer.add(digram.Counts({"b": 10**18}, pretokenizer=None), weight=Fraction(7, 3))
    before: dict[str, Fraction] = {}
    for _ in range(60):
        trainer = trainer.decay(factor)
        for batch in trainer._batches:
            now = batch.weight
            key = next(iter(batch.counts)).decode()
            assert max(now.numerator, now.denominator) < 1 << 64
            assert now <= before.get(key, now)
            before[key] = now
    true = 10**18 * Fraction(7, 3) * exact(factor) ** 60
    assert abs(trainer.counts["b"] - true) <= 1 + true / 10**12


def test_weights_that_become_one_are_still_two_batches() -> None:
    close = Fraction(1, 2**64 - 2), Fraction(1, 2**64 - 3)
    trainer = digram.Trainer(pretokenizer=None)
    for weight in close:
        counts = digram.Counts({"b": 2**64 - 1}, pretokenizer=None)
        trainer = trainer.add(counts, weight=weight)
    faded = trainer.decay(0.9).add("new")
    first, second, _ = faded._batches
    assert first.weight == second.weight == Fraction(1, 2**64 - 1)
    assert (faded.counts["b"], faded.counts["new"]) == (2, 1)
