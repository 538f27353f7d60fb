r"""Which tokens text can become, exactly: each with a text as witness, or a proof that none exists.

The proofs use the locality of encodings (docs/algorithm.md, 3): each token of an encoding, and each
two adjacent ones together, encode to themselves. docs/audit.md gives them in full.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from digram.analysis.audit.completing import Completions, by_any, characters_of
from digram.analysis.audit.neighbours import Neighbours
from digram.analysis.audit.uncut import CHARACTERS, around, can_end, can_start, decides, is_cut
from digram.analysis.audit.utf8 import ends, is_whole
from digram.errors import InvalidTextError
from digram.vocab.bpe import picky, require_ranked

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Reach", "reach"]

_FEW = 4  # adjacent tokens of one kind to try
_FORMS = (
    300  # the maximum number of forms of a token, with what completes it, that are checked in full
)
_SOME = 32  # adjacent tokens to try first


@dataclass(frozen=True)
class Reach:
    """The ordinary tokens by what is encoded to them; tokens that text becomes are not listed."""

    unreachable: tuple[int, ...]
    """Neither text nor other bytes are encoded to them."""
    bytes_only: tuple[int, ...]
    """No text is encoded to them, but invalid UTF-8 is, such as the single byte 0xFF."""
    undecided: tuple[int, ...]
    """No text was found, and no proof that there is none."""
    witnesses: dict[int, bytes]
    """A text for each token that is reached, but not by its own bytes."""


def reach(tok: Tokenizer, threads: int | None = None) -> Reach:
    r"""Find a text for each token that is encoded to it, or a proof that there is none.

    >>> import digram
    >>> from dataclasses import replace
    >>> tok = digram.train("play: play: play:", max_merges=5, pretokenizer="whitespace")
    >>> gpt2 = digram.Pretokenizer("gpt2")
    >>> result = reach(digram.Tokenizer(replace(tok.definition, pretokenizer=gpt2)))
    >>> tok.tokens(result.unreachable)
    [b'play:', b' play:']
    >>> len(result.bytes_only), result.undecided
    (13, ())

    Special tokens are left out. Takes some 1 µs per token, and up to some ms for each that is not
    valid UTF-8.
    """
    return _Search(tok, threads).found()


class _Search:
    """The state of the search over the tokens of one tokenizer.

    Methods answer True, with a witness; False, with a proof; or None if they do not know.
    """

    def __init__(self, tok: Tokenizer, threads: int | None) -> None:
        self.tok = tok
        self.threads = threads
        self.split = tok.pretokenizer.splitter().split
        self.decides = decides(tok.pretokenizer)
        left_out = {*tok.special_tokens.values(), *(tok._settings.byte_ids or ())}
        tokens_by_id = enumerate(tok._model.tokens())
        self.tokens = {id: t for id, t in tokens_by_id if t is not None and id not in left_out}
        self.unmade = {*tok.unreachable()}
        self.witnesses: dict[int, bytes] = {}
        self.cut_pairs: dict[str, bool] = {}
        self.in_order = _in_order(tok._model.merges())

    def found(self) -> Reach:
        if not self.tok._settings.kernel.by_rank:
            return self._without_proofs()
        kinds: dict[str, list[int]] = {"never": [], "bytes": [], "open": []}
        stable = self._by_themselves()
        for id, token in self.tokens.items():
            if id in stable and is_whole(token):
                continue
            in_text = self._in_text(id)
            if in_text:
                continue
            in_bytes = id in stable or self._in_bytes(id)
            # The proofs rest on locality, which rests on the order of merges.
            is_proved = self.in_order or (in_bytes and not ends(token).is_possible)
            if in_text is None or in_bytes is None or not is_proved:
                kinds["open"].append(id)
            else:
                kinds["bytes" if in_bytes else "never"].append(id)
        kinds["never"] += self._fallback()
        return Reach(
            tuple(kinds["never"]), tuple(kinds["bytes"]), tuple(kinds["open"]), self.witnesses
        )

    def _without_proofs(self) -> Reach:
        """The result without proofs, for merges that are not applied by rank alone."""
        stable = self._by_themselves()
        # A token that is split again may remain in a word though not in its own bytes.
        unmade = self.unmade if picky(self.tok._settings.kernel) is None else set()
        undecided = [id for id in self.tokens if id not in stable and id not in unmade]
        return Reach(tuple(sorted(unmade)), (), tuple(undecided), {})

    def _by_themselves(self) -> set[int]:
        """The tokens that their own bytes are encoded to."""
        # In a vocabulary of characters, a token without merges may contain an unknown character.
        skip = self.unmade if self.tok.unit == "char" else ()
        ids = [id for id in self.tokens if id not in skip]
        texts = [self.tokens[id] for id in ids]
        encoded, offsets = self.tok._encode_batch_numpy(texts, None, self.threads)
        return {
            id
            for id, (start, stop) in zip(ids, pairwise(offsets.tolist()), strict=True)
            if stop - start == 1 and encoded[start] == id
        }

    def _in_text(self, id: int) -> bool | None:
        if id in self.unmade:
            return self._as_pretoken(id, keep=True)
        if is_whole(self.tokens[id]):
            return self._cut_in_text(id)
        return self._partial_in_text(id)

    def _as_pretoken(self, id: int, keep: bool) -> bool | None:
        """For a token that no merges make; with `ignore_merges` it may be a pretoken."""
        token = self.tokens[id]
        ignores_merges = require_ranked(self.tok._settings.kernel, "a proof").ignore_merges
        if not ignores_merges or (keep and not is_whole(token)):
            return False  # a pretoken of a text is whole characters
        if self._tried(id, [token], keep):
            return True
        return False if self.decides else self._tried(id, around(token), keep) or None

    def _partial_in_text(self, id: int) -> bool | None:
        """For a token that begins or ends inside a character."""
        token = self.tokens[id]
        if not ends(token).is_possible:
            return False
        if self._tried(id, self._completions.texts(token)) or self._tried(id, by_any(token)):
            return True
        if self._is_cut(ends(token).body):
            return self._never
        forms: list[bytes] = []

        def uncut() -> Iterator[bytes]:
            cut = 0
            for form, texts in self._ways(id):
                if self.decides and cut < _FORMS and self._is_cut(form):
                    cut += 1
                    continue
                forms.append(form)
                for text in texts:
                    yield from self._completions.texts(text)

        # All forms in one go: there are millions of some tokens, with a text or two each.
        if self._tried(id, uncut()):
            return True
        # Without a form, no adjacent tokens complete its characters, or it is split with all that
        # do.
        if not forms:
            return False
        return self._tried(id, self._all_around(forms[:_FORMS])) or None

    def _cut_in_text(self, id: int) -> bool | None:
        """For a token that is split when it is a text by itself."""
        token = self.tokens[id]
        if self._is_cut(token):
            return self._never
        if self._tried(id, around(token)):
            return True
        if not self.decides:
            return None

        # If the pretoken must continue, there must be a token that continues it.
        def uncut(text: bytes) -> bool:
            return not self._is_cut(text)

        if not can_end(self.split, token):
            after = [c for c in CHARACTERS if uncut(token + c.encode())]
            ids = self._neighbours.followers(id, _bytes(after))
            nexts = (self.tokens[next] for next in ids)
            candidates = (
                token + other
                for other in nexts
                if uncut(token + other[: len(other) - len(ends(other).tail)])
            )
        elif not can_start(self.split, token):
            before = [c for c in CHARACTERS if uncut(c.encode() + token)]
            ids = self._neighbours.leaders(id, _bytes(before))
            lasts = (self.tokens[last] for last in ids)
            candidates = (
                other + token for other in lasts if uncut(other[len(ends(other).head) :] + token)
            )
        else:
            return None
        first_candidates = [*itertools.islice(candidates, _SOME)]
        if self._tried(id, self._all_around(first_candidates)) or self._tried(
            id, self._all_around([*candidates])
        ):
            return True
        return None if first_candidates else False

    @property
    def _never(self) -> bool | None:
        """The answer for a token that is split in every context that was tried."""
        return False if self.decides else None

    def _is_cut(self, text: bytes) -> bool:
        """Whether every text that contains this one is split within it; see `_never`."""
        # A split between two characters remains in a longer context. There are few distinct pairs.
        for left, right in pairwise(text.decode() if is_whole(text) else ""):
            pair = left + right
            if pair not in self.cut_pairs:
                self.cut_pairs[pair] = is_cut(self.split, pair.encode())
            if self.cut_pairs[pair]:
                return True
        return is_cut(self.split, text)

    def _all_around(self, texts: Sequence[bytes]) -> Iterator[bytes]:
        yield from texts
        complete = (whole for text in texts for whole in self._completions.texts(text))
        yield from (context for whole in complete for context in around(whole))

    def _in_bytes(self, id: int) -> bool | None:
        token = self.tokens[id]
        if id in self.unmade:
            return self._as_pretoken(id, keep=False)
        if self.tok.unit == "char" or is_whole(token):
            return False  # the answer for texts decides
        if self._tried(id, around(token), keep=False):
            return True
        if self._is_cut(ends(token).body):
            return self._never
        return self._completed_in_bytes(id)

    def _completed_in_bytes(self, id: int) -> bool | None:
        token = self.tokens[id]
        token_ends = ends(token)
        befores = {b"": [b""], **self._neighbours.begun(id)}
        afters = {b"": [b""], **self._neighbours.rests(id, token_ends.tail)}
        if len(befores) * len(afters) > _FORMS:
            return None
        forms = [left + token + right for left in befores for right in afters]
        if self._tried(id, (text for form in forms for text in around(form)), keep=False):
            return True
        is_proved = self.decides and len(token_ends.head) <= 3 and all(map(self._is_cut, forms))
        return False if is_proved else None

    def _ways(self, id: int) -> Iterator[tuple[bytes, Iterator[bytes]]]:
        """A token with all ways to complete its characters, each with texts to try."""
        token = self.tokens[id]
        token_ends = ends(token)
        is_inside = len(token_ends.head) == len(token)
        befores = self._neighbours.begun(id) if token_ends.head else {b"": [b""]}
        followed: dict[bytes, dict[bytes, list[bytes]]] = {b"": {b"": [b""]}}
        for left, lefts in befores.items():
            tail = left + token if is_inside else token_ends.tail
            tail = b"" if is_whole(tail) else tail
            if tail not in followed:
                followed[tail] = self._neighbours.rests(id, tail)
            for right, rights in followed[tail].items():
                pairs = itertools.product(lefts[:_FEW], rights[:_FEW])
                yield left + token + right, (before + token + after for before, after in pairs)

    def _tried(self, id: int, texts: Iterable[bytes], keep: bool = True) -> bool:
        """Whether one of the texts is encoded to the token; the first that is becomes its witness.

        Without `keep` the texts may be any bytes.
        """
        rest = filter(is_whole, texts) if keep else iter(texts)
        while batch := [*itertools.islice(rest, 64)]:
            for text, ids in zip(batch, self._encoded(batch), strict=True):
                if id in ids:
                    if keep:
                        self.witnesses[id] = text
                    return True
        return False

    def _encoded(self, texts: Sequence[bytes]) -> Iterable[Sequence[int]]:
        if self.tok.unit == "byte":
            return self.tok._encode_batch(texts, None, 1)
        return map(self._encoded_if_known, texts)

    def _encoded_if_known(self, text: bytes) -> list[int]:
        try:
            return self.tok.encode(text)
        except InvalidTextError:  # a character without a token
            return []

    @cached_property
    def _completions(self) -> Completions:
        return Completions(self.tokens.values())

    @cached_property
    def _neighbours(self) -> Neighbours:
        tokens = {id: token for id, token in self.tokens.items() if id not in self.unmade}
        return Neighbours(self.tok, tokens)

    def _fallback(self) -> Iterator[int]:
        """The bytes that occur in no character with a token, of a vocabulary of characters."""
        ids = self.tok._settings.byte_ids
        if ids is None:
            return
        characters = set(self.tokens.values())
        for byte, id in enumerate(ids):
            texts = [bytes([byte])] if byte < 0x80 else characters_of(byte)
            text = next((text for text in texts if text not in characters), None)
            if text is None:
                yield id
            else:
                self.witnesses[id] = text


def _in_order(merges: Sequence[tuple[int, int, int]]) -> bool:
    """Whether each merge comes after every merge that makes one of its parts."""
    last = {token: rank for rank, (_, _, token) in enumerate(merges)}
    ranks = enumerate(merges)
    return all(
        max(last.get(left, -1), last.get(right, -1)) < rank for rank, (left, right, _) in ranks
    )


def _bytes(characters: Iterable[str]) -> set[int]:
    """The bytes, at that end of a token, of these characters and of those of the same classes."""
    ascii_bytes = {ord(c) for c in characters if c.isascii()}
    return (
        ascii_bytes
        if ascii_bytes == {*map(ord, characters)}
        else ascii_bytes | {*range(0x80, 0x100)}
    )
