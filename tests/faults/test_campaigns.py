"""The campaigns that CONTRIBUTING names take too long for the suite; that they start is tested."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^\.venv/bin/python (tests/faults/\w+\.py)", flags=re.MULTILINE)
CAMPAIGNS = COMMAND.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def test_every_campaign_is_named() -> None:
    own = {path.name for path in (ROOT / "tests/faults").glob("*.py")}
    commands = {
        name
        for name in own
        if "ArgumentParser" in (ROOT / "tests/faults" / name).read_text(encoding="utf-8")
        and not name.startswith("test_")
    }
    assert {Path(name).name for name in CAMPAIGNS} == commands


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_campaign_starts(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / name), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage:")
