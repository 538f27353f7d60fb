"""Look-around of any kind: patterns split where the `regex` package finds matches."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import regex
from tokenizers import Regex as TheirRegex
from tokenizers import Tokenizer as TheirTokenizer
from tokenizers.pre_tokenizers import Split

import digram
from digram import PatternError, Pretokenizer, Regex, pretokenize
from digram.formats._portable import check_portable

ATOMS = ["a", "b", "ab", "[ab]", "[^a]", ".", "c", " ", r"\s", r"\w", r"\p{L}", "1", "(?s:.)"]
LOOKS = ["(?=", "(?!", "(?<=", "(?<!"]
ANCHORS = [r"\b", r"\B", "^", "$", r"\A", r"\z", "(?m:^)", "(?m:$)"]
REPEATS = ["", "", "", "", "+", "*", "?", "{2}", "{1,3}", "+?", "*?", "??", "{0,2}"]
LETTERS = "aabbc1 \nA_é"


def some_pattern(rng: random.Random, depth: int = 0) -> str:
    def atom() -> str:
        kind = rng.random()
        if kind < 0.25 and depth < 3:
            return f"{rng.choice(LOOKS)}{some_pattern(rng, depth + 1)})"
        if kind < 0.35 and depth < 3:
            return f"(?:{some_pattern(rng, depth + 1)}){rng.choice(REPEATS)}"
        if kind < 0.42:
            return rng.choice(ANCHORS)
        if kind < 0.46 and depth < 3:
            return f"(?i:{some_pattern(rng, depth + 1)})"
        return rng.choice(ATOMS) + rng.choice(REPEATS)

    def branch() -> str:
        return "".join(atom() for _ in range(rng.randrange(0 if depth else 1, 4)))

    return "|".join(branch() for _ in range(rng.choice([1, 1, 2])))


def of_regex(pattern: str) -> regex.Pattern[str]:
    """The pattern in the dialect of `regex`, to which `$` also means before a last line end."""
    ends = pattern.replace("(?m:$)", "\0").replace("$", r"\Z").replace("\0", "(?m:$)")
    return regex.compile(ends.replace(r"\z", r"\Z"))


def expected(compiled: regex.Pattern[str], text: str) -> list[str]:
    """The matches and what is between them; after an empty match, one character further."""
    pieces, last, at = [], 0, 0
    while at <= len(text) and (match := compiled.search(text, at)):
        start, end = match.span()
        pieces += [text[last:start], text[start:end]]
        last = end
        at = end if end > start else start + 1
    return [piece for piece in [*pieces, text[last:]] if piece]


def test_random_patterns() -> None:
    """1,000 patterns that look around, on 25 texts each."""
    rng = random.Random(11)
    accepted = empty = 0
    while accepted < 1_000:
        pattern = some_pattern(rng)
        if not any(look in pattern for look in LOOKS):
            continue
        try:
            splitter = Pretokenizer(Regex(pattern)).splitter()
        except PatternError as error:
            reasons = ["match the empty string", "match nothing", "its automata", "an automaton"]
            assert any(reason in error.message for reason in reasons), pattern  # noqa: PT017
            continue
        accepted += 1
        compiled = of_regex(pattern)
        for _ in range(25):
            text = "".join(rng.choices(LETTERS, k=rng.randrange(13)))
            found = splitter.split(text)
            assert found == expected(compiled, text), (pattern, text)
            empty += compiled.match(text) is not None and compiled.match(text)[0] == ""
    assert empty > 1_000


LONG = {
    r"(?<=^[^\n]*1[^\n]*)a": "lines behind",
    r"a(?=[^\n]*1)": "lines ahead",
    r"\w+(?=(?:(?!b\n).)*$)|(?<!c)b": "nested",
    r"(?<=[a-c]{3})(?=[^a])": "empty matches",
}


@pytest.mark.parametrize("pattern", LONG)
def test_long_texts(pattern: str) -> None:
    """Longer than the windows in which look-arounds are computed."""
    rng = random.Random(5)
    splitter, compiled = Pretokenizer(Regex(pattern)).splitter(), of_regex(pattern)
    for size in (65_535, 65_536, 200_000):
        lines: list[str] = []
        while sum(len(line) for line in lines) < size:
            lines.append("".join(rng.choices("aaabc1é語", k=rng.randrange(60))) + "\n")
        text = "".join(lines)
        assert splitter.split(text) == expected(compiled, text)


def test_flags_apply_inside() -> None:
    assert pretokenize("aBab", Regex("(?i)a(?=b)")) == ["a", "B", "a", "b"]
    assert pretokenize("xA", Regex("(?i:(?<=X))a|A(?-i:(?<=a))")) == ["xA"]
    assert pretokenize("a\nb", Regex("(?s)(?<=a.)b")) == ["a\n", "b"]
    assert pretokenize("ab", Regex("(?x) (?<= a ) b ")) == ["a", "b"]


def test_errors_name_the_place_in_the_pattern_as_it_was_given() -> None:
    for pattern, place in [(r"(?<=a)b(?!c)\1", 12), ("(?=a++)[b", 7), (r"(?=\p{Foo})", 3)]:
        with pytest.raises(PatternError, match=rf"\(at byte {place}\)"):
            Pretokenizer(Regex(pattern))


PATTERNS = [
    r"(?<=[a-z])(?=[A-Z])",
    r"(?<=\p{L}{2})\p{L}+(?=\s)|\s+",
    r"(?=a+b)a|(?<!b.{3}|c)[a-z]+",
    r"(?<=x.)[a-z]|(?!.*y)\s+",
]
TEXTS = [
    "",
    "aTextOf aWord",
    "aab aaac ab b",
    "wxyz  abc\n x 12 y\n",
    "éÉ ÀaA" * 30,
    "a" * 200 + "b",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_all_ways_to_encode_agree(pattern: str, tmp_path: Path) -> None:
    tok = digram.train(TEXTS, max_merges=40, pretokenizer=Regex(pattern))
    compiled = of_regex(pattern)
    path = tmp_path / "tokenizer.json"
    tok.save(path)
    loaded, theirs = digram.load(path), TheirTokenizer.from_file(str(path))
    for text in [*TEXTS, "\n".join(TEXTS)]:
        ids = tok.encode(text)
        assert tok.pretokenize(text) == expected(compiled, text)
        assert loaded.encode(text) == theirs.encode(text, add_special_tokens=False).ids == ids
        assert tok.encode_batch([text] * 3, threads=2) == [ids] * 3
        chunks = (text[at : at + 3] for at in range(0, len(text), 3))
        assert [id_ for part in tok.encode_stream(chunks) for id_ in part] == ids
        assert tok.count(text) == len(ids)
        assert tok.fits(text, len(ids))
        assert not ids or not tok.fits(text, len(ids) - 1)
        assert tok.count(tok.truncate(text, len(ids) // 2)) <= len(ids) // 2
        assert tok.count(tok.truncate(text, len(ids) // 2, side="left")) <= len(ids) // 2


@pytest.mark.parametrize("pattern", PATTERNS)
def test_they_are_read_alike_by_the_engine_of_tokenizers(pattern: str) -> None:
    check_portable(pattern)
    split = Split(TheirRegex(pattern), "isolated")
    for text in TEXTS:
        found = [piece for piece, _ in split.pre_tokenize_str(text)]
        assert pretokenize(text, Regex(pattern)) == found


def test_files_of_programs_that_keep_matches_alone(tmp_path: Path) -> None:
    """They would lose what an empty match is before."""
    for pattern in (r"(?=a)|[\s\S]", r"(?<=a)b|[\s\S]"):
        tok = digram.train("ab", max_merges=1, pretokenizer=Regex(pattern))
        with pytest.raises(digram.VocabError, match="cannot store"):
            tok.save(tmp_path / "tekken.json", format="tekken")
