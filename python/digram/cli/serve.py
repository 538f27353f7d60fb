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
    options_metavar="-t PATH... [OPTIONS]",
    epilog=common.example(
        "digram serve -t tokenizer.json",
        "digram serve -t old.json -t new.json --open",
        "digram serve -t mine.json -t o200k_base.tiktoken:o200k_base",
        "digram serve -t tokenizer.json --port 8000 --allow-host localhost:9000",
    ),
)
@click.option(
    "-t",
    "--tokenizer",
    "tokenizers",
    metavar="PATH",
    multiple=True,
    required=True,
    help="A tokenizer's file or folder; repeat it for several.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port to listen on.  [default: any that is free]",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="HOST[:PORT]",
    help="What stands in the browser's address where a port of another machine, or of a container, "
    "is forwarded to this page. May be repeated.",
)
@click.option("--open", "opening", is_flag=True, help="Open the page in the browser.")
@common.described_options
def serve(
    *,
    tokenizers: tuple[str, ...],
    port: int,
    allow_hosts: tuple[str, ...],
    opening: bool,
    **described: Any,
) -> None:
    """Serve a page on which one types text and sees its tokens, with one tokenizer or several side
    by side, searches and sorts the vocabulary, and sees how each token was merged, why a text
    became its tokens, training played again on it, the curve of vocabulary size, and what
    languages cost.

    Of .tiktoken files that hold different encodings, each has its own behind a colon. The page is
    for browsers of this machine alone: open the address that is printed, with all that is after the
    #. Nothing is loaded from elsewhere, and no text leaves this machine. Ctrl-C stops it.
    """
    from digram import web

    named = {name: common.load(path, dict(described)) for name, path in _names(tokenizers).items()}
    server = web.serve(named, port=port, allow_hosts=allow_hosts)
    common.emit(f"{server.address}\n", flush=True)  # a program may wait for it
    common.log("Open this address in a browser. Ctrl-C stops it.")
    for host in allow_hosts:
        common.log(f"Where {host} is forwarded to it: {host}/#{server.token}")
    if opening:
        click.launch(server.address)
    with contextlib.suppress(KeyboardInterrupt):  # which is not raised in a shell's background
        server.run()
    common.log("Stopped.")


def _names(paths: Sequence[str]) -> Mapping[str, str]:
    """Paths as they were given by the names of the files; by themselves where two are alike.

    >>> _names(["a/low.json", "b/tokenizer.json", "c/tokenizer.json"])
    {'low.json': 'a/low.json', 'b/tokenizer.json': 'b/tokenizer.json', ...}
    """
    names = [Path(common.with_encoding(path)[0]).name for path in paths]
    found: dict[str, str] = {}
    for path, name in zip(paths, names, strict=True):
        shown = click.format_filename(name if names.count(name) == 1 else path)
        if shown in found:
            raise click.UsageError(f"{shown} is named twice.")
        found[shown] = path
    return found
