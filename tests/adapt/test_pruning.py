"""Fewer tokens, others, and those of two: what stays is whole, and encodes as its merges say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import any_corpora, any_tokenizers, cases, corpora, texts, vocabularies, with_runs
from vocabularies import bpe

import digram
from digram import reference

unlikely = vocabularies().map(lambda one: digram.Tokenizer(one.definition))
"""Nobody trained them: tokens that two merges make, ids in no order, tokens that nothing makes."""


def naive(tok: digram.Tokenizer, corpus: list[str], number: int) -> set[int]:
    """Which tokens go, looked for anew at each step."""
    merges = bpe(tok.definition).merges
    uses = Counter(id for text in corpus for id in tok.encode(text))
    left = {id for id, token in enumerate(tok.definition.tokens) if token and len(token) > 1}
    gone: set[int] = set()
    for _ in range(number):
        parts = {part for a, b, id in merges if id not in gone for part in (a, b)}
        least = min(left - parts, key=lambda one: (uses[one], -one))
        left.remove(least)
        gone.add(least)
        pair = next(((a, b) for a, b, id in merges if id == least), ())
        for part in pair:
            uses[part] += uses[least]
    return gone


@cases(200)
@given(tok=any_tokenizers | unlikely, corpus=any_corpora, share=st.floats(0, 1), text=texts)
def test_the_least_used_leaves_go(
    tok: digram.Tokenizer, corpus: list[str], share: float, text: str
) -> None:
    longer = [token for token in tok.definition.tokens if token and len(token) > 1]
    number = round(share * len(longer))
    gone = naive(tok, corpus, number)
    small, change = digram.prune(tok, corpus, remove=number)
    holes, same = digram.prune(tok, corpus, remove=number, compact=False)
    assert {*change.removed} == gone == {*same.removed}
    assert change.added == same.added == []
    # What is left is the tokenizer that never had them.
    merges = [merge for merge in bpe(tok.definition).merges if merge[2] not in gone]
    assert bpe(holes.definition).merges == merges
    by_pair = {(a, b): id for a, b, id in merges}
    for piece in tok.pretokenize(text):
        ids = [tok.encode(bytes([byte]))[0] for byte in piece.encode()]
        expected = reference.encode(ids, by_pair)
        assert digram_alone(holes).encode(piece) == expected
        assert digram_alone(small).encode(piece) == change.id_map[expected].tolist()
    assert small.decode(small.encode(text)) == text
    assert small.vocab_size == tok.vocab_size - number
    # What could be reached before still can.
    lost = {*small.unreachable()} - {*change.id_map[tok.unreachable()].tolist()}
    assert not lost


def is_cut(tok: digram.Tokenizer, token: bytes) -> bool:
    """Whether a token is a text that the pretokenizer cuts."""
    text = token.decode("utf-8", "ignore")
    return text.encode() == token and len(tok.pretokenize(text)) > 1


def digram_alone(tok: digram.Tokenizer) -> digram.Tokenizer:
    """The same without a pretokenizer: a pretoken is not cut again."""
    from dataclasses import replace

    return digram.Tokenizer(replace(tok.definition, pretokenizer=digram.Pretokenizer(None)))


@cases(100)
@given(corpus=any_corpora, merges=st.integers(0, 12), fewer=st.integers(0, 12))
def test_what_nothing_uses_goes_as_it_came(corpus: list[str], merges: int, fewer: int) -> None:
    tok = digram.train(corpus, max_merges=merges, special_tokens=["<s>"])
    learned = len(tok.merges)
    assume(fewer < learned)
    small, _ = digram.prune(tok, [], remove=fewer)
    assert small == digram.shrink(tok, tok.vocab_size - fewer)
    assert digram.prune(tok, [], vocab_size=tok.vocab_size - fewer)[0] == small


@cases(100)
@given(tok=any_tokenizers, corpus=any_corpora, add=st.integers(1, 8), fewer=st.integers(0, 8))
def test_changes_compose(tok: digram.Tokenizer, corpus: list[str], add: int, fewer: int) -> None:
    grown, first = digram.extend(tok, corpus, add=add)
    assume(len(grown.merges) >= fewer)
    small, second = digram.prune(grown, corpus, remove=fewer)
    both = first.then(second)
    assert both.id_map.tolist() == digram.Change.of(tok, small).id_map.tolist()
    back = digram.Change.of(small, tok)
    for id, new in enumerate(both.id_map.tolist()):
        assert new < 0 or back.id_map[new] == id
    assert (both.before, both.after) == (tok, small)
    inverse = both.inverse()
    assert inverse.id_map.tolist() == back.id_map.tolist()
    assert (inverse.added, inverse.removed) == (both.removed, both.added)


@cases(150)
@given(
    tok=any_tokenizers,
    corpus=corpora(with_runs("abc")),
    number=st.integers(0, 6),
    text=texts,
)
def test_swapped_tokens_take_the_ids_of_those_that_went(
    tok: digram.Tokenizer, corpus: list[str], number: int, text: str
) -> None:
    assume(number <= len(tok.merges))
    after, change = digram.replace_tokens(tok, corpus, number, min_frequency=1)
    assert after.vocab_size == tok.vocab_size
    assert len(after) == len(tok)
    assert len(change.added) == len(change.removed) <= number
    assert {*change.added} <= {*change.removed} | {
        id for id, new in enumerate(change.id_map.tolist()) if new != id
    }
    stays = [id for id, new in enumerate(change.id_map.tolist()) if new == id]
    assert len(stays) >= tok.vocab_size - number
    assert after.tokens(stays) == tok.tokens(stays)
    assert after.decode(after.encode(text)) == text
    assert not {*after.unreachable()} & {*change.added}
    counts = digram.count_pretokens(corpus, pretokenizer=tok.pretokenizer)
    assert digram.replace_tokens(tok, counts, number, min_frequency=1)[0] == after


@cases(150)
@given(tok=any_tokenizers, corpus=any_corpora, text=texts)
def test_tokens_of_another_are_added_where_one_merge_makes_them(
    tok: digram.Tokenizer, corpus: list[str], text: str
) -> None:
    other = digram.train(corpus, max_merges=12, pretokenizer=None)
    both, change = digram.union(tok, other)
    assert change.removed == []
    assert not {*both.unreachable()} & {*change.added}
    before, after = tok(text, offsets="bytes").offsets, both(text, offsets="bytes").offsets
    assert {end for _, end in after} <= {end for _, end in before}
    # What is left out, no single merge makes, or the pretokenizer cuts it.
    alone = digram_alone(both)
    for merge in other.merge_log:
        left_out = both.token_to_id(merge.token) is None
        assert not left_out or len(alone.encode(merge.token)) > 2 or is_cut(tok, merge.token)
    few, fewer = digram.union(tok, other, add=2)
    assert few.tokens(fewer.added) == both.tokens(change.added)[:2]


@cases(100)
@given(corpus=any_corpora, merges=st.integers(1, 12), fewer=st.integers(1, 12))
def test_a_smaller_one_merged_with_its_larger_is_the_larger(
    corpus: list[str], merges: int, fewer: int
) -> None:
    tok = digram.train(corpus, max_merges=merges)
    assume(fewer < len(tok.merges))
    small = digram.shrink(tok, tok.vocab_size - fewer)
    assert digram.union(small, tok)[0] == tok
    assert digram.union(tok, small)[0] is tok


def test_what_is_kept() -> None:
    tok = digram.train("low low lower lowest", vocab_size=262, special_tokens=["<s>"])
    everything = len(tok.merges)
    small, change = digram.prune(tok, "", remove=everything)
    assert [len(token) for token in small.definition.tokens if token] == [1] * 256
    assert small.special_tokens == {"<s>": 256}
    low = tok.token_to_id("low")
    assert low is not None
    for keep in (["low"], [b"low"], [low]):
        with pytest.raises(digram.OptionError, match="cannot be removed"):
            digram.prune(tok, "", remove=everything, keep=keep)
        kept, change = digram.prune(tok, "", remove=everything - 2, keep=keep)
        assert kept.token_to_id("low") is not None
        assert kept.token_to_id("lo") is not None  # it is made of that
        assert len(change.removed) == everything - 2


def test_faults() -> None:
    tok = digram.train("low low lower", max_merges=3)
    calls: list[dict[str, Any]] = [{}, {"remove": 1, "vocab_size": 257}]
    for options in calls:
        with pytest.raises(digram.OptionError, match="one of remove= and vocab_size="):
            digram.prune(tok, "low", **options)
    with pytest.raises(digram.OptionError, match="more than the 259"):
        digram.prune(tok, "low", vocab_size=300)
    with pytest.raises(digram.OptionError, match="is not a token"):
        digram.prune(tok, "low", remove=1, keep=["zebra"])
    with pytest.raises(digram.TokenIdError):
        digram.prune(tok, "low", remove=1, keep=[999])
    with pytest.raises(digram.ConfigMismatchError):
        digram.union(tok, digram.train("low", max_merges=1, unit="char"))
    with pytest.raises(digram.ConfigMismatchError):
        digram.prune(tok, digram.count_pretokens("low", pretokenizer="gpt2"), remove=1)
    _, change = digram.prune(tok, "low", remove=1)
    with pytest.raises(digram.ConfigMismatchError, match="the first change ends with"):
        change.then(change)


GENERAL = "the cat sat on the mat with the hat and the bat "
MEDICAL = "fever, chills, fever and chills, feverish chilling"


@pytest.mark.parametrize(
    "options",
    [{"vocab_size": 276, "pad_to_multiple": 4}, {"vocab_size": 270, "pad_to_multiple": 64}],
)
def test_what_pads_stays_at_the_end(options: dict[str, Any]) -> None:
    tok = digram.train(GENERAL * 6, special_tokens=["<|e|>"], **options)
    after, change = digram.replace_tokens(tok, MEDICAL, 6)
    assert after.vocab_size == tok.vocab_size
    assert after.reserved == tok.reserved
    assert len(change.removed) == len(change.added) <= 6
    small, change = digram.prune(tok, MEDICAL, remove=3)
    assert small.vocab_size % options["pad_to_multiple"] == 0
    assert small.special_tokens["<|e|>"] == tok.special_tokens["<|e|>"] - 3
    both, change = digram.union(tok, digram.train(MEDICAL, max_merges=9))
    assert both.vocab_size % options["pad_to_multiple"] == 0
    assert both.training is not None
    assert both.training.counts[len(tok.merges) :] == [None] * len(change.added)
    bigger, _ = digram.extend(both, GENERAL, add=1)
    assert bigger.vocab_size % options["pad_to_multiple"] == 0


def test_characters_stay_whole_where_training_kept_them() -> None:
    tok = digram.train("low low lower", max_merges=3, whole_characters=True)
    text = "é è ê ë " * 9  # of which b" \xc3" would be the first pair

    def cut(tokens: list[bytes]) -> list[bytes]:
        return [one for one in tokens if len(one) > 1 and not is_text(one)]

    for after, change in (digram.extend(tok, text, add=2), digram.replace_tokens(tok, text, 2)):
        assert change.added
        assert not cut(after.tokens(change.added))
        again, later = digram.replace_tokens(after, text + "ü ö ä " * 9, 2)
        assert later.added
        assert not cut(again.tokens(later.added))
    for after, change in (
        digram.extend(tok, text, add=2, whole_characters=False),
        digram.replace_tokens(tok, text, 2, whole_characters=False),
    ):
        assert cut(after.tokens(change.added))
    grown = digram.VocabularyHistory.of(tok).add(text).next(swap=2, whole_characters=True).tokenizer
    assert grown == digram.replace_tokens(tok, text, 2)[0]


def is_text(token: bytes) -> bool:
    return "\N{REPLACEMENT CHARACTER}" not in token.decode(errors="replace")


def test_what_comes_back_has_its_own_id() -> None:
    tok = digram.train(GENERAL * 2 + "the the the", vocab_size=275)
    for number in (10, 18):
        after, change = digram.replace_tokens(tok, (GENERAL * 2)[:60] + MEDICAL, number)
        assert all(new in (-1, id) for id, new in enumerate(change.id_map.tolist()))
        assert after.training is not None
        assert after.training.options["swapped"] == tok.digest


def test_the_size_stays_where_there_is_little_to_learn() -> None:
    tok = digram.train("low low lower lowest", max_merges=6)
    one, change = digram.replace_tokens(tok, "ab ab", 3)
    assert (one.vocab_size, len(one)) == (262, 262)
    assert one.tokens(change.added) == [b"ab"]
    assert len(change.removed) == 1
    same, change = digram.replace_tokens(tok, "a b c", 3, keep=iter([b"low"]))
    assert same is tok
    assert change.added == change.removed == []
    # So is a matrix that began with this vocabulary.
    assert digram.VocabularyHistory.of(tok).add("ab ab").next(swap=3).tokenizer.vocab_size == 262


def test_holes_at_the_end_are_none() -> None:
    tok = digram.train("the cat sat on the mat", vocab_size=265)
    holes, _ = digram.prune(tok, "zz", remove=3, compact=False)
    assert holes.vocab_size == 262
    assert digram.Tokenizer(holes.definition).vocab_size == 262
    assert holes.with_special_tokens(["<x>"]).special_tokens == {"<x>": 262}


def test_bytes_that_are_a_fallback_are_no_characters() -> None:
    options: dict[str, Any] = {"unit": "char", "pretokenizer": None}
    tok = digram.train("abc abd abc é", max_merges=3, on_unknown="bytes", **options)
    both, change = digram.union(tok, digram.train("zq zq zq zab zab", max_merges=5, **options))
    assert change.added == []
    assert both is tok


def test_what_the_pretokenizer_cuts_is_left_out() -> None:
    tok = digram.train("low low low", max_merges=3, pretokenizer="gpt2")
    other = digram.train("low low low low lower", max_merges=12, pretokenizer=None)
    both, change = digram.union(tok, other)
    assert all(len(both.pretokenize(token)) == 1 for token in both.tokens(change.added))
    assert digram.audit(both).by_kind["unreachable"].count == 0


def test_merging_long_tokens_takes_no_square() -> None:
    long = digram.train("a" * 2**14, max_merges=14, pretokenizer=None)
    both, change = digram.union(digram.train("x", max_merges=0, pretokenizer=None), long)
    assert both.tokens(change.added) == [b"a" * 2**n for n in range(1, 15)]


def test_a_token_that_is_there_twice_keeps_its_id() -> None:
    tokens: list[bytes | None] = [*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b"ab"]
    twice = digram.Definition(
        tokens=tokens,
        model=digram.BpeModel([(97, 98, 256), (256, 99, 257)]),
        pretokenizer=digram.Pretokenizer(None),
    )
    tok = digram.Tokenizer(twice)
    _, change = digram.extend(tok, "xyxyxyab", add=1)
    assert change.id_map.tolist() == [*range(259)]


def test_a_character_that_is_unknown_has_no_row() -> None:
    options: dict[str, Any] = {"unit": "char", "pretokenizer": None, "max_merges": 3}
    unknown = digram.SpecialToken("<unk>")
    tok = digram.train("abc abd", on_unknown=unknown, special_tokens=["<unk>"], **options)
    change = digram.Change.of(tok, digram.train("zq abc zq", **options))
    q = change.after.token_to_id("q")
    assert q is not None
    assert change.embedding_plan().row(q) == []


def test_sources_with_names_and_numpy_ids() -> None:
    tok = digram.train(GENERAL, vocab_size=270)
    named, _ = digram.prune(tok, {"a": [GENERAL], "b": [MEDICAL]}, remove=3)
    assert named == digram.prune(tok, [GENERAL, MEDICAL], remove=3)[0]
    kept, change = digram.prune(tok, GENERAL, remove=3, keep=np.array([269, 268]))
    assert {268, 269} & {*change.removed} == set()
    assert kept.vocab_size == 267
