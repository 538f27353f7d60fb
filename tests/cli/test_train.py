"""`digram train`: every option reaches `train`, and what is saved is what was learned."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

import digram
from digram import pretokenizers
from digram.cli.train import train

Run = Callable[..., Result]


@pytest.fixture
def corpus(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_learns_what_the_library_learns(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tok.json"
    result = run("train", corpus, "--vocab-size", "300", "--special-token", "<|end|>", "-o", out)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "Learned 43 merges, 300 tokens in all, from 2.37 kB in 1 document" in result.stderr
    assert "the vocabulary has the requested size" in result.stderr
    assert result.stderr.endswith(f"Saved {out}\n")
    assert digram.load(out) == digram.train(corpus, vocab_size=300, special_tokens=["<|end|>"])


def test_options_without_a_use_are_refused(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tok.json"
    for unused, remedy in (
        (["--alphabet", "ab"], "Leave out --alphabet, or pass --unit char."),
        (["--on-unknown", "bytes"], "Leave out --on-unknown, or pass --unit char."),
        (["--unit", "char", "--byte-order", "gpt2"], "Leave out --byte-order, or --unit char."),
        (["--unit", "char", "--alphabet", "ab"], "Add them to --alphabet, or pass --on-unknown"),
    ):
        result = run("train", corpus, "--max-merges", "9", "-o", out, "--allow-loss", *unused)
        assert result.exit_code != 0
        assert remedy in result.stderr, result.stderr
        assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--max-merges", "9"], {"max_merges": 9}),
        (["--min-frequency", "30"], {"min_frequency": 30}),
        (
            ["--max-merges", "50", "--max-token-length", "3"],
            {"max_merges": 50, "max_token_length": 3},
        ),
        (["--max-merges", "9", "--whole-characters"], {"max_merges": 9, "whole_characters": True}),
        (["--vocab-size", "280", "--picky", "0.6"], {"vocab_size": 280, "picky": 0.6}),
        (["--max-merges", "9", "--ties", "first_seen"], {"max_merges": 9, "ties": "first_seen"}),
        (
            ["--max-merges", "9", "--reserve", "image=8", "--reserve", "audio=2"],
            {"max_merges": 9, "reserve": {"image": 8, "audio": 2}},
        ),
        (
            ["--max-merges", "9", "--pad-to-multiple", "64"],
            {"max_merges": 9, "pad_to_multiple": 64},
        ),
        (["--max-merges", "9", "--runners-up", "2"], {"max_merges": 9, "runners_up": 2}),
        (
            [
                "--max-merges",
                "9",
                "--unit",
                "char",
                "--on-unknown",
                "bytes",
                "--limit-alphabet",
                "5",
            ],
            {"max_merges": 9, "unit": "char", "on_unknown": "bytes", "limit_alphabet": 5},
        ),
        (["--max-merges", "9", "--byte-order", "gpt2"], {"max_merges": 9, "byte_order": "gpt2"}),
        (["--max-merges", "9", "--pretokenizer", "none"], {"max_merges": 9, "pretokenizer": None}),
        (
            ["--max-merges", "9", "--pretokenizer", "gpt2"],
            {"max_merges": 9, "pretokenizer": "gpt2"},
        ),
        (["--max-merges", "9", "--threads", "1"], {"max_merges": 9, "threads": 1}),
        (
            ["--max-merges", "9", "--special-token", "<a>", "--special-token", "<b>"],
            {"max_merges": 9, "special_tokens": ["<a>", "<b>"]},
        ),
        (
            ["--max-merges", "9", "--special-token", "<a>", "--special-first"],
            {"max_merges": 9, "special_tokens": ["<a>"], "special_first": True},
        ),
        (
            ["--max-merges", "9", "--regex", "[a-z]+", "--digits", "individual"],
            {
                "max_merges": 9,
                "pretokenizer": digram.Pretokenizer(digram.Regex("[a-z]+"), digits="individual"),
            },
        ),
        (
            ["--max-merges", "9", "--digits", "threes_from_right"],
            {
                "max_merges": 9,
                "pretokenizer": digram.Pretokenizer("o200k", digits="threes_from_right"),
            },
        ),
        (
            ["--max-merges", "9", "--unit", "char", "--on-unknown", "bytes"],
            {"max_merges": 9, "unit": "char", "on_unknown": "bytes"},
        ),
        (
            ["--max-merges", "9", "--unit", "char", "--on-unknown", "<unk>"],
            {"max_merges": 9, "unit": "char", "on_unknown": digram.SpecialToken("<unk>")},
        ),
        (
            [
                "--max-merges",
                "9",
                "--unit",
                "char",
                "--on-unknown",
                "bytes",
                "--alphabet",
                "catshe ",
            ],
            {"max_merges": 9, "unit": "char", "on_unknown": "bytes", "alphabet": "catshe "},
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options(
    run: Run, corpus: Path, tmp_path: Path, arguments: list[str], options: dict[str, object]
) -> None:
    out = tmp_path / "tok.json"
    result = run("train", corpus, "-o", out, *arguments)
    assert result.exit_code == 0, result.stderr
    saved, expected = digram.load(out), digram.train(corpus, **options)  # type: ignore[arg-type]
    assert saved == expected
    assert saved.training == expected.training


@pytest.mark.parametrize(
    ("blocks", "problem"),
    [
        (["image"], "'image' is not a name and a number"),
        (["=5"], "'=5' is not a name and a number"),
        (["image=-5"], "'image=-5' is not a name and a number"),
        (["image=5", "image=6"], "the block 'image' is given twice"),
    ],
)
def test_blocks_that_are_none(
    run: Run, corpus: Path, tmp_path: Path, blocks: list[str], problem: str
) -> None:
    options = [word for block in blocks for word in ("--reserve", block)]
    result = run("train", corpus, "--vocab-size", "300", *options, "-o", tmp_path / "tok.json")
    assert result.exit_code == 2
    assert problem in result.stderr


def test_the_options_are_those_of_the_library() -> None:
    ours = {parameter.name: parameter for parameter in train.params}
    theirs = inspect.signature(digram.train).parameters
    renamed = {"corpus": "files", "progress": "quiet"}
    for name, parameter in theirs.items():
        if name in {"on_merge", "weights"}:
            continue  # a callback has no spelling in a shell; `counts merge` weighs files
        option = ours[renamed.get(name, name)]
        if isinstance(parameter.default, str | bool) and name != "pretokenizer":
            assert option.get_default(click.Context(train)) == parameter.default
    # As the help page says; None in the library, where counts may say otherwise.
    assert digram.train("", max_merges=1).pretokenizer.name == "o200k"
    assert digram.train("", max_merges=1).unit == ours["unit"].get_default(click.Context(train))


def test_folders_patterns_and_stdin(run: Run, tmp_path: Path) -> None:
    for name in ("a.txt", "sub/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}\n\nmore of it", encoding="utf-8")
    texts = [(tmp_path / name).read_bytes() for name in ("a.txt", "sub/b.txt")]
    expected = digram.train(texts, max_merges=5)

    def learned(*arguments: str | Path, **options: bytes) -> digram.Tokenizer:
        out = tmp_path.parent / "out.json"
        result = run("train", *arguments, "--max-merges", "5", "-o", out, **options)
        assert result.exit_code == 0, result.stderr
        return digram.load(out)

    assert learned(tmp_path) == learned(tmp_path / "**/*.txt") == expected
    assert learned("-", tmp_path / "sub", input=texts[0]) == expected
    assert learned("-", input=b"\n\n".join(texts)) == digram.train(
        b"\n\n".join(texts), max_merges=5
    )
    files = digram.files(tmp_path, separator="\n\n")
    cut = learned(tmp_path, "--separator", r"\n\n")
    mixed = learned("-", tmp_path / "sub", "--separator", r"\n\n", input=texts[0])
    assert cut == mixed == digram.train(files, max_merges=5)
    assert cut.training is not None
    assert mixed.training is not None
    assert cut.training.documents == mixed.training.documents == 4


def test_json_stdout_and_quiet(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tok.json"
    result = run("train", corpus, "--max-merges", "5", "-o", out, "-q", "--json")
    assert result.stderr == ""
    summary = json.loads(result.stdout)
    assert summary["merges"] == 5
    assert summary["stop_reason"] == "max_merges"
    assert summary["digest"] == digram.load(out).digest
    piped = run("train", corpus, "--max-merges", "5", "-o", "-")
    assert piped.stdout_bytes == out.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{corpus}", "-o", "t.json"], 2, "give a limit"),
        (
            ["{corpus}", "--vocab-size", "many", "-o", "t.json"],
            2,
            "'many' is not a whole number, as in",
        ),
        (
            ["{corpus}", "--superwords", "two-stage", "--subwords", "abc", "-o", "t.json"],
            2,
            "'abc' is neither a size nor a share, such as 20000 or 0.9.",
        ),
        (["{corpus}", "--vocab-size", "256", "-o", "t.json"], 2, "no room for a merge"),
        (["{corpus}", "--min-frequency", "1", "-o", "t.json"], 2, "at least 2"),
        (["{corpus}", "--max-merges", "5", "-o", "tokenizer"], 2, "tokenizer: "),
        (["{corpus}", "--max-merges", "5", "--unit", "char", "-o", "t.json"], 3, "silently"),
        (["{corpus}", "--max-merges", "5", "--format", "seed_pair", "-o", "t"], 3, "cannot store"),
        (["{corpus}", "--max-merges", "5", "-o", "-", "--json"], 2, "both write to stdout"),
        (["{corpus}", "--max-merges", "5", "-o", "none/t.json"], 4, "no such folder"),
        (["{corpus}", "--max-merges", "5", "--pretokenizer", "gtp2", "-o", "t.json"], 2, "'gpt2'"),
        (["{corpus}", "--max-merges", "5", "--regex", "(", "-o", "t.json"], 2, "pattern"),
        (
            [
                "{corpus}",
                "--max-merges",
                "5",
                "--regex",
                "a",
                "--pretokenizer",
                "gpt2",
                "-o",
                "t.json",
            ],
            2,
            "exclude each other",
        ),
        (["none.txt", "--max-merges", "5", "-o", "t.json"], 4, "none.txt: there is no such file"),
        (["*.none", "--max-merges", "5", "-o", "t.json"], 4, "no file matches"),
        (["{corpus}.gz", "--max-merges", "5", "-o", "t.json"], 3, "ends early, at byte 2."),
        (
            ["{bad}", "--max-merges", "5", "--unit", "char", "--allow-loss", "-o", "t.json"],
            3,
            "is not UTF-8",
        ),
    ],
)
def test_faults(
    *,
    run: Run,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "bad.txt").write_bytes(b"a\xffb")
    result = run("train", *(a.format(corpus=corpus, bad="bad.txt") for a in arguments))
    assert (result.exit_code, result.stdout) == (code, ""), result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "t.json").exists()


def test_what_an_earlier_run_learned_is_told(run: Run, corpus: Path, tmp_path: Path) -> None:
    asked = ["train", corpus, "-o", tmp_path / "t.json", "--checkpoint", tmp_path / "run"]
    first = run(*asked, "--max-merges", "9", "--json")
    assert "Learned 9 merges, 265 tokens in all" in first.stderr
    assert json.loads(first.stdout)["went_on_from"] == 0
    second = run(*asked, "--max-merges", "20", "--json")
    assert "Learned 20 merges, 9 of them in an earlier run, 276 tokens in all" in second.stderr
    assert json.loads(second.stdout)["went_on_from"] == 9
    smaller = run(*asked, "--max-merges", "2", "--json", "--quiet")
    assert (smaller.stderr, json.loads(smaller.stdout)["went_on_from"]) == ("", 2)


def test_another_checkpoint_is_refused_in_the_words_of_the_shell(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    asked = ["train", corpus, "--max-merges", "9", "-o", tmp_path / "t.json", "--checkpoint"]
    assert run(*asked, tmp_path / "run").exit_code == 0
    other = run(*asked, tmp_path / "run", "--ties", "first_seen", "--min-frequency", "2")
    assert other.exit_code == 3
    assert other.stderr == (
        f"Error: {tmp_path / 'run'}: the folder belongs to a run with --ties ids and no "
        "--min-frequency, but this call has --ties first_seen and --min-frequency 2. Pass the "
        "options of that run to resume it, or another folder to start a new run.\n"
    )
    cut = run(*asked, tmp_path / "run", "--regex", "[a-z]+", "--digits", "individual")
    assert "this call has --regex '[a-z]+' with --digits individual." in cut.stderr
    file = run(*asked, corpus)
    assert file.exit_code == 4
    assert f"{corpus}: a checkpoint is a folder, and this is not one; name a folder" in file.stderr


def test_a_fault_leaves_the_old_file(run: Run, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "tok.json"
    out.write_bytes(b"old")
    assert run("train", corpus, "--vocab-size", "9", "-o", out).exit_code == 2
    assert out.read_bytes() == b"old"


def test_it_does_not_learn_from_what_it_saved(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("low lower lowest")
    out = tmp_path / "tok.json"
    command = [sys.executable, "-m", "digram", "train", str(tmp_path), "--vocab-size", "5000"]
    first = subprocess.run([*command, "-o", str(out)], capture_output=True, text=True, check=True)
    assert "short of the requested 5,000 tokens" in first.stderr
    second = subprocess.run([*command, "-o", str(out)], capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert "one of the files to learn from" in second.stderr


def test_nor_beside_stdin(run: Run, corpus: Path) -> None:
    saved = corpus.rename(corpus.with_suffix(".json"))
    again = run("train", "-", saved, "--max-merges", "5", "-o", saved, input=b"text")
    assert again.exit_code == 2
    assert "one of the files to learn from" in again.stderr


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\0b", "it contains NUL bytes"),
        (bytes(range(128, 256)) * 9 + b"text", "of its first 1,156 bytes are not UTF-8"),
        ("текст".encode("cp1251"), "100% of its first 5 bytes are not UTF-8"),
        ("text".encode("utf-16-le"), "it contains NUL bytes"),
        (b"", None),
        ("日本語 и текст".encode() * 3000, None),
        ("d\xe9j\xe0 vu, na\xefve".encode("latin-1"), None),
    ],
)
def test_bytes_that_look_like_no_text_are_learned_with_a_warning(
    run: Run, corpus: Path, tmp_path: Path, data: bytes, reason: str | None
) -> None:
    (tmp_path / "odd").write_bytes(data)
    out = tmp_path / "out.json"
    result = run("train", tmp_path / "odd", corpus, "--max-merges", "5", "-o", out, "-q")
    assert result.exit_code == 0
    assert (
        digram.load(out).training
        == digram.train([data, corpus.read_bytes()], max_merges=5).training
    )
    piped = run("train", "-", "--max-merges", "5", "-o", out, "-q", input=data)
    if reason is None:
        assert (result.stderr, piped.stderr) == ("", "")
        return
    first, remedy = result.stderr.splitlines()
    assert first.startswith(f"Warning: {tmp_path / 'odd'} looks binary: ")
    assert first.endswith(f"{reason}.")
    assert "exclude the file" in remedy
    assert "convert it to UTF-8" in remedy
    assert piped.stderr.startswith("Warning: stdin looks binary: ")


def test_many_binary_files_do_not_flood_the_terminal(run: Run, tmp_path: Path) -> None:
    for number in range(13):
        (tmp_path / f"{number:02}").write_bytes(b"\0")
    result = run("train", tmp_path, "--max-merges", "0", "-o", tmp_path.parent / "t.json", "-q")
    lines = result.stderr.splitlines()
    assert [Path(line.split()[1]).name for line in lines[:10]] == [f"{n:02}" for n in range(10)]
    assert lines[10] == "Warning: 3 more files look binary."
    assert len(lines) == 12


def test_a_separator_is_no_sign_of_binary_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b"one\0two\0")
    arguments = [tmp_path / "list", "--max-merges", "1", "-q", "-o", tmp_path / "t.json"]
    assert run("train", *arguments, "--separator", r"\0").stderr == ""
    assert "NUL" in run("train", *arguments).stderr


def test_a_text_that_names_a_file_is_text_and_warned_about(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("low lower lowest")
    with pytest.warns(UserWarning, match=r"also the name of a file.* pass \["):
        tok = digram.train(str(tmp_path / "text"), max_merges=0)
    assert tok.training is not None
    assert tok.training.bytes == len(str(tmp_path / "text"))
    with pytest.warns(UserWarning, match="of a file or folder"):
        digram.train(str(tmp_path), max_merges=0)


# --- normalizers


def test_normalizers(run: Run, corpus: Path, tmp_path: Path) -> None:
    stages = ["nfkc", '["replace_matches", "\\\\s+", " "]', '["strip", true, false]', "bert"]
    options = [word for stage in stages for word in ("--normalizer", stage)]
    out = tmp_path / "t.json"
    made = run("train", corpus, "--max-merges", "9", *options, "-o", out)
    assert made.exit_code == 0, made.stderr
    normalizer: list[pretokenizers.Normalizer] = [
        pretokenizers.NFKC(),
        pretokenizers.Replace(digram.Regex(r"\s+"), " "),
        pretokenizers.Strip(right=False),
        pretokenizers.BertNormalizer(),
    ]
    cut = digram.Pretokenizer("o200k", normalizer=normalizer)
    assert digram.load(out) == digram.train(corpus, max_merges=9, pretokenizer=cut)


@pytest.mark.parametrize(
    ("stage", "message"),
    [
        ("nfx", "'nfx' is not a stage of a normalizer: there is no stage of a normalizer ['nfx']"),
        ('["replace", "a"]', "is not a stage of a normalizer: "),
        ('["replace", "", "b"]', "the pattern of Replace is empty."),
        ('["replace_matches", "(", "b"]', "unclosed group"),
        ("[1", "is not a list in JSON: "),
        ("[" * 100_000, "is not a list in JSON: "),
    ],
)
def test_stages_of_normalizers_are_checked(
    run: Run, corpus: Path, tmp_path: Path, stage: str, message: str
) -> None:
    asked = ["train", corpus, "--max-merges", "9", "--normalizer", stage, "-o", tmp_path / "t"]
    refused = run(*asked)
    assert refused.exit_code == 2
    assert message in " ".join(refused.stderr.split())


def test_unigram_and_a_tokenizer_like_another(run: Run, tmp_path: Path) -> None:
    text, old, new = (tmp_path / name for name in ("text.txt", "a.model", "b.model"))
    text.write_text("low lower lowest newest widest " * 4, encoding="utf-8")
    result = run("train", text, "--model", "unigram", "--vocab-size", "300", "-o", old)
    assert result.exit_code == 0, result.output
    assert "no other text in the corpus is frequent enough" in result.stderr
    assert result.stderr.endswith(f"Saved {old}\n")
    assert digram.load(old) == digram.train(text, model="unigram", vocab_size=300)
    own = tmp_path / "own.json"  # this model is none that a tokenizer.json can store
    result = run("train", text, "--model", "unigram", "--vocab-size", "300", "-o", own)
    assert result.stderr.endswith(f"Saved {own}, which only digram reads\n")
    result = run("train", text, "--like", old, "--vocab-size", "20", "-o", new)
    assert result.exit_code == 0, result.output
    assert digram.load(new) == digram.train(text, like=digram.load(old), vocab_size=20)
    result = run("train", text, "--like", old, "--unit", "byte", "-o", new)
    assert "unit='byte' contradicts" in result.stderr or "contradicts --like" in result.stderr


def test_a_checkpoint_of_another_normalizer_is_told_in_words(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    asked = ["train", corpus, "--max-merges", "2", "--checkpoint", tmp_path / "run", "-o"]
    assert run(*asked, tmp_path / "a.json").exit_code == 0
    refused = run(*asked, tmp_path / "b.json", "--normalizer", "nfc", "--normalizer", "lowercase")
    assert "a run with no normalizer, but this call has the normalizer NFC() th" in refused.stderr
