"""Training within a limit of memory and with checkpoints: the same tokenizer, clear refusals."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_determinism import SEPARATOR, invented

import digram
from digram.checkpoint import JOURNAL, STATE

OPTIONS: dict[str, Any] = {"vocab_size": 3_000, "pretokenizer": "gpt2", "separator": SEPARATOR}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text(SEPARATOR.join(invented(2.0)), encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("ties", ["ids", "first_seen", "lexicographic"])
@pytest.mark.parametrize("unit", ["byte", "char"])
def test_a_limit_changes_nothing(corpus: Path, ties: Any, unit: Any, tmp_path: Path) -> None:
    saved = []
    for limit in (None, "24 MiB", 40_000_000, "4 GB"):
        tok = digram.train(corpus, ties=ties, unit=unit, memory_limit=limit, **OPTIONS)
        tok.save(tmp_path / "tokenizer.json", allow_loss=True)
        saved.append((tmp_path / "tokenizer.json").read_bytes())
    assert saved == saved[:1] * 4


def test_counts_are_merged_within_a_limit(corpus: Path) -> None:
    counts = digram.count_pretokens(corpus, pretokenizer="gpt2", separator=SEPARATOR)
    limited = digram.train(counts, vocab_size=3_000, memory_limit="24 MiB")
    assert limited == digram.train(corpus, **OPTIONS)


def test_too_little_and_nonsense_are_refused() -> None:
    with pytest.raises(digram.OptionError, match="less than 24 MiB"):
        digram.train("text", vocab_size=300, memory_limit="15 MiB")
    with pytest.raises(digram.OptionError, match="no size"):
        digram.train("text", vocab_size=300, memory_limit="much")
    with pytest.raises(digram.OptionError, match="a dictionary of several"):
        digram.train({"en": "text"}, vocab_size=300, memory_limit="1 GB")


def test_a_pretoken_without_room_is_refused_with_advice() -> None:
    text = "".join(invented(2.0))
    with pytest.raises(digram.OptionError, match="Cut the text by a pretokenizer or a separator"):
        digram.train(text, vocab_size=300, pretokenizer=None, memory_limit="24 MiB")


def test_the_same_call_goes_on_and_a_larger_one_too(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    smaller: dict[str, Any] = {**OPTIONS, "vocab_size": 1_000}
    heard: list[digram.Merge] = []
    assert digram.train(corpus, checkpoint=folder, **smaller) == digram.train(corpus, **smaller)
    again = digram.train(corpus, checkpoint=folder, on_merge=heard.append, **OPTIONS)
    assert again == digram.train(corpus, **OPTIONS)
    assert heard == list(again.merge_log)
    texts = corpus.read_text(encoding="utf-8").split(SEPARATOR)
    for source in (texts, iter(texts)):
        other = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        options: dict[str, Any] = {**OPTIONS, "separator": None}
        digram.train(list(source), checkpoint=other, **options)
        assert digram.train(texts, checkpoint=other, **options) == again


def test_counts_and_named_sources_go_on(corpus: Path, tmp_path: Path) -> None:
    counts = digram.count_pretokens(corpus, pretokenizer="gpt2", separator=SEPARATOR)
    sources = {"a": "the cat and the dog", "b": counts}
    for source in (counts, sources):
        folder = tmp_path / type(source).__name__
        options: dict[str, Any] = {"vocab_size": 2_000, "pretokenizer": "gpt2"}
        first = digram.train(source, checkpoint=folder, **options)
        assert digram.train(source, checkpoint=folder, **options) == first
        with pytest.raises(digram.CheckpointError, match="other options to count"):
            digram.train("another text", checkpoint=folder, **options)


def test_another_run_is_refused(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    digram.train(corpus, checkpoint=folder, **OPTIONS)
    with pytest.raises(digram.CheckpointError, match="other options to merge"):
        digram.train(corpus, checkpoint=folder, ties="first_seen", **OPTIONS)
    with pytest.raises(digram.CheckpointError, match="other options to count"):
        digram.train(corpus, checkpoint=folder, **{**OPTIONS, "pretokenizer": "o200k"})
    texts = tmp_path / "texts"
    few: dict[str, Any] = {"vocab_size": 300, "pretokenizer": "gpt2"}
    digram.train(["the cat", "the dog"], checkpoint=texts, **few)
    for other in (["the cat", "the cow"], ["the cat"], ["the cat", "the dog", "more"]):
        with pytest.raises(digram.CheckpointError, match="not the one"):
            digram.train(other, checkpoint=texts, **few)


def test_a_damaged_folder_is_told(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    tok = digram.train(corpus, checkpoint=folder, **OPTIONS)
    state = (folder / STATE).read_bytes()
    for damaged in (b"", b"{}", state[:-20], b"[1]"):
        (folder / STATE).write_bytes(damaged)
        with pytest.raises(digram.CorruptFileError, match="no checkpoint"):
            digram.train(corpus, checkpoint=folder, **OPTIONS)
    later = json.loads(state) | {"format": 99}
    (folder / STATE).write_text(json.dumps(later))
    with pytest.raises(digram.CheckpointError, match="format 99"):
        digram.train(corpus, checkpoint=folder, **OPTIONS)
    (folder / STATE).write_bytes(state)
    # Half a merge at the end is that of a killed run.
    journal = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).write_bytes(journal[:-7])
    assert digram.train(corpus, checkpoint=folder, **OPTIONS) == tok
    assert (folder / JOURNAL).read_bytes() == journal
    (folder / JOURNAL).write_bytes(b"something else")
    with pytest.raises(digram.CorruptFileError, match="journal"):
        digram.train(corpus, checkpoint=folder, **OPTIONS)
    (folder / JOURNAL).unlink()
    for run in folder.glob("*.digram-run"):
        run.unlink()
    with pytest.raises(digram.CheckpointError, match="missing"):
        digram.train(corpus, checkpoint=folder, **OPTIONS)


MEASURED = """
import pathlib, sys
import digram

def peak():  # that of `getrusage` begins with what the parent held
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])

letters = str.maketrans("0123456789", "ghijklmnop")  # a word of letters is one pretoken
texts = (" ".join(f"{n * 2654435761 % 2**40:x}" for n in range(a, a + 2000)).translate(letters)
         for a in range(0, 1_500_000, 2000))
digram.train("warm up", vocab_size=300)
before = peak()
limit = None if sys.argv[1] == "none" else int(sys.argv[1])
tok = digram.train(texts, vocab_size=270, pretokenizer="gpt2", memory_limit=limit, threads=2)
print(peak() - before, tok.digest)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak of memory")
def test_the_limit_holds() -> None:
    """1.5 million distinct words: several times what the limit holds."""

    def run(limit: object) -> tuple[int, str]:
        command = [sys.executable, "-c", MEASURED, str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        kilobytes, digest = done.stdout.split()
        return int(kilobytes) * 1024, digest

    limit = 40_000_000
    (free, expected), (bounded, found) = run("none"), run(limit)
    print(f"peak without a limit {free / 1e6:.0f} MB, with one of 40 MB {bounded / 1e6:.0f} MB")
    assert found == expected
    # A batch of text is held besides.
    assert bounded < limit + (12 << 20) < free
