"""Training within a limit of memory: the same tokenizer, clear refusals."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from training.counts.test_bounded_counting import merges
from training.test_determinism import SEPARATOR, invented

import digram
from digram import _core
from digram.corpus import Corpus
from digram.pretokenizers.pretokenizer import resolve
from digram.training.checkpoint import STATE, Checkpoint
from digram.training.counts import Counting, corpora

ROOT = Path(__file__).parents[2]  # where the benchmarks are, which measure memory too

OPTIONS: dict[str, Any] = {"vocab_size": 3_000, "pretokenizer": "gpt2"}


@pytest.mark.parametrize("ties", ["ids", "first_seen", "lexicographic"])
@pytest.mark.parametrize("unit", ["byte", "char"])
def test_a_limit_changes_nothing(
    corpus: digram.Files, ties: Any, unit: Any, tmp_path: Path
) -> None:
    saved = []
    for limit in (None, "24 MiB", 40_000_000, "4 GB"):
        tok = digram.train(corpus, ties=ties, unit=unit, memory_limit=limit, **OPTIONS)
        tok.save(tmp_path / "tokenizer.json", allow_loss=True)
        saved.append((tmp_path / "tokenizer.json").read_bytes())
    assert saved == saved[:1] * 4


def test_counts_are_merged_within_a_limit(corpus: digram.Files) -> None:
    counts = digram.count_pretokens(corpus, pretokenizer="gpt2")
    limited = digram.train(counts, vocab_size=3_000, memory_limit="24 MiB")
    assert limited == digram.train(corpus, **OPTIONS)


def test_too_little_and_nonsense_are_refused() -> None:
    with pytest.raises(digram.OptionError, match="less than the minimum of 24 MiB"):
        digram.train("text", vocab_size=300, memory_limit="15 MiB")
    with pytest.raises(digram.OptionError, match="not a size"):
        digram.train("text", vocab_size=300, memory_limit="much")


def test_a_pretoken_without_room_is_refused_with_advice() -> None:
    text = "".join(invented(2.0))
    with pytest.raises(digram.OptionError, match="Cut the text by a pretokenizer or a separator"):
        digram.train(text, vocab_size=300, pretokenizer=None, memory_limit="24 MiB")


def test_named_sources_are_counted_within_a_limit_and_go_on(
    corpus: digram.Files, tmp_path: Path
) -> None:
    texts = corpus.paths[0].read_text(encoding="utf-8").split(SEPARATOR)
    named: dict[str, Any] = {
        "files": corpus,
        "texts": texts[:50],
        "counts": digram.count_pretokens(texts[50:90], pretokenizer="gpt2"),
    }
    weights = {"files": Fraction(2, 3), "texts": 5}
    options: dict[str, Any] = {**OPTIONS, "weights": weights, "ties": "first_seen"}
    expected = digram.train(named, **options)
    assert digram.train(named, memory_limit="24 MiB", **options) == expected
    folder = tmp_path / "run"
    counting = Counting(resolve("gpt2"), "byte", None, None)
    for limit in ("24 MiB", None, "4 GB"):
        assert digram.train(named, memory_limit=limit, checkpoint=folder, **options) == expected
    parts = [json.loads(path.read_text()) for path in folder.glob("source-*/" + STATE)]
    assert [part["state"]["done"] for part in parts] == [True, True]
    held = counting.count(corpora(named), weights).counts
    assert (held.documents, held.bytes) == (expected.training.documents, expected.training.bytes)  # type: ignore[union-attr]
    unordered = {**named, "counts": named["counts"].without_first()}
    with pytest.raises(digram.OptionError, match="first occurrence"):
        digram.train(unordered, **options)
    options["ties"] = "ids"
    expected = digram.train(unordered, **options)
    assert digram.train(unordered, memory_limit="24 MiB", **options) == expected


def test_counts_on_disk_are_merged_with_and_without_a_limit(
    corpus: digram.Files, tmp_path: Path
) -> None:
    source = Corpus.of(corpus)

    def counted(memory: int | None) -> _core.Counts | _core.SortedCounts:
        with Checkpoint(tmp_path / "run", "same", "same", source.stamps) as point:
            cut = resolve("gpt2")
            counting = Counting(cut, "byte", None, False, memory, point)
            return counting.count(source, None).counts

    counts = counted(_core.MIN_MEMORY)
    assert isinstance(counts, _core.SortedCounts)
    [run] = (tmp_path / "run").glob("*.digram-run")
    merged = run.stat()
    expected = digram.count_pretokens(corpus, pretokenizer="gpt2")
    for memory in (_core.MIN_MEMORY, 4 << 30, None):
        assert counted(memory).digest() == counts.digest() == expected._held.digest()
        assert counts.to_memory().equals(expected._held)
        limit = None if memory is None else (memory, tmp_path)
        assert merges(counts, limit) == merges(expected._held, limit) == merges(expected._held)
    # Counts that are one file are not written again.
    assert [*(tmp_path / "run").glob("*.digram-run")] == [run]
    assert (run.stat().st_ino, run.stat().st_mtime_ns) == (merged.st_ino, merged.st_mtime_ns)


@pytest.mark.parametrize("block", [1, 7, 100, 1 << 12])
def test_a_file_is_counted_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    text = "".join(invented(0.05))[:20_000] + "naïve 日本語 x\ud7ff 12345 \r\n\r\n  end  "
    paths = [tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "empty.txt"]
    for path, content in zip(paths, (text, text[::-1], ""), strict=True):
        path.write_text(content, encoding="utf-8", newline="")
    texts = [path.read_bytes() for path in paths]
    monkeypatch.setattr("digram.corpus.file_source.PART", block)
    regex = digram.Regex(r"\w+(?=\s)|.")
    cuts: list[Any] = ["gpt2", "o200k", "deepseek-v3", None, regex]
    units: list[Any] = ["byte", "char"]
    for cut in cuts:
        for unit in units:
            expected = digram.count_pretokens(texts, pretokenizer=cut, unit=unit)
            assert digram.count_pretokens(paths, pretokenizer=cut, unit=unit) == expected
    again: dict[str, Any] = {"checkpoint": tmp_path / "run", "max_merges": 5}
    assert digram.train(paths, **again) == digram.train(paths, **again)
    paths[1].write_bytes(b"a " * 5000 + b"\xff")
    with pytest.raises(digram.InvalidTextError, match="text 1 is not UTF-8 at byte 10000"):
        digram.count_pretokens(paths, unit="char")


def test_a_file_that_cannot_be_cut_is_refused_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"several words " * 500_000)
    with pytest.raises(digram.OptionError, match="separator=") as caught:
        digram.train(path, vocab_size=300, pretokenizer=None, memory_limit="24 MiB")
    assert caught.value.path == str(path)
    limited = digram.count_pretokens(path, memory_limit="24 MiB")
    assert limited == digram.count_pretokens(path)


def test_what_does_not_fit_lies_with_the_checkpoint(
    corpus: digram.Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = digram.train(corpus, **OPTIONS)
    left = tmp_path / "run" / "digram-counts-1-0123456789abcdef.tmp"
    left.mkdir(parents=True)
    (left / "0123456789abcdef.digram-run").write_bytes(b"of a run that was killed")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    for source in (corpus, {"all": corpus}):
        folder = left.parent if source is corpus else tmp_path / "named"
        options: dict[str, Any] = {"memory_limit": "24 MiB", "checkpoint": folder, **OPTIONS}
        assert digram.train(source, **options).digest == expected.digest
        assert [*folder.glob("*.tmp")] == []


FULL = """
import resource, sys
import digram
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
letters = str.maketrans("0123456789", "ghijklmnop")
text = " ".join(f"{n * 2654435761 % 2**40:x}" for n in range(40_000)).translate(letters)
try:
    digram.train(text, vocab_size=300, checkpoint=sys.argv[1])
except OSError as error:
    print(error.errno, *error.__notes__)
"""


def test_a_full_disk_is_an_error_with_advice(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL, str(tmp_path / "run")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"{errno.EFBIG} Free disk space"), done.stdout
    assert "TMPDIR" in done.stdout


MEASURED = """
import sys
import digram
from benches.child import peak

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
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        peak, digest = done.stdout.split()
        return int(peak), digest

    limit = 40_000_000
    (free, expected), (bounded, found) = run("none"), run(limit)
    print(f"peak without a limit {free / 1e6:.0f} MB, with one of 40 MB {bounded / 1e6:.0f} MB")
    assert found == expected
    # A batch of text is held besides.
    assert bounded < limit + (12 << 20) < free


LARGE_FILE = """
import pathlib, sys
import digram
from benches.child import peak

path = pathlib.Path(sys.argv[1])
with path.open("wb") as file:
    for _ in range(100):
        file.write(b"some words and some more of them " * 30_000)
digram.train("warm up", vocab_size=300)
before = peak()
tok = digram.train(path, vocab_size=270, memory_limit="24 MiB", threads=2)
print(peak() - before, path.stat().st_size, tok.training.documents)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the peak of memory")
def test_one_document_may_be_larger_than_the_limit(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LARGE_FILE, str(tmp_path / "large.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    peak, size, documents = map(int, done.stdout.split())
    print(f"peak {peak >> 20} MiB for a file of {size >> 20} MiB")
    assert documents == 1
    # A batch of text is held besides.
    assert peak < (24 + 16 << 20) < size / 2
