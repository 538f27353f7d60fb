"""Ids that all have one hash, as multiples of 2^61 - 1 have: refused in linear time, with a reason.

In a dict or set each of them is compared with all before it, so they are checked before they are
keys.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import digram
from digram._util import json_files

ALIKE = [number * (2**61 - 1) for number in range(1, 100_001)]
SOON = 10.0
"""Seconds of the processor: one or two are what it takes, and minutes if all are compared."""

TOK = digram.train("low lower", vocab_size=259, special_tokens=["<e>"])
CHARACTERS = digram.train("low lower", vocab_size=9, unit="char")


def changed(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], object]:
    """Loads a tokenizer.json of others that was changed."""

    def load(folder: Path) -> object:
        path = folder / "tokenizer.json"
        TOK.save(path)
        told = json.loads(path.read_text(encoding="utf-8"))
        told["model"]["digram"].pop("seal")
        change(told)
        path.write_text(json.dumps(told), encoding="utf-8")
        return digram.load(path)

    return load


def vocabulary(told: dict[str, Any]) -> None:
    told["model"]["vocab"] |= {f"x{id}": id for id in ALIKE}


def added(told: dict[str, Any]) -> None:
    (one,) = told["added_tokens"]
    told["added_tokens"] += [one | {"id": id, "content": f"<{id}>"} for id in ALIKE]


def reserved(told: dict[str, Any]) -> None:
    told["model"]["digram"]["reserved"] = {str(id): [id, 1] for id in ALIKE}


def template(told: dict[str, Any]) -> None:
    sequence = [{"Sequence": {"id": name, "type_id": 0}} for name in "AB"]
    named = {str(id): {"id": str(id), "ids": [id], "tokens": [str(id)]} for id in ALIKE}
    told["post_processor"] = {
        "type": "TemplateProcessing",
        "single": sequence[:1],
        "pair": sequence,
        "special_tokens": named,
    }


def two_files(folder: Path) -> object:
    (folder / "vocab.json").write_text(json.dumps({f"x{id}": id for id in ALIKE}), "utf-8")
    (folder / "merges.txt").write_text("#version: 0.2\n", "utf-8")
    return digram.load(folder, pretokenizer=None)


def id_space(folder: Path) -> object:
    path = folder / "space.json"
    digram.IdSpace({"image": 10}).save(path)
    said = json.loads(path.read_text(encoding="utf-8"))
    (one,) = said["ranges"]
    said["ranges"] = [one | {"name": str(id), "start": id, "size": 1} for id in ALIKE]
    said["size"] = ALIKE[-1] + 1
    sealed = {key: said[key] for key in said if key not in ("digram_id_space", "sha256")}
    path.write_text(json.dumps(said | {"sha256": json_files.digest(sealed)}), "utf-8")
    return digram.IdSpace.load(path)


def definition(**parts: Any) -> Callable[[Path], object]:
    return lambda _: digram.Tokenizer(replace(TOK.definition, **parts))


PLACES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "vocabulary of a file": ("out of range", changed(vocabulary)),
    "added tokens of a file": ("out of range", changed(added)),
    "reserved blocks of a file": ("has the ids", changed(reserved)),
    "template of a file": ("with the id", changed(template)),
    "vocab.json": ("out of range", two_files),
    "an id space": ("the id space is damaged", id_space),
    "special tokens": (
        "cannot have the id",
        lambda _: TOK.with_special_tokens({f"<{id}>": id for id in ALIKE}),
    ),
    "merges": (
        "in no vocabulary",
        definition(model=digram.BpeModel([(id, id, id) for id in ALIKE])),
    ),
    "ids of bytes": (
        "byte_ids",
        lambda _: digram.Tokenizer(
            replace(CHARACTERS.definition, on_unknown="bytes", byte_ids=ALIKE)
        ),
    ),
    "ids to decode": ("not in this vocabulary", lambda _: TOK.decode(ALIKE)),
    "ids to keep": (
        "not in this vocabulary",
        lambda _: digram.prune(TOK, "low lower", remove=1, keep=ALIKE),
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_ids_of_one_hash_are_refused_soon(place: str, tmp_path: Path) -> None:
    says, use = PLACES[place]
    started = time.process_time()
    with pytest.raises(digram.DigramError, match=says):
        use(tmp_path)
    assert time.process_time() - started < SOON


@pytest.mark.parametrize("ids", [[], [0], [*range(256), 256], [-1] * 256, [2**32] * 256])
def test_ids_of_bytes_are_256_ids(ids: list[int]) -> None:
    with pytest.raises(digram.VocabError, match="byte_ids"):
        digram.Tokenizer(replace(CHARACTERS.definition, on_unknown="bytes", byte_ids=ids))
