r"""What Hugging Face's engine for patterns, Oniguruma, has names for, and what digram calls it."""

from __future__ import annotations

__all__ = ["ANCHORS", "CLASSES", "CONTROLS", "ITEMS", "NAMES", "POSIX", "PROPERTIES", "REASONS"]

_LONG_NAMES = """
    Letter Uppercase_Letter Lowercase_Letter Titlecase_Letter Cased_Letter LC Modifier_Letter
    Other_Letter Mark Nonspacing_Mark Spacing_Mark Enclosing_Mark Number Decimal_Number
    Letter_Number Other_Number Punctuation Connector_Punctuation Dash_Punctuation Open_Punctuation
    Close_Punctuation Initial_Punctuation Final_Punctuation Other_Punctuation Symbol Math_Symbol
    Currency_Symbol Modifier_Symbol Other_Symbol Separator Space_Separator Line_Separator
    Paragraph_Separator Other Control Format Private_Use Unassigned
"""
_SCRIPTS = """
    Adlam Ahom Anatolian_Hieroglyphs Avestan Balinese Bamum Bassa_Vah Batak Bhaiksuki Bopomofo
    Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee
    Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Deseret Dives_Akuru Dogra Duployan
    Egyptian_Hieroglyphs Elbasan Elymaic Garay Glagolitic Gothic Grantha Gujarati Gunjala_Gondi
    Gurmukhi Gurung_Khema Hanifi_Rohingya Hanunoo Hatran Imperial_Aramaic Inherited
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Kawi Kayah_Li Kharoshthi
    Khitan_Small_Script Khojki Khudawadi Kirat_Rai Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian
    Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek
    Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Nabataean
    Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal
    Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian
    Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician
    Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala
    Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le
    Tai_Tham Tai_Viet Takri Tangsa Tangut Telugu Thaana Tifinagh Tirhuta Todhri Toto Tulu_Tigalari
    Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square
"""
_OTHERS = """
    Alphabetic Alpha Lowercase Lower Uppercase Upper White_Space Space Digit Punct Cntrl Any
    Assigned ASCII Emoji Emoji_Presentation Emoji_Modifier Emoji_Modifier_Base Emoji_Component
    Extended_Pictographic ASCII_Hex_Digit Hex_Digit ID_Start ID_Continue XID_Start XID_Continue
    Ideographic Unified_Ideograph Math Dash Diacritic Extender Cased Case_Ignorable Quotation_Mark
    Terminal_Punctuation Sentence_Terminal Default_Ignorable_Code_Point Variation_Selector
    Regional_Indicator Radical Join_Control Soft_Dotted Grapheme_Base Grapheme_Extend
"""
PROPERTIES = frozenset(
    [
        *("L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No"),
        *("P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So"),
        *("Z", "Zs", "Zl", "Zp", "C", "Cc", "Cf", "Cn", "Co"),
        *("Arabic", "Armenian", "Bengali", "Cyrillic", "Devanagari", "Ethiopic", "Georgian"),
        *("Greek", "Han", "Hangul", "Hebrew", "Hiragana", "Katakana", "Khmer", "Lao", "Latin"),
        *("Myanmar", "Tamil", "Thai", "Tibetan"),
        *_LONG_NAMES.split(),
        *_SCRIPTS.split(),
        *_OTHERS.split(),
    ]
)
"""The names accepted in `\\p{...}`: Unicode's general categories, scripts and other properties."""
NAMES = frozenset(name.replace("_", "").lower() for name in PROPERTIES)
"""The names as both engines compare them."""

_WORD = r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}Ⓐ-ⓩ🄰-🅉🅐-🅩🅰-🆉"
_WORD_OUTSIDE = f"{_WORD}²³¹¼-¾"
"""The items of `\\w` outside a class, where it has more characters than in one."""
_W = f"[{_WORD_OUTSIDE}]"
_PRINT = r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}"
_BREAK = r"\n-\r\x{85}\x{2028}\x{2029}"

ITEMS = {"w": _WORD, "h": "0-9A-Fa-f"}
"""The items of what `\\w` and `\\h` match in a class."""

CLASSES = {
    "w": _W,
    "W": f"[^{_WORD_OUTSIDE}]",
    "h": f"[{ITEMS['h']}]",
    "H": f"[^{ITEMS['h']}]",
    "N": ".",
    "O": r"[\s\S]",
    "R": rf"(?>\r\n|[{_BREAK}])",
}
"""What the escapes match outside a class that stand for several characters."""

ANCHORS = {
    "^": r"(?:(?<![\s\S])|(?<=\n)(?=[\s\S]))",
    "$": r"(?![^\n])",
    r"\A": r"(?<![\s\S])",
    r"\z": r"(?![\s\S])",
    r"\Z": r"(?=\n?(?![\s\S]))",
    r"\b": f"(?:(?<={_W})(?!{_W})|(?<!{_W})(?={_W}))",
    r"\B": f"(?:(?<={_W})(?={_W})|(?<!{_W})(?!{_W}))",
}
"""Anchors, as look-arounds. `^` is not behind a last line feed."""

POSIX = {
    "alnum": r"\p{Alphabetic}\p{Nd}",
    "alpha": r"\p{Alphabetic}",
    "ascii": r"\x{0}-\x{7F}",
    "blank": r"\p{Zs}\t",
    "cntrl": r"\p{Cc}",
    "digit": r"\p{Nd}",
    "graph": _PRINT,
    "lower": r"\p{Lowercase}",
    "print": _PRINT + r"\p{Zs}",
    "punct": r"\p{P}\p{S}",
    "space": r"\s",
    "upper": r"\p{Uppercase}",
    "word": _WORD,
    "xdigit": ITEMS["h"],
}
"""The items of `[:name:]` in a class."""

CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
"""The escapes of one character that are letters."""

REASONS = {
    r"\G": "the place where the search began",
    r"\K": "a later start of the match",
    r"\X": "a cluster of characters",
    r"\g": "a call of a group",
    r"\k": "a reference to a group",
    r"\y": "a border between clusters of characters",
    r"\Y": "no border between clusters of characters",
} | {f"\\{number}": "a reference to a group" for number in range(1, 10)}
"""What constructs mean that digram's patterns cannot express."""
