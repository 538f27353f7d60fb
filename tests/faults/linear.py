"""Times every verb under every kind of tokenizer on texts made to be slow: at one length, and four.

`python tests/faults/linear.py --size 20000` prints a row for each verb and kind, with the slowest
of the texts, and each case that grows far beyond its text; it fails if there is one. `--kind`,
`--verb` and `--shape` take parts of names. `test_linear_time.py` holds what must stay near-linear.

Time is that of the processor, and a case that seems to grow too much is measured again: what is
linear or nearly so takes about four times as long, a square sixteen times.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from vocabularies import bpe, changed

import digram

TIMES = 4
"""How much longer the longer text is."""
MOST = 8.0
"""Growth from which on a case is said to be more than near-linear: halfway to a square's 16."""
QUICK = 0.05
"""Seconds for the longer text up to which growth is not asked for: it would be noise."""
ROUNDS = 5
PATIENCE = 30.0
"""Seconds for the shorter text from which on the longer one is not tried."""


def letters(size: int) -> str:
    return "".join(random.Random(5).choices("abcdefghijklmnopqrstuvwxyz", k=size))


def few(size: int) -> str:
    """Letters that merge in many ways: each place hangs on those before it."""
    return "".join(random.Random(7).choices("aab", k=size))


def digits(size: int) -> str:
    return "".join(random.Random(6).choices("0123456789", k=size))


def mixed(size: int) -> str:
    pieces = [
        "the ",
        "5 mg",
        "b.i.d.",
        ", ",
        "\n",
        "  ",
        "日本",
        "é",
        "a" * 9,
        "12,345.6",
        "'s",
        "!?",
    ]
    text = "".join(random.Random(8).choices(pieces, k=size // 2))
    return text[:size]


def repeated(piece: str, size: int) -> str:
    return (piece * (size // len(piece.encode()) + 1))[: size * len(piece) // len(piece.encode())]


SHAPES: dict[str, Callable[[int], str]] = {
    "a": partial(repeated, "a"),
    "ab, ": partial(repeated, "ab, "),
    "5mg": partial(repeated, "5mg"),
    "1,": partial(repeated, "1,"),
    "spaces": partial(repeated, " "),
    "newlines": partial(repeated, "\n"),
    "中": partial(repeated, "中"),
    "accents": partial(repeated, "\u0301"),
    "ab ": partial(repeated, "ab "),
    "punctuation": partial(repeated, "!"),
    "digits": digits,
    "letters": letters,
    "few letters": few,
    "mixed": mixed,
}

CORPUS = [make(400) for make in SHAPES.values()] + ["the cat of the house, 5 mg of iron ore\n" * 5]


def train(corpus: Any = CORPUS, **options: Any) -> digram.Tokenizer:
    return digram.train(corpus, threads=1, **{"max_merges": 200} | options)


TERMS = digram.Rules(["iron", "a b", "b, a"], units=["mg", "%"])
CODES = digram.Rules(
    ["aab"], units=["g"], patterns=[r"[A-Z]\d+", "a{1,3}b"], numbers="threes_from_right"
)


def ignoring() -> digram.Tokenizer:
    """No merges lead to the last token: a pretoken may be it, and no part of one."""
    found = train(pretokenizer="gpt2").definition
    return digram.Tokenizer(changed(found, tokens=[*found.tokens, b"qqqq"], ignore_merges=True))


def fair() -> digram.Tokenizer:
    corpora = {"a": CORPUS[::2], "b": CORPUS[1::2]}
    return digram.train_fair(corpora, dev=corpora, vocab_size=400, threads=1)


KINDS: dict[str, Callable[[], digram.Tokenizer]] = {
    "cl100k": partial(train, pretokenizer="cl100k"),
    "o200k": partial(train, pretokenizer="o200k"),
    "deepseek-v3": partial(train, pretokenizer="deepseek-v3"),
    "whole": partial(train, pretokenizer=None),
    "looking around": partial(
        train, pretokenizer=digram.Regex(r"(?<=[a-z]{2}|\s)\w{1,3}(?=\w|\s{2})|(?<!b)(?= )|\s+")
    ),
    "looking far": partial(
        train, pretokenizer=digram.Regex(r"(?=a+b)a|(?<=x.*)[a-z]+|(?<![^\n]*1)\w(?=.*!)|\s+")
    ),
    "looking behind": partial(train, pretokenizer=digram.Regex(r"\bab|\s+(?!\S)|^a|b+$")),
    "looking ahead": partial(
        train, pretokenizer=[digram.Regex(r"[a-z, ]+"), digram.Regex("a+b|a{1,50}")]
    ),
    "right threes": partial(
        train, pretokenizer=digram.Pretokenizer("cl100k", digits="threes_from_right")
    ),
    "characters": partial(train, pretokenizer=None, unit="char", on_unknown="bytes"),
    "unknown": partial(
        train, ["ab ab", "the cat"], unit="char", on_unknown=digram.SpecialToken("<unk>")
    ),
    "special": lambda: train(pretokenizer="cl100k").with_special_tokens(["<|end|>", "b, a"]),
    "ignoring merges": ignoring,
    "terms": partial(train, pretokenizer="gpt2", rules=TERMS),
    "terms, whole": partial(train, pretokenizer=None, rules=TERMS),
    "codes": partial(train, pretokenizer="o200k", rules=CODES),
    "whole numbers": partial(
        train, pretokenizer=None, rules=digram.Rules(["aab"], numbers="whole")
    ),
    "codes, whole": partial(train, pretokenizer=None, rules=CODES),
    "boundless": partial(train, superwords="boundless"),
    "boundless, whole": partial(train, superwords=digram.Boundless(joins="all", pretokenizer=None)),
    "two-stage": partial(train, superwords="two-stage"),
    "picky": partial(train, pretokenizer="cl100k", picky=0.5),
    "picky, whole": partial(train, pretokenizer=None, picky=0.5),
    "picky, dropping": partial(train, [*CORPUS[:1], few(3_000)], pretokenizer=None, picky=0.3),
    "fair": fair,
    "whole characters": partial(train, pretokenizer=None, whole_characters=True),
}


@cache
def made(kind: str) -> digram.Tokenizer:
    return KINDS[kind]()


def truncate(share: float, side: Any, tok: digram.Tokenizer, text: str, count: int) -> None:
    tok.truncate(text, int(count * share), side=side)


def truncate_few(side: Any, tok: digram.Tokenizer, text: str, count: int) -> None:
    tok.truncate(text, 100, side=side)


def truncate_all_but_one(side: Any, tok: digram.Tokenizer, text: str, count: int) -> None:
    tok.truncate(text, count - 1, side=side)


def chunks(size: int, overlap: int, tok: digram.Tokenizer, text: str, count: int) -> None:
    tok.chunks(text, size, overlap=overlap)


def chunks_of_share(tok: digram.Tokenizer, text: str, count: int) -> None:
    tok.chunks(text, count // 3 + 4, overlap=count // 6)


def stream(tok: digram.Tokenizer, text: str, count: int) -> None:
    pieces = (text[at : at + 7] for at in range(0, len(text), 7))
    assert sum(map(len, tok.encode_stream(pieces))) == count


def decoder(tok: digram.Tokenizer, text: str, count: int) -> None:
    shown = tok.decoder()
    for id_ in tok.encode(text):
        shown.push(id_)
    shown.finish()


def append(tok: digram.Tokenizer, text: str, count: int) -> None:
    counter = tok.counter()
    for at in range(0, len(text), 7):
        counter.append(text[at : at + 7])
    assert counter.count == count


def append_and_ask(tok: digram.Tokenizer, text: str, count: int) -> None:
    counter = tok.counter()
    # Where all of a long text would be counted each time, it says that this is too much.
    with contextlib.suppress(digram.LimitExceededError):
        for at in range(0, len(text), 7):
            counter.append(text[at : at + 7])
            assert counter.count > 0
        assert counter.count == count


def prepend(tok: digram.Tokenizer, text: str, count: int) -> None:
    counter = tok.counter()
    for at in range(len(text), 0, -7):
        counter.prepend(text[max(0, at - 7) : at])
    assert counter.count == count


def windows(tok: digram.Tokenizer, text: str, count: int) -> None:
    encoding = tok(text, max_length=64, overlap=8, offsets="utf16")
    for window in (encoding, *encoding.overflowing):
        assert window.char_to_token(window.offsets[-1][0]) is not None


def intervals(tok: digram.Tokenizer, text: str, count: int) -> None:
    counted = tok.intervals(text)
    for _ in range(3):
        counted.count(len(text) // 3, -len(text) // 5)


def dropout(tok: digram.Tokenizer, text: str, count: int) -> None:
    if bpe(tok.definition).scheme is None:
        tok.encode(text, dropout=0.1, seed=1)


def show(tok: digram.Tokenizer, text: str, count: int) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        digram.show(tok, text)


def explain(tok: digram.Tokenizer, text: str, count: int) -> None:
    if bpe(tok.definition).scheme is None:
        repr(digram.explain(tok, text))


def fits(tok: digram.Tokenizer, text: str, count: int) -> None:
    for n in (10, count - 1, count, count + 1):
        assert tok.fits(text, n) == (count <= n)


VERBS: dict[str, Callable[[digram.Tokenizer, str, int], object]] = {
    "encode": lambda tok, text, count: tok.encode_batch([text], threads=1),
    "encode, special parsed": lambda tok, text, count: tok.encode(text, special="parse"),
    "count": lambda tok, text, count: tok.count_batch([text], threads=1),
    "decode": lambda tok, text, count: tok.decode(tok.encode(text)),
    "pretokenize": lambda tok, text, count: tok.pretokenize(text),
    "fits": fits,
    "intervals": intervals,
    "truncate to a tenth": partial(truncate, 0.1, "right"),
    "truncate to a tenth, left": partial(truncate, 0.1, "left"),
    "truncate to a half": partial(truncate, 0.5, "right"),
    "truncate to a half, left": partial(truncate, 0.5, "left"),
    "truncate to few": partial(truncate_few, "right"),
    "truncate to few, left": partial(truncate_few, "left"),
    "truncate by one": partial(truncate_all_but_one, "right"),
    "truncate by one, left": partial(truncate_all_but_one, "left"),
    "chunks": partial(chunks, 64, 0),
    "chunks that overlap": partial(chunks, 64, 16),
    "chunks that overlap much": partial(chunks, 512, 256),
    "chunks of a third": chunks_of_share,
    "append": append,
    "append and ask": append_and_ask,
    "prepend": prepend,
    "windows": windows,
    "stream": stream,
    "decoder": decoder,
    "dropout": dropout,
    "show": show,
    "explain": explain,
    "evaluate": lambda tok, text, count: digram.evaluate(tok, text),
}


@dataclass(frozen=True)
class Case:
    """What a verb took on the shorter text and on the longer one, in seconds."""

    kind: str
    verb: str
    shape: str
    short: float
    long: float

    @property
    def grows(self) -> float:
        return self.long / max(self.short, 1e-9)

    @property
    def is_linear(self) -> bool:
        return self.long <= QUICK or self.grows <= MOST


def seconds(kind: str, verb: str, text: str) -> float:
    tok = made(kind)
    count = tok.count(text)
    begin = process_time()
    VERBS[verb](tok, text, count)
    return process_time() - begin


def measured(kind: str, verb: str, shape: str, size: int) -> Case:
    """The least growth of some rounds, which end as soon as it is small enough."""
    texts = SHAPES[shape](size), SHAPES[shape](TIMES * size)
    found: list[Case] = []
    while len(found) < ROUNDS and not any(case.is_linear for case in found):
        short = seconds(kind, verb, texts[0])
        long = seconds(kind, verb, texts[1]) if short < PATIENCE else TIMES**2 * short
        found.append(Case(kind, verb, shape, short, long))
        if long > PATIENCE / 10:
            break
    return min(found, key=lambda case: case.grows)


def chosen(names: dict[str, Any], parts: list[str]) -> list[str]:
    return [name for name in names if not parts or any(part in name for part in parts)]


def all_measured(
    size: int, kinds: list[str], verbs: list[str], shapes: list[str]
) -> Iterator[tuple[str, str, list[Case]]]:
    for kind in kinds:
        for verb in verbs:
            yield kind, verb, [measured(kind, verb, shape, size) for shape in shapes]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=20_000, help="bytes of the shorter text")
    for name in ("kind", "verb", "shape"):
        parser.add_argument(f"--{name}", action="append", default=[], help="a part of a name")
    given = parser.parse_args()
    picked = [
        chosen(names, parts)
        for names, parts in ((KINDS, given.kind), (VERBS, given.verb), (SHAPES, given.shape))
    ]
    failed: list[Case] = []
    for kind, verb, cases in all_measured(given.size, *picked):
        worst = max(cases, key=lambda case: case.long)
        print(
            f"{kind:18}{verb:26}{worst.shape:14}"
            f"{1e3 * worst.short:10.1f} ms{1e3 * worst.long:10.1f} ms",
            flush=True,
        )
        for case in cases:
            if not case.is_linear:
                failed.append(case)
                print(
                    f"    {case.shape}: {1e3 * case.short:.1f} ms, {1e3 * case.long:.1f} ms,"
                    f" {case.grows:.1f} times as long",
                    flush=True,
                )
    print(f"{len(failed)} cases grow far more than their text")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
