"""What a message tells its reader to do, in the words of Python or of the command line.

An argument is written as `name=value` in all messages, those of the core too, and the command line
writes it as an option. What reads differently otherwise, such as a call, is `said` in both forms
where the message is made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

__all__ = ["in_a_shell", "is_in_a_shell", "said"]

# Not a context variable: threads that read files for a verb make messages too.
_shells: list[None] = []


def said(python: str, shell: str) -> str:
    """The form for the program that runs: the command line's only within `in_a_shell`.

    >>> said("digram.count_pretokens", "digram counts make")
    'digram.count_pretokens'
    >>> with in_a_shell():
    ...     said("digram.count_pretokens", "digram counts make")
    'digram counts make'
    """
    return shell if is_in_a_shell() else python


def is_in_a_shell() -> bool:
    """Whether a verb of the command line runs."""
    return bool(_shells)


@contextlib.contextmanager
def in_a_shell() -> Iterator[None]:
    """Make messages for a reader who types commands."""
    _shells.append(None)
    try:
        yield
    finally:
        _shells.pop()
