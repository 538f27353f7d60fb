"""`TokenFiles`: many shards, several threads, and documents whose ends are unknown."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import digram
from digram.shards import token_files
from digram.shards.formats import FORMATS

END = "<|endoftext|>"
TOK = digram.train("low lower lowest newer", vocab_size=270, special_tokens=[END])
BARE = ["nanogpt", "llmc", "npy"]
"""Formats that do not store where documents end."""

MANY = """
import resource, sys
import digram
tok = digram.train("low lower", max_merges=0, special_tokens=["<|endoftext|>"])
texts = [f"low {n}" for n in range(50)]
expected = [[*text.encode(), 256] for text in texts]
resource.setrlimit(resource.RLIMIT_NOFILE, (45, 45))
for format in sys.argv[2:]:
    folder = f"{sys.argv[1]}/{format}"
    found = digram.encode_files(tok, texts, folder, format=format, shard_tokens=1)
    assert len(found.paths) == len(found) == 50
    assert [ids.tolist() for ids in found] == expected
    assert [found[n].tolist() for n in range(49, -1, -1)] == expected[::-1]
    assert found.ids.tolist() == sum(expected, [])
    try:
        all = [*found]
    except OSError as error:
        print(error.errno, *error.__notes__)
"""


def test_more_shards_than_open_files(tmp_path: Path) -> None:
    formats = ["megatron", "npy"]
    command = [sys.executable, "-c", MANY, str(tmp_path), *formats]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = f"{errno.EMFILE} Arrays keep their files open."
    assert [line.partition(" Copy")[0] for line in done.stdout.splitlines()] == [told] * 2


@pytest.mark.parametrize("format", ["megatron", "npy", "parquet"])
def test_threads_share_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    """Between any two lines that one of them runs, another asks for a document elsewhere."""
    monkeypatch.setattr(token_files, "KEPT", 1)
    texts = ["low", "lower newest", "new"]
    out = tmp_path / "out"
    digram.encode_files(TOK, texts, out, format=format, shard_tokens=1)
    expected = [[*TOK.encode(text), TOK.special_tokens[END]] for text in texts]
    between = 0

    def lines(frame: FrameType, event: str, _: object) -> Any:
        nonlocal between
        if frame.f_code.co_filename != token_files.__file__:
            return None
        if event == "line":  # while this function runs, none is called for what it calls
            between += 1
            other = between % 3
            assert found[other].tolist() == expected[other]
        return lines

    before = sys.gettrace()
    for number in range(3):
        found = digram.read_tokens(out)
        sys.settrace(lines)
        try:
            ids = found[number]
            more = found[number]
        finally:
            sys.settrace(before)
        assert ids.tolist() == more.tolist() == expected[number]
    assert between > 30
    found = digram.read_tokens(out)
    with ThreadPoolExecutor(4) as pool:
        numbers = [number * 7 % 3 for number in range(300)]
        assert [ids.tolist() for ids in pool.map(found.__getitem__, numbers)] == [
            expected[number] for number in numbers
        ]


def refused(found: digram.TokenFiles, message: str) -> None:
    """Documents are, however they are asked for; the ids are not."""
    for ask in (lambda: found[0], lambda: found[-1], lambda: list(found), lambda: found[:1]):
        with pytest.raises(digram.OptionError, match=message) as caught:
            ask()
        assert caught.value.path == str(found.paths[0])


@pytest.mark.parametrize("format", BARE)
def test_texts_that_hold_the_token_that_ends_documents(tmp_path: Path, format: str) -> None:
    """Where only that token tells documents apart, none is split at a wrong place."""
    end = TOK.special_tokens[END]
    texts = [f"low{END}low", "x"]
    found = digram.encode_files(TOK, texts, tmp_path / "out", format=format, special="parse")
    assert (len(found), found.documents) == (2, 2)
    refused(found, rf"counts 2, but the end id {end} divides the ids into 3\. .*megatron")
    flat = [id for text in texts for id in (*TOK.encode(text, special="parse"), end)]
    assert found.ids.tolist() == flat
    letter = digram.encode_files(
        TOK, ["banana"], tmp_path / "letter", format=format, end_of_text=97
    )
    refused(letter, "counts 1, but the end id 97 divides the ids into 4")
    # Who names the id wants it cut there, and every way of asking says so.
    cut = digram.read_tokens(tmp_path / "letter", end_of_text=97)
    assert [TOK.decode(ids) for ids in cut] == ["ba", "na", "na", "a"]
    assert len(cut) == 4
    assert cut[-1].tolist() == [97]
    assert len(digram.read_tokens(tmp_path / "letter", end_of_text=ord("n"))) == 3


@pytest.mark.parametrize("format", sorted(set(FORMATS) - set(BARE)))
def test_formats_that_store_where_documents_end(tmp_path: Path, format: str) -> None:
    """What the texts hold is of no matter to them."""
    texts = [f"low{END}low", "x"]
    found = digram.encode_files(TOK, texts, tmp_path / "out", format=format, special="parse")
    for one in (found, digram.read_tokens(tmp_path / "out", end_of_text=97)):
        assert len(one) == 2
        assert [TOK.decode(ids) for ids in one] == [text + END for text in texts]
        assert TOK.decode(one[1]) == "x" + END


def test_which_ids_end_documents(tmp_path: Path) -> None:
    digram.encode_files(TOK, ["low"], tmp_path / "out", format="npy")
    wrong: Any
    for wrong in (END, 1.5, True):
        with pytest.raises(TypeError, match="end_of_text"):
            digram.read_tokens(tmp_path / "out", end_of_text=wrong)
    with pytest.raises(digram.OptionError, match="end_of_text=-1 is not at least 0"):
        digram.read_tokens(tmp_path / "out", end_of_text=-1)
    for far in (1 << 16, 1 << 70):  # which 16 bits do not hold
        assert len(digram.read_tokens(tmp_path / "out", end_of_text=far)) == 1


def test_ends_are_found_in_stretches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_files, "STRETCH", 3)
    monkeypatch.setattr(token_files, "BLOCK", 2)
    texts = ["a" * number for number in (2, 0, 0, 1, 5, 7, 3)]
    found = digram.encode_files(TOK, texts, tmp_path / "out", format="npy", shard_tokens=8)
    assert len(found.paths) == 3
    assert [TOK.decode(ids[:-1]) for ids in found] == texts
    assert [TOK.decode(found[n][:-1]) for n in range(len(texts))] == texts


def test_memory_of_bounds(tmp_path: Path) -> None:
    """8 bytes for each document, and not a number of Python's, which has some forty."""
    documents = 1 << 20
    np.zeros(documents, "<u2").tofile(tmp_path / "a.bin")
    found = digram.read_tokens(tmp_path / "a.bin", "nanogpt", end_of_text=0)
    tracemalloc.start()
    try:
        iterator = iter(found)
        next(iterator)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 14 * documents  # the numbers of a stretch of them are beside that
    assert peak < 30 * documents  # while they are found


def test_shards_of_several_types_of_ids(tmp_path: Path) -> None:
    for number, (kind, last) in enumerate((("<u2", 7), ("<u4", 70_000))):
        np.save(tmp_path / f"{number}.npy", np.array([5, last], kind))
    found = digram.read_tokens(tmp_path, end_of_text=5)
    assert found.ids.tolist() == [5, 7, 5, 70_000]
    assert found.dtype == found.ids.dtype == np.uint32


def test_whose_ids_they_are(tmp_path: Path) -> None:
    found = digram.encode_files(TOK, ["low"], tmp_path / "out", format="npy")
    assert found.tokenizer == TOK.digest
    (tmp_path / "out" / "manifest.json").unlink()
    assert digram.read_tokens(tmp_path / "out").tokenizer is None


def test_a_file_that_changes_after_it_was_opened(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(4, dtype="<u2"))
    found = digram.read_tokens(tmp_path / "a.npy", end_of_text=3)
    np.save(tmp_path / "a.npy", np.arange(5, dtype="<u2"))
    with pytest.raises(digram.CorruptFileError, match="5 ids, but 4 when it was opened"):
        found[0]


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_that_is_gone(tmp_path: Path, format: str) -> None:
    """Its error is that of the system, not of a damaged file."""
    digram.encode_files(TOK, ["low"], tmp_path, format=format)
    found = digram.read_tokens(tmp_path)
    found.paths[0].unlink()
    with pytest.raises(FileNotFoundError):
        found[0]


Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda said: said["shards"][0].update(files=[]),
            r"has a \.npy, but one here has no files",
        ),
        (
            lambda said: said["options"].update(format="megatron"),
            r"a \.bin, but one here has tokens-",
        ),
        (lambda said: said["options"].update(format="bin"), "names the format 'bin', which is no"),
        (lambda said: said["options"].update(format=[1]), r"names the format \[1\]"),
        (lambda said: said["options"].pop("format"), "names the format None"),
        (lambda said: said["options"].update(end_of_text="x"), "end with 'x', which has no id"),
        (lambda said: said["options"].update(end_of_text={"id": "5"}), "which has no id"),
        (lambda said: said["options"].update(end_of_text={"id": True}), "which has no id"),
        (lambda said: said["options"].update(end_of_text={"id": -5}), "which has no id"),
        (lambda said: said["options"].update(end_of_text=[5]), "which has no id"),
        (lambda said: said["options"].update(end_of_text={}), "which has no id"),
    ],
)
def test_manifests_that_cannot_be(tmp_path: Path, change: Change, message: str) -> None:
    digram.encode_files(TOK, ["low"], tmp_path, format="npy")
    path = tmp_path / "manifest.json"
    said = json.loads(path.read_bytes())
    change(said)
    path.write_text(json.dumps(said))
    with pytest.raises(digram.CorruptFileError, match=message) as caught:
        digram.read_tokens(tmp_path)
    assert caught.value.path == str(path)
