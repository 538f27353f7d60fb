"""A slow client gets an error or is disconnected, and delays no other client."""

from __future__ import annotations

import json
import re
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

import pytest
from web.asking import Answer, answer, ask, connected, headers, question, request

import digram
from digram.web import Server, patience, serve
from digram.web.patience import MOST_CONNECTIONS

SECONDS = 0.5
ARGUMENTS = {"text": "the cat", "tokenizers": [0]}
BODY = json.dumps(ARGUMENTS).encode()


@pytest.fixture(scope="module")
def hasty(tok: digram.Tokenizer) -> Iterator[Server]:
    """A server with little patience."""
    with serve({"one": tok}, seconds=SECONDS).running() as running:
        yield running


def refuses(found: Answer, status: int) -> None:
    assert found.status == status
    assert found.json["error"]["remedy"]
    assert found.headers["connection"] == "close"
    assert "content-security-policy" in found.headers


def dribble(connection: socket.socket, data: bytes) -> None:
    """Send a byte at a time, until there is an answer; all of it would take for ever."""
    for byte in data:
        connection.sendall(bytes([byte]))
        if select.select([connection], [], [], SECONDS / 10)[0]:
            return


WHOLE: dict[str, Callable[[Server], bytes]] = {
    "a question": lambda server: question(server, "encode", ARGUMENTS),
    "a file": lambda server: request("GET /", headers(server)),
    "chunks": lambda server: request(
        "POST /api/encode",
        headers(server, transfer_encoding="chunked"),
        b"".join(b"1\r\n%c\r\n" % byte for byte in BODY) + b"0\r\n\r\n",
        length=False,
    ),
}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.97])
@pytest.mark.parametrize("kind", [*WHOLE])
def test_a_request_that_never_ends(hasty: Server, kind: str, share: float) -> None:
    data = WHOLE[kind](hasty)
    with connected(hasty) as connection:
        connection.sendall(data[: int(len(data) * share)])
        refuses(answer(connection), 408)
        assert connection.recv(1) == b""


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("kind", [*WHOLE])
def test_a_request_that_dribbles_in(hasty: Server, kind: str, share: float) -> None:
    data = WHOLE[kind](hasty)
    begin = int(len(data) * share)
    with connected(hasty) as connection:
        connection.sendall(data[:begin])
        dribble(connection, data[begin:])
        refuses(answer(connection), 408)


def test_a_second_request_that_dribbles_in(hasty: Server) -> None:
    data = question(hasty, "encode", ARGUMENTS)
    with connected(hasty) as connection:
        connection.sendall(data)
        assert answer(connection).status == 200
        dribble(connection, data)
        assert b"200 OK" not in rest(connection)


def test_a_second_request_has_no_more_time_than_the_first(hasty: Server) -> None:
    data = question(hasty, "encode", ARGUMENTS)
    with connected(hasty) as slow, connected(hasty) as idle:
        for connection in (idle, slow):
            connection.sendall(data)
            assert answer(connection).status == 200
        slow.sendall(data[:10])
        first, _, _ = select.select([slow, idle], [], [], 10)
        assert first == [slow]
        refuses(answer(slow), 408)


def test_an_answer_that_nobody_takes(hasty: Server) -> None:
    data = question(hasty, "encode", {"text": "a b" * 300_000, "tokenizers": [0]})
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(10)
        connection.connect(("127.0.0.1", hasty.port))
        connection.sendall(data)
        head = connection.recv(1000)
        assert head.startswith(b"HTTP/1.1 200")
        length = int(re.search(rb"content-length: (\d+)", head)[1])  # type: ignore[index]
        until_none(hasty)
        assert len(head + rest(connection)) < length


def test_slow_ones_keep_nobody_waiting(tok: digram.Tokenizer) -> None:
    with serve({"one": tok}, seconds=60).running() as server, ExitStack() as stack:
        for _ in range(MOST_CONNECTIONS - 1):
            stack.enter_context(connected(server)).sendall(b"POST /api/")
        assert ask(server, question(server, "encode", ARGUMENTS)).status == 200


def test_more_connections_than_are_answered(
    tok: digram.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "MOST_TOLD", MOST_CONNECTIONS)
    with serve({"one": tok}, seconds=60).running() as server:
        with ExitStack() as stack:
            for _ in range(MOST_CONNECTIONS):
                stack.enter_context(connected(server))
            refuses(ask(server, question(server, "encode", ARGUMENTS)), 503)
            for _ in range(MOST_CONNECTIONS):
                last = stack.enter_context(connected(server))
            assert rest(stack.enter_context(connected(server))) == b""
            last.sendall(question(server, "encode", ARGUMENTS))
            found = answer(last)
            refuses(found, 503)
            assert found.headers["retry-after"] == "2"
        until_none(server)
        assert ask(server, question(server, "encode", ARGUMENTS)).status == 200


def test_two_requests_at_once_are_answered_in_turn(tok: digram.Tokenizer) -> None:
    with serve({"one": tok}).running() as server, connected(server) as connection:
        connection.sendall(2 * question(server, "encode", ARGUMENTS))
        # Read here: a response of http.client may take the beginning of the next one with it.
        received = b""
        while received.count(b"HTTP/1.1 200 ") < 2 and (part := connection.recv(1 << 20)):
            received += part
        assert received.count(b"HTTP/1.1 200 ") == 2


def test_one_who_leaves_is_not_missed(hasty: Server) -> None:
    for end in (0, 10, -1, None):
        with connected(hasty) as connection:
            connection.sendall(question(hasty, "encode", ARGUMENTS)[:end])
    assert ask(hasty, question(hasty, "encode", ARGUMENTS)).status == 200


def test_a_server_stops_while_somebody_is_slow(tok: digram.Tokenizer) -> None:
    with serve({"one": tok}, seconds=60).running() as server:
        connection = connected(server)
        connection.sendall(b"POST /api/")
        ask(server, question(server, "encode", ARGUMENTS))
    with connection:
        assert connection.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        connected(server)


def rest(connection: socket.socket) -> bytes:
    """What still comes, up to the end or a reset."""
    found = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(1 << 20):
            found += part
    return found


def until_none(server: Server) -> None:
    """Wait until the server has no connection."""
    while server._uvicorn.server_state.connections:
        time.sleep(SECONDS / 10)
