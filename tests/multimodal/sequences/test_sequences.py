"""Sequences of numbers: merged as text of as many characters would be, and every number back."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram import reference
from digram.multimodal.sequences import Alphabet
from digram.multimodal.sequences.alphabet import MAX_SYMBOLS

symbols = st.sampled_from(
    [[0, 1], [0, 1, 2, 3], [7, 40_000, 70_000, 2**32 - 1], [0, 55_039, 55_040]]
)
"""Few, so that pairs come again; with gaps, of all sizes, and beside the surrogates."""

corpora = symbols.flatmap(
    lambda some: st.tuples(
        st.just(some),
        st.lists(st.lists(st.sampled_from(some), max_size=24), min_size=1, max_size=5),
    )
)


@cases(250)
@given(corpus=corpora, merges=st.integers(0, 12), seed=st.integers(0, 9))
def test_merges_are_those_of_the_reference(
    corpus: tuple[list[int], list[list[int]]], merges: int, seed: int
) -> None:
    """Which knows nothing of characters: words of ids, a base of so many symbols."""
    some, sequences = corpus
    tok = digram.train_ids(sequences, max_merges=merges, symbols=some)
    places = [[some.index(one) for one in sequence] for sequence in sequences]
    base = [bytes([number]) for number in range(len(some))]
    expected = reference.train([(word, 1) for word in places], base, max_merges=merges)
    assert tok.merges == [(a, b, id) for (a, b), id in expected.merges.items()]
    assert tok.tokenizer.training is not None
    assert tok.tokenizer.training.counts == expected.counts
    for sequence, word in zip(sequences, places, strict=True):
        ids = tok.encode_ids(sequence)
        assert ids == reference.encode(word, expected.merges)
        assert tok.count_ids(sequence) == len(ids)
        assert tok.decode_ids(ids).tolist() == sequence
        assert [one for part in tok.symbols(ids) for one in part] == sequence
        assert [len(part) for part in tok.symbols(ids)] == [len(expected.tokens[id]) for id in ids]
    flat = tok.encode_batch(sequences)
    assert flat.ids.tolist() == [id for one in sequences for id in tok.encode_ids(one)]


@cases(100)
@given(corpus=corpora, data=st.data())
def test_weights_repeat(corpus: tuple[list[int], list[list[int]]], data: st.DataObject) -> None:
    some, sequences = corpus
    weights = [data.draw(st.integers(0, 3)) for _ in sequences]
    repeated = [one for one, n in zip(sequences, weights, strict=True) for _ in range(n)]
    weighed = digram.train_ids(sequences, max_merges=8, symbols=some, weights=weights)
    assert weighed == digram.train_ids(repeated, max_merges=8, symbols=some)


@pytest.mark.parametrize("corpus", ["rows", "codes"])
def test_hugging_face_learns_the_same(corpus: str, tmp_path: Path) -> None:
    """Its trainer on the characters of the symbols; and its encoder reads what is saved."""
    source = np.random.default_rng(7)
    if corpus == "rows":
        sequences = source.poisson(3, (40, 300))
    else:
        sequences = (source.random((3, 20_000)) ** 3 * 1024).astype(np.int64)
    size = int(sequences.max()) + 1
    tok = digram.train_ids(sequences, vocab_size=size + 200, symbols=size)
    texts = [tok.alphabet.text(one) for one in sequences]
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=size + 200,
        initial_alphabet=tok.alphabet.characters(),
        show_progress=False,
        limit_alphabet=size,
    )
    theirs.train_from_iterator(texts, trainer)
    merges = json.loads(theirs.to_str())["model"]["merges"]
    ours = [tuple(part.decode() for part in merge) for merge in tok.tokenizer.merges]
    assert [tuple(merge) for merge in merges] == ours
    for text, sequence in zip(texts, sequences, strict=True):
        assert theirs.encode(text).ids == tok.encode_ids(sequence)
    tok.save(tmp_path / "tok.json")
    saved = json.loads((tmp_path / "tok.json").read_text(encoding="utf-8"))["tokenizer"]
    again = tokenizers.Tokenizer.from_str(json.dumps(saved))
    assert again.encode(texts[0]).ids == tok.encode_ids(sequences[0])


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i8", ">u2"])
def test_any_integers(dtype: str) -> None:
    sequence = [1, 2, 1, 2, 100, 2, 1]
    tok = digram.train_ids([sequence], max_merges=2)
    ids = tok.encode_ids(sequence)
    assert tok.encode_ids(np.array(sequence, dtype)) == ids
    assert tok.encode_ids(tuple(sequence)) == ids
    assert tok.encode_ids([*np.array(sequence[:3], dtype), *np.array(sequence[3:], "i8")]) == ids
    decoded = tok.decode_ids(np.array(ids))
    assert decoded.dtype == np.uint32
    assert decoded.tolist() == sequence
    assert digram.train_ids(np.array([sequence], dtype), max_merges=2) == tok
    assert tok.encode_ids([]) == []
    assert tok.decode_ids([]).tolist() == []


def test_as_many_symbols_as_there_can_be() -> None:
    alphabet = Alphabet.of(MAX_SYMBOLS)
    text = alphabet.text(np.arange(MAX_SYMBOLS))
    assert len(set(text)) == MAX_SYMBOLS
    assert alphabet.sequence(text).tolist() == [*range(MAX_SYMBOLS)]
    tok = digram.train_ids([[0, MAX_SYMBOLS - 1] * 3], max_merges=1, symbols=MAX_SYMBOLS)
    assert tok.merges == [(0, MAX_SYMBOLS - 1, MAX_SYMBOLS)]


def test_it_is_a_value(tmp_path: Path) -> None:
    tok = digram.train_ids([[5, 900, 5, 900, 7]], max_merges=2, special_tokens=["<end>"])
    assert tok.tokenizer.special_tokens == {"<end>": 5}
    assert tok.vocab_size == 6
    for other in (copy.deepcopy(tok), pickle.loads(pickle.dumps(tok))):
        assert other == tok
        assert hash(other) == hash(tok)
    assert tok != tok.shrink(5)
    assert tok != digram.train_ids([[5, 901, 5, 901, 7]], max_merges=2, special_tokens=["<end>"])
    assert tok.shrink(5) == digram.train_ids(
        [[5, 900, 5, 900, 7]], max_merges=1, special_tokens=["<end>"]
    )
    assert repr(tok) == "<digram.SequenceTokenizer: 6 ids over 3 symbols>"
    assert repr(tok.alphabet) == "<digram.Alphabet: 3 symbols up to 900>"
    with pytest.raises(AttributeError):
        tok.alphabet = Alphabet.of(3)
    tok.save(tmp_path / "tok.json")
    again = digram.SequenceTokenizer.load(tmp_path / "tok.json")
    assert again == tok
    assert again.digest == tok.digest
    assert again.tokenizer.training == tok.tokenizer.training


def test_special_tokens_stand_for_no_symbol() -> None:
    tok = digram.train_ids([[5, 9, 5, 9]], max_merges=1, special_tokens=["<a>", "<b>"])
    assert tok.tokenizer.special_tokens == {"<a>": 3, "<b>": 4}
    ids = [3, 2, 4, 4, 0]
    for form in (ids, tuple(ids), np.array(ids), np.array(ids, "u1")):
        assert tok.decode_ids(form, skip_special_tokens=True).tolist() == [5, 9, 5]
        assert tok.symbols(form) == [(), (5, 9), (), (), (5,)]
        with pytest.raises(digram.TokenIdError) as told:
            tok.decode_ids(form[1:])
        assert (told.value.index, told.value.value) == (1, 4)
        assert "ids[1] = 4 is the special token '<b>'" in str(told.value)
        assert "skip_special_tokens=True" in str(told.value)
    assert tok.decode_ids([2, 0]).tolist() == [5, 9, 5]
    assert tok.decode_ids([3], skip_special_tokens=True).tolist() == []
    assert tok.decode_ids([]).tolist() == []
    for skip in (False, True):
        with pytest.raises(digram.TokenIdError, match=r"ids\[2\] = 5 is not in this vocabulary"):
            tok.decode_ids([3, 2, 5], skip_special_tokens=skip)


def test_special_tokens_are_not_spelled_as_symbols_are() -> None:
    """They would be read as them where a file knows tokens by their text."""
    for spelled, said in (("Ā", r"\[5\]"), ("āĀ", r"\[9, 5\]")):
        with pytest.raises(digram.OptionError, match=rf"special_tokens\[1\] = .* symbols {said}"):
            digram.train_ids([[5, 9]], max_merges=0, special_tokens=["<a>", spelled])
    tok = digram.train_ids([[5, 9]], max_merges=0, special_tokens=["Ă", "<Ā>"])
    assert tok.symbols([2, 1, 3]) == [(), (9,), ()]
    with pytest.raises(TypeError, match="put a single one in a list"):
        digram.train_ids([[5, 9]], max_merges=0, special_tokens="Ā")


def test_files_that_are_not_whole(tmp_path: Path) -> None:
    tok = digram.train_ids([[1, 2, 1, 2]], max_merges=1)
    path = tmp_path / "tok.json"
    tok.save(path)
    whole = json.loads(path.read_text(encoding="utf-8"))
    wrongs: list[Any] = [
        [],
        {},
        whole | {"version": 2},
        whole | {"symbols": [1, 3]},
        whole | {"digest": "0"},
        {name: whole[name] for name in whole if name != "tokenizer"},
        whole | {"tokenizer": 1},
    ]
    symbols: list[Any] = [0, -1, 10**9, 1.5, None, True, "12", {}]
    symbols += [[], [-1], [[1], [2, 3]], [2**70], [1, 2**63, -1]]
    wrongs += [whole | {"symbols": one} for one in symbols]
    tokenizer = whole["tokenizer"]
    for part, one in (("model", {}), ("model", [1]), ("added_tokens", {}), ("added_tokens", [1])):
        wrongs.append(whole | {"tokenizer": tokenizer | {part: one}})
    for vocab in ({"a": 0, "b": 0}, {"a": -1}, {"a": 2**40}, {"a": 0, "bb": 1}):
        model = {"type": "BPE", "vocab": vocab, "merges": []}
        wrongs.append(whole | {"tokenizer": tokenizer | {"model": model}})
    texts = [*map(json.dumps, wrongs)]
    saved = path.read_text(encoding="utf-8")
    texts += ["", "{", "[" * 100_000, "9" * 5_000, "\ufeff" + saved, saved[:-9], saved + "}"]
    texts += [saved.replace('"version"', '"symbols": 2, "version"')]
    for text in texts:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(digram.CorruptFileError) as told:
            digram.SequenceTokenizer.load(path)
        assert told.value.path == str(path)
        assert str(told.value).startswith(f"{path}")


def test_faults() -> None:
    tok = digram.train_ids([[1, 2, 1, 2]], max_merges=1)
    with pytest.raises(digram.InvalidTextError, match=r"sequence\[1\] = 3 is none of the 2"):
        tok.encode_ids([1, 3])
    with pytest.raises(digram.InvalidTextError, match=r"sequences\[1\]\[0\] = 9 is none"):
        tok.encode_batch([[1], [9]])
    with pytest.raises(digram.InvalidTextError, match=r"sequence\[0\] = -1 is not an unsigned"):
        tok.encode_ids([-1])
    with pytest.raises(digram.InvalidTextError, match=r"\[0\] = 4294967296 is not an unsigned"):
        tok.encode_ids([2**32])
    out_of_range: list[tuple[list[Any], int, int]] = [
        ([-1, 2**63], 0, -1),
        ([1, 2**63, -1], 1, 2**63),
        ([1, 2, 2**70], 2, 2**70),
        ([1, np.uint64(2), -(2**70)], 2, -(2**70)),
    ]
    for numbers, at, number in out_of_range:
        with pytest.raises(digram.InvalidTextError, match="not an unsigned 32-bit integer") as told:
            tok.encode_ids(numbers)
        assert (told.value.index, told.value.value) == (at, number)
        assert f"sequence[{at}] = {number} is" in str(told.value)
    with pytest.raises(digram.TokenIdError):
        tok.decode_ids([3])
    wrong: list[Any] = ["12", b"12", [1.5], [[1, 2]], np.ones((2, 2), int), ["a"], 5, None]
    wrong += [[[1], [2, 1]], [1, None]]
    for one in wrong:
        with pytest.raises(TypeError, match=r"^sequence "):
            tok.encode_ids(one)
    none: list[Any] = [[1, 2, 3], np.array([1, 2, 3])]
    for one in none:
        with pytest.raises(TypeError, match=r"sequences\[0\] is an int; pass a list of sequences"):
            digram.train_ids(one, max_merges=1)
        with pytest.raises(TypeError, match=r"sequences\[0\] is an int; pass a list of sequences"):
            tok.encode_batch(one)
    with pytest.raises(digram.OptionError, match="the sequences are empty"):
        digram.train_ids([[], []], max_merges=1)
    with pytest.raises(digram.OptionError, match="are not between 1 and"):
        digram.train_ids([[0]], max_merges=1, symbols=MAX_SYMBOLS + 1)
    counted: list[tuple[Any, str]] = [
        (-5, "-5"),
        (np.int64(-5), "-5"),
        (3_000_000, "3,000,000"),
        (np.arange(MAX_SYMBOLS + 1), f"{MAX_SYMBOLS + 1:,}"),
    ]
    for many, said in counted:
        with pytest.raises(digram.OptionError, match=f"symbols: {said} symbols are not"):
            Alphabet.of(many)
    with pytest.raises(digram.OptionError, match="only 1 weights"):
        digram.train_ids([[0], [1]], max_merges=1, weights=[1])
    with pytest.raises(digram.OptionError, match="leaves no room"):
        digram.train_ids([[0, 1]], vocab_size=2)


@pytest.mark.parametrize(("size", "each"), [(1_792, 32), (1_793, 48), (63_233, 64)])
def test_a_limit_of_memory_needs_room_for_the_longest_sequence(size: int, each: int) -> None:
    """About 20 MiB, and so many bytes for each of its symbols, as the page says."""
    sequence = np.full(400_000, size - 1)
    room = (20 << 20) + each * len(sequence)
    tok = digram.train_ids([sequence], max_merges=1, symbols=size, memory_limit=room * 21 // 20)
    assert tok.merges == [(size - 1, size - 1, size)]
    with pytest.raises(digram.OptionError, match="raise the limit"):
        digram.train_ids([sequence], max_merges=1, symbols=size, memory_limit=room * 19 // 20)
