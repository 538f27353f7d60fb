"""Time limits for connections: for slow requests, and for answers that are not read."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from digram.formats._json import dump
from digram.web.guard import COME_AGAIN, HEADERS, RefusalError, large_head, refused

__all__ = ["patient"]


MOST_CONNECTIONS = 64
"""The maximum number of connections that are answered; a browser opens six."""

MOST_TOLD = 512
"""The maximum number of further connections that get a refusal; each takes a file descriptor, of
which a process usually has 1,024. Connections beyond these are closed."""


def patient(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol for one connection, with time limits.

    uvicorn waits for the rest of a request, and for the browser to read an answer, without a limit.
    Waiting for an answer is not limited here, but by the work (see `work`).
    """

    class Patient(H11Protocol):  # type: ignore[misc]  # of a library that lint does not install
        _timer: asyncio.TimerHandle | None = None
        _is_one_too_many = False
        _is_between = False
        _is_refused = False

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            self._wait(seconds)
            self._is_one_too_many = len(self.connections) > MOST_CONNECTIONS
            if len(self.connections) > MOST_CONNECTIONS + MOST_TOLD:
                transport.abort()

        def data_received(self, data: bytes) -> None:
            if self._is_refused:  # ignore the rest of the refused request
                return
            if self._is_one_too_many:
                self._refuse(too_many())
                return
            if self._is_between:  # this is the next request
                self._is_between = False
                self._wait(seconds)
            super().data_received(data)
            if self._is_whole():
                self._stop_waiting()

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._timer is None:  # one limit for all parts of an answer
                self._wait(3 * seconds)

        def on_response_complete(self) -> None:
            self._is_between = True
            self._wait(3 * seconds)
            super().on_response_complete()  # may process a request that has already arrived

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            # uvicorn calls this while it handles the error of the parser. That has the status 431
            # where a head is too large already, but has not been received in full.
            error = sys.exc_info()[1]
            if isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == 431:
                self._refuse(large_head())
            else:
                self._refuse(RefusalError(400, "this is not an HTTP request.", "Use a browser."))

        def _is_whole(self) -> bool:
            """Whether no request is only partly received."""
            return self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)

        def _wait(self, most: float) -> None:
            self._stop_waiting()
            if not self.transport.is_closing() or self.transport.get_write_buffer_size():
                self._timer = self.loop.call_later(most, self._give_up)

        def _stop_waiting(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _give_up(self) -> None:
            self._timer = None
            if not self._is_whole() and not self.transport.get_write_buffer_size():
                self._refuse(
                    RefusalError(
                        408,
                        f"the request was not complete within {seconds:g} s.",
                        "Send it without pauses.",
                    )
                )
            else:
                self.transport.abort()

        def _refuse(self, refusal: RefusalError) -> None:
            """Send the refusal, unless an answer has begun, and close the connection.

            The connection stays open for reading: if it were closed while data arrives, the system
            would discard the refusal.
            """
            self._stop_waiting()
            if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
                self.transport.abort()
                return
            body = dump(refused(refusal))
            headers: list[tuple[str, Any]] = [
                *HEADERS.items(),
                ("content-type", "application/json"),
                ("content-length", str(len(body))),
                ("connection", "close"),
                *refusal.headers.items(),
            ]
            events = [
                h11.Response(status_code=refusal.status, headers=headers),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ]
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
            self.transport.write_eof()
            self._is_refused = True
            # A client that does not read the refusal is disconnected.
            self._timer = self.loop.call_later(seconds, self.transport.abort)

    return Patient


def too_many() -> RefusalError:
    """The refusal when there are too many connections."""
    return RefusalError(
        503,
        f"there are more than {MOST_CONNECTIONS} connections.",
        "Retry in some seconds, or close other pages of this server.",
        **{"retry-after": str(COME_AGAIN)},
    )
