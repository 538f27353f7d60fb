"""What stands before the page and refuses every request that does not come from it.

A page of a local server has three kinds of enemies. A site that the same browser shows may send
requests here: what it can send has another `Origin` (or `Sec-Fetch-Site`), and cannot have the
token, which a browser sends along only after it asked, and here nothing says yes. A name that such
a site owns may be made to point here (DNS rebinding): then the `Host` is that name. Other users of
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
    "refused",
    "respond",
]

LARGEST = 1 << 20
"""Bytes of a body."""

LARGEST_HEAD = 16 << 10
"""Bytes of a request before its body."""

COME_AGAIN = 2
"""Seconds after which who was sent away because much is asked may ask again."""

PART = 256 << 10
"""Bytes of an answer that are sent at once."""

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
"""What goes with every answer, also with a refusal."""

Scope = MutableMapping[str, Any]
_Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[_Message]]
Send = Callable[[_Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class RefusalError(Exception):
    """Why a request is refused: the status, what is wrong with it, and what to do."""

    def __init__(self, status: int, message: str, remedy: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.remedy = remedy
        self.headers = headers


class GoneError(Exception):
    """Whoever asked has closed the connection."""


def refused(refusal: RefusalError) -> dict[str, Any]:
    """A refusal as JSON, in the form of all errors of the page."""
    return {
        "error": {"kind": "Refusal", "message": refusal.message, "remedy": refusal.remedy},
    }


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
        # As it was sent: a path with %2e in it is none of ours.
        path = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
        return cls(scope["method"], path.decode("latin-1"), scope["query_string"], headers)

    def one(self, name: str) -> str | None:
        """The value of a header, which may be there once."""
        values = self.headers.get(name, [])
        if len(values) > 1:
            raise RefusalError(400, f"there are {len(values)} headers {name}.", "Send one.")
        return values[0] if values else None


class Guard:
    """An ASGI application that passes on what comes from the page, and refuses all else.

    What it passes on may raise `RefusalError` too, and `GoneError`, before it answers. `origins`
    has the hosts that a request may name, with the origins of the page under each; `files` are the
    paths of what anybody may GET, `questions` those of what the page POSTs.
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
        if scope["type"] != "http":  # nothing here starts with the server, or is a socket
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
            raise RefusalError(
                431,
                f"the address and the headers have more than {LARGEST_HEAD:,} bytes.",
                "Delete the cookies that other servers of this machine have set.",
            )
        if scope["http_version"] not in ("1.0", "1.1"):
            version = scope["http_version"]
            raise RefusalError(505, f"HTTP {version} is not spoken here.", "Speak HTTP 1.1.")

    def _check_origin(self, request: _Request) -> None:
        host = request.one("host")
        if host is None or host.lower() not in self._origins:
            raise RefusalError(
                421,
                f"this server is not {(host or 'without a name')!r:.80}.",
                "Open the address that `digram serve` printed. Where a forwarded port has another "
                "name, give that to `digram serve` as --allow-host.",
            )
        origin = request.one("origin")
        if origin is not None and origin.lower() not in self._origins[host.lower()]:
            raise RefusalError(
                403,
                f"requests from {origin!r:.80} are refused.",
                "Use the page of this server; no other site may ask it.",
            )
        site = request.one("sec-fetch-site")
        if site not in (None, "same-origin", "none"):
            raise RefusalError(
                403,
                f"a request that another site makes (Sec-Fetch-Site: {site!r:.40}) is refused.",
                "Put the address that `digram serve` printed into the browser's address bar.",
            )

    def _check_path(self, request: _Request) -> None:
        allowed = "GET, HEAD" if request.path in self._files else "POST"
        if request.path not in self._files | self._questions:
            raise RefusalError(
                404, f"there is nothing at {request.path!r:.80}.", "The page is at /."
            )
        if request.query:
            raise RefusalError(400, "an address here has nothing after a ?.", "Leave that out.")
        if request.method not in allowed.split(", "):
            raise RefusalError(
                405,
                f"{request.path} does not take the method {request.method!r:.40}.",
                f"It takes {allowed}.",
                allow=allowed,
            )

    def _check_question(self, request: _Request) -> None:
        scheme, _, token = (request.one("authorization") or "").partition(" ")
        right = hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())
        if scheme.lower() != "bearer" or not right:
            raise RefusalError(
                401,
                "the token of this run is missing or wrong.",
                "Open the address that `digram serve` printed, with all that is after the #.",
                **{"www-authenticate": "Bearer"},
            )
        kind = request.one("content-type") or ""
        if not re.fullmatch(r"application/json(; ?charset=utf-8)?", kind, re.IGNORECASE):
            raise RefusalError(
                415, f"a body of type {kind!r:.80} is not taken.", "Send application/json in UTF-8."
            )
        if request.one("content-encoding") is not None:
            raise RefusalError(415, "a packed body is not taken.", "Send it as it is.")
        length = request.one("content-length")
        if length is not None and request.one("transfer-encoding") is not None:
            raise RefusalError(400, "a body has a length and comes in chunks.", "Send one of them.")
        if length is not None and not re.fullmatch(r"[0-9]{1,20}", length):
            raise RefusalError(400, f"{length!r:.40} is not a length.", "Send the length in bytes.")
        if length is not None and int(length) > LARGEST:
            raise _too_large()


def _too_large() -> RefusalError:
    return RefusalError(
        413,
        f"the request has more than {LARGEST:,} bytes.",
        "The page takes texts of up to 1 MiB; for longer ones there are `digram count` and "
        "`digram encode`.",
        connection="close",
    )


async def _whole(request: _Request, receive: Receive) -> Receive:
    """The body, read to its end or refused, as what a further application may receive."""
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
    """Send an answer, in parts, so that no more of it is copied than is being taken."""
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
