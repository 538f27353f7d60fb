"""RWKV's word list, also in GGUF: what is written is read again, and damaged lines are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from gguf_files import packed

import digram
from digram.errors import DigramError
from digram.formats import gguf, rwkv
from digram.formats._rwkv_names import literal, of_literal, spelled, unspelled

MORE = [
    b"\t\t",
    b"'\"",
    b"it's",
    "日本".encode(),
    b"\xe6\x97",
    b"\\n",
    b"\xff\x00",
    b"  the",
    b"</s>",
]
TOKENS = [*(bytes([byte]) for byte in range(256)), *MORE]
LIST = "".join(
    f"{number} {literal(token)} {len(token)}\n" for number, token in enumerate(TOKENS, 1)
).encode()


def test_a_word_list(tmp_path: Path) -> None:
    path = tmp_path / "rwkv_vocab.txt"
    path.write_bytes(LIST.replace(b"\n", b"\r\n"))
    tok = digram.load(path)
    assert tok.vocab_size == 266
    assert tok.encode("\t\t\tit's 日本語") == [257, 10, 259, 33, 260, 0xE8 + 1, 0xAA + 1, 0x9E + 1]
    assert rwkv.dumps(tok.definition) == LIST
    for format in ("rwkv", "digram", "gguf"):
        tok.save(tmp_path / f"a.{format}", format=format)
        assert digram.load(tmp_path / f"a.{format}") == tok
    special = tok.with_special_tokens({"<s>": 0})
    special.save(tmp_path / "b.gguf")
    assert digram.load(tmp_path / "b.gguf") == special
    with pytest.raises(digram.VocabError, match="special token"):
        special.save(tmp_path / "b.txt", format="rwkv")
    with pytest.raises(digram.VocabError, match="longest token"):
        tok.save(tmp_path / "b.json", format="huggingface")


@pytest.mark.parametrize("token", TOKENS)
def test_names_of_tokens(token: bytes) -> None:
    assert of_literal(literal(token), "", None) == token
    assert unspelled(spelled(token), "", None) == token


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("266 'ab' 3", "the token has 2 bytes"),
        ("266 'ab'", "no id or no length"),
        ("x 'ab' 2", "no id or no length"),
        ("266 'a'b' 3", "not a token with escapes"),
        ("266 '\\q' 2", "not a token with escapes"),
        ("266 '\\ud800' 3", "not a token with escapes"),
        ("266 b'\\u0041' 1", "not a token with escapes"),
        ("266 (((((1))))) 2", "not a token with escapes"),
        ("266 '' 0", "the token has 0 bytes"),
        ("265 'zz' 2", "the id 265 has two tokens"),
        ("266 'it\\'s' 4", "has the ids 259 and 266"),
    ],
)
def test_damaged_lines(line: str, message: str) -> None:
    with pytest.raises(DigramError, match=message):
        digram.Tokenizer(rwkv.loads(LIST + line.encode() + b"\n", "a.txt"))


def test_all_bytes_are_needed() -> None:
    with pytest.raises(digram.VocabError, match="1 of the 256 bytes"):
        rwkv.loads(LIST.partition(b"\n")[2])


def test_a_file_of_llama_cpp() -> None:
    names = ["<s>", *(spelled(token) for token in TOKENS), "[PAD266]"]
    entries = {
        "tokenizer.ggml.model": (8, "rwkv"),
        "tokenizer.ggml.tokens": (9, (8, names)),
        "tokenizer.ggml.token_type": (9, (5, [3, *[1] * len(TOKENS), 5])),
    }
    tok = digram.Tokenizer(gguf.loads(packed(entries)))
    assert tok.special_tokens == {"<s>": 0}
    assert tok.encode("</s><s>") == [265, 61, 116, 63]
    assert tok.encode("</s><s>", special="parse") == [265, 0]
    names[1] = "\\x0"
    with pytest.raises(digram.CorruptFileError, match="token 1"):
        gguf.loads(packed(entries))
