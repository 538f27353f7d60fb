"""Going on with a run: only where all is as it was, and with the same bytes at the end."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import digram
from digram.corpus import file_source
from digram.shards import encoding, manifest

END = "<|endoftext|>"
TOK = digram.train("low lower lowest newer", vocab_size=270, special_tokens=[END])
# The number of threads decides how far reading is ahead of writing, and so where a break is.
OPTIONS: dict[str, Any] = {"format": "megatron", "shard_tokens": 60, "threads": 2}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a run of little text has many."""
    monkeypatch.setattr(encoding, "MIN_BATCH", 100)
    monkeypatch.setattr(encoding, "BATCH", 100)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder of files, one of them empty."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number, lines in enumerate((30, 0, 1, 55, 20)):
        text = "\n".join(f"lower {n} newer {number}" for n in range(lines))
        (folder / f"{number}.txt").write_text(text)
    return folder


def by_line(path: Path) -> digram.Files:
    """The lines of a file, or of those of a folder."""
    return digram.files(path, separator="\n")


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


class BrokenError(Exception):
    """What ends a run in these tests."""


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Encode up to so many batches, then fail."""

    def run(source: Any, out: Path, after: int, **options: Any) -> None:
        real = digram.Tokenizer._encode_documents
        left = itertools.count(after, -1)

        def encode(self: digram.Tokenizer, *args: Any, **more: Any) -> Any:
            if not next(left):
                raise BrokenError
            return real(self, *args, **more)

        with monkeypatch.context() as patch:
            patch.setattr(digram.Tokenizer, "_encode_documents", encode)
            with pytest.raises(BrokenError):
                digram.encode_files(TOK, source, out, **{**OPTIONS, **options})

    return run


def shards_done(out: Path) -> int:
    """How many the manifest tells of."""
    found = manifest.Manifest.load(out)
    assert found is not None
    return len(found.shards)


@pytest.mark.parametrize("kind", ["folder", "texts", "iterator"])
def test_the_same_bytes_after_any_break(
    corpus: Path, tmp_path: Path, broken: Callable[..., None], kind: str
) -> None:
    def source() -> Any:
        if kind == "folder":
            return by_line(corpus)
        texts = list(by_line(corpus))
        return texts if kind == "texts" else iter(texts)

    whole = tmp_path / "whole"
    digram.encode_files(TOK, source(), whole, **OPTIONS)
    seen = set()
    for after in (0, 1, 3, 8, 14, 19):
        out = tmp_path / str(after)
        broken(source(), out, after)
        seen.add(shards_done(out))
        broken(source(), out, 2, resume=True)  # and once more
        found = digram.encode_files(TOK, source(), out, **OPTIONS, resume=True)
        assert content(out) == content(whole)
        assert len(found) == 106
        shutil.rmtree(out)
    assert len(seen) >= 4


def test_a_run_that_is_done_is_proved_and_left_alone(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    digram.encode_files(TOK, by_line(corpus), out, **OPTIONS)
    before = content(out), [path.stat().st_mtime_ns for path in out.glob("tokens-*")]
    assert len(digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)) == 106
    after = content(out), [path.stat().st_mtime_ns for path in out.glob("tokens-*")]
    assert before == after
    with pytest.raises(digram.CheckpointError, match=r"is finished already.*resume=True"):
        digram.encode_files(TOK, by_line(corpus), out, **OPTIONS)
    assert content(out) == before[0]


@pytest.mark.parametrize("kind", ["texts", "file", "table"])
def test_a_run_that_is_done_does_not_grow(tmp_path: Path, kind: str) -> None:
    """Neither by documents behind its last one nor by empty ones between."""
    path = tmp_path / "a.txt"

    def source(texts: list[str]) -> Any:
        if kind == "file":
            path.write_text("\n".join(texts).ljust(40, "\n"))
            return by_line(path)
        return texts if kind == "texts" else digram.table(pyarrow.table({"text": texts}))

    out = tmp_path / "out"
    digram.encode_files(TOK, source(["a", "b"]), out, format="megatron")
    before = content(out)
    for texts in (["a", "b", "c"], ["a"], ["a", "c"]):
        with pytest.raises(digram.CheckpointError, match=r"differs?"):
            digram.encode_files(TOK, source(texts), out, format="megatron", resume=True)
    digram.encode_files(TOK, source(["a", "b"]), out, format="megatron", resume=True)
    assert content(out) == before


def test_empty_documents_are_proved_too(tmp_path: Path, broken: Callable[..., None]) -> None:
    texts = ["low " * 40, "", "newer " * 40, "", "lowest " * 40]
    options: dict[str, Any] = {"format": "megatron", "shard_tokens": 90}
    broken(texts, tmp_path / "out", 3, **options)
    assert shards_done(tmp_path / "out") == 1
    other = ["", "", texts[0], texts[2], texts[4]]
    with pytest.raises(digram.CheckpointError, match="the documents differ"):
        digram.encode_files(TOK, other, tmp_path / "out", **options, resume=True)
    digram.encode_files(TOK, texts, tmp_path / "out", **options, resume=True)
    digram.encode_files(TOK, texts, tmp_path / "whole", **options)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_sources_by_name_and_documents_in_parts(
    corpus: Path, tmp_path: Path, broken: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_source, "PART", 64)
    texts = [f"low {n}" for n in range(50)]
    (corpus / "9.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    whole = digram.files(corpus)
    options: dict[str, Any] = {"shard_tokens": 500}
    named: dict[str, Any] = {"whole": whole, "own": texts, "more": corpus / "3.txt"}
    digram.encode_files(TOK, named, tmp_path / "whole", **{**OPTIONS, **options})
    for after in (3, 12, 20, 28):
        out = tmp_path / str(after)
        broken(named, out, after, **options)
        broken(named, out, 2, **options, resume=True)
        digram.encode_files(TOK, named, out, **{**OPTIONS, **options}, resume=True)
        assert content(out) == content(tmp_path / "whole")
    other = {"whole": whole, "mine": texts, "more": corpus / "3.txt"}
    with pytest.raises(digram.CheckpointError, match=r"no file of corpus\['own'\]|of corpora"):
        digram.encode_files(TOK, other, tmp_path / "whole", **{**OPTIONS, **options}, resume=True)


def test_the_manifest_costs_the_same_for_each_shard(
    corpus: Path, tmp_path: Path, broken: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line tells of a shard and of the inputs that ended since the one before."""
    saved = list[int]()
    real = manifest.Manifest.save

    def save(self: manifest.Manifest, folder: Path) -> None:
        saved.append(len(self.shards))
        real(self, folder)

    monkeypatch.setattr(manifest.Manifest, "save", save)
    broken(by_line(corpus), tmp_path / "out", 16)
    lines = (tmp_path / "out" / manifest.LINES).read_text().splitlines()
    assert saved == [0]
    assert len(lines) == shards_done(tmp_path / "out") > 4
    told = [one["path"] for line in lines for one in json.loads(line)["inputs"]]
    assert told == [str(corpus / f"{number}.txt") for number in range(3)]
    assert max(map(len, lines)) < 1500
    digram.encode_files(TOK, by_line(corpus), tmp_path / "out", **OPTIONS, resume=True)
    assert saved[1:] == [len(lines), saved[-1]]


def test_progress_of_what_is_left(
    corpus: Path, tmp_path: Path, broken: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    broken(by_line(corpus), tmp_path / "out", 14)
    size = sum(path.stat().st_size for path in corpus.iterdir())
    capfd.readouterr()
    digram.encode_files(
        TOK, by_line(corpus), tmp_path / "out", **OPTIONS, resume=True, progress=True
    )
    shown = re.sub("\x1b\\[[^a-zA-Z]*[a-zA-Z]", "", capfd.readouterr().err)
    for title in ("Checking the shards", "Checking the corpus", "Encoding"):
        assert title in shown
    totals = [amount for _, amount in re.findall(r"([\d.]+ k?B) of ([\d.]+ k?B)", shown)]
    assert totals[-1] != f"{size / 1000:.2f} kB"
    assert f"{size / 1000:.2f} kB" in totals


def test_without_resume_a_run_is_not_gone_on_with(
    corpus: Path, tmp_path: Path, broken: Callable[..., None]
) -> None:
    broken(by_line(corpus), tmp_path / "out", 9)
    before = content(tmp_path / "out")
    with pytest.raises(digram.CheckpointError, match=r"unfinished run.*resume=True"):
        digram.encode_files(TOK, by_line(corpus), tmp_path / "out", **OPTIONS)
    assert content(tmp_path / "out") == before
    with pytest.raises(digram.CorruptFileError, match="is unfinished"):
        digram.read_tokens(tmp_path / "out")
    one = digram.read_tokens(tmp_path / "out" / "tokens-000000.bin")
    assert TOK.decode(one[0]) == f"lower 0 newer 0{END}"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"format": "nanogpt"}, "format: 'megatron', not 'nanogpt'"),
        ({"dtype": "int32"}, "dtype: 'uint16', not 'int32'"),
        ({"end_of_text": None}, "end_of_text: "),
        ({"end_of_text": 65}, "end_of_text: "),
        ({"shard_tokens": 61}, "shard_tokens: 60, not 61"),
        ({"special": "parse"}, "special: 'text', not 'parse'"),
        ({"special": {END}}, "special: "),
    ],
)
def test_other_options_are_refused(
    *,
    corpus: Path,
    tmp_path: Path,
    broken: Callable[..., None],
    options: dict[str, Any],
    named: str,
) -> None:
    broken(by_line(corpus), tmp_path / "out", 9)
    before = content(tmp_path / "out")
    with pytest.raises(digram.CheckpointError, match=named) as caught:
        digram.encode_files(
            TOK, by_line(corpus), tmp_path / "out", **{**OPTIONS, **options}, resume=True
        )
    assert caught.value.path == str(tmp_path / "out")
    assert content(tmp_path / "out") == before


def test_another_separator_is_refused(
    corpus: Path, tmp_path: Path, broken: Callable[..., None]
) -> None:
    out = tmp_path / "out"
    broken(by_line(corpus), out, 9)
    before = content(out)
    for other, told in ((digram.files(corpus, separator="\n\n"), r"'\n\n'"), (corpus, "None")):
        with pytest.raises(digram.CheckpointError) as caught:
            digram.encode_files(TOK, other, out, **OPTIONS, resume=True)
        assert rf"another value of separator: '\n', not {told}." in caught.value.message
    assert content(out) == before


def test_another_tokenizer_or_version_is_refused(
    corpus: Path, tmp_path: Path, broken: Callable[..., None]
) -> None:
    out = tmp_path / "out"
    broken(by_line(corpus), out, 9)
    with pytest.raises(digram.CheckpointError, match="another value of the tokenizer"):
        digram.encode_files(
            TOK.with_special_tokens(["<x>"]), by_line(corpus), out, **OPTIONS, resume=True
        )
    said = json.loads((out / "manifest.json").read_bytes())
    for changed, what in (({"digram": "0.0.9"}, "digram: '0.0.9'"), ({"digram_tokens": 2}, "2")):
        (out / "manifest.json").write_text(json.dumps({**said, **changed}))
        with pytest.raises(digram.CheckpointError, match=what):
            digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)


def other_size(corpus: Path) -> None:
    with (corpus / "0.txt").open("a") as file:
        file.write("!")


def other_name(corpus: Path) -> None:
    (corpus / "0.txt").rename(corpus / "0a.txt")


def one_more(corpus: Path) -> None:
    (corpus / "9.txt").write_text("more")


def one_less(corpus: Path) -> None:
    (corpus / "4.txt").unlink()


def other_content(corpus: Path) -> None:
    text = (corpus / "0.txt").read_text()
    (corpus / "0.txt").write_text(text.replace("lower 7", "lower 8"))


def other_borders(corpus: Path) -> None:
    text = (corpus / "0.txt").read_text()
    (corpus / "0.txt").write_text(text.replace("newer 0\nlower 3 ", "newer 0 lower 3\n"))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (other_size, r"0\.txt' had \d+ bytes, and now has"),
        (other_name, r"0\.txt' is now '.*0a\.txt'"),
        (one_more, "it had 5 inputs, and now has 6"),
        (one_less, "it had 5 inputs, and now has 4"),
        (other_content, r"0\.txt' differs"),
        (other_borders, r"0\.txt' differs"),
    ],
)
def test_another_source_is_refused(
    *,
    corpus: Path,
    tmp_path: Path,
    broken: Callable[..., None],
    change: Callable[[Path], None],
    what: str,
) -> None:
    out = tmp_path / "out"
    broken(by_line(corpus), out, 14)
    before = manifest.Manifest.load(out)
    assert before is not None
    assert before.end.file == 3
    change(corpus)
    with pytest.raises(digram.CheckpointError, match=what):
        digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)
    digram.encode_files(TOK, corpus, tmp_path / "whole", **OPTIONS)
    with pytest.raises(digram.CheckpointError, match="is now no file"):
        digram.encode_files(TOK, ["lower"], tmp_path / "whole", **OPTIONS, resume=True)


def test_what_comes_later_may_have_changed_within(
    corpus: Path, tmp_path: Path, broken: Callable[..., None]
) -> None:
    """What was not encoded yet is encoded as it is now, and so it is that of one run."""
    broken(by_line(corpus), tmp_path / "out", 9)
    path = corpus / "4.txt"
    path.write_text(path.read_text().replace("newer", "NEWER"))
    digram.encode_files(TOK, by_line(corpus), tmp_path / "out", **OPTIONS, resume=True)
    digram.encode_files(TOK, by_line(corpus), tmp_path / "whole", **OPTIONS)
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_files_that_were_not_touched_are_not_read_again(
    corpus: Path, tmp_path: Path, broken: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, opened = tmp_path / "out", list[str]()
    broken(by_line(corpus), out, 14)
    real = Path.open

    def counted(self: Path, *args: Any, **more: Any) -> Any:
        opened.append(self.name)
        return real(self, *args, **more)

    os.utime(corpus / "2.txt")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", counted)
        digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)
    assert [name for name in opened if name.endswith(".txt")] == ["2.txt", "3.txt", "4.txt"]
    digram.encode_files(TOK, by_line(corpus), tmp_path / "whole", **OPTIONS)
    assert content(out) == content(tmp_path / "whole")


def test_an_iterator_must_give_the_same_again(tmp_path: Path, broken: Callable[..., None]) -> None:
    texts = [f"lower {n}" for n in range(100)]
    other: tuple[list[str], ...] = (
        texts[:5],
        ["other", *texts[1:]],
        ["lower 0lower 1", *texts[2:]],
        [],
    )
    for changed in other:
        out = tmp_path / "out"
        broken(iter(texts), out, 9)
        with pytest.raises(digram.CheckpointError, match="the documents differ"):
            digram.encode_files(TOK, iter(changed), out, **OPTIONS, resume=True)
        shutil.rmtree(out)
    broken(iter(texts), out, 9)
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(digram.CheckpointError, match=r"its input no file is now '.*'"):
        digram.encode_files(TOK, tmp_path / "a.txt", out, **OPTIONS, resume=True)


@pytest.mark.parametrize("suffix", [".bin", ".idx"])
def test_a_damaged_shard_is_found(
    corpus: Path, tmp_path: Path, broken: Callable[..., None], suffix: str
) -> None:
    out = tmp_path / "out"
    broken(by_line(corpus), out, 14)
    path = out / f"tokens-000001{suffix}"
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 4
    for data, what in ((bytes(flipped), "another BLAKE3"), (whole[:-1], "bytes, not"), (None, "")):
        path.unlink()
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(digram.CorruptFileError, match=what or "missing") as caught:
            digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)
        assert caught.value.path == str(path)
    path.write_bytes(whole)
    found = digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)
    found.verify()
    path.write_bytes(flipped)
    with pytest.raises(digram.CorruptFileError, match="another BLAKE3"):
        found.verify()
    path.write_bytes(whole[:-2])
    with pytest.raises(digram.CorruptFileError, match="bytes, not"):
        digram.read_tokens(out)


def test_half_files_are_removed(corpus: Path, tmp_path: Path, broken: Callable[..., None]) -> None:
    out = tmp_path / "out"
    broken(by_line(corpus), out, 14)
    done = shards_done(out)
    for name in (f"tokens-{done:06d}.bin", ".digram-0123456789abcdef.tmp", "tokens-000999.idx"):
        (out / name).write_bytes(b"half")
    mine = ["mine.txt", "tokens-000000.bin.bak", "tokens-000000.txt", "tokens-000000.npy"]
    for name in mine:
        (out / name).write_text("not digram's")
    digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)
    for name in mine:
        assert (out / name).read_text() == "not digram's"
        (out / name).unlink()
    digram.encode_files(TOK, by_line(corpus), tmp_path / "whole", **OPTIONS)
    assert content(out) == content(tmp_path / "whole")


def test_resume_may_begin(corpus: Path, tmp_path: Path) -> None:
    digram.encode_files(TOK, by_line(corpus), tmp_path / "a", **OPTIONS, resume=True)
    digram.encode_files(TOK, by_line(corpus), tmp_path / "b", **OPTIONS)
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_shards_of_others_are_not_touched(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "tokens-000000.bin").write_bytes(b"somebody's")
    for resume in (False, True):
        with pytest.raises(digram.CheckpointError, match="no manifest"):
            digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=resume)
    assert content(out) == {"tokens-000000.bin": b"somebody's"}


def test_a_damaged_manifest_is_told(
    corpus: Path, tmp_path: Path, broken: Callable[..., None]
) -> None:
    out = tmp_path / "out"
    broken(by_line(corpus), out, 14)
    broken(by_line(corpus), out, 0, resume=True)  # what was in lines is in the manifest
    path = out / manifest.NAME
    whole = path.read_bytes()
    said = json.loads(whole)
    shard = said["shards"][0]
    wrong: list[Any] = [b"", whole[:-30], b"[1]", b"{}", b"[" * 100_000, b"\xff"]
    changes: list[dict[str, Any]] = [
        {"shards": {}},
        {"shards": [7]},
        {"documents": 1},
        {"tokens": -1},
        {"done": 1},
        {"tokenizer": 7},
        {"options": []},
        {"inputs": [{}]},
        {"inputs": [{"path": "a", "bytes": "7"}]},
        {"shards": [{**shard, "files": [{**shard["files"][0], "name": "../a.bin"}]}]},
        {"shards": [{**shard, "files": [{**shard["files"][0], "bytes": True}]}]},
        {"shards": [{**shard, "end": {"file": "0"}}]},
        {"shards": [{**shard, "end": {**shard["end"], "file": 5}}]},
        {"shards": [{**shard, "end": {**shard["end"], "documents": 1 << 64}}]},
    ]
    for changed in changes:
        wrong.append(json.dumps({**said, **changed}).encode())
    for data in wrong:
        path.write_bytes(data)
        with pytest.raises(digram.CorruptFileError, match="not a manifest of digram"):
            digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)
        with pytest.raises(digram.CorruptFileError, match="not a manifest of digram"):
            digram.read_tokens(out)
        assert digram.read_tokens(out, "megatron").tokens == said["tokens"]
    path.write_bytes(whole)
    lines = out / manifest.LINES
    line = {"number": len(said["shards"]), "first": 5, "inputs": [], "shard": shard}
    for changed in (
        {"number": line["number"] + 1},
        {"first": -1},
        {"first": 6, "inputs": [{}]},
        {"inputs": [{"documents": "1"}]},
        {"shard": {}},
        {"shard": [shard]},
    ):
        lines.write_text(json.dumps({**line, **changed}) + "\n")
        with pytest.raises(digram.CorruptFileError, match="not a manifest of digram"):
            digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)
    lines.write_text(json.dumps({**line, "number": 0}) + "\n" + json.dumps(line)[:-9])
    assert len(digram.encode_files(TOK, by_line(corpus), out, **OPTIONS, resume=True)) == 106
    assert not lines.exists()
