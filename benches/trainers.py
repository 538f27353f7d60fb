"""How each program trains: from a file of documents to tokens in rank order, reading included.

Those that take an iterator are fed document by document, so that no text is held for them. Two
orders of ids exist, by the value of the bytes and as Hugging Face's; ties go to the smallest pair
of ids, so each order has merges of its own, and programs are compared within one. Some programs
split or choose in ways of their own; of those only time and memory are compared.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from benches.data import SEPARATOR, stream
from benches.peers import Program

GPT4 = "cl100k"
NONE = "none"
PATTERNS = ("gpt2", GPT4, NONE)
OWN = "own"
"""The order of ids, or the pattern, of programs that have their own."""


@dataclass(frozen=True)
class Trainer(Program):
    """A program with a way of training; `tokens`, not timed, says what each merge made."""

    order: str
    train: Callable[[Path, int, str, int], Any]
    tokens: Callable[[Any], Sequence[bytes]]
    patterns: Sequence[str] = PATTERNS

    @property
    def build(self) -> str:
        """The version; of digram also what it was compiled to."""
        if self.package != "digram":
            return self.version
        from digram import _core

        compiled = hashlib.sha256(Path(str(_core.__file__)).read_bytes()).hexdigest()
        return f"{self.version} {compiled[:12]}"


def digest(tokens: Sequence[bytes]) -> str:
    """What two programs that learned the same have in common."""
    found = hashlib.sha256()
    for token in tokens:
        found.update(len(token).to_bytes(8, "little") + token)
    return found.hexdigest()


class Trained(NamedTuple):
    """A tokenizer of ours, and the seconds of the merge loop in its training."""

    tokenizer: Any
    merging: float


def _digram(order: Any) -> Callable[[Path, int, str, int], Trained]:
    def train(path: Path, size: int, pattern: str, threads: int) -> Trained:
        import digram
        from digram import _core

        merging = _clock(_core, "train")
        tokenizer = digram.train(
            digram.files(path, separator=SEPARATOR),
            vocab_size=size,
            pretokenizer=None if pattern == NONE else pattern,
            byte_order=order,
            threads=threads,
        )
        return Trained(tokenizer, sum(merging))

    return train


def _clock(module: Any, name: str) -> list[float]:
    """The seconds of each call of a function, from now on."""
    function: Callable[..., Any] = getattr(module, name)
    taken: list[float] = []

    def timed(*args: Any, **options: Any) -> Any:
        before = perf_counter()
        try:
            return function(*args, **options)
        finally:
            taken.append(perf_counter() - before)

    setattr(module, name, timed)
    return taken


def _digram_tokens(trained: Trained) -> list[bytes]:
    return [merge.token for merge in trained.tokenizer.merge_log]


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


def _bpeasy(path: Path, size: int, pattern: str, threads: int) -> Any:
    import bpeasy

    return bpeasy.train_bpe(stream(path), _regex(pattern), 128, size)


def _sentencepiece(path: Path, size: int, pattern: str, threads: int) -> Any:
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_lines(path),
        model_writer=model,
        model_type="bpe",
        vocab_size=size,
        num_threads=threads,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        max_sentence_length=1 << 30,  # what is longer is left out
        minloglevel=2,
    )
    return model


def _lines(path: Path) -> Iterator[str]:
    """The lines that are not empty."""
    return (line for document in stream(path) for line in document.split("\n") if line)


def _youtokentome(path: Path, size: int, pattern: str, threads: int) -> Any:
    import youtokentome

    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        return youtokentome.BPE.train(
            data=str(path), model=model, vocab_size=size, coverage=0.9995, n_threads=threads
        )


def _tokenizers(path: Path, size: int, pattern: str, threads: int) -> Any:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pattern == "gpt2")
    if pattern in ("gpt2", NONE):
        tokenizer.pre_tokenizer = byte_level
    else:
        split = pre_tokenizers.Split(Regex(_regex(pattern)), "isolated")
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(stream(path), trainer)
    return tokenizer


def _regex(pattern: str) -> str:
    if pattern == NONE:
        return "(?s:.+)"
    from digram.pretokenizers.pretokenizer import NAMED

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
        Trainer("digram", "digram", "bytes", _digram("value"), _digram_tokens),
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
        Trainer("digram, HF's order", "digram", "huggingface", _digram("gpt2"), _digram_tokens),
        Trainer("tokenizers", "tokenizers", "huggingface", _tokenizers, _tokenizers_tokens),
        Trainer("bpeasy", "bpeasy", OWN, _bpeasy, lambda _: []),
        Trainer("sentencepiece", "sentencepiece", OWN, _sentencepiece, lambda _: [], (OWN,)),
        Trainer("youtokentome", "youtokentome", OWN, _youtokentome, lambda _: [], (OWN,)),
    ]
}
