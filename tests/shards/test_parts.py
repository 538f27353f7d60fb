"""Documents in parts: texts and special tokens, as `encode` takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import digram
from digram import InvalidTextError, SpecialToken, SpecialTokenError

TOK = digram.train("low lower lowest", max_merges=6, special_tokens=["<|endoftext|>", "<s>", "<e>"])
BEGIN, END = SpecialToken("<s>"), SpecialToken("<e>")
DOCUMENTS: list[Any] = [
    [BEGIN, "low", END, "er"],
    "lower",
    [],
    ["a ", b"\xffb", "<s>"],
    [END],
    (BEGIN, "é" * 40, "lowest"),
    b"low",
]


def ids_of(special: Any = "text") -> list[list[int]]:
    end = TOK.special_tokens["<|endoftext|>"]
    return [[*TOK.encode(one, special=special), end] for one in DOCUMENTS]


CORPORA: dict[str, Callable[[], Any]] = {
    "a list": lambda: DOCUMENTS,
    "a tuple": lambda: tuple(DOCUMENTS),
    "an iterator": lambda: iter(DOCUMENTS),
    "several": lambda: {"a": DOCUMENTS[:3], "b": iter(DOCUMENTS[3:])},
}


@pytest.mark.parametrize("format", ["npy", "megatron", "parquet"])
@pytest.mark.parametrize("corpus", CORPORA)
def test_they_are_encoded_as_by_encode(corpus: str, format: str, tmp_path: Path) -> None:
    for threads in (1, 2):
        found = digram.encode_files(
            TOK,
            CORPORA[corpus](),
            tmp_path / str(threads),
            format=format,
            threads=threads,
            shard_tokens=20,
        )
        assert [ids.tolist() for ids in found] == ids_of()
        assert found.documents == len(DOCUMENTS)


def test_special_says_what_texts_of_special_tokens_are(tmp_path: Path) -> None:
    found = digram.encode_files(TOK, DOCUMENTS, tmp_path, format="npy", special="parse")
    assert [ids.tolist() for ids in found] == ids_of("parse") != ids_of()


def test_they_may_stand_beside_a_file_that_is_read_in_parts(tmp_path: Path) -> None:
    text = "low lower\n" * 700_000
    (tmp_path / "long.txt").write_text(text, encoding="utf-8")
    corpus = {"parts": DOCUMENTS[:2], "file": tmp_path / "long.txt", "more": DOCUMENTS[3:4]}
    found = digram.encode_files(TOK, corpus, tmp_path / "out", format="megatron", end_of_text=None)
    expected = [TOK.encode(one) for one in (*DOCUMENTS[:2], text, DOCUMENTS[3])]
    assert [ids.tolist() for ids in found] == expected


def test_a_run_is_resumed_and_another_corpus_is_noticed(tmp_path: Path) -> None:
    def failing() -> Iterator[Any]:
        yield from DOCUMENTS * 50
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        digram.encode_files(TOK, failing(), tmp_path, format="npy", shard_tokens=50)
    other = [[END, *one] if isinstance(one, list) else one for one in DOCUMENTS * 60]
    whole = iter(DOCUMENTS * 60)
    found = digram.encode_files(TOK, whole, tmp_path, format="npy", shard_tokens=50, resume=True)
    assert [ids.tolist() for ids in found] == ids_of() * 60
    with pytest.raises(digram.CheckpointError, match="the documents differ"):
        digram.encode_files(TOK, iter(other), tmp_path, format="npy", shard_tokens=50, resume=True)


@pytest.mark.parametrize(
    ("document", "error", "message"),
    [
        ([BEGIN, 5], TypeError, "a part of a document is str, bytes or digram.SpecialToken, not 5"),
        ([SpecialToken("<x>")], SpecialTokenError, r"corpus\[1\]: there is no special token"),
        (["a\ud800"], InvalidTextError, "lone surrogate"),
    ],
)
def test_wrong_parts_are_named(
    document: Any, error: type[Exception], message: str, tmp_path: Path
) -> None:
    documents: list[Any] = ["low", document]
    with pytest.raises(error, match=message):
        digram.encode_files(TOK, documents, tmp_path, format="npy")


def test_the_place_of_an_error_is_told(tmp_path: Path) -> None:
    documents: list[Any] = ["low", [BEGIN, "a<s>"]]
    with pytest.raises(SpecialTokenError) as caught:
        digram.encode_files(TOK, documents, tmp_path, format="npy", special="raise")
    assert str(caught.value).startswith("corpus[1]: ")
