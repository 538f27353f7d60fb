"""Files of tokenizers."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import mutants
from vocabularies import CORPUS, SAMPLES, bpe

import digram
from digram.formats._check import check
from file_kinds.kind import Kind, described, files_of


def bare(tok: digram.Tokenizer) -> list[Any]:
    """Tokens by their ids, and merges, as a program of a few lines reads them too."""
    definition = check(tok.definition)
    assert digram.Tokenizer(definition).definition == definition
    tokens = {id: token.hex() for id, token in enumerate(definition.tokens) if token is not None}
    special = dict(definition.special_tokens)
    return [sorted(tokens.items()), [list(merge) for merge in bpe(definition).merges], special]


def loaded(name: str = "", **named: Any) -> Callable[[Path], Any]:
    return lambda folder: described(digram.load(folder / name, **named))


def loaded_bare(name: str = "", **named: Any) -> Callable[[Path], Any]:
    return lambda folder: bare(digram.load(folder / name, **named))


_SEEN = [*range(33, 127), *range(161, 173), *range(174, 256)]
_LETTERS = {chr(byte): byte for byte in _SEEN} | {
    chr(256 + number): byte for number, byte in enumerate(sorted({*range(256)} - {*_SEEN}))
}


def from_letters(token: str) -> bytes:
    """GPT-2's way to write bytes."""
    return bytes([_LETTERS[letter] for letter in token])


def says_tiktoken(folder: Path) -> Any:
    tokens = {}
    for line in (folder / "t.tiktoken").read_bytes().splitlines():
        if line:
            token, rank = line.split()
            held = b"" if token == b"=" else base64.b64decode(token, validate=True)
            tokens[int(rank)] = held.hex()
    return sorted(tokens.items())


def says_vocab_and_merges(folder: Path) -> Any:
    vocab = {
        from_letters(token): id
        for token, id in json.loads((folder / "vocab.json").read_bytes()).items()
    }
    lines = (folder / "merges.txt").read_text("utf-8").split("\n")
    if lines[0].startswith("#version"):
        lines = lines[1:]
    pairs = [[from_letters(part) for part in line.split(" ")] for line in lines if line.strip()]
    merges = [[vocab[a], vocab[b], vocab[a + b]] for a, b in pairs]
    return [sorted((id, token.hex()) for token, id in vocab.items()), merges, {}]


def says_seed_pair(folder: Path) -> Any:
    vocabulary = json.loads((folder / "vocabulary.json").read_bytes())
    merges = json.loads((folder / "merges.json").read_bytes())["merges"]
    tokens = {id: bytes([id]).hex() for id in range(256)}
    tokens |= {int(id): bytes(token["bytes"]).hex() for id, token in vocabulary.items()}
    return [sorted(tokens.items()), [[*pair, id] for pair, id in merges], {}]


def says_tokenizer_json(folder: Path) -> Any:
    """Of a file of bytes in GPT-2's letters."""
    top = json.loads((folder / "tokenizer.json").read_bytes())
    special = {one["content"]: one["id"] for one in top.get("added_tokens") or []}
    vocab = {
        from_letters(token): id
        for token, id in top["model"]["vocab"].items()
        if token not in special
    }
    pairs = [one.split(" ") if isinstance(one, str) else one for one in top["model"]["merges"]]
    of = [(from_letters(a), from_letters(b)) for a, b in pairs]
    merges = [[vocab[a], vocab[b], vocab[a + b]] for a, b in of]
    return [sorted((id, token.hex()) for token, id in vocab.items()), merges, special]


def tokenizers() -> Iterable[Kind]:
    few = {name: mutants.FILES[name].data for name in mutants.FILES}
    yield Kind(
        "tokenizer.json",
        {"tokenizer.json": few["tokenizer.json"]},
        loaded("tokenizer.json"),
        sealed=True,
        form="json",
    )
    plain = {"tokenizer.json": few["tokenizer.json without digest"]}
    yield Kind(
        "tokenizer.json without digest",
        plain,
        loaded_bare("tokenizer.json"),
        says=says_tokenizer_json,
        form="json",
    )
    plain = {"tokenizer.json": few["tokenizer.json of characters"]}
    yield Kind("tokenizer.json of characters", plain, loaded_bare("tokenizer.json"), form="json")
    ways: dict[str, dict[str, Any]] = {
        "boundless": {"superwords": "boundless"},
        "two stages": {"superwords": "two-stage"},
        "picky": {"picky": 0.8},
        "rules": {"rules": digram.Rules(protect=["naïve café"])},
        "runners-up": {"special_tokens": ["<s>", "</s>"], "runners_up": 2},
    }
    for name, options in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            tok = digram.train(CORPUS, max_merges=20, **options)
            tok.save(Path(folder) / "x.json")
            data = (Path(folder) / "x.json").read_bytes()
        files = {"tokenizer.json": data}
        yield Kind(
            f"tokenizer.json, {name}", files, loaded("tokenizer.json"), sealed=True, form="json"
        )
    framed = digram.train(CORPUS, max_merges=20, special_tokens=["<s>", "</s>"])
    files = files_of(
        lambda folder: framed.save_pretrained(
            folder, bos="<s>", eos="</s>", context_size=64, chat_template={"default": "D", "b": "B"}
        )
    )
    yield Kind("a folder for transformers", files, loaded(), form="json")
    yield Kind(
        "tokenizer.json of words",
        {"tokenizer.json": few["tokenizer.json of words"]},
        loaded("tokenizer.json"),
        form="json",
    )
    files = {"tokenizer.json": few["tokenizer.json with a suffix"]}
    yield Kind("tokenizer.json with a suffix", files, loaded("tokenizer.json"), form="json")
    yield Kind("codes", {"codes": few["codes"]}, loaded("codes"), form="lines")
    yield Kind("CLIP", {"c.gz": few["CLIP"]}, loaded("c.gz"), form="bytes")
    yield Kind("CLIP's text", {"c.txt": few["CLIP, not compressed"]}, loaded("c.txt"), form="lines")
    yield Kind(
        "vocab.txt",
        {"vocab.txt": few["vocab.txt"]},
        loaded("vocab.txt", encoding="bert-cased"),
        form="lines",
    )
    yield Kind(
        ".tiktoken",
        {"t.tiktoken": few[".tiktoken"]},
        lambda folder: bare(digram.load(folder / "t.tiktoken", pretokenizer="gpt2"))[0],
        says=says_tiktoken,
        form="lines",
    )
    whole = {".gguf": "", ".gguf of characters": "", ".model of minbpe": "", "tekken.json": "json"}
    whole |= {".gguf of Unigram": "", ".gguf of RWKV": ""}
    yield Kind(
        "RWKV's word list", {"a.txt": few["RWKV's word list"]}, loaded("a.txt"), form="lines"
    )
    for name, form in whole.items():
        file = name.split(" ")[0].lstrip(".")
        yield Kind(name, {file: few[name]}, loaded(file), form=form or "bytes")
    yield Kind(
        "vocab.json and merges.txt",
        {"vocab.json": few["vocab.json"], "merges.txt": few["merges.txt"]},
        loaded_bare(pretokenizer=None),
        says=says_vocab_and_merges,
        form="lines",
    )
    with tempfile.TemporaryDirectory() as folder:
        made = digram.Tokenizer(SAMPLES["gpt2"])
        made.save(folder, format="vocab_merges", allow_loss=True)
        both = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    yield Kind(
        "vocab.json and merges.txt with a digest",
        both,
        loaded_bare(pretokenizer="gpt2"),
        says=says_vocab_and_merges,
        form="lines",
    )
    yield Kind(
        "vocabulary.json and merges.json",
        {name: few[name] for name in ("vocabulary.json", "merges.json")},
        loaded_bare(),
        says=says_seed_pair,
        form="json",
    )
    for name in ("Unigram .model", "BPE .model"):
        yield Kind(name, {"a.model": few[name]}, loaded("a.model"))
    with tempfile.TemporaryDirectory() as folder:
        numbers = digram.train_ids([[5, 6, 5, 6, 7, 5, 6], [300, 5, 6]], max_merges=2)
        numbers.save(Path(folder) / "numbers.json")
        data = (Path(folder) / "numbers.json").read_bytes()

    def sequences(folder: Path) -> Any:
        found = digram.SequenceTokenizer.load(folder / "numbers.json")
        ids = found.encode_ids([5, 6, 5, 6, 7])
        return [found.vocab_size, ids, found.decode_ids(ids)]

    yield Kind("a tokenizer of sequences", {"numbers.json": data}, sequences, form="json")
