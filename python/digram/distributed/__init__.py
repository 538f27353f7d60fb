"""Clusters: counting and encoding by engines that are there already, with one machine's result.

spark     data frames of Apache Spark
ray       data sets of Ray
executor  any `concurrent.futures.Executor`: pools of processes, Dask's workers

tasks     what a worker does, as values that travel there: count texts, encode texts
rows      counts as rows that any engine can add up, and back
columns   texts out of a column, and ids into one
shards    the parts of a corpus for an executor, and what a worker does with one
roster    which shards are out, back, lost or there twice; no engine is needed to try it
pools     the shards through a pool of workers, as the roster says
training  from counts that a cluster makes to a tokenizer, options checked before it starts
complaints  what engines say of a worker without digram, in digram's words

Each of the first three imports its engine when it is first called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from digram.distributed import executor, ray, spark

__all__ = ["executor", "ray", "spark"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        import importlib

        return importlib.import_module(f"digram.distributed.{name}")
    raise AttributeError(f"module 'digram.distributed' has no attribute {name!r}")
