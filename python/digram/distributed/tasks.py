"""The work of a worker as picklable values: count texts, encode texts.

A task gives the same result for the same texts on every worker, so it does not matter which of its
runs an engine uses. It uses one thread, since the engine runs a task per core.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from digram import _core
from digram.corpus import CorpusLike
from digram.errors import ConfigMismatchError
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex, resolve
from digram.training.counts import Counts, check_unit, count_pretokens, fingerprint
from digram.vocab.settings import Unit
from digram.vocab.special_tokens import OnSpecial

if TYPE_CHECKING:
    from digram.tokenizer.batch import FlatIds
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["CountTexts", "EncodeTexts"]


@dataclass(frozen=True, slots=True)
class CountTexts:
    """Count the pretokens of texts.

    >>> import pickle
    >>> task = pickle.loads(pickle.dumps(CountTexts.of("whitespace")))
    >>> dict(task(["low low", "lower"]).items())
    {b'low': 1, b' low': 1, b'lower': 1}

    `version` is the version of digram that created the task; a worker with another version raises
    `ConfigMismatchError`.
    """

    pretokenizer: Pretokenizer
    unit: Unit
    version: str = _core.__version__

    @classmethod
    def of(
        cls,
        pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None,
        unit: Unit = "byte",
    ) -> CountTexts:
        """The task for the usual options, which are checked here, and not on a worker."""
        return cls(resolve(pretokenizer), check_unit(unit))

    @property
    def configuration(self) -> str:
        """SHA-256, in hexadecimal, of everything but the texts that decides the result."""
        return _sha256(["count", self.version, fingerprint(self.pretokenizer, self.unit)])

    def __call__(self, source: CorpusLike) -> Counts:
        check_version(self.version)
        return count_pretokens(
            source,
            pretokenizer=self.pretokenizer,
            unit=self.unit,
            threads=1,
            progress=False,
        )


@dataclass(frozen=True, slots=True)
class EncodeTexts:
    """Encode texts with a tokenizer, which a worker unpickles once for all its tasks.

    >>> import digram, pyarrow
    >>> task = EncodeTexts.of(digram.train("a b", max_merges=0))
    >>> pyarrow.array(task.to_arrow(["a", "ab"])).to_pylist()
    [[97], [97, 98]]
    """

    packed: bytes
    digest: str
    special: OnSpecial
    version: str = _core.__version__

    @classmethod
    def of(cls, tok: Tokenizer, special: OnSpecial = "text") -> EncodeTexts:
        """The task for a tokenizer."""
        tok.encode_batch(
            [], special=special
        )  # raises here for wrong arguments, and not on a worker
        kept = special if isinstance(special, str) else frozenset(special)
        return cls(pickle.dumps(tok), tok.digest, kept)

    @property
    def configuration(self) -> str:
        """SHA-256, in hexadecimal, of everything but the texts that decides the result."""
        special = self.special if isinstance(self.special, str) else sorted(self.special)
        return _sha256(["encode", self.version, self.digest, special])

    def to_arrow(self, texts: Sequence[str | bytes]) -> _core.ArrowIds:
        """The ids of texts as Arrow lists."""
        return self._tokenizer().encode_batch(
            list(texts), special=self.special, threads=1, out="arrow"
        )

    def to_numpy(self, texts: Sequence[str | bytes]) -> FlatIds:
        """The ids of texts as NumPy arrays."""
        return self._tokenizer().encode_batch(
            list(texts), special=self.special, threads=1, out="numpy"
        )

    def _tokenizer(self) -> Tokenizer:
        check_version(self.version)
        return _unpacked(self.packed)


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> Tokenizer:
    tok: Tokenizer = pickle.loads(packed)
    return tok


def check_version(asked: str) -> None:
    """Raise an error for a task of another version of digram, whose ids and counts may differ."""
    if asked != _core.__version__:
        raise ConfigMismatchError(
            f"this worker has digram {_core.__version__}, and the task needs digram {asked}.",
            value=asked,
            hint=f"Install the same version on every worker: `pip install digram=={asked}`.",
        )


def _sha256(parts: list[object]) -> str:
    import hashlib

    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
