r"""Splits of bytes that are written as letters, as a readable specification.

>>> letters(" é".encode())
'ĠÃ©'
>>> split_letters("m²".encode(), lambda text: text.split("Â"))
Traceback (most recent call last):
ValueError: the pieces do not join to the text
>>> split_letters("m²".encode(), list)
[b'm', b'\xc2', b'\xb2']
"""

from collections.abc import Callable

_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
LETTERS = [chr(byte if byte in _PRINTABLE else 0x100 + _OTHERS.index(byte)) for byte in range(256)]
"""The letter of each byte: itself in Latin-1 if that can be printed, and otherwise a later one."""


def letters(data: bytes) -> str:
    r"""Write each byte as its letter.

    >>> letters(b"a\n")
    'aĊ'
    """
    return "".join(LETTERS[byte] for byte in data)


def split_letters(data: bytes, split: Callable[[str], list[str]]) -> list[bytes]:
    r"""Split bytes where `split` splits their letters, of which each stands for one byte.

    >>> split_letters("é1".encode(), lambda text: [text[:1], text[1:]])
    [b'\xc3', b'\xa91']

    Raises ValueError if the pieces of `split` do not join to its text.
    """
    pieces = split(letters(data))
    if "".join(pieces) != letters(data):
        raise ValueError("the pieces do not join to the text")
    return [bytes(LETTERS.index(letter) for letter in piece) for piece in pieces]
