"""Loading a tokenizer from a file or folder."""

from __future__ import annotations

from os import PathLike

from digram import formats
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["load"]


def load(
    path: str | PathLike[str],
    *,
    pretokenizer: formats.PretokenizerLike | formats.Missing = formats.MISSING,
    encoding: str | None = None,
) -> Tokenizer:
    """Load a tokenizer from a file or folder; the format is recognised by the content.

    >>> import digram, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
    >>> tok = digram.train("low low lower", vocab_size=258)
    >>> tok.save(path)
    >>> digram.load(path) == tok
    True

    The formats are `tokenizer.json`, `.tiktoken`, a folder with `vocab.json` and `merges.txt`, and
    a folder with `vocabulary.json` and `merges.json`. A `.tiktoken` file and `vocab.json` do not
    store the pretokenizer, and digram does not guess it: pass `pretokenizer=`, or
    `encoding="cl100k_base"` (or another published name), which also sets the special tokens.

    Raises `CorruptFileError` or `VocabError`, with file and line, for a file that is damaged or
    not supported, `OptionError` if the pretokenizer must be passed, and `OSError`.
    """
    return Tokenizer._of(formats.read_compact(path, pretokenizer=pretokenizer, encoding=encoding))
