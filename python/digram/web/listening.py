"""uvicorn with time limits for clients, and with a quick shutdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import uvicorn

from digram.web.guard import LARGEST_HEAD
from digram.web.patience import patient

__all__ = ["listening"]


class _Ending(uvicorn.Server):  # type: ignore[misc]  # of a library that lint does not install
    """A server that stops its work before it shuts down; otherwise it would wait for the work."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop

    async def shutdown(self, sockets: Any = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def listening(
    app: Any, stop: Callable[[], None], *, seconds: float, ending: float
) -> uvicorn.Server:
    """A server for an application that gives clients `seconds` for a request.

    On shutdown it calls `stop`, and closes open connections `ending` seconds later.
    """
    config = uvicorn.Config(
        app,
        http=patient(seconds),
        ws="none",
        loop="asyncio",
        interface="asgi3",
        lifespan="off",
        log_config=None,
        log_level="critical",  # errors are reported in answers
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=ending,
    )
    return _Ending(config, stop)
