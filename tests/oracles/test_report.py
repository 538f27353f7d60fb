"""A report on real text: its figures against what tiktoken counts, and the page of a real size."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.published import encoding

import digram

Find = Callable[[str], Path]
NAME, COLUMN = "r50k_base", 0
STATED: dict[str, list[int]] = tomllib.loads(
    (Path(__file__).parents[2] / "testdata" / "flores.toml").read_text(encoding="utf-8")
)["tokens"]


@pytest.fixture(scope="module")
def flores(shared_data: Find) -> dict[str, Path]:
    return {name: shared_data(f"flores-dev/{name}.txt") for name in STATED}


def test_figures_are_tiktokens(flores: dict[str, Path], shared_data: Find) -> None:
    tok = digram.load(shared_data(f"vocabs/{NAME}.tiktoken"), encoding=NAME)
    text = flores["eng_Latn"].read_text(encoding="utf-8")
    found = digram.report(tok, {"en": text}, parallel=flores, reference="eng_Latn")
    costs = {language: counts[COLUMN] for language, counts in STATED.items()}
    rows = found.charts["premium"].data
    assert [row["language"] for row in rows] == sorted(costs, key=lambda name: costs[name])
    for row in rows:
        assert row["premium"] == pytest.approx(costs[row["language"]] / costs["eng_Latn"])
    last = found.charts["curve"].data[-1]
    theirs = encoding(NAME, shared_data).encode_ordinary(text)
    assert (last["vocab_size"], last["tokens"]) == (tok.vocab_size, len(theirs))
    assert last["bytes_per_token"] == len(text.encode()) / len(theirs)


def test_a_page_of_a_real_size(flores: dict[str, Path], shared_data: Find) -> None:
    med = digram.files(shared_data("corpora/med.txt"), separator="<|endoftext|>")
    tok = digram.train(med, vocab_size=8_000, special_tokens=["<|endoftext|>"])
    found = digram.report(tok, {"med": med}, parallel=flores, reference="eng_Latn", title="med")
    assert found.evaluation.total.documents == tok.training.documents  # type: ignore[union-attr]
    page = found.html()
    assert len(page.encode()) < 1_000_000
    assert all(name in page for name in flores)
