"""What the properties are tried on.

Small alphabets make ties and repeats, runs (`aaaa`) make pairs that overlap, and both make the
shortest failing cases. Texts may be empty or one symbol long; a corpus may hold a text many times.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, TypeVar, cast

from hypothesis import settings
from hypothesis import strategies as st

import digram
from digram import reference
from digram.pretokenizers.pretokenizer import resolve
from digram.reference import picky
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.schemes import Picky

# More by hand; with these, all properties together have more than 20,000 cases.
SCALE = float(os.environ.get("DIGRAM_CASES", "0.4"))


def scaled(count: int) -> int:
    """So many generated texts with `DIGRAM_CASES=1`, and in proportion with other numbers."""
    return max(1, round(count * SCALE))


def real(count: int) -> int:
    """So many real lines of each language, and in proportion with `DIGRAM_CASES` above 1."""
    return max(count, scaled(count))


RAN: Counter[str] = Counter()
"""How many cases of each property ran in this session."""

PROPERTIES: dict[tuple[str, str], int] = {}
"""Each property that was collected, by file and name, and how many cases it asks for."""

Test = TypeVar("Test", bound=Callable[..., None])


def cases(number: int) -> Callable[[Test], Test]:
    """Run a property on `number` cases, and count them. Stands above `@given`."""

    def decorate(test: Test) -> Test:
        name = test.__name__
        handle = cast(Any, test).hypothesis
        inner = handle.inner_test

        @functools.wraps(inner)
        def counted(*args: Any, **kwargs: Any) -> None:
            RAN[name] += 1
            inner(*args, **kwargs)

        handle.inner_test = counted
        PROPERTIES[test.__module__.rpartition("_")[2], name] = number
        return settings(max_examples=max(1, round(number * SCALE)))(test)

    return decorate


# --- texts


def concatenations(pieces: Sequence[str], max_size: int) -> st.SearchStrategy[str]:
    """Texts made of pieces.

    Drawn as one string of letters, each of which stands for a piece: Hypothesis takes several
    times as long over a list. And half of them from a third of the full length on, since it likes
    short strings (5 letters on average), in which hardly anything can be merged.
    """
    letters = [chr(0x4E00 + number) for number in range(len(pieces))]
    table = str.maketrans(dict(zip(letters, pieces, strict=True)))
    short = st.text(letters, max_size=max_size)
    long = st.text(letters, min_size=max_size // 3, max_size=max_size)
    return (short | long).map(lambda text: text.translate(table))


def with_runs(alphabet: str) -> list[str]:
    """The characters of an alphabet, and runs of the first two."""
    return [*alphabet, *(character * times for times in (2, 3, 4, 7) for character in alphabet[:2])]


def over(alphabet: str, max_size: int = 16) -> st.SearchStrategy[str]:
    """Texts over the characters of `alphabet`, some of them in runs."""
    return concatenations(with_runs(alphabet), max_size)


ALPHABETS = ["ab", "abc", "a b", "aé", "ab\n", "é€🙂", "aA1. "]
WORDS = ["low", "lower", "slow", " ", "  ", ", ", "'s", "\n", "é", "1", "12", " low", " slower"]
SOUP = [
    *"abzABZ", "ß", "ſ", "Dž", "ʰ", "中", "あ", "ア", "ا", "क", "ि", "\u0301", "\u200d",
    *"019", "٣", "Ⅷ", "½", "²", "𝟘",
    *" \t\n\r", "\r\n", "\x0b", "\x1c", "\x85", "\u00a0", "\u2003", "\u2028", "\u3000", "\ufeff",
    *"'\"!.,/-_$+^|<>", "’", "。", "€", "🙂", "👩‍👩‍👧", "\x00", "\u200b", "\ufffd",
    "'s", "'S", "'ſ", "'ll", "'LL", "'re", "'vE", "'d", "'m", "'T", "'x", "  ", "   ",
]  # fmt: skip
"""Characters of every class that a published pattern tells apart, and their usual company."""

small_texts = st.one_of([over(alphabet) for alphabet in ALPHABETS])
"""Texts over a few characters."""

sentences = concatenations(WORDS, 12)
"""Words that come again, with what stands between words."""

soups = concatenations(SOUP, 12)
"""Texts in which every two classes of characters meet."""

texts = small_texts | soups | st.text(max_size=20)
"""Any text, the likely trouble first."""

long_texts = st.builds(
    lambda text, times, end: (text * times + end)[:300], over("ab"), st.integers(1, 40), over("ab")
)
"""Texts over two letters with repeats, long enough for the encoder's path for long pretokens."""

any_bytes = st.binary(max_size=20) | st.builds(
    lambda text, start: text.encode()[start:], texts, st.integers(0, 3)
)
"""Any bytes, many of them UTF-8 or UTF-8 that begins inside a character."""

special_texts = st.lists(
    st.sampled_from(["<a>", "<a>b", "<", "<a", "ab", "b", "é", "é>", "a>", "<|end|>"]),
    max_size=4,
    unique=True,
)
"""Special tokens that begin, end and contain each other."""

special_soups = concatenations(["<a>", "<a>b", "<", ">", "a", "b", "é", " ", "<|end|>"], 10)
"""Texts that hold them."""


# --- corpora

Ties = Literal["ids", "first_seen", "lexicographic", "printable"]
TIES: list[Ties] = ["ids", "first_seen", "lexicographic", "printable"]
FAIR_TIES: list[Ties] = [rule for rule in TIES if rule != "first_seen"]
"""The rules that need no order of the texts."""

ties = st.sampled_from(TIES)


def corpora(pieces: Sequence[str]) -> st.SearchStrategy[list[str]]:
    """Several texts, or one or none, made of pieces; the first ones may be there again."""
    border = "\x1e"

    def cut(text: str, again: int) -> list[str]:
        found = text.split(border) if text else []
        return found + found[:again] + found[: again // 2]

    drawn = concatenations([*pieces[:2], border, border, *pieces[2:], *pieces[:2]], 24)
    return st.builds(cut, drawn, st.integers(0, 4))


small_corpora = st.one_of([corpora(with_runs(alphabet)) for alphabet in ALPHABETS])
"""Texts over a few characters: many ties, many overlapping pairs."""

prose = corpora(WORDS)
"""Texts in which the same pretokens come again and again."""

any_corpora = small_corpora | prose | st.lists(texts, max_size=4)

LIMITS = [{"max_merges": 0}, {"max_merges": 5, "max_token_length": 1}] + [
    {name: value for name, value in zip(names, values, strict=True) if value is not None}
    for names in [("room", "max_merges", "min_frequency", "max_token_length")]
    for values in product(
        (None, 1, 5, 40), (None, 1, 5, 20), (None, 1, 2, 3), (None, None, None, 2, 3, 5)
    )
    if any(values[:2]) or (values[2] or 0) >= 2
]
limits = st.sampled_from(LIMITS)
"""Every way to stop, alone and together. `room` stands for the `vocab_size` with so much room."""


def sized(limits: dict[str, int], base: Sequence[bytes]) -> dict[str, Any]:
    """The same limits with `vocab_size`, as training takes them."""
    options = dict(limits)
    if "room" in options:
        options["vocab_size"] = len(base) + options.pop("room")
    return options


# --- vocabularies that nobody trained


@dataclass(frozen=True)
class Vocabulary:
    """A vocabulary as the reference sees it (`merges`) and as the core does (`definition`)."""

    merges: dict[tuple[int, int], int]
    definition: Definition


@st.composite
def vocabularies(
    draw: st.DrawFn, alphabet: bytes | None = None, ignore_merges: bool = False, size: int = 16
) -> Vocabulary:
    """Random merges over bytes, without a pretokenizer.

    Their order is not that of any corpus: a token may be hard or impossible to reach. Two merges
    may make the same token, as in published files, and ids need not follow ranks.
    """
    known = {bytes([byte]): byte for byte in range(256)}
    letters = alphabet if alphabet is not None else draw(st.sampled_from([b"ab", b"a", b"abc"]))
    parts = [bytes([byte]) for byte in letters]
    merges: dict[tuple[bytes, bytes], bytes] = {}
    number = 2 * draw(st.integers(0, size))
    choices = draw(st.binary(min_size=number, max_size=number))
    for first, second in zip(choices[::2], choices[1::2], strict=True):
        left, right = parts[first % len(parts)], parts[second % len(parts)]
        if len(left + right) <= 16:
            merges.setdefault((left, right), left + right)
            parts = list(dict.fromkeys([*parts, left + right]))
    extra = draw(over("ab", 24)).encode() if ignore_merges else b""
    new = dict.fromkeys(
        [*parts[len(letters) :], *(extra[n : n + 4] for n in range(0, len(extra), 4))]
    )
    order = draw(st.permutations(list(new))) if draw(st.booleans()) else list(new)
    known |= {token: 256 + n for n, token in enumerate(t for t in order if t not in known)}
    by_id = {(known[left], known[right]): known[token] for (left, right), token in merges.items()}
    definition = Definition(
        tokens=list(known),
        model=BpeModel(
            [(left, right, token) for (left, right), token in by_id.items()],
            ignore_merges=ignore_merges,
        ),
        pretokenizer=resolve(None),
    )
    return Vocabulary(by_id, definition)


def trained_reference(
    pretokens: Iterable[str], unit: str, base: Sequence[bytes], ties: str, limits: dict[str, int]
) -> reference.Trained:
    """What the reference learns from pretokens."""
    units = [text.encode() if unit == "byte" else text for text in pretokens]
    return reference.train(reference.words(units, base), base, ties=ties, **sized(limits, base))


@dataclass(frozen=True)
class Happened:
    """Events over bytes as the reference sees them, and the same for the core."""

    events: list[picky.Event]
    definition: Definition


@st.composite
def happened(draw: st.DrawFn, size: int = 16) -> Happened:
    """Events that no corpus asked for: tokens made, dropped, and made again of other parts."""
    letters = draw(st.sampled_from([b"ab", b"a", b"abc", "é€".encode()]))
    tokens = list(reference.BYTES)
    made_of: dict[int, tuple[int, int]] = {}
    live = list(dict.fromkeys(letters))
    events: list[picky.Event] = []

    def parts(token: int) -> list[int]:
        if token in live or token not in made_of:
            return [token]
        return [n for part in made_of[token] for n in parts(part)]

    for kind, first, second in draw(
        st.lists(
            st.tuples(st.integers(0, 3), st.integers(0, 99), st.integers(0, 99)), max_size=size
        )
    ):
        left, right = live[first % len(live)], live[second % len(live)]
        if kind == 0:
            if left in made_of:
                live.remove(left)
                events.append(picky.Event("drop", left, tuple(parts(left)), 0))
        elif len(text := tokens[left] + tokens[right]) <= 16:
            if text not in tokens:
                made_of[len(tokens)] = left, right
                tokens.append(text)
            token = tokens.index(text)
            if token not in live:
                live.append(token)
            events.append(picky.Event("merge", token, (left, right), 0))
    scheme = Picky(tuple(e.parts if e.kind == "merge" else (e.token,) for e in events))
    ids = [*range(256), *sorted(n for n in live if n >= 256)]
    definition = Definition(
        tokens=[tokens[n] for n in ids],
        model=BpeModel([], scheme=scheme),
        pretokenizer=resolve(None),
    )
    return Happened(events, definition)


# --- tokenizers


def tokenizers(*pretokenizers: str | None) -> st.SearchStrategy[digram.Tokenizer]:
    """Tokenizers trained on little text, over bytes."""
    return st.builds(
        digram.train,
        any_corpora,
        pretokenizer=st.sampled_from(pretokenizers),
        ties=ties,
        max_merges=st.integers(0, 16),
        threads=st.just(1),
    )


whole_text_tokenizers = tokenizers(None)
any_tokenizers = tokenizers(None, "gpt2", "o200k", "whitespace")

superword_tokenizers = st.builds(
    digram.train,
    prose | any_corpora,
    pretokenizer=st.sampled_from(["gpt2", "o200k"]),
    superwords=st.builds(
        digram.Boundless,
        joins=st.sampled_from(["no_digits", "all"]),
        pretokenizer=st.sampled_from([None, digram.Regex(r"[^\n]+|\n+")]),
    ),
    max_merges=st.integers(5, 30),
    threads=st.just(1),
)
"""Tokenizers whose words join."""

picky_tokenizers = st.builds(
    digram.train,
    any_corpora,
    pretokenizer=st.sampled_from([None, "gpt2", "o200k", "whitespace"]),
    ties=ties,
    max_merges=st.integers(0, 16),
    picky=st.sampled_from([0.1, 0.4, 0.5, 0.7, 1.0]),
    threads=st.just(1),
) | happened().map(lambda found: digram.Tokenizer(found.definition))
"""Tokenizers that merge and drop by events."""
