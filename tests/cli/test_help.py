"""The help pages, word for word. After a change: python tests/cli/test_help.py, and read the diff.

Each page fits 80 columns and ends with an example.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from digram.cli import VERBS, cli, counts, grow
from digram.formats import ENCODINGS, vocab_txt
from digram.pretokenizers.pretokenizer import NAMED

PAGES = Path(__file__).parent / "help"
NAMES = ["digram", *VERBS, *(f"counts {verb}" for verb in counts.VERBS)]
NAMES += [f"grow {verb}" for verb in grow.VERBS]
# These take no tokenizer, so that nothing need be said of one.
ALONE = {
    "train",
    "train-fair",
    *(name for name in NAMES if name.split()[0] in ("counts", "grow")),
}


def page(name: str) -> str:
    """What `digram [VERB] --help` prints on a terminal of 80 columns."""
    arguments = ["--help"] if name == "digram" else [*name.split(), "--help"]
    result = CliRunner().invoke(cli, arguments, prog_name="digram", terminal_width=80)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", NAMES)
def test_help(name: str) -> None:
    assert page(name) == (PAGES / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_help_is_narrow_and_shows_an_example(name: str) -> None:
    lines = page(name).splitlines()
    assert not any("{" in line for line in lines), "a sentence that no one put in"
    assert max(map(len, lines)) <= 80
    example = lines.index("  Example:")
    assert "digram " in lines[example + 1]
    assert all(" digram " in line for line in lines[example + 1 :])


def test_names_are_those_of_the_errors() -> None:
    for verb in NAMES[1:]:
        if verb == "estimate-training":
            continue  # it has laws for some of them
        text = " ".join(page(verb).split()).replace("bert- ", "bert-")  # at the end of a line
        if verb in {"train", "train-fair", "counts make"} or verb not in ALONE:
            assert f"{', '.join(NAMED)} or none" in text
        if verb not in ALONE:
            *most, last = [*ENCODINGS, *vocab_txt.ENCODINGS]
            assert f"{', '.join(most)} or {last}" in text


def test_no_page_is_left_over() -> None:
    assert {path.stem for path in PAGES.iterdir()} == set(NAMES)


if __name__ == "__main__":
    for verb in NAMES:
        (PAGES / f"{verb}.txt").write_text(page(verb), encoding="utf-8")
