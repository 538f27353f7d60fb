"""The run itself: read, encode, write, each while the others do."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from digram._core import __version__
from digram.arguments import check_threads
from digram.bulk.inputs import Inputs
from digram.bulk.manifest import Manifest
from digram.bulk.options import EndOfText, Options
from digram.bulk.pipeline import Behind, ahead
from digram.bulk.reading import TokenFiles, read_tokens
from digram.bulk.shards import Encoded, Shards, remove_unfinished
from digram.errors import CheckpointError, DigramError
from digram.progress import progress as progress_bar
from digram.sources import Source, total_bytes
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
    source: Source,
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
    inputs = Inputs(source, separator)
    options = Options.of(
        tok,
        format,
        dtype=dtype,
        end_of_text=end_of_text,
        shard_tokens=shard_tokens,
        shard_size=shard_size,
        special=special,
        separator=inputs.separator,
    )
    threads = check_threads(threads)
    tok.encode_batch([], special=special, threads=threads)  # refuses what every batch would
    home = Path(folder)
    inputs.check_outside(home)
    with advise_on_full_disk(_MAKE_ROOM):
        home.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as stack:
            _hold(home, stack)
            new = Manifest(__version__, tok.digest, options.as_json(), inputs.files)
            before = _before(home, new, inputs, resume)
            shards = Shards(home, options, inputs, new, stack.pop_all().close)
            size = inputs.left(total_bytes(source), before)
            _run(tok, shards, inputs, before, options, threads, size, progress)
    return read_tokens(home)


def _hold(home: Path, stack: contextlib.ExitStack) -> None:
    if not stack.enter_context(lock_folder(home)):
        raise CheckpointError(
            "another run writes to this folder.",
            path=home,
            hint="Wait until it ends, or give another folder.",
        )


def _before(home: Path, new: Manifest, inputs: Inputs, resume: bool) -> Manifest | None:
    """What a run before has done, once that is proved; `new` goes on from there."""
    old = Manifest.load(home)
    if old is None:
        if any(home.glob("tokens-*")):
            raise CheckpointError(
                "there are shards in this folder, and no manifest that tells what they hold.",
                path=home,
                hint="Give another folder.",
            )
        remove_unfinished(home, None)
        new.save(home)  # so that what a kill leaves can be told from what others put there
        return None
    if not resume:
        raise CheckpointError(
            f"this folder holds a run that is {'done' if old.done else 'not done yet'}.",
            path=home,
            hint="Pass resume=True to go on with it, or give another folder.",
        )
    _check_same(home, old, new)
    inputs.check_same(old, home)
    old.check_files(home, digests=True)
    remove_unfinished(home, old)
    new.shards, new.documents, new.tokens = list(old.shards), old.documents, old.tokens
    return old


def _check_same(home: Path, old: Manifest, new: Manifest) -> None:
    """Refuses to go on with what would give other bytes, and names what differs."""
    differ: list[tuple[str, Any, Any]] = [("digram", old.digram, new.digram)]
    differ += [("the tokenizer", old.tokenizer[:16], new.tokenizer[:16])]
    names = {**old.options, **new.options}
    differ += [(f"{name}=", old.options.get(name), new.options.get(name)) for name in names]
    for name, was, now in differ:
        if was != now:
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
    before: Manifest | None,
    options: Options,
    threads: int | None,
    size: int | None,
    progress: bool | None,
) -> None:
    behind = Behind(shards.add, shards.end, shards.close)
    batch_size = max(LEAST, BATCH * (threads or os.cpu_count() or 1))
    with (
        behind,
        contextlib.closing(ahead(inputs.read(batch_size, before))) as batches,
        progress_bar("Encoding", total=size, unit="B", enabled=progress) as advance,
    ):
        for batch in batches:
            try:
                flat = tok.encode_batch(
                    batch.texts, special=options.special, threads=threads, out="numpy"
                )
            except DigramError as error:
                inputs.say(error, batch)
                raise
            read = sum(map(len, batch.texts))
            behind.put(Encoded(batch._replace(texts=[]), flat))
            advance(read)
        behind.finish()
