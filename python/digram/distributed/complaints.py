"""Errors of engines about workers with another Python, or without this digram, as digram's errors.

An engine brings an error of a worker to the caller as text within an error of its own.
"""

from __future__ import annotations

import re
import sys

from digram import _core, errors
from digram.errors import ConfigMismatchError, DigramError

__all__ = ["own_error", "without_digram"]

_OWN = re.compile(r"^(?:digram\.errors\.)(\w+Error): (.*)$", re.MULTILINE)
_MISSING = re.compile(r"No module named '(digram[\w.]*|pyarrow|pandas|numpy)'")
_OTHER = re.compile(r"(?:cannot import name|Can't get attribute) '\w+'.*digram")


def without_digram(text: str, remedy: str = "") -> DigramError | None:
    """The error for a worker whose Python cannot import what a task needs, or None.

    >>> print(without_digram("ModuleNotFoundError: No module named 'digram'"))
    a worker's Python has no module 'digram'. Install digram ... there...
    >>> without_digram("KeyError: 7")
    """
    missing = _MISSING.search(text)
    if missing is None and _OTHER.search(text) is None:
        return None
    python = "{}.{}".format(*sys.version_info[:2])
    what = f"no module {missing[1]!r}" if missing else "another version of digram"
    return ConfigMismatchError(
        f"a worker's Python has {what}.",
        value=None if missing is None else missing[1],
        hint=f"Install digram {_core.__version__} there, for Python {python} as here, with the "
        f"engine's requirements{remedy}.",
    )


def own_error(text: str) -> DigramError | None:
    r"""The last error of digram in the text of a traceback, or None.

    >>> found = own_error("...\ndigram.errors.OptionError: no column 'a'.\n")
    >>> found
    OptionError("no column 'a'.")
    """
    found = _OWN.findall(text)
    if not found:
        return None
    name, message = found[-1]
    kind = getattr(errors, name, DigramError)
    made: DigramError = kind(message.strip())
    return made
