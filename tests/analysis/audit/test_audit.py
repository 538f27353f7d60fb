"""What an audit finds, against the definitions written out and against vocabularies made for it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_tokenizers, cases, soups, texts
from vocabularies import changed

import digram
from digram.analysis.audit import KINDS

PLAY = "play: play? play! play " * 9


def shown(found: digram.Audit, kind: str) -> tuple[str, ...]:
    return found.by_kind[kind].details


def with_tokens(*tokens: str, **changes: object) -> digram.Tokenizer:
    """A tokenizer whose whole pretokens are these tokens."""
    base = digram.train("", max_merges=0, pretokenizer="o200k").definition
    added = [*base.tokens, *(token.encode() for token in tokens)]
    fields = {"tokens": added, "ignore_merges": True, **changes}
    return digram.Tokenizer(changed(base, **fields))


@pytest.mark.parametrize(
    ("pretokenizer", "expected"), [("whitespace", 4), ("gpt2", 0), ("o200k", 0)]
)
def test_a_word_with_punctuation_costs_tokens_without_a_split(
    pretokenizer: str | None, expected: int
) -> None:
    """`play:`, `play?` and `play!` are tokens of their own, unless a split keeps them apart."""
    tok = digram.train(PLAY, vocab_size=266, pretokenizer=pretokenizer)
    finding = digram.audit(tok).by_kind["punctuation"]
    assert finding.count == expected
    words = [token.strip() for token in tok.tokens(finding.ids)]
    if expected:
        assert {b"play:", b"play?", b"play!"} <= {*words}


@cases(60)
@given(any_tokenizers, st.lists(texts, max_size=6), st.integers(1, 4))
def test_tokens_that_a_corpus_does_not_use(
    tok: digram.Tokenizer, corpus: list[str], rare: int
) -> None:
    found = digram.audit(tok, corpus, rare=rare, threads=1)
    times = Counter(id for text in corpus for id in tok.encode(text))
    made = range(256, tok.vocab_size)  # the base is there for what nobody saw
    assert found.by_kind["unused"].ids == tuple(id for id in made if not times[id])
    assert found.by_kind["rare"].ids == tuple(id for id in made if 0 < times[id] < rare)
    assert found.corpus is not None
    assert found.corpus.tokens == times.total()
    assert np.array_equal(found.corpus.times, [times[id] for id in range(tok.vocab_size)])
    assert found.corpus.bytes == sum(len(text.encode()) for text in corpus)
    assert (found.corpus.documents, found.by_kind["round_trip"].count) == (len(corpus), 0)


@cases(60)
@given(any_tokenizers)
def test_tokens_that_are_no_whole_characters(tok: digram.Tokenizer) -> None:
    def is_whole(token: bytes) -> bool:
        return token.decode("utf-8", "ignore").encode() == token

    made = range(256, tok.vocab_size)
    parts = tuple(id for id in made if not is_whole(tok.id_to_token(id)))
    assert digram.audit(tok).by_kind["partial"].ids == parts


@cases(40)
@given(st.lists(st.text(min_size=2, max_size=3) | soups.filter(lambda s: len(s) > 1), unique=True))
def test_duplicates_share_a_normal_form(words: list[str]) -> None:
    import unicodedata

    known = [word for word in words if len(word.encode()) > 1]
    found = digram.audit(with_tokens(*known)).by_kind["duplicates"]
    forms = Counter(unicodedata.normalize("NFKC", word) for word in known)
    assert found.count == sum(number - 1 for number in forms.values())


def test_variants() -> None:
    tok = with_tokens("the", "The", "THE", " the", "dog", "fi", "ﬁ", "x", "X", "cat.", "cat")
    found = digram.audit(tok)
    assert shown(found, "case") == ("[the] [The] [THE]",)
    assert shown(found, "duplicates") == ("[fi] [ﬁ]",)
    assert shown(found, "punctuation") == ("[cat] [cat.]",)
    assert tok.tokens(found.by_kind["punctuation"].ids) == [b"cat."]


def test_marks_are_a_part_of_words() -> None:
    """Hindi and Thai write vowels as marks, and Persian words hold a joiner."""
    found = digram.audit(with_tokens("नहीं", "नह", " नहीं", "फिर", "ซื้อ", "ซ", "می\u200cشود"))
    assert found.by_kind["punctuation"].count == 0


@pytest.mark.parametrize(
    ("kind", "junk"),
    [
        ("controls", ["a\x00b", "a\u200b", "\ufeffusing", "\u202e ", "a\x85"]),
        ("private", ["\ue000", "a\uf8ff", "\ufdd0"]),
        ("mojibake", ["ÃÂÃÂ", "naÃ¯ve", "donâ€™t", "a\ufffd"]),
        ("markup", ["</td", "<div", '"/>', "<p>", "&nbsp;", "&#x27;", "<!DOCTYPE"]),
        ("urls", ["https://", "www.a", ".com", "index.html", " example.org"]),
        ("rules", ["--------", "=" * 20, "+------+", "________", "──────────", " - - - - - -"]),
        ("repeats", ["aaaaaaaa", "hahahahaha", "哈" * 8, "\\x00\\x00\\x00\\x00"]),
        ("encoded", ["deadbeef01", "0xDEADBEEF1", "iVBORw0KGgoA", "aGVsbG8gd29ybGQ1"]),
        ("names", ["@gmail", "user123", "abc_42", "Item01"]),
    ],
)
def test_junk(kind: str, junk: list[str]) -> None:
    fine = ["naïve", "été", "don't", "    ", "\t\t\t\t\t\t\t\t", "\r\n", "a.b", "->", "<=", "< b",
            "&&", "x1", "2024", "banana", "feedface", "ABBA", "—", "中文", "👩\u200d👩", "3.14",
            "decade", "information", "INFORMATION", "...", "----", "Ångström", "I/O", "@", "Ã",
            "//"]  # fmt: skip
    found = digram.audit(with_tokens(*junk, *fine))
    by_kind = {name: one for name, one in found.by_kind.items() if name.startswith("junk_")}
    tok = with_tokens(*junk, *fine)
    assert {
        name: [token.decode() for token in tok.tokens(one.ids)]
        for name, one in by_kind.items()
        if one.count
    } == {f"junk_{kind}": junk}
    assert not found.check(junk=len(junk))
    assert found.check(junk=len(junk) - 1)


def test_digits_in_all_groups_and_in_some() -> None:
    threes = [f"{number:03}" for number in range(1000)]
    pairs = [f"{number:02}" for number in range(100)]
    whole = digram.audit(with_tokens(*pairs, *threes))
    assert (whole.by_kind["digits"].count, whole.by_kind["number_splits"].count) == (0, 0)
    some = digram.audit(with_tokens(*pairs, *threes[:873], " 12"))
    assert some.by_kind["digits"].count == 873  # digits and spaces never stand together
    assert shown(some, "digits")[0] == "3 digits: 873 of 1,000"
    assert shown(some, "number_splits")[0] == "3 digits: 3 86%, 1+1+1 14%"


@cases(20)
@given(any_tokenizers)
def test_number_splits_are_those_of_the_numbers(tok: digram.Tokenizer) -> None:
    ways = {
        length: {tuple(map(len, tok.tokens(tok.encode(str(n))))) for n in range(first, 10 * first)}
        for length, first in ((2, 10), (3, 100))
    }
    found = digram.audit(tok).by_kind["number_splits"]
    assert found.total == 5
    told = {line.partition(" ")[0] for line in found.details}
    assert told & {"2", "3"} == {str(length) for length, some in ways.items() if len(some) > 1}


def test_special_tokens() -> None:
    names = ["<|end|>", "<|end|>x", "<s>", "[INST]", "user", "a b", "low"]
    plain = digram.train("low low low", max_merges=2)
    tok = plain.with_special_tokens({name: 300 + n for n, name in enumerate(names)})
    found = digram.audit(tok, ["no <s> but <s>, low", "<|end|>x"])
    by_kind = {kind: tok.tokens(one.ids) for kind, one in found.by_kind.items() if kind != "gaps"}
    assert by_kind["special_ordinary"] == [b"user", b"a b", b"low"]
    assert by_kind["special_overlap"] == [b"<|end|>"]
    assert by_kind["special_spaced"] == [b"a b"]
    assert by_kind["special_markup"] == [b"<s>", b"[INST]"]
    assert shown(found, "special_in_text") == (
        "<s> 2 times", "<|end|>x 1 time", "low 1 time",
    )  # fmt: skip
    assert found.by_kind["gaps"].ids == tuple(range(258, 300))
    assert by_kind["ids_beyond"] == [name.encode() for name in names]
    assert shown(found, "gaps") == ("258 to 299",)


def test_added_tokens_that_are_found_in_all_text_are_meant_to_be_there() -> None:
    tok = digram.train("low low", max_merges=2, special_tokens=["<s>", "  "])
    spaces = {"  ": digram.Matching(always=True)}
    tok = digram.Tokenizer(replace(tok.definition, matching=spaces))
    found = digram.audit(tok, ["low  low", "<s>low"])
    assert shown(found, "special_in_text") == ("<s> 1 time",)


def test_text_that_does_not_come_back() -> None:
    unknown = digram.SpecialToken("<unk>")
    tok = digram.train("low", unit="char", on_unknown=unknown, max_merges=1)
    found = digram.audit(tok, ["low", "slow", "wo\x1b[31m!"]).by_kind["round_trip"]
    corpus = [line for line in found.details if line.startswith("of the corpus")]
    assert corpus == ["of the corpus: slow", "of the corpus: wo␛[31m!"]
    assert found.severity == "error"
    strict = digram.audit(
        digram.train("low", unit="char", max_merges=1), "low low".replace(" ", "")
    )
    assert strict.by_kind["round_trip"].count > 10


@pytest.mark.parametrize("unit", ["byte", "char"])
def test_a_lone_surrogate_is_refused_with_its_place(unit: Any) -> None:
    tok = digram.train("aé", unit=unit, max_merges=0)
    with pytest.raises(digram.InvalidTextError, match=r"texts\[1\] has a lone surrogate") as raised:
        digram.audit(tok, ["a", "é\ud800"])
    assert raised.value.index == 1
    with pytest.raises(digram.InvalidTextError) as evaluated:
        digram.evaluate(tok, ["a", "é\ud800"])
    assert str(raised.value) == str(evaluated.value)


def test_long_tokens_are_counted_in_characters() -> None:
    tok = with_tokens("中" * 4, "abcde")
    assert tok.tokens(digram.audit(tok, long=4).by_kind["long"].ids) == [b"abcde"]
    assert not digram.audit(tok, long=5).by_kind["long"].count


def test_limits() -> None:
    found = digram.audit(digram.train(PLAY, vocab_size=264, pretokenizer="whitespace"), "play")
    count = found.by_kind["punctuation"].count
    assert not found.check(punctuation=count, unreachable=0, round_trip=0)
    assert not found.check({"punctuation": count / 264})
    breach = found.check(punctuation=count - 1, unused=0.001)[0]
    assert (breach.kind, breach.limit, breach.count, breach.total) == (
        "punctuation", count - 1, count, 264,
    )  # fmt: skip
    assert [one.kind for one in found.check(case=0, punctuation=0.0, unused=0)] == [
        "punctuation", "unused",
    ]  # fmt: skip
    assert str(found.check(punctuation=0.015)[0]).endswith("(1.52%), where 1.5% are allowed")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"unreached": 0}, "not a kind of finding"),
        ({"unused": 0}, "needs a corpus"),
        ({"partial": -1}, "not a limit"),
        ({"partial": 1.5}, "not a limit"),
        ({"partial": float("nan")}, "not a limit"),
        ({"partial": True}, "not a limit"),
        ({"partial": "5%"}, "not a limit"),
    ],
)
def test_limits_that_make_no_sense(limits: dict[str, float], message: str) -> None:
    with pytest.raises(digram.OptionError, match=message):
        digram.audit(digram.train("low", max_merges=1)).check(limits)


def test_plain_values_and_the_table() -> None:
    tok = digram.train(PLAY + "中文\x1b[31m" * 9, vocab_size=290, pretokenizer=None)
    found = digram.audit(tok, [PLAY, "中文"])
    told = json.loads(json.dumps(found.to_dict()))
    assert [*told["findings"]] == [*found.by_kind] == [*KINDS]
    assert found.corpus is not None
    assert told["corpus"] == {
        "documents": 2, "bytes": len(PLAY) + 6, "tokens": found.corpus.tokens, "skipped": 0
    }  # fmt: skip
    assert told["findings"]["partial"]["count"] == len(told["findings"]["partial"]["ids"])
    table = str(found)
    assert "\x1b" not in table
    assert max(map(len, table.splitlines())) <= 80
    order = ["error", "warning", "note"]
    told_first = [line.split()[0] for line in table.splitlines() if line[:1].isalpha()]
    severities = [word for word in told_first if word in order]
    assert severities == sorted(severities, key=order.index)


def test_arguments() -> None:
    tok = digram.train("low", max_merges=1)
    wrong: dict[str, Any]
    for name in ("rare", "long"):
        wrong = {name: 0}
        with pytest.raises(digram.OptionError, match=f"{name}=0 is not at least 1"):
            digram.audit(tok, **wrong)
        for value in ("3", 2.5, True, None):
            wrong = {name: value}
            with pytest.raises(TypeError, match=f"{name} is a whole number, not {value!r}"):
                digram.audit(tok, **wrong)
    assert digram.audit(tok, ["a", "b", "c"]).to_dict()["corpus"]["documents"] == 3
    nothing = digram.audit(tok, []).to_dict()
    assert (nothing["corpus"]["tokens"], nothing["findings"]["unused"]["count"]) == (0, 1)
