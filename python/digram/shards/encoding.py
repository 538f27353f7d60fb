"""The run itself: read, encode, write, each while the others do."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from digram._core import __version__, default_threads
from digram._util.progress import progress as progress_bar
from digram._util.storage import advise_on_full_disk, lock_folder
from digram._util.validation import check_threads, instance, path_name
from digram.corpus import CorpusLike
from digram.corpus.prefetch import Ahead
from digram.errors import CheckpointError, DigramError
from digram.shards.borders import border_of
from digram.shards.inputs import Batch, Inputs
from digram.shards.manifest import Manifest
from digram.shards.options import EndOfText, Options
from digram.shards.pipeline import Behind
from digram.shards.reading import TokenFiles, read_tokens
from digram.shards.shards import Encoded, Shards, remove_unfinished
from digram.shards.tally import Tally
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.special_tokens import OnSpecial, rule_of

__all__ = ["encode_files"]

BATCH = 1 << 20  # bytes of text for each thread, at once
LEAST = 4 << 20  # bytes of text at once, at least

_MAKE_ROOM = "Make room and call again with resume=True: the shards that are done are kept."


def encode_files(
    tok: Tokenizer,
    corpus: CorpusLike | Mapping[str, CorpusLike],
    folder: str | os.PathLike[str],
    *,
    format: str,
    end_of_text: EndOfText = ...,
    dtype: str | None = None,
    shard_tokens: int | None = None,
    shard_size: int | str | None = None,
    separator: str | bytes | None = None,
    special: OnSpecial = "text",
    threads: int | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> TokenFiles:
    """Encode a corpus of any size into files that trainers read.

    >>> import digram
    >>> tok = digram.train("low lower", max_merges=2, special_tokens=["<|endoftext|>"])
    >>> folder = getfixture("tmp_path") / "out"
    >>> digram.encode_files(tok, ["low", "lower"], folder, format="megatron")
    <digram.TokenFiles: 2 documents, 6 tokens, format='megatron', dtype=uint16, 1 shard>
    >>> sorted(path.name for path in folder.iterdir())
    ['manifest.json', 'tokens-000000.bin', 'tokens-000000.idx']

    What comes in is what `digram.train` takes: texts, files of all kinds, tables, an iterator,
    or a dictionary of these, which are read in its order (each document once: weights are for
    counting). Each text is a document, and `separator` cuts them. Documents keep their order.

        format: "megatron", "nanogpt", "llmc", "datatrove", "dolma", "npy", "parquet", "arrow".
        end_of_text: the special token (or any id) after each document, None for none. Left
            out, it is the tokenizer's own, where it has exactly one of a known name.
        dtype: "uint16", "uint32" or what else the format has; the smallest that holds the
            vocabulary by default, and uint32 in Parquet and Arrow files.
        shard_tokens, shard_size: a shard ends with the document that reaches this many tokens
            (100 million by default), or bytes of ids ("1 GB").
        special: what becomes of the text of special tokens, as for `encode`.
        resume: go on with the run that the folder holds, if it was made by the same tokenizer
            with the same options of the same corpus; else a folder with a run is refused.

    The bytes written depend on these, the corpus, and the versions of digram and of the
    libraries that compress (zlib for dolma, pyarrow for Parquet and Arrow), never on threads or
    breaks. `manifest.json` holds the digests of the tokenizer, of all files and of the
    documents of each input. Each shard appears whole, after it is on the disk; a run that is
    killed, or whose disk is full, keeps those that are done. `resume` checks their digests,
    reads the corpus up to where they end (but for files that were read to their end and not
    touched since), compares it with what it was, and goes on.

    Returns what `digram.read_tokens` gives for the folder; `skipped` says how many records
    `digram.files(..., on_error="skip")` passed over. Raises `OptionError` where format and
    vocabulary do not go together, and for a `str` that is the name of a file or folder;
    `CheckpointError` for a folder of another run, one in the corpus, and a corpus that
    differs; `CorruptFileError` for a damaged shard, a bad record, and a file that changed while
    it was read; and as `encode`, with the file and the record.

    Memory beside the tokenizer: the texts and ids in work, some five times 1 MiB of text for
    each thread (4 MiB at least), up to 16 bytes for each document of a shard, and the longest
    record. A text file that is one document is read and encoded in parts, where the
    pretokenizer lets one cut it, and its ids wait in a file (a row of Parquet or Arrow is in
    memory). Files are read ahead by a thread; a caller's iterator, a table and stdin are read
    in this one. Ctrl-C stops it at once.
    """
    instance("tok", tok, Tokenizer)
    options = Options.of(
        tok,
        format,
        dtype=dtype,
        end_of_text=end_of_text,
        shard_tokens=shard_tokens,
        shard_size=shard_size,
        special=special,
    )
    threads = check_threads(threads)
    tok.encode_batch([], special=special, threads=threads)  # refuses what every batch would
    inputs = Inputs(corpus, separator, border_of(tok, special))
    home = Path(path_name(folder))
    inputs.check_outside(home)
    with advise_on_full_disk(_MAKE_ROOM):
        home.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            _hold(home, stack)
            settings = {**options.as_json(), **inputs.options}
            new = Manifest(__version__, tok.digest, settings, inputs.files)
            tally = Tally(inputs.files)
            _go_on(home, new, inputs, tally, options, resume, progress)
            shards = Shards(home, options, inputs, new, tally, stack.pop_all().close)
        _run(tok, shards, inputs, options, threads, progress)
    inputs.seen.tell()
    return read_tokens(home)


def _hold(home: Path, stack: contextlib.ExitStack) -> None:
    if not stack.enter_context(lock_folder(home)):
        raise CheckpointError(
            "another run writes to this folder.",
            path=home,
            hint="Wait until that run ends, or pass another folder.",
        )


def _go_on(
    home: Path,
    new: Manifest,
    inputs: Inputs,
    tally: Tally,
    options: Options,
    resume: bool,
    progress: bool | None,
) -> None:
    """Prove what a run before has done, and have all go on behind it."""
    old = Manifest.load(home)
    if old is None:
        if any(home.glob("tokens-*")):
            raise CheckpointError(
                "there are shards in this folder, and no manifest that tells what they hold.",
                path=home,
                hint="Give another folder.",
            )
        remove_unfinished(home, None, options.format)
        new.save(home)  # so that files left by a kill can be distinguished from files of others
        return
    if not resume and old.done:
        raise CheckpointError(
            "this folder holds a run that is finished; there is nothing left to do.",
            path=home,
            hint="Give another folder, or remove this one to write it again. resume=True checks "
            "that it holds what this call would write.",
        )
    if not resume:
        raise CheckpointError(
            "this folder holds a run that is not finished.",
            path=home,
            hint="Pass resume=True to go on with it, or give another folder.",
        )
    _check_same(home, old, new)
    inputs.check_same(old, home)
    written = sum(file.bytes for shard in old.shards for file in shard.files)
    with progress_bar("Checking the shards", written, "B", progress) as advance:
        old.check_files(home, digests=True, advance=advance)
    with progress_bar("Checking the corpus", inputs.size, "B", progress) as advance:
        inputs.prove(old, tally, advance)
    remove_unfinished(home, old, options.format)
    new.shards, new.documents, new.tokens = old.shards, old.documents, old.tokens
    new.save(home)


def _check_same(home: Path, old: Manifest, new: Manifest) -> None:
    """Refuses to go on with what would give other bytes, and names what differs."""
    differ: list[tuple[str, Any, Any]] = [("digram", old.digram, new.digram)]
    differ += [("the tokenizer", old.tokenizer[:16], new.tokenizer[:16])]
    names = {**old.options, **new.options}
    differ += [(f"{name}=", old.options.get(name), new.options.get(name)) for name in names]
    for name, was, now in differ:
        # No record was skipped so far, and so a run that stopped at a bad one may skip it.
        if was != now and (name, was, now) != ("on_error=", "raise", "skip"):
            raise CheckpointError(
                f"the run there was made with another value of {name.rstrip('=')}: {was!r}, not "
                f"{now!r}.",
                path=home,
                hint="Call with the same to go on, or give another folder.",
            )


def _run(
    tok: Tokenizer,
    shards: Shards,
    inputs: Inputs,
    options: Options,
    threads: int | None,
    progress: bool | None,
) -> None:
    behind = Behind(shards.add, shards.end, shards.close)
    texts = inputs.batches(max(LEAST, BATCH * (threads or default_threads())))
    # What runs the caller's code, or may wait for another process, is read in this thread.
    batches: Any = texts if inputs.is_callers else Ahead(texts, inputs.seen.end)
    done = inputs.seen.done
    left = None if inputs.size is None else max(inputs.size - done, 0)
    with (
        behind,
        contextlib.closing(batches),
        progress_bar("Encoding", total=left, unit="B", enabled=progress) as advance,
    ):
        for batch in batches:
            try:
                held = tok._encode_documents(
                    batch.texts, batch.unfinished, rule_of(options.special), threads
                )
            except DigramError as error:
                raise _placed_error(error, tok, inputs, batch, options) from None
            behind.put(Encoded(batch, held))
            advance(batch.done - done)
            done = batch.done
        behind.finish()


def _placed_error(
    error: DigramError, tok: Tokenizer, inputs: Inputs, batch: Batch, options: Options
) -> DigramError:
    """The error of the first text of a batch that has one, with its place in the corpus."""
    for number, text in enumerate(batch.texts):
        try:
            tok.encode(text, special=options.special)
        except DigramError as of_text:
            inputs.tell(of_text, batch, number)
            return of_text
    return error
