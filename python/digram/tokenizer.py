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
from digram.doors import Changing
from digram.encoding import CallableCore, Layout
from digram.errors import OptionError, several
from digram.pretokenizers import Pretokenizer
from digram.sizes import check_reserved
from digram.special import OnSpecial, Special
from digram.template import Template

if TYPE_CHECKING:
    from types import EllipsisType

    from digram.audit import Audit
    from digram.bulk import TokenFiles
    from digram.definition import Definition, OnUnknown, TrainingRecord, Unit
    from digram.metrics import Advice, Comparison, Curve, Evaluation
    from digram.report import Report
    from digram.seeing import Explanation, Places, Replay, Tree
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
    moment, where `train(runners_up=...)` asked to keep them.
    """

    rank: int
    left: bytes
    right: bytes
    token: bytes
    id: int
    count: int | None
    runners_up: tuple[RunnerUp, ...] = field(default=(), repr=False)


class _Extra(NamedTuple):
    """What the core keeps for the façade."""

    settings: Settings
    layout: Layout


class Tokenizer(CallableCore, BatchingCore, CountingCore, Changing):
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
        """The pairs of tokens that are merged, in rank order."""
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
        if self.training is not None:
            counts = self.training.counts
            next_pairs = self.training.runners_up or next_pairs
        return [
            Merge(
                rank,
                _known(tokens, left),
                _known(tokens, right),
                _known(tokens, id),
                id,
                count,
                tuple(RunnerUp(_known(tokens, a), _known(tokens, b), n) for a, b, n in runners_up),
            )
            for rank, ((left, right, id), count, runners_up) in enumerate(
                zip(merges, counts, next_pairs, strict=False)
            )
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

    def evaluate(
        self,
        source: Source | Mapping[str, Source],
        *,
        reference: str | None = None,
        separator: str | bytes | None = None,
        alpha: float = 2.5,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Evaluation:
        """How well it does on text: compression, fertility, coverage, Rényi efficiency, and more.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", vocab_size=260)
        >>> found = tok.evaluate(["the lowest", "low é"])
        >>> found.total.bytes_per_token, found.total.fertility, found.total.coverage
        (1.6, 2.25, 0.93...)

        What comes in is what `digram.train` takes: texts, files, or an iterator of texts; each text
        is a document, and `separator` cuts them. Several sources, by name, are measured one by one
        and together. With a `reference`, text n of each says the same as text n of the others, and
        `parallel` has what each costs beside it:

        >>> found = tok.evaluate({"en": "low tower", "sw": "mnara mfupi"}, reference="en")
        >>> found.by_name["sw"].tokens, found.parallel.premium
        (11, {'en': 1.0, 'sw': 1.57...})

        `print(found)` shows all of it as a table, `found.as_dict()` gives it as plain values. Each
        measure, its unit and its source are in docs/evaluation.md; `alpha` is the order of Rényi's
        entropy. The text of special tokens stays text.

        Raises `OptionError` for a reference that is no name, for sources of unequal numbers of
        texts beside one, and for a negative `alpha`; else as `encode`, with the name of the source.

        Takes two to three times as long as encoding, in parallel on `threads` threads, and some
        1 µs for each token of the vocabulary. Memory: a batch of texts or the longest one, 8 bytes
        for each text, and the distinct words.
        """
        from digram.metrics import evaluate

        return evaluate(
            self,
            source,
            reference=reference,
            separator=separator,
            alpha=alpha,
            threads=threads,
            progress=progress,
        )

    def audit(
        self,
        source: Source | None = None,
        *,
        separator: str | bytes | None = None,
        rare: int = 10,
        long: int = 32,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Audit:
        """Look for what is wrong with the vocabulary: tokens in vain, doubled, broken, or a danger.

        >>> import digram
        >>> corpus = "play: play? play! play " * 9
        >>> tok = digram.train(corpus, vocab_size=264, pretokenizer="whitespace")
        >>> found = tok.audit(corpus)
        >>> found.by_kind["punctuation"].details
        ('[play] [·play] [·play!] [·play?] [·play:] [play:]',)

        Finds tokens that no text becomes (with a proof), that do not occur in the corpus or occur
        less than `rare` times, that are no whole characters, that are one word in several forms,
        that are junk, longer than `long` characters, or numbers that fall into groups unevenly;
        special tokens that text may hold; gaps in the ids; and text that does not come back. Each
        kind is defined in docs/audit.md. Without a source, what needs none.

        `print(found)` shows a table, `found.as_dict()` gives plain values, and a test holds it to
        limits, of numbers or shares:

        >>> assert not found.check(unreachable=0, unused=0.05, round_trip=0)
        >>> print(*found.check(punctuation=0))
        punctuation: 4 of 264 (1.5%), where none is allowed

        What comes in is what `digram.train` takes, and `separator` cuts it. The text of special
        tokens stays text. Raises `OptionError` for a `rare` or `long` below 1; else as `encode`.
        Takes what encoding and decoding take, and some 10 µs for each token of the vocabulary.
        Memory: a batch of texts or the longest one, with its ids.
        """
        from digram.audit import audit

        return audit(
            self,
            source,
            separator=separator,
            rare=rare,
            long=long,
            threads=threads,
            progress=progress,
        )

    def curve(
        self,
        source: Source | Mapping[str, Source],
        *,
        sizes: Iterable[int] | None = None,
        width: int | None = None,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Curve:
        """What this vocabulary and the smaller ones inside it do with a text, size by size.

        >>> import digram
        >>> text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
        >>> tok = digram.train(text, vocab_size=276)
        >>> found = tok.curve(text, sizes=[260, 268, 276])
        >>> [(point.vocab_size, point.tokens) for point in found]
        [(260, 47), (268, 24), (276, 16)]
        >>> found[260].tokens == tok.shrink(260).count(text)
        True

        `source` and `separator` are as for `evaluate`; several sources count as one. `sizes` are
        those of `shrink`; without them round ones from 1,000 on, and this tokenizer's own. With
        the `width` of a model's embeddings each point knows how many parameters they have.
        `print(found)` shows a table, `found.as_dict()` gives plain values, and
        `digram.advise(found)` a recommendation.

        All numbers are exactly those of `shrink`'s tokenizers, and cost one `evaluate` together:
        the text is encoded once, and merges are undone on how often each token stands in it, some
        1 µs a token of the vocabulary. Raises as `shrink` and `evaluate` do.
        """
        from digram.metrics import curve

        return curve(
            self,
            source,
            sizes=sizes,
            width=width,
            separator=separator,
            threads=threads,
            progress=progress,
        )

    def advise(
        self,
        source: Source | Mapping[str, Source],
        *,
        parameters: float | str | None = None,
        width: int | None = None,
        multilingual: bool = False,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Advice:
        """How large a vocabulary should be for a model of such text, with the reasons.

        >>> import digram
        >>> text = "she sells sea shells by the sea shore; the shells she sells are sea shells"
        >>> tok = digram.train(text, vocab_size=276)
        >>> print(tok.advise(text, parameters="7B"))
        large: 62,000 tokens  (7B parameters beside it, width 4,096)
        ...

        `digram.advise` of `curve(source)`: the other arguments are theirs. Train to a larger size
        than you expect to need, and see what the smaller ones inside it do.
        """
        from digram.metrics import advise

        found = self.curve(source, separator=separator, threads=threads, progress=progress)
        return advise(found, parameters=parameters, width=width, multilingual=multilingual)

    def compare(
        self,
        other: Tokenizer,
        source: Source | Mapping[str, Source],
        *,
        names: tuple[str, str] = ("this", "other"),
        top: int = 10,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Comparison:
        """Which of two tokenizers needs fewer tokens for a text, and where; what each has alone.

        >>> import digram
        >>> words = digram.train("slow slower slowest low lower lowest", vocab_size=266)
        >>> years = digram.train("low 2025 low 2026 low 2027", vocab_size=262)
        >>> found = words.compare(years, {"words": "slow low", "years": "low 2025"})
        >>> found
        <digram.metrics.Comparison: this 8 tokens, other 7 (-12.5%), 56.2% cut alike>
        >>> found.by_name["words"].change, found.by_kind["numbers"].change
        (0.5, -0.5)
        >>> found.this_fewer
        (Place(text=b'slow', count=1, this=(b'slow',), other=(b's', b'low')),)

            source, separator: as for `evaluate`; sources with names are compared one by one too.
            names: what the tables call the two.
            top: how many places, and how many tokens that one has alone, are kept of each sort.

        `print(found)` shows tables, `found.as_dict()` gives plain values. What each field means is
        defined in docs/comparing.md. The two may differ in anything: unit, pretokenizer, size.
        Text that only one of them can encode raises as `encode` does.

        Costs both encodings with their offsets, and 0.3 to 0.6 µs for each token of either. Memory:
        some 40 times the longest text, the distinct places where the two differ, and the distinct
        pieces that are not ASCII.
        """
        from digram.metrics import compare

        return compare(
            self,
            other,
            source,
            names=names,
            top=top,
            separator=separator,
            threads=threads,
            progress=progress,
        )

    def show(
        self,
        text: str | bytes,
        *,
        ids: bool = False,
        color: bool | None = None,
        special: OnSpecial = "text",
    ) -> None:
        r"""Print the tokens of a text: neighbours in different colours, or in brackets.

        >>> import digram
        >>> tok = digram.train("low lower lowest", max_merges=3, pretokenizer="gpt2")
        >>> tok.show("low é", ids=True)
        [low] [·] [⟨C3…⟩] [⟨…A9=é⟩]
        257   32  195     169

        With `ids` each id stands below its token, in lines as wide as the terminal. White space
        and what cannot be seen have signs, and a character that is spread over several tokens shows
        in each which bytes of it these are (docs/seeing.md). `color` is for a terminal that is not
        known as one, or against colours; by default they are used on a terminal, unless `NO_COLOR`
        is set. Raises as `encode`.
        """
        import shutil
        import sys

        from digram.terminal import shown, use_color

        found = self.encode(text, special=special)
        sys.stdout.writelines(
            shown(
                self.tokens(found),
                found if ids else None,
                color=use_color(sys.stdout) if color is None else color,
                width=shutil.get_terminal_size().columns,
            )
        )

    def explain(self, text: str | bytes, *, special: OnSpecial = "text") -> Explanation:
        r"""Why a text becomes its tokens: where it is cut, and each merge in the order of applying.

        >>> import digram
        >>> tok = digram.train("low low lower lowest newer", max_merges=5, pretokenizer="gpt2")
        >>> print(tok.explain(" lower"))
        6 bytes, 1 pretoken, 2 tokens
        <BLANKLINE>
        [·lower]  bytes 0 to 5, cut out by part 8 of gpt2
          [·][l][o][w][e][r]
            rank 0, count 4: [l] + [o]; not yet rank 3 [e] + [r]
          [·][lo][w][e][r]
            rank 1, count 4: [lo] + [w]; not yet rank 3 [e] + [r]
          [·][low][e][r]
            rank 2, count 3: [·] + [low]; not yet rank 3 [e] + [r]
          [·low][e][r]
            rank 3, count 2: [e] + [r]
          [·low][er] 258 259
            No two neighbours are left that have a merge.
        <BLANKLINE>
        part 8 of gpt2   ?\p{L}+
        >>> step = tok.explain("lower").pretokens[0].steps[0]
        >>> step.merge.token, step.merge.rank, step.merge.count, step.after
        (b'lo', 0, 4, [b'lo', b'w', b'e', b'r'])

        Each step has the merges that could have been applied (`candidates`), of which the one of
        the lowest rank was, at the leftmost of its places; and the tokens before and after. The
        last tokens are what `encode` gives. What is not merged says so: special tokens (`special`
        as for `encode`), and pretokens that a vocabulary takes whole (`ignore_merges`).

        Raises as `encode`. Takes some 1.5 µs for each token of the vocabulary, and time in
        proportion to n log n for a pretoken of n bytes; printing shows the first steps of each.
        """
        from digram.seeing import explain

        return explain(self, text, special=special)

    def replay(self, text: str | bytes, *, pairs: int = 8, special: OnSpecial = "text") -> Replay:
        """Play training again on a text: merge by merge, with what each does to it.

        >>> import digram
        >>> text = "low low lower lowest"
        >>> tok = digram.train(text, max_merges=3, pretokenizer="gpt2", runners_up=1)
        >>> found = tok.replay(text)
        >>> frame = found.frames[1]
        >>> frame.merge.token, frame.merge.count, frame.merge.runners_up
        (b'low', 4, (RunnerUp(left=b' ', right=b'lo', count=3),))
        >>> frame.count, frame.pairs[1], frame.vocab_size
        (4, PairCount(left=b' ', right=b'lo', count=3, rank=None), 258)
        >>> found.tokens(1)[:4], found.tokens() == tok.tokens(tok.encode(text))
        ([b'low', b' ', b'low', b' '], True)

        The frames are the merges that the text has a place for, in the order in which they were
        learned. Each has its count in the training corpus and what came next there, from the
        record of training (`train(runners_up=...)` keeps what came next), and beside them the
        `pairs` most frequent pairs of this text at that moment. After a frame the text stands as
        the smaller tokenizer with the merges so far would encode it (`shrink`), for vocabularies
        from elsewhere too. Special tokens and pretokens that are taken whole stay as they are.

        Raises as `encode`. Meant for texts that one reads: time grows with the frames and with the
        different pairs of the text; some 1.5 µs more for each token of the vocabulary.
        """
        from digram.seeing import replay

        return replay(self, text, pairs=pairs, special=special)

    def tree(self, token: int | str | bytes) -> Tree:
        """What a token was merged of, down to bytes or characters.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
        >>> print(tok.tree(" low"))
        [·low]  id 258, rank 2, count 3
        ├─ [·]  id 32
        └─ [low]  id 257, rank 1, count 4
           ├─ [lo]  id 256, rank 0, count 4
           │  ├─ [l]  id 108
           │  └─ [o]  id 111
           └─ [w]  id 119
        >>> tok.tree(257).left.token, tok.tree(257).leaves
        (b'lo', [b'l', b'o', b'w'])

        `token` is its id, its text or its bytes. Where several merges make it, the tree has the one
        that its bytes are encoded by; vocabularies that are told by ranks (`.tiktoken`) have the
        merges that their order implies. Counts are there where the tokenizer was trained here.
        Raises `TokenIdError` or `VocabError` for what is no token. Takes some 2 µs for each token
        of the vocabulary.
        """
        from digram.seeing import tree

        return tree(self, token)

    def where(
        self,
        token: int | str | bytes,
        source: Source,
        *,
        samples: int = 10,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Places:
        """Where a token stands in a corpus: in which words, how often, and in what context.

        >>> import digram
        >>> texts = ["low low lower lowest", "the lowlands are low"]
        >>> tok = digram.train(texts, max_merges=3, pretokenizer="gpt2")
        >>> found = tok.where(" low", texts)
        >>> found.times, found.words[:2]
        (5, [Word(word=b' low', count=2, times=1), Word(word=b' lower', count=1, times=1)])
        >>> found.samples[0].before, found.samples[0].after, found.samples[0].document
        (b'low', b' lower lowest', 0)

        What comes in is what `digram.train` takes: texts, files, or an iterator of texts; each text
        is a document, and `separator` cuts them. `words` are the pretokens that have the token
        among theirs when they are encoded: a token of which all words are merged further stands
        nowhere. `samples` are at most so many places, in as many different words as can be, the
        most frequent first as far as was read; they tell the file, the record and the byte.
        Memory: 8 MiB of text or the longest part that cannot be cut, and up to 65,536 words (see
        `Places.missed`).

        Raises `TokenIdError` or `VocabError` for what is no token, `OptionError` for a special one,
        else as `encode`. Takes little more time than counting pretokens does.
        """
        from digram.seeing import where

        return where(
            self,
            token,
            source,
            samples=samples,
            separator=separator,
            threads=threads,
            progress=progress,
        )

    def report(
        self,
        corpus: Source | Mapping[str, Source],
        *,
        parallel: Mapping[str, Source] | None = None,
        reference: str | None = None,
        title: str | None = None,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Report:
        """All there is to say of a tokenizer on some texts: one page, its figures, its numbers.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
        >>> found = tok.report({"prose": ["low lower"]}, title="A tokenizer of low words")
        >>> [(name, chart.title) for name, chart in found.charts.items()][0]
        ('curve', 'Compression by size of the vocabulary')
        >>> found.evaluation.total.tokens
        3

            corpus: a source as for `evaluate`, or several by name, each of which can be read again.
            parallel: texts by name that say the same line by line, as for `evaluate`; files and
                strings are cut where lines end.
            reference: the one of these that the others are compared with.
            title: what the page is called.
            separator: cuts files of `corpus` into documents.

        `save("report.html")` writes one file that needs no network and no script, `charts` are the
        figures as data, SVG and PNG, `save_figures` writes all of them, `as_dict()` gives plain
        values. The same inputs give the same bytes. What the page says is told in docs/report.md.

        Drawing needs `pip install 'digram[plots]'`, and takes some seconds. The texts are encoded
        twice. Raises as `evaluate`, and `OptionError` for an iterator, which cannot be read again.
        """
        from digram.report import report

        return report(
            self,
            corpus,
            parallel=parallel,
            reference=reference,
            title=title,
            separator=separator,
            threads=threads,
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
    plain = pretokenizer.digits is None and (pretokenizer.name or not pretokenizer.patterns)
    return repr(pretokenizer.name) if plain else repr(pretokenizer)
