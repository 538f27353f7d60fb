"""Files of text: lines of JSON, and packed ones."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from backports import zstd
from vocabularies import CORPUS

import digram
from file_kinds.kind import Kind

ROWS = ["low", "", "naïve 日本", "lower" * 40, "banana", None, "x"] * 4


def source_of(name: str, **named: Any) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            source = digram.files(folder / name, on_error="skip", **named)
            reading = iter(source)
            texts = [text.hex() for text in reading]
        assert bool(warned) == bool(reading.skipped), "records are missing without a word"
        return [texts, reading.skipped]

    return read


def texts_in(value: Any, names: list[str]) -> list[str]:
    """The texts of a record, those of lists on the way one after the other."""
    if isinstance(value, list):
        if not value:
            raise ValueError("the list is empty")
        return [text for item in value for text in texts_in(item, names)]
    if names:
        return texts_in(value[names[0]], names[1:])
    return [value.encode().hex()]


def says_records(records: Iterable[Any], names: list[str]) -> Any:
    """The texts of values, or of lines that hold one each, and how many hold none."""
    texts: list[str] = []
    skipped = 0
    for record in records:
        try:
            value = json.loads(record.decode()) if isinstance(record, bytes) else record
            texts += texts_in(value, names)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            skipped += 1
    return [texts, skipped]


def says_json_lines(folder: Path) -> Any:
    lines = (folder / "a.jsonl").read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return says_records((line for line in lines if line.strip(b" \t\r\n")), ["meta", "text"])


def says_json(folder: Path) -> Any:
    """Of a file that is JSON as a whole; where a record in it is none, nobody else tells."""
    try:
        top = json.loads((folder / "a.json").read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return NotImplemented
    return says_records(top if isinstance(top, list) else [top], ["meta", "text"])


def says_csv(folder: Path) -> Any:
    try:
        text = (folder / "a.csv").read_bytes().decode("utf-8-sig")
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (ValueError, csv.Error):
        return NotImplemented
    at = header.index("text")
    rows = [row for row in rows if row]
    sound = [row[at].encode().hex() for row in rows if len(row) == len(header)]
    return [sound, len(rows) - len(sound)]


def says_utf16(folder: Path) -> Any:
    data = (folder / "a.txt").read_bytes()
    for mark, encoding in ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32")):
        if data.startswith(mark):
            return [[data.decode(encoding).encode().hex()], 0]
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16").encode()
    return [[data.hex()], 0]


def sources() -> Iterable[Kind]:
    lines = [json.dumps({"id": n, "meta": {"text": t}}) for n, t in enumerate(ROWS)]
    data = "\n".join(
        [*lines, "", '{"meta": 5}', "{", '{"meta": {"text": "\\ud83d\\ude42"}}']
    ).encode()
    read = source_of("a.jsonl", field="meta.text")
    yield Kind("a.jsonl", {"a.jsonl": data}, read, says=says_json_lines, form="lines")
    values = [{"id": n, "meta": {"text": text}} for n, text in enumerate(ROWS)]
    data = json.dumps([*values, {"meta": [{"text": "a"}, {"text": ["b", "c"]}]}], indent=1).encode()
    read = source_of("a.json", field="meta.text")
    yield Kind("a.json", {"a.json": data}, read, says=says_json, form="json")
    rows = [f'{number},"{text}, ""x""",low' for number, text in enumerate(ROWS)]
    data = "\r\n".join(["id,text,other", *rows, "1,two", ""]).encode()
    yield Kind("a.csv", {"a.csv": data}, source_of("a.csv"), says=says_csv, form="lines")
    data = "naïve 日本 🙂\n".encode("utf-16")
    yield Kind("UTF-16", {"a.txt": data}, source_of("a.txt"), says=says_utf16)
    text = CORPUS.encode() * 2
    checked = {int(zstd.CompressionParameter.checksum_flag): 1}
    packed = {
        "gz": gzip.compress(text[:500], mtime=0) + gzip.compress(text[500:], mtime=0),
        "zst": zstd.compress(text[:500], options=checked)
        + zstd.compress(text[500:], options=checked),
        "bz2": bz2.compress(text[:500]) + bz2.compress(text[500:]),
        "xz": lzma.compress(text[:500]) + lzma.compress(text[500:]),
    }
    for packing, data in packed.items():
        name = f"a.txt.{packing}"
        yield Kind(name, {name: data}, source_of(name), sealed=True)
