"""Special tokens in the text of a corpus: learned as text, and told of, however it is trained."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, special_soups

import digram
from digram.corpus import Further
from digram.training.spelled_tokens import Spotter

END = "<|endoftext|>"
TEXT = f"the cat sat{END}on the mat{END}"


def told(learn: Callable[[], object]) -> list[str]:
    """The warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learn()
    return [str(one.message) for one in caught]


def in_threes(text: bytes) -> list[bytes]:
    """A text in parts, as a long one comes from a file."""
    return [text[:1], *(Further(text[start : start + 3]) for start in range(1, len(text), 3))]


@cases(300)
@given(
    st.lists(special_soups, max_size=4),
    st.lists(st.sampled_from(["<a>", "<a>b", "<|end|>", "a", "<", "é"]), unique=True, max_size=4),
)
def test_every_place_is_found(corpus: list[str], tokens: list[str]) -> None:
    expected = {
        token: sum(text.count(token) for text in corpus)
        for token in tokens
        if any(token in text for text in corpus)
    }
    forms: list[list[Any]] = [[*corpus], [text.encode() for text in corpus]]
    forms.append([part for text in corpus for part in in_threes(text.encode())])
    for texts in forms:
        spotter = Spotter(tokens)
        assert [*spotter.over([texts, texts[:0]])] == [texts, []]
        assert dict(spotter.found) == expected


def ways(folder: Path) -> dict[str, Callable[..., object]]:
    """Every way to train on text."""
    path = folder / "a.txt"
    path.write_text(TEXT, encoding="utf-8")

    def train(source: Any, **fixed: Any) -> Callable[..., object]:
        return lambda **options: digram.train(source, max_merges=9, **fixed, **options)

    import pyarrow

    return {
        "text": train(TEXT),
        "bytes": train([TEXT.encode()]),
        "file": train(path),
        "names": train({"en": path, "sw": ["paka"]}),
        "table": train(digram.table(pyarrow.table({"text": [TEXT]}))),
        "memory": train(path, memory_limit="64 MB"),
        "checkpoint": train(path, checkpoint=folder / "point"),
        "characters": train(TEXT, unit="char"),
        "picky": train(TEXT, picky=0.9),
        "two stages": train(TEXT, superwords="two-stage"),
        "boundless": train(TEXT, superwords="boundless"),
        "fair": lambda **options: digram.train_fair({"en": TEXT}, max_merges=9, **options),
    }


def test_it_is_told_and_changes_nothing(tmp_path: Path) -> None:
    for way, learn in ways(tmp_path).items():
        said = told(lambda: learn(special_tokens=[END, "<|other|>"]))  # noqa: B023
        assert said == [
            "the corpus contains the text of special tokens, and training treats it as ordinary "
            "text: '<|endoftext|>' 2 times. If one of them separates documents, split the texts "
            "at it, as digram.files(path, separator='<|endoftext|>') does; remove others from the "
            "texts."
        ], way
        assert told(lambda: learn()) == [], way  # noqa: B023, PLW0108
    with pytest.warns(UserWarning, match="'<|endoftext|>' 2 times"):
        tok = digram.train(TEXT, max_merges=9, special_tokens=[END])
    assert tok.merges == digram.train(TEXT, max_merges=9).merges
    (tmp_path / "text.txt").write_text(TEXT)
    files = digram.files(tmp_path / "text.txt", separator=END)
    for cut in (files, TEXT.split(END)):
        assert told(lambda: digram.train(cut, max_merges=9, special_tokens=[END])) == []  # noqa: B023
        tok = digram.train(cut, max_merges=9, special_tokens=[END])
        assert tok.merges == digram.train(["the cat sat", "on the mat"], max_merges=9).merges


def test_several_tokens() -> None:
    text = "<a><b><c><d>" * 2 + "<d>"
    tokens = ["<a>", "<b>", "<c>", "<d>"]
    (said,) = told(lambda: digram.train(text, max_merges=1, special_tokens=tokens))
    assert "'<d>' 3 times, '<a>' 2 times, '<b>' 2 times, and 1 other. " in said


def test_of_a_large_corpus_a_part_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("digram.training.spelled_tokens._ALL", 20)
    spotter = Spotter([END])
    batches: list[list[Any]] = [[END] for _ in range(40)]
    assert [*spotter.over(batches)] == batches
    assert spotter.found == {END: 2 + 2}  # the first 20 characters, and every sixteenth
    with pytest.warns(UserWarning, match=r"as ordinary text: at least '<\|endoftext\|>' 4 times"):
        spotter.warn()
