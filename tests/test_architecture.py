"""Who may import whom, in Python and in Rust; and that the map of the house shows every room."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "digram"
CORE = ROOT / "crates" / "digram" / "src"

# Each row may import the rows above it, not its neighbours: at any time, in functions and for types
# too.
PYTHON = [
    ["_core"],
    ["errors"],
    ["_util", "display"],
    ["corpus", "pretokenizers"],
    ["decoders"],
    ["vocab"],
    ["formats"],
    ["names"],
    ["tokenizer"],
    ["training", "analysis", "shards", "compat"],
    ["adapt"],
    ["multimodal", "reports"],
    ["distributed", "web"],
    ["__init__"],
    ["cli"],
    ["__main__"],
]
ALONE = {"reference"}  # imports nothing of the project

# Each module may use those before it.
RUST = [
    "error",
    "memory",
    "heap",
    "interrupt",
    "parallel",
    "utf8",
    "cpu",
    "masks",
    "text",
    "transcode",
    "pages",
    "bits",
    "vocabulary",
    "keys",
    "index",
    "trie",
    "words",
    "merges",
    "events",
    "ranks",
    "model",
    "pretokenize",
    "added_tokens",
    "normalize",
    "count",
    "encode",
    "tokenizer",
    "train",
]


def room(path: Path, package: Path) -> str:
    """The top-level module that a file belongs to.

    >>> room(Path("digram/formats/tiktoken.py"), Path("digram"))
    'formats'
    """
    return path.relative_to(package).with_suffix("").parts[0]


def imports(path: Path) -> set[str]:
    """The rooms that a file imports, whenever it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "digram":
            found |= {alias.name if alias.name in ROOMS else "__init__" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("digram."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
            found |= {(*name, "__init__")[1] for name in names if name[0] == "digram"}
    return found


FILES = sorted(PACKAGE.rglob("*.py"))
ROOMS = {room(path, PACKAGE) for path in FILES} | {"_core"}


def test_python_rooms_import_downwards() -> None:
    level = {name: i for i, row in enumerate(PYTHON) for name in row}
    others = {
        (str(path.relative_to(PACKAGE)), other)
        for path in FILES
        for here in [room(path, PACKAGE)]
        for other in imports(path) - {here}
        if here in ALONE or level[other] >= level[here]
    }
    assert not others


@pytest.mark.parametrize(
    "path", sorted(CORE.rglob("*.rs")), ids=lambda path: str(path.relative_to(CORE))
)
def test_the_core_is_a_straight_line(path: Path) -> None:
    here = room(path, CORE)
    if here == "lib":
        return
    source = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    allowed = RUST[: RUST.index(here) + 1]
    for other in re.findall(r"\bcrate::([a-z_0-9]+)", source):
        assert other in allowed, f"{here} uses {other}"


def test_the_core_does_not_know_python() -> None:
    assert "pyo3" not in (ROOT / "crates/digram/Cargo.toml").read_text(encoding="utf-8")


def test_contributing_names_every_room() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {room(path, CORE) for path in CORE.rglob("*.rs")} - {"lib"}
    rooms |= {room(path, PACKAGE) for path in FILES} - {"__init__", "__main__"}
    tracked = {".ci", "benches", "crates", "docs", "examples", "python", "testdata", "tests"}
    rooms |= {name for name in tracked if (ROOT / name).exists()}
    assert {name for name in rooms if f"`{name}" not in contributing} == set()
