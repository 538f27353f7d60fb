"""Explanations of models without merges: the tokens of `encode`, and what decided each."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases
from vocabularies import CORPUS

import digram
from digram.formats.sentencepiece import loads


def of_scores(kind: str, **options: Any) -> digram.Tokenizer:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS.split("\n") * 9),
        model_writer=model,
        model_type=kind,
        hard_vocab_limit=False,
        minloglevel=2,
        user_defined_symbols=["<ud>"],
        **options,
    )
    return digram.Tokenizer(loads(model.getvalue()))


WORDS = digram.train(CORPUS, max_merges=90, model="wordpiece", special_tokens=["[CLS]"])
TOKENIZERS = {
    "wordpiece": WORDS,
    "unigram": of_scores("unigram", vocab_size=150),
    "unigram with bytes": of_scores("unigram", vocab_size=420, byte_fallback=True),
}
texts = st.lists(
    st.sampled_from([*CORPUS.split(" "), "[CLS]", "<ud>", "##lo", "q", "e\u0301", "ж", "\t", "🙂"]),
    max_size=8,
).map(" ".join)


@pytest.mark.parametrize("special", ["text", "parse"])
@pytest.mark.parametrize("name", TOKENIZERS)
@cases(120)
@given(text=texts)
def test_the_tokens_are_those_of_encode(name: str, special: Any, text: str) -> None:
    tok = TOKENIZERS[name]
    found = digram.explain(tok, text, special=special)
    assert found.ids == tok.encode(text, special=special)
    assert found.tokens == tok.tokens(found.ids)
    assert b"".join(one.pretoken for one in found.chosen) == found.text
    assert str(found)
    assert found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["ids"] == found.ids
    known = {token for id, token in enumerate(tok.definition.tokens) if token}
    for one in found.chosen:
        if one.how == "longest":
            assert b"".join(one.tokens) in (one.pretoken, one.pretoken.removeprefix(b" ##"))
            for choice in one.choices:
                assert known.issuperset(choice.others)
                assert all(choice.token.startswith(other) for other in choice.others)
                sizes = [len(choice.token), *map(len, choice.others)]
                assert sizes == sorted(set(sizes), reverse=True)
        elif one.how == "scores" and one.sum is not None:
            # Sums in single precision may differ in the order of nearly equal ones.
            assert all(other.sum <= one.sum + 1e-3 for other in one.alternatives)
            scores = [choice.score for choice in one.choices]
            if None not in scores:
                assert one.sum == pytest.approx(sum(score for score in scores if score is not None))


def test_why_a_word_is_unknown() -> None:
    (one,) = digram.explain(WORDS, "lowq").chosen
    assert (one.how, one.reason) == ("unknown", "no token fits at 'q', character 4")
    (one,) = digram.explain(WORDS, "l" * 101).chosen
    assert one.reason == "it has more than 100 characters"


def test_it_is_printed() -> None:
    tok = digram.train("low low lower", max_merges=4, model="wordpiece", special_tokens=["[CLS]"])
    shown = str(digram.explain(tok, "lower [CLS] lox", special="parse"))
    assert "[·lower] the longest token that fits; shorter: [·low] [·lo] [·l]\n" in shown
    assert "[o] the only token that fits\n" in str(digram.explain(tok, "loo"))
    assert "[[CLS]] a special token\n" in shown
    assert "[[UNK]] the whole word is unknown: no token fits at 'x', character 3" in shown
    scored = str(digram.explain(TOKENIZERS["unigram"], "low"))
    assert scored.count("next: ") > 0
    assert ", sum -" in scored


def test_bpe_by_scores_is_refused() -> None:
    with pytest.raises(digram.OptionError, match="explain needs the merges of a BPE tokenizer"):
        digram.explain(of_scores("bpe", vocab_size=120), "low")
