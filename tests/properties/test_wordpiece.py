"""WordPiece: ids are those of the reference and of Hugging Face's library, by every way."""

from __future__ import annotations

from itertools import chain
from typing import Any

import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases
from tokenizers import decoders, models, pre_tokenizers

import digram
from digram.pretokenizers import Prepend, Pretokenizer, Regex, Replace, Strip
from digram.reference import wordpiece

UNKNOWN, START = "[UNK]", "[CLS]"
LETTERS = "ab#é.'ts"
WORDS = st.text(LETTERS, min_size=1, max_size=12)
SPACED = Pretokenizer(
    Regex(" [^ ]+"), normalizer=[Replace("\t", " "), Replace("  ", " "), Strip(), Prepend(" ")]
)
PIECES = st.sampled_from(["##", *(prefix + c for prefix in ("", "##") for c in LETTERS)])
NAMES = st.lists(
    PIECES | WORDS | WORDS.map("##{}".format) | st.sampled_from(["do", "not", "n't", "'s", "'"]),
    min_size=1,
    max_size=30,
    unique=True,
)
TEXTS = st.lists(WORDS | st.sampled_from(["##ab", "aab", "[UNK]"]), max_size=9).map(" ".join)


def bytes_of(name: str) -> bytes:
    return name.removeprefix("##").encode() if name.startswith("##") else b" " + name.encode()


def tokenizer(names: list[str], most: int, cleanup: bool = False) -> digram.Tokenizer:
    """A tokenizer of these names, after two special tokens."""
    return digram.Tokenizer(
        digram.Definition(
            tokens=[None, None, *map(bytes_of, names)],
            model=digram.WordPieceModel(max_word_chars=most),
            pretokenizer=SPACED,
            special_tokens={UNKNOWN: 0, START: 1},
            unit="char",
            on_unknown=digram.SpecialToken(UNKNOWN),
            strip_first_space=True,
            cleanup=cleanup,
        )
    )


def peer(names: list[str], most: int, cleanup: bool) -> tokenizers.Tokenizer:
    vocab = {name: id for id, name in enumerate([UNKNOWN, START, *names])}
    made = tokenizers.Tokenizer(
        models.WordPiece(vocab, unk_token=UNKNOWN, max_input_chars_per_word=most)
    )
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.decoder = decoders.WordPiece("##", cleanup)
    made.add_special_tokens([UNKNOWN, START])
    return made


@cases(400)
@given(names=NAMES, text=TEXTS, most=st.sampled_from([1, 3, 100]), data=st.data())
def test_ids_are_those_of_the_reference_and_of_the_peer(
    names: list[str], text: str, most: int, data: Any
) -> None:
    tok, other = tokenizer(names, most), peer(names, most, False)
    ids = {name: id for id, name in enumerate(names, 2)}
    expected = [
        id for part in text.split() for id in wordpiece.encode(part, ids, 0, max_word_chars=most)
    ]
    plain = text.replace(UNKNOWN, "a")  # in a text the peer finds it as a special token
    assert tok.encode(text) == expected
    assert tok.encode(plain) == other.encode(plain, add_special_tokens=False).ids
    assert tok.count(text) == len(expected)
    assert tok.encode_batch([text, plain, text]) == [expected, tok.encode(plain), expected]
    at = data.draw(st.integers(0, len(text)))
    assert [*chain(*tok.encode_stream([text[:at], text[at:]]))] == expected
    counter = tok.counter(text[:at])
    counter.append(text[at:])
    assert int(counter) == len(expected)
    for maximum in range(len(expected) + 1):
        kept = tok.truncate(text, maximum)
        assert text.startswith(kept)
        assert tok.count(kept) <= maximum
        assert tok.fits(text, maximum) == (len(expected) <= maximum)


@cases(300)
@given(names=NAMES, text=TEXTS)
def test_offsets_cover_the_words(names: list[str], text: str) -> None:
    tok = tokenizer(names, 100)
    encoded = tok(text, special="text")
    position = 0
    for (start, end), id, word in zip(encoded.offsets, encoded.ids, encoded.word_ids, strict=True):
        assert start == position
        assert start < end
        position = end
        if id == 0:
            assert word is not None
            assert text[start:end].strip() == text.split()[word]
    assert position == len(text)


@cases(300)
@given(names=NAMES, cleanup=st.booleans(), data=st.data())
def test_decoded_text_is_that_of_the_peer(names: list[str], cleanup: bool, data: Any) -> None:
    tok, other = tokenizer(names, 100, cleanup), peer(names, 100, cleanup)
    ids = data.draw(st.lists(st.integers(0, len(names) + 1), max_size=12))
    for skip in (False, True):
        expected = other.decode(ids, skip_special_tokens=skip)
        assert tok.decode(ids, skip_special_tokens=skip) == expected
    decoder = tok.decoder()
    parts = [decoder.push(id) for id in ids]
    assert "".join(parts) + decoder.finish() == tok.decode(ids)
