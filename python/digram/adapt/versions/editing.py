"""A history in a folder, changed by one process at a time."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from digram.adapt.versions import files
from digram.adapt.versions.history import VocabularyHistory

__all__ = ["edited"]


def edited(
    folder: str | PathLike[str],
    change: Callable[[VocabularyHistory], VocabularyHistory],
    begin: Callable[[], VocabularyHistory] | None = None,
) -> VocabularyHistory:
    """Load the history of a folder, change it, and save it; other processes cannot save meanwhile.

    >>> import digram
    >>> folder = getfixture("tmp_path") / "history"
    >>> begin = digram.VocabularyHistory
    >>> history = edited(folder, lambda old: old.add("low lower"), begin=begin)
    >>> edited(folder, lambda old: old.next(vocab_size=258)).tokenizer.vocab_size
    258

    `begin` creates the history if there is none yet; without it a missing one is a
    `FileNotFoundError`. If anything fails, the folder does not change. Raises `CheckpointError`
    while another process saves to it, and otherwise what `VocabularyHistory.load`, `change` and
    `VocabularyHistory.save` raise.
    """
    path = Path(folder) / files.NAME
    if begin is None:
        files.check_begun(folder)  # before a folder is created
    with files.held(folder):
        history = (
            begin() if begin is not None and not path.exists() else VocabularyHistory.load(folder)
        )
        after = change(history)
        files.write(folder, after._state)
    return after
