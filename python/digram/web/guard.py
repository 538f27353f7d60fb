"""The guard of the page: refuses every request that does not come from the page.

The page of a local server has three kinds of attackers. Another site in the same browser may send
requests: these have a different `Origin` (or `Sec-Fetch-Site`), and cannot contain the token, since
browsers send such a header only after a preflight request, which is refused here. A domain of such
a site may resolve to this machine (DNS rebinding): then the `Host` is that domain. Other users of
the machine can connect to the port: they do not know the token, which is in the address that
`digram serve` prints, after a `#`, so that it is in no log and in no request for the page itself.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from typing import Any, NamedTuple

__all__ = [
    "COME_AGAIN",
    "HEADERS",
    "LARGEST",
    "LARGEST_HEAD",
    "GoneError",
    "Guard",
    "RefusalError",
    "large_head",
    "refused",
    "respond",
]

LARGEST = 1 << 20
"""The maximum size of a body in bytes."""

LARGEST_HEAD = 16 << 10
"""The maximum size of a request before its body in bytes."""

COME_AGAIN = 2
"""Seconds after which a client may retry when the server is busy."""

PART = 256 << 10
"""The maximum number of bytes of an answer to send at once."""

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cache-control": "no-store",
}
"""The headers of every answer and of every refusal."""

Scope = MutableMapping[str, Any]
_Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[_Message]]
Send = Callable[[_Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class RefusalError(Exception):
    """Why a request is refused: the status, the message, and the remedy."""

    def __init__(self, status: int, message: str, remedy: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.remedy = remedy
        self.headers = headers


class GoneError(Exception):
    """The client has closed the connection."""


def refused(refusal: RefusalError) -> dict[str, Any]:
    """A refusal as JSON, in the form of all errors of the page."""
    return {
        "error": {"kind": "Refusal", "message": refusal.message, "remedy": refusal.remedy},
    }


def large_head() -> RefusalError:
    """The refusal of an address and headers that are too large."""
    return RefusalError(
        431,
        f"the address and the headers have more than {LARGEST_HEAD:,} bytes.",
        "Delete the cookies that other servers on this machine have set.",
    )


class _Request(NamedTuple):
    method: str
    path: str
    query: bytes
    headers: Mapping[str, list[str]]

    @classmethod
    def of(cls, scope: Scope) -> _Request:
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        # The raw path: one with %2e in it is not a path of this server.
        path = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
        return cls(scope["method"], path.decode("latin-1"), scope["query_string"], headers)

    def one(self, name: str) -> str | None:
        """The value of a header, which may occur only once."""
        values = self.headers.get(name, [])
        if len(values) > 1:
            raise RefusalError(400, f"there are {len(values)} headers {name}.", "Send only one.")
        return values[0] if values else None


class Guard:
    """An ASGI application that passes on requests of the page, and refuses all others.

    The inner application may raise `RefusalError` and `GoneError` too, before it answers. `origins`
    maps the hosts that a request may name to the origins of the page under each; `files` are the
    public paths for GET, `questions` the paths to which the page POSTs.
    """

    def __init__(
        self,
        app: App,
        *,
        origins: Mapping[str, Collection[str]],
        token: str,
        files: set[str],
        questions: set[str],
    ) -> None:
        self._app = app
        self._origins = origins
        self._token = token
        self._files = files
        self._questions = questions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no lifespan events or sockets here
            return
        try:
            request = _Request.of(scope)
            self._check_head(scope)
            self._check_origin(request)
            self._check_path(request)
            if request.path in self._questions:
                self._check_question(request)
                receive = await _whole(request, receive)
            await self._app(scope, receive, _with_headers(send))
        except RefusalError as refusal:
            await _answer(refusal, send)
        except GoneError:
            return

    @staticmethod
    def _check_head(scope: Scope) -> None:
        size = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
        if size + len(scope["path"]) + len(scope["query_string"]) > LARGEST_HEAD:
            raise large_head()
        if scope["http_version"] not in ("1.0", "1.1"):
            version = scope["http_version"]
            raise RefusalError(505, f"HTTP {version} is not supported.", "Use HTTP 1.1.")

    def _check_origin(self, request: _Request) -> None:
        host = request.one("host")
        if host is None or host.lower() not in self._origins:
            raise RefusalError(
                421,
                f"this server is not {(host or 'without a name')!r:.80}.",
                "Open the address that `digram serve` printed. If a forwarded port has another "
                "name, pass that name to `digram serve` as --allow-host.",
            )
        origin = request.one("origin")
        if origin is not None and origin.lower() not in self._origins[host.lower()]:
            raise RefusalError(
                403,
                f"requests from {origin!r:.80} are refused.",
                "Use the page of this server; other sites may not send requests.",
            )
        site = request.one("sec-fetch-site")
        if site not in (None, "same-origin", "none"):
            raise RefusalError(
                403,
                f"a request from another site (Sec-Fetch-Site: {site!r:.40}) is refused.",
                "Put the address that `digram serve` printed into the browser's address bar.",
            )

    def _check_path(self, request: _Request) -> None:
        allowed = "GET, HEAD" if request.path in self._files else "POST"
        if request.path not in self._files | self._questions:
            raise RefusalError(404, f"there is no file {request.path!r:.80}.", "The page is at /.")
        if request.query:
            raise RefusalError(400, "addresses here have no query after a ?.", "Leave it out.")
        if request.method not in allowed.split(", "):
            raise RefusalError(
                405,
                f"{request.path} does not take the method {request.method!r:.40}.",
                f"Use {allowed}.",
                allow=allowed,
            )

    def _check_question(self, request: _Request) -> None:
        scheme, _, token = (request.one("authorization") or "").partition(" ")
        right = hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())
        if scheme.lower() != "bearer" or not right:
            raise RefusalError(
                401,
                "the token of this run is missing or wrong.",
                "Open the address that `digram serve` printed, including the part after the #.",
                **{"www-authenticate": "Bearer"},
            )
        kind = request.one("content-type") or ""
        if not re.fullmatch(r"application/json(; ?charset=utf-8)?", kind, re.IGNORECASE):
            raise RefusalError(
                415, f"the content type {kind!r:.80} is not supported.", "Send application/json."
            )
        if request.one("content-encoding") is not None:
            raise RefusalError(415, "a compressed body is not supported.", "Send it uncompressed.")
        length = request.one("content-length")
        if length is not None and request.one("transfer-encoding") is not None:
            raise RefusalError(400, "a body has a length and comes in chunks.", "Send only one.")
        if length is not None and not re.fullmatch(r"[0-9]{1,20}", length):
            raise RefusalError(400, f"{length!r:.40} is not a length.", "Send the length in bytes.")
        if length is not None and int(length) > LARGEST:
            raise _too_large()


def _too_large() -> RefusalError:
    return RefusalError(
        413,
        f"the request has more than {LARGEST:,} bytes.",
        "The page accepts texts of up to 1 MiB; for longer ones use `digram count` and "
        "`digram encode`.",
        connection="close",
    )


async def _whole(request: _Request, receive: Receive) -> Receive:
    """Read the whole body, or refuse it; returns what the inner application receives."""
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise GoneError
        body += message.get("body", b"")
        if len(body) > LARGEST:
            raise _too_large()
        more = message.get("more_body", False)
    waiting: list[_Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def received() -> _Message:
        return waiting.pop() if waiting else await receive()

    return received


async def respond(status: int, headers: Mapping[str, str], body: bytes, send: Send) -> None:
    """Send an answer in parts, so that at most one part is copied at a time."""
    fields = {**headers, "content-length": str(len(body))}
    lines = [(name.encode(), value.encode()) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": lines})
    rest = memoryview(body)
    while len(rest) > PART:
        await send({"type": "http.response.body", "body": bytes(rest[:PART]), "more_body": True})
        rest = rest[PART:]
    await send({"type": "http.response.body", "body": bytes(rest), "more_body": False})


def _with_headers(send: Send) -> Send:
    added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: _Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return sending


async def _answer(refusal: RefusalError, send: Send) -> None:
    from digram.formats._json import dump

    kind = {"content-type": "application/json"}
    await respond(
        refusal.status, kind | refusal.headers, dump(refused(refusal)), _with_headers(send)
    )
