"""`digram compare`: two tokenizers on texts, as tables and as JSON."""

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
    """Texts of two languages."""
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "en.txt").write_text(EN, encoding="utf-8")
    (folder / "xx.txt").write_text(XX, encoding="utf-8")
    return folder


@pytest.fixture
def small(tok: digram.Tokenizer, tmp_path: Path) -> Path:
    """A second tokenizer, in a file that does not say how text is cut."""
    path = tmp_path / "small.tiktoken"
    digram.shrink(tok, 270).save(path, allow_loss=True)
    return path


SMALL = ["--pretokenizer", "o200k"]


@pytest.fixture
def other(small: Path) -> digram.Tokenizer:
    return digram.load(small, pretokenizer="o200k")


def test_files(
    run: Run,
    tok: digram.Tokenizer,
    tok_path: str,
    small: Path,
    other: digram.Tokenizer,
    folder: Path,
) -> None:
    result = run("compare", "-t", tok_path, "--against", small, folder, *SMALL, "--top", "3")
    expected = digram.compare(tok, other, folder, names=("tokenizer", "small"), top=3)
    assert (result.exit_code, result.stdout) == (0, f"{expected}\n"), result.stderr
    told = json.loads(
        run("compare", "-t", small, "--against", tok_path, folder, *SMALL, "--json").stdout
    )
    assert told == digram.compare(other, tok, folder, names=(str(small), tok_path)).to_dict()


def test_stdin(
    run: Run, tok: digram.Tokenizer, tok_path: str, small: Path, other: digram.Tokenizer
) -> None:
    piped = run("compare", "-t", tok_path, "--against", small, *SMALL, input=EN)
    assert piped.stdout == f"{digram.compare(tok, other, EN, names=('tokenizer', 'small'))}\n"
    assert (
        run("compare", "-t", tok_path, "--against", small, "-", *SMALL, input=EN).stdout
        == piped.stdout
    )


def test_sources_by_name(
    run: Run,
    tok: digram.Tokenizer,
    tok_path: str,
    small: Path,
    other: digram.Tokenizer,
    folder: Path,
) -> None:
    options = [*SMALL, "--separator", r"\n", "--threads", "1", "--json"]
    names = ["--name", f"English={folder}/en.*"]
    told = json.loads(
        run(
            "compare", "-t", tok_path, "--against", small, folder, *options, "--by-file", *names
        ).stdout
    )
    en, xx = (digram.files(folder / f"{name}.txt", separator="\n") for name in ("en", "xx"))
    sources = {"English": en, "en": en, "xx": xx}
    expected = digram.compare(tok, other, sources, names=(tok_path, str(small)))
    assert told == expected.to_dict()
    assert [*told["by_name"]] == ["English", "en", "xx"]


def test_files_of_the_same_name_are_told_apart(
    run: Run, tok: digram.Tokenizer, tmp_path: Path
) -> None:
    paths = [tmp_path / run_ / "tokenizer.json" for run_ in ("first", "second")]
    for path in paths:
        path.parent.mkdir()
        tok.save(path)
    found = run("compare", "-t", paths[0], "--against", paths[1], input=EN).stdout.splitlines()
    assert found[0].split() == ["bytes", "first", "second", "change", "alike"]
    found = run("compare", "-t", paths[0], "--against", paths[0], input=EN).stdout.splitlines()
    assert found[1].split()[-2:] == ["+0.0%", "100.0%"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-t", "TOK"], 2, "Name the other tokenizer with --against, as in -t old.json --against"),
        (["-t", "TOK", "-t", "TOK", "--against", "TOK"], 2, "-t is given 2 times. Name the other"),
        (["a.json", "b.json"], 2, "Name a tokenizer with it, as in -t tokenizer.json."),
        (
            ["-t", "TOK", "--against", "TOK", "lines", "--name", "a=lines"],
            2,
            "FILES are measured by name only with --by-file",
        ),
        (
            ["-t", "TOK", "--against", "TOK", "--by-file"],
            2,
            "--by-file needs files, and stdin is not a file",
        ),
        (["-t", "TOK", "--against", "TOK", "--top", "-1"], 2, "--top -1 is not at least 0"),
        (["-t", "TOK", "--against", "SMALL"], 2, "--pretokenizer"),
        (["-t", "TOK", "--against", "none.json"], 4, "none.json"),
        (["-t", "TOK", "--against", "none.json", "--encoding", "cl100k_base"], 4, "none.json"),
        (
            ["-t", "TOK", "--against", "TOK", "none.txt"],
            4,
            "none.txt: there is no such file or folder",
        ),
    ],
)
def test_wrong_usage(
    run: Run, tok_path: str, small: Path, arguments: list[str], code: int, message: str
) -> None:
    given = [{"TOK": tok_path, "SMALL": str(small)}.get(one, one) for one in arguments]
    result = run("compare", *given, input="text")
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert message in " ".join(result.stderr.split())
