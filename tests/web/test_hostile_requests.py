"""What does not come from the page is refused, with a reason, and costs the page nothing."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from web.asking import Answer, answer, ask, connected, headers, question, request

import digram
from digram.web import Server, serve
from digram.web.guard import HEADERS, LARGEST, LARGEST_HEAD

ARGUMENTS = {"text": "the cat", "tokenizers": [0]}
BODY = json.dumps(ARGUMENTS).encode()
FILES = sorted((Path(__file__).parents[2] / "python/digram/web/static").iterdir())

Hostile = tuple[str, Callable[[Server], bytes], int]


def with_headers(what: str, status: int, **changes: Any) -> Hostile:
    """A question that is good but for some headers, in which PORT and TOKEN stand for the right."""

    def filled(server: Server, value: Any) -> Any:
        if isinstance(value, list):
            return [filled(server, one) for one in value]
        if value is None:
            return None
        return value.replace("PORT", str(server.port)).replace("TOKEN", server.token)

    def make(server: Server) -> bytes:
        these = {name: filled(server, value) for name, value in changes.items()}
        is_ours = not {"content_length", "transfer_encoding"} & {*changes}
        return request("POST /api/encode", headers(server, **these), BODY, length=is_ours)

    return what, make, status


def with_start(start: str, status: int) -> Hostile:
    """A question that is good but for its first line."""
    return start, lambda server: request(start, headers(server), BODY), status


def with_body(what: str, body: bytes, status: int = 400) -> Hostile:
    """A question that is good but for its body."""
    return what, lambda server: request("POST /api/encode", headers(server), body), status


def raw(what: str, data: bytes, status: int = 400) -> Hostile:
    """Bytes, in which PORT stands for the port."""
    return what, lambda server: data.replace(b"PORT", str(server.port).encode()), status


def chunked(size: int) -> bytes:
    """A body in chunks of 64 KiB."""
    chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
    return chunk * (size // 65536) + b"0\r\n\r\n"


HOSTS = [
    "evil.example",
    "evil.example:PORT",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:1",
    "127.0.0.1:PORT.evil.example",
    "127.0.0.1.evil.example:PORT",
    "evil.example@127.0.0.1:PORT",
    "127.0.0.1:PORT@evil.example",
    "127.0.0.1:0PORT",
    "127.0.0.1:PORT:PORT",
    "127.1:PORT",
    "2130706433:PORT",
    "0x7f.0.0.1:PORT",
    "0.0.0.0:PORT",
    "[::1]:PORT",
    "localhost.:PORT",
    "localhost.evil.example:PORT",
    "",
]
ORIGINS = [
    "null",
    "http://evil.example",
    "http://evil.example:PORT",
    "https://127.0.0.1:PORT",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://localhost:PORT",
    "http://127.0.0.1:PORT.evil.example",
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1:PORT http://evil.example",
    "file://",
    "chrome-extension://abcdefghijklmnop",
    "",
]
TOKENS = [
    None,
    "",
    "TOKEN",
    "Bearer",
    "Bearer ",
    "Bearer wrong",
    "Bearer TOKENx",
    "Bearer  TOKEN",
    "Bearer TOKEN, Bearer TOKEN",
    "Bearer \xff\xfe",
    "Basic TOKEN",
    "Bearer " + "A" * 32,
]
TYPES = [
    None,
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/json; charset=utf-16",
    "application/jsonp",
    "text/plain, application/json",
    "application/json; charset=utf-8; x",
]
PATHS = [
    "//",
    "/index.html",
    "/../etc/passwd",
    "/..%2f..%2fetc/passwd",
    "/%2e%2e/app.py",
    "/static/page.js",
    "/page.js%00",
    "/page.js/",
    "/PAGE.JS",
    "/page.py",
    "/.git/config",
    "/api",
    "/api/",
    "/api/encode/",
    "/api//encode",
    "/API/encode",
    "/api/%65ncode",
    "/api/_encode",
    "/api/encode;x",
    "/api/../api/encode",
    "http://evil.example/api/encode",
    "*",
    "/" + "a" * 8000,
]
HOSTILE: list[Hostile] = [
    *(with_headers(f"Host {host}", 421, host=host) for host in HOSTS),
    with_headers("no Host", 400, host=None),
    with_headers("two Hosts", 400, host=["127.0.0.1:PORT", "127.0.0.1:PORT"]),
    *(with_headers(f"Origin {origin}", 403, origin=origin) for origin in ORIGINS),
    with_headers("two Origins", 400, origin=["http://127.0.0.1:PORT", "http://evil.example"]),
    *(
        with_headers(f"Sec-Fetch-Site {site}", 403, sec_fetch_site=site)
        for site in ("cross-site", "same-site", "CROSS-SITE", "same-origin, cross-site", "")
    ),
    *(with_headers(f"Authorization {token}", 401, authorization=token) for token in TOKENS),
    with_headers("two tokens", 400, authorization=["Bearer TOKEN", "Bearer wrong"]),
    with_headers("a token in a cookie", 401, authorization=None, cookie="token=TOKEN"),
    *(with_headers(f"Content-Type {kind}", 415, content_type=kind) for kind in TYPES),
    with_headers("a packed body", 415, content_encoding="gzip"),
    *(
        with_start(f"{method} /api/encode", 405)
        for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post", "BREW")
    ),
    *(with_start(f"{method} /page.js", 405) for method in ("POST", "PUT", "DELETE", "OPTIONS")),
    with_start("CONNECT evil.example:443", 404),
    *(with_start(f"POST {path}", 404) for path in PATHS),
    *(with_start(f"GET {path}", 404) for path in PATHS),
    with_start("POST /api/encode?text=a", 400),
    with_start("GET /?token", 400),
    with_start("GET /page.js?v=1", 400),
    with_headers("Content-Length above the most", 413, content_length=str(LARGEST + 1)),
    with_headers("Content-Length of an exabyte", 413, content_length=str(10**18)),
    *(
        with_headers(f"Content-Length {length}", 400, content_length=length)
        for length in ("-1", "+5", "1e3", "0x10", "abc", "9" * 30, "5, 6", "")
    ),
    with_headers("two lengths", 400, content_length=["5", "6"]),
    with_headers("a length and chunks", 400, content_length="5", transfer_encoding="chunked"),
    with_headers("packed on the way", 400, transfer_encoding="gzip, chunked"),
    (
        "too much in chunks",
        lambda server: request(
            "POST /api/encode",
            headers(server, transfer_encoding="chunked"),
            chunked(LARGEST + 65536),
            length=False,
        ),
        413,
    ),
    with_body("too much at once", b" " * (LARGEST + 1), 413),
    with_headers("64 KiB of a header", 431, x="a" * 65536),
    with_headers("4,000 headers", 431, x=["a"] * 4000),
    with_start("GET /" + "a" * 65536, 431),
    with_headers("a header with a 0 byte", 400, x="a\0b"),
    with_headers("a header on two lines", 400, x="a\r\nhost : evil.example"),
    raw("no HTTP", b"hello\r\n\r\n"),
    raw("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 32 + b"\r\n\r\n"),
    raw("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    raw("HTTP/0.9", b"GET /\r\n\r\n"),
    raw("HTTP/9.9", b"GET / HTTP/9.9\r\nhost: 127.0.0.1:PORT\r\n\r\n", 505),
    raw("HTTP/1.0 without a Host", b"GET / HTTP/1.0\r\n\r\n", 421),
    raw("a 0 byte in the path", b"GET /\0 HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\n\r\n"),
    raw("a path that is not ASCII", b"GET /\xff HTTP/1.1\r\nhost: 127.0.0.1:PORT\r\n\r\n"),
    raw("a space before a colon", b"GET / HTTP/1.1\r\nhost : 127.0.0.1:PORT\r\n\r\n"),
    with_headers(
        "a WebSocket of another site",
        403,
        origin="http://evil.example",
        connection="Upgrade",
        upgrade="websocket",
        sec_websocket_version="13",
        sec_websocket_key="dGhlIHNhbXBsZSBub25jZQ==",
    ),
    with_body("no body", b""),
    with_body("no JSON", b"text=a"),
    with_body("half of JSON", BODY[:-3]),
    with_body("JSON twice", BODY + BODY),
    with_body("a key twice", b'{"text": "a", "text": "b", "tokenizers": [0]}'),
    with_body("a list", b"[]"),
    with_body("null", b"null"),
    with_body("NaN", b'{"text": NaN, "tokenizers": [0]}'),
    with_body(
        "a number of 100,000 digits", b'{"text": "a", "tokenizers": [' + b"9" * 100_000 + b"]}"
    ),
    with_body("100,000 lists in each other", b"[" * 100_000),
    with_body("half a character", b'{"text": "\\ud800", "tokenizers": [0]}'),
    with_body("no UTF-8", b'{"text": "\xff", "tokenizers": [0]}'),
    with_body("UTF-16", json.dumps(ARGUMENTS).encode("utf-16")),
    with_body("a byte order mark", b"\xef\xbb\xbf" + BODY),
    with_body("a prototype", b'{"__proto__": {}, "text": "a", "tokenizers": [0]}'),
    with_body(
        "a list of 10,000 tokenizers",
        json.dumps({"text": "a", "tokenizers": [0] * 10_000}).encode(),
    ),
]


@pytest.fixture(scope="module", autouse=True)
def figure(tell: Callable[[str], None]) -> None:
    """Tells how many there were."""
    tell(f"{len(HOSTILE)} hostile requests refused")


@pytest.mark.parametrize(
    ("make", "status"),
    [case[1:] for case in HOSTILE],
    ids=[f"{what:.60}" for what, _, _ in HOSTILE],
)
def test_hostile_requests_are_refused(
    server: Server, make: Callable[[Server], bytes], status: int
) -> None:
    data = make(server)
    found = ask(server, data)
    assert found.status == status, found
    check_headers(found)
    assert server.token not in str(found)
    if not data.startswith(b"HEAD "):
        assert found.headers["content-type"] == "application/json"
        error = found.json["error"]
        assert all(error[what] for what in ("kind", "message", "remedy")), error
        assert len(found.body) < 1000
    assert ask(server, question(server, "encode", ARGUMENTS)).status == 200


@pytest.mark.parametrize(
    "start",
    [f"GET /{'a' * 65536}", f"GET / HTTP/1.1\r\nx: {'a' * 65536}"],
    ids=["address", "header"],
)
@pytest.mark.parametrize("first", [LARGEST_HEAD - 100, LARGEST_HEAD + 100])
def test_a_large_head_in_parts_is_refused(server: Server, start: str, first: int) -> None:
    data = request(start, headers(server), BODY)
    with connected(server) as connection:
        connection.sendall(data[:first])
        time.sleep(0.1)  # so that the server reads this part alone
        connection.sendall(data[first:])
        found = answer(connection)
    assert found.status == 431, found
    check_headers(found)
    assert f"{LARGEST_HEAD:,} bytes" in found.json["error"]["message"]


def check_headers(found: Answer) -> None:
    """What every answer carries, and what none may."""
    for name, value in HEADERS.items():
        assert found.headers[name] == value
    assert not {name for name in found.headers if name.startswith("access-control")}
    assert "server" not in found.headers


def test_there_are_enough() -> None:
    assert len(HOSTILE) >= 60
    assert len({what for what, _, _ in HOSTILE}) == len(HOSTILE)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"host": "localhost:PORT", "origin": "http://localhost:PORT"},
        {"host": "LOCALHOST:PORT", "origin": None},
        {"origin": None, "sec_fetch_site": None},
        {"sec_fetch_site": "none"},
        {"authorization": "bearer TOKEN"},
        {"content_type": "application/json; charset=UTF-8"},
        {"x": "a" * 15_000},
    ],
)
def test_what_a_browser_may_send_is_answered(server: Server, changes: dict[str, Any]) -> None:
    _, make, _ = with_headers("good", 200, **changes)
    found = ask(server, make(server))
    assert found.status == 200
    check_headers(found)
    assert found.json["encodings"][0]["ids"]


@pytest.mark.parametrize("is_chunked", [False, True])
def test_the_largest_body_is_taken(server: Server, is_chunked: bool) -> None:
    body = BODY.ljust(LARGEST)
    if is_chunked:
        data = request(
            "POST /api/encode",
            headers(server, transfer_encoding="chunked"),
            b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body),
            length=False,
        )
    else:
        data = request("POST /api/encode", headers(server), body)
    assert ask(server, data).status == 200


def test_files(server: Server) -> None:
    for file in FILES:
        path = "/" if file.name == "index.html" else f"/{file.name}"
        host = [("host", f"127.0.0.1:{server.port}")]
        found = ask(server, request(f"GET {path}", host))
        assert (found.status, found.body) == (200, file.read_bytes())
        check_headers(found)
        head = ask(server, request(f"HEAD {path}", host))
        assert (head.status, head.headers) == (200, found.headers)


def test_files_hold_no_address_of_elsewhere() -> None:
    for file in FILES:
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|[\"'`(=]//|@import", text), file
        for sink in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ):
            assert sink not in text, file


def test_an_error_of_ours_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("something <b>odd</b>")

    monkeypatch.setattr("digram.web.seeing.merge_tree", fails)
    found = ask(server, question(server, "tree", {"tokenizer": 0, "id": 1}))
    assert found.status == 500
    assert found.json["error"]["kind"] == "InternalError"
    assert found.json["error"]["message"] == "RuntimeError: something <b>odd</b>"
    assert found.json["error"]["remedy"]
    check_headers(found)


ALLOWED = "box.example:9000"


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        (ALLOWED, f"http://{ALLOWED}", 200),
        (ALLOWED, f"https://{ALLOWED}", 200),
        (ALLOWED.upper(), None, 200),
        ("127.0.0.1:PORT", "http://127.0.0.1:PORT", 200),
        ("127.0.0.1:PORT", "https://127.0.0.1:PORT", 403),
        ("127.0.0.1:PORT", f"http://{ALLOWED}", 403),
        (ALLOWED, "http://127.0.0.1:PORT", 403),
        (ALLOWED, "http://box.example", 403),
        ("box.example", None, 421),
        ("box.example:PORT", None, 421),
        ("localhost:9000", None, 421),
        (f"evil.{ALLOWED}", None, 421),
    ],
)
def test_a_host_that_is_allowed(
    tok: digram.Tokenizer, host: str, origin: str | None, status: int
) -> None:
    with serve({"one": tok}, allow_hosts=[ALLOWED]).running() as server:
        _, make, _ = with_headers("", status, host=host, origin=origin)
        found = ask(server, make(server))
        assert found.status == status
        if status == 421:
            assert "--allow-host" in found.json["error"]["remedy"]
        check_headers(found)


@pytest.mark.parametrize("hosts", ["localhost:9000", [9000], [None]])
def test_hosts_are_names(tok: digram.Tokenizer, hosts: Any) -> None:
    with pytest.raises(TypeError, match="allow_hosts must"):
        serve({"one": tok}, allow_hosts=hosts)
