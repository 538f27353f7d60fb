"""The methods of `Tokenizer` for encoding and decoding batches and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index
from typing import TYPE_CHECKING, Literal, NamedTuple, SupportsIndex, overload

from digram._core import ArrowIds, Core
from digram._util.validation import (
    check_threads,
    choice,
    flag,
    iterable,
    refuse_one,
    several_texts,
    whole_number,
)
from digram.errors import OptionError
from digram.tokenizer.stream import each_chunk, each_text
from digram.vocab.special_tokens import OnSpecial, TextOrParts, rule_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["BatchingCore", "FlatIds"]

HELD = 1 << 26  # the default limit of a stream, in bytes
SEEDS = 1 << 64


class FlatIds(NamedTuple):
    """The ids of several texts in one array; made by `encode_batch(..., out="numpy")`.

    >>> import digram
    >>> ids, offsets = digram.train("a", max_merges=0).encode_batch(["ab", "", "c"], out="numpy")
    >>> ids.tolist(), offsets.tolist()
    ([97, 98, 99], [0, 2, 2, 3])

    The ids of text i are `ids[offsets[i]:offsets[i + 1]]`; offsets count ids.
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.uint64]


def _dtype(array: object) -> str | None:
    """The name of the type of a NumPy array's items; None for another object."""
    if type(array).__module__ != "numpy":
        return None
    return getattr(getattr(array, "dtype", None), "name", None)


class BatchingCore(Core):
    """The methods of `digram.Tokenizer` for several texts, or for one that arrives in chunks."""

    __slots__ = ()

    @overload
    def encode_batch(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list"] = "list",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[list[int]]: ...
    @overload
    def encode_batch(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["numpy"],
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> FlatIds: ...
    @overload
    def encode_batch(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["arrow"],
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> ArrowIds: ...
    def encode_batch(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list", "numpy", "arrow"] = "list",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[list[int]] | FlatIds | ArrowIds:
        """Encode several texts: the result of `encode` for each, in order.

        >>> import digram
        >>> tok = digram.train("a b", max_merges=0)
        >>> tok.encode_batch(["a", "", "ab"])
        [[97], [], [97, 98]]
        >>> flat = tok.encode_batch(["a", "", "ab"], out="numpy")
        >>> flat.ids.tolist(), flat.offsets.tolist()
        ([97, 97, 98], [0, 1, 1, 3])

        `texts` is a list or any other iterable of texts; `special` has the same meaning as in
        `encode`. Runs without the GIL on `threads` threads (all cores by default); long texts are
        divided among them. The time is linear in the texts.

        `out="numpy"` returns one uint32 array of ids and one uint64 array of `len(texts) + 1`
        offsets. It is faster than lists, since no Python integers are created. `out="arrow"`
        returns Arrow lists, which pyarrow, polars, duckdb and other libraries with the PyCapsule
        protocol read without a copy.

        As in `encode`, a text can be a list of parts, which may be a `digram.SpecialToken`:

        >>> chat = tok.with_special_tokens(["<|user|>"])
        >>> chat.encode_batch([[digram.SpecialToken("<|user|>"), "a"], "b"])
        [[256, 97], [98]]

        With `dropout`, text i has the ids of `encode(text, dropout=dropout, seed=seed + i)`, with
        the seed modulo 2**64, for any number of threads. Raises the errors of `encode`, with the
        index of the text in `texts`.
        """
        batch, rule = several_texts(texts, "encode"), rule_of(special)
        threads = check_threads(threads)
        choice("out", out, "list", "numpy", "arrow")
        if out == "list":
            return self._encode_batch(batch, rule, threads, dropout, seed)
        if out == "numpy":
            return FlatIds(*self._encode_batch_numpy(batch, rule, threads, dropout, seed))
        return self._encode_batch_arrow(batch, rule, threads, dropout, seed)

    @overload
    def encode_iter(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list"] = "list",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> Iterator[list[int]]: ...
    @overload
    def encode_iter(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["numpy"],
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> Iterator[NDArray[np.uint32]]: ...
    def encode_iter(
        self,
        texts: Iterable[TextOrParts],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list", "numpy"] = "list",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> Iterator[list[int]] | Iterator[NDArray[np.uint32]]:
        """Encode any number of texts in order, with bounded memory.

        >>> import digram
        >>> tok = digram.train("a b", max_merges=0)
        >>> for ids in tok.encode_iter(line.strip() for line in ["a", "", "ab"]):
        ...     print(ids)
        [97]
        []
        [97, 98]

        Encodes batches of about 4 million characters, as `encode_batch` does, so that only the
        texts and ids of one batch are in memory. Arguments have the same meaning as in
        `encode_batch`; with `dropout`, each text has the ids that `encode_batch` would return for
        all texts. `out="numpy"` yields a uint32 array for each text.

        Raises the errors of `encode_batch`: those of arguments at once, and those of a text when
        its batch is reached. The time is linear in the texts.
        """
        refuse_one(texts, "encode")
        threads = check_threads(threads)
        choice("out", out, "list", "numpy")
        # Checks the arguments.
        self._encode_batch([], rule_of(special), threads, dropout, seed)
        first_seed = None if seed is None else index(seed)

        def encode(batch: list[TextOrParts], first: int) -> list[list[int]] | FlatIds:
            seed = None if first_seed is None else (first_seed + first) % SEEDS
            return self.encode_batch(
                batch, special=special, threads=threads, out=out, dropout=dropout, seed=seed
            )

        return each_text(encode, texts, out)

    @overload
    def encode_stream(
        self,
        chunks: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        limit: int = HELD,
        out: Literal["list"] = "list",
    ) -> Iterator[list[int]]: ...
    @overload
    def encode_stream(
        self,
        chunks: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        limit: int = HELD,
        out: Literal["numpy"],
    ) -> Iterator[NDArray[np.uint32]]: ...
    def encode_stream(
        self,
        chunks: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        limit: int = HELD,
        out: Literal["list", "numpy"] = "list",
    ) -> Iterator[list[int]] | Iterator[NDArray[np.uint32]]:
        """Encode one text that arrives in chunks; the joined ids are those of the whole text.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", vocab_size=259, pretokenizer="whitespace")
        >>> chunks = ["a long text", " in ch", "unk", "s, cut anywhere"] * 9
        >>> ids = [id for ids in tok.encode_stream(chunks) for id in ids]
        >>> ids == tok.encode("".join(chunks))
        True

        A chunk is a `str` or `bytes`; `bytes` may end inside a character. Ids are yielded, as a
        list or a uint32 array, as soon as further text cannot change them. Memory contains a few
        pretokens, of which the last is unfinished; with a pattern that has look-behind, or without
        a pretokenizer, it may contain the whole text.

        Raises `LimitExceededError` for a pretoken of more than `limit` bytes of UTF-8 (64 MiB by
        default), and the errors of `encode`, with positions in bytes of the stream. The time is
        linear in the text, even for small chunks.
        """
        if isinstance(chunks, str | bytes):
            raise TypeError("chunks are several pieces of a text; pass one text to encode")
        choice("out", out, "list", "numpy")
        stream = self._stream(rule_of(special), whole_number("limit", limit, 1))
        return each_chunk(stream, chunks, out)

    def decode_batch(
        self,
        batch: Iterable[Iterable[SupportsIndex]] | FlatIds | ArrowIds,
        *,
        errors: Literal["replace", "strict"] = "replace",
        skip_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[str]:
        """Decode several sequences of ids: the result of `decode` for each, in order.

        >>> import digram
        >>> tok = digram.train("a b", max_merges=0)
        >>> tok.decode_batch([[97], [], [97, 98]])
        ['a', '', 'ab']
        >>> tok.decode_batch(tok.encode_batch(["a", "", "ab"], out="numpy"))
        ['a', '', 'ab']

        `batch` is an iterable of sequences of ids, or any result of `encode_batch`, also its two
        arrays as a tuple `(ids, offsets)`. Pass ids and offsets from elsewhere as
        `digram.FlatIds(ids, offsets)`. `errors` and `skip_special_tokens` have the same meaning as
        in `decode`. Runs without the GIL on `threads` threads (all cores by default). The time is
        linear in the texts.

        Raises the errors of `decode`, with the index of the sequence in `batch`, and `OptionError`
        for offsets that decrease or are outside the ids.
        """
        if errors is None:  # which would be bytes
            raise TypeError("errors is a str, not NoneType")
        return self._decoded(batch, errors, skip_special_tokens, threads)

    def decode_bytes_batch(
        self,
        batch: Iterable[Iterable[SupportsIndex]] | FlatIds | ArrowIds,
        *,
        skip_special_tokens: bool = False,
        threads: int | None = None,
    ) -> list[bytes]:
        """Decode several sequences of ids to bytes: what `decode_bytes` returns for each.

        >>> import digram
        >>> tok = digram.train("a b", max_merges=0)
        >>> tok.decode_bytes_batch([[97], [], [97, 98]])
        [b'a', b'', b'ab']

        The arguments are those of `decode_batch`, and so are the errors, except that all bytes are
        valid. Runs without the GIL on `threads` threads (all cores by default). The time is linear
        in the bytes.
        """
        return self._decoded(batch, None, skip_special_tokens, threads)

    @overload
    def _decoded(
        self,
        batch: Iterable[Iterable[SupportsIndex]] | FlatIds | ArrowIds,
        errors: Literal["replace", "strict"],
        skip_special_tokens: bool,
        threads: int | None,
    ) -> list[str]: ...

    @overload
    def _decoded(
        self,
        batch: Iterable[Iterable[SupportsIndex]] | FlatIds | ArrowIds,
        errors: None,
        skip_special_tokens: bool,
        threads: int | None,
    ) -> list[bytes]: ...

    def _decoded(
        self,
        batch: Iterable[Iterable[SupportsIndex]] | FlatIds | ArrowIds,
        errors: Literal["replace", "strict"] | None,
        skip_special_tokens: bool,
        threads: int | None,
    ) -> list[str] | list[bytes]:
        threads, skip = check_threads(threads), flag("skip_special_tokens", skip_special_tokens)
        if isinstance(batch, tuple) and [_dtype(part) for part in batch] == ["uint32", "uint64"]:
            batch = FlatIds(*batch)
        if isinstance(batch, FlatIds):
            try:
                return self._decode_batch(batch.ids, batch.offsets, errors, threads, skip)
            except OverflowError:
                raise OptionError(
                    "the offsets are not all positions within the ids.",
                    value=batch.offsets,
                    hint="Offset i is the start of sequence i; the last one is the end of all.",
                ) from None
        try:
            return self._decode_batch(batch, None, errors, threads, skip)
        except TypeError:
            if not isinstance(batch, ArrowIds):
                iterable("batch", batch, "several sequences of ids")
            raise
