"""The run: read, encode and write concurrently."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from digram._core import EncodedDocuments, __version__, default_threads
from digram._util.folder_lock import lock_folder
from digram._util.progress import progress as progress_bar
from digram._util.storage import advise_on_full_disk
from digram._util.system_errors import system_error
from digram._util.validation import check_threads, instance, path_name
from digram.corpus import CorpusLike
from digram.corpus.prefetch import Ahead
from digram.errors import CheckpointError, DigramError
from digram.shards.borders import border_of
from digram.shards.chats import EncodedChats, encode_chats, lines_of
from digram.shards.inputs import Batch, Inputs
from digram.shards.manifest import Manifest
from digram.shards.options import EndOfText, Options
from digram.shards.parts import EncodedParts, InParts, encode_parts, given, with_parts
from digram.shards.pipeline import Behind
from digram.shards.reading import TokenFiles, read_tokens
from digram.shards.shards import Encoded, Shards, remove_unfinished
from digram.shards.tally import Tally
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.special_tokens import OnSpecial, TextOrParts, rule_of

__all__ = ["encode_files"]

BATCH = 1 << 20  # bytes of text in a batch, for each thread
MIN_BATCH = 4 << 20  # minimum bytes of text in a batch

_MAKE_ROOM = "Free disk space and call again with resume=True: finished shards are kept."


def encode_files(
    tok: Tokenizer,
    corpus: CorpusLike | Iterable[TextOrParts] | Mapping[str, CorpusLike | Iterable[TextOrParts]],
    folder: str | os.PathLike[str],
    *,
    format: str,
    end_of_text: EndOfText = ...,
    dtype: str | None = None,
    shard_tokens: int | None = None,
    shard_size: int | str | None = None,
    special: OnSpecial = "text",
    chats: bool | str = False,
    threads: int | None = None,
    resume: bool = False,
    progress: bool | None = None,
) -> TokenFiles:
    """Encode a corpus of any size into files for training programs.

    >>> import digram, pathlib, tempfile
    >>> tok = digram.train("low lower", max_merges=2, special_tokens=["<|endoftext|>"])
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "out"
    >>> digram.encode_files(tok, ["low", "lower"], folder, format="megatron")
    <digram.TokenFiles: 2 documents, 6 tokens, format='megatron', dtype=uint16, 1 shard>
    >>> sorted(path.name for path in folder.iterdir())
    ['manifest.json', 'tokens-000000.bin', 'tokens-000000.idx']

    `corpus` is any corpus that `digram.train` accepts: texts, files of all kinds, tables, an
    iterator, or a dictionary of these, which are read in its order, each once. Each text is
    a document; `digram.files(..., separator=...)` splits files into documents. A document of a
    list or an iterator may be a list of parts, texts and `digram.SpecialToken`, as `encode` takes
    them. Documents keep their order.

    >>> parts = [[digram.SpecialToken("<|endoftext|>"), "low"], "lower"]
    >>> digram.encode_files(tok, parts, folder.parent / "parts", format="npy")
    <digram.TokenFiles: 2 documents, 7 tokens, format='npy', dtype=uint16, 1 shard>

        format: "megatron", "nanogpt", "llmc", "datatrove", "dolma", "npy", "parquet", "arrow".
        end_of_text: the special token (or any id) after each document, None for none. By
            default that of the tokenizer, if it has exactly one with a known name.
        dtype: "uint16", "uint32" or another type that the format supports; by default the
            smallest that fits the vocabulary, and uint32 in Parquet and Arrow files.
        shard_tokens, shard_size: a shard ends with the document that reaches this many tokens
            (100 million by default), or bytes of ids ("1 GB").
        special: how the text of special tokens is encoded, as for `encode`.
        chats: each document is a chat in JSON: a record with "messages" and, if it has them,
            "tools" and "documents". They are encoded by `Tokenizer.chat` with the template of
            the tokenizer, or that of this name. Each line of a .jsonl file is one. Parquet and
            Arrow files then have a second column, `assistant_masks`; other formats are refused.
        resume: resume the run in the folder, which must have the same tokenizer, options and
            corpus. Without it, a folder with a run is an error.

    The files depend on these arguments, the corpus, and the versions of digram and of the
    compression libraries (zlib for dolma, pyarrow for Parquet and Arrow), but not on threads or
    interruptions. `manifest.json` has the digests of the tokenizer, of all files and of the
    documents of each input. A shard gets its name when it is complete and on disk; after a
    crash or a full disk, finished shards remain. `resume` checks their digests, reads the
    corpus up to their end (except files that were read completely and have not changed since),
    compares it with the digest, and continues.

    Returns the `TokenFiles` of the folder, as `digram.read_tokens` does; `skipped` is the
    number of records skipped by `digram.files(..., on_error="skip")`. Raises `OptionError` if
    the format does not support the vocabulary, and for a `str` that is the name of a file or
    folder; `CheckpointError` for a folder of another run, a folder in the corpus, and a corpus
    that differs; NotADirectoryError for a file instead of a folder; `CorruptFileError` for a
    damaged shard, an invalid record, and a file that changed while it was read; and the errors
    of `encode`, with file and record.

    Memory in addition to the tokenizer: texts and ids in progress, about five times 1 MiB of
    text for each thread (4 MiB at least), up to 16 bytes for each document of a shard, and the
    longest record. A text file that is one document is read and encoded in parts, if the
    pretokenizer allows it, with its ids in a temporary file (a row of Parquet or Arrow is in
    memory). A thread reads files ahead; iterators, tables and stdin are read in the calling
    thread. Ctrl-C stops the run immediately.
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
        chats=chats,
    )
    threads = check_threads(threads)
    tok.encode_batch([], special=special, threads=threads)  # checks the arguments
    home = Path(path_name(folder, "folder"))
    if home.exists() and not home.is_dir():
        raise system_error(
            errno.ENOTDIR,
            "shards are written to a folder, and this is a file; name a folder, which need not "
            "exist yet",
            os.fspath(folder),
        )
    texts = lines_of(corpus) if chats else with_parts(corpus)
    inputs = Inputs(texts, border_of(tok, special))
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
    """Check the result of an earlier run in the folder, and continue after it."""
    old = Manifest.load(home)
    if old is None:
        if any(home.glob("tokens-*")):
            raise CheckpointError(
                "there are shards in this folder, but no manifest that describes them.",
                path=home,
                hint="Pass another folder.",
            )
        remove_unfinished(home, None, options.format)
        new.save(home)  # so that files left by a kill can be distinguished from files of others
        return
    if not resume and old.done:
        raise CheckpointError(
            "the run in this folder is finished already.",
            path=home,
            hint="Pass another folder, or delete this one to write it again. resume=True checks "
            "that it has the files that this call would write.",
        )
    if not resume:
        raise CheckpointError(
            "this folder contains an unfinished run.",
            path=home,
            hint="Pass resume=True to resume it, or another folder.",
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
    """Raises `CheckpointError` if the tokenizer or options differ, naming the difference."""
    differ: list[tuple[str, Any, Any]] = [("digram", old.digram, new.digram)]
    differ += [("the tokenizer", old.tokenizer[:16], new.tokenizer[:16])]
    names = {**old.options, **new.options}
    differ += [(f"{name}=", old.options.get(name), new.options.get(name)) for name in names]
    for name, was, now in differ:
        # A run that stopped at an invalid record may be resumed with on_error="skip".
        if was != now and (name, was, now) != ("on_error=", "raise", "skip"):
            raise CheckpointError(
                f"the run in the folder had another value of {name.rstrip('=')}: {was!r}, not "
                f"{now!r}.",
                path=home,
                hint="Use the same value to resume, or pass another folder.",
            )


def _run(
    tok: Tokenizer,
    shards: Shards,
    inputs: Inputs,
    options: Options,
    threads: int | None,
    progress: bool | None,
) -> None:
    texts = inputs.batches(max(MIN_BATCH, BATCH * (threads or default_threads())))
    # Inputs that run the caller's code, or may wait for another process, are read in this thread.
    batches: Any = texts if inputs.is_callers else Ahead(texts, inputs.seen.end)
    done = inputs.seen.done
    left = None if inputs.size is None else max(inputs.size - done, 0)
    with (
        Behind(shards.add, shards.end, shards.close) as behind,
        contextlib.closing(batches),
        progress_bar("Encoding", total=left, unit="B", enabled=progress) as advance,
    ):
        for batch in batches:
            try:
                held = _encoded(tok, batch, options, threads)
            except DigramError as error:
                raise _placed_error(error, tok, inputs, batch, options) from None
            behind.put(Encoded(batch, held))
            advance(batch.done - done)
            done = batch.done
        behind.finish()


def _encoded(
    tok: Tokenizer, batch: Batch, options: Options, threads: int | None
) -> EncodedDocuments | EncodedChats | EncodedParts:
    if not options.chats and any(isinstance(text, InParts) for text in batch.texts):
        return encode_parts(tok, batch.texts, batch.unfinished, options.special, threads)
    if not options.chats:
        special = rule_of(options.special)
        return tok._encode_documents(batch.texts, batch.unfinished, special, threads)
    return encode_chats(tok, batch.texts, _template(options), threads)


def _template(options: Options) -> str | None:
    return options.chats if isinstance(options.chats, str) else None


def _placed_error(
    error: DigramError, tok: Tokenizer, inputs: Inputs, batch: Batch, options: Options
) -> DigramError:
    """The error of the first invalid text of a batch, with its place in the corpus."""
    for number, text in enumerate(batch.texts):
        try:
            if options.chats:
                encode_chats(tok, [text], _template(options), 1)
            else:
                tok.encode(given(text), special=options.special)
        except DigramError as of_text:
            inputs.tell(of_text, batch, number)
            return of_text
    return error
