"""Small files of every format, and ways to damage them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vocabularies import BANANA, BYTES, PLAIN, SAMPLES, changed, trained

from digram import (
    Definition,
    GreedyModel,
    Matching,
    Pretokenizer,
    Regex,
    SpecialToken,
    Template,
    UnigramModel,
    WordLevelModel,
)
from digram.formats import (
    clip,
    gguf,
    huggingface,
    minbpe,
    rwkv,
    seed_pair,
    sentencepiece,
    subword_nmt,
    tekken,
    tiktoken,
    vocab_merges,
    vocab_txt,
)
from digram.formats._sentencepiece_file import Kind, ModelFile, Piece, Type
from digram.pretokenizers import SPACED_WORDS, Prepend, Replace, SentencePiece
from digram.vocab.scores import Spelled

ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 97, 256, 257, 259, 300, 1 << 31, 1 << 32, -(1 << 63), 10**40),
    *(0.5, 1e308, "", "a", "an", "Ġ", "é", "\u0000", "\ud83d\ude42", "<0x41>", "a n", "#version"),
    *([], {}, [[]], ["a", "n"], [97, 110], [[97, 110], 256], {"type": "ByteLevel"}, {"a": 1}),
    *("BPE", "1.0", "Isolated", "Fuse", "Sequence", "ByteFallback", r"\w+", "(", "a*", "[[["),
]
PIECES = [
    b"",
    b"\x00",
    b"\xff",
    b"\n",
    b"\r\n",
    b" ",
    b'"',
    b"\\",
    b"[" * 80,
    b"{",
    b"}",
    b"-",
    b"e9",
]


@dataclass(frozen=True)
class File:
    """What is mutated: one file, or one of a pair."""

    data: bytes
    load: Callable[[bytes], Definition]
    dump: Callable[[Definition], Any]
    again: Callable[[Any], Definition]


def whole(definition: Definition, *, digest: bool) -> File:
    top = json.loads(huggingface.dumps(definition, allow_loss=True))
    if not digest:  # or nothing but the digest would ever refuse a change
        del top["model"]["digram"]["digest"], top["model"]["digram"]["seal"]
    data = json.dumps(top, ensure_ascii=False).encode()
    return File(
        data,
        huggingface.loads,
        lambda found: huggingface.dumps(found, allow_loss=True),
        huggingface.loads,
    )


def ranks() -> File:
    def load(data: bytes) -> Definition:
        return tiktoken.loads(data, "t", pretokenizer="gpt2")

    tokens = [*PLAIN.tokens, b" xyzzy"]
    definition = changed(PLAIN, tokens=tokens, ignore_merges=True)
    return File(tiktoken.dumps(definition), load, tiktoken.dumps, load)


def half(pair: tuple[bytes, bytes], mutated: int, module: Any, **named: Any) -> File:
    def load(data: bytes) -> Definition:
        both = (data, pair[1]) if mutated == 0 else (pair[0], data)
        return module.loads(*both, "v", "m", **named)  # type: ignore[no-any-return]

    return File(
        pair[mutated],
        load,
        lambda found: module.dumps(found, allow_loss=True),
        lambda both: module.loads(*both, **named),
    )


def single(definition: Definition, module: Any) -> File:
    """A file of a format with one file, which names everything that it needs."""
    return File(module.dumps(definition), module.loads, module.dumps, module.loads)


GPT2 = vocab_merges.dumps(PLAIN)
GPT2 = (GPT2[0], b"#version: 0.2\n" + GPT2[1].partition(b"\n")[2])  # without the digest
SEED = seed_pair.dumps(PLAIN)
SHORT = changed(
    SAMPLES["characters or bytes"],
    tokens=[*BYTES, b"a", "é".encode(), "aé".encode()],
    merges=[(256, 257, 258)],
    special_tokens={"<|end|>": 259},
    pretokenizer=Pretokenizer([Regex(r"\s+"), Regex(r"\p{L}+|\d")], digits="individual"),
    training=None,
)
SPECIAL: dict[str, Any] = {
    "pretokenizer": Pretokenizer("gpt2"),
    "special_tokens": {"<s>": 259, "<x>": 260},
    "template": Template("<s> $A"),
    "matching": {"<x>": Matching(always=True)},
}
SCORED = changed(
    SHORT,
    pretokenizer=Pretokenizer(None, normalizer=[Replace("▁", " "), Prepend(" ")]),
    space_symbol="▁",
    strip_first_space=True,
)
FIRST = trained(
    max_merges=4, pretokenizer="gpt2", special_tokens=["<s>", "</s>"], special_first=True
)
BERT = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n\xc3\xa9\n##\n"
WORDS = vocab_txt.loads(BERT, encoding="bert-cased")
CODES = b"#version: 0.2\na n\nan an\n\xc3\xa9 a</w>\nan a</w>\n"
ENDED = subword_nmt.loads(CODES)
CLIP = b'"bpe_simple_vocab_16e6.txt#version: 0.2\na n\nan a</w>\n\xc3\x83 \xc2\xa9</w>\n'


def lines() -> File:
    def load(data: bytes) -> Definition:
        return vocab_txt.loads(data, "v", encoding="bert-cased")

    return File(BERT, load, lambda found: vocab_txt.dumps(found, allow_loss=True), load)


def pieces(kind: Kind) -> File:
    """A `.model` with pieces of all types."""
    fallback = [Piece(f"<0x{byte:02X}>", 0.0, Type.BYTE) for byte in range(256)]
    of_text = [
        Piece("▁", -1.5),
        Piece("▁an", -2.0),
        Piece("a", -3.0),
        Piece("n", -3.5),
        Piece("é", -4.0, Type.UNUSED),
        Piece("<call>", 0.0, Type.USER_DEFINED),
    ]
    special = [Piece("<unk>", 0.0, Type.UNKNOWN), Piece("<s>", 0.0, Type.CONTROL)]
    data = ModelFile(pieces=[*special, *of_text, *fallback], kind=kind, byte_fallback=True).dumps()
    load = sentencepiece.loads
    return File(data, load, lambda found: sentencepiece.dumps(found, allow_loss=True), load)


def word_list() -> Definition:
    tokens: list[bytes | None] = [None, *(bytes([byte]) for byte in range(256)), b"an", b"\xe6\x97"]
    return Definition(tokens=tokens, model=GreedyModel(), pretokenizer=Pretokenizer(None))


def unigram() -> Definition:
    """A Unigram model as llama.cpp has it, with a token that is found in all text."""
    return Definition(
        tokens=[None, None, None, b" a", b"n", b" ", b"an"],
        model=UnigramModel(
            [None, None, None, -1.0, -2.0, -3.0, -1.5],
            unknown=-13.0,
            spelled=(Spelled("<x>", 7, 0.0),),
        ),
        pretokenizer=Pretokenizer(None, normalizer=SentencePiece(add_space="before word")),
        special_tokens={"<pad>": 0, "</s>": 1, "<unk>": 2, "<x>": 7},
        unit="char",
        on_unknown=SpecialToken("<unk>"),
        matching={"<x>": Matching(always=True)},
        strip_first_space=True,
    )


def word_level() -> Definition:
    return Definition(
        tokens=[None, b" low", b" an"],
        model=WordLevelModel(),
        pretokenizer=Pretokenizer(None, normalizer=SPACED_WORDS),
        special_tokens={"[UNK]": 0},
        unit="char",
        on_unknown=SpecialToken("[UNK]"),
        strip_first_space=True,
    )


FILES = {
    "tokenizer.json": whole(BANANA, digest=True),
    "tokenizer.json without digest": whole(BANANA, digest=False),
    "tokenizer.json of characters": whole(SHORT, digest=False),
    "tokenizer.json of words": whole(WORDS, digest=False),
    "tokenizer.json with a suffix": whole(ENDED, digest=False),
    "codes": single(ENDED, subword_nmt),
    "CLIP": single(clip.loads(CLIP), clip),
    "CLIP, not compressed": File(CLIP, clip.loads, clip.dumps, clip.loads),
    "tokenizer.json of whole words": whole(word_level(), digest=False),
    "vocab.txt": lines(),
    ".tiktoken": ranks(),
    "vocab.json": half(GPT2, 0, vocab_merges, pretokenizer=None),
    "merges.txt": half(GPT2, 1, vocab_merges, pretokenizer=None),
    "vocabulary.json": half(SEED, 0, seed_pair),
    "merges.json": half(SEED, 1, seed_pair),
    ".gguf": single(changed(PLAIN, **SPECIAL), gguf),
    ".gguf of characters": single(SCORED, gguf),
    ".gguf of Unigram": single(unigram(), gguf),
    ".gguf of RWKV": single(word_list(), gguf),
    "RWKV's word list": single(word_list(), rwkv),
    "tekken.json": single(FIRST, tekken),
    ".model of minbpe": single(changed(PLAIN, special_tokens={"<|end|>": 259}), minbpe),
    "Unigram .model": pieces(Kind.UNIGRAM),
    "BPE .model": pieces(Kind.BPE),
}


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    start, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    end = min(end, start + rng.choice([0, 1, 1, 2, 8, 200, 1 << 20]))
    kind = rng.randrange(6)
    if kind == 0:
        return data[:start]
    if kind == 1 and start < len(data):
        return data[:start] + bytes([data[start] ^ 1 << rng.randrange(8)]) + data[start + 1 :]
    middle = [
        rng.choice(PIECES),
        rng.randbytes(2),
        data[start:end] * 2,
        b"",
        str(rng.choice(ODD)).encode("utf-8", "surrogatepass"),
    ]
    return data[:start] + middle[kind - 2 if kind > 1 else 0] + data[end:]


def mutate_lines(data: bytes, rng: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 1:
        del lines[one]
    elif kind == 2:
        lines.insert(one, lines[other])
    else:
        left, right = lines[one].split()[:1], lines[other].split()[1:]
        lines[one] = b" ".join(left + right) + b"\n"
    return b"".join(lines)


def mutate_json(data: bytes, rng: random.Random) -> bytes:
    top = json.loads(data)
    at: Any = top
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            break
        key = rng.choice(keys)
        if isinstance(at[key], dict | list) and rng.random() < 0.8:
            at = at[key]
            continue
        kind = rng.randrange(5)
        if kind == 0:
            del at[key]
        elif kind == 1 and isinstance(at, dict):
            at[str(rng.choice(ODD))] = at.pop(key)
        elif kind == 2:
            at[key] = at[rng.choice(keys)]
        elif kind == 3 and isinstance(at, list):
            at.insert(key, rng.choice(at))
        else:
            at[key] = rng.choice(ODD)
        break
    written = json.dumps(top, ensure_ascii=rng.random() < 0.5)
    return written.encode("utf-8", "surrogatepass")
