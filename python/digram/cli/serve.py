"""`digram serve`: tokenizers in a page of this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from digram.cli import common

__all__ = ["serve"]


@click.command(
    options_metavar="[OPTIONS]",
    epilog=common.example(
        "digram serve tokenizer.json",
        "digram serve old.json new.json --open",
    ),
)
@click.argument("tokenizers", nargs=-1, required=True, metavar="TOKENIZERS...")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port to listen on.  [default: any that is free]",
)
@click.option("--open", "opening", is_flag=True, help="Open the page in the browser.")
@common.described_options
def serve(*, tokenizers: tuple[str, ...], port: int, opening: bool, **described: Any) -> None:
    """Serve a page on which one types text and sees its tokens, with one tokenizer or several side
    by side, searches and sorts the vocabulary, and sees how each token was merged, why a text
    became its tokens, training played again on it, the curve of vocabulary size, and what
    languages cost.

    TOKENIZERS are files and folders. The page is for browsers of this machine alone: open the
    address that is printed, with all that is after the #. Nothing is loaded from elsewhere, and
    no text leaves this machine. Ctrl-C stops it.
    """
    from digram import web

    named = {name: common.load(path, dict(described)) for name, path in _names(tokenizers).items()}
    server = web.serve(named, port=port)
    common.emit(f"{server.address}\n", flush=True)  # a program may wait for it
    common.log("Open this address in a browser. Ctrl-C stops it.")
    if opening:
        click.launch(server.address)
    with contextlib.suppress(KeyboardInterrupt):  # which is not raised in a shell's background
        server.run()
    common.log("Stopped.")


def _names(paths: Sequence[str]) -> Mapping[str, str]:
    """Paths by the names of the files; as they were given where two are alike.

    >>> _names(["a/low.json", "b/tokenizer.json", "c/tokenizer.json"])
    {'low.json': 'a/low.json', 'b/tokenizer.json': 'b/tokenizer.json', ...}
    """
    names = [Path(path).name for path in paths]
    found: dict[str, str] = {}
    for path, name in zip(paths, names, strict=True):
        shown = click.format_filename(name if names.count(name) == 1 else path)
        if shown in found:
            raise click.UsageError(f"{shown} is named twice.")
        found[shown] = path
    return found
