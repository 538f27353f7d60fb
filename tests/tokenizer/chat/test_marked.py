"""Marked texts: operations give what `str` gives, and never raise the trust of a character."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from digram.tokenizer.chat.marked import CONTENT, TEMPLATE, Marked, joined

# Text of the template is in small letters, content in capitals.
PIECES = st.lists(
    st.one_of(
        st.text("ab <", max_size=4).map(lambda text: Marked(text, TEMPLATE)),
        st.text("AB\n,", max_size=4).map(lambda text: Marked(text, CONTENT)),
    ),
    max_size=5,
)
TEXTS = PIECES.map(joined)

KEEP: dict[str, Callable[[Any], Any]] = {
    "strip": lambda s: s.strip(),
    "strip letters": lambda s: s.strip("aA"),
    "lstrip": lambda s: s.lstrip(" \n"),
    "rstrip": lambda s: s.rstrip("bB"),
    "removeprefix": lambda s: s.removeprefix("a"),
    "removesuffix": lambda s: s.removesuffix("B"),
    "split": lambda s: s.split(),
    "split once": lambda s: s.split(None, 1),
    "split at": lambda s: s.split("a"),
    "split at once": lambda s: s.split("A", 1),
    "rsplit": lambda s: s.rsplit(),
    "rsplit once": lambda s: s.rsplit(None, 1),
    "rsplit at": lambda s: s.rsplit("B", 1),
    "splitlines": lambda s: s.splitlines(),
    "splitlines with ends": lambda s: s.splitlines(True),
    "partition": lambda s: s.partition("a"),
    "rpartition": lambda s: s.rpartition("A"),
    "slice": lambda s: s[1:-1],
    "end": lambda s: s[-2:],
    "backwards": lambda s: s[::-1],
    "every other": lambda s: s[1::2],
    "characters": lambda s: [*s],
    "first": lambda s: s[0] if s else s,
    "copies": lambda s: s * 3,
    "copies before": lambda s: 2 * s,
    "none": lambda s: s * 0,
    "added": lambda s: s + "B",
    "added before": lambda s: "B" + s,
    "replace by nothing": lambda s: s.replace("a", ""),
    "replace": lambda s: s.replace("A", "BB"),
    "replace once": lambda s: s.replace("A", "B", 1),
    "insert": lambda s: s.replace("", "A"),
    "str": str,
    "join": lambda s: s.join(["A", "B", "A"]),
    "joined": lambda s: joined([s, s], "A"),
    "pickled": lambda s: pickle.loads(pickle.dumps(s)),
    "copied": copy.deepcopy,
}
BLEND: dict[str, Callable[[Any], Any]] = {
    "upper": lambda s: s.upper(),
    "lower": lambda s: s.lower(),
    "title": lambda s: s.title(),
    "capitalize": lambda s: s.capitalize(),
    "swapcase": lambda s: s.swapcase(),
    "casefold": lambda s: s.casefold(),
    "center": lambda s: s.center(20),
    "ljust": lambda s: s.ljust(20, "A"),
    "rjust": lambda s: s.rjust(20),
    "zfill": lambda s: s.zfill(20),
    "expandtabs": lambda s: s.expandtabs(),
    "translate": lambda s: s.translate({97: "A"}),
    "percent": lambda s: "a%s" % s,  # noqa: UP031
    "percent of a tuple": lambda s: (s + "%s%s") % ("a", "b"),
    "format": lambda s: (s + "{}").format("a"),
    "insert once": lambda s: s.replace("", "A", 1),
}


def plainly(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [plainly(one) for one in value]
    return str.__getitem__(value, slice(None))


def strings(value: Any) -> list[Any]:
    return [*value] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("name", KEEP)
@given(text=TEXTS)
def test_operations_keep_the_origin_of_each_character(name: str, text: Marked) -> None:
    operation = KEEP[name]
    found = operation(text)
    assert plainly(found) == plainly(operation(plainly(text)))
    for one in strings(found):
        assert isinstance(one, Marked)
        trusts = [run.trust for run in one.runs() for _ in range(run.length)]
        assert len(trusts) == len(one)
        wanted = [TEMPLATE if character in "ab <" else CONTENT for character in one]
        assert trusts == wanted


@pytest.mark.parametrize("name", BLEND)
@given(text=TEXTS)
def test_other_operations_give_the_least_trust(name: str, text: Marked) -> None:
    operation = BLEND[name]
    found = operation(text)
    assert plainly(found) == plainly(operation(plainly(text)))
    if any(run.trust == CONTENT for run in text.runs()):
        runs = found.runs() if isinstance(found, Marked) else []
        assert all(run.trust == CONTENT for run in runs)


@given(text=TEXTS)
def test_a_marked_text_is_a_text(text: Marked) -> None:
    plain = plainly(text)
    assert text == plain
    assert hash(text) == hash(plain)
    assert {plain: 1}[text] == 1
    assert (text in {plain}, text != plain, text == 7) == (True, False, False)
    assert "".join([text]) == plain


def test_no_method_of_str_gives_a_text_without_a_mark() -> None:
    """A method that Python gets later is noticed here."""
    known = {"encode", "maketrans", "__format__", "__getnewargs__", "__repr__", "__new__"}
    others = {"__class__", "__dir__", "__getstate__", "__reduce_ex__"}
    texts: set[str] = set()
    for name in dir(str):
        if name in known or name in vars(Marked):
            continue
        for arguments in ((), ("a",), (1,), ("a", "b"), (["a"],)):
            try:
                found = getattr(Marked("aB", TEMPLATE), name)(*arguments)
            except Exception:
                continue
            if isinstance(found, str | list | tuple) and name not in others:
                texts.add(name)
    assert not texts
