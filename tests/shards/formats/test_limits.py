"""What a format cannot say of a document is refused, and not written as something else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import digram
from digram._util.storage import NewFile
from digram.shards.formats import FORMATS, About, Documents, Run, megatron

TOK = digram.train("a", max_merges=0, special_tokens=["<|endoftext|>"])


def test_a_document_longer_than_megatron_can_say(tmp_path: Path) -> None:
    """Its lengths have 32 bits with a sign: 2³¹ would be read as a negative one."""
    made: list[NewFile] = []

    def open(suffix: str, reserved: int = 0) -> NewFile:
        made.append(NewFile(tmp_path / f"a{suffix}", reserved))
        return made[-1]

    longest = (1 << 31) - 1
    ends = np.array([5, 5 + longest, 6 + 2 * longest, 7 + 2 * longest])
    ids = np.broadcast_to(np.uint16(7), (ends[-1],))  # which takes no memory
    runs = [Run("a.txt", 7, 1), Run("b.txt", 0, 3)]
    writer = FORMATS["megatron"].begin(open, About(np.dtype("<u2"), "", 0))
    with pytest.raises(digram.LimitExceededError) as caught:
        writer.write(Documents(ids, ends, runs))
    assert str(caught.value) == (
        "b.txt: document 1 has 2,147,483,648 tokens, and format='megatron' supports at most "
        "2,147,483,647 in each. Split it with digram.files(path, separator=...), or choose another "
        "format."
    )
    assert caught.value.index == 1
    assert [file.size for file in made] == [0, 0]
    for file in made:
        file.close()


def test_a_run_with_such_a_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards that are done stay, and the manifest tells of no other."""
    monkeypatch.setattr(megatron, "LONGEST", 4)
    (tmp_path / "a.txt").write_text("abc\nabcd")
    lines = digram.files(tmp_path / "a.txt", separator="\n")
    out = tmp_path / "out"
    with pytest.raises(digram.LimitExceededError, match="document 1 has 5 tokens") as caught:
        digram.encode_files(TOK, lines, out, format="megatron", shard_tokens=4)
    assert caught.value.path == str(tmp_path / "a.txt")
    files = ["manifest.json", "manifest.jsonl", "tokens-000000.bin", "tokens-000000.idx"]
    assert sorted(path.name for path in out.iterdir()) == files
    found = digram.read_tokens(out / "tokens-000000.bin")
    assert [ids.tolist() for ids in found] == [[97, 98, 99, 256]]
    fits = digram.encode_files(TOK, ["abc", "ab"], tmp_path / "fits", format="megatron")
    assert fits.tokens == 7  # of a file there may be more
