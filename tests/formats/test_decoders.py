"""Decoders of tokenizer.json: the text is that of the library, or the file is refused."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

import digram
from digram import PatternError, VocabError
from digram.formats.huggingface import dumps, loads

LEVEL, FUSE, BYTES = decoders.ByteLevel(), decoders.Fuse(), decoders.ByteFallback()
SYMBOL, STRIP = decoders.Replace("▁", " "), decoders.Strip(" ", 1, 0)
NOTHING = decoders.Strip(" ", 0, 0)


def several(*parts: Any) -> Any:
    return decoders.Sequence(list(parts))


TEXTS = ["The café's naïve 12,345", "한국어 中文 日本語 é", " a b", "\x01 \t\n  é日"]


def of_bytes() -> Tokenizer:
    letters = {letter: id for id, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    theirs = Tokenizer(models.BPE(letters | {"ab": 256, "Ã©": 257}, [("a", "b"), ("Ã", "©")]))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return theirs


def spaced(normalizer: Any, cut: Any) -> Tokenizer:
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁abcefhinortuvT'é", "▁a", "ab"]
    vocab = {name: id for id, name in enumerate(names)}
    merges = [("▁", "a"), ("a", "b")]
    theirs = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>", byte_fallback=True))
    if normalizer is not None:
        theirs.normalizer = normalizer
    if cut is not None:
        theirs.pre_tokenizer = cut
    theirs.add_special_tokens(["<unk>"])
    return theirs


def llama() -> Tokenizer:
    stages = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    return spaced(normalizers.Sequence(stages), None)


def gemma() -> Tokenizer:
    return spaced(normalizers.Replace(" ", "▁"), None)


def words() -> Tokenizer:
    return spaced(None, pre_tokenizers.Metaspace("▁", prepend_scheme="always", split=True))


def characters() -> Tokenizer:
    vocab = {"<unk>": 0, "a": 1, "b": 2, " ": 3, "ab": 4, "<0x4": 5}
    return Tokenizer(models.BPE(vocab, [("a", "b")], unk_token="<unk>"))


EXACT = [
    *((of_bytes, one) for one in (LEVEL, several(LEVEL, FUSE), several(LEVEL, STRIP))),
    (of_bytes, several(several(LEVEL, NOTHING), several(FUSE, STRIP))),
    *((characters, one) for one in (FUSE, several(), several(BYTES), several(BYTES, FUSE))),
    (characters, several(FUSE, STRIP)),
    (llama, several(SYMBOL, BYTES, FUSE, STRIP)),
    (llama, several(several(SYMBOL, BYTES), several(FUSE, STRIP), NOTHING)),
    (gemma, several(SYMBOL, BYTES)),
    (gemma, several(SYMBOL, BYTES, FUSE, FUSE)),
]
BY_STEPS = [
    *((characters, one) for one in (None, STRIP, decoders.CTC(), LEVEL)),
    (characters, decoders.Replace(Regex("a+"), "b")),
    (llama, several(SYMBOL, BYTES, STRIP)),  # of each token
    (llama, several(BYTES, SYMBOL, FUSE)),  # bytes become a space
    (llama, several(SYMBOL, FUSE)),  # bytes are not decoded
    (llama, several(SYMBOL, BYTES, FUSE, decoders.Strip(" ", 2, 0))),
    (words, decoders.Metaspace()),
    (words, decoders.Metaspace(prepend_scheme="never")),
]
REFUSED = [
    (of_bytes, None),
    *((of_bytes, one) for one in (FUSE, SYMBOL, decoders.CTC(), decoders.WordPiece())),
]


@pytest.mark.parametrize(("family", "decoder"), EXACT, ids=str)
def test_text_is_that_of_the_library(family: Any, decoder: Any) -> None:
    theirs, rng = family(), random.Random(1)
    theirs.decoder = decoder
    definition = loads(theirs.to_str().encode())
    tok, again = digram.Tokenizer(definition), Tokenizer.from_str(dumps(definition).decode())
    bytes_of = {id for name, id in theirs.get_vocab().items() if name.startswith("<0x")}
    # Bytes that are not UTF-8 are another subject; those of text are.
    plain = [id for id in range(theirs.get_vocab_size()) if id not in bytes_of]
    given = [rng.choices(plain, k=rng.randrange(1, 9)) for _ in range(500)]
    given += [theirs.encode(text).ids for text in TEXTS]
    for ids in given:
        expected = theirs.decode(ids, skip_special_tokens=False)
        assert tok.decode(ids) == expected, ids
        assert again.decode(ids, skip_special_tokens=False) == expected
        stream = tok.decoder()
        assert "".join([*map(stream.push, ids), stream.finish()]) == expected


@pytest.mark.parametrize(("family", "decoder"), BY_STEPS, ids=str)
def test_others_are_steps_with_the_text_of_the_library(family: Any, decoder: Any) -> None:
    theirs, rng = family(), random.Random(2)
    theirs.decoder = decoder
    definition = loads(theirs.to_str().encode())
    tok, again = digram.Tokenizer(definition), Tokenizer.from_str(dumps(definition).decode())
    assert tok.decoding is not None
    given = [rng.choices(range(theirs.get_vocab_size()), k=rng.randrange(9)) for _ in range(500)]
    encoded = [theirs.encode(text).ids for text in TEXTS]
    assert [tok.encode(text, special="parse") for text in TEXTS] == encoded
    for ids in given + encoded:
        expected = theirs.decode(ids, skip_special_tokens=False)
        assert tok.decode(ids) == expected, ids
        assert again.decode(ids, skip_special_tokens=False) == expected


@pytest.mark.parametrize(("family", "decoder"), REFUSED, ids=str)
def test_others_are_refused(family: Any, decoder: Any) -> None:
    theirs = family()
    theirs.decoder = decoder
    with pytest.raises(VocabError, match=r"decoder .*not supported|with this normalizer is not"):
        loads(theirs.to_str().encode())


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<=a)b", "a(?=bc)"])
def test_look_around_of_which_no_match_would_be_replaced(pattern: str) -> None:
    theirs = Tokenizer(models.BPE({"<u>": 0, "a": 1, "b": 2}, [], unk_token="<u>"))
    theirs.decoder = decoders.Replace(Regex(pattern), "x")
    with pytest.raises(PatternError, match=r"decoder: .* in a decoder, look-around is supported"):
        loads(theirs.to_str().encode())
    theirs.decoder = decoders.Replace(Regex("a"), "x")
    definition = loads(theirs.to_str().encode())
    step = digram.decoders.Replace(digram.Regex(pattern), "x")
    with pytest.raises(PatternError, match="where matches are replaced"):
        digram.Tokenizer(replace(definition, decoding=digram.Decoding([step])))


def test_words_with_metaspace() -> None:
    words = models.WordLevel({"▁a": 0, "[UNK]": 1, "▁b": 2}, "[UNK]")
    theirs = Tokenizer(words)
    theirs.pre_tokenizer, theirs.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tok = digram.Tokenizer(loads(theirs.to_str().encode()))
    for text in ("a b c", "", " a  b", "ab"):
        ids = theirs.encode(text).ids
        assert tok.encode(text) == ids
        assert tok.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
