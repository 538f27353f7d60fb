"""Training files, read by the code that their formats come from.

The packages are those of PyPI. Two of them cannot be installed whole here: megatron-core needs
torch, and dolma a NumPy before 2 and fastText. Their modules are on the disk (see
`requirements-readers.lock`), and the functions that read are cut out of these and run as they
stand; only what they import for other tasks is left out. datatrove's `DatatroveFileDataset` makes
tensors, so its merger reads in its place. `tests/shards/formats/test_golden.py` has what these and
nanoGPT's, llm.c's and OLMo's loaders do, in a few lines each, for all other environments.
"""

from __future__ import annotations

import ast
import csv
import gzip
import logging
import os
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import accumulate, chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import digram

TOK = digram.train("low lower", max_merges=3, special_tokens=["<|endoftext|>"])
WIDE = TOK.with_special_tokens({"<|far|>": 70_000})
TEXTS: list[str | bytes] = ["low lower", "", b"\xff", "<|far|>", "a" * 300, "lowest"]


@pytest.fixture(params=["narrow", "wide"])
def tok(request: pytest.FixtureRequest) -> digram.Tokenizer:
    """A tokenizer whose ids have 16 bits, and one whose have 32."""
    return TOK if request.param == "narrow" else WIDE


def ids_of(tok: digram.Tokenizer) -> list[list[int]]:
    """What each document has."""
    end = tok.special_tokens["<|endoftext|>"]
    return [[*tok.encode(text, special="parse"), end] for text in TEXTS]


def written(tok: digram.Tokenizer, folder: Path, format: str) -> tuple[Path, ...]:
    """The shards of the texts, several of them."""
    found = digram.encode_files(tok, TEXTS, folder, format=format, shard_tokens=10, special="parse")
    assert len(found.paths) > 1
    return found.paths


def cut_out(package: str, path: str, names: Iterable[str], has: dict[str, Any]) -> dict[str, Any]:
    """Functions and classes of a module that is on the disk and cannot be imported."""
    spec = find_spec(package)
    folders = [] if spec is None else list(spec.submodule_search_locations or [])
    found = [Path(folder) / path for folder in folders if (Path(folder) / path).is_file()]
    if not found:
        pytest.skip(f"{package} is not installed: see requirements-readers.lock")
    tree = ast.parse(found[0].read_text(encoding="utf-8"))
    wanted = set(names)
    tree.body = [one for one in tree.body if getattr(one, "name", None) in wanted]
    assert {getattr(one, "name", None) for one in tree.body} == wanted
    # Compiled as this file is, with annotations that are not looked up: torch's are among them.
    exec(compile(tree, str(found[0]), "exec"), has)
    return has


@pytest.fixture(scope="module")
def megatron() -> dict[str, Any]:
    """Megatron's `IndexedDataset`, which takes nothing of its base class in torch but the name."""
    import abc
    import enum

    dataset = SimpleNamespace(utils=SimpleNamespace(data=SimpleNamespace(Dataset=object)))
    has = {
        **{"numpy": np, "struct": struct, "os": os, "time": time, "logging": logging},
        **{"ABC": abc.ABC, "abstractmethod": abc.abstractmethod, "Enum": enum.Enum},
        **{"lru_cache": lru_cache, "accumulate": accumulate, "torch": dataset},
        "logger": logging.getLogger("megatron"),
        "log_single_rank": lambda *_: None,
        "MultiStorageClientFeature": SimpleNamespace(is_enabled=lambda: False),
        "is_object_storage_path": lambda _: False,
        "_INDEX_HEADER": b"MMIDIDX\x00\x00",
    }
    readers = ["_IndexReader", "_BinReader", "_MMapBinReader", "_FileBinReader", "IndexedDataset"]
    names = ["DType", "_IndexWriter", *readers, "get_idx_path", "get_bin_path"]
    return cut_out("megatron", "core/datasets/indexed_dataset.py", names, has)


@pytest.mark.parametrize("mmap", [True, False])
def test_megatron(
    tok: digram.Tokenizer, megatron: dict[str, Any], tmp_path: Path, mmap: bool
) -> None:
    found = []
    for path in written(tok, tmp_path, "megatron"):
        stem = str(path.with_suffix(""))
        dataset = megatron["IndexedDataset"](stem, mmap=mmap)
        assert dataset.index.document_indices.tolist() == [*range(len(dataset) + 1)]
        one = [dataset[number].tolist() for number in range(len(dataset))]
        assert [ids.tolist() for ids in dataset[:]] == one
        found += one
        # And its own writer makes the same index.
        again = str(tmp_path / "again.idx")
        with megatron["_IndexWriter"](again, dataset.index.dtype) as writer:
            writer.write([len(ids) for ids in one], None, [*range(len(one) + 1)])
        assert Path(again).read_bytes() == path.with_suffix(".idx").read_bytes()
    assert found == ids_of(tok)
    assert dataset.index.dtype == megatron["DType"].optimal_dtype(tok.vocab_size)


def test_datatrove(tok: digram.Tokenizer, tmp_path: Path) -> None:
    """Its merger reads shards, with their indexes and metadata, and writes all of them as one."""
    tokens = pytest.importorskip("datatrove.pipeline.tokens.merger", exc_type=ImportError)
    written(tok, tmp_path / "shards", "datatrove")
    merger = tokens.DocumentTokenizerMerger(
        str(tmp_path / "shards"), str(tmp_path / "merged"), "all", shuffle=False, progress=False
    )
    merger.run()
    whole = digram.encode_files(tok, TEXTS, tmp_path / "whole", format="datatrove", special="parse")
    [ours] = whole.paths
    theirs = tmp_path / "merged" / "000_all.ds"
    for suffix in ("", ".index", ".metadata"):
        assert Path(f"{theirs}{suffix}").read_bytes() == Path(f"{ours}{suffix}").read_bytes()
    found = digram.read_tokens(theirs)
    assert [ids.tolist() for ids in found] == ids_of(tok)


def test_dolma(tok: digram.Tokenizer, tmp_path: Path) -> None:
    """Its `reshard` reads ids and rows, and writes all of them as one file each."""
    has = {
        **{"csv": csv, "np": np, "os": os, "Path": Path, "dataclass": dataclass},
        "smart_open": pytest.importorskip("smart_open"),
    }
    names = ["TokensMetadataPaths", "merge_group"]
    dolma = cut_out("dolma", "tokenizer/reshard.py", names, has)
    paths = written(tok, tmp_path / "shards", "dolma")
    dtype = digram.read_tokens(tmp_path / "shards").dtype
    pairs = [
        dolma["TokensMetadataPaths"](str(path), str(path.with_suffix(".csv.gz"))) for path in paths
    ]
    dolma["merge_group"](pairs, tmp_path / "merged.npy", dtype)
    whole = digram.encode_files(tok, TEXTS, tmp_path / "whole", format="dolma", special="parse")
    [ours] = whole.paths
    assert (tmp_path / "merged.npy").read_bytes() == ours.read_bytes()
    theirs = gzip.decompress((tmp_path / "merged.csv.gz").read_bytes())
    assert theirs == gzip.decompress(ours.with_suffix(".csv.gz").read_bytes())
    found = digram.read_tokens(tmp_path / "merged.npy")
    assert [ids.tolist() for ids in found] == ids_of(tok)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_datasets(
    tok: digram.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    files = [str(path) for path in written(tok, tmp_path / "shards", format)]
    cache = str(tmp_path / "cache")
    found = datasets.load_dataset(format, data_files=files, split="train", cache_dir=cache)
    assert found.column_names == ["input_ids"]
    assert found["input_ids"][:] == ids_of(tok)
    assert found.with_format("numpy")[0]["input_ids"].tolist() == ids_of(tok)[0]


def test_polars_and_duckdb(tok: digram.Tokenizer, tmp_path: Path) -> None:
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    written(tok, tmp_path, "parquet")
    assert polars.read_parquet(tmp_path / "*.parquet")["input_ids"].to_list() == ids_of(tok)
    rows = duckdb.sql(f"select input_ids from '{tmp_path}/*.parquet'").fetchall()
    assert list(chain.from_iterable(rows)) == ids_of(tok)
    paths = written(tok, tmp_path / "arrow", "arrow")
    lists = [polars.read_ipc(path)["input_ids"].to_list() for path in paths]
    assert list(chain.from_iterable(lists)) == ids_of(tok)
