"""`-` beside files, and alone: every verb that takes a corpus cuts stdin as it cuts a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

import digram
from digram.cli import VERBS, cli, counts, grow

Run = Callable[..., Result]

TEXT = "the cat sat||on the mat||the other cats||there too||"
CUT = ("--separator", "||")
# Besides its options and `{}`, where FILES stand: what each verb wants. JSON is compared.
CORPUS_VERBS = {
    "train": "{} --vocab-size 270 --json -o {out}/tok.json",
    "train-fair": None,  # stdin has no languages
    "encode": "-t {tok} {}",
    "count": "-t {tok} --json {}",
    "chunks": "-t {tok} --max-length 3 --json {}",
    "show": "-t {tok} --json {}",
    "explain": "-t {tok} --json {}",
    "replay": "-t {tok} --json {}",
    "find-token": "-t {tok} --json a {}",
    "evaluate": "-t {tok} --json {}",
    "audit": "-t {tok} --json {}",
    "check-rules": "-t {tok} --rules {rules} --json {}",
    "compare": "-t {tok} --against {small} --json {}",
    "verify": "-t {tok} --against {small} --fuzz 0 --json {}",
    "report": None,  # it reads its texts several times
    "advise": "-t {tok} --json {}",
    "extend": "-t {tok} {} --add 9 -o {out}/more.json",
    "prune": "-t {tok} {} --remove 9 -o {out}/less.json",
    "estimate-training": "1GB --vocab-size 9000 --cores 1 --memory-limit 8GB --json --sample {}",
    "counts make": "{} --json -o {out}/counts.arrow",
    "grow add": "{out}/new {}",
    "grow forget": "{folder} {}",
    "grow drift": "{folder} {} --json",
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the verbs work on."""
    home = tmp_path_factory.mktemp("stdin")
    tok = digram.train(TEXT.replace("||", "\n") * 9, vocab_size=290)
    tok.save(home / "tok.json")
    digram.shrink(tok, 270).save(home / "small.json")
    digram.Rules(protect=["the cat"]).save(home / "rules.json")
    history = digram.VocabularyHistory().add(TEXT.split("||")[:-1]).next(vocab_size=270)
    history.save(home / "folder")
    return {
        "tok": str(home / "tok.json"),
        "small": str(home / "small.json"),
        "rules": str(home / "rules.json"),
        "folder": str(home / "folder"),
    }


def test_every_verb_that_cuts_is_here() -> None:
    names = [*VERBS, *(f"counts {verb}" for verb in counts.VERBS)]
    names += [f"grow {verb}" for verb in grow.VERBS]
    context = cli.make_context("digram", ["count"])

    def takes_a_separator(name: str) -> bool:
        found = cli
        for part in name.split():
            found = found.get_command(context, part)  # type: ignore[assignment]
        return any(option.name == "separator" for option in found.params)

    assert {*filter(takes_a_separator, names)} - {"grow", "counts"} == {*CORPUS_VERBS}


@pytest.mark.parametrize("verb", [verb for verb, line in CORPUS_VERBS.items() if line])
def test_a_separator_cuts_stdin_as_it_cuts_a_file(
    run: Run, places: dict[str, str], verb: str, tmp_path: Path
) -> None:
    """The same bytes from a file and from stdin, alone and beside a file."""
    file, other = f"{tmp_path}/a.txt", f"{tmp_path}/b.txt"
    for path in (file, other):
        Path(path).write_text(TEXT, encoding="utf-8")
    said = []
    for number, files in enumerate(([file], ["-"], [file, "-"], [file, other])):
        if number == 2 and verb in {"encode", "show", "explain", "replay", "estimate-training"}:
            break  # one at a time
        if verb == "grow forget" and number > 1:
            break
        out = tmp_path / f"out{number}"
        out.mkdir()
        folder = out / "folder"
        digram.VocabularyHistory.load(Path(places["folder"])).save(folder)
        line = CORPUS_VERBS[verb]
        assert line is not None
        words = [files if word == "{}" else [word] for word in line.split()]
        arguments = [
            one.format(**{**places, "out": str(out), "folder": str(folder)})
            for word in words
            for one in word
        ]
        found = run(*verb.split(), *arguments, *CUT, input=TEXT)
        if verb == "estimate-training":  # it has read the text, which is too short for what it asks
            assert "there is too little text" in found.output
        else:
            assert found.exit_code in (0, 1), found.output
        named = re.sub(r"in [\d.]+ s|\"(path|seconds|speed)\": [^,}]*|out\d", "", found.output)
        said.append(re.sub(rf"{re.escape(str(tmp_path))}/[ab].txt|stdin|\B-\B", "", named))
    assert said[0] == said[1]
    assert said[2:3] == said[3:4]


@pytest.mark.parametrize(
    "line",
    [
        "report -t {tok} --json -",
        "report -t {tok} --json --name en=-",
        "train-fair --language en=- --ratio en=1 --max-merges 9 -o t.json",
    ],
)
def test_verbs_that_cannot_take_stdin_say_so(run: Run, places: dict[str, str], line: str) -> None:
    refused = run(*line.format(**places).split(), input=TEXT)
    assert refused.exit_code == 2
    assert "stdin" in refused.stderr
    assert "name files." in refused.stderr
