"""More is asked than can be done: all are answered, who left is forgotten, and it ends soon."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from web.asking import Answer, answer, ask, connected, question
from web.process import most_memory, processor_seconds, running, served_by

import digram
from digram.web import Server

CLIENTS = 200
TEXT = "".join(random.Random(1).choices("abcdefgh klmno\né", k=600_000))  # 0.8 MB in a question
ASKED = {"text": TEXT, "tokenizers": [0]}
SMALL = {"text": "the cats", "tokenizers": [0]}


@pytest.fixture
def process(tok: digram.Tokenizer, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    tok.save(tmp_path / "tok.json")
    with running([str(tmp_path / "tok.json")]) as process:
        yield process


def asked_by(number: int, server: Server, data: bytes) -> list[Answer | None]:
    """What so many are answered who ask at once; None for one who is not."""
    together = threading.Barrier(number)

    def one(_: int) -> Answer | None:
        together.wait()
        with connected(server) as connection, suppress(OSError):
            connection.settimeout(60)
            connection.sendall(data)
            return answer(connection)
        return None

    with ThreadPoolExecutor(number) as pool:
        return [*pool.map(one, range(number))]


def test_everybody_is_answered(
    process: subprocess.Popen[str], tok: digram.Tokenizer, tell: Callable[[str], None]
) -> None:
    server = served_by(process)
    assert ask(server, question(server, "encode", SMALL)).status == 200
    before = most_memory(process)
    found = asked_by(CLIENTS, server, question(server, "encode", ASKED))
    more = most_memory(process) - before
    assert None not in found
    answers = [one for one in found if one is not None]
    statuses = Counter(one.status for one in answers)
    assert {*statuses} <= {200, 503}
    assert statuses[200] > 2
    ids = tok.encode(TEXT)
    for one in answers:
        if one.status == 200:
            assert one.json["encodings"][0]["ids"] == ids
        else:
            assert one.headers["retry-after"] == "2"
            assert one.json["error"]["message"]
            assert "Retry in some seconds" in one.json["error"]["remedy"]
    # 64 bodies of 0.8 MB, what is held of two answers, and 32 MB of such as are being taken.
    assert more < 400 << 20
    assert ask(server, question(server, "encode", SMALL)).status == 200
    tell(f"{CLIENTS} asked at once: {dict(statuses)}, {more >> 20} MB more memory")


@pytest.mark.parametrize("name", ["encode", "curve"])
def test_nothing_is_done_for_who_has_left(
    process: subprocess.Popen[str], name: str, tell: Callable[[str], None]
) -> None:
    server = served_by(process)
    data = question(server, name, ASKED)
    alone = processor_seconds(process)
    ask(server, data)
    alone = processor_seconds(process) - alone
    connections = [connected(server) for _ in range(40)]
    with ThreadPoolExecutor(40) as pool:
        [*pool.map(lambda one: one.sendall(data), connections)]
    for one in connections:
        one.close()
    start = processor_seconds(process)
    assert ask(server, question(server, name, SMALL)).status == 200
    time.sleep(1)
    used = processor_seconds(process) - start
    # What is taken apart and put together in Python is not stopped, for the few that run.
    assert used < 10 * alone + 0.5, (used, alone)
    tell(f"40 asked for {name} and left: {used:.2f} s of work, where one takes {alone:.2f} s")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_soon(
    process: subprocess.Popen[str], end: signal.Signals, tell: Callable[[str], None]
) -> None:
    server = served_by(process)
    data = question(server, "encode", ASKED)
    connections = [connected(server) for _ in range(30)]
    with ThreadPoolExecutor(30) as pool:
        [*pool.map(lambda one: one.sendall(data), connections)]
    process.send_signal(end)
    start = time.monotonic()
    _, stderr = process.communicate(timeout=20)
    took = time.monotonic() - start
    for one in connections:
        one.close()
    assert "Traceback" not in stderr
    assert took < 5
    tell(f"with 30 questions open, {end.name} ends it after {took:.2f} s")
