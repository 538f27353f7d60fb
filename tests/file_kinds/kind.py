"""What a kind of file is, for those that damage it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import digram


@dataclass(frozen=True)
class Kind:
    """One kind of file, or of files that belong together."""

    name: str
    files: dict[str, bytes]
    read: Callable[[Path], Any]
    """What the files of a folder say, as JSON holds it."""
    sealed: bool = False
    says: Callable[[Path], Any] | None = None
    """The same by another reader; NotImplemented where that cannot read them either."""
    form: str = "bytes"
    """How it can be damaged with sense: "json", "lines", or "bytes" with numbers among them."""


def described(tok: digram.Tokenizer) -> list[Any]:
    """All of a tokenizer: what it does, and what it knows of its training."""
    definition = tok.definition
    assert digram.Tokenizer(definition).definition == definition
    found = {field.name: getattr(definition, field.name) for field in fields(definition)}
    tokens = found.pop("tokens")
    found["tokens"] = {id: token.hex() for id, token in enumerate(tokens) if token is not None}
    for text in ("banana low lower", "ä 123456 <|end|>\n"):
        try:
            found[text] = tok.encode(text)
        except digram.InvalidTextError:  # of a character that no token has
            found[text] = None
    return [f"{name}={value!r}" for name, value in sorted(found.items())]


def files_of(make: Callable[[Path], Any]) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "made"
        make(folder)
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


def put(files: dict[str, bytes], folder: Path) -> None:
    """Brings files into a folder, which has no others then."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
