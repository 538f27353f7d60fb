"""Whether Python runs in a notebook, and how that is given markup."""

from __future__ import annotations

import os
import sys
from importlib import import_module

__all__ = ["display", "in_notebook"]


def in_notebook() -> bool:
    """Whether what is shown goes to a notebook, which has colours unless `NO_COLOR` is set.

    >>> in_notebook()
    False

    Asked of IPython, where that is loaded: its shell in a terminal has no kernel.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None and not os.environ.get("NO_COLOR")


def display(markup: str) -> None:
    """Show markup below the cell that runs."""
    notebook = import_module("IPython.display")
    notebook.display(notebook.HTML(markup))
