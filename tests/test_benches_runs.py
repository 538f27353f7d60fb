"""Long benchmarks: what passes a limit is ended and said, and an interrupted table goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are not part of what is installed

from benches import train  # noqa: E402
from benches.journal import Journal  # noqa: E402
from benches.limits import Limits, TooMuchError  # noqa: E402
from benches.run import Options, Result, Task, take_turns  # noqa: E402


def started(program: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True)


def test_a_process_within_its_limits_is_left_alone() -> None:
    process = started("print('x' * 300_000)")  # more than a pipe holds
    out, _ = Limits(60, 1e9).watch(process)
    assert out == "x" * 300_000 + "\n"
    assert process.returncode == 0


def test_a_process_that_takes_too_long_is_ended() -> None:
    process = started("import time; time.sleep(600)")
    with pytest.raises(TooMuchError, match=r"^> 0\.20 s$"):
        Limits(0.2).watch(process)
    assert process.returncode is not None


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is watched on Linux")
def test_a_process_that_holds_too_much_is_ended() -> None:
    process = started("held = bytearray(b'x') * 200_000_000; import time; time.sleep(600)")
    with pytest.raises(TooMuchError, match=r"^> 0\.10 GB$"):
        Limits(60, 1e8).watch(process)
    assert process.returncode is not None


def test_a_journal_gives_back_each_turn_once(tmp_path: Path) -> None:
    path, key = tmp_path / "measured.jsonl", ["train", "{}", "1.0"]
    journal = Journal(path)
    for seconds in (1.0, 2.0):
        journal.add(key, {"seconds": seconds})
    with path.open("a") as file:
        file.write('{"key": ["train", "{}", "1.')  # the power went
    resumed = Journal(path, resume=True)
    turns = [resumed.found(key, turn, Limits()) for turn in range(3)]
    assert turns == [{"seconds": 1.0}, {"seconds": 2.0}, None]
    assert resumed.found(["train", "{}", "1.1"], 0, Limits()) is None
    assert Journal(path).found(key, 0, Limits()) is None


def test_a_line_cut_short_does_not_swallow_the_next(tmp_path: Path) -> None:
    path, key = tmp_path / "measured.jsonl", ["train", "{}", "1.0"]
    path.write_text('{"key": ["train", "{}", "1.')
    Journal(path, resume=True).add(key, {"seconds": 1.0})
    assert Journal(path, resume=True).found(key, 0, Limits()) == {"seconds": 1.0}


def test_an_error_is_tried_again_but_a_limit_that_holds_is_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "measured.jsonl")
    journal.add(["one"], {"error": "MemoryError"})
    journal.add(["two"], {"error": Limits(60).passed[0]})
    resumed = Journal(tmp_path / "measured.jsonl", resume=True)
    assert resumed.found(["one"], 0, Limits(60)) is None
    assert resumed.found(["two"], 0, Limits(60)) == {"error": "> 60.0 s"}
    assert resumed.found(["two"], 0, Limits(600)) is None


def test_turns_go_on_where_they_were(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a text to train on " * 20)
    path = tmp_path / "measured.jsonl"
    task = Task.of("train", "digram", path=str(corpus), size=260, pattern="gpt2", threads=1)
    first = take_turns([[task]], Options(rounds=1, journal=Journal(path)))
    both = take_turns([[task]], Options(rounds=2, journal=Journal(path, resume=True)))
    assert both[task].values["seconds"][0] == first[task].values["seconds"][0]
    assert len(both[task].values["seconds"]) == 2
    assert len(path.read_text().splitlines()) == 2
    assert both[task]["counting"] + both[task]["merging"] == pytest.approx(both[task]["seconds"])
    assert both[task]["merging"] > 0


def test_a_task_of_two_groups_is_measured_once(tmp_path: Path) -> None:
    task = Task.of("train", "nobody")
    path = tmp_path / "measured.jsonl"
    take_turns([[task], [task]], Options(rounds=3, journal=Journal(path)))
    assert len(path.read_text().splitlines()) == 1


def test_rows_are_every_combination() -> None:
    grid = {"texts": ("en", "one"), "sizes": ("8k", "300"), "threads": ("1",)}
    found = train.rows(Options(grid=grid | {"patterns": ("gpt2", "none")}))
    assert [(row.text, row.pattern, row.size) for row in found] == [
        *(("en", "gpt2", 8000), ("en", "gpt2", 300), ("en", "none", 8000), ("en", "none", 300)),
        *(("one", "none", 8000), ("one", "none", 300)),  # under a pattern it is no one word
    ]
    assert {row.threads for row in found} == {(1,)}


def test_the_ratio_to_a_program_that_was_ended_is_a_bound() -> None:
    def took(seconds: float) -> Result:
        return Result({"seconds": [seconds]})

    ended, limits = Result(error="> 60.0 s"), Limits(60)
    assert train._ratio(took(2.0), [took(6.0), ended], limits) == "3.0×"
    assert train._ratio(took(2.0), [ended], limits) == "> 30.0×"
    assert train._ratio(took(2.0), [Result(error="no memory")], limits) == "–"
