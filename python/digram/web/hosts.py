"""Under which names a server may be asked for: its own, and those that forward to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from digram.errors import OptionError

__all__ = ["origins"]

_NAME = re.compile(r"([a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]{2,45}\])(:[0-9]{1,5})?")


def origins(port: int, allowed: Iterable[str] = ()) -> Mapping[str, frozenset[str]]:
    """What may be the `Host` of a request, and of which origins the page is under each.

    >>> for host, pages in origins(8000, ["localhost:9000"]).items():
    ...     print(host, sorted(pages))
    127.0.0.1:8000 ['http://127.0.0.1:8000']
    localhost:8000 ['http://localhost:8000']
    localhost:9000 ['http://localhost:9000', 'https://localhost:9000']

    What forwards to this server may speak https with the browser, so both are there. Raises
    `OptionError` for what is not a name of a host, with its port where that is not the usual one.
    """
    if isinstance(allowed, str):
        raise TypeError(f"allow_hosts is a list of names, not the text {allowed!r:.80}")
    found = {f"{name}:{port}": frozenset({f"http://{name}:{port}"}) for name in _OWN}
    if port == 80:  # which browsers leave out
        found |= {name: frozenset({f"http://{name}"}) for name in _OWN}
    for name in allowed:
        if not isinstance(name, str):
            raise TypeError(f"allow_hosts holds names as str, not {type(name).__name__}")
        host = name.lower()
        if not _NAME.fullmatch(host):
            raise OptionError(
                f"{name!r:.80} is not the name of a host.",
                value=name,
                hint="Write it as it stands in the browser's address, between // and the next /: "
                "localhost:9000, or box.example.org.",
            )
        found.setdefault(host, frozenset({f"http://{host}", f"https://{host}"}))
    return found


_OWN = ("127.0.0.1", "localhost")
