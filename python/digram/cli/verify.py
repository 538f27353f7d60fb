"""`digram verify`: find the shortest text on which two tokenizers differ."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import _files_argument, _inputs, _loading, _options, _printing, _reading, _verbs
from digram.cli._choices import either

__all__ = ["verify"]

# Those of `digram.analysis.verification.peers`; a test compares the two.
LIBRARIES = ("tiktoken", "tokenizers", "transformers", "sentencepiece")


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH --against OTHER [OPTIONS]",
    epilog=_verbs.example(
        "digram verify -t tokenizer.json --against tokenizers",
        "digram verify -t gpt-4o --against tiktoken --fuzz 100k",
        "digram verify -t vocab.txt:bert-uncased --against tokenizers",
        "digram verify -t old.json --against new.json corpus/",
    ),
)
@_files_argument.optional
@_loading.pair_options(
    f"; or a library that loads the tokenizer of -t itself: {either(LIBRARIES)}; or LIBRARY=PATH "
    "for another one"
)
@_loading.described_options
@click.option(
    "--fuzz",
    type=_options.NUMBER,
    default=10_000,
    metavar="N",
    help="How many texts to generate.  [default: 10,000]",
)
@click.option(
    "--offsets/--no-offsets",
    default=True,
    help="Compare the places of tokens in the text too.  [default: offsets]",
)
@click.option(
    "--seed", type=int, default=0, metavar="N", help="Generate other texts.  [default: 0]"
)
@_reading.source_options
@_options.threads_option
@_options.json_option
def verify(
    *,
    files: tuple[str, ...],
    tokenizers: tuple[str, ...],
    against: str,
    fuzz: int,
    seed: int,
    offsets: bool,
    read_options: _reading.ReadOptions,
    threads: int | None,
    as_json: bool,
    **described: Any,
) -> None:
    """Find the shortest text on which two tokenizers differ: in ids, offsets or decoded text.

    {files}, - for stdin, and
    compared first, before generated texts. A library in --against shows whether digram reads a file
    exactly. The exit code is 1 if there is a difference.
    """
    import digram
    from digram.analysis.verification import peers

    this = _loading.one(tokenizers)
    library, equals, other = against.partition("=")
    a = _loading.load_any(this, dict(described))
    b: Any
    if library not in LIBRARIES:
        other = against
        try:
            b = _loading.load_any(other, dict(described), "--against")
        except FileNotFoundError as error:
            import difflib

            for near in difflib.get_close_matches(against, LIBRARIES, 1):
                error.add_note(f"Is the library {near} meant?")
            raise
    else:
        if equals and not other:
            raise click.UsageError(f"--against {against!r} is not LIBRARY=PATH.")
        other = other or this
        file, encoding = _loading.with_encoding(other)
        b = peers.load(
            file, library, encoding or described["encoding"], download=described["download"]
        )
    source = _inputs.texts_in(files, read_options)[0] if files else None
    names = (this, other)
    found = digram.verify(
        a, b, source, fuzz=fuzz, seed=seed, offsets=offsets, names=names, threads=threads
    )
    if as_json:
        _printing.emit_json(found.to_dict())
    else:
        _printing.emit(f"{found}\n")
    if not found.equal:
        click.get_current_context().exit(1)
