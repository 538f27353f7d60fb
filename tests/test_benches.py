"""The benchmarks run, and what they compare is equal: small texts, and no figure is looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import digram

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are not part of what is installed

from benches import (  # noqa: E402
    calls,
    decode,
    encode,
    estimate_training,
    evaluate,
    growing,
    guard,
    load,
    memory,
    models,
    picky,
    sequences,
    shapes,
    sinks,
    tables,
    train,
    within,
)
from benches.data import SEPARATOR  # noqa: E402
from benches.peers import OWN, PEERS  # noqa: E402
from benches.run import Options, Task, disagreements, take_turns  # noqa: E402
from benches.trainers import TRAINERS  # noqa: E402

DOCUMENTS = ["It's a test, isn't it?\n" * 3, "", "naïve  中文 1234 tests", "tests    test " * 9]
FEW = ["digram, NumPy", "digram, lists", "tiktoken"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.txt"
    path.write_text(SEPARATOR.join(DOCUMENTS), encoding="utf-8")
    return path


def test_what_a_plan_is_compared_with(corpus: Path) -> None:
    found = estimate_training.measure("digram", str(corpus), 260, "o200k", 1, None)
    tok = digram.train(digram.files(corpus, separator=SEPARATOR), vocab_size=260)
    assert tok.training is not None
    assert (found["text"], found["pretokens"], found["digest"]) == (
        tok.training.bytes,
        tok.training.distinct_pretokens,
        tok.digest,
    )


@pytest.mark.parametrize("order", ["bytes", "huggingface"])
@pytest.mark.parametrize("pattern", ["gpt2", "cl100k"])
def test_trainers_learn_the_same(corpus: Path, order: str, pattern: str) -> None:
    size = 280  # gigatoken goes on where the pairs of so small a corpus have run out, with 287
    trainers = [one for one in TRAINERS.values() if one.order == order and one.installed]
    learned = {
        one.name: train.measure(one.name, str(corpus), size, pattern, 1)["digest"]
        for one in trainers
        if pattern in one.patterns
    }
    assert len(learned) >= 2
    assert len(set(learned.values())) == 1, learned


def test_encoders_give_the_same(shared_data: Callable[[str], Path]) -> None:
    for name in ("vocabs/r50k_base.tiktoken", "corpora/multi.txt"):
        shared_data(name)
    for joined in (False, True):
        found = [encode.measure(name, "r50k_base", "multi", 1, 0.02, joined) for name in FEW]
        assert len({one["digest"] for one in found}) == 1


def test_encoders_give_the_same_under_a_pattern_of_ones_own(
    shared_data: Callable[[str], Path],
) -> None:
    shared_data("vocabs/cl100k_base.tiktoken")
    shared_data("corpora/en.txt")
    own, other = (
        {encode.measure(name, encoding, "en", 1, 0.02)["digest"] for name in FEW[1:]}
        for encoding in (OWN, "cl100k_base")
    )
    assert len(own) == len(other) == 1
    assert own != other


def test_readers_of_other_models_give_the_same(
    shared_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("vocabs/ggml-vocab-bert-bge.gguf", "vocabs/ggml-vocab-llama-spm.gguf"):
        shared_data(name)
    monkeypatch.setenv("DIGRAM_BIG", str(tmp_path))
    for file in ("bert.json", "wordpiece.json", "llama.json"):
        names = ("digram, arrays", "digram, lists", "tokenizers")
        found = [models.measure(name, file, "multi", 0.02) for name in names]
        assert len({one["digest"] for one in found}) == 1, file


def test_nfc_leaves_the_ids_of_normal_text(shared_data: Callable[[str], Path]) -> None:
    for name in ("vocabs/cl100k_base.tiktoken", "flores-dev/kor_Hang.txt"):
        shared_data(name)
    found = models.measure(models.NFC, corpus="kor_Hang")
    assert found["nfc"] > 0
    assert found["alone"] > 0


def test_the_guard_says_what_fell(
    shared_data: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    for name in ("vocabs/r50k_base.tiktoken", "corpora/en.txt"):
        shared_data(name)
    tiktoken = PEERS["tiktoken"]  # in place of peers that only benchmarks install
    monkeypatch.setattr(guard.Row, "peers", lambda _: [PEERS["digram, NumPy"], tiktoken])
    monkeypatch.setattr(guard, "PROGRAMS", {"arrays": ("digram, NumPy", "tiktoken")})
    monkeypatch.setattr(guard, "RECORDED", tmp_path / "recorded.json")
    command = ["guard", "--rounds", "1", "--megabytes", "0.2", "--rows", "r50k,en"]
    before = os.sched_getaffinity(0)
    try:
        monkeypatch.setattr(sys, "argv", [*command, "--record"])
        assert guard.main() == 0
        assert "Nothing is recorded." in capsys.readouterr().out
        recorded = json.loads(guard.RECORDED.read_text(encoding="utf-8"))
        assert [*recorded["rows"]] == ["r50k en, arrays"]
        recorded["rows"]["r50k en, arrays"] = [1e6, 0.0]
        guard.RECORDED.write_text(json.dumps(recorded), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", command)
        assert guard.main() == 1
    finally:
        os.sched_setaffinity(0, before)
    told = capsys.readouterr()
    assert "fell" in told.out
    assert "fell below 85%" in told.err


def test_memory_is_measured_of_the_same_ids(
    shared_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("vocabs/r50k_base.tiktoken", "corpora/en.txt", "corpora/code.txt"):
        shared_data(name)
    monkeypatch.setattr(memory, "ENCODING", "r50k_base")
    ways = ["batch", "iter", "stream", *["kept"] * Path("/proc/self/status").exists()]
    ours = {way: memory.measure("digram, NumPy", way, 0.2, 1) for way in ways}
    theirs = memory.measure("tiktoken", "batch", 0.2, 1)
    assert {ours[way]["digest"] for way in ways if way != "stream"} == {theirs["digest"]}
    assert ours.get("kept", {"used": 0})["used"] < 13 << 20  # what one thread may keep
    assert 0 < ours["stream"]["ids"] <= theirs["ids"]


def test_decode_count_calls_and_shapes(
    shared_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("vocabs/r50k_base.tiktoken", "corpora/en.txt", "corpora/multi.txt"):
        shared_data(name)
    monkeypatch.setattr(decode, "ENCODING", "r50k_base")  # the fastest to load
    monkeypatch.setattr(calls, "ENCODING", "r50k_base")
    ours, theirs = (decode.measure(name, "en", 0.02, "decode") for name in FEW[:2])
    assert ours["digest"] == theirs["digest"]
    counted, encoded = (decode.measure(FEW[0], "en", 0.02, what) for what in ("count", "encode"))
    assert counted["digest"] == encoded["digest"]
    for what in ("encode", "special", "count"):
        ours, theirs = (calls.measure(name, 20, what) for name in ("digram, lists", "tiktoken"))
        assert ours["us"] > 0
        assert ours["digest"] == theirs["digest"]
    ours, theirs = (
        calls.measure(name, 20_000, "long", "multi") for name in ("digram, lists", "tiktoken")
    )
    assert ours["digest"] == theirs["digest"]
    ours, theirs = (shapes.measure(name, "r50k_base", "Chinese", 1) for name in FEW[1:])
    assert ours["digest"] == theirs["digest"]
    assert ours["ids"] > 1_000


@pytest.mark.parametrize("name", ["r50k_base.tiktoken", "gpt2_tokenizer.json"])
def test_loaders_give_the_same(shared_data: Callable[[str], Path], name: str) -> None:
    path = str(shared_data(f"vocabs/{name}"))
    other = "tokenizers" if name.endswith(".json") else "tiktoken"
    measured = [load.measure(who, path) for who in ("digram", load.PICKLED, other)]
    assert len({one["digest"] for one in measured}) == 1
    assert all(one["ms"] > 0 for one in measured)


def test_training_files_hold_the_same(
    shared_data: Callable[[str], Path],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared_data("vocabs/r50k_base.tiktoken")
    monkeypatch.setattr(sinks, "ENCODING", "r50k_base")
    monkeypatch.setenv("DIGRAM_BIG", str(tmp_path))
    ways = (sinks.MEMORY, "megatron", "nanogpt", "dolma", "parquet")
    found = {who: sinks.measure(who, str(corpus), 2) for who in ways}
    assert len({one["digest"] for one in found.values()}) == 1
    assert sinks.measure(sinks.DISK, "", 1, 3 * sinks.BLOCK + 1)["written"] == 3 * sinks.BLOCK
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"], "what it wrote is gone"


def test_drift_is_measured(shared_data: Callable[[str], Path]) -> None:
    shared_data("corpora/med.txt")
    same, other = (growing.measure(who, 0.6) for who in ("en", "med"))
    assert same["base"] == other["base"]
    assert other["unseen"] > same["unseen"] > 0
    assert other["saved"] > 0
    stream = growing.measure(growing.STREAM, 0.3)
    assert 0 < stream["held"] <= stream["most"]
    assert stream["steps"] > 1


def test_what_is_dropped_and_kept_whole_is_measured(
    monkeypatch: pytest.MonkeyPatch, shared_data: Callable[[str], Path]
) -> None:
    shared_data("corpora/multi.txt")
    monkeypatch.setattr(picky, "SIZE", 1_500)
    plain, whole, dropping = (
        picky.measure(who, "multi", 0.5) for who in ("plain", "whole characters", "picky 0.6")
    )
    assert (plain["dropped"], whole["dropped"]) == (0, 0)
    assert dropping["dropped"] > 0
    assert whole["partial"] < plain["partial"]


@pytest.mark.parametrize("kind", sequences.KINDS)
def test_sequences_are_learned_alike(kind: str) -> None:
    ours, theirs = (sequences.measure(who, kind, 2) for who in ("digram", "tokenizers"))
    assert ours["digest"] == theirs["digest"]
    assert ours["per id"] == theirs["per id"] > 1
    assert ours["learned"] % sequences.PART == 0


def test_sequences_are_what_they_are_called() -> None:
    reads = next(sequences.dna(1))
    assert (reads.shape, reads.max()) == ((200, 1_000), 3)
    rows, mixed = (next(sequences.pictures(1, order)) for order in ("rows", "Z"))
    assert (rows[:, [0, 1, 16, 17, 2]] == mixed[:, :5]).all()
    moved = next(sequences.movements(1))
    assert 0 < moved.min() < 256 < moved.max() < 511
    assert (moved == 256).mean() > 0.5  # most coefficients are 0


def test_evaluating_counts_what_encoding_gives(
    shared_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shared_data("vocabs/r50k_base.tiktoken")
    monkeypatch.setattr(evaluate, "ENCODING", "r50k_base")
    ways = (evaluate.ENCODE, evaluate.EVALUATE)
    found = [evaluate.measure(who, "med", 0.05, 1) for who in ways]
    assert len({one["digest"] for one in found}) == 1
    assert len({one["size"] for one in found}) == 1


def test_limits_and_checkpoints_give_the_same(corpus: Path) -> None:
    ways = ((None, False), (within.MINIMUM, False), (None, True))
    found = [
        within.measure("digram", str(corpus), 290, limit, checkpoint, 1)
        for limit, checkpoint in ways
    ]
    assert len({one["digest"] for one in found}) == 1
    assert all(one["seconds"] > 0 for one in found)


def test_turns_are_taken_in_fresh_processes(corpus: Path) -> None:
    tasks = [
        Task.of("train", who, path=str(corpus), size=290, pattern="gpt2", threads=1, slow=slow)
        for who, slow in (("digram", False), ("rustbpe", True), ("nobody", False))
    ]
    results = take_turns([tasks], Options(rounds=2))
    ours, theirs, nobody = (results[task] for task in tasks)
    assert len(ours.values["seconds"]) == 2
    assert len(theirs.values["seconds"]) == 1
    assert nobody.error == "KeyError: 'nobody'"
    assert disagreements(results, tasks) == []
    theirs.digests = {"another"}
    assert disagreements(results, tasks) == [tasks[1]]


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    peer = PEERS["tiktoken"]
    monkeypatch.setattr(type(peer), "installed", False)
    assert encode.title(peer) == "tiktoken (not installed)"


def test_tables() -> None:
    table = tables.markdown(["text", "MB/s"], [["en", tables.number(9.5)], ["multi", "–"]])
    assert table.splitlines()[1] == "|-------|-----:|"
    assert len({len(line) for line in table.splitlines()}) == 1
    assert [tables.number(value) for value in (0.0123, 3.14159, 27.18, 1234.5)] == [
        *("0.012", "3.14", "27.2", "1,234")
    ]
    assert [tables.times(ratio) for ratio in (5.04, 0.333, 123.4)] == ["5.0×", "0.33×", "123×"]


def test_the_command_explains_itself() -> None:
    command = [sys.executable, "-m", "benches"]
    done = subprocess.run(
        [*command, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "encode" in done.stdout
    wrong = subprocess.run([*command, "x"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "there is no table 'x'" in wrong.stderr
