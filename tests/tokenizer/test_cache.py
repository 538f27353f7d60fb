"""The limit of the memory in which encoding remembers words."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import digram

MiB = 1 << 20

LEAST = 64 << 10
"""What a thread takes in any case, in bytes, with some to spare."""


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    digram.limit_cache()
    yield
    digram.limit_cache()


def words(seed: int, count: int) -> str:
    """A text of many different words, short and long."""
    random_words = random.Random(seed)
    letters = "etaoinshrdlu日語é"
    return " ".join(
        "".join(random_words.choices(letters, k=random_words.choice((3, 5, 7, 9, 30))))
        for _ in range(count)
    )


@pytest.fixture(scope="module")
def tokenizers() -> list[digram.Tokenizer]:
    return [
        digram.train(words(seed, 2_000), vocab_size=size, pretokenizer="gpt4")
        for seed, size in enumerate((300, 2_000, 3_000))
    ]


@pytest.fixture(scope="module")
def without_limit(tokenizers: list[digram.Tokenizer]) -> tuple[str, list[list[list[int]]]]:
    """A text, and its ids by each tokenizer."""
    digram.limit_cache()
    text = words(7, 60_000)
    return text, [tok.encode_batch([text], threads=1) for tok in tokenizers]


@pytest.mark.parametrize("total", [0, 1, 20_000, 300_000, 5 * MiB, 2**62, 2**80])
@pytest.mark.parametrize("per_thread", [None, 0, 100_000])
def test_no_limit_changes_ids(
    tokenizers: list[digram.Tokenizer],
    without_limit: tuple[str, list[list[list[int]]]],
    total: int,
    per_thread: int | None,
) -> None:
    text, expected_of_all = without_limit
    for tok, expected in zip(tokenizers, expected_of_all, strict=True):
        digram.limit_cache(total, per_thread=per_thread)
        for _ in range(2):
            assert tok.encode_batch([text], threads=2) == expected
            assert tok.encode_batch([text], threads=1) == expected
        assert digram.cache_bytes() <= min(total, 600 * MiB)


def test_all_threads_and_tokenizers_share_the_limit(tokenizers: list[digram.Tokenizer]) -> None:
    texts = [words(seed, 5_000) for seed in range(64)]
    expected = [tok.encode_batch(texts, out="numpy", threads=1) for tok in tokenizers]
    limit, most, done = 2 * MiB, 0, threading.Event()
    digram.limit_cache(limit)

    def watch() -> None:
        nonlocal most
        while not done.wait(0.0005):
            most = max(most, digram.cache_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for tok, (ids, _) in zip(tokenizers * 2, expected * 2, strict=True):
            assert (tok.encode_batch(texts, out="numpy", threads=64).ids == ids).all()
            assert digram.cache_bytes() <= limit
        with ThreadPoolExecutor(64) as pool:
            for tok, (ids, offsets) in zip(tokenizers, expected, strict=True):
                found = pool.map(tok.encode, texts)
                assert [len(one) for one in found] == (offsets[1:] - offsets[:-1]).tolist()
                assert int(offsets[-1]) == len(ids)
    finally:
        done.set()
        watcher.join()
    assert 0 < most <= limit + 65 * LEAST
    digram.limit_cache(0)
    assert digram.cache_bytes() == 0


RESIDENT = """
import digram, os, random, sys
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
random.seed(1)
word = lambda: "".join(random.choices("etaoinshrdlu", k=random.choice((5, 7, 9, 14))))
texts = [" ".join(word() for _ in range(8_000)) for _ in range(128)]
corpus = " ".join(texts[:2])
toks = [digram.train(corpus, vocab_size=size, pretokenizer="gpt4") for size in (600, 900, 1200)]
digram.limit_cache(int(sys.argv[1]))
for tok in toks:
    tok.count_batch(texts[:1], threads=1)
before = resident()
for tok in toks * 2:
    tok.count_batch(texts, threads=64)
print(resident() - before, digram.cache_bytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_a_process_grows_by_no_more_than_the_limit() -> None:
    grown = {}
    for limit in (4 * MiB, 256 * MiB):
        command = [sys.executable, "-c", RESIDENT, str(limit)]
        # The allocator's own reserves for 64 threads are not part of the limit.
        env = {**os.environ, "MALLOC_ARENA_MAX": "2"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        grown[limit], kept = map(int, done.stdout.split())
        assert kept <= limit
    # The limit, what each thread takes in any case, and the allocator's slack.
    assert grown[4 * MiB] < (4 + 16) * MiB
    # Without it, 64 threads would take much more.
    assert grown[256 * MiB] > 40 * MiB


@pytest.mark.parametrize("wrong", [True, 1.5, float("nan"), "64", b"64", [1], object()])
def test_what_is_no_number_is_refused(wrong: object) -> None:
    with pytest.raises(TypeError, match="total is a whole number"):
        digram.limit_cache(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="per_thread is a whole number"):
        digram.limit_cache(per_thread=wrong)  # type: ignore[arg-type]


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(digram.OptionError, match="total=-1 is not at least 0"):
        digram.limit_cache(-1)
    with pytest.raises(digram.OptionError, match="per_thread=-"):
        digram.limit_cache(per_thread=-(2**90))


def test_the_variable_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    text = words(3, 60_000)

    def kept() -> int:
        tok = digram.train(text[:20_000], vocab_size=600, pretokenizer="gpt4")
        tok.encode_batch([text], threads=1)
        return digram.cache_bytes()

    monkeypatch.setenv("DIGRAM_CACHE_BYTES", " 100000 ")
    assert kept() <= 100_000
    # A call is stronger.
    digram.limit_cache(50_000)
    assert kept() <= 50_000
    digram.limit_cache(2**30)
    assert kept() > 100_000
    digram.limit_cache()
    assert digram.cache_bytes() <= 100_000
    monkeypatch.delenv("DIGRAM_CACHE_BYTES")
    assert kept() > 100_000


@pytest.mark.parametrize("told", ["-1", "64 MiB", "1e6", "nan", "9" * 100, "\udcff"])
def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    monkeypatch.setenv("DIGRAM_CACHE_BYTES", told)
    with pytest.raises(digram.OptionError, match=r"DIGRAM_CACHE_BYTES.* is not a number of bytes"):
        digram.train("low lower", vocab_size=258)
    with pytest.raises(digram.OptionError, match="DIGRAM_CACHE_BYTES"):
        digram.limit_cache(per_thread=1)
