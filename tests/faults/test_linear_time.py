"""Nothing takes more than in proportion: sixteen times the text, not a square's 256 times the time.

Time is that of the processor, and rounds go on while the ratio is too high, so that a busy machine
does not fail these tests. What is linear may take up to four times its share, as memory does on
some machines once a text outgrows what is near the processor; what is quadratic stays above that
in every round, and fails.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, Literal

import pytest
from formats.test_families import FAMILIES
from formats.test_trimming import POST, made
from vocabularies import changed

import digram
from digram.formats.huggingface import loads
from digram.pretokenizers import NFC, SPACED_WORDS, Lowercase, Prepend, Replace

sys.path.insert(
    0, str(Path(__file__).parents[2])
)  # the benchmarks are not part of what is installed

from benches import data

pytestmark = pytest.mark.alone

TIMES = 16
"""How much longer the longer text is: the time of what is linear, and of a square its square."""
RATIO = 64.0
LOGARITHM = 128.0
"""For what takes n log n time in memory that outgrows the processor's."""
ROUNDS = 12
SMALL = 64_000
"""Bytes of the smaller text: enough for a measurable time, and for a square to show."""


def ideographs(size: int) -> str:
    """Unspaced Chinese by frequency alone: few characters are common, and most are rare."""
    source = random.Random(3)
    weights = [1 / rank for rank in range(1, 3_001)]
    letters = [chr(0x4E00 + number) for number in source.sample(range(20_000), 3_000)]
    return "".join(source.choices(letters, weights, k=size // 3))


def letters(size: int) -> str:
    """A word that has no end, of random letters."""
    return "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz", k=size))


def digits(size: int) -> str:
    return "".join(random.Random(6).choices("0123456789", k=size))


SHAPES: dict[str, Callable[[int], str]] = {
    "a": lambda size: "a" * size,
    "spaces": lambda size: " " * size,
    "newlines": lambda size: "\n" * size,
    "Chinese": ideographs,
    "digits": digits,
    "letters": letters,
    "spaces and a": lambda size: " " * size + "a",
    "ab": lambda size: "ab" * (size // 2),
    "capitals": lambda size: "A" * size,
    "accents": lambda size: "a" + "\u0301" * (size // 2),
    "punctuation": lambda size: "!" * size,
    "quotes": lambda size: "'" * size,
    "no UTF-8": lambda size: "\ufffd" * (size // 3),
}
MUST = ["a", "spaces", "newlines", "Chinese", "digits"]

HOSTILE = SHAPES | {name: partial(data.shape, name) for name in data.SHAPES}
"""These and those of the benchmarks, the Chinese of real documents among them: 29 shapes."""


def check(make: Callable[[int], str], run: Callable[[str], object], ratio: float = RATIO) -> None:
    """Run on a text, and on one sixteen times as long, until the ratio is small enough."""
    small, large = make(SMALL), make(TIMES * SMALL)
    run(small)
    ratios: list[float] = []
    while len(ratios) < ROUNDS and min(ratios, default=ratio + 1) > ratio:
        begin = process_time()
        for _ in range(TIMES):  # about as long as the other, so that both meet the same noise
            run(small)
        middle = process_time()
        run(large)
        ratios.append(TIMES * (process_time() - middle) / (middle - begin))
    assert min(ratios) <= ratio, f"{TIMES} times the text took {min(ratios):.1f} times the time"


def test_what_is_quadratic_fails() -> None:
    with pytest.raises(AssertionError, match=r"16 times the text took [\d.]+ times"):
        check(lambda size: "a" * (size // 640), lambda text: [a == b for a in text for b in text])


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base", "r50k_base"])
def published(
    request: pytest.FixtureRequest, shared_data: Callable[[str], Path]
) -> digram.Tokenizer:
    shared_data("corpora/multi.txt")
    return digram.load(shared_data(f"vocabs/{request.param}.tiktoken"), encoding=request.param)


@pytest.fixture(scope="module", params=["cl100k", "o200k", "gpt2", None])
def trained(request: pytest.FixtureRequest) -> digram.Tokenizer:
    """A vocabulary that knows all shapes, so that they merge into long tokens."""
    shapes = [make(20_000) for make in SHAPES.values()]
    return digram.train(shapes, vocab_size=2_000, pretokenizer=request.param)


def alone(tok: digram.Tokenizer, text: str) -> list[list[int]]:
    """Encodes on one thread: two that share a core take more of its time together."""
    return tok.encode_batch([text], threads=1)


def limit(tok: digram.Tokenizer, shape: str) -> float:
    """What is allowed: one endless random pretoken takes n log n, in ever farther memory."""
    is_one_pretoken = tok.pretokenizer == digram.Pretokenizer(None)
    return LOGARITHM if shape == "letters" or (shape == "digits" and is_one_pretoken) else RATIO


@pytest.mark.parametrize("shape", HOSTILE)
def test_encode_under_a_published_vocabulary(published: digram.Tokenizer, shape: str) -> None:
    make = HOSTILE[shape]
    check(lambda size: make(size // 2), partial(alone, published), limit(published, shape))


@pytest.mark.parametrize("published", ["cl100k_base"], indirect=True)
@pytest.mark.parametrize("shape", MUST)
def test_encode_shared_among_threads(published: digram.Tokenizer, shape: str) -> None:
    check(lambda size: SHAPES[shape](2 * size), published.encode)


@pytest.mark.parametrize("shape", MUST)
def test_encode_under_our_own(trained: digram.Tokenizer, shape: str) -> None:
    check(SHAPES[shape], partial(alone, trained), limit(trained, shape))


@pytest.mark.parametrize("shape", ["a", "spaces", "newlines", "Chinese", "letters", "ab"])
def test_encode_by_events(shape: str) -> None:
    """Tokens that come, go and come again, in one pretoken."""
    make = SHAPES[shape]
    tok = digram.train([make(4_000)] * 2, max_merges=200, picky=0.3, pretokenizer=None)
    assert any(event.kind == "drop" for event in tok.events)
    check(make, partial(alone, tok), LOGARITHM)


@pytest.mark.parametrize("shape", ["a", "Chinese", "spaces"])
def test_count_and_decode(trained: digram.Tokenizer, shape: str) -> None:
    check(SHAPES[shape], lambda text: trained.decode_batch(alone(trained, text), threads=1))
    check(SHAPES[shape], lambda text: trained.count_batch([text], threads=1))


@pytest.mark.parametrize("shape", ["a", "Chinese", "spaces"])
def test_encodings(trained: digram.Tokenizer, shape: str) -> None:
    """Places, words, windows, and a search in each of them."""

    def look(text: str) -> None:
        encoding = trained(text, max_length=64, overlap=8, offsets="utf16")
        for window in (encoding, *encoding.overflowing):
            assert window.char_to_token(window.offsets[-1][0]) is not None
            assert window.word_to_tokens(window.word_ids[-1] or 0) is not None

    check(SHAPES[shape], look)


@pytest.mark.parametrize("shape", MUST)
def test_characters(shape: str) -> None:
    corpus = [make(20_000) for make in SHAPES.values()]
    tok = digram.train(corpus, max_merges=500, unit="char", pretokenizer=None, on_unknown="bytes")
    check(SHAPES[shape], partial(alone, tok))


@pytest.mark.parametrize("shape", [*MUST, "spaces and a", "letters"])
def test_counting_of_all_kinds(trained: digram.Tokenizer, shape: str) -> None:
    """Half of a text is kept, and no part of it is tried too often."""

    def truncate(text: str) -> None:
        half = trained.count(text) // 2
        trained.truncate(text, half)
        trained.truncate(text, half, side="left")

    ratio = limit(trained, shape)
    check(lambda size: SHAPES[shape](size // 4), truncate, ratio)
    check(SHAPES[shape], trained.intervals, ratio)
    check(SHAPES[shape], lambda text: trained.fits(text, len(text) // 2), ratio=LOGARITHM)


GROUPS: dict[str, digram.Pretokenizer] = {
    "by the pattern": digram.Pretokenizer("cl100k"),
    "by the first of several": digram.Pretokenizer("deepseek-v3"),
    "before the pattern": digram.Pretokenizer("o200k", digits="threes_from_left"),
}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("groups", GROUPS)
def test_truncate_groups_that_are_no_tokens(groups: str, side: Literal["left", "right"]) -> None:
    """Wherever a long number is cut, its groups from there on are others."""
    tok = digram.train("12 45 78", max_merges=3, pretokenizer=GROUPS[groups])

    def truncate(text: str) -> None:
        tok.truncate(text, tok.count(text) // 2, side=side)

    check(lambda size: digits(size // 8), truncate)


@pytest.mark.parametrize("side", ["left", "right"])
def test_truncate_where_merges_are_ignored(side: Literal["left", "right"]) -> None:
    trained = digram.train(letters(20_000), vocab_size=300, pretokenizer="gpt2").definition
    # No merges lead to the last token: a pretoken may be it, and no part of one.
    definition = changed(trained, tokens=[*trained.tokens, b"qqqq"], ignore_merges=True)
    tok = digram.Tokenizer(definition)
    assert tok.encode("qqqq") == [300]

    def truncate(text: str) -> None:
        tok.truncate(text, tok.count(text) // 2, side=side)

    check(lambda size: letters(size // 8), truncate)


@pytest.mark.parametrize("shape", ["a", "digits", "spaces", "letters", "Chinese"])
@pytest.mark.parametrize("pretokenizer", ["cl100k", "deepseek-v3", None])
def test_a_count_after_each_letter(shape: str, pretokenizer: str | None) -> None:
    tok = digram.train(
        [make(60) for make in SHAPES.values()], max_merges=300, pretokenizer=pretokenizer
    )

    def count(text: str) -> None:
        counter = tok.counter()
        for letter in text:
            counter.append(letter)
            assert counter.count > 0

    check(lambda size: SHAPES[shape](size // 50), count)


ONE_STRETCH: dict[str, dict[str, Any]] = {
    "boundless": {"superwords": "boundless"},
    "picky": {"picky": 0.5, "pretokenizer": None},
}


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("piece", ["a", "ab, "])
@pytest.mark.parametrize("kind", ONE_STRETCH)
def test_truncate_where_merges_are_not_by_rank(
    kind: str, piece: str, side: Literal["left", "right"]
) -> None:
    """A stretch without a border, in which words join, or tokens come and go."""
    tok = digram.train([piece * 100, letters(2_000)], max_merges=100, **ONE_STRETCH[kind])

    def truncate(text: str) -> None:
        tok.truncate(text, tok.count(text) // 2, side=side)

    check(lambda size: piece * (size // 16 // len(piece)), truncate)


@pytest.mark.parametrize("shape", ["Chinese", "digits", "letters"])
def test_chunks(trained: digram.Tokenizer, shape: str) -> None:
    chunks = partial(trained.chunks, max_length=64, overlap=8)
    check(lambda size: SHAPES[shape](size // 2), chunks, ratio=LOGARITHM)


@pytest.mark.parametrize("published", ["cl100k_base"], indirect=True)
def test_chunks_of_long_tokens(published: digram.Tokenizer) -> None:
    """Longer ones, of thousands of bytes, would make a chunk of all of the smaller text."""
    check(lambda size: "a" * (size // 2), partial(published.chunks, max_length=64, overlap=8))


@pytest.mark.parametrize("shape", ["a", "digits", "newlines"])
def test_dropout(trained: digram.Tokenizer, shape: str) -> None:
    encode = partial(trained.encode, dropout=0.1, seed=1)
    check(lambda size: SHAPES[shape](size // 2), encode, ratio=LOGARITHM)


PATTERNS = {
    "no match, all of it read": (r"a+b", "a"),
    "no match, alternatives": (r"a+b|a+c|a+d", "a"),
    "long promise, short match": (r"a+b|a", "a"),
    "longer promise, short match": (r"(?:aa)+b|a{1,3}", "a"),
    "promise at a distance": (r"\s+\S|\s", " "),
    "look ahead": (r"\s+(?!\S)|\s+", " "),
    "look ahead, and a line's end": (r"\s*[\r\n]+|\s+(?!\S)|\s", " "),
    "classes that overlap": (r"\w*\d|\w*[A-Z]|\w", "a"),
    "look far ahead, in vain": (r"(?=a+b)a", "a"),
    "look far ahead": (r"a(?=a*$)", "a"),
    "look far behind": (r"(?<=^a*)a", "a"),
    "look around in each other": (r"(?=a*(?<!b(?=a*b)a*)$)a|(?<=x.*)a", "a"),
    "look around, and read far": (r"(?:(?<=a)a(?=a))+b|(?=a)", "a"),
    "look ahead over other characters": (r"(?!.*b)\s+\S|(?<=b.*)\s", " "),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_made_to_be_slow(name: str) -> None:
    """Each match may need all the rest of the text to be read, so starting over is quadratic."""
    pattern, letter = PATTERNS[name]
    cut = digram.Regex(pattern)
    check(lambda size: letter * (size // 4), lambda text: digram.pretokenize(text, cut))


@pytest.mark.parametrize("shape", ["a", "Chinese", "letters", "digits"])
def test_training_without_a_pattern(shape: str) -> None:
    """One text of 1.5 MB is one word; a recount for each merge would take minutes."""
    text = SHAPES[shape](1_500_000)
    before = process_time()
    tok = digram.train(text, vocab_size=1_500, pretokenizer=None, threads=1)
    taken = process_time() - before
    assert tok.decode(tok.encode(text)) == text
    assert taken < 60, f"{taken:.1f} s"


@pytest.mark.parametrize("cluster", ["🇫🇷", "ก\u0e33", "각\u11a8", "日\u3099"])
def test_clusters_before_a_character_that_ends_their_run(cluster: str) -> None:
    """The search for characters that are looked up one by one began again at each cluster."""
    tok = digram.Tokenizer(loads(FAMILIES["T5, XLM-R"]().to_str().encode()))
    check(lambda size: cluster * (size // 8) + "\u0600", tok.encode)


@pytest.mark.parametrize("unit", ["bytes", "utf16"])
def test_offsets_of_added_tokens_are_trimmed(unit: Literal["bytes", "utf16"]) -> None:
    """The text was converted to the unit of the offsets again for each `<mask>`."""
    tok = digram.Tokenizer(loads(made(POST["spaces"], prefix=False).to_str().encode()))
    look = partial(tok, offsets=unit, special="parse")
    assert look("é <mask>").offsets[-1][0] == {"bytes": 3, "utf16": 2}[unit]
    check(lambda size: "é <mask>" * (size // 8), lambda text: look(text).offsets)


BEGINNINGS: dict[str, Callable[[], digram.Tokenizer]] = {
    "normal forms": lambda: first_words(normalizer=[NFC(), Lowercase()]),
    "a space before": lambda: first_words(normalizer=[Prepend(" "), Replace("\n", " ")]),
    "words": lambda: first_words(normalizer=SPACED_WORDS),
    "special tokens": lambda: first_words().with_special_tokens(["<|end|>"]),
    "flags": lambda: with_flags(first_words().with_special_tokens(["<|m|>"])),
}
"""Kinds in which a text is changed, or searched, before it is split."""


def first_words(normalizer: Any = None) -> digram.Tokenizer:
    pretokenizer = digram.Pretokenizer("gpt2", normalizer=normalizer)
    return digram.train("the cat sat, the Größe é " * 9, max_merges=20, pretokenizer=pretokenizer)


def with_flags(tok: digram.Tokenizer) -> digram.Tokenizer:
    matching = {"<|m|>": digram.Matching(lstrip=True, single_word=True)}
    return digram.Tokenizer(changed(tok.definition, matching=matching))


@pytest.mark.parametrize("words", ["the cat, ", "die Größe, ", "ab \u3042 "])
@pytest.mark.parametrize("kind", BEGINNINGS)
def test_the_first_tokens_take_no_longer_in_a_longer_text(kind: str, words: str) -> None:
    """The ratio is about 1; one that is in proportion to the text would be 16."""
    tok = BEGINNINGS[kind]()

    def read(text: str) -> None:
        for _ in range(20):
            assert not tok.fits(text, 100, special="parse")
            assert len(tok.truncate(text, 100, special="parse")) < 2_000

    check(lambda size: words * (size // 8), read, ratio=2.0)
