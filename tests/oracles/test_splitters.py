"""Where the named patterns cut: as Hugging Face's engine and the `regex` package do."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import pytest
import regex
from oracles.tally import Tally
from oracles.texts import CORPORA, soups, with_endings
from tokenizers import Regex, pre_tokenizers

import digram
from digram.pretokenizers.pretokenizer import NAMED

Corpus = Callable[[str], list[str]]
Split = Callable[[str], list[str]]

CONTEXTS = ["{}", "{}{} ", " {}a", "a{}b ", "1{}2", "'{}", "\n{}\n", "A{}a.{}\u0301 "]
"""Where each code point is put; `{}` stands for it."""


def huggingface(name: str) -> Split:
    splits = [pre_tokenizers.Split(Regex(one), "isolated") for one in NAMED[name].patterns]
    chain = pre_tokenizers.Sequence(splits)
    return lambda text: [piece for piece, _ in chain.pre_tokenize_str(text)]


def regex_package(name: str) -> Split:
    compiled = [regex.compile(pattern) for pattern in NAMED[name].patterns]

    def split(text: str) -> list[str]:
        pieces = [text]
        for pattern in compiled:
            pieces = [part for piece in pieces for part in isolated(pattern, piece)]
        return pieces

    return split


def isolated(pattern: regex.Pattern[str], text: str) -> Iterator[str]:
    """The matches, and what lies between them."""
    end = 0
    for match in pattern.finditer(text):
        if end < match.start():
            yield text[end : match.start()]
        yield match[0]
        end = match.end()
    if end < len(text):
        yield text[end:]


ENGINES = {"tokenizers": huggingface, "regex": regex_package}


def compare(engine: str, name: str, what: str, texts: Sequence[str]) -> None:
    theirs = ENGINES[engine](name)
    with Tally(f"{engine}, pretokens of {name}, {what}") as tally:
        ours = (digram.pretokenize(text, name) for text in texts)
        tally.add(texts, [*ours], [theirs(text) for text in texts])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMED)
def test_documents(corpus: Corpus, full: bool, name: str, engine: str) -> None:
    """Their beginnings for one engine and their ends for the other, without --full."""
    part = slice(6_000) if full else slice(90) if engine == "tokenizers" else slice(-90, None)
    texts = [text[part] for one in CORPORA for text in corpus(one)]
    compare(engine, name, "the corpora", texts)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMED)
def test_random_texts(corpus: Corpus, full: bool, name: str, engine: str) -> None:
    texts = [
        *soups(1_000_000 if full else 5_000),
        *with_endings(corpus("multi"), 20 if full else 1, tail=40),
    ]
    compare(engine, name, "random Unicode and endings", texts)


@cache
def code_points(full: bool) -> list[str]:
    """All code points that a text may hold, or where their category changes and every 32nd."""
    points = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    if full:
        return points
    kinds = [unicodedata.category(point) for point in points]
    return [
        point
        for number, point in enumerate(points)
        if (number % 32 == 0 and number < 0x33000)
        or len(set(kinds[max(number - 12, 0) : number + 12])) > 1
    ]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", NAMED)
def test_every_code_point(full: bool, name: str, engine: str) -> None:
    """Each in eight contexts, or in the fullest one; 1,000 to a text."""
    points = code_points(full)
    texts = [
        "".join(context.replace("{}", point) for point in points[first : first + 1_000])
        for context in (CONTEXTS if full else CONTEXTS[-1:])
        for first in range(0, len(points), 1_000)
    ]
    compare(engine, name, f"{len(points):,} code points", texts)
