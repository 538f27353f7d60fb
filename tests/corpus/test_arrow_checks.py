"""Arrow data that leads out of its buffers: refused at every door, before a byte of it is read.

Each call is a process of its own. Where nobody looks, it ends by a SIGSEGV, or worse: with text
that nobody wrote, which lay in memory beside.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from forked import Ended, forked
from pyarrow import feather, ipc, parquet

import digram
from digram.distributed import columns, rows
from digram.distributed.tasks import CountTexts
from digram.errors import CorruptFileError, OptionError

TEXTS = ["aaaaa", "bbbbb", "ccccc"]
SOUND = (0, 5, 10, 15)
UNSOUND = {
    "before the start": (-5, 5, 10, 15),
    "ends before the start": (0, 5, 10, -1),
    "descending": (0, 10, 5, 15),
    "far away between": (0, 1 << 30, 10, 15),
    # How long a buffer is only pyarrow knows.
    "behind the end": (0, 5, 10, 65536),
    "far behind the end": (0, 5, 10, (1 << 31) - 1),
    "all far away": (1 << 30, 1 << 30, 1 << 30, 1 << 30),
}
TOK = digram.train("a", max_merges=0)
WARM = pyarrow.table({"text": TEXTS})
"""What pyarrow sets aside at its first table is no memory of a child's, which has a limit."""


class Foreign:
    """A table of a program that nobody knows."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class ForeignArray:
    """An array of such a program."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._array.__arrow_c_array__(requested_schema)


def counts(column: Any) -> Any:
    return pyarrow.table({"piece": column, "count": [1, 2, 3]})


def nested(column: Any) -> Any:
    outer = pyarrow.StructArray.from_arrays([column, pyarrow.array([1, 2, 3])], ["text", "id"])
    return pyarrow.table({"meta": outer})


def as_rows(column: Any) -> Any:
    kinds = pyarrow.array(["pretoken", "pretoken", "pretoken"])
    numbers = pyarrow.array([1, 2, 3])
    return pyarrow.Table.from_arrays([kinds, column, numbers], names=["kind", "piece", "count"])


def texts(data: Any, column: str = "text") -> list[str]:
    return [text.decode() for text in digram.table(data, column)]


def in_a_table(column: Any) -> Any:
    return pyarrow.table({"id": [1, 2, 3], "text": column})


def in_a_dictionary(column: Any) -> Any:
    keys = pyarrow.array([2, 1, 0])
    return pyarrow.table({"text": pyarrow.DictionaryArray.from_arrays(keys, column)})


def trained(data: Any) -> int:
    return digram.train(digram.table(data), max_merges=1).vocab_size


def added_up(data: Any) -> int:
    return len(digram.Counts.from_arrow(data, pretokenizer=None))


Door = tuple[Callable[[Any], Any], Callable[[Any], Any]]
TABLES: dict[str, Door] = {
    "array": (lambda a: a, texts),
    "chunked array": (lambda a: pyarrow.chunked_array([a]), texts),
    "table": (in_a_table, texts),
    "batch": (lambda a: pyarrow.record_batch({"text": a, "id": [1, 2, 3]}), texts),
    "reader": (lambda a: in_a_table(a).to_reader(), texts),
    "struct": (nested, lambda data: texts(data, "meta.text")),
    "dictionary": (in_a_dictionary, texts),
    "training": (in_a_table, trained),
    "a batch of texts": (in_a_table, lambda data: TOK.encode_batch(digram.table(data))),
    "counts": (counts, added_up),
    "counts of a reader": (lambda a: counts(a).to_reader(), added_up),
    "an engine's texts": (
        in_a_table,
        lambda data: [one.decode() for one in columns.texts([data], "text")],
    ),
    "an engine's counts": (as_rows, lambda data: len(rows.counts_of(data, CountTexts.of(None)))),
}
FOREIGN: dict[str, Door] = {
    "array": (ForeignArray, texts),
    "table": (lambda a: Foreign(in_a_table(a)), texts),
    "struct": (lambda a: Foreign(nested(a)), lambda data: texts(data, "meta.text")),
    "dictionary": (lambda a: Foreign(in_a_dictionary(a)), texts),
    "counts": (lambda a: Foreign(counts(a)), added_up),
}


def refused(door: Door, offsets: Iterable[tuple[int, ...]]) -> Iterator[str]:
    """What is said to texts whose offsets change after pyarrow saw that they were right."""
    build, use = door
    for bad, of in itertools.product(offsets, (pyarrow.string(), pyarrow.binary())):
        held = bytearray(struct.pack("<4i", *SOUND))
        buffers = [None, pyarrow.py_buffer(held), pyarrow.py_buffer("".join(TEXTS).encode())]
        data = build(pyarrow.Array.from_buffers(of, 3, buffers))
        held[:] = struct.pack("<4i", *bad)
        with pytest.raises(OptionError) as caught:
            use(data)
        yield str(caught.value)


@pytest.mark.parametrize("door", TABLES)
def test_tables_of_pyarrow(door: str) -> None:
    ended = forked(lambda: [*refused(TABLES[door], UNSOUND.values())])
    assert (ended.how, len(ended.said)) == ("value", 14), ended


@pytest.mark.parametrize("door", FOREIGN)
def test_tables_of_others(door: str) -> None:
    """The core looks too, at all that can be known without the sizes of buffers."""
    ended = forked(lambda: [*refused(FOREIGN[door], [*UNSOUND.values()][:4])])
    assert (ended.how, len(ended.said)) == ("value", 8), ended


@pytest.mark.parametrize("key", [-1, 3, 127])
def test_keys_of_a_dictionary(key: int) -> None:
    for of in (Foreign, lambda table: table):
        held = bytearray([0, 1, 2])
        keys = pyarrow.Array.from_buffers(pyarrow.int8(), 3, [None, pyarrow.py_buffer(held)])
        data = of(
            pyarrow.table({"text": pyarrow.DictionaryArray.from_arrays(keys, pyarrow.array(TEXTS))})
        )
        held[1] = key % 256
        ended = forked(partial(texts, data))
        assert ended.how == "refused", ended


@pytest.mark.parametrize("at", [0, 4, 8, 12])
def test_views(at: int) -> None:
    """A view is a length, four bytes of the text, and where the rest is."""
    for of in (Foreign, lambda table: table):
        found = pyarrow.array(["b" * 40, "c" * 50], pyarrow.string_view())
        held = bytearray(found.buffers()[1])
        rest = [pyarrow.py_buffer(bytes(one)) for one in found.buffers()[2:]]
        again = pyarrow.Array.from_buffers(
            pyarrow.string_view(), 2, [None, pyarrow.py_buffer(held), *rest]
        )
        data = of(pyarrow.table({"text": again}))
        held[16 + at : 20 + at] = struct.pack("<I", 1 << 28)
        ended = forked(partial(texts, data))
        assert ended.how == "refused", (at, ended)


def written(path: Path, write: Callable[[Any, Path], None]) -> bytes:
    write(pyarrow.table({"text": TEXTS}), path)
    return path.read_bytes()


def ipc_file(table: Any, path: Path) -> None:
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


def ipc_stream(table: Any, path: Path) -> None:
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def feather_file(table: Any, path: Path) -> None:
    feather.write_feather(table, path, compression="uncompressed")


WRITE = {"a.arrow": ipc_file, "a.ipc": ipc_stream, "a.feather": feather_file}


@pytest.mark.parametrize("name", WRITE)
def test_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    sound = written(path, WRITE[name])
    old = struct.pack("<4i", *SOUND)
    assert sound.count(old) == 1
    for offsets in UNSOUND.values():
        path.write_bytes(sound.replace(old, struct.pack("<4i", *offsets)))
        ended = forked(lambda: [text.decode() for text in digram.files(path)])
        assert ended.how == "refused"
        assert f'{name}: the column "text" is damaged in row 1 or later' in ended.said
        # And where somebody else reads it into memory.
        if name != "a.feather":
            opened = ipc.open_file if name == "a.arrow" else ipc.open_stream
            table = opened(pyarrow.py_buffer(path.read_bytes())).read_all()
            ended = forked(partial(texts, table))
            assert (ended.how, "OptionError" in ended.said) == ("refused", True)


@pytest.mark.parametrize("name", [*WRITE, "a.parquet"])
def test_strings_that_are_not_utf8(tmp_path: Path, name: str) -> None:
    """A record each, which can be skipped."""
    rows = [b"one", b"t\xffo", None, b"three", b"\xff"]
    strings = pyarrow.array(rows, pyarrow.binary()).view(pyarrow.string())
    path = tmp_path / name
    for kind in (
        strings,
        strings.view(pyarrow.binary()).cast(pyarrow.large_binary()).view(pyarrow.large_string()),
        strings.dictionary_encode(),
    ):
        outer = pyarrow.StructArray.from_arrays([kind], ["text"])
        for column, field in ((kind, "text"), (outer, "text.text")):
            table = pyarrow.table({"text": column})
            {**WRITE, "a.parquet": parquet.write_table}[name](table, path)
            for source, named in (
                (digram.files(path, field=field, on_error="skip"), f'"{field}"'),
                (digram.table(table, field, on_error="skip"), f'"{field}" of the table'),
            ):
                reading = iter(source)
                with pytest.warns(UserWarning, match="3 records were skipped"):
                    assert list(reading) == [b"one", b"three"]
                assert [fault.record for fault in reading.faults] == [2, 3, 5]
                assert reading.faults[0].message == (
                    f"the column {named} is not UTF-8 at byte 1 of its text."
                )
    binary = pyarrow.table({"text": pyarrow.array([b"t\xffo"])})
    assert list(digram.table(binary)) == [b"t\xffo"]


@pytest.mark.parametrize("name", [*WRITE, "a.parquet"])
def test_names_that_are_not_utf8(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    write: dict[str, Callable[..., Any]] = {
        **WRITE,
        "a.parquet": partial(parquet.write_table, store_schema=False),
    }
    write[name](pyarrow.table({"text": TEXTS, "other": TEXTS}), path)
    for old in (b"text", b"other"):
        whole = path.read_bytes()
        path.write_bytes(whole.replace(old, b"\x80" + old[1:]))
        with pytest.raises(CorruptFileError, match=r"pyarrow cannot read it: .*utf-8"):
            list(digram.files(path))
        if name in ("a.arrow", "a.ipc"):
            opened = ipc.open_file if name == "a.arrow" else ipc.open_stream
            table = opened(pyarrow.py_buffer(path.read_bytes())).read_all()
            with pytest.raises(OptionError, match=r"cannot be read: .*utf-8"):
                list(digram.table(table))
            with pytest.raises(OptionError, match=r"cannot be read: .*utf-8"):
                digram.Counts.from_arrow(table, pretokenizer=None)
        path.write_bytes(whole)


def test_an_engine_takes_strings_that_are_not_utf8() -> None:
    """Spark's strings are bytes."""
    strings = pyarrow.array([b"one", b"t\xffo"]).view(pyarrow.string())
    for values in (strings, strings.dictionary_encode()):
        table = pyarrow.table({"text": pyarrow.chunked_array([values, values])})
        assert list(columns.texts([table], "text")) == [b"one", b"t\xffo"] * 2
    assert list(columns.texts([pyarrow.table({"text": strings}).slice(2)], "text")) == []


def test_other_columns_may_be_what_they_are() -> None:
    """They are not looked at, nor handed over."""
    held = bytearray(struct.pack("<4i", *SOUND))
    buffers = [None, pyarrow.py_buffer(held), pyarrow.py_buffer("".join(TEXTS).encode())]
    other = pyarrow.Array.from_buffers(pyarrow.string(), 3, buffers)
    table = pyarrow.table({"other": other, "text": TEXTS, "text2": other})
    held[:] = struct.pack("<4i", *UNSOUND["far behind the end"])
    assert forked(lambda: texts(table)) == Ended("value", TEXTS)
    assert forked(lambda: texts(table.to_reader())) == Ended("value", TEXTS)
