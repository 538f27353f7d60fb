"""Files of tokens, with a manifest and without."""

from __future__ import annotations

import io
import itertools
import struct
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
from pyarrow import ipc

import digram
from digram.shards.formats import FORMATS
from file_kinds.kind import Kind

TOK = digram.train("low lower", max_merges=3, special_tokens=["<|endoftext|>"])
TEXTS = ["low lower", "", "lowest", "a" * 30]


def token_files() -> Iterable[Kind]:
    for format in FORMATS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "out"
            digram.encode_files(TOK, TEXTS, folder, format=format, shard_tokens=12)
            shards = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
            only = Path(name) / "only"
            digram.encode_files(TOK, TEXTS, only, format=format)
            (only / "manifest.json").unlink()
            alone = {path.name: path.read_bytes() for path in sorted(only.iterdir())}

        def verified(folder: Path) -> Any:
            found = digram.read_tokens(folder)
            ids = [ids.tolist() for ids in found]
            found.verify()
            return [ids, found.tokens, len(found)]

        def as_it_is(folder: Path, format: str = format) -> Any:
            end = TOK.special_tokens["<|endoftext|>"]
            found = digram.read_tokens(folder, format, end_of_text=end)
            ids = [ids.tolist() for ids in found]
            assert [id for document in ids for id in document] == found.ids.tolist()
            return ids

        yield Kind(f"shards of {format}", shards, verified, sealed=True)
        yield Kind(f"a file of {format}", alone, as_it_is, says=SAYS.get(format))


def cut(ids: Any) -> Any:
    """Documents that end with the token for it."""
    end = TOK.special_tokens["<|endoftext|>"]
    found: list[list[int]] = [[]]
    for id in ids:
        found[-1].append(int(id))
        if id == end:
            found.append([])
    return found if found[-1] else found[:-1]


def one(folder: Path, suffix: str) -> bytes:
    [path] = folder.glob(f"*{suffix}")
    return path.read_bytes()


def says_megatron(folder: Path) -> Any:
    head = struct.unpack_from("<9sQBQQ", index := one(folder, ".idx"))
    assert head[:2] == (b"MMIDIDX\0\0", 1)
    kind = {1: "u1", 2: "i1", 3: "i2", 4: "i4", 5: "i8", 8: "u2"}[head[2]]
    sizes = np.frombuffer(index, "<i4", head[3], 34)
    starts = np.frombuffer(index, "<i8", head[3], 34 + 4 * head[3])
    borders = np.frombuffer(index, "<i8", head[4], 34 + 12 * head[3])
    data = one(folder, ".bin")
    rows = [
        np.frombuffer(data, f"<{kind}", size, start).tolist()
        for size, start in zip(sizes, starts, strict=True)
    ]
    pairs = itertools.pairwise(borders)
    return [[id for row in rows[start:stop] for id in row] for start, stop in pairs]


def says_llmc(folder: Path) -> Any:
    magic, version, number = struct.unpack_from("<3i", data := one(folder, ".bin"))
    kind = {(20240520, 1): "<u2", (20240801, 7): "<u4"}[magic, version]
    ids = np.frombuffer(data, kind, -1, 1024)
    assert len(ids) == number
    return cut(ids)


def says_datatrove(folder: Path) -> Any:
    size = int(one(folder, ".metadata").split(b"\n")[0].rsplit(b"|", 1)[1])
    ids = np.frombuffer(one(folder, ".ds"), f"<u{size}").tolist()
    ends = np.frombuffer(one(folder, ".index"), "<u8").tolist()
    return [ids[start:stop] for start, stop in itertools.pairwise([0, *ends])]


def says_columns(opened: Callable[[bytes], Any]) -> Callable[[Path], Any]:
    def says(folder: Path) -> Any:
        [path] = folder.iterdir()
        table = opened(path.read_bytes())
        table.validate(full=True)
        return next(
            table.column(name).to_pylist()
            for name in ("input_ids", "ids", "tokens")
            if name in table.column_names
        )

    return says


SAYS: dict[str, Callable[[Path], Any]] = {
    "megatron": says_megatron,
    "nanogpt": lambda folder: cut(np.frombuffer(one(folder, ".bin"), "<u2")),
    "llmc": says_llmc,
    "npy": lambda folder: cut(np.load(io.BytesIO(one(folder, ".npy")))),
    "datatrove": says_datatrove,
    "arrow": says_columns(lambda data: ipc.open_file(pyarrow.py_buffer(data)).read_all()),
    "parquet": says_columns(
        lambda data: pyarrow.parquet.read_table(
            pyarrow.BufferReader(data), page_checksum_verification=True, use_threads=False
        )
    ),
}
