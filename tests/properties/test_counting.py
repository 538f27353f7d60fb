"""Whatever asks how many ids a text has gives what `count` gives, and no faster way is another."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from faults.test_linear_time import check, digits
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    any_bytes,
    cases,
    long_texts,
    picky_tokenizers,
    small_corpora,
    soups,
    special_soups,
    special_texts,
    superword_tokenizers,
    texts,
    tokenizers,
    vocabularies,
)

import digram
from digram import _core

DIGITS = st.text("0123 ٣a", max_size=24)
anything = texts | long_texts | DIGITS
PRETOKENIZERS: list[Any] = [
    "gpt2",
    "cl100k",
    "o200k",
    "deepseek-v3",
    "whitespace",
    None,
    digram.Pretokenizer("gpt2", digits="threes_from_right"),
    digram.Pretokenizer("cl100k", digits="threes_from_right"),
    digram.Pretokenizer(None, digits="threes_from_left"),
    digram.Regex(r"a+b|a"),
    digram.Regex(r"\bab|\s+(?!\S)|^a|b+$"),
    [digram.Regex(r"\s+"), digram.Regex("(?:aa)+b|a{1,3}")],
]
RULED: list[Any] = [
    digram.Pretokenizer("gpt2", rules=digram.Rules(["ab", "a b", "b!"], units=["a", "%"])),
    digram.Pretokenizer(
        "o200k", rules=digram.Rules(["aa", "3a"], patterns=["b+"], numbers="threes_from_right")
    ),
    digram.Pretokenizer(None, rules=digram.Rules(["aba"], numbers="whole")),
    digram.Pretokenizer("deepseek-v3", rules=digram.Rules(["a a", "中"], units=["中"])),
]
every_tokenizer = (
    tokenizers(*PRETOKENIZERS)
    | tokenizers(*RULED)
    | vocabularies().map(lambda vocabulary: digram.Tokenizer(vocabulary.definition))
    | vocabularies(ignore_merges=True).map(lambda v: digram.Tokenizer(v.definition))
    | picky_tokenizers
    | st.builds(
        digram.train,
        small_corpora,
        unit=st.just("char"),
        on_unknown=st.sampled_from(["bytes", digram.SpecialToken("<unk>")]),
        pretokenizer=st.sampled_from(PRETOKENIZERS),
        max_merges=st.integers(0, 12),
    )
    | superword_tokenizers
)


@cases(300)
@given(
    every_tokenizer,
    special_texts,
    st.lists(special_soups | anything, max_size=6),
    st.sampled_from(["text", "parse"]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([1, 20_000]),
)
def test_a_batch_of_counts(
    plain: digram.Tokenizer,
    special: list[str],
    batch: list[str],
    how: Any,
    threads: int | None,
    times: int,
) -> None:
    tok = plain.with_special_tokens(special)
    batch = batch * min(times, 150_000 // (sum(map(len, batch)) + 1) + 1)
    once: dict[str, int] = {text: tok.count(text, special=how) for text in set(batch)}
    expected = [once[text] for text in batch]
    assert tok.count_batch(batch, special=how, threads=threads) == expected
    array = tok.count_batch(batch, special=how, threads=threads, out="numpy")
    assert (array.dtype.name, array.tolist()) == ("uint64", expected)


@cases(300)
@given(every_tokenizer, special_texts, special_soups | anything, st.integers(0, 3))
def test_fits(plain: digram.Tokenizer, special: list[str], text: str, off: int) -> None:
    tok = plain.with_special_tokens(special)
    for how in ("text", "parse"):
        count = tok.count(text, special=how)
        for n in {0, max(0, count - off), count, count + off}:
            assert tok.fits(text, n, special=how) is (count <= n)


def borders(tok: digram.Tokenizer, text: str | bytes, how: Any) -> list[tuple[int, int]]:
    """Where tokens end between characters, in bytes, and how many have ended there."""
    data = text.encode() if isinstance(text, str) else text
    ends, at = [(0, 0)], 0
    for number, id_ in enumerate(tok.encode(text, special=how), 1):
        token = tok.id_to_token(id_)
        if not data.startswith(token, at):  # the unknown token: it stands for one character
            token = data[at:].decode()[0].encode()
        at += len(token)
        ends.append((at, number))
    between = character_borders(data)
    return [(place, ids) for place, ids in ends if place in between]


def character_borders(data: bytes) -> set[int]:
    """Where characters begin, or bytes that one U+FFFD stands for, and where the data ends."""
    shown = data.decode(errors="replace")
    found, at = {0}, 0
    for c in shown:
        encoded = c.encode()
        if c == "\ufffd" and not data.startswith(encoded, at):
            sizes = [n for n in (3, 2, 1) if data[at : at + n].decode(errors="replace") == c]
            at += next(n for n in sizes if at + n <= len(data))
        else:
            at += len(encoded)
        found.add(at)
    assert at == len(data)
    return found


def step_back(pieces: list[Any], fits: Callable[[Any], bool]) -> Any:
    """The first of the pieces that fits, or of those 1, 3, 7, ... behind it, at last the last."""
    distance = 0
    while not fits(pieces[distance]):
        if distance == len(pieces) - 1:
            return None
        distance = min(2 * distance + 1, len(pieces) - 1)
    return pieces[distance]


def truncated(tok: digram.Tokenizer, text: Any, n: int, side: str, how: Any) -> Any:
    """The tokens of the text that fit, and fewer where these have more ids of their own."""
    if tok.count(text, special=how) <= n:
        return text
    data = text.encode() if isinstance(text, str) else text
    found = borders(tok, text, how)
    if side == "right":
        pieces = [data[:place] for place, ids in reversed(found) if ids <= n]
    else:
        total = found[-1][1]
        pieces = [data[place:] for place, ids in found if total - ids <= n]
    shown = [piece.decode() if isinstance(text, str) else piece for piece in pieces]
    return step_back(shown, lambda piece: tok.count(piece, special=how) <= n)


@cases(500)
@given(
    every_tokenizer,
    special_texts,
    special_soups | anything,
    st.sampled_from(["left", "right"]),
    st.sampled_from(["text", "parse"]),
    st.integers(0, 30),
    st.sampled_from([1, 8]),
)
def test_truncate(
    plain: digram.Tokenizer,
    special: list[str],
    text: str,
    side: Any,
    how: Any,
    n: int,
    times: int,
) -> None:
    tok = plain.with_special_tokens(special)
    text = text[: 240 // times] * times
    assert tok.truncate(text, n, side=side, special=how) == truncated(tok, text, n, side, how)


@cases(400)
@given(
    tokenizers(*PRETOKENIZERS)
    | superword_tokenizers
    | vocabularies().map(lambda v: digram.Tokenizer(v.definition)),
    any_bytes | st.binary(max_size=12).map(lambda data: data * 9),
    st.sampled_from(["left", "right"]),
    st.integers(0, 30),
)
def test_truncate_bytes(tok: digram.Tokenizer, data: bytes, side: Any, n: int) -> None:
    assert tok.truncate(data, n, side=side) == truncated(tok, data, n, side, "text")


@cases(300)
@given(every_tokenizer, st.sampled_from("ab 1'\n!é中"), st.integers(60, 200), anything, st.data())
def test_truncate_long_runs(
    tok: digram.Tokenizer, letter: str, times: int, end: str, data: st.DataObject
) -> None:
    text = letter * times + end[:20]
    n = data.draw(st.integers(0, tok.count(text)))
    for side in ("left", "right"):
        assert tok.truncate(text, n, side=side) == truncated(tok, text, n, side, "text")


def chunks(tok: digram.Tokenizer, text: Any, size: int, overlap: int) -> list[tuple[int, int]]:
    """Where the chunks begin and end, in bytes."""
    data = text.encode() if isinstance(text, str) else text
    places = borders(tok, text, "text")

    def count(start: int, end: int) -> int:
        piece = data[start:end]
        return tok.count(piece.decode() if isinstance(text, str) else piece)

    def chunk(start: int) -> tuple[int, int] | None:
        before = max(ids for place, ids in places if place <= start)
        ends = [p for p, ids in reversed(places) if p > start and ids <= before + size]
        pieces = [(start, end) for end in ends]
        found: tuple[int, int] | None = None
        if pieces:
            found = step_back(pieces, lambda piece: count(*piece) <= size)
        if found is None:
            after = min(place for place, _ in places if place > start)
            characters = [p for p in sorted(character_borders(data)) if start < p <= after]
            pieces = [(start, end) for end in reversed(characters)]
            found = step_back(pieces, lambda piece: count(*piece) <= size)
        return found

    def shared(start: int, end: int) -> int | None:
        ids_at_end = max(ids for place, ids in places if place <= end)
        last = max(place for place, _ in places if place <= end)
        starts = [p for p, ids in places if start < p < last and ids_at_end - ids <= overlap]
        return step_back(starts, lambda place: count(place, end) <= overlap) if starts else None

    found: list[tuple[int, int]] = []
    done = 0
    while done < len(data):
        start = shared(*found[-1]) if found and overlap else None
        piece = chunk(start) if start is not None else None
        if piece is None or piece[1] <= done:
            piece = chunk(done)
        assert piece is not None
        found.append(piece)
        done = piece[1]
    return found


@cases(300)
@given(every_tokenizer, anything, st.integers(4, 12), st.integers(0, 11), st.sampled_from([1, 6]))
def test_chunks(tok: digram.Tokenizer, text: str, size: int, overlap: int, times: int) -> None:
    """Four ids are enough for any character."""
    text, overlap = text[:60] * times, min(overlap, size - 1)
    kinds: list[Any] = [text] if tok.unit == "char" else [text, text.encode()]
    for kind in kinds:
        found = tok.chunks(kind, size, overlap=overlap)
        starts = [
            len(kind[: c.start].encode()) if isinstance(kind, str) else c.start for c in found
        ]
        ends = [len(kind[: c.end].encode()) if isinstance(kind, str) else c.end for c in found]
        assert list(zip(starts, ends, strict=True)) == chunks(tok, kind, size, overlap)
        assert all(c.text == kind[c.start : c.end] for c in found)
        assert (
            kind[:0].join(
                c.text[(found[n - 1].end if n else 0) - c.start :] for n, c in enumerate(found)
            )
            == kind
        )
        for before, after in pairwise(found):
            assert tok.count(kind[after.start : before.end]) <= overlap
            assert before.start < after.start <= before.end < after.end
        assert all(tok.count(c.text) == c.count <= size for c in found)


@cases(300)
@given(every_tokenizer, anything, st.lists(st.tuples(st.integers(-80, 300), st.integers(-80, 300))))
def test_intervals(tok: digram.Tokenizer, text: str, places: list[tuple[int, int]]) -> None:
    kinds: list[Any] = [text, text * 5]
    if tok.unit == "byte":
        kinds += [text.encode() * 5, ("é" + text).encode()[1:] * 3]
    for kind in kinds:
        intervals = tok.intervals(kind)
        for start, end in places:
            assert intervals.count(start, end) == tok.count(kind[start:end])
            assert intervals.count(start) == tok.count(kind[start:])
        assert intervals.count(0, 10**9) == tok.count(kind)


@cases(300)
@given(
    every_tokenizer,
    st.lists(st.tuples(st.booleans(), texts | soups | DIGITS), max_size=8),
    st.booleans(),
    st.booleans(),
)
def test_a_running_count(
    tok: digram.Tokenizer, pieces: list[tuple[bool, str]], as_bytes: bool, always: bool
) -> None:
    """At all times, also when it is asked for seldom; bytes may be cut inside characters."""
    if as_bytes and tok.unit == "byte":
        whole: Any = b""
        cut: list[tuple[bool, Any]] = [
            (front, part)
            for front, text in pieces
            for data in [text.encode()]
            for part in (data[: len(data) // 2], data[len(data) // 2 :])
        ]
    else:
        whole, cut = "", list(pieces)
    counter = tok.counter(whole)
    for front, piece in cut:
        if front:
            counter.prepend(piece)
            whole = piece + whole
        else:
            counter.append(piece)
            whole += piece
        if always:
            assert counter.count == tok.count(whole)
    assert int(counter) == counter.count == tok.count(whole)


ENDLESS = [
    *PRETOKENIZERS,
    # What ends a match stands far behind where it began, or is the end of the text.
    digram.Regex("xa|x?a+(?:b|$)"),
    digram.Regex("a{30}b|x"),
    digram.Regex("(?:aa)+|x"),
    digram.Regex("a+$|[ab]{1,9}"),
    [digram.Regex("[ab1]+"), digram.Regex("a+b|a{1,50}")],
    [digram.Regex(r"\p{N}{1,3}"), digram.Regex(r"\p{N}{1,2}|x")],
]


@cases(250)
@given(
    tokenizers(*ENDLESS)
    | vocabularies().map(lambda vocabulary: digram.Tokenizer(vocabulary.definition))
    | vocabularies(ignore_merges=True).map(lambda v: digram.Tokenizer(v.definition)),
    st.sampled_from(["a", "ab", "aab", "1", "12", " ", "xa", "é", "中a", "a'", "x's"]),
    st.integers(250, 700),
    st.lists(
        st.sampled_from(["", "a", "b", "x", " ", "1", "é", "中", "a" * 30, "ab" * 90]), max_size=9
    ),
    st.booleans(),
)
def test_a_running_count_of_pretokens_without_an_end(
    tok: digram.Tokenizer, piece: str, size: int, later: list[str], as_bytes: bool
) -> None:
    """Far more text than is counted anew each time; bytes may be cut inside characters."""
    whole: Any = (piece * size)[:size]
    parts: list[Any] = [piece, *piece, *later, *(text + piece * 40 for text in later)]
    if as_bytes:
        whole = whole.encode()
        parts = [
            data[n:][:half]
            for text in parts
            for data in [text.encode()]
            for half in [(len(data) + 1) // 2]
            for n in (0, half)
        ]
    counter = tok.counter(whole)
    assert counter.count == tok.count(whole)
    for part in parts:
        counter.append(part)
        whole += part
        assert counter.count == tok.count(whole)
    counter.prepend(whole[:3])
    counter.append(whole[:1])
    assert counter.count == tok.count(whole[:3] + whole + whole[:1])


def test_a_failed_append_changes_nothing() -> None:
    tok = digram.train("ab ab", unit="char", pretokenizer="whitespace", max_merges=2)
    counter = tok.counter("ab ab")
    with pytest.raises(digram.InvalidTextError):
        counter.append("a x b ab")
    with pytest.raises(digram.InvalidTextError):
        counter.prepend("ab x b")
    counter.append(" ab")
    assert counter.count == tok.count("ab ab ab")


@pytest.mark.parametrize("options", [{"picky": 0.5}, {"rules": digram.Rules(["aab"])}])
def test_a_counter_refuses_to_take_the_square_of_a_text(options: dict[str, Any]) -> None:
    tok = digram.train("a" * 99 + "aab", pretokenizer=None, max_merges=5, **options)
    text = "a" * 60_000
    counter = tok.counter()

    def append_and_count() -> None:
        for at in range(0, len(text), 5):
            counter.append(text[at : at + 5])
            assert counter.count > 0

    with pytest.raises(digram.LimitExceededError, match=r"have no place to cut.*Count less often"):
        append_and_count()
    assert "cannot be counted" in repr(counter)
    once = tok.counter()
    for at in range(0, len(text), 5):
        once.append(text[at : at + 5])
    assert once.count == tok.count(text)


def test_intervals_and_running_counts_show_their_numbers() -> None:
    tok = digram.train("ab ab", max_merges=1)
    assert repr(tok.intervals("ab é")) == "<digram.Intervals: 4 characters, 4 tokens>"
    assert repr(tok.intervals("ab é".encode())) == "<digram.Intervals: 5 bytes, 4 tokens>"
    assert repr(tok.intervals("a" * 1000)) == "<digram.Intervals: 1,000 characters, 1,000 tokens>"
    assert repr(tok.intervals("")) == "<digram.Intervals: 0 characters, 0 tokens>"
    counter = tok.counter()
    assert repr(counter) == "<digram.RunningCount: 0 tokens>"
    counter.append("ab")
    assert repr(counter) == "<digram.RunningCount: 1 token>"
    odd = digram.train("ab", max_merges=1, unit="char").counter("abx")
    assert repr(odd) == "<digram.RunningCount: the text cannot be counted>"


def test_errors() -> None:
    tok = digram.train("ab", max_merges=1)
    for call in (tok.fits, tok.truncate):
        with pytest.raises(digram.OptionError, match="max_length=-1 is not at least 0"):
            call("a", -1)
    with pytest.raises(digram.OptionError, match="Pass 'left' or 'right'"):
        tok.truncate("a", 1, side="both")  # type: ignore[call-overload]
    with pytest.raises(digram.OptionError, match="max_length=0 is not at least 1"):
        tok.chunks("a", 0)
    with pytest.raises(digram.OptionError, match="overlap=-1 is not at least 0"):
        tok.chunks("a", 3, overlap=-1)
    for overlap in (3, 4):
        with pytest.raises(
            digram.OptionError, match=f"overlap={overlap} is not below max_length=3"
        ):
            tok.chunks("a", 3, overlap=overlap)
    with pytest.raises(digram.LimitExceededError, match="has more than 2 tokens"):
        tok.chunks("a中a", 2)
    with pytest.raises(TypeError, match="texts is several texts"):
        tok.count_batch("a")
    with pytest.raises(digram.OptionError, match="threads=0"):
        tok.count_batch(["a"], threads=0)
    with pytest.raises(digram.InvalidTextError) as caught:
        tok.count_batch(["a", "\udc80"])
    assert caught.value.index == 0
    with pytest.raises(digram.SpecialTokenError):
        tok.with_special_tokens(["<a>"]).truncate("ab<a>", 9, special="raise")
    assert tok.with_special_tokens(["<a>"]).truncate("ab<a>", 0, special="raise") == ""


@pytest.mark.alone
def test_fits_looks_at_no_more_than_it_must() -> None:
    """A hundred ids of 50 MB as quickly as of 50 KB; in rounds, as a busy machine may be slow."""
    tok = digram.train("low lower lowest " * 50, vocab_size=262, pretokenizer="gpt2")
    for piece in ("low lower ", "a", " "):
        small, large = piece * (50_000 // len(piece)), piece * (50_000_000 // len(piece))
        ratios: list[float] = []
        while len(ratios) < 8 and min(ratios, default=101) > 100:
            times = []
            for text in (small, large):
                before = process_time()
                for n in range(50, 150):
                    assert not tok.fits(text, n)
                times.append(process_time() - before)
            ratios.append(times[1] / times[0])
        assert min(ratios) <= 100


@pytest.mark.alone
@pytest.mark.parametrize("letter", ["a", "1", "\u4e2d"])
def test_letters_put_before_a_word_without_a_cut(letter: str) -> None:
    tok = digram.train("low lower", max_merges=3, pretokenizer="gpt2")

    def count(text: str) -> None:
        counter = tok.counter()
        for piece in text:
            counter.prepend(piece)
        assert counter.count == tok.count(text)

    check(lambda size: letter * (size // 12), count)


@pytest.mark.alone
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("pattern", ["gpt2", "o200k", None])
def test_truncate_digits_that_are_grouped_from_the_right(pattern: str | None, side: Any) -> None:
    groups = digram.Pretokenizer(pattern, digits="threes_from_right")
    tok = digram.train("12 45 78", max_merges=3, pretokenizer=groups)

    def truncate(text: str) -> None:
        tok.truncate(text, tok.count(text) // 2, side=side)

    check(lambda size: digits(size // 16), truncate)


def test_the_examples_of_the_compiled_classes_run() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for compiled in (_core.Intervals, _core.RunningCount):
        found = finder.find(compiled, compiled.__name__, module=False)
        with_examples = [test for test in found if test.examples]
        for test in with_examples:
            runner.run(test)
        assert len(with_examples) >= 2
    assert runner.summarize() == (0, runner.tries)


def test_borders_are_the_ends_of_tokens() -> None:
    tok = digram.train("low low", max_merges=2, pretokenizer=None)
    assert borders(tok, "low é", "text") == [(0, 0), (3, 1), (4, 2), (6, 4)]


def test_truncate_by_a_pattern_that_looks_behind() -> None:
    """What is left begins a text, and what is inside it does not, wherever it is counted from."""
    tok = digram.train("aaa", pretokenizer=digram.Regex("^a|b+$"), max_merges=1)
    text = "a" * 10 + "b" * 60
    assert tok.tokens(tok.encode(text))[:3] == [b"a", b"aa", b"aa"]
    assert tok.truncate(text, 5) == "a" * 9
    assert tok.truncate(text, 64, side="left") == "a" * 7 + "b" * 60
    for n in range(tok.count(text)):
        for side in ("left", "right"):
            assert tok.truncate(text, n, side=side) == truncated(tok, text, n, side, "text")
