"""A replay of training on a text: merge by merge, with the effect of each on the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from digram._util.validation import any_number, instance, whole_number
from digram.analysis.explain.pieces import pieces
from digram.analysis.explain.playing import Pair, State, Word, word_of
from digram.analysis.explain.symbols import Rule, Symbols, merge_as_dict
from digram.errors import OptionError, several, show
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.bpe import require_ranked

if TYPE_CHECKING:
    from digram.tokenizer.merge import Merge
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.vocab.special_tokens import OnSpecial

__all__ = ["Frame", "PairCount", "Replay", "replay"]


@dataclass(frozen=True, slots=True)
class PairCount:
    """Two adjacent tokens, and the number of places where they occur in the text.

    `rank` is the rank of their merge; None if they are never merged.
    """

    left: bytes
    right: bytes
    count: int
    rank: int | None


@dataclass(frozen=True, slots=True)
class Frame:
    """A merge that applies to the text, and its effect.

    `merge` is the merge with its rank. If they are in the training record, it also has its count in
    the training corpus and the pairs that were next most frequent there (`runners_up`). `count` is
    the number of occurrences of the pair in this text. `times` is the number of occurrences that
    were merged, which is smaller than `count` if occurrences overlap. `pairs` are the most frequent
    pairs of the text before the merge. `joined` are the byte offsets in the text at which a token
    ended before the merge but not after it. `vocab_size` is the number of tokens including the new
    one, without special tokens. `skipped` is the number of merges since the previous frame that do
    not apply to the text.
    """

    number: int
    """The number of the frame, from 0."""
    merge: Merge
    count: int
    times: int
    pairs: list[PairCount]
    joined: list[int]
    vocab_size: int
    skipped: int

    @property
    def _merged(self) -> PairCount:
        """The merged pair, which may be rare in this text."""
        return PairCount(self.merge.left, self.merge.right, self.count, self.merge.rank)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON; bytes are hexadecimal."""
        merge = self.merge
        return {
            **merge_as_dict(merge),
            "training": {
                "count": merge.count,
                "runners_up": [
                    {"left": one.left.hex(), "right": one.right.hex(), "count": one.count}
                    for one in merge.runners_up
                ],
            },
            "count": self.count,
            "times": self.times,
            "pairs": [
                {
                    "left": one.left.hex(),
                    "right": one.right.hex(),
                    "count": one.count,
                    "rank": one.rank,
                }
                for one in self.pairs
            ],
            "joined": self.joined,
            "vocab_size": self.vocab_size,
            "skipped": self.skipped,
        }


@dataclass(frozen=True, eq=False)
class Replay:
    """The result of `digram.replay`; `print` shows it frame by frame.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=2, pretokenizer="gpt2")
    >>> found = digram.replay(tok, "slow")
    >>> [found.tokens(number) for number in (-1, 0, 1)]
    [[b's', b'l', b'o', b'w'], [b's', b'lo', b'w'], [b's', b'low']]

    `frames` are the merges that apply to the text, in the order of training. `merges` is the number
    of all merges. `base` is the number of tokens before the first merge, and `vocab_size` the
    number after the last, both without special tokens.
    """

    text: bytes
    base: int
    merges: int
    vocab_size: int
    pretokens: int
    """The number of pretokens of the text, special tokens included."""
    _words: list[Word] = field(repr=False)
    _symbols: Symbols = field(repr=False)
    _rules: list[Rule] = field(repr=False)
    """All merges by rank."""
    _sizes: list[int] = field(repr=False)
    """The size of the vocabulary after each merge, without special tokens."""
    _runners_up: Sequence[Sequence[tuple[int, int, int]]] = field(repr=False)
    _languages: Sequence[str | None] = field(repr=False)
    _pairs: int = field(repr=False)

    @cached_property
    def frames(self) -> list[Frame]:
        """The merges that apply to the text, in the order of training."""
        return list(self._frames())

    def tokens(self, number: int | None = None) -> list[bytes]:
        """The tokens of the text after the frame of this number.

        -1 gives the tokens before the first frame. None gives the tokens after the last one, which
        are those of `encode`.
        """
        rank = self.merges
        if number is not None:
            number = any_number("number", number)
            if number >= len(self.frames):
                raise OptionError(
                    f"number={show(number)} is not one of {several(len(self.frames), 'frame')}.",
                    value=number,
                )
            rank = self.frames[number].merge.rank if number >= 0 else -1
        parts: dict[int, list[bytes]] = {}
        for word in self._words:
            ids = word.ids_at(rank)
            tokens = [self._symbols.token(id if id >= 0 else ~id) for id in ids]
            parts |= dict.fromkeys(word.starts, tokens)
        return [token for start in sorted(parts) for token in parts[start]]

    def ends(self, number: int | None = None) -> list[int]:
        """The ends of the tokens of `tokens(number)` in the text, in bytes."""
        ends = {
            start + offset
            for word in self._words
            for offset in word.offsets
            for start in word.starts
        }
        last = len(self.frames) if number is None else number + 1
        ends.difference_update(*(frame.joined for frame in self.frames[:last]))
        return [*sorted(ends - {0}), len(self.text)]

    def __str__(self) -> str:
        from digram.analysis.explain.lines.replay import played

        return "\n".join(played(self))

    def __repr__(self) -> str:
        parts = [several(len(self.frames), "frame"), f"of {several(self.merges, 'merge')}"]
        return f"<digram.Replay: {several(len(self.text), 'byte')}, {' '.join(parts)}>"

    def _repr_html_(self) -> str:
        from digram.analysis.explain.pages import replayed

        return replayed(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON; bytes are hexadecimal.

        `borders` are the byte offsets inside the text at which a token ends, before any merge; each
        frame removes those in its `joined`.
        """
        return {
            "text": self.text.decode("utf-8", "replace"),
            "hex": self.text.hex(),
            "pretokens": sorted(start for word in self._words for start in word.starts),
            "borders": self.ends(-1)[:-1],
            "base": self.base,
            "merges": self.merges,
            "vocab_size": self.vocab_size,
            "frames": [frame.to_dict() for frame in self.frames],
        }

    def _frames(self) -> Iterator[Frame]:
        due: dict[int, list[State]] = {}
        counts = Counter[Pair]()
        for word in self._words:
            state = State(word, counts)
            for time in dict.fromkeys(word.times):
                due.setdefault(time, []).append(state)
        before = -1
        for number, rank in enumerate(sorted(due)):
            rule = self._rules[rank]
            pairs = [self._counted(*one) for one in counts.most_common(self._pairs)]
            count, times, joined = counts[rule.left, rule.right], 0, list[int]()
            for state in due[rank]:
                starts, offsets = state.word.starts, state.word.offsets
                for one in state.play(rank):
                    times += len(starts) * (one.rule.rank == rank)
                    joined += [start + offsets[one.right] for start in starts]
            skipped = rank - before - 1
            merge = self._merge(rank)
            size = self._sizes[rank]
            yield Frame(number, merge, count, times, pairs, sorted(joined), size, skipped)
            before = rank

    def _counted(self, pair: Pair, count: int) -> PairCount:
        rule = self._symbols.rules.get(pair)
        left, right = (self._symbols.token(id) for id in pair)
        return PairCount(left, right, count, None if rule is None else rule.rank)

    def _merge(self, rank: int) -> Merge:
        from digram.tokenizer.merge import Merge, RunnerUp

        token = self._symbols.token
        _, left, right, id, count = self._rules[rank]
        after = self._runners_up[rank] if rank < len(self._runners_up) else ()
        runners_up = tuple(RunnerUp(token(a), token(b), times) for a, b, times in after)
        language = self._languages[rank] if rank < len(self._languages) else None
        return Merge(rank, token(left), token(right), token(id), id, count, runners_up, language)


def replay(
    tok: Tokenizer,
    text: str | bytes,
    *,
    pairs: int = 8,
    special: OnSpecial = "text",
    symbols: Symbols | None = None,
) -> Replay:
    """Replay training on a text: merge by merge, with the effect of each.

    >>> import digram
    >>> text = "low low lower lowest"
    >>> tok = digram.train(text, max_merges=3, pretokenizer="gpt2", runners_up=1)
    >>> found = digram.replay(tok, text)
    >>> frame = found.frames[1]
    >>> frame.merge.token, frame.merge.count, frame.merge.runners_up
    (b'low', 4, (RunnerUp(left=b' ', right=b'lo', count=3),))
    >>> frame.count, frame.pairs[1], frame.vocab_size
    (4, PairCount(left=b' ', right=b'lo', count=3, rank=None), 258)
    >>> found.tokens(1)[:4], found.tokens() == tok.tokens(tok.encode(text))
    ([b'low', b' ', b'low', b' '], True)

    The frames are the merges that apply to the text, in the order in which they were learned. Each
    has the `pairs` most frequent pairs of this text before the merge. If they are in the training
    record, it also has the count of the merge in the training corpus and the pairs that were next
    most frequent there, which `train(runners_up=...)` records. The tokens after a frame are those
    of a tokenizer that has only the merges up to that frame, as `shrink` makes it. This also holds
    for vocabularies that digram did not train. Special tokens do not change, nor do pretokens that
    are encoded as one token without merges (`ignore_merges`).

    Raises the errors of `encode`. Meant for short texts: time grows with the number of frames and
    with the distinct pairs of the text, plus some 1.5 µs per token of the vocabulary.
    """
    instance("tok", tok, Tokenizer)
    if symbols is not None:
        instance("symbols", symbols, Symbols)
    whole_number("pairs", pairs, 0)
    require_ranked(tok._settings.kernel, "replay")
    symbols = symbols or Symbols(tok)
    found = pieces(tok, text, special)
    words: dict[tuple[bytes, bool], Word] = {}
    for piece in found:
        key = piece.text, piece.is_special
        if key not in words:
            words[key] = word_of(tok, piece, symbols)
        words[key].starts.append(piece.start)
    rules = sorted(symbols.rules.values())
    made = {rule.id for rule in rules}
    base = len(tok) - len(made) - len(tok.special_tokens)
    sizes, known = [], set[int]()
    for rule in rules:
        known.add(rule.id)
        sizes.append(base + len(known))
    record = tok.training
    runners_up = () if record is None or record.runners_up is None else record.runners_up
    languages = () if record is None or record.languages is None else record.languages
    data = text.encode() if isinstance(text, str) else text
    return Replay(
        data, base, len(rules), base + len(made), len(found),
        [*words.values()], symbols, rules, sizes, runners_up, languages, pairs,
    )  # fmt: skip
