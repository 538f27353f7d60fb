"""`digram grow log`: show the versions of a vocabulary and its log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from digram.cli import _options, _printing, _verbs
from digram.errors import several

__all__ = ["log"]


@click.command(cls=_verbs.Verb, epilog=_verbs.example("digram grow log vocabulary/"))
@click.argument("folder", metavar="FOLDER")
@_options.json_option
def log(*, folder: str, as_json: bool) -> None:
    """Show the versions of the vocabulary in FOLDER, its current counts and its log."""
    import digram
    from digram.adapt.versions.files import entry_as_json

    history = digram.VocabularyHistory.load(Path(folder))
    parts = history.parts
    if as_json:
        versions = [
            {"number": one.number, "digest": one.digest, "vocab_size": one.vocab_size}
            for one in history.versions
        ]
        facts: dict[str, Any] = {"versions": versions}
        facts["parts"] = {
            name: {"bytes": of.bytes, "distinct": len(of)} for name, of in parts.items()
        }
        facts["log"] = [entry_as_json(entry) for entry in history.log]
        _printing.emit_json(facts)
        return
    lines = [_printing.heading("Versions"), *(f"  {version}" for version in history.versions)]
    lines += ["", _printing.heading("Current counts")]
    lines += [
        f"  {name}: {several(of.bytes, 'byte')}, {len(of):,} distinct pretokens"
        for name, of in parts.items()
    ]
    lines += ["", _printing.heading("Log"), *(f"  {entry}" for entry in history.log)]
    _printing.emit("\n".join(lines) + "\n")
