"""Patterns of others that are short, and whose automata are large: built soon, or refused soon."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import digram
from digram.pretokenizers import Replace

LARGE = {
    "optional": "(?:a?){1,6000}b",
    "steps": "a{1,30000}",
    "states": "(a|b)*a(a|b){15}",
    "bytes": "[a-z]" * 14_000,
    "no alternatives": "(?:(?:" + "|" * 6_0000 + ")x){1,9000}",
}
"""By the reason to refuse them."""

FOLDED = {
    "folded": "(?i)" + r"\p{any}" * 7_000,
    "folded alternatives": "(?i)" + "|".join([r"\p{L}"] * 9_000),
    "folded, and not taken": "(?:(?i:" + r"\p{L}" * 10_000 + ")){0}a",
    "folded in sets": "(?i)" + ("[" * 48 + r"\p{L}" + "]" * 48) * 500,
    "seen ahead": "(?!(?i)" + r"\p{L}" * 10_000 + ")a",
}
"""What takes long before there is an automaton: other forms of each character of large sets."""

AROUND = {
    "more than 256 look-arounds": "(?=ab)" * 6_000,
    "more than 24 different": "|".join(f"(?<=x{number})a" for number in range(30)),
    "more than 10 different": "(?:" + "|".join(f"(?<=x{number})a" for number in range(12)) + ")",
    "more than 10000 states": "(?<=(a|b)*a(a|b){15})c",
    "exceed the maximum number of nested": "(?=" * 120 + "a" + ")" * 120,
    "unclosed group": "(?<=" * 200,
    "more than 20000 steps": "(?<!a{1,30000})b",
    "match the empty string": "(?:(?=a)b?)*c",
    "inside a set of characters or a comment": "(?x)a # (?=b)",
    "not supported in a look-behind": "(?<=a++)b",
}
"""By what the error says."""

EMPTY = {
    "(?=)": ["a", "b"],
    "(?<=)": ["a", "b"],
    "(?!)": ["ab"],
    "(?<!)": ["ab"],
    "(?:(?=)){9000}": ["a", "b"],
    "(?=(?!(?<=(?<!))))a": ["a", "b"],
    "(?!(?!(?!(?!b))))": ["a", "b"],
    "(?:(?=a)|(?<=a)|){0,9}b": ["a", "b"],
    "(?=" * 20 + ")" * 20: ["a", "b"],
}
"""Look-arounds that contain nothing, or are repeated, and where they split ``ab``."""

FITTING = {
    "counted": "a{1,9000}",
    "counted set": "[a-z]{1,9000}",
    "alternatives": "(a|b|cd){1,900}",
    "large sets": "|".join([r"\p{L}", r"\P{Lu}"] * 1_500),
    "large set": "[" + r"\p{L}\p{Lu}\p{N}\P{L}" * 2_000 + "]",
}

SOON = 2.0
"""Seconds of the processor: some tenths are what it takes."""


def loaded(pattern: str, folder: Path) -> object:
    path = folder / "tokenizer.json"
    digram.train("low lower", vocab_size=258, pretokenizer="cl100k").save(path)
    told = json.loads(path.read_text(encoding="utf-8"))
    told["model"].pop("digram", None)  # the seal
    told["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": pattern}
    path.write_text(json.dumps(told), encoding="utf-8")
    return digram.load(path)


PLACES: dict[str, Callable[[str, Path], object]] = {
    "a regex": lambda pattern, _: digram.pretokenize("a", digram.Regex(pattern)),
    "regexes": lambda pattern, _: digram.pretokenize(
        "a", [digram.Regex("b"), digram.Regex(pattern)]
    ),
    "a file": loaded,
    "patterns of rules": lambda pattern, _: digram.Rules(patterns=[pattern]),
    "forbidden": lambda pattern, _: digram.Rules(forbid=[digram.Regex(pattern)]),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", LARGE)
def test_what_is_too_large_is_refused_soon(place: str, name: str, tmp_path: Path) -> None:
    started = time.process_time()
    with pytest.raises(digram.PatternError) as caught:
        PLACES[place](LARGE[name], tmp_path)
    assert time.process_time() - started < SOON
    # The pattern, the size, the remedy.
    message = str(caught.value)
    assert json.dumps(LARGE[name][:20])[1:-1] in message, message
    assert "more than" in message, message
    assert "Shorten" in message or "Split" in message, message
    assert len(message) < 600


@pytest.mark.parametrize("name", FOLDED)
def test_case_is_folded_in_so_many_steps(name: str) -> None:
    started = time.process_time()
    with pytest.raises(digram.PatternError, match="more than 67108864 steps"):
        digram.pretokenize("a", digram.Regex(FOLDED[name]))
    assert time.process_time() - started < SOON
    some = "(?i)(?:" + "|".join([r"[^\s\p{L}]+", r"\p{Lu}+"] * 200) + ")"
    assert digram.pretokenize("aB1", digram.Regex(some)) == ["aB", "1"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", FITTING)
def test_what_fits_is_built_soon(place: str, name: str, tmp_path: Path) -> None:
    started = time.process_time()
    PLACES[place](FITTING[name], tmp_path)
    assert time.process_time() - started < SOON


def test_many_patterns_are_refused_together() -> None:
    started = time.process_time()
    with pytest.raises(digram.PatternError, match="after those of the patterns before it"):
        digram.Rules(patterns=[f"[a-z]{{1,20}}{number}" for number in range(20_000)])
    assert time.process_time() - started < 2 * SOON


def test_other_threads_run_meanwhile() -> None:
    ended = threading.Event()

    def compile_it() -> None:
        with pytest.raises(digram.PatternError):
            digram.pretokenize("a", digram.Regex(LARGE["optional"]))
        ended.set()

    thread = threading.Thread(target=compile_it)
    thread.start()
    turns = 0
    while not ended.wait(0.001):
        turns += 1
    thread.join()
    assert turns > 10


@pytest.mark.parametrize("name", AROUND)
def test_look_arounds_that_are_too_large_are_refused_soon(name: str) -> None:
    started = time.process_time()
    with pytest.raises(digram.PatternError) as caught:
        digram.Pretokenizer(digram.Regex(AROUND[name]))
    assert name in str(caught.value)
    assert time.process_time() - started < SOON
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("pattern", EMPTY)
def test_look_arounds_that_are_empty(pattern: str) -> None:
    assert digram.pretokenize("ab", digram.Regex(pattern)) == EMPTY[pattern]


@pytest.mark.parametrize("place", ["patterns of rules", "forbidden"])
def test_look_arounds_are_refused_where_none_are_supported(place: str, tmp_path: Path) -> None:
    with pytest.raises(digram.PatternError, match="look-around"):
        PLACES[place]("(?<=a)b", tmp_path)


@pytest.mark.parametrize("pattern", ["(?<=a)b", "a(?=bc)", "(?=a)"])
def test_look_arounds_are_refused_in_normalizers(pattern: str) -> None:
    with pytest.raises(digram.PatternError, match="where matches are replaced"):
        digram.Pretokenizer("gpt2", normalizer=Replace(digram.Regex(pattern), "x"))
