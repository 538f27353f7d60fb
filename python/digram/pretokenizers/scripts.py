r"""The cuts of Hugging Face's `UnicodeScripts`: between characters of different scripts.

Scripts are those of Unicode 9. Hiragana, Katakana and the sign `ー` belong to the script Han.
Spaces and characters without a script continue the piece before them, and are left out where there
is none.

>>> from digram.pretokenizers import Pretokenizer, Regex, Words, pretokenize
>>> words = Words(tuple(map(Regex, SCRIPT_RUNS)), removed=Regex(WITHOUT_SCRIPT))
>>> pretokenize(" It is 東京タワー, 7 да", Pretokenizer(None, normalizer=words))
['It is ', '東京タワー', ', 7 ', 'да']
"""

from __future__ import annotations

__all__ = ["SCRIPT_RUNS", "WITHOUT_SCRIPT"]

_SCRIPTS = """
    Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali
    Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian
    Chakma Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Duployan
    Egyptian_Hieroglyphs Elbasan Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi
    Han Hangul Hanunoo Hatran Hebrew Imperial_Aramaic Inherited Inscriptional_Pahlavi
    Inscriptional_Parthian Javanese Kaithi Kannada Kayah_Li Kharoshthi Khmer Khojki Khudawadi Lao
    Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Malayalam Mandaic Manichaean
    Marchen Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro
    Multani Myanmar Nabataean New_Tai_Lue Newa Nko Ogham Ol_Chiki Old_Hungarian Old_Italic
    Old_North_Arabian Old_Permic Old_Persian Old_South_Arabian Old_Turkic Oriya Osage Osmanya
    Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan
    Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sora_Sompeng Sundanese Syloti_Nagri
    Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangut Telugu Thaana Thai Tibetan
    Tifinagh Tirhuta Ugaritic Vai Warang_Citi Yi
"""
_OTHERS = r" \P{age=9.0}\p{Co}\p{Cn}"
"""The items of the class of characters without a script; of these only the space is assigned."""
_UNLIKE = {
    "Arabic": r"[\p{sc=Arabic}--\x{61c}]",
    "Armenian": r"[\p{sc=Armenian}--\x{589}]",
    "Common": r"[\p{sc=Common}--[ ー]]\x{589}\x{61c}",
    "Devanagari": r"\p{sc=Devanagari}\x{953}\x{954}",
    "Han": r"\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー",
    "Inherited": r"[\p{sc=Inherited}--[\x{953}\x{954}]]",
}
"""The items of the classes that are not those of Unicode 16, by which patterns are read."""

WITHOUT_SCRIPT = f"[{_OTHERS}]"
"""The class of characters that continue any piece."""


def _items(script: str) -> str:
    """The items of the class of a script, with those that continue its pieces."""
    return _UNLIKE.get(script, rf"\p{{sc={script}}}")


def _runs(scripts: list[str]) -> str:
    """A regex for pieces of some scripts, and for text of all others."""
    all_items = "".join(map(_items, scripts))
    runs = [f"[{_items(one)}&&[^{_OTHERS}]][{_items(one)}{_OTHERS}]*" for one in scripts]
    return "|".join((*runs, f"[{_OTHERS}]+", f"[^{all_items}{_OTHERS}][[^{all_items}]{_OTHERS}]*"))


_NAMES = _SCRIPTS.split()
_STEP = 50
SCRIPT_RUNS = tuple(_runs(_NAMES[at : at + _STEP]) for at in range(0, len(_NAMES), _STEP))
"""Several regexes, since one would have more classes than a pattern may have."""
