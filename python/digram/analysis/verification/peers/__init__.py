"""Tokenizers of other libraries as sides of a comparison, one module for each library.

No library is imported before an object of it is given, or `load` names it.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from digram._util.system_errors import no_such_file
from digram._util.validation import choice
from digram.analysis.verification.sides import Side
from digram.errors import DigramError, OptionError, VocabError
from digram.names import find

__all__ = ["LIBRARIES", "load", "side_of"]

# The class whose objects are taken, by the library that defines it.
_CLASSES = {
    "tiktoken": ("Encoding",),
    "tokenizers": ("Tokenizer", "BaseTokenizer"),
    "transformers": ("PreTrainedTokenizerBase",),
    "sentencepiece": ("SentencePieceProcessor",),
}
LIBRARIES = tuple(_CLASSES)
"""The libraries whose tokenizers can be compared."""


def side_of(value: object) -> Side | None:
    """The side of a tokenizer of another library; None for anything else."""
    for kind in type(value).__mro__:
        # The drop-in for tiktoken has its methods, so it is asked in the same way.
        module = str(kind.__module__).removeprefix("digram.compat.")
        library = module.partition(".")[0]
        if kind.__name__ in _CLASSES.get(library, ()):
            side: Side = import_module(f"{__name__}.{library}").made(value)
            return side
    return None


def load(path: str, library: str, encoding: str | None = None, *, download: bool = False) -> Any:
    """Load a tokenizer from a file or folder, or by its name, by another library.

    `library` is "tokenizers" (a tokenizer.json), "transformers" (this file or a folder), "tiktoken"
    (a .tiktoken file) or "sentencepiece" (a .model). The first two also take a vocab.txt.
    `encoding` is what `digram.load` takes for a file that does not say it. A name is found as
    `digram.load` finds it, so that no library downloads anything.

    Raises `OptionError` for an unknown library, or one that is not installed, `VocabError` for a
    file that the library does not load, and `OSError` if the file cannot be read.
    """
    choice("library", library, *LIBRARIES)
    try:
        import_module(library)
    except ImportError:
        raise OptionError(
            f"{library} is not installed.", value=library, hint=f"Run `pip install {library}`."
        ) from None
    found = find(path, download=download)
    if not os.path.exists(found.path):  # a link to nothing
        raise no_such_file(path)
    try:
        return import_module(f"{__name__}.{library}").load(found, found.encoding or encoding)
    except (DigramError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # others are a library's own complaint about the content
        told = f"{library} does not load it: {type(error).__name__}: {error}"
        raise VocabError(told, path=path) from error
