"""`digram.curve`, against the tokenizers of each size, which encode the text themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_corpora, any_tokenizers, cases, texts

import digram
from digram.analysis.metrics import Curve
from digram.vocab.reserved_ids import family

CHARACTERS = ("characters or bytes", "characters or unknown")
NAMES = ["gpt2", "cl100k", "o200k", "no pretokenizer", "whole pretokens", "banana", *CHARACTERS]
TOKENIZERS = {name: digram.Tokenizer(vocabularies.SAMPLES[name]) for name in NAMES}
TEXTS = ["the cat\tsat low lower", "", "naïve 中文字 中文", "slow slowest 12345", "xyzzy banana"]


def check(tok: digram.Tokenizer, batch: list[str], sizes: list[int] | None = None) -> Curve:
    """Every number is that of the tokenizer that `shrink` makes, which encodes the text anew."""
    found: Curve = digram.curve(tok, batch, sizes=sizes, width=3, threads=1)
    for point in found:
        small = digram.shrink(tok, point.vocab_size)
        each = digram.evaluate(small, batch, threads=1).total
        assert point.tokens == sum(small.count_batch(batch))
        length = point.tokens / len(batch) if batch else 0.0
        often = int((each.times >= 100).sum()) / each.vocab_size
        expected: dict[str, Any] = {
            "vocab_size": small.vocab_size,
            "tokens": each.tokens,
            "bytes_per_token": each.bytes_per_token,
            "tokens_per_document": length,
            "attention": length**2,
            "fertility": each.fertility,
            "coverage": each.coverage,
            "vocabulary_used": each.vocabulary_used,
            "frequent": often,
            "embedding_parameters": 3 * small.vocab_size,
        }
        assert point.to_dict() == pytest.approx(expected, rel=1e-12)
    return found


def every_size(tok: digram.Tokenizer) -> list[int]:
    inside = family(tok.definition)
    return list(range(inside.min_size, inside.size + 1))


@cases(60)
@given(any_tokenizers, st.lists(texts, max_size=3), any_corpora)
def test_a_curve_is_what_the_smaller_tokenizers_do(
    tok: digram.Tokenizer, some: list[str], more: list[str]
) -> None:
    if tok.merges:  # without one there is no smaller one
        check(tok, [*some, *more], [*every_size(tok)[::3], tok.vocab_size])


@pytest.mark.parametrize("name", NAMES)
def test_curves_of_vocabularies_of_all_kinds(name: str) -> None:
    tok = TOKENIZERS[name]
    check(tok, [*TEXTS, *vocabularies.texts(30), vocabularies.CORPUS * 20], every_size(tok)[::7])


def test_whole_pretokens_that_no_merges_lead_to() -> None:
    """Without its token, a pretoken becomes what merges make of it, even by later merges."""
    known = vocabularies.SAMPLES["gpt2"]
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=[*vocabularies.BYTES, b"xy", b" xyyx", b"yx", b"xyx"],
            model=digram.BpeModel(
                [(120, 121, 256), (121, 120, 258), (256, 120, 259)], ignore_merges=True
            ),
            pretokenizer=known.pretokenizer,
        )
    )
    text = "xyyx xyyx xyyx"
    found = digram.curve(tok, text, sizes=range(257, 261))
    assert [point.tokens for point in found] == [
        digram.shrink(tok, n).count(text) for n in found.sizes
    ]
    assert found[257].tokens == 3 * 3 + 2  # no token for the whole, and b"yx" not yet
    assert found[260].tokens == 3 + 1  # the first has no space before it


def test_sizes() -> None:
    tok = TOKENIZERS["cl100k"]
    assert digram.curve(tok, "low").sizes == [tok.vocab_size]
    assert digram.curve(tok, "low", sizes=(300, 290, 300)).sizes == [290, 300]
    found = digram.curve(tok, ["low", "lower"], sizes=[290, 300], width=8)
    assert [point.embedding_parameters for point in found] == [8 * 290, 8 * 300]
    assert (len(found), found[300], found.width) == (2, found.points[1], 8)
    assert found.documents == 2
    assert (found.bytes, found.characters, found.words, found.skipped) == (8, 8, 2, 0)


def test_reserved_ids_and_padding_count_as_for_shrink() -> None:
    tok = digram.train(
        TEXTS, vocab_size=305, special_tokens=["<|end|>"], reserve={"image": 9}, pad_to_multiple=64
    )
    found = digram.curve(tok, TEXTS, sizes=[290, 305])
    assert [point.tokens for point in found] == [
        sum(digram.shrink(tok, size).count_batch(TEXTS)) for size in (290, 305)
    ]
    assert digram.curve(tok, TEXTS).sizes == [305]  # before padding


def test_several_sources_are_one_text() -> None:
    tok = TOKENIZERS["gpt2"]
    assert digram.curve(tok, {"a": TEXTS[:2], "b": TEXTS[2:]}) == digram.curve(tok, TEXTS)


def test_nothing_is_zero() -> None:
    point = digram.curve(TOKENIZERS["gpt2"], []).points[0]
    assert {value for name, value in point.to_dict().items() if name != "vocab_size"} == {0, None}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [10_000]}, "vocab_size=10000 is more than"),
        ({"sizes": [256]}, "vocab_size=256 leaves no room for a merge"),
        ({"sizes": []}, "sizes is empty"),
        ({"width": 0}, "width=0 is not at least 1"),
        ({"threads": 0}, "threads=0 is not at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(options: Any, message: str) -> None:
    with pytest.raises(digram.OptionError, match=message):
        digram.curve(TOKENIZERS["gpt2"], "low", **options)


def test_vocabularies_without_smaller_ones_are_refused() -> None:
    tok = digram.Tokenizer(vocabularies.SAMPLES["two merges make one token"])
    with pytest.raises(digram.VocabError, match="contains no smaller ones"):
        digram.curve(tok, "low")


def test_a_size_that_the_curve_has_not() -> None:
    with pytest.raises(
        digram.OptionError, match=r"no point at 7\. Choose one of its sizes: 280, 300"
    ):
        digram.curve(TOKENIZERS["gpt2"], "low", sizes=[280, 300])[7]


def test_as_plain_values_and_as_a_table() -> None:
    found = digram.curve(TOKENIZERS["gpt2"], TEXTS, sizes=[270, 300], width=768)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert repr(found) == "<digram.Curve: 2 sizes, 270 to 300>"
    assert max(map(len, str(found).splitlines())) <= 80


def test_a_published_vocabulary(shared_data: Any, tmp_path: Path) -> None:
    """tiktoken over the first ranks of a list counts as the curve of the whole list says."""
    import tiktoken

    path = shared_data("vocabs/r50k_base.tiktoken")
    tok = digram.load(path, encoding="r50k_base")
    text = shared_data("corpora/med.txt").read_bytes()[:200_000].decode(errors="ignore")
    found = digram.curve(tok, text, sizes=[5_001, 20_001, 50_257])
    ranks = {tok.id_to_token(id): id for id in range(50_256)}
    for point in found:
        theirs = tiktoken.Encoding(
            "first ranks",
            pat_str=tok.pretokenizer.patterns[0],
            mergeable_ranks={t: id for t, id in ranks.items() if id < point.vocab_size - 1},
            special_tokens={},
        )
        ids = theirs.encode_ordinary(text)
        assert (point.tokens, len(set(ids))) == (
            len(ids),
            round(point.vocabulary_used * (point.vocab_size - 1)),
        )
        assert np.count_nonzero(np.bincount(ids) >= 100) == round(
            point.frequent * (point.vocab_size - 1)
        )
