"""What holds for all verbs: one way to name tokenizers, destinations, formats, texts and sizes."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import Result

import digram
from digram.cli import VERBS, _options, _verbs, cli, counts, grow
from digram.formats import FORMATS

Run = Callable[..., Result]

# Text or ids go to stdout, and no other output describes them.
DATA = {"decode", "truncate"}
# It prints an address, and then serves.
SERVES = {"serve"}


def every_verb() -> Iterator[tuple[str, click.Command]]:
    """All verbs, those in groups by both names."""
    context = cli.make_context("digram", ["count"])
    for name in VERBS:
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            group = {"counts": counts.VERBS, "grow": grow.VERBS}[name]
            for inner in group:
                found = command.get_command(context, inner)
                assert found is not None
                yield f"{name} {inner}", found
        else:
            yield name, command


ALL = dict(every_verb())


def test_a_module_is_a_verb_or_private() -> None:
    """Modules that verbs share have a leading underscore, so that the others are all verbs."""
    folder = Path(inspect.getfile(_options)).parent
    for package, verbs in (
        (folder, VERBS),
        (folder / "counts", counts.VERBS),
        (folder / "grow", grow.VERBS),
    ):
        modules = {path.stem for path in package.iterdir() if not path.name.startswith("_")}
        assert modules == {module for module, _ in verbs.values()}


def options(verb: click.Command) -> dict[str, click.Option]:
    return {
        spelled: option
        for option in verb.params
        if isinstance(option, click.Option)
        for spelled in option.opts
    }


@pytest.mark.parametrize("name", ALL)
def test_a_tokenizer_is_named_with_t_and_a_destination_with_o(name: str) -> None:
    found = options(ALL[name])
    assert ("-t" in found) == ("--tokenizer" in found)
    assert ("-o" in found) == ("--output" in found)
    assert "--to" not in found
    arguments = [one.metavar for one in ALL[name].params if isinstance(one, click.Argument)]
    allowed = {"FILES...", "[FILES]...", "[FILE]", "FILE", "FOLDER", "TOKEN", "SIZE"}
    assert {*arguments} <= allowed
    without = {"train", "train-fair", "estimate-training"}
    assert ("-t" in found) != (name in without or name.startswith(("grow", "counts"))) or (
        name == "grow add"
    )


@pytest.mark.parametrize("name", ALL)
def test_every_verb_that_tells_facts_tells_them_in_json(name: str) -> None:
    assert ("--json" in options(ALL[name])) == (name not in DATA | SERVES)


@pytest.mark.parametrize("name", ALL)
def test_a_tokenizer_is_saved_in_a_format(name: str) -> None:
    found = options(ALL[name])
    saves = "-o" in found and not name.startswith("counts") and name not in {"encode", "report"}
    if saves:
        kind = found["--format"].type
        assert isinstance(kind, click.Choice)
        assert [*kind.choices] == [*FORMATS]
        assert "--allow-loss" in found


SIZES = {
    "--vocab-size", "--add", "--remove", "--swap", "--max-merges", "--min-frequency",
    "--global-merges", "--limit-alphabet", "--shard-tokens", "--max-length", "--overlap",
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_sizes_are_taken_in_one_way(name: str) -> None:
    for spelled, option in options(ALL[name]).items():
        if spelled in SIZES:
            assert option.type is _options.NUMBER, spelled


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("32000", 32000), ("32_000", 32000), ("32k", 32000), ("32K", 32000), ("0.3k", 300),
        ("1.5M", 1_500_000), ("7B", 7_000_000_000), ("-1", -1), ("007", 7),
    ],
)  # fmt: skip
def test_a_size_may_end_in_a_letter(typed: str, number: int) -> None:
    assert _options.NUMBER.convert(typed, None, None) == number


@pytest.mark.parametrize(
    "typed", ["", "k", "1.5", "32 k", "32kB", "0x20", "1e3", "٣", "1__0", "k1", "1.2345k", "nan"]
)
def test_what_is_no_size(typed: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a whole number, as in 32000, 32k or"):
        _options.NUMBER.convert(typed, None, None)


def test_sizes_on_a_command_line(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    out = tmp_path / "t.json"
    learned = run(
        "train", tmp_path / "a.txt", "--vocab-size", "0.3k", "--reserve", "x=0.01k", "-o", out
    )
    assert learned.exit_code == 0, learned.output
    assert digram.load(out).vocab_size == 300
    assert run("shrink", "-t", out, "--vocab-size", ".3k", "-o", "-").exit_code == 2
    small = run("shrink", "-t", out, "--vocab-size", "0.27k", "-o", tmp_path / "s.json")
    assert small.exit_code == 0, small.output
    cut = run("advise", "-t", out, "--sizes", "0.27k,0.28k", "--json", tmp_path / "a.txt")
    sizes = [row["vocab_size"] for row in json.loads(cut.stdout)["curve"]["points"]]
    assert sizes[:2] == [270, 280]


@pytest.mark.parametrize("verb", ["show", "explain", "replay"])
def test_a_text_is_a_file_or_comes_behind_text(
    run: Run, tok_path: str, tmp_path: Path, verb: str
) -> None:
    path = tmp_path / "p.txt"
    path.write_text("the cat")
    asked = (verb, "-t", tok_path)
    typed = run(*asked, "--text", "the cat")
    assert typed.exit_code == 0
    assert run(*asked, path).stdout == typed.stdout
    assert run(*asked, input="the cat").stdout == typed.stdout
    assert run(*asked, "-", input="the cat").stdout == typed.stdout
    missing = run(*asked, "the cat")
    assert (missing.exit_code, missing.stdout) == (4, "")
    assert "the cat: there is no such file or folder. To use the argument itself as text, pass" in (
        missing.stderr
    )
    assert "give a FILE or --text, not both." in run(*asked, path, "--text", "a").stderr
    told = run(*asked, "--text", "a", "--separator", "x")
    assert "have no effect with --text" in told.stderr
    (tmp_path / "p.csv").write_text("text\nthe cat\n")
    assert run(*asked, tmp_path / "p.csv").stdout == typed.stdout
    assert run(*asked, tmp_path / "p.csv", "--source-format", "text").exit_code == 0


def test_the_folder_of_an_output_is_there_before_any_work(run: Run, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "none" / "t.json")
    corpus = tmp_path / "a.txt"
    corpus.write_text("low lower lowest")
    for out in (tmp_path / "none" / "t.json", link):
        told = run("train", corpus, "--max-merges", "2", "-o", out)
        assert (told.exit_code, told.stdout) == (4, "")
        assert told.stderr == f"Error: {tmp_path / 'none'}: there is no such folder.\n"


def test_facts_of_what_was_saved(
    run: Run, tok: digram.Tokenizer, tok_path: str, tmp_path: Path
) -> None:
    corpus = tmp_path / "a.txt"
    corpus.write_text("the cats and other mats\n" * 9)
    verbs: dict[str, list[str | Path]] = {
        "extend": ["--add", "5", corpus],
        "prune": ["--remove", "5", corpus],
        "shrink": ["--vocab-size", "280"],
        "convert": ["--allow-loss"],
    }
    for verb, more in verbs.items():
        out = tmp_path / f"{verb}.json"
        done = run(verb, "-t", tok_path, *more, "-o", out, "--json", "-q")
        assert (done.exit_code, done.stderr) == (0, ""), done.output
        told = json.loads(done.stdout)
        after = digram.load(out)
        expected = {
            "path": str(out),
            "vocab_size": after.vocab_size,
            "tokens": len(after),
            "merges": len(after.merges),
            "digest": after.digest,
        }
        if verb in ("extend", "prune"):
            change = digram.Change.of(tok, after)
            expected |= {"added": len(change.added), "removed": len(change.removed)}
        assert told == expected
        refused = run(verb, "-t", tok_path, *more, "-o", "-", "--json")
        assert refused.exit_code == 2
        assert "-o - and --json both write to stdout; give one of them." in refused.stderr


def test_facts_of_a_vocabulary_that_grows(run: Run, tmp_path: Path) -> None:
    corpus, folder = tmp_path / "a.txt", tmp_path / "v"
    corpus.write_text("the cats and other mats\n" * 9)

    def told(*arguments: object) -> dict[str, object]:
        done = run("grow", *arguments, "--json", "-q")
        assert (done.exit_code, done.stderr) == (0, ""), done.output
        found: dict[str, object] = json.loads(done.stdout)
        return found

    begun = told("add", folder, corpus, "--name", "old")
    assert begun["began"] is True
    assert begun["folder"] == str(folder)
    assert told("add", folder, corpus)["began"] is False
    first = told("next", folder, "--vocab-size", "0.26k")
    assert (first["version"], first["path"], first["vocab_size"]) == (1, None, 260)
    second = told("next", folder, "--add", "3", "-o", tmp_path / "t.json")
    assert (second["version"], second["added"]) == (2, 3)
    assert second["digest"] == digram.load(tmp_path / "t.json").digest
    saved = told("save", folder, "-o", tmp_path / "one.json", "--number", "1")
    assert (saved["version"], saved["digest"]) == (1, first["digest"])
    assert told("forget", folder, "--name", "old")["folder"] == str(folder)
    assert run("grow", "next", folder, "--add", "1", "--format", "tiktoken").exit_code == 2


@pytest.mark.parametrize("name", ALL)
def test_an_option_with_one_value_is_given_once(name: str) -> None:
    assert isinstance(ALL[name], _verbs.Verb)  # which refuses a second one


def test_a_second_value_is_refused(run: Run, tok_path: str, text: str) -> None:
    for typed, option, times in [
        (["show", "--text", "a", "--text", "b", "-t", tok_path], "--text", 2),
        (["show", "--text", "a", "-t", tok_path, "-t", tok_path], "--tokenizer", 2),
        (["chunks", "-t", tok_path, *["-n1"] * 3], "--max-length", 3),
        (["counts", "make", "-o", "a", "-oa", "a.txt"], "--output", 2),
    ]:
        result = run(*typed, input=text)
        assert result.exit_code == 2
        told = f"{option} is given {times} times, but it takes one value; give it once."
        assert told in result.stderr
    flags = run("show", "--text", "a", "-t", tok_path, "--no-color", "--color", "--no-color")
    assert flags.exit_code == 0
    assert run("show", "--text", "a", "--text", "b", "-t", tok_path, "--help").exit_code == 0


@pytest.mark.parametrize("name", ALL)
def test_a_missing_option_is_shown_as_it_is_typed(run: Run, name: str) -> None:
    needed = {option for option in options(ALL[name]).values() if option.required}
    for option in needed:
        given = [part for other in needed - {option} for part in (other.opts[0], "1")]
        result = run(*name.split(), "a", *given)
        assert result.exit_code == 2
        short = "' / '".join(option.opts)
        shown = "|".join(option.opts)
        assert re.search(
            rf"Missing option '{short}'\. [A-Z].*, as in .*(?:{shown}) \S+", result.stderr
        ), result.stderr
