"""The bar: there on a terminal, silent elsewhere, and right about what it counts."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable

import pytest

import digram
from digram._util import progress as module
from digram._util.progress import amount, memory_in_use, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def as_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Makes stderr a terminal; called in the test, since pytest sets stderr anew before it."""

    def install() -> Terminal:
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    monkeypatch.setattr(module, "_EVERY", 0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return install


def shown_in(terminal: Terminal) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())


def test_a_terminal_shows_part_rate_and_time_left(as_terminal: Callable[[], Terminal]) -> None:
    terminal = as_terminal()
    with progress("Reading", total=4_000_000) as advance:
        for _ in range(4):
            time.sleep(0.15)  # the bar is redrawn ten times a second
            advance(1_000_000)
    shown = shown_in(terminal)
    assert "Reading" in shown
    assert "2.00 MB of 4.00 MB" in shown
    assert "MB/s" in shown
    assert re.search(r"\d:\d\d:\d\d", shown)
    assert "\x1b[" in terminal.getvalue()


def test_other_units_and_no_total(as_terminal: Callable[[], Terminal]) -> None:
    terminal = as_terminal()
    with progress("Merging", unit="merges") as advance:
        time.sleep(0.15)
        advance(1234)
        time.sleep(0.15)
    shown = shown_in(terminal)
    assert "1,234 merges" in shown
    assert "merges/s" in shown
    assert " of " not in shown


def test_memory_in_use(as_terminal: Callable[[], Terminal]) -> None:
    """Also while nothing advances, as between counting and the first merge."""
    before = memory_in_use()
    assert before is not None
    terminal = as_terminal()
    with progress("Merging", total=10, unit="merges"):
        time.sleep(0.7)
        held = bytearray(b"x") * 100_000_000
        time.sleep(0.7)
    found = re.findall(r"memory ([\d.]+) ([MG])B", shown_in(terminal))
    # Memory of gigabytes is shown in gigabytes, with two decimals.
    shown = [float(number) * (1_000 if unit == "G" else 1) for number, unit in found]
    assert shown[-1] - shown[0] > 80
    assert abs((memory_in_use() or 0) - before - len(held)) < 20e6
    assert "0 of 10" in shown_in(terminal)


def test_it_fits_eighty_columns(
    as_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = as_terminal()
    monkeypatch.setenv("COLUMNS", "80")
    with progress("Counting", total=123_456_789_012) as advance:
        time.sleep(0.15)
        advance(100_999_999)
        time.sleep(0.15)
    with progress("Merging", total=256_000, unit="merges") as advance:
        time.sleep(0.15)
        advance(15_123)
        time.sleep(0.15)
    lines = re.split(r"[\r\n]+", shown_in(terminal))
    assert any(re.search(r"101 MB of 123 GB \d+ MB/s memory \S+ [MG]B \S+", line) for line in lines)
    pattern = r"15,123 of 256,000 [\d,]+ merges/s memory \S+ [MG]B \S+"
    assert any(re.search(pattern, line) for line in lines)
    assert max(map(len, lines)) <= 80
    assert "…" not in terminal.getvalue()


def test_training_tells_of_each_phase(as_terminal: Callable[[], Terminal]) -> None:
    terminal = as_terminal()
    texts = [f"{i} {i * i}" for i in range(20_000)]
    digram.train(texts, max_merges=2000, progress=True)
    shown = shown_in(terminal)
    assert re.search(r"Counting .* [\d.]+ \w?B/s memory", shown)
    assert re.search(r"Merging .* of 2,000 [\d,]+ merges/s memory", shown)


def test_nothing_is_left_behind(as_terminal: Callable[[], Terminal]) -> None:
    terminal = as_terminal()
    with progress("Reading", total=10) as advance:
        advance(10)
    assert terminal.getvalue().rstrip().endswith("\x1b[2K")  # the last thing is an erased line


def test_silence_off_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress("Reading", total=10) as advance:
        advance(10)
    monkeypatch.setattr(sys, "stderr", None)
    with progress("Reading", total=10) as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")


def test_enabled_decides(
    as_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = as_terminal()
    with progress("Reading", total=10, enabled=False) as advance:
        advance(10)
    assert terminal.getvalue() == ""
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stderr", plain)
    with progress("Reading", total=10, enabled=True) as advance:
        advance(10)
    assert "Reading" in plain.getvalue()


def test_dumb_terminals_get_no_bar(
    as_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = as_terminal()
    monkeypatch.setenv("TERM", "dumb")
    with progress("Reading", total=10) as advance:
        advance(10)
    assert terminal.getvalue() == ""


def test_no_color(as_terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = as_terminal()
    monkeypatch.setenv("NO_COLOR", "1")
    with progress("Reading", total=10) as advance:
        time.sleep(0.15)
        advance(10)
    assert "Reading" in terminal.getvalue()
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.getvalue().replace("\x1b[0m", ""))


def test_an_error_passes_through_and_ends_the_bar(as_terminal: Callable[[], Terminal]) -> None:
    terminal = as_terminal()
    with pytest.raises(ZeroDivisionError), progress("Reading", total=10):
        raise ZeroDivisionError
    assert "\x1b[?25h" in terminal.getvalue()  # the cursor is back


def test_nothing_is_imported_while_silent() -> None:
    code = (
        "import sys; from digram._util.progress import progress\n"
        "with progress('x') as advance: advance(1)\n"
        "assert 'rich' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.PIPE)


def test_a_real_terminal() -> None:
    code = (
        "import time; from digram._util.progress import progress\n"
        "with progress('Reading', total=300) as advance:\n"
        "    for _ in range(3): time.sleep(0.15); advance(100)\n"
    )
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", code], check=True, stderr=theirs, env=env)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "Reading" in shown
    assert "200 B of 300 B" in shown


LONG = """
import time
from digram._util.progress import progress
for title, total, unit in (
    ("Counting a source with a name", 123_456_789_012, "B"),
    ("Merging", 256_000, "merges"),
    ("Reading", None, "B"),
):
    with progress(title, total=total, unit=unit) as advance:
        for _ in range(3):
            time.sleep(0.12)
            advance(15_123)
"""


@pytest.mark.parametrize("columns", [20, 40, 60, 72])
def test_it_stays_one_line_on_a_narrow_terminal(columns: int) -> None:
    shown = on_a_terminal(LONG, columns)
    drawn = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", shown)]
    assert max(map(len, drawn)) <= columns
    # A bar of two lines would be taken back by going up in it.
    assert re.findall(r"\x1b\[[2-9]A", shown) == []
    assert shown.count("\n") == 3
    if columns >= 40:
        assert any(line.startswith("Merging") and "15,123 of 256,000" in line for line in drawn)


def test_the_last_that_is_drawn_is_the_end() -> None:
    code = (
        "from digram._util.progress import progress\n"
        "with progress('Merging', total=300, unit='merges') as advance: advance(299)\n"
        # What stands between documents is read, and told to nobody.
        "with progress('Counting', total=400) as advance: advance(390)\n"
        "with progress('Reading', total=500) as advance:\n"
        "    advance(100)\n"
        "    raise SystemExit\n"
    )
    shown = on_a_terminal(code, 60)
    assert "299 of 300" in shown
    assert "400 B of 400 B" in shown
    assert "500 B of 500 B" not in shown


def test_merging_ends_at_its_last_merge() -> None:
    code = "import digram; digram.train('banana band', max_merges=3, pretokenizer=None)"
    assert "3 of 3" in on_a_terminal(code, 60)


def on_a_terminal(code: str, columns: int) -> str:
    """All that a program writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {**os.environ, "TERM": "xterm"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        env.pop(name, None)
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                written += os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
    os.close(ours)
    assert process.returncode == 0, written.decode()
    return written.decode()


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (0, "B", "0 B"),
        (999, "B", "999 B"),
        (1000, "B", "1.00 kB"),
        (12_345, "B", "12.3 kB"),
        (999_499, "B", "999 kB"),
        (999_999, "B", "1.00 MB"),
        (2.5e12, "B", "2.50 TB"),
        (0, "merges", "0 merges"),
        (1234.6, "merges", "1,235 merges"),
    ],
)
def test_amounts(number: float, unit: str, shown: str) -> None:
    assert amount(number, unit) == shown
