"""`digram verify`: find the shortest text on which two tokenizers differ."""

from __future__ import annotations

from typing import Any

import click

from digram.cli import _files_argument, _inputs, _loading, _options, _printing, _reading, _verbs

__all__ = ["verify"]

# Those of `digram.analysis.verification.peers`; a test compares the two.
LIBRARIES = ("tiktoken", "tokenizers", "transformers", "sentencepiece")


@click.command(
    options_metavar="-t A [-t B] [OPTIONS]",
    epilog=_verbs.example(
        "digram verify -t tokenizer.json --against tokenizers",
        "digram verify -t gpt-4o --against tiktoken --fuzz 100k",
        "digram verify -t vocab.txt:bert-uncased --against tokenizers",
        "digram verify -t old.json -t new.json corpus/",
    ),
)
@_files_argument.optional
@_loading.tokenizers_option(
    "give two, A and B, or one with --against.",
    "Give each tokenizer with it, as in -t a.json -t b.json.",
)
@_loading.described_options
@click.option(
    "--against",
    type=click.Choice(LIBRARIES),
    help="Load B by this library, which must be installed; without B, load the file or name of A "
    "by it.",
)
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
    against: str | None,
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
    compared first, before generated texts. With --against it is another library that reads a file,
    which shows whether digram reads it exactly. The exit code is 1 if there is a difference.
    """
    import digram
    from digram.analysis.verification import peers

    if not 1 <= len(tokenizers) <= 2 or (len(tokenizers) == 1 and against is None):
        raise click.UsageError(
            f"verify needs two tokenizers, not {len(tokenizers)}; give each with -t, or one with "
            "--against."
        )
    a = _loading.load_any(tokenizers[0], dict(described))
    path = tokenizers[-1]
    b: Any
    if against is None:
        b = _loading.load_any(path, dict(described))
    else:
        file, encoding = _loading.with_encoding(path)
        b = peers.load(
            file, against, encoding or described["encoding"], download=described["download"]
        )
    source = _inputs.texts_in(files, read_options)[0] if files else None
    names = (tokenizers[0], path)
    found = digram.verify(
        a, b, source, fuzz=fuzz, seed=seed, offsets=offsets, names=names, threads=threads
    )
    if as_json:
        _printing.emit_json(found.to_dict())
    else:
        _printing.emit(f"{found}\n")
    if not found.equal:
        click.get_current_context().exit(1)
