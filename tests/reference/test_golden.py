"""The facts of testdata/golden.toml, on the reference and on the core through the public API."""

from __future__ import annotations

import argparse
import inspect
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import digram
from digram import reference
from digram.pretokenizers.pretokenizer import resolve

Case = dict[str, Any]

GOLDEN: dict[str, list[Case]] = tomllib.loads(
    (Path(__file__).parents[2] / "testdata" / "golden.toml").read_text(encoding="utf-8")
)
LIMITS = ("vocab_size", "max_merges", "min_frequency", "max_token_length")


def facts(kind: str) -> pytest.MarkDecorator:
    """One test for each fact of a kind, by name."""
    return pytest.mark.parametrize("case", GOLDEN[kind], ids=[c["name"] for c in GOLDEN[kind]])


def token(written: str) -> bytes:
    r"""The bytes of a token as the file writes them.

    >>> token("é<0xE2>")
    b'\xc3\xa9\xe2'
    """
    parts = re.split(r"<0x([0-9A-F]{2})>", written)
    return b"".join(bytes.fromhex(part) if n % 2 else part.encode() for n, part in enumerate(parts))


def tokens(written: list[str]) -> list[bytes]:
    return [token(one) for one in written]


def corpus(case: Case) -> list[str]:
    """The texts, each as often as it is there."""
    repeat = case.get("repeat", [1] * len(case["texts"]))
    return [text for text, times in zip(case["texts"], repeat, strict=True) for _ in range(times)]


def pretokens(case: Case, otherwise: list[str]) -> list[str]:
    """The pretokens that the file gives; `otherwise` where nothing is cut."""
    given: list[str] = case.get("pretokens", otherwise)
    return given


def base(case: Case) -> list[bytes]:
    """The base tokens in the order of their ids."""
    if case["unit"] == "char":
        return reference.characters([case.get("alphabet", "".join(case["texts"]))])
    return reference.GPT2_BYTES if case.get("byte_order") == "gpt2" else reference.BYTES


def of_unit(text: str, case: Case) -> str | bytes:
    return text if case["unit"] == "char" else text.encode()


def limits(case: Case) -> dict[str, Any]:
    return {name: case[name] for name in LIMITS if name in case}


def train_reference(case: Case) -> reference.Trained:
    units = [of_unit(text, case) for text in pretokens(case, corpus(case))]
    words = reference.words(units, base(case))
    return reference.train(words, base(case), ties=case.get("ties", "ids"), **limits(case))


def train_core(case: Case) -> digram.Tokenizer:
    options = {name: case[name] for name in ("alphabet", "byte_order", "ties") if name in case}
    return digram.train(
        corpus(case),
        unit=case["unit"],
        pretokenizer=case.get("pretokenizer"),
        **options,
        **limits(case),
    )


@facts("train")
def test_training_by_the_reference(case: Case) -> None:
    trained = train_reference(case)
    merges = [(trained.tokens[left], trained.tokens[right]) for left, right in trained.merges]
    assert merges == [(token(left), token(right)) for left, right in case["merges"]]
    assert trained.counts == case["counts"]
    assert trained.stop_reason == case["stop_reason"]
    encoded = [
        reference.encode(reference.symbols(of_unit(text, case), base(case)), trained.merges)
        for text in pretokens(case, case["texts"])
    ]
    final = [tokens(written) for written in case["final"]]
    assert [[trained.tokens[n] for n in ids] for ids in encoded] == final
    assert encoded == shown(case, "final_ids", encoded)
    assert list(trained.merges.values()) == shown(case, "new_ids", list(trained.merges.values()))


@facts("train")
def test_training_by_the_core(case: Case) -> None:
    tok = train_core(case)
    assert tok.merges == [(token(left), token(right)) for left, right in case["merges"]]
    assert [merge.count for merge in tok.merge_log] == case["counts"]
    assert tok.training is not None
    assert tok.training.stop_reason == case["stop_reason"]
    split = [pretoken for text in case["texts"] for pretoken in tok.pretokenize(text)]
    assert split == [text for text in pretokens(case, case["texts"]) if text]
    encoded = [tok.encode(text) for text in case["texts"]]
    final = [tokens(written) for written in case["final"]]
    if "pretokens" in case:  # of a single text
        final = [[part for pretoken in final for part in pretoken]]
    assert [tok.tokens(ids) for ids in encoded] == final
    assert [tok.decode(ids) for ids in encoded] == case["texts"]
    assert encoded == shown(case, "final_ids", encoded)
    assert [m.id for m in tok.merge_log] == shown(case, "new_ids", [m.id for m in tok.merge_log])


def shown(case: Case, key: str, otherwise: Any) -> Any:
    """Ids as the file shows them, counted from 0 again; `otherwise` where it shows none."""
    first = case.get("ids_from", 0)

    def less(ids: Any) -> Any:
        return [less(n) for n in ids] if isinstance(ids, list) else ids - first

    return less(case[key]) if key in case else otherwise


@pytest.mark.parametrize("case", [c for c in GOLDEN["train"] if "characters" in c])
def test_the_base_of_characters(case: Case) -> None:
    """The sorted characters are the first ids; how often each stands in the text."""
    letters = digram.train(corpus(case), unit="char", pretokenizer=None, max_merges=0)
    ids = Counter(letters.encode(case["texts"][0]))
    assert letters.tokens(range(len(letters))) == [c.encode() for c in case["characters"]]
    assert [ids[n] for n in range(len(letters))] == case["character_counts"]
    assert base(case) == [c.encode() for c in case["characters"]]


@facts("refused")
def test_refused_arguments(case: Case) -> None:
    words = reference.words([of_unit(text, case) for text in case["texts"]], base(case))
    with pytest.raises(ValueError, match=r"vocab_size|min_frequency"):
        reference.train(words, base(case), **limits(case))
    with pytest.raises(digram.OptionError, match=r"vocab_size|min_frequency"):
        train_core(case)


@facts("count_pairs")
def test_counting_pairs(case: Case) -> None:
    counts = reference.count_pairs([(case["symbols"], 1)])
    assert [[left, right, n] for (left, right), n in counts.items()] == case["pairs"]


@facts("merge")
def test_merging_a_pair(case: Case) -> None:
    left, right = case["pair"]
    assert reference.merge(case["symbols"], (left, right), case["new"]) == case["merged"]


def merged(case: Case, base: list[bytes]) -> tuple[list[bytes], dict[tuple[int, int], int]]:
    """A vocabulary of `base` and of the merges of a case, without training."""
    known, merges = list(base), {}
    for left, right in case["merges"]:
        merges[known.index(token(left)), known.index(token(right))] = len(known)
        known.append(token(left) + token(right))
    return known, merges


def from_merges(
    known: list[bytes], merges: dict[tuple[int, int], int], unit: Any
) -> digram.Tokenizer:
    triples = [(left, right, whole) for (left, right), whole in merges.items()]
    return digram.Tokenizer(
        digram.Definition(
            tokens=[*known], model=digram.BpeModel(triples), pretokenizer=resolve(None), unit=unit
        )
    )


@facts("encode")
def test_encoding(case: Case) -> None:
    parts = "".join(part for pair in case["merges"] for part in pair)
    characters = reference.characters([case["text"], parts])
    start = characters if case["unit"] == "char" else reference.BYTES
    known, merges = merged(case, start)
    ids = reference.encode(reference.symbols(of_unit(case["text"], case), start), merges)
    if "ids" in case:
        assert ids == case["ids"]
    else:
        assert [known[n] for n in ids] == tokens(case["tokens"])
    assert from_merges(known, merges, case["unit"]).encode(case["text"]) == ids


@facts("decode")
def test_decoding(case: Case) -> None:
    known, merges = merged(case, reference.BYTES)
    assert reference.decode(case["ids"], known) == case["text"]
    assert from_merges(known, merges, "byte").decode(case["ids"]) == case["text"]


def test_a_thousand_tokens_are_744_merges() -> None:
    """And the text they were learned from comes back from its ids."""
    text = inspect.getsource(argparse)
    tok = digram.train(text, vocab_size=1000, pretokenizer=None, ties="first_seen")
    assert (tok.vocab_size, len(tok.merges)) == (1000, 744)
    assert tok.decode(tok.encode(text)) == text


def test_english_merges_do_little_for_chinese() -> None:
    """One sentence in both languages, under merges learned from English."""
    text = inspect.getsource(argparse)
    tok = digram.train(text, vocab_size=1000, pretokenizer=None, ties="first_seen")
    english, chinese = "Autonomous AI Agent.", "自主人工智能代理。"
    assert tok.encode(chinese) == list(chinese.encode())
    assert tok.count(english) < len(english) < tok.count(chinese)
