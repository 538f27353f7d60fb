"""Scores in a tokenizer.json have the values with which Hugging Face's libraries compute."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import digram
from digram.errors import VocabError
from digram.formats._numbers import read_number, written_number
from digram.formats.huggingface import dumps, loads
from digram.vocab.scores import UnigramModel, in_single

DIGITS = "0123456789"


def file_of(vocab: list[tuple[str, str]], **more: Any) -> str:
    """A tokenizer.json of names and the digits of their scores."""
    pairs = ",".join(f"[{json.dumps(name)},{digits}]" for name, digits in vocab)
    top = {"version": "1.0", "added_tokens": [], "decoder": {"type": "Fuse"}, **more}
    model = f'{{"type":"Unigram","unk_id":0,"byte_fallback":false,"vocab":[{pairs}]}}'
    return f'{json.dumps(top)[:-1]},"model":{model}}}'


def values_there(texts: list[str]) -> list[float]:
    """What the library reads."""
    file = file_of([(str(n), text) for n, text in enumerate(texts)])
    model = json.loads(Tokenizer.from_str(file).to_str())["model"]
    return [score for _, score in model["vocab"]]


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """JSON numbers of any length."""
    whole = st.text(DIGITS, min_size=1, max_size=24).map(lambda text: text.lstrip("0") or "0")
    whole |= st.sampled_from(["18446744073709551615", "18446744073709551616", "0"])
    fraction = st.text(DIGITS, min_size=1, max_size=30) | st.just("0" * 25 + "17")
    exponent = st.integers(-400, 280) | st.sampled_from([-(10**20), -(2**31), -308, -309])
    sign = draw(st.sampled_from(["", "-"]))
    found = f"{sign}{draw(whole)}.{draw(fraction)}"
    return f"{found}e{draw(exponent)}" if draw(st.booleans()) else found


@given(st.lists(numbers() | st.floats(-30.0, 0.0).map(repr), min_size=1, max_size=40))
def test_numbers_are_read_as_there(texts: list[str]) -> None:
    expected = [read_number(text) for text in texts]
    finite = [text for text, value in zip(texts, expected, strict=True) if math.isfinite(value)]
    assert values_there(finite) == [value for value in expected if math.isfinite(value)]
    for text, value in zip(texts, expected, strict=True):
        if not math.isfinite(value):
            with pytest.raises(Exception, match="number out of range"):
                values_there([text])


@given(st.lists(numbers(), min_size=1, max_size=40))
def test_what_was_read_is_written_so_that_it_is_read_again(texts: list[str]) -> None:
    read = [value for value in map(read_number, texts) if math.isfinite(value)]
    written = [written_number(value) for value in read]
    assert values_there([text for text in written if text is not None]) == read


def test_few_numbers_have_no_digits() -> None:
    rng = random.Random(5)
    values = [-rng.uniform(3.0, 20.0) for _ in range(20_000)]
    written = [written_number(value) for value in values]
    assert 0 < written.count(None) < 60
    kept = [(value, text) for value, text in zip(values, written, strict=True) if text]
    assert values_there([text for _, text in kept]) == [value for value, _ in kept]
    assert None not in [written_number(round(value, 12)) for value in values]


def test_scores_are_those_of_the_library() -> None:
    """The sums of these pieces are equal, but not those of the scores as they are read."""
    scores = {"j": "-10.266200065612793", "a": "-6.58721923828125", "aa": "-11.483551025390625"}
    assert (float(scores["j"]) + float(scores["a"])) + float(scores["aa"]) == (
        float(scores["j"]) + float(scores["aa"])
    ) + float(scores["a"])
    file = file_of([("<unk>", "0.0"), *scores.items()])
    ours, theirs = digram.Tokenizer(loads(file.encode())), Tokenizer.from_str(file)
    assert ours.encode("jaaa") == theirs.encode("jaaa").ids == [1, 3, 2]
    assert dumps(ours.definition) == dumps(loads(dumps(ours.definition)))
    assert loads(dumps(ours.definition)) == ours.definition
    again = Tokenizer.from_str(dumps(ours.definition).decode())
    assert again.encode("jaaa").ids == [1, 3, 2]
    assert digram.verify(ours, theirs, ["jaaa", "aaa"], fuzz=0, progress=False).equal


@pytest.mark.parametrize("seed", range(12))
def test_nearly_equal_sums_are_decided_as_there(seed: int) -> None:
    """Scores in the precision of SentencePiece, with all digits that double precision needs."""
    rng = random.Random(seed)
    singles = [repr(in_single(-rng.uniform(3.0, 16.0))) for _ in range(6)]
    names = {"".join(rng.choices("abc", k=rng.randint(1, 4))) for _ in range(24)} | set("abc")
    vocab = [("<unk>", "0.0"), *((name, rng.choice(singles)) for name in sorted(names))]
    file = file_of(vocab)
    ours, theirs = digram.Tokenizer(loads(file.encode())), Tokenizer.from_str(file)
    rewritten = Tokenizer.from_str(dumps(ours.definition).decode())
    assert loads(dumps(ours.definition)) == ours.definition
    for _ in range(400):
        text = "".join(rng.choices("abcx", [5, 5, 5, 1], k=rng.randrange(1, 30)))
        expected = theirs.encode(text).ids
        assert ours.encode(text) == rewritten.encode(text).ids == expected, text


def test_a_score_without_digits_is_refused() -> None:
    definition = loads(file_of([("<unk>", "0.0"), ("a", "-1.5"), ("b", "-2.25")]).encode())
    model = definition.model
    assert isinstance(model, UnigramModel)
    score = -15.380213361375489
    assert written_number(score) is None
    model = replace(model, scores=[0.0, score, -2.25], unknown=score - 10)
    with pytest.raises(VocabError, match=r"the score -15\.380213361375489 of the token 'a'"):
        dumps(replace(definition, model=model))
    own = dumps(replace(definition, model=model), own=True)
    assert loads(own).model == model


def test_scores_of_digrams_own_files_are_not_rounded() -> None:
    """The model decides how scores are read, even if a token of the file is named "Unigram"."""
    score = -10.266200065612793
    assert read_number(repr(score)) != score
    vocab = [("<unk>", "0.0"), ("Unigram", "-1.5"), ("b", "-2.25")]
    definition = loads(file_of(vocab).encode())
    model = definition.model
    assert isinstance(model, UnigramModel)
    model = replace(model, scores=[0.0, score, -2.25])
    own = dumps(replace(definition, model=model), own=True)
    assert b'"Unigram"' in own
    assert repr(score).encode() in own
    assert loads(own).model == model


def test_scores_are_those_of_the_library_in_files_that_do_not_name_the_model() -> None:
    vocab = [("<unk>", "0.0"), ("a", "-10.266200065612793"), ("b", "-2.25")]
    file = file_of(vocab)
    older = file.replace('"type":"Unigram",', "")
    assert "Unigram" not in older
    found = loads(older.encode())
    assert found == loads(file.encode())
    assert isinstance(found.model, UnigramModel)
    assert [*found.model.scores] == [0.0, *values_there([digits for _, digits in vocab[1:]])]
