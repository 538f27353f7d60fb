"""A trainer as a folder, and back.

`trainer.json` names all other files, and is replaced in one step when they are on the disk: so a
crash leaves the old trainer or the new one. Counts and tokenizers have files of their own, whose
names tell what they hold, so that what has not changed is not written again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, fields
from fractions import Fraction
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from digram.adapt import Change
from digram.counts import Counts
from digram.counts.settings import Said, said, to_json
from digram.definition import Unit
from digram.errors import CheckpointError, CorruptFileError, DigramError
from digram.formats import huggingface
from digram.growing.batches import Batch
from digram.growing.history import Entry, Event, Version
from digram.loading import load as load_tokenizer
from digram.pretokenizers import Pretokenizer
from digram.sealed import digest, unsealed
from digram.storage import advise_on_full_disk, atomic_write, lock_folder, read_file
from digram.tokenizer import Tokenizer

__all__ = ["NAME", "State", "entry_as_json", "held", "load", "save", "write"]

VERSION = 1
"""The version of the layout. A reader refuses later ones."""

NAME = "trainer.json"
_OURS = re.compile(r"(counts-[0-9a-f]{32}\.arrow|version-[0-9a-f]{32}\.json|\.digram-\w+\.tmp)")
_COPY = "Copy the folder again."
_TRIES = 16  # a saver may replace the files that a reader was about to read

State = tuple[Pretokenizer, Unit, tuple[Batch, ...], tuple[Version, ...], tuple[Entry, ...]]
"""What a trainer is."""


def save(folder: str | PathLike[str], state: State) -> None:
    """Write a folder; see `Trainer.save`."""
    with held(folder):
        write(folder, state)


@contextlib.contextmanager
def held(folder: str | PathLike[str]) -> Iterator[None]:
    """Holds a folder, which is made where it is missing, so that no other process saves to it.

    One that was made goes again where nothing was saved. Raises `CheckpointError` where another
    process holds it.
    """
    home = Path(folder)
    made = not home.is_dir()
    with advise_on_full_disk("Make room, and save again: what was saved before is still there."):
        home.mkdir(exist_ok=True)
        try:
            with lock_folder(home) as mine:
                if not mine:
                    raise CheckpointError(
                        "another trainer is being saved to this folder.",
                        path=home,
                        hint="Wait until that is done, or give another folder.",
                    )
                yield
        finally:
            if made:
                with contextlib.suppress(OSError):  # it holds something
                    home.rmdir()


def write(folder: str | PathLike[str], state: State) -> None:
    """Write a folder that is held."""
    home = Path(folder)
    cut, unit, batches, versions, log = state
    plain = {
        "made_with": json.loads(to_json(Said(cut, unit, 0, 0, 0, None))),
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
    top = {"digram_trainer": VERSION, "sha256": digest(plain), **plain}
    atomic_write(home / NAME, (json.dumps(top, indent=1, ensure_ascii=False) + "\n").encode())
    named = {one["file"] for part in ("batches", "versions") for one in plain[part]}
    for entry in os.listdir(home):
        if _OURS.fullmatch(entry) and entry not in named:
            (home / entry).unlink(missing_ok=True)


def load(folder: str | PathLike[str]) -> State:
    """Read a folder; see `Trainer.load`."""
    path = Path(folder) / NAME
    for tries in range(_TRIES):
        data = read_file(path)
        try:
            return _parsed(data, path.parent)
        except FileNotFoundError as error:
            if tries < _TRIES - 1 and read_file(path) != data:
                continue
            raise CorruptFileError(
                f"{error.filename} is missing, which the trainer is made of.",
                path=path,
                hint=_COPY,
            ) from None
        except DigramError as error:
            error.path = error.path or str(path)
            raise
    raise AssertionError("the last try returns or raises")


def _counts_file(home: Path, counts: Counts) -> str:
    told = [counts.fingerprint, counts._held.digest(), counts.documents, counts.skipped]
    name = f"counts-{sha256(json.dumps(told).encode()).hexdigest()[:32]}.arrow"
    if not (home / name).exists():
        counts.save(home / name)
    return name


def _tokenizer_file(home: Path, tok: Tokenizer) -> str:
    training = None if tok.training is None else asdict(tok.training)
    told = [tok.digest, tok.pretokenizer.name, training]
    name = f"version-{sha256(json.dumps(told).encode()).hexdigest()[:32]}.json"
    if not (home / name).exists():
        definition = tok.definition
        # What is lost for other programs (that unknown characters are refused) digram reads again.
        # Merges that are not by rank alone none of them could follow.
        own = definition.scheme is not None
        atomic_write(home / name, huggingface.dumps(definition, allow_loss=True, own=own))
    return name


def entry_as_json(entry: Entry) -> dict[str, Any]:
    """What a line of the log says, without what it does not say."""
    weight = None if entry.weight is None else str(entry.weight)
    told = {**asdict(entry), "weight": weight}
    return {name: value for name, value in told.items() if value is not None}


def _parsed(data: bytes, home: Path) -> State:
    top, stated = unsealed(data, "digram_trainer", "a trainer", VERSION, _COPY)
    try:
        if stated != digest(top):
            raise ValueError("its SHA-256 is another")
        made = said(json.dumps(top["made_with"]))
        log = tuple(_entry(one) for one in top["log"])
        batches = [(one, _file(home, one["file"])) for one in top["batches"]]
        versions = [(one, _file(home, one["file"])) for one in top["versions"]]
    except (DigramError, AttributeError, KeyError, TypeError, ValueError) as error:
        what = str(error).rstrip(".")
        raise CorruptFileError(f"the trainer is damaged: {what}.", hint=_COPY) from None
    toks = [_tokenizer(one, path) for one, path in versions]
    return (
        made.pretokenizer,
        made.unit,
        tuple(_batch(one, path, made) for one, path in batches),
        tuple(
            _version(one, tok, before)
            for (one, _), tok, before in zip(versions, toks, [None, *toks], strict=False)
        ),
        log,
    )


def _file(home: Path, name: Any) -> Path:
    if not isinstance(name, str) or not _OURS.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a file of it")
    return home / name


def _entry(told: dict[str, Any]) -> Entry:
    known = {field.name for field in fields(Entry)}
    if told.get("event") not in get_args(Event) or not told.keys() <= known:
        raise ValueError("a line of its log is not known")
    weight = told.get("weight")
    return Entry(**{**told, "weight": None if weight is None else Fraction(weight)})


def _batch(told: dict[str, Any], path: Path, made: Said) -> Batch:
    counts = Counts.load(path)
    if (counts.pretokenizer, counts.unit) != (made.pretokenizer, made.unit):
        raise CorruptFileError(
            "these counts were made otherwise than the trainer's.", path=path, hint=_COPY
        )
    return Batch(told["name"], counts, Fraction(told["weight"]), told["epoch"], told["least"])


def _tokenizer(told: dict[str, Any], path: Path) -> Tokenizer:
    tok = load_tokenizer(path)
    if tok.digest != told["digest"]:
        raise CorruptFileError("this is another tokenizer.", path=path, hint=_COPY)
    return tok


def _version(told: dict[str, Any], tok: Tokenizer, before: Tokenizer | None) -> Version:
    change = None if before is None else Change.of(before, tok)
    return Version(told["number"], tok, change, told["place"], told["epoch"])
