r"""The symbol for each character of a token: nothing is hidden, and nothing does harm.

>>> visible("naïve\t☕\n".encode()), visible(b" \xff\x00")
('naïve→☕↵', '·⟨FF⟩␀')
>>> [["".join(one.text for one in token)] for token in in_context([b"\xe4\xb8", b"\xad!"])]
[['⟨E4 B8…⟩'], ['⟨…AD=中⟩!']]
"""

from __future__ import annotations

import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import Literal, NamedTuple

from digram.display.width import is_inner_jamo, isolated

__all__ = ["Drawn", "around", "drawn", "harmless", "in_context", "joined", "runs", "visible"]

_BREAK = "↵"
_SPACE = "·"
_SIGNS = {"\r": "␍", "\t": "→"}
_JOINERS = "\u200c\u200d"
_MARKS_AT_MOST = 8
"""The maximum number of marks on one character; a hundred would cover the lines above."""
_REACH = 3
"""The maximum number of bytes of a character that other tokens may hold, at either side."""
# Letters, marks and symbols of Unicode that no font displays.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]))
)
_STYLES_OF_EMOJI = "\ufe0e\ufe0f"
_PICTURES = ("So", "Sm", "Po", "Pd")  # the categories that contain emoji
_KEYS = frozenset("#*0123456789")
_FIRST_JOINED = "\u0590"  # no script before Hebrew joins letters


class Drawn(NamedTuple):
    """A unit of display: a character with its marks, or a symbol for something invisible."""

    text: str
    kind: Literal["text", "sign", "break", "part"]
    """The text itself; a symbol for something invisible; the symbol of a line feed; or bytes of a
    character that is shared with other tokens.
    """


def visible(token: bytes) -> str:
    r"""A token as one line of text that is safe to print.

    >>> visible("naïve\t☕\n".encode()), visible(b"\xff\x00"), visible(b" a")
    ('naïve→☕↵', '⟨FF⟩␀', '·a')

    A space is shown as `·`, a line feed as `↵`, a tab as `→`. Bytes that are not a whole character
    are shown as `⟨FF⟩`, characters that are invisible or would rearrange the line (bidi controls,
    unusual spaces, unassigned ones) as `⟨U+202E⟩`, half a flag as `⟨RI-D⟩`, and control characters
    as their pictures. A combining mark at the start of the token is placed on `◌`.
    """
    return "".join([one.text for one in drawn(token)])


def harmless(text: str) -> str:
    r"""A text that is not a token, such as a name or a pattern: as `visible`, but spaces stay.

    >>> harmless("my \x1b[31mfile\u202e")
    'my ␛[31mfile⟨U+202E⟩'
    """
    return " ".join([visible(part.encode("utf-8", "replace")) for part in text.split(" ")])


def drawn(token: bytes, before: bytes = b"", after: bytes = b"") -> list[Drawn]:
    r"""What to display for a token between others.

    >>> drawn(b"a\xe4\xb8", after=b"\xad")
    [Drawn(text='a', kind='text'), Drawn(text='⟨E4 B8…⟩', kind='part')]
    >>> drawn(b"\xad", before=b"a\xe4\xb8")
    [Drawn(text='⟨…AD=中⟩', kind='part')]

    `before` and `after` are the bytes around the token, of which three on each side are enough. For
    a character that the token shares with its neighbours it shows its own bytes, dots for the
    others, and with the last byte the character.
    """
    if token.isascii():  # its bytes belong to no shared character
        return list(_drawn(token.decode()))
    before, after = before[-_REACH:], after[:_REACH]
    start, end = len(before), len(before) + len(token)
    whole = before + token + after
    found: list[Drawn] = []
    own: list[str] = []  # characters that belong to this token alone
    at = 0
    # In UTF-8 no part of a character can be mistaken for another character, so cutting bytes out is
    # safe; surrogateescape turns each byte that is not a whole character into one lone surrogate.
    for character in whole.decode("utf-8", "surrogateescape"):
        size = 1 if "\udc80" <= character <= "\udcff" else len(character.encode())
        first, at = at, at + size
        if at <= start or first >= end:
            continue
        if start <= first and at <= end:
            own.append(character)
            continue
        found += _drawn("".join(own))
        own = []
        found.append(
            _part(character, first < start, at > end, whole[max(first, start) : min(at, end)])
        )
    return [*found, *_drawn("".join(own))]


def in_context(tokens: Iterable[bytes]) -> Iterator[list[Drawn]]:
    """What to display for each token of a text; looks three bytes ahead."""
    return (drawn(*one) for one in around(tokens))


def around(tokens: Iterable[bytes]) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Each token of a text with some bytes before and after it, as arguments of `drawn`."""
    ahead: deque[bytes] = deque()
    before = b""
    for token in tokens:
        ahead.append(token)
        if sum(map(len, islice(ahead, 1, None))) < _REACH:
            continue
        first = ahead.popleft()
        yield first, before, b"".join(ahead)
        before = (before + first)[-_REACH:]
    while ahead:
        first = ahead.popleft()
        yield first, before, b"".join(ahead)
        before = (before + first)[-_REACH:]


def runs(parts: Iterable[Drawn]) -> Iterator[Drawn]:
    r"""The same with adjacent text joined, and each run isolated in its own direction.

    >>> [one.text for one in runs(drawn("ab עב".encode()))]
    ['ab', '·', '\u2068עב\u2069']

    So Arabic letters join, while symbols and tokens keep the order of the bytes.
    """
    for text, kind in joined(parts):
        yield Drawn(isolated(text, "own" if kind == "text" else "left to right"), kind)


def joined(parts: Iterable[Drawn]) -> Iterator[Drawn]:
    """The same with adjacent units of one kind joined."""
    for kind, together in groupby(parts, key=attrgetter("kind")):
        yield Drawn("".join([one.text for one in together]), kind)


def _part(character: str, goes_on: bool, is_unfinished: bool, own: bytes) -> Drawn:
    end = "…" if is_unfinished else f"={visible(character.encode()).strip('⟨⟩')}"
    return Drawn(f"⟨{'…' if goes_on else ''}{own.hex(' ').upper()}{end}⟩", "part")


def _drawn(text: str) -> Iterator[Drawn]:
    """What to display for characters, and for bytes, which are surrogates here."""
    held = Drawn("", "text")  # the unit that marks may still join
    marks = 0
    joins = False  # whether the next character belongs to the unit, as in a family emoji
    for i, character in enumerate(text):
        following = text[i + 1] if i + 1 < len(text) else ""
        if joins or (held.text and _adds(character, held.text, following)):
            marks += unicodedata.category(character)[0] == "M"
            if marks <= _MARKS_AT_MOST:
                joins = character == "\u200d" and unicodedata.category(following) == "So"
                held = Drawn(held.text + character, held.kind)
                continue
        if held.text:
            yield _settled(held)
        joins, marks = False, 0
        one, carries = _alone(character)
        held = one if carries else Drawn("", "text")
        if not carries:
            yield one
    if held.text:
        yield _settled(held)


def _settled(held: Drawn) -> Drawn:
    """A unit that is complete: half a flag has no picture and becomes a symbol."""
    first, rest = held.text[0], held.text[1:]
    if not _is_letter_of_flag(first) or (rest and _is_letter_of_flag(rest[0])):
        return held
    # Unchanged, it would form a flag with the other half in the next token.
    return Drawn(f"⟨RI-{chr(ord(first) - 0x1F1E6 + ord('A'))}⟩{rest}", "sign")


def _adds(character: str, held: str, following: str) -> bool:
    """Whether a character is displayed in the same place as the one before it."""
    if character < "\u0300":
        return False
    if character in _JOINERS:  # used in some scripts and in emoji, invisible elsewhere
        of_use = held[-1] >= _FIRST_JOINED and following >= _FIRST_JOINED
        return of_use and unicodedata.category(following)[0] in "LMS"
    if character in _STYLES_OF_EMOJI:
        return held in _KEYS or (len(held) == 1 and unicodedata.category(held) in _PICTURES)
    if character in _UNSEEN:
        return False
    if _is_letter_of_flag(character):
        return len(held) == 1 and _is_letter_of_flag(held)
    return (
        unicodedata.category(character) in ("Mn", "Me", "Mc")
        or _is_skin(character)
        or is_inner_jamo(character)
    )


def _alone(character: str) -> tuple[Drawn, bool]:
    """What to display for a character that starts a unit, and whether marks may join it."""
    if " " < character < "\x7f":
        return Drawn(character, "text"), True
    if character == " ":
        return Drawn(_SPACE, "sign"), True
    if character == "\n":
        return Drawn(_BREAK, "break"), False
    sign = _sign(character)
    if sign is not None:
        return Drawn(sign, "sign"), False
    is_mark = unicodedata.category(character)[0] == "M"
    return Drawn("◌" + character if is_mark else character, "text"), True


def _sign(character: str) -> str | None:
    """The symbol for a character that is invisible, or would change the text around it."""
    if character < " ":
        return _SIGNS.get(character, chr(0x2400 + ord(character)))
    if character == "\x7f":
        return "␡"
    if "\udc80" <= character <= "\udcff":  # a byte that is not a character
        return f"⟨{ord(character) - 0xDC00:02X}⟩"
    hidden = unicodedata.category(character)[0] in "CZ" or character in _UNSEEN
    if hidden or _is_skin(character) or is_inner_jamo(character):
        return f"⟨U+{ord(character):04X}⟩"
    return None


def _is_skin(character: str) -> bool:
    return "\U0001f3fb" <= character <= "\U0001f3ff"


def _is_letter_of_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
