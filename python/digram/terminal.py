r"""Tokens as a person reads them in a terminal.

>>> print(render([b"It", b"'s", b" 2", b"\n"], color=False))
[It]['s][·2][↵]
<BLANKLINE>
>>> print(render([b"\xe4\xb8", b"\xad", b" \xe2\x80\xae"], color=False))
[⟨E4⟩⟨B8⟩][⟨AD⟩][·⟨U+202E⟩]
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

__all__ = ["chip", "columns", "render", "rendered", "use_color", "visible"]

# Background colours of the 256-colour palette: light, so that black text reads well on each, in
# an order in which neighbours differ in hue, also to most colour-blind eyes.
_BACKGROUNDS = (153, 222, 158, 218, 189, 187)
_TEXT, _FAINT = 16, 241  # black, and a grey for what is not the text itself
_RESET = "\x1b[0m"
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_BREAK = "\n"
_SPACE = "·"
_MARKS = {_BREAK: "↵", "\r": "␍", "\t": "→"}
_JOINERS = "\u200c\u200d"


def use_color(stream: TextIO) -> bool:
    """Whether to colour what goes to `stream`: a terminal, and `NO_COLOR` not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def visible(token: bytes) -> str:
    r"""A token as one line of harmless text.

    >>> visible("naïve\t☕\n".encode()), visible(b"\xff\x00"), visible(b" a")
    ('naïve→☕↵', '⟨FF⟩␀', '·a')

    A space stands as `·`, a line feed as `↵`, a tab as `→`. Bytes that are no whole character
    stand as `⟨FF⟩`, characters that cannot be seen or that would rearrange the line (bidi
    controls, odd spaces, unassigned ones) as `⟨U+202E⟩`, control characters as their pictures. A
    combining mark that starts the token sits on `◌`.
    """
    return _body(token)


def chip(token: bytes, position: int = 0, *, color: bool = True) -> str:
    r"""One token on one line: on the background of its `position`, or in brackets.

    >>> chip(b" the\n", color=False), chip(b"a")
    ('[·the↵]', '\x1b[48;5;153;38;5;16ma\x1b[0m')
    """
    if not color:
        return f"[{visible(token)}]"
    return _paint(position) + _body(token, faint=True) + _RESET


def columns(text: str) -> int:
    r"""How many terminal columns a text takes: two for a wide character, none for a mark.

    >>> columns("abc"), columns("中文"), columns("e\u0301"), columns("\x1b[1mbold\x1b[0m")
    (3, 4, 1, 4)
    """
    return sum(_width(character) for character in _STYLE.sub("", text))


def render(
    tokens: Sequence[bytes],
    ids: Sequence[int] | None = None,
    *,
    color: bool = True,
    width: int = 80,
) -> str:
    r"""Tokens as one string for the terminal.

    >>> render([b"a", b" b"])
    '\x1b[48;5;153;38;5;16ma\x1b[0m\x1b[48;5;222;38;5;16m\x1b[38;5;241m·\x1b[38;5;16mb\x1b[0m'
    >>> print(render([b"It", b"'s", b" fine"], [1026, 338, 3734], color=False))
    [It] ['s] [·fine]
    1026 338  3734

    With `color` neighbours have different backgrounds, and the signs for white space are faint;
    without, each token stands in brackets. Line feeds show as `↵` and break the line: in colour
    where they stand, in brackets after the token, so that each line closes what it opens. With
    `ids` each id stands below its token, in lines of at most `width` columns. White space,
    incomplete characters and what cannot be seen are drawn as in `visible`. Linear in the tokens.
    """
    return "".join(rendered(tokens, ids, color=color, width=width))


def rendered(
    tokens: Iterable[bytes],
    ids: Sequence[int] | None = None,
    *,
    color: bool = True,
    width: int = 80,
) -> Iterator[str]:
    """The string of `render` piece by piece, for texts of any length."""
    if ids is not None:
        yield from _with_ids(tokens, ids, color, width)
        return
    for position, token in enumerate(tokens):
        yield _flowing(token, position, color)


def _flowing(token: bytes, position: int, color: bool) -> str:
    if not color:
        # A token is never cut in two: it would look like two, or like a bracket in the text.
        return chip(token, color=False) + (_BREAK if b"\n" in token else "")
    on = _paint(position)
    # The background ends before each line break: terminals would paint the rest of the line.
    body = _body(token, line_break=f"{_RESET}{_BREAK}{on}", faint=True)
    return on + body + _RESET


def _with_ids(
    tokens: Iterable[bytes], ids: Iterable[int], color: bool, width: int
) -> Iterator[str]:
    upper: list[str] = []
    lower: list[str] = []
    used = 0
    for position, (token, id_) in enumerate(zip(tokens, ids, strict=True)):
        text = chip(token, position, color=color)
        number = str(id_)
        wide = columns(text)
        cell = max(wide, len(number))
        if upper and used + cell > width:
            yield _two_lines(upper, lower)
            upper, lower, used = [], [], 0
        upper.append(text + " " * (cell - wide))
        lower.append((_dim(number) if color else number) + " " * (cell - len(number)))
        used += cell + 1
        if token.endswith(b"\n"):
            yield _two_lines(upper, lower)
            upper, lower, used = [], [], 0
    if upper:
        yield _two_lines(upper, lower)


def _two_lines(upper: list[str], lower: list[str]) -> str:
    return f"{' '.join(upper).rstrip(' ')}\n{' '.join(lower).rstrip(' ')}\n"


def _paint(position: int) -> str:
    return f"\x1b[48;5;{_BACKGROUNDS[position % len(_BACKGROUNDS)]};38;5;{_TEXT}m"


def _dim(text: str) -> str:
    return f"\x1b[2m{text}{_RESET}"


def _body(token: bytes, *, line_break: str = "", faint: bool = False) -> str:
    out = []
    in_mark = False
    for shown, is_mark in _drawn(token):
        if faint and is_mark != in_mark:
            out.append(f"\x1b[38;5;{_FAINT if is_mark else _TEXT}m")
            in_mark = is_mark
        out.append(shown)
        if is_mark and shown == _MARKS[_BREAK]:
            out.append(line_break)
            in_mark = in_mark and not line_break  # what follows a break is painted anew
    return "".join(out)


def _drawn(token: bytes) -> Iterator[tuple[str, bool]]:
    """What to draw for each character, and whether it stands for something unseen."""
    # UTF-8 never takes part of one character for another, so a token can be read by itself;
    # surrogateescape turns each byte that is no whole character into one lone surrogate.
    text = token.decode("utf-8", "surrogateescape")
    base = False  # whether the character before can carry a combining mark
    for i, character in enumerate(text):
        if " " < character < "\x7f":
            yield character, False
            base = True
        elif character == " ":
            yield _SPACE, True
            base = True
        elif "\udc80" <= character <= "\udcff":
            yield f"⟨{ord(character) - 0xDC00:02X}⟩", True
            base = False
        elif character in _MARKS:
            yield _MARKS[character], True
            base = False
        elif character < " " or character == "\x7f":
            yield chr(0x2421 if character == "\x7f" else 0x2400 + ord(character)), True
            base = False
        elif character in _JOINERS and base and i + 1 < len(text) and text[i + 1] not in _JOINERS:
            yield character, False
        else:
            category = unicodedata.category(character)
            if category in ("Mn", "Me", "Mc"):
                yield character if base else "◌" + character, False
                base = True
            elif category[0] in "CZ":
                yield f"⟨U+{ord(character):04X}⟩", True
                base = False
            else:
                yield character, False
                base = True


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
