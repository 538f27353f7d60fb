r"""Tokens as text for a terminal.

>>> print(render([b"It", b"'s", b" 2", b"\n"], color=False))
[It]['s][·2][↵]
<BLANKLINE>
>>> print(render([b"\xe4\xb8", b"\xad", b" \xe2\x80\xae"], color=False))
[⟨E4 B8…⟩][⟨…AD=中⟩][·⟨U+202E⟩]
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import TextIO

from digram.display import (
    COLORS,
    Drawn,
    around,
    color_of,
    columns,
    drawn,
    in_context,
    runs,
    visible,
)

__all__ = [
    "WIDTH",
    "chip",
    "chips",
    "columns",
    "render",
    "rendered",
    "shown",
    "use_color",
    "visible",
]

WIDTH = 80
"""The default number of columns."""
_TEXT, _FAINT = 16, 241  # black, and a grey for symbols
_RESET = "\x1b[0m"
_UNDERLINED, _PLAIN = "\x1b[4m", "\x1b[24m"
_BREAK = "\n"
_LEAST = 12  # columns; in fewer, symbols are cut off at the edge


def use_color(stream: TextIO | None) -> bool:
    """Whether to colour output to `stream`: it is a terminal, and `NO_COLOR` is not set.

    None is the stdout of a process that was started with it closed.
    """
    if stream is None or not stream.isatty():
        return False
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def chip(token: bytes, position: int = 0, *, color: bool = True) -> str:
    r"""One token on one line: on the background of its `position`, or in brackets.

    >>> chip(b" the\n", color=False), chip(b"a")
    ('[·the↵]', '\x1b[48;5;153;38;5;16ma\x1b[0m')

    A right-to-left token stays in its place among the others.
    """
    return _chip(drawn(token), position, color)


def chips(
    tokens: Iterable[bytes], *, color: bool = True, positions: Iterable[int] | None = None
) -> list[str]:
    r"""Adjacent tokens, each on one line, with the colours of these positions.

    >>> chips([b"a", b"\xe4\xb8", b"\xad\n"], color=False)
    ['[a]', '[⟨E4 B8…⟩]', '[⟨…AD=中⟩↵]']
    """
    numbers = count() if positions is None else positions
    return [
        _of_ascii(one[0], at % len(COLORS), color)
        if one[0].isascii()
        else _chip(drawn(*one), at, color)
        for one, at in zip(around(tokens), numbers, strict=False)
    ]


@lru_cache(maxsize=1 << 14)
def _of_ascii(token: bytes, position: int, color: bool) -> str:
    """A chip that does not depend on the tokens around it; cached, since these repeat."""
    return _chip(drawn(token), position, color)


def render(
    tokens: Sequence[bytes],
    ids: Sequence[int] | None = None,
    *,
    color: bool = True,
    width: int = WIDTH,
) -> str:
    r"""Tokens as one string for the terminal.

    >>> render([b"a", b" b"])
    '\x1b[48;5;153;38;5;16ma\x1b[0m\x1b[48;5;222;38;5;16m\x1b[38;5;241m·\x1b[38;5;16mb\x1b[0m'
    >>> print(render([b"It", b"'s", b" fine"], [1026, 338, 3734], color=False))
    [It] ['s] [·fine]
    1026 338  3734

    With `color`, adjacent tokens have different backgrounds, and symbols for white space are faint;
    without, each token is in brackets. Line feeds are shown as `↵` and break the line: at their
    position in colour, after the token in brackets, so that each line closes its brackets. With
    `ids` each id is printed below its token, in lines of at most `width` columns (12 at least); a
    longer token continues on the next lines. White space and invisible characters are shown as in
    `visible`. If several tokens share a character, each shows its own bytes of it, dots for the
    others, and the last one the character; in colour they are underlined. Takes linear time.
    """
    return "".join(rendered(tokens, ids, color=color, width=width))


def rendered(
    tokens: Iterable[bytes],
    ids: Sequence[int] | None = None,
    *,
    color: bool = True,
    width: int = WIDTH,
) -> Iterator[str]:
    """The string of `render` in parts, for texts of any length."""
    if ids is not None:
        yield from _with_ids(tokens, ids, color, max(width, _LEAST))
        return
    for position, parts in enumerate(in_context(tokens)):
        yield _flowing(parts, position, color)


def shown(
    tokens: Iterable[bytes],
    ids: Sequence[int] | None = None,
    *,
    color: bool = True,
    width: int = WIDTH,
) -> Iterator[str]:
    r"""The same in whole lines: the last line ends too.

    >>> "".join(shown([b"a", b"b"], color=False)), "".join(shown([b"a\n"], color=False))
    ('[a][b]\n', '[a↵]\n')
    """
    last = ""
    for piece in rendered(tokens, ids, color=color, width=width):
        yield piece
        last = piece
    if not last.endswith(_BREAK):
        yield _BREAK


def _chip(parts: Sequence[Drawn], position: int, color: bool) -> str:
    if not color:
        return f"[{''.join([run.text for run in runs(parts)])}]"
    return _paint(position) + _styled(parts) + _RESET


def _flowing(parts: Sequence[Drawn], position: int, color: bool) -> str:
    if not color:
        # A token is never split: it would look like two, or like a bracket in the text.
        return _chip(parts, position, color) + (_BREAK if _breaks(parts) else "")
    # End the background before each line break: terminals would paint the rest of the line.
    lines = _BREAK.join(_chip(line, position, color) for line in _lines(parts))
    return lines + _BREAK if parts and parts[-1].kind == "break" else lines


def _lines(parts: Sequence[Drawn]) -> Iterator[Sequence[Drawn]]:
    """The lines of one token, each with the symbol of its line feed."""
    start = 0
    for at, part in enumerate(parts, 1):
        if part.kind == "break":
            yield parts[start:at]
            start = at
    if start < len(parts) or not parts:
        yield parts[start:]


def _with_ids(
    tokens: Iterable[bytes], ids: Iterable[int], color: bool, width: int
) -> Iterator[str]:
    upper: list[str] = []
    lower: list[str] = []
    used = 0
    for position, (parts, id_) in enumerate(zip(in_context(tokens), ids, strict=True)):
        number = str(id_)
        for line in _cut(parts, width if color else width - 2):
            text = _chip(line, position, color)
            wide = columns(text)
            cell = max(wide, len(number))
            if upper and used + cell > width:
                yield _two_lines(upper, lower)
                upper, lower, used = [], [], 0
            upper.append(text + " " * (cell - wide))
            lower.append(
                (_dim(number) if color and number else number) + " " * (cell - len(number))
            )
            used += cell + 1
            number = ""  # below the beginning of its token
        if parts and parts[-1].kind == "break":
            yield _two_lines(upper, lower)
            upper, lower, used = [], [], 0
    if upper:
        yield _two_lines(upper, lower)


def _cut(parts: Sequence[Drawn], width: int) -> Iterator[Sequence[Drawn]]:
    """A token in pieces of a maximum number of columns; one piece, except for very long tokens."""
    start, used = 0, 0
    for at, part in enumerate(parts):
        wide = columns(part.text)
        if used + wide > width and at > start:
            yield parts[start:at]
            start, used = at, 0
        used += wide
    yield parts[start:]


def _two_lines(upper: list[str], lower: list[str]) -> str:
    return f"{' '.join(upper).rstrip(' ')}\n{' '.join(lower).rstrip(' ')}\n"


def _paint(position: int) -> str:
    return f"\x1b[48;5;{color_of(position).terminal};38;5;{_TEXT}m"


def _dim(text: str) -> str:
    return f"\x1b[2m{text}{_RESET}"


def _breaks(parts: Iterable[Drawn]) -> bool:
    return any(part.kind == "break" for part in parts)


def _styled(parts: Iterable[Drawn]) -> str:
    """Symbols in grey, and shared characters underlined."""
    out: list[str] = []
    is_faint = is_shared = False
    for text, kind in runs(parts):
        if is_faint != (kind != "text"):
            is_faint = not is_faint
            out.append(f"\x1b[38;5;{_FAINT if is_faint else _TEXT}m")
        if is_shared != (kind == "part"):
            is_shared = not is_shared
            out.append(_UNDERLINED if is_shared else _PLAIN)
        out.append(text)
    return "".join(out)
