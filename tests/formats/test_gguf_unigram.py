"""Unigram in GGUF: ids are those of llama.cpp's algorithm, which is written down here.

SentencePiece adds scores in 32 bits and llama.cpp in 64, and their rules for spaces differ, so
SentencePiece itself is no oracle here. The longest entry of a character map is replaced by both.
"""

from __future__ import annotations

import io
import random
import struct
from dataclasses import replace
from typing import Any

import pytest
from gguf_files import Entry, packed

import digram
from digram.errors import DigramError, VocabError
from digram.formats import gguf
from digram.formats._sentencepiece_file import ModelFile
from digram.pretokenizers import SentencePiece

SPACE = "▁"
PARTS = [
    "the",
    "cat",
    " ",
    "  ",
    "▁",
    "a",
    "x",
    "日本",
    "ﬁ",
    "①",
    "\t",
    "é",
    "<x>",
    "</s>",
    "語",
    ".",
]


def single(number: float) -> float:
    found: float = struct.unpack("f", struct.pack("f", number))[0]
    return found


def trained() -> ModelFile:
    spm = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(
            ["the cat sat on the mat", "日本 の 本 a b é", "the theory. cats."] * 9
        ),
        model_writer=model,
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
        user_defined_symbols=["<x>"],
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
    )
    return ModelFile.loads(model.getvalue(), None)


def entries(file: ModelFile, **changes: Entry | None) -> dict[str, Entry]:
    of: dict[str, Entry | None] = {
        "model": (8, "t5"),
        "tokens": (9, (8, [piece.text for piece in file.pieces])),
        "scores": (9, (6, [piece.score for piece in file.pieces])),
        "token_type": (9, (5, [int(piece.type) for piece in file.pieces])),
        "precompiled_charsmap": (9, (0, list(file.normalization.charsmap))),
        "add_space_prefix": (7, 1),
        "remove_extra_whitespaces": (7, 1),
        **changes,
    }
    return {f"tokenizer.ggml.{key}": value for key, value in of.items() if value is not None}


def normalized(mapped: str, *, prefix: bool, merges: bool) -> str:
    """The text after the character map, with llama.cpp's rules for spaces."""
    found, is_put, is_word = "", False, False
    for character in mapped:
        if character == " ":
            is_word = False
            found += "" if merges else SPACE
            continue
        if not is_word and ((prefix and not is_put) or merges):
            found += SPACE
            is_put = True
        is_word = True
        found += character
    return found


def segmented(
    text: str, scores: dict[str, tuple[int, float]], lowest: float, unknown: int
) -> list[int]:
    """The best sum up to each place, in double precision; a later one must be greater."""
    best: list[tuple[float, int, int]] = [(float("-inf"), 0, unknown)] * (len(text) + 1)
    best[0] = (0.0, 0, unknown)
    for start in range(len(text)):
        here, has_single = best[start][0], False
        for end in range(start + 1, len(text) + 1):
            if text[start:end] in scores:
                has_single |= end == start + 1
                id, score = scores[text[start:end]]
                if here + score > best[end][0]:
                    best[end] = (here + score, start, id)
        if not has_single and here + lowest > best[start + 1][0]:
            best[start + 1] = (here + lowest, start, unknown)
    ids: list[int] = []
    at = len(text)
    while at:
        _, start, id = best[at]
        if not (id == unknown and ids[-1:] == [unknown]):
            ids.append(id)
        at = start
    return ids[::-1]


@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("merges", [True, False])
@pytest.mark.parametrize("has_map", [True, False])
def test_ids(prefix: bool, merges: bool, has_map: bool) -> None:
    file = trained()
    flags: dict[str, Any] = {
        **({} if has_map else {"precompiled_charsmap": None}),
        "add_space_prefix": (7, int(prefix)),
        "remove_extra_whitespaces": (7, int(merges)),
    }
    tok = digram.Tokenizer(gguf.loads(packed(entries(file, **flags))))
    assert digram.Tokenizer(gguf.loads(gguf.dumps(tok.definition))) == tok
    scores = {
        piece.text: (id, 0.0 if piece.type == 4 else piece.score)
        for id, piece in enumerate(file.pieces)
        if piece.type in (1, 4, 5)
    }
    lowest = single(min(piece.score for piece in file.pieces if piece.type == 1) - 10)
    only_map = SentencePiece(file.normalization.charsmap, add_space=None, remove_spaces=False)
    mapping = digram.Pretokenizer(None, normalizer=only_map).splitter()
    user = next(id for id, piece in enumerate(file.pieces) if piece.text == "<x>")
    rng = random.Random(0)
    for _ in range(600):
        text = "".join(rng.choices(PARTS, k=rng.randrange(10)))
        expected: list[int] = []
        for number, part in enumerate(text.split("<x>")):
            expected += [user] if number else []
            # Without a map the symbol is no space where the rules for spaces are applied.
            mapped = mapping.normalize(part) if has_map else part
            plain = normalized(mapped, prefix=prefix, merges=merges)
            expected += segmented(plain, scores, lowest, 2)
        assert tok.encode(text) == expected, text
    assert tok("the").ids[-1] == 1


def test_what_is_refused() -> None:
    file = trained()
    names = [piece.text for piece in file.pieces]
    types = [int(piece.type) for piece in file.pieces]
    for changes, message in (
        ({"token_type": (9, (5, [*types[:-1], 6]))}, "of a byte"),
        ({"tokens": (9, (8, [*names[:-1], "a b"]))}, "which has a space"),
        ({"token_type": (9, (5, [3] * len(types)))}, "without normal tokens"),
        ({"precompiled_charsmap": (9, (0, [9, 9, 9, 9, 9]))}, "damaged"),
        ({"precompiled_charsmap": (9, (5, [1]))}, "numbers of 8 bits"),
        ({"scores": (9, (6, [float("-inf")] * len(types)))}, "score"),
    ):
        with pytest.raises(DigramError, match=message):
            digram.Tokenizer(gguf.loads(packed(entries(file, **changes)), "a.gguf"))


def test_what_a_file_cannot_store() -> None:
    definition = gguf.loads(packed(entries(trained())))
    model: Any = definition.model
    for changed, message in (
        (replace(definition, strip_first_space=False), "strip_first_space"),
        (replace(definition, model=replace(model, spelled=())), "other names"),
        (
            replace(definition, model=replace(model, unknown=-1.0)),
            "score -1.0 of unknown",
        ),
        (
            replace(definition, model=replace(model, addition="single")),
            "single precision",
        ),
    ):
        with pytest.raises(VocabError, match=message):
            gguf.dumps(changed)
