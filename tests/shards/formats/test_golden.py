"""The bytes of each format, pinned; and read as the trainers' own code reads them."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from blake3 import blake3

import digram
from digram.shards.formats import FORMATS

TOK = digram.train("a", max_merges=0, special_tokens=["<|endoftext|>"])
WIDE = TOK.with_special_tokens({"<|far|>": 70_000})
TEXTS: list[str | bytes] = ["ab", "", b"\xff", "c"]
IDS = [[97, 98, 256], [256], [255, 256], [99, 256]]
WIDE_IDS = [[0x61, 0x62, 0x100], [0x100], [0xFF, 0x100], [0x63, 0x100]]
FLAT = [id for ids in IDS for id in ids]

U2 = "6100 6200 0001 0001 ff00 0001 6300 0001"
U4 = "61000000 62000000 00010000 00010000 ff000000 00010000 63000000 00010000"
INDEX = (
    "4d4d494449445800 00 0100000000000000 {code} 0400000000000000 0500000000000000"
    "03000000 01000000 02000000 02000000"
    "{begins}"
    "0000000000000000 0100000000000000 0200000000000000 0300000000000000 0400000000000000"
)
NPY = (
    "934e554d5059 0100 7600"
    + b"{'descr': '<u2', 'fortran_order': False, 'shape': (8,), }".ljust(117).hex()
    + "0a"
)
ENDS = "0300000000000000 0400000000000000 0600000000000000 0800000000000000"

GOLDEN: dict[tuple[str, bool], dict[str, str]] = {
    ("megatron", False): {
        ".bin": U2,
        ".idx": INDEX.format(
            code="08",
            begins="0000000000000000 0600000000000000 0800000000000000 0c00000000000000",
        ),
    },
    ("megatron", True): {
        ".bin": U4,
        ".idx": INDEX.format(
            code="04",
            begins="0000000000000000 0c00000000000000 1000000000000000 1800000000000000",
        ),
    },
    ("nanogpt", False): {".bin": U2},
    ("llmc", False): {".bin": "88d83401 01000000 08000000" + "00" * 1012 + U2},
    ("llmc", True): {".bin": "a1d93401 07000000 08000000" + "00" * 1012 + U4},
    ("datatrove", False): {
        ".ds": U2,
        ".ds.index": ENDS,
        ".ds.metadata": f"digram-{TOK.digest[:12]}|2\n8\n8.00 T".encode().hex(),
    },
    ("datatrove", True): {
        ".ds": U4,
        ".ds.index": ENDS,
        ".ds.metadata": f"digram-{WIDE.digest[:12]}|4\n8\n8.00 T".encode().hex(),
    },
    ("dolma", False): {".npy": U2},  # and rows, see below
    ("dolma", True): {".npy": U4},
    ("npy", False): {".npy": NPY + U2},
    ("npy", True): {".npy": NPY.replace("3c7532", "3c7534") + U4},
}


def written(folder: Path, format: str, *, wide: bool = False, **options: Any) -> Path:
    """The one shard of the texts, without its suffix."""
    found = digram.encode_files(
        (WIDE if wide else TOK), TEXTS, folder / "out", format=format, **options
    )
    assert found.format == format
    return folder / "out" / "tokens-000000"


@pytest.mark.parametrize(("format", "wide"), GOLDEN)
def test_golden_bytes(tmp_path: Path, format: str, wide: bool) -> None:
    stem = written(tmp_path, format, wide=wide)
    expected = GOLDEN[format, wide]
    for suffix, data in expected.items():
        assert stem.with_name(stem.name + suffix).read_bytes() == bytes.fromhex(data), suffix
    others = {".csv.gz"} if format == "dolma" else set()
    names = {f"{stem.name}{suffix}" for suffix in {*expected, *others}} | {"manifest.json"}
    assert {path.name for path in stem.parent.iterdir()} == names


# SHA-256 of what the libraries of `requirements-dev.lock` make of it. Another version may pack the
# same content otherwise, which `test_what_columns_say` pins for all of them.
PACKED = {
    ("parquet", "uint32"): "3a4f61bf18548724f26e7da1b2c48c67f5a180f8e07234b6df803ede98580b05",
    ("parquet", "int64"): "a0ad7e61b963f985cac814848f8cc96af291089f37b4afdcae740f5e42575c5a",
    ("arrow", "uint32"): "c3d5eb003689866255bf43b3875fa554ca09ac1ccaaa16e9b040a44f403ded27",
    ("arrow", "int64"): "99fdf957fb3a81e750471748d1edc2328cc96f8fdf9e9766f25d2723820d2ec5",
}
ROWS = b"0,3,0,,1\r\n3,4,1,,2\r\n4,6,2,,3\r\n6,8,3,,4\r\n"
GZIP = (  # a header without a name or a time, one block, the sum and size of the rows
    "1f8b0800000000000003"
    "0dc9b90d00300c03b15e8036b9c21f0cef3f59c29641139056332494352c056d2df79fb11eee"
    "a5b49b28 000000"
)


def test_every_format_is_pinned() -> None:
    assert {format for format, _ in GOLDEN} | {format for format, _ in PACKED} == set(FORMATS)


@pytest.mark.skipif(pyarrow.__version__ != "26.0.1", reason="the bytes are those of pyarrow 26.0.1")
@pytest.mark.parametrize(("format", "dtype"), PACKED)
def test_golden_bytes_of_columns(tmp_path: Path, format: str, dtype: str) -> None:
    path = written(tmp_path, format, dtype=dtype).with_suffix(f".{format}")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == PACKED[format, dtype]
    assert {path.name for path in path.parent.iterdir()} == {path.name, "manifest.json"}


def test_golden_bytes_of_rows(tmp_path: Path) -> None:
    packed = written(tmp_path, "dolma").with_suffix(".csv.gz").read_bytes()
    assert gzip.decompress(packed) == ROWS
    assert packed[:10] == bytes.fromhex(GZIP)[:10]
    if zlib.ZLIB_RUNTIME_VERSION != "1.2.13":
        pytest.skip("the bytes of a block are those of zlib 1.2.13")
    assert packed == bytes.fromhex(GZIP)


def test_what_columns_say(tmp_path: Path) -> None:
    """All but the bytes: the schema, how it is stored, and the buffers of ids."""
    path = written(tmp_path, "parquet").with_suffix(".parquet")
    with pyarrow.parquet.ParquetFile(path) as file:
        assert str(file.schema).splitlines()[1:] == [
            "required group field_id=-1 schema {",
            "  optional group field_id=-1 input_ids (List) {",
            "    repeated group field_id=-1 list {",
            "      required int32 field_id=-1 element (Int(bitWidth=32, isSigned=false));",
            "    }",
            "  }",
            "}",
        ]
        assert [*file.metadata.metadata] == [b"ARROW:schema"]
        column = file.metadata.row_group(0).column(0)
        assert (file.metadata.format_version, file.metadata.num_row_groups) == ("2.6", 1)
        assert (column.compression, column.num_values) == ("ZSTD", 8)
        assert set(column.encodings) == {"RLE", "PLAIN"}
        assert not column.is_stats_set
        assert not column.has_dictionary_page
    (tmp_path / "arrow").mkdir()
    stem = written(tmp_path / "arrow", "arrow")
    with pyarrow.memory_map(str(stem.with_suffix(".arrow"))) as mapped:
        arrow = pyarrow.ipc.open_file(mapped)
        item = pyarrow.field("item", pyarrow.uint32(), nullable=False)
        assert arrow.schema.equals(
            pyarrow.schema([("input_ids", pyarrow.list_(item))]), check_metadata=True
        )
        assert arrow.num_record_batches == 1
        none, ends, none_either, ids = arrow.get_batch(0).column(0).buffers()
        assert none is none_either is None
        assert ends.to_pybytes() == struct.pack("<5i", 0, 3, 4, 6, 8)
        assert ids.to_pybytes() == bytes.fromhex(U4)


def summed(*texts: bytes) -> str:
    """BLAKE3 of texts, each followed by its length in eight bytes."""
    data = b"".join(text + struct.pack("<Q", len(text)) for text in texts)
    return blake3(data).hexdigest()


def shard(number: int, ids: list[int], documents: int, end: tuple[int, int, str]) -> dict[str, Any]:
    """What the manifest says of a shard of one file."""
    data = struct.pack(f"<{len(ids)}H", *ids)
    file = {
        "name": f"tokens-{number:06d}.bin",
        "bytes": len(data),
        "blake3": blake3(data).hexdigest(),
    }
    place = dict(zip(("file", "documents", "blake3"), end, strict=True))
    return {"files": [file], "documents": documents, "tokens": len(ids), "end": place}


def test_manifest(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"ab--c")
    (tmp_path / "b.txt").write_bytes(b"d")
    source = digram.files(tmp_path / "a.txt", tmp_path / "b.txt", separator="--")
    digram.encode_files(TOK, source, tmp_path / "out", format="nanogpt", shard_tokens=3)
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes()) == {
        "digram_tokens": 1,
        "digram": digram.__version__,
        "tokenizer": TOK.digest,
        "options": {
            "format": "nanogpt",
            "dtype": "uint16",
            "end_of_text": {"token": "<|endoftext|>", "id": 256},
            "shard_tokens": 3,
            "special": "text",
            "separator": "--",
            "field": ["text"],
            "source_format": None,
            "on_error": "raise",
        },
        "inputs": [
            {
                "path": str(path),
                "bytes": size,
                "documents": len(texts),
                "blake3": summed(*texts),
                "skipped": 0,
            }
            for path, size, texts in zip(source.paths, (5, 1), ([b"ab", b"c"], [b"d"]), strict=True)
        ],
        "shards": [
            shard(0, [97, 98, 256], 1, (0, 1, summed(b"ab"))),
            shard(1, [99, 256, 100, 256], 2, (1, 1, summed(b"d"))),
        ],
        "documents": 3,
        "tokens": 7,
        "skipped": 0,
        "done": True,
    }


def test_megatron_as_megatron_reads(tmp_path: Path) -> None:
    """Its `_IndexReader`: a header of 34 bytes, then three arrays in memory maps."""
    stem = written(tmp_path, "megatron")
    index = stem.with_suffix(".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, documents = struct.unpack("<QBQQ", index[9:34])
    assert (version, code, sequences, documents) == (1, 8, 4, 5)
    lengths = np.frombuffer(index, np.int32, sequences, 34)
    pointers = np.frombuffer(index, np.int64, sequences, 34 + lengths.nbytes)
    bounds = np.frombuffer(index, np.int64, documents, 34 + lengths.nbytes + pointers.nbytes)
    data = np.memmap(stem.with_suffix(".bin"), mode="r")
    found = [
        np.frombuffer(data, np.uint16, length, pointer).tolist()
        for length, pointer in zip(lengths, pointers, strict=True)
    ]
    assert found == IDS
    assert bounds.tolist() == [0, 1, 2, 3, 4]
    assert len(index) == 42 + 20 * len(IDS)


def test_nanogpt_as_nanogpt_reads(tmp_path: Path) -> None:
    """Its `get_batch`: a memory map of 16 bits, of which any stretch is a sample."""
    data = np.memmap(written(tmp_path, "nanogpt").with_suffix(".bin"), dtype=np.uint16, mode="r")
    assert data[2 : 2 + 4].astype(np.int64).tolist() == FLAT[2:6]
    assert data.tolist() == FLAT


@pytest.mark.parametrize(("wide", "kind"), [(False, np.uint16), (True, np.uint32)])
def test_llmc_as_its_loader_reads(tmp_path: Path, wide: bool, kind: type) -> None:
    """The steps of its `DataLoader`: 256 numbers, the magic one, the version, the count."""
    with written(tmp_path, "llmc", wide=wide).with_suffix(".bin").open("rb") as file:
        header = np.frombuffer(file.read(256 * 4), dtype=np.int32)
        tokens: Any = np.frombuffer(file.read(), dtype=kind)
    assert header[:3].tolist() == ([20240801, 7, 8] if wide else [20240520, 1, 8])
    assert not header[3:].any()
    assert len(tokens) == header[2]
    assert tokens.tolist() == FLAT


def test_datatrove_as_its_dataset_reads(tmp_path: Path) -> None:
    """Windows of one length, and positions from the ends of documents."""
    path = written(tmp_path, "datatrove").with_suffix(".ds")
    with path.open("rb") as file:
        file.seek(1 * 2 * (3 + 1))
        assert np.frombuffer(file.read(2 * (3 + 1)), np.uint16).tolist() == FLAT[4:8]
    ends = np.frombuffer(path.with_name(f"{path.name}.index").read_bytes(), np.uint64)
    assert ends.tolist() == [3, 4, 6, 8]
    name, tokens, _ = path.with_name(f"{path.name}.metadata").read_text().split("\n")
    assert (name.rpartition("|")[2], tokens) == ("2", "8")


def test_dolma_as_olmo_reads(tmp_path: Path) -> None:
    for name, text in {"b,1.txt": "ab--c", 'a"2.txt': "d"}.items():
        (tmp_path / name).write_text(text)
    source = [tmp_path / "b,1.txt", tmp_path / 'a"2.txt']
    cut = digram.files(*source, separator="--")
    digram.encode_files(TOK, cut, tmp_path / "out", format="dolma")
    stem = tmp_path / "out" / "tokens-000000"
    ids = np.memmap(stem.with_suffix(".npy"), dtype=np.uint16, mode="r")
    packed = stem.with_suffix(".csv.gz").read_bytes()
    assert packed[4:8] == bytes(4), "no time stamp"
    with gzip.open(stem.with_suffix(".csv.gz"), "rt", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["0", "3", "0", str(source[0]), "1"],
        ["3", "5", "1", str(source[0]), "2"],
        ["5", "7", "2", str(source[1]), "1"],
    ]
    assert [ids[int(a) : int(b)].tolist() for a, b, *_ in rows] == [
        [97, 98, 256],
        [99, 256],
        [100, 256],
    ]


@pytest.mark.parametrize("wide", [False, True])
def test_npy_as_numpy_reads_and_writes(tmp_path: Path, wide: bool) -> None:
    path = written(tmp_path, "npy", wide=wide).with_suffix(".npy")
    mapped = np.load(path, mmap_mode="r")
    assert mapped.tolist() == FLAT
    np.save(tmp_path / "numpy.npy", mapped)
    assert (tmp_path / "numpy.npy").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("dtype", [None, "uint16", "uint32", "int32", "int64"])
def test_parquet_and_arrow_as_pyarrow_reads(tmp_path: Path, dtype: str | None) -> None:
    path = written(tmp_path, "parquet", dtype=dtype).with_suffix(".parquet")
    table = pyarrow.parquet.read_table(path)
    (tmp_path / "arrow").mkdir()
    stem = written(tmp_path / "arrow", "arrow", dtype=dtype)
    with pyarrow.memory_map(str(stem.with_suffix(".arrow"))) as file:
        assert pyarrow.ipc.open_file(file).read_all().equals(table)
    assert table["input_ids"].to_pylist() == IDS
    assert table.schema.field("input_ids").type.value_type == (dtype or "uint32")
    table.validate(full=True)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_groups_do_not_follow_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    monkeypatch.setattr("digram.shards.formats._columns.GROUP", 5)
    texts = ["ab", "", "cde", "a" * 20, "", "b"] * 4
    found = []
    for least in (1, 30, 1 << 20):
        monkeypatch.setattr("digram.shards.encoding.MIN_BATCH", least)
        monkeypatch.setattr("digram.shards.encoding.BATCH", least)
        out = tmp_path / str(least)
        digram.encode_files(TOK, texts, out, format=format, shard_tokens=60)
        found.append([path.read_bytes() for path in sorted(out.iterdir())])
    assert found[0] == found[1] == found[2]
    if format == "arrow":
        first = pyarrow.ipc.open_file(tmp_path / "1" / "tokens-000000.arrow")
        batches = [first.get_batch(n).column(0) for n in range(first.num_record_batches)]
        assert [len(one) for one in batches] == [3, 1, 3, 2, 1]
        assert [len(one.values) for one in batches] == [8, 21, 6, 5, 21]
