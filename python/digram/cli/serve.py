"""`digram serve`: explore tokenizers on a local web page."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from digram.cli import _loading, _printing, _verbs

__all__ = ["serve"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH... [OPTIONS]",
    epilog=_verbs.example(
        "digram serve -t tokenizer.json",
        "digram serve -t old.json -t new.json --open",
        "digram serve -t mine.json -t gpt-4o",
        "digram serve -t tokenizer.json --port 8000 --allow-host localhost:9000",
    ),
)
@_loading.tokenizers_option("repeat it for several.")
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
    help="Also accept this host in the browser's address, if a port of another machine or of a "
    "container is forwarded to the server; repeat it for several.",
)
@click.option("--open", "opening", is_flag=True, help="Open the page in the browser.")
@_loading.described_options
def serve(
    *,
    tokenizers: tuple[str, ...],
    port: int,
    allow_hosts: tuple[str, ...],
    opening: bool,
    **described: Any,
) -> None:
    """Serve a web page that shows the tokens of text as you type, for one tokenizer or several side
    by side; it also lists the vocabulary, and shows merge trees, explanations, replays of training,
    the curve of vocabulary sizes and the cost of languages.

    For .tiktoken files of different encodings, append the encoding of each after a colon. Only
    browsers on this machine can open the page: use the printed address, including the part after
    the #. The page loads nothing from the network and sends no text anywhere. Ctrl-C stops the
    server.
    """
    from digram import web

    paths = _names(tokenizers)
    named = {name: _loading.load(path, dict(described)) for name, path in paths.items()}
    server = web.serve(named, port=port, allow_hosts=allow_hosts)
    _printing.emit(f"{server.address}\n", flush=True)  # a program may be waiting for the address
    _printing.log("Open this address in a browser. Ctrl-C stops it.")
    for host in allow_hosts:
        _printing.log(f"If {host} is forwarded to it: {host}/#{server.token}")
    if opening:
        click.launch(server.address)
    with contextlib.suppress(KeyboardInterrupt):  # not raised in a background job of a shell
        server.run()
    _printing.log("Stopped.")


def _names(paths: Sequence[str]) -> Mapping[str, str]:
    """The given paths by the names of their files; by the paths if two names are equal.

    >>> _names(["a/low.json", "b/tokenizer.json", "c/tokenizer.json"])
    {'low.json': 'a/low.json', 'b/tokenizer.json': 'b/tokenizer.json', ...}
    """
    names = [Path(_loading.with_encoding(path)[0]).name for path in paths]
    paths_by_name: dict[str, str] = {}
    for path, name in zip(paths, names, strict=True):
        shown = click.format_filename(name if names.count(name) == 1 else path)
        if shown in paths_by_name:
            raise click.UsageError(f"{shown} is given twice.")
        paths_by_name[shown] = path
    return paths_by_name
