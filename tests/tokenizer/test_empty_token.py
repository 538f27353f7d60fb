"""A token without bytes, as the published vocabulary of Whisper has one: no text becomes it."""

from __future__ import annotations

import base64
import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from vocabularies import CORPUS

import digram
from digram import Pretokenizer, VocabError
from digram.formats import FORMATS
from digram.formats.tiktoken import loads
from digram.pretokenizers.pretokenizer import NAMED

TRAINED = digram.train(CORPUS, max_merges=60, pretokenizer="gpt2")
END = TRAINED.vocab_size
PUBLISHED = b"".join(
    base64.b64encode(token) + b" %d\n" % id
    for id, token in enumerate(TRAINED.definition.tokens)
    if token is not None
) + (b"= %d\n" % END)


@pytest.fixture(scope="module")
def tok(tmp_path_factory: pytest.TempPathFactory) -> digram.Tokenizer:
    path = tmp_path_factory.mktemp("empty") / "multilingual.tiktoken"
    path.write_bytes(PUBLISHED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nobody expects a text that becomes it
        return digram.load(path, pretokenizer="gpt2")


def test_it_is_an_id_of_no_text(tok: digram.Tokenizer) -> None:
    assert (tok.vocab_size, tok.id_to_token(END), tok.tokens([END, 97])) == (
        END + 1,
        b"",
        [b"", b"a"],
    )
    assert tok.decode([END]) == tok.decode([END, END]) == ""
    assert tok.decode([104, END, 105]) == "hi"
    assert tok.decode_bytes([0xE4, END, 0xB8, 0xAD]) == "中".encode()
    assert tok.decode_batch([[END], [97, END]]) == ["", "a"]
    decoder = tok.decoder()
    assert [decoder.push(id) for id in (0xE4, END, 0xB8, 0xAD)] == ["", "", "", "中"]
    assert tok.encode("") == []
    assert tok.encode(CORPUS) == TRAINED.encode(CORPUS)
    assert tok.count(CORPUS) == TRAINED.count(CORPUS)
    assert END in tok.unreachable()
    assert tok("hi there").ids == TRAINED("hi there").ids


def test_tiktoken_reads_it_alike(tok: digram.Tokenizer) -> None:
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in PUBLISHED.splitlines())
    }
    theirs = tiktoken.Encoding(
        "whisper", pat_str=NAMED["gpt2"].patterns[0], mergeable_ranks=ranks, special_tokens={}
    )
    for text in (CORPUS, "", " ", "a", "\n"):
        assert theirs.encode_ordinary(text) == tok.encode(text)
    assert theirs.decode([END, 97, END]) == tok.decode([END, 97, END]) == "a"
    assert theirs.decode_single_token_bytes(END) == tok.id_to_token(END) == b""


WITHOUT_ROOM = {
    "seed_pair": "cannot store a pretokenizer",
    "sentencepiece": "cannot store a model of",
    "gguf": "cannot store the empty token",
    "minbpe": "the first ids are the 256 bytes|empty token",
    "vocab_txt": "cannot store a model of|WordPiece",
    "clip": "since it implies CLIP's own",
    "subword_nmt": "codes",
    "rwkv": "means that the longest token is taken",
}


def test_it_is_kept(tok: digram.Tokenizer, tmp_path: Path) -> None:
    for format in FORMATS:
        path = tmp_path / {"huggingface": "a.json", "digram": "b.json"}.get(format, format)
        if format in WITHOUT_ROOM:
            with pytest.raises(VocabError, match=WITHOUT_ROOM[format]):
                tok.save(path, format=format, allow_loss=True)
            continue
        tok.save(path, format=format, allow_loss=True)
        told: dict[str, Any] = (
            {"pretokenizer": "gpt2"} if format in ("tiktoken", "vocab_merges") else {}
        )
        again = digram.load(path, **told)
        assert (again.vocab_size, again.id_to_token(END)) == (END + 1, b"")
        assert again.encode(CORPUS) == tok.encode(CORPUS)
        if format != "vocab_merges":
            assert again == tok
    assert (tmp_path / "tiktoken").read_bytes() == PUBLISHED
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "a.json"))
    assert theirs.encode(CORPUS).ids == tok.encode(CORPUS)
    assert theirs.decode([97, END, 98]) == tok.decode([97, END, 98]) == "ab"
    for other in (pickle.loads(pickle.dumps(tok)), copy.deepcopy(tok)):
        assert (other, other.digest) == (tok, tok.digest)
        assert other.id_to_token(END) == b""
    assert tok != TRAINED


def test_everything_else_works_with_it(tok: digram.Tokenizer) -> None:
    text = "the low lower lowest words are new"
    assert str(digram.audit(tok))
    assert str(digram.audit(tok, [text]))
    assert str(digram.evaluate(tok, [text]))
    assert str(digram.compare(tok, TRAINED, [text]))
    assert digram.explain(tok, text)
    assert digram.replay(tok, text)
    assert digram.report(tok, {"en": [text]}).html()
    extended, change = digram.extend(tok, ["lowest lowest"], add=2)
    assert extended.id_to_token(END) == b""
    assert extended.vocab_size == END + 3
    assert change is not None
    pruned, _ = digram.prune(tok, [CORPUS], remove=5)
    assert pruned.decode(pruned.encode(CORPUS)) == CORPUS
    special = tok.with_special_tokens({"<|endoftext|>": END + 1})
    assert special.decode([END, END + 1]) == "<|endoftext|>"
    assert pickle.loads(pickle.dumps(special)) == special


def test_what_is_wrong_with_it() -> None:
    def read(more: bytes) -> Any:
        return loads(PUBLISHED + more, "t.tiktoken", pretokenizer=Pretokenizer("gpt2"))

    with pytest.raises(VocabError, match=r"token b'' also occurs in line"):
        read(b"= %d\n" % (END + 1))
    with pytest.raises(VocabError, match="also occurs in line"):
        read(b"YQ== %d\n" % (END + 1))
    definition = read(b"")
    definition.model.merges.append((END, 256, 256))
    with pytest.raises(VocabError, match="a part is empty"):
        digram.Tokenizer(definition)
