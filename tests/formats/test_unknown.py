"""BPE with `unk_token`, `fuse_unk`, `byte_fallback` and `dropout` beside the library itself."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

import digram
from digram import CorruptFileError, VocabError
from digram.formats.huggingface import dumps, loads
from digram.reference import encode_text
from digram.vocab.bpe import require_bpe

CUTS: dict[str, Any] = {
    "whole": None,
    "words": pre_tokenizers.Whitespace(),
    "digits": pre_tokenizers.Digits(individual_digits=False),
}


def made(cut: Any, letters: int = 8, **fields: Any) -> Tokenizer:
    """A tokenizer of characters that knows only some letters."""
    learned = Tokenizer(models.BPE())
    if cut is not None:
        learned.pre_tokenizer = cut
    trainer = trainers.BpeTrainer(vocab_size=40, show_progress=False, limit_alphabet=letters)
    learned.train_from_iterator(["abab cab 12 bac éa 日本" * 5, "low lower" * 9], trainer)
    model = json.loads(learned.to_str())["model"]
    vocab = model["vocab"] | {"<unk>": len(model["vocab"])}
    merges = [tuple(pair) for pair in model["merges"]]
    theirs = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", **fields))
    if cut is not None:
        theirs.pre_tokenizer = cut
    theirs.decoder = decoders.Fuse()
    theirs.add_special_tokens(["<unk>"])
    return theirs


def texts(number: int, seed: int = 1) -> list[str]:
    rng = random.Random(seed)
    letters = "abc 12éxyz日本語\U0001f600\n"
    return ["".join(rng.choices(letters, k=rng.randrange(1, 60))) for _ in range(number)]


LONG = ["xyz日本語\U0001f600" * 9_000, "ab日本語xyz" * 3_000, "abababab" * 3_000]


@pytest.mark.parametrize("name", CUTS)
@pytest.mark.parametrize("fields", [{}, {"ignore_merges": True}, {"byte_fallback": True}], ids=str)
def test_fused(name: str, fields: dict[str, Any]) -> None:
    """Ids, offsets and text; byte_fallback has no effect without tokens of bytes."""
    for letters in (4, 8, 12):
        theirs = made(CUTS[name], letters, fuse_unk=True, **fields)
        definition = loads(theirs.to_str().encode())
        tok = digram.Tokenizer(definition)
        found = digram.verify(tok, theirs, [*texts(300), *LONG], fuzz=200)
        assert found.equal, str(found)
        written = dumps(definition)
        assert digram.Tokenizer(loads(written)) == tok
        found = digram.verify(tok, Tokenizer.from_str(written.decode()), texts(50), fuzz=0)
        assert found.equal, str(found)


def test_ids_are_those_of_the_specification() -> None:
    for fused in (False, True):
        theirs = made(None, 6, fuse_unk=fused)
        tok = digram.Tokenizer(loads(theirs.to_str().encode()))
        tokens, merges = tok.definition.tokens, require_bpe(tok.definition.model, "it").merges
        unknown = tok.special_tokens["<unk>"]
        pairs = {(left, right): id for left, right, id in merges}
        base = [token or b"" for token in tokens]
        for text in texts(200, seed=4):
            expected = encode_text(text, base, pairs, unknown, fuse_unknown=fused)
            assert tok.encode(text) == expected == theirs.encode(text).ids


def test_other_calls_agree(tmp_path: Path) -> None:
    tok = digram.Tokenizer(loads(made(None, fuse_unk=True).to_str().encode()))
    text = "".join(texts(60, seed=9))
    ids = tok.encode(text)
    assert tok.count(text) == len(ids)
    assert tok.encode_batch([text, "xx", ""])[1:] == [tok.encode("xx"), []]
    assert len(tok.encode("xx")) == 1
    streamed = [id for part in tok.encode_stream([text[:50], text[50:]]) for id in part]
    assert streamed == ids
    shown = digram.explain(tok, "abxyéab")
    assert shown.ids == tok.encode("abxyéab")
    assert "<unk>" in str(shown)
    assert tok.encode("abxyab", dropout=1.0, seed=1).count(tok.special_tokens["<unk>"]) == 1
    tok.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json") == tok


def test_some_tokens_of_bytes_are_refused() -> None:
    """The library puts them before an unknown token that precedes them."""
    vocab = {"<unk>": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}
    theirs = Tokenizer(models.BPE(vocab, [], unk_token="<unk>", byte_fallback=True))
    assert theirs.encode("xé").ids == [2, 3, 0]
    theirs.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    with pytest.raises(VocabError, match=r"byte_fallback needs the token .<0x"):
        loads(theirs.to_str().encode())


def test_dropout_is_kept(tmp_path: Path) -> None:
    theirs = made(None, dropout=0.25)
    tok = digram.Tokenizer(loads(theirs.to_str().encode()))
    assert tok.dropout == tok.definition.dropout == 0.25
    file = json.loads(theirs.to_str())
    file["model"]["dropout"] = None
    without = Tokenizer.from_str(json.dumps(file))
    found = digram.verify(tok, without, texts(100), fuzz=100)
    assert found.equal, str(found)
    for format in ("huggingface", "digram"):
        tok.save(tmp_path / "t.json", format=format)
        assert digram.load(tmp_path / "t.json") == tok
    assert json.loads(dumps(tok.definition))["model"]["dropout"] == 0.25
    assert digram.Tokenizer(loads(without.to_str().encode())).dropout is None
    assert tok.encode("ababab", dropout=tok.dropout, seed=3) != []
    file["model"]["dropout"] = 1.5
    with pytest.raises(CorruptFileError, match=r"dropout 1\.5 is not a probability"):
        loads(json.dumps(file).encode())
