"""Requests as bytes, and what comes back: no library that would mend what is wrong with them."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable
from http.client import HTTPResponse
from typing import Any, NamedTuple

from digram.web import Server


class Answer(NamedTuple):
    """A status, headers by their names in small letters, and the body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def headers(server: Server, **changes: str | list[str] | None) -> list[tuple[str, str]]:
    """What the page sends along with a question; None leaves a header out, a list repeats it."""
    usual: dict[str, str | list[str] | None] = {
        "host": f"127.0.0.1:{server.port}",
        "origin": f"http://127.0.0.1:{server.port}",
        "sec-fetch-site": "same-origin",
        "authorization": f"Bearer {server.token}",
        "content-type": "application/json",
    }
    changes = {name.replace("_", "-"): value for name, value in changes.items()}
    found: list[tuple[str, str]] = []
    for name, value in (usual | changes).items():
        values = value if isinstance(value, list) else [value]
        found += [(name, one) for one in values if one is not None]
    return found


def request(
    start: str, lines: Iterable[tuple[str, str]], body: bytes = b"", *, length: bool = True
) -> bytes:
    """A request as it goes over the wire."""
    given = [*lines, *([("content-length", str(len(body)))] if length else [])]
    head = "".join(f"{name}: {value}\r\n" for name, value in given)
    return f"{start} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body


def question(server: Server, name: str, arguments: Any) -> bytes:
    """What the page asks."""
    return request(f"POST /api/{name}", headers(server), json.dumps(arguments).encode())


def ask(server: Server, data: bytes) -> Answer:
    """Send bytes, and wait for an answer."""
    with connected(server) as connection:
        connection.sendall(data)
        return answer(connection, "HEAD" if data.startswith(b"HEAD ") else "POST")


def connected(server: Server) -> socket.socket:
    """A connection, on which nothing waits longer than ten seconds."""
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def answer(connection: socket.socket, method: str = "POST") -> Answer:
    """The next answer of a connection."""
    response = HTTPResponse(connection, method=method)
    response.begin()
    body = response.read()
    return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, body)
