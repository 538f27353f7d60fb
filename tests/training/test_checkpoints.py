"""Training with checkpoints: a run goes on where it ended, and another run is refused."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from training.test_determinism import SEPARATOR
from training.test_limits import OPTIONS

import digram
from digram._util.json_files import digest
from digram.training.checkpoint import JOURNAL, STATE


def test_the_same_call_goes_on_and_a_larger_one_too(corpus: digram.Files, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    smaller: dict[str, Any] = {**OPTIONS, "vocab_size": 1_000}
    heard: list[digram.Merge] = []
    assert digram.train(corpus, checkpoint=folder, **smaller) == digram.train(corpus, **smaller)
    again = digram.train(corpus, checkpoint=folder, on_merge=heard.append, **OPTIONS)
    assert again == digram.train(corpus, **OPTIONS)
    assert heard == list(again.merge_log)
    texts = corpus.paths[0].read_text(encoding="utf-8").split(SEPARATOR)
    for source in (texts, iter(texts)):
        other = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        digram.train(source, checkpoint=other, **OPTIONS)
        assert digram.train(texts, checkpoint=other, **OPTIONS) == again


def test_it_says_from_where_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(source: Any, **options: Any) -> list[str]:
        capsys.readouterr()
        digram.train(source, **{"pretokenizer": None, "progress": True, **options})
        return re.findall(r"Resumed .*", capsys.readouterr().err)

    text, folder = "the cat and the other cat sat", tmp_path / "run"
    assert said(text, checkpoint=folder, max_merges=3) == []
    assert said(text, checkpoint=folder, max_merges=5, progress=None) == []  # no terminal
    assert said(text, checkpoint=folder, max_merges=7) == [
        f"Resumed from 5 of 7 merges in {folder}."
    ]
    assert said(text, checkpoint=folder, max_merges=2) == [
        f"Resumed from 2 of 2 merges in {folder}."
    ]
    # A run that was broken off while it counted, and after that.
    monkeypatch.setattr("digram.training.checkpoint.BETWEEN", 0.0)
    monkeypatch.setattr("digram.corpus.batches.__defaults__", (1,))

    def broken() -> Any:
        yield from ("the cat", "and the other cat")
        raise ZeroDivisionError

    folder, texts = tmp_path / "broken", ["the cat", "and the other cat", "sat"]
    with pytest.raises(ZeroDivisionError):
        said(broken(), checkpoint=folder, max_merges=3)
    assert said(texts, checkpoint=folder, max_merges=0) == [
        f"Resumed after 24 B counted in {folder}."
    ]
    assert said(texts, checkpoint=folder, max_merges=1) == [
        f"Resumed after 27 B counted in {folder}."
    ]
    frequent: dict[str, Any] = {"checkpoint": tmp_path / "frequent", "min_frequency": 2}
    assert said(text, **frequent) == []
    made = len(digram.train(text, min_frequency=2, pretokenizer=None).merges)
    assert said(text, **frequent) == [f"Resumed from {made} merges in {tmp_path / 'frequent'}."]
    named = {"a": text, "b": texts}
    said(named, checkpoint=tmp_path / "named", max_merges=0)
    assert said(named, checkpoint=tmp_path / "named", max_merges=1) == [
        f"Resumed after 29 B counted in {tmp_path / 'named' / 'source-0'}.",
        f"Resumed after 27 B counted in {tmp_path / 'named' / 'source-1'}.",
    ]


def test_counts_and_named_sources_go_on(corpus: digram.Files, tmp_path: Path) -> None:
    counts = digram.count_pretokens(corpus, pretokenizer="gpt2")
    named = {"a": "the cat and the dog", "b": counts}
    for source in (counts, named):
        folder = tmp_path / type(source).__name__
        options: dict[str, Any] = {"vocab_size": 2_000, "pretokenizer": "gpt2"}
        first = digram.train(source, checkpoint=folder, **options)
        assert digram.train(source, checkpoint=folder, **options) == first
        theirs = "the corpora 'a', 'b'" if source is named else "counts of 83 documents as its"
        asked = "this call has text as its corpus"
        with pytest.raises(digram.CheckpointError, match=f"to a run with {theirs}.*{asked}"):
            digram.train("another text", checkpoint=folder, **options)
    # Names and weights are whatever a dictionary takes.
    odd: dict[Any, Any] = {b"a": "the cat", 7: "the dog"}
    options = {"max_merges": 3, "weights": {b"a": Fraction(3, 2)}}
    tok = digram.train(odd, checkpoint=tmp_path / "odd", **options)
    tok.save(tmp_path / "odd.json")
    assert digram.load(tmp_path / "odd.json") == tok


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("text")
    with pytest.raises(NotADirectoryError, match="a checkpoint is a folder, and this is not one"):
        digram.train("text", max_merges=1, checkpoint=path)
    assert path.read_text() == "text"


def test_another_run_is_refused(corpus: digram.Files, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    digram.train(corpus, checkpoint=folder, **OPTIONS)
    with pytest.raises(digram.CheckpointError) as caught:
        digram.train(corpus, checkpoint=folder, ties="first_seen", **OPTIONS)
    assert str(caught.value) == (
        f'{folder}: the folder belongs to a run with ties="ids", but this call has '
        'ties="first_seen". Pass the options of that run to resume it, or another folder to start '
        "a new run."
    )
    regex = digram.Pretokenizer(digram.Regex("[a-z]+"), digits="individual")
    for options, theirs, ours in (
        ({"pretokenizer": "o200k"}, 'pretokenizer="gpt2"', 'pretokenizer="o200k"'),
        (
            {"pretokenizer": regex},
            'pretokenizer="gpt2"',
            "pretokenizer=digram.Regex('[a-z]+') with digits='individual'",
        ),
        ({"pretokenizer": None}, 'pretokenizer="gpt2"', "pretokenizer=None"),
        ({"unit": "char"}, 'unit="byte"', 'unit="char"'),
        (
            {"unit": "char", "on_unknown": "bytes", "min_frequency": 2},
            'unit="byte" and no min_frequency and no on_unknown="bytes"',
            'unit="char" and min_frequency=2 and on_unknown="bytes"',
        ),
        (
            {"unit": "char", "alphabet": "x" + "".join(map(chr, range(0x4E00, 0x4E80)))},
            'unit="byte" and no alphabet',
            "unit=\"char\" and alphabet=['x', '一', ",
        ),
    ):
        with pytest.raises(digram.CheckpointError) as caught:
            digram.train(corpus, checkpoint=folder, **{**OPTIONS, **options})
        assert f"run with {theirs}, but this call has {ours}" in caught.value.message
        assert len(caught.value.message) < 280
    (folder / STATE).write_text(sealed(json.loads((folder / STATE).read_bytes()) | {"options": {}}))
    with pytest.raises(digram.CheckpointError, match="to a run with other options to merge"):
        digram.train(corpus, checkpoint=folder, ties="first_seen", **OPTIONS)
    texts = tmp_path / "texts"
    few: dict[str, Any] = {"vocab_size": 300, "pretokenizer": "gpt2"}
    digram.train(["the cat", "the dog"], checkpoint=texts, **few)
    for other in (["the cat", "the cow"], ["the cat"], ["the cat", "the dog", "more"]):
        with pytest.raises(digram.CheckpointError, match="not the one"):
            digram.train(other, checkpoint=texts, **few)


def test_a_changed_corpus_is_refused(tmp_path: Path) -> None:
    """Also where all that is known of it beforehand is the same."""
    few: dict[str, Any] = {"max_merges": 1, "pretokenizer": "gpt2"}
    more = {**few, "max_merges": 2}
    text = tmp_path / "b.txt"
    before, after = "ab ab ab ab xy", "xy xy xy xy ab"
    text.write_text(before)
    count = digram.count_pretokens
    pairs: list[tuple[Any, Any]] = [
        ({"a": "ab ab ab ab", "b": "cd"}, {"a": "ab ab ab ab", "b": "xy xy xy xy xy xy"}),
        (count(before, pretokenizer="gpt2"), count(after, pretokenizer="gpt2")),
        (
            {"a": count("ab ab cd", pretokenizer="gpt2")},
            {"a": count("ab ab xy", pretokenizer="gpt2")},
        ),
        (text, text),
        ({"a": text}, {"a": text}),
    ]
    for number, (one, other) in enumerate(pairs):
        folder = tmp_path / str(number)
        text.write_text(before)
        first = digram.train(one, checkpoint=folder, **few)
        assert digram.train(one, checkpoint=folder, **few) == first
        text.write_text(after)
        with pytest.raises(digram.CheckpointError, match="the corpus is not the one"):
            digram.train(other, checkpoint=folder, **more)
        # Written again with the same content.
        text.write_text(before)
        os.utime(text, ns=(0, number))
        assert digram.train(one, checkpoint=folder, **more) == digram.train(one, **more)


def test_a_separator_is_part_of_a_run(tmp_path: Path) -> None:
    """That of the corpus, or that of each of several."""
    path = tmp_path / "a.txt"
    path.write_text("low\n\nlow\n\nlower")
    rows = pyarrow.table({"text": [path.read_text()]})
    options: dict[str, Any] = {"max_merges": 3, "pretokenizer": None}
    cut: list[Any] = [digram.files(path, separator="\n\n"), digram.table(rows, separator=b"\n\n")]
    pairs: list[tuple[Any, Any, str]] = [
        (cut[0], path, r'separator="\n\n", but this call has no separator'),
        (cut[1], digram.table(rows), r'separator="\n\n", but this call has no separator'),
        (
            digram.files(path, separator=b"\xff"),
            cut[0],
            r"separator=b'\xff', but this call has separator=" + r'"\n\n"',
        ),
    ]
    for source in cut:
        tok = digram.train(source, **options)
        assert tok.merges == digram.train(["low", "low", "lower"], **options).merges
    number = 0
    for first, other, told in pairs:
        for one, another in (
            (first, other),
            ({"a": first}, {"a": other}),
            ({"a": "low", "b": first}, {"a": "low", "b": other}),
        ):
            number += 1
            folder = tmp_path / f"{number}"
            expected = digram.train(one, **options)
            for _ in range(2):
                assert digram.train(one, checkpoint=folder, **options) == expected
            with pytest.raises(digram.CheckpointError, match=re.escape(f"a run with {told}")):
                digram.train(another, checkpoint=folder, **options)


def test_a_folder_is_one_run_s(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    options: dict[str, Any] = {"max_merges": 1, "checkpoint": folder}

    def again(_: digram.Merge) -> None:
        digram.train("low low", **options)

    with pytest.raises(digram.CheckpointError, match="in use"):
        digram.train("low low", on_merge=again, **options)
    # Whatever became of it, the folder is free again.
    assert digram.train("low low", **options) == digram.train("low low", max_merges=1)
    # A call that was refused before it did anything leaves no mark.
    with pytest.raises(TypeError):
        digram.train([7], max_merges=1, checkpoint=tmp_path / "other")  # type: ignore[arg-type]
    digram.train("low low", max_merges=1, ties="first_seen", checkpoint=tmp_path / "other")


def test_what_is_no_text_is_told_alike_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("digram.training.checkpoint.BETWEEN", 0.0)
    path, folder = tmp_path / "long.txt", tmp_path / "run"
    path.write_bytes(b"several words " * 700_000 + b"\xff")
    for _ in range(2):
        with pytest.raises(digram.InvalidTextError, match="text 0 is not UTF-8 at byte 9800000"):
            digram.train(path, unit="char", max_merges=1, checkpoint=folder)
        assert json.loads((folder / STATE).read_bytes())["state"]["bytes"] > 8_000_000


def sealed(known: dict[str, Any]) -> str:
    """A state that somebody wrote who knows of the digest."""
    known = {name: value for name, value in known.items() if name != "sha256"}
    return json.dumps(known | {"sha256": digest(known)})


def test_a_damaged_folder_is_told(corpus: digram.Files, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    tok = digram.train(corpus, checkpoint=folder, **OPTIONS)
    state = (folder / STATE).read_bytes()
    for damaged in (b"", b"{}", state[:-20], b"[1]"):
        (folder / STATE).write_bytes(damaged)
        with pytest.raises(digram.CheckpointError, match="not a checkpoint"):
            digram.train(corpus, checkpoint=folder, **OPTIONS)
    known = json.loads(state)
    [run] = known["state"]["runs"]
    for wrong in (
        {"run": []},
        {"options": []},
        {"state": []},
        *(
            {"state": known["state"] | {"documents": n}}
            for n in ("x", -1, True, 1.5, None, 1 << 64)
        ),
        *(
            {"state": known["state"] | {"runs": names}}
            for names in ("x", [7], [f"../{run}"], ["x"], [run, run])
        ),
        {"state": known["state"] | {"done": 1}},
        {"state": known["state"] | {"more": 1}},
    ):
        (folder / STATE).write_text(json.dumps(known | wrong))
        with pytest.raises(digram.CheckpointError, match="does not match its digest"):
            digram.train(corpus, checkpoint=folder, **OPTIONS)
        assert (folder / run).exists()
        (folder / STATE).write_text(sealed(known | wrong))
        with pytest.raises(digram.CheckpointError, match="not a checkpoint"):
            digram.train(corpus, checkpoint=folder, **OPTIONS)
    later = known | {"format": 99}
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
    with pytest.raises(digram.CheckpointError, match=r"damaged: .* journal"):
        digram.train(corpus, checkpoint=folder, **OPTIONS)
    (folder / JOURNAL).unlink()
    for run in folder.glob("*.digram-run"):
        run.unlink()
    with pytest.raises(digram.CheckpointError, match="missing"):
        digram.train(corpus, checkpoint=folder, **OPTIONS)


def odd(known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A state without each of its values, with another in its place, and with one more."""
    for part in (known, known["state"], known["run"], known["options"]):
        for name, value in [*part.items()]:
            del part[name]
            yield known
            others: list[Any] = [None, 0, -1, 1.5, "", "x", [], ["x"], {}, True, 1 << 70, [value]]
            for other in others:
                if other != value or type(other) is not type(value):
                    part[name] = other
                    yield known
            if isinstance(value, list):
                part[name] = value * 2 or ["more"]
                yield known
            part[name] = value
        part["another"] = 1
        yield known
        del part["another"]


def test_a_damaged_state_is_a_checkpoint_error(corpus: digram.Files, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    digram.train(corpus, checkpoint=folder, **OPTIONS)
    state = (folder / STATE).read_bytes()
    [run] = json.loads(state)["state"]["runs"]
    counts = (folder / run).read_bytes()
    tried = 0
    for changed in odd(json.loads(state)):
        tried += 1
        (folder / STATE).write_text(json.dumps(changed))
        with pytest.raises(digram.CheckpointError) as caught:
            digram.train(corpus, checkpoint=folder, **OPTIONS)
        assert caught.value.path is not None
        assert len(str(caught.value)) < 400
    assert tried > 150
    assert (folder / run).read_bytes() == counts  # nothing went that the state named before
    # And where its digest is right.
    wrong: list[dict[str, Any]] = [
        {"runs": []},
        {"runs": [run, run]},
        {"bytes": 1},
        {"pretokens": 1},
        {"documents": 0, "bytes": 0, "pretokens": 0},
    ]
    for changes in wrong:
        known = json.loads(state)
        known["state"] |= changes
        (folder / STATE).write_text(sealed(known))
        (folder / run).write_bytes(counts)
        with pytest.raises(digram.CheckpointError) as caught:
            digram.train(corpus, checkpoint=folder, **OPTIONS)
        assert caught.value.path is not None
    for at in range(0, len(counts), len(counts) // 20):
        (folder / STATE).write_bytes(state)
        (folder / run).write_bytes(counts[:at] + bytes([counts[at] ^ 1]) + counts[at + 1 :])
        with pytest.raises(digram.CheckpointError, match="a file of the checkpoint is damaged"):
            digram.train(corpus, checkpoint=folder, **OPTIONS)
