"""What a tokenizer learned, in the order in which it was learned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from digram._core import Core
from digram.vocab.bpe import picky

if TYPE_CHECKING:
    from digram.tokenizer.merge import Merge
    from digram.vocab.definition import Definition, TrainingRecord
    from digram.vocab.picky import Event
    from digram.vocab.settings import Settings, Unit

__all__ = ["MergeLogCore"]


class MergeLogCore(Core):
    """The methods of `digram.Tokenizer` for merges and other events of training."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def definition(self) -> Definition: ...
        @property
        def _settings(self) -> Settings: ...
        @property
        def unit(self) -> Unit: ...
        @property
        def training(self) -> TrainingRecord | None: ...

    @property
    def merges(self) -> list[tuple[bytes, bytes]]:
        """The pairs of tokens that are merged, as bytes, in the order of rank.

        >>> import digram
        >>> digram.train("banana", max_merges=2, pretokenizer=None).merges
        [(b'a', b'n'), (b'b', b'an')]

        Each access creates a new list, in time linear in the number of merges. `merge_log` also has
        ids and counts. For PickyBPE the list is empty; see `events`.
        """
        tokens, merges = self._model.tokens(), self._model.merges()
        return [(_known(tokens, left), _known(tokens, right)) for left, right, _ in merges]

    @property
    def merge_log(self) -> list[Merge]:
        """The merges in the order of rank, each with its token, its id and its count in training.

        >>> import digram
        >>> digram.train("banana", max_merges=1, pretokenizer=None).merge_log
        [Merge(rank=0, left=b'a', right=b'n', token=b'an', id=256, count=2)]

        With `train(runners_up=2)` each merge also has the next two pairs, with their counts:

        >>> tok = digram.train("banana", max_merges=1, pretokenizer=None, runners_up=2)
        >>> tok.merge_log[0].runners_up
        (RunnerUp(left=b'n', right=b'a', count=2), RunnerUp(left=b'b', right=b'a', count=1))

        Each access creates a new list, in time linear in the number of merges.
        """
        from digram.tokenizer.merge import Merge, RunnerUp

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
        """The merges and drops of PickyBPE (`train(picky=...)`), in chronological order.

        >>> import digram
        >>> tok = digram.train("the the hut she", max_merges=2, picky=0.6, pretokenizer="gpt2")
        >>> for event in tok.events:
        ...     print(event.kind, event.token, event.parts, event.count)
        merge b'he' (b'h', b'e') 3
        merge b'the' (b't', b'he') 2
        drop b'he' (b'h', b'e') 1
        >>> tok.tokens([256])
        [b'the']

        Empty for other tokenizers, which have `merges`. Takes about 2 µs per event.
        """
        scheme = picky(self._settings.kernel)
        if scheme is None:
            return []
        from digram.vocab.picky import replayed, single_symbols

        base = single_symbols(self._model.tokens(), self.unit, self._settings.byte_ids)
        return replayed(scheme, base, None if self.training is None else self.training.counts)

    def _made(self) -> set[int]:
        """The ids of the tokens that the model makes from other tokens."""
        definition = self.definition
        return definition.model.made(definition)


def _known(tokens: Sequence[bytes | None], id: int) -> bytes:
    token = tokens[id]
    assert token is not None, "the core checked that every part of a merge is a token"
    return token
