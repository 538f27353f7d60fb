"""Added tokens that are found in all text are left out of the text that `extend` counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram import Matching, _core
from digram.analysis.explain.pieces import pieces
from digram.pretokenizers import NFC, Lowercase, Prepend, Pretokenizer, Regex, Replace, Strip, Words
from digram.shards.borders import border_of

ADDED = {
    "<tool>": Matching(always=True),
    "  ": Matching(always=True, normalized=True),
    "ab": Matching(always=True, single_word=True),
    "é ": Matching(always=True, normalized=True),
    "<l>": Matching(always=True, lstrip=True, rstrip=True),
    "<s>": Matching(),
    "</s>": Matching(lstrip=True),
}
MARKED = Words((Regex(r"\s+"),), removed=Regex(r"\s"), prefix=" ")
PRETOKENIZERS: dict[str, Any] = {
    "gpt2": "gpt2",
    "o200k": "o200k",
    "none": None,
    "nfc": Pretokenizer("gpt2", normalizer=NFC()),
    "prepend": Pretokenizer("gpt2", normalizer=[Lowercase(), Prepend("_")]),
    "strip": Pretokenizer("gpt2", normalizer=Strip()),
    "words": Pretokenizer("gpt2", normalizer=[NFC(), MARKED]),
}
texts = st.lists(
    st.sampled_from([*ADDED, "a", "b", " ", "e\u0301", "é", "\n", "E", "cat", "12", ".", "\u0301"]),
    max_size=30,
).map("".join)


def made(pretokenizer: Any, added: dict[str, Matching] = ADDED) -> digram.Tokenizer:
    text = "a cat sat é on ab <tool> the mat " * 3
    tok = digram.train(text, max_merges=9, pretokenizer=pretokenizer)
    tok = tok.with_special_tokens([*added])
    return digram.Tokenizer(replace(tok.definition, matching=added))


TOKENIZERS = {name: made(pretokenizer) for name, pretokenizer in PRETOKENIZERS.items()}


def counted(tok: digram.Tokenizer, batch: list[str], threads: int = 1) -> Counter[bytes]:
    counter = _core.Counter(tok.pretokenizer.splitter(), between=tok)
    counter.add([text.encode() for text in batch], threads)
    counts = counter.finish()
    found = Counter(dict(counts.items(0, len(counts))))
    assert counts.pretokens == found.total()
    return found


def expected(tok: digram.Tokenizer, batch: list[str]) -> Counter[bytes]:
    """The pretokens of what `encode` gives, in which added tokens have ids of their own."""
    every = (piece for text in batch for piece in pieces(tok, text, "text"))
    return Counter(piece.text for piece in every if not piece.is_special)


@pytest.mark.parametrize("name", TOKENIZERS)
@cases(150)
@given(batch=st.lists(texts, max_size=4))
def test_what_is_counted_is_what_is_encoded_beside_added_tokens(
    name: str, batch: list[str]
) -> None:
    tok = TOKENIZERS[name]
    assert counted(tok, batch) == expected(tok, batch)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_long_texts_are_divided_beside_added_tokens(name: str) -> None:
    tok = TOKENIZERS[name]
    text = "the cat<tool>sat  on é <l> the\nmat ab 12</s>" * 20_000
    alone = counted(tok, [text])
    assert counted(tok, [text], threads=3) == alone
    assert not {token.encode() for token in ("<tool>", "<l>", "ab")} & {*alone} - {b"ab"}


@pytest.mark.parametrize("name", TOKENIZERS)
@cases(200)
@given(text=texts, start=st.integers(0, 3))
def test_a_border_changes_no_ids(name: str, text: str, start: int) -> None:
    tok, data = TOKENIZERS[name], text.encode()
    at = border_of(tok, "text")(data, start)
    if at:
        assert tok.encode(data[:at]) + tok.encode(data[at:]) == tok.encode(data)


def test_a_document_longer_than_a_batch_keeps_its_added_tokens(tmp_path: Path) -> None:
    """It is read in parts, which were cut inside added tokens."""
    tok = made("gpt2", {"<a b>": Matching(always=True)})
    (tmp_path / "long.txt").write_text("<a b>" * 9_000_000)
    digram.encode_files(
        tok, tmp_path / "long.txt", tmp_path / "ids", format="npy", end_of_text=None, progress=False
    )
    ids = digram.read_tokens(tmp_path / "ids").ids
    assert len(ids) == 9_000_000
    assert {*ids.tolist()} == {tok.special_tokens["<a b>"]}


def test_extending_learns_nothing_of_them() -> None:
    tok = made("gpt2", {"<tool>": Matching(always=True)})
    grown, change = digram.extend(tok, "<tool> dog<tool>dog <tool>" * 5, add=50)
    assert grown.tokens(change.added) == [b"do", b"dog", b" dog"]
    bounded, _ = digram.extend(tok, "<tool> dog<tool>dog <tool>" * 5, add=50, memory_limit="64 MB")
    assert bounded == grown


def test_extending_resumes_with_them(tmp_path: Path) -> None:
    tok = made("gpt2", {"<tool>": Matching(always=True)})
    corpus = ["<tool> dog<tool>dog <tool>" * 5] * 3
    few, _ = digram.extend(tok, corpus, add=1, checkpoint=tmp_path / "run")
    more, _ = digram.extend(tok, corpus, add=3, checkpoint=tmp_path / "run")
    assert more == digram.extend(tok, corpus, add=3)[0]
    assert more.merges[:-2] == few.merges


def test_text_of_other_special_tokens_is_warned_of() -> None:
    tok = made("gpt2", {"<tool>": Matching(always=True), "<s>": Matching()})
    with pytest.warns(UserWarning, match="contains the text of special tokens.*'<s>' 2 times"):
        digram.extend(tok, "<s> dog<tool>dog <s>", add=2)


@pytest.mark.parametrize("threads", [1, 2])
def test_places_are_those_in_normalized_text(threads: int) -> None:
    """A text that normalization makes much shorter, or longer, moves no other one."""
    shorter = Pretokenizer("gpt2", normalizer=Strip())
    texts = [f"{' ' * 3000}{word}" for word in ("b", "c", "a")] * 3
    counts = digram.count_pretokens(texts, pretokenizer=shorter, threads=threads)
    assert dict(counts.items()) == {b"b": 3, b"c": 3, b"a": 3}
    longer = Pretokenizer("gpt2", normalizer=Replace("x", " b c" * 99))
    texts = ["x", " a", " c d"]
    counts = digram.count_pretokens(texts, pretokenizer=longer, threads=threads)
    assert [*counts.items()] == [(b" b", 99), (b" c", 100), (b" a", 1), (b" d", 1)]


def test_a_corpus_of_much_white_space_can_be_trained_on() -> None:
    tok = digram.train([" " * 4000 + "low lower"] * 3, max_merges=3, model="wordpiece")
    assert tok.training is not None
    assert tok.training.bytes == 3 * len(" low lower")
