"""A file with rules cuts in Hugging Face's engine as it does here."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

import digram
from digram.pretokenizers.rules import Rules

tokenizers = pytest.importorskip("tokenizers")

DATA = Path(os.environ.get("DIGRAM_DATA", "nowhere"))
MED = DATA / "corpora" / "med.txt"

DRUGS = ["metformin", "insulin glargine", "St. John's wort", "5-FU", "B12", "α-tocopherol", "iron"]
ABBREVIATIONS = ["b.i.d.", "p.o.", "IU", "HbA1c", "COVID-19"]
PIECES = [
    *DRUGS, *ABBREVIATIONS, *"abmgL%", "mg", "mL", "mmHg", "mg/dL", "°C", "µg", "10^9/L", "and",
    "1", "12", "1234", "5.5", "1,234.5", "120/80", "²", "é", "日", "\u0301",
    *" \n\t.,;()'\"-/", "  ", "\u00a0", "\u202f", "\u2011", "\r\n", "🙂", "E11.9", "NCT01234567",
]  # fmt: skip


def every_rule(numbers: object) -> Rules:
    return Rules(
        DRUGS,
        case="forms",
        abbreviations=ABBREVIATIONS,
        patterns=[r"[A-Z]\d{2}(?:\.\d{1,2})?", r"NCT\d{8}"],
        numbers=numbers,  # type: ignore[arg-type]
        units=True,
    )


@pytest.mark.parametrize("numbers", [None, "individual", "threes_from_right", "whole"])
@pytest.mark.parametrize("pattern", ["o200k", "gpt2", "whitespace", None])
def test_tokenizers_gives_the_same_ids(
    tmp_path: Path, numbers: object, pattern: str | None
) -> None:
    cut = digram.Pretokenizer(pattern, rules=every_rule(numbers))
    draw = random.Random(f"{numbers} {pattern}")
    texts = ["".join(draw.choices(PIECES, k=draw.randrange(1, 24))) for _ in range(2_000)]
    tok = digram.train(texts, max_merges=300, pretokenizer=cut)
    tok.save(tmp_path / "tokenizer.json")
    assert digram.load(tmp_path / "tokenizer.json") == tok
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    found = [encoding.ids for encoding in theirs.encode_batch(texts)]
    for text, ids in zip(texts, found, strict=True):
        assert tok.encode(text) == ids, text


@pytest.mark.skipif(not MED.exists(), reason="DIGRAM_DATA names no folder with corpora/med.txt")
def test_medical_text_has_the_same_ids(tmp_path: Path) -> None:
    with MED.open(encoding="utf-8") as file:
        lines = [line for _, line in zip(range(2_000), file, strict=False)]
    tok = digram.train(lines, max_merges=1_000, rules=every_rule("threes_from_right"))
    tok.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert tok.encode_batch(lines) == [encoding.ids for encoding in theirs.encode_batch(lines)]
