"""What the core reads is what Python reads, and what goes to another process comes there."""

from __future__ import annotations

import multiprocessing
import pickle
import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mutants import FILES, mutate_bytes, mutate_json, mutate_lines
from vocabularies import SAMPLES, texts

import digram
from digram import Definition, DigramError, Tokenizer, _core
from digram.formats import _bpe, huggingface, tiktoken
from digram.vocab.bpe import BpeKernel
from digram.vocab.packed import Compact, compacted
from digram.vocab.settings import Settings

MUTANTS = 1500


def outcome(read: Callable[[], Definition]) -> Any:
    """What reading gives: a definition, or an error with all that it says."""
    try:
        return read()
    except DigramError as error:
        return type(error), str(error)


def leave_it_to_python(patch: pytest.MonkeyPatch) -> None:
    def ranks(data: bytes, path: str | None) -> _core.Ranks:
        return _core.Ranks(tiktoken._tokens(data, path))

    patch.setattr(tiktoken, "_in_core", ranks)
    in_python = replace(_bpe.SECTION, tables=lambda model, added: None)
    patch.setattr(huggingface, "_SECTIONS", (in_python,))


@pytest.mark.parametrize("name", [".tiktoken", "tokenizer.json", "tokenizer.json without digest"])
def test_the_core_reads_what_python_reads(name: str) -> None:
    """Whole files and damaged ones: the same definition, or the same error."""
    file = FILES[name]
    rng = random.Random(name)
    kinds = [mutate_bytes, mutate_lines if name == ".tiktoken" else mutate_json]
    files = [file.data]
    for _ in range(MUTANTS):
        try:
            files.append(rng.choice(kinds)(file.data, rng))
        except (ValueError, IndexError):
            files.append(mutate_bytes(file.data, rng))
    found = [outcome(lambda data=data: file.load(data)) for data in files]  # type: ignore[misc]
    with pytest.MonkeyPatch.context() as patch:
        leave_it_to_python(patch)
        for data, one in zip(files, found, strict=True):
            assert outcome(lambda data=data: file.load(data)) == one, data  # type: ignore[misc]
    assert isinstance(found[0], Definition)
    assert sum(isinstance(one, Definition) for one in found) > 20


def test_the_core_reads_whole_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or the tests above would compare Python with itself."""

    def nothing(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(tiktoken, "_tokens", nothing)
    monkeypatch.setattr(huggingface, "vocabulary", nothing)
    for name in (".tiktoken", "tokenizer.json", "tokenizer.json without digest"):
        assert FILES[name].load(FILES[name].data)


PUBLISHED = ["r50k_base.tiktoken", "cl100k_base.tiktoken", "gpt2_tokenizer.json"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_files_read_both_ways(shared_data: Callable[[str], Path], name: str) -> None:
    data = shared_data(f"vocabs/{name}").read_bytes()

    def read() -> Definition:
        if name.endswith(".json"):
            return huggingface.loads(data)
        return tiktoken.loads(data, encoding=name.partition(".")[0])

    found = read()
    with pytest.MonkeyPatch.context() as patch:
        leave_it_to_python(patch)
        assert read() == found


@pytest.mark.parametrize("name", SAMPLES)
def test_compact_says_the_same(name: str) -> None:
    definition = SAMPLES[name]
    assert compacted(definition).plain() == definition


def seen(tok: Tokenizer, text: str) -> tuple[str, Any]:
    """The digest and the ids of a text, or the error that it is."""
    try:
        return tok.digest, tok.encode(text, special="parse")
    except digram.InvalidTextError as error:
        return tok.digest, str(error)


@pytest.mark.parametrize("start", multiprocessing.get_all_start_methods())
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of forks beside threads
def test_other_processes_get_equal_tokenizers(start: str) -> None:
    tokenizers = [Tokenizer(definition) for definition in SAMPLES.values()]
    context = multiprocessing.get_context(start)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for text in texts(4):
            there = list(pool.map(seen, tokenizers, [text] * len(tokenizers)))
            assert there == [seen(tok, text) for tok in tokenizers]


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_of_pickle(protocol: int) -> None:
    for definition in SAMPLES.values():
        tok = Tokenizer(definition)
        assert pickle.loads(pickle.dumps(tok, protocol)) == tok


def test_a_pickle_is_small(shared_data: Callable[[str], Path]) -> None:
    """Smaller than the file that was read."""
    path = shared_data("vocabs/r50k_base.tiktoken")
    tok = digram.load(path, encoding="r50k_base")
    stored = pickle.dumps(tok)
    assert len(stored) < 0.75 * path.stat().st_size
    again = pickle.loads(stored)
    assert again == tok
    assert again.encode("Hello, world!") == tok.encode("Hello, world!")


def test_damaged_pickles_are_refused_or_hold_together() -> None:
    tok = Tokenizer(SAMPLES["gpt2"])
    stored = tok._model.to_bytes()
    rng = random.Random(1)
    refused = 0
    for _ in range(3000):
        damaged = mutate_bytes(stored, rng)
        try:
            model = _core.Model.from_bytes(damaged)
            other = Tokenizer._of(
                Compact(model, {}, Settings(digram.Pretokenizer(None), BpeKernel()))
            )
        except DigramError:
            refused += 1
            continue
        assert other.decode_bytes(other.encode("a low text")) == b"a low text"
    assert refused > 1000
