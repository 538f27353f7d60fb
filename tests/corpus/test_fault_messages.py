"""What is said of each fault of a file, word for word, and how much memory it may cost.

Each file is read by a process of its own, as training reads it, and the growth of that process is
held to a bound: what is kept while reading ahead (12 MiB), one block of each stage, and what
pyarrow takes for a file.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
import pytest
from backports import zstd
from children import Read, read_in_a_child
from pyarrow import parquet

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

TEXT = "she sells sea shells\n" * 40_000
ROWS = 48  # of that text, before what is at fault and after it: 80 MB in all
KB = 60_000
"""By how much reading any of these may let memory grow."""
SKIP = 'Pass digram.files(path, on_error="skip") to skip and count bad records.'


def lines(*rows: str) -> bytes:
    return "".join(json.dumps({"text": row}) + "\n" for row in rows).encode()


def packed(*members: bytes) -> bytes:
    return b"".join(gzip.compress(member, 1) for member in members)


class Fault(NamedTuple):
    """A file, what is said of it, and what where the record may be passed over."""

    name: str
    data: Callable[[], bytes]
    told: str | None
    warned: str | None = None
    options: dict[str, Any] | None = None


LINE = lines(TEXT)
PLACE = f"record {ROWS + 1} (byte {ROWS * len(LINE)}): invalid JSON."
BROKEN = b'{"text": "she se\n'
SQUARES = "".join(f"{n * n} shells\n" for n in range(100_000)).encode()
CUT = len(zstd.compress(SQUARES)) // 2

FAULTS = [
    Fault(
        "broken-line.jsonl",
        lambda: LINE * ROWS + BROKEN + LINE * ROWS,
        f"CorruptFileError: broken-line.jsonl, {PLACE} {SKIP}",
        f"1 record was skipped: broken-line.jsonl, {PLACE}",
    ),
    Fault(
        "broken-line.jsonl.gz",
        lambda: packed(LINE * ROWS + BROKEN[:7], BROKEN[7:] + LINE * ROWS),
        f"CorruptFileError: broken-line.jsonl.gz, {PLACE} {SKIP}",
        f"1 record was skipped: broken-line.jsonl.gz, {PLACE}",
    ),
    Fault("members.jsonl.gz", lambda: packed(LINE) * (2 * ROWS), None),
    Fault(
        "truncated.txt.zst",
        lambda: zstd.compress(SQUARES)[:CUT],
        f"CorruptFileError: truncated.txt.zst: the zst data ends early, at byte {CUT:,}. "
        "The copy is truncated; copy it again.",
    ),
    Fault(
        "damaged.txt.gz",
        lambda: packed(TEXT[:21].encode())[:-8] + bytes(8),
        "CorruptFileError: damaged.txt.gz: the gz data is damaged, which was found at or after "
        "byte 0: Error -3 while decompressing data: incorrect data check. Copy the file again.",
    ),
    Fault(
        "bomb.txt.gz",  # of zeros, a gigabyte: one word without an end
        lambda: packed(bytes(1 << 24)) * 64,
        "OptionError: bomb.txt.gz: there are 8,4.. kB without a place where the "
        "pretokenizer always splits, which exceeds memory_limit=. Split it into "
        "documents with digram.files(path, separator=...), raise the limit, or choose another "
        'pretokenizer; "gpt2" and "o200k" split at nearly every space.',
        options={"separator": "\n", "most": 8 << 20},
    ),
]


def read(folder: Path, name: str, **told: Any) -> Read:
    small = folder / f"small{name[name.index('.') :]}"
    found = read_in_a_child(Path(name), small, cwd=folder, **told)
    print(f"\n{name}: {found.bytes:,} bytes of text, and memory grew by {found.grown:,} kB")
    assert found.grown < KB
    return found


def write(folder: Path, fault: Fault) -> None:
    (folder / fault.name).write_bytes(fault.data())
    _, form, *packing = fault.name.split(".")
    pack: dict[str, Callable[[bytes], bytes]] = {"gz": packed, "zst": zstd.compress}
    small = {"jsonl": lines("a"), "txt": b"a"}[form]
    name = ".".join(["small", form, *packing])
    (folder / name).write_bytes(pack[packing[0]](small) if packing else small)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_what_is_said(tmp_path: Path, fault: Fault) -> None:
    write(tmp_path, fault)
    found = read(tmp_path, fault.name, **(fault.options or {}))
    # Where blocks end is up to the unpacker.
    error = found.error and re.sub(r"(8,4)\d\d,\d{3} bytes", r"\1.. kB", found.error)
    assert error == fault.told
    assert (found.skipped, found.warnings) == (0, [])
    if fault.told is None:  # all of it is read
        assert (found.texts, found.bytes) == (2 * ROWS, 2 * ROWS * len(TEXT))
    if fault.warned is not None:
        found = read(tmp_path, fault.name, on_error="skip")
        assert (found.error, found.skipped, found.warnings) == (None, 1, [fault.warned])
        assert (found.texts, found.bytes) == (2 * ROWS, 2 * ROWS * len(TEXT))


def test_what_is_said_of_nulls_in_parquet(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"text": ["a"]}), tmp_path / "small.parquet")
    table = pyarrow.table({"text": [*[TEXT] * ROWS, None, *[TEXT] * ROWS, None]})
    parquet.write_table(table, tmp_path / "nulls.parquet")
    found = read(tmp_path, "nulls.parquet")
    null = 'nulls.parquet, record {}: the column "text" is null.'
    assert found.error == f"CorruptFileError: {null.format(ROWS + 1)} {SKIP}"
    found = read(tmp_path, "nulls.parquet", on_error="skip")
    first, second = (null.format(number) for number in (ROWS + 1, 2 * ROWS + 2))
    warned = [f"2 records were skipped: {first.removesuffix('.')}; {second}"]
    assert (found.error, found.skipped, found.warnings) == (None, 2, warned)
    assert (found.texts, found.bytes) == (2 * ROWS, 2 * ROWS * len(TEXT))


@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_what_is_said_of_a_file_that_may_not_be_read(tmp_path: Path, on_error: str) -> None:
    """Files are never skipped: nobody knows what is in them. As root the child becomes nobody."""
    folder = tmp_path / "shards"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(TEXT)
    (folder / "b.txt").chmod(0)
    for one in (tmp_path, folder):
        one.chmod(0o755)
    (tmp_path / "small.txt").write_text("a")
    uid = 65534 if os.geteuid() == 0 else None
    found = read_in_a_child(
        Path("shards"), Path("small.txt"), cwd=tmp_path, uid=uid, on_error=on_error
    )
    assert found.error == "PermissionError: [Errno 13] Permission denied: 'shards/b.txt'"
    assert (found.skipped, found.warnings) == (0, [])
    assert found.grown < KB
