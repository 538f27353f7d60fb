"""`digram count`: `wc` for tokens."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from backports import zstd
from click.testing import Result
from pyarrow import parquet

import digram

Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("the cat\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("中文 naïve\n", encoding="utf-8")
    (tmp_path / "c.txt").write_bytes(b"")
    return tmp_path


def numbers(line: str) -> list[int]:
    return [int(word) for word in line.split()[:3]]


def test_files_and_a_total(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    result = run("count", "-t", tok_path, folder)
    assert (result.exit_code, result.stderr) == (0, "")
    a, b, c, total = result.stdout.splitlines()
    assert numbers(a) == [tok.count("the cat\n"), 8, 8]
    assert numbers(b) == [tok.count("中文 naïve\n"), 14, 9]
    assert numbers(c) == [0, 0, 0]
    assert numbers(total) == [x + y for x, y in zip(numbers(a), numbers(b), strict=True)]
    assert a.endswith(str(folder / "a.txt"))
    assert total.endswith("total")
    assert {line.index(str(folder)) for line in (a, b, c)} == {total.index("total")}


def test_one_file_has_no_total_and_stdin_a_dash(run: Run, tok_path: str, folder: Path) -> None:
    assert len(run("count", "-t", tok_path, folder / "a.txt").stdout.splitlines()) == 1
    piped = run("count", "-t", tok_path, input="the cat\n").stdout
    assert piped == run("count", "-t", tok_path, "-", input="the cat\n").stdout
    assert piped.endswith("  -\n")


def test_binary_files_are_counted_with_a_warning(run: Run, tok_path: str, folder: Path) -> None:
    """As by all verbs that read a folder; the remedy names the verb."""
    (folder / "d.pyc").write_bytes(b"\0\1")
    done = run("count", "-t", tok_path, folder)
    assert (done.exit_code, len(done.stdout.splitlines())) == (0, 5)
    first, remedy = done.stderr.splitlines()
    assert first == f"Warning: {folder / 'd.pyc'} looks binary: it contains NUL bytes."
    assert remedy.startswith("`digram count` reads these bytes as text. If that is not intended")
    twice = run("count", "-t", tok_path, folder / "d.pyc", folder)
    assert twice.stderr.splitlines()[2:] == [remedy]
    piped = run("count", "-t", tok_path, input=b"\0\1")
    assert piped.stderr.splitlines() == [
        "Warning: stdin looks binary: it contains NUL bytes.",
        remedy,
    ]


def test_a_line_says_tokens_bytes_and_characters_in_this_order(
    run: Run, tok: digram.Tokenizer, tok_path: str
) -> None:
    line = run("count", "-t", tok_path, input="naïve 日本").stdout
    assert numbers(line) == [tok.count("naïve 日本"), 13, 8]
    page = " ".join(run("count", "--help").stdout.split())
    assert "columns are tokens, bytes, characters and the name, in this order" in page


def test_json(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    counted = json.loads(run("count", "-t", tok_path, "--json", folder).stdout)
    assert counted["files"][0] == {
        "tokens": tok.count("the cat\n"),
        "bytes": 8,
        "characters": 8,
        "path": str(folder / "a.txt"),
    }
    assert counted["total"]["bytes"] == 22
    assert sorted(counted["total"]) == ["bytes", "characters", "tokens"]


def test_special_tokens(run: Run, tok_path: str) -> None:
    assert numbers(run("count", "-t", tok_path, input="<|end|>").stdout)[0] > 1
    parsed = run("count", "-t", tok_path, "--special", "parse", input="<|end|>")
    assert numbers(parsed.stdout)[0] == 1


def test_faults(run: Run, tok_path: str, folder: Path) -> None:
    """As with `wc`, a file that cannot be read sets the exit code; the others are counted."""
    files = [folder / "a.txt", folder / "none.txt", folder / "b.txt"]
    missing = run("count", "-t", tok_path, *files)
    whole = run("count", "-t", tok_path, files[0], files[2])
    assert (missing.exit_code, missing.stdout) == (4, whole.stdout)
    assert missing.stderr == f"Error: {files[1]}: there is no such file or folder.\n"
    told = json.loads(run("count", "-t", tok_path, "--json", *files[:2]).stdout)
    assert [one["path"] for one in told["files"]] == [str(files[0])]
    assert told["errors"] == [f"{files[1]}: there is no such file or folder."]
    one = run("count", "-t", tok_path, *files[:2]).stdout.splitlines()
    assert one[1].endswith("total")
    none = run("count", "-t", tok_path, files[1])
    assert (none.exit_code, none.stdout) == (4, "")
    (folder / "d.jsonl").write_text('{"text": 1}\n')
    (folder / "e.txt.gz").write_bytes(b"no gzip")
    bad = run("count", "-t", tok_path, folder)
    assert (bad.exit_code, len(bad.stdout.splitlines())) == (3, 4)
    assert bad.stderr.count("Error: ") == 2
    assert "d.jsonl, record 1 (byte 0): the field " in bad.stderr
    assert "e.txt.gz: the gz data is damaged" in bad.stderr
    typed = run("count", "-t", tok_path, "--field", "", folder)
    assert (typed.exit_code, typed.stdout, typed.stderr.count("Error")) == (2, "", 1)
    assert run("count", folder / "a.txt").exit_code == 2


LINES = '{"m": {"t": "the cat sat"}}\n{"m": {"t": "on the mat"}}\n'


def test_records_and_documents_are_texts_of_their_own(
    run: Run, tok: digram.Tokenizer, tok_path: str, tmp_path: Path
) -> None:
    """The same texts in files of every kind, and through stdin, give the same numbers."""
    texts = ["the cat sat", "on the mat"]
    joined = "\x1e".join(texts).encode()
    (tmp_path / "a.jsonl").write_text(LINES)
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(LINES.encode()))
    table = pyarrow.table({"m": [{"t": text} for text in texts]})
    parquet.write_table(table, tmp_path / "c.parquet")
    (tmp_path / "d.txt.zst").write_bytes(zstd.compress(joined))
    asked = ["count", "-t", tok_path, "--field", "m.t", "--separator", r"\x1e"]
    result = run(*asked, tmp_path)
    assert (result.exit_code, result.stderr) == (0, "")
    size = len("".join(texts))
    expected = [sum(map(tok.count, texts)), size, size]
    *each, total = map(numbers, result.stdout.splitlines())
    assert each == [expected] * 4
    assert total == [4 * number for number in expected]
    piped = [(LINES, "jsonl"), (zstd.compress(LINES.encode()), "jsonl.zst"), (joined, "text")]
    for data, told in piped:
        found = run(*asked, "--source-format", told, input=data)
        assert (found.exit_code, numbers(found.stdout)) == (0, expected), found.stderr
    one = run("count", "-t", tok_path, tmp_path / "d.txt.zst")
    assert numbers(one.stdout)[:2] == [tok.count(joined), len(joined)]


def test_records_without_a_text(run: Run, tok_path: str, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"text": "a"}\n{"text": 1}\n{"text": "b<|end|>"}\n')
    refused = run("count", "-t", tok_path, tmp_path)
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "a.jsonl, record 2 (byte 14): the field " in refused.stderr
    assert "Pass --on-error skip to skip and count bad records." in refused.stderr
    asked = ["count", "-t", tok_path, "--on-error", "skip"]
    skipped = run(*asked, tmp_path)
    assert (skipped.exit_code, len(skipped.stdout.splitlines())) == (0, 3)
    assert skipped.stderr.count("Warning: ") == 1
    assert "Warning: 2 records were skipped: " in skipped.stderr
    special = run(*asked, "--special", "raise", tmp_path)
    assert special.exit_code == 3
    assert f"{tmp_path / 'a.jsonl'}: document 1: the text holds the special tok" in special.stderr
    plain = run("count", "-t", tok_path, "--special", "raise", input="<|end|>")
    assert plain.stderr.startswith("Error: stdin: the text holds the special token")
