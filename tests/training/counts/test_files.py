"""Files of counts: equal bytes for equal counts, others can read them, and damage is detected."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

import digram
from digram import Counts, Pretokenizer, Regex, count_pretokens
from digram.training.counts import files

TEXT = "the cat sat on the mat, and the other cats sat there too: naïve 中文\n" * 3


def saved(counts: Counts) -> bytes:
    return b"".join(files.to_bytes(counts))


@pytest.fixture(scope="module")
def counts() -> Counts:
    return count_pretokens(TEXT, pretokenizer="gpt2")


@pytest.mark.parametrize("name", ["counts.arrow", "counts.parquet", "counts", "counts.PARQUET"])
@pytest.mark.parametrize(
    "pretokenizer",
    ["gpt2", None, Pretokenizer([Regex(r"\w+"), Regex("[a-m]")], digits="threes_from_right")],
)
def test_what_is_loaded_is_what_was_saved(name: str, pretokenizer: Any, tmp_path: Path) -> None:
    counts = count_pretokens([TEXT, "123456"], pretokenizer=pretokenizer, unit="char")
    for some in (counts, counts.without_first(), counts.filter(min_count=3)):
        some.save(tmp_path / name)
        back = Counts.load(tmp_path / name)
        assert back == some
        assert back.pretokenizer == some.pretokenizer
        assert (back.unit, back.documents, back.has_first) == ("char", 2, some.has_first)
        assert files.holds_counts(tmp_path / name)
    (tmp_path / name).rename(tmp_path / "other.txt")  # the content tells, not the name
    assert Counts.load(tmp_path / "other.txt") == some


def test_pyarrow_reads_them(counts: Counts, tmp_path: Path) -> None:
    counts.save(tmp_path / "counts.arrow")
    counts.save(tmp_path / "counts.parquet")
    table = pyarrow.ipc.open_file(tmp_path / "counts.arrow").read_all()
    assert table.schema.field("piece").type == pyarrow.binary()
    assert table.schema.field("count").type == table.schema.field("first").type == pyarrow.int64()
    assert not any(field.nullable for field in table.schema)
    assert table.equals(pyarrow.parquet.read_table(tmp_path / "counts.parquet"))
    assert table.column("piece").to_pylist() == sorted(counts)
    assert Counts.from_arrow(table) == counts


def test_many_batches_are_one_table() -> None:
    """More rows than a batch has, and more bytes."""
    many = Counts(((f"{n:06}", 1 + n % 7) for n in range(150_000)), pretokenizer=None)
    assert many.to_arrow().column("piece").num_chunks == 3
    assert Counts.from_arrow(many.to_arrow()) == many
    core, _ = files.from_bytes(saved(many))
    assert core.equals(many._held)
    long = Counts({bytes([65 + n]) * 9_000_000: 1 for n in range(5)}, pretokenizer=None)
    assert long.to_arrow().column("piece").num_chunks == 3
    core, _ = files.from_bytes(saved(long))
    assert core.equals(long._held)


def test_the_bytes_of_a_file_are_fixed_for_good() -> None:
    """A change of this is a new format, with a new version number for older readers."""
    counts = count_pretokens(["low low", "lower"], pretokenizer="whitespace")
    assert hashlib.sha256(saved(counts)).hexdigest() == GOLDEN


GOLDEN = "9dcf994d9676c01069168cf380ad0e96191554684905b67800b4e9a2bb34d174"


def corrupt(damage: bytes, tmp_path: Path) -> digram.CorruptFileError | Counts:
    path = tmp_path / "damaged.arrow"
    path.write_bytes(damage)
    try:
        return Counts.load(path)
    except digram.CorruptFileError as error:
        found = error
    assert found.path == str(path)
    return found


def test_every_truncation_is_told(counts: Counts, tmp_path: Path) -> None:
    whole = saved(counts)
    # The ends of parts are at multiples of 8; a step of 3 meets all remainders.
    for length in [*range(0, len(whole), 3), *range(len(whole) - 64, len(whole))]:
        assert isinstance(corrupt(whole[:length], tmp_path), digram.CorruptFileError), length


def test_every_changed_byte_is_told_or_harmless(counts: Counts, tmp_path: Path) -> None:
    """Only in the footer are there bytes that no reader of ours needs."""
    whole = saved(counts)
    chance = random.Random(7)
    footer = digram._core.CountsReader(whole).digested
    harmless = 0
    for at in range(len(whole)):
        change = chance.randrange(1, 256)
        damaged = whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :]
        found = corrupt(damaged, tmp_path)
        if isinstance(found, Counts):
            assert at >= footer
            assert found == counts
            harmless += 1
    assert harmless < len(whole) - footer


def test_bytes_put_in_or_left_out(counts: Counts, tmp_path: Path) -> None:
    whole = saved(counts)
    for at in range(0, len(whole), 23):
        for damaged in (
            whole[:at] + b"\0" + whole[at:],
            whole[:at] + whole[at + 8 :],
            whole + whole[:at],
        ):
            found = corrupt(damaged, tmp_path)
            assert isinstance(found, digram.CorruptFileError) or found == counts


def forged(damaged: bytes) -> bytes:
    """A file that was changed by somebody who knows of the digest."""
    reader = digram._core.CountsReader(damaged)
    digest = hashlib.sha256(damaged[: reader.digested]).hexdigest()
    return damaged.replace(reader.digest.encode(), digest.encode())


def test_a_forged_digest_does_not_help(counts: Counts, tmp_path: Path) -> None:
    """Whatever is decoded, rows are in order, and add up to what is said of them."""
    whole = saved(counts)
    chance = random.Random(8)
    told = 0
    for at in range(8, digram._core.CountsReader(whole).digested, 3):
        change = chance.randrange(1, 256)
        damaged = whole[:at] + bytes([whole[at] ^ change]) + whole[at + 1 :]
        try:
            found = corrupt(forged(damaged), tmp_path)
        except digram.LimitExceededError:  # a count of 2^63
            continue
        if isinstance(found, Counts):
            assert (found.bytes, found.pretokens) == (counts.bytes, counts.pretokens)
            assert digram.train(found, max_merges=3).vocab_size >= 256
        told += not isinstance(found, Counts)
    assert told > 150


def test_what_is_said_must_fit_the_rows(counts: Counts, tmp_path: Path) -> None:
    whole = saved(counts)
    for old, new, message in (
        (b'"bytes": %d,' % counts.bytes, b'"bytes": 999,', "add up to bytes="),
        (b'"pretokens": %d,' % counts.pretokens, b'"pretokens": 99,', "add up to pretokens="),
        (b'"format": 1', b'"format": 9', "newer digram"),
        (b'"unit": "byte"', b'"unit": "bite"', "unit='bite'"),
        (b'"documents": 1', b'"documents": "', "not JSON"),
        (counts.fingerprint[:8].encode(), b"00000000", "fingerprint"),
    ):
        assert whole.count(old) == 2, old  # the second is in the footer
        found = corrupt(forged(whole.replace(old, new)), tmp_path)
        assert isinstance(found, digram.CorruptFileError)
        assert message in str(found)


def test_files_of_others(counts: Counts, tmp_path: Path) -> None:
    path = tmp_path / "others.arrow"
    table = counts.to_arrow()
    with pyarrow.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(digram.CorruptFileError, match=r"from_arrow"):
        Counts.load(path)
    assert not files.holds_counts(path)
    assert Counts.from_arrow(pyarrow.ipc.open_file(path).read_all()) == counts
    bare = table.replace_schema_metadata(None)
    pyarrow.parquet.write_table(bare, tmp_path / "others.parquet")
    with pytest.raises(digram.CorruptFileError, match=r"from_arrow"):
        Counts.load(tmp_path / "others.parquet")
    with pytest.raises(digram.OptionError, match=r"pretokenizer="):
        Counts.from_arrow(bare)
    assert Counts.from_arrow(bare, pretokenizer="gpt2", documents=1) == counts
    for content in (b"", b"low low", b'{"model": {}}'):
        path.write_bytes(content)
        with pytest.raises(digram.CorruptFileError, match=r"empty|not a file of counts"):
            Counts.load(path)
    with pytest.raises(FileNotFoundError):
        Counts.load(tmp_path / "none.arrow")
    with pytest.raises(IsADirectoryError):
        Counts.load(tmp_path)


def test_damaged_parquet(counts: Counts, tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    counts.save(path)
    whole = path.read_bytes()
    chance = random.Random(9)
    for length in range(4, len(whole), 13):
        path.write_bytes(whole[:length])
        with pytest.raises(digram.CorruptFileError, match=r"counts.parquet"):
            Counts.load(path)
    for at in range(4, len(whole), 7):
        path.write_bytes(
            whole[:at] + bytes([whole[at] ^ chance.randrange(1, 256)]) + whole[at + 1 :]
        )
        try:
            found = Counts.load(path)
        except digram.CorruptFileError:
            continue
        assert found == counts
    # What is said beside the rows has no page, and so no checksum of one.
    file = pyarrow.parquet.read_table(pyarrow.BufferReader(whole))
    said = file.schema.metadata
    other = said | {b"digram": said[b"digram"].replace(b'"documents": 1', b'"documents": 2')}
    assert other != said
    pyarrow.parquet.write_table(file.replace_schema_metadata(other), path)
    with pytest.raises(digram.CorruptFileError, match="do not match the digest"):
        Counts.load(path)
    del other[b"digram.sha256"]  # as files of before
    pyarrow.parquet.write_table(file.replace_schema_metadata(other), path)
    assert Counts.load(path).documents == 2


def test_a_failed_save_leaves_the_file(counts: Counts, tmp_path: Path) -> None:
    path = tmp_path / "counts.arrow"
    counts.save(path)
    before = path.read_bytes()
    with pytest.raises(digram.LimitExceededError):
        Counts({"a": 2**63}, pretokenizer=None).save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["counts.arrow"]


def test_without_pyarrow(counts: Counts, tmp_path: Path) -> None:
    """Arrow's own format needs nothing; Parquet says what to install."""
    counts.save(tmp_path / "counts.arrow")
    script = """
import sys
sys.modules["pyarrow"] = None
import digram
counts = digram.Counts.load("counts.arrow")
counts.save("again.arrow")
assert digram.Counts.from_arrow(counts) == counts
for call in (lambda: counts.save("counts.parquet"), counts.to_arrow):
    try:
        call()
    except digram.OptionError as error:
        assert 'pip install ".[arrow]"' in str(error), error
    else:
        raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "again.arrow").read_bytes() == (tmp_path / "counts.arrow").read_bytes()
    assert not (tmp_path / "counts.parquet").exists()
