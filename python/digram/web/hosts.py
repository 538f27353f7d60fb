"""The host names of a server: its own, and those that are forwarded to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from digram.errors import OptionError

__all__ = ["origins"]

_NAME = re.compile(r"([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(:[0-9]{1,5})?")


def origins(port: int, allowed: Iterable[str] = ()) -> Mapping[str, frozenset[str]]:
    """The allowed `Host` headers of a request, each with the origins of the page under it.

    >>> for host, pages in origins(8000, ["localhost:9000"]).items():
    ...     print(host, sorted(pages))
    127.0.0.1:8000 ['http://127.0.0.1:8000']
    localhost:8000 ['http://localhost:8000']
    localhost:9000 ['http://localhost:9000', 'https://localhost:9000']

    A forwarding server may use https with the browser, so both schemes are allowed. Raises
    `OptionError` for an invalid host name; a port is part of the name unless it is the default one.
    """
    if isinstance(allowed, str):
        raise TypeError(f"allow_hosts must be a list of names, not the text {allowed!r:.80}")
    found = {f"{name}:{port}": frozenset({f"http://{name}:{port}"}) for name in _OWN}
    if port == 80:  # browsers omit this port
        found |= {name: frozenset({f"http://{name}"}) for name in _OWN}
    for name in allowed:
        if not isinstance(name, str):
            raise TypeError(f"allow_hosts must contain str, not {type(name).__name__}")
        host = name.lower()
        if not _NAME.fullmatch(host):
            raise OptionError(
                f"{name!r:.80} is not the name of a host.",
                value=name,
                hint="Write it as in the browser's address, between // and the next /: "
                "localhost:9000, or box.example.org.",
            )
        found.setdefault(host, frozenset({f"http://{host}", f"https://{host}"}))
    return found


_OWN = ("127.0.0.1", "localhost")
