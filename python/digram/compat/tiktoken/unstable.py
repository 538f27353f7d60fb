"""Which tokens of a text may still change if more text follows it, and to what.

The results are those of tiktoken, whose rules for where a text is unstable are heuristic.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from digram.corpus import batches
from digram.errors import LimitExceededError
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.bpe import BpeKernel
from digram.vocab.packed import Compact
from digram.vocab.settings import Settings

__all__ = ["Completing"]

_SPACES = b" \n\t"
_MOST, _BATCH = 1 << 28, 4 << 20  # bytes of all texts that are encoded for one, and of some
_NO_SPACES = "\x1c\x1d\x1e\x1f"  # they are for `str.isspace`, but not for Unicode


class Completing:
    """The completions of texts for one tokenizer."""

    def __init__(self, tok: Tokenizer) -> None:
        self._tok = tok
        self._special = set(tok.special_tokens.values())

    @cached_property
    def tokens(self) -> list[bytes]:
        """All ordinary tokens, sorted."""
        return sorted(token for token in self._tok._model.tokens() if token is not None)

    @cached_property
    def _merging(self) -> Tokenizer:
        """The merges alone: without a pattern, and without looking for whole tokens first."""
        settings = Settings(pretokenizer=Pretokenizer(None), kernel=BpeKernel(ignore_merges=False))
        return Tokenizer._of(Compact(self._tok._model, {}, settings))

    def stable(self, ids: list[int]) -> tuple[list[int], bytes]:
        """The ids that stay, and the bytes of the others.

        These are the ids of the last pretoken, and those of white space before it. After a special
        token at the end nothing is unstable.
        """
        start = next((i + 1 for i in range(len(ids) - 1, -1, -1) if ids[i] in self._special), 0)
        tail = self._tok.decode_bytes(ids[start:])
        pretokens = self._tok.pretokenize(tail)
        if not pretokens:
            return ids, b""
        size, first, left = len(pretokens[-1]), len(ids), 0
        while left < size:
            first -= 1
            left += len(self._tok.id_to_token(ids[first]))
        if self._is_space(ids[first]):
            while first and self._is_space(ids[first - 1]):
                first -= 1
        return ids[:first], self._tok.decode_bytes(ids[first:])

    def completions(self, unstable: bytes) -> list[list[int]]:
        """The sequences of ids that the last bytes of a text can become, in order."""
        if not unstable:
            return []
        found: set[tuple[int, ...]] = {(self._id(token),) for token in self._starting(unstable)}
        found |= set(self._straddling(unstable))
        found |= set(self._split_last(unstable))
        return [list(ids) for ids in sorted(found)]

    def with_rest(self, ids: list[int], rest: bytes) -> list[int]:
        """The ids of a text whose valid part has these ids, with bytes that are not UTF-8."""
        kept, unstable = self.stable(ids)
        unstable += rest
        whole = self._tok.token_to_id(unstable)
        return kept + (self._merging.encode(unstable) if whole is None else [whole])

    def _straddling(self, unstable: bytes) -> Iterator[tuple[int, ...]]:
        """For each token that starts inside the bytes and may end behind them."""
        longest = max(map(len, self.tokens))
        starts = range(max(1, len(unstable) - longest), len(unstable))
        possible = [(at, token) for at in starts for token in self._starting(unstable[at:])]
        if len(possible) * len(unstable) > _MOST:
            raise LimitExceededError(
                f"the text ends in {len(unstable):,} bytes that may change, and {len(possible):,} "
                "tokens could continue them.",
                value=len(unstable),
                hint="Encode the text up to there, and the rest alone.",
            )
        for part in batches((unstable[:at] + token for at, token in possible), _BATCH):
            for ids in self._encoded(part):
                size, end = 0, 0
                while end < len(ids) and size < len(unstable):
                    size += self._sizes[ids[end]]
                    end += 1
                yield tuple(ids[:end])

    def _encoded(self, texts: Sequence[Any]) -> Iterator[list[int]]:
        """The ids of each text; what is not UTF-8 is merged without a pattern."""
        valid: list[str] = []
        broken: list[bytes] = []
        for text in texts:
            try:
                valid.append(text.decode())
            except UnicodeDecodeError:
                broken.append(text)
        yield from self._tok.encode_batch(valid)
        yield from self._merging.encode_batch(broken)

    def _split_last(self, unstable: bytes) -> Iterator[tuple[int, ...]]:
        r"""White space may be split before its last character when other text follows.

        For example, gpt2 splits "\n\n0" into "\n", "\n" and "0".
        """
        for size in range(1, min(5, len(unstable))):
            try:
                last = unstable[-size:].decode()
            except UnicodeDecodeError:
                continue
            if len(last) == 1 and last.isspace() and last not in _NO_SPACES:
                parts = self._merging.encode_batch([unstable[:-size], unstable[-size:]])
                yield (*parts[0], *parts[1])
            return

    def _starting(self, start: bytes) -> Iterator[bytes]:
        """The tokens that start with these bytes."""
        at = bisect_left(self.tokens, start)
        while at < len(self.tokens) and self.tokens[at].startswith(start):
            yield self.tokens[at]
            at += 1

    @cached_property
    def _sizes(self) -> list[int]:
        return [len(token or b"") for token in self._tok._model.tokens()]

    def _id(self, token: bytes) -> int:
        id = self._tok.token_to_id(token)
        assert id is not None, "it is one of the tokens"
        return id

    def _is_space(self, id: int) -> bool:
        return id not in self._special and not self._tok.id_to_token(id).strip(_SPACES)
