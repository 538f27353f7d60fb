"""Small vocabularies of every kind that files must carry, and texts to try them on."""

from __future__ import annotations

import random
from dataclasses import fields, replace
from typing import Any

import strategies

import digram
from digram import Definition, Pretokenizer, Regex, SpecialToken, TrainingRecord
from digram.vocab.bpe import BpeModel, require_bpe

CORPUS = (
    "It's 2,024 tokens long; she'll say 1234567 isn't a number. The low lower lowest words, "
    "the slow slower slowest ones.\n\tdef low(self):\n        return self.low\r\n\r\n"
    "Größe, naïve café, ДОМ дом, 中文字中文, ひらがな カタカナ, 🙂🙂 👩‍👩‍👧 e\u0301!  \n  "
) * 3
BYTES = [bytes([byte]) for byte in range(256)]


def trained(**options: object) -> Definition:
    """A definition trained on a little text of many scripts."""
    return digram.train(CORPUS, **{"max_merges": 80} | options).definition  # type: ignore[arg-type]


def of_bytes(*merges: tuple[int, int], **changes: object) -> Definition:
    """The bytes by value, and merges with the ids that follow."""
    tokens: list[bytes | None] = [*BYTES]
    made = []
    for left, right in merges:
        tokens.append((tokens[left] or b"") + (tokens[right] or b""))
        made.append((left, right, len(tokens) - 1))
    plain = Definition(tokens=tokens, model=BpeModel(made), pretokenizer=Pretokenizer(None))
    return changed(plain, **changes)


def bpe(definition: Definition) -> BpeModel:
    """The merges of a definition, and how they are applied."""
    return require_bpe(definition.model, "a test")


def changed(definition: Definition, **changes: Any) -> Definition:
    """As `replace`; what a field of `BpeModel` is called is that of its model."""
    of_model = {field.name for field in fields(BpeModel)} & changes.keys()
    if of_model:
        said = {name: changes.pop(name) for name in of_model}
        changes["model"] = replace(bpe(definition), **said)
    return replace(definition, **changes)


# `banana` by hand: (a, n), (an, an), (b, anan), with everything else that a file may say.
BANANA = of_bytes(
    (97, 110),
    (256, 256),
    (98, 257),
    pretokenizer=Pretokenizer("gpt2", digits="threes_from_right"),
    special_tokens={"<|end|>": 259},
    training=TrainingRecord(
        ties="ids",
        stop_reason="max_merges",
        documents=1,
        bytes=6,
        pretokens=1,
        distinct_pretokens=1,
        options={"max_merges": 3, "vocab_size": None},
        counts=[2, 1, 1],
        version="0.1.0",
    ),
)
PLAIN = of_bytes((97, 110), (256, 256), (98, 257))

SAMPLES: dict[str, Definition] = {
    "gpt2": trained(pretokenizer="gpt2"),
    "cl100k": trained(pretokenizer="cl100k", special_tokens=["<|end|>", "<|end|>!", "ä b"]),
    "o200k": trained(pretokenizer="o200k", special_tokens=["<s>", "</s>"], special_first=True),
    "llama3": trained(pretokenizer="llama3", ties="first_seen"),
    "qwen2": trained(pretokenizer="qwen2", byte_order="gpt2"),
    "deepseek-v3": trained(pretokenizer="deepseek-v3", ties="lexicographic"),
    "whitespace": trained(pretokenizer="whitespace"),
    "no pretokenizer": trained(pretokenizer=None),
    "regex": trained(pretokenizer=Regex(r"\p{Lu}?\p{Ll}+|\p{Han}|\d{2}|\s+(?!\S)|[^\s\p{L}]")),
    "two regexes": trained(pretokenizer=[Regex(r"\p{N}{1,3}"), Regex(r"\s+")]),
    "individual digits": trained(pretokenizer=Pretokenizer("gpt2", digits="individual")),
    "digits from the left": trained(pretokenizer=Pretokenizer(None, digits="threes_from_left")),
    "digits from the right": trained(
        pretokenizer=Pretokenizer("o200k", digits="threes_from_right")
    ),
    "digits twice": trained(pretokenizer=Pretokenizer("deepseek-v3", digits="threes_from_left")),
    "banana": BANANA,
    "no merges": of_bytes(),
    "holes": changed(
        PLAIN,
        tokens=[*BYTES, None, None, b"an", None, b"anan", None, b"banan"],
        merges=[(97, 110, 258), (258, 258, 260), (98, 260, 262)],
        special_tokens={"<a>": 257, "<b>": 300},
    ),
    "two merges make one token": changed(
        PLAIN,
        tokens=[*BYTES, b"aa", b"ab", b"aab"],
        merges=[(97, 97, 256), (97, 98, 257), (256, 98, 258), (97, 257, 258)],
    ),
    "unreachable token": replace(PLAIN, tokens=[*PLAIN.tokens, b"xyzzy"]),
    "whole pretokens": changed(
        PLAIN,
        tokens=[*PLAIN.tokens, b" xyzzy", b"xyzzy"],
        pretokenizer=Pretokenizer("gpt2"),
        ignore_merges=True,
    ),
    "characters or bytes": trained(
        unit="char", on_unknown="bytes", pretokenizer="gpt2", special_tokens=["<|end|>"]
    ),
    "characters or unknown": trained(
        unit="char", on_unknown=SpecialToken("<unk>"), pretokenizer=None, special_tokens=["</s>"]
    ),
    "characters or unknown, special first": trained(
        unit="char", on_unknown=SpecialToken("<unk>"), pretokenizer="whitespace", special_first=True
    ),
    "characters or an error": trained(unit="char", pretokenizer="cl100k"),
}


def texts(number: int, seed: int = 0) -> list[str]:
    """Texts of words of the corpus, of odd characters, of digits and of special tokens' texts."""
    rng = random.Random(seed)
    words = CORPUS.split(" ")
    digits = [*"0123456789", "٣", "½", "123456"]
    special = ["<|end|>", "<|end|>!", "<s>", "</s>", "<unk>", "ä b", "<a>", "<b>", "<|en"]
    kinds = [words, [word + " " for word in words], strategies.SOUP, digits, [*"aabnyzx", " xyzzy"]]
    found = []
    for _ in range(number):
        pieces = [*rng.choice(kinds), *rng.choice(kinds), *rng.choices(special, k=2)]
        found.append("".join(rng.choices(pieces, k=rng.randrange(24))))
    return found
