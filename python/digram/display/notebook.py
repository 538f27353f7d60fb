"""Detecting a notebook, and displaying HTML in it."""

from __future__ import annotations

import os
import sys
from importlib import import_module

__all__ = ["display", "in_notebook"]


def in_notebook() -> bool:
    """Whether output goes to a notebook in colour: there is one, and `NO_COLOR` is not set.

    >>> in_notebook()
    False

    Checks IPython, if it is loaded: its terminal shell has no kernel.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None and not os.environ.get("NO_COLOR")


def display(markup: str) -> None:
    """Display HTML below the running cell."""
    notebook = import_module("IPython.display")
    notebook.display(notebook.HTML(markup))
