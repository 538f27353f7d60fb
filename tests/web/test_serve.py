"""`digram serve`, as a process of its own."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from web.asking import ask, question, request
from web.process import running, served_by

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


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped(
    paths: list[str], tok: digram.Tokenizer, other: digram.Tokenizer, end: signal.Signals
) -> None:
    with running(paths) as process:
        server = served_by(process)
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


def test_files_of_different_encodings(shared_data: Callable[[str], Path]) -> None:
    names = ["r50k_base", "cl100k_base"]
    files = [shared_data(f"vocabs/{name}.tiktoken") for name in names]
    toks = [digram.load(file, encoding=name) for file, name in zip(files, names, strict=True)]
    given = [f"{file}:{name}" for file, name in zip(files, names, strict=True)]
    with running(given, "--allow-host", "localhost:9000") as process:
        server = served_by(process)
        named = ask(server, question(server, "tokenizers", {})).json["tokenizers"]
        assert [one["name"] for one in named] == [f"{name}.tiktoken" for name in names]
        asked = {"text": "10000 naïve cats", "tokenizers": [0, 1]}
        encodings = ask(server, question(server, "encode", asked)).json["encodings"]
        assert [one["ids"] for one in encodings] == [t.encode("10000 naïve cats") for t in toks]
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=20)
    assert f"If localhost:9000 is forwarded to it: localhost:9000/#{server.token}\n" in stderr


def test_a_port_that_is_taken(paths: list[str], server: Server) -> None:
    with running(paths[:1], "--port", str(server.port)) as process:
        stdout, stderr = process.communicate(timeout=20)
    assert (process.returncode, stdout) == (4, "")
    remedy = "Pass another --port, or --port 0 for any free one."
    assert f"127.0.0.1:{server.port}: Address already in use. {remedy}\n" in stderr


def test_a_port_of_ones_own(paths: list[str]) -> None:
    with serve({"one": digram.load(paths[0])}).running() as before:
        port = before.port
    with running(paths[:1], "--port", str(port)) as process:
        assert served_by(process).port == port


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
