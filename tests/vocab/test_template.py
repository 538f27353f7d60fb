"""Templates as values: how they are written, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import digram
from digram import OptionError, Template


@pytest.mark.parametrize(
    ("single", "pieces"),
    [
        ("$A", (("$A", 0),)),
        ("<s> $A </s>", (("<s>", 0), ("$A", 0), ("</s>", 0))),
        ("<s>:3  $A:1\n<s>", (("<s>", 3), ("$A", 1), ("<s>", 0))),
        ("<|a:b|> $A", (("<|a:b|>", 0), ("$A", 0))),
        (["a b", "$A", ("x:1", 2)], (("a b", 0), ("$A", 0), ("x:1", 2))),
        (["a b:1", ("$A", 7)], (("a b", 1), ("$A", 7))),
    ],
)
def test_spelling(single: Any, pieces: Any) -> None:
    template = Template(single)
    assert template.single == pieces
    assert template.pair is None
    assert Template(pieces) == template
    assert eval(repr(template)) == template
    pair = Template(single, pair=[*pieces, ("$B", 1)])
    assert pair.pair == (*pieces, ("$B", 1))
    assert eval(repr(pair)) == pair
    assert len({template, pair, Template(single)}) == 2


def test_tokens_are_named_once() -> None:
    assert Template("b $A a b", pair="$B c $A").tokens == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("",), r"has \$A 0 times, but should have it once"),
        (("$A $A",), r"has \$A 2 times"),
        (("$A $B",), r"has \$B 1 times, but should have it 0 times"),
        (("$A", "$A"), r"pair='\$A' has \$B 0 times"),
        (([("$A", -1)],), "type id from 0"),
        (([("$A", 1 << 32)],), "type id from 0"),
        (([("", 0), "$A"],), "has a name"),
    ],
)
def test_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Template(*arguments)


@pytest.mark.parametrize("piece", [("$A", "1"), (b"$A", 0), ("$A", True)])
def test_pieces_of_another_type(piece: Any) -> None:
    with pytest.raises(TypeError, match="a piece of a template is a str and a number"):
        Template([piece])


def test_a_pair_needs_a_template_for_pairs() -> None:
    tok = digram.train("a", max_merges=0, special_tokens=["<s>"]).with_template(Template("<s> $A"))
    with pytest.raises(OptionError, match="is for single texts"):
        tok("a", "b")
    with pytest.raises(OptionError, match="is for single texts"):
        tok(["a"], ["b"])
