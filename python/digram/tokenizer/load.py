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
    """Load a tokenizer from a file or folder; the format is detected from the content.

    >>> import digram, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
    >>> tok = digram.train("low low lower", vocab_size=258)
    >>> tok.save(path)
    >>> digram.load(path) == tok
    True

    The formats are `tokenizer.json`, `.tiktoken`, `.gguf`, `tekken.json`, the `.model` of minbpe,
    digram's own `.json`, a folder with `vocab.json` and `merges.txt`, and a folder with
    `vocabulary.json` and `merges.json`. Of a `.gguf` file only the vocabulary is read.

    Some files do not store the pretokenizer, as `.tiktoken` files and `vocab.json`. digram does not
    guess it: pass `pretokenizer=`, or the name of a published encoding, as in
    `encoding="cl100k_base"`, which also sets the special tokens. `digram.formats.ENCODINGS` has the
    names.

    Raises `CorruptFileError` for a damaged file and `VocabError` for one that is not supported,
    both with the file and the line; `OptionError` if the pretokenizer is missing, or does not fit
    the file; and `OSError` if the file cannot be read. Takes time linear in the size of the
    vocabulary.
    """
    return Tokenizer._of(formats.read_compact(path, pretokenizer=pretokenizer, encoding=encoding))
