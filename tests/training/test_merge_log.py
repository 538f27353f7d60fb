"""The log of merges: what came next at each merge, kept, saved and told to the callback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Ties, any_corpora, cases, limits, prose, sized, small_corpora, ties

import digram
from digram import CorruptFileError, Merge, OptionError, RunnerUp, SpecialToken, reference
from digram.formats import huggingface

Words = list[reference.Word]


def came_next(
    words: Words,
    base: list[bytes],
    trained: reference.Trained,
    ties: str,
    number: int,
    limits: dict[str, int],
) -> list[list[tuple[bytes, bytes, int]]]:
    """The pairs after the best at each merge, found by counting everything anew."""
    longest, least = limits.get("max_token_length", 1 << 30), limits.get("min_frequency", 1)
    tokens, now, found = trained.tokens, list(words), []
    for rank, chosen in enumerate(trained.merges):
        counts = reference.count_pairs(now)
        texts = {pair: (tokens[pair[0]], tokens[pair[1]]) for pair in counts}
        left = {
            pair: count
            for pair, count in counts.items()
            if pair != chosen and count >= least and len(b"".join(texts[pair])) <= longest
        }
        pairs: list[reference.Pair] = []
        while left and len(pairs) < number:
            pairs.append(reference.best_pair(left, tokens, ties))
            del left[pairs[-1]]
        found.append([(*texts[pair], counts[pair]) for pair in pairs])
        now = [(reference.merge(word, chosen, len(base) + rank), n) for word, n in now]
    return found


@cases(400)
@given(small_corpora, ties, limits, st.sampled_from(["byte", "char"]), st.integers(1, 4))
def test_runners_up_are_what_the_reference_has_next(
    corpus: list[str], ties: Ties, limits: dict[str, int], unit: Any, number: int
) -> None:
    base = reference.BYTES if unit == "byte" else reference.characters(corpus)
    options = sized(limits, base)
    words = reference.words([t.encode() if unit == "byte" else t for t in corpus], base)
    trained = reference.train(words, base, ties=ties, **options)
    told: list[Merge] = []
    tok = digram.train(
        corpus,
        pretokenizer=None,
        unit=unit,
        ties=ties,
        runners_up=number,
        on_merge=told.append,
        **options,
    )
    found = [[(p.left, p.right, p.count) for p in merge.runners_up] for merge in tok.merge_log]
    assert found == came_next(words, base, trained, ties, number, options)
    assert told == tok.merge_log


@cases(300)
@given(any_corpora, ties, st.integers(1, 9))
def test_looking_at_what_comes_next_changes_nothing(
    corpus: list[str], ties: Ties, number: int
) -> None:
    options: dict[str, Any] = {"max_merges": 12, "ties": ties}
    tok = digram.train(corpus, runners_up=number, **options)
    plain = digram.train(corpus, **options)
    assert tok == plain
    assert [m.count for m in tok.merge_log] == [m.count for m in plain.merge_log]
    for merge in tok.merge_log:
        assert merge.count is not None
        counts = [merge.count, *(pair.count for pair in merge.runners_up)]
        assert counts == sorted(counts, reverse=True)
        assert len(merge.runners_up) <= number


@cases(100)
@given(
    prose,
    st.sampled_from(
        [
            {},
            {"special_first": True},
            {"unit": "char", "on_unknown": "bytes"},
            {"reserve": {"a": 3}},
        ]
    ),
)
def test_it_is_saved_and_loaded(corpus: list[str], options: dict[str, Any]) -> None:
    tok = digram.train(corpus, max_merges=9, special_tokens=["<s>"], runners_up=2, **options)
    data = huggingface.dumps(tok.definition)
    again = digram.Tokenizer(huggingface.loads(data))
    assert again.merge_log == tok.merge_log
    assert again.training == tok.training
    assert huggingface.dumps(again.definition) == data
    assert digram.Tokenizer._of(huggingface.compact(data)).merge_log == tok.merge_log


def test_files_without_runners_up_stay_as_they_were() -> None:
    file = json.loads(huggingface.dumps(digram.train("banana", max_merges=2).definition))
    own = file["model"]["digram"]
    assert "runners_up" not in own["training"]
    assert huggingface.loads(json.dumps(file).encode()).training.runners_up is None  # type: ignore[union-attr]


def test_bytes_and_final_ids_with_special_tokens_first() -> None:
    tok = digram.train(
        "banana", max_merges=1, pretokenizer=None, runners_up=1,
        special_tokens=["<s>"], special_first=True,
    )  # fmt: skip
    assert tok.merge_log[0].runners_up == (RunnerUp(b"n", b"a", 2),)
    assert tok.training is not None
    assert tok.training.runners_up == [[(111, 98, 2)]]


@pytest.mark.parametrize(
    "value",
    [5, [], [[1]], [[[97, 98]]], [[[97, 98, "2"]]], [[[97, 98, 2, 2]]], [[[97, 9999, 2]]]],
)
def test_damaged_files(value: Any) -> None:
    tok = digram.train("banana", max_merges=1, runners_up=1)
    file = json.loads(huggingface.dumps(tok.definition))
    file["model"]["digram"]["training"]["runners_up"] = value
    with pytest.raises(CorruptFileError, match="runners_up"):
        huggingface.loads(json.dumps(file).encode())


@pytest.mark.parametrize("value", [5, [], ["en"], ["en", 7], ["en", "sw", "sw"]])
def test_damaged_languages(value: Any) -> None:
    tok = digram.train_fair({"en": "banana", "sw": "paka"}, max_merges=2)
    file = json.loads(huggingface.dumps(tok.definition))
    file["model"]["digram"]["training"]["languages"] = value
    with pytest.raises(CorruptFileError, match="languages"):
        huggingface.loads(json.dumps(file).encode())


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(OptionError, match="runners_up=-1 is not at least 0"):
        digram.train("banana", max_merges=1, runners_up=-1)


def test_an_error_in_the_callback_comes_through() -> None:
    def stop(merge: Merge) -> None:
        raise LookupError(merge.rank)

    with pytest.raises(LookupError, match="0"):
        digram.train("banana", max_merges=2, runners_up=1, on_merge=stop)


# --- the alphabet


def kept(corpus: list[str], limit: int) -> list[bytes]:
    """The most frequent characters, by counting them."""
    counts: dict[str, int] = {}
    for character in "".join(corpus):
        counts[character] = counts.get(character, 0) + 1
    best = sorted(counts, key=lambda character: (-counts[character], character))[:limit]
    return [character.encode() for character in sorted(best)]


@cases(300)
@given(any_corpora, st.integers(1, 6), ties, st.sampled_from([None, "whitespace"]))
def test_the_most_frequent_characters_are_kept(
    corpus: list[str], limit: int, ties: Ties, pretokenizer: str | None
) -> None:
    tok = digram.train(
        corpus,
        max_merges=5,
        unit="char",
        limit_alphabet=limit,
        on_unknown=SpecialToken("<unk>"),
        ties=ties,
        pretokenizer=pretokenizer,
    )
    base = kept(corpus, limit)
    assert tok.definition.tokens[: len(base)] == base
    named = digram.train(
        corpus,
        max_merges=5,
        unit="char",
        alphabet=[character.decode() for character in base],
        on_unknown=SpecialToken("<unk>"),
        ties=ties,
        pretokenizer=pretokenizer,
    )
    assert tok == named


def test_other_characters_are_unknown() -> None:
    options: dict[str, Any] = {"max_merges": 1, "unit": "char", "limit_alphabet": 2}
    tok = digram.train("ababé", on_unknown=SpecialToken("<unk>"), **options)
    assert tok.tokens(tok.encode("abé")) == [b"ab", b"<unk>"]
    tok = digram.train("ababé", on_unknown="bytes", **options)
    assert tok.tokens(tok.encode("é")) == [b"\xc3", b"\xa9"]


def test_the_alphabet_is_that_of_hugging_face(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    text = "".join(chr(97 + i) * (i + 1) for i in range(20)) + " "  # no two as frequent
    for limit in (1, 5, 19):
        theirs = Tokenizer(models.BPE())
        theirs.pre_tokenizer = pre_tokenizers.Whitespace()
        theirs.train_from_iterator(
            [text],
            trainers.BpeTrainer(vocab_size=limit, limit_alphabet=limit, show_progress=False),
        )
        ours = digram.train(
            text.strip(),
            max_merges=0,
            unit="char",
            limit_alphabet=limit,
            on_unknown=SpecialToken("<unk>"),
            pretokenizer=None,
        )
        assert sorted(theirs.get_vocab()) == [t.decode() for t in ours.tokens(range(limit))]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"limit_alphabet": 5}, r'limit_alphabet= applies only to unit="char"'),
        ({"limit_alphabet": 5, "unit": "char", "alphabet": "ab"}, "selects them"),
        ({"limit_alphabet": 0, "unit": "char"}, "limit_alphabet=0 is not at least 1"),
        ({"limit_alphabet": 1, "unit": "char"}, r"leaves out 1 character of the corpus: 'b' \(U"),
        (
            {"alphabet": "xyz", "unit": "char"},
            r"'a' \(U\+0061\), 'b' \(U\+0062\)\. .* Add them to a",
        ),
    ],
)
def test_alphabets_that_make_no_sense(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        digram.train("ab", max_merges=1, **options)
