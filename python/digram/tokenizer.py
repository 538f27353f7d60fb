"""The tokenizer: an immutable value that encodes, decodes and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Self, overload

from digram._core import Model
from digram.batching import BatchingCore
from digram.compact import Compact, Settings, compacted
from digram.counting import CountingCore
from digram.doors import Changing, Measuring, Seeing
from digram.encoding import CallableCore, Layout
from digram.errors import OptionError, several
from digram.events import Event, made, single_symbols, told
from digram.pretokenizers import Pretokenizer
from digram.schemes import Picky
from digram.sizes import check_reserved
from digram.special import OnSpecial, Special
from digram.template import Template

if TYPE_CHECKING:
    from types import EllipsisType

    from digram.bulk import TokenFiles
    from digram.definition import Definition, OnUnknown, TrainingRecord, Unit
    from digram.rules import Rules
    from digram.sources import Source

__all__ = ["Merge", "RunnerUp", "Tokenizer"]


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """A pair that was not merged because another came before it: its parts and its count."""

    left: bytes
    right: bytes
    count: int


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge: the parts and the token they make, as bytes, with its rank and id.

    `count` is how often the pair stood in the training corpus when it was chosen; None where the
    tokenizer was not trained here. `runners_up` are the pairs that would have come next at that
    moment, where `train(runners_up=...)` asked to keep them. `language` is the one that the merge
    was made for by `digram.train_fair`, in whose text it was counted.
    """

    rank: int
    left: bytes
    right: bytes
    token: bytes
    id: int
    count: int | None
    runners_up: tuple[RunnerUp, ...] = field(default=(), repr=False)
    language: str | None = field(default=None, repr=False)


class _Extra(NamedTuple):
    """What the core keeps for the façade."""

    settings: Settings
    layout: Layout


class Tokenizer(CallableCore, BatchingCore, CountingCore, Measuring, Seeing, Changing):
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
        if settings.reserved:
            check_reserved(settings.reserved, special_tokens)
        return super().__new__(
            cls,
            model,
            list(special_tokens.items()),
            settings.pretokenizer.splitter(),
            settings.unit,
            unknown,
            settings.ignore_merges,
            None if settings.scheme is None else settings.scheme.core(),
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
    def rules(self) -> Rules | None:
        """The rules that text is cut by, which its pretokenizer carries."""
        return self._settings.pretokenizer.rules

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

    @property
    def reserved(self) -> dict[str, range]:
        """The ids set aside by `train(reserve=...)`, by name; what pads the size is "unused".

        >>> import digram
        >>> tok = digram.train("banana", vocab_size=261, reserve={"image": 4}, pretokenizer=None)
        >>> tok.reserved["image"], tok.merges, tok.vocab_size
        (range(257, 261), [(b'a', b'n')], 261)
        >>> tok.decode([257, 98])
        '<|image_0|>b'

        Each of them is a special token, so that all readers of a file give it the same id: no text
        becomes it unless `special=` allows that, and it decodes to its name.
        """
        return dict(self._settings.reserved or {})

    def token_bytes(self, id: int) -> bytes:
        """The bytes of a token; those of a special token are its text in UTF-8.

        Raises `TokenIdError` for an id that is not in the vocabulary.
        """
        return self.tokens([id])[0]

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The pairs of tokens that are merged, in rank order; none where `events` make tokens."""
        tokens, merges = self._model.tokens(), self._model.merges()
        return [(_known(tokens, left), _known(tokens, right)) for left, right, _ in merges]

    @property
    def merge_log(self) -> list[Merge]:
        """The merges in rank order, with what each made and its count in training.

        >>> import digram
        >>> digram.train("banana", max_merges=1, pretokenizer=None).merge_log
        [Merge(rank=0, left=b'a', right=b'n', token=b'an', id=256, count=2)]

        With `train(runners_up=2)` each says which pairs came next, and how close they were:

        >>> tok = digram.train("banana", max_merges=1, pretokenizer=None, runners_up=2)
        >>> tok.merge_log[0].runners_up
        (RunnerUp(left=b'n', right=b'a', count=2), RunnerUp(left=b'b', right=b'a', count=1))
        """
        tokens, merges = self._model.tokens(), self._model.merges()
        counts: Iterable[int | None] = repeat(None)
        next_pairs: Iterable[Sequence[tuple[int, int, int]]] = repeat(())
        languages: Iterable[str | None] = repeat(None)
        if self.training is not None:
            counts = self.training.counts
            next_pairs = self.training.runners_up or next_pairs
            languages = self.training.languages or languages
        return [
            Merge(
                rank,
                _known(tokens, left),
                _known(tokens, right),
                _known(tokens, id),
                id,
                count,
                tuple(RunnerUp(_known(tokens, a), _known(tokens, b), n) for a, b, n in runners_up),
                language,
            )
            for rank, ((left, right, id), count, runners_up, language) in enumerate(
                zip(merges, counts, next_pairs, languages, strict=False)
            )
        ]

    @property
    def events(self) -> list[Event]:
        """What PickyBPE (`train(picky=...)`) merged and dropped, in the order of time.

        >>> import digram
        >>> tok = digram.train("the the hut she", max_merges=2, picky=0.6, pretokenizer="gpt2")
        >>> for event in tok.events:
        ...     print(event.kind, event.token, event.parts, event.count)
        merge b'he' (b'h', b'e') 3
        merge b'the' (b't', b'he') 2
        drop b'he' (b'h', b'e') 1
        >>> tok.tokens([256])
        [b'the']

        Empty for other tokenizers, which have `merges`. Takes some 2 µs an event.
        """
        scheme = self._settings.scheme
        if not isinstance(scheme, Picky):
            return []
        base = single_symbols(self._model.tokens(), self.unit, self._settings.byte_ids)
        return told(scheme, base, None if self.training is None else self.training.counts)

    def _made(self) -> set[int]:
        """The ids of the tokens that merges or events make."""
        scheme, ids = self._settings.scheme, {id for _, _, id in self._model.merges()}
        if isinstance(scheme, Picky):
            tokens = self._model.tokens()
            by_events = made(scheme, single_symbols(tokens, self.unit, self._settings.byte_ids))
            ids |= {id for id, token in enumerate(tokens) if token in by_events}
        return ids

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

    def _uncut(self) -> Tokenizer:
        """The same without a pretokenizer: what is a pretoken is not cut again."""
        return self._with(self._settings._replace(pretokenizer=Pretokenizer(None)))

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
        folder with `vocabulary.json` and `merges.json`), or "digram" for tokenizers that nobody
        else has an encoder for; by default it follows from the name of the file. What the format
        cannot carry is a `VocabError`, unless `allow_loss`.
        """
        from digram import formats

        formats.write(self.definition, path, format=format, allow_loss=allow_loss)

    def encode_files(
        self,
        source: Source | Mapping[str, Source],
        folder: str | PathLike[str],
        *,
        format: str,
        end_of_text: str | int | EllipsisType | None = ...,
        dtype: str | None = None,
        shard_tokens: int | None = None,
        shard_size: int | str | None = None,
        separator: str | bytes | None = None,
        special: OnSpecial = "text",
        threads: int | None = None,
        resume: bool = False,
        progress: bool | None = None,
    ) -> TokenFiles:
        """Encode a source of any size into files that trainers read.

        >>> import digram
        >>> tok = digram.train("low lower", max_merges=2, special_tokens=["<|endoftext|>"])
        >>> folder = getfixture("tmp_path") / "out"
        >>> tok.encode_files(["low", "lower"], folder, format="megatron")
        <digram.TokenFiles: 2 documents, 6 tokens, format='megatron', dtype=uint16, 1 shard>
        >>> sorted(path.name for path in folder.iterdir())
        ['manifest.json', 'tokens-000000.bin', 'tokens-000000.idx']

        What comes in is what `digram.train` takes: texts, files of all kinds, tables, an iterator,
        or a dictionary of these, which are read in its order (each document once: weights are for
        counting). Each text is a document, and `separator` cuts them. Documents keep their order.

            format: "megatron", "nanogpt", "llmc", "datatrove", "dolma", "npy", "parquet", "arrow".
            end_of_text: the special token (or any id) after each document, None for none. Left
                out, it is the tokenizer's own, where it has exactly one of a known name.
            dtype: "uint16", "uint32" or what else the format has; the smallest that holds the
                vocabulary by default, and uint32 in Parquet and Arrow files.
            shard_tokens, shard_size: a shard ends with the document that reaches so many tokens
                (100 million by default), or bytes of ids ("1 GB").
            special: what becomes of the text of special tokens, as for `encode`.
            resume: go on with the run that the folder holds, if it was made by the same tokenizer
                with the same options of the same source; else a folder with a run is refused.

        The bytes written depend on these, the source, and the versions of digram and of the
        libraries that compress (zlib for dolma, pyarrow for Parquet and Arrow), never on threads or
        breaks. `manifest.json` holds the digests of the tokenizer, of all files and of the
        documents of each input. Each shard appears whole, after it is on the disk; a run that is
        killed, or whose disk is full, keeps those that are done. `resume` checks their digests,
        reads the source up to where they end (but for files that were read to their end and not
        touched since), compares it with what it was, and goes on.

        Returns what `digram.read_tokens` gives for the folder; `skipped` says how many records
        `digram.files(..., on_error="skip")` passed over. Raises `OptionError` where format and
        vocabulary do not go together, and for a `str` that is the name of a file or folder;
        `CheckpointError` for a folder of another run, one in the source, and a source that
        differs; `CorruptFileError` for a damaged shard, a bad record, and a file that changed while
        it was read; and as `encode`, with the file and the record.

        Memory beside the tokenizer: the texts and ids in work, some five times 1 MiB of text for
        each thread (4 MiB at least), up to 16 bytes for each document of a shard, and the longest
        record. A text file that is one document is read and encoded in parts, where the
        pretokenizer lets one cut it, and its ids wait in a file (a row of Parquet or Arrow is in
        memory). Files are read ahead by a thread; a caller's iterator, a table and stdin are read
        in this one. Ctrl-C stops it at once.
        """
        from digram.bulk import encode_files

        return encode_files(
            self,
            source,
            folder,
            format=format,
            end_of_text=end_of_text,
            dtype=dtype,
            shard_tokens=shard_tokens,
            shard_size=shard_size,
            separator=separator,
            special=special,
            threads=threads,
            resume=resume,
            progress=progress,
        )

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of what the tokenizer does, the same in every version.

        Provenance plays no part. The first question reads all tokens and merges: some milliseconds.
        """
        return self._digest(Compact(self._model, self.special_tokens, self._settings).digest)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        special = f", {len(self.special_tokens)} special" if self.special_tokens else ""
        unit = "" if self.unit == "byte" else f", unit={self.unit!r}"
        scheme = self._settings.scheme
        unit += "" if scheme is None else f", {scheme.kind}"
        return (
            f"<digram.Tokenizer: {several(len(self), 'token')}{special}, "
            f"pretokenizer={_shown(self.pretokenizer)}{unit}>"
        )

    def _repr_html_(self) -> str:
        from digram.seeing.pages import tokenizer_page

        return tokenizer_page(self)

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
    return repr(pretokenizer.name) if pretokenizer.is_plain else repr(pretokenizer)
