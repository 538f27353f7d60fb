"""A save is atomic, and an error about a damaged history names the file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import digram
from digram._util.folder_lock import lock_folder
from digram._util.json_files import digest
from digram.adapt.versions import edited, files


def older() -> digram.VocabularyHistory:
    return (
        digram.VocabularyHistory(pretokenizer="whitespace")
        .add("low low lower", name="a")
        .decay(0.9)
    )


def newer() -> digram.VocabularyHistory:
    history = older().next(vocab_size=258, special_tokens=["<s>"]).add("newest news", name="b")
    return history.next(add=2).forget(name="a")


class Killed(BaseException):
    """Stands for SIGKILL: nothing runs after it."""


def dies_at(monkeypatch: pytest.MonkeyPatch, number: int) -> list[str]:
    """From the n-th change of the disk on nothing has any effect; the calls until then."""
    calls: list[str] = []

    def wrapped(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            if len(calls) >= number:
                raise Killed
            calls.append(name)
            return call(*args, **kwargs)

        return counted

    for name in ("write", "fsync", "replace", "unlink"):
        monkeypatch.setattr(os, name, wrapped(name, getattr(os, name)))
    return calls


def test_a_save_that_is_killed_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    one, two = older(), newer()
    found: list[str] = []
    number = 0
    while not found or found[-1] != "whole":
        folder = tmp_path / str(number)
        one.save(folder)
        with pytest.MonkeyPatch.context() as patch:
            dies_at(patch, number)
            try:
                two.save(folder)
                found.append("whole")
            except Killed:
                found.append("killed")
        loaded = digram.VocabularyHistory.load(folder)
        assert loaded in (one, two)
        if loaded == two:
            assert loaded.log == two.log
        found[-1] = found[-1] if found[-1] == "whole" else "old" if loaded == one else "new"
        two.save(folder)  # and the next save clears up
        assert digram.VocabularyHistory.load(folder) == two
        assert sorted(entry.name for entry in folder.iterdir()) == expected(folder)
        number += 1
    assert {"old", "new", "whole"} == {*found}
    assert number > 10


def expected(folder: Path) -> list[str]:
    """The files that a folder should hold."""
    told = json.loads((folder / files.NAME).read_text(encoding="utf-8"))
    return sorted([files.NAME, *{one["file"] for one in told["batches"] + told["versions"]}])


def test_what_has_not_changed_is_not_written_again(tmp_path: Path) -> None:
    history = newer()
    history.save(tmp_path)
    stamps = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    history.add("more", name="c").save(tmp_path)
    again = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {name for name in stamps if again[name] != stamps[name]} == {files.NAME}
    assert len(again) == len(stamps) + 1


def test_another_file_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    newer().save(tmp_path)
    older().save(tmp_path)
    assert (tmp_path / "notes.txt").exists()
    assert digram.VocabularyHistory.load(tmp_path) == older()


def test_a_tokenizer_whose_characters_may_be_unknown(tmp_path: Path) -> None:
    history = digram.VocabularyHistory(pretokenizer="gpt2", unit="char").add("low low lower")
    history = history.next(vocab_size=10).add("slow", name="b")
    history.save(tmp_path)
    again = digram.VocabularyHistory.load(tmp_path)
    assert (again, again.tokenizer.on_unknown) == (history, "error")


def test_a_tokenizer_whose_merges_are_not_by_rank_alone(tmp_path: Path) -> None:
    text = "the cat sat on the mat with the cat. " * 9
    history = digram.VocabularyHistory.of(
        digram.train(text, vocab_size=280, superwords="boundless")
    )
    history.add(text).save(tmp_path)
    assert digram.VocabularyHistory.load(tmp_path) == history.add(text)


def test_nobody_else_saves_meanwhile(tmp_path: Path) -> None:
    with lock_folder(tmp_path), pytest.raises(digram.CheckpointError, match="is being saved"):
        older().save(tmp_path)


def test_a_folder_is_changed_by_one_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "history"

    def fails(history: digram.VocabularyHistory) -> digram.VocabularyHistory:
        raise OSError("no text")

    with pytest.raises(OSError, match="no text"):
        edited(folder, fails, older)
    with pytest.raises(FileNotFoundError):
        edited(folder, fails)
    assert not folder.exists()
    begun = edited(folder, lambda history: history.add("one"), older)
    assert begun == older().add("one")

    def meanwhile(history: digram.VocabularyHistory) -> digram.VocabularyHistory:
        with pytest.raises(digram.CheckpointError, match="is being saved"):
            edited(folder, lambda history: history.add("lost"))
        return history.add("two")

    assert edited(folder, meanwhile, older) == older().add("one").add("two")
    with pytest.raises(OSError, match="no text"):
        edited(folder, fails)
    assert digram.VocabularyHistory.load(folder) == older().add("one").add("two")


def test_files_that_are_replaced_while_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older().save(tmp_path)
    parsed = files._parsed
    moments = iter([newer, older, newer])

    def meanwhile(data: bytes, home: Path) -> Any:
        for save in moments:
            save().save(tmp_path)
            break
        return parsed(data, home)

    monkeypatch.setattr(files, "_parsed", meanwhile)
    assert digram.VocabularyHistory.load(tmp_path) == newer()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: "", "not JSON"),
        (lambda text: text[:-20], "not JSON"),
        (lambda text: "[]", "not a file of a history"),
        (
            lambda text: text.replace('"weight": "9/10"', '"weight": "8/10"'),
            "SHA-256 does not match",
        ),
        (lambda text: text.replace('"digram_history": 1', '"digram_history": 2'), "version 2"),
    ],
)
def test_a_damaged_history(tmp_path: Path, damage: Callable[[str], str], message: str) -> None:
    older().save(tmp_path)
    path = tmp_path / files.NAME
    path.write_text(damage(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(digram.CorruptFileError, match=message) as error:
        digram.VocabularyHistory.load(tmp_path)
    assert error.value.path == str(path)


@pytest.mark.parametrize("kind", ["counts-*.arrow", "version-*.json"])
def test_damaged_and_missing_parts(tmp_path: Path, kind: str) -> None:
    newer().save(tmp_path)
    path = sorted(tmp_path.glob(kind))[0]
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(digram.CorruptFileError) as error:
        digram.VocabularyHistory.load(tmp_path)
    assert error.value.path == str(path)
    path.unlink()
    with pytest.raises(digram.CorruptFileError, match="is missing"):
        digram.VocabularyHistory.load(tmp_path)


def test_parts_that_were_exchanged(tmp_path: Path) -> None:
    newer().save(tmp_path)
    one, two = sorted(tmp_path.glob("version-*.json"))
    one.write_bytes(two.read_bytes())
    with pytest.raises(digram.CorruptFileError, match="another tokenizer"):
        digram.VocabularyHistory.load(tmp_path)
    newer().save(tmp_path / "b")
    (counts,) = (tmp_path / "b").glob("counts-*.arrow")
    digram.Counts({"low": 1}, pretokenizer="gpt2").save(counts)
    with pytest.raises(digram.CorruptFileError, match="made with other settings"):
        digram.VocabularyHistory.load(tmp_path / "b")


def test_names_that_lead_out_of_the_folder(tmp_path: Path) -> None:
    older().save(tmp_path)
    path = tmp_path / files.NAME
    told = json.loads(path.read_text(encoding="utf-8"))
    told["batches"][0]["file"] = "../counts.arrow"
    del told["digram_history"], told["sha256"]
    top = {"digram_history": 1, "sha256": digest(told), **told}
    path.write_text(json.dumps(top), encoding="utf-8")
    with pytest.raises(digram.CorruptFileError, match="not the name of one of its files"):
        digram.VocabularyHistory.load(tmp_path)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        digram.VocabularyHistory.load(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        older().save(tmp_path / "no" / "parent")
