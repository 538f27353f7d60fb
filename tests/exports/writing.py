"""Save tokenizers in each format that another program reads, with the ids that it must give.

    PYTHONPATH=tests python tests/exports/writing.py FOLDER

`reading.py` compares them, in environments without digram.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sentencepiece
from vocabularies import CORPUS, texts

import digram
from digram.formats._letters import to_letters
from digram.pretokenizers import Words

SPECIAL = ["<|end|>", "<s>", "</s>"]
NAMED = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek-v3"]
TEXTS = texts(300)
PLAIN = [text for text in TEXTS if not any(name in text for name in SPECIAL)]
PARSING = ("tokenizers", "tiktoken", "transformers")
"""Programs that take the text of a special token for it."""
WORDS = 64


def export(
    path: str, format: str, tok: digram.Tokenizer, programs: list[str], **more: Any
) -> Iterator[dict[str, Any]]:
    """What a saved file is, and the ids that each program must give."""
    for program in programs:
        parses = program in PARSING
        given = TEXTS if parses else PLAIN
        ids = [tok.encode(text, special="parse" if parses else "text") for text in given]
        yield {
            **{"path": path, "format": format, "programs": [program]},
            **{"texts": given, "ids": ids, **more},
        }


def of_bytes(folder: Path) -> Iterator[dict[str, Any]]:
    """Vocabularies of bytes, with each published pattern."""
    for name in NAMED:
        tok = digram.train(CORPUS, max_merges=200, pretokenizer=name, special_tokens=SPECIAL)
        tok.save(folder / f"{name}.json")
        readers = ["tokenizers", "gigatoken", "fastokens"]
        yield from export(f"{name}.json", "huggingface", tok, readers)
        tok.save_pretrained(folder / f"{name}-model", eos="<|end|>", pad="<|end|>")
        yield from export(f"{name}-model", "pretrained", tok, ["transformers"])
        if len(tok.pretokenizer.patterns) > 1:
            continue
        tok.save(folder / f"{name}.tiktoken", allow_loss=True)
        parts: dict[str, Any] = {
            "pattern": tok.pretokenizer.patterns[0],
            "special_tokens": tok.special_tokens,
        }
        yield from export(f"{name}.tiktoken", "tiktoken", tok, ["tiktoken"], **parts)
        first = digram.train(
            CORPUS, max_merges=200, pretokenizer=name, special_tokens=SPECIAL, special_first=True
        )
        first.save(folder / f"{name}-tekken.json", format="tekken")
        yield from export(f"{name}-tekken.json", "tekken", first, ["mistral-common"])


def of_one_pattern(folder: Path) -> Iterator[dict[str, Any]]:
    """Formats for which one pattern is enough."""
    tok = digram.train(CORPUS, max_merges=200, pretokenizer="gpt2", special_tokens=SPECIAL)
    tok.save_tiktoken_plugin(folder / "plugin", "saved")
    yield from export("plugin", "plugin", tok, ["tiktoken"], encoding="saved")
    prefix = digram.Pretokenizer("gpt2", normalizer=Words(prefix=" "))
    prefixed = digram.train(CORPUS, max_merges=200, pretokenizer=prefix, special_tokens=SPECIAL)
    prefixed.save_pretrained(folder / "prefixed-model", eos="<|end|>")
    yield from export("prefixed-model", "pretrained", prefixed, ["transformers"])
    bare = digram.train(CORPUS, max_merges=200, pretokenizer="gpt2")
    bare.save(folder / "pair", format="vocab_merges")
    yield from export("pair", "vocab_merges", bare, ["tokenizers"])
    tok.save(folder / "vocab.gguf")
    known = [(token, id) for token, id in tok.vocab.items() if id < 256 + len(tok.merges)]
    yield {
        **{"path": "vocab.gguf", "format": "gguf", "programs": ["gguf"]},
        "texts": [to_letters(token) for token, _ in known],
        "ids": [[id] for _, id in known],
    }


def of_words(folder: Path) -> Iterator[dict[str, Any]]:
    """WordPiece, as BERT's file and as tokenizer.json."""
    named = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
    tok = digram.train(CORPUS, max_merges=WORDS, model="wordpiece", special_tokens=named)
    tok.save(folder / "vocab.txt", allow_loss=True)  # its template is that of BERT
    yield from export("vocab.txt", "vocab_txt", tok, ["tokenizers"])
    tok.save(folder / "words.json")
    yield from export("words.json", "huggingface", tok, ["tokenizers"])
    tok.save_pretrained(folder / "words-model", pad="[PAD]", unk="[UNK]")
    yield from export("words-model", "pretrained", tok, ["transformers"])


def of_scores(folder: Path) -> Iterator[dict[str, Any]]:
    """Models of scores, which SentencePiece trained."""
    for kind in ("unigram", "bpe"):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(CORPUS.split("\n") * 9),
            model_writer=model,
            model_type=kind,
            vocab_size=150,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        (folder / f"given-{kind}.model").write_bytes(model.getvalue())
        tok = digram.load(folder / f"given-{kind}.model")
        tok.save(folder / f"{kind}.model")
        yield from export(f"{kind}.model", "sentencepiece", tok, ["sentencepiece"])


def write(folder: Path) -> list[dict[str, Any]]:
    """Save everything, and the list `exports.json`."""
    groups = (of_bytes, of_one_pattern, of_words, of_scores)
    every = [one for group in groups for one in group(folder)]
    (folder / "exports.json").write_text(json.dumps(every), encoding="utf-8")
    return every


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    write(target)
