"""Every family of docs/support.md, and the published vocabularies, by `digram.verify` at length.

    PYTHONPATH=tests python tests/formats/verify_families.py [--fuzz 1000000] [--only NAME ...]

`make verify-families` runs it: hours, so `make test-formats` compares some hundreds of texts
of each family instead. A tokenizer is compared with that of the library that made it, on all
corpora and languages of `DIGRAM_DATA` and on generated texts. Prints a line for each; the exit code
is 1 if any differ.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import sentencepiece
import tokenizers
from formats.test_families import FAMILIES
from oracles.published import ENCODINGS, encoding

import digram
from digram.formats.huggingface import loads

DATA = Path(os.environ.get("DIGRAM_DATA") or Path(__file__).parents[3] / "shared" / "data")
MODELS = ("spm_test_model", "spm_test_ja_model")

Sides = tuple[digram.Tokenizer, Any]


def of_family(make: Callable[[], Any]) -> Sides:
    theirs = make()
    return digram.Tokenizer(loads(theirs.to_str().encode())), theirs


def of_tiktoken(name: str) -> Sides:
    return digram.load(DATA / f"vocabs/{name}.tiktoken"), encoding(name, DATA.joinpath)


def of_sentencepiece(name: str) -> Sides:
    path = DATA / f"vocabs/{name}.model"
    return digram.load(path), sentencepiece.SentencePieceProcessor(model_file=str(path))


def of_tokenizers(name: str) -> Sides:
    path = DATA / f"vocabs/{name}.json"
    return digram.load(path), tokenizers.Tokenizer.from_file(str(path))


def everything() -> Iterator[tuple[str, Callable[[], Sides]]]:
    for name, make in FAMILIES.items():
        yield name, partial(of_family, make)
    if DATA.is_dir():
        for name in ENCODINGS:
            yield name, partial(of_tiktoken, name)
        for name in MODELS:
            yield name, partial(of_sentencepiece, name)
        yield "gpt2_tokenizer", partial(of_tokenizers, "gpt2_tokenizer")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fuzz", type=int, default=1_000_000, help="texts to generate for each")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other texts")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="a part of its name")
    parser.add_argument("--no-corpora", action="store_true", help="generated texts alone")
    args = parser.parse_args()
    paths = sorted(DATA.glob("corpora/*.txt")) + sorted(DATA.glob("flores-dev/*.txt"))
    # Documents, since a whole file as one text takes other libraries 10 GB of memory.
    corpus = digram.files(*paths, separator="<|endoftext|>") if paths else None
    corpus = None if args.no_corpora else corpus
    differ = 0
    for name, make in everything():
        if args.only and not any(part in name for part in args.only):
            continue
        start = monotonic()
        ours, theirs = make()
        found = digram.verify(
            ours, theirs, corpus, fuzz=args.fuzz, seed=args.seed, threads=1, progress=False
        )
        differ += not found.equal
        print(f"{name}: {found!r}, {monotonic() - start:.0f} s", flush=True)
        if not found.equal:
            print(found, flush=True)
    return int(differ > 0)


if __name__ == "__main__":
    raise SystemExit(main())
