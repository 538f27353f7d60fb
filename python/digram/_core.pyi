import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Self, SupportsIndex, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer, disjoint_base

from digram.vocab.special_tokens import Flags, SpecialToken

__all__ = [
    "MAX_VOCAB_SIZE",
    "MIN_MEMORY",
    "Algorithm",
    "ArrowIds",
    "ArrowTexts",
    "Blake3",
    "Core",
    "Counter",
    "Counts",
    "CountsReader",
    "CountsWriter",
    "CsvTexts",
    "Decoder",
    "Encoded",
    "EncodedDocuments",
    "Forbidden",
    "Intervals",
    "Joiner",
    "JsonTexts",
    "MergeOptions",
    "Model",
    "Ranks",
    "RunningCount",
    "SortedCounts",
    "Splitter",
    "Stopper",
    "Stream",
    "WordSet",
    "__version__",
    "cache_bytes",
    "cut",
    "default_threads",
    "join_words",
    "json_texts",
    "limit_cache",
    "pattern_facts",
    "train",
    "train_by_likelihood",
    "train_fair",
    "train_picky",
    "train_unigram",
    "unigram_likelihood",
]

__version__: str

# The minimum memory limit for training, in bytes.
MIN_MEMORY: int
MAX_VOCAB_SIZE: int

_Ids = Iterable[SupportsIndex]
_OnSpecial = Literal["text", "parse", "raise"] | Collection[str]
_Text = str | bytes
# The names of the files; the numbers of documents, bytes and pretokens.
_CountState = tuple[list[str], tuple[int, int, int]]
_Piece = bytes  # for classes with a property named `bytes`

@final
class Splitter:
    def __new__(
        cls,
        patterns: Sequence[str],
        digits: str | None = None,
        # Terms, units, patterns, whether numbers are kept whole, and whether they are separated.
        rules: tuple[Sequence[str], Sequence[str], Sequence[str], bool, bool] | None = None,
        # Stages: a name, and arguments.
        normalizer: Sequence[tuple[object, ...]] = ...,
        # Patterns for which each byte is the letter of `ByteLevel`.
        letter_patterns: Sequence[str] = ...,
    ) -> Splitter: ...
    def found(
        self, text: bytes
    ) -> list[tuple[int, int, Literal["term", "unit", "pattern", "number"]]]:
        """The matches of rules in a text: start and end, in bytes, and the kind."""
    @overload
    def split(self, text: str) -> list[str]: ...
    @overload
    def split(self, text: bytes) -> list[bytes]: ...
    @overload
    def normalize(self, text: str) -> str: ...
    @overload
    def normalize(self, text: bytes) -> bytes: ...
    def last_border(self, text: bytes, start: int) -> int: ...

@final
class Algorithm:
    @staticmethod
    def ranked(
        ignore_merges: bool,
        fuses_unknown: bool = False,
        prefix: str | None = None,
        suffix: str | None = None,
    ) -> Algorithm: ...
    @staticmethod
    def superwords(words: Splitter, ranks: list[int]) -> Algorithm: ...
    @staticmethod
    def events(events: list[tuple[int, int | None]]) -> Algorithm: ...
    @staticmethod
    def unigram(
        scores: list[float | None],
        unknown: float,
        single: bool,
        # Names of tokens, with the id and the score.
        spelled: list[tuple[str, int, float]],
    ) -> Algorithm: ...
    @staticmethod
    def scored(scores: list[float | None], unused: list[int]) -> Algorithm: ...
    @staticmethod
    def fewest() -> Algorithm: ...
    @staticmethod
    def wordpiece(max_word_chars: int, prefix: str) -> Algorithm: ...
    @staticmethod
    def word_level(splits: bool) -> Algorithm: ...
    @staticmethod
    def greedy() -> Algorithm: ...

@final
class Forbidden:
    """Forbidden merges: pairs of tokens, bytes of tokens, and regexes of whole tokens."""

    def __new__(
        cls,
        pairs: Sequence[tuple[bytes, bytes]],
        tokens: Sequence[bytes],
        patterns: Sequence[str],
    ) -> Forbidden: ...
    def holds(self, left: bytes, right: bytes) -> bool:
        """Whether merging two tokens is forbidden."""

@final
class EncodedDocuments:
    """Encoded documents, in the buffers of the threads."""

    def gather(self, end: int | None, dtype: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The ids, with the id `end` after each document, and the ends; can be called once."""

@final
class Blake3:
    """A BLAKE3 digest of data in parts."""

    def __new__(cls) -> Blake3: ...
    def update(self, data: Buffer) -> None: ...
    def update_documents(self, documents: Sequence[_Text]) -> None:
        """Add texts, each followed by its length in eight bytes, little-endian."""
    def hexdigest(self) -> str: ...

def cache_bytes() -> int:
    """The number of bytes that encoding takes now to remember words."""

def limit_cache(total: int | None, per_thread: int | None) -> None:
    """Limit these bytes for the process and for each thread; None is the default.

    `OptionError` if the variable `DIGRAM_CACHE_BYTES`, the default total, is invalid.
    """

def default_threads() -> int:
    """The default number of threads.

    It is the value of the variable `DIGRAM_THREADS`, or the number of processors that this process
    may use, considering the limit of a container. `OptionError` if the variable is invalid.
    """

def cut(held: bytearray, block: bytes, separator: bytes) -> tuple[list[bytes], int] | None:
    """The documents that end in a block, and the offset after the last separator.

    The first document starts with `held`. None if there is no separator in the block.
    `OptionError` for an empty separator.
    """

@final
class WordSet:
    """A set of words, which are separated by white space."""

    def __new__(cls, words: Sequence[bytes]) -> WordSet: ...
    def count(self, texts: Sequence[_Text], threads: int | None = None) -> tuple[int, int]:
        """The total number of words of several texts, and the number of those in the set."""

# A record without a text: the number of records with a text before it, its number from 0, its
# offset, the reason, and the message of the parser.
_Fault = tuple[int, int, int, str, str | None]
# The texts of records, as a list if the field is a list; the faults of other records; and, if
# reading cannot continue, the number of the record, the offset and the reason.
_Found = tuple[list[bytes | list[bytes]], list[_Fault], tuple[int, int, str] | None]

def json_texts(
    lines: bytes, field: list[str]
) -> tuple[int, list[bytes | list[bytes]], list[_Fault]]:
    """The number of records in complete lines of JSON, the texts in a field, and the faults."""

@final
class JsonTexts:
    """The texts in a field of the records of a JSON file, which is pushed in blocks.

    Records are the items of a list, or consecutive values. `held` is the number of bytes of an
    incomplete record, `place` the offset of the record with the number `wanted`, from 1.
    """

    def __new__(cls, field: list[str], wanted: int = 0) -> JsonTexts: ...
    def push(self, block: bytes) -> _Found: ...
    def finish(self) -> _Found: ...
    @property
    def held(self) -> int: ...
    @property
    def place(self) -> int | None: ...

@final
class CsvTexts:
    """Like `JsonTexts` for a column of a CSV file; `OptionError` if it is not in the header."""

    def __new__(cls, column: str | None, delimiter: int, wanted: int = 0) -> CsvTexts: ...
    def push(self, block: bytes) -> _Found: ...
    def finish(self) -> _Found: ...
    @property
    def held(self) -> int: ...
    @property
    def place(self) -> int | None: ...

@final
class ArrowTexts:
    """The texts in a column of a table, in batches.

    The parts of `column` are names of nested fields. `next` returns texts of about `size` bytes in
    total, with None for a null, or None at the end.
    """

    def __new__(cls, data: Any, column: list[str]) -> ArrowTexts: ...
    def next(self, size: int) -> list[bytes | None] | None: ...

@final
class Counter:
    def __new__(
        cls,
        splitter: Splitter,
        *,
        memory: tuple[int, str | os.PathLike[str]] | None = None,
        between: Core | None = None,
    ) -> Counter: ...
    @staticmethod
    def resumed(
        splitter: Splitter,
        folder: str | os.PathLike[str],
        checkpoint: _CountState | None = None,
        *,
        memory_limit: int | None = None,
        between: Core | None = None,
    ) -> Counter: ...
    def add(
        self, batch: Sequence[_Text], threads: int | None = None, documents: int | None = None
    ) -> None: ...
    def checkpoint(self) -> _CountState: ...
    def finish(self) -> Counts: ...
    def finish_bounded(
        self, on_progress: Callable[[int, int], object] | None = None
    ) -> Counts | SortedCounts: ...

@final
class Counts:
    @staticmethod
    def from_pairs(pairs: Iterable[tuple[_Text, int]]) -> Counts: ...
    @staticmethod
    def from_arrow(data: Any) -> tuple[Counts, str | None]: ...
    @staticmethod
    def merge(parts: list[Counts]) -> Counts: ...
    def of_corpus(self, documents: int, end: int | None) -> Counts: ...
    def subtract(self, part: Counts) -> Counts: ...
    def filter(self, min_count: int) -> Counts: ...
    def scale(self, numerator: int, denominator: int) -> Counts: ...
    def cut_again(self, splitter: Splitter) -> Counts: ...
    def without_first(self) -> Counts: ...
    def __len__(self) -> int: ...
    def get(self, piece: _Text) -> int: ...
    def items(self, start: int, length: int) -> list[tuple[_Piece, int]]: ...
    def most_common(self, n: int) -> list[tuple[_Piece, int]]: ...
    def equals(self, other: Counts) -> bool: ...
    @property
    def documents(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def pretokens(self) -> int: ...
    @property
    def end(self) -> int | None: ...
    def characters(self, limit: int | None = None) -> str: ...
    def letters(self, limit: int | None = None) -> tuple[str, str]: ...
    def digest(self) -> str: ...
    def arrow_schema(self, metadata: str) -> object: ...
    def arrow_stream(self, metadata: str) -> object: ...

@final
class CountsWriter:
    def __new__(cls, counts: Counts, metadata: str) -> CountsWriter: ...
    def next(self) -> bytes | None: ...
    def footer(self, digest: str) -> bytes: ...

@final
class CountsReader:
    def __new__(cls, data: bytes) -> CountsReader: ...
    @property
    def digested(self) -> int: ...
    @property
    def digest(self) -> str: ...
    def metadata(self) -> str: ...
    def counts(self, documents: int, end: int | None) -> Counts: ...

@final
class SortedCounts:
    def __len__(self) -> int: ...
    @property
    def documents(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def pretokens(self) -> int: ...
    @property
    def path(self) -> Path: ...
    def checkpoint(self) -> _CountState: ...
    def characters(self, limit: int | None = None) -> str: ...
    def letters(self, limit: int | None = None) -> tuple[str, str]: ...
    def digest(self) -> str: ...
    def to_memory(self) -> Counts: ...

@final
class Joiner:
    def __new__(
        cls, memory_limit: int, folder: str | os.PathLike[str], ordered: bool
    ) -> Joiner: ...
    def add(self, counts: Counts | SortedCounts, numerator: int, denominator: int) -> None: ...
    def finish(self, on_progress: Callable[[int, int], object] | None = None) -> SortedCounts: ...

@final
class ArrowIds:
    """The ids of several texts as one Arrow array of lists (`large_list<uint32>`), immutable.

    Libraries read it by the PyCapsule protocol without copying: `pyarrow.array(ids)`,
    `polars.Series(ids)`; and as a table with one column `ids`: `pyarrow.table(ids)`.
    """

    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

# Interrupts the calls of a thread from another thread. In a `with` block, long calls of this thread
# raise `KeyboardInterrupt` soon after `stop`.
@final
class Stopper:
    def __new__(cls) -> Self: ...
    def stop(self) -> None: ...
    @property
    def is_stopped(self) -> bool: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_raised: object) -> None: ...

@final
class Stream:
    def push(self, chunk: _Text | None) -> list[int]: ...
    def push_numpy(self, chunk: _Text | None) -> NDArray[np.uint32]: ...

@final
class Decoder:
    def push(self, id: SupportsIndex) -> str: ...
    def extend(self, ids: _Ids) -> str: ...
    def finish(self) -> str: ...

@final
class Intervals:
    def count(self, start: int, end: int | None = None) -> int: ...

@final
class RunningCount:
    def append(self, text: _Text) -> None: ...
    def prepend(self, text: _Text) -> None: ...
    def __int__(self) -> int: ...
    @property
    def count(self) -> int: ...

@final
class Ranks:
    def __new__(cls, tokens: list[bytes | None]) -> Ranks: ...
    @staticmethod
    def read(data: bytes) -> Ranks | None: ...
    def __len__(self) -> int: ...

@final
class Model:
    def __new__(
        cls, tokens: list[bytes | None], merges: Sequence[tuple[int, int, int]]
    ) -> Model: ...
    @staticmethod
    def from_ranks(ranks: Ranks) -> Model: ...
    @staticmethod
    def from_letters(
        vocab: dict[Any, Any], special_tokens: Sequence[str], merges: list[Any], letters: str
    ) -> Model | None: ...
    @staticmethod
    def from_bytes(stored: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def token(self, id: int) -> bytes | None: ...
    def tokens(self) -> list[bytes | None]: ...
    def merges(self) -> list[tuple[int, int, int]]: ...
    def packed(self) -> tuple[int, int, bytes, bytes, bytes]: ...
    def missing_bytes(self) -> bytes: ...
    def __len__(self) -> int: ...
    def unmade(self) -> list[int]: ...

@disjoint_base
class Core:
    def __new__(
        cls,
        model: Model,
        special_tokens: list[tuple[str, int, Flags]],
        keeps_spaces: bool,
        splitter: Splitter,
        strip_first_space: bool,
        cleanup: bool,
        decoding: tuple[list[str | None], list[tuple[object, ...]]] | None,
        unit: str,
        on_unknown: int | list[int] | None,
        algorithm: Algorithm,
        extra: Any,
    ) -> Self: ...
    def encode(
        self,
        text: _Text | Sequence[_Text | SpecialToken],
        *,
        special: _OnSpecial | None = "text",
        dropout: float = 0.0,
        seed: int | None = None,
    ) -> list[int]: ...
    def encode_best(
        self, text: _Text, count: int, *, special: _OnSpecial | None = "text"
    ) -> list[tuple[list[int], float]]: ...
    def encode_sample(
        self,
        text: _Text,
        *,
        alpha: float,
        seed: int,
        count: int | None = None,
        special: _OnSpecial | None = "text",
    ) -> list[int]: ...
    def count(
        self, text: _Text | Sequence[_Text | SpecialToken], *, special: _OnSpecial | None = "text"
    ) -> int: ...
    def decode(
        self,
        ids: _Ids,
        *,
        errors: Literal["replace", "strict"] = "replace",
        skip_special_tokens: bool = False,
    ) -> str: ...
    def decode_bytes(self, ids: _Ids, *, skip_special_tokens: bool = False) -> bytes: ...
    def offsets(
        self,
        ids: _Ids,
        *,
        unit: Literal["characters", "bytes", "utf16"] = "characters",
        skip_special_tokens: bool = False,
    ) -> list[tuple[int, int]]: ...
    def counter(self, text: _Text = "") -> RunningCount: ...
    def intervals(self, text: _Text) -> Intervals: ...
    def decoder(
        self,
        *,
        errors: Literal["replace", "strict"] = "replace",
        skip_special_tokens: bool = False,
    ) -> Decoder: ...
    def tokens(self, ids: _Ids) -> list[bytes]: ...
    def token_to_id(self, token: _Text) -> int | None: ...
    def unreachable(self) -> list[int]: ...
    def __len__(self) -> int: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def special_tokens(self) -> dict[str, int]: ...
    def _encode_batch(
        self,
        texts: Sequence[_Text | Sequence[_Text | SpecialToken]],
        special: _OnSpecial | None = None,
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> list[list[int]]: ...
    def _encode_batch_numpy(
        self,
        texts: Sequence[_Text | Sequence[_Text | SpecialToken]],
        special: _OnSpecial | None = None,
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
    def _encode_documents(
        self,
        texts: Sequence[_Text],
        unfinished: Sequence[int],
        special: _OnSpecial | None = None,
        threads: int | None = None,
    ) -> EncodedDocuments: ...
    def _encode_batch_arrow(
        self,
        texts: Sequence[_Text | Sequence[_Text | SpecialToken]],
        special: _OnSpecial | None = None,
        threads: int | None = None,
        dropout: float | None = None,
        seed: int | None = None,
    ) -> ArrowIds: ...
    @overload
    def _decode_batch(
        self,
        batch: Iterable[_Ids] | ArrowIds,
        offsets: _Ids | None,
        errors: Literal["replace", "strict"],
        threads: int | None,
        skip_special_tokens: bool,
    ) -> list[str]: ...
    @overload
    def _decode_batch(
        self,
        batch: Iterable[_Ids] | ArrowIds,
        offsets: _Ids | None,
        errors: None,
        threads: int | None,
        skip_special_tokens: bool,
    ) -> list[bytes]: ...
    def _stream(self, special: _OnSpecial | None, limit: int) -> Stream: ...
    def _encoded(
        self,
        texts: list[_Text],
        special: _OnSpecial | None = None,
        unit: str | None = None,
        threads: int | None = None,
        place: Callable[[int], str] | None = None,
    ) -> Encoded: ...
    def _count_batch(
        self,
        texts: Sequence[_Text | Sequence[_Text | SpecialToken]],
        special: _OnSpecial | None = None,
        threads: int | None = None,
    ) -> list[int]: ...
    def _count_batch_numpy(
        self,
        texts: Sequence[_Text | Sequence[_Text | SpecialToken]],
        special: _OnSpecial | None = None,
        threads: int | None = None,
    ) -> NDArray[np.uint64]: ...
    def _histogram_batch(
        self, texts: Sequence[_Text], special: _OnSpecial | None = None, threads: int | None = None
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...
    @property
    def _finds_in_all_text(self) -> bool: ...
    def _last_border(self, text: bytes, start: int) -> int: ...
    def _chunks(self, text: _Text, size: int, overlap: int) -> list[tuple[Any, int, int, int]]: ...
    @overload
    def _truncate(
        self, text: str, n: int, left: bool, special: _OnSpecial | None = None
    ) -> str: ...
    @overload
    def _truncate(
        self, text: bytes, n: int, left: bool, special: _OnSpecial | None = None
    ) -> bytes: ...
    def _fits(self, text: _Text, n: int, special: _OnSpecial | None = None) -> bool: ...
    def _digest(self, compute: Callable[[], str]) -> str: ...
    @property
    def _model(self) -> Model: ...
    @property
    def _kernel(self) -> Literal["ranked", "layered", "events"]: ...
    @property
    def _extra(self) -> Any: ...

@final
class Encoded:
    def bounds(self) -> list[int]: ...
    def ids(self, start: int, stop: int) -> list[int]: ...
    def spans(self, start: int, stop: int) -> list[tuple[int, int]]: ...
    def pretokens(self, start: int, stop: int) -> list[int]: ...
    def texts_of(self, start: int, stop: int, id: int) -> list[bytes | None]:
        """The normalized texts of the tokens with an id; None for others."""
    def token_at(self, start: int, stop: int, position: int) -> int | None: ...
    def tokens_of_pretoken(self, start: int, stop: int, pretoken: int) -> tuple[int, int]: ...
    def numpy_ids(self) -> NDArray[np.uint32]: ...
    def numpy_spans(self) -> NDArray[np.int64]: ...

@final
class MergeOptions:
    """The options that `train`, `train_fair` and `train_picky` share.

    `base` is the 256 bytes in the order of their ids, or the characters in the order of theirs,
    after the 256 bytes if `with_bytes`; or a tokenizer whose tokens come first.
    """

    def __new__(
        cls,
        base: str | bytes | Core,
        *,
        with_bytes: bool,
        max_merges: int | None,
        min_frequency: int,
        max_token_length: int | None,
        whole_characters: bool,
        ties: str,
        runners_up: int = 0,
        forbid: Forbidden | None = None,
    ) -> MergeOptions: ...

def train_picky(
    counts: Counts | SortedCounts,
    options: MergeOptions,
    *,
    threshold: float,
    room: int | None,
    on_progress: Callable[[int, int], object] | None,
) -> tuple[
    list[bytes],
    list[int],
    list[tuple[int, int | None, int]],
    Literal["vocab_size", "max_merges", "min_frequency", "no_pairs"],
]: ...
def train(
    counts: Counts | SortedCounts,
    options: MergeOptions,
    *,
    memory: tuple[int, str | os.PathLike[str]] | None = None,
    journal: str | os.PathLike[str] | None = None,
    on_merge: Callable[[int, int, int, int, list[tuple[int, int, int]], int | None], object]
    | None = None,
    on_progress: Callable[[int], object] | None = None,
) -> tuple[
    list[bytes],
    list[tuple[int, int, int]],
    list[int],
    list[list[tuple[int, int, int]]],
    Literal["max_merges", "min_frequency", "no_pairs"],
]: ...
def train_by_likelihood(
    counts: Counts | SortedCounts,
    options: MergeOptions,
    *,
    on_merge: Callable[[int, int, int, int, list[tuple[int, int, int]], int | None], object]
    | None = None,
    on_progress: Callable[[int], object] | None = None,
) -> tuple[
    list[bytes],
    list[tuple[int, int, int]],
    list[int],
    Literal["max_merges", "min_frequency", "no_pairs"],
]: ...
def train_unigram(
    counts: Counts | SortedCounts,
    *,
    pieces: int,
    seeds: int,
    min_count: int,
    max_chars: int,
    shrinking: float,
    steps: int,
    alphabet: str | None,
    limit_alphabet: int | None,
    coverage: float,
    spaces: Literal["uncut", "first", "last"],
    symbols: Sequence[str],
    threads: int | None,
    memory: int | None,
    on_progress: Callable[[int, int], object] | None,
) -> tuple[list[tuple[bytes, float]], bool]: ...
def unigram_likelihood(
    counts: Counts | SortedCounts,
    pieces: Sequence[tuple[bytes, float]],
    *,
    unknown: float,
    spaces: Literal["uncut", "first", "last"],
    symbols: Sequence[str],
) -> tuple[float, int]: ...
def pattern_facts(pattern: str) -> tuple[bool, bool]:
    """Whether a pattern may match without a character, and whether it looks around.

    Looking at the next character is not looking around. Raises `PatternError`.
    """

def join_words(
    counts: Counts | SortedCounts,
    words: Core,
    word_counts: list[int],
    may_join: list[bool],
    *,
    max_merges: int,
    min_frequency: int,
    max_token_length: int | None,
    whole_characters: bool,
    ties: str,
    on_merge: Callable[[int, int, int, int, list[tuple[int, int, int]], int | None], object] | None,
    on_progress: Callable[[int], object] | None,
) -> tuple[
    list[bytes],
    list[tuple[int, int, int]],
    list[int],
    list[int],
    Literal["max_merges", "min_frequency", "no_pairs"],
]: ...
def train_fair(
    counts: Sequence[Counts | SortedCounts],
    dev: Sequence[Counts | SortedCounts] | None,
    options: MergeOptions,
    *,
    global_merges: int,
    ratios: Sequence[float] | None,
    window: tuple[int, float] | None,
    on_merge: Callable[[int, int, int, int, list[tuple[int, int, int]], int | None], object] | None,
    on_progress: Callable[[int], object] | None,
) -> tuple[
    list[bytes],
    list[tuple[int, int, int]],
    list[int],
    list[int | None],
    Literal["max_merges", "min_frequency", "no_pairs"],
]: ...
