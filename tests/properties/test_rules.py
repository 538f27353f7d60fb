"""Rules cut where `digram.reference.rules` says, and hold on any spacing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st
from properties.test_pretokenizers import split
from strategies import SOUP, Ties, cases, concatenations, small_corpora, ties

import digram
from digram import reference
from digram.formats._greedy import not_carried
from digram.formats._rules import regex_of, whole_regex_of
from digram.pretokenizers.pretokenizer import Pretokenizer, pretokenize
from digram.pretokenizers.rules import Compiled, Numbers, Rules
from digram.pretokenizers.units import spelling, spellings
from digram.reference import rules as reference_rules

TERMS = ["ab", "a", "b c", "a-b", "B1", "1a", "é", "+", "ab+", "(a)", "a b", "m", "b.c.", "日本"]
UNITS = ["m", "mg", "m/s", "%", "1/L", "µg", "m²", "b"]
LITRES = ["mL", "ml", "L", "\u00b5g/mL", "\u03bcl", "\u00b5", "m/l"]
PATTERNS = [r"[ab]\d+", r"a(?:b|bc)", r"-\d", r"\d+[a-c]", r"b |c", r"[^a]b"]
PATTERNS += [r"a(?:b|bc-\d+)", r"a[a-c]*?(?:-\d+)??", r"b-\d+(?:--[a-c]+)?", r"a\d{1,2}(?:[.-]\d)?"]
NUMBERS: list[Numbers] = ["individual", "threes_from_left", "threes_from_right", "whole"]
NEAR = [
    "a",
    "b",
    "c",
    "m",
    "g",
    "mg",
    "1",
    "2",
    "12",
    "345",
    "é",
    "²",
    "µ",
    "%",
    "/",
    "s",
    "L",
    "+",
]
SPACING = [
    " ",
    "  ",
    "\u00a0",
    "\u202f",
    "-",
    "\u2011",
    ".",
    ",",
    "(",
    ")",
    "\n",
    "\t",
    "\u0301",
    "日本",
]

rules = st.builds(
    Rules,
    st.lists(st.sampled_from(TERMS), max_size=4),
    units=st.lists(st.sampled_from(UNITS), max_size=3),
    patterns=st.lists(st.sampled_from(PATTERNS), max_size=2),
    abbreviations=st.lists(st.sampled_from(["b.c.", "m.", "c"]), max_size=2),
    case=st.sampled_from(["exact", "forms"]),
    numbers=st.none() | st.sampled_from(NUMBERS),
)
"""Terms that begin, end and contain each other, units and numbers."""

spaced = concatenations([*NEAR, *SPACING, *TERMS], 16)
"""Terms, numbers and units beside each other, with every spacing between them."""

spelled = [r.replace(a, b) for r in LITRES for a, b in ("lL", "Ll", "\u00b5\u03bc", "\u03bc\u00b5")]
measured = concatenations(
    [
        "1",
        "12",
        "5",
        "a",
        "m",
        "-",
        ".",
        "b c",
        *LITRES,
        *spelled,
        *SPACING[:6],
        " " * 7,
        *" \u00a0\u2009",
    ],
    16,
)
"""Units in all their spellings, after numbers and elsewhere."""

normalizing = st.builds(
    Rules,
    st.lists(st.sampled_from([*TERMS, "ml", "ml-a", "\u00b5g"]), max_size=4),
    units=st.lists(st.sampled_from([*UNITS, *LITRES]), min_size=1, max_size=4),
    patterns=st.lists(st.sampled_from([*PATTERNS, "\u00b5[a-z]", " +", "[a-z]+L?"]), max_size=2),
    case=st.sampled_from(["exact", "forms"]),
    numbers=st.none() | st.sampled_from(NUMBERS),
    normalize=st.just("units"),
)

any_texts = spaced | concatenations([*NEAR, *SPACING, *SOUP], 16)
patterns = st.none() | st.sampled_from(["gpt2", "cl100k", "o200k", "whitespace"])


def by_reference(text: str, ruled: Pretokenizer) -> list[str]:
    """The pieces of the definition, those between what was cut out by the pattern."""
    assert ruled.rules is not None
    terms, units, regexes, whole, numbers = ruled.rules._compiled(ruled.digits is not None)
    cut = reference_rules.Cut(terms, units, regexes, whole, numbers)
    text = normalized(text, ruled)
    inner = Pretokenizer([digram.Regex(p) for p in ruled.patterns] or None, digits=ruled.digits)
    found: list[str] = []
    for piece, is_cut_out in reference_rules.cut_out(text, cut):
        found += [piece] if is_cut_out else pretokenize(piece, inner)
    return found


def normalized(text: str, ruled: Pretokenizer) -> str:
    """The text with units in one spelling, by the definition."""
    assert ruled.rules is not None
    if ruled.rules.normalize is None:
        return text
    every = spellings(ruled.rules.units)
    (_, described, changed) = ruled.rules._normalizer(ruled.digits is not None)[0]
    terms, units, regexes, whole, numbers = cast("Compiled", described)
    assert {*units} == {*every}
    cut = reference_rules.Cut(terms, units, regexes, whole, numbers, blanks=True)
    return reference_rules.one_spelling(text, cut, dict(cast("list[tuple[str, str]]", changed)))


@cases(1500)
@given(normalizing, patterns, measured)
def test_units_are_spelled_as_the_reference_says(
    rules: Rules, pattern: str | None, text: str
) -> None:
    ruled = Pretokenizer(pattern, rules=rules)
    assert ruled.splitter().normalize(text) == normalized(text, ruled)
    assert pretokenize(text, ruled) == by_reference(text, ruled)


@cases(1000)
@given(normalizing, patterns, measured, st.lists(st.integers(0, 60), max_size=5))
def test_spelled_units_in_streams_batches_and_offsets(
    rules: Rules, pattern: str | None, text: str, places: list[int]
) -> None:
    tok = digram.train(["ab a b 12 mg 5 ml"], max_merges=5, pretokenizer=pattern, rules=rules)
    ids = tok.encode(text)
    assert tok.decode(ids) == normalized(text, tok.pretokenizer)
    cuts = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    chunks = [text[a:b] for a, b in pairwise(cuts)]
    assert [id for ids in tok.encode_stream(chunks) for id in ids] == ids
    long = [text * 40] * 3
    assert tok.encode_batch(long, threads=3) == [tok.encode(one) for one in long]
    offsets = tok(text).offsets
    assert all(0 <= start <= end <= len(text) for start, end in offsets)
    assert [start for start, _ in offsets] == sorted(start for start, _ in offsets)
    for id, (start, end) in zip(ids, offsets, strict=True):
        token = tok.id_to_token(id)
        if token.isascii() and len(token) == 1:
            assert (
                spelling(text[start:end]).replace("l", "L") == token.decode().replace("l", "L")
                or token == b" "
            )
    assert digram.Tokenizer(tok.definition) == tok


@cases(300)
@given(normalizing, patterns, measured, st.integers(0, 30))
def test_spelled_units_in_counts_of_growing_text(
    rules: Rules, pattern: str | None, text: str, limit: int
) -> None:
    tok = digram.train(["ab a b 12 mg 5 ml"], max_merges=5, pretokenizer=pattern, rules=rules)
    behind, before = tok.counter(), tok.counter()
    for at in range(len(text)):
        behind.append(text[at])
        before.prepend(text[len(text) - at - 1])
        assert behind.count == tok.count(text[: at + 1])
        assert before.count == tok.count(text[len(text) - at - 1 :])
    assert tok.fits(text, limit) == (tok.count(text) <= limit)
    for side in ("left", "right"):
        assert tok.count(tok.truncate(text, limit, side=side)) <= limit


@cases(1000)
@given(rules, patterns, any_texts)
def test_text_is_cut_as_the_reference_says(rules: Rules, pattern: str | None, text: str) -> None:
    ruled = Pretokenizer(pattern, rules=rules)
    assert pretokenize(text, ruled) == by_reference(text, ruled)


@cases(1000)
@given(rules | normalizing, patterns, spaced | measured, st.integers(1, 40))
def test_a_border_is_one_whatever_stands_around_it(
    rules: Rules, pattern: str | None, text: str, at: int
) -> None:
    splitter = Pretokenizer(pattern, rules=rules).splitter()
    whole = text.encode()
    border = splitter.last_border(whole[:at], 0)
    if border:
        parts = splitter.split(whole[:border]), splitter.split(whole[border:])
        assert splitter.split(whole) == parts[0] + parts[1]


DIGITS = {
    None: [],
    "individual": [r"\p{N}"],
    "threes_from_left": [r"\p{N}{1,3}"],
    "threes_from_right": [r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"],
}


@cases(600)
@given(rules, patterns, any_texts)
def test_the_regexes_of_a_file_cut_the_same(rules: Rules, pattern: str | None, text: str) -> None:
    digits = Pretokenizer(pattern, rules=rules).digits is not None
    while (refused := not_carried(rules, digits)) is not None:
        said = rules.to_dict()
        rules = Rules.from_dict({**said, "patterns": [p for p in rules.patterns if p != refused]})
    ruled = Pretokenizer(pattern, rules=rules)
    # The package writes \z as \Z.
    before = whole_regex_of(rules, ruled.digits is not None).replace(r"\z", r"\Z")
    first = regex_of(rules, ruled.digits is not None)
    later = [before + regex for regex in (*DIGITS[ruled.digits], *ruled.patterns)]
    assert pretokenize(text, ruled) == split(text, [first][: bool(first)] + later)


DRUGS = ["iron", "insulin glargine", "5-FU", "B12", "St. John's wort"]
UNIT_TEXTS = ["mg", "g", "mg/dL", "%", "°C", "m²"]
OBEYED = {
    numbers: digram.train(
        ["iron 5 mg, insulin glargine 12.5 mg/dL at 37 °C; 1234567 g of 5-FU"],
        max_merges=30,
        rules=Rules(DRUGS, case="forms", abbreviations=["p.o."], units=UNIT_TEXTS, numbers=numbers),
    )
    for numbers in (None, *NUMBERS)
}
OF_RULES = {token for tok in OBEYED.values() if tok.rules for token in tok.rules.tokens()}
notes = concatenations(
    [*DRUGS, "Iron", "IRON", "p.o.", *UNIT_TEXTS, "1", "12", "1234", "5.5", "10-20", *SPACING], 14
)


@cases(700)
@given(st.sampled_from([*OBEYED]), notes)
def test_rules_hold_on_any_spacing(numbers: Numbers | None, text: str) -> None:
    tok = OBEYED[numbers]
    assert tok.decode(tok.encode(text)) == text
    found = digram.check_rules(tok, text)
    assert found.violated == 0
    assert found.tokens == found.with_rules == tok.count(text)


@cases(200)
@given(st.sampled_from([*OBEYED]), notes, st.integers(0, 9))
def test_dropout_never_splits_what_is_protected(
    numbers: Numbers | None, text: str, seed: int
) -> None:
    tok = OBEYED[numbers]
    pieces = tok.encode(text, dropout=1.0, seed=seed)
    whole = [id for id in tok.encode(text) if tok.id_to_token(id) in OF_RULES]
    assert [id for id in pieces if tok.id_to_token(id) in OF_RULES] == whole
    assert tok.decode(pieces) == text


@cases(400)
@given(
    st.sampled_from([*OBEYED]),
    st.sampled_from(UNIT_TEXTS),
    st.sampled_from(["", " ", "-", "\u00a0", "\u202f", "\u2011"]),
    st.sampled_from(["", ".", ")", "\n", ", ", "; x", "\u00a0"]),
    st.integers(0, 99_999),
)
def test_a_unit_is_the_same_token_whatever_stands_before_it(
    numbers: Numbers | None, unit: str, separator: str, after: str, amount: int
) -> None:
    tok = OBEYED[numbers]
    for form in (f"{amount}", f"{amount}.5", f"x {amount:,}", f"1-{amount}"):
        ids = tok.encode(f"{form}{separator}{unit}{after}")
        assert ids[len(ids) - len(tok.encode(after)) - 1] == tok.token_to_id(unit)


@cases(500)
@given(rules, patterns, any_texts, st.lists(st.integers(0, 60), max_size=5))
def test_a_stream_gives_the_ids_of_the_text(
    rules: Rules, pattern: str | None, text: str, places: list[int]
) -> None:
    tok = digram.train(["ab a b 12 mg"], max_merges=5, pretokenizer=pattern, rules=rules)
    cuts = [0, *sorted(min(place, len(text)) for place in places), len(text)]
    chunks = [text[a:b] for a, b in pairwise(cuts)]
    assert [id for ids in tok.encode_stream(chunks) for id in ids] == tok.encode(text)


FORBIDDEN: list[Any] = [
    ["ab"], [("a", "b")], [digram.Regex("a+")], ["aa", ("b", "a"), digram.Regex("[^a]b?")],
]  # fmt: skip


@cases(300)
@given(small_corpora, ties, st.sampled_from(FORBIDDEN), st.integers(0, 12))
def test_what_is_forbidden_is_never_merged(
    corpus: list[str], ties: Ties, forbid: list[Any], merges: int
) -> None:
    ruled = Rules(forbid=forbid)
    trained = reference.train(
        reference.words([text.encode() for text in corpus], reference.BYTES),
        reference.BYTES,
        max_merges=merges,
        forbid=ruled._forbidden().holds,
        ties=ties,
    )
    tok = digram.train(corpus, max_merges=merges, pretokenizer=None, ties=ties, rules=ruled)
    assert tok.tokens(range(tok.vocab_size)) == trained.tokens
    assert tok.training is not None
    assert tok.training.stop_reason == trained.stop_reason
    assert digram.check_rules(tok, corpus).violated == 0


@cases(200)
@given(small_corpora, st.sampled_from(["a", "ab", "b a"]), st.integers(0, 12))
def test_training_under_rules_is_training_of_the_pieces(
    corpus: list[str], term: str, merges: int
) -> None:
    """The base is the bytes and the tokens of rules; what is such a token is one symbol."""
    ruled = Pretokenizer("gpt2", rules=Rules([term]))
    assert ruled.rules is not None
    base = [*reference.BYTES, *ruled.rules.tokens()]
    ids = {token: id for id, token in enumerate(base)}
    words = Counter(piece.encode() for text in corpus for piece in by_reference(text, ruled))
    symbols = [
        ([ids[w]] if w in ids else [ids[w[n : n + 1]] for n in range(len(w))]) for w in words
    ]
    trained = reference.train(zip(symbols, words.values(), strict=True), base, max_merges=merges)
    tok = digram.train(corpus, max_merges=merges, pretokenizer=ruled)
    assert tok.tokens(range(tok.vocab_size)) == trained.tokens
    assert [one.count for one in tok.merge_log] == trained.counts
