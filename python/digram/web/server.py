"""The server: on a local port, with time limits for slow clients."""

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
"""Seconds for answers to be sent, and for work to end, when the server stops."""


@dataclass(frozen=True)
class Server:
    """A server that is bound to its port; `run` answers requests.

    `address` is the address to open, with the token of this run after the `#`.
    """

    address: str
    token: str
    port: int
    _socket: socket.socket
    _uvicorn: uvicorn.Server
    _works: Works

    def run(self) -> None:
        """Answer until Ctrl-C or `stop`; running work is then stopped."""
        try:
            self._uvicorn.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self._works.stop()  # also after an exception in the loop
            self._works.join(ENDING)

    def stop(self) -> None:
        """Make `run` return soon; may be called from any thread."""
        self._uvicorn.should_exit = True

    @contextmanager
    def running(self) -> Iterator[Server]:
        """Answer from another thread for the duration of a `with` block."""
        thread = threading.Thread(target=self.run, name="digram page", daemon=True)
        try:
            thread.start()
            yield self
        finally:
            self.stop()
            if thread.is_alive():  # not if Ctrl-C came while it was starting
                thread.join()


def serve(
    tokenizers: Mapping[str, Tokenizer],
    *,
    port: int = 0,
    allow_hosts: Iterable[str] = (),
    seconds: float = 10.0,
) -> Server:
    """A server of the page for named tokenizers, bound to 127.0.0.1.

    >>> import digram
    >>> tok = digram.train("low low", max_merges=2)
    >>> with serve({"low": tok}).running() as server:
    ...     print(server.address)
    http://127.0.0.1:.../#...

    `port` 0 chooses a free port. If another port is forwarded to the server, from another machine
    or a container, pass the host in the browser's address as `allow_hosts`, such as
    `["localhost:9000"]`: requests for other hosts are refused. A request must be complete within
    `seconds`, and its answer must be read within three times that. Raises `OptionError` if there is
    no tokenizer, if a host is invalid, or if the extra `web` is not installed, and `OSError` if the
    port is in use.
    """
    if not tokenizers:
        raise OptionError("there is no tokenizer to show.", hint="Pass at least one.")
    hosts = allow_hosts if isinstance(allow_hosts, str) else [*allow_hosts]
    origins(port, hosts)  # raises before a port is bound, as for a missing extra
    listening = _listening()
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
        bound.listen()  # so that clients that connect before `run` wait
    except OSError as error:
        bound.close()
        error.filename = f"{HOST}:{port}"
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            error.add_note("Pass another port=, or port=0 for any free one.")
        raise
    port = bound.getsockname()[1]
    token = secrets.token_urlsafe(24)
    works = Works()
    guard = application(Answers(tokenizers), works, origins=origins(port, hosts), token=token)
    running = listening(guard, works.stop, seconds=seconds, ending=ENDING)
    return Server(f"http://{HOST}:{port}/#{token}", token, port, bound, running, works)


def _listening() -> Callable[..., uvicorn.Server]:
    """Import the code that needs the extra `web`; `OptionError` if it is not installed."""
    try:
        from digram.web.listening import listening
    except ModuleNotFoundError as error:
        raise OptionError(
            f"the page needs {error.name}, which is not installed.",
            hint='Install it in the folder of digram\'s clone: pip install ".[web]".',
        ) from None
    return listening
