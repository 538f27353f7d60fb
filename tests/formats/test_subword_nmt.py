"""Codes of subword-nmt and fastBPE, with subword-nmt itself beside them."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from subword_nmt import apply_bpe, learn_bpe

import digram
from digram import CorruptFileError, VocabError
from digram.formats.subword_nmt import dumps, loads
from digram.vocab.bpe import require_bpe


def learned(lines: list[str], merges: int) -> str:
    """The codes that it learns."""
    out = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO("\n".join(lines) + "\n"), out, merges)
    return out.getvalue()


def segmented(tok: digram.Tokenizer, line: str) -> list[str]:
    """The tokens of a line as subword-nmt prints them; unknown characters are printed too."""
    found = tok(line)
    pieces = []
    for id, (start, end) in zip(found.ids, found.offsets, strict=True):
        token = tok.id_to_token(id).decode()
        after = line[end : end + 1]
        if token == "<unk>":
            token = line[start:end] + " " * (after in ("", " "))
        pieces.append(token[:-1] if token.endswith(" ") else token + "@@")
    return pieces


def compare(codes: str, lines: list[str]) -> None:
    theirs = apply_bpe.BPE(io.StringIO(codes))
    tok = digram.Tokenizer(loads(codes.encode()))
    for line in lines:
        # It keeps the spaces at both ends.
        assert segmented(tok, line) == theirs.process_line(line).strip(" ").split(" ")
        if "<unk>" not in tok.decode(tok.encode(line)):
            words = " ".join(word for word in line.split(" ") if word)
            assert tok.decode(tok.encode(line)) == words


def test_words_are_segmented_as_by_subword_nmt(shared_data: Callable[[str], Path]) -> None:
    lines = []
    for path in sorted(shared_data("flores-dev").glob("*.txt")):
        lines += path.read_text(encoding="utf-8").splitlines()[:25]
    assert len(lines) > 1000
    compare(learned(lines[::2], 800), lines)


def test_random_words() -> None:
    choose = random.Random(5)
    for _ in range(60):
        letters = "abcé日"[: choose.randrange(1, 6)]
        lines = [
            " ".join("".join(choose.choices(letters, k=choose.randrange(1, 30))) for _ in range(8))
            for _ in range(10)
        ]
        others = ["  ".join("".join(choose.choices(letters + "x\t\xa0", k=4)) for _ in range(9))]
        compare(learned(lines[:5], choose.randrange(1, 60)), [*lines, *others, "a", "x", " a  b "])


def test_files_are_recognised_and_written(tmp_path: Path) -> None:
    codes = learned(["low lower lowest newer wider"] * 3, 20)
    path = tmp_path / "codes.bpe"
    path.write_text(codes, encoding="utf-8")
    tok = digram.load(path)
    tok.save(tmp_path / "again", format="subword_nmt")
    assert (tmp_path / "again").read_text(encoding="utf-8") == codes
    assert digram.load(tmp_path / "again") == tok
    counted = [f"{line} {9 - n}" for n, line in enumerate(codes.splitlines()[1:])]
    path.write_text("\n".join(counted).replace("-", "") + "\n", encoding="utf-8")
    assert digram.load(path) == tok
    tok.save(tmp_path / "t.json")
    assert digram.load(tmp_path / "t.json") == tok


def test_the_first_of_equal_merges_counts() -> None:
    codes = "#version: 0.2\na b\nb c\nc d</w>\na b\n"
    compare(codes, ["abc", "abcd", "bcd", "ab"])
    assert len(require_bpe(loads(codes.encode()).model, "the test").merges) == 3


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ("#version: 0.1\nl o\n", "version '0.1' of subword-nmt's codes is not supported"),
        ("l o\n", "without a version and without counts"),
        ("#version: 0.2\nl </w>\n", "token '</w>' alone"),
        ("#version: 0.2\nl o", "ends inside a line"),
        ("#version: 0.2\n", "the file has no merges"),
        ("#version: 0.2\nl\n", "line 2: 'l' is not two tokens, with"),
        ("#version: 0.2\nl o 3\n", "line 2: 'l o 3' is not two tokens, with"),
        ("l o 3\nlo w x\n", "line 2: 'lo w x' is not two tokens and a count"),
        ("#version: 0.2\nl o\nlow e\n", "line 3: 'low' is neither a character"),
        ("#version: 0.2\nl</w> o\n", "line 2: 'l</w>' is the end of a word"),
    ],
)
def test_damaged_files_are_refused(codes: str, message: str) -> None:
    with pytest.raises((CorruptFileError, VocabError), match=message):
        loads(codes.encode(), "f")


def test_other_tokenizers_are_refused() -> None:
    whole = loads(b"#version: 0.2\nl o\nlo w</w>\n")
    model = require_bpe(whole.model, "the test")
    for changed, message in (
        (replace(whole, on_unknown="error"), "this on unknown"),
        (replace(whole, model=replace(model, suffix="@")), "without the suffix"),
        (replace(whole, tokens=[*whole.tokens, b"x"]), "this tokens"),
        (digram.train("a", max_merges=0).definition, "without the suffix"),
    ):
        with pytest.raises(VocabError, match=message):
            dumps(changed)
