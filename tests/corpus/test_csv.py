"""CSV and TSV, held against Python's own reader, with every fault at its place."""

from __future__ import annotations

import csv
import io
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.corpus import Pass
from digram.corpus.jsonl import csv_rows, flat, place_of
from digram.corpus.reader import Records
from digram.errors import CorruptFileError, OptionError

cells = st.text(st.sampled_from('ab ,\t"\n\ré;'), max_size=6)


def read(data: bytes, size: int, delimiter: bytes, on_error: str = "raise") -> list[str]:
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    records = Records("a.csv", on_error, Pass())  # type: ignore[arg-type]
    return [text.decode() for text in flat(csv_rows(blocks, delimiter, ("text",), records))]


@cases(200)
@given(
    st.lists(st.tuples(cells, cells, cells), max_size=6),
    st.integers(0, 2),
    st.sampled_from([b",", b"\t"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 20),
    st.booleans(),
)
def test_what_python_writes_is_read(
    rows: list[tuple[str, str, str]],
    column: int,
    delimiter: bytes,
    quoting: int,
    end: str,
    size: int,
    marked: bool,
) -> None:
    """Any cells, in each column, with each delimiter, at every cut into blocks."""
    if end == "\n" and any("\r" in cell for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # else Python leaves a carriage return, which ends a line, unquoted
    names = ["id", "é", "other"]
    names[column] = "text"
    written = io.StringIO(newline="")
    writer = csv.writer(
        written,
        delimiter=delimiter.decode(),
        quoting=quoting,  # type: ignore[arg-type]
        lineterminator=end,
    )
    writer.writerows([names, *rows])
    data = b"\xef\xbb\xbf" * marked + written.getvalue().encode()
    assert read(data, size, delimiter) == [row[column] for row in rows]
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    for number in range(1, len(rows) + 1):
        place = place_of(number, blocks, delimiter)
        assert place is not None
        again = delimiter.join([b"a", b"text", b"b"]) + b"\n" + data[place:]
        assert read(again, 1 << 20, delimiter) == [row[1] for row in rows[number - 1 :]]
    assert place_of(len(rows) + 1, blocks, delimiter) is None


@cases(100)
@given(st.lists(cells, max_size=5), st.integers(1, 20))
def test_anything_is_read_or_refused(given: list[str], size: int) -> None:
    """What is no CSV: a reader that is cut elsewhere says the same of it."""
    data = ("text,b\n" + "\n".join(given)).encode()

    def said(size: int) -> object:
        seen = Pass()
        records = Records("a.csv", "skip", seen)
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        try:
            found = list(flat(csv_rows(blocks, b",", ("text",), records)))
        except CorruptFileError as error:
            return str(error)
        return found, [str(fault) for fault in seen.faults]

    assert said(size) == said(1 << 20)


def test_every_row_has_as_many_fields_as_the_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    data = 'id,text\r\n1,one\r\n\r\n2,two, and more\r\n3\r\n4,"a" b\r\n5,"x\r\ny"\r\n6,'
    path.write_text(data, newline="")
    reasons = [
        (2, "the row has 3 fields, but the header has 2."),
        (3, "the row has 1 field, but the header has 2."),
        (4, "there is text after the closing quote of a field."),
    ]
    with pytest.raises(CorruptFileError) as caught:
        digram.count_pretokens(path)
    assert str(caught.value) == (
        f"{path}, record 2 (byte 18): {reasons[0][1]} Nothing was counted from this file. Pass "
        'digram.files(path, on_error="skip") to skip and count bad records, or '
        'digram.files(path, format="text") to read the file as one text.'
    )
    texts = iter(digram.files(path, on_error="skip"))
    with pytest.warns(UserWarning, match="^3 records were skipped"):
        assert list(texts) == [b"one", b"x\r\ny", b""]
    for fault, (record, reason) in zip(texts.faults, reasons, strict=True):
        assert (fault.record, fault.message) == (record, reason)
        assert fault.offset == digram.files(path).start_of(path, record)
    assert digram.files(path).start_of(path, 4) == data.index("4,")


def test_the_header_names_the_column(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("meta.text,body\na,b\n")
    assert list(digram.files(path, field="meta.text")) == [b"a"]
    assert list(digram.files(path, field="body")) == [b"b"]
    with pytest.raises(OptionError) as caught:
        list(digram.files(path, on_error="skip"))
    assert str(caught.value) == (
        f'{path}: there is no column "text". The first line names the columns: "meta.text", '
        '"body". Pass the name of the text column as field=.'
    )
    path.write_text("text,text\na,b\n")
    with pytest.raises(OptionError, match='the header has 2 columns with the name "text"'):
        list(digram.files(path))
    path.write_text("")
    assert list(digram.files(path)) == []
    path.write_text("text\n")
    assert list(digram.files(path)) == []
    path.write_text('text\n""\n\nlast')
    assert list(digram.files(path)) == [b"", b"last"]
    path.write_bytes(b"text\ncaf\xe9\n\0\n")
    assert list(digram.files(path)) == [b"caf\xe9", b"\0"]


def test_tabs_and_what_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('id\ttext\n1\the said "hi", and left\n')
    assert list(digram.files(path)) == [b'he said "hi", and left']
    other = tmp_path / "a.data"
    other.write_bytes(path.read_bytes())
    assert list(digram.files(other, format="tsv")) == [b'he said "hi", and left']
    assert list(digram.files(path, format="text")) == [path.read_bytes()]


def test_hostile_files_cost_no_memory(tmp_path: Path) -> None:
    """A quote that is not closed takes the longest text at most; other columns take nothing."""
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.write(b'id,text\n"')
        for _ in range(96):
            file.write(b"x," * (1 << 19))
    tracemalloc.start()
    with pytest.raises(CorruptFileError, match=r"record 1 \(byte 8\): the quote at byte 8 is not"):
        list(digram.files(path))
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()
    reason = "has more than 67108864 bytes. The quote at byte 8 may not be closed."
    with pytest.raises(CorruptFileError, match=re.escape(reason)):
        list(digram.files(path, field="id"))
    with pytest.raises(OptionError, match=r"a record of more than .* exceeds memory_limit="):
        digram.count_pretokens(digram.files(path, field="id"), memory_limit="24 MiB")
    for data in (b"a" * (2 << 20), b"," * (2 << 20), b'"' + b"\n" * (2 << 20)):
        path.write_bytes(data)
        with pytest.raises(CorruptFileError, match="the header has more than 1048576 bytes"):
            list(digram.files(path))
