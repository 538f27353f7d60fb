"""Published vocabularies: each token is shown to be reached by tiktoken itself, or told why not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles.published import ENCODINGS, encoding

import digram
from digram.analysis.audit.reach import Reach, reach

Find = Callable[[str], Path]
UNREACHABLE = {"r50k_base": [], "cl100k_base": [], "o200k_base": ["о".encode() + b"\xd0"]}
NO_UTF8 = [bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))]


@pytest.fixture(scope="module", params=ENCODINGS)
def audited(
    request: pytest.FixtureRequest, shared_data: Find
) -> tuple[Any, digram.Tokenizer, Reach]:
    name: str = request.param
    tok = digram.load(shared_data(f"vocabs/{name}.tiktoken"), encoding=name)
    return encoding(name, shared_data), tok, reach(tok)


def stated(kind: str) -> list[str]:
    """The cells of a row of the table in docs/audit.md."""
    page = Path(__file__).parents[3] / "docs" / "audit.md"
    lines = page.read_text(encoding="utf-8").partition("## Findings in published tokenizers")[2]
    row = next(line for line in lines.splitlines() if line.startswith(f"| {kind}"))
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_the_figures_of_the_documentation(
    audited: tuple[Any, digram.Tokenizer, Reach],
) -> None:
    theirs, tok, reached = audited
    found = digram.audit(tok)
    junk = [one.count for kind, one in found.by_kind.items() if kind.startswith("junk_")]
    kinds = ["unreachable", "bytes_only", "partial", "duplicates", "punctuation", "case", "digits"]
    counts = {f"`{kind}`": found.by_kind[kind].count for kind in [*kinds, "number_splits"]}
    counts |= {"ordinary": found.tokens, "`junk`": sum(junk)}
    counts |= {"reachable in a text, but not": len(reached.witnesses)}
    column = ENCODINGS.index(theirs.name)
    told = {kind: stated(kind)[column] for kind in counts}
    assert told == {kind: f"{count:,}" for kind, count in counts.items()}


def test_what_is_not_reached(audited: tuple[Any, digram.Tokenizer, Reach]) -> None:
    theirs, tok, found = audited
    assert tok.tokens(found.unreachable) == UNREACHABLE[theirs.name]
    assert tok.tokens(found.bytes_only) == NO_UTF8
    assert found.undecided == ()


def test_tiktoken_reaches_all_others(audited: tuple[Any, digram.Tokenizer, Reach]) -> None:
    theirs, tok, found = audited
    for id, text in found.witnesses.items():
        assert id in theirs.encode_ordinary(text.decode())
    others = {*tok.special_tokens.values(), *found.unreachable, *found.bytes_only, *found.witnesses}
    for id in range(0, len(tok), 7):
        if id not in others:
            assert theirs.encode_ordinary(tok.id_to_token(id).decode()) == [id]


def test_the_one_that_is_not_reached_is_in_no_pair_of_letters(shared_data: Find) -> None:
    """The byte 0xD0 begins the letters from U+0400 to U+043F, so that one of them would follow."""
    theirs = encoding("o200k_base", shared_data)
    id = theirs.encode_single_token(UNREACHABLE["o200k_base"][0])
    letters = [chr(number) for number in range(0x400, 0x440)]
    texts = ["о" + one + other for one in letters for other in ["", *letters]]
    assert not any(id in ids for ids in theirs.encode_ordinary_batch(texts, num_threads=1))
