"""Loading a tokenizer from a file or folder, or by its name."""

from __future__ import annotations

from os import PathLike

from digram import formats
from digram._util.storage import read_file
from digram.errors import OptionError, show
from digram.names import Found, find
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.packed import compacted

__all__ = ["load"]


def load(
    path: str | PathLike[str],
    *,
    pretokenizer: formats.PretokenizerLike | formats.Missing = formats.MISSING,
    encoding: str | None = None,
    download: bool = False,
) -> Tokenizer:
    """Load a tokenizer from a file or folder, or by its name.

    >>> import digram, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
    >>> tok = digram.train("low low lower", vocab_size=258)
    >>> tok.save(path)
    >>> digram.load(path) == tok
    True

    The formats are `tokenizer.json`, `.tiktoken`, `.gguf`, `tekken.json`, the `.model` of minbpe
    and of SentencePiece, CLIP's `bpe_simple_vocab_16e6.txt.gz`, codes of subword-nmt, RWKV's word
    list, digram's own `.json`, a folder with `vocab.json` and `merges.txt`, and a folder with
    `vocabulary.json` and `merges.json`; the format is detected from the content. Of a `.gguf` file
    only the vocabulary is read. Of a folder with `tokenizer.json`, or with the files of
    SentencePiece, BERT or GPT-2, the other files that transformers writes are read too: they set
    `special_roles`, `pad_token`, `context_size` and `chat_templates`.

    A `str` that is not the path of anything may be a name: a published encoding ("o200k_base"), a
    model of OpenAI ("gpt-4o"), a repository of Hugging Face ("Qwen/Qwen3-8B"), or a file or folder
    in the folder of the variable DIGRAM_TOKENIZERS. It is found there, or in the caches that
    tiktoken and Hugging Face keep on this machine. Only with `download=True` a missing one is
    fetched from the network: a published encoding into that folder, a repository into Hugging
    Face's cache, with the package huggingface_hub (the extra `hub`).

    Some files do not store the pretokenizer, as `.tiktoken` files and `vocab.json`. digram does not
    guess it: pass `pretokenizer=`, or the name of a published encoding, as in
    `encoding="cl100k_base"`, which also sets the special tokens. `digram.formats.ENCODINGS` has the
    names. OpenAI's published `.tiktoken` files are recognised by their digests and need neither.

    Raises `CorruptFileError` for a damaged file and `VocabError` for one that is not supported,
    both with the file and the line; `OptionError` if the pretokenizer is missing, or does not fit
    the file; and `OSError` if the file cannot be read, or the name is not found. Takes time linear
    in the size of the vocabulary.
    """
    found = find(path, download=download)
    if found.encoding is not None:
        _check_options(found, pretokenizer, encoding)
        encoding = found.encoding
    if found.merges is not None:
        vocab, merges = read_file(found.path), read_file(found.merges)
        both = formats.vocab_merges.loads(
            vocab, merges, found.path, found.merges, encoding=encoding
        )
        return Tokenizer._of(compacted(both))
    return Tokenizer._of(
        formats.read_compact(found.path, pretokenizer=pretokenizer, encoding=encoding)
    )


def _check_options(found: Found, pretokenizer: object, encoding: str | None) -> None:
    """Raise `OptionError` if the options contradict the name."""
    if pretokenizer is not formats.MISSING or encoding not in (None, found.encoding):
        given = "pretokenizer=" if encoding is None else f"encoding={show(encoding)}"
        raise OptionError(
            f"the name stands for the encoding {found.encoding}, so {given} contradicts it.",
            path=found.path,
            hint="Leave it out, or load the file by its path.",
        )
