"""Going on where a training run was broken off: what a folder of checkpoints holds.

`state.json` says with which options the run was started, how far the corpus was counted, and which
files hold these counts; it is replaced in one step. `merges.journal` grows by each merge. The files
of counts are the core's (`*.digram-run`). All of it may be deleted when the run is done.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from digram import _core
from digram.errors import CheckpointError, CorruptFileError
from digram.sources import Text
from digram.storage import atomic_write, read_file

__all__ = ["Checkpoint"]

VERSION = 1
STATE = "state.json"
JOURNAL = "merges.journal"

BETWEEN = 30.0
"""Seconds between two notes while a corpus is counted."""


@dataclass
class State:
    """How far the counting is: the corpus up to `documents`, whose bytes have the sum `text`."""

    documents: int = 0
    bytes: int = 0
    pretokens: int = 0
    text: int = 0
    runs: list[str] = field(default_factory=list)
    done: bool = False


class Checkpoint:
    """A folder, and what an earlier call with the same options left in it.

    >>> folder = getfixture("tmp_path") / "run"
    >>> Checkpoint(folder, {"unit": "byte"}, {"ties": "ids"}).state.documents
    0

    `counted` are the options that decide the counts, `merged` those that decide the merges beside.
    `sizes` are those of the files of the corpus, in bytes: where they are known and all was
    counted, the files are not read again. Raises `CheckpointError` for a folder of a run with
    others, and `CorruptFileError` for one that holds something else.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        counted: Any,
        merged: Any,
        sizes: list[int] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self._run = {"counted": _digest([counted, sizes]), "merged": _digest(merged)}
        self._sizes = sizes
        self.folder.mkdir(parents=True, exist_ok=True)
        self.state = self._read()

    @property
    def journal(self) -> Path:
        """The file that merges are noted in."""
        return self.folder / JOURNAL

    def counter(self, splitter: _core.Splitter, memory: int | None) -> _core.Counter:
        """A counter that has counted what the state says."""
        state = self.state
        made = (state.runs, (state.documents, state.bytes, state.pretokens))
        try:
            return _core.Counter.resumed(
                splitter, self.folder, made if state.runs else None, memory_limit=memory
            )
        except FileNotFoundError as error:
            raise CheckpointError(
                f"{self.folder}: a file of the checkpoint is missing: {error.filename}.",
                path=self.folder,
                hint="Delete the folder to start anew.",
            ) from error

    def rest(self, batches: Iterable[list[Text]], counter: _core.Counter) -> Iterator[list[Text]]:
        """The batches that are not counted yet. Between them what is counted is noted now and then.

        Raises `CheckpointError` if the first ones are not what was counted before.
        """
        state, skipped = self.state, State()
        if state.done and self._sizes is not None:
            return
        noted = time.monotonic()
        for batch in batches:
            size, text = _sum_of(batch, skipped.text)
            if skipped.documents < state.documents:
                skipped.documents += len(batch)
                skipped.bytes += size
                skipped.text = text
                if skipped.documents >= state.documents:
                    self._check_same(skipped)
                continue
            if state.done:
                raise self._other_corpus()
            yield batch
            skipped.text = text
            if time.monotonic() - noted >= BETWEEN:
                self.note(counter, text)
                noted = time.monotonic()
        if skipped.documents < state.documents:
            self._check_same(skipped)
        if not state.done:
            self.note(counter, skipped.text, done=True)

    def note(self, counter: _core.Counter, text: int, *, done: bool = False) -> None:
        """Brings what is counted to the disk, and says so."""
        runs, (documents, size, pretokens) = counter.checkpoint()
        self._write(State(documents, size, pretokens, text, list(runs), done))

    def begin(self) -> None:
        """Notes what the run is, where nothing is counted that could be noted."""
        if not self.state.done:
            self._write(State(done=True))

    def _write(self, state: State) -> None:
        self.state = state
        line = json.dumps({"format": VERSION, "run": self._run, "state": asdict(self.state)})
        atomic_write(self.folder / STATE, line.encode() + b"\n")

    def _read(self) -> State:
        path = self.folder / STATE
        try:
            found = json.loads(read_file(path))
            version, run = found["format"], found["run"]
            state = State(**found["state"])
        except FileNotFoundError:
            # Merges without counts are those of no run.
            self.journal.unlink(missing_ok=True)
            return State()
        except (ValueError, TypeError, KeyError, RecursionError):
            raise CorruptFileError(
                f"{path}: this is no checkpoint of digram.",
                path=path,
                hint="Give another folder, or delete this file to start anew.",
            ) from None
        if version != VERSION:
            raise CheckpointError(
                f"{path}: the checkpoint has format {version}, and this version of digram reads "
                f"{VERSION}.",
                path=path,
                hint="Go on with the version that wrote it, or start anew in another folder.",
            )
        for part, what in (("counted", "to count"), ("merged", "to merge")):
            if run.get(part) != self._run[part]:
                raise CheckpointError(
                    f"{self.folder} is of a run with other options {what}.",
                    path=self.folder,
                    hint="Call with the same options to go on, or give another folder.",
                )
        return state

    def _check_same(self, skipped: State) -> None:
        same = (skipped.documents, skipped.bytes, skipped.text)
        if same != (self.state.documents, self.state.bytes, self.state.text):
            raise self._other_corpus()

    def _other_corpus(self) -> CheckpointError:
        return CheckpointError(
            f"the corpus is not the one that {self.folder} was made from: it differs within or "
            f"after the first {self.state.documents} documents.",
            path=self.folder,
            hint="Give the same source, or another folder to start anew.",
        )


def _digest(options: Any) -> str:
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()


def _sum_of(batch: Iterable[Text], before: int) -> tuple[int, int]:
    """The bytes of a batch, and a sum over its texts and all before."""
    size = 0
    for text in batch:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        size += len(data)
        before = zlib.crc32(data, zlib.crc32(len(data).to_bytes(8, "little"), before))
    return size, before
