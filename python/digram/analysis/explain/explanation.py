"""Why a text became its tokens: where it was split, and which merges were applied, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from digram._util.validation import instance
from digram.analysis.explain.choosing import Chooser, Chosen
from digram.analysis.explain.cuts import Cut, cuts
from digram.analysis.explain.pieces import Piece, pieces
from digram.analysis.explain.symbols import Applied, How, Rule, Symbols, ids_of, merge_as_dict, way
from digram.errors import several
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.bpe import require_ranked
from digram.vocab.scores import UnigramKernel
from digram.vocab.wordpiece import WordPieceKernel

if TYPE_CHECKING:
    from digram.tokenizer.merge import Merge
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.vocab.special_tokens import OnSpecial

__all__ = ["Candidate", "Explanation", "Merging", "Step", "explain"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A merge that could be applied, and the indices of its left part among the tokens."""

    merge: Merge
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One merge, applied at one place.

    `before` and `after` are the tokens before and after the merge; `place` is the index in `before`
    of its left part. `candidates` are all merges that could have been applied, by rank: the first
    of them was, at the first of its places, since the lowest rank wins, and then the leftmost
    place. Each attribute is computed when you access it, in time linear in the pretoken and the
    steps before.
    """

    _of: Merging
    number: int
    """The number of the step, from 0."""

    @property
    def merge(self) -> Merge:
        """The merge with its rank, and its count in training, if known."""
        return self._of._merge(self._of._applied[self.number].rule)

    @property
    def place(self) -> int:
        """The index in `before` of the left part."""
        return self._of._applied[self.number].at

    @property
    def before(self) -> list[bytes]:
        """The tokens before it."""
        return self._of._tokens_at(self.number)

    @property
    def after(self) -> list[bytes]:
        """The tokens after it."""
        return self._of._tokens_at(self.number + 1)

    @property
    def candidates(self) -> list[Candidate]:
        """All merges that could be applied at this step, by rank."""
        return self._of._candidates(self._of._state(self.number))

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        return _as_dict(self.merge, self.place, self.after, self.candidates)


@dataclass(frozen=True, eq=False)
class Merging:
    """A pretoken, and how it became its tokens.

    `start` is its offset in the text, in bytes. `how` is "merges" if merges were applied one after
    the other; "whole" if the vocabulary uses a pretoken that is a token without merging
    (`ignore_merges`); the steps are then those that would lead to the same token, or none if they
    lead elsewhere; and "special" for the text of a special token.
    """

    start: int
    pretoken: bytes
    ids: list[int]
    how: How
    cut: Cut
    _symbols: Symbols = field(repr=False)
    _first: list[int] = field(repr=False)
    _applied: list[Applied] = field(repr=False)

    @property
    def tokens(self) -> list[bytes]:
        """The tokens of the pretoken."""
        return [self._symbols.token(id) for id in self.ids]

    @property
    def first(self) -> list[bytes]:
        """The tokens that merging starts from: bytes, or characters."""
        return self._tokens_at(0)

    @property
    def steps(self) -> Sequence[Step]:
        """The merges, in the order in which they are applied."""
        return [Step(self, number) for number in range(len(self._applied))]

    @property
    def states(self) -> Iterator[list[bytes]]:
        """The tokens before the first step and after each."""
        for state in self._states():
            yield self._shown(state)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        return {
            "start": self.start,
            "text": self.pretoken.decode("utf-8", "replace"),
            "hex": self.pretoken.hex(),
            "how": self.how,
            "cut": self.cut.to_dict(),
            "first": [token.hex() for token in self.first],
            "steps": [*self._steps()],
            "ids": self.ids,
        }

    def _states(self) -> Iterator[list[int]]:
        state = list(self._first)
        yield state
        for rule, at, *_ in self._applied:
            state[at : at + 2] = [rule.id]
            yield state

    def _steps(self) -> Iterator[dict[str, Any]]:
        """The steps as plain values; each state is computed from the previous one."""
        states = self._states()
        state = [*next(states)]
        for rule, at, *_ in self._applied:
            candidates = self._candidates(state)
            state = [*next(states)]
            yield _as_dict(self._merge(rule), at, self._shown(state), candidates)

    def _state(self, number: int) -> list[int]:
        state = list(self._first)
        for rule, at, *_ in self._applied[:number]:
            state[at : at + 2] = [rule.id]
        return state

    def _tokens_at(self, number: int) -> list[bytes]:
        return self._shown(self._state(number))

    def _shown(self, state: Sequence[int]) -> list[bytes]:
        return [self._symbols.token(id) for id in ids_of(state)]

    def _candidates(self, state: Sequence[int]) -> list[Candidate]:
        rules, places = self._symbols.rules, dict[Rule, list[int]]()
        for at, pair in enumerate(pairwise(state)):
            if pair in rules:
                places.setdefault(rules[pair], []).append(at)
        return [Candidate(self._merge(rule), tuple(places[rule])) for rule in sorted(places)]

    def _merge(self, rule: Rule) -> Merge:
        from digram.tokenizer.merge import Merge

        token = self._symbols.token
        return Merge(
            rule.rank, token(rule.left), token(rule.right), token(rule.id), rule.id, rule.frequency
        )


@dataclass(frozen=True, eq=False)
class Explanation:
    """The result of `digram.explain`; `print` shows it step by step.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
    >>> found = digram.explain(tok, "low lower")
    >>> found.tokens, [len(pretoken.steps) for pretoken in found.pretokens]
    ([b'low', b' lowe', b'r'], [2, 4])

    `pretokens` has a `Merging` for each pretoken of the text. In WordPiece and Unigram, which have
    no merges, it is empty, and `chosen` has a `Chosen` for each.
    """

    text: bytes
    pretokens: list[Merging]
    pretokenizer: str | None
    """The name of the pretokenizer, if it has one."""
    chosen: list[Chosen] = field(default_factory=list)
    """The pretokens of models without merges."""

    @property
    def _each(self) -> Sequence[Merging | Chosen]:
        return self.chosen or self.pretokens

    @cached_property
    def ids(self) -> list[int]:
        """The ids that `encode` returns for the text."""
        return [id for one in self._each for id in one.ids]

    @property
    def tokens(self) -> list[bytes]:
        """The tokens of `ids`."""
        return [token for one in self._each for token in one.tokens]

    def __str__(self) -> str:
        from digram.analysis.explain.lines.explanation import explained

        return explained(self)

    def __repr__(self) -> str:
        merges = several(sum(len(one._applied) for one in self.pretokens), "merge")
        parts = [
            several(len(self._each), "pretoken"),
            *([] if self.chosen else [merges]),
            several(len(self.ids), "token"),
        ]
        return f"<digram.Explanation: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        from digram.analysis.explain.pages import explained

        return explained(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON; bytes are hexadecimal.

        Each step holds all tokens after it, so the size for a pretoken of n bytes is of order n².
        """
        return {
            "text": self.text.decode("utf-8", "replace"),
            "hex": self.text.hex(),
            "pretokenizer": self.pretokenizer,
            "ids": self.ids,
            "pretokens": [one.to_dict() for one in self._each],
        }


def explain(
    tok: Tokenizer,
    text: str | bytes,
    *,
    special: OnSpecial = "text",
    symbols: Symbols | None = None,
) -> Explanation:
    r"""Explain why a text becomes its tokens: how it is split, and each merge in order.

    >>> import digram
    >>> tok = digram.train("low low lower lowest newer", max_merges=5, pretokenizer="gpt2")
    >>> print(digram.explain(tok, " lower"))
    6 bytes, 1 pretoken, 2 tokens
    <BLANKLINE>
    [·lower]  bytes 0 to 5, cut out by part 8 of gpt2
      [·][l][o][w][e][r]
        rank 0, count 4: [l] + [o]; not yet rank 3 [e] + [r]
      [·][lo][w][e][r]
        rank 1, count 4: [lo] + [w]; not yet rank 3 [e] + [r]
      [·][low][e][r]
        rank 2, count 3: [·] + [low]; not yet rank 3 [e] + [r]
      [·low][e][r]
        rank 3, count 2: [e] + [r]
      [·low][er] 258 259
        No adjacent pair has a merge.
    <BLANKLINE>
    part 8 of gpt2   ?\p{L}+
    >>> step = digram.explain(tok, "lower").pretokens[0].steps[0]
    >>> step.merge.token, step.merge.rank, step.merge.count, step.after
    (b'lo', 0, 4, [b'lo', b'w', b'e', b'r'])

    Each step has the merges that could have been applied (`candidates`), of which the one of the
    lowest rank was, at the leftmost of its places; and the tokens before and after. The last tokens
    are those of `encode`. Pretokens without merges are marked: special tokens (`special` as for
    `encode`), and pretokens that the vocabulary uses whole (`ignore_merges`). If the tokenizer
    normalizes text, the normalized text is explained.

    WordPiece and Unigram have no merges; their pretokens are in `chosen`. For WordPiece each token
    has the shorter tokens that fit at its place, and an unknown word the reason; for Unigram each
    token has its score, and a pretoken the next best segmentations with the sums of their scores:

    >>> words = digram.train("low low lower", max_merges=4, model="wordpiece")
    >>> digram.explain(words, "lowest").chosen[0].reason
    "no token fits at 's', character 5"

    Raises the errors of `encode`. Takes some 1.5 µs per token of the vocabulary, and time
    proportional to n log n for a pretoken of n bytes; printing shows the first steps of each.
    """
    instance("tok", tok, Tokenizer)
    if symbols is not None:
        instance("symbols", symbols, Symbols)
    kernel = tok._settings.kernel
    if isinstance(kernel, UnigramKernel | WordPieceKernel):
        return _of_choices(tok, text, special, kernel)
    require_ranked(kernel, "explain")
    found = pieces(tok, text, special)
    data = b"".join(piece.text for piece in found)
    mergings = _mergings(tok, data, found, symbols or Symbols(tok))
    return Explanation(data, list(mergings), tok.pretokenizer.name)


def _of_choices(
    tok: Tokenizer, text: str | bytes, special: OnSpecial, kernel: WordPieceKernel | UnigramKernel
) -> Explanation:
    """The explanation of a model without merges."""
    chooser = Chooser(tok, kernel)
    found: list[Piece] = []
    at = 0
    for piece in map(chooser.normalized, pieces(tok, text, special)):
        found.append(piece._replace(start=at))
        at += len(piece.text)
    data = b"".join(piece.text for piece in found)
    chosen = [chooser.chosen(piece, cut) for piece, cut in _with_cuts(tok, data, found)]
    return Explanation(data, [], tok.pretokenizer.name, chosen)


def _mergings(
    tok: Tokenizer, text: bytes, found: Sequence[Piece], symbols: Symbols
) -> Iterator[Merging]:
    """The pretokens, and the special tokens between the texts."""
    for piece, cut in _with_cuts(tok, text, found):
        if piece.is_special:
            yield Merging(piece.start, piece.text, piece.ids, "special", cut, symbols, [], [])
        else:
            yield _merging(tok, piece, cut, symbols)


def _with_cuts(tok: Tokenizer, text: bytes, found: Sequence[Piece]) -> Iterator[tuple[Piece, Cut]]:
    """Each piece, and what cut it out; nothing for special tokens."""
    for special, together in groupby(found, key=lambda piece: piece.is_special):
        group = list(together)
        if special:
            yield from ((piece, Cut()) for piece in group)
            continue
        first = group[0].start
        spans = [(piece.start - first, piece.end - first) for piece in group]
        reasons = cuts(text[first : group[-1].end], spans, tok.pretokenizer)
        yield from zip(group, reasons, strict=True)


def _merging(tok: Tokenizer, piece: Piece, cut: Cut, symbols: Symbols) -> Merging:
    start, pretoken, ids, _ = piece
    how, first, applied = way(tok, pretoken, ids, symbols)
    return Merging(start, pretoken, ids, how, cut, symbols, first, applied)


def _as_dict(
    merge: Merge, place: int, after: Sequence[bytes], candidates: Sequence[Candidate]
) -> dict[str, Any]:
    return {
        **_plain(merge),
        "place": place,
        "after": [token.hex() for token in after],
        "candidates": [{**_plain(one.merge), "places": [*one.places]} for one in candidates],
    }


def _plain(merge: Merge) -> dict[str, Any]:
    return {**merge_as_dict(merge), "count": merge.count}
