"""Arguments as they should be, for every call of the public surface."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import digram

TEXT = "low low lower lowest, slow slower slowest 5 mg"

_CHAT = [{"role": "user", "content": "low"}, {"role": "assistant", "content": "lower"}]

TEXTS = {"en": TEXT, "de": "nieder niedrig " * 3}


@cache
def tok() -> digram.Tokenizer:
    """The tokenizer that methods are called of."""
    special = ["<s>", "<pad>", "<|endoftext|>"]
    found = digram.train(TEXT, vocab_size=280, special_tokens=special, pretokenizer="gpt2")
    found = found.with_chat_template("{% for m in messages %}{{ '<s>' + m.content }}{% endfor %}")
    return found.with_pad_token("<pad>").with_context_size(64)


def _small() -> digram.Tokenizer:
    return digram.train(TEXT, vocab_size=262, pretokenizer="gpt2")


def _sequences() -> digram.SequenceTokenizer:
    return digram.train_ids([[1, 2, 3] * 9], vocab_size=8)


def _space() -> digram.IdSpace:
    return digram.IdSpace({"text": tok(), "image": 16})


def _history() -> digram.VocabularyHistory:
    history = (
        digram.VocabularyHistory(pretokenizer="gpt2").add(TEXT, name="text").next(vocab_size=262)
    )
    return history.add(TEXT).next(add=2)


def _saved(value: Any, name: str) -> str:
    value.save(name)
    return name


def table_of_texts() -> Any:
    import pyarrow as pa

    return pa.table({"text": ["low", "lower"]})


def file_of_text() -> str:
    Path("low.txt").write_text(TEXT, encoding="utf-8")
    return "low.txt"


def _counts() -> digram.Counts:
    return digram.count_pretokens(TEXT, pretokenizer="gpt2")


_NUMBERS = itertools.count()


def _folder() -> str:
    """The name of a folder that there is not."""
    return f"folder{next(_NUMBERS)}"


def _tokens() -> str:
    folder = _folder()
    digram.encode_files(tok(), ["low", "lower"], folder, format="megatron")
    return folder


def _curve() -> Any:
    return digram.curve(tok(), TEXT)


VALID: dict[str, Callable[[], Any]] = {
    # What a parameter takes that has to be given: by its name, or by that of the call too.
    "add": lambda: 2,
    "batch": lambda: [[97], [98, 99]],
    "before": _small,
    "after": _small,
    "chat_template": lambda: "{{ messages }}",
    "chats": lambda: [_CHAT, _CHAT],
    "chunks": lambda: ["low ", "lower"],
    "column": lambda: "text",
    "context_size": lambda: 16,
    "corpus_size": lambda: "1 GB",
    "curve": _curve,
    "data": table_of_texts,
    "definition": lambda: tok().definition,
    "encoding": lambda: "cl100k_base",
    "factor": lambda: 0.5,
    "folder": _folder,
    "format": lambda: "npy",
    "id": lambda: 97,
    "ids": lambda: [97, 98],
    "languages": lambda: TEXTS,
    "message": lambda: "a message",
    "messages": lambda: _CHAT,
    "max_length": lambda: 3,
    "n": lambda: 3,
    "name": lambda: "text",
    "number": lambda: 1,
    "other": _small,
    "pad_token": lambda: "<pad>",
    "parts": lambda: [("text", "low"), ("image", [1, 2])],
    "path": lambda: "out.json",
    "pattern": lambda: r"\w+|\s+",
    "position": lambda: 1,
    "pretokenizer": lambda: "gpt2",
    "ranges": lambda: {"image": 16},
    "rules": lambda: digram.Rules(["iron"]),
    "sequence": lambda: [1, 2, 3],
    "sequences": lambda: [[1, 2, 3] * 9],
    "side": lambda: "left",
    "single": lambda: "<s> $A",
    "segmentation": lambda: "fewest",
    "special_roles": lambda: digram.SpecialRoles(bos="<s>"),
    "corpus": lambda: [TEXT, "low lower"],
    "start": lambda: 0,
    "template": lambda: digram.Template("<s> $A"),
    "text": lambda: TEXT,
    "texts": lambda: [TEXT, "low"],
    "this": tok,
    "tok": tok,
    "token": lambda: "low",
    "tokenizer": tok,
    "tokens": lambda: ["<a>", "<b>"],
    "vocab_size": lambda: 270,
    "weight": lambda: 2,
    "Advice.__getitem__(model)": lambda: next(
        iter(digram.advise(_curve(), parameters="7B").recommendations)
    ),
    "Change.then(next)": lambda: digram.Change.of(tok(), tok()),
    "Tokenizer.encode_best(count)": lambda: 2,
    "Tokenizer.encode_sample(alpha)": lambda: 0.5,
    "Tokenizer.encode_sample(seed)": lambda: 1,
    "Counts.__contains__(piece)": lambda: "low",
    "Counts.__getitem__(piece)": lambda: "low",
    "Counts.filter(min_count)": lambda: 2,
    "Curve.__getitem__(vocab_size)": lambda: 275,
    "Curve.best_size(parameters)": lambda: 1000,
    "Curve.best_size(width)": lambda: 64,
    "Curve.tokens_at(vocab_size)": lambda: 275,
    "Counts(pieces)": lambda: {"low": 2},
    "Counts.from_arrow(table)": lambda: _counts().to_arrow(),
    "Counts.load(path)": lambda: _saved(_counts(), "counts.arrow"),
    "Counts.merge(parts)": lambda: [_counts(), _counts()],
    "EmbeddingPlan.apply(embeddings)": lambda: __import__("numpy").zeros((283, 2)),
    "Encoding.token_to_chars(token)": lambda: 0,
    "Encoding.word_to_tokens(word)": lambda: 0,
    "Encodings.__contains__(key)": lambda: "input_ids",
    "Encodings.__getitem__(key)": lambda: 0,
    "Files(paths)": lambda: (Path(file_of_text()),),
    "IdSpace(ranges)": lambda: {"text": tok(), "image": 16},
    "IdSpace.grow(name)": lambda: "image",
    "IdSpace.grow(holding)": lambda: 20,
    "IdSpace.load(path)": lambda: _saved(_space(), "space.json"),
    "IdSpace.to_global(range)": lambda: "image",
    "IdSpace.to_global(local)": lambda: [1, 2],
    "IdSpace.with_ranges(ranges)": lambda: {"more": 8},
    "Rules.from_dict(data)": lambda: {"protect": ["iron"]},
    "Rules.load(path)": lambda: _saved(digram.Rules(["iron"]), "rules.json"),
    "SequenceTokenizer.decode_ids(ids)": lambda: [0, 1],
    "SequenceTokenizer.load(path)": lambda: _saved(_sequences(), "sequences.json"),
    "SequenceTokenizer.shrink(vocab_size)": lambda: 5,
    "SequenceTokenizer.symbols(ids)": lambda: [0, 1],
    "SequenceTokenizer(tokenizer)": lambda: _sequences().tokenizer,
    "SequenceTokenizer(alphabet)": lambda: _sequences().alphabet,
    "TokenFiles.__getitem__(index)": lambda: 0,
    "TokenFiles.shard(number)": lambda: 0,
    "VocabularyHistory.load(folder)": lambda: _saved(_history(), "history"),
    "VocabularyHistory.map(first)": lambda: 1,
    "VocabularyHistory.map(second)": lambda: 2,
    "files(pattern)": file_of_text,
    "Pretokenizer(pattern)": lambda: "gpt2",
    "load(path)": lambda: _saved(tok(), "load.json"),
    "pretokenize(pretokenizer)": lambda: "gpt2",
    "read_tokens(path)": _tokens,
}

BESIDE: dict[str, dict[str, Callable[[], Any]]] = {
    # What a call needs beside its required arguments, and what stands behind its `**options`.
    "advise": {"parameters": lambda: "7B"},
    "train": {"vocab_size": lambda: 262},
    "verify": {"a": tok, "b": tok, "corpus": lambda: TEXT, "fuzz": lambda: 20},
    "train_fair": {"vocab_size": lambda: 262},
    "train_ids": {"vocab_size": lambda: 6},
    "check_rules": {"rules": lambda: digram.Rules(["iron"])},
    "prune": {"remove": lambda: 2},
    "VocabularyHistory.next": {"add": lambda: 2, "min_frequency": lambda: 1, "threads": lambda: 1},
    "VocabularyHistory.forget": {"corpus": lambda: TEXT},
    "Change.compare": {"top": lambda: 3, "threads": lambda: 1},
    "VocabularyHistory.drift": {"recent": lambda: TEXT},
    "read_tokens": {"format": lambda: "megatron"},
}


def _unigram() -> digram.Tokenizer:
    tokens = [None, b"l", b"o", b"w", b"lo", b"low", b" "]
    scores = [None, -3.0, -3.25, -3.5, -4.0, -2.5, -1.0]
    return digram.Tokenizer(
        digram.Definition(
            tokens=tokens,
            model=digram.UnigramModel(scores, unknown=-14.0, addition="double"),
            pretokenizer=digram.Pretokenizer(None),
            special_tokens={"<unk>": 0},
            unit="char",
            on_unknown=digram.SpecialToken("<unk>"),
        )
    )


OWNERS: dict[str, Callable[[], Any]] = {
    # Objects for methods that others of their class refuse.
    "Tokenizer.encode_best": _unigram,
    "Tokenizer.encode_sample": _unigram,
}

OBJECTS: dict[str, Callable[[], Any]] = {
    # Objects of classes that no call with such arguments gives.
    "ArrowIds": lambda: tok().encode_batch(["low"], out="arrow"),
    "FlatIds": lambda: tok().encode_batch(["low"], out="numpy"),
    "IdSpace": _space,
    "SequenceTokenizer": _sequences,
    "Tokenizer": tok,
    "TokenFiles": lambda: digram.read_tokens(_tokens()),
    "VocabularyHistory": _history,
    "Encodings": lambda: tok()(["low", "low"]),
    "Truncation": lambda: digram.Truncation(5),
    "Padding": lambda: digram.Padding("<pad>"),
    "Template": lambda: digram.Template("<s> $A"),
    "Decoding": lambda: digram.Decoding([digram.decoders.Fuse()]),
}
