"""OSErrors whose message says what to do: `[Errno 2] place: reason.`

Python writes the name of the file behind the reason, which reads well only if the reason is short.
"""

from __future__ import annotations

import errno
import os
from itertools import islice

from digram._util.wording import said

__all__ = ["builtin_kind", "no_such_file", "similar", "system_error"]

_MOST_NAMES = 4096
_SIMILAR = 0.75


def system_error(number: int, reason: str, path: str | None) -> OSError:
    """An OSError of the class of its number, with a reason that may be sentences.

    >>> import errno
    >>> error = system_error(errno.ENOENT, "it is not here. Fetch it", "a.json")
    >>> str(error) == f"[Errno {errno.ENOENT}] a.json: it is not here. Fetch it."
    True
    >>> isinstance(error, FileNotFoundError), error.filename, error.strerror
    (True, 'a.json', 'it is not here. Fetch it')
    """
    kind = builtin_kind(type(OSError(number, reason)), _SystemError)
    return kind(number, reason, path)


def no_such_file(path: str) -> OSError:
    """The FileNotFoundError for a path that does not exist: where it was looked for, or what else.

    >>> path = getfixture("tmp_path") / "tokenizer.json"
    >>> _ = path.write_text("")
    >>> no_such_file(str(path.with_name("tokeniser.json"))).strerror
    "there is no such file or folder; the most similar name there is 'tokenizer.json'"

    Of a link to nothing the message says what it points to. Reads at most some thousand names of
    the folder.
    """
    if os.path.islink(path) and not os.path.exists(path):
        return system_error(
            errno.ENOENT,
            f"this link points to {os.readlink(path)!r}, which does not exist; mount or restore "
            "it, or remove the link",
            path,
        )
    return system_error(errno.ENOENT, f"there is no such file or folder{_elsewhere(path)}", path)


def similar(path: str) -> str:
    """Says which name in the folder of a path is like that of the path; empty if none is."""
    folder, name = os.path.split(path)
    near = _nearest(folder or os.curdir, name)
    return "" if near is None else f"; the most similar name there is {near!r}"


def _elsewhere(path: str) -> str:
    """What helps to find the right path."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        above = os.path.dirname(folder)
        while above and above != folder and not os.path.isdir(above):
            folder, above = above, os.path.dirname(above)
        what = "is not a folder" if os.path.exists(folder) else "does not exist"
        within = f"; {folder!r} {what}"
    else:
        if found := similar(path):
            return found
        within = ""
    if os.path.isabs(path):
        return within or said("; check the path", "")
    here = f"relative paths start at {os.getcwd()}"
    return f"{within}{said(f', and {here}' if within else f'; {here}', '')}"


def _nearest(folder: str, name: str) -> str | None:
    """The name in a folder that differs least, in its letters or only in its suffix."""
    from difflib import SequenceMatcher

    def likeness(other: str) -> float:
        return SequenceMatcher(None, other.lower(), name.lower()).ratio()

    stem = _stem(name)
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_NAMES):
                if entry.name.startswith(".") and not name.startswith("."):
                    continue
                like = SequenceMatcher(None, _stem(entry.name), stem)
                if like.real_quick_ratio() >= _SIMILAR and like.ratio() >= _SIMILAR:
                    found.append((like.ratio(), likeness(entry.name), entry.name))
    except (OSError, ValueError):
        return None
    return max(found)[2] if found else None


def _stem(name: str) -> str:
    return os.path.splitext(name)[0].lower()


class _SystemError(OSError):
    def __str__(self) -> str:
        place = "" if self.filename is None else f"{self.filename or repr('')}: "
        return f"[Errno {self.errno}] {place}{self.strerror}."

    def __reduce__(self) -> tuple[object, ...]:
        return system_error, (self.errno, self.strerror, self.filename)


def builtin_kind(builtin: type[OSError], own: type[OSError]) -> type[OSError]:
    """The subclass of a built-in class and one of ours, under the name of the built-in class.

    A traceback shows it as `OSError: [Errno 28] ...`.
    """
    if issubclass(builtin, own):
        return builtin
    return type(builtin.__name__, (own, builtin), {"__module__": "builtins"})
