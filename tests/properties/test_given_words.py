"""Words that are cached before they are normalized: ids are those of Hugging Face's library."""

from __future__ import annotations

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases
from tokenizers import models, normalizers, pre_tokenizers

import digram
from digram.formats import huggingface

UNKNOWN, MASK = "[UNK]", "[MASK]"
LETTERS = "abceé日語がか.-ßİ"
PIECES = [*LETTERS, "ab", "abc", "日語", "ea", "s", "\u0307", "#", "[", "]", "m", "k"]
NAMES = [UNKNOWN, MASK, *dict.fromkeys(PIECES), *dict.fromkeys(f"##{piece}" for piece in PIECES)]
PARTS = [
    *"abcABCé日語がか.- \t\n\r\u3000\u00a0\u0301\u0323\u200b\u00ad\x00😀ßİ",
    *(
        "ab",
        "Abc",
        "e\u0301",
        "  ",
        MASK,
        "[mask]",
        UNKNOWN,
        "日語",
        "a" * 120,
        "日a" * 70,
        "é" * 200,
    ),
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=24).map("".join)


def made(normalizer: normalizers.Normalizer, lstrip: bool) -> tokenizers.Tokenizer:
    vocab = {name: id for id, name in enumerate(NAMES)}
    peer = tokenizers.Tokenizer(models.WordPiece(vocab, unk_token=UNKNOWN))
    peer.normalizer = normalizer
    peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    mask = tokenizers.AddedToken(MASK, lstrip=lstrip, normalized=False, special=True)
    peer.add_special_tokens([UNKNOWN, mask])
    return peer


PEERS = [
    made(normalizers.BertNormalizer(), False),
    made(normalizers.BertNormalizer(lowercase=False, handle_chinese_chars=False), True),
    made(normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]), True),
]
TOKENIZERS = [digram.Tokenizer(huggingface.loads(peer.to_str().encode())) for peer in PEERS]
"""Used for all texts, so that most words have been cached."""


@cases(400)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), number=st.integers(0, len(PEERS) - 1))
def test_ids_are_those_of_the_peer(texts: list[str], number: int) -> None:
    tok, peer = TOKENIZERS[number], PEERS[number]
    expected = [one.ids for one in peer.encode_batch(texts, add_special_tokens=False)]
    plain = [tok.encode(text, special="text") for text in texts]
    for _ in range(2):
        assert [tok.encode(text, special="parse") for text in texts] == expected
        assert tok.encode_batch(texts, special="parse") == expected
        assert [tok.count(text, special="parse") for text in texts] == [*map(len, expected)]
        # The same words are plain text in other calls.
        assert [tok.encode(text, special="text") for text in texts] == plain
    fresh = digram.Tokenizer(tok.definition)
    assert [fresh.encode(text, special="text") for text in texts] == plain


@pytest.mark.parametrize("before", ["", "ab. 日語 ", "é" * 300 + " "])
def test_a_special_token_is_found_at_its_place(before: str) -> None:
    with pytest.raises(digram.SpecialTokenError) as caught:
        TOKENIZERS[0].encode(f"{before}{MASK} ab", special="raise")
    assert f"character {len(before)}" in str(caught.value)


def test_a_surrogate_is_found_at_its_place() -> None:
    with pytest.raises(digram.InvalidTextError, match="index 8"):
        TOKENIZERS[0].encode("ab 日語 ab\ud800 ab")
