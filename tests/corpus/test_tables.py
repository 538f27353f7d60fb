"""Tables: every type that holds texts, nulls at their place, damage, and tables of others."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from children import read_in_a_child
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, ipc, parquet
from strategies import cases, texts

import digram
from digram.errors import CorruptFileError, OptionError

ROWS = ["low", "", "naïve 日本", "lower" * 50]
TYPES = [
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.string_view(),
    pyarrow.binary(),
    pyarrow.large_binary(),
    pyarrow.binary_view(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    pyarrow.dictionary(pyarrow.uint32(), pyarrow.large_string()),
]


class Foreign:
    """Somebody's table: it speaks Arrow, and is nothing else."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def column(rows: list[str | None], of: Any) -> Any:
    return pyarrow.array(rows, pyarrow.string()).cast(of)


def encoded(rows: list[str | None]) -> list[bytes]:
    return [row.encode() for row in rows if row is not None]


def ipc_stream(table: Any, path: Path) -> None:
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def ipc_file(table: Any, path: Path) -> None:
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def parquet_file(table: Any, path: Path) -> None:
    parquet.write_table(table, path, row_group_size=3)


def feather_file(table: Any, path: Path) -> None:
    feather.write_feather(table, path, compression="zstd")


WRITE: dict[str, Callable[[Any, Path], None]] = {
    "a.parquet": parquet_file,
    "a.feather": feather_file,
    "a.arrow": ipc_file,
    "a.ipc": ipc_stream,
}


@pytest.mark.parametrize("of", TYPES, ids=str)
def test_every_type_of_text(of: Any) -> None:
    rows: list[str | None] = [*ROWS, None, *ROWS]
    table = pyarrow.table({"id": range(9), "text": column(rows, of)})
    for data in (Foreign(table), Foreign(table.slice(0)), table.combine_chunks().to_batches()[0]):
        with pytest.raises(CorruptFileError) as caught:
            list(digram.table(data))
        assert str(caught.value) == (
            'record 5: the column "text" of the table is null. '
            'Pass digram.table(data, on_error="skip") to skip and count bad records.'
        )
        skipping = iter(digram.table(data, on_error="skip"))
        with pytest.warns(UserWarning, match="1 record was skipped: record 5: the column"):
            assert list(skipping) == encoded(rows)
        assert skipping.skipped == 1
    assert list(digram.table(table.slice(5))) == encoded(rows[5:])


@cases(60)
@given(
    st.lists(st.none() | texts, max_size=8),
    st.sampled_from(TYPES),
    st.integers(1, 4),
    st.booleans(),
)
def test_chunks_and_nulls(rows: list[str | None], of: Any, size: int, within: bool) -> None:
    chunks = [column(rows[at : at + size], of) for at in range(0, len(rows), size)]
    values = pyarrow.chunked_array(chunks, of)
    table = pyarrow.table({"text": values})
    name = ["text"]
    if within:
        nested = [pyarrow.StructArray.from_arrays([chunk], ["a.b"]) for chunk in chunks]
        kind = pyarrow.struct({"a.b": of})
        table, name = pyarrow.table({"m": pyarrow.chunked_array(nested, kind)}), ["m", "a.b"]
    texts_ = iter(digram.table(Foreign(table), name, on_error="skip"))
    nulls = rows.count(None)
    if nulls:
        with pytest.warns(UserWarning, match="skipped"):
            found = list(texts_)
    else:
        found = list(texts_)
    assert (found, texts_.skipped) == (encoded(rows), nulls)
    if not within:
        alone = digram.table(Foreign(values), on_error="skip")  # as a series of polars
        if not nulls:
            assert list(alone) == encoded(rows)


def test_a_null_around_the_column_is_a_null() -> None:
    inner = pyarrow.array(["one", "two", "three"])
    mask = pyarrow.array([False, True, False])
    outer = pyarrow.StructArray.from_arrays([inner], ["text"], mask=mask)
    table = pyarrow.table({"meta": outer})
    with pytest.raises(
        CorruptFileError, match=r'record 2: the column "meta.text" of the table is null'
    ):
        list(digram.table(table, "meta.text"))


def test_what_is_no_column_of_text() -> None:
    table = pyarrow.table({"id": [1], "text": [["x"]], "meta": [{"a": "x"}]})
    for name, message in [
        ("body", r'no column "body"\. The columns are "id", "text", "meta"\.'),
        ("id", 'the column "id" is of type Int64, but texts must be strings or binary'),
        ("text", 'the column "text" is of type List'),
        ("meta", 'the column "meta" is of type Struct'),
        ("meta.b", r'no column "meta.b"\. The columns are "a"\.'),
        ("meta.a.x", 'the column "meta.a" is of type Utf8, which has no fields'),
    ]:
        with pytest.raises(OptionError, match=message):
            list(digram.table(table, name))
    assert list(digram.table(table, "meta.a")) == [b"x"]
    for data in (["x"], 7, None):
        with pytest.raises(TypeError, match="a table must be an object with __arrow_c_stream__"):
            list(digram.table(data))
    for given_path in ("a.parquet", b"a.parquet", Path("a.parquet")):
        with pytest.raises(TypeError, match=r"for a file pass digram\.files\(path\)"):
            digram.table(given_path)
    with pytest.raises(TypeError, match=r"pass the column, as in digram.table\(data"):
        digram.count_pretokens(table)
    with pytest.raises(TypeError, match=r"pass the column, as in digram.table\(data"):
        digram.count_pretokens(Foreign(table))  # type: ignore[arg-type]


def test_a_table_may_be_read_again_and_a_reader_once() -> None:
    table = pyarrow.table({"text": ROWS})
    source = digram.table(table)
    assert list(source) == list(source) == encoded([*ROWS])
    assert digram.count_pretokens(source) == digram.count_pretokens([*ROWS])
    assert digram.train({"a": source, "b": "low"}, max_merges=2).training is not None
    once = digram.table(table.to_reader())
    assert list(once) == encoded([*ROWS])
    assert repr(source) == "<digram.Table: column 'text' of a pyarrow.Table>"


def test_a_table_with_a_separator(tmp_path: Path) -> None:
    table = pyarrow.table({"text": ROWS})
    source = digram.table(table, separator="w", on_error="skip")
    assert repr(source) == (
        "<digram.Table: column 'text' of a pyarrow.Table, separator=b'w', on_error='skip'>"
    )
    parts = [part for row in ROWS for part in row.split("w") if part]
    assert list(source) == encoded([*parts])
    assert digram.count_pretokens(source) == digram.count_pretokens(parts)
    tok = digram.train(source, max_merges=2)
    assert tok == digram.train(parts, max_merges=2)
    options: dict[str, Any] = {"format": "arrow", "end_of_text": None}
    found = digram.encode_files(tok, source, tmp_path / "out", **options)
    assert [document.tolist() for document in found] == tok.encode_batch(parts)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert manifest["options"]["separator"] == "w"
    # A record is a row, not a document.
    chars = digram.train("a b", unit="char", max_merges=0)
    wrong = digram.table(pyarrow.table({"text": ["a b", "b a", "c"]}), separator=" ")
    with pytest.raises(digram.DigramError, match="record 3"):
        digram.encode_files(chars, wrong, tmp_path / "wrong", **options)


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize("of", TYPES, ids=str)
def test_files_of_every_type(tmp_path: Path, name: str, of: Any) -> None:
    rows: list[str | None] = [*ROWS, None, *ROWS * 3]
    path = tmp_path / name
    table = pyarrow.table({"id": range(17), "text": column(rows, of)})
    WRITE[name](table, path)
    with pytest.raises(CorruptFileError, match='record 5: the column "text" is null') as caught:
        digram.count_pretokens(path)
    assert (caught.value.path, caught.value.record) == (str(path), 5)
    skipping = iter(digram.files(path, on_error="skip"))
    with pytest.warns(UserWarning, match="1 record was skipped"):
        assert list(skipping) == encoded(rows)
    assert skipping.done == path.stat().st_size
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.warns(UserWarning, match="1 record was skipped"):
        assert list(digram.files(packed, on_error="skip")) == encoded(rows)
    with pytest.raises(OptionError, match='no column "body"') as refused:
        list(digram.files(path, field="body"))
    assert refused.value.path == str(path)
    assert "as field=" in str(refused.value)


@pytest.mark.parametrize("name", WRITE)
def test_files_that_are_damaged(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITE[name](pyarrow.table({"text": ROWS * 5}), path)
    whole = path.read_bytes()
    for end in range(0, len(whole) - 1, max(1, len(whole) // 40)):
        path.write_bytes(whole[:end])
        found = None
        try:
            found = list(digram.files(path))
        except CorruptFileError as error:
            told = error.path
        if found is None:
            assert told == str(path)
        else:
            # A stream says where it ends by an empty message, and may leave it out.
            assert name == "a.ipc"
            assert found == encoded([*ROWS * 5])[: len(found)]
    path.write_bytes(b"")
    with pytest.raises(CorruptFileError):
        list(digram.files(path))


@pytest.mark.parametrize("name", ["a.arrow", "a.ipc", "a.feather"])
def test_an_end_in_the_middle(tmp_path: Path, name: str) -> None:
    """A message of no length is the end: where one lost its length, rows would be missing."""
    path = tmp_path / name
    WRITE[name](pyarrow.table({"text": ROWS * 5}), path)
    whole = path.read_bytes()
    mark = b"\xff\xff\xff\xff"
    at = whole.index(mark, whole.index(mark) + 4)  # the first is the schema
    path.write_bytes(whole[: at + 4] + bytes(4) + whole[at + 8 :])
    with pytest.raises(CorruptFileError, match=r"the batches end .* bytes before the file does"):
        list(digram.files(path))
    path.write_bytes(whole + whole)
    with pytest.raises(CorruptFileError, match=r"the batches end .* bytes before the file does"):
        list(digram.files(path))


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("compression", ["none", "snappy"])
def test_checksums_of_pages(tmp_path: Path, dictionary: bool, compression: str) -> None:
    """Where a Parquet file has them, no page is read as other text."""
    path = tmp_path / "a.parquet"
    told: dict[str, Any] = {"use_dictionary": dictionary, "compression": compression}
    parquet.write_table(pyarrow.table({"text": ROWS * 5}), path, write_page_checksum=True, **told)
    whole = path.read_bytes()
    chunk = parquet.ParquetFile(path).metadata.row_group(0).column(0)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    rows, refused = encoded([*ROWS * 5]), 0
    for at in range(start, start + chunk.total_compressed_size):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        try:
            assert list(digram.files(path)) == rows, at
        except CorruptFileError:
            refused += 1
    assert refused > chunk.total_compressed_size // 2


def test_fields_within_each_other(tmp_path: Path) -> None:
    table = pyarrow.table({"meta": [{"text": "one", "n": 1}, {"text": "two", "n": 2}]})
    for name, write in WRITE.items():
        write(table, tmp_path / name)
        assert list(digram.files(tmp_path / name, field="meta.text")) == [b"one", b"two"]


def test_without_pyarrow(tmp_path: Path) -> None:
    """Text, JSON lines and packed files need nothing more, and tables in memory neither."""
    parquet_file(pyarrow.table({"text": ["one"]}), tmp_path / "a.parquet")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"text": "one"}'))
    code = """
import sys
sys.modules["pyarrow"] = None
import digram
print(list(digram.files("a.jsonl.gz")))
class Ids:
    def __arrow_c_stream__(self, requested_schema=None):
        return digram.count_pretokens("one").__arrow_c_stream__()
print(list(digram.table(Ids(), "piece")))
try:
    list(digram.files("a.parquet"))
except digram.OptionError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, text=True, check=True, stdout=subprocess.PIPE
    )
    assert done.stdout.splitlines() == [
        "[b'one']",
        "[b'one']",
        "a.parquet: Parquet files need pyarrow, which is not installed. Install it in "
        'the folder of digram\'s clone: pip install ".[arrow]".',
    ]


def test_nothing_is_made_of_a_size_that_is_declared(tmp_path: Path) -> None:
    """An Arrow message that says it is a terabyte."""
    path = tmp_path / "a.arrow"
    ipc_file(pyarrow.table({"text": ["x" * 1000]}), path)
    whole = path.read_bytes()
    sink = io.BytesIO()
    with ipc.new_stream(sink, pyarrow.schema({"text": pyarrow.string()})):
        pass
    # A continuation mark and the length of what describes the message.
    path.write_bytes(sink.getvalue()[:-8] + b"\xff\xff\xff\xff" + b"\xf0\xff\xff\x7f" + whole[:64])
    with pytest.raises(CorruptFileError, match="pyarrow cannot read it"):
        list(digram.files(path))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("encoding", ["RLE_DICTIONARY", "DELTA_BYTE_ARRAY"])
def test_equal_rows_are_not_decoded_all_at_once(tmp_path: Path, encoding: str) -> None:
    """A file of 5 kB whose rows are one text, which stands in it once: 200 MB of text."""
    small, path = tmp_path / "small.parquet", tmp_path / "equal.parquet"
    parquet_file(pyarrow.table({"text": ROWS}), small)
    rows = pyarrow.array(["word " * 20_000]).take(pyarrow.array([0] * 2000))
    told = {"use_dictionary": False, "column_encoding": {"text": encoding}}
    parquet.write_table(
        pyarrow.table({"text": rows}), path, **({} if encoding == "RLE_DICTIONARY" else told)
    )
    assert encoding in parquet.ParquetFile(path).metadata.row_group(0).column(0).encodings
    found = read_in_a_child(path, small)
    print(f"\n{encoding}: {path.stat().st_size:,} bytes took {found.grown:,} kB")
    assert (found.texts, found.bytes, found.error) == (2000, 200_000_000, None)
    assert path.stat().st_size < 10_000
    assert found.grown < 80_000


def test_long_rows_after_short_ones(tmp_path: Path) -> None:
    """What is decoded together follows what came, up and down, and all rows are read."""
    rows = ["a"] * 700 + ["word " * 100_000] * 30 + ["b"] * 700
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table({"text": rows}), path)
    assert list(digram.files(path)) == [row.encode() for row in rows]


def test_lists_are_refused_with_what_to_do(tmp_path: Path) -> None:
    rows = pyarrow.table({"messages": [[{"content": "a"}, {"content": "b"}]], "tags": [["a"]]})
    parquet.write_table(rows, tmp_path / "a.parquet")
    feather.write_feather(rows, tmp_path / "a.arrow")
    for name in ("a.parquet", "a.arrow"):
        for field in ("messages.content", "tags"):
            with pytest.raises(
                OptionError, match="are not supported: flatten them, or write the row"
            ):
                list(digram.files(tmp_path / name, field=field))
    for column in ("messages.content", "tags"):
        with pytest.raises(OptionError, match="are not supported: flatten them, or write the row"):
            list(digram.table(rows, column))
