"""Results of processes on this machine, passed in files.

A process pool reads results from one pipe. A process that is killed while it writes leaves a
partial result there, and the pool waits forever for the rest, since other processes hold the pipe
open (seen in every second run with three killed workers). The name of a file is short enough to be
written at once.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from digram.corpus import CorpusLike
from digram.distributed.roster import Result
from digram.distributed.shards import ShardWork

__all__ = ["Parcel", "left"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Parcel(Generic[Value]):
    """A file with the result for a shard: the value, or the error of the shard."""

    path: str

    def opened(self) -> Result[Value] | Exception:
        """Read the content; this deletes the file."""
        with open(self.path, "rb") as file:
            found: Result[Value] | Exception = pickle.load(file)
        os.unlink(self.path)
        return found


def left(
    folder: str, work: ShardWork[Any], number: int, source: CorpusLike
) -> Parcel[Any] | OSError:
    """Do the work on a shard, and write the result to a new file in the folder."""
    found = work(number, source)
    try:
        handle, path = tempfile.mkstemp(dir=folder)
        with open(handle, "wb") as file:
            pickle.dump(found, file, pickle.HIGHEST_PROTOCOL)
    except OSError as error:  # the disk is full, or the run is over
        return error
    return Parcel(path)
