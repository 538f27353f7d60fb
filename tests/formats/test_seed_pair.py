"""vocabulary.json and merges.json: what is written, what the seed makes of it, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import vocabularies
from vocabularies import BYTES, PLAIN, SAMPLES, changed, of_bytes

import digram
from digram import CorruptFileError, DigramError, Pretokenizer, VocabError
from digram.formats.seed_pair import dumps, loads, read, write

GOLDEN = Path(__file__).parents[2] / "testdata" / "formats" / "banana-seed"
VOCABULARY, MERGES = dumps(PLAIN)
CARRIED = ["no pretokenizer", "no merges", "banana"]


def plain(name: str) -> Any:
    return replace(SAMPLES[name], special_tokens={}, training=None, pretokenizer=Pretokenizer(None))


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    definition = plain(name)
    assert loads(*dumps(definition)) == definition
    write(definition, tmp_path / "pair")
    assert read(tmp_path / "pair") == definition
    assert sorted(p.name for p in (tmp_path / "pair").iterdir()) == [
        "merges.json",
        "vocabulary.json",
    ]


def test_golden_bytes() -> None:
    assert (GOLDEN / "vocabulary.json").read_bytes() == VOCABULARY
    assert (GOLDEN / "merges.json").read_bytes() == MERGES
    assert read(GOLDEN) == PLAIN
    banana = of_bytes((97, 110))
    vocabulary, merges = dumps(banana)
    assert json.loads(vocabulary)["256"] == {"bytes": [97, 110], "text": "an"}
    assert json.loads(merges) == {"merges": [[[97, 110], 256]]}
    assert vocabulary.startswith(
        b'{\n  "0": {\n    "bytes": [\n      0\n    ],\n    "text": "\\u0000"'
    )
    assert (
        merges
        == b"""{
  "merges": [
    [
      [
        97,
        110
      ],
      256
    ]
  ]
}"""
    )


def seed_encode(folder: Path, text: str) -> list[int]:
    """What the seed does with its files: again and again the pair with the smallest id."""
    entries = json.loads((folder / "merges.json").read_text())["merges"]
    merges = {tuple(pair): made for pair, made in entries}
    ids = list(text.encode())
    while known := [pair for pair in pairwise(ids) if pair in merges]:
        pair = min(known, key=lambda one: merges[one])
        merged, at = [], 0
        while at < len(ids):
            here = tuple(ids[at : at + 2]) == pair
            merged.append(merges[pair] if here else ids[at])
            at += 2 if here else 1
        ids = merged
    return ids


def seed_decode(folder: Path, ids: list[int]) -> str:
    data = json.loads((folder / "vocabulary.json").read_text())
    vocabulary = {int(key): bytes(value["bytes"]) for key, value in data.items()}
    return b"".join(vocabulary[one] for one in ids).decode(errors="replace")


@pytest.mark.parametrize("name", CARRIED)
def test_the_seed_gives_the_same_ids_and_text(name: str, tmp_path: Path) -> None:
    definition = plain(name)
    write(definition, tmp_path / "pair")
    ours = digram.Tokenizer(definition)
    for text in vocabularies.texts(200):
        ids = ours.encode(text)
        assert seed_encode(tmp_path / "pair", text) == ids
        assert seed_decode(tmp_path / "pair", ids) == text


def test_what_it_cannot_say_is_refused() -> None:
    for name, message in (
        ("characters or bytes", "character vocabulary"),
        ("gpt2", r"cannot store a pretokenizer, but this tokenizer has one: gpt2"),
    ):
        with pytest.raises(VocabError, match=message):
            dumps(SAMPLES[name], allow_loss=True)
    digits = Pretokenizer(None, digits="individual")
    with pytest.raises(VocabError, match="store a pretokenizer"):
        dumps(replace(PLAIN, pretokenizer=digits))
    with pytest.raises(VocabError, match=r"special token .*allow_loss"):
        dumps(replace(PLAIN, special_tokens={"<s>": 259}))
    assert dumps(replace(PLAIN, special_tokens={"<s>": 259}), allow_loss=True) == (
        VOCABULARY,
        MERGES,
    )
    with pytest.raises(VocabError, match=r"ignore_merges.*allow_loss"):
        dumps(changed(PLAIN, ignore_merges=True))
    with pytest.raises(VocabError, match="no merge makes token 259, b'xyzzy'"):
        dumps(SAMPLES["unreachable token"])
    other_bytes = changed(PLAIN, tokens=[*reversed(BYTES)], merges=[])
    with pytest.raises(VocabError, match=r'id 0 should be the byte 0.*byte_order="value"'):
        dumps(other_bytes)
    shifted = plain("o200k")  # special tokens first
    with pytest.raises(VocabError, match="id 0 should be the byte 0"):
        dumps(shifted)
    swapped = changed(
        PLAIN,
        tokens=[*BYTES, b"bb", b"aa"],
        merges=[(97, 97, 257), (98, 98, 256)],
    )
    with pytest.raises(VocabError, match=r"merge 1: .* makes id 256, which is not above"):
        dumps(swapped)


def vocabulary(**entries: Any) -> bytes:
    found = json.loads(VOCABULARY) | entries
    kept = {key: value for key, value in found.items() if value is not None}
    return json.dumps(kept).encode()


def merges(*entries: Any) -> bytes:
    return json.dumps({"merges": entries}).encode()


AN, ANAN, BANAN = [[97, 110], 256], [[256, 256], 257], [[98, 257], 258]
TOKEN = {"bytes": [97, 110], "text": "an"}
REFUSED: list[tuple[bytes, bytes, type[Exception], str]] = [
    (b"", MERGES, CorruptFileError, "^v: the file is empty"),
    (b"[]", MERGES, CorruptFileError, "^v: the file should be an object"),
    (VOCABULARY[:-1], MERGES, CorruptFileError, "^v, line .*: the file ends at byte"),
    (VOCABULARY[:9000], MERGES, CorruptFileError, "^v, line .*: the file ends at byte 9000"),
    (vocabulary(x=TOKEN), MERGES, CorruptFileError, "^v: the key 'x' is not an id"),
    (vocabulary(**{"-1": TOKEN}), MERGES, CorruptFileError, "the key '-1' is not an id"),
    (vocabulary(**{"007": TOKEN}), MERGES, CorruptFileError, "the key '007' is not an id"),
    (vocabulary(**{"٣": TOKEN}), MERGES, CorruptFileError, "is not an id"),
    (vocabulary(**{"": TOKEN}), MERGES, CorruptFileError, "the key '' is not an id"),
    (vocabulary(**{"9" * 30: TOKEN}), MERGES, CorruptFileError, "is not an id"),
    (vocabulary(**{"4294967296": TOKEN}), MERGES, VocabError, "id 4294967296 is out of range"),
    (vocabulary(**{"256": "an"}), MERGES, CorruptFileError, "entry '256' should be an object"),
    (vocabulary(**{"256": {}}), MERGES, CorruptFileError, "bytes of '256' should be a list"),
    (vocabulary(**{"256": {"bytes": [97, 110]}}), MERGES, CorruptFileError, "their text in Latin"),
    (vocabulary(**{"256": TOKEN | {"x": 1}}), MERGES, CorruptFileError, "their text in Latin"),
    (vocabulary(**{"256": TOKEN | {"text": "na"}}), MERGES, CorruptFileError, "'256' should be"),
    (vocabulary(**{"256": TOKEN | {"text": 5}}), MERGES, CorruptFileError, "'256' should be"),
    (vocabulary(**{"256": TOKEN | {"bytes": [97, 300]}}), MERGES, CorruptFileError, "0 to 255"),
    (vocabulary(**{"256": TOKEN | {"bytes": [97, -1]}}), MERGES, CorruptFileError, "0 to 255"),
    (vocabulary(**{"256": TOKEN | {"bytes": [97, True]}}), MERGES, CorruptFileError, "0 to 255"),
    (vocabulary(**{"256": TOKEN | {"bytes": [97, "n"]}}), MERGES, CorruptFileError, "0 to 255"),
    (vocabulary(**{"256": TOKEN | {"bytes": "an"}}), MERGES, CorruptFileError, "a list"),
    (
        vocabulary(**{"256": {"bytes": [], "text": ""}}),
        MERGES,
        VocabError,
        "one of its parts|no merge makes|is b''",
    ),
    (vocabulary(**{"300": TOKEN}), MERGES, VocabError, "token b'an' has the ids 256 and 300"),
    (vocabulary(**{"97": None}), MERGES, VocabError, "have no token: 0x61|merge 0|id 97"),
    (
        vocabulary(**{"256": None}),
        MERGES,
        VocabError,
        "^m: merge 0: id 256 is not an ordinary token",
    ),
    (
        vocabulary(**{"300": {"bytes": [120, 120], "text": "xx"}}),
        MERGES,
        VocabError,
        "no merge makes token 300, b'xx'.*saved together",
    ),
    (VOCABULARY, b"", CorruptFileError, "^m: the file is empty"),
    (VOCABULARY, b"[]", CorruptFileError, "^m: the file should be an object"),
    (VOCABULARY, b"{}", CorruptFileError, "^m: the file should have the key 'merges' only"),
    (VOCABULARY, b'{"merges": [], "x": 1}', CorruptFileError, "the key 'merges' only"),
    (VOCABULARY, b'{"merges": {}}', CorruptFileError, "merges should be a list"),
    (VOCABULARY, MERGES[:-2], CorruptFileError, "^m, line .*: the file ends at byte"),
    (VOCABULARY, merges(AN, ANAN), VocabError, "no merge makes token 258, b'banan'"),
    (VOCABULARY, merges(AN, ANAN, [[98, 257]]), CorruptFileError, "^m: merge 2 should be a pair"),
    (VOCABULARY, merges(AN, ANAN, 7), CorruptFileError, "merge 2 should be a pair of ids"),
    (VOCABULARY, merges(AN, ANAN, [[98], 258]), CorruptFileError, "merge 2 should be a pair"),
    (VOCABULARY, merges(AN, ANAN, [98, 257, 258]), CorruptFileError, "merge 2 should be a pair"),
    (VOCABULARY, merges(AN, ANAN, [[98, "257"], 258]), CorruptFileError, "merge 2 should be a w"),
    (VOCABULARY, merges(AN, ANAN, [[98, 257], 258.0]), CorruptFileError, "merge 2 should be a w"),
    (VOCABULARY, merges(AN, ANAN, [[98, True], 258]), CorruptFileError, "merge 2 should be a w"),
    (VOCABULARY, merges(AN, ANAN, [[98, 999], 258]), VocabError, "^m: merge 2: id 999 is no"),
    (VOCABULARY, merges(AN, ANAN, [[98, -2], 258]), VocabError, "^m: merge 2: id -2 is no"),
    (VOCABULARY, merges(AN, ANAN, [[98, 1 << 70], 258]), VocabError, "merge 2: id 11805916"),
    (VOCABULARY, merges(AN, ANAN, [[97, 257], 258]), VocabError, "merge 2: its parts are b'aanan'"),
    (VOCABULARY, merges(AN, ANAN, [[257, 98], 258]), VocabError, "merge 2: its parts are"),
    (VOCABULARY, merges(AN, ANAN, BANAN, AN), VocabError, "merge 3: .* occurs twice"),
    (VOCABULARY, merges(ANAN, AN, BANAN), VocabError, "merge 0: .* is made by a later merge"),
    (VOCABULARY, merges([[256, 258], 256]), VocabError, "merge 0"),
]


@pytest.mark.parametrize(("first", "second", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused(first: bytes, second: bytes, error: type[DigramError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        loads(first, second, "v", "m")
    assert caught.value.path in ("v", "m")
