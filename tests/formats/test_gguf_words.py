"""WordPiece in GGUF: what is written is read again, and says the same to llama.cpp."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gguf_files import keys, packed

import digram
from digram import Definition, VocabError, WordPieceModel
from digram.formats import gguf, vocab_txt
from digram.pretokenizers import BERT_WORDS, BertNormalizer, Pretokenizer

NAMES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "low", "##er", "!", "é", "e"]


def of_bert(**changes: Any) -> Definition:
    data = "".join(f"{name}\n" for name in NAMES).encode()
    read = vocab_txt.loads(data, encoding="bert-uncased")
    return replace(read, model=WordPieceModel(max_word_chars=1 << 30), **changes)


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("strip_accents", [True, False, None])
def test_what_is_written_is_read_again(lowercase: bool, strip_accents: bool | None) -> None:
    normal = BertNormalizer(lowercase=lowercase, strip_accents=strip_accents)
    cut = Pretokenizer(None, normalizer=[normal, BERT_WORDS])
    definition = of_bert(pretokenizer=cut, context_size=512)
    assert gguf.loads(gguf.dumps(definition)) == definition


def test_the_limit_of_words_is_lost_only_on_request(tmp_path: Path) -> None:
    limited = digram.Tokenizer(replace(of_bert(), model=WordPieceModel()))
    with pytest.raises(VocabError, match="the limit of 100 characters for words"):
        limited.save(tmp_path / "a.gguf")
    limited.save(tmp_path / "a.gguf", allow_loss=True)
    again = digram.load(tmp_path / "a.gguf")
    text = "Lower lowé! low"
    assert again(text).ids == limited(text).ids
    long = "low" + "er" * 60
    assert (len(limited.encode(long)), len(again.encode(long))) == (1, 61)


def test_the_first_token_is_the_bos_of_newer_files() -> None:
    names = [f"[{id}]" for id in range(110)] + ["▁low"]
    found = {"bos": 5, "seperator": 6, "unknown": 7, "padding": 8, "mask": 9}
    for more, first in ({"cls": 4}, "[5]"), ({}, "[5]"), ({"cls": 4, "bos": None}, "[4]"):
        ids = {**found, **more}
        given = {f"{key}_token_id": id if id is None else (4, id) for key, id in ids.items()}
        data = packed(
            keys(
                model=(8, "bert"),
                tokens=(9, (8, names)),
                token_type=None,
                merges=None,
                bos_token_id=given.pop("bos_token_id"),
                **given,
            )
        )
        tok = digram.Tokenizer(gguf.loads(data))
        assert tok.tokens(tok("low").ids)[0] == first.encode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"special_tokens": {**of_bert().special_tokens, "<x>": 10}}, "the special tokens of"),
        ({"pretokenizer": Pretokenizer(None, normalizer=BERT_WORDS)}, "the pretokenizer of"),
        ({"cleanup": False}, "the cleanup of a WordPiece tokenizer, False: llama.cpp means True"),
        ({"pad_token": None}, "the pad token of"),
        ({"chat_templates": {"default": "x"}}, "the chat templates of"),
    ],
)
def test_what_a_file_cannot_store(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabError, match=message):
        gguf.dumps(of_bert(**changes))


def test_a_tokenizer_without_the_special_tokens_of_bert() -> None:
    tok = digram.train("low lower", model=digram.WordPiece(), max_merges=3)
    with pytest.raises(VocabError, match=r"without a pad token: llama\.cpp takes token 0"):
        gguf.dumps(tok.definition)
