"""Calls in too little memory: each is done, or raises MemoryError. None ends its process.

    .venv/bin/python tests/faults/memory_limits.py [name ...]

forks a process for each call and each of many limits, and prints what came of it. A part of it is
in the tests (`test_memory_limits.py`).
"""

from __future__ import annotations

import argparse
import errno
import itertools
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import digram

MIB = 1 << 20

PLAIN = digram.train("low lower lowest newer ", vocab_size=270, pretokenizer="cl100k")
WHOLE = digram.train("low" * 50, vocab_size=262, pretokenizer=None)
SPECIAL = PLAIN.with_special_tokens(["<|end|>"])
CHARS = digram.train("low lower 日本 ", vocab_size=300, unit="char", on_unknown="bytes")
PICKY = digram.train("low lower lowest newer " * 9, vocab_size=262, pretokenizer=None, picky=0.5)
WIDE = digram.train(
    " ".join(f"{n * 7919 % 10007}" for n in range(9_000)), vocab_size=8_000, pretokenizer="gpt2"
)
"""Of many tokens: what it keeps between calls and how it makes integers takes memory as well."""

TEXT = "low newest, 12 of them! " * 400_000
MANY = [f"low {n}" for n in range(300_000)]
DISTINCT = " ".join(f"{n * 7919 % 10_000_019:07}lowest-and-longer" for n in range(150_000))
UNCUT = "low" * 2_500_000
UNICODE = "日本 " * 700_000


def ids(count: int) -> Any:
    return PLAIN.encode_batch([TEXT[: count * 4]], out="numpy").ids


IDS = ids(2_000_000)
COUNTS = digram.count_pretokens(DISTINCT, pretokenizer="whitespace", progress=False)
ENCODING = PLAIN(TEXT[: len(TEXT) // 4])


def refused(call: Callable[[], object]) -> None:
    """What is refused whatever memory there is."""
    try:
        call()
    except digram.TokenIdError:
        return
    raise AssertionError("it was taken")


def prepended() -> int:
    counter = WHOLE.counter()
    for _ in range(8):
        counter.prepend(UNCUT[: 1 << 20])
    return counter.count


def saved() -> digram.Tokenizer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        WIDE.save(path)
        return digram.load(path)


def saved_counts() -> digram.Counts:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "counts.arrow")
        COUNTS.save(path)
        return digram.Counts.load(path)


CALLS: dict[str, Callable[[], object]] = {
    "encode to a list": lambda: PLAIN.encode(TEXT),
    "encode, many tokens": lambda: WIDE.encode(DISTINCT),
    "encode, not cut": lambda: WHOLE.encode(UNCUT),
    "encode, characters": lambda: CHARS.encode(UNICODE),
    "encode, picky": lambda: PICKY.encode(UNCUT[: len(UNCUT) // 2]),
    "encode with dropout": lambda: PLAIN.encode(TEXT[: len(TEXT) // 4], dropout=0.1, seed=1),
    "encode with dropout, not cut": lambda: WHOLE.encode(UNCUT[: 1 << 20], dropout=0.1, seed=1),
    "encode with special tokens": lambda: SPECIAL.encode("<|end|>" * 1_500_000, special="parse"),
    "encode of parts": lambda: SPECIAL.encode([TEXT, digram.SpecialToken("<|end|>"), TEXT]),
    "encode of bytes": lambda: PLAIN.encode(TEXT.encode()),
    "encode_batch to lists": lambda: PLAIN.encode_batch(MANY),
    "encode_batch to arrays": lambda: PLAIN.encode_batch(MANY, out="numpy"),
    "encode_batch to arrays, one text": lambda: PLAIN.encode_batch([TEXT], out="numpy"),
    "encode_batch to Arrow": lambda: PLAIN.encode_batch(MANY, out="arrow"),
    "encode_batch, 64 threads": lambda: PLAIN.encode_batch([TEXT] * 4, threads=64, out="numpy"),
    "encode_batch, 64 threads, many tokens": lambda: WIDE.encode_batch([DISTINCT] * 4, threads=64),
    "encode_batch of a generator": lambda: PLAIN.encode_batch(str(n) for n in range(300_000)),
    "encode_iter": lambda: sum(map(len, PLAIN.encode_iter(MANY))),
    "encode_stream": lambda: list(PLAIN.encode_stream([TEXT], out="numpy")),
    "encode_stream, not cut": lambda: list(WHOLE.encode_stream([UNCUT] * 2)),
    "call": lambda: PLAIN(TEXT),
    "call of many": lambda: PLAIN(MANY),
    "offsets": lambda: ENCODING.offsets,
    "word_ids": lambda: ENCODING.word_ids,
    "offsets of many": lambda: [one.offsets for one in PLAIN(MANY[:100_000])[:]],
    "count": lambda: PLAIN.count(TEXT),
    "count, 64 threads": lambda: PLAIN.count_batch([TEXT] * 4, threads=64),
    "count_batch": lambda: PLAIN.count_batch(MANY),
    "count_batch to an array": lambda: PLAIN.count_batch(MANY, out="numpy"),
    "fits": lambda: PLAIN.fits(TEXT, 10**9),
    "truncate": lambda: PLAIN.truncate(TEXT, 2_000_000),
    "truncate, left": lambda: PLAIN.truncate(TEXT, 2_000_000, side="left"),
    "truncate, not cut": lambda: WHOLE.truncate(UNCUT, 1_000_000),
    "chunks": lambda: PLAIN.chunks(TEXT[: len(TEXT) // 4], 16, overlap=2),
    "intervals": lambda: PLAIN.intervals(TEXT),
    "intervals, characters": lambda: CHARS.intervals(UNICODE),
    "counter": lambda: PLAIN.counter(TEXT).count,
    "counter, prepended": prepended,
    "decode of an array": lambda: PLAIN.decode(IDS),
    "decode of a list": lambda: PLAIN.decode(IDS.tolist()),
    "decode of part of an array": lambda: PLAIN.decode(IDS[::2]),
    "decode of a range": lambda: refused(lambda: PLAIN.decode(range(2**40))),
    "decode without an end": lambda: PLAIN.decode(itertools.repeat(65)),
    "decode_bytes": lambda: PLAIN.decode_bytes(IDS),
    "decode_batch": lambda: PLAIN.decode_batch([97] * 4 for _ in range(400_000)),
    "decode_batch of an array": lambda: PLAIN.decode_batch(PLAIN.encode_batch(MANY, out="numpy")),
    "decode_bytes_batch of an array": lambda: PLAIN.decode_bytes_batch(
        PLAIN.encode_batch(MANY, out="numpy")
    ),
    "decode_batch of Arrow": lambda: PLAIN.decode_batch(PLAIN.encode_batch(MANY, out="arrow")),
    "decode, no UTF-8": lambda: PLAIN.decode([0x80] * 4_000_000),
    "decoder": lambda: PLAIN.decoder().extend(IDS),
    "tokens": lambda: PLAIN.tokens(IDS),
    "pretokenize": lambda: PLAIN.pretokenize(TEXT),
    "pretokenize of bytes": lambda: PLAIN.pretokenize(TEXT.encode()),
    "count_pretokens": lambda: digram.count_pretokens(
        DISTINCT, pretokenizer="whitespace", progress=False
    ),
    "count_pretokens, not cut": lambda: digram.count_pretokens(
        UNCUT, pretokenizer=None, progress=False
    ),
    "count_pretokens, 64 threads": lambda: digram.count_pretokens(
        [DISTINCT] * 4, pretokenizer="whitespace", threads=64, progress=False
    ),
    "count_pretokens, limited": lambda: digram.count_pretokens(
        DISTINCT, pretokenizer="whitespace", memory_limit="30 MiB", progress=False
    ),
    "counts added": lambda: COUNTS + COUNTS,
    "counts filtered": lambda: COUNTS.filter(min_count=2),
    "counts, most common": lambda: COUNTS.most_common(1_000_000),
    "counts, all": lambda: list(COUNTS.items()),
    "counts saved and loaded": saved_counts,
    "train": lambda: digram.train(DISTINCT, vocab_size=400, pretokenizer="gpt2", progress=False),
    "train, not cut": lambda: digram.train(
        UNCUT, vocab_size=300, pretokenizer=None, progress=False
    ),
    "train, first seen": lambda: digram.train(
        COUNTS, vocab_size=300, pretokenizer="whitespace", ties="first_seen", progress=False
    ),
    "train, limited": lambda: digram.train(
        COUNTS, vocab_size=300, pretokenizer="whitespace", memory_limit="24 MiB", progress=False
    ),
    "train, picky": lambda: digram.train(
        COUNTS, vocab_size=300, pretokenizer="whitespace", picky=0.8, progress=False
    ),
    "train, unigram": lambda: digram.train(
        DISTINCT[:1_200_000], vocab_size=4000, model="unigram", progress=False
    ),
    "train, boundless": lambda: digram.train(
        TEXT, vocab_size=280, pretokenizer="gpt2", superwords="boundless", progress=False
    ),
    "train_fair": lambda: digram.train_fair(
        {"a": COUNTS, "b": COUNTS}, vocab_size=300, pretokenizer="whitespace", progress=False
    ),
    "extend": lambda: digram.extend(WIDE, DISTINCT, add=5, progress=False),
    "evaluate": lambda: digram.evaluate(PLAIN, MANY),
    "audit": lambda: digram.audit(WIDE, DISTINCT),
    "saved and loaded": saved,
    "a tokenizer of many tokens": lambda: digram.Tokenizer(WIDE.definition),
}
"""Each takes some tens to some hundreds of MB where it is given them."""

LIMITS = [0, 1, 2, 4, 8, 16, 32, 34, 36, 40, 48, 56, 64, 80, 100, 128, 160, 200, 256, 400]
"""MiB of address space beyond what the process has when it begins."""

FEW = [0, 8, 35, 64, 150]
"""Of these, those in the tests, two for each call."""

SECONDS = 60


def has_memory() -> int:
    """The address space of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def outcome(call: Callable[[], object], limit: int) -> str:
    """What comes of a call in a fork with so many MiB: "done", "MemoryError", or what is wrong."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        said = "nothing was said"
        try:
            os.close(readable)
            signal.alarm(SECONDS)
            most = has_memory() + limit * MIB
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
            try:
                call()
                said = "done"
            except MemoryError:
                said = "MemoryError"
            except (OSError, ImportError) as error:
                # A module that is loaded when it is needed first finds no room: Python's own word.
                short = getattr(error, "errno", 0) == errno.ENOMEM or "failed to map" in str(error)
                said = "MemoryError" if short else f"{type(error).__name__}: {error}"
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
                resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
                said += "".join(traceback.format_exception(error)[-4:])
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        finally:
            os.write(writable, said.encode("utf-8", "replace")[:60_000])
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        said = pipe.read().decode("utf-8", "replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said if status == 0 and said else f"ended with {status}"


def outcomes(names: Iterable[str], limits: list[int]) -> dict[str, list[str]]:
    """What came of each call within each limit."""
    return {name: [outcome(CALLS[name], limit) for limit in limits] for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help="the calls; all by default")
    asked = parser.parse_args().names or [*CALLS]
    seen: Counter[str] = Counter()
    for name in asked:
        found = outcomes([name], LIMITS)[name]
        wrong = {
            limit: one for limit, one in zip(LIMITS, found, strict=True) if one not in OUTCOMES
        }
        seen.update(one if one in OUTCOMES else "wrong" for one in found)
        first = next(
            (limit for limit, one in zip(LIMITS, found, strict=True) if one == "done"), None
        )
        print(f"{name}: done from {first} MiB on", *(f"\n  {k} MiB: {v}" for k, v in wrong.items()))
        sys.stdout.flush()
    print(dict(seen))
    sys.exit(bool(seen["wrong"]))


OUTCOMES = ("done", "MemoryError")

if __name__ == "__main__":
    main()
