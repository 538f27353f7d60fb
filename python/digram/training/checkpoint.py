"""Checkpoints: resume an interrupted training run from a folder.

`state.json` contains the options of the run (digests to decide whether another run may resume it,
and text for error messages), the progress of counting, and the names of the files with the counts;
it is replaced atomically. `merges.journal` grows with each merge. The core writes the files of
counts (`*.digram-run`). With several corpora, the counts of each are in a folder of its own
(`source-0`, ...). Data that does not fit into memory is in `digram-counts-*.tmp`, which the next
run deletes. The folder is locked during a run, and may be deleted when the run is done.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from digram import _core
from digram._util.folder_lock import lock_folder
from digram._util.json_files import digest
from digram._util.storage import atomic_write, read_file
from digram._util.system_errors import system_error
from digram._util.validation import path_name
from digram.corpus import Further, Text
from digram.errors import CheckpointError, CorruptFileError, several

__all__ = ["Checkpoint", "noted_merges"]

VERSION = 3
STATE = "state.json"
JOURNAL = "merges.journal"
HEAD, MERGE = 8, 20
"""The sizes, in bytes, of the header of a journal and of each merge in it."""

BETWEEN = 30.0
"""Seconds between two saves of the state while a corpus is counted."""

_ANEW = "Delete the folder to start a new run."
_RUN = re.compile(r"[0-9A-Za-z_-]+\.digram-run")
_LEFT = ("digram-counts-*.tmp", ".digram-*.tmp")
"""What a killed run may leave: data that did not fit into memory, and incomplete files."""


@dataclass
class State:
    """The progress of counting: `documents` documents, whose bytes have the checksum `text`.

    `given` is the number of their bytes, and `bytes` that of the normalized text.

    When counting is done, `files` identifies the sizes and modification times of the files,
    `skipped` is the number of skipped records, and `counts` is the digest of the counts that merges
    are learned from, if the text has no checksum.
    """

    documents: int = 0
    bytes: int = 0
    pretokens: int = 0
    text: int = 0
    runs: list[str] = field(default_factory=list)
    done: bool = False
    files: list[str] = field(default_factory=list)
    counts: str = ""
    skipped: int = 0
    given: int = 0


class Checkpoint:
    """A checkpoint folder, with the state of an earlier run with the same options.

    >>> folder = getfixture("tmp_path") / "run"
    >>> with Checkpoint(folder, {"unit": "byte"}, {"ties": "ids"}) as checkpoint:
    ...     checkpoint.state.documents
    0

    `counted` are the options that determine the counts, `merged` those that also determine the
    merges; `options` has both by name, as text for error messages. `stamps` are the sizes and
    modification times of the files of the corpus: if all files were counted and none has changed,
    they are not read again. The folder is locked until the object is closed; the checkpoint of one
    of several corpora lies `within` a locked one.

    Raises `CheckpointError` for a folder of a run with other options, one that another run is
    using, and one that is damaged or has other content; also at the end of the `with` block, if a
    file of counts or merges proved to be damaged.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        counted: Any,
        merged: Any,
        stamps: list[list[int]] | None = None,
        *,
        options: Mapping[str, str] | None = None,
        within: Checkpoint | None = None,
    ) -> None:
        self.folder = Path(path_name(folder, "checkpoint"))
        self._options = dict(options or {})
        if self.folder.exists() and not self.folder.is_dir():
            raise system_error(
                errno.ENOTDIR,
                "a checkpoint is a folder, and this is not one; name a folder, which need not "
                "exist yet",
                os.fspath(folder),
            )
        self._run = {"counted": _digest(counted), "merged": _digest(merged)}
        self._files = [] if stamps is None else [_digest(stamp) for stamp in stamps]
        self.folder.mkdir(parents=True, exist_ok=True)
        self._within = within
        self._held = contextlib.ExitStack()
        try:
            if within is None:
                self._lock()
            self.state = self._read()
        except BaseException:
            self.close()
            raise

    def part(
        self,
        number: int,
        counted: Any,
        stamps: list[list[int]] | None,
        options: Mapping[str, str],
    ) -> Checkpoint:
        """The checkpoint of one of several corpora."""
        folder = self.folder / f"source-{number}"
        return Checkpoint(folder, counted, None, stamps, options=options, within=self)

    def close(self) -> None:
        """Release the lock of the folder."""
        self._held.close()

    def _lock(self) -> None:
        """Lock the folder until the checkpoint is closed."""
        if not self._held.enter_context(lock_folder(self.folder)):
            raise CheckpointError(
                "the folder is in use: another run saves its checkpoint there.",
                path=self.folder,
                hint="Wait until that run ends, or pass another folder.",
            )

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self.close()
        if isinstance(error, CheckpointError) and error.path is None:  # of the core
            error.path, error.hint = os.fspath(self.folder), error.hint or _ANEW
        if isinstance(error, CorruptFileError) and self._holds(error.path):
            raise CheckpointError(
                f"a file of the checkpoint is damaged: {error.message}",
                path=error.path,
                offset=error.offset,
                hint=_ANEW,
            ) from None

    def _holds(self, path: str | None) -> bool:
        """Whether a file is in this folder, or in that of one of several corpora."""
        return path is not None and self.folder in Path(path).parents

    @property
    def journal(self) -> Path:
        """The file to which merges are saved."""
        return self.folder / JOURNAL

    @property
    def merges(self) -> int:
        """The number of saved merges."""
        return noted_merges((self._within or self).folder)

    def counter(
        self, splitter: _core.Splitter, memory: int | None, between: _core.Core | None = None
    ) -> _core.Counter:
        """A counter that continues from the saved state."""
        state = self.state
        made = (state.runs, (state.documents, state.bytes, state.pretokens))
        try:
            return _core.Counter.resumed(
                splitter, self.folder, made, memory_limit=memory, between=between
            )
        except FileNotFoundError as error:
            raise CheckpointError(
                f"a file of the checkpoint is missing: {Path(error.filename).name}.",
                path=self.folder,
                hint=_ANEW,
            ) from None

    def rest(
        self,
        batches: Iterable[list[Text]],
        counter: _core.Counter,
        skipped_records: Callable[[], int] = int,
    ) -> Iterator[list[Text]]:
        """The batches that are not counted yet; the progress is saved between them.

        `skipped_records` is called at the end, for the state. Raises `CheckpointError` if the first
        batches differ from what was counted before.
        """
        state, skipped = self.state, State()
        if state.done and self._files:
            if state.files == self._files:
                return
            if state.files[:1] != self._files[:1]:
                raise self._other_corpus()
        noted = time.monotonic()
        for batch in batches:
            size, text = _sum_of(batch, skipped.text)
            skipped.given += size
            if skipped.documents < state.documents or skipped.given - size < state.given:
                skipped.documents += sum(not isinstance(one, Further) for one in batch)
                skipped.text = text
                if skipped.documents >= state.documents and skipped.given >= state.given:
                    self._check_same(skipped)
                continue
            if state.done:
                raise self._other_corpus()
            yield batch
            skipped.text = text
            if time.monotonic() - noted >= BETWEEN:
                self.note(counter, text, skipped.given)
                noted = time.monotonic()
        if skipped.documents < state.documents or skipped.given < state.given:
            self._check_same(skipped)
        if not state.done:
            self.note(counter, skipped.text, skipped.given, done=True, skipped=skipped_records())
        elif state.files != self._files:  # the files were rewritten with the same content
            self._write(replace(state, files=self._files))

    def note(
        self,
        counter: _core.Counter,
        text: int,
        given: int,
        *,
        done: bool = False,
        skipped: int = 0,
    ) -> None:
        """Write the counts to disk, and save the state; `given` bytes of text were counted."""
        runs, (documents, size, pretokens) = counter.checkpoint()
        files = self._files if done else []
        noted = State(
            documents, size, pretokens, text, list(runs), done, files, skipped=skipped, given=given
        )
        self._write(noted)

    def counted(self, counts: _core.Counts | _core.SortedCounts) -> None:
        """Save the name of the file with all counts, and delete those that were merged into it."""
        if isinstance(counts, _core.SortedCounts):
            runs, _ = counts.checkpoint()
            if runs != self.state.runs:
                self._write(replace(self.state, runs=runs))
            for path in self.folder.glob("*.digram-run"):
                if path.name not in runs:
                    path.unlink()

    def begin(self, counts: str = "") -> None:
        """Save that counting is done; `counts` identifies counts without a checksum of the text.

        Raises `CheckpointError` if merges were learned from other counts before.
        """
        if not self.state.done:
            self._write(replace(self.state, done=True, counts=counts))
        elif self.state.counts != counts:
            raise CheckpointError(
                "the corpus is not the one that the checkpoint was made from: its pretokens or "
                "their counts differ.",
                path=self.folder,
                hint="Pass the same corpus, or another folder to start a new run.",
            )

    def _write(self, state: State) -> None:
        self.state = state
        known: dict[str, Any] = {"format": VERSION, "run": self._run, "options": self._options}
        known["state"] = asdict(self.state)
        line = json.dumps({**known, "sha256": digest(known)})
        atomic_write(self.folder / STATE, line.encode() + b"\n")

    def _read(self) -> State:
        """Read the state. In a folder without one, start a new run."""
        for pattern in _LEFT:
            for path in self.folder.glob(pattern):
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
        path = self.folder / STATE
        try:
            found = json.loads(read_file(path))
            stated = found.pop("sha256", None)
            version, run, options = found["format"], found["run"], found["options"]
        except FileNotFoundError:
            # Merges without a state belong to no run.
            self.journal.unlink(missing_ok=True)
            self._write(State())
            return self.state
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _no_checkpoint(path) from None
        if type(version) is int and version != VERSION:
            raise CheckpointError(
                f"the checkpoint has format {version}; this version of digram reads {VERSION}.",
                path=path,
                hint="Resume with the version that wrote it, or start in another folder.",
            )
        # Verify the state first: files of counts that it does not name will be deleted.
        if stated != digest(found):
            raise CheckpointError(
                "the checkpoint is damaged: its content does not match its digest.",
                path=path,
                hint=_ANEW,
            )
        try:
            state = State(**found["state"])
        except (TypeError, KeyError):
            raise _no_checkpoint(path) from None
        if not isinstance(run, dict) or not isinstance(options, dict) or not _is_sound(state):
            raise _no_checkpoint(path)
        if run != self._run and state == State() and not any(self.folder.glob("source-*")):
            self._write(state)  # the other run has not done anything yet
            return state
        if run != self._run:
            raise self._other_options(run, options)
        return state

    def _other_options(self, run: Mapping[str, Any], options: Mapping[str, Any]) -> CheckpointError:
        here = self._options
        names = [name for name in here if options.get(name, here[name]) != here[name]]
        theirs, ours = (
            " and ".join(_shortened(str(known[name])) for name in names)
            for known in (options, here)
        )
        if names:
            message = f"{theirs}, but this call has {ours}"
        else:  # the difference is not in a named option
            merged = run.get("counted") == self._run["counted"]
            message = f"other options to {'merge' if merged else 'count'}"
        return CheckpointError(
            f"the folder belongs to a run with {message}.",
            path=self.folder,
            hint="Pass the options of that run to resume it, or another folder to start a new run.",
        )

    def _check_same(self, skipped: State) -> None:
        same = (skipped.documents, skipped.given, skipped.text)
        if same != (self.state.documents, self.state.given, self.state.text):
            raise self._other_corpus()

    def _other_corpus(self) -> CheckpointError:
        return CheckpointError(
            "the corpus is not the one that the checkpoint was made from: it differs within or "
            f"after the first {several(self.state.documents, 'document')}.",
            path=self.folder,
            hint="Pass the same corpus, or another folder to start a new run.",
        )


def noted_merges(folder: str | os.PathLike[str]) -> int:
    """The number of merges that the run in a folder has saved; 0 if there is no run.

    >>> noted_merges(getfixture("tmp_path"))
    0

    It follows from the size of the journal, and so includes merges that a crash damaged.
    """
    journal = Path(folder) / JOURNAL
    if not (journal.with_name(STATE).exists() and journal.exists()):
        return 0
    return max(0, journal.stat().st_size - HEAD) // MERGE


def _no_checkpoint(path: Path) -> CheckpointError:
    return CheckpointError(
        "this is not a checkpoint of digram.",
        path=path,
        hint="Pass another folder, or delete this file to start a new run.",
    )


def _is_sound(state: State) -> bool:
    """Whether all values have valid types. Each run is the name of a file in the folder."""
    numbers = (
        *(state.documents, state.bytes, state.pretokens, state.text, state.skipped),
        state.given,
    )
    texts = (state.runs, state.files)
    return (
        all(type(number) is int and 0 <= number < 1 << 64 for number in numbers)
        and all(type(found) is list and all(type(t) is str for t in found) for found in texts)
        and all(map(_RUN.fullmatch, state.runs))
        and len(set(state.runs)) == len(state.runs)
        and type(state.done) is bool
        and type(state.counts) is str
    )


def _digest(options: Any) -> str:
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()


def _shortened(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _sum_of(batch: Iterable[Text], before: int) -> tuple[int, int]:
    """The size of a batch in bytes, and a checksum of its texts and all before."""
    size = 0
    for text in batch:
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        size += len(data)
        before = zlib.crc32(data, zlib.crc32(len(data).to_bytes(8, "little"), before))
    return size, before
