"""Training of Unigram: seconds, memory, and how well the vocabularies describe the text."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from typing import Any

from benches.child import peak
from benches.run import Options, Task
from benches.vocabularies import compare, lines_of

Pieces = list[tuple[bytes, float]]


def _digram(lines: list[str], size: int, threads: int) -> Pieces:
    import digram

    tok = digram.train(lines, model="unigram", vocab_size=size + 1, threads=threads)
    definition = tok.definition
    scores: list[float | None] = definition.model.scores  # type: ignore[attr-defined]
    pairs = zip(definition.tokens, scores, strict=False)
    return [(token, score) for token, score in pairs if token and score is not None]


def _sentencepiece(lines: list[str], size: int, threads: int) -> Pieces:
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="unigram",
        vocab_size=size + 3,
        num_threads=threads,
        normalization_rule_name="identity",
        split_by_unicode_script=False,  # as the others, which split at spaces alone
        split_by_number=False,
        minloglevel=2,
    )
    peer = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    ids = range(3, peer.get_piece_size())
    return [(_bytes(peer.id_to_piece(id)), peer.get_score(id)) for id in ids]


def _tokenizers(lines: list[str], size: int, threads: int) -> Pieces:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    peer = Tokenizer(models.Unigram())
    peer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=size + 1, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False
    )
    peer.train_from_iterator(lines, trainer)
    vocab = json.loads(peer.to_str())["model"]["vocab"]
    return [(_bytes(piece), score) for piece, score in vocab if piece != "<unk>"]


def _bytes(piece: str) -> bytes:
    return piece.replace("▁", " ").encode()


ROWS: dict[str, Callable[[list[str], int, int], Pieces]] = {
    "digram": _digram,
    "sentencepiece": _sentencepiece,
    "tokenizers": _tokenizers,
}


def measure(who: str, corpus: str, megabytes: float, size: int, threads: int) -> dict[str, Any]:
    """Training on nine tenths of the lines, and what the vocabulary is on these and on the rest.

    `loss` is minus the logarithm of the probability of the text, the sum over all segmentations,
    in nats per byte; unknown characters have ten less than the lowest score. `overlap` is the share
    of the pieces that digram's vocabulary also has.
    """
    import digram
    from digram import _core
    from digram.pretokenizers import Pretokenizer, SentencePiece
    from digram.pretokenizers.words import SPACE_BEFORE

    lines = lines_of(corpus, megabytes)
    cut = len(lines) * 9 // 10
    learn, rest = lines[:cut], lines[cut:]
    started = time.perf_counter()
    pieces = ROWS[who](learn, size, threads)
    seconds, held = time.perf_counter() - started, peak()
    words = Pretokenizer(SPACE_BEFORE, normalizer=SentencePiece())
    unknown = min(score for _, score in pieces) - 10
    found: dict[str, Any] = {"seconds": seconds, "training": held, "pieces": len(pieces)}
    for name, texts in (("learned", learn), ("rest", rest)):
        counts = digram.count_pretokens(texts, pretokenizer=words, unit="char")
        logarithm, tokens = _core.unigram_likelihood(
            counts._held, pieces, unknown=unknown, spaces="first", symbols=[]
        )
        found[f"loss, {name}"] = -logarithm / counts.bytes
        found[f"bytes per token, {name}"] = counts.bytes / tokens
    ours = {piece for piece, _ in (pieces if who == "digram" else _digram(learn, size, threads))}
    found["overlap"] = len(ours & {piece for piece, _ in pieces}) / len(pieces)
    return found


def run(options: Options) -> tuple[str, list[Task]]:
    """One table for each corpus and size."""
    return compare(options, "unigram", "Unigram", "pieces", ROWS)
