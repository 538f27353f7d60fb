"""`digram evaluate`: the measures of texts, as tables and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]
EN = "the cat sat on the mat\nand the other cats sat there\n"
XX = "中文 naïve\nκαι τα λοιπά\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Parallel lines of two languages."""
    folder = tmp_path / "lines"
    folder.mkdir()
    (folder / "en.txt").write_text(EN, encoding="utf-8")
    (folder / "xx.txt").write_text(XX, encoding="utf-8")
    return folder


@pytest.fixture
def other(tok: digram.Tokenizer, tmp_path: Path) -> str:
    """A second tokenizer."""
    path = tmp_path / "other.json"
    digram.shrink(tok, 270).save(path)
    return str(path)


def test_files_as_one_text(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    result = run("evaluate", "-t", tok_path, folder)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{digram.evaluate(tok, folder)}\n"
    told = json.loads(run("evaluate", "-t", tok_path, folder, "--json").stdout)
    assert told == {"tokenizers": {tok_path: digram.evaluate(tok, folder).to_dict()}}


def test_stdin(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    piped = run("evaluate", "-t", tok_path, input=EN)
    assert piped.stdout == f"{digram.evaluate(tok, EN)}\n"
    assert run("evaluate", "-t", tok_path, "-", input=EN).stdout == piped.stdout
    cut = run("evaluate", "-t", tok_path, "--separator", r"\n", input=EN)
    assert cut.stdout == f"{digram.evaluate(tok, EN.splitlines())}\n"


def test_a_file_a_language(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    arguments = ["--by-file", "--separator", r"\n", "--reference", "en"]
    result = run("evaluate", "-t", tok_path, folder, *arguments)
    lines = {name: digram.files(folder / f"{name}.txt", separator="\n") for name in ("en", "xx")}
    found = digram.evaluate(tok, lines, reference="en")
    assert (result.exit_code, result.stdout) == (0, f"{found}\n"), result.stderr
    told = json.loads(run("evaluate", "-t", tok_path, folder, *arguments, "--json").stdout)
    assert told["tokenizers"][tok_path] == found.to_dict()
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_names(run: Run, tok: digram.Tokenizer, tok_path: str, folder: Path) -> None:
    names = ["--name", f"English={folder}/en.*", "--name", f"both={folder}"]
    told = json.loads(run("evaluate", "-t", tok_path, *names, "--json").stdout)
    assert told["tokenizers"][tok_path]["by_name"] == {
        "English": digram.evaluate(tok, EN).total.to_dict(),
        "both": digram.evaluate(tok, [EN, XX]).total.to_dict(),
    }
    beside = run("evaluate", "-t", tok_path, folder, "--by-file", *names, "--json")
    assert [*json.loads(beside.stdout)["tokenizers"][tok_path]["by_name"]] == [
        "English", "both", "en", "xx",
    ]  # fmt: skip


def test_files_of_the_same_name(run: Run, tok_path: str, folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "en.txt").write_text(EN, encoding="utf-8")
    told = json.loads(run("evaluate", "-t", tok_path, folder, "--by-file", "--json").stdout)
    names = [str(folder / "deep" / "en.txt"), str(folder / "en.txt"), "xx"]
    assert sorted(told["tokenizers"][tok_path]["by_name"]) == sorted(names)


def test_records(run: Run, tok: digram.Tokenizer, tok_path: str, tmp_path: Path) -> None:
    lines = '{"body": "the cat"}\n{"body": 3}\n'
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    options = ["--field", "body", "--on-error", "skip", "--json"]
    result = run("evaluate", "-t", tok_path, tmp_path / "a.jsonl", *options)
    told = json.loads(result.stdout)["tokenizers"][tok_path]
    assert (told["skipped"], told["total"]["tokens"]) == (1, tok.count("the cat"))
    assert "1 record was skipped" in result.stderr


def test_tokenizers_side_by_side(run: Run, tok_path: str, other: str, folder: Path) -> None:
    result = run("evaluate", "-t", tok_path, "-t", other, folder)
    assert result.exit_code == 0
    each, _, beside = result.stdout.rpartition("\nSide by side\n")
    assert [path in each for path in (tok_path, other)] == [True, True]
    assert len(beside.splitlines()) == 4  # two lines of titles
    assert max(map(len, beside.splitlines())) <= 80
    options = ["--json", "--alpha", "3", "--threads", "1"]
    told = json.loads(run("evaluate", "-t", tok_path, "-t", other, folder, *options).stdout)[
        "tokenizers"
    ]
    assert [*told] == [tok_path, other]
    assert told[tok_path]["alpha"] == 3
    assert told[tok_path]["total"]["tokens"] < told[other]["total"]["tokens"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lines", "--reference", "en"], "give --by-file, or --name NAME=FILES"),
        (["lines", "--name", "a=lines"], "FILES are measured by name only with --by-file"),
        (["--by-file"], "--by-file needs files, and stdin is not a file"),
        (["-", "--by-file"], "--by-file needs files, and stdin is not a file"),
        (["--name", "lines"], "--name 'lines' is not NAME=FILES"),
        (["--name", "a=lines", "--name", "a=lines"], "--name 'a' is given twice"),
        (["lines", "--by-file", "--name", "en=lines"], "is also the name of a file"),
        (["lines", "--by-file", "--reference", "de"], "--reference de is not the name of a corpus"),
        (["lines", "--by-file", "--separator", " ", "--reference", "en"], "line by line"),
        (["lines", "--alpha", "-1"], "--alpha -1.0 is not an order"),
        (["-t", "OTHER"], "stdin can be read only once"),
        (["-t", "OTHER", "--name", "a=-"], "stdin can be read only once"),
    ],
)
def test_wrong_usage(
    run: Run,
    tok_path: str,
    other: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(folder.parent)
    given = [other if one == "OTHER" else one for one in arguments]
    result = run("evaluate", "-t", tok_path, *given, input="text")
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert message in " ".join(result.stderr.split())


def test_what_is_not_there(run: Run, tok_path: str, folder: Path) -> None:
    without = run("evaluate", folder)
    assert without.exit_code == 2
    assert "'--tokenizer'. Name a tokenizer with it, as in -t tokenizer.json." in without.stderr
    for missing in ([folder / "none.txt"], ["--name", f"a={folder}/none.txt"]):
        result = run("evaluate", "-t", tok_path, *missing)
        assert (result.exit_code, result.stdout) == (4, "")
        assert "none.txt: there is no such file or folder" in result.stderr
