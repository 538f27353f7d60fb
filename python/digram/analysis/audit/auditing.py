"""From a tokenizer, and optionally a corpus, to findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from digram._util.progress import progress as progress_bar
from digram._util.validation import check_threads, instance, whole_number
from digram.analysis.audit import digits, reading, special, variants
from digram.analysis.audit.findings import KINDS, Finding
from digram.analysis.audit.junk import JUNK, junk_kind
from digram.analysis.audit.reach import Reach, reach
from digram.analysis.audit.utf8 import is_whole
from digram.analysis.audit.value import Audit, Reading
from digram.analysis.metrics.table import shortened
from digram.corpus import Corpus, CorpusLike
from digram.display.terminal import visible
from digram.errors import several
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["audit"]

_EXAMPLES = 8  # details of a finding
_WIDTH = 30  # columns of a token; longer ones are shortened in the middle


def audit(
    tok: Tokenizer,
    corpus: CorpusLike | None = None,
    *,
    rare: int = 10,
    long: int = 32,
    threads: int | None = None,
    progress: bool | None = None,
) -> Audit:
    """Find the defects of a vocabulary: useless, duplicate, broken and dangerous tokens.

    >>> import digram
    >>> corpus = "play: play? play! play " * 9
    >>> tok = digram.train(corpus, vocab_size=264, pretokenizer="whitespace")
    >>> report = digram.audit(tok, corpus)
    >>> report.by_kind["punctuation"].details
    ('[play] [·play] [·play!] [·play?] [·play:] [play:]',)

    Finds tokens that no text becomes (with a proof), that do not occur in the corpus or occur fewer
    than `rare` times, that are not whole characters, that are variants of one word, that are junk,
    longer than `long` characters, or numbers that are grouped unevenly; special tokens that
    ordinary text may contain; gaps in the ids; and texts that a round trip changes. docs/audit.md
    defines each kind. Without a corpus, the kinds that need one are left out.

    `print(report)` shows a table, `report.to_dict()` returns plain values, and `check` compares the
    findings with limits, as numbers or shares:

    >>> assert not report.check(unreachable=0, unused=0.05, round_trip=0)
    >>> print(*report.check(punctuation=0))
    punctuation: 4 of 264 (1.5%), where none is allowed

    `corpus` is what `digram.train` accepts. The text of special tokens is encoded as ordinary text.
    Raises `OptionError` for a `rare` or `long` below 1; and the errors of `encode`. Takes as long
    as encoding and decoding, plus some 10 µs per token of the vocabulary. Memory: a batch of texts
    or the longest one, with its ids.
    """
    instance("tok", tok, Tokenizer)
    rare, long = whole_number("rare", rare, 1), whole_number("long", long, 1)
    threads = check_threads(threads)
    counts = None
    if corpus is not None:
        texts = Corpus.of(corpus)
        with progress_bar("Auditing", texts.size, "B", progress) as advance:
            counts = reading.read(tok, texts, threads=threads, advance=advance)
    search = _Look(tok, counts, rare, long, threads)
    findings = {finding.kind: finding for finding in search.all()}
    sums = None
    if counts is not None:
        sums = Reading(counts.documents, counts.bytes, counts.tokens, counts.skipped, counts.times)
    by_kind = {kind: findings[kind] for kind in KINDS if kind in findings}
    return Audit(by_kind, len(search.tokens), len(tok.special_tokens), sums)


class _Look:
    """Computes the findings of every kind."""

    def __init__(
        self, tok: Tokenizer, read: reading.Read | None, rare: int, long: int, threads: int | None
    ) -> None:
        self.tok, self.read, self.rare, self.long = tok, read, rare, long
        left_out = {*tok.special_tokens.values()}
        tokens_by_id = enumerate(tok._model.tokens())
        self.tokens = {id: t for id, t in tokens_by_id if t is not None and id not in left_out}
        merged = tok._made()
        # Base tokens exist so that nothing is unknown; it does not matter whether they are used.
        single = {id for id, token in self.tokens.items() if len(token) == 1}
        self.base = (
            single if tok.unit == "byte" else self.tokens.keys() - merged - {*tok.unreachable()}
        )
        self.texts = {
            id: token.decode()
            for id, token in self.tokens.items()
            if id not in self.base and is_whole(token)
        }
        self.reach = reach(tok, threads)

    def all(self) -> Iterator[Finding]:
        yield from self._of_reach(self.reach)
        if self.read is not None:
            yield from self._of_corpus(self.read)
        yield self._of_tokens(
            "partial", [id for id in self.tokens if id not in self.base and id not in self.texts]
        )
        yield from self._of_variants()
        yield from self._of_junk()
        yield from self._of_digits()
        sizes = {id: self._size(token) for id, token in self.tokens.items()}
        longest = sorted(sizes, key=lambda one: (-sizes[one], one))
        yield self._of_tokens("long", [id for id in longest if sizes[id] > self.long])
        yield from self._of_special()
        yield self._of_round_trip()

    def _size(self, token: bytes) -> int:
        """The number of characters; each byte of an incomplete character counts as one."""
        return len(token.decode("utf-8", "surrogateescape"))

    def _of_tokens(
        self, kind: str, ids: Sequence[int], groups: Sequence[Sequence[int]] | None = None
    ) -> Finding:
        """A finding about tokens; its details are the first of them, or groups of them."""
        details: Iterable[str] = ()
        if groups is not None:
            details = (self._shown(group) for group in groups[:_EXAMPLES])
        elif ids:
            details = [self._shown(ids)]
        return Finding(kind, tuple(sorted(ids)), len(ids), len(self.tokens), tuple(details))

    def _shown(self, ids: Sequence[int]) -> str:
        more = " …" if len(ids) > _EXAMPLES else ""
        tokens = (shortened(visible(self.tokens[id]), _WIDTH) for id in ids[:_EXAMPLES])
        return " ".join(f"[{token}]" for token in tokens) + more

    def _of_reach(self, result: Reach) -> Iterator[Finding]:
        yield self._of_tokens("unreachable", result.unreachable)
        yield self._of_tokens("bytes_only", result.bytes_only)
        yield self._of_tokens("undecided", result.undecided)

    def _of_corpus(self, read: reading.Read) -> Iterator[Finding]:
        times = read.times
        merged = [id for id in self.tokens if id not in self.base]
        yield self._of_tokens("unused", [id for id in merged if not times[id]])
        seldom = [id for id in merged if 0 < times[id] < self.rare]
        yield self._of_tokens("rare", sorted(seldom, key=lambda one: (int(times[one]), one)))

    def _of_variants(self) -> Iterator[Finding]:
        doubles = variants.duplicates(self.texts)
        yield self._of_tokens("duplicates", [id for group in doubles for id in group[1:]], doubles)
        dressed = variants.punctuation_variants(self.texts)
        ids = [id for g in dressed for id in g if not variants.is_bare(self.texts[id])]
        yield self._of_tokens("punctuation", ids, dressed)
        cases = variants.case_variants(self.texts)
        yield self._of_tokens("case", [id for group in cases for id in group[1:]], cases)

    def _of_junk(self) -> Iterator[Finding]:
        by_kind: dict[str, list[int]] = {kind: [] for kind in JUNK}
        for id, text in self.texts.items():
            kind = junk_kind(text)
            if kind is not None:
                by_kind[kind].append(id)
        for kind, ids in by_kind.items():
            yield self._of_tokens(f"junk_{kind}", ids)

    def _of_digits(self) -> Iterator[Finding]:
        unreachable = {*self.reach.unreachable}
        groups = digits.groups(self.tok, unreachable)
        partly = [group for group in groups if group.size > 1 and not group.is_complete]
        group_lines = tuple(
            f"{several(group.size, 'digit')}{' after a space' if group.spaced else ''}: "
            f"{len(group.ids):,} of {10**group.size:,}"
            for group in sorted(groups, key=lambda group: group.is_complete)
        )
        ids = sorted(id for group in partly for id in group.ids)
        yield Finding("digits", tuple(ids), len(ids), len(self.tokens), group_lines if ids else ())
        try:
            splits = digits.splits(self.tok)
        except ValueError:  # a vocabulary of characters may lack a digit
            splits = {}
        uneven = {size: ways for size, ways in splits.items() if len(ways) > 1}
        details = [
            f"{size} digits: "
            + ", ".join(
                f"{'+'.join(map(str, lengths))} {count / ways.total():.0%}"
                for lengths, count in ways.most_common(4)
            )
            + (" …" if len(ways) > 4 else "")
            for size, ways in uneven.items()
        ]
        yield Finding("number_splits", (), len(uneven), len(splits), tuple(details))

    def _of_special(self) -> Iterator[Finding]:
        result = special.hazards(self.tok)
        names = {id: text for text, id in self.tok.special_tokens.items()}

        def of(kind: str, ids: Iterable[int], details: Iterable[str] | None = None) -> Finding:
            ids_sorted = sorted(ids)
            shown = (
                details if details is not None else (visible(names[i].encode()) for i in ids_sorted)
            )
            return Finding(
                kind, tuple(ids_sorted), len(ids_sorted), len(names), tuple(shown)[:_EXAMPLES]
            )

        yield of("special_ordinary", result.ordinary)
        pairs = result.overlapping
        yield of(
            "special_overlap",
            {self.tok.special_tokens[inner] for inner, _ in pairs},
            (f"{visible(a.encode())} in {visible(b.encode())}" for a, b in pairs),
        )
        yield of("special_spaced", result.spaced)
        yield of("special_markup", result.markup)
        if self.read is not None:
            always = {text for text, flags in self.tok.matching.items() if flags.always}
            found = [item for item in self.read.special.items() if item[0] not in always]
            often = sorted(found, key=lambda item: (-item[1], item[0]))
            yield of(
                "special_in_text",
                [self.tok.special_tokens[text] for text, _ in often],
                (f"{visible(text.encode())} {several(n, 'time')}" for text, n in often),
            )
        for kind, ids in (("gaps", result.gaps), ("ids_beyond", result.beyond)):
            yield Finding(kind, tuple(ids), len(ids), self.tok.vocab_size, _ranges(ids))

    def _of_round_trip(self) -> Finding:
        total, failed = reading.round_trip(self.tok)
        read = self.read
        changed, examples = (0, []) if read is None else (read.changed, read.examples)
        total += 0 if read is None else read.documents
        details = tuple(chain((f"of the corpus: {text}" for text in examples), failed))
        return Finding("round_trip", (), len(failed) + changed, total, details)


def _ranges(ids: Sequence[int]) -> tuple[str, ...]:
    """Ids in few words: `257 to 299`."""
    ranges: list[list[int]] = []
    for id in ids:
        if ranges and ranges[-1][1] == id - 1:
            ranges[-1][1] = id
        else:
            ranges.append([id, id])
    lines = [
        f"{first:,}" if first == last else f"{first:,} to {last:,}"
        for first, last in ranges[:_EXAMPLES]
    ]
    return tuple(lines)
