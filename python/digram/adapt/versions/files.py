"""A history as a folder, and back.

`history.json` names all other files, and is replaced atomically once they are on disk: after a
crash the folder holds the old history or the new one. Counts and tokenizers are separate files
whose names are digests of their content, so unchanged ones are not written again.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from digram._util.folder_lock import lock_folder
from digram._util.json_files import digest, unsealed
from digram._util.storage import LARGEST, advise_on_full_disk, atomic_write, read_file
from digram._util.system_errors import system_error
from digram._util.validation import fraction, fraction_in
from digram._util.wording import said
from digram.adapt import Change
from digram.adapt.versions.batches import Batch
from digram.adapt.versions.version import CLOSING, Entry, Event, VocabularyVersion
from digram.errors import CheckpointError, CorruptFileError, DigramError, show
from digram.formats import huggingface
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.tokenizer.load import load as load_tokenizer
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counts
from digram.training.counts.settings import CountsMetadata, from_json, to_json
from digram.vocab.settings import Unit

__all__ = ["NAME", "State", "check_begun", "entry_as_json", "held", "load", "save", "write"]

VERSION = 1
"""The version of the format. Readers refuse later ones."""

NAME = "history.json"
_OURS = re.compile(r"(counts-[0-9a-f]{32}\.arrow|version-[0-9a-f]{32}\.json|\.digram-\w+\.tmp)")
_COPY = "Copy the folder again."
_TRIES = 16  # a saver may replace files before a reader has read them

State = tuple[
    Pretokenizer, Unit, tuple[Batch, ...], tuple[VocabularyVersion, ...], tuple[Entry, ...]
]
"""The state of a history."""


def save(folder: str | PathLike[str], state: State) -> None:
    """Write a folder; see `VocabularyHistory.save`."""
    with held(folder):
        write(folder, state)


@contextlib.contextmanager
def held(folder: str | PathLike[str]) -> Iterator[None]:
    """Lock a folder, which is created if it is missing, so that no other process saves to it.

    A folder that was created is removed again if nothing was saved. Raises `CheckpointError` if
    another process has locked it.
    """
    home = Path(folder)
    made = not home.is_dir()
    if made and home.exists():
        raise system_error(
            errno.ENOTDIR, "a history is a folder, and this is not one", os.fspath(folder)
        )
    with advise_on_full_disk("Free some disk space, and save again; the old history is kept."):
        home.mkdir(exist_ok=True)
        try:
            with lock_folder(home) as mine:
                if not mine:
                    raise CheckpointError(
                        "another history is being saved to this folder.",
                        path=home,
                        hint="Wait until that is done, or pass another folder.",
                    )
                yield
        finally:
            if made:
                with contextlib.suppress(OSError):  # it is not empty
                    home.rmdir()


def write(folder: str | PathLike[str], state: State) -> None:
    """Write a locked folder."""
    home = Path(folder)
    cut, unit, batches, versions, log = state
    plain = {
        "made_with": json.loads(to_json(CountsMetadata(cut, unit, 0, 0, 0, None))),
        "batches": [
            {
                "name": one.name,
                "weight": str(one.weight),
                "epoch": one.epoch,
                "least": one.least,
                "file": _counts_file(home, one.counts),
            }
            for one in batches
        ],
        "versions": [
            {
                "number": one.number,
                "place": one.place,
                "epoch": one.epoch,
                "digest": one.digest,
                "file": _tokenizer_file(home, one.tokenizer),
            }
            for one in versions
        ],
        "log": [entry_as_json(entry) for entry in log],
    }
    top = {"digram_history": VERSION, "sha256": digest(plain), **plain}
    atomic_write(
        home / NAME, (json.dumps(top, indent=1, ensure_ascii=False) + "\n").encode(), LARGEST
    )
    named = {one["file"] for part in ("batches", "versions") for one in plain[part]}
    for entry in os.listdir(home):
        if _OURS.fullmatch(entry) and entry not in named:
            (home / entry).unlink(missing_ok=True)


def check_begun(folder: str | PathLike[str]) -> None:
    """Raise `FileNotFoundError` for a folder without a history, or one that there is not."""
    if not (Path(folder) / NAME).exists():
        begun = said("VocabularyHistory.save writes", "digram grow add begins")
        reason = f"there is no history here; {begun} one"
        raise system_error(errno.ENOENT, reason, os.fspath(folder))


def load(folder: str | PathLike[str]) -> State:
    """Read a folder; see `VocabularyHistory.load`."""
    check_begun(folder)
    path = Path(folder) / NAME
    for tries in range(_TRIES):
        data = read_file(path)
        try:
            return _parsed(data, path.parent)
        except FileNotFoundError as error:
            if tries < _TRIES - 1 and read_file(path) != data:
                continue
            raise CorruptFileError(
                f"{error.filename} is missing, which is part of the history.",
                path=path,
                hint=_COPY,
            ) from None
        except DigramError as error:
            error.path = error.path or str(path)
            raise
    raise AssertionError("the last try returns or raises")


def _counts_file(home: Path, counts: Counts) -> str:
    identity = [counts.fingerprint, counts._held.digest(), counts.documents, counts.skipped]
    name = f"counts-{sha256(json.dumps(identity).encode()).hexdigest()[:32]}.arrow"
    if not (home / name).exists():
        counts.save(home / name)
    return name


def _tokenizer_file(home: Path, tok: Tokenizer) -> str:
    training = None if tok.training is None else asdict(tok.training)
    identity = [tok.digest, tok.pretokenizer.name, training]
    name = f"version-{sha256(json.dumps(identity).encode()).hexdigest()[:32]}.json"
    if not (home / name).exists():
        definition = tok.definition
        # The format of other programs cannot express that unknown characters are refused; digram
        # reads it from its own keys. Merges that are not applied by rank alone are unusable there.
        own = not definition.model.portable
        data = huggingface.dumps(definition, allow_loss=True, own=own)
        atomic_write(home / name, data, LARGEST)
    return name


def entry_as_json(entry: Entry) -> dict[str, Any]:
    """A line of the log as JSON, without missing values."""
    weight = None if entry.weight is None else str(entry.weight)
    fields = {**asdict(entry), "weight": weight}
    return {name: value for name, value in fields.items() if value is not None}


def _parsed(data: bytes, home: Path) -> State:
    top, stated = unsealed(data, "digram_history", "a history", VERSION, _COPY)
    try:
        if stated != digest(top):
            raise ValueError("its SHA-256 does not match")
        metadata = from_json(json.dumps(top["made_with"]))
        for part in ("log", "batches", "versions"):
            if not all(isinstance(one, dict) for one in top[part]):
                raise ValueError(f"{part} contains an invalid entry")
        log = tuple(map(_entry, top["log"]))
        batches = [(_batch(one, log), _file(home, one["file"])) for one in top["batches"]]
        versions = [_version(one, number, log) for number, one in enumerate(top["versions"], 1)]
        paths = [_file(home, one["file"]) for one in top["versions"]]
    except (DigramError, KeyError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise CorruptFileError(f"the history is damaged: {what}.", hint=_COPY) from None
    toks = [_tokenizer(log[one.place], path) for one, path in zip(versions, paths, strict=True)]
    changes = [None, *(Change.of(before, after) for before, after in pairwise(toks))]
    return (
        metadata.pretokenizer,
        metadata.unit,
        tuple(replace(one, counts=_counts(path, metadata)) for one, path in batches),
        tuple(
            replace(one, tokenizer=tok, change=change)
            for one, tok, change in zip(versions, toks, changes, strict=False)
        ),
        log,
    )


def _file(home: Path, name: Any) -> Path:
    if not isinstance(name, str) or not _OURS.fullmatch(name):
        raise ValueError(f"{show(name)} is not the name of one of its files")
    return home / name


_WORDS, _NUMBERS = ("name", "digest", "how"), ("documents", "bytes", "pretokens", "number")
# The exact keys of each kind of event in the log.
_FIELDS: dict[Event, tuple[str, ...]] = {
    "add": ("name", "weight", "documents", "bytes", "pretokens", "digest"),
    "forget": ("name", "documents", "bytes", "pretokens", "digest"),
    "decay": ("weight",),
    "version": ("number", "how", "digest"),
}


def _entry(content: dict[str, Any]) -> Entry:
    event = content.get("event")
    needed = _FIELDS.get(event) if isinstance(event, str) else None  # type: ignore[call-overload]
    if needed is None or content.keys() != {"event", *needed}:
        raise ValueError("a line of its log is unknown")
    found: dict[str, Any] = {"event": event}
    for key in needed:
        kind = str if key in _WORDS or key == "weight" else int
        found[key] = _weight(content[key]) if key == "weight" else _is(content[key], kind, key)
    return Entry(**found)


def _weight(value: Any) -> Fraction:
    return Fraction(*fraction(fraction_in(_is(value, str, "a weight")), "weight"))


def _is(value: Any, kind: type, what: str) -> Any:
    """Check that a value is a text, or a whole number of at least 0 that fits into 64 bits."""
    if type(value) is not kind or (isinstance(value, int) and not 0 <= value < 1 << 64):
        raise ValueError(f"{what} is {show(value)}")
    return value


def _batch(content: dict[str, Any], log: Sequence[Entry]) -> Batch:
    """A batch without its counts."""
    epochs = sum(entry.event in CLOSING for entry in log)
    epoch, least = _is(content["epoch"], int, "epoch"), _is(content["least"], int, "least")
    if epoch > epochs or least < 1:
        raise ValueError("a batch contradicts the log")
    name, weight = _is(content["name"], str, "name"), _weight(content["weight"])
    return Batch(name, None, weight, epoch, least)  # type: ignore[arg-type]


def _version(content: dict[str, Any], number: int, log: Sequence[Entry]) -> VocabularyVersion:
    """A version without its tokenizer, from the log."""
    place, epoch = _is(content["place"], int, "place"), _is(content["epoch"], int, "epoch")
    entry = log[place] if place < len(log) else None
    there = sum(one.event in CLOSING for one in log[: place + 1])
    recorded = (content["number"], content["digest"])
    if entry is None or entry.event != "version" or (entry.number, entry.digest) != recorded:
        raise ValueError("a version is not in the log")
    if (number, there) != (entry.number, epoch):
        raise ValueError("the versions are not in order")
    return VocabularyVersion(number, None, None, place, epoch)  # type: ignore[arg-type]


def _counts(path: Path, made: CountsMetadata) -> Counts:
    counts = Counts.load(path)
    if (counts.pretokenizer, counts.unit) != (made.pretokenizer, made.unit):
        raise CorruptFileError(
            "these counts were made with other settings than the history's.", path=path, hint=_COPY
        )
    return counts


def _tokenizer(entry: Entry, path: Path) -> Tokenizer:
    tok = load_tokenizer(path)
    if tok.digest != entry.digest:
        raise CorruptFileError("this is another tokenizer.", path=path, hint=_COPY)
    return tok
