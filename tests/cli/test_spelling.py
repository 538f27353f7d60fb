"""What a verb says of an option is what one types, whatever the library calls it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest
from click.testing import Result
from pyarrow import feather

import digram
from digram.cli._spelling import Spelling, spelled
from digram.pretokenizers import NFC

Run = Callable[..., Result]

OPTIONS = {
    "vocab_size": Spelling("--vocab-size"),
    "format": Spelling("--format"),
    "allow_loss": Spelling("--allow-loss", is_flag=True),
    "on_unknown": Spelling("--on-unknown"),
    "pretokenizer": Spelling("--pretokenizer"),
    "regex": Spelling("--regex"),
    "normalizer": Spelling("--normalizer"),
    "offsets": Spelling("--offsets", is_flag=True, off="--no-offsets"),
}
SMALL = ["--max-merges", "2", "-o"]


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("vocab_size=9 is small", "--vocab-size 9 is small"),
        ("vocab_size=32_000 is usual", "--vocab-size 32000 is usual"),
        ("vocab_size=-1.", "--vocab-size -1."),
        ("without vocab_size or size", "without --vocab-size or size"),
        ('format="seed_pair", or', "--format seed_pair, or"),
        ("Pass allow_loss=True: it", "Pass --allow-loss: it"),
        ("Leave out format= and allow_loss=.", "Leave out --format and --allow-loss."),
        ('on_unknown=digram.SpecialToken("<unk>")', "--on-unknown '<unk>'"),
        ("on_unknown=digram.SpecialToken(...)", "--on-unknown TOKEN"),
        ("(pretokenizer=None)", "(--pretokenizer none)"),
        ("pretokenizer=digram.Regex('[a-z]+')", "--regex '[a-z]+'"),
        ("on_unknown='it\\'s'", "--on-unknown 'it'\"'\"'s'"),
        ("on_unknown='a\\x00'", "--on-unknown 'a\\x00'"),
        ("offsets=False leaves", "--no-offsets leaves"),
        ("no Strip(regex='x') here", "no Strip(regex='x') here"),
        ("made with normalizer=[NFC()].", "made with normalizer=[NFC()]."),
        # What a user wrote stands in quotes or in a path, and other names are not options.
        ("'vocab_size=9' and \"vocab_size\"", "'vocab_size=9' and \"vocab_size\""),
        ("Face's vocab_size, its parts' names", "Face's --vocab-size, its parts' names"),
        ("my/vocab_size, vocab_size.json", "my/vocab_size, vocab_size.json"),
        ('errors="replace" and stop_reason', 'errors="replace" and stop_reason'),
        ("vocab_size(...) and tok.vocab_size", "vocab_size(...) and tok.vocab_size"),
    ],
)
def test_spelled(message: str, shown: str) -> None:
    assert spelled(message, OPTIONS) == shown


@pytest.fixture
def folder(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder: a text, tokenizers that need telling, and files that are not text."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(text, encoding="utf-8")
    tok = digram.train(text, max_merges=5)
    tok.save("a.tiktoken")
    tok.save("a.json")
    tok.save("pair", format="vocab_merges")
    tok.with_special_tokens(["cat sat"]).save("special.json")
    digram.train("ab", max_merges=1, unit="char").save("char.json", allow_loss=True)
    for name in ("a.jsonl", "a.gz", "a.parquet", "a.zip"):
        Path(name).touch()
    Path("chat.jsonl").write_text('{"messages": [{"role": "user", "content": "x"}]}')
    cut = digram.Pretokenizer("gpt2", normalizer=NFC())
    digram.count_pretokens(text, pretokenizer=cut).save("counts.arrow")
    Path("b.jsonl").write_text('{"body": "x"}')
    feather.write_feather(pyarrow.table({"body": ["x"]}), "b.arrow")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("train a.txt --vocab-size 9 -o t.json", 2, "--vocab-size 9 leaves no room"),
        ("train a.txt --vocab-size 9 -o t.json", 2, "base has 256 tokens. It must be at least 257"),
        (
            "train a.txt --vocab-size 9 --special-token <s> --reserve x=2 -o t.json",
            2,
            "has 256 tokens, in addition to 1 special token and 2 reserved ids. It must be",
        ),
        ("counts merge -o c.arrow", 2, "'FILES...'. Name files of counts."),
        ("train --vocab-size 300 -o t.json", 2, "'FILES...'. Name files, or - for stdin."),
        ("train a.txt --min-frequency 1 -o t.json", 2, "--vocab-size 32000 is a common size"),
        ("train a.txt --max-merges -1 -o t.json", 2, "--max-merges -1 is not at least 0"),
        ("train a.txt --vocab-size 99999999999999999999 -o t.json", 2, "--vocab-size 9"),
        ("train a.txt --max-merges 2 --threads 0 -o t.json", 2, "--threads 0 is not"),
        (
            "train a.txt --max-merges 2 --alphabet ab -o t.json",
            2,
            "--alphabet applies only to --unit char",
        ),
        ("train a.txt --max-merges 2 --unit char -o t.json", 3, "or pass --allow-loss."),
        ("train a.txt --max-merges 2 -o t", 2, "as in --format vocab_merges"),
        ("convert -t a.json -o t", 2, "as in --format vocab_merges"),
        ("train a.txt --max-merges 2 --format seed_pair -o t", 3, "with --format huggingface"),
        ("convert -t special.json -o t.tiktoken", 3, "pass --allow-loss to leave them out"),
        ("count -t a.tiktoken a.txt", 2, "as in --pretokenizer cl100k (--pretokenizer none for"),
        ("count -t a.tiktoken --encoding gpt a.txt", 2, "Did you mean 'gpt2'?"),
        ("count -t a.tiktoken --encoding gpt2 --pretokenizer gpt2 a.txt", 2, "and --encoding gpt2"),
        ("count -t a.tiktoken --encoding gpt2 a.txt", 3, "as in --pretokenizer cl100k"),
        ("count -t a.json --pretokenizer gpt2 a.txt", 2, "out --pretokenizer and --encoding."),
        (
            "show -t a.tiktoken --pretokenizer gtp2",
            2,
            "whitespace (gpt4 is cl100k); --pretokenizer",
        ),
        (
            "inspect -t a.tiktoken --pretokenizer gtp2",
            2,
            "--pretokenizer none for no split, --regex",
        ),
        ("encode -t special.json --special raise a.txt", 3, "Pass --special parse to encode"),
        ("encode -t char.json a.txt", 3, "Train with --on-unknown bytes"),
        ("train a.gz --max-merges 2 -o t.json", 3, "a.gz: the gz data ends early, at byte 0."),
        ("train a.parquet --max-merges 2 -o t.json", 3, "a.parquet: pyarrow cannot read it"),
        ("train a.zip --max-merges 2 -o t.json", 2, "Unpack it into a folder first"),
        ("train b.jsonl --max-merges 2 -o t.json", 3, "Pass --on-error skip to skip and count"),
        ("train b.arrow --max-merges 2 -o t.json", 2, "strings or bytes as --field."),
        (
            "train a.txt --source-format xml --max-merges 2 -o t.json",
            2,
            "from text, jsonl, json, csv, tsv, par",
        ),
        ("encode -t a.json --lines b.jsonl", 2, "leave out --lines"),
        ("count -t a.json b.jsonl", 3, "Pass --on-error skip to skip and count"),
        ("encode -t a.json --raw u16 --separator x a.txt", 2, "documents need them"),
        (
            "truncate -t a.json -n 1 a.jsonl",
            2,
            "Save the texts of the records as a text file first",
        ),
        ("decode -t a.json a.parquet", 2, "For a file of digram encode -o, pass its folder."),
        (
            "count -t pair/vocab.json a.txt",
            3,
            "instead, 'pair'. They do not store the pretokenizer:",
        ),
        ("count -t pair/vocab.json a.txt", 3, "also pass --encoding gpt2, for others their"),
        ("count -t cl100k_base a.txt", 4, "-t cl100k_base: there is no such file or folder, and"),
        ("count -t cl100k_base a.txt", 4, "Pass --download to fetch cl100k_base.tiktoken from"),
        ("count -t cl100k a.txt", 4, "-t cl100k: there is no such file or folder, and no token"),
        ("count -t cl100k-base a.txt", 4, "the most similar one is 'cl100k_base'.\n"),
        ("count -t gpt4 a.txt", 4, "the most similar one is 'gpt-4'.\n"),
        ("count -t some/model a.txt", 4, "some/model is meant, pass --download"),
        ("count -t gpt2.json a.txt", 4, "-t gpt2.json: there is no such file or folder.\n"),
        (
            "count -t https://example.org/a.tiktoken a.txt",
            4,
            "-t https://example.org/a.tiktoken: there is no such file or folder, and digram "
            "fetches no addresses. Fetch the file, as with "
            "`curl -O https://example.org/a.tiktoken`, and pass its path.",
        ),
        ("encode -t gpt-oss-20b a.txt", 4, "gpt-oss-20b (the encoding o200k_harmony) is neither"),
        ("convert -t gpt2 -o a.json", 4, "fetch r50k_base.tiktoken from https://openaipublic.blob"),
        ("encode -t a.json --chats chat.jsonl", 2, "Pass one as --chat-template, or set it: dig"),
        ("convert -t a.json -o m --for transformers --eos <x>", 2, "the eos token is '<x>', which"),
        ("check-rules -t a.json a.txt", 2, "no rules, and none are given. Pass --rules."),
        (
            "train a.txt --max-merges 2 --model wordpiece --on-unknown bytes -o t.json",
            2,
            "Pass a special token, as '[UNK]', or leave it out.",
        ),
        (
            "train counts.arrow --max-merges 2 --pretokenizer gpt2 -o t.json",
            3,
            "Count again, or pass --pretokenizer gpt2 --normalizer nfc.",
        ),
        ("convert -t a.json -o t.gguf", 3, "split of llama.cpp, as in --regex '[^\\r\\n\\p{L}"),
        ("estimate-training a.txt --vocab-size 9", 2, "SIZE a.txt is not a size. Write it as"),
        ("merge-tree -t a.json 300", 3, "If it is an id, pass --by id."),
        ("find-token -t a.json 300 a.txt", 3, "If it is an id, pass --by id."),
        ("convert -t a.json -o t", 2, "digram convert --for transformers writes a folder for"),
        (
            "convert -t special.json -o t.json --eos x",
            2,
            "Its special tokens: 'cat sat'. In Python",
        ),
        ("convert -t special.json -o t.json --pad x", 2, "--pad names 'x', which is not a spec"),
        (
            "convert -t a.json -o t.json --eos x",
            2,
            "It has no special tokens. In Python, with_",
        ),
        ("convert -t special.json -o tekken.json", 3, "Train with --special-first, or save it w"),
        ("grow add a.txt a.txt", 4, "a.txt: a history is a folder, and this is not one."),
        ("grow log none", 4, "none: there is no history here; digram grow add begins one."),
        ("verify -t a.json --against toknizers", 4, "Is the library tokenizers meant?"),
        ("chunks -t a.json a.txt", 2, "Missing option '-n' / '--max-length'"),
        ("count -t a.json /dev/null", 4, "pipe its content into `digram count -`"),
    ],
)
def test_faults_name_options_as_one_types_them(
    run: Run,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    code: int,
    says: str,
) -> None:
    for variable in ("DIGRAM_TOKENIZERS", "TIKTOKEN_CACHE_DIR", "HF_HUB_CACHE"):
        monkeypatch.setenv(variable, str(folder / "none"))
    result = run(*command.split())
    assert result.exit_code == code, result.stderr
    assert says in result.stderr
    assert not re.search(r"\b[a-z_]+=|digram\.\w|None|True|open\(", result.stderr), result.stderr


def test_the_split_of_llama_cpp_that_is_proposed_can_be_saved(run: Run, folder: Path) -> None:
    refused = run("convert", "-t", "a.json", "-o", "t.gguf")
    own = shlex.split(refused.stderr.partition("as in ")[2].removesuffix(".\n"))
    assert own[0] == "--regex"
    assert run("train", "a.txt", *SMALL, "t.gguf", *own).exit_code == 0


def test_a_separator_and_its_absence(run: Run, folder: Path) -> None:
    result = run("train", "a.txt", *SMALL, "t.json", "--separator", "")
    assert result.exit_code == 2
    assert "Leave out --separator for whole texts." in result.stderr


def test_what_convert_says_is_what_load_takes(run: Run, folder: Path) -> None:
    own = ["--regex", "[a-z]+ ?", "--regex", r"\s+", "--digits", "individual"]
    assert run("train", "a.txt", *SMALL, "t.json", *own).exit_code == 0
    said = run("convert", "-t", "t.json", "-o", "t.tiktoken").stderr
    assert "load it with --regex '[a-z]+ ?' --regex '\\s+' --digits individual.\n" in said
    counted = run("count", "-t", "t.tiktoken", *own, "a.txt")
    assert counted.stdout == run("count", "-t", "t.json", "a.txt").stdout
    assert run("convert", "-t", "t.tiktoken", "-o", "back.json", *own, "-q").exit_code == 0
    assert digram.load("back.json") == digram.load("t.json")
