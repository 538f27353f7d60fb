"""`Encodings`: the encodings of several texts, and their arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, overload

from digram._util.validation import choice, flag
from digram.errors import OptionError, several, show
from digram.tokenizer.encoding.encoding import Call, Encoding
from digram.tokenizer.encoding.template_ids import Part
from digram.tokenizer.encoding.trimming import spans_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["COLUMNS", "Column", "Encodings"]

Column = Literal[
    "input_ids",
    "attention_mask",
    "token_type_ids",
    "special_tokens_mask",
    "offset_mapping",
    "overflow_to_sample_mapping",
]
COLUMNS: tuple[Column, ...] = (
    *("input_ids", "attention_mask", "token_type_ids", "special_tokens_mask"),
    *("offset_mapping", "overflow_to_sample_mapping"),
)

_PROPERTIES = {
    "input_ids": "ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "type_ids",
    "special_tokens_mask": "special_tokens_mask",
    "offset_mapping": "offsets",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Encodings(Mapping[str, list[Any]]):
    """The encodings of several texts, in order; made by `tok([a, b])`.

    >>> import digram
    >>> tok = digram.train("a b", max_merges=0, special_tokens=["<pad>"]).with_pad_token("<pad>")
    >>> batch = tok(["ab", "a"], padding="longest")
    >>> batch["input_ids"], batch["attention_mask"]
    ([[97, 98], [97, 256]], [[1, 1], [1, 0]])
    >>> len(batch.encodings), batch[1].tokens
    (2, [b'a', b'<pad>'])
    >>> batch.numpy()["attention_mask"].tolist()
    [[1, 1], [1, 0]]

    A mapping from the names of columns to lists, with one list per text, as models and
    `datasets.map` take it. Its keys are "input_ids", "attention_mask" and, if the template gives
    other type ids than 0, "token_type_ids"; the other columns of `numpy` can be looked up too.

    >>> dict(batch) == dict(**batch) and [*batch]
    ['input_ids', 'attention_mask']

    A number or a slice gives encodings of texts, and `encodings` has all of them. They are created
    when you access them; each is the result of `tok` for the text alone, padded to the width of the
    batch. Raises `KeyError` for an unknown column, and `IndexError`.
    """

    _call: Call

    def __len__(self) -> int:
        return len(self._names())

    @overload
    def __getitem__(self, key: int) -> Encoding: ...
    @overload
    def __getitem__(self, key: slice) -> list[Encoding]: ...
    @overload
    def __getitem__(self, key: str) -> list[Any]: ...
    def __getitem__(self, key: int | slice | str) -> Encoding | list[Encoding] | list[Any]:
        if isinstance(key, str):
            return self._lists(key)
        try:
            numbers = range(self._call.texts)[key]
        except TypeError:
            if isinstance(key, slice):
                raise
            raise TypeError(
                f"a key is the number of a text, a slice or the name of a column, not {show(key)}"
            ) from None
        if isinstance(numbers, range):
            return [self._at(number) for number in numbers]
        return self._at(numbers)

    def __contains__(self, key: object) -> bool:
        return key in COLUMNS

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    @property
    def encodings(self) -> list[Encoding]:
        """The encoding of each text."""
        return self[:]

    def _names(self) -> tuple[Column, ...]:
        """The names of the columns that a model takes."""
        has_types = any(part.type_id for part in self._call.parts)
        has_types = has_types or self._call.options.pad_type_id != 0
        return COLUMNS[: 3 if has_types else 2]

    def _lists(self, name: str) -> list[Any]:
        if name == "overflow_to_sample_mapping":
            return [*range(self._call.texts)]
        if name not in _PROPERTIES:
            raise KeyError(name)
        return [getattr(encoding, _PROPERTIES[name]) for encoding in self.encodings]

    def _repr_html_(self) -> str:
        from digram.tokenizer.html import encodings_page

        return encodings_page(self)

    def _at(self, index: int) -> Encoding:
        return Encoding(self._call, index, self._call.first(index), True)

    @property
    def ids(self) -> list[list[int]]:
        """The ids of each text, as a list of lists."""
        return [encoding.ids for encoding in self.encodings]

    def numpy(self, *columns: Column, overflowing: bool = False) -> dict[str, NDArray[np.int64]]:
        """Return the batch as arrays for models, with one row per text.

        >>> import digram
        >>> tok = digram.train("a b", max_merges=0)
        >>> arrays = tok(["abc", "a"], max_length=1).numpy(
        ...     "input_ids", "overflow_to_sample_mapping", overflowing=True
        ... )
        >>> arrays["input_ids"].tolist(), arrays["overflow_to_sample_mapping"].tolist()
        ([[97], [98], [99], [97]], [0, 0, 0, 1])

        The columns, all int64: "input_ids" and "attention_mask", which are the default;
        "token_type_ids" and "special_tokens_mask", of the same shape (rows, tokens);
        "offset_mapping" (rows, tokens, 2); "overflow_to_sample_mapping" (rows), the index of the
        text of each row. With `overflowing` the row of a text is followed by those of its
        `overflowing`.

        Raises `OptionError` for an unknown column, and if rows differ in length;
        `padding="longest"` makes them equal. Takes some ns per token, and some µs for each
        truncated text.
        """
        for column in columns:
            choice("the column", column, *COLUMNS)
        overflowing = flag("overflowing", overflowing)
        grid = _Grid(self._call, overflowing)
        return {column: grid.column(column) for column in columns or COLUMNS[:2]}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Encodings):
            return NotImplemented
        return self.encodings == other.encodings

    def __hash__(self) -> int:
        return hash(tuple(self.encodings))

    def __repr__(self) -> str:
        texts, tokens = several(self._call.texts, "text"), several(self._call.edges[-1], "token")
        return f"<digram.Encodings: {texts}, {tokens}>"


class _Grid:
    """A grid of tokens, with a mapping from its cells to the tokens of the texts.

    All rows are filled together, one part of the template after the other: `moves` has the cells of
    each part in the flat grid and, for parts that are texts, the indices of their tokens.
    """

    def __init__(self, call: Call, overflowing: bool) -> None:
        import numpy as np

        self.call = call
        self.samples, windows = _rows(call, overflowing)
        self.windows = windows
        starts, sizes = windows[..., 0], windows[..., 1] - windows[..., 0]
        lengths = sizes.sum(axis=1) + call.added
        width = max(call.width, int(lengths.max(initial=0)))
        shortest = max(call.width, int(lengths.min(initial=width)))
        if shortest < width:
            raise OptionError(
                f"the rows have {shortest} to {width} tokens, but the rows of an "
                "array must have the same length.",
                hint='Pass padding="longest" or padding="max_length" to tok(...).',
            )
        self.shape = len(lengths), width
        at = np.arange(len(lengths)) * width
        if call.options.padding_side == "left":
            at += width - lengths
        self.moves: list[tuple[Part, NDArray[np.int64], NDArray[np.int64] | None]] = []
        for part in call.parts:
            if part.sequence < 0:
                self.moves.append((part, at, None))
                at = at + 1
                continue
            size = sizes[:, part.sequence]
            flat = np.arange(size.sum())
            before = size.cumsum() - size
            places = np.repeat(at - before, size) + flat
            tokens = np.repeat(starts[:, part.sequence] - before, size) + flat
            self.moves.append((part, places, tokens))
            at = at + size

    def column(self, name: Column) -> NDArray[np.int64]:
        import numpy as np

        encoded, rows = self.call.encoded, self.shape[0] * self.shape[1]
        if name == "overflow_to_sample_mapping":
            return self.samples
        if name == "offset_mapping":
            spans = encoded.numpy_spans()
            pairs = np.zeros((rows, 2), dtype=np.int64)
            trims = self.call.trimming is not None
            for part, places, tokens in self.moves:
                if tokens is None:
                    continue
                pairs[places] = self._trimmed(part) if trims else spans[tokens]
            return pairs.reshape(*self.shape, 2)
        types = self.call.options.pad_type_id
        pads = {"input_ids": self.call.pad_id, "special_tokens_mask": 1, "token_type_ids": types}
        pad = pads.get(name, 0)
        filled = np.full(rows, pad, dtype=np.int64)
        ids = encoded.numpy_ids() if name == "input_ids" else None
        for part, places, tokens in self.moves:
            if ids is not None:
                filled[places] = part.id if tokens is None else ids[tokens]
            elif name == "token_type_ids":
                filled[places] = part.type_id
            elif name == "special_tokens_mask":
                filled[places] = tokens is None
            else:
                filled[places] = 1
        return filled.reshape(self.shape)

    def _trimmed(self, part: Part) -> NDArray[np.int64]:
        """The trimmed offsets of the tokens of all rows that are those of a text."""
        import numpy as np

        windows = map(tuple, self.windows[:, part.sequence].tolist())
        found = chain.from_iterable(spans_of(self.call, window) for window in windows)
        return np.array([*found], dtype=np.int64).reshape(-1, 2)


def _rows(call: Call, overflowing: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The index of the text of each row, and its windows: (rows, texts of a row, 2)."""
    import numpy as np

    n = call.texts
    edges = np.asarray(call.edges, dtype=np.int64)
    number = sum(part.sequence >= 0 for part in call.parts)
    ends = [edges[k * n : k * n + n + 1] for k in range(number)]
    whole = np.stack([np.stack([end[:-1], end[1:]], axis=1) for end in ends], axis=1)
    samples = np.arange(n)
    if call.room is None:
        return samples, whole
    long = np.flatnonzero((whole[..., 1] - whole[..., 0]).sum(axis=1) > call.room).tolist()
    if not overflowing:
        for index in long:
            whole[index] = call.first(index)
        return samples, whole
    pieces: list[NDArray[np.int64]] = []
    counts = np.ones(n, dtype=np.int64)
    done = 0
    for index in long:
        rows = [call.first(index), *call.others(index)]
        counts[index] = len(rows)
        pieces += [whole[done:index], np.array(rows, dtype=np.int64)]
        done = index + 1
    pieces.append(whole[done:])
    return np.repeat(samples, counts), np.concatenate(pieces)
