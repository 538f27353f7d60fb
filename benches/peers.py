"""How each program loads a published vocabulary, encodes and decodes.

A peer is used as its documentation advises for speed. What differs is what it gives: flat arrays,
or lists of Python integers, which cost as much as the encoding itself; so the tables compare like
with like.
"""

from __future__ import annotations

import base64
import importlib
import importlib.metadata
import importlib.util
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches.data import vocabulary

OWN = "cl100k_base, own pattern"
"""A published vocabulary under a pattern that nobody published: no program knows it by name."""

OWN_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

Texts = Sequence[str]
Arrays = tuple[NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class Encoder:
    """What a program can do with one vocabulary; None where it cannot.

    `batch` is timed; `flat` turns what it returned into ids and the number of ids of each text,
    and is not. `one` gives the ids of one text. `decode` gives the texts of what `batch` returned,
    or their bytes if it has nothing else, `decode_bytes` their bytes, and `count` the number of
    ids of each text. `special` gives the ids of one text
    in which "<|endoftext|>" is a special token, and other ones are text.
    """

    batch: Callable[[Texts], Any]
    flat: Callable[[Any], Arrays]
    one: Callable[[str], Any]
    decode: Callable[[Any], Sequence[str | bytes]] | None = None
    count: Callable[[Texts], Sequence[int]] | None = None
    special: Callable[[str], Any] | None = None
    decode_bytes: Callable[[Any], Sequence[bytes]] | None = None


@dataclass(frozen=True)
class Program:
    """What is measured under a name: `package` is what must be installed."""

    name: str
    package: str

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None

    @property
    def version(self) -> str:
        return importlib.metadata.version(self.package)


@dataclass(frozen=True)
class Peer(Program):
    """A program with a way of calling it."""

    gives: str  # "arrays" or "lists"
    load: Callable[[str, int], Encoder]
    slow: bool = False  # measured in the first round only


TINY = ("hello world, 123", "a b")
"""What every program encodes before anything is timed."""


def ready(who: str, encoding: str, threads: int) -> Encoder:
    """A program that has loaded a vocabulary and encoded two tiny texts, in a batch and alone.

    What it sets up at its first call is then part of loading, and of no other figure.
    """
    encoder = PEERS[who].load(encoding, threads)
    out = encoder.batch(TINY)
    encoder.one(TINY[0])
    if encoder.decode is not None:
        encoder.decode(out)
    if encoder.count is not None:
        encoder.count(TINY)
    return encoder


def environment(threads: int) -> dict[str, str]:
    """What tells programs that take no argument how many threads to use."""
    parallel = "true" if threads > 1 else "false"
    # NumPy's own threads are idle, but keep a processor busy for a while after its import.
    own = {"RAYON_NUM_THREADS": str(threads), "TOKENIZERS_PARALLELISM": parallel}
    return {**own, "OPENBLAS_NUM_THREADS": "1"}


def flat_lists(lists: Sequence[Sequence[int]]) -> Arrays:
    lengths = np.array([len(ids) for ids in lists], dtype=np.int64)
    total = int(lengths.sum())
    return np.fromiter((id for ids in lists for id in ids), np.uint32, total), lengths


# --- digram


def _digram(encoding: str) -> Any:
    import digram

    if encoding == OWN:
        return digram.load(vocabulary("cl100k_base"), pretokenizer=digram.Regex(OWN_PATTERN))
    return digram.load(vocabulary(encoding), encoding=encoding)


def _digram_arrays(encoding: str, threads: int) -> Encoder:
    tok = _digram(encoding)
    return Encoder(
        batch=lambda texts: tok.encode_batch(texts, threads=threads, out="numpy"),
        flat=lambda out: (out.ids, np.diff(out.offsets.astype(np.int64))),
        one=tok.encode,
        decode=lambda out: tok.decode_batch(out, threads=threads),
        decode_bytes=lambda out: tok.decode_bytes_batch(out, threads=threads),
        count=lambda texts: [tok.count(text) for text in texts],
    )


def _digram_lists(encoding: str, threads: int) -> Encoder:
    tok = _digram(encoding)
    return Encoder(
        batch=lambda texts: tok.encode_batch(texts, threads=threads),
        flat=flat_lists,
        one=tok.encode,
        decode=lambda ids: tok.decode_batch(ids, threads=threads),
        decode_bytes=lambda ids: tok.decode_bytes_batch(ids, threads=threads),
        count=lambda texts: [tok.count(text) for text in texts],
        special=lambda text: tok.encode(text, special={"<|endoftext|>"}),
    )


def _saved(encoding: str) -> str:
    """The `tokenizer.json` that we save, for programs that read such a file only."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "tokenizer.json"
        _digram(encoding).save(path)
        return path.read_text(encoding="utf-8")


# --- tiktoken


def _tiktoken(encoding: str, threads: int) -> Encoder:
    import tiktoken
    import tiktoken_ext.openai_public as published

    def ranks(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        lines = vocabulary(url.rpartition("/")[2].removesuffix(".tiktoken"))
        pairs = (line.split() for line in lines.read_bytes().splitlines())
        return {base64.b64decode(token): int(rank) for token, rank in pairs}

    published.load_tiktoken_bpe = ranks  # the file instead of a download
    arguments = published.ENCODING_CONSTRUCTORS["cl100k_base" if encoding == OWN else encoding]()
    if encoding == OWN:
        arguments |= {"name": OWN, "pat_str": OWN_PATTERN, "special_tokens": {}}
    enc = tiktoken.Encoding(**arguments)

    def batch(texts: Texts) -> list[list[int]]:
        if threads == 1:  # its thread pool would only cost
            return [enc.encode_ordinary(text) for text in texts]
        return enc.encode_ordinary_batch(list(texts), num_threads=threads)

    def decode(batch: Any) -> list[str]:
        if threads == 1:
            return [enc.decode(ids) for ids in batch]
        return enc.decode_batch(batch, num_threads=threads)

    return Encoder(
        batch,
        flat_lists,
        enc.encode_ordinary,
        decode,
        count=lambda texts: [len(enc.encode_ordinary(text)) for text in texts],
        special=lambda text: enc.encode(
            text, allowed_special={"<|endoftext|>"}, disallowed_special=()
        ),
        decode_bytes=lambda batch: [enc.decode_bytes(ids) for ids in batch],
    )


# --- gigatoken


def _gigatoken(encoding: str) -> Any:
    import gigatoken

    if encoding == OWN:  # which it takes from no other file
        return gigatoken.Tokenizer.from_json(_saved(encoding))
    return gigatoken.Tokenizer.from_tiktoken(vocabulary(encoding))


def _gigatoken_arrays(encoding: str, threads: int) -> Encoder:
    tok = _gigatoken(encoding)

    def rows(out: Any) -> list[NDArray[Any]]:
        ids, lengths = awkward_arrays(out)
        return np.split(ids, np.cumsum(lengths)[:-1])

    return Encoder(
        batch=lambda texts: tok.encode_batch(texts, parallel=threads > 1),
        flat=awkward_arrays,
        one=tok.encode,
        decode=lambda out: [tok.decode(row) for row in rows(out)],
        decode_bytes=lambda out: [tok.decode(row) for row in rows(out)],
    )


def awkward_arrays(out: Any) -> Arrays:
    """The arrays inside an Awkward Array, without a copy."""
    offsets = np.asarray(out.layout.offsets.data)
    ids = np.asarray(out.layout.content.data)[offsets[0] : offsets[-1]]
    return ids, np.diff(offsets)


def _gigatoken_lists(encoding: str, threads: int) -> Encoder:
    tok = _gigatoken(encoding)
    return Encoder(
        batch=lambda texts: tok.encode_batch_list(texts, parallel=threads > 1),
        flat=flat_lists,
        one=lambda text: tok.encode_batch_list([text], parallel=False)[0],
        decode=lambda batch: [tok.decode(ids) for ids in batch],
        decode_bytes=lambda batch: [tok.decode(ids) for ids in batch],
    )


# --- fastokens


def _fastokens(encoding: str) -> Any:
    fastokens = importlib.import_module("fastokens")
    if encoding == OWN:
        path = str(vocabulary("cl100k_base"))
        return fastokens.Tokenizer.from_tiktoken(path, pattern=OWN_PATTERN)
    return fastokens.Tokenizer.from_tiktoken(str(vocabulary(encoding)), encoding=encoding)


def _fastokens_arrays(encoding: str, threads: int) -> Encoder:
    tok = _fastokens(encoding)

    def flat(out: tuple[bytes, bytes]) -> Arrays:
        return np.frombuffer(out[0], np.uint32), np.diff(np.frombuffer(out[1], np.int64))

    return Encoder(
        batch=lambda texts: tok.encode_batch_flat(texts, split_special_tokens=True),
        flat=flat,
        one=lambda text: tok.encode_ordinary(text).ids,
    )


def _fastokens_lists(encoding: str, threads: int) -> Encoder:
    tok = _fastokens(encoding)
    return Encoder(
        batch=lambda texts: [one.ids for one in tok.encode_batch(texts, split_special_tokens=True)],
        flat=flat_lists,
        one=lambda text: tok.encode_ordinary(text).ids,
        decode=tok.decode_batch,
    )


# --- rs-bpe, which is rust-gems' `bpe`


def _rs_bpe(encoding: str, threads: int) -> Encoder:
    """It has two vocabularies built in, and reads none."""
    published = importlib.import_module("rs_bpe.bpe").openai
    tok = getattr(published, encoding)()

    def batch(texts: Texts) -> list[list[int]]:
        if threads == 1:
            found = tok.encode_batch(texts)
        else:
            options = published.ParallelOptions(20, 100, threads)  # as its page has it
            found = tok.encode_batch_parallel(texts, options)
        lists: list[list[int]] = found[0]
        return lists

    return Encoder(
        batch,
        flat_lists,
        tok.encode,
        decode=tok.decode_batch,
        count=lambda texts: [tok.count(text) for text in texts],
    )


# --- Hugging Face


def _tokenizers(encoding: str, threads: int) -> Encoder:
    """It reads no .tiktoken."""
    import tokenizers

    tok = tokenizers.Tokenizer.from_str(_saved(encoding))

    def batch(texts: Texts) -> list[list[int]]:
        return [one.ids for one in tok.encode_batch_fast(texts, add_special_tokens=False)]

    return Encoder(
        batch,
        flat_lists,
        one=lambda text: tok.encode(text, add_special_tokens=False).ids,
        decode=lambda ids: tok.decode_batch(ids, skip_special_tokens=False),
    )


PEERS = {
    peer.name: peer
    for peer in [
        Peer("digram, NumPy", "digram", "arrays", _digram_arrays),
        Peer("gigatoken, arrays", "gigatoken", "arrays", _gigatoken_arrays),
        Peer("fastokens, buffers", "fastokens", "arrays", _fastokens_arrays),
        Peer("digram, lists", "digram", "lists", _digram_lists),
        Peer("tiktoken", "tiktoken", "lists", _tiktoken),
        Peer("gigatoken, lists", "gigatoken", "lists", _gigatoken_lists),
        Peer("fastokens, lists", "fastokens", "lists", _fastokens_lists),
        Peer("rs-bpe", "rs_bpe", "lists", _rs_bpe),
        Peer("tokenizers", "tokenizers", "lists", _tokenizers, slow=True),
    ]
}
