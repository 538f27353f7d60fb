"""Options and figures of the comparisons with other programs.

    pytest tests/oracles           a share that takes a minute or two
    pytest tests/oracles --full    all documents of all corpora, 32,000 tokens in training

Each comparison prints how much it compared and how many differences it saw, so that a drop is
seen in the log.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from oracles.tally import FIGURES
from oracles.texts import documents


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full`; pytest knows it where this folder is named on its command line."""
    parser.addoption("--full", action="store_true", help="compare everything, not a share of it")


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """Whether to compare everything."""
    return bool(request.config.getoption("--full", default=False))


@pytest.fixture(scope="session")
def corpus(shared_data: Callable[[str], Path]) -> Callable[[str], list[str]]:
    """The documents of a corpus by its name, as in `corpus("en")`; skips where it is absent."""
    read: dict[str, list[str]] = {}

    def find(name: str) -> list[str]:
        if name not in read:
            read[name] = documents(shared_data(f"corpora/{name}.txt"))
        return read[name]

    return find


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was compared."""
    if FIGURES:
        terminalreporter.section("compared with other programs")
        for line in FIGURES:
            terminalreporter.write_line(line)
