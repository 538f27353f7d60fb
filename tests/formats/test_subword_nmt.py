"""Codes of subword-nmt and fastBPE, with subword-nmt itself beside them."""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
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


def old_codes(lines: list[str], merges: int, head: str = "") -> str:
    """Codes of version 0.1: merges of the most frequent pairs, with the mark as a symbol."""
    words = Counter(word for line in lines for word in line.split())
    pieces = {word: [*word, "</w>"] for word in words}
    found = []
    for _ in range(merges):
        counts: Counter[tuple[str, str]] = Counter()
        for word, parts in pieces.items():
            for pair in pairwise(parts):
                counts[pair] += words[word]
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        found.append(" ".join(best))
        for parts in pieces.values():
            at = 0
            while at < len(parts) - 1:
                if (parts[at], parts[at + 1]) == best:
                    parts[at : at + 2] = ["".join(best)]
                at += 1
    return head + "\n".join(found) + "\n"


def segmented(tok: digram.Tokenizer, line: str) -> list[str]:
    """The tokens of a line as subword-nmt prints them; unknown characters are printed too."""
    found = tok(line)
    pieces: list[str] = []
    for id, (start, end) in zip(found.ids, found.offsets, strict=True):
        token = tok.id_to_token(id).decode()
        if token == " ":  # the mark of version 0.1, which is not printed
            pieces[-1] = pieces[-1].removesuffix("@@")
            continue
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


def test_version_01_is_segmented_as_by_subword_nmt(shared_data: Callable[[str], Path]) -> None:
    lines = []
    for path in sorted(shared_data("flores-dev").glob("*.txt")):
        lines += path.read_text(encoding="utf-8").splitlines()[:6]
    compare(old_codes(lines[::4], 120), lines)
    choose = random.Random(9)
    for head in ("", "#version: 0.1\n"):
        for _ in range(40):
            letters = "abcé日"[: choose.randrange(1, 6)]
            lines = [
                " ".join(
                    "".join(choose.choices(letters, k=choose.randrange(1, 20))) for _ in "1234"
                )
                for _ in range(8)
            ]
            others = ["  ".join("".join(choose.choices(letters + "x\t", k=4)) for _ in range(9))]
            codes = old_codes(lines[:4], choose.randrange(1, 50), head)
            compare(codes, [*lines, *others, "a", "x", " a  b ", "ax xa"])


def test_version_01_is_written_as_it_was(tmp_path: Path) -> None:
    codes = old_codes(["low lower lowest newer wider"] * 3, 14, "#version: 0.1\n")
    (tmp_path / "codes").write_text(codes.removeprefix("#version: 0.1\n"), encoding="utf-8")
    tok = digram.load(tmp_path / "codes")
    assert tok.decode(tok.encode("low  lower")) == "low lower"
    tok.save(tmp_path / "again", format="subword_nmt")
    assert (tmp_path / "again").read_text(encoding="utf-8") == codes
    assert digram.load(tmp_path / "again") == tok
    tok.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json") == tok


def test_pieces_that_a_list_of_fairseq_lacks(tmp_path: Path) -> None:
    """Why dict.txt is refused: fairseq makes <unk> of pieces that no line of its corpus had.

    Merges make such pieces on the way to others, and in new text they may remain.
    """
    corpus = ["low low lower lowest newest"] * 5
    codes = learned(corpus, 6)
    theirs = apply_bpe.BPE(io.StringIO(codes))
    counts = Counter(piece for line in corpus for piece in theirs.process_line(line).split(" "))
    assert not {*theirs.process_line("lowx west").split(" ")} <= counts.keys()
    tok = digram.Tokenizer(loads(codes.encode()))
    made = {
        tok.id_to_token(id) for _, _, id in require_bpe(tok.definition.model, "the test").merges
    }
    printed = {piece[:-2] if piece.endswith("@@") else piece + " " for piece in counts}
    assert not {token.decode() for token in made} <= printed
    path = tmp_path / "dict.txt"
    path.write_text(
        "".join(f"{piece} {n}\n" for piece, n in counts.most_common()), encoding="utf-8"
    )
    with pytest.raises(VocabError, match=r"a list of fairseq \(dict.txt\) is not") as caught:
        digram.load(path)
    assert "<unk>" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("dict.txt", "the 500\nlow 300\nlower 20\n"),
        ("dict.en.txt", "the 500\nlow 300\nlower 300\n"),
        ("dict.txt", "13 850314647\n262 800385005\n11 800251374\nmadeupword0000 0\n"),
        ("list.txt", "▁the 12345\ns 1234\n▁a 99 #fairseq:overwrite\n"),
        ("dict.txt", "the 5\r\nlow 4\r\n"),
        ("dict.txt", "a 1\nb 0"),
    ],
)
def test_a_list_of_fairseq_without_marks_is_named(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    with pytest.raises(VocabError, match=r"as in dict\.txt of fairseq, is not") as caught:
        digram.load(path)
    assert "SentencePiece" in str(caught.value)


def test_ranks_are_no_counts(tmp_path: Path) -> None:
    tok = digram.train("low lower lowest", max_merges=3)
    tok.save(tmp_path / "a.tiktoken")
    lines = (tmp_path / "a.tiktoken").read_bytes().splitlines()
    backward = tmp_path / "backward.tiktoken"
    backward.write_bytes(b"\n".join(reversed(lines)))
    assert digram.load(backward, pretokenizer=tok.pretokenizer).vocab_size == tok.vocab_size


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
        ("#version: 0.3\nl o\n", "version '0.3' of subword-nmt's codes is not supported"),
        ("#version: 0.2\nl </w>\n", "line 2: the token '</w>' alone is one of subword-nmt's"),
        ("l o 7\nl </w> 3\n", "line 2: the token '</w>' alone is one of subword-nmt's"),
        ("l o\nlo w 3\n", "line 2: 'lo w 3' is not two tokens, with"),
        ("l </w>\nl</w> o\n", "line 2: 'l</w>' is the end of a word"),
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
