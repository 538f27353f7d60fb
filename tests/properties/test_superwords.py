"""Superwords: what is learned and what is encoded is what the reference says, by every way."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    WORDS,
    Ties,
    any_corpora,
    cases,
    concatenations,
    prose,
    superword_tokenizers,
    texts,
    ties,
)
from vocabularies import bpe

import digram
from digram import reference
from digram.reference import superwords
from digram.training.superwords import LINES, LINES_AND_NUMBERS, _may_join
from digram.vocab.schemes import Superwords

LIMITS: list[dict[str, Any]] = [
    {"max_merges": 0},
    {"max_merges": 12},
    {"max_merges": 40},
    {"max_merges": 40, "min_frequency": 2},
    {"max_merges": 40, "max_token_length": 5},
]
CUTS = st.sampled_from([None, LINES, "whitespace"])
JOINS = st.sampled_from(["letters", "no_digits", "all"])


def lines(corpus: list[str], cut: Any, words: Any) -> list[tuple[list[bytes], int]]:
    """The different pieces of a corpus, cut into words, in the order of appearance."""
    pieces = Counter(piece for text in corpus for piece in digram.pretokenize(text.encode(), cut))
    return [(digram.pretokenize(piece, words), number) for piece, number in pieces.items()]


@cases(250)
@given(
    corpus=prose | any_corpora,
    cut=CUTS,
    words=st.sampled_from(["gpt2", "o200k"]),
    joins=JOINS,
    ties=ties,
    limits=st.sampled_from(LIMITS),
)
def test_what_joins_is_what_the_reference_joins(
    corpus: list[str], cut: Any, words: str, joins: Any, ties: Ties, limits: dict[str, Any]
) -> None:
    way = digram.Boundless(joins=joins, pretokenizer=cut)
    tok = digram.train(corpus, pretokenizer=words, superwords=way, ties=ties, **limits)
    expected = superwords.train(
        lines(corpus, cut, words),
        ties=ties,
        may_join=lambda word: _may_join([word], joins)[0],
        **limits,
    )
    found = tok.definition
    model = bpe(found)
    assert found.tokens == expected.tokens
    assert {(left, right): id for left, right, id in model.merges} == expected.merges
    assert isinstance(model.scheme, Superwords)
    assert {*model.scheme.ranks} == expected.joining
    assert found.training is not None
    assert found.training.counts == expected.counts
    assert (found.training.stop_reason == "max_merges") == (expected.stop_reason == "max_merges")
    assert tok.unreachable() == []


@cases(250)
@given(tok=superword_tokenizers, text=concatenations(WORDS, 20) | texts)
def test_ids_are_those_of_the_merges_in_the_order_of_their_ranks(
    tok: digram.Tokenizer, text: str
) -> None:
    model = bpe(tok.definition)
    assert isinstance(model.scheme, Superwords)
    merges = {(left, right): id for left, right, id in model.merges}
    words = [
        digram.pretokenize(piece, model.scheme.words) for piece in tok.pretokenize(text.encode())
    ]
    joining = {*model.scheme.ranks}
    expected = [id for piece in words for id in superwords.encode(piece, merges, joining)]
    assert tok.encode(text) == expected
    assert tok.count(text) == len(expected)
    assert tok.decode(expected) == text


@cases(120)
@given(corpus=prose | any_corpora, share=st.sampled_from([0.0, 0.3, 0.8, 1.0]), ties=ties)
def test_two_stages_are_training_and_going_on(corpus: list[str], share: float, ties: Ties) -> None:
    """The first stage sees words, the second what they became, cut as text is afterwards."""
    way = digram.TwoStage(subwords=share)
    tok = digram.train(corpus, pretokenizer="gpt2", superwords=way, ties=ties, max_merges=30)
    first = reference.train(
        reference.words(
            [w for line, n in lines(corpus, LINES_AND_NUMBERS, "gpt2") for w in line * n],
            reference.BYTES,
        ),
        reference.BYTES,
        ties=ties,
        max_merges=int(30 * share),
    )
    pieces = Counter(
        p for text in corpus for p in digram.pretokenize(text.encode(), LINES_AND_NUMBERS)
    )
    again = [(reference.encode(piece, first.merges), n) for piece, n in pieces.items()]
    rest = 30 - len(first.merges)
    second = reference.train(again, first.tokens, ties=ties, max_merges=rest)
    assert tok.definition.tokens == second.tokens
    found = {(left, right): id for left, right, id in bpe(tok.definition).merges}
    assert found == first.merges | second.merges
    assert bpe(tok.definition).scheme is None
    assert tok.training is not None
    assert tok.training.counts == first.counts + second.counts


@cases(60)
@given(corpus=prose, text=concatenations(WORDS, 20))
def test_words_are_left_alone_by_what_joins_them(corpus: list[str], text: str) -> None:
    """With superwords a text is the same with some neighbouring tokens joined."""
    way = digram.Boundless()
    cut = [LINES, *map(digram.Regex, digram.Pretokenizer("gpt2").patterns)]
    joined = digram.train(corpus, pretokenizer="gpt2", superwords=way, max_merges=30)
    alone = digram.train(corpus, pretokenizer=cut, max_merges=30)
    borders = {len(b"".join(joined.tokens(joined.encode(text)[:n]))) for n in range(len(text) + 1)}
    known = {token for token in alone.definition.tokens if token in joined.definition.tokens}
    if len(known) == len(alone.definition.tokens):  # as many words as without superwords
        ends = {len(b"".join(alone.tokens(alone.encode(text)[:n]))) for n in range(len(text) + 1)}
        assert borders <= ends


def test_a_digit_keeps_a_word_alone() -> None:
    words = [b" the", b"...", b"12", b"a1", "é".encode(), b"\xe2\x82", "٣".encode()]
    assert _may_join(words, "letters") == [True, False, False, False, True, False, False]
    assert _may_join(words, "no_digits") == [True, True, False, False, True, True, False]
    assert _may_join(words, "all") == [True] * 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"superwords": "three-stage"}, "superwords='three-stage' is not known"),
        ({"superwords": digram.TwoStage(subwords=200)}, "Choose from 256 to 300; special"),
        ({"superwords": digram.TwoStage(subwords=999)}, "Choose from 256 to 300; special"),
        ({"superwords": "boundless", "unit": "char"}, "superwords need bytes"),
        ({"superwords": "boundless", "memory_limit": "1 GB"}, "not support memory_limit"),
        ({"superwords": "boundless", "checkpoint": "x"}, "not support checkpoint"),
        ({"superwords": "boundless", "runners_up": 2}, "runners_up= is not supported"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(digram.OptionError, match=message):
        digram.train("of the of the", vocab_size=300, **options)
    with pytest.raises(digram.OptionError, match="not a share of the merges"):
        digram.TwoStage(subwords=1.5)


@pytest.mark.parametrize("way", ["two-stage", "boundless"])
def test_the_record_says_how_words_were_cut(way: Any, tmp_path: Path) -> None:
    pattern = r"\p{L}+|\P{L}+"
    options: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
        ({}, {"words": "o200k"}),
        ({"pretokenizer": None}, {"words": []}),
        ({"pretokenizer": digram.Regex(pattern)}, {"words": [pattern]}),
        (
            {"pretokenizer": digram.Pretokenizer("gpt2", digits="individual")},
            {"words": "gpt2", "digits": "individual"},
        ),
    )
    for asked, said in options:
        tok = digram.train("of the cat", max_merges=3, superwords=way, **asked)
        tok.save(tmp_path / "t.json", format="digram")
        for one in (tok, digram.load(tmp_path / "t.json")):
            assert one.training is not None
            found = one.training.options["superwords"]
            assert found.items() >= {"kind": way, **said}.items()
            assert len(found) == 2 + len(said)


def test_the_size_of_words_is_that_without_special_tokens() -> None:
    special = [f"<{number}>" for number in range(10)]
    options: dict[str, Any] = {"vocab_size": 300, "special_tokens": special}
    for subwords, message in (
        (295, "=295 is not a size at .* from 256 to 290;"),
        (255, "from 256"),
    ):
        with pytest.raises(digram.OptionError, match=message):
            digram.train("of the", **options, superwords=digram.TwoStage(subwords=subwords))
    digram.train("of the", **options, superwords=digram.TwoStage(subwords=290))
    way = digram.TwoStage(subwords=255)
    with pytest.raises(digram.OptionError, match="from 256 on;"):
        digram.train("of the", min_frequency=2, superwords=way)
    wrong: Any = ["two-stage"]
    with pytest.raises(TypeError, match="superwords is a name, or"):
        digram.train("of the", max_merges=3, superwords=wrong)


@pytest.mark.parametrize("way", [digram.TwoStage, digram.Boundless])
def test_what_cuts_is_checked_at_once(way: type[digram.TwoStage | digram.Boundless]) -> None:
    with pytest.raises(digram.PatternError, match="nope"):
        way(pretokenizer="nope")
    ruled = digram.Pretokenizer("o200k", rules=digram.Rules(units=["mg"]))
    with pytest.raises(digram.OptionError, match="not support rules"):
        way(pretokenizer=ruled)


def test_counts_are_learned_from_if_they_were_cut_so() -> None:
    text = "of the cat and of the dog\n" * 3
    counts = digram.count_pretokens(text, pretokenizer=LINES)
    tok = digram.train(counts, max_merges=20, superwords="boundless")
    assert tok == digram.train(text, max_merges=20, superwords="boundless")
    lines = r"^[^?]+ Count with pretokenizer=digram\.Pretokenizer\(digram\.Regex\(.*\)\)\.$"
    with pytest.raises(digram.ConfigMismatchError, match=lines):
        digram.train(digram.count_pretokens(text), max_merges=20, superwords="boundless")
    two = digram.Pretokenizer(LINES_AND_NUMBERS)
    counts = digram.count_pretokens(text, pretokenizer=two)
    tok = digram.train(counts, max_merges=20, superwords="two-stage")
    assert tok == digram.train(text, max_merges=20, superwords="two-stage")


def test_merges_are_told_in_the_order_of_their_ranks() -> None:
    text = "of the cat and of the dog\n" * 3
    for way in ("two-stage", "boundless"):
        told: list[digram.Merge] = []
        options: dict[str, Any] = {"superwords": way, "special_first": True}
        tok = digram.train(
            text, max_merges=20, special_tokens=["<s>"], on_merge=told.append, **options
        )
        assert told == tok.merge_log


def test_two_stages_are_shrunk_where_that_is_training_to_the_smaller_size(tmp_path: Path) -> None:
    text = "of the cat and of the dog and of the cow\n" * 3
    options: dict[str, Any] = {
        "superwords": digram.TwoStage(subwords=265),
        "special_tokens": ["<s>"],
    }
    big = digram.train(text, vocab_size=280, **options)
    for size in (266, 270, 280):
        assert digram.shrink(big, size) == digram.train(text, vocab_size=size, **options)
    with pytest.raises(digram.VocabError, match=r"up to size 265\. Train it"):
        digram.shrink(big, 265)
    big.save(tmp_path / "t.json", format="digram")
    with pytest.raises(digram.VocabError, match="up to size 265"):
        digram.shrink(digram.load(tmp_path / "t.json"), 265)
    assert digram.curve(big, text, sizes=[265, 280]).sizes == [265, 280]
    shared = digram.train(text, vocab_size=275, superwords="two-stage")
    assert digram.shrink(shared, 275) == shared
    with pytest.raises(digram.VocabError, match=r"by a share of the merges, 0\.9"):
        digram.shrink(shared, 270)


def test_what_rests_on_ranks_is_refused() -> None:
    text = "of the cat and of the dog\n" * 3
    tok = digram.train(text, max_merges=20, superwords="boundless")
    for ask in (
        lambda: digram.extend(tok, text, add=1),
        lambda: digram.prune(tok, text, remove=1),
        lambda: digram.replace_tokens(tok, text, 1),
        lambda: digram.union(tok, tok),
        lambda: digram.explain(tok, text),
        lambda: digram.replay(tok, text),
        lambda: tok.encode(text, dropout=0.1, seed=1),
    ):
        with pytest.raises(digram.OptionError, match=r"by rank"):
            ask()
    with pytest.raises(digram.VocabError, match="applied by rank alone"):
        digram.shrink(tok, 270)
    with pytest.raises(digram.VocabError, match="applied by rank alone"):
        digram.curve(tok, text)
    found = digram.audit(tok, text)
    assert found.by_kind["unreachable"].count == 0


@pytest.mark.parametrize("format", ["huggingface", "tiktoken", "vocab_merges", "seed_pair"])
def test_no_format_of_others_carries_words_that_join(format: str, tmp_path: Path) -> None:
    tok = digram.train("of the cat of the cat\n", max_merges=20, superwords="boundless")
    with pytest.raises(digram.VocabError, match='format="digram"'):
        tok.save(tmp_path / "x", format=format)
    for name, named in (("a.json", None), ("b", "digram")):
        tok.save(tmp_path / name, format=named)
        assert digram.load(tmp_path / name) == tok
    with pytest.raises(Exception, match="did not match any variant"):
        tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))


def test_a_damaged_scheme_is_told(tmp_path: Path) -> None:
    tok = digram.train("of the cat of the cat\n", max_merges=20, superwords="boundless")
    path = tmp_path / "tok.json"
    tok.save(path)
    good = json.loads(path.read_text())
    ranks = good["model"]["digram"]["scheme"]["ranks"]
    for wrong, error in (
        ({"kind": "other"}, "kind 'other' is not known"),
        ({"ranks": ["1"]}, "is not a superwords"),
        ({"ranks": [-1]}, r"below 2\^32"),
        ({"ranks": [1 << 40]}, r"below 2\^32"),
        ({"words": None}, "is not a superwords"),
        ({"words": {"patterns": "ab", "digits": None}}, "patterns are texts"),
        ({"words": {"patterns": [], "digits": None, "rules": {}}}, "key 'rules' is not known"),
        ({"more": 1}, "key 'more' is not known"),
        ({"ranks": [999]}, "not those of merges"),
        ({"ranks": ranks[:-1]}, "does not fit its digest"),
    ):
        bad = json.loads(path.read_text())
        bad["model"]["digram"]["scheme"].update(wrong)
        if wrong == {"ranks": [999]}:
            del bad["model"]["digram"]["digest"], bad["model"]["digram"]["seal"]
        (tmp_path / "bad.json").write_text(json.dumps(bad))
        with pytest.raises(digram.DigramError, match=error):
            digram.load(tmp_path / "bad.json")
    good["model"]["type"] = "BPE"
    path.write_text(json.dumps(good))
    with pytest.raises(digram.CorruptFileError, match="has a scheme"):
        digram.load(path)


def test_why_it_stopped() -> None:
    way = digram.Boundless(joins="all", pretokenizer=None)
    options: dict[str, Any] = {"superwords": way, "min_frequency": 2, "pretokenizer": "gpt2"}
    for corpus, reason in ((["ab"] * 4, "no_pairs"), (["ab ab", "cd"], "min_frequency")):
        tok = digram.train(corpus, **options)
        assert tok.training is not None
        assert tok.training.stop_reason == reason, corpus
