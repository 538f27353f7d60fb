"""Tokenizers of other models than byte-level BPE, in the files that each program reads.

SentencePiece trains the models of scores, on whole lines of the corpora, once: they are kept in the
cache. The others are made of published vocabularies.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from benches.data import cache, documents, folder

PIECES = 32_000
TRAINED_ON = 10.0
"""MB of text that a model is trained on."""

MAX_LINE = 4_192
"""SentencePiece leaves out longer lines, in bytes."""


def model_file(name: str) -> Path:
    """The file of a model, which is made if it is not in the cache."""
    path = cache() / "models" / name
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        made = MAKERS[name]()
        beside = path.with_name(f"{name}.part")
        beside.write_bytes(made)
        beside.replace(path)
    return path


def _trained(corpus: str, kind: str) -> bytes:
    """A `.model` trained on a corpus, with tokens for all bytes."""
    import io

    import sentencepiece

    model = io.BytesIO()
    lines = (line for text in documents(corpus, TRAINED_ON) for line in text.splitlines())
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(line for line in lines if 0 < len(line.encode()) <= MAX_LINE),
        model_writer=model,
        model_type=kind,
        vocab_size=PIECES,
        character_coverage=0.9995,
        byte_fallback=kind == "bpe",
        num_threads=2,
        minloglevel=2,
    )
    return model.getvalue()


def _unigram(name: str) -> bytes:
    """A `tokenizer.json` like those of T5 and XLM-R, with the pieces of a `.model`."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

    from digram.formats._sentencepiece_file import ModelFile

    file = ModelFile.loads(model_file(name).read_bytes(), name)
    vocab = [(piece.text, piece.score) for piece in file.pieces]
    made = Tokenizer(models.Unigram(vocab, unk_id=0))
    made.normalizer = normalizers.Precompiled(file.normalization.charsmap)
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    made.decoder = decoders.Metaspace()
    special = [text for text, _ in islice(vocab, 3)]
    made.add_special_tokens([AddedToken(text, normalized=False) for text in special])
    return made.to_str().encode()


def _bert(*, normalizes: bool) -> bytes:
    """The vocabulary of BERT with its whole pipeline, or without its normalizer."""
    import digram
    from digram.formats.huggingface import dumps

    tok = digram.load(folder() / "vocabs" / "ggml-vocab-bert-bge.gguf")
    made: dict[str, Any] = json.loads(dumps(tok.definition, allow_loss=True))
    made["model"].pop("digram", None)  # our digest, which would not fit any more
    if not normalizes:
        made["normalizer"] = None
    return json.dumps(made).encode()


def _llama() -> bytes:
    """The vocabulary of Llama 2, with merges, byte fallback and no pretokenizer."""
    import digram
    from digram.formats.huggingface import dumps

    tok = digram.load(folder() / "vocabs" / "ggml-vocab-llama-spm.gguf")
    return dumps(tok.definition, allow_loss=True)


def _staged(*stages: Any, has_pattern: bool = False) -> bytes:
    """The vocabulary of GPT-2 with other stages before `ByteLevel`, and its pattern or none."""
    from tokenizers import Tokenizer, pre_tokenizers

    made = Tokenizer.from_file(str(folder() / "vocabs" / "gpt2_tokenizer.json"))
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=has_pattern)
    made.pre_tokenizer = pre_tokenizers.Sequence([*stages, level])
    return made.to_str().encode()


def _splits(*patterns: str) -> list[Any]:
    from tokenizers import Regex, pre_tokenizers

    return [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]


def _deepseek_v3() -> bytes:
    from digram.pretokenizers import NAMED

    return _staged(*_splits(*NAMED["deepseek-v3"].patterns))


def _deepseek_coder() -> bytes:
    from tokenizers import pre_tokenizers

    cuts = _splits("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")
    return _staged(*cuts, pre_tokenizers.Digits(individual_digits=True))


def _starcoder() -> bytes:
    from tokenizers import pre_tokenizers

    return _staged(pre_tokenizers.Digits(individual_digits=True), has_pattern=True)


MAKERS: dict[str, Callable[[], bytes]] = {
    "unigram-en.model": partial(_trained, "en", "unigram"),
    "unigram-multi.model": partial(_trained, "multi", "unigram"),
    "bpe-en.model": partial(_trained, "en", "bpe"),
    "bpe-multi.model": partial(_trained, "multi", "bpe"),
    "unigram-en.json": partial(_unigram, "unigram-en.model"),
    "unigram-multi.json": partial(_unigram, "unigram-multi.model"),
    "bert.json": partial(_bert, normalizes=True),
    "wordpiece.json": partial(_bert, normalizes=False),
    "llama.json": _llama,
    "deepseek-v3.json": _deepseek_v3,
    "deepseek-coder.json": _deepseek_coder,
    "starcoder.json": _starcoder,
}
"""What makes each file."""
