"""Tokenizers of transformers, fast and slow, as sides of a comparison; skipped without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from vocabularies import BYTES, of_bytes

import digram
from digram import Matching, verify
from digram.analysis.verification import peers

transformers = pytest.importorskip("transformers")

TOK = digram.train("low lower lowest", max_merges=5, pretokenizer="gpt2", special_tokens=["<s>"])


def test_a_fast_tokenizer(tmp_path: Path) -> None:
    path = str(tmp_path / "tokenizer.json")
    TOK.save(path)
    theirs = peers.load(path, "transformers")
    found = verify(TOK, theirs, "low <s> low", fuzz=500)
    assert found.equal, str(found)
    assert found.compared == {
        "text": ("ids", "offsets", "decoded"),
        "parse": ("ids", "offsets", "decoded", "decoded_without_special"),
    }
    damaged = digram.Tokenizer(replace(TOK.definition, special_tokens={"<s>": 999}))
    shown = verify(damaged, theirs, fuzz=500).counterexample
    assert shown is not None
    assert (shown.text, shown.mode, shown.what) == ("<s>", "parse", "ids")


def test_a_vocab_txt(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "!", "E"]
    path.write_text("".join(f"{token}\n" for token in bert))
    for encoding in ("bert-uncased", "bert-cased"):
        theirs = peers.load(str(path), "transformers", encoding)
        found = verify(digram.load(path, encoding=encoding), theirs, "Low lower!", fuzz=300)
        assert found.equal, str(found)


def byt5() -> digram.Tokenizer:
    """The tokenizer of ByT5, which takes each byte for a token."""
    special = {"<pad>": 0, "</s>": 1, "<unk>": 2}
    spaced = Matching(lstrip=True, rstrip=True)
    return digram.Tokenizer(
        replace(
            of_bytes(),
            tokens=[None, None, None, *BYTES],
            special_tokens=special,
            matching=dict.fromkeys(special, spaced),
        )
    )


def test_a_slow_tokenizer() -> None:
    theirs = transformers.ByT5Tokenizer(extra_ids=0)
    assert not theirs.is_fast
    found = verify(byt5(), theirs, ["low", "é 中"], fuzz=200)
    assert found.equal, str(found)
    assert "parse" in found.compared
    assert any(reason == "offsets: b does not tell it" for reason in found.not_compared)
    other = verify(TOK, theirs, "low", fuzz=0).counterexample
    assert other is not None
    assert len(other.text) == 1
