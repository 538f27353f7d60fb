"""Long texts on several threads: as they are stored, in parts, and to lists that grow."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import digram
from digram.vocab.special_tokens import TextOrParts

WORDS = "the cat sat on the mat, étude à la carte; 日本語の文章、語彙。 🙂🙃 \U0001f1e9 x1234567 \n"


@pytest.fixture(scope="module")
def tok() -> digram.Tokenizer:
    return digram.train(WORDS * 20, vocab_size=400, pretokenizer="gpt4")


def texts() -> dict[str, str]:
    """Texts of every width of characters, longer than several tasks."""
    latin = "".join(c for c in WORDS if ord(c) < 256)
    plane = "".join(c for c in WORDS if ord(c) < 65536)
    return {
        "ascii": "the cat sat, " * 40_000,
        "latin": latin * 9_000,
        "plane": plane * 8_000,
        "all": WORDS * 7_000,
        "unspaced": "日本語の文章語彙" * 50_000,
        "one letter": "é" * 400_000,
        # The first part has many more ids than the rest, and the other way round.
        "dense first": "🙂\U0001f1e9" * 40_000 + "étude the cat sat " * 30_000,
        "dense last": "étude the cat sat " * 30_000 + "🙂\U0001f1e9" * 90_000,
    }


@pytest.mark.parametrize("name", texts())
def test_a_long_str_has_the_ids_of_its_bytes(
    tok: digram.Tokenizer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = texts()[name]
    expected = tok.encode_batch([text.encode()], threads=1)[0]
    for threads in (1, 2, 5):
        monkeypatch.setenv("DIGRAM_THREADS", str(threads))
        # A new object each time, whose UTF-8 form is not known yet.
        assert tok.encode((text + " ")[:-1]) == expected
        assert tok.count((text + " ")[:-1]) == len(expected)
        batch: list[TextOrParts] = ["a", (text + " ")[:-1], "", text.encode(), "é"]
        lists = tok.encode_batch(batch, threads=threads)
        assert lists == [tok.encode("a"), expected, [], expected, tok.encode("é")]
        flat = tok.encode_batch(batch, threads=threads, out="numpy")
        assert np.array_equal(flat.ids, np.concatenate([np.array(ids, np.uint32) for ids in lists]))
        assert np.array_equal(np.diff(flat.offsets.astype(np.int64)), list(map(len, lists)))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_errors_name_the_place_in_a_long_str(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIGRAM_THREADS", str(threads))
    of_characters = digram.train("été à la mer", vocab_size=30, unit="char", pretokenizer="gpt4")
    for at in (3, 70_001, 400_000):
        text = ("été à la mer " * 40_000)[:at] + "日" + " été" * 50_000
        with pytest.raises(digram.InvalidTextError, match=f"'日'.* at character {at} ") as error:
            of_characters.encode(text)
        with pytest.raises(digram.InvalidTextError, match=f"'日'.* at character {at} "):
            of_characters.encode_batch(["a", text], threads=threads)
        text = text.replace("日", "\udc80")
        with pytest.raises(digram.InvalidTextError, match=f"U\\+DC80.* at index {at},") as error:
            of_characters.encode(text)
        assert error.value.index == at


CHECKED = """
import gc, sys, digram
tok = digram.train("the cat sat, \u65e5\u672c\u8a9e", vocab_size=300, pretokenizer="gpt4")
first, second = "the cat sat, " * 40_000, "\u65e5\u672c\u8a9e " * 90_000
for text in (first + second, second + first):
    ids = tok.encode(text)
    assert tok.decode(ids) == text
    ids.append(1)
    del ids[: len(ids) // 2]
    gc.collect()
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_lists_that_grow_are_in_memory_of_python(threads: str) -> None:
    """Python checks the allocator, and the borders of the memory, when a list is freed."""
    env = {**os.environ, "PYTHONMALLOC": "debug", "DIGRAM_THREADS": threads}
    subprocess.run([sys.executable, "-c", CHECKED], env=env, check=True)


def test_special_tokens_are_found_in_a_long_str(tok: digram.Tokenizer) -> None:
    chat = tok.with_special_tokens(["<|日本|>"])
    text = WORDS * 3_000 + "<|日本|>" + WORDS * 3_000
    ids = chat.encode(text, special="parse")
    assert ids == chat.encode_batch([text.encode()], special="parse", threads=1)[0]
    assert chat.special_tokens["<|日本|>"] in ids
    with pytest.raises(digram.SpecialTokenError):
        chat.encode(text, special="raise")


def test_lists_are_known_to_the_garbage_collector(tok: digram.Tokenizer) -> None:
    long = texts()["all"]
    lists = [*tok.encode_batch(["ab", "", long], threads=2), tok.encode(long), tok.encode("ab")]
    assert all(gc.is_tracked(ids) for ids in lists)
    for ids in lists:
        ids.append(7)
        assert ids.pop() == 7
        ids.extend(ids[:3])
        ids.clear()


def test_lists_are_made_while_other_threads_keep_the_gil(tok: digram.Tokenizer) -> None:
    text = texts()["all"]
    expected = tok.encode_batch([text.encode()], threads=1)[0]
    done = threading.Event()

    def work() -> None:
        while not done.is_set():
            sum(range(1000))

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert tok.encode_batch([text] * 3, threads=2) == [expected] * 3
    finally:
        done.set()
        worker.join()
