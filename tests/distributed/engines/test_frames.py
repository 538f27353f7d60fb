"""Data frames of pandas and polars as a corpus: by column, and never by the names of columns."""

from __future__ import annotations

from typing import Any

import pytest

import digram

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

TEXTS = ["low lower", "", "naïve 日本", "lowest low"]
EXPECTED = digram.train(TEXTS, max_merges=5)


def frames(texts: list[Any]) -> list[Any]:
    """The same texts as data frames, of every type that these have for text."""
    rows = {"text": texts, "id": [*range(len(texts))]}
    return [
        pandas.DataFrame(rows),
        pandas.DataFrame(rows).astype({"text": "string"}),
        pandas.DataFrame(rows).astype({"text": "string[pyarrow]"}),
        pandas.DataFrame(rows).astype({"text": "category"}),
        polars.DataFrame(rows),
        polars.DataFrame(rows, schema_overrides={"text": polars.Categorical}),
    ]


@pytest.mark.parametrize("number", range(6))
def test_a_column_is_a_corpus(number: int) -> None:
    frame = frames(TEXTS)[number]
    assert [*digram.table(frame, "text")] == [text.encode() for text in TEXTS]
    tok = digram.train(digram.table(frame, "text"), max_merges=5)
    assert tok == EXPECTED
    assert tok.training is not None
    assert tok.training.documents == 4
    # A column alone is texts as well, for training and for a batch.
    assert digram.train(frame["text"], max_merges=5) == EXPECTED
    assert tok.encode_batch(frame["text"]) == tok.encode_batch(TEXTS)
    assert [*tok.encode_iter(frame["text"])] == tok.encode_batch(TEXTS)
    assert tok.count_batch(frame["text"]) == tok.count_batch(TEXTS)
    found = digram.evaluate(tok, digram.table(frame, "text")).total
    assert found.documents == 4


@pytest.mark.parametrize("number", range(6))
def test_the_names_of_columns_are_no_texts(number: int) -> None:
    frame = frames(TEXTS)[number]
    hint = r'for a table pass the column, as in digram\.table\(data, "text"\)'
    for call in (
        lambda: digram.train(frame, max_merges=5),
        lambda: digram.train({"en": frame}, max_merges=5),
        lambda: digram.count_pretokens(frame),
        lambda: digram.evaluate(EXPECTED, frame),
    ):
        with pytest.raises(TypeError, match=hint):
            call()
    for batch in (EXPECTED.encode_batch, EXPECTED.count_batch, EXPECTED.encode_iter):
        with pytest.raises(TypeError, match=r"not a table; pass one of its columns"):
            batch(frame)


@pytest.mark.parametrize("number", range(6))
def test_what_is_missing_is_told(number: int) -> None:
    frame = frames(["low", None, "lower"])[number]
    with pytest.raises(digram.CorruptFileError) as caught:
        digram.train(digram.table(frame, "text"), max_merges=1)
    assert caught.value.record == 2
    with pytest.warns(UserWarning, match="1 record was skipped"):
        counts = digram.count_pretokens(digram.table(frame, "text", on_error="skip"))
    assert (counts.documents, counts.skipped) == (2, 1)
    with pytest.raises(digram.OptionError, match="body"):
        digram.train(digram.table(frame, "body"), max_merges=1)
