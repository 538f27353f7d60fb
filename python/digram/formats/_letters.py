"""GPT-2's letters: a printable character for each byte, to write tokens in JSON and text files.

The 188 printable characters of Latin-1 stand for themselves; the other 68 bytes take the
characters from U+0100 on, in order. For example, a space is `Ġ` and a newline `Ċ`.
(github.com/openai/gpt-2, src/encoder.py, bytes_to_unicode)
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable

__all__ = ["LETTERS", "PRINTED", "from_letters", "to_letters"]

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

LETTERS = "".join(
    chr(byte) if byte in _PRINTABLE else chr(0x100 + _OTHERS.index(byte)) for byte in range(256)
)
"""The letter of each byte: `LETTERS[byte]`."""

PRINTED = "".join(LETTERS[byte] for byte in (*_PRINTABLE, *_OTHERS))
"""The letters in the order in which GPT-2 and CLIP number them: those of printable bytes first."""

_FROM = codecs.charmap_build(LETTERS)


def to_letters(token: bytes) -> str:
    r"""Convert the bytes of a token to letters.

    >>> to_letters(b" caf\xc3\xa9\n")
    'ĠcafÃ©Ċ'
    """
    return codecs.charmap_decode(token, "strict", LETTERS)[0]


def from_letters(names: Iterable[str]) -> list[bytes]:
    r"""Convert strings of letters to bytes.

    >>> from_letters(["ĠcafÃ©Ċ", "a"])
    [b' caf\xc3\xa9\n', b'a']

    Raises UnicodeEncodeError for the first string with another character; its `object` is that
    string.
    """
    return [codecs.charmap_encode(name, "strict", _FROM)[0] for name in names]
