"""The fewest tokens: ids are those of the reference, by every way to encode."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.reference import fewest
from digram.vocab.bpe import require_bpe
from digram.vocab.schemes import Fewest

TOKENS = st.lists(st.text("abcé", min_size=2, max_size=6), max_size=20, unique=True)
TEXTS = st.text("abcdé ", max_size=30)


UNKNOWN = digram.SpecialToken("<unk>")


def tokenizer(
    tokens: list[str], letters: str = "abcé ", on_unknown: Any = UNKNOWN
) -> digram.Tokenizer:
    return digram.Tokenizer(
        digram.Definition(
            tokens=[None, *(token.encode() for token in [*letters, *tokens])],
            model=digram.BpeModel([], scheme=Fewest()),
            pretokenizer=digram.Pretokenizer("whitespace"),
            special_tokens={"<unk>": 0},
            unit="char",
            on_unknown=on_unknown,
        )
    )


@cases(400)
@given(tokens=TOKENS, text=TEXTS, data=st.data())
def test_ids_are_those_of_the_reference(tokens: list[str], text: str, data: Any) -> None:
    tok, known = tokenizer(tokens), [*"abcé ", *tokens]
    ids = {token: id for id, token in enumerate(known, 1)}
    expected = [
        ids.get(part, 0)
        for pretoken in tok.pretokenize(text)
        for part in fewest.segment(pretoken, known)
    ]
    assert tok.encode(text) == expected
    assert tok.count(text) == len(expected)
    assert tok.encode_batch([text, text[::-1], text])[::2] == [expected, expected]
    at = data.draw(st.integers(0, len(text)))
    assert [*chain(*tok.encode_stream([text[:at], text[at:]]))] == expected
    counter = tok.counter(text[:at])
    counter.append(text[at:])
    assert int(counter) == len(expected)
    for maximum in range(len(expected) + 1):
        kept = tok.truncate(text, maximum)
        assert text.startswith(kept)
        assert tok.count(kept) <= maximum
    assert [text[a:b] for a, b in tok(text).offsets] == [
        part for pretoken in tok.pretokenize(text) for part in fewest.segment(pretoken, known)
    ]
    if "d" not in text:
        assert tok.decode(expected) == text


@cases(200)
@given(tokens=TOKENS, text=st.text("abc", max_size=7))
def test_no_segmentation_is_shorter(tokens: list[str], text: str) -> None:
    """Against all segmentations: the fewest tokens, and of these the greatest lengths."""
    known = {*"abc", *tokens}
    found = []
    for cuts in product([False, True], repeat=max(0, len(text) - 1)):
        ends = [at for at, cut in enumerate(cuts, 1) if cut] + [len(text)] * bool(text)
        parts = [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        if known.issuperset(parts):
            found.append(parts)
    best = min(found, key=lambda parts: (len(parts), [-len(part) for part in parts]))
    assert fewest.segment(text, known) == best


@cases(150)
@given(texts=st.lists(st.text("ab é\n", max_size=40), min_size=1), merges=st.integers(0, 30))
def test_of_bytes(texts: list[str], merges: int) -> None:
    greedy = digram.train(texts, max_merges=merges, pretokenizer="gpt2")
    tok = greedy.with_segmentation("fewest")
    assert (tok.vocab == greedy.vocab, tok == greedy) == (True, False)
    known = [token for token in greedy.definition.tokens if token is not None]
    for text in texts:
        expected = [
            part
            for pretoken in greedy.pretokenize(text.encode())
            for part in fewest.segment(pretoken, known)
        ]
        assert tok.tokens(tok.encode(text)) == expected
        assert tok.count(text) <= greedy.count(text)
        assert tok.decode(tok.encode(text)) == text


def test_unknown_characters() -> None:
    """A token that covers a character without a token of its own is taken, if it can be."""
    tok = tokenizer(["ad"], letters="abc")
    assert tok.encode("dad") == [0, 4]
    strict = tokenizer(["ad"], letters="abc", on_unknown="error")
    assert strict.encode("ad") == [4]
    with pytest.raises(digram.DigramError, match="'d'"):
        strict.encode("d")
    fallback = digram.train("ab ab", unit="char", on_unknown="bytes", max_merges=3)
    fewer = fallback.with_segmentation("fewest")
    assert fewer.encode("xé ab") == fallback.encode("xé ab")


def test_saved_and_loaded(tmp_path: Path) -> None:
    tok = digram.train("low low lower", max_merges=9, special_tokens=["<s>"])
    tok = tok.with_segmentation("fewest")
    tok.save(tmp_path / "t.json", format="digram")
    assert digram.load(tmp_path / "t.json") == tok
    assert tok.merges
    with pytest.raises(digram.VocabError, match="fewest"):
        tok.save(tmp_path / "t.json", format="huggingface")
    with pytest.raises(digram.OptionError, match="dropout needs merges"):
        tok.encode("a", dropout=0.5, seed=1)
    with pytest.raises(digram.OptionError, match=r"\(fewest\)"):
        tok.with_segmentation("fewest")
    with pytest.raises(digram.OptionError, match="segmentation"):
        tok.with_segmentation("merges")  # type: ignore[arg-type]
    words = digram.train("low low", model="wordpiece", max_merges=2)
    with pytest.raises(digram.OptionError, match="wordpiece"):
        words.with_segmentation("fewest")
    ignoring = digram.Tokenizer(
        replace(
            tok.definition,
            model=digram.BpeModel(require_bpe(tok.definition.model, "").merges, ignore_merges=True),
        )
    )
    assert ignoring.with_segmentation("fewest") == tok


def test_long_pretokens_take_linear_time() -> None:
    tok = digram.train("ab" * 50, max_merges=12, pretokenizer=None).with_segmentation("fewest")
    text = "ab" * 300_000
    assert tok.decode(tok.encode(text)) == text
