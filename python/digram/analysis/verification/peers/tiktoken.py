"""OpenAI's `tiktoken.Encoding`, and digram's drop-in for it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from digram import formats
from digram._util.storage import read_file
from digram.analysis.verification.sides import Answers, Mode, Side
from digram.errors import OptionError
from digram.formats._published import encoding_of_file
from digram.names import Found

__all__ = ["load", "made"]

_LINE = re.compile(rb"[A-Za-z0-9+/]+=* [0-9]+\r?\n")
"""The first line of a .tiktoken file."""


def made(value: Any) -> Side:
    """The side of an `Encoding`."""
    return _TiktokenSide(value)


def load(found: Found, encoding: str | None) -> Any:
    """Build the `Encoding` of a .tiktoken file, with tiktoken's own pattern and special tokens.

    The encoding of a published file need not be named.
    """
    import tiktoken
    import tiktoken_ext.openai_public as public

    path, data = found.path, read_file(found.path)
    if encoding is None:
        encoding = encoding_of_file(data)
    if encoding is None and not _LINE.match(data):
        raise OptionError(
            "tiktoken reads only .tiktoken files.",
            path=path,
            hint="In Python, digram.verify(tok, tok.to_tiktoken()) compares any BPE of bytes with "
            "it, and so does digram.verify(tok, tiktoken.get_encoding(name)) with a plugin.",
        )
    if encoding not in public.ENCODING_CONSTRUCTORS:
        raise OptionError(
            "a .tiktoken file stores no pattern, and no encoding of tiktoken was named.",
            path=path,
            value=encoding,
            hint='Name it, as in encoding="cl100k_base": one of '
            f"{', '.join(public.ENCODING_CONSTRUCTORS)}.",
        )
    if found.merges is None:
        tokens = formats.tiktoken.loads(data, path, encoding=encoding).tokens
    else:
        merges = read_file(found.merges)
        both = formats.vocab_merges.loads(data, merges, path, found.merges, encoding=encoding)
        tokens = both.tokens
    ranks = {token: id for id, token in enumerate(tokens) if token is not None}
    with _read_from(public, ranks):
        return tiktoken.Encoding(**public.ENCODING_CONSTRUCTORS[encoding]())


_patching = threading.Lock()


@contextmanager
def _read_from(public: Any, ranks: dict[bytes, int]) -> Iterator[None]:
    """Have tiktoken's constructors take these ranks, where they would download their file."""
    names = ("load_tiktoken_bpe", "data_gym_to_mergeable_bpe_ranks")
    with _patching:
        before = {name: getattr(public, name) for name in names}
        try:
            for name in names:
                setattr(public, name, lambda *_args, **_options: ranks)
            yield
        finally:
            for name, reader in before.items():
                setattr(public, name, reader)


class _TiktokenSide(Side):
    has_ends = False

    def __init__(self, given: Any) -> None:
        super().__init__()
        self._encoding = given
        library = type(given).__module__.rpartition(".core")[0] or type(given).__module__
        self.name = f"{library}{_version(library)}, {given.name}"
        self.notes.append(f"ends of offsets: {self.name} tells only the starts of tokens")
        if not given.special_tokens_set:
            self.modes = ("text",)
            self.notes.append(f"special tokens parsed: {self.name} has none")

    @property
    def special_tokens(self) -> list[str]:
        return sorted(self._encoding.special_tokens_set)

    def tokens(self) -> Iterable[bytes | None]:
        tokens: list[bytes] = self._encoding.token_byte_values()
        return tokens

    def spelled(self, ids: Sequence[int]) -> list[bytes]:
        return [self._encoding.decode_single_token_bytes(id) for id in ids]

    def ask(self, texts: list[str] | list[bytes], mode: Mode) -> Answers:
        encoding = self._encoding
        # Its threads pass a lock to each other: for short texts one is faster than several.
        if mode == "text":
            ids = encoding.encode_ordinary_batch(texts, num_threads=1)
        else:
            ids = encoding.encode_batch(texts, num_threads=1, allowed_special="all")
        found = [encoding.decode_with_offsets(one) for one in ids]
        decoded = [encoding.decode(one) for one in ids]
        return Answers(ids, [starts for _, starts in found], decoded)


def _version(library: str) -> str:
    from importlib.metadata import version

    return f" {version(library)}" if library == "tiktoken" else ""
