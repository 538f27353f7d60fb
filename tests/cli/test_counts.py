"""`digram counts`: count once, bring together, look; and `digram train` on what it saved."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import Result

import digram
from digram import Counts
from digram.cli.counts.make import make

Run = Callable[..., Result]


@pytest.fixture
def corpus(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def counted(run: Run, corpus: Path, tmp_path: Path) -> Path:
    out = tmp_path / "counts.arrow"
    assert run("counts", "make", corpus, "-o", out, "-q").exit_code == 0
    return out


def test_it_counts_what_the_library_counts(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "counts.arrow"
    result = run("counts", "make", corpus, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "distinct, in 2.37 kB of 1 document, in " in result.stderr
    assert f"Saved {out}" in result.stderr
    assert Counts.load(out) == digram.count_pretokens(corpus)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--pretokenizer", "gpt2"], {"pretokenizer": "gpt2"}),
        (["--pretokenizer", "none"], {"pretokenizer": None}),
        (["--unit", "char"], {"unit": "char"}),
        (["--threads", "1"], {"threads": 1}),
        (
            ["--regex", "[a-z]+", "--digits", "individual"],
            {"pretokenizer": digram.Pretokenizer(digram.Regex("[a-z]+"), digits="individual")},
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options(
    run: Run, corpus: Path, tmp_path: Path, arguments: list[str], options: dict[str, object]
) -> None:
    out = tmp_path / "counts.parquet"
    result = run("counts", "make", corpus, "-o", out, *arguments)
    assert result.exit_code == 0, result.stderr
    assert Counts.load(out) == digram.count_pretokens(corpus, **options)  # type: ignore[arg-type]


def test_the_options_are_those_of_the_library() -> None:
    ours = {parameter.name for parameter in make.params}
    theirs = set(inspect.signature(digram.count_pretokens).parameters)
    renamed = {"corpus": "files", "progress": "quiet"}
    assert {renamed.get(name, name) for name in theirs - {"weights"}} <= ours


def test_stdin(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "counts.arrow"
    assert run("counts", "make", "-", "-o", out, input=corpus.read_bytes()).exit_code == 0
    assert Counts.load(out) == digram.count_pretokens(corpus)


def test_a_separator(run: Run, corpus: Path, tmp_path: Path) -> None:
    lines = digram.count_pretokens(digram.files(corpus, separator="\n"))
    assert lines != digram.count_pretokens(corpus)
    out = tmp_path / "counts.arrow"
    cut = ("--separator", r"\n", "-o", out)
    assert run("counts", "make", corpus, *cut).exit_code == 0
    assert Counts.load(out) == lines
    assert run("counts", "make", "-", *cut, input=corpus.read_bytes()).exit_code == 0
    assert Counts.load(out) == lines


def test_training_on_counts_is_training_on_text(
    run: Run, corpus: Path, counted: Path, tmp_path: Path
) -> None:
    """Recognised by what is in the file, whatever its name."""
    named = counted.rename(tmp_path / "counts.of.some.kind")
    for source, out in ((corpus, "text.json"), (named, "counts.json")):
        result = run("train", source, "--vocab-size", "300", "-o", tmp_path / out)
        assert result.exit_code == 0, result.stderr
    assert (tmp_path / "text.json").read_bytes() == (tmp_path / "counts.json").read_bytes()


def test_training_takes_pretokenizer_and_unit_of_the_counts(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    counts, out = tmp_path / "counts.arrow", tmp_path / "tok.json"
    digram.count_pretokens(corpus, pretokenizer="gpt2", unit="char").save(counts)
    fallback = ("--on-unknown", "bytes", "--max-merges", "9")
    assert run("train", counts, *fallback, "-o", out).exit_code == 0
    assert digram.load(out) == digram.train(
        corpus, pretokenizer="gpt2", unit="char", on_unknown="bytes", max_merges=9
    )
    result = run("train", counts, "--pretokenizer", "o200k", *fallback, "-o", out)
    assert result.exit_code == 3
    assert (
        "these counts were made with --pretokenizer gpt2, but training needs --pretokenizer o200k. "
        "Count again, or pass --pretokenizer gpt2."
    ) in result.stderr
    result = run("train", counts, "--unit", "byte", "--max-merges", "9", "-o", out)
    assert result.exit_code == 3
    assert "--unit char" in result.stderr


@pytest.mark.parametrize(
    ("told", "option"),
    [
        (["--separator", "x"], "--separator"),
        (["--field", "body"], "--field"),
        (["--source-format", "jsonl"], "--source-format"),
        (["--on-error", "skip"], "--on-error"),
    ],
)
def test_how_text_is_read_is_not_for_counts(
    run: Run, counted: Path, tmp_path: Path, told: list[str], option: str
) -> None:
    out = tmp_path / "tok.json"
    for verb in (["train", counted], ["train-fair", "--language", f"en={counted}"]):
        result = run(*verb, "--pretokenizer", "gpt2", "--max-merges", "9", "-o", out, *told)
        assert result.exit_code == 2
        assert f"{option} " in result.stderr
        assert "digram counts make" in result.stderr
        assert not out.exists()


def test_training_on_several_files_of_counts(
    run: Run, corpus: Path, counted: Path, tmp_path: Path
) -> None:
    out = tmp_path / "tok.json"
    assert run("train", counted, counted, "--max-merges", "9", "-o", out).exit_code == 0
    text = corpus.read_text(encoding="utf-8")
    assert digram.load(out) == digram.train([text, text], max_merges=9)
    mixed = run("train", counted, corpus, "--max-merges", "9", "-o", out)
    assert mixed.exit_code == 2
    assert "counts make" in mixed.stderr


def test_tables_that_are_no_counts_are_text(run: Run, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "texts.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": ["low", "lower"]}), path)
    result = run("train", path, "--max-merges", "9", "-o", tmp_path / "tok.json")
    assert result.exit_code == 0, result.stderr
    assert "from 8 B in 2 documents" in result.stderr


def test_merge(run: Run, corpus: Path, counted: Path, tmp_path: Path) -> None:
    other, out = tmp_path / "other.arrow", tmp_path / "merged.arrow"
    more = digram.count_pretokens("the dog and the dogs")
    more.save(other)
    counts = Counts.load(counted)
    result = run("counts", "merge", counted, other, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert Counts.load(out) == counts + more
    run("counts", "merge", counted, other, "-o", out, "--weights", "2, 1.5", "--min-count", "3")
    expected = (counts.scale(2) + more.scale(Fraction(3, 2))).filter(min_count=3)
    assert Counts.load(out) == expected
    run("counts", "merge", counted, other, "-o", out, "--without-first")
    assert not Counts.load(out).has_first
    one = out.read_bytes()
    run("counts", "merge", other, counted, "-o", out, "--without-first")
    assert out.read_bytes() == one


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("1,2", "2 numbers for 1 file."),
        ("x", "not a list of numbers"),
        ("0", "not a positive number"),
    ],
)
def test_weights_that_make_no_sense(
    run: Run, counted: Path, tmp_path: Path, weights: str, message: str
) -> None:
    result = run("counts", "merge", counted, "-o", tmp_path / "out.arrow", "--weights", weights)
    assert result.exit_code == 2
    assert message in result.stderr


def test_counts_made_otherwise_do_not_merge(run: Run, counted: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.arrow"
    digram.count_pretokens("the dog", pretokenizer="gpt2").save(other)
    result = run("counts", "merge", counted, other, "-o", tmp_path / "out.arrow")
    assert result.exit_code == 3
    assert "--pretokenizer gpt2" in result.stderr


def test_show(run: Run, counted: Path) -> None:
    result = run("counts", "show", counted, "-n", "3")
    assert (result.exit_code, result.stderr) == (0, "")
    counts = Counts.load(counted)
    lines = result.stdout.splitlines()
    assert lines[0] == f"{len(counts)} distinct pretokens"
    assert lines[1].split() == [
        "pretokens",
        f"{counts.pretokens:,}",
        f"({counts.bytes:,}",
        "bytes)",
    ]
    assert counts.fingerprint in result.stdout
    assert len(lines[lines.index("Most frequent") + 2 :]) == 3
    assert "[·the]" in result.stdout or "[ the]" in result.stdout
    shown = json.loads(run("counts", "show", counted, "--json", "-n", "2").stdout)
    assert shown["pretokens"] == counts.pretokens
    assert [(bytes.fromhex(row["hex"]), row["count"]) for row in shown["most_common"]] == (
        counts.most_common(2)
    )


def test_json(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "counts.arrow"
    made = json.loads(run("counts", "make", corpus, "-o", out, "--json", "-q").stdout)
    counts = Counts.load(out)
    assert made["path"] == str(out)
    assert made["fingerprint"] == counts.fingerprint
    assert (made["bytes"], made["distinct_pretokens"]) == (counts.bytes, len(counts))


def test_faults(run: Run, corpus: Path, counted: Path, tmp_path: Path) -> None:
    whole = counted.read_bytes()
    counted.write_bytes(whole[:-7])
    damaged = run("counts", "show", counted)
    assert damaged.exit_code == 3
    assert "counts.arrow" in damaged.stderr
    assert "truncated" in damaged.stderr
    assert run("counts", "show", tmp_path / "none.arrow").exit_code == 4
    assert run("counts", "make", corpus, "-o", tmp_path / "none" / "x.arrow").exit_code == 4
    assert run("counts", "make", corpus, "-o", corpus).exit_code == 2
    slip = run("counts", "mrege", counted)
    assert slip.exit_code == 2
    assert "Did you mean 'merge'?" in slip.stderr
    (tmp_path / "texts.jsonl").write_text("{}", encoding="utf-8")
    packed = run("counts", "make", tmp_path / "texts.jsonl", "-o", counted)
    assert packed.exit_code == 3
    assert "Pass --on-error skip to skip and count" in packed.stderr


def test_counts_do_not_go_to_stdout(run: Run, corpus: Path, counted: Path) -> None:
    for verb in (["make", corpus], ["merge", counted, counted]):
        result = run("counts", *verb, "-o", "-")
        assert (result.exit_code, result.stdout) == (2, "")
        assert "-o - means stdout, but counts are written to a file; ./- is a path" in result.stderr
        assert not Path("-").exists()
