"""The server: on a port of this machine, patient with none who is slow."""

from __future__ import annotations

import errno
import secrets
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from digram.errors import OptionError
from digram.web.answers import Answers
from digram.web.app import Works, application
from digram.web.hosts import origins

if TYPE_CHECKING:
    import uvicorn

    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Server", "serve"]

HOST = "127.0.0.1"

ENDING = 0.5
"""Seconds that answers have to be taken, and work to end, when the server stops."""


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
    _works: Works

    def run(self) -> None:
        """Answer until Ctrl-C or `stop`; what is being worked out then is stopped."""
        try:
            self._uvicorn.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self._works.stop()  # also where the loop was broken off
            self._works.join(ENDING)

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
    allow_hosts: Iterable[str] = (),
    seconds: float = 10.0,
) -> Server:
    """A server of the page for tokenizers by their names, bound to 127.0.0.1.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=2)
    >>> with serve({"low": tok}).running() as server:
    ...     print(server.address)
    http://127.0.0.1:.../#...

    `port` 0 takes any that is free. Who forwards another port to it, from another machine or out of
    a container, names what then stands in the browser's address in `allow_hosts`, as in
    `["localhost:9000"]`: requests for other names are refused. A request has to be there whole
    within `seconds`, and its answer to be taken within three times that. Raises `OptionError` where
    there is no tokenizer, a host is none or the extra `web` is not installed, `OSError` where the
    port is taken.
    """
    if not tokenizers:
        raise OptionError("there is no tokenizer to show.", hint="Name at least one.")
    hosts = allow_hosts if isinstance(allow_hosts, str) else [*allow_hosts]
    origins(port, hosts)  # whose errors come before a port is bound, as that one of a missing extra
    listening = _listening()
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
        bound.listen()  # so that who comes before `run` waits, and is not sent away
    except OSError as error:
        bound.close()
        error.filename = f"{HOST}:{port}"
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            error.add_note("Give another port=, or port=0 for any that is free.")
        raise
    port = bound.getsockname()[1]
    token = secrets.token_urlsafe(24)
    works = Works()
    guard = application(Answers(tokenizers), works, origins=origins(port, hosts), token=token)
    running = listening(guard, works.stop, seconds=seconds, ending=ENDING)
    return Server(f"http://{HOST}:{port}/#{token}", token, port, bound, running, works)


def _listening() -> Callable[..., uvicorn.Server]:
    """What needs the extra `web`; an `OptionError` with the remedy where it is not installed."""
    try:
        from digram.web.listening import listening
    except ModuleNotFoundError as error:
        raise OptionError(
            f"the page needs {error.name}, which is not installed.",
            hint='Install it in the folder of digram\'s clone: pip install ".[web]".',
        ) from None
    return listening
