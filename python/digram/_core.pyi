from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Literal, Self, SupportsIndex, final, overload

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from digram.special import Special

__all__ = [
    "ArrowIds",
    "Core",
    "Counter",
    "Counts",
    "Splitter",
    "Stream",
    "__version__",
    "merges_from_ranks",
    "train",
]

__version__: str

_Ids = Iterable[SupportsIndex]
_OnSpecial = Literal["text", "parse", "raise"] | Collection[str]
_Text = str | bytes

@final
class Splitter:
    def __new__(cls, patterns: Sequence[str], digits: str | None = None) -> Splitter: ...
    @overload
    def split(self, text: str) -> list[str]: ...
    @overload
    def split(self, text: bytes) -> list[bytes]: ...

@final
class Counter:
    def __new__(cls, splitter: Splitter) -> Counter: ...
    def add(self, batch: Sequence[_Text], threads: int | None = None) -> None: ...
    def finish(self) -> Counts: ...

@final
class Counts:
    def __len__(self) -> int: ...
    @property
    def documents(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def pretokens(self) -> int: ...
    def characters(self) -> str: ...

@final
class ArrowIds:
    """The ids of several texts as one Arrow array of lists (`large_list<uint32>`), immutable.

    Libraries take it by the PyCapsule protocol, without a copy: `pyarrow.array(ids)`,
    `polars.Series(ids)`; and as a table of one column `ids`: `pyarrow.table(ids)`.
    """

    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Stream:
    def push(self, chunk: _Text | None) -> list[int]: ...
    def push_numpy(self, chunk: _Text | None) -> NDArray[np.uint32]: ...

@disjoint_base
class Core:
    def __new__(
        cls,
        tokens: list[bytes | None],
        merges: list[tuple[int, int, int]],
        special_tokens: list[tuple[str, int]],
        splitter: Splitter,
        unit: str,
        on_unknown: int | list[int] | None,
        ignore_merges: bool,
        extra: Any,
    ) -> Self: ...
    def encode(
        self, text: _Text | Sequence[_Text | Special], *, special: _OnSpecial | None = "text"
    ) -> list[int]: ...
    def count(
        self, text: _Text | Sequence[_Text | Special], *, special: _OnSpecial | None = "text"
    ) -> int: ...
    def decode(self, ids: _Ids, *, errors: Literal["replace", "strict"] = "replace") -> str: ...
    def decode_bytes(self, ids: _Ids) -> bytes: ...
    def decode_batch(
        self,
        batch: Iterable[_Ids] | Any,
        *,
        errors: Literal["replace", "strict"] = "replace",
        threads: int | None = None,
    ) -> list[str]: ...
    def tokens(self, ids: _Ids) -> list[bytes]: ...
    def id_of(self, token: _Text) -> int | None: ...
    def unreachable(self) -> list[int]: ...
    def __len__(self) -> int: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def special_tokens(self) -> dict[str, int]: ...
    def _encode_batch(
        self, texts: Sequence[_Text], special: _OnSpecial | None = None, threads: int | None = None
    ) -> list[list[int]]: ...
    def _encode_batch_numpy(
        self, texts: Sequence[_Text], special: _OnSpecial | None = None, threads: int | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]: ...
    def _encode_batch_arrow(
        self, texts: Sequence[_Text], special: _OnSpecial | None = None, threads: int | None = None
    ) -> ArrowIds: ...
    def _stream(self, special: _OnSpecial | None, limit: int) -> Stream: ...
    def _digest(self, compute: Callable[[], str]) -> str: ...
    def _tokens(self) -> list[bytes | None]: ...
    def _merges(self) -> list[tuple[int, int, int]]: ...
    @property
    def _extra(self) -> Any: ...

def merges_from_ranks(
    tokens: list[bytes | None],
) -> tuple[list[tuple[int, int, int]], list[int]]: ...
def train(
    counts: Counts,
    base: str | bytes,
    *,
    with_bytes: bool,
    max_merges: int | None,
    min_frequency: int,
    max_token_length: int | None,
    ties: str,
    on_merge: Callable[[int, int, int, int], object] | None,
    on_progress: Callable[[int], object] | None,
) -> tuple[
    list[bytes],
    list[tuple[int, int, int]],
    list[int],
    Literal["max_merges", "min_frequency", "no_pairs"],
]: ...
