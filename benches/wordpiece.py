"""Training of WordPiece: seconds, memory, and how well the vocabularies describe the text."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from benches.child import peak
from benches.run import Options, Task
from benches.vocabularies import compare, lines_of

if TYPE_CHECKING:
    import digram


def _digram(lines: list[str], size: int, threads: int) -> digram.Tokenizer:
    import digram
    from digram.pretokenizers import SPACED_WORDS, Pretokenizer

    words = Pretokenizer(None, normalizer=SPACED_WORDS)
    return digram.train(
        lines, model="wordpiece", vocab_size=size, pretokenizer=words, threads=threads
    )


def _tokenizers(lines: list[str], size: int, threads: int) -> digram.Tokenizer:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    import digram

    peer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    peer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    peer.decoder = decoders.WordPiece("##", False)
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[UNK]"], show_progress=False
    )
    peer.train_from_iterator(lines, trainer)
    return digram.Tokenizer(digram.formats.huggingface.loads(peer.to_str().encode()))


ROWS: dict[str, Callable[[list[str], int, int], digram.Tokenizer]] = {
    "digram": _digram,
    "tokenizers": _tokenizers,
}


def measure(who: str, corpus: str, megabytes: float, size: int, threads: int) -> dict[str, Any]:
    """Training on nine tenths of the lines, and what the vocabulary is on these and on the rest.

    `loss` is the sum of minus the logarithms of the frequencies of the tokens, in nats per byte.
    `overlap` is the share of the tokens that digram's vocabulary also has.
    """
    lines = lines_of(corpus, megabytes)
    cut = len(lines) * 9 // 10
    learn, rest = lines[:cut], lines[cut:]
    started = time.perf_counter()
    tok = ROWS[who](learn, size, threads)
    seconds, held = time.perf_counter() - started, peak()
    found: dict[str, Any] = {"seconds": seconds, "training": held}
    for name, texts in (("learned", learn), ("rest", rest)):
        bytes_, tokens, loss = _described(tok, texts)
        found |= {f"loss, {name}": loss / bytes_, f"bytes per token, {name}": bytes_ / tokens}
    ours = tok if who == "digram" else _digram(learn, size, threads)
    both = {*ours.vocab} & {*tok.vocab}
    return {**found, "overlap": len(both) / len(tok.vocab)}


def _described(tok: digram.Tokenizer, texts: list[str]) -> tuple[int, int, float]:
    """The bytes and tokens of texts, and minus the logarithm of the probability of the tokens."""
    import numpy as np

    ids = tok.encode_batch(texts, out="numpy").ids
    counts = np.bincount(ids)
    counts = counts[counts > 0]
    loss = float(-(counts * np.log(counts / len(ids))).sum())
    return sum(len(text.encode()) for text in texts), len(ids), loss


def run(options: Options) -> tuple[str, list[Task]]:
    """One table for each corpus and size."""
    return compare(options, "wordpiece", "WordPiece", "tokens", ROWS)
