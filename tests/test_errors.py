"""Values in messages: short, whatever they are, and without reading all of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from digram.errors import show


class Counted:
    """A value that knows how often it was shown."""

    shown = 0

    def __repr__(self) -> str:
        Counted.shown += 1
        return "one"


@pytest.mark.parametrize("kind", [list, tuple])
def test_items_of_long_values_are_not_read(kind: type) -> None:
    many = kind([Counted()] * 1000)
    Counted.shown = 0
    assert show(many) == f"a {kind.__name__} of 1000"
    # As the model of a tokenizer.json, which has its vocabulary under a key.
    assert show({"type": None, "vocab": [many]}).endswith(f"[a {kind.__name__} of 1000]}}")
    assert show({0: many}) == f"{{0: a {kind.__name__} of 1000}}"
    assert Counted.shown == 0


def test_short_values_are_shown_in_full_and_in_their_own_order() -> None:
    for value in ({"b": [1, None], "a": (True, {2}, 0.5)}, ["x" * 60], [Counted()], {"k": b"\xff"}):
        assert show(value) == repr(value)


def test_what_cannot_be_shown_is_named() -> None:
    assert show([10**5000]) == "a list"
    assert show(Fraction(10**5000)) == "a Fraction"
    nested: list[object] = []
    nested.append(nested)
    assert len(show(nested)) < 80
    assert len(show({"text": "x" * 1000, "bytes": b"x" * 1000})) == 80
