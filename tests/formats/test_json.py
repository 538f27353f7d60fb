"""JSON that may be damaged: each fault is named with its place."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram import CorruptFileError, DigramError, LimitExceededError
from digram.formats._json import MAX_DEPTH, dump, expect, parse
from digram.formats._show import show

TEXTS = st.text(max_size=8)  # most of the time goes into drawing characters
VALUES: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@cases(300)
@given(VALUES)
def test_what_is_dumped_is_parsed(value: Any) -> None:
    data = dump(value)
    assert parse(data, None) == value
    assert data.count(b"\n") == 1


@cases(300)
@given(VALUES.map(lambda value: {"a": value}), st.data())
def test_every_truncation_is_called_one(value: Any, data: Any) -> None:
    written = json.dumps(value).encode()
    cut = written[: data.draw(st.integers(1, len(written) - 1))]
    with pytest.raises(CorruptFileError, match="truncated") as caught:
        parse(cut, "a.json")
    assert caught.value.line == cut.count(b"\n") + 1


@pytest.mark.parametrize(
    ("data", "message", "line", "offset"),
    [
        (b"", "the file is empty", None, None),
        (b" \n\t", "the file is empty", None, None),
        (b"{", "the file ends at byte 1, in the middle", 1, 1),
        (b'{"a":', "the file ends at byte 5", 1, 5),
        (b'{"a": tr', "the file ends at byte 8", 1, 8),
        (b'{"a": "b', "the file ends at byte 8", 1, 8),
        ('{\n"é": "b\\'.encode(), "the file ends at byte 11", 2, 11),
        (b'{"a": "b\\u00', "the file ends at byte 12", 1, 12),
        (b"[1, 2,\n", "the file ends at byte 7", 2, 7),
        (b"[\xc3", "the file ends at byte 2, inside a character", 1, 1),
        (b"[\n\xff]", "byte 2 is not UTF-8", 2, 2),
        (b'"\xed\xa0\x80"', "byte 1 is not UTF-8", 1, 1),
        (b'["\\ud800"]', "lone surrogate", None, None),
        (b'{"\\udc00x": 1}', "lone surrogate", None, None),
        (b"[1, 2} ", "not JSON at byte 5", 1, 5),
        (b"[1,\n 2,\n x]", "not JSON at byte 9", 3, 9),
        ('["é", x]'.encode(), "not JSON at byte 7", 1, 7),
        (b"[1] [2]", "not JSON at byte 4: extra data", 1, 4),
        (b"{1: 2}", "not JSON at byte 1", 1, 1),
        (b"{'a': 2}", "not JSON at byte 1", 1, 1),
        (b"[01]", "not JSON", 1, 2),
        (b'["\x01"]', "not JSON at byte 2: invalid control", 1, 2),
        (b"[NaN]", "NaN is not a JSON number", None, None),
        (b"[-Infinity]", "-Infinity is not a JSON number", None, None),
        (b"[" + b"9" * 5000 + b"]", "limit", None, None),
        (b'{"a": 1,\n"b": {"c": 1},\n"a": 2}', "the key 'a' occurs twice", 3, None),
        (b'{"a": {"x": 1}, "b": {"x": 1, "x": 1}}', "the key 'x' occurs twice", None, None),
        (b"\xef\xbb\xbf{}", "byte order mark", None, 0),
        (b"\xff\xfe{\x00}\x00", "byte order mark", None, 0),
        (b"\xfe\xff\x00{\x00}", "byte order mark", None, 0),
    ],
)
def test_refused(data: bytes, message: str, line: int | None, offset: int | None) -> None:
    with pytest.raises(CorruptFileError, match=message) as caught:
        parse(data, "a.json")
    assert (caught.value.path, caught.value.line) == ("a.json", line)
    assert caught.value.offset == offset


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert parse(rb'["\ud83d\ude42"]', None) == ["🙂"]


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1000, 300_000])
def test_depth_is_limited(opening: bytes, depth: int) -> None:
    closing = b"]" if opening == b"[" else b"}"
    inside = (
        opening * (MAX_DEPTH - 1) + opening[:-1].replace(b'"a"', b'"a":1') + closing * MAX_DEPTH
    )
    if opening == b"[":
        inside = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    else:
        inside = b'{"a":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH
    parse(inside, None)
    for data in (opening * depth, opening * depth + b"1" + closing * depth):
        with pytest.raises(DigramError):
            parse(data, "a.json")
    with pytest.raises(LimitExceededError, match=r"a.json: .* (deeper than 64|lists and objects)"):
        parse(opening * depth + b"1" + closing * depth, "a.json")


def test_exact_types() -> None:
    assert expect(5, int, "x", None) == 5
    for value in (True, 5.0, "5", None, [5]):
        with pytest.raises(CorruptFileError, match="a: x should be a whole number, not"):
            expect(value, int, "x", "a")


def test_values_are_shown_short() -> None:
    assert show("a\n\x1b") == r"'a\n\x1b'"
    assert len(show("a" * 1000)) == len(show(b"a" * 1000)) == 80
    assert show([1] * 100_000) == "a list of 100000"
    assert show({"a": "x" * 1000}).endswith("…")
    assert show(1 << 99_999) == "a number of 100000 bits"


MEMORY = """
import json, re, sys
from digram.formats._json import parse

def kilobytes(which):
    with open("/proc/self/status") as file:
        return int(re.search(which + r":\\s*(\\d+)", file.read())[1])

body, times = sys.argv[1], int(sys.argv[2])
data = ("[" + body * times + "0]").encode()
before = kilobytes("VmRSS")
try:
    parse(data, None)
except Exception as error:
    print(type(error).__name__, (kilobytes("VmHWM") - before) * 1024 / len(data))
else:
    print("read", (kilobytes("VmHWM") - before) * 1024 / len(data))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")
@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("[],", "LimitExceededError"),
        ("{},", "LimitExceededError"),
        ("[0],", "LimitExceededError"),
        ('["a"],', "read"),
        ('{"a":1},', "read"),
        ('"ab",', "read"),
    ],
)
def test_memory_is_bounded_by_the_file(body: str, outcome: str) -> None:
    command = [sys.executable, "-c", MEMORY, body, str(6_000_000 // len(body))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found, times = done.stdout.split()
    print(f"\n{body}: {times} bytes for each of the file")
    assert found == outcome
    assert float(times) < 32


def test_brackets_in_strings_are_no_lists() -> None:
    tokens = ["[" * number for number in range(1, 200)] * 9
    assert parse(json.dumps(tokens).encode(), None) == tokens


@pytest.mark.parametrize("was_enabled", [True, False])
def test_the_search_for_garbage_is_as_before(was_enabled: bool, tmp_path: Path) -> None:
    whole, damaged = tmp_path / "a.json", tmp_path / "b.json"
    digram.train("low lower", max_merges=2).save(whole)
    damaged.write_bytes(whole.read_bytes()[:-20])
    before = gc.isenabled()
    try:
        (gc.enable if was_enabled else gc.disable)()
        digram.load(whole)
        assert gc.isenabled() is was_enabled
        with pytest.raises(CorruptFileError):
            digram.load(damaged)
        assert gc.isenabled() is was_enabled
    finally:
        (gc.enable if before else gc.disable)()
