"""Saved files are read by the programs that they are for, where these are installed.

`make test-exports` does the same in an environment for each program, without digram.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from exports import reading, writing

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("exports")
    writing.write(made)
    return made


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / "reading.py"), program, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("program", reading.PROGRAMS)
def test_a_program_gives_the_same_ids(program: str, folder: Path) -> None:
    if importlib.util.find_spec(program.replace("-", "_")) is None:
        pytest.skip(f"{program} is not installed; make test-exports installs it")
    found = run(program, folder)
    assert found.returncode == 0, found.stdout + found.stderr
    lines = found.stdout.splitlines()
    exports = json.loads((folder / "exports.json").read_text(encoding="utf-8"))
    assert len(lines) == sum(program in one["programs"] for one in exports) > 0
    assert all(line.endswith(", 0 differ") for line in lines)


def test_every_program_has_files_and_an_environment() -> None:
    names = {path.stem for path in (HERE / "environments").glob("*.txt")}
    assert {name.removesuffix("-4") for name in names} == {*reading.PROGRAMS}


def test_an_id_that_differs_is_noticed(folder: Path, tmp_path: Path) -> None:
    exports = json.loads((folder / "exports.json").read_text(encoding="utf-8"))
    (one,) = [one for one in exports if one["path"] == "gpt2.tiktoken"]
    one["ids"][7] = [*one["ids"][7], 1]
    (tmp_path / "exports.json").write_text(json.dumps([one]), encoding="utf-8")
    (tmp_path / one["path"]).write_bytes((folder / one["path"]).read_bytes())
    found = run("tiktoken", tmp_path)
    assert found.returncode == 1
    assert "gpt2.tiktoken: 300 texts, 1 differ" in found.stdout
    assert "there is no file for it" in run("gguf", tmp_path).stdout
