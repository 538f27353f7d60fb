"""What programs call in another library, and in digram: the rows of a page, which are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"


@dataclass(frozen=True)
class Same:
    """A call for which digram has one with the same result; the two are compared."""

    ours: str
    """The call as the page shows it."""
    pairs: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...]
    """Calls there and here, whose results are equal."""
    note: str = ""


@dataclass(frozen=True)
class Absent:
    """A name without a call in digram, and the reason."""

    why: str


Row = Same | Absent


def same(ours: str, *pairs: tuple[Any, Any], note: str = "") -> Same:
    """A row with its calls."""
    assert pairs, "a row that is equal is compared"
    return Same(ours, pairs, note)


def public(kind: Any) -> set[str]:
    """The public names of a class."""
    return {name for name in dir(kind) if not name.startswith("_")}


def table(rows: Mapping[str, Row]) -> str:
    """The rows as a table of the page."""
    lines = ["| there | digram | |", "|---|---|---|"]
    for name, row in rows.items():
        if isinstance(row, Same):
            lines.append(f"| `{name}` | `{row.ours}` | {row.note} |")
        else:
            lines.append(f"| `{name}` | – | {row.why} |")
    return "\n".join(line.replace("|  |", "| |") for line in lines) + "\n"


def section(of: str, text: str) -> str:
    """The generated part of the page of a class."""
    start, end = _place(of, text)
    return text[start:end]


def _place(of: str, text: str) -> tuple[int, int]:
    found = re.search(rf"<!-- calls of {re.escape(of)} -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert found is not None, of
    return found.span(1)


def written(of: str, rows: Mapping[str, Row]) -> None:
    """Write the generated part of the page."""
    text = PAGE.read_text(encoding="utf-8")
    start, end = _place(of, text)
    PAGE.write_text(text[:start] + table(rows) + text[end:], encoding="utf-8")
