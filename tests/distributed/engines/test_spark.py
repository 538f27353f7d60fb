"""Spark with two executors, each a JVM with Python workers of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow
import pytest
from pyarrow import compute, parquet

import digram
from digram.distributed import spark as engine
from digram.distributed.tasks import CountTexts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "200")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")  # some errors below are wanted
    yield session
    session.stop()


@pytest.fixture(scope="module")
def df(spark: SparkSession, texts: list[str]) -> DataFrame:
    table = pyarrow.table({"n": list(range(len(texts))), "text": texts})
    found = spark.createDataFrame(table).repartition(6, "n").cache()
    found.count()
    return found


def test_the_workers_are_as_we_are(spark: SparkSession) -> None:
    engine.check(spark)


def test_training(df: DataFrame, local: Any, tmp_path: Path) -> None:
    with local.timed("Spark", "trained"):
        tok = engine.train(df, column="text", **local.options)
    local.check_training(tok, tmp_path)


def test_encoding(df: DataFrame, local: Any, texts: list[str]) -> None:
    encoded = engine.encode(df, local.tok, column="text", into="ids")
    assert encoded.columns == ["n", "text", "ids"]
    with local.timed("Spark", "encoded"):
        table = encoded.toArrow()
    table = table.sort_by("n")
    assert table["text"].to_pylist() == texts
    local.check_ids(table["ids"].to_pylist())


@pytest.mark.parametrize(
    ("parents", "name"), [(0, "python"), (2, "java")], ids=["worker", "executor"]
)
def test_a_process_that_is_killed(
    df: DataFrame,
    local: Any,
    kill_once: Callable[..., Any],
    parents: int,
    name: str,
    tmp_path: Path,
) -> None:
    """A Python worker, and a whole executor with the rows that it held for the shuffle."""
    killing = df.mapInArrow(kill_once(parents, name), df.schema)
    with local.timed(f"Spark, {'an executor' if parents else 'a worker'} killed,", "trained"):
        tok = engine.train(killing, column="text", **local.options)
    assert kill_once.marker.exists()  # type: ignore[attr-defined]
    local.check_training(tok, tmp_path)


def test_encoding_while_a_worker_is_killed(
    df: DataFrame, local: Any, kill_once: Callable[..., Any]
) -> None:
    killing = df.mapInArrow(kill_once(), df.schema)
    table = engine.encode(killing, local.tok).toArrow().sort_by("n")
    assert kill_once.marker.exists()  # type: ignore[attr-defined]
    local.check_ids(table["ids"].to_pylist())


def test_a_job_of_ones_own(df: DataFrame, local: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions

    counter = engine.counter(column="text")
    rows = df.select("text").mapInArrow(counter, counter.schema)
    sums = rows.groupBy("kind", "piece").agg(functions.sum("count").alias("count"))
    sums.write.parquet(str(tmp_path / "counts"))
    table = parquet.read_table(tmp_path / "counts")
    local.check_training(digram.train(counter.counts(table), **local.options), tmp_path)
    with pytest.raises(digram.ConfigMismatchError, match='"gpt2"'):
        engine.counter(pretokenizer="gpt2").counts(table)
    rare = table.filter(compute.greater(table["count"], 1))
    with pytest.raises(digram.OptionError, match="add up to"):
        counter.counts(rare)


def test_texts_in_structs_bytes_and_none_at_all(spark: SparkSession) -> None:
    df = spark.sql("select named_struct('text', 'low low') as doc, cast('low' as binary) as raw")
    assert (
        engine.count(df, column="doc.text") == digram.count_pretokens(["low low"]).without_first()
    )
    assert engine.count(df, column="raw") == digram.count_pretokens(["low"]).without_first()
    none = engine.count(df.where("1 = 2"), column="raw")
    assert none == digram.count_pretokens([]).without_first()
    tok = digram.train("low", max_merges=1)
    nulls = spark.sql("select cast(null as string) as text union all select 'low'")
    assert {row.text: row.ids for row in engine.encode(nulls, tok).collect()} == {
        None: None,
        "low": tok.encode("low"),
    }
    with pytest.raises(digram.InvalidTextError, match="'text' is null"):
        engine.count(nulls)
    with pytest.raises(digram.OptionError, match=r"'doc' is of type struct<text:string>"):
        engine.encode(df, tok, column="doc")
    with pytest.raises(digram.OptionError, match="already a column 'text'"):
        engine.encode(nulls, tok, into="text")


def test_a_worker_with_another_digram(spark: SparkSession) -> None:
    df = spark.sql("select 'low' as text")
    old = engine.Counter(replace(CountTexts.of("gpt2"), version="0.0.7"), "text")
    with pytest.raises(
        digram.ConfigMismatchError, match=r"worker has digram .* needs digram 0\.0\.7"
    ):
        engine._count(df, "text", old)


# --- sessions of their own


def run(code: str, **environment: str) -> str:
    """What code prints in a process of its own, with a session of `options`."""
    code = (
        """
        import os, sys
        import digram
        from pyspark.sql import SparkSession
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    """
        + code
    )
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.stdout


COUNT = """
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        digram.distributed.spark.check(spark)
"""


def test_workers_with_a_python_that_has_no_digram(tmp_path: Path) -> None:
    """All that is installed here, but digram."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    (packages,) = tmp_path.glob("lib/python*/site-packages")
    for entry in Path(pyarrow.__file__).parents[1].iterdir():
        if not entry.name.startswith(("digram", "_distutils", "distutils", "__pycache__")):
            (packages / entry.name).symlink_to(entry)
    said = run(COUNT, PYSPARK_PYTHON=str(tmp_path / "bin" / "python"))
    assert "digram.errors.ConfigMismatchError: a worker's Python has no module 'digram" in said
    assert "PYSPARK_PYTHON" in said


def test_workers_with_another_python() -> None:
    """The driver says that it is another one, and Spark's worker compares."""
    said = run(
        COUNT.replace(
            "digram.distributed", 'spark.sparkContext.pythonVer = "3.1"; digram.distributed'
        ),
        PYSPARK_PYTHON=sys.executable,
    )
    assert "digram.errors.ConfigMismatchError: the workers' Python is not" in said
    assert "Set the environment variable PYSPARK_PYTHON" in said


def test_counts_that_are_too_much_for_the_driver() -> None:
    said = run(
        """
        spark = builder.config("spark.driver.maxResultSize", "1k").getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        df = spark.range(5000).selectExpr("concat('word', id) as text")
        digram.distributed.spark.count(df)
        """,
        PYSPARK_PYTHON=sys.executable,
    )
    assert "digram.errors.LimitExceededError: the counts are too large for the driver." in said
    assert "spark.driver.maxResultSize" in said
