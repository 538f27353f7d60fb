"""The tokenizer: an immutable value that encodes, decodes and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Self, TypeVar, overload

from digram._core import ArrowIds, Model
from digram.compact import Compact, Settings, compacted
from digram.encoding import CallableCore, Layout
from digram.errors import OptionError
from digram.pretokenizers import Pretokenizer
from digram.special import OnSpecial, Special
from digram.streaming import each_chunk, each_text
from digram.template import Template

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.definition import Definition, OnUnknown, TrainingRecord, Unit

__all__ = ["Chunk", "FlatIds", "Merge", "Tokenizer"]

HELD = 1 << 26  # bytes that a stream may hold by default


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge: the parts and the token they make, as bytes, with its rank and id.

    `count` is how often the pair stood in the training corpus when it was chosen; None where the
    tokenizer was not trained here.
    """

    rank: int
    left: bytes
    right: bytes
    token: bytes
    id: int
    count: int | None


class _Extra(NamedTuple):
    """What the core keeps for the façade."""

    settings: Settings
    layout: Layout


Piece = TypeVar("Piece", str, bytes)


@dataclass(frozen=True, slots=True)
class Chunk(Generic[Piece]):
    """A piece of a text, `text[start:end]`, and the number of ids of its own.

    `start` and `end` count characters, or bytes where the text is bytes.
    """

    text: Piece
    start: int
    end: int
    count: int


class FlatIds(NamedTuple):
    """The ids of several texts in one array; text i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.uint64]


class Tokenizer(CallableCore):
    """Turns text into ids and back. Made by `digram.train`, by `digram.load`, or of a `Definition`.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", vocab_size=259, pretokenizer="whitespace")
    >>> tok.encode("lower")
    [257, 101, 114]
    >>> tok.tokens([257, 101, 114])
    [b'low', b'e', b'r']
    >>> tok.decode([257, 101, 114])
    'lower'

    Immutable: every change gives a new tokenizer, so any number of threads and processes may
    share one. Two tokenizers are equal exactly when they do the same with every text; where they
    come from plays no part.
    """

    __slots__ = ()

    def __new__(cls, definition: Definition) -> Self:
        """Make a tokenizer of a definition; `VocabError` where that contradicts itself."""
        return cls._of(compacted(definition))

    @classmethod
    def _of(cls, compact: Compact) -> Self:
        model, special_tokens, settings = compact
        unknown: int | list[int] | None = None
        if settings.unit == "char" and isinstance(settings.on_unknown, Special):
            text = settings.on_unknown.text
            if text not in special_tokens:
                raise OptionError(
                    f"on_unknown names {text!r}, which is no special token of this tokenizer.",
                    value=settings.on_unknown,
                )
            unknown = special_tokens[text]
        elif settings.unit == "char" and settings.on_unknown == "bytes":
            unknown = settings.byte_ids
        return super().__new__(
            cls,
            model,
            list(special_tokens.items()),
            settings.pretokenizer.splitter(),
            settings.unit,
            unknown,
            settings.ignore_merges,
            _Extra(settings, Layout.of(settings, special_tokens)),
        )

    @property
    def definition(self) -> Definition:
        """The tokenizer as plain values, built anew at each call."""
        return Compact(self._model, self.special_tokens, self._settings).plain()

    @property
    def _settings(self) -> Settings:
        settings: Settings = self._extra.settings
        return settings

    @property
    def pretokenizer(self) -> Pretokenizer:
        """How text is cut before merging."""
        return self._settings.pretokenizer

    @property
    def unit(self) -> Unit:
        """What base tokens stand for: "byte" or "char"."""
        return self._settings.unit

    @property
    def on_unknown(self) -> OnUnknown:
        """What becomes of characters without a token, for unit "char"."""
        return self._settings.on_unknown

    @property
    def training(self) -> TrainingRecord | None:
        """How it was trained; None where that is not known."""
        return self._settings.training

    @property
    def template(self) -> Template | None:
        """The special tokens that `tok(text)` puts around a text; None for none."""
        return self._settings.template

    @property
    def context_size(self) -> int | None:
        """How many tokens the model takes: what `tok(text, max_length="context")` means."""
        return self._settings.context_size

    @property
    def pad_token(self) -> str | None:
        """The special token that `tok(text, padding=...)` pads with."""
        return self._settings.pad_token

    @overload
    def encode_batch(
        self,
        texts: Iterable[str | bytes],
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
        texts: Iterable[str | bytes],
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
        texts: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["arrow"],
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> ArrowIds: ...
    def encode_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list", "numpy", "arrow"] = "list",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[list[int]] | FlatIds | ArrowIds:
        """The ids of several texts, in their order: what `encode` gives for each.

        >>> import digram
        >>> tok = digram.train("a b", max_merges=0)
        >>> tok.encode_batch(["a", "", "ab"])
        [[97], [], [97, 98]]
        >>> flat = tok.encode_batch(["a", "", "ab"], out="numpy")
        >>> flat.ids.tolist(), flat.offsets.tolist()
        ([97, 97, 98], [0, 1, 1, 3])

        Runs without the GIL on `threads` threads (all cores by default), which also share a long
        text among them. `out="numpy"` gives one uint32 array of ids and one uint64 array of
        offsets, `len(texts) + 1` long, and saves the time of making Python integers. `out="arrow"`
        gives the same memory as Arrow lists, to be taken without a copy by pyarrow, polars, duckdb
        and all else that knows the PyCapsule protocol.

        With `dropout`, text i gets the ids of `encode(text, dropout=dropout, seed=seed + i)`, the
        seed modulo 2**64, on any number of threads.
        """
        batch, rule = _batch(texts, "encode"), _rule(special)
        _check_threads(threads)
        if out == "list":
            return self._encode_batch(batch, rule, threads, dropout, seed)
        if out == "numpy":
            return FlatIds(*self._encode_batch_numpy(batch, rule, threads, dropout, seed))
        if out == "arrow":
            return self._encode_batch_arrow(batch, rule, threads, dropout, seed)
        raise OptionError(f"out={out!r} is not known. Pass 'list', 'numpy' or 'arrow'.", value=out)

    @overload
    def encode_iter(
        self,
        texts: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list"] = "list",
    ) -> Iterator[list[int]]: ...
    @overload
    def encode_iter(
        self,
        texts: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["numpy"],
    ) -> Iterator[NDArray[np.uint32]]: ...
    def encode_iter(
        self,
        texts: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list", "numpy"] = "list",
    ) -> Iterator[list[int]] | Iterator[NDArray[np.uint32]]:
        """The ids of each of any number of texts, in their order, in bounded memory.

        >>> import digram
        >>> tok = digram.train("a b", max_merges=0)
        >>> for ids in tok.encode_iter(line.strip() for line in ["a", "", "ab"]):
        ...     print(ids)
        [97]
        []
        [97, 98]

        Takes some 4 million characters of texts at a time and encodes them as `encode_batch` does,
        so memory holds those and their ids, and the longest text.
        """
        if isinstance(texts, str | bytes):
            raise TypeError("texts is several texts; pass one text to encode, or put it in a list")
        _check_threads(threads)
        _check_out(out)
        encode = partial(self.encode_batch, special=special, threads=threads, out=out)
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
        """The ids of one text that arrives in chunks: end to end they are those of the whole text.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", vocab_size=259, pretokenizer="whitespace")
        >>> chunks = ["a long text", " in ch", "unk", "s, cut anywhere"] * 9
        >>> ids = [id for ids in tok.encode_stream(chunks) for id in ids]
        >>> ids == tok.encode("".join(chunks))
        True

        A chunk of bytes may end inside a character. Ids come as soon as no further text can change
        them, some with each iteration. What is held is a few pretokens, the last of them
        unfinished; where one of them is longer than `limit` bytes of UTF-8, `LimitExceededError`
        says so. Places in errors are bytes of the stream. Takes time linear in the text, however
        small the chunks. A pattern that looks behind, or no pretokenizer, may hold all of it.
        """
        if isinstance(chunks, str | bytes):
            raise TypeError("chunks are several pieces of a text; pass one text to encode")
        _check_out(out)
        if limit < 1:
            raise OptionError(f"limit={limit} is not at least 1.", value=limit)
        stream = self._stream(_rule(special), limit)
        return each_chunk(stream, chunks, out)

    @overload
    def count_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list"] = "list",
    ) -> list[int]: ...
    @overload
    def count_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["numpy"],
    ) -> NDArray[np.uint64]: ...
    def count_batch(
        self,
        texts: Iterable[str | bytes],
        *,
        special: OnSpecial = "text",
        threads: int | None = None,
        out: Literal["list", "numpy"] = "list",
    ) -> list[int] | NDArray[np.uint64]:
        """How many ids each of several texts has: what `count` gives for each.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.count_batch(["lower", "", "so low"])
        [3, 0, 4]

        Runs without the GIL on `threads` threads (all cores by default), and stores no ids.
        `out="numpy"` gives a uint64 array. Raises what `encode_batch` raises.
        """
        batch, rule = _batch(texts, "count"), _rule(special)
        _check_threads(threads)
        if out == "list":
            return self._count_batch(batch, rule, threads)
        if out == "numpy":
            return self._count_batch_numpy(batch, rule, threads)
        raise OptionError(f"out={out!r} is not known. Pass 'list' or 'numpy'.", value=out)

    def fits(self, text: str | bytes, n: int, *, special: OnSpecial = "text") -> bool:
        """Whether `text` has at most `n` ids: `count(text) <= n`, without counting all of them.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.fits("so low", 4), tok.fits("so low", 3)
        (True, False)
        >>> tok.fits("so low " * 1_000_000, 100)
        False

        Stops as soon as it is known. A text of more than `n` times the bytes of the longest token
        cannot fit and is not looked at; of another, no more is than has `n` ids, and what stands
        with them up to the next place where every text is cut. An error that `count` would meet
        after that is not met. Raises `OptionError` if `n` is negative.
        """
        if n < 0:
            raise OptionError(f"n={n} is negative; a text has 0 ids or more.", value=n)
        return self._fits(text, n, _rule(special))

    @overload
    def truncate(
        self, text: str, n: int, *, side: Literal["left", "right"] = ..., special: OnSpecial = ...
    ) -> str: ...
    @overload
    def truncate(
        self, text: bytes, n: int, *, side: Literal["left", "right"] = ..., special: OnSpecial = ...
    ) -> bytes: ...
    def truncate(
        self,
        text: str | bytes,
        n: int,
        *,
        side: Literal["left", "right"] = "right",
        special: OnSpecial = "text",
    ) -> str | bytes:
        """The longest beginning of `text` that has at most `n` ids of its own.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer=None)
        >>> tok.tokens(tok.encode("so low"))
        [b's', b'o', b' ', b'low']
        >>> tok.truncate("so low", 3), tok.truncate("so low", 3, side="left")
        ('so ', 'o low')

        It ends where a token of `text` ends, and never inside a character. `side="left"` cuts off
        the left side: the longest end of `text`, which begins where a token begins. `bytes` give
        `bytes`. What is returned has its own ids: they need not be a slice of those of `text`, but
        there are no more than `n`. That holds for `special=` too, as in `encode`.

        From the right, no more of the text is looked at than has `n` ids, and what stands with them
        up to the next place where every text is cut; an error after that is not met. Takes time
        near-linear in what is looked at, one pretoken of a megabyte included; but the square of a
        run of digits that are grouped from the right, or by the first of several patterns, where
        the groups are no tokens, and of a pretoken whose merges are out of order or ignored. Raises
        `OptionError` if `n` is negative.
        """
        if n < 0:
            raise OptionError(f"n={n} is negative; a text has 0 ids or more.", value=n)
        if side not in ("left", "right"):
            raise OptionError(f"side={side!r} is not known. Pass 'left' or 'right'.", value=side)
        return self._truncate(text, n, side == "left", _rule(special))

    @overload
    def chunks(self, text: str, size: int, *, overlap: int = 0) -> list[Chunk[str]]: ...
    @overload
    def chunks(self, text: bytes, size: int, *, overlap: int = 0) -> list[Chunk[bytes]]: ...
    def chunks(
        self, text: str | bytes, size: int, *, overlap: int = 0
    ) -> list[Chunk[str]] | list[Chunk[bytes]]:
        """`text` in chunks of at most `size` ids of their own, which together cover it.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
        >>> [chunk.text for chunk in tok.chunks("low lower low", 4)]
        ['low lowe', 'r low']
        >>> tok.chunks("low lower low", 4, overlap=2)[1]
        Chunk(text='lower ', start=4, end=10, count=4)

        A chunk is what `truncate` gives for what is left; of that, 8 bytes for each of `size` ids
        are looked at, or 16, or 32, … where it takes so many to have more ids. It begins with the
        longest end of the chunk before that has at most `overlap` ids of its own, so neighbours
        share that; where the chunk would not go on beyond the one before, or would begin where that
        does, it begins at its end. An empty text has no chunks.

        The time is near-linear in the text, whatever it is. Raises `LimitExceededError` where one
        character has more than `size` ids, `OptionError` unless 0 <= `overlap` < `size`.
        """
        if size < 1:
            raise OptionError(f"size={size} is not at least 1.", value=size)
        if not 0 <= overlap < size:
            raise OptionError(
                f"overlap={overlap} is not in 0..{size - 1}.",
                value=overlap,
                hint="A chunk must go on beyond what it shares with the one before.",
            )
        return [Chunk(*chunk) for chunk in self._chunks(text, size, overlap)]

    def token_bytes(self, id: int) -> bytes:
        """The bytes of a token; those of a special token are its text in UTF-8.

        Raises `TokenIdError` for an id that is not in the vocabulary.
        """
        return self.tokens([id])[0]

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The pairs of tokens that are merged, in rank order."""
        tokens, merges = self._model.tokens(), self._model.merges()
        return [(_known(tokens, left), _known(tokens, right)) for left, right, _ in merges]

    @property
    def merge_log(self) -> list[Merge]:
        """The merges in rank order, with what each made and its count in training.

        >>> import digram
        >>> digram.train("banana", max_merges=1, pretokenizer=None).merge_log
        [Merge(rank=0, left=b'a', right=b'n', token=b'an', id=256, count=2)]
        """
        tokens, merges = self._model.tokens(), self._model.merges()
        counts: Iterable[int | None] = repeat(None)
        if self.training is not None:
            counts = self.training.counts
        return [
            Merge(rank, _known(tokens, a), _known(tokens, b), _known(tokens, id), id, count)
            for rank, ((a, b, id), count) in enumerate(zip(merges, counts, strict=False))
        ]

    @overload
    def pretokenize(self, text: str) -> list[str]: ...
    @overload
    def pretokenize(self, text: bytes) -> list[bytes]: ...
    def pretokenize(self, text: str | bytes) -> list[str] | list[bytes]:
        """The pretokens of `text`: the pieces inside which merges happen. They join to the text."""
        return self.pretokenizer.splitter().split(text)

    def with_special_tokens(self, tokens: Iterable[str] | Mapping[str, int]) -> Tokenizer:
        """A new tokenizer with more special tokens; this one stays as it is.

        >>> import digram
        >>> tok = digram.train("a", max_merges=0)
        >>> chat = tok.with_special_tokens(["<|user|>", "<|bot|>"])
        >>> chat.special_tokens
        {'<|user|>': 256, '<|bot|>': 257}
        >>> chat.encode("<|user|>a", special="parse")
        [256, 97]

        New tokens take the ids after the highest one, in order; a mapping names the ids. Raises
        `VocabError` where a token or an id is there already.
        """
        if isinstance(tokens, str):
            raise TypeError("tokens is several special tokens; put the one in a list")
        if isinstance(tokens, Mapping):
            added = dict(tokens)
        else:
            added = {}
            for text in tokens:
                added[text] = self.vocab_size + len(added)
        special = self.special_tokens
        known = special.keys() & added.keys()
        if known:
            raise OptionError(
                f"{min(known)!r} is a special token of this tokenizer already.", value=min(known)
            )
        return Tokenizer._of(Compact(self._model, special | added, self._settings))

    def with_template(self, template: Template | None) -> Tokenizer:
        """A new tokenizer that puts these special tokens around texts (`tok(text)`); None for none.

        >>> import digram
        >>> tok = digram.train("a", max_merges=0, special_tokens=["<s>"])
        >>> tok.with_template(digram.Template("<s> $A"))("a").ids
        [256, 97]

        `encode` stays as it is. Raises `OptionError` for a special token that it does not have.
        """
        if template is not None and not isinstance(template, Template):
            kind = type(template).__name__
            raise TypeError(f"template is a digram.Template or None, not {kind}")
        return self._with(self._settings._replace(template=template))

    def with_context_size(self, context_size: int | None) -> Tokenizer:
        """A new tokenizer that knows how many tokens its model takes (`max_length="context"`)."""
        return self._with(self._settings._replace(context_size=context_size))

    def with_pad_token(self, pad_token: str | None) -> Tokenizer:
        """A new tokenizer whose `tok(text, padding=...)` pads with this special token of it."""
        return self._with(self._settings._replace(pad_token=pad_token))

    def _with(self, settings: Settings) -> Tokenizer:
        return Tokenizer._of(Compact(self._model, self.special_tokens, settings))

    def save(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        allow_loss: bool = False,
    ) -> None:
        """Write the tokenizer to `path`, so that a crash leaves the old file or the new one.

        `format` is "huggingface" (`tokenizer.json`, which Hugging Face's libraries read as it is),
        "tiktoken", "vocab_merges" (a folder with `vocab.json` and `merges.txt`) or "seed_pair" (a
        folder with `vocabulary.json` and `merges.json`); by default it follows from the name of
        the file. What the format cannot carry is a `VocabError`, unless `allow_loss`.
        """
        from digram import formats

        formats.write(self.definition, path, format=format, allow_loss=allow_loss)

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of what the tokenizer does, the same in every version.

        Provenance plays no part. The first question costs some 0.2 µs a token.
        """
        from digram.definition import digest

        return self._digest(lambda: digest(self.definition))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        special = f", {len(self.special_tokens)} special" if self.special_tokens else ""
        unit = "" if self.unit == "byte" else f", unit={self.unit!r}"
        return (
            f"<digram.Tokenizer: {len(self):,} tokens{special}, "
            f"pretokenizer={_shown(self.pretokenizer)}{unit}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._model.to_bytes(), self.special_tokens, self._settings)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __iter__(self) -> Iterator[Any]:
        # `len` and `tokens` would make Python believe that it can be iterated over.
        raise TypeError("a Tokenizer is not iterable; encode a text, or look at merges or tokens")


def _restored(stored: bytes, special_tokens: dict[str, int], settings: Settings) -> Tokenizer:
    return Tokenizer._of(Compact(Model.from_bytes(stored), special_tokens, settings))


def _known(tokens: Sequence[bytes | None], id: int) -> bytes:
    token = tokens[id]
    assert token is not None, "the core checked that every part of a merge is a token"
    return token


def _shown(pretokenizer: Pretokenizer) -> str:
    plain = pretokenizer.digits is None and (pretokenizer.name or not pretokenizer.patterns)
    return repr(pretokenizer.name) if plain else repr(pretokenizer)


def _check_out(out: str) -> None:
    if out not in ("list", "numpy"):
        raise OptionError(f"out={out!r} is not known. Pass 'list' or 'numpy'.", value=out)


def _batch(texts: Iterable[str | bytes], one: str) -> list[str | bytes]:
    if isinstance(texts, str | bytes):
        raise TypeError(f"texts is several texts; pass one text to {one}, or put it in a list")
    return texts if isinstance(texts, list) else list(texts)


def _rule(special: OnSpecial) -> OnSpecial | None:
    return None if special == "text" else special


def _check_threads(threads: int | None) -> None:
    if threads is not None and threads < 1:
        raise OptionError(f"threads={threads} is not at least 1.", value=threads)
