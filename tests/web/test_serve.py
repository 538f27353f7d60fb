"""`digram serve`, as a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from web.asking import ask, question, request

import digram
from digram.errors import OptionError
from digram.web import Server, serve


@pytest.fixture
def paths(tok: digram.Tokenizer, other: digram.Tokenizer, tmp_path: Path) -> list[str]:
    """Two tokenizers as files."""
    found = [tmp_path / "one.json", tmp_path / "other.json"]
    tok.save(found[0])
    other.save(found[1])
    return [*map(str, found)]


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The process, ended in any case."""
    command = [sys.executable, "-m", "digram", "serve", *arguments]
    pipe = subprocess.PIPE
    # As everywhere: what is written to a pipe is held back until there is much of it.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped(
    paths: list[str], tok: digram.Tokenizer, other: digram.Tokenizer, end: signal.Signals
) -> None:
    with running(*paths) as process:
        assert process.stdout is not None
        address = process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#([\w-]{32})\n", address)
        assert found is not None, address
        server = Server(address, found[2], int(found[1]), None, None)  # type: ignore[arg-type]
        named = ask(server, question(server, "tokenizers", {})).json["tokenizers"]
        assert [one["name"] for one in named] == ["one.json", "other.json"]
        asked = {"text": "the cats", "tokenizers": [0, 1]}
        encodings = ask(server, question(server, "encode", asked)).json["encodings"]
        assert [one["ids"] for one in encodings] == [t.encode("the cats") for t in (tok, other)]
        process.send_signal(end)
        stdout, stderr = process.communicate(timeout=20)
    assert stdout == ""
    assert "Ctrl-C stops it." in stderr
    assert "Traceback" not in stderr
    if end == signal.SIGINT:
        assert process.returncode == 0
        assert stderr.endswith("Stopped.\n")


def test_a_port_that_is_taken(paths: list[str], server: Server) -> None:
    with running(paths[0], "--port", str(server.port)) as process:
        stdout, stderr = process.communicate(timeout=20)
    assert (process.returncode, stdout) == (4, "")
    assert f"127.0.0.1:{server.port}" in stderr


def test_a_port_of_ones_own(paths: list[str]) -> None:
    with serve({"one": digram.load(paths[0])}).running() as before:
        port = before.port
    with running(paths[0], "--port", str(port)) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(f"http://127.0.0.1:{port}/#")


def test_it_listens_on_this_machine_alone(server: Server) -> None:
    assert server._socket.getsockname()[0] == "127.0.0.1"


def test_each_run_has_its_token(tok: digram.Tokenizer, server: Server) -> None:
    with serve({"one": tok}).running() as again:
        assert again.token != server.token
        lines = [("host", f"127.0.0.1:{again.port}"), ("content-type", "application/json")]
        for token, status in [(server.token, 401), (again.token, 200)]:
            authorized = [*lines, ("authorization", f"Bearer {token}")]
            body = json.dumps({}).encode()
            found = ask(again, request("POST /api/tokenizers", authorized, body))
            assert found.status == status


def test_who_comes_before_it_runs_waits(tok: digram.Tokenizer) -> None:
    server = serve({"one": tok})
    from web.asking import answer, connected

    with connected(server) as early:
        early.sendall(question(server, "tokenizers", {}))
        with server.running():
            assert answer(early).status == 200


def test_nothing_to_serve() -> None:
    with pytest.raises(OptionError, match="no tokenizer"):
        serve({})
