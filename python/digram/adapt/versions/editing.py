"""A trainer in a folder, changed by one process at a time."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from digram.adapt.versions import files
from digram.adapt.versions.trainer import Trainer

__all__ = ["edited"]


def edited(
    folder: str | PathLike[str],
    change: Callable[[Trainer], Trainer],
    begin: Callable[[], Trainer] | None = None,
) -> Trainer:
    """Load the trainer of a folder, change it, and save it; no other process saves meanwhile.

    >>> import digram
    >>> folder = getfixture("tmp_path") / "trainer"
    >>> trainer = edited(folder, lambda trainer: trainer.add("low lower"), begin=digram.Trainer)
    >>> edited(folder, lambda trainer: trainer.next(vocab_size=258)).tokenizer.vocab_size
    258

    `begin` makes the trainer where there is none yet; without it that is a `FileNotFoundError`.
    What fails leaves the folder as it was. Raises `CheckpointError` while another process saves to
    it, and else what `Trainer.load`, `change` and `Trainer.save` raise.
    """
    path = Path(folder) / files.NAME
    if begin is None:
        path.stat()  # or a folder would be made for nothing
    with files.held(folder):
        trainer = begin() if begin is not None and not path.exists() else Trainer.load(folder)
        after = change(trainer)
        files.write(folder, after._state)
    return after
