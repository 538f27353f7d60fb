"""`digram advise`: a curve and a recommendation, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram

Run = Callable[..., Result]


@pytest.fixture
def corpus(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_curve_and_advice(
    run: Run, tok: digram.Tokenizer, tok_path: str, corpus: Path, text: str
) -> None:
    options = ["--sizes", "270,290", "--width", "64", "--parameters", "2M"]
    result = run("advise", "-t", tok_path, corpus, *options)
    curve = digram.curve(tok, corpus, sizes=[270, 290], width=64)
    advice = digram.advise(curve, parameters="2M", width=64)
    assert (result.exit_code, result.stdout) == (0, f"{advice}\n\n{curve}\n"), result.stderr
    told = json.loads(run("advise", "-t", tok_path, corpus, *options, "--json").stdout)
    assert told == {"curve": curve.to_dict(), "advice": advice.to_dict()}
    assert run("advise", "-t", tok_path, *options, input=text).stdout == result.stdout


def test_documents(run: Run, tok: digram.Tokenizer, tok_path: str, corpus: Path) -> None:
    options = ["--separator", r"\n", "--threads", "1", "--json"]
    told = json.loads(run("advise", "-t", tok_path, corpus, *options).stdout)
    assert told["curve"] == digram.curve(tok, digram.files(corpus, separator="\n")).to_dict()
    assert told["curve"]["documents"] == 41
    assert [*told["advice"]] == ["small", "base", "large", "multilingual"]


def test_without_a_tokenizer(run: Run) -> None:
    result = run("advise", "--parameters", "70B", "--multilingual")
    expected = digram.advise(parameters="70B", multilingual=True)
    assert (result.exit_code, result.stdout) == (0, f"{expected}\n")
    assert json.loads(run("advise", "--json").stdout)["curve"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["FILE"], "FILES are measured with a tokenizer: give one with -t"),
        (["--sizes", "300"], "FILES are measured with a tokenizer: give one with -t"),
        (["--sizes", "many"], "'many' is not a list of sizes, as in 8000,16000,32000"),
        (["--parameters", "big"], "--parameters big is not a number of parameters"),
        (["--multilingual"], "--multilingual needs --parameters, which is not given"),
        (["-t", "TOK", "FILE", "--sizes", "9999"], "--vocab-size 9999 is more than the size 300"),
    ],
)
def test_wrong_usage(
    run: Run, tok_path: str, corpus: Path, arguments: list[str], message: str
) -> None:
    given = [{"TOK": tok_path, "FILE": str(corpus)}.get(one, one) for one in arguments]
    result = run("advise", *given)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert message in " ".join(result.stderr.split())
