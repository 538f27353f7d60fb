"""`tok(text)` beside `encode` of Hugging Face's `tokenizers`, on files that digram saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from oracles.tally import Tally
from oracles.texts import CORPORA, SEPARATOR, soups
from tokenizers import processors

import digram
from digram import SpecialToken, Template

Corpus = Callable[[str], list[str]]
Both = tuple[digram.Tokenizer, Any]

SPECIAL = ["<s>", "</s>", "<pad>", SEPARATOR]
KINDS: dict[str, dict[str, Any]] = {
    "bytes, o200k": {"pretokenizer": "o200k"},
    "bytes, gpt2": {"pretokenizer": "gpt2", "byte_order": "gpt2"},
    "bytes, deepseek-v3": {"pretokenizer": "deepseek-v3"},
    "bytes, uncut": {"pretokenizer": None},
    "characters, cl100k": {
        "pretokenizer": "cl100k",
        "unit": "char",
        "on_unknown": SpecialToken("<unk>"),
    },
    "characters or bytes, o200k": {"pretokenizer": "o200k", "unit": "char", "on_unknown": "bytes"},
    "characters, uncut": {
        "pretokenizer": None,
        "unit": "char",
        "on_unknown": SpecialToken("<unk>"),
    },
}


@pytest.fixture(scope="module")
def texts(corpus: Corpus) -> list[str]:
    """The beginnings of documents, some random Unicode, and special tokens."""
    found = [text[:240] for name in CORPORA for text in corpus(name)[:16]]
    return [*found, *soups(64), f"a<s>b{SEPARATOR} {SEPARATOR}é<pad>", "", "<s>", " ", "é"]


@pytest.fixture(scope="module", params=KINDS)
def both(request: pytest.FixtureRequest, texts: list[str], tmp_path_factory: Any) -> Both:
    """A tokenizer, and what Hugging Face makes of its file."""
    path: Path = tmp_path_factory.mktemp("both") / "tokenizer.json"
    tok = digram.train(
        # Of the others it would learn "<s>" as an ordinary token.
        [text[:200] for text in texts[::2] if not any(token in text for token in SPECIAL)],
        vocab_size=2_500 if "bytes" in request.param else 6_000,
        max_token_length=40,
        special_tokens=SPECIAL,
        **KINDS[request.param],
    )
    template = Template("<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1")
    tok = tok.with_template(template).with_pad_token("<pad>")
    tok.save(path)
    return tok, tokenizers.Tokenizer.from_file(str(path))


def ours(encoding: digram.Encoding) -> list[Any]:
    return [
        *(encoding.ids, encoding.offsets, encoding.word_ids, encoding.type_ids),
        *(encoding.sequence_ids, encoding.special_tokens_mask, encoding.attention_mask),
        [ours(other)[:7] for other in encoding.overflowing],
    ]


def theirs(encoding: Any) -> list[Any]:
    return [
        *(encoding.ids, encoding.offsets, encoding.word_ids, encoding.type_ids),
        *(encoding.sequence_ids, encoding.special_tokens_mask, encoding.attention_mask),
        [theirs(other)[:7] for other in encoding.overflowing],
    ]


def pairs_of(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Each text with one of another length."""
    return [(text, texts[-number][: 10 * (number % 9) + 1]) for number, text in enumerate(texts)]


def test_texts_and_pairs(both: Both, texts: list[str]) -> None:
    tok, hf = both
    hf.no_truncation()
    hf.no_padding()
    with Tally(f"tokenizers, encodings, {tok.unit}s, {tok.pretokenizer.name}") as tally:
        for added in (True, False):
            found = tok(texts, special="parse", add_special_tokens=added)
            other = hf.encode_batch(texts, add_special_tokens=added)
            tally.add(texts, [*map(ours, found[:])], [*map(theirs, other)])
            first, second = zip(*pairs_of(texts), strict=True)
            found = tok(first, second, special="parse", add_special_tokens=added)
            other = hf.encode_batch(pairs_of(texts), add_special_tokens=added)
            tally.add(texts, [*map(ours, found[:])], [*map(theirs, other)])


SIZES = [(8, 0), (16, 3), (61, 7)]


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
def test_truncation_and_padding(both: Both, texts: list[str], strategy: Any, side: Any) -> None:
    """Every strategy, with stride and overflow; equal wherever both give an answer."""
    tok, hf = both
    refused = 0
    with Tally(f"tokenizers, {strategy}, {side}, {tok.unit}s, {tok.pretokenizer.name}") as tally:
        for (size, stride), padding_side, added in product(SIZES, ("right", "left"), (True, False)):
            hf.no_padding()
            hf.enable_truncation(size, stride=stride, strategy=strategy, direction=side)
            hf.enable_padding(
                direction=padding_side,
                pad_id=tok.special_tokens["<pad>"],
                pad_token="<pad>",
                length=size,
                pad_to_multiple_of=5,
            )
            options: dict[str, Any] = {
                "max_length": size,
                "truncation": strategy,
                "truncation_side": side,
                "overlap": stride,
                "padding": "max_length",
                "padding_side": padding_side,
                "pad_to_multiple_of": 5,
                "add_special_tokens": added,
                "special": "parse",
            }
            samples = texts[:: 7 if side == "left" else 11]
            for text, pair in pairs_of(samples):
                # What is to be cut is the longer one.
                given = [(pair, text)] if strategy == "only_second" else [(text,), (text, pair)]
                for arguments in given:
                    try:
                        mine = ours(tok(*arguments, **options))
                    except digram.OptionError:
                        refused += 1
                        continue
                    other = hf.encode(*arguments, add_special_tokens=added)
                    tally.add([text], [mine], [theirs(other)])
    assert refused < tally.texts


def test_padding_to_the_longest(both: Both, texts: list[str]) -> None:
    tok, hf = both
    hf.no_truncation()
    hf.enable_padding(pad_id=tok.special_tokens["<pad>"], pad_token="<pad>", pad_to_multiple_of=8)
    with Tally(f"tokenizers, padding, {tok.unit}s, {tok.pretokenizer.name}") as tally:
        for start in range(0, len(texts), 50):
            some = texts[start : start + 50]
            batch = tok(some, special="parse", padding="longest", pad_to_multiple_of=8)
            other = hf.encode_batch(some)
            tally.add(some, [*map(ours, batch[:])], [*map(theirs, other)])
            arrays = batch.numpy("input_ids", "attention_mask", "offset_mapping")
            assert arrays["input_ids"].tolist() == [one.ids for one in other]
            assert arrays["attention_mask"].tolist() == [one.attention_mask for one in other]
            spans = [[list(span) for span in one.offsets] for one in other]
            assert arrays["offset_mapping"].tolist() == spans


def test_split_texts(both: Both, texts: list[str]) -> None:
    tok, hf = both
    hf.no_truncation()
    hf.no_padding()
    samples = [text.split(" ")[:40] for text in texts]
    with Tally(f"tokenizers, words, {tok.unit}s, {tok.pretokenizer.name}") as tally:
        found = tok(samples, is_split_into_words=True, special="parse")
        other = hf.encode_batch(samples, is_pretokenized=True)
        tally.add(texts, [*map(ours, found[:])], [*map(theirs, other)])


# --- where they differ


def small(**options: Any) -> Both:
    tok = digram.train("low lower é", special_tokens=["<s>", "<pad>"], **options)
    tok = tok.with_template(Template("<s> $A", pair="<s> $A $B:1"))
    from digram.formats.huggingface import dumps

    return tok, tokenizers.Tokenizer.from_str(dumps(tok.definition).decode())


def test_spans_are_not_trimmed() -> None:
    """Theirs leave out the space of a token where the post_processor says so."""
    tok, hf = small(max_merges=4)
    hf.post_processor = processors.ByteLevel(trim_offsets=True)
    assert tok.tokens(tok.encode("low low"))[-1] == b" low"
    assert tok("low low").offsets[-1] == (3, 7)
    assert hf.encode("low low").offsets[-1] == (4, 7)


def test_a_text_cut_to_nothing_is_refused() -> None:
    """Theirs gives an encoding without the text, and all of it as overflow, however long."""
    tok, hf = small(max_merges=0)
    hf.enable_truncation(2, strategy="longest_first")
    other = hf.encode("low", "lower")
    assert other.sequence_ids == [None, 1]
    assert max(len(more) for more in other.overflowing) > 2
    with pytest.raises(digram.OptionError, match="would leave nothing of the text"):
        tok("low", "lower", max_length=2)
    hf.enable_truncation(3, strategy="only_second")
    with pytest.raises(Exception, match="too short"):
        hf.encode("lower", "low")
    with pytest.raises(digram.OptionError, match="would leave nothing of the pair"):
        tok("lower", "low", max_length=3, truncation="only_second")


def test_overflow_does_not_nest() -> None:
    """Theirs holds, beside the windows, copies of them inside each other."""
    tok, hf = small(max_merges=0)
    hf.enable_truncation(5)
    found, other = (
        tok("lowlowlow", "lowerlower", max_length=5),
        hf.encode("lowlowlow", "lowerlower"),
    )
    assert [more.ids for more in found.overflowing] == [more.ids for more in other.overflowing]
    assert any(more.overflowing for more in other.overflowing)
    assert not any(more.overflowing for more in found.overflowing)
