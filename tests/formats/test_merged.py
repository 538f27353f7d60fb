"""SentencePiece's BPE in other formats, for which other programs give the same ids."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from formats.test_sentencepiece import OPTIONS, PARTS, texts, trained
from tokenizers import Tokenizer

import digram
from digram import VocabError
from digram.formats import sentencepiece
from digram.formats._sentencepiece_file import Kind, ModelFile, Normalization, Piece, Type
from digram.formats.huggingface import dumps

spm = pytest.importorskip("sentencepiece")

# Hugging Face's library finds control pieces in all text.
TEXTS = [part for part in PARTS if part not in ("<s>", "</s>", "<unk>")]
PLAIN = Normalization(name="identity", remove_extra_whitespaces=False)
FOUND: dict[str, dict[str, Any]] = {
    "Llama 2": OPTIONS["Llama 2"],
    "Gemma": OPTIONS["Gemma"],
    "unknown characters": {
        "model_type": "bpe",
        "character_coverage": 0.98,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
    "characters": {
        "model_type": "char",
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
}


@pytest.mark.parametrize("name", FOUND)
def test_other_libraries_give_the_same_ids(name: str, tmp_path: Path) -> None:
    data = trained(**FOUND[name])
    scored = digram.Tokenizer(sentencepiece.loads(data))
    assert scored.definition.model.kind == "scored"
    scored.save(tmp_path / "tokenizer.json", format="huggingface")
    processor = spm.SentencePieceProcessor(model_proto=data)
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    again = digram.load(tmp_path / "tokenizer.json")
    assert again.special_tokens == scored.special_tokens
    unknown = processor.unk_id()
    for text in texts(400, 3, TEXTS):
        ids = processor.encode(text)
        encoded = theirs.encode(text, add_special_tokens=False)
        assert encoded.ids == again.encode(text) == scored.encode(text) == ids, text
        decoded = theirs.decode(ids, skip_special_tokens=False)
        assert decoded == again.decode(ids) == scored.decode(ids), text
        assert unknown in ids or decoded == processor.decode(ids), text


@pytest.mark.parametrize("name", ["Llama 2", "characters"])
def test_a_gguf_file_has_the_same_ids(name: str, tmp_path: Path) -> None:
    scored = digram.Tokenizer(sentencepiece.loads(trained(**FOUND[name])))
    scored.save(tmp_path / "a.gguf")
    again = digram.load(tmp_path / "a.gguf")
    for text in texts(200, 4, TEXTS):
        assert again.encode(text) == scored.encode(text), text
        assert again.decode(again.encode(text)) == scored.decode(scored.encode(text)), text


def test_ties_of_scores() -> None:
    """Overlapping tokens of one score: the leftmost is made first, which no merges mean."""
    rng = random.Random(5)
    equal = refused = 0
    for _ in range(60):
        letters = [Piece(letter, -20.0) for letter in ("▁", *"ab")]
        names = {"".join(rng.choices("ab", k=rng.randrange(2, 4))) for _ in range(4)}
        made = [Piece(name, -float(rng.randrange(3))) for name in sorted(names)]
        pieces = [Piece("<unk>", 0.0, Type.UNKNOWN), *letters, *made]
        data = ModelFile(pieces=pieces, kind=Kind.BPE, normalization=PLAIN).dumps()
        scored = digram.Tokenizer(sentencepiece.loads(data))
        try:
            theirs = Tokenizer.from_str(dumps(scored.definition).decode())
        except VocabError:
            with pytest.raises(VocabError, match="none mean the scores"):
                dumps(scored.definition)
            refused += 1
            continue
        equal += 1
        for _ in range(50):
            text = "".join(rng.choices("aab ", k=rng.randrange(12)))
            assert theirs.encode(text, add_special_tokens=False).ids == scored.encode(text), text
    assert min(equal, refused) > 5


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"normalization": Normalization()}, "the removal of spaces"),
        ({"whitespace_as_suffix": True}, "add_space='behind'"),
        ({"pieces": [Piece("▁b", -1.0, Type.UNUSED)]}, "pieces that are not in use"),
        ({"pieces": [Piece("<x>", 0.0, Type.USER_DEFINED)]}, "others put one behind each"),
    ],
)
def test_what_no_other_library_does(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    pieces = [Piece("<unk>", 0.0, Type.UNKNOWN), Piece("▁", -1.0), Piece("a", -2.0)]
    given = {"kind": Kind.BPE, "normalization": PLAIN, **fields}
    given["pieces"] = pieces + given.get("pieces", [])
    tok = digram.Tokenizer(sentencepiece.loads(ModelFile(**given).dumps()))
    for format in ("huggingface", "gguf"):
        with pytest.raises(VocabError, match=message):
            tok.save(tmp_path / "a", format=format)
    tok.save(tmp_path / "a.json")
    assert digram.load(tmp_path / "a.json") == tok
