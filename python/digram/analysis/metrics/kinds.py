"""The kind of a piece of text: words of a script, identifiers, numbers, punctuation, spaces."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from digram.analysis.metrics.vocabulary import SPACES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["IDENTIFIERS", "NUMBERS", "PUNCTUATION", "WHITE_SPACE", "Kinds", "kind_of"]

IDENTIFIERS = "identifiers"
NUMBERS = "numbers"
PUNCTUATION = "punctuation"
WHITE_SPACE = "white space"
WORDS = "words"
OTHER = "other bytes"
LATIN = "Latin"

OTHER_SCRIPTS = "other scripts"

# The Unicode name of a character begins with the name of its script, or with one of these words.
_SCRIPTS = {
    name.upper(): name
    for name in (
        "Adlam", "Arabic", "Armenian", "Balinese", "Bengali", "Bopomofo", "Buginese", "Cherokee",
        "Coptic", "Cyrillic", "Devanagari", "Ethiopic", "Georgian", "Gothic", "Greek", "Gujarati",
        "Gurmukhi", "Hangul", "Hebrew", "Hiragana", "Javanese", "Kannada", "Katakana", "Khmer",
        "Lao", LATIN, "Lisu", "Malayalam", "Mongolian", "Myanmar", "Oriya", "Runic", "Sinhala",
        "Sundanese", "Syriac", "Tamil", "Telugu", "Thaana", "Thai", "Tibetan", "Tifinagh", "Yi",
    )
} | {"CJK": "Han", "IDEOGRAPHIC": "Han", "NKO": "N'Ko"}  # fmt: skip
_WIDE = ("FULLWIDTH ", "HALFWIDTH ")

# Classes of bytes as bits, so that the classes of a piece combine into one number.
_UPPER, _LOWER, _DIGIT, _SPACE, _UNDERSCORE, _MARK, _WIDER, _INNER = (1 << n for n in range(8))


def _class_of(byte: int) -> int:
    character = chr(byte)
    if byte >= 0x80:
        return _WIDER
    if character.isalpha():
        return _UPPER if character.isupper() else _LOWER
    if character.isdigit():
        return _DIGIT
    if character in "\t\n\x0b\x0c\r ":
        return _SPACE
    return _UNDERSCORE if character == "_" else _MARK


def _kind_of_classes(classes: int) -> str:
    """The kind of an ASCII piece, from the classes of its bytes.

    >>> _kind_of_classes(_SPACE | _LOWER), _kind_of_classes(_LOWER | _UNDERSCORE)
    ('words, Latin', 'identifiers')
    """
    if classes & (_UPPER | _LOWER):
        return IDENTIFIERS if classes & (_DIGIT | _UNDERSCORE | _INNER) else f"{WORDS}, {LATIN}"
    if classes & _DIGIT:
        return IDENTIFIERS if classes & _UNDERSCORE else NUMBERS
    return PUNCTUATION if classes & (_UNDERSCORE | _MARK) else WHITE_SPACE


_CLASSES = bytes(map(_class_of, range(256)))
_BY_CLASSES = [_kind_of_classes(classes) for classes in range(256)]


def kind_of(piece: bytes) -> str:
    r"""The kind of a piece of text.

    >>> [kind_of(text.encode()) for text in (" the", "naïve", "дом", " 3.14", "...", " \n")]
    ['words, Latin', 'words, Latin', 'words, Cyrillic', 'numbers', 'punctuation', 'white space']
    >>> [kind_of(text) for text in (b"_name", b" getItem", b"x86", b"12_", b"\xff")]
    ['identifiers', 'identifiers', 'identifiers', 'identifiers', 'other bytes']

    A piece with letters is words, of the script of its first non-Latin letter; Latin letters with a
    digit, an underscore, or a capital after a small letter make it an identifier. Without letters,
    digits make it a number; without those, anything but white space makes it punctuation. Invalid
    UTF-8 is "other bytes".
    """
    try:
        text = piece.decode()
    except UnicodeDecodeError:
        return OTHER
    facts = dict.fromkeys(map(_facts, text))  # distinct, in order
    sorts = {category[0] for category, _ in facts}
    digits = "N" in sorts
    if sorts & {"L", "M"}:
        scripts = [script for _, script in facts if script]
        for script in scripts:
            if script != LATIN:
                return f"{WORDS}, {script}"
        if not scripts:
            return f"{WORDS}, {OTHER_SCRIPTS}"
        inner = ("Ll", "Lu") in pairwise(_facts(one)[0] for one in text)
        return IDENTIFIERS if digits or inner or "_" in text else f"{WORDS}, {LATIN}"
    if digits:
        return IDENTIFIERS if "_" in text else NUMBERS
    return PUNCTUATION if text.strip(SPACES) else WHITE_SPACE


@lru_cache(1 << 16)
def _facts(character: str) -> tuple[str, str]:
    """The category of a character, and the script of a letter or mark, if it has one.

    >>> [_facts(character) for character in ("a", "ｱ", "字", "\u0301", "ª")]
    [('Ll', 'Latin'), ('Lo', 'Katakana'), ('Lo', 'Han'), ('Mn', ''), ('Lo', '')]
    """
    category = unicodedata.category(character)
    if category[0] not in "LM":
        return category, ""
    name = unicodedata.name(character, "")
    for wide in _WIDE:
        name = name.removeprefix(wide)
    return category, _SCRIPTS.get(name.partition(" ")[0], "")


class Kinds:
    """The kinds of the pieces of many texts, as numbers in the order of first occurrence.

    Most pieces are ASCII: the classes of their bytes decide the kind, for all pieces at once. The
    others are classified one by one, each distinct piece once.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._seen: dict[bytes, int] = {}

    @property
    def names(self) -> list[str]:
        """The kinds, by number."""
        return [*self._numbers]

    def of(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The number of the kind of each piece `data[start:end]`; the pieces are adjacent.

        >>> import numpy as np
        >>> data = np.frombuffer("in дом, x1".encode(), np.uint8)
        >>> kinds, ends = Kinds(), np.array([2, 9, 10, 13])
        >>> [kinds.names[n] for n in kinds.of(data, np.array([0, 2, 9, 10]), ends)]
        ['words, Latin', 'words, Cyrillic', 'punctuation', 'identifiers']
        """
        import numpy as np

        if len(starts) == 0:
            return np.zeros(0, np.int64)
        full = starts < ends
        if not full.all():  # the empty token
            found = np.full(len(starts), self._number(kind_of(b"")))
            found[full] = self.of(data, starts[full], ends[full])
            return found
        classes = np.frombuffer(_CLASSES, np.uint8)[data]
        inner = np.flatnonzero((classes[1:] == _UPPER) & (classes[:-1] == _LOWER)) + 1
        classes[inner] |= _INNER
        classes[starts] &= 0xFF ^ _INNER
        of_pieces = np.bitwise_or.reduceat(classes, starts)
        numbers = np.zeros(256, np.int64)
        for known in np.unique(of_pieces).tolist():
            if not known & _WIDER:
                numbers[known] = self._number(_BY_CLASSES[known])
        found = numbers[of_pieces]
        raw, seen = data.tobytes(), self._seen
        wide = np.flatnonzero(of_pieces & _WIDER)
        for place, start, end in zip(
            wide.tolist(), starts[wide].tolist(), ends[wide].tolist(), strict=True
        ):
            piece = raw[start:end]
            if piece not in seen:
                seen[piece] = self._number(kind_of(piece))
            found[place] = seen[piece]
        return found

    def _number(self, kind: str) -> int:
        return self._numbers.setdefault(kind, len(self._numbers))
