"""A connection that waits for nobody: requests that dribble in, and answers that nobody takes."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from digram.formats._json import dump
from digram.web.guard import COME_AGAIN, HEADERS, RefusalError, refused

__all__ = ["patient"]


MOST_CONNECTIONS = 64
"""That are answered at a time; a browser keeps six."""

MOST_TOLD = 512
"""That are told so when they ask, where there are more; each takes a file descriptor, of which a
process usually has 1,024. Others are closed."""


def patient(seconds: float) -> type[asyncio.Protocol]:
    """uvicorn's protocol for one connection, with an end to its patience.

    uvicorn waits for ever for the rest of a request, and for a browser to take an answer. Whoever
    waits for an answer has his time: what limits that is the work (see `work`).
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
            if self._is_refused:  # and what comes is the rest of what was refused
                return
            if self._is_one_too_many:
                self._refuse(too_many())
                return
            if self._is_between:  # so the next request begins
                self._is_between = False
                self._wait(seconds)
            super().data_received(data)
            if self._is_whole():
                self._stop_waiting()

        def pause_writing(self) -> None:
            super().pause_writing()
            if self._timer is None:  # not for each part of an answer anew
                self._wait(3 * seconds)

        def on_response_complete(self) -> None:
            self._is_between = True
            self._wait(3 * seconds)
            super().on_response_complete()  # which goes on with a request that is there already

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def send_400_response(self, msg: str) -> None:
            self._refuse(RefusalError(400, "this is no HTTP request.", "Ask with a browser."))

        def _is_whole(self) -> bool:
            """Whether all of a request is there that has come at all."""
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
                        f"the request was not there whole within {seconds:g} s.",
                        "Send it at once.",
                    )
                )
            else:
                self.transport.abort()

        def _refuse(self, refusal: RefusalError) -> None:
            """Say why, where an answer has not begun, and close.

            Not all at once: of a connection that is closed while something comes in, the system
            throws away what was sent.
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
            # Whoever does not read that either has had his time.
            self._timer = self.loop.call_later(seconds, self.transport.abort)

    return Patient


def too_many() -> RefusalError:
    """What is said to those who come when there are as many connections as are answered."""
    return RefusalError(
        503,
        f"there are more than {MOST_CONNECTIONS} connections.",
        "Ask again in some seconds, or close other pages of this server.",
        **{"retry-after": str(COME_AGAIN)},
    )
