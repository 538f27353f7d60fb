"""`digram.replay`: after each frame the text is what the smaller tokenizer makes of it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    Ties,
    Vocabulary,
    any_corpora,
    any_tokenizers,
    cases,
    long_texts,
    over,
    texts,
    ties,
)
from strategies import vocabularies as any_vocabularies

import digram
from digram import OptionError, RunnerUp, Tokenizer, reference
from digram.analysis.explain import Replay

TOKENIZERS = {name: Tokenizer(one) for name, one in vocabularies.SAMPLES.items()}


def spans(tokens: list[bytes]) -> set[int]:
    """Where tokens end."""
    ends, at = set(), 0
    for token in tokens:
        at += len(token)
        ends.add(at)
    return ends


def check_places(found: Replay) -> None:
    """The places that frames join are the ends of tokens that go away."""
    ends = {*found.to_dict()["borders"], len(found.text)}
    assert not found.text or ends == spans(found.tokens(-1))
    for frame in found.frames:
        assert frame.joined
        assert {*frame.joined} <= ends
        ends -= {*frame.joined}
        assert ends == spans(found.tokens(frame.number))
        assert found.ends(frame.number) == sorted(ends)


@cases(250)
@given(any_vocabularies(), over("abcd", 24) | long_texts)
def test_any_merges(vocabulary: Vocabulary, text: str) -> None:
    """Vocabularies that nobody trained too: at each rank what the merges up to it make."""
    tok = Tokenizer(vocabulary.definition)
    found = digram.replay(tok, text)
    order = list(vocabulary.merges.items())
    frames = {frame.merge.rank: frame for frame in found.frames}
    before = [bytes([byte]) for byte in text.encode()]
    for rank in range(len(order)):
        ids = reference.encode(text.encode(), dict(order[: rank + 1]))
        now = tok.tokens(ids)
        if rank in frames:
            assert now == found.tokens(frames[rank].number) != before
        else:
            assert now == before
        before = now
    assert found.tokens() == tok.tokens(tok.encode(text))
    check_places(found)


@cases(150)
@given(any_tokenizers, texts)
def test_the_smaller_tokenizers_of_the_family(tok: Tokenizer, text: str) -> None:
    found = digram.replay(tok, text, pairs=1000)
    assert found.base == 256
    assert found.tokens(-1) == [bytes([byte]) for byte in text.encode()]
    rank = -1
    for frame in found.frames:
        small = digram.shrink(tok, frame.vocab_size)
        assert len(small.merges) == frame.merge.rank + 1
        assert found.tokens(frame.number) == small.tokens(small.encode(text))
        assert frame.skipped == frame.merge.rank - rank - 1
        rank = frame.merge.rank
        assert frame.merge.count == tok.merge_log[rank].count
    check_places(found)


def pairs_of(tok: Tokenizer, text: str, rank: int) -> Counter[tuple[bytes, bytes]]:
    """The pairs of a text with the merges before a rank, counted anew."""
    tokens = digram.shrink(tok, 256 + rank) if rank else None
    counts: Counter[tuple[bytes, bytes]] = Counter()
    for word in tok.pretokenize(text):
        data = word.encode()
        now = [bytes([b]) for b in data]
        if tokens is not None:
            alone = tokens._with(tokens._settings._replace(pretokenizer=digram.Pretokenizer(None)))
            now = tokens.tokens(alone.encode(data))
        counts.update(pairwise(now))
    return counts


@cases(80)
@given(any_tokenizers, texts)
def test_pairs_counted_anew(tok: Tokenizer, text: str) -> None:
    ranks = {pair: rank for rank, pair in enumerate(tok.merges)}
    for frame in digram.replay(tok, text, pairs=1000).frames:
        counts = pairs_of(tok, text, frame.merge.rank)
        assert {(p.left, p.right): p.count for p in frame.pairs} == counts
        assert [p.count for p in frame.pairs] == sorted(counts.values(), reverse=True)
        assert all(p.rank == ranks.get((p.left, p.right)) for p in frame.pairs)
        assert frame.count == counts[frame.merge.left, frame.merge.right] >= frame.times > 0


@cases(150)
@given(any_corpora, ties)
def test_on_its_own_corpus_it_is_training(corpus: list[str], ties: Ties) -> None:
    """Each merge is the most frequent pair, and what came next is the next."""
    text = "\n".join(corpus)
    tok = digram.train(text, ties=ties, max_merges=12, runners_up=2, pretokenizer="gpt2")
    found = digram.replay(tok, text, pairs=3)
    assert [frame.merge for frame in found.frames] == tok.merge_log
    for frame in found.frames:
        assert frame.count == frame.merge.count == frame.pairs[0].count
        assert frame.skipped == 0
        nexts = [pair.count for pair in frame.merge.runners_up]
        assert nexts == [pair.count for pair in frame.pairs[1:]]


@pytest.mark.parametrize("name", TOKENIZERS)
def test_every_kind_of_vocabulary(name: str) -> None:
    tok = TOKENIZERS[name]
    for text in vocabularies.texts(8):
        try:
            ids = tok.encode(text, special="parse")
        except digram.InvalidTextError:
            continue
        found = digram.replay(tok, text, special="parse")
        assert found.tokens() == tok.tokens(ids)
        plain = json.loads(json.dumps(found.to_dict()))
        left = {*plain["borders"]}
        for frame in plain["frames"]:
            assert {*frame["joined"]} <= left
            left -= {*frame["joined"]}
        assert len(left) + 1 == len(ids) or not ids
        assert str(found)


def test_special_tokens_stay() -> None:
    tok = TOKENIZERS["holes"]
    found = digram.replay(tok, "an<a>an", special="parse")
    assert found.tokens(-1) == [b"a", b"n", b"<a>", b"a", b"n"]
    assert found.tokens() == [b"an", b"<a>", b"an"]
    assert found.frames[0].joined == [1, 6]
    assert (found.frames[0].times, found.frames[0].vocab_size) == (2, 257)


def test_places_that_overlap() -> None:
    (frame,) = digram.replay(digram.train("aaa", max_merges=1, pretokenizer=None), "aaa").frames
    assert (frame.count, frame.times, frame.joined) == (2, 1, [1])


def test_what_came_next() -> None:
    tok = digram.train("banana", max_merges=1, pretokenizer=None, runners_up=1)
    (frame,) = digram.replay(tok, "ban").frames
    assert (frame.merge.count, frame.merge.runners_up) == (2, (RunnerUp(b"n", b"a", 2),))
    assert [(p.left, p.right, p.count, p.rank) for p in frame.pairs] == [
        (b"b", b"a", 1, None),
        (b"a", b"n", 1, 0),
    ]
    assert frame.to_dict()["training"]["runners_up"] == [{"left": "6e", "right": "61", "count": 2}]
    assert digram.replay(tok, "ban", pairs=0).frames[0].pairs == []


def test_nothing_to_play() -> None:
    tok = digram.train("banana", max_merges=1, pretokenizer=None)
    for text in ("", "xyz"):
        found = digram.replay(tok, text)
        assert (found.frames, found.tokens(), found.merges) == ([], tok.tokens(tok.encode(text)), 1)
        assert str(found)
    assert repr(found) == "<digram.Replay: 3 bytes, 0 frames of 1 merge>"
    with pytest.raises(OptionError, match="pairs=-1 is not at least 0"):
        digram.replay(tok, "a", pairs=-1)


@given(st.sampled_from(["characters or bytes", "characters or unknown"]), texts)
def test_unknown_characters_join_nothing(name: str, text: str) -> None:
    tok: Any = TOKENIZERS[name]
    found = digram.replay(tok, text)
    assert found.tokens() == tok.tokens(tok.encode(text))
    known = {*tok.merges}
    assert {(f.merge.left, f.merge.right) for f in found.frames} <= known
