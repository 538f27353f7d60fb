"""`digram convert`: from each format to each, refusing what would be lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import tokenizers
from click.testing import Result

import digram
from digram.pretokenizers import Pretokenizer, SentencePiece
from digram.vocab.scores import ScoredModel

Run = Callable[..., Result]


@pytest.fixture
def plain(tmp_path: Path, text: str) -> Path:
    """A tokenizer without special tokens, so that every format can carry its vocabulary."""
    path = tmp_path / "plain.json"
    digram.train(text, vocab_size=290, pretokenizer="gpt2").save(path)
    return path


@pytest.mark.parametrize(
    "format_", ["huggingface", "tiktoken", "gguf", "tekken", "minbpe", "vocab_merges"]
)
def test_there_and_back(run: Run, plain: Path, tmp_path: Path, format_: str) -> None:
    there, back = tmp_path / "there", tmp_path / "back.json"
    result = run("convert", "-t", plain, "-o", there, "--format", format_)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    assert f"Saved {there}: 290 tokens" in result.stderr
    stores_none = format_ in ("tiktoken", "vocab_merges")
    name = ["--pretokenizer", "gpt2"] if stores_none else []
    assert run("convert", "-t", there, "-o", back, *name).exit_code == 0
    text = "the cat sat, naïve 中文"
    assert digram.load(back).encode(text) == digram.load(plain).encode(text)
    # The verbs that use a tokenizer take the same option.
    assert run("count", "-t", there, *name, input=text).exit_code == 0


def test_a_missing_pretokenizer_is_asked_for(run: Run, plain: Path, tmp_path: Path) -> None:
    assert (
        run("convert", "-t", plain, "-o", tmp_path / "v", "--format", "vocab_merges").exit_code == 0
    )
    for arguments in (
        ["convert", "-t", tmp_path / "v", "-o", tmp_path / "x.json"],
        ["count", "-t", tmp_path / "v"],
    ):
        result = run(*arguments, input="")
        assert result.exit_code == 2
        assert "pretokenizer" in result.stderr
    assert run("count", "-t", tmp_path / "v", "--pretokenizer", "none", input="a").exit_code == 0


def test_loss_is_refused_unless_allowed(run: Run, tok_path: str, tmp_path: Path) -> None:
    there = tmp_path / "t.tiktoken"
    refused = run("convert", "-t", tok_path, "-o", there)
    assert refused.exit_code == 3
    assert not there.exists()
    assert run("convert", "-t", tok_path, "-o", there, "--allow-loss").exit_code == 0
    assert there.exists()


def test_the_encoding_of_a_vocab_txt_is_named(run: Run, tmp_path: Path) -> None:
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er"]
    path = tmp_path / "vocab.txt"
    path.write_text("".join(f"{token}\n" for token in bert))
    for encoding in ("bert-uncased", "bert-cased"):
        to = ["-o", tmp_path / "again.txt", "--format", "vocab_txt"]
        made = run("convert", "-t", path, "--encoding", encoding, *to)
        assert made.exit_code == 0, made.stderr
        assert made.stderr.endswith(f"load it with --encoding {encoding}.\n")
        assert run("show", "-t", f"{path}:{encoding}", "--text", "low").exit_code == 0
    assert "bert-uncased or bert-cased" in " ".join(run("count", "--help").stdout.split())


def test_stdout(run: Run, plain: Path, tmp_path: Path) -> None:
    result = run("convert", "-t", plain, "-o", "-", "--format", "tiktoken")
    assert result.stdout.startswith("AA== 0\n")
    assert result.stderr == ""
    assert run("convert", "-t", plain, "-o", "-").stdout_bytes == plain.read_bytes()
    folder = run("convert", "-t", plain, "-o", "-", "--format", "vocab_merges")
    assert (folder.exit_code, folder.stdout) == (2, "")


def test_published_encodings(run: Run, shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    source = shared_data("vocabs/r50k_base.tiktoken")
    out = tmp_path / "r50k.json"
    assert run("convert", "-t", source, "-o", out, "--encoding", "r50k_base", "-q").exit_code == 0
    assert digram.load(out).special_tokens == {"<|endoftext|>": 50256}
    shown = run("show", "-t", source, "--encoding", "r50k_base", "--ids", "--text", "Hello world")
    assert shown.stdout == "[Hello] [·world]\n15496   995\n"


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """A small Llama 2: BPE by scores, in SentencePiece's file."""
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=[None, b" ", b"l", b"o", b"w", b"lo", b" lo", b" low"],
            model=ScoredModel([None, -4.0, -5.0, -6.0, -7.0, -1.0, -2.0, -3.0]),
            pretokenizer=Pretokenizer(None, normalizer=SentencePiece(remove_spaces=False)),
            special_tokens={"<unk>": 0},
            unit="char",
            on_unknown=digram.SpecialToken("<unk>"),
            strip_first_space=True,
        )
    )
    tok.save(tmp_path / "tokenizer.model")
    return tmp_path / "tokenizer.model"


def test_tokenizer_json_is_hugging_face_s_for_every_model(
    run: Run, scored: Path, tmp_path: Path, text: str
) -> None:
    written = tmp_path / "tokenizer.json"
    made = run("convert", "-t", scored, "-o", written)
    assert made.exit_code == 0, made.stderr
    theirs = tokenizers.Tokenizer.from_file(str(written))
    assert theirs.encode("low  lol").ids == digram.load(scored).encode("low  lol")
    other = run("convert", "-t", scored, "-o", tmp_path / "x.json")
    assert "Only digram reads this file; -o tokenizer.json writes" in other.stderr
    assert digram.load(tmp_path / "x.json") == digram.load(scored)
    # One that the library does not have is refused, in a shell before the training.
    refused = run("train", "-", "--max-merges", 3, "--picky", 0.9, "-o", written, input=text)
    assert refused.exit_code == 3
    assert "Save it with --format digram, which only digram can read." in refused.stderr


def test_the_digest_is_that_of_what_was_written(run: Run, scored: Path, tmp_path: Path) -> None:
    for name, options in (
        ("tokenizer.json", []),
        ("x.json", []),
        ("x.model", []),
        ("folder", ["--for", "transformers"]),
    ):
        made = run("convert", "-t", scored, "-o", tmp_path / name, *options)
        written = digram.load(tmp_path / name)
        assert f"digest {written.digest[:16]}" in made.stderr
        again = run("convert", "-t", scored, "-o", tmp_path / name, *options, "-q", "--json")
        assert json.loads(again.stdout)["digest"] == written.digest


# --- folders for programs


def test_a_folder_for_transformers(run: Run, tok_path: str, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jinja"
    chat.write_text("{{ messages[0].content }} é", encoding="utf-8")
    asked = ("convert", "-t", tok_path, "-o", tmp_path / "model", "--for", "transformers")
    made = run(*asked, "--eos", "<|end|>", "--context-size", "2k", "--chat-template", chat)
    assert made.exit_code == 0, made.stderr
    assert f"Saved the folder {tmp_path / 'model'}: " in made.stderr
    tok = digram.load(tmp_path / "model")
    assert (tok.eos_token, tok.context_size) == ("<|end|>", 2000)
    assert tok.chat_template == "{{ messages[0].content }} é"
    assert tok.vocab == digram.load(tok_path).vocab


def test_a_folder_without_roles_says_so(run: Run, tmp_path: Path, text: str) -> None:
    """As of a .gguf file without a template of chats, of which roles are not read."""
    roles = {"bos": "<s>", "eos": "</s>"}
    tok = digram.train(text, max_merges=3, special_tokens=[*roles.values()], pretokenizer="gpt2")
    tok.with_special_roles(**roles).save(tmp_path / "a.gguf")
    asked = (
        "convert",
        "-t",
        tmp_path / "a.gguf",
        "-o",
        tmp_path / "model",
        "--for",
        "transformers",
    )
    told = "--bos, --eos and --unk give them to tokens of this model: <s>, </s>.\n"
    assert run(*asked).stderr.endswith(told)
    named = run(*asked, "--bos", "<s>", "--eos", "</s>")
    assert (named.exit_code, "No special token" in named.stderr) == (0, False)
    assert digram.load(tmp_path / "model").special_roles == digram.SpecialRoles(**roles)


def test_files_have_the_same_settings(run: Run, tok_path: str, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jinja"
    chat.write_text("{{ messages[0].content }}")
    settings = ["--bos", "<|end|>", "--eos", "<|end|>", "--pad", "<|end|>", "--mask", "<|end|>"]
    settings += ["--padding-side", "left", "--truncation-side", "left", "--context-size", "2k"]
    settings += ["--chat-template", str(chat)]
    for name, more in (("tokenizer.json", []), ("m", ["--for", "transformers"])):
        made = run("convert", "-t", tok_path, "-o", tmp_path / name, *settings, *more)
        assert made.exit_code == 0, made.stderr
        tok = digram.load(tmp_path / name)
        roles = {"bos": "<|end|>", "eos": "<|end|>", "mask": "<|end|>"}
        assert tok.special_roles.to_dict() == roles
        assert (tok.pad_token, tok.padding_side, tok.truncation_side) == ("<|end|>", "left", "left")
        assert (tok.context_size, tok.chat_template) == (2000, "{{ messages[0].content }}")
    # What is not given stays.
    assert run("convert", "-t", tmp_path / "m", "-o", tmp_path / "b.json").exit_code == 0
    assert digram.load(tmp_path / "b.json").padding_side == "left"


def test_a_unigram_file_has_no_place_for_sides(run: Run, tmp_path: Path, text: str) -> None:
    digram.train(text * 9, model="unigram", vocab_size=290).save(tmp_path / "u.model")
    asked = ("convert", "-t", tmp_path / "u.model", "--padding-side", "left", "-o")
    assert run(*asked, tmp_path / "tokenizer.json").exit_code == 2
    assert run(*asked, tmp_path / "own.json").exit_code == 0
    assert digram.load(tmp_path / "own.json").padding_side == "left"


def test_a_plugin_for_tiktoken(run: Run, tok_path: str, tmp_path: Path) -> None:
    asked = ("convert", "-t", tok_path, "-o", tmp_path / "plugin", "--for", "tiktoken")
    made = run(*asked, "--name", "mine")
    assert made.exit_code == 0, made.stderr
    assert f"`pip install {tmp_path / 'plugin'}` installs it; tiktoken.get_enc" in made.stderr
    file = run("convert", "-t", tok_path, "-o", tmp_path / "a.tiktoken", "--allow-loss")
    assert "installed package: --for tiktoken --name NAME writes one.\n" in file.stderr
    digram.load(tok_path).save_tiktoken_plugin(tmp_path / "other", "mine")
    names = [path.relative_to(tmp_path / "other") for path in (tmp_path / "other").rglob("*.*")]
    assert len(names) == 3
    for name in names:
        assert (tmp_path / "plugin" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--for", "tiktoken", "--pad", "x"], 2, "--pad: a package for tiktoken has no place for"),
        (["--format", "gguf", "--padding-side", "left"], 2, "--padding-side: this file, of the"),
        (["--format", "transformers"], 2, "is written by `digram convert --for transformers`."),
        (["--for", "transformers", "--name", "x"], 2, "--name applies only to --for tiktoken."),
        (["--for", "tiktoken"], 2, "--for tiktoken needs --name, the name of the encoding."),
        (["--for", "tiktoken", "--allow-loss"], 2, "--allow-loss applies only to files and"),
        (["--for", "transformers", "--format", "gguf"], 2, "--for and --format exclude each"),
        (["--for", "transformers", "--eos", "<x>"], 2, "'<x>'"),
        (["--for", "tiktoken", "--name", "gpt2"], 2, "--name gpt2 is published"),
    ],
)
def test_options_of_programs(
    run: Run, tok_path: str, tmp_path: Path, options: list[str], code: int, message: str
) -> None:
    refused = run("convert", "-t", tok_path, "-o", tmp_path / "x", *options)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert message in refused.stderr
    assert not (tmp_path / "x").exists()


def test_a_folder_cannot_be_written_to_stdout(run: Run, tok_path: str, tmp_path: Path) -> None:
    refused = run("convert", "-t", tok_path, "-o", "-", "--for", "transformers")
    assert refused.exit_code == 2
    assert "-o - means stdout, but a folder is written" in refused.stderr
    (tmp_path / "chat").write_bytes(b"\xff")
    asked = ("convert", "-t", tok_path, "-o", tmp_path / "m", "--for", "transformers")
    assert "byte 0 is not UTF-8" in run(*asked, "--chat-template", tmp_path / "chat").stderr
