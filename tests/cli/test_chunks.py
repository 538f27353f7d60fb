"""`digram chunks`: what `Tokenizer.chunks` gives, with places in the files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]

TEXTS = {"a.txt": "the cat sat on the mat\n" * 3, "b.txt": "", "c.txt": "中文 naïve foxes"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    return tmp_path


def test_lines(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    result = run("chunks", "-t", tok_path, "--max-length", "9", "--overlap", "3", folder)
    assert (result.exit_code, result.stderr) == (0, "")
    expected = [
        [str(chunk.count), str(chunk.start), str(chunk.end), str(folder / name)]
        for name, text in TEXTS.items()
        for chunk in tok.chunks(text.encode(), 9, overlap=3)
    ]
    lines = result.stdout.splitlines()
    assert [line.split() for line in lines] == expected
    assert len({line.index(str(folder)) for line in lines}) == 1  # aligned


def test_json_has_the_texts(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    result = run("chunks", "-t", tok_path, "--max-length", "9", "--json", folder)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert list(found[0]) == ["tokens", "start", "end", "path", "text"]
    for name, text in TEXTS.items():
        mine = [chunk for chunk in found if chunk["path"] == str(folder / name)]
        assert "".join(chunk["text"] for chunk in mine) == text
        for chunk in mine:
            assert text.encode()[chunk["start"] : chunk["end"]].decode() == chunk["text"]
            assert tok.count(chunk["text"]) == chunk["tokens"] <= 9


def test_stdin_and_nothing(run: Run, tok_path: str) -> None:
    asked = ["chunks", "-t", tok_path, "--max-length", "2"]
    piped = run(*asked, input="the cat sat\n").stdout
    assert piped == run(*asked, "-", input="the cat sat\n").stdout
    assert piped.startswith("2  0  ")
    assert piped.endswith("  12  -\n")
    empty = run(*asked, input="")
    assert (empty.exit_code, empty.stdout) == (0, "")


def test_faults(run: Run, tok_path: str, folder: Path) -> None:
    missing = run(
        "chunks", "-t", tok_path, "--max-length", "9", folder / "a.txt", folder / "none.txt"
    )
    assert (missing.exit_code, missing.stdout) == (4, "")
    small = run("chunks", "-t", tok_path, "--max-length", "2", folder / "a.txt", folder / "c.txt")
    assert (small.exit_code, small.stdout) == (3, "")
    assert f"{folder / 'c.txt'}: the character" in small.stderr
    wide = run("chunks", "-t", tok_path, "--max-length", "2", "--overlap", "2", folder)
    assert wide.exit_code == 2
    assert "Error: --overlap 2 is not below --max-length 2." in wide.stderr
    odd = ["chunks", "-t", tok_path, "--max-length", "9"]
    assert run(*odd, input=b"a\xffb").stdout.endswith("3  -\n")
    told = run(*odd, "--json", input=b"a\xffb")
    assert (told.exit_code, told.stdout) == (3, "")
    assert "stdin: byte 1 is not UTF-8" in told.stderr


def test_documents_have_numbers(
    run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path
) -> None:
    """Where files hold several texts, places are those in a document."""
    texts = ["the cat sat on the mat", "", "中文 naïve foxes"]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "b.txt").unlink()
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    asked = ["chunks", "-t", tok_path, "--max-length", "5"]
    held = {"a.txt": [TEXTS["a.txt"]], "b.jsonl.gz": texts, "c.txt": [TEXTS["c.txt"]]}
    expected = [
        [chunk.count, chunk.start, chunk.end, number, str(folder / name)]
        for name, documents in held.items()
        for number, text in enumerate(documents)
        for chunk in tok.chunks(text.encode(), 5)
    ]
    shown = run(*asked, folder)
    assert (shown.exit_code, shown.stderr) == (0, "")
    rows = [line.split() for line in shown.stdout.splitlines()]
    assert rows == [[str(cell) for cell in row] for row in expected]
    found = [json.loads(line) for line in run(*asked, "--json", folder).stdout.splitlines()]
    assert list(found[0]) == ["tokens", "start", "end", "document", "path", "text"]
    assert [[*chunk.values()][:5] for chunk in found] == expected
    piped = run(*asked, "--source-format", "jsonl", input=lines)
    assert [row[:4] for row in map(str.split, piped.stdout.splitlines())] == [
        row[:4] for row in rows if row[-1].endswith("b.jsonl.gz")
    ]
    cut = run(*asked, "--separator", " ", folder / "c.txt").stdout.splitlines()
    assert [line.split()[3] for line in cut][-1] == "2"
    small = run(
        "chunks", "-t", tok_path, "--max-length", "2", "--source-format", "jsonl", input=lines
    )
    assert (small.exit_code, small.stdout) == (3, "")
    assert "stdin: document 2: the character" in small.stderr
