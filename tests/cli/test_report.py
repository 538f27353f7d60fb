"""`digram report`: the page, the figures and the numbers, from files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import digram

Run = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path, text: str) -> Path:
    """Two corpora, and parallel lines in two languages."""
    (tmp_path / "prose.txt").write_text(text, encoding="utf-8")
    (tmp_path / "more.txt").write_text("the cat\n\nthe mat", encoding="utf-8")
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "en.txt").write_text("the cat\nthe mat\n", encoding="utf-8")
    (tmp_path / "lines" / "zh.txt").write_text("猫\n垫子\n", encoding="utf-8")
    return tmp_path


def test_end_to_end(process: Run, files: Path, tok: digram.Tokenizer, tok_path: str) -> None:
    """Another process writes the bytes that this one does."""
    arguments = ["--by-file", files / "prose.txt", "--name", f"short={files}/more.txt"]
    arguments += ["--separator", "\\n\\n", "--parallel", files / "lines", "--reference", "en"]
    out, figures = files / "out.html", files / "figures"
    done = process("report", "-t", tok_path, *arguments, "-o", out, "--figures", figures)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    found = digram.report(
        tok,
        {
            name: digram.files(files / f"{file}.txt", separator="\n\n")
            for name, file in (("short", "more"), ("prose", "prose"))
        },
        parallel={name: files / "lines" / f"{name}.txt" for name in ("en", "zh")},
        reference="en",
        title="tokenizer",
    )
    assert out.read_text(encoding="utf-8") == found.html()
    assert {path.name for path in figures.iterdir()} == {
        f"{name}.{kind}" for name in found.charts for kind in ("svg", "png", "csv")
    }
    for name, chart in found.charts.items():
        assert (figures / f"{name}.svg").read_text(encoding="utf-8") == chart.svg()


def test_json(run: Run, files: Path, tok: digram.Tokenizer, tok_path: str) -> None:
    done = run("report", "-t", tok_path, files / "prose.txt", "--title", "x", "--json")
    assert done.exit_code == 0, done.output
    expected = digram.report(tok, {"prose": files / "prose.txt"}, title="x").to_dict()
    assert json.loads(done.stdout) == json.loads(json.dumps(expected))


def test_the_page_goes_to_stdout(
    process: Run, files: Path, tok: digram.Tokenizer, tok_path: str
) -> None:
    corpus = ["--name", f"en={files}/lines/en.txt", "--name", f"zh={files}/lines/zh.txt"]
    done = process("report", "-t", tok_path, *corpus, "--reference", "en", "-o", "-", cwd=files)
    assert done.returncode == 0, done.stderr
    texts = {name: files / "lines" / f"{name}.txt" for name in ("en", "zh")}
    found = digram.report(tok, texts, reference="en", title="tokenizer")
    assert done.stdout.decode() == found.html()
    assert done.stderr == b""
    assert not (files / "-").exists()


def test_wrong_usage(run: Run, files: Path, tok_path: str) -> None:
    corpus = [files / "prose.txt"]
    wrong: list[tuple[list[Any], str]] = [
        (["-t", tok_path, *corpus], "give an output"),
        ([*corpus, "--json"], "Missing option '-t' / '--tokenizer'"),
        (["-t", tok_path, "--json"], "name files"),
        (["-t", tok_path, "--name", "=x", "--json"], "is not NAME=FILES"),
        (["-t", tok_path, "--name", "x=", "--json"], "is not NAME=FILES"),
        (["-t", tok_path, *corpus, "--name", "a=b", "--json"], "only with --by-file"),
        (["-t", tok_path, *corpus, "--parallel", "=x", "--json"], "is not NAME=FILES"),
        (
            ["-t", tok_path, *corpus, *["--parallel", files / "lines"] * 2, "--json"],
            "name of two texts",
        ),
        (["-t", tok_path, *corpus, "--reference", "en", "--json"], "not the name of a corpus"),
        (["-t", tok_path, *corpus, "-o", "-", "--json"], "stdout"),
        (["-t", tok_path, *corpus, "--figures", "-"], "several files are written"),
        (["-t", tok_path, *corpus, "--parallel", files / "lines", "--json"], "Pass --reference"),
    ]
    for arguments, message in wrong:
        done = run("report", *arguments)
        assert done.exit_code == 2, done.output
        assert message in done.output


def test_files_that_are_not_there(run: Run, files: Path, tok_path: str) -> None:
    done = run("report", "-t", tok_path, files / "none.txt", "-o", files / "out.html")
    assert done.exit_code == 4
    assert "none.txt" in done.output
    assert not (files / "out.html").exists()


def test_without_altair(
    run: Run, files: Path, tok_path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    corpus = [files / "prose.txt"]
    done = run("report", "-t", tok_path, *corpus, "-o", files / "out.html")
    assert done.exit_code == 2
    assert 'pip install ".[plots]"' in done.output
    assert run("report", "-t", tok_path, *corpus, "--json").exit_code == 0
