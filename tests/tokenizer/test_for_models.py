"""What a program that runs a model needs to know of its tokenizer."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import digram
from digram.vocab.special_roles import ROLES


def test_a_folder_is_saved_with_what_is_given(tmp_path: Path) -> None:
    tok = digram.train("low", max_merges=1, special_tokens=["<s>", "<p>"])
    roles: dict[str, Any] = dict.fromkeys(ROLES, "<s>")
    tok.save_pretrained(
        tmp_path / "m", **roles, pad="<p>", padding_side="left", truncation_side="left"
    )
    loaded = digram.load(tmp_path / "m")
    assert loaded.special_roles.to_dict() == roles
    assert (loaded.pad_token, loaded.padding_side, loaded.truncation_side) == (
        "<p>",
        "left",
        "left",
    )
    assert tok.padding_side == "right"


def test_errors_of_calls_name_the_class_that_users_know() -> None:
    tok: Any = digram.train("low", max_merges=1)
    with pytest.raises(TypeError, match=r"^Tokenizer\.save_pretrained\(\) got an unexpected"):
        tok.save_pretrained("m", unknown=1)
    with pytest.raises(TypeError, match=r"^Tokenizer\.with_pad_token\(\) "):
        tok.with_pad_token()
    save = digram.Tokenizer.save_pretrained
    assert pickle.loads(pickle.dumps(save)) is save


def test_the_program_is_no_format() -> None:
    tok: Any = digram.train("low", max_merges=1)
    with pytest.raises(digram.OptionError, match=r"tok\.save_pretrained\(folder\) writes a folder"):
        tok.save("m", format="transformers")
