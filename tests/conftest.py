"""What all tests share: how Hypothesis runs, where the data lies, and how many cases ran.

Cases are the same in every run, so that a failure in CI is a failure here. To search further:

    HYPOTHESIS_PROFILE=explore DIGRAM_CASES=50 pytest tests -k properties

takes other cases each time, and fifty times as many.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # so that tests can import `strategies`

import strategies  # noqa: E402

# A shell that starts a command in the background has it ignore Ctrl-C, which tests send themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine must not fail a test, so neither time limit is kept.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", settings.get_profile("ci"), derandomize=False, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of corpora and published vocabularies, whether it is there or not."""
    return Path(os.environ.get("DIGRAM_DATA", HERE.parents[1] / "shared" / "data"))


@pytest.fixture(scope="session")
def data_dir(data_folder: Path) -> Path:
    """The folder of corpora and published vocabularies; the test is skipped where it is absent."""
    if not data_folder.is_dir():
        pytest.skip(f"{data_folder} is not there; set DIGRAM_DATA to the folder of test data")
    return data_folder


@pytest.fixture(scope="session")
def shared_data(data_dir: Path) -> Callable[[str], Path]:
    """A file of the data by its name, as in `shared_data("corpora/en.txt")`; skips if absent."""

    def find(name: str) -> Path:
        path = data_dir / name
        if not path.exists():
            pytest.skip(f"{path} is not there")
        return path

    return find


@pytest.fixture
def alarm() -> Iterator[Callable[[float], None]]:
    """Raises KeyboardInterrupt after so many seconds of processor time, as Ctrl-C does."""

    def interrupt(_number: int, _frame: Any) -> None:
        raise KeyboardInterrupt

    def begin(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, seconds)

    before = signal.signal(signal.SIGPROF, interrupt)
    yield begin
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many cases ran, so that a drop is seen."""
    if strategies.RAN:
        cases = sum(strategies.RAN.values())
        terminalreporter.write_line(f"{len(strategies.RAN)} properties held in {cases:,} cases")
