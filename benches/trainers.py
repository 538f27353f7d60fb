"""How each program trains: from a file of documents to tokens in rank order, reading included.

Those that take an iterator are fed document by document, so that no text is held for them. Two
orders of ids exist, by the value of the bytes and as Hugging Face's; ties go to the smallest pair
of ids, so each order has merges of its own, and programs are compared within one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benches.data import SEPARATOR, stream
from benches.peers import Program

GPT4 = "cl100k"
NONE = "none"
PATTERNS = ("gpt2", GPT4)


@dataclass(frozen=True)
class Trainer(Program):
    """A program with a way of training; `tokens`, not timed, says what each merge made."""

    order: str
    train: Callable[[Path, int, str, int], Any]
    tokens: Callable[[Any], Sequence[bytes]]
    patterns: Sequence[str] = PATTERNS
    slow: bool = False  # measured in the first round only


def digest(tokens: Sequence[bytes]) -> str:
    """What two programs that learned the same have in common."""
    found = hashlib.sha256()
    for token in tokens:
        found.update(len(token).to_bytes(8, "little") + token)
    return found.hexdigest()


def _digram(order: Any) -> Callable[[Path, int, str, int], Any]:
    def train(path: Path, size: int, pattern: str, threads: int) -> Any:
        import digram

        return digram.train(
            path,
            separator=SEPARATOR,
            vocab_size=size,
            pretokenizer=None if pattern == NONE else pattern,
            byte_order=order,
            threads=threads,
        )

    return train


def _rustbpe(path: Path, size: int, pattern: str, threads: int) -> Any:
    import rustbpe

    tokenizer = rustbpe.Tokenizer()
    tokenizer.train_from_iterator(stream(path), vocab_size=size, pattern=_regex(pattern))
    return tokenizer


def _gigatoken(ties: str) -> Callable[[Path, int, str, int], Any]:
    def train(path: Path, size: int, pattern: str, threads: int) -> Any:
        import gigatoken

        source = gigatoken.TextFileSource([path], separator=SEPARATOR)
        return gigatoken.train_bpe(source, size, [], tie_breaking=ties)

    return train


def _tokenizers(path: Path, size: int, pattern: str, threads: int) -> Any:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern == "gpt2")
    if pattern == "gpt2":
        tokenizer.pre_tokenizer = byte_level
    else:
        split = pre_tokenizers.Split(Regex(_regex(pattern)), "isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(stream(path), trainer)
    return tokenizer


def _regex(pattern: str) -> str:
    from digram.pretokenizers import NAMED

    return NAMED[pattern].patterns[0]


def _letters() -> dict[str, int]:
    """The bytes that GPT-2's printable letters stand for."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(256 + number): byte for number, byte in enumerate(others)
    }


def _tokenizers_tokens(tokenizer: Any) -> list[bytes]:
    letters = _letters()
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [bytes(letters[letter] for letter in left + right) for left, right in merges]


TRAINERS = {
    trainer.name: trainer
    for trainer in [
        Trainer(
            "digram",
            "digram",
            "bytes",
            _digram("value"),
            lambda tokenizer: [merge.token for merge in tokenizer.merge_log],
            patterns=(*PATTERNS, NONE),
        ),
        Trainer(
            "rustbpe",
            "rustbpe",
            "bytes",
            _rustbpe,
            lambda tokenizer: [bytes(token) for token, _ in tokenizer.get_mergeable_ranks()][256:],
        ),
        Trainer(
            "gigatoken",
            "gigatoken",
            "bytes",
            _gigatoken("raw_token_ids"),
            lambda trained: [left + right for left, right in trained[1]],
            patterns=("gpt2",),
        ),
        Trainer(
            "digram, HF's order",
            "digram",
            "huggingface",
            _digram("gpt2"),
            lambda tokenizer: [merge.token for merge in tokenizer.merge_log],
            slow=True,
        ),
        Trainer(
            "tokenizers", "tokenizers", "huggingface", _tokenizers, _tokenizers_tokens, slow=True
        ),
    ]
}
