"""A tokenizer of sequences of numbers, such as codes or actions."""

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
    """Encodes sequences of numbers as ids, and decodes them; made by `digram.train_ids`.

    >>> import digram
    >>> tok = digram.train_ids([[5, 9, 5, 9, 7], [5, 9, 7]], max_merges=2)
    >>> tok.encode_ids([5, 9, 7, 9])
    [4, 2]
    >>> tok.symbols([4, 2])
    [(5, 9, 7), (9,)]
    >>> tok.decode_ids([4, 2]).tolist()
    [5, 9, 7, 9]

    The base ids are the symbols in ascending order, followed by the merges. Immutable; equal
    tokenizers encode every sequence alike. `tokenizer` is the tokenizer of text that it is based
    on, over the characters of `alphabet`: use it for the merge log, for `digram.formats`, and for
    other programs.
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
        """The highest id plus 1."""
        return self.tokenizer.vocab_size

    @property
    def merges(self) -> list[tuple[int, int, int]]:
        """The merges in the order of rank: left id, right id and merged id."""
        return self.tokenizer._model.merges()

    def encode_ids(self, sequence: Numbers) -> list[int]:
        """Encode a sequence to a list of ids.

        >>> import digram
        >>> tok = digram.train_ids([[5, 9, 5, 9]], max_merges=1)
        >>> tok.encode_ids([9, 5, 9])
        [1, 2]

        `sequence` is a list, or a one-dimensional array of integers. Raises `InvalidTextError`,
        with the index, for a number that is not a symbol, and `TypeError` if it is not a sequence
        of integers. Takes linear time.
        """
        return self.tokenizer.encode(self.alphabet.text(sequence))

    def encode_batch(self, sequences: Iterable[Numbers], *, threads: int | None = None) -> FlatIds:
        """Encode several sequences: their ids in one array, and the offset of each.

        >>> import digram, numpy as np
        >>> tok = digram.train_ids([[1, 2, 1, 2]], max_merges=1)
        >>> ids, offsets = tok.encode_batch(np.array([[1, 2], [2, 2]]))
        >>> ids.tolist(), offsets.tolist()
        ([2, 1, 1], [0, 1, 3])

        Runs on `threads` threads (all cores by default). Raises the errors of `encode_ids`, with
        the index of the sequence. Takes linear time.
        """
        texts = [
            self.alphabet.text(one, f"sequences[{number}]")
            for number, one in enumerate(as_arrays(sequences))
        ]
        return self.tokenizer.encode_batch(texts, threads=threads, out="numpy")

    def decode_ids(
        self, ids: Sequence[int] | NDArray[Any], *, skip_special_tokens: bool = False
    ) -> NDArray[np.uint32]:
        """Decode ids to a sequence, a uint32 array.

        >>> import digram
        >>> tok = digram.train_ids([[5, 9, 5, 9]], max_merges=1, special_tokens=["<end>"])
        >>> tok.decode_ids([2, 0, 3], skip_special_tokens=True).tolist()
        [5, 9, 5]

        Special tokens have no symbol: `skip_special_tokens` leaves them out. Raises `TokenIdError`,
        with the index, for a special token otherwise, and for an invalid id. Takes linear time.
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
            index = int(special.argmax())
            id = int(plain[index])
            raise TokenIdError(
                f"ids[{index}] = {id} is the special token {names[id]!r}, which has no symbol.",
                index=index,
                value=id,
                hint="Pass skip_special_tokens=True to leave special tokens out.",
            )
        return plain[~special]

    def symbols(self, ids: Sequence[int] | NDArray[Any]) -> list[tuple[int, ...]]:
        """Return the symbols of each id as a tuple; `()` for a special token.

        >>> import digram
        >>> digram.train_ids([[5, 9, 5, 9]], max_merges=1).symbols([2, 0])
        [(5, 9), (5,)]

        Raises `TokenIdError` for an invalid id, with its index. Takes time linear in the symbols.
        """
        special = {*self.tokenizer.special_tokens.values()}
        return [
            () if id in special else tuple(self.alphabet.sequence(token.decode()).tolist())
            for id, token in zip(ids, self.tokenizer.tokens(ids), strict=True)
        ]

    def count_ids(self, sequence: Numbers) -> int:
        """Count the ids of a sequence, without creating them.

        >>> import digram
        >>> digram.train_ids([[5, 9, 5, 9]], max_merges=1).count_ids([9, 5, 9])
        2

        Raises the errors of `encode_ids`. Takes linear time.
        """
        return self.tokenizer.count(self.alphabet.text(sequence))

    def shrink(self, vocab_size: int) -> SequenceTokenizer:
        """Return the tokenizer that training to a smaller size gives; see `digram.shrink`.

        >>> import digram
        >>> digram.train_ids([[5, 9, 5, 9, 7]], max_merges=2).shrink(4).merges
        [(0, 2, 3)]
        """
        return SequenceTokenizer(shrink(self.tokenizer, vocab_size), self.alphabet)

    @property
    def digest(self) -> str:
        """A digest of the symbols and the merges."""
        import hashlib

        identity = [self.tokenizer.digest, self.alphabet.size or self.alphabet.numbers.tolist()]
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tokenizer as one JSON file, atomically: the file is always the old one or the
        new one.

        The key `tokenizer` contains a `tokenizer.json` for Hugging Face's `tokenizers`, over
        characters; `symbols` contains the number of each character.
        """
        symbols = self.alphabet.size or self.alphabet.numbers.tolist()
        top = {
            "format": _FORMAT,
            "version": 1,
            "symbols": symbols,
            "digest": self.digest,
            # The format cannot express that characters without a symbol are refused; `symbols`
            # implies it.
            "tokenizer": json.loads(huggingface.dumps(self.tokenizer.definition, allow_loss=True)),
        }
        with advise_on_full_disk():
            atomic_write(path, json.dumps(top, ensure_ascii=False, indent=1).encode(), LARGEST)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SequenceTokenizer:
        """Read a file written by `save`; `CorruptFileError` for any other file.

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
        except LimitExceededError as error:  # nested too deeply; `save` does not write such files
            raise CorruptFileError(error.message, path=name, hint=error.hint) from None
        if not isinstance(top, dict) or top.get("format") != _FORMAT:
            raise CorruptFileError(
                "this is not a file of a sequence tokenizer.",
                path=name,
                hint="Use digram.load for tokenizers of text.",
            )
        if top.get("version") != 1:
            raise CorruptFileError(
                f"version {top.get('version')!r} of this format is unknown.",
                path=name,
                hint="Read it with a newer digram.",
            )
        try:
            alphabet = Alphabet.of(top["symbols"])
            text = json.dumps(top["tokenizer"], ensure_ascii=False).encode()
            found = cls(Tokenizer(huggingface.loads(text, name)), alphabet)
        except CorruptFileError:  # its message names the path
            raise
        except DigramError as error:
            what = f"the content is invalid: {error.message}"
            raise CorruptFileError(what, path=name, hint=error.hint) from None
        except (KeyError, TypeError) as error:
            raise CorruptFileError(f"a key is missing or invalid: {error}", path=name) from None
        if found.digest != top.get("digest"):
            raise CorruptFileError(
                "the content of the file does not match its digest, so it was changed after it was "
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
