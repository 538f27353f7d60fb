"""Token files that others wrote, that are damaged, or that do not say what they are."""

from __future__ import annotations

import gzip
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import digram
from digram.shards.formats import FORMATS

TOK = digram.train("a", max_merges=0, special_tokens=["<|endoftext|>"])
TEXTS = ["ab", "", "cde", "f" * 30]
IDS = [[*text.encode(), 256] for text in TEXTS]
FLAT = [id for ids in IDS for id in ids]


@pytest.fixture
def alone(tmp_path: Path) -> Callable[[str], Path]:
    """The file of one shard, with the files that belong to it and no manifest."""

    def make(format: str) -> Path:
        folder = tmp_path / format
        [path] = digram.encode_files(TOK, TEXTS, folder, format=format).paths
        (folder / "manifest.json").unlink()
        return path

    return make


@pytest.mark.parametrize("format", FORMATS)
def test_files_without_a_manifest(alone: Callable[[str], Path], format: str) -> None:
    path = alone(format)
    for given in (path, path.parent):
        if format == "nanogpt":
            with pytest.raises(
                digram.OptionError, match=r"cannot be recognised.*nanogpt"
            ) as caught:
                digram.read_tokens(given)
            assert caught.value.path == str(path)
            found = digram.read_tokens(given, "nanogpt", end_of_text=256)
        else:
            found = digram.read_tokens(given, end_of_text=256)
        assert (found.format, len(found), found.tokens) == (format, 4, sum(map(len, IDS)))
        assert [ids.tolist() for ids in found] == IDS
        assert found[-1].tolist() == IDS[-1]
        assert [ids.tolist() for ids in found[1:3]] == IDS[1:3]
        assert found.ids.tolist() == FLAT
        with pytest.raises(IndexError):
            found[4]


@pytest.mark.parametrize("format", ["nanogpt", "llmc", "npy"])
def test_borders_that_are_not_stored(alone: Callable[[str], Path], format: str) -> None:
    found = digram.read_tokens(alone(format), format)
    assert found.ids.tolist() == FLAT
    for ask in (lambda: len(found), lambda: found[0], lambda: list(found)):
        with pytest.raises(digram.OptionError, match="end_of_text="):
            ask()
    without = digram.read_tokens(found.paths[0], format, end_of_text=97)
    assert [ids.tolist() for ids in without] == [[97], FLAT[1:]]


def test_an_array_that_numpy_wrote(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([5, 6, 0, 7], ">i8"))
    found = digram.read_tokens(tmp_path / "a.npy", end_of_text=0)
    assert [ids.tolist() for ids in found] == [[5, 6, 0], [7]]
    np.save(tmp_path / "a.npy", np.zeros((2, 2), np.uint16))
    with pytest.raises(digram.CorruptFileError, match="not a row of ids"):
        digram.read_tokens(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(digram.CorruptFileError, match="not a row of ids"):
        digram.read_tokens(tmp_path / "a.npy")


def test_documents_of_several_sequences(tmp_path: Path) -> None:
    """Megatron allows them, and a byte for each sequence at the end."""
    ids = np.arange(6, dtype="<i4")
    (tmp_path / "a.bin").write_bytes(ids.tobytes())
    head = struct.pack("<9sQBQQ", b"MMIDIDX\0\0", 1, 4, 3, 3)
    index = head + struct.pack("<3i3q3q", 2, 1, 3, 0, 8, 12, 0, 2, 3)
    (tmp_path / "a.idx").write_bytes(index + bytes(3))
    assert [one.tolist() for one in digram.read_tokens(tmp_path / "a.bin")] == [
        [0, 1, 2],
        [3, 4, 5],
    ]


def test_columns_of_others(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    lists = pyarrow.array([[1, 2], [], [3]], pyarrow.large_list(pyarrow.int64()))
    pyarrow.parquet.write_table(pyarrow.table({"x": [1, 2, 3], "tokens": lists}), path)
    found = digram.read_tokens(path)
    assert [ids.tolist() for ids in found] == [[1, 2], [], [3]]
    assert (found.dtype.name, found.tokens, found.documents) == ("int64", 3, 3)
    for wrong in ([[1], None], [[1, None]]):
        table = pyarrow.table({"ids": pyarrow.array(wrong, pyarrow.list_(pyarrow.int32()))})
        pyarrow.parquet.write_table(table, path)
        with pytest.raises(digram.CorruptFileError, match="null"):
            list(digram.read_tokens(path))
    pyarrow.parquet.write_table(pyarrow.table({"ids": ["a"]}), path)
    with pytest.raises(digram.CorruptFileError, match="no column"):
        digram.read_tokens(path)


def test_a_folder_of_two_formats(alone: Callable[[str], Path]) -> None:
    one, other = alone("npy"), alone("parquet")
    shutil.copy(other, one.parent / "z.parquet")
    with pytest.raises(digram.OptionError, match=r"'parquet', and tokens-000000\.npy of 'npy'"):
        digram.read_tokens(one.parent)
    assert digram.read_tokens(one.parent, "parquet").documents == 4


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file"):
        digram.read_tokens(tmp_path / "a.bin")
    with pytest.raises(FileNotFoundError, match="no file of tokens"):
        digram.read_tokens(tmp_path)
    with pytest.raises(digram.OptionError, match=r"'bin' is not known\. Formats: megatron, "):
        digram.read_tokens(tmp_path, "bin")


SUFFIXES = {
    "megatron": [".bin", ".idx"],
    "llmc": [".bin"],
    "datatrove": [".ds", ".ds.index"],
    "dolma": [".npy", ".csv.gz"],
    "npy": [".npy"],
    "parquet": [".parquet"],
    "arrow": [".arrow"],
}


@pytest.mark.parametrize(
    ("format", "suffix"), [(name, suffix) for name, all in SUFFIXES.items() for suffix in all]
)
def test_a_file_cut_short_is_told(alone: Callable[[str], Path], format: str, suffix: str) -> None:
    """Without a manifest and its digests: each length but those that make a whole file again."""
    path = alone(format)
    file = path.with_name(path.name.partition(".")[0] + suffix)
    whole = file.read_bytes()
    for length in {0, 1, 7, len(whole) // 2, *range(max(0, len(whole) - 9), len(whole))}:
        file.write_bytes(whole[:length])
        with pytest.raises(digram.CorruptFileError) as caught:
            list(digram.read_tokens(path, format, end_of_text=256))
        assert caught.value.path in (str(file), str(path))
    file.write_bytes(whole)
    assert len(digram.read_tokens(path, format, end_of_text=256)) == 4


@pytest.mark.parametrize("format", ["megatron", "dolma", "llmc", "datatrove", "npy", "arrow"])
def test_mutants_are_read_or_told(alone: Callable[[str], Path], format: str) -> None:
    """Never another error, whatever byte of what describes the ids is another one."""
    path = alone(format)
    described = {"megatron": ".idx", "dolma": ".csv.gz", "datatrove": ".ds.index"}
    file = path.with_name(path.name.partition(".")[0] + described.get(format, path.suffix))
    whole = file.read_bytes()
    told = 0
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        for bit in (0x01, 0x80):
            mutant = bytearray(whole)
            mutant[place] ^= bit
            file.write_bytes(mutant)
            try:
                found = digram.read_tokens(path, format, end_of_text=256)
                assert sum(map(len, found)) == found.tokens
            except digram.CorruptFileError:
                told += 1
    assert told


def test_rows_that_are_no_rows(alone: Callable[[str], Path]) -> None:
    path = alone("dolma")
    rows = path.with_suffix(".csv.gz")
    for text in (
        "a,b\r\n",
        "0\r\n",
        "0,3,0,,1\r\n2,4,1,,2\r\n",
        "0,-3\r\n",
        "\r\n",
        '"0',
        f"0,{10**20}\r\n",
    ):
        rows.write_bytes(gzip.compress(text.encode()))
        with pytest.raises(digram.CorruptFileError):
            digram.read_tokens(path)
