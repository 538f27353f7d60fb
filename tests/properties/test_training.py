"""Training obeys the reference, under every unit, rule for ties and limit, and keeps its laws."""

from __future__ import annotations

import inspect
import random
import textwrap
from itertools import pairwise
from typing import Any

import pyarrow
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import (
    ALPHABETS,
    TIES,
    Ties,
    any_bytes,
    cases,
    limits,
    long_texts,
    over,
    prose,
    sized,
    small_corpora,
    small_texts,
    special_texts,
    ties,
    trained_reference,
)

import digram
from digram import reference

Learned = list[tuple[bytes, bytes, int]]


def learned(trained: reference.Trained) -> Learned:
    """What the reference learned: left, right, count."""
    tokens = trained.tokens
    return [
        (tokens[left], tokens[right], count)
        for (left, right), count in zip(trained.merges, trained.counts, strict=True)
    ]


def check(tok: digram.Tokenizer, trained: reference.Trained) -> None:
    """The tokenizer holds what the reference found, in every way in which it can be asked."""
    record = tok.training
    assert record is not None
    assert [(m.left, m.right, m.count) for m in tok.merge_log] == learned(trained)
    assert record.stop_reason == trained.stop_reason
    assert record.counts == trained.counts
    assert tok.merges == [(left, right) for left, right, _ in learned(trained)]
    special = [text.encode() for text in tok.special_tokens]
    assert tok.tokens(range(tok.vocab_size)) == [*trained.tokens, *special]


@cases(500)
@given(small_corpora, ties, limits)
def test_bytes_without_a_pretokenizer(
    corpus: list[str], ties: Ties, limits: dict[str, int]
) -> None:
    trained = trained_reference(corpus, "byte", reference.BYTES, ties, limits)
    options = sized(limits, reference.BYTES)
    check(digram.train(corpus, pretokenizer=None, ties=ties, **options), trained)


@cases(500)
@given(small_corpora, ties, limits)
def test_characters_without_a_pretokenizer(
    corpus: list[str], ties: Ties, limits: dict[str, int]
) -> None:
    base = reference.characters(corpus)
    trained = trained_reference(corpus, "char", base, ties, limits)
    options = sized(limits, base)
    check(digram.train(corpus, pretokenizer=None, ties=ties, unit="char", **options), trained)


@cases(500)
@given(
    prose,
    ties,
    limits,
    st.sampled_from(["byte", "char"]),
    st.sampled_from(["gpt2", "cl100k", "o200k", "whitespace"]),
)
def test_repeated_pretokens(
    corpus: list[str], ties: Ties, limits: dict[str, int], unit: Any, pretokenizer: str
) -> None:
    """The core stores a pretoken once, with its weight; order and counts are as if it did not."""
    base = reference.BYTES if unit == "byte" else reference.characters(corpus)
    pretokens = [p for text in corpus for p in digram.pretokenize(text, pretokenizer)]
    trained = trained_reference(pretokens, unit, base, ties, limits)
    options = sized(limits, base)
    check(digram.train(corpus, pretokenizer=pretokenizer, ties=ties, unit=unit, **options), trained)


@cases(250)
@given(st.lists(st.tuples(over("ab", 6), st.integers(1, 40)), max_size=4), ties, limits)
def test_weights(words: list[tuple[str, int]], ties: Ties, limits: dict[str, int]) -> None:
    """A text that is there forty times counts forty times."""
    base = reference.BYTES
    weighted = [(text.encode(), times) for text, times in words]
    options = sized(limits, base)
    trained = reference.train(weighted, base, ties=ties, **options)
    corpus = [text for text, times in words for _ in range(times)]
    check(digram.train(corpus, pretokenizer=None, ties=ties, **options), trained)


@cases(250)
@given(st.lists(any_bytes, max_size=4), ties, limits)
def test_any_bytes(corpus: list[bytes], ties: Ties, limits: dict[str, int]) -> None:
    base, options = reference.BYTES, sized(limits, reference.BYTES)
    trained = reference.train(reference.words(corpus, base), base, ties=ties, **options)
    check(digram.train(corpus, pretokenizer=None, ties=ties, **options), trained)


@cases(300)
@given(small_corpora, ties, limits)
def test_the_order_of_gpt2s_bytes(corpus: list[str], ties: Ties, limits: dict[str, int]) -> None:
    base = reference.GPT2_BYTES
    trained = trained_reference(corpus, "byte", base, ties, limits)
    options = sized(limits, base)
    check(digram.train(corpus, pretokenizer=None, ties=ties, byte_order="gpt2", **options), trained)


@cases(250)
@given(small_corpora, st.sampled_from(ALPHABETS), ties, limits)
def test_a_given_alphabet(
    corpus: list[str], alphabet: str, ties: Ties, limits: dict[str, int]
) -> None:
    """A character outside the alphabet is in no merge; what stands on its sides does not join."""
    base = [character.encode() for character in alphabet]
    trained = trained_reference(corpus, "char", base, ties, limits)
    options: dict[str, Any] = {"ties": ties, "unit": "char", "alphabet": alphabet}
    options["pretokenizer"] = None
    tok = digram.train(
        corpus,
        on_unknown=digram.SpecialToken("<unk>"),
        **options,
        **sized(limits, [*base, b"<unk>"]),
    )
    check(tok, trained)
    # Without a token for it, only what has no such character is learned from.
    if set("".join(corpus)) <= set(alphabet):
        check(digram.train(corpus, **options, **sized(limits, base)), trained)
    else:
        with pytest.raises(digram.OptionError, match=r"^alphabet= leaves out "):
            digram.train(corpus, **options, **sized(limits, base))


@cases(250)
@given(small_corpora, ties, limits)
def test_characters_with_bytes_to_fall_back_on(
    corpus: list[str], ties: Ties, limits: dict[str, int]
) -> None:
    base = [*reference.BYTES, *reference.characters(corpus)]
    trained = trained_reference(corpus, "char", base, ties, limits)
    options = sized(limits, base)
    tok = digram.train(
        corpus, pretokenizer=None, ties=ties, unit="char", on_unknown="bytes", **options
    )
    check(tok, trained)


@cases(200)
@given(st.lists(long_texts, min_size=1, max_size=2), ties, st.integers(1, 60))
def test_one_long_text(corpus: list[str], ties: Ties, merges: int) -> None:
    trained = trained_reference(corpus, "byte", reference.BYTES, ties, {"max_merges": merges})
    check(digram.train(corpus, pretokenizer=None, ties=ties, max_merges=merges), trained)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("unit", ["byte", "char"])
@pytest.mark.parametrize("pretokenizer", [None, "cl100k"])
def test_a_page_of_code(ties: Ties, unit: Any, pretokenizer: Any) -> None:
    """More merges than any drawn case has, on a text that a person wrote."""
    page = inspect.getsource(textwrap)[:3000]
    base = reference.BYTES if unit == "byte" else reference.characters([page])
    pretokens = digram.pretokenize(page, pretokenizer)
    trained = trained_reference(pretokens, unit, base, ties, {"max_merges": 200})
    check(
        digram.train(page, unit=unit, ties=ties, pretokenizer=pretokenizer, max_merges=200), trained
    )


@cases(200)
@given(small_corpora, ties)
def test_until_pairs_run_out(corpus: list[str], ties: Ties) -> None:
    """Then every text is one token, and the reason is on record."""
    tok = digram.train(corpus, pretokenizer=None, ties=ties, vocab_size=1000)
    assert tok.training is not None
    assert tok.training.stop_reason == "no_pairs"
    assert all(tok.count(text) <= 1 for text in corpus)
    check(tok, trained_reference(corpus, "byte", reference.BYTES, ties, {"max_merges": 744}))


def by_string(text: str, vocab_size: int) -> tuple[list[str], list[str]]:
    """A trainer that keys a pair by its concatenated string, as simple scripts do."""
    vocabulary, sequence = sorted(set(text)), list(text)
    while len(vocabulary) < vocab_size and len(sequence) > 1:
        counts: dict[str, int] = {}
        for left, right in pairwise(sequence):
            counts[left + right] = counts.get(left + right, 0) + 1
        token = max(counts, key=lambda pair: counts[pair])
        vocabulary.append(token)
        merged, at = [], 0
        while at < len(sequence):
            found = at + 1 < len(sequence) and sequence[at] + sequence[at + 1] == token
            merged.append(token if found else sequence[at])
            at += 2 if found else 1
        sequence = merged
    return vocabulary, sequence


@cases(300)
@given(small_texts | long_texts, st.integers(1, 20))
def test_a_pair_is_known_by_its_string(text: str, room: int) -> None:
    """On what training can reach, different pairs of neighbours make different strings."""
    size = len(set(text)) + room
    vocabulary, sequence = by_string(text, size)
    tok = digram.train(text, vocab_size=size, unit="char", pretokenizer=None, ties="first_seen")
    assert [token.decode() for token in tok.tokens(range(tok.vocab_size))] == vocabulary
    assert [token.decode() for token in tok.tokens(tok.encode(text))] == sequence


@cases(250)
@given(prose, st.sampled_from(["ids", "lexicographic"]), limits, st.randoms())
def test_order_of_texts_does_not_matter(
    corpus: list[str], ties: Any, limits: dict[str, int], random: random.Random
) -> None:
    """For `first_seen` it does, by its definition."""
    shuffled = random.sample(corpus, len(corpus))
    options = sized(limits, reference.BYTES)
    one = digram.train(corpus, pretokenizer="gpt2", ties=ties, **options)
    other = digram.train(shuffled, pretokenizer="gpt2", ties=ties, **options)
    assert one.merge_log == other.merge_log
    assert one == other
    assert one.digest == other.digest


@cases(300)
@given(prose, ties, limits, st.integers(2, 5), st.sampled_from([None, "gpt2"]))
def test_threads_do_not_matter(
    corpus: list[str], ties: Ties, limits: dict[str, int], threads: int, pretokenizer: Any
) -> None:
    options = sized(limits, reference.BYTES)
    one, many = (
        digram.train(corpus, pretokenizer=pretokenizer, ties=ties, threads=n, **options)
        for n in (1, threads)
    )
    assert one.merge_log == many.merge_log
    assert one == many
    assert one.training == many.training


@cases(200)
@given(prose, ties, limits)
def test_any_iterable_of_texts_is_the_same_source(
    corpus: list[str], ties: Ties, limits: dict[str, int]
) -> None:
    options = sized(limits, reference.BYTES)
    one = digram.train(corpus, pretokenizer="gpt2", ties=ties, **options)
    lazy = digram.train(iter(corpus), pretokenizer="gpt2", ties=ties, **options)
    encoded = digram.train([t.encode() for t in corpus], pretokenizer="gpt2", ties=ties, **options)
    assert one.merge_log == lazy.merge_log == encoded.merge_log
    assert one == lazy == encoded


@cases(200)
@given(prose, ties, limits, st.sampled_from([" low", "\n", "lower", ", "]))
def test_a_separator_cuts_texts_and_is_no_part_of_them(
    corpus: list[str], ties: Ties, limits: dict[str, int], separator: str
) -> None:
    options = sized(limits, reference.BYTES)
    parts = [part for text in corpus for part in text.split(separator)]
    rows = pyarrow.table({"text": pyarrow.array(corpus, pyarrow.string())})
    cut = digram.table(rows, separator=separator)
    one = digram.train(cut, pretokenizer="gpt2", ties=ties, **options)
    other = digram.train(parts, pretokenizer="gpt2", ties=ties, **options)
    assert one.merge_log == other.merge_log
    assert one == other


@cases(250)
@given(prose, ties, st.integers(0, 20), st.integers(0, 20), st.integers(1, 20))
def test_a_smaller_vocabulary_is_a_prefix(
    corpus: list[str], ties: Ties, fewer: int, more: int, longest: int
) -> None:
    fewer, more = sorted((fewer, more))
    small, large = (
        digram.train(corpus, pretokenizer="gpt2", ties=ties, max_merges=n, max_token_length=longest)
        for n in (fewer, more)
    )
    assert large.merge_log[: len(small.merges)] == small.merge_log
    assert len(small.merges) == min(fewer, len(large.merges))


@cases(250)
@given(prose, ties, limits, st.sampled_from([None, "gpt2"]))
def test_limits_are_kept(
    corpus: list[str], ties: Ties, limits: dict[str, int], pretokenizer: Any
) -> None:
    options = sized(limits, reference.BYTES)
    tok = digram.train(corpus, pretokenizer=pretokenizer, ties=ties, **options)
    for entry in tok.merge_log:
        assert entry.token == entry.left + entry.right == tok.id_to_token(entry.id)
        assert len(entry.token) <= limits.get("max_token_length", 10**9)
        assert entry.count is not None
        assert entry.count >= limits.get("min_frequency", 1)
    assert len(tok.merges) <= min(limits.get("max_merges", 10**9), limits.get("room", 10**9))
    counts = [entry.count for entry in tok.merge_log]
    if "max_token_length" not in limits:  # a pair of rarer tokens is not commoner than they are
        assert counts == sorted(counts, reverse=True)  # type: ignore[type-var]


@cases(300)
@given(prose, ties, special_texts, st.booleans(), st.integers(1, 8))
def test_special_tokens_take_ids_and_nothing_else(
    corpus: list[str], ties: Ties, special: list[str], first: bool, merges: int
) -> None:
    """They stand after the merges, or before the base; `vocab_size` counts them."""
    plain = digram.train(corpus, pretokenizer="gpt2", ties=ties, max_merges=merges)
    size = 256 + merges + len(special)
    tok = digram.train(
        corpus,
        pretokenizer="gpt2",
        ties=ties,
        vocab_size=size,
        special_tokens=special,
        special_first=first,
    )
    assert tok.merges == plain.merges
    start = 0 if first else 256 + len(plain.merges)
    assert tok.special_tokens == {text: start + n for n, text in enumerate(special)}
    assert tok.vocab_size == len(tok) == 256 + len(plain.merges) + len(special)
    shift = len(special) if first else 0
    for text in corpus:
        assert tok.encode(text) == [id_ + shift for id_ in plain.encode(text)]


@cases(200)
@given(prose, ties, limits)
def test_on_merge_sees_every_merge_as_it_is_made(
    corpus: list[str], ties: Ties, limits: dict[str, int]
) -> None:
    seen: list[digram.Merge] = []
    options = sized(limits, reference.BYTES)
    tok = digram.train(corpus, pretokenizer="gpt2", ties=ties, on_merge=seen.append, **options)
    assert seen == tok.merge_log


@cases(200)
@given(prose, st.sampled_from([None, "gpt2", "whitespace"]))
def test_the_record_adds_up(corpus: list[str], pretokenizer: Any) -> None:
    tok = digram.train(corpus, pretokenizer=pretokenizer, max_merges=3)
    record = tok.training
    assert record is not None
    pretokens = [p for text in corpus for p in digram.pretokenize(text, pretokenizer)]
    assert record.documents == len(corpus)
    assert record.bytes == sum(len(text.encode()) for text in corpus)
    assert record.pretokens == len(pretokens)
    assert record.distinct_pretokens == len(set(pretokens))


@cases(200)
@given(small_corpora, st.sampled_from(["byte", "char"]), st.integers(0, 3), special_texts)
def test_a_size_without_room_is_refused(
    corpus: list[str], unit: Any, less: int, special: list[str]
) -> None:
    base = 256 if unit == "byte" else len(reference.characters(corpus))
    size = base + len(special) - less
    assume(size > 0)
    with pytest.raises(digram.OptionError):
        digram.train(corpus, pretokenizer=None, unit=unit, vocab_size=size, special_tokens=special)
