"""uvicorn as the page has it: with an end to its patience, and an end that comes soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import uvicorn

from digram.web.guard import LARGEST_HEAD
from digram.web.patience import patient

__all__ = ["listening"]


class _Ending(uvicorn.Server):  # type: ignore[misc]  # of a library that lint does not install
    """A server that first stops its work when it ends, for whose end it would wait else."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._stop = stop

    async def shutdown(self, sockets: Any = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def listening(
    app: Any, stop: Callable[[], None], *, seconds: float, ending: float
) -> uvicorn.Server:
    """A server for an application that has `seconds` of patience with whoever asks.

    When it is to end it calls `stop`, and closes what is still open `ending` seconds later.
    """
    config = uvicorn.Config(
        app,
        http=patient(seconds),
        ws="none",
        loop="asyncio",
        interface="asgi3",
        lifespan="off",
        log_config=None,
        log_level="critical",  # it tells nothing that is not told in an answer
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=ending,
    )
    return _Ending(config, stop)
