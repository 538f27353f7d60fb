"""`digram encode` and `digram decode`: each other's inverse, in every form."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

import digram
from digram.cli import encode as module

Run = Callable[..., Result]
TRICKY = b"the cat\r\n\n\xff\xfe\x00 \xe4\xb8\xad naive <|end|>\n\n  sat"


@pytest.mark.parametrize("form", [[], ["--raw", "u16"], ["--raw", "u32"]])
@pytest.mark.parametrize("data", [b"", b"\n", b"the cat sat", TRICKY, TRICKY * 500])
def test_there_and_back(run: Run, tok_path: str, form: list[str], data: bytes) -> None:
    ids = run("encode", "-t", tok_path, *form, input=data)
    assert (ids.exit_code, ids.stderr) == (0, "")
    text = run("decode", "-t", tok_path, *form, input=ids.stdout_bytes)
    assert (text.exit_code, text.stderr) == (0, "")
    assert text.stdout_bytes == data


def test_the_forms(run: Run, tok: digram.Tokenizer, tok_path: str) -> None:
    ids = tok.encode("the cat sat\n")
    assert run("encode", "-t", tok_path, input="the cat sat\n").stdout == (
        " ".join(map(str, ids)) + "\n"
    )
    raw = run("encode", "-t", tok_path, "--raw", "u16", input="the cat sat\n").stdout_bytes
    assert raw == np.array(ids, "<u2").tobytes()
    raw = run("encode", "-t", tok_path, "--raw", "u32", input="the cat sat\n").stdout_bytes
    assert raw == np.array(ids, "<u4").tobytes()


@pytest.mark.parametrize("data", [b"", b"\n", b"a\n\nb\n", b"\r\n\xff\n", b"the cat\n" * 3000])
def test_lines(run: Run, tok: digram.Tokenizer, tok_path: str, data: bytes) -> None:
    result = run("encode", "-t", tok_path, "--lines", "--threads", "1", input=data)
    assert result.exit_code == 0
    expected = [tok.encode(line) for line in data.split(b"\n")[:-1]]
    assert [[int(n) for n in line.split()] for line in result.stdout.splitlines()] == expected
    back = run("decode", "-t", tok_path, "--lines", input=result.stdout)
    assert back.stdout_bytes == data


def test_files_and_special_tokens(
    run: Run, tok: digram.Tokenizer, tok_path: str, tmp_path: Path
) -> None:
    end = tok.special_tokens["<|end|>"]
    path = tmp_path / "text.txt"
    path.write_text("the<|end|>", encoding="utf-8")
    plain = run("encode", "-t", tok_path, path)
    assert str(end) not in plain.stdout.split()
    parsed = run("encode", "-t", tok_path, path, "--special", "parse")
    assert parsed.stdout.split()[-1] == str(end)
    assert run("decode", "-t", tok_path, input=parsed.stdout).stdout == "the<|end|>"
    skip = "--skip-special-tokens"
    assert run("decode", "-t", tok_path, skip, input=parsed.stdout).stdout == "the"
    assert run("decode", "-t", tok_path, skip, "--lines", input=parsed.stdout).stdout == "the\n"
    shards = tmp_path / "shards"
    assert (
        run(
            "encode",
            "-t",
            tok_path,
            path,
            "-o",
            shards,
            "--format",
            "megatron",
            "--end-of-text",
            "<|end|>",
        ).exit_code
        == 0
    )
    for more in ([], ["--lines"], ["--documents", "0"]):
        said = run("decode", "-t", tok_path, shards, *more).stdout
        left = run("decode", "-t", tok_path, shards, skip, *more).stdout
        assert said.removesuffix("\n") == "the<|end|><|end|>"
        assert left.removesuffix("\n") == "the<|end|>"  # the text, without what ends a document
    refused = run("encode", "-t", tok_path, path, "--special", "raise")
    assert (refused.exit_code, refused.stdout) == (3, "")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("space", [" ", "\n", "\r\n", "\t", "\x0b", " \n "])
def test_decimal_ids_are_cut_at_any_block(
    monkeypatch: pytest.MonkeyPatch, size: int, space: str
) -> None:
    monkeypatch.setattr(module, "_BLOCK", size)
    ids = [0, 7, 123, 45, 299, 1, 10]
    data = space.join(map(str, ids)).encode()
    for framed in (data, space.encode() + data + space.encode()):
        chunks = module._decimal_ids(module._blocks(io.BufferedReader(io.BytesIO(framed))))
        if size >= 3:
            assert [n for chunk in chunks for n in chunk] == ids


@pytest.mark.parametrize("size", [1, 3, 5, 64])
@pytest.mark.parametrize("width", [2, 4])
def test_raw_ids_are_cut_at_any_block(
    monkeypatch: pytest.MonkeyPatch, size: int, width: int
) -> None:
    monkeypatch.setattr(module, "_BLOCK", size)
    ids = [0, 7, 123, 45, 299, 1, 65535]
    data = np.array(ids, f"<u{width}").tobytes()
    chunks = module._raw_ids(io.BufferedReader(io.BytesIO(data)), width)
    assert [n for chunk in chunks for n in chunk] == ids


@pytest.mark.parametrize(
    ("arguments", "data", "code", "message"),
    [
        ([], b"1 2 300", 3, "ids[2] = 300 is not in this vocabulary (0..299)"),
        ([], b"65 " * 100_000 + b"300", 3, "ids[100000] = 300"),
        ([], b"1 x 2", 3, "ids[1] is 'x', which is not an id"),
        ([], b"1 -2", 3, "ids[1] is '-2'"),
        ([], b"1 1_0", 3, "ids[1] is '1_0'"),
        ([], b"1.0", 3, "ids[0] is '1.0'"),
        ([], b"[1, 2]", 3, "ids[0] is '[1,'"),
        ([], "١".encode(), 3, r"ids[0] is '\xd9\xa1', which is not an id"),
        ([], b"\0\xa7", 3, r"ids[0] is '\x00\xa7', which is not an id"),
        ([], b"\0\1", 3, "bare ids of 16 or 32 bits, use --raw u16 or --raw u32."),
        ([], b"9" * 1_000_000, 3, "which is not an id"),
        ([], b"18446744073709551617", 3, "18446744073709551617"),
        (["--raw", "u16"], b"\x01\x00\x02", 3, "the input ends at byte 3, within an id of 2 bytes"),
        (["--raw", "u32"], b"\xff\xff\xff\xff", 3, "4294967295"),
        (["--raw", "u8"], b"", 2, "u16"),
        (["--raw", "u16", "--lines"], b"", 2, "leave out --lines"),
    ],
)
def test_bad_ids(
    *, run: Run, tok_path: str, arguments: list[str], data: bytes, code: int, message: str
) -> None:
    result = run("decode", "-t", tok_path, *arguments, input=data)
    assert result.exit_code == code
    assert message in result.stderr
    assert len(result.stderr) < 500


@pytest.mark.parametrize("options", [["encode"], ["encode", "--lines"], ["truncate", "-n", "3"]])
def test_a_text_instead_of_a_file_is_told_of_stdin(
    run: Run, tok_path: str, options: list[str]
) -> None:
    missing = run(*options, "-t", tok_path, "some text")
    assert (missing.exit_code, missing.stdout) == (4, "")
    place = "-t PATH" if options[0] == "encode" else "-t PATH -n N"
    assert missing.stderr == (
        "Error: some text: there is no such file or folder. To use the argument itself as text, "
        f"pass it on stdin, as in `printf %s 'some text' | digram {options[0]} {place}`.\n"
    )


def test_what_does_not_fit_is_refused(run: Run, tok_path: str, tmp_path: Path) -> None:
    wide = digram.load(tok_path).with_special_tokens({"<|far|>": 70_000})
    wide.save(tmp_path / "wide.json")
    result = run("encode", "-t", tmp_path / "wide.json", "--raw", "u16", input="a")
    assert (result.exit_code, result.stdout_bytes) == (2, b"")
    assert "use --raw u32" in result.stderr
    assert run("encode", "-t", tmp_path / "wide.json", "--raw", "u32", input="a").exit_code == 0
    assert run("encode", "-t", tok_path, "--raw", "u16", "--lines", input="a").exit_code == 2
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    (tmp_path / "b.txt").write_text("b", encoding="utf-8")
    several = run("encode", "-t", tok_path, tmp_path / "*.txt")
    assert several.exit_code == 2
    assert "names 2 files" in several.stderr
