"""Clusters: counting and encoding by existing engines, with the result of one machine.

spark     data frames of Apache Spark
ray       data sets of Ray
executor  any `concurrent.futures.Executor`: process pools, Dask's workers

tasks     the work of a worker, as picklable values: count texts, encode texts
rows      counts as rows that any engine can add up, and back
columns   texts from a column, and ids into one
shards    the parts of a corpus for an executor, and the work of a worker on one
roster    the state of the shards: handed out, done, lost or duplicated; independent of engines
pools     the shards through a pool of workers, as the roster decides
training  from a cluster's counts to a tokenizer; options are checked before it starts
complaints  errors of engines about workers without digram, as errors of digram

Each of the first three imports its engine when it is first called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram._util.on_first_use import on_first_use

if TYPE_CHECKING:
    from digram.distributed import executor, ray, spark

__all__ = ["executor", "ray", "spark"]

__getattr__, __dir__ = on_first_use(__name__, {}, __all__)
