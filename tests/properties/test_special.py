"""Special tokens: text never becomes one by itself, and only as the caller asked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_tokenizers, cases, special_soups, special_texts, texts

import digram


def cut(text: str, special: list[str]) -> list[str | digram.SpecialToken]:
    """The longest special token from the left, at each place; what is between them is text."""
    parts: list[str | digram.SpecialToken] = []
    at = 0
    while at < len(text):
        here = [s for s in special if text.startswith(s, at)]
        if here:
            parts.append(digram.SpecialToken(max(here, key=len)))
            at += len(max(here, key=len))
        elif parts and isinstance(parts[-1], str):
            parts[-1] += text[at]
            at += 1
        else:
            parts.append(text[at])
            at += 1
    return parts


def by_parts(tok: digram.Tokenizer, parts: list[str | digram.SpecialToken]) -> list[int]:
    ids: list[int] = []
    for part in parts:
        if isinstance(part, digram.SpecialToken):
            ids.append(tok.special_tokens[part.text])
        else:
            ids += tok.encode(part)
    return ids


@cases(400)
@given(any_tokenizers, special_texts, special_soups, st.data())
def test_special_tokens(
    plain: digram.Tokenizer, special: list[str], text: str, data: st.DataObject
) -> None:
    """By default they are text; parsed, allowed or refused only where the caller says so."""
    tok = plain.with_special_tokens(special)
    assert tok.encode(text) == tok.encode(text, special="text") == plain.encode(text)
    assert tok.encode(text, special="parse") == by_parts(tok, cut(text, special))
    assert tok.encode(text.encode(), special="parse") == tok.encode(text, special="parse")
    allowed = data.draw(st.lists(st.sampled_from(special), unique=True) if special else st.just([]))
    assert tok.encode(text, special=set(allowed)) == by_parts(tok, cut(text, allowed))
    if any(s in text for s in special):
        with pytest.raises(digram.SpecialTokenError):
            tok.encode(text, special="raise")
    else:
        assert tok.encode(text, special="raise") == plain.encode(text)
    assert tok.decode(tok.encode(text, special="parse")) == text


@cases(250)
@given(any_tokenizers, special_texts, st.lists(st.tuples(st.booleans(), special_soups), max_size=6))
def test_parts_of_one_text(
    plain: digram.Tokenizer, special: list[str], drawn: list[tuple[bool, str]]
) -> None:
    """Neighbouring texts join before they are split; a `SpecialToken` is itself, and a border."""
    tok = plain.with_special_tokens(special)
    parts: list[str | digram.SpecialToken] = []
    joined: list[str | digram.SpecialToken] = []
    for trusted, text in drawn:
        if trusted and special:
            parts.append(digram.SpecialToken(special[len(text) % len(special)]))
            joined.append(parts[-1])
            continue
        parts.append(text)
        if joined and isinstance(joined[-1], str):
            joined[-1] += text
        else:
            joined.append(text)
    assert tok.encode(parts) == by_parts(tok, joined)


@cases(250)
@given(any_tokenizers, special_texts, special_soups | texts)
def test_count_is_the_number_of_ids(plain: digram.Tokenizer, special: list[str], text: str) -> None:
    tok = plain.with_special_tokens(special)
    for how in ("text", "parse", frozenset(special[:1])):
        assert tok.count(text, special=how) == len(tok.encode(text, special=how))


NAMES = ["<a>", "<a>b", "b<c>", "<d>", "é>", "<|end|>"]
SETS = [set(names) for count in range(5) for names in combinations(NAMES, count)]
SOUP = "x<a>b<c> <a>b <d><d> é> <|end|> <a" * 2


class Name(str):
    """A name that is no plain `str`, and equal to none."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0


def test_sets_that_calls_name_in_turn_are_not_mixed_up() -> None:
    """A tokenizer keeps what it prepared for some sets, fewer than these, in whatever form."""
    tok = digram.train("abc " * 9, max_merges=3, special_tokens=NAMES)
    expected = [by_parts(tok, cut(SOUP, sorted(names))) for names in SETS]
    assert len({tuple(ids) for ids in expected}) > 16
    for _ in range(2):
        for names, ids in zip(SETS, expected, strict=True):
            for form in (set, frozenset, sorted, tuple, iter):
                assert tok.encode(SOUP, special=form(names)) == ids  # type: ignore[arg-type]
            twice = [*map(Name, names), *names]
            assert tok.encode(SOUP, special=twice) == ids
            assert tok.count(SOUP, special=names) == len(ids)
        with pytest.raises(digram.SpecialTokenError, match='no special token "<x>"'):
            tok.encode(SOUP, special={*NAMES[:2], "<x>"})
        with pytest.raises(TypeError, match="a set of str"):
            tok.encode(SOUP, special=[NAMES[0], 1])  # type: ignore[list-item]
    changed = set(NAMES[:1])
    before = tok.encode(SOUP, special=changed)
    changed.add(NAMES[3])
    assert before == by_parts(tok, cut(SOUP, NAMES[:1]))
    assert tok.encode(SOUP, special=changed) == by_parts(tok, cut(SOUP, [NAMES[0], NAMES[3]]))


def test_threads_with_different_sets_do_not_disturb_each_other() -> None:
    tok = digram.train("abc " * 9, max_merges=3, special_tokens=NAMES)
    expected = [by_parts(tok, cut(SOUP, sorted(names))) for names in SETS]

    def work(first: int) -> None:
        for round in range(300):
            number = (first + round * 7) % len(SETS)
            assert tok.encode(SOUP, special=SETS[number]) == expected[number]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))


def test_an_endless_iterable_of_names_takes_no_more_memory_than_the_names() -> None:
    tok = digram.train("abc " * 9, max_merges=3, special_tokens=NAMES)
    names = repeat("<a>", 3_000_000)
    assert tok.encode(SOUP, special=names) == tok.encode(SOUP, special={"<a>"})  # type: ignore[arg-type]
