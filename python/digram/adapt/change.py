"""Changes of a vocabulary: which ids stay, and how to fill the new rows of a model."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from digram._util.validation import any_number, instance
from digram.analysis.metrics import compare
from digram.errors import (
    ConfigMismatchError,
    DigramError,
    OptionError,
    TokenIdError,
    several,
    show,
)
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.reserved_ids import PADDING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from digram.analysis.metrics import Comparison
    from digram.corpus import CorpusLike

__all__ = ["Change", "EmbeddingPlan"]


@dataclass(frozen=True, eq=False, slots=True)
class EmbeddingPlan:
    """The rows of a new embedding matrix, as weighted sums of rows of the old one.

    >>> import digram, numpy as np
    >>> tok = digram.train("low low", max_merges=1, pretokenizer=None)
    >>> tok, change = digram.extend(tok, "low low low", add=1)
    >>> change.added, tok.tokens(change.added)
    ([257], [b'low'])
    >>> plan = change.embedding_plan()
    >>> plan.row(257)  # the mean of `lo` and `w`
    [(256, 0.5), (119, 0.5)]
    >>> old = np.arange(257 * 2).reshape(257, 2) / 1.0
    >>> plan.apply(old)[257].tolist()
    [375.0, 376.0]

    The rows are compressed: new id n is a sum over `ids[starts[n]:starts[n + 1]]`, each with its
    weight; the weights of a row sum to 1. A row without a source, such as that of an unused id, is
    empty.
    """

    old_size: int
    starts: NDArray[np.int64]
    ids: NDArray[np.int64]
    weights: NDArray[np.float64]

    @property
    def new_size(self) -> int:
        """The number of rows of the new matrix: the highest new id plus 1."""
        return len(self.starts) - 1

    def row(self, id: int) -> list[tuple[int, float]]:
        """Return the old ids of which a new id is the weighted sum, with their weights.

        The list is empty for an id without a source. Raises `TokenIdError` for an id that is not in
        the new vocabulary.
        """
        if not 0 <= any_number("id", id) < self.new_size:
            raise TokenIdError(f"{show(id)} is not one of the {self.new_size:,} new ids.", value=id)
        part = slice(self.starts[id], self.starts[id + 1])
        return [*zip(self.ids[part].tolist(), self.weights[part].tolist(), strict=True)]

    def apply(self, embeddings: NDArray[Any], unknown: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return the new matrix, with a row for each new id, in the type of the old one.

        >>> import digram, numpy as np
        >>> _, change = digram.extend(digram.train("low low", max_merges=1), "low low", add=1)
        >>> old = np.zeros((257, 4), np.float32)
        >>> new = change.embedding_plan().apply(old)
        >>> new.shape, new.dtype.name
        ((258, 4), 'float32')

        `embeddings` has a row for each old id; further rows, with which models pad their matrices,
        are left out. Rows without a source become `unknown`, by default the mean of all old rows.
        Sums use 64-bit floats; rows that stay are copied unchanged. Raises `OptionError` for a
        matrix with too few rows or a row `unknown` of another width, and `TypeError` for values
        that are not numbers. Takes time and memory linear in the new matrix.
        """
        import numpy as np

        embeddings = _matrix("embeddings", embeddings)
        unknown = None if unknown is None else _matrix("unknown", unknown)
        if embeddings.ndim != 2 or len(embeddings) < self.old_size:
            raise OptionError(
                f"embeddings has the shape {embeddings.shape}, and there are {self.old_size} old "
                "ids.",
                hint="Pass a matrix with a row for each old id.",
            )
        old = embeddings[: self.old_size]
        if unknown is not None and np.shape(unknown) != old.shape[1:]:
            raise OptionError(
                f"unknown has the shape {np.shape(unknown)}, and a row has {old.shape[1:]}.",
                hint="Pass one row.",
            )
        lengths = np.diff(self.starts)
        new = np.empty((self.new_size, old.shape[1]), old.dtype)
        alone = np.flatnonzero(lengths == 1)
        new[alone] = old[self.ids[self.starts[alone]]]
        new[lengths == 0] = old.mean(axis=0, dtype=np.float64) if unknown is None else unknown
        for id in np.flatnonzero(lengths > 1).tolist():
            part = slice(self.starts[id], self.starts[id + 1])
            new[id] = self.weights[part] @ old[self.ids[part]].astype(np.float64)
        return new

    def matrix(self) -> Any:
        """Return the plan as a `scipy.sparse.csr_matrix` of new by old ids.

        The new matrix is `plan.matrix() @ old`. Rows without a source are 0. Raises `ImportError`
        if SciPy is not installed.
        """
        from scipy.sparse import csr_matrix

        shape = (self.new_size, self.old_size)
        return csr_matrix((self.weights, self.ids, self.starts), shape=shape)


@dataclass(frozen=True, eq=False)
class Change:
    """A change from one tokenizer to another, with the map of ids; returned by `extend` and others.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=1)
    >>> tok, change = digram.extend(tok, "low low slow", add=1)
    >>> print(change)
    257 ids became 258, 1 token added, 0 removed
    >>> change.id_map[255:].tolist(), change.added, tok.tokens(change.added)
    ([255, 256], [257], [b'low'])

    `before` and `after` are the tokenizers. `id_map` is an int64 array: `id_map[id]` is the new id
    of the token that had `id` before, or -1 if it was removed. `print` shows a summary.
    """

    before: Tokenizer
    after: Tokenizer
    id_map: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, before: Tokenizer, after: Tokenizer) -> Change:
        """Return the change between any two tokenizers, which identifies tokens by their bytes.

        >>> import digram
        >>> tok = digram.train("low low lower", max_merges=3)
        >>> digram.Change.of(tok, digram.shrink(tok, 257)).removed
        [257, 258]

        Special tokens correspond to special tokens with the same text. Takes time linear in the
        size of both vocabularies.
        """
        import numpy as np

        instance("before", before, Tokenizer)
        instance("after", after, Tokenizer)

        old, new = _spelled(before), _spelled(after)
        ids = {token: id for id, token in reversed([*enumerate(new)]) if token is not None}
        same = [
            -1 if token is None else id if new[id : id + 1] == [token] else ids.get(token, -1)
            for id, token in enumerate(old)
        ]
        return cls(before, after, np.array(same, np.int64))

    def then(self, next: Change) -> Change:
        """Return the change from `before` to the `after` of the next change.

        >>> import digram
        >>> tok, first = digram.extend(digram.train("low low", max_merges=1), "low low", add=1)
        >>> tok, second = digram.extend(tok, "low low", add=1)
        >>> print(first.then(second))
        257 ids became 259, 2 tokens added, 0 removed

        A token that was removed and added again is a new token. Raises `ConfigMismatchError` if the
        next change does not start with the tokenizer with which this one ends. Takes time linear in
        the ids.
        """
        import numpy as np

        instance("next", next, Change)
        if next.before != self.after:
            raise ConfigMismatchError(
                f"the first change ends with {self.after!r}, and the next begins with "
                f"{next.before!r}.",
                hint="Pass changes in the order in which they were made.",
            )
        stays = self.id_map >= 0
        map = np.full_like(self.id_map, -1)
        map[stays] = next.id_map[self.id_map[stays]]
        return Change(self.before, next.after, map)

    def inverse(self) -> Change:
        """Return the reverse change, in which added tokens are removed, and removed tokens are new.

        >>> import digram
        >>> _, change = digram.extend(digram.train("low low", max_merges=1), "low low", add=1)
        >>> print(change.inverse())
        258 ids became 257, 0 tokens added, 1 removed

        If two old ids became the same new id, it becomes the lower of them. Takes time linear in
        the ids.
        """
        import numpy as np

        map = np.full(self.after.vocab_size, -1, np.int64)
        stays = np.flatnonzero(self.id_map >= 0)[::-1]  # the last assignment to an index is kept
        map[self.id_map[stays]] = stays
        return Change(self.after, self.before, map)

    @cached_property
    def added(self) -> list[int]:
        """The ids of `after` whose tokens are new, in ascending order."""
        stayed = set(self.id_map.tolist())
        return [id for id, token in enumerate(_spelled(self.after)) if token and id not in stayed]

    @cached_property
    def removed(self) -> list[int]:
        """The ids of `before` whose tokens were removed, in ascending order."""
        map, old = self.id_map.tolist(), _spelled(self.before)
        return [id for id, token in enumerate(old) if token and map[id] < 0]

    def embedding_plan(self) -> EmbeddingPlan:
        """Return the plan for the initial rows of a model's new embedding and output matrices.

        >>> import digram
        >>> _, change = digram.extend(digram.train("low low", max_merges=1), "low low", add=1)
        >>> change.embedding_plan().row(257)  # the mean of `lo` and `w`
        [(256, 0.5), (119, 0.5)]

        A token that stays keeps its row. A new token starts as the mean of the rows of the tokens
        that its bytes were encoded to before [1]. New special tokens, and tokens that the old
        tokenizer could not encode, have no row. Takes some µs per new token.

        1. Gee et al. 2022, "Fast Vocabulary Transfer for Language Model Compression".
        """
        import numpy as np

        stays = np.flatnonzero(self.id_map >= 0)
        rows: dict[int, list[int]] = dict(
            zip(self.id_map[stays].tolist(), ([id] for id in stays.tolist()), strict=True)
        )
        special = set(self.after.special_tokens.values())
        new = [id for id in self.added if id not in special]
        missing = self.before._unknown_id
        for id, token in zip(new, self.after.tokens(new), strict=True):
            try:
                parts = self.before.encode(token)
            except DigramError:  # a character without a token
                continue
            if missing is None or missing not in parts:
                rows[id] = parts
        known = [rows.get(id, []) for id in range(self.after.vocab_size)]
        lengths = np.array([*map(len, known)], np.int64)
        ids = np.array([id for row in known for id in row], np.int64)
        weights = np.repeat(1 / np.maximum(lengths, 1), lengths)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return EmbeddingPlan(self.before.vocab_size, starts, ids, weights)

    def save(self, path: str | PathLike[str]) -> None:
        """Save `id_map` and the plan's `starts`, `ids` and `weights` as a NumPy `.npz` file.

        >>> import digram, numpy as np, pathlib, tempfile
        >>> _, change = digram.extend(digram.train("low low", max_merges=1), "low", add=1)
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "change.npz"
        >>> change.save(path)
        >>> with np.load(path) as arrays:
        ...     arrays["id_map"].shape
        (257,)

        The file is replaced atomically. Raises `OSError` if it cannot be written.
        """
        import io

        import numpy as np

        from digram._util.storage import advise_on_full_disk, atomic_write

        plan, file = self.embedding_plan(), io.BytesIO()
        np.savez(
            file,
            id_map=self.id_map,
            starts=plan.starts,
            ids=plan.ids,
            weights=plan.weights,
        )
        with advise_on_full_disk():
            atomic_write(path, file.getvalue())

    def compare(self, corpus: CorpusLike | Mapping[str, CorpusLike], **options: Any) -> Comparison:
        """Compare both tokenizers on a corpus; see `digram.compare`.

        >>> import digram
        >>> _, change = digram.extend(digram.train("low low", max_merges=1), "low low", add=1)
        >>> change.compare("low lower").total
        Both(bytes=9, this=7, other=5, same=3)

        The result is `digram.compare(change.before, change.after, corpus, **options)`.
        """
        return compare(self.before, self.after, corpus, **options)

    def __str__(self) -> str:
        parts = [
            f"{several(self.before.vocab_size, 'id')} became {self.after.vocab_size:,}",
            f"{several(len(self.added), 'token')} added",
            f"{len(self.removed):,} removed",
        ]
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"<digram.Change: {self}>"


def _matrix(name: str, values: Any) -> NDArray[Any]:
    """Numbers as an array; `TypeError` for other values."""
    import numpy as np

    try:
        found = np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise TypeError(f"{name} is not a matrix of numbers: {error}") from None
    if found.dtype.kind not in "biufc" and found.dtype.kind != "V":  # bfloat16 is of kind V
        raise TypeError(f"{name} contains {found.dtype}, which are not numbers")
    return found


def _spelled(tok: Tokenizer) -> list[tuple[str, bytes] | None]:
    """The kind and the bytes of each id; None for an unused id and for padding."""
    tokens: list[tuple[str, bytes] | None] = [
        None if token is None else ("text", token) for token in tok._model.tokens()
    ]
    tokens += [None] * (tok.vocab_size - len(tokens))
    for byte, id in enumerate(tok._settings.byte_ids or ()):
        tokens[id] = ("byte", bytes([byte]))  # a character may have the same bytes
    for text, id in tok.special_tokens.items():
        tokens[id] = ("special", text.encode())
    for id in tok.reserved.get(PADDING, ()):
        tokens[id] = None
    return tokens
