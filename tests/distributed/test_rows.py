"""Counts as rows, columns of text and of ids: against plain Python, and what is refused."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_corpora, cases

import digram
from digram.distributed import ray, spark
from digram.distributed.columns import texts, with_ids
from digram.distributed.complaints import own_error, without_digram
from digram.distributed.rows import counts_of, rows_of
from digram.distributed.tasks import CountTexts, EncodeTexts
from digram.distributed.training import trained

TASK = CountTexts.of("whitespace")
ROWS = rows_of(TASK(["low low", "lower", ""]))
TOK = digram.train("low low lower é é", max_merges=6)


@cases(100)
@given(any_corpora, st.sampled_from(["gpt2", "o200k", "whitespace", None]))
def test_rows_hold_what_plain_python_counts(corpus: list[str], cut: str | None) -> None:
    rows = rows_of(CountTexts.of(cut)(corpus)).to_pylist()
    pieces = [p.encode() for text in corpus for p in digram.pretokenize(text, cut)]
    found = {row["piece"]: row["count"] for row in rows if row["kind"] == "pretoken"}
    assert found == Counter(pieces)
    totals = {row["piece"]: row["count"] for row in rows if row["kind"] == "total"}
    assert totals == {b"documents": len(corpus), b"bytes": sum(map(len, pieces))}


@cases(100)
@given(st.lists(any_corpora, max_size=4), st.sampled_from(["byte", "char"]))
def test_a_counter_of_partitions_is_the_count_of_all(parts: list[list[str]], unit: Any) -> None:
    counter = spark.counter(pretokenizer="gpt2", unit=unit)
    rows = [
        batch
        for part in parts
        for batch in pickle.loads(pickle.dumps(counter))(
            [pyarrow.record_batch({"text": strings(part)})]
        )
    ]
    found = counter.counts(pyarrow.Table.from_batches(rows, pyarrow.schema(ROWS.schema)))
    whole = [text for part in parts for text in part]
    assert found == digram.count_pretokens(whole, pretokenizer="gpt2", unit=unit).without_first()


def strings(values: list[str]) -> pyarrow.Array:
    return pyarrow.array(values, pyarrow.string())


def test_bytes_that_are_named_like_totals_are_pretokens() -> None:
    task = CountTexts.of(None)
    found = counts_of(rows_of(task(["documents", "bytes", "total", ""])), task)
    assert dict(found.items()) == {b"documents": 1, b"bytes": 1, b"total": 1}
    assert (found.documents, found.bytes) == (4, 19)


def test_no_rows_are_no_texts() -> None:
    assert counts_of(ROWS.slice(0, 0), TASK) == TASK([]).without_first()


@pytest.mark.parametrize(
    ("rows", "kind", "message"),
    [
        (ROWS.drop_columns("kind"), digram.OptionError, "no column 'kind'"),
        (ROWS.slice(1), digram.OptionError, r"add up to 8 bytes, and the texts had 12"),
        (pyarrow.concat_tables([ROWS, ROWS.slice(0, 1)]), digram.OptionError, "16 bytes"),
        (rows_of(CountTexts.of("gpt2")([])), digram.ConfigMismatchError, 'pretokenizer="gpt2"'),
        (
            rows_of(CountTexts.of("whitespace", "char")([])),
            digram.ConfigMismatchError,
            'unit="char"',
        ),
    ],
)
def test_rows_that_are_not_those_of_the_texts(
    rows: pyarrow.Table, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        counts_of(rows, TASK)


# --- columns

KINDS: list[Any] = [
    pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(),
    pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view(),
    pyarrow.dictionary(pyarrow.int32(), pyarrow.string()),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_type_of_text(kind: Any) -> None:
    column = pyarrow.array(["a", "", "é"]).cast(kind)
    table = pyarrow.table({"n": [1, 2, 3], "text": column})
    chunked = pyarrow.concat_tables([table, table.slice(1)])
    expected = [b"a", b"", "é".encode()]
    assert list(texts([table, chunked], "text")) == [*expected, *expected, *expected[1:]]


@cases(100)
@given(st.lists(st.none() | st.text(max_size=8), max_size=8), st.integers(0, 8))
def test_ids_stand_beside_their_texts(values: list[str | None], start: int) -> None:
    task = pickle.loads(pickle.dumps(EncodeTexts.of(TOK)))
    column = pyarrow.array(values, pyarrow.string())
    batch = pyarrow.record_batch({"text": column, "n": list(range(len(values)))}).slice(start)
    for numbers in (pyarrow.int32(), pyarrow.uint32()):
        found = list(with_ids(batch, "text", "ids", task, pyarrow.list_(numbers)))
        rows = [row for table in found for row in table.to_pylist()]
        assert (
            rows
            == [
                {"text": text, "n": n, "ids": None if text is None else TOK.encode(text)}
                for n, text in enumerate(values)
            ][start:]
        )
        assert all(table.schema.field("ids").type == pyarrow.list_(numbers) for table in found)


def test_much_text_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("digram.distributed.columns._AT_ONCE", 4)
    batch = pyarrow.record_batch({"text": ["ab", None, "abc", "", "abcdef", "a"]})
    task = EncodeTexts.of(TOK)
    found = list(with_ids(batch, "text", "ids", task, pyarrow.list_(pyarrow.int32())))
    assert [table.num_rows for table in found] == [3, 2, 1]
    assert pyarrow.concat_tables(found)["text"].to_pylist() == batch["text"].to_pylist()


def test_what_is_no_column_of_texts() -> None:
    batch = pyarrow.record_batch({"text": ["a", None], "n": [1, 2]})
    with pytest.raises(digram.OptionError, match=r"no column 'body' among \['text', 'n'\]"):
        list(texts([batch], "body"))
    with pytest.raises(digram.OptionError, match=r"'n' is of type int64"):
        list(texts([batch], "n"))
    with pytest.raises(digram.InvalidTextError, match=r"row 3 .* null") as raised:
        list(texts([batch.slice(0, 1), batch.slice(0, 1), batch], "text"))
    assert raised.value.index == 3
    with pytest.raises(digram.OptionError, match=r"already a column 'n'"):
        list(with_ids(batch, "text", "n", EncodeTexts.of(TOK), pyarrow.list_(pyarrow.int32())))


# --- tasks


def test_a_worker_with_another_version_refuses() -> None:
    counter = spark.Counter(replace(TASK, version="0.0.7"), "text")
    encoder = replace(EncodeTexts.of(TOK), version="0.0.7")
    for work in (lambda: list(counter([])), lambda: encoder.to_arrow([])):
        with pytest.raises(digram.ConfigMismatchError, match=r"needs digram 0\.0\.7.*==0\.0\.7"):
            work()


def test_what_is_wrong_is_said_before_anything_is_counted() -> None:
    def never() -> digram.Counts:
        raise AssertionError

    for options, message in (
        ({"vocab_size": 100}, "no room"),
        ({"max_merges": 2, "ties": "first_seen"}, "have none.*executor"),
        ({"max_merges": 2, "weights": {"a": 2}}, "several named corpora"),
        ({"max_merges": 2, "superwords": "boundless"}, "with digram.train, on a sample"),
        ({}, "min_frequency"),
    ):
        with pytest.raises(digram.OptionError, match=message):
            trained(never, TASK, options, ordered=False)
    with pytest.raises(TypeError, match="merges"):
        trained(never, TASK, {"merges": 2}, ordered=False)
    for engine in (spark, ray):
        with pytest.raises(digram.OptionError, match="vocab_size=7"):
            engine.train(None, vocab_size=7)
        with pytest.raises(digram.OptionError, match=r"with digram\.train, on a sample"):
            engine.train(None, vocab_size=300, superwords="two-stage")


def test_options_that_can_be_read_once() -> None:
    options: dict[str, Any] = {
        "alphabet": iter("abc"), "special_tokens": iter(["<a>"]), "max_merges": 1
    }  # fmt: skip
    task = CountTexts.of(None, "char")
    tok = trained(lambda: task(["aabb", "aabb"]), task, options, ordered=True)
    assert tok == digram.train(
        ["aabb"],
        unit="char",
        alphabet="abc",
        special_tokens=["<a>"],
        max_merges=1,
        pretokenizer=None,
    )


def test_what_engines_say_in_our_words() -> None:
    inside = (
        "Traceback ...\n  File ...\ndigram.errors.OptionError: no column 'a'. Name one.\n\n\tat"
    )
    found = own_error(inside)
    assert isinstance(found, digram.OptionError)
    assert str(found) == "no column 'a'. Name one."
    for text in (
        "ModuleNotFoundError: No module named 'digram'",
        "ModuleNotFoundError: No module named 'digram.distributed'",
        "No module named 'pyarrow'",
        "AttributeError: Can't get attribute 'Counter' on <module 'digram.distributed.spark'",
    ):
        assert isinstance(without_digram(text), digram.ConfigMismatchError)
    assert without_digram("ModuleNotFoundError: No module named 'else'") is None
    assert own_error("KeyError: 7") is None
