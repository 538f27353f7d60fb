"""What an id space refuses, what it reads from tokenizers, and its file."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from vocabularies import bpe, changed

import digram
from digram import (
    ConfigMismatchError,
    CorruptFileError,
    DigramError,
    IdSpace,
    OptionError,
    SpecialToken,
    TokenIdError,
)
from digram._util.json_files import digest
from digram.multimodal.id_space import Part

TEXT = "a cat sat on a mat, and the cat ate"
MARKS = ["<image>", "</image>"]
PLAIN = digram.train(TEXT, max_merges=8)
TOK = digram.train(TEXT, vocab_size=300, special_tokens=MARKS, reserve={"image": 16})
OF = IdSpace.of(TOK, markers={"image": ("<image>", "</image>")})
BEGIN, END = (TOK.special_tokens[name] for name in MARKS)
IMAGE = TOK.reserved["image"].start


# --- built of a tokenizer


def test_the_space_of_a_tokenizer_is_its_file(tmp_path: Path) -> None:
    TOK.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    codes = [0, 15, 3]
    ids = OF.encode([("text", "a cat "), ("image", codes), ("text", " on a mat")])
    names = "".join(f"<|image_{code}|>" for code in codes)
    text = f"a cat <image>{names}</image> on a mat"
    assert theirs.encode(text).ids == ids.tolist()
    assert theirs.get_vocab_size() == OF.size
    assert TOK.decode(ids) == text

    again = IdSpace.of(
        digram.load(tmp_path / "tokenizer.json"), markers={"image": ("<image>", "</image>")}
    )
    assert again == OF


def test_text_stays_text() -> None:
    parts = [("text", "<image><|image_3|></image>")]
    assert OF.decode(OF.encode(parts)) == parts
    assert not set(OF.encode(parts).tolist()) & {BEGIN, END, IMAGE + 3}


@pytest.mark.parametrize("multiple", [None, 64])
def test_an_extended_tokenizer_keeps_its_blocks(multiple: int | None) -> None:
    tok = digram.train(
        TEXT,
        max_merges=8,
        special_tokens=MARKS,
        reserve={"image": 16},
        pad_to_multiple=multiple,
    )
    space = IdSpace.of(tok, markers={"image": ("<image>", "</image>")})
    ids = space.encode([("text", TEXT), ("image", [0, 15])])
    grown = space.grow("text", digram.extend(tok, "mats and hats and rats", add=6)[0])
    assert [part.content.tolist() for part in grown.split(ids)] == [
        part.content.tolist() for part in space.split(ids)
    ]
    assert len(grown.encode([("text", "mats and hats")])) < len(
        space.encode([("text", "mats and hats")])
    )


def test_a_tokenizer_whose_ids_moved_is_refused() -> None:
    """Nothing is gone, and yet two ids stand for other things."""
    tok = digram.train("low low slow", max_merges=2)
    definition = tok.definition
    first, second = definition.tokens[256:]
    swapped = changed(
        definition,
        tokens=[*definition.tokens[:256], second, first],
        merges=[
            tuple({256: 257, 257: 256}.get(id, id) for id in merge)
            for merge in bpe(definition).merges
        ],
    )
    other = digram.Tokenizer(swapped)
    assert digram.Change.of(tok, other).removed == []
    with pytest.raises(digram.OptionError, match="another token for the id 256"):
        digram.IdSpace({"text": tok}).grow("text", other)


def test_ids_that_pad_are_no_range() -> None:
    tok = digram.train(TEXT, max_merges=8, pad_to_multiple=64, reserve={"image": 16})
    space = IdSpace.of(tok)
    assert [*space.ranges] == ["text", "image"]
    assert space.size == tok.vocab_size


def test_a_block_with_the_name_of_text() -> None:
    tok = digram.train(TEXT, max_merges=8, reserve={"text": 4})
    with pytest.raises(OptionError, match="name of a reserved block"):
        IdSpace.of(tok)
    assert IdSpace.of(tok, text="words")["text"].ids == tok.reserved["text"]


def test_tokens_never_come_in_place_of_a_range() -> None:
    """Extending uses ids that pad first, and here another range has them."""
    tok = digram.train(TEXT, max_merges=8, pad_to_multiple=64)
    space = IdSpace({"text": tok, "image": tok.reserved["unused"]})
    grown = digram.extend(tok, "mats and hats and rats", add=6)[0]
    with pytest.raises(OptionError, match=r"'image'.* takes the ids of tokens of 'text'"):
        space.grow("text", grown)
    kept = IdSpace({"text": tok, "action": range(40, 50)}, replace=["action"])
    assert kept.grow("text", grown)["action"] == kept["action"]
    assert kept.grow("action", 10) == kept
    with pytest.raises(OptionError, match="1 spare"):
        IdSpace({"text": tok, "image": range(270, 280)}, spare={"image": 1})
    unused = tok.reserved["unused"]
    assert IdSpace.of(tok).with_ranges({"image": unused})["image"].ids == unused


def test_two_tokenizers() -> None:
    one, other = (digram.train(text, max_merges=3, special_tokens=["<e>"]) for text in ("aa", "bb"))
    space = IdSpace({"text": one, "code": other})
    parts = [("text", "aa"), ("code", "aabb"), ("text", "b")]
    assert space.decode(space.encode(parts)) == parts
    assert space.token_to_id("<e>") is None
    with pytest.raises(OptionError, match="two ids"):
        IdSpace({"text": one, "control": ["<e>"]})
    with pytest.raises(OptionError, match="no id has the name '<e>'"):
        IdSpace({"text": one, "code": other}, markers={"text": ("<e>", "<e>")})


# --- parts


def test_parts_of_every_kind() -> None:
    space = IdSpace(
        {"text": PLAIN, "control": ["<s>", "</s>"], "audio": 12, "image": 9},
        codebooks={"audio": 3},
    )
    audio = np.array([[0, 1, 2], [3, 3, 3]], np.uint16)
    parts: list[Any] = [
        ("control", ["<s>"]),
        ("text", [b"a ", "cat"]),
        ("audio", audio),
        ("image", np.array([8, 0], np.uint8)),
        ("control", [1]),
    ]
    ids = space.encode(parts)
    start = space["audio"].start
    n = len(PLAIN.encode("a cat"))
    assert ids[1 + n : 7 + n].tolist() == [start + id for id in (0, 5, 10, 3, 7, 11)]
    found = space.decode(ids)
    assert found[:2] == [Part("control", ["<s>"]), Part("text", "a cat")]
    assert found[2].content.tolist() == audio.tolist()
    assert found[-1] == Part("control", ["</s>"])
    assert space.token_to_id("</s>") == PLAIN.vocab_size + 1
    assert space.token_to_id("<e>") is None


def test_nothing_gives_nothing() -> None:
    assert OF.encode([]).shape == (0,)
    assert OF.split([]) == []
    empty = OF.split(OF.encode([("image", [])]))
    assert [(part.range, part.content.shape) for part in empty] == [("image", (0,))]
    marks = {"audio": ("<a>", "</a>")}
    audio = IdSpace({"c": ["<a>", "</a>"], "audio": 4}, markers=marks, codebooks={"audio": 2})
    assert audio.split(audio.encode([("audio", [])]))[0].content.shape == (0, 2)


def test_bytes_that_are_no_text() -> None:
    ids = OF.encode([("text", b"\xff")])
    assert OF.decode(ids) == [Part("text", "\ufffd")]
    with pytest.raises(DigramError):
        OF.decode(ids, errors="strict")


REPLACED = IdSpace({"text": PLAIN, "action": range(40, 50)}, replace=["action"])
PAIRS = {"i": ("<i>", "</i>"), "a": ("<a>", "</a>")}
TWO = IdSpace({"control": ["<i>", "</i>", "<a>", "</a>"], "i": 4, "a": 4}, markers=PAIRS)
AUDIO = IdSpace({"text": PLAIN, "audio": 8}, codebooks={"audio": 2})


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: OF.encode([("text", "a"), ("text", "b")]), OptionError, r"parts\[1\].*follows"),
        (lambda: OF.encode([("text", "")]), OptionError, "empty"),
        (lambda: OF.encode([("image", [16])]), TokenIdError, r"parts\[0\]: ids\[0\] = 16 is not"),
        (lambda: OF.encode([("image", [-1])]), TokenIdError, r"-1 is not in the range 'image'"),
        (lambda: OF.encode([("image", [2**70])]), TypeError, "whole numbers"),
        (lambda: OF.encode([("image", [1.0])]), TypeError, "whole numbers"),
        (lambda: OF.encode([("image", [True])]), TypeError, "whole numbers"),
        (lambda: OF.encode([("image", [[1]])]), OptionError, "Flatten"),
        (lambda: OF.encode([("image", "cat")]), OptionError, "takes ids and not text"),
        (lambda: IdSpace({"c": ["x"]}).encode([("c", ["y"])]), OptionError, "'y' is not a name of"),
        (lambda: IdSpace({"c": ["x"]}).encode([("c", "x")]), TypeError, "a list of names"),
        (lambda: OF.encode([("picture", [1])]), OptionError, "There are 'text', 'image'"),
        (lambda: OF.encode(["cat"]), TypeError,  # type: ignore[list-item]
          r"parts\[0\]: a part must be"),
        (lambda: OF.encode([("text", [BEGIN])]), TokenIdError, "is a marker"),
        (lambda: OF.encode([("text", [SpecialToken("<image>")])]), TokenIdError, "is a marker"),
        (lambda: OF.encode([("text", [IMAGE])]), TokenIdError, "is in the range 'image'"),
        (lambda: REPLACED.encode([("text", "(")]), TokenIdError, r"token b'\(', is in"),
        (lambda: AUDIO.encode([("audio", [1, 2])]), OptionError, r"have \(frames, 2\)"),
        (lambda: AUDIO.encode([("audio", [[1, 4]])]), TokenIdError, r"ids\[0, 1\] = 4"),
        (lambda: AUDIO.split([AUDIO["audio"].start]), TokenIdError, "not the last of a frame"),
        (lambda: AUDIO.split([AUDIO["audio"].start + 4]), TokenIdError, "in the place of"),
        (lambda: OF.split([BEGIN]), TokenIdError, "without an end"),
        (lambda: OF.split([97, END]), TokenIdError, r"ids\[1\].*where no part has begun"),
        (lambda: TWO.split([0, 3]), TokenIdError, r"ids\[1\] = 3 ends 'a' inside a part of 'i'"),
        (lambda: TWO.split([0, 2]), TokenIdError, "begins 'a' inside a part of 'i'"),
        (lambda: TWO.encode([("control", ["<i>"])]), TokenIdError, "is a marker"),
        (lambda: OF.split([IMAGE]), TokenIdError, "outside of its markers"),
        (lambda: OF.split([BEGIN, 97, END]), TokenIdError, r"ids\[1\] = 97 is of 'text' inside"),
        (lambda: OF.split([BEGIN, BEGIN]), TokenIdError, "begins 'image' inside"),
        (lambda: OF.split([OF.size]), TokenIdError, "not an id of this space"),
        (lambda: IdSpace({"a": range(4, 8)}).split([4, 3]), TokenIdError, r"ids\[1\] = 3 is in no"),
        (lambda: IdSpace({"a": 4}, spare={"a": 1}).to_local([[0], [4]]), TokenIdError, r"\[1, 0\]"),
        (lambda: OF.split([[97]]), OptionError, "one sequence"),
        (lambda: OF["picture"], OptionError, "no range 'picture'"),
        (lambda: [*OF], TypeError, "not iterable"),
        (lambda: IdSpace({}), OptionError, "at least one range"),
        (lambda: IdSpace(["text"]), TypeError, "dictionary of names"),  # type: ignore[arg-type]
        (lambda: IdSpace({"": 4}), OptionError, "not a name"),
        (lambda: IdSpace({"a": 0}), OptionError, "not between 1"),
        (lambda: IdSpace({"a": True}), TypeError, "whole number"),
        (lambda: IdSpace({"a": "abc"}), TypeError, "list of names"),
        (lambda: IdSpace({"a": ["x", "x"]}), OptionError, "'x' twice"),
        (lambda: IdSpace({"a": ["x"], "b": ["x"]}), OptionError, "two ids, 0 and 1"),
        (lambda: IdSpace({"a": range(0, 9, 2)}), OptionError, "not a range of ids"),
        (lambda: IdSpace({"a": 2**31, "b": 1}), OptionError, "are the maximum"),
        (lambda: IdSpace({"a": 9, "b": range(5, 7)}), OptionError, "'a'.* and 'b'.* overlap"),
        (lambda: IdSpace({"a": 9, "b": range(9, 10)}, spare={"a": 1}), OptionError, "1 spare"),
        (lambda: IdSpace({"t": PLAIN, "u": range(260, 999)}), OptionError, "overlap"),
        (lambda: IdSpace({"t": PLAIN, "u": range(40, 50)}), OptionError, r"40 is b'\('"),
        (lambda: IdSpace({"a": range(3, 9)}, align=2), OptionError, "not a multiple of align=2"),
        (lambda: IdSpace({"a": 9}, spare={"b": 1}), OptionError, "Choose from 'a'"),
        (lambda: IdSpace({"a": 9}, replace=["b"]), OptionError, "replace names 'b'"),
        (lambda: IdSpace({"a": 9}, replace="a"), TypeError, r"list of names, as in \['a'\]"),
        (lambda: OF.with_ranges(["a"]), TypeError, "dictionary of names"),  # type: ignore[arg-type]
        (lambda: IdSpace({"a": 9}, codebooks={"a": 2}), OptionError, "codebooks of equal size"),
        (lambda: IdSpace({"a": 8}, codebooks={"a": 2}, spare={"a": 1}), OptionError, "not grow"),
        (lambda: IdSpace({"a": 9}, markers={"b": ("x", "y")}), OptionError, "markers names 'b'"),
        (lambda: IdSpace({"a": 9}, markers={"a": ("x", "y")}), OptionError, "the name 'x'"),
        (lambda: IdSpace({"a": ["x"]}, markers={"a": ("x", "x")}), OptionError, "already a marker"),
        (lambda: OF.grow("image", 17), OptionError, "0 spare ids, and 1 are needed"),
        (lambda: OF.grow("image", 15), OptionError, "cannot shrink"),
        (lambda: OF.grow("image", PLAIN), OptionError, "grows by a number of ids"),
        (lambda: OF.grow("text", 500), OptionError, "grows by a tokenizer"),
        (lambda: OF.grow("text", digram.train("other words", pad_to_multiple=320, max_merges=3)),
         OptionError, "has another token for the id"),
        (lambda: AUDIO.grow("audio", 12), OptionError, "frames would have other ids"),
        (lambda: IdSpace({"a": ["x"]}).grow("a", ["y", "x"]), OptionError, "do not begin with"),
        (lambda: OF.with_ranges({"image": 4}), OptionError, "already a range 'image'"),
        (lambda: OF.with_ranges({"a": 4}, markers={"image": ("<image>", "</image>")}),
         OptionError, "not one of the new ranges"),
        (lambda: OF.with_ranges({"a": range(40, 50)}), OptionError, "takes the ids of tokens"),
    ],
)  # fmt: skip
def test_what_is_refused(call: Callable[[], Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call()


# --- files


def saved(space: IdSpace, path: Path) -> dict[str, Any]:
    space.save(path)
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def test_a_file_without_its_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "space.json"
    OF.save(path)
    found = IdSpace.load(path)
    assert "tokenizer not loaded" in str(found)
    ids = OF.encode([("text", "a cat"), ("image", [1])])
    parts = found.decode(ids)
    assert parts[0].content.tolist() == TOK.encode("a cat")
    assert found.encode(parts).tolist() == ids.tolist()
    with pytest.raises(OptionError, match="tokenizers="):
        found.encode([("text", "a cat")])
    with pytest.raises(OptionError, match="without its tokenizer"):
        found.grow("text", TOK.with_special_tokens(["<new>"]))
    assert found.grow("text", TOK) == OF


def test_other_tokenizers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "space.json"
    OF.save(path)
    with pytest.raises(ConfigMismatchError, match="another tokenizer"):
        IdSpace.load(path, tokenizers={"text": PLAIN})
    with pytest.raises(OptionError, match="not a range with a tokenizer"):
        IdSpace.load(path, tokenizers={"image": TOK})


def test_no_damaged_file_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "space.json"
    space = IdSpace({"c": ["<é>", "</é>"], "i": 8}, markers={"i": ("<é>", "</é>")}, spare={"i": 1})
    space.save(path)
    data = path.read_bytes()
    for place in range(len(data)):
        for other in (data[:place], data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]):
            path.write_bytes(other)
            try:
                found = IdSpace.load(path)
            except CorruptFileError as error:
                assert error.path == str(path)  # noqa: PT017 - or the same space
            else:
                assert found == space


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"digram_id_space": 1}', b'{"digram_id_space": 2}', b"\xff"]
)
def test_no_other_file_is_taken(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "space.json"
    path.write_bytes(data)
    with pytest.raises(CorruptFileError):
        IdSpace.load(path)


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        (1, "start", 1),
        (0, "spare", 1),
        (1, "codebooks", 0),
        (1, "codebooks", 3),
        (0, "names", ["<a>", "<a>"]),
        (0, "names", ["<a>"]),
        (1, "end", None),
        (1, "end", ["<a>", 0]),
        (1, "end", ["</a>", 99]),
        (1, "name", "c"),
        (1, "name", 7),
        (1, "size", 5),
    ],
)
def test_a_file_that_contradicts_itself(
    tmp_path: Path, place: int, key: str, value: object
) -> None:
    path = tmp_path / "space.json"
    space = IdSpace({"c": ["<a>", "</a>"], "a": 4}, markers={"a": ("<a>", "</a>")})
    said = saved(space, path)
    said["ranges"][place][key] = value
    rest = {key: value for key, value in said.items() if key not in ("digram_id_space", "sha256")}
    path.write_text(json.dumps(said | {"sha256": digest(rest)}))
    with pytest.raises(CorruptFileError, match="the id space is damaged"):
        IdSpace.load(path)


# --- a value


def test_equal_where_ids_stand_for_the_same() -> None:
    assert IdSpace({"a": 4, "b": 4}) == IdSpace({"a": range(4), "b": range(4, 8)})
    assert IdSpace({"a": 4, "b": 4}) != IdSpace({"b": 4, "a": 4})
    assert IdSpace({"t": PLAIN}) != IdSpace({"t": TOK})
    assert IdSpace({"t": PLAIN}) != IdSpace({"t": PLAIN.vocab_size})
    assert copy.deepcopy(OF) == OF
    assert OF != "space"


def test_shown() -> None:
    assert str(REPLACED).splitlines() == [
        "range   first  last  ids  spare",
        "text        0   263  254",
        "action     40    49   10",
        "264 ids",
    ]
    assert repr(AUDIO) == "<digram.IdSpace: 272 ids; text 0–263, audio 264–271>"
    assert "2 codebooks of 4" in str(AUDIO)


# --- layouts of published models


def test_emu3() -> None:
    """`configuration_emu3.py` of BAAI's Emu3: 184,622 ids, those around images below 151,854."""
    space = IdSpace({"text": 151_854, "image": 32_768})
    assert space["image"].start == 151_853 + 1  # after its eoi_token_id
    assert space.size == 184_622


def test_chameleon() -> None:
    """`<eoss>` 8196 and `<racm3:break>` 8197 after the codes, 65,536 ids in all."""
    first = ["<s>", "<pad>", "</s>", "<unk>"]
    marks = ["<eoss>", "<racm3:break>"]
    space = IdSpace(
        {"control": first, "image": 8192, "marks": marks, "text": range(8198, 65_536)},
        markers={"image": ("<racm3:break>", "<eoss>")},
    )
    assert space.encode([("image", [0, 8191])]).tolist() == [8197, 4, 8195, 8196]
    assert space.size == 65_536


def test_openvla() -> None:
    """Its action tokenizer: `32_000 - np.digitize(action, bins)`, with 256 bins."""
    space = IdSpace({"text": range(31_744), "action": 256})
    actions = np.clip(np.random.default_rng(0).normal(size=70), -1, 1)
    bins = np.digitize(actions, np.linspace(-1, 1, 256))
    assert space.encode([("action", 256 - bins)]).tolist() == (32_000 - bins).tolist()
