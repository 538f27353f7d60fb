"""Find the places of a corpus that rules apply to, and check their tokens."""

from __future__ import annotations

import contextlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from digram import _core
from digram._util.progress import progress as progress_bar
from digram._util.validation import check_threads, instance, utf8_bytes
from digram.analysis.rule_check.value import Kind, Place, RuleKind, RulesCheck
from digram.corpus import Corpus, CorpusLike
from digram.errors import OptionError, show
from digram.pretokenizers.rules import SEPARATORS, Rules
from digram.pretokenizers.units import spellings
from digram.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


__all__ = ["check_rules"]

_EXAMPLES = 8
_MAYBE_DIGIT = re.compile(rb"[0-9\x80-\xff]")


def check_rules(
    tok: Tokenizer,
    corpus: CorpusLike,
    rules: Rules | None = None,
    *,
    threads: int | None = None,
    progress: bool | None = None,
) -> RulesCheck:
    """Check whether a tokenizer obeys rules on a corpus, and what the rules cost.

    >>> import digram
    >>> tok = digram.train("5 mg of iron, 10 mg", max_merges=9, pretokenizer="gpt2")
    >>> rules = digram.Rules(["iron"], units=["mg"])
    >>> found = digram.check_rules(tok, "5 mg of iron, 5mg", rules)
    >>> found.by_kind["units"].examples[0]
    Place(text='mg', became=(b' mg',), times=1, document=0, start=2)
    >>> found.violated, digram.check_rules(tok.with_rules(rules), "5 mg of iron, 5mg").violated
    (2, 0)

    The rules are this tokenizer's own, or others, even if it was not trained with them: so you can
    check how a general vocabulary treats terms. A term or abbreviation must be one token, with or
    without the space before it; a unit after a number must be one token by itself, in the spelling
    that `normalize` of the rules asks for; no token may cross the end of a pattern's match or of a
    number, nor join digits that the policy separates; a forbidden token must not occur. `by_kind`
    gives for each kind the number of places, the number that violate the rule, and the most
    frequent of these with their first occurrence; `several` counts matches and numbers that take
    more than one token. The cost compares the number of tokens with these rules and without any; it
    is None if merges are not applied by rank alone (`picky`, `superwords="boundless"`).

    `print(found)` shows a table. `corpus` is what `digram.train` accepts. Raises `OptionError` if
    there are no rules, and for unit "char"; and the errors of `encode`. Takes three times as long
    as encoding, plus some 2 µs per place.
    """
    instance("tok", tok, Tokenizer)
    asked = tok.rules if rules is None else rules
    if asked is None:
        raise OptionError(
            "this tokenizer has no rules, and none are given.",
            hint="Pass rules=.",
        )
    if not isinstance(asked, Rules):
        raise TypeError(f"rules must be a digram.Rules, not {show(rules)}")
    others = []
    if tok._settings.kernel.by_rank:
        others = [tok.with_rules(asked), tok.with_rules(None)]  # raises for unit="char"
    elif tok.unit != "byte":
        raise OptionError('rules need unit="byte".', value=tok.unit)
    threads = check_threads(threads)
    documents = Corpus.of(corpus)
    check = _Check(tok, asked)
    costs = [0, 0]
    with (
        progress_bar("Checking", documents.size, "B", progress) as advance,
        contextlib.closing(documents.batches()) as reading,
    ):
        done = 0
        for batch in reading:
            data = [
                utf8_bytes(f"corpus[{number}]", text)
                for number, text in enumerate(batch, check.documents)
            ]
            check.add(data, threads)
            for number, other in enumerate(others):
                costs[number] += sum(other.count_batch(data, threads=threads))
            size = sum(map(len, data))
            advance(reading.done - done if reading.done else size)
            done = reading.done
    with_them, without = costs if others else (None, None)
    return RulesCheck(
        dict(check.kinds()), check.documents, check.bytes, check.tokens, with_them, without
    )


class _Found(NamedTuple):
    """A place in a batch: its kind, and its start and end, in bytes of the batch."""

    kind: Kind
    start: int
    end: int
    is_alone: bool = False
    """Whether it is a unit without a number, which counts as a term."""


class _Tally:
    """The counts of one kind so far."""

    def __init__(self) -> None:
        self.places = self.violated = self.several = 0
        self.times: Counter[tuple[str, tuple[bytes, ...]]] = Counter()
        self.first: dict[tuple[str, tuple[bytes, ...]], tuple[int, int]] = {}


class _Check:
    """Checks a corpus, batch by batch."""

    def __init__(self, tok: Tokenizer, rules: Rules) -> None:
        import numpy as np

        self.tok, self.rules = tok, rules
        self.spelled = [token or b"" for token in tok._model.tokens()]
        self.spelled += [b""] * (tok.vocab_size - len(self.spelled))
        self.lengths = np.array([*map(len, self.spelled)], np.int64)
        by_digits = tok.pretokenizer.digits if rules is tok.rules else None
        self.policy = rules.numbers or by_digits
        every = spellings(rules.units) if rules.normalize else {one: one for one in rules.units}
        compiled = rules._with_units(every, self.policy is not None)
        self.splitter = _core.Splitter([], None, compiled)
        # The places are those of the normalized text, which consists of the bytes of tokens.
        self.normalizes = tok.pretokenizer.normalizes
        self.numbers = _core.Splitter([], None, ([], [], [], True, True))
        self.abbreviations = {text.encode() for text in rules.abbreviations}
        self.units = {text.encode() for text in every}
        self.misspelled = {text.encode() for text, one in every.items() if text != one}
        self.forbidden = self._forbidden()
        self.documents = self.bytes = self.tokens = 0
        self.tallies: dict[Kind, _Tally] = {kind: _Tally() for kind in self._asked()}

    def _asked(self) -> Iterator[Kind]:
        rules = self.rules
        asked: list[tuple[Kind, object]] = [
            ("terms", rules.protect),
            ("abbreviations", rules.abbreviations),
            ("units", rules.units),
            ("patterns", rules.patterns),
            ("numbers", self.policy),
            ("forbidden", rules.forbid),
        ]
        return (kind for kind, value in asked if value)

    def _forbidden(self) -> NDArray[np.bool_]:
        """For each id, whether it is a token that no merge should have made."""
        import numpy as np

        found = np.zeros(len(self.spelled), bool)
        if self.rules.forbid:
            forbidden = self.rules._forbidden()
            for left, right, id in self.tok._model.merges():
                found[id] |= forbidden.holds(self.spelled[left], self.spelled[right])
        return found

    def add(self, batch: Sequence[bytes], threads: int | None) -> None:
        """Check more texts."""
        import numpy as np

        ids, bounds = self.tok._encode_batch_numpy(batch, None, threads)
        size = sum(map(len, batch))
        if self.normalizes:
            edges = bounds.tolist()
            batch = [b"".join(self.tok.tokens(ids[a:b])) for a, b in pairwise(edges)]
        ends = np.cumsum(self.lengths[ids])
        joined = b"".join(batch)
        begins = [0, *accumulate(map(len, batch))]
        places = [*self._places(batch, begins)]
        starts = np.array([place.start for place in places], np.int64)
        stops = np.array([place.end for place in places], np.int64)
        # The first and the last of the tokens that cover each place.
        firsts = np.searchsorted(ends, starts, "right")
        lasts = np.searchsorted(ends, stops, "left")
        outer = np.concatenate([[0], ends])
        begun, ended = outer[firsts], outer[lasts + 1] if len(ends) else outer[lasts]
        for place, first, last, start, end in zip(
            places, firsts.tolist(), lasts.tolist(), begun.tolist(), ended.tolist(), strict=True
        ):
            tally = self.tallies[place.kind]
            tally.places += 1
            inner = outer[first : last + 2]
            violated, is_several = self._is_violated(
                place, joined, first < last, (start, end), inner
            )
            tally.several += is_several and not violated
            if violated:
                became = tuple(self.spelled[id] for id in ids[first : last + 1].tolist())
                self._note(tally, joined, place, became, begins)
        if "forbidden" in self.tallies:
            self._note_forbidden(ids, outer, joined, begins)
        self.documents += len(batch)
        self.bytes += size
        self.tokens += len(ids)

    def _places(self, batch: Sequence[bytes], begins: Sequence[int]) -> Iterator[_Found]:
        for text, begin in zip(batch, begins, strict=False):
            at = 0
            for start, end, what in self.splitter.found(text):
                yield from self._between(text, at, start, begin)
                at = end
                kind = self._kind(text[start:end], what)
                if kind in self.tallies:
                    is_alone = kind == "units" and not _after_number(text, start)
                    yield _Found(kind, begin + start, begin + end, is_alone)
            yield from self._between(text, at, len(text), begin)

    def _between(self, text: bytes, start: int, end: int, begin: int) -> Iterator[_Found]:
        """The numbers between the pieces that rules cut out, if a policy splits their digits."""
        if self.policy in (None, "whole") or _MAYBE_DIGIT.search(text, start, end) is None:
            return
        for first, last, _ in self.numbers.found(text[start:end]):
            yield _Found("numbers", begin + start + first, begin + start + last)

    def _kind(self, piece: bytes, what: str) -> Kind:
        if what == "number":
            return "numbers"
        if what == "pattern":
            return "patterns"
        text = piece.removeprefix(b" ")
        if text in self.abbreviations:
            return "abbreviations"
        return "units" if what == "unit" or text in self.units else "terms"

    def _is_violated(
        self,
        place: _Found,
        text: bytes,
        is_several: bool,
        tokens: tuple[int, int],
        ends: NDArray[np.int64],
    ) -> tuple[bool, bool]:
        """Whether a place violates its rule, and whether it takes several tokens."""
        start, end = place.start, place.end
        goes_over = tokens != (start, end)
        if place.kind == "units" and text[start:end].removeprefix(b" ") in self.misspelled:
            return True, is_several
        if place.kind == "patterns":
            return goes_over, is_several
        if place.kind == "numbers":
            wanted = set(self._groups(text[start:end].decode(), start))
            return goes_over or not wanted <= set(ends.tolist()), is_several
        if place.kind != "units" or place.is_alone:
            # A term may be one token with or without its leading space.
            term = start + text.startswith(b" ", start)
            spaced = term - 1 if text[term - 1 : term] == b" " else term
            is_one = not is_several and tokens in ((term, end), (spaced, end))
            inside = is_several and tokens == (start, end) and ends[1] == term and len(ends) == 3
            return not (is_one or inside), False
        return is_several or goes_over, False

    def _groups(self, number: str, start: int) -> Iterator[int]:
        """The ends of the groups of a number, by the policy for numbers."""
        at = start
        for is_digit, run in groupby(number, _is_digit):
            characters = [len(character.encode()) for character in run]
            sizes = _sizes(len(characters), self.policy if is_digit else None)
            for size in sizes:
                at += sum(characters[:size])
                del characters[:size]
                if self.policy != "whole":
                    yield at

    def _note(
        self,
        tally: _Tally,
        text: bytes,
        place: _Found,
        became: tuple[bytes, ...],
        begins: Sequence[int],
    ) -> None:
        from bisect import bisect_right

        number = bisect_right(begins, place.start) - 1
        key = text[place.start : place.end].decode(errors="replace"), became
        tally.violated += 1
        tally.times[key] += 1
        tally.first.setdefault(key, (self.documents + number, place.start - begins[number]))

    def _note_forbidden(
        self,
        ids: NDArray[np.uint32],
        outer: NDArray[np.int64],
        text: bytes,
        begins: Sequence[int],
    ) -> None:
        tally = self.tallies["forbidden"]
        tally.places += len(ids)
        for at in self.forbidden[ids].nonzero()[0].tolist():
            place = _Found("forbidden", int(outer[at]), int(outer[at + 1]))
            self._note(tally, text, place, (self.spelled[int(ids[at])],), begins)

    def kinds(self) -> Iterator[tuple[Kind, RuleKind]]:
        """The result of each kind."""
        for kind, tally in self.tallies.items():
            most = sorted(tally.times, key=lambda key: (-tally.times[key], tally.first[key]))
            examples = tuple(
                Place(*key, tally.times[key], *tally.first[key]) for key in most[:_EXAMPLES]
            )
            yield kind, RuleKind(kind, tally.places, tally.violated, tally.several, examples)


def _is_digit(character: str) -> bool:
    return unicodedata.category(character).startswith("N")


def _after_number(text: bytes, start: int) -> bool:
    """Whether a number, or a separator after one, precedes an offset."""
    before = text[max(0, start - 8) : start].decode(errors="replace")[-2:]
    if before[-1:] in SEPARATORS:
        before = before[:-1]
    # A piece that includes its leading space does not follow a number.
    return bool(before) and _is_digit(before[-1]) and not text.startswith(b" ", start)


def _sizes(digits: int, policy: str | None) -> Iterable[int]:
    """The number of digits of each group."""
    if policy == "individual":
        return [1] * digits
    rest = digits % 3
    if policy == "threes_from_left":
        return [3] * (digits // 3) + [rest] * bool(rest)
    if policy == "threes_from_right":
        return [rest] * bool(rest) + [3] * (digits // 3)
    return [digits]
