"""The child of a fork does what its parent does, whatever other threads were in the midst of."""

from __future__ import annotations

import os
import pickle
import random
import select
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from threading import Event, Thread
from typing import Any

import pytest
from vocabularies import CORPUS, PLAIN, SAMPLES

import digram

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks"),
    # Newer Pythons warn of forks beside threads, which is what is tested.
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

SECONDS = 30
"""A child that takes longer waits for what never comes."""
ROUNDS = 8

EACH_ONCE = "".join(map(chr, range(0x3400, 0xD7A4)))
"""Of each block of characters the ids are found out when it is first met: here, all the time."""


def in_a_fork(work: Callable[[], object]) -> Any:
    """What `work` returns in a child of this process."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(readable)
            with os.fdopen(writable, "wb") as pipe:
                pickle.dump(work(), pipe)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writable)
    with os.fdopen(readable, "rb") as pipe:
        done = select.select([pipe], [], [], SECONDS)[0]
        if not done:
            os.kill(child, signal.SIGKILL)
        found = pipe.read()
    _, status = os.waitpid(child, 0)
    assert done, "the child hangs"
    assert status == 0, f"the child ended with status {status}"
    return pickle.loads(found)


def everything(tok: digram.Tokenizer, text: str) -> list[object]:
    """One text and several, on one thread and on two, to ids and back, and counted."""
    ids = tok.encode(text)
    flat = tok.encode_batch([text, text], threads=2, out="numpy")
    return [
        ids,
        flat.ids.tolist(),
        tok.decode(ids),
        tok.decode_batch([ids, ids], threads=2),
        tok.count(text),
        tok.count_batch([text, text], threads=2),
        tok.token_to_id(b"no such token"),
    ]


@pytest.mark.parametrize("name", ["o200k", "no pretokenizer", "characters or bytes"])
@pytest.mark.parametrize("used", [False, True])
def test_a_fork_has_what_its_parent_had(name: str, used: bool) -> None:
    text = CORPUS * 400  # enough for threads
    expected = everything(digram.Tokenizer(SAMPLES[name]), text)
    tok = digram.Tokenizer(SAMPLES[name])
    if used:
        assert everything(tok, text) == expected
    assert in_a_fork(lambda: everything(tok, text)) == expected
    assert everything(tok, text) == expected


FAR = replace(PLAIN, special_tokens={"<far>": 2_000_000})
"""What decoding makes at its first use has a place for each id, and so takes long to make."""
IDS = list(range(256)) * 200

WORK: dict[str, tuple[digram.Definition, Callable[[digram.Tokenizer], object]]] = {
    "encode": (SAMPLES["o200k"], lambda tok: tok.encode(EACH_ONCE)),
    "encode_batch": (SAMPLES["gpt2"], lambda tok: tok.encode_batch([EACH_ONCE] * 2, threads=2)),
    "count": (SAMPLES["no pretokenizer"], lambda tok: tok.count(EACH_ONCE)),
    "decode": (FAR, lambda tok: tok.decode_bytes(IDS)),
}


@pytest.mark.parametrize("doing", WORK)
def test_a_fork_while_another_thread_is_at_work(doing: str) -> None:
    definition, work = WORK[doing]
    tok = digram.Tokenizer(definition)
    begin = time.perf_counter()
    expected = work(tok)
    first = time.perf_counter() - begin
    source = random.Random(7)
    for _ in range(ROUNDS):
        tok = digram.Tokenizer(definition)
        begun, enough = Event(), Event()

        def again_and_again(
            tok: digram.Tokenizer = tok, begun: Event = begun, enough: Event = enough
        ) -> None:
            begun.set()
            while not enough.is_set():
                work(tok)

        thread = Thread(target=again_and_again)
        thread.start()
        try:
            begun.wait()
            time.sleep(source.random() * first)
            found = in_a_fork(lambda tok=tok: work(tok))  # type: ignore[misc]
        finally:
            enough.set()
            thread.join()
        assert found == expected
