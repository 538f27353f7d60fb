"""Tokens as markup: nothing in them becomes markup, and nothing unseen gets through."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markup import HOSTILE, check

from digram.display import html


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_tokens(text: str) -> None:
    data = text.encode()
    expected = "".join(check(html.token(data)).text)
    assert expected
    if text.isprintable() and text.isascii():
        assert expected == text.replace(" ", "·")
    half = [data[:3], data[3:]]
    check(html.tokens([data, *half], [text, "1", "2"], [text, "", ""], [True, False, True]))
    check(html.token(data, title=text))
    check(html.pair(data, half[1]))
    check(html.context(data, half[0], half[1]))
    check(html.fragment(html.heading(text), html.table([[html.faint(text), html.harmless(text)]])))


@given(st.binary(max_size=12) | st.text(max_size=8).map(str.encode))
def test_any_token(data: bytes) -> None:
    check(html.tokens([data, data[:1], data[1:]]))
    check(html.context(data, data, data))


def test_long_texts_are_drawn_in_part() -> None:
    markup = html.tokens([b"a"] * 2500)
    assert markup.count("<bdi>a</bdi>") == html.MOST
    assert "and 500 more" in markup


def test_a_line_feed_ends_a_line() -> None:
    assert html.tokens([b"a\n", b"b"]).count("<br>") == 1


def test_columns_stand_under_any_font() -> None:
    """Pages give what is preformatted a font of their own, under which columns would not stand."""
    style = re.search(r'<pre style="([^"]*)"', html.report("a  b\nc  d"))
    assert style is not None
    assert "white-space:pre" in style[1]
    assert re.search(r"font-family:[^;]*monospace", style[1])
