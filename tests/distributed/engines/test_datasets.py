"""Data sets of Hugging Face's `datasets` as tables: in memory, rearranged, and streamed."""

from __future__ import annotations

from typing import Any

import pytest

import digram

datasets = pytest.importorskip("datasets")
datasets.disable_progress_bars()

TEXTS = [f"she sells {number} shells" for number in range(1000)]


@pytest.fixture
def data() -> Any:
    """A data set, with another column."""
    return datasets.Dataset.from_dict({"text": TEXTS, "n": range(len(TEXTS))})


def encoded(texts: list[str]) -> list[bytes]:
    return [text.encode() for text in texts]


def test_rows_come_in_the_order_of_the_data_set(data: Any) -> None:
    """A data set that was filtered or sorted keeps its rows where they were, and a list beside."""
    source = digram.table(data)
    assert list(source) == list(source) == encoded(TEXTS)
    for changed in (
        data.select([3, 1, 700]),
        data.shuffle(seed=1),
        data.filter(lambda row: row["n"] % 3 == 0),
        data.sort("n", reverse=True).with_format("numpy"),
        data.shard(2, 0),
        datasets.concatenate_datasets([data, data.select([5])]),
    ):
        assert list(digram.table(changed)) == encoded(list(changed["text"]))
    counts = digram.count_pretokens(digram.table(data, "text"))
    assert counts == digram.count_pretokens(TEXTS)
    assert repr(source) == "<digram.Table: column 'text' of a datasets.Dataset>"


def test_those_that_are_streamed(data: Any) -> None:
    rows = [{"text": text} for text in TEXTS]
    unknown = datasets.IterableDataset.from_generator(lambda: iter(rows))
    assert unknown.features is None
    for streamed in (data.to_iterable_dataset(), unknown, unknown.map(lambda row: row)):
        assert list(digram.table(streamed)) == encoded(TEXTS)
    assert list(digram.table(unknown.filter(lambda row: False))) == []


def test_nulls_and_columns() -> None:
    data = datasets.Dataset.from_dict(
        {"text": ["low", None, "lower"], "n": [1, 2, 3], "meta": [{"body": "a"}] * 3}
    )
    with pytest.raises(digram.CorruptFileError, match=r'record 2: the column "text" of the table'):
        list(digram.table(data))
    skipping = iter(digram.table(data, on_error="skip"))
    with pytest.warns(UserWarning, match="1 record was skipped: record 2: "):
        assert list(skipping) == [b"low", b"lower"]
    assert list(digram.table(data, "meta.body")) == [b"a"] * 3
    with pytest.raises(digram.OptionError, match=r'no column "body"\. The columns are "text", '):
        list(digram.table(data, "body"))
    with pytest.raises(digram.OptionError, match='the column "n" is of type Int64'):
        list(digram.table(data.select([]), "n"))


def test_what_is_no_source_says_what_would_be(data: Any) -> None:
    with pytest.raises(TypeError, match=r"pass the column, as in digram.table\(data"):
        digram.count_pretokens(data)
    splits = datasets.DatasetDict({"train": data, "test": data})
    with pytest.raises(TypeError, match="several tables; pass one of them: 'train', 'test'"):
        list(digram.table(splits))
    assert list(digram.table(splits["test"])) == encoded(TEXTS)
