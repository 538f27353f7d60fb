"""GPT-2's letters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases
from tokenizers import pre_tokenizers

from digram.formats._letters import LETTERS, from_letters, to_letters


def test_they_are_those_of_the_others() -> None:
    assert sorted(LETTERS) == sorted(pre_tokenizers.ByteLevel.alphabet())
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for code in range(0x800):
        text = chr(code)
        assert level.pre_tokenize_str(text)[0][0] == to_letters(text.encode())
    assert len(LETTERS) == len(set(LETTERS)) == 256


@cases(300)
@given(st.lists(st.binary()))
def test_there_and_back(tokens: list[bytes]) -> None:
    assert from_letters([to_letters(token) for token in tokens]) == tokens


@pytest.mark.parametrize("name", [" ", "a b", "\n", "\xad", "\x7f", "\xa0", "ń", "中", "🙂"])
def test_other_characters_are_no_letters(name: str) -> None:
    with pytest.raises(UnicodeEncodeError) as caught:
        from_letters(["Ġa", "a" + name])
    assert caught.value.object == "a" + name
