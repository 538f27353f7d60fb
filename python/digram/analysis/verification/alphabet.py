"""What generated texts consist of: parts of texts by class, chosen for how tokenizers fail.

The lists are fixed, so that a seed gives the same texts in every version of Python.
"""

from __future__ import annotations

__all__ = ["CLASSES", "SIMPLEST", "WHITE_SPACE", "any_character"]

# The first digit of each script that has decimal digits.
_ZEROS = "0٠۰߀०০੦૦୦௦౦೦൦෦๐໐༠၀႐០᠐᥆᧐᪀᪐᭐᮰᱀᱐꘠꣐꤀꧐꧰꩐꯰０𐒠𐴰𑁦𑃰𑄶𑇐𑋰𑑐𑓐𑙐𑛀𑜰𑣠𑥐𑱐𑵐𑶠𖩠𖫀𖭐𝟎𝟘𝟢𝟬𝟶𞅀𞋰𞥐🯰"

WHITE_SPACE = (
    *" \t\n\r\v\f",
    *("\x85", "\xa0", "\u1680", "\u2000", "\u2003", "\u2007", "\u2009", "\u200a"),
    *("\u2028", "\u2029", "\u202f", "\u205f", "\u3000"),
)
"""Characters with the property White_Space."""

_ENDINGS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")

CLASSES: dict[str, tuple[str, ...]] = {
    "letters": (*"abcdefghijklmnopqrstuvwxyz", "the", "ing", "word"),
    "capitals": (*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "ID", "HTTP"),
    "accented": (*"éèüñçåøœžđłąÉÜÑÅØŽ", "naïve", "Größe"),
    "case": (*"ſßẞİıŉǰΣσςǅǈǋῼᾳﬁﬀŁⅷⓐ", *"ΐKÅÅ𐐀𐐨𞤀𞤢Ა", "\u0130i", "i\u0307"),
    "scripts": (*"αωДжЯабԱבשعلאދހअकதกขລམကქሀᎠᚠꭰ", "дом", "ДОМ"),
    "unspaced": (*"中文字日本語仮名カナひらがなㄅ々〆", "\U00020000", "\U0002a6d6"),
    "hangul": (*"가각한국어힣", "\u1100", "\u1161", "\u11a8", "\u1100\u1161\u11a8", "\u3131"),
    "marks": (
        *("\u0301", "\u0308", "\u0323", "\u0302", "\u0345", "\u0344", "\u3099", "\u309a"),
        *("\u093c", "\u094d", "\u09be", "\u0bbe", "\u0f72", "\u0f73", "\u064b", "\u05b0"),
        *("\u20dd", "\ufe0f", "\ufe00", "\U0001d165"),
    ),
    "composed": (
        *("e\u0301", "\u212b", "\u2126", "\u0958", "\u09c7\u09be", "\u1e9b\u0323", "\ufb1d"),
        *("\ufdfa", "\u00bd", "\u2460", "\u33a2", "\uff76\uff9e", "\U0001d15e", "\u0f73", "\u2adc"),
    ),
    "digits": tuple("0123456789"),
    "numbers": ("007", "12", "123", "1234", "12345", "1,234.5", "3.14", "2025", "1e-9", "0x41"),
    "other digits": (*_ZEROS, *(chr(ord(zero) + 7) for zero in _ZEROS), *"²³½⅓ⅧⅫ〇一二三①"),
    "punctuation": tuple("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "runs of punctuation": (
        "...",
        "--",
        "==",
        "://",
        "();",
        "/*",
        "*/",
        "<!--",
        "\\n",
        "''",
        '""',
        ".\n/",
    ),
    "other punctuation": (*"«»“”‘’…–—¿¡、。「」・،؟।·•§¶†‽⁂", "’s", "ʼ"),
    "symbols": (*"©®™°±×÷€£¥₿→⇒∀∑≈▪█☺♥✓", "\u0f15", "\U0001f0a1"),
    "space": (" ",),
    "spaces": ("  ", "   ", "    ", "        ", " " * 17),
    "line ends": ("\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\n\r", " \n", "\n ", "\t\n", "\n\n\n"),
    "white space": WHITE_SPACE,
    "not quite spaces": (
        *("\u180e", "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u061c"),
        *("\u2581", "\u2581\u2581", "\u2423", "\u0120", "\u010a", "\u2800", "\u3164"),
    ),
    "controls": (*"\x00\x01\x07\x08\x1b\x1c\x1f\x7f\x80\x9f", "\u200e", "\u202e", "\u2066"),
    "contractions": (
        *_ENDINGS,
        *(ending.upper() for ending in _ENDINGS),
        *("'Re", "'lL", "'\u017f", "\u2019s", "''s", "'n", "' s", "don't", "WE'LL"),
    ),
    "emoji": (
        *("🙂", "👍\U0001f3fd", "👩\u200d👩\u200d👧", "👨\u200d💻", "🏳\ufe0f\u200d🌈", "🇩🇪", "🇺"),
        *("1\ufe0f\u20e3", "❤\ufe0f", "❤", "🏴\U000e0067\U000e007f", "\U0001fae0"),
    ),
    "literals": (
        *("<0x41>", "<0x0A>", "<0xE4>", "<0x>", "<s>", "</s>", "<unk>", "<pad>", "<mask>", "[CLS]"),
        *(
            "<|endoftext|>",
            "<|im_start|>",
            "<|im_end|>",
            "<|end",
            "|>",
            "<|",
            "##ing",
            "@@",
            "</w>",
        ),
    ),
    "code": (
        "camelCase",
        "snake_case",
        "x1",
        "_",
        "__init__",
        "\tdef",
        "    return",
        "a[0]",
        "&amp;",
    ),
    "unusual": (
        *("\ufffd", "\uffff", "\ufdd0", "\ue000", "\U0010ffff", "\U000f0000", "\U000e0041"),
        *("\U00010400", "\U0001d400", "\U00012000", "\U0001f1e6", "\ud7ff", "\u0378", "\u2fe0"),
        *("\U0001c000", "\U0003ffff", "\U000e1000", "\u1d79"),
    ),
}
"""The parts by the name of their class."""

_RANGES = (
    *((0x20, 0x7F), (0x20, 0x7F), (0x80, 0x250), (0x250, 0x600), (0x600, 0x1100)),
    *((0x1100, 0x2000), (0x2000, 0x3000), (0x3000, 0x3400), (0x3400, 0xA000), (0xA000, 0xD800)),
    *((0xE000, 0x10000), (0x10000, 0x12000), (0x12000, 0x1D000), (0x1D000, 0x20000)),
    *((0x20000, 0x30000), (0xE0000, 0x110000)),
)

SIMPLEST = (
    "abcdefghijklmnopqrstuvwxyz0123456789 ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    ".,-_'!\"#$%&()*+/:;<=>?@[\\]^`{|}~\n\t\r"
)
"""Characters from the simplest on; all others are less simple, in the order of code points."""


def any_character(first: float, second: float) -> str:
    """A character of all Unicode but surrogates, for two random numbers below 1.

    >>> any_character(0.0, 0.0), any_character(0.0, 0.999)
    (' ', '~')
    """
    start, end = _RANGES[int(first * len(_RANGES))]
    return chr(start + int(second * (end - start)))
