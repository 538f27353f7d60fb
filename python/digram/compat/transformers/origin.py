"""Where `from_pretrained` reads a tokenizer: the options of transformers that say where files are.

Nothing is downloaded, and no code of a repository is run.
"""

from __future__ import annotations

import os
from typing import Any

from digram._util.validation import path_name
from digram.errors import OptionError, show
from digram.names import find

__all__ = ["origin"]

_WITHOUT_EFFECT = (
    *("use_fast", "trust_remote_code", "local_files_only", "resume_download"),
    *("token", "use_auth_token", "proxies", "user_agent"),
)
_OF_DOWNLOADS = {"revision": "main", "cache_dir": None, "force_download": False}
"""With the values that ask for nothing else than the files on this machine."""


def origin(name: str | os.PathLike[str], options: dict[str, Any]) -> str | os.PathLike[str]:
    """The path or name for `digram.load`; takes what it knows out of `options`.

    As in transformers, the options of downloads do nothing where `name` is a path. For a name,
    those that ask for other files than `digram.load` finds raise `OptionError`.
    """
    for option in _WITHOUT_EFFECT:
        options.pop(option, None)
    is_path = os.path.lexists(name)
    for option, usual in _OF_DOWNLOADS.items():
        value = options.pop(option, None)
        is_usual = value is None or (isinstance(value, str | bool) and value == usual)
        if not is_path and not is_usual:
            raise OptionError(
                f"{option}={show(value)} is not supported for a name, since nothing is downloaded.",
                hint="Pass the folder of the files; digram.load(name, download=True) fetches it.",
            )
    subfolder = options.pop("subfolder", None)
    if subfolder is None or subfolder == "":
        return name
    return os.path.join(find(name).path, path_name(subfolder, "subfolder"))
