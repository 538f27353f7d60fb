"""The run itself: read, encode, write, each while the others do."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from digram._core import __version__
from digram.arguments import available_cores, check_threads, rule_of
from digram.bulk.borders import border_of
from digram.bulk.inputs import Batch, Inputs
from digram.bulk.manifest import Manifest
from digram.bulk.options import EndOfText, Options
from digram.bulk.pipeline import Behind
from digram.bulk.reading import TokenFiles, read_tokens
from digram.bulk.shards import Encoded, Shards, remove_unfinished
from digram.bulk.tally import Tally
from digram.errors import CheckpointError, DigramError
from digram.progress import progress as progress_bar
from digram.sources import Source
from digram.sources.ahead import Ahead
from digram.special import OnSpecial
from digram.storage import advise_on_full_disk, lock_folder

if TYPE_CHECKING:
    from digram.tokenizer import Tokenizer

__all__ = ["encode_files"]

BATCH = 1 << 20  # bytes of text for each thread, at once
LEAST = 4 << 20  # bytes of text at once, at least

_MAKE_ROOM = "Make room and call again with resume=True: the shards that are done are kept."


def encode_files(
    tok: Tokenizer,
    source: Source | Mapping[str, Source],
    folder: str | os.PathLike[str],
    *,
    format: str,
    end_of_text: EndOfText,
    dtype: str | None,
    shard_tokens: int | None,
    shard_size: int | str | None,
    separator: str | bytes | None,
    special: OnSpecial,
    threads: int | None,
    resume: bool,
    progress: bool | None,
) -> TokenFiles:
    """See `Tokenizer.encode_files`."""
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
    inputs = Inputs(source, separator, border_of(tok, special))
    home = Path(folder)
    inputs.check_outside(home)
    with advise_on_full_disk(_MAKE_ROOM):
        home.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            _hold(home, stack)
            said = {**options.as_json(), **inputs.options}
            new = Manifest(__version__, tok.digest, said, inputs.files)
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
            hint="Wait until it ends, or give another folder.",
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
        new.save(home)  # so that what a kill leaves can be told from what others put there
        return
    if not resume:
        raise CheckpointError(
            f"this folder holds a run that is {'done' if old.done else 'not done yet'}.",
            path=home,
            hint="Pass resume=True to go on with it, or give another folder.",
        )
    _check_same(home, old, new)
    inputs.check_same(old, home)
    written = sum(file.bytes for shard in old.shards for file in shard.files)
    with progress_bar("Checking the shards", written, "B", progress) as advance:
        old.check_files(home, digests=True, advance=advance)
    with progress_bar("Checking the source", inputs.size, "B", progress) as advance:
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
    texts = inputs.batches(max(LEAST, BATCH * (threads or available_cores())))
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
                raise _told(error, tok, inputs, batch, options) from None
            behind.put(Encoded(batch, held))
            advance(batch.done - done)
            done = batch.done
        behind.finish()


def _told(
    error: DigramError, tok: Tokenizer, inputs: Inputs, batch: Batch, options: Options
) -> DigramError:
    """The error of the first text of a batch that has one, with its place in the source."""
    for number, text in enumerate(batch.texts):
        try:
            tok.encode(text, special=options.special)
        except DigramError as of_text:
            inputs.tell(of_text, batch, number)
            return of_text
    return error
