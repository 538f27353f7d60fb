"""Ray with several worker processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pytest

import digram
from digram.distributed import ray as engine
from digram.distributed.tasks import CountTexts

if TYPE_CHECKING:
    from ray.data import Dataset


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def ds(ray: Any, texts: list[str]) -> Dataset:
    table = pyarrow.table({"n": list(range(len(texts))), "text": texts})
    found: Dataset = ray.data.from_arrow(table).repartition(12).materialize()
    return found


def rows(ds: Dataset) -> pyarrow.Table:
    found = list(ds.iter_batches(batch_format="pyarrow", batch_size=None))
    return pyarrow.concat_tables(found).sort_by("n")


def test_training(ds: Dataset, local: Any, tmp_path: Path) -> None:
    with local.timed("Ray", "trained"):
        tok = engine.train(ds, column="text", **local.options)
    local.check_training(tok, tmp_path)


def test_encoding(ds: Dataset, local: Any, texts: list[str]) -> None:
    with local.timed("Ray", "encoded"):
        table = rows(engine.encode(ds, local.tok, column="text", into="ids"))
    assert table.column_names == ["n", "text", "ids"]
    assert table["text"].to_pylist() == texts
    local.check_ids(table["ids"].to_pylist())


def test_a_worker_that_is_killed(
    ds: Dataset, local: Any, kill_once: Callable[..., Any], tmp_path: Path
) -> None:
    batches = kill_once()

    def kill(table: pyarrow.Table) -> Iterator[pyarrow.Table]:
        yield from batches([table.slice(n, 200) for n in range(0, len(table), 200)])

    killing = ds.map_batches(kill, batch_format="pyarrow", batch_size=None)
    with local.timed("Ray, a worker killed,", "trained"):
        tok = engine.train(killing, column="text", partitions=4, **local.options)
    assert kill_once.marker.exists()  # type: ignore[attr-defined]
    local.check_training(tok, tmp_path)
    kill_once.marker.unlink()  # type: ignore[attr-defined]
    table = rows(engine.encode(killing, local.tok))
    assert kill_once.marker.exists()  # type: ignore[attr-defined]
    local.check_ids(table["ids"].to_pylist())


def test_bytes_nulls_and_none_at_all(ray: Any) -> None:
    raw = ray.data.from_items([{"text": b"low"}])
    assert engine.count(raw, partitions=1) == digram.count_pretokens(["low"]).without_first()
    none = engine.count(raw.filter(lambda row: False), partitions=1)
    assert none == digram.count_pretokens([]).without_first()
    tok = digram.train("low", max_merges=1)
    nulls = ray.data.from_items([{"text": None}, {"text": "low"}])
    encoded = engine.encode(nulls, tok).take_all()
    assert {row["text"]: row["ids"] for row in encoded} == {None: None, "low": tok.encode("low")}
    with pytest.raises(digram.InvalidTextError, match="'text' is null"):
        engine.count(nulls)


def test_columns_that_are_not_there_or_hold_no_text(ray: Any) -> None:
    ds = ray.data.from_items([{"n": 1}])
    tok = digram.train("low", max_merges=1)
    with pytest.raises(digram.OptionError, match=r"no column 'text' among \['n'\]"):
        engine.count(ds)
    with pytest.raises(digram.OptionError, match="'n' is of type int64"):
        engine.count(ds, column="n")
    with pytest.raises(digram.OptionError, match="'n' is of type int64"):  # as Ray's own, too
        engine.encode(ds, tok, column="n").materialize()
    with pytest.raises(digram.OptionError, match="already a column 'n'"):
        engine.encode(ds, tok, into="n")


def test_a_worker_with_another_digram(ray: Any) -> None:
    old = replace(CountTexts.of("gpt2"), version="0.0.7")
    with pytest.raises(
        digram.ConfigMismatchError, match=r"worker has digram .* needs digram 0\.0\.7"
    ):
        engine._count(ray.data.from_items([{"text": "low"}]), "text", old, 1)
