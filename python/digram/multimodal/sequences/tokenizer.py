"""A tokenizer of sequences of numbers: the shortest way to say them with what was learned."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from digram._util.storage import LARGEST, advise_on_full_disk, atomic_write, read_file
from digram._util.validation import path_name
from digram.adapt import shrink
from digram.errors import (
    CorruptFileError,
    DigramError,
    LimitExceededError,
    TokenIdError,
    several,
)
from digram.formats import huggingface
from digram.formats._json import parse
from digram.multimodal.sequences.alphabet import Alphabet, as_arrays
from digram.tokenizer.batch import FlatIds
from digram.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from digram.multimodal.sequences.alphabet import Numbers

__all__ = ["SequenceTokenizer"]

_FORMAT = "digram sequences"


class SequenceTokenizer:
    """Turns sequences of numbers into ids and back. Made by `digram.train_ids`.

    >>> import digram
    >>> tok = digram.train_ids([[5, 9, 5, 9, 7], [5, 9, 7]], max_merges=2)
    >>> tok.encode_ids([5, 9, 7, 9])
    [4, 2]
    >>> tok.symbols([4, 2])
    [(5, 9, 7), (9,)]
    >>> tok.decode_ids([4, 2]).tolist()
    [5, 9, 7, 9]

    The base ids are the symbols in rising order, then come the merges. Immutable; equal ones do
    the same with every sequence. `tokenizer` is the tokenizer of text that it rests on, over the
    characters of `alphabet`: for the merge log, for `digram.formats`, and for other programs.
    """

    __slots__ = ("alphabet", "tokenizer")

    alphabet: Alphabet
    tokenizer: Tokenizer

    def __init__(self, tokenizer: Tokenizer, alphabet: Alphabet) -> None:
        """A tokenizer of text over the characters of an alphabet."""
        object.__setattr__(self, "tokenizer", tokenizer)
        object.__setattr__(self, "alphabet", alphabet)

    def __setattr__(self, name: str, _value: object) -> None:
        raise AttributeError(f"a tokenizer is immutable, and {name} cannot be set")

    @property
    def vocab_size(self) -> int:
        """One more than the highest id."""
        return self.tokenizer.vocab_size

    @property
    def merges(self) -> list[tuple[int, int, int]]:
        """Left id, right id and the id they make, in the order in which they were learned."""
        return self.tokenizer._model.merges()

    def encode_ids(self, sequence: Numbers) -> list[int]:
        """The ids of a sequence: a list, or any array of integers of one dimension.

        Linear in its length. Raises `InvalidTextError`, with the place, for a number that is none
        of the symbols, and `TypeError` for what is not a sequence of integers.
        """
        return self.tokenizer.encode(self.alphabet.text(sequence))

    def encode_batch(self, sequences: Iterable[Numbers], *, threads: int | None = None) -> FlatIds:
        """The ids of several sequences in one array, and where each begins.

        >>> import digram, numpy as np
        >>> tok = digram.train_ids([[1, 2, 1, 2]], max_merges=1)
        >>> ids, offsets = tok.encode_batch(np.array([[1, 2], [2, 2]]))
        >>> ids.tolist(), offsets.tolist()
        ([2, 1, 1], [0, 1, 3])
        """
        texts = [
            self.alphabet.text(one, f"sequences[{number}]")
            for number, one in enumerate(as_arrays(sequences))
        ]
        return self.tokenizer.encode_batch(texts, threads=threads, out="numpy")

    def decode_ids(
        self, ids: Sequence[int] | NDArray[Any], *, skip_special_tokens: bool = False
    ) -> NDArray[np.uint32]:
        """The sequence that ids stand for.

        >>> import digram
        >>> tok = digram.train_ids([[5, 9, 5, 9]], max_merges=1, special_tokens=["<end>"])
        >>> tok.decode_ids([2, 0, 3], skip_special_tokens=True).tolist()
        [5, 9, 5]

        Special tokens stand for no symbol: `skip_special_tokens` leaves them out. Raises
        `TokenIdError`, with the place, for one of them otherwise, and for an id that is none.
        Linear in the ids.
        """
        if self.tokenizer.special_tokens:
            ids = self._without_special(ids, skip_special_tokens)
        return self.alphabet.sequence(self.tokenizer.decode(ids))

    def _without_special(
        self, ids: Sequence[int] | NDArray[Any], skip_special_tokens: bool
    ) -> NDArray[np.uint32]:
        import numpy as np

        self.tokenizer.decode_bytes(ids)  # raises TokenIdError with the index in `ids`
        names = {id: name for name, id in self.tokenizer.special_tokens.items()}
        plain = np.asarray(ids, np.uint32)
        special = np.isin(plain, [*names])
        if special.any() and not skip_special_tokens:
            at = int(special.argmax())
            id = int(plain[at])
            raise TokenIdError(
                f"ids[{at}] = {id} is the special token {names[id]!r}, which stands for no symbol.",
                index=at,
                value=id,
                hint="Pass skip_special_tokens=True to leave special tokens out.",
            )
        return plain[~special]

    def symbols(self, ids: Sequence[int] | NDArray[Any]) -> list[tuple[int, ...]]:
        """The symbols that each of some ids stands for: `()` for a special token.

        Raises `TokenIdError` for an id that is none.
        """
        special = {*self.tokenizer.special_tokens.values()}
        return [
            () if id in special else tuple(self.alphabet.sequence(token.decode()).tolist())
            for id, token in zip(ids, self.tokenizer.tokens(ids), strict=True)
        ]

    def count_ids(self, sequence: Numbers) -> int:
        """How many ids a sequence has, without making them."""
        return self.tokenizer.count(self.alphabet.text(sequence))

    def shrink(self, vocab_size: int) -> SequenceTokenizer:
        """What training to a smaller size would have given; see `digram.shrink`."""
        return SequenceTokenizer(shrink(self.tokenizer, vocab_size), self.alphabet)

    @property
    def digest(self) -> str:
        """A digest of the symbols and the merges."""
        import hashlib

        identity = [self.tokenizer.digest, self.alphabet.size or self.alphabet.numbers.tolist()]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()

    def save(self, path: str | PathLike[str]) -> None:
        """Write it as one JSON file, so that a crash leaves the old file or the new one.

        Under the key `tokenizer` is a `tokenizer.json` as Hugging Face's `tokenizers` reads it,
        over characters; `symbols` says which number each of them is.
        """
        symbols = self.alphabet.size or self.alphabet.numbers.tolist()
        top = {
            "format": _FORMAT,
            "version": 1,
            "symbols": symbols,
            "digest": self.digest,
            # What is lost is that characters of no symbol are refused: `symbols` says it.
            "tokenizer": json.loads(huggingface.dumps(self.tokenizer.definition, allow_loss=True)),
        }
        with advise_on_full_disk():
            atomic_write(path, json.dumps(top, ensure_ascii=False, indent=1).encode(), LARGEST)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SequenceTokenizer:
        """Read what `save` wrote; `CorruptFileError` for what it did not write.

        >>> import digram, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "actions.json"
        >>> tok = digram.train_ids([[3, 1, 3, 1]], max_merges=1)
        >>> tok.save(path)
        >>> digram.SequenceTokenizer.load(path) == tok
        True
        """
        name = path_name(path)
        try:
            top = parse(read_file(path), name)
        except LimitExceededError as error:  # nested without end, which `save` does not write
            raise CorruptFileError(error.message, path=name, hint=error.hint) from None
        if not isinstance(top, dict) or top.get("format") != _FORMAT:
            raise CorruptFileError(
                "this is not a file of a sequence tokenizer.",
                path=name,
                hint="digram.load reads tokenizers of text.",
            )
        if top.get("version") != 1:
            raise CorruptFileError(
                f"version {top.get('version')!r} of this format is not known.",
                path=name,
                hint="Read it with a newer digram.",
            )
        try:
            alphabet = Alphabet.of(top["symbols"])
            text = json.dumps(top["tokenizer"], ensure_ascii=False).encode()
            found = cls(Tokenizer(huggingface.loads(text, name)), alphabet)
        except CorruptFileError:  # which names the path
            raise
        except DigramError as error:
            what = f"something is wrong: {error.message}"
            raise CorruptFileError(what, path=name, hint=error.hint) from None
        except (KeyError, TypeError) as error:
            raise CorruptFileError(f"something is missing or wrong: {error}", path=name) from None
        if found.digest != top.get("digest"):
            raise CorruptFileError(
                "what the file holds does not fit its digest, so it was changed after it was "
                "saved.",
                path=name,
            )
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SequenceTokenizer):
            return NotImplemented
        return (self.tokenizer, self.alphabet) == (other.tokenizer, other.alphabet)

    def __hash__(self) -> int:
        return hash((self.tokenizer, self.alphabet))

    def __reduce__(self) -> tuple[Any, ...]:
        return SequenceTokenizer, (self.tokenizer, self.alphabet)

    def __repr__(self) -> str:
        size = several(self.vocab_size, "id")
        return f"<digram.SequenceTokenizer: {size} over {several(len(self.alphabet), 'symbol')}>"
