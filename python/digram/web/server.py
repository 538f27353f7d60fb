"""The server: on a port of this machine, patient with none who is slow."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from digram.errors import OptionError
from digram.web.answers import Answers
from digram.web.app import application, starlette
from digram.web.guard import LARGEST_HEAD

if TYPE_CHECKING:
    import uvicorn

    from digram.tokenizer import Tokenizer

__all__ = ["Server", "serve"]

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Server:
    """A server that is bound to its port, and answers from `run` on.

    `address` is what a person opens, with the token of this run after the `#`.
    """

    address: str
    token: str
    port: int
    _socket: socket.socket
    _uvicorn: uvicorn.Server

    def run(self) -> None:
        """Answer until Ctrl-C or `stop`."""
        try:
            self._uvicorn.run(sockets=[self._socket])
        finally:
            self._socket.close()

    def stop(self) -> None:
        """Let `run` return soon, from any thread."""
        self._uvicorn.should_exit = True

    @contextmanager
    def running(self) -> Iterator[Server]:
        """Answer from a thread of its own, for the time of a block."""
        thread = threading.Thread(target=self.run, name="digram page", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.stop()
            thread.join()


def serve(
    tokenizers: Mapping[str, Tokenizer],
    *,
    port: int = 0,
    seconds: float = 10.0,
) -> Server:
    """A server of the page for tokenizers by their names, bound to 127.0.0.1.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=2)
    >>> with serve({"low": tok}).running() as server:
    ...     print(server.address)
    http://127.0.0.1:.../#...

    `port` 0 takes any that is free. A request has to be there whole within `seconds`, and its
    answer to be taken within three times that. Raises `OptionError` where there is no tokenizer or
    the extra `web` is not installed, `OSError` where the port is taken.
    """
    if not tokenizers:
        raise OptionError("there is no tokenizer to show.", hint="Name at least one.")
    starlette()  # before a port is bound
    import uvicorn

    from digram.web.patience import patient

    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
        bound.listen()  # so that who comes before `run` waits, and is not sent away
    except OSError as error:
        bound.close()
        error.filename = f"{HOST}:{port}"
        raise
    port = bound.getsockname()[1]
    token = secrets.token_urlsafe(24)
    config = uvicorn.Config(
        application(Answers(tokenizers), port=port, token=token),
        http=patient(seconds),
        ws="none",
        loop="asyncio",
        interface="asgi3",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=2,
    )
    return Server(f"http://{HOST}:{port}/#{token}", token, port, bound, uvicorn.Server(config))
