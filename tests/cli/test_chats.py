"""Chats in a shell: `digram encode --chats` and `digram count --chats`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from click.testing import Result
from pyarrow import parquet

import digram

Run = Callable[..., Result]

CHATS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "the<end>"}, {"role": "assistant", "content": "cät"}],
    [{"role": "user", "content": "a"}],
]
LINES = "".join(json.dumps({"messages": chat}) + "\n" for chat in CHATS)
TEMPLATE = "{% for m in messages %}{{ '<' ~ m.role ~ '>' ~ m.content ~ '<end>' }}{% endfor %}"


@pytest.fixture(scope="module")
def tok() -> digram.Tokenizer:
    roles = ["<user>", "<assistant>", "<end>"]
    found = digram.train("the cat" * 3, max_merges=4, special_tokens=roles)
    return found.with_chat_template({"default": TEMPLATE, "last": "{{ messages[-1].content }}"})


@pytest.fixture(scope="module")
def tok_path(tok: digram.Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("chats") / "tokenizer.json"
    tok.save(path, format="digram")
    return str(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "chats.jsonl"
    path.write_text(LINES, encoding="utf-8")
    return path


def test_each_chat_is_a_line_of_ids(
    run: Run, tok: digram.Tokenizer, tok_path: str, path: Path
) -> None:
    expected = [chat.ids for chat in tok.chat_batch(CHATS)]
    done = run("encode", "-t", tok_path, path, "--chats")
    assert (done.exit_code, done.stderr) == (0, "")
    assert [[*map(int, line.split())] for line in done.stdout.splitlines()] == expected
    assert run("encode", "-t", tok_path, "--chats", input=LINES).stdout == done.stdout
    packed = path.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(LINES.encode()))
    assert run("encode", "-t", tok_path, packed, "--chats").stdout == done.stdout
    last = run("encode", "-t", tok_path, path, "--chats", "--chat-template", "last").stdout
    assert last.splitlines()[1] == " ".join(map(str, tok.encode("a")))


def test_masks_say_what_the_assistant_said(
    run: Run, tok: digram.Tokenizer, tok_path: str, path: Path
) -> None:
    rows = [
        {"input_ids": chat.ids, "assistant_masks": chat.assistant_mask}
        for chat in tok.chat_batch(CHATS)
    ]
    done = run("encode", "-t", tok_path, path, "--chats", "--mask")
    assert [json.loads(line) for line in done.stdout.splitlines()] == rows
    assert sum(rows[0]["assistant_masks"]) == tok.count("cät") + 1
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    shared = ("-t", tok_path, "--chats", "-q", "--end-of-text", "none", "-o")
    folder = path.parent / "arrow"
    assert run("encode", path, *shared, folder, "--format", "arrow").exit_code == 0
    with pyarrow.ipc.open_file(folder / "tokens-000000.arrow") as file:
        assert file.read_all().to_pydict() == columns
    folder = path.parent / "parquet"
    done = run("encode", "-", *shared, folder, "--format", "parquet", input=LINES)
    assert done.exit_code == 0
    assert parquet.read_table(folder / "tokens-000000.parquet").to_pydict() == columns


def test_the_tokens_of_chats_are_counted(
    run: Run, tok: digram.Tokenizer, tok_path: str, path: Path
) -> None:
    chats = tok.chat_batch(CHATS)
    done = run("count", "-t", tok_path, path, "--chats")
    text = "".join(chat.text for chat in chats)
    sizes = [sum(map(len, chats)), len(text.encode()), len(text)]
    assert [*map(int, done.stdout.split()[:3])] == sizes
    piped = run("count", "-t", tok_path, "--chats", "--json", input=LINES)
    assert json.loads(piped.stdout)["total"] == dict(
        zip(("tokens", "bytes", "characters"), sizes, strict=True)
    )


@pytest.mark.parametrize("verb", ["encode", "count"])
def test_a_record_that_is_no_chat_is_named(run: Run, tok_path: str, path: Path, verb: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write('{"text": "a"}\n')
    done = run(verb, "-t", tok_path, path, "--chats")
    assert done.exit_code != 0
    assert f"{path}: document 2: the record is no chat" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["encode", "--mask"], "--mask needs --chats"),
        (["encode", "--chat-template", "x"], "--chat-template needs --chats"),
        (["count", "--chat-template", "x"], "--chat-template needs --chats"),
        (["encode", "--chats", "--lines"], "leave out --lines"),
        (["encode", "--chats", "--raw", "u16"], "leave out --raw"),
        (["encode", "--chats", "--special", "parse"], "--special does nothing"),
        (["count", "--chats", "--special", "parse"], "--special does nothing"),
        (["encode", "--chats", "--mask", "-o", "x", "--format", "arrow"], "leave it out with -o"),
        (
            ["encode", "--chats", "-o", "x", "--format", "megatron", "--end-of-text", "none"],
            "no place for what the",
        ),
    ],
)
def test_options_that_do_nothing_are_refused(
    run: Run, tok_path: str, path: Path, arguments: list[str], message: str
) -> None:
    done = run(*arguments, "-t", tok_path, path)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize("verb", ["encode", "count"])
def test_a_template_may_be_in_a_file(run: Run, tok_path: str, path: Path, verb: str) -> None:
    text = "{{ messages[-1].content }}"
    path.with_name("chat.jinja").write_text(text, encoding="utf-8")
    asked = (verb, "-t", tok_path, path, "--chats", "--chat-template")
    done = run(*asked, path.with_name("chat.jinja"))
    assert done.exit_code == 0
    assert done.stdout == run(*asked, text).stdout == run(*asked, "last").stdout
    missing = run(*asked, "lst")
    assert missing.exit_code == 4
    assert "lst: there is no such file or folder." in missing.stderr
    assert "'default', 'last'" in missing.stderr
