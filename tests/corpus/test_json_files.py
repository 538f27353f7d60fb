"""Files of JSON that are not lines: lists of records, and records in a row, cut anywhere."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, texts

import digram
from digram.corpus import OnError, Pass
from digram.corpus.jsonl import flat, json_values, place_of
from digram.corpus.reader import Records
from digram.errors import CorruptFileError, OptionError

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
records = st.builds(
    lambda more, text: {**more, "text": text}, st.dictionaries(texts, values), texts
)


def read(data: bytes, size: int, field: str = "text") -> list[str]:
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    found = json_values(blocks, (field,), Records("a.json", "raise", Pass()))
    return [text.decode() for text in flat(found)]


@cases(150)
@given(
    st.lists(records, max_size=5),
    st.integers(1, 30),
    st.booleans(),
    st.sampled_from([None, 0, 2]),
    st.sampled_from(["list", "", "\n", " \r\n"]),
)
def test_all_ways_to_write_records(
    given: list[dict[str, object]], size: int, ascii: bool, indent: int | None, way: str
) -> None:
    """A list, and values in a row, with or without white space, in blocks of any size."""
    dumped = [json.dumps(one, ensure_ascii=ascii, indent=indent) for one in given]
    whole = json.dumps(given, ensure_ascii=ascii, indent=indent)
    data = (whole if way == "list" else way.join(dumped)).encode()
    assert read(data, size) == [one["text"] for one in given]
    for number, one in enumerate(dumped, 1):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        place = place_of(number, blocks, None)
        assert place is not None
        found, _ = json.JSONDecoder().raw_decode(data[place:].decode())
        assert found == json.loads(one)
    assert place_of(len(given) + 1, [data], None) is None


@cases(200)
@given(st.lists(records, max_size=3), st.data(), st.integers(1, 30))
def test_what_is_broken_is_refused_or_is_json(
    given: list[dict[str, object]], draw: st.DataObject, size: int
) -> None:
    """A byte changed, lost or added: no text is lost or changed in silence, at any cut."""
    data = bytearray(json.dumps(given).encode())
    at = draw.draw(st.integers(0, len(data) - 1))
    data[at : at + draw.draw(st.integers(0, 1))] = draw.draw(
        st.sampled_from([b"", b"{", b"}", b"[", b"]", b'"', b",", b"\\", b"\n", b"1", b"\xff"])
    )
    try:
        expected = json.loads(bytes(data), parse_constant=lambda name: 1 / 0)
        wanted = [one["text"] for one in expected]
        assert all(isinstance(text, str) for text in wanted)
        "".join(wanted).encode()
    except (ValueError, KeyError, TypeError, AssertionError, ZeroDivisionError):
        wanted = None
    try:
        found: list[str] | None = read(bytes(data), size)
    except CorruptFileError:
        found = None
    if (
        found is not None and wanted is None
    ):  # no list any more: values in a row, a list in a record
        assert not bytes(data).lstrip().startswith(b"[") or _lists(expected)
    else:
        assert found == wanted


def _lists(value: object) -> bool:
    """Whether a record has a list where its text was, whose items are texts."""
    return isinstance(value, list) and any(isinstance(one.get("text"), list) for one in value)


FATAL = [
    ('[{"text": "a"} {"text": "b"}]', 2, 15, "a comma or the end of the list is missing here."),
    ('[{"text": "a"},', 2, 15, "the file ends before its list does."),
    ('[{"text": "a"},]', 2, 15, "a record is missing here."),
    ('[,{"text": "a"}]', 1, 1, "a record is missing here."),
    ('[{"text": "a"}] {}', 2, 16, "there is more text after the end of the list."),
    ("[", 1, 1, "the file ends before its list does."),
    (' {"text": "a', 1, 1, "the file ends within the record that begins here."),
    ('[{"text": "a\n"}]', 1, 12, "a line ends within a string."),
    ("}", 1, 0, "a record is missing here."),
]


@pytest.mark.parametrize(("data", "record", "offset", "reason"), FATAL)
def test_what_cannot_be_read_on_is_never_skipped(
    tmp_path: Path, data: str, record: int, offset: int, reason: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(data)
    ways: list[OnError] = ["raise", "skip"]
    for on_error in ways:
        with pytest.raises(CorruptFileError, match=re.escape(reason)) as caught:
            list(digram.files(path, on_error=on_error))
        assert (caught.value.path, caught.value.record) == (str(path), record)
        assert caught.value.offset == offset
    assert list(digram.files(path, format="text")) == [data.encode()]


def test_records_without_a_text(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    data = b'\xef\xbb\xbf[\n{"text": "one"},\n{"text": tru},\n3,\n{"text": "two"}\n]\n'
    path.write_bytes(gzip.compress(data))
    with pytest.raises(CorruptFileError) as caught:
        digram.count_pretokens(path)
    assert str(caught.value) == (
        f"{path}, record 2 (byte 22): invalid JSON. Nothing was counted from this file. Pass "
        'digram.files(path, on_error="skip") to skip and count bad records, or '
        'digram.files(path, format="text") to read the file as one text.'
    )
    with pytest.warns(UserWarning, match="^2 records were skipped"):
        assert list(digram.files(path, on_error="skip")) == [b"one", b"two"]
    assert digram.files(path).start_of(path, 2) == 22
    assert data[22:].startswith(b'{"text": tru')


def test_one_object_and_lists_within_it(tmp_path: Path) -> None:
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"version": 2, "data": [{"t": "a"}, {"t": "b"}]}, indent=4))
    assert list(digram.files(path, field="data.t")) == [b"a", b"b"]
    path.write_text("")
    assert list(digram.files(path)) == []
    path.write_text('{"name": "x", "version": "1"}')
    with pytest.raises(
        CorruptFileError, match=r'no field "text"; the record has "name", "version"'
    ):
        list(digram.files(path))


def test_deep_and_long_records(tmp_path: Path) -> None:
    """Nothing recurses with the input, and a record costs its bytes at most."""
    path = tmp_path / "a.json"
    path.write_text("[" * 3_000_000)
    with pytest.raises(CorruptFileError, match="the file ends within the record"):
        list(digram.files(path))
    path.write_text("[" * 1000 + "]" * 1000)
    with pytest.raises(CorruptFileError, match="nested more than 64 levels deep"):
        list(digram.files(path))
    path.write_text('[{"text": "' + "word " * 2_000_000 + '"}]')
    assert digram.count_pretokens(path).documents == 1
    with pytest.raises(OptionError, match=r"a record of more than .* exceeds memory_limit="):
        digram.count_pretokens(path, memory_limit="24 MiB")
