"""Pruning of WordPiece and Unigram: the least used tokens go, and no text becomes unknown."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases
from vocabularies import CORPUS

import digram
from digram.formats.sentencepiece import loads
from digram.reference import scores as by_scores


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


TOKENIZERS = {
    "wordpiece": digram.train(CORPUS, max_merges=90, model="wordpiece", special_tokens=["[PAD]"]),
    "special first": digram.train(
        CORPUS, max_merges=60, model="wordpiece", special_first=True, pad_to_multiple=64
    ),
    "unigram": of_scores("unigram", vocab_size=150),
    "unigram with bytes": of_scores("unigram", vocab_size=420, byte_fallback=True),
}
texts = st.lists(st.sampled_from([*CORPUS.split(" "), *"lowe 12é"]), max_size=8).map(" ".join)


def several_characters(tok: digram.Tokenizer) -> dict[int, bytes]:
    """The ordinary tokens of more than one character, by their ids."""
    fixed = {*(tok.definition.byte_ids or ()), *getattr(tok.definition.model, "user_defined", ())}
    is_word = tok._settings.kernel.kind == "wordpiece"
    found = {}
    for id, token in enumerate(tok.definition.tokens):
        text = (token or b"").decode(errors="replace")
        letters = text.removeprefix(" ") if is_word else text
        if id not in fixed and len(letters) > 1:
            found[id] = token or b""
    return found


@pytest.mark.parametrize("name", TOKENIZERS)
@cases(60)
@given(corpus=st.lists(texts, max_size=4), share=st.floats(0, 1), text=texts)
def test_the_least_used_go(name: str, corpus: list[str], share: float, text: str) -> None:
    tok = TOKENIZERS[name]
    free = several_characters(tok)
    number = round(share * len(free))
    uses = Counter(id for one in corpus for id in tok.encode(one))
    small, change = digram.prune(tok, corpus, remove=number)
    holes, same = digram.prune(tok, corpus, remove=number, compact=False)
    expected = {*sorted(free, key=lambda one: (uses[one], -one))[:number]}
    assert {*change.removed} == {*same.removed} == expected
    assert change.added == same.added == []
    assert (small.vocab_size == tok.vocab_size - number) or tok.reserved
    # Both are the same, but for the ids.
    new = digram.Change.of(holes, small).id_map
    assert new[holes.encode(text)].tolist() == small.encode(text)
    # What remains is what encodes, and nothing is unknown that was not.
    left = [token for id, token in enumerate(tok.definition.tokens) if id not in expected]
    assert [token for token in small.definition.tokens if token] == [one for one in left if one]
    unknown = tok.special_tokens[tok.on_unknown.text] if tok.on_unknown != "bytes" else -1  # type: ignore[union-attr]
    there = [id for id in tok.encode(text) if id == unknown]
    gone = [id for id in holes.encode(text) if id == unknown]
    assert gone == there


def test_it_is_encoded_as_the_specification_says() -> None:
    tok = TOKENIZERS["unigram"]
    holes, _ = digram.prune(tok, "low lower", remove=10, compact=False)
    model: Any = holes.definition.model
    scores = {
        token.decode(): score
        for token, score in zip(holes.definition.tokens, model.scores, strict=False)
        if token is not None and score is not None
    }
    for text in ["lower", "the slow low", "is a number"]:
        given = "".join(holes.pretokenize(text))
        expected = by_scores.segment(given, scores, model.unknown, by_scores.single)
        assert [one.decode() for one in holes.tokens(holes.encode(text))] == expected


@pytest.mark.parametrize("name", TOKENIZERS)
def test_sizes_keep_and_files(name: str, tmp_path: Path) -> None:
    tok = TOKENIZERS[name]
    kept = max(several_characters(tok))
    small, change = digram.prune(tok, CORPUS, remove=5, keep=[kept])
    assert kept not in change.removed
    small.save(tmp_path / "small.json", format="digram")
    assert digram.load(tmp_path / "small.json") == small
    counts = digram.count_pretokens(CORPUS, pretokenizer=tok.pretokenizer, unit="char")
    assert digram.prune(tok, counts, remove=5, keep=[kept])[0] == small
    if not tok.reserved:
        assert digram.prune(tok, CORPUS, vocab_size=small.vocab_size, keep=[kept])[0] == small
    with pytest.raises(digram.OptionError, match="tokens cannot be removed: only"):
        digram.prune(tok, CORPUS, remove=1000)
    assert digram.prune(tok, CORPUS, remove=0)[0] == tok


def test_a_token_with_a_character_that_is_none_stays() -> None:
    definition = digram.Definition(
        tokens=[b"a", b"b", b"ab", b"xy", b"bx"],
        model=digram.UnigramModel([-1.0, -1.5, -2.0, -3.0, -4.0], unknown=-12.0),
        pretokenizer=digram.Pretokenizer(None),
        special_tokens={"<unk>": 5},
        unit="char",
        on_unknown=digram.SpecialToken("<unk>"),
    )
    tok = digram.Tokenizer(definition)
    small, change = digram.prune(tok, "xyab", remove=1)
    assert change.removed == [2]
    assert small.definition.model.scores == [-1.0, -1.5, -3.0, -4.0]  # type: ignore[attr-defined]
    with pytest.raises(digram.OptionError, match="only 1 have several characters"):
        digram.prune(tok, "xyab", remove=2)


def test_other_models_are_refused() -> None:
    tok = of_scores("bpe", vocab_size=120)
    with pytest.raises(digram.OptionError, match="of the kind 'scored'"):
        digram.prune(tok, CORPUS, remove=1)
    words = replace(TOKENIZERS["wordpiece"].definition, training=None)
    assert digram.prune(digram.Tokenizer(words), CORPUS, remove=3)[0].training is None


@pytest.mark.parametrize("name", TOKENIZERS)
def test_what_is_left_is_saved_and_read(name: str, tmp_path: Path) -> None:
    """Also where the highest ids have no token any more."""
    tok = TOKENIZERS[name]
    for number in range(1, len(several_characters(tok)), 3):
        holes, _ = digram.prune(tok, "low lower", remove=number, compact=False)
        holes.save(tmp_path / "holes.json", format="digram")
        assert digram.load(tmp_path / "holes.json") == holes
