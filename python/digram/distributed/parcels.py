"""Results of processes on this machine, left in files.

Such a pool takes results from one pipe. A process that is killed while it writes one leaves a part
of it there, and the pool waits for the rest for ever, since other processes hold the pipe open
(seen in every second run with three workers killed). A name is written at once or not at all.
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
    """A file with what came of a shard: the result, or what is wrong with the shard."""

    path: str

    def opened(self) -> Result[Value] | Exception:
        """What is in it; the file is gone then."""
        with open(self.path, "rb") as file:
            found: Result[Value] | Exception = pickle.load(file)
        os.unlink(self.path)
        return found


def left(
    folder: str, work: ShardWork[Any], number: int, source: CorpusLike
) -> Parcel[Any] | OSError:
    """Do the work on a shard, and leave what comes of it in a new file of the folder."""
    found = work(number, source)
    try:
        handle, path = tempfile.mkstemp(dir=folder)
        with open(handle, "wb") as file:
            pickle.dump(found, file, pickle.HIGHEST_PROTOCOL)
    except OSError as error:  # no room, or the run is over
        return error
    return Parcel(path)
