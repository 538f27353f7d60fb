"""Tokens in a terminal: nothing hidden, nothing harmful, every width right."""

from __future__ import annotations

import io
import re
import sys
import unicodedata
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import digram
from digram.display.terminal import chip, columns, render, rendered, shown, use_color, visible

STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (b"", ""),
        (b"plain", "plain"),
        (b" a b ", "·a·b·"),
        (b"\n", "↵"),
        (b"\r\n\t", "␍↵→"),
        (b"\x00\x07\x1b[31m\x7f", "␀␇␛[31m␡"),
        ("中".encode(), "中"),
        ("中".encode()[:2], "⟨E4⟩⟨B8⟩"),
        ("中".encode()[2:], "⟨AD⟩"),
        (b"a\xf0\x9f", "a⟨F0⟩⟨9F⟩"),
        (b"\xed\xa0\x80", "⟨ED⟩⟨A0⟩⟨80⟩"),
        ("\u202eabc\u2069".encode(), "⟨U+202E⟩abc⟨U+2069⟩"),
        ("\ufeff\u200b\u00ad".encode(), "⟨U+FEFF⟩⟨U+200B⟩⟨U+00AD⟩"),
        ("\u00a0\u2028\u3000\u0085".encode(), "⟨U+00A0⟩⟨U+2028⟩⟨U+3000⟩⟨U+0085⟩"),
        ("\ue000\U000e0041".encode(), "⟨U+E000⟩⟨U+E0041⟩"),
        ("e\u0301".encode(), "e\u0301"),
        ("\u0301e".encode(), "◌\u0301e"),
        ("\n\u0301".encode(), "↵◌\u0301"),
        ("हिन्दी".encode(), "हिन्दी"),
        ("👨\u200d👩".encode(), "👨\u200d👩"),
        ("👨\u200d".encode(), "👨⟨U+200D⟩"),
        ("\u200d👩".encode(), "⟨U+200D⟩👩"),
    ],
)
def test_what_a_token_looks_like(token: bytes, shown: str) -> None:
    assert visible(token) == shown
    assert chip(token, color=False) == f"[{shown}]"
    assert STYLE.sub("", chip(token)) == shown


@given(st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_no_token_can_harm_the_terminal(token: bytes) -> None:
    for character in visible(token):
        category = unicodedata.category(character)
        assert category not in ("Cc", "Co", "Cs", "Cn", "Zl", "Zp")
        assert category != "Cf" or character in "\u200c\u200d"


@given(st.lists(st.binary(max_size=4) | st.sampled_from([b" ", b"\n", b"\xe4\xb8"])))
def test_every_token_is_painted_unlike_its_neighbours(tokens: list[bytes]) -> None:
    painted = [STYLE.match(piece) for piece in rendered(tokens)]
    assert all(painted)
    styles = [match[0] for match in painted if match]
    assert all(a != b for a, b in pairwise(styles))
    assert "".join(rendered(tokens)) == render(tokens)
    assert render(tokens).count("\x1b[0m") == render(tokens).count("\x1b[48;5;")


def test_a_line_in_brackets_closes_what_it_opens() -> None:
    tokens = [b"def", b" f", b"():", b"\n   ", b" pass", b".\n\n", b"\n"]
    assert render(tokens, color=False) == "[def][·f][():][↵···]\n[·pass][.↵↵]\n[↵]\n"


def test_the_background_ends_before_a_line_does() -> None:
    for line in render([b"a\n\nb", b"\n"]).splitlines():
        assert line.endswith("\x1b[0m")


def test_marks_of_the_text_itself_break_no_line() -> None:
    assert "\n" not in render(["↵·→".encode()])
    assert render(["↵".encode()], color=False) == "[↵]"


def test_ids_stand_below_their_tokens() -> None:
    tokens = ["中文".encode(), b"a", b"\n", b"b"]
    assert render(tokens, [7, 12345, 10, 98], color=False) == (
        "[中文] [a]   [↵]\n7      12345 10\n[b]\n98\n"
    )
    with pytest.raises(ValueError, match="shorter"):
        render(tokens, [1])


@given(
    st.lists(st.tuples(st.binary(max_size=6), st.integers(0, 300_000)), min_size=1),
    st.integers(20, 80),
    st.booleans(),
)
def test_lines_with_ids_fit_the_width(
    pairs: list[tuple[bytes, int]], width: int, color: bool
) -> None:
    tokens, ids = zip(*pairs, strict=True)
    lines = render(tokens, ids, color=color, width=width).splitlines()
    assert all(columns(line) <= max(width, 30) for line in lines)
    numbers = [int(n) for line in lines[1::2] for n in STYLE.sub("", line).split()]
    assert numbers == list(ids)


def test_columns() -> None:
    assert [columns(text) for text in ("", "abc", "中文", "e\u0301", "한글", "ｱ", "👋")] == [
        0,
        3,
        4,
        1,
        4,
        1,
        2,
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_on_a_terminal_only_and_never_against_the_wish(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert use_color(Terminal())
    assert not use_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "")
    assert use_color(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not use_color(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not use_color(Terminal())


def test_python_prints_what_the_command_line_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tok = digram.train("low lower lowest", max_merges=4, pretokenizer="gpt2")
    text = "low é\nשלום 中文"
    tokens, ids = tok.tokens(tok.encode(text)), tok.encode(text)
    digram.show(tok, text)
    assert capsys.readouterr().out == "".join(shown(tokens, color=False))
    digram.show(tok, text, color=True)
    assert capsys.readouterr().out == "".join(shown(tokens))
    monkeypatch.setenv("COLUMNS", "30")
    digram.show(tok, text, ids=True)
    assert capsys.readouterr().out == "".join(shown(tokens, ids, color=False, width=30))
    digram.show(tok, "")
    assert capsys.readouterr().out == "\n"


def test_a_notebook_has_the_colours_of_encodings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tok = digram.train("low lower lowest", max_merges=4, pretokenizer="gpt2")
    displayed: list[str] = []
    shell = SimpleNamespace(kernel=None)
    notebook = SimpleNamespace(display=displayed.append, HTML=str)
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=notebook)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", notebook)
    digram.show(tok, "low é")  # in IPython's own terminal
    assert (displayed, capsys.readouterr().out) == ([], "[low][·][⟨C3…⟩][⟨…A9=é⟩]\n")
    shell.kernel = object()
    digram.show(tok, "low é")
    digram.show(tok, "low é", ids=True)
    plain, with_ids = displayed
    chips = re.findall(r"background:(rgba[^;\"]*)", tok("low é")._repr_html_())
    assert len(chips) == 4
    assert re.findall(r"background:(rgba[^;\"]*)", plain) == chips
    assert re.findall(r"background:(rgba[^;\"]*)", with_ids) == chips
    assert [str(id) in with_ids for id in tok.encode("low é")] == [True] * 4
    digram.show(tok, "low é", color=False)
    monkeypatch.setenv("NO_COLOR", "1")
    digram.show(tok, "low é")
    assert len(displayed) == 2
    assert capsys.readouterr().out == "[low][·][⟨C3…⟩][⟨…A9=é⟩]\n" * 2


@given(st.lists(st.text("אבגע1(= )", min_size=1, max_size=5).map(str.encode), max_size=8))
def test_right_to_left_text_stays_in_its_tokens(tokens: list[bytes]) -> None:
    """What is written from right to left is isolated inside each token."""
    for piece in rendered(tokens, color=False):
        assert (piece[0], piece[-1]) == ("[", "]")
        inside = re.sub("\u2068[^\u2069]*\u2069", "", piece[1:-1])
        assert not [c for c in inside if unicodedata.bidirectional(c) in ("R", "AL", "AN")]


def test_a_long_token_goes_on_in_the_next_line() -> None:
    lines = render([b"x" * 50, b"y"], [7, 8], color=False, width=22).splitlines()
    assert lines == [
        f"[{'x' * 20}]", "7", f"[{'x' * 20}]", "", f"[{'x' * 10}] [y]", "             8",
    ]  # fmt: skip
