"""`digram estimate-training`: the library's estimate, as a page or as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

import digram

Run = Callable[..., Result]
MACHINE = ("--memory-limit", "64GB", "--cores", "16")


def test_it_says_what_the_library_says(run: Run) -> None:
    result = run("estimate-training", "1 TB", "--vocab-size", "64000", *MACHINE)
    expected = digram.estimate_training("1 TB", 64_000, memory_limit="64 GB", cores=16)
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{expected}\n", "")


def test_json_and_every_option(run: Run) -> None:
    kinds = ("--kind", "english=0.8", "--kind", "code=0.2")
    more = ("--pretokenizer", "gpt2", "--machines", "3", "--speed", "2", "--json")
    result = run("estimate-training", "10GiB", "--vocab-size", "64000", *MACHINE, *kinds, *more)
    expected = digram.estimate_training(
        "10 GiB",
        64_000,
        memory_limit="64 GB",
        cores=16,
        kind={"english": 0.8, "code": 0.2},
        pretokenizer="gpt2",
        machines=3,
        speed=2.0,
    )
    assert json.loads(result.stdout) == expected.to_dict()


def test_a_sample(run: Run, tmp_path: Path) -> None:
    texts = [f"{i} and {i * i}" for i in range(9000)]
    path = tmp_path / "sample.txt"
    path.write_text("\n".join(texts), encoding="utf-8")
    options = ("--sample", path, "--separator", r"\n", "--pretokenizer", "none", "--json")
    result = run("estimate-training", "1GB", "--vocab-size", "64000", *MACHINE, *options)
    expected = digram.estimate_training(
        "1 GB", 64_000, memory_limit="64 GB", cores=16, sample=texts, pretokenizer=None
    )
    assert json.loads(result.stdout) == expected.to_dict()


def test_mistakes(run: Run) -> None:
    for arguments, problem in (
        (["a lot", "--vocab-size", "9"], "SIZE 'a lot' is not a size"),
        (["1GB", "--vocab-size", "9", "--kind", "code=x"], "not a kind and its share"),
        (["1GB", "--vocab-size", "9", "--kind", "poems"], "Kinds: english, code, multilingual"),
        (["1GB", "--vocab-size", "0"], "--vocab-size 0 is not at least 1"),
        (["1GB"], "--vocab-size"),
    ):
        result = run("estimate-training", *arguments)
        assert result.exit_code == 2, result.stderr
        assert problem in result.stderr
