"""A tokenizer of numbers in an id space: sequences go in and come back."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.multimodal.id_space import LocalPart, Part

TEXT = digram.train("a cat sat on a mat", vocab_size=260, special_tokens=["<i>", "</i>"])
CODES = [[7, 7, 9, 7, 7, 9, 3], [3, 7, 9, 3, 7, 9, 9]]
IMAGE = digram.train_ids(CODES, symbols=16, max_merges=5, special_tokens=["<end>"])
SPARSE = digram.train_ids([[1000, 5, 1000, 5]], max_merges=1)
SPACE = digram.IdSpace(
    {"text": TEXT, "image": IMAGE, "action": SPARSE},
    markers={"image": ("<i>", "</i>")},
    spare={"image": 20},
)

sequences = st.lists(st.integers(0, 15), max_size=12)
actions = st.lists(st.sampled_from([5, 1000]), min_size=1, max_size=6)


@cases(150)
@given(st.lists(st.tuples(sequences, actions, st.sampled_from(["a cat", "é"])), max_size=3))
def test_what_goes_in_comes_back(drawn: list[tuple[list[int], list[int], str]]) -> None:
    parts: list[tuple[str, Any]] = []
    for image, action, text in drawn:
        parts += [("text", text), ("image", np.array(image, np.int64)), ("action", action)]
    ids = SPACE.encode(parts)
    by_hand = []
    for image, action, text in drawn:
        by_hand += TEXT.encode(text)
        codes = [260 + id for id in IMAGE.encode_ids(image)]
        by_hand += [258, *codes, 259]
        by_hand += [SPACE["action"].start + id for id in SPARSE.encode_ids(action)]
    assert ids.tolist() == by_hand
    said = [(name, one if name == "text" else one.tolist()) for name, one in SPACE.decode(ids)]
    assert said == [(name, one if name == "text" else list(one)) for name, one in parts]
    split = SPACE.split(ids)
    assert SPACE.encode(split).tolist() == SPACE.encode(pickle.loads(pickle.dumps(split))).tolist()
    assert SPACE.encode(split).tolist() == ids.tolist()
    kinds = {"text": Part, "image": LocalPart, "action": LocalPart}
    assert all(type(part) is kinds[part.range] for part in split)


def test_it_is_saved_and_found_again(tmp_path: Path) -> None:
    SPACE.save(tmp_path / "space.json")
    tokenizers: dict[str, Any] = {"text": TEXT, "image": IMAGE, "action": SPARSE}
    again = digram.IdSpace.load(tmp_path / "space.json", tokenizers=tokenizers)
    assert again == SPACE
    parts: Any = [("image", CODES[0]), ("action", [5])]
    assert again.encode(parts).tolist() == SPACE.encode(parts).tolist()
    bare = digram.IdSpace.load(tmp_path / "space.json")
    ids = SPACE.encode(parts)
    assert bare.encode(bare.split(ids)).tolist() == ids.tolist()
    with pytest.raises(digram.ConfigMismatchError, match="saved with another tokenizer"):
        digram.IdSpace.load(tmp_path / "space.json", tokenizers={"image": SPARSE})


def test_it_grows() -> None:
    bigger = digram.train_ids(CODES, symbols=16, max_merges=7)
    plain = digram.train_ids(CODES, symbols=16, max_merges=5)
    space = digram.IdSpace({"image": plain, "text": 256}, spare={"image": 20})
    grown = space.grow("image", bigger)
    assert grown["text"] == space["text"]
    assert grown["image"].size == bigger.vocab_size
    other = digram.train_ids([[40, 41] * 20], symbols=range(30, 60), max_merges=1)
    for wrong in (other, TEXT):
        with pytest.raises(digram.OptionError, match="has other symbols than the present one"):
            space.grow("image", wrong)


def test_faults() -> None:
    text: Any = "a text"
    for wrong in (text, [text], [digram.SpecialToken("<end>")]):
        with pytest.raises(TypeError, match=r"parts\[0\]: the range 'image' takes a sequence of n"):
            SPACE.encode([("image", wrong)])
    with pytest.raises(digram.InvalidTextError, match="99 is none of the 16 symbols"):
        SPACE.encode([("text", "a"), ("image", [3, 99])])
    end = SPACE.token_to_id("<end>")
    assert end is not None
    ids = SPACE.encode([LocalPart("image", [3, end - SPACE["image"].start])])
    assert SPACE.split(ids)[0].content.tolist() == [3, end - SPACE["image"].start]
    with pytest.raises(
        digram.TokenIdError, match=r"has no symbol\. Use split, which returns the local"
    ):
        SPACE.decode(ids)
