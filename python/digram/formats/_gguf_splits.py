r"""How llama.cpp splits text before merging: a list of regexes for each value of the key `pre`.

Each regex divides the pieces of the one before, as in a `Pretokenizer`. llama.cpp's regexes differ
from those of the published tokenizer.json where its engine has no equivalent: contractions ignore
case in ASCII only, possessive repetitions are greedy, `\s` never matches as part of a range, and
the case classes of tekken and gpt-4o are all letters but a-z, and all but A-Z, without marks.
(github.com/ggml-org/llama.cpp, src/llama-vocab.cpp, src/unicode.cpp)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from digram.errors import VocabError
from digram.formats._show import show
from digram.formats._splits import NUMBER
from digram.pretokenizers.pretokenizer import NAMED, Digits, Pretokenizer, Regex
from digram.pretokenizers.words import PUNCTUATION

__all__ = ["DEFAULT", "Split", "named", "near", "passes", "split_of"]


class Split(NamedTuple):
    """What a value of `pre` means."""

    passes: tuple[str, ...]
    ignore_merges: bool = False
    """Whether a pretoken that is a token is that token without merging."""
    add_bos: bool = False
    """Whether the first token of a text is the bos token if the file does not say."""
    has_bos: bool = True
    """Whether there is a bos token if the file does not name it."""

    def pretokenizer(self) -> Pretokenizer:
        """The split as a pretokenizer, with its name and the policy for digits if they have one."""
        first, rest = self.passes[0], self.passes[1:]
        policy = next((one for one, regex in _DIGITS.items() if regex == first), None)
        if policy is not None and rest == NAMED["gpt2"].patterns:
            return Pretokenizer("gpt2", digits=policy)
        return Pretokenizer([Regex(one) for one in self.passes])


_DIGITS: dict[Digits, str] = {"individual": r"\p{N}", "threes_from_left": r"\p{N}{1,3}"}
"""The policies for digits that are a pass of their own."""

_GPT2 = NAMED["gpt2"].patterns[0]
_CASELESS = "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_ONE_END = r"\s*[\r\n]|\s+(?!\S)|\s+"
_UPPER, _LOWER = r"[\p{L}--[a-z]]", r"[\p{L}--[A-Z]]"
_MARKED_UPPER, _MARKED_LOWER = r"[\p{L}\p{M}--[a-z]]", r"[\p{L}\p{M}--[A-Z]]"
_HAN = (
    r"\u{3400}-\u{4DBF}\u{4E00}-\u{9FFF}\u{F900}-\u{FAFF}\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}"
    r"\u{2B740}-\u{2EBEF}\u{2F800}-\u{2FA1F}"
)
_DEEPSEEK_CJK = r"[[一-龥\u{800}-一가-\u{D7FF}]--\s]+"
_DEEPSEEK_LETTERS = """
    41-5A 61-7A B5 C0-D6 D8-F6 F8-1BA 1BC-1BF 1C4-293 295-2AF 370-373 376 377 37B-37D 37F 386
    388-38A 38C 38E-3A1 3A3-3F5 3F7-481 48A-52F 531-556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA
    1CBD-1CBF 1D00-1D2B 1D6B-1D77 1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59
    1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FBC 1FBE 1FC2-1FC4 1FC6-1FCC 1FD0-1FD3 1FD6-1FDB 1FE0-1FEC
    1FF2-1FF4 1FF6-1FFC 2102 2107 210A-2113 2115 2119-211D 2124 2126 2128 212A-212D 212F-2134 2139
    213C-213F 2145-2149 214E 2183 2184 2C00-2C7B 2C7E-2CE4 2CEB-2CEE 2CF2 2CF3 A640-A66D A680-A69B
    A722-A76F A771-A787 A78B-A78E AB70-ABBF FB00-FB06 FB13-FB17 FF21-FF3A FF41-FF5A 10400-1044F
    104B0-104D3 104D8-104FB 10C80-10CB2 10CC0-10CF2 118A0-118DF 1E900-1E943
"""
"""The code points of letters with case in deepseek-llm, in hexadecimal."""


def _class(code_points: str) -> str:
    r"""A class of code points and of ranges.

    >>> _class("41-5A B5")
    '[\\u{41}-\\u{5A}\\u{B5}]'
    """
    return "[" + "".join(re.sub("[0-9A-F]+", r"\\u{\g<0>}", code_points).split()) + "]"


def _cl100k(digits: str) -> str:
    return f"{_CASELESS}|{_WORD}|{digits}|{_SIGNS}|{_SPACES}"


def _cased(upper: str, lower: str, digits: str, contraction: str) -> str:
    """The pattern of gpt-4o: a word begins where an upper-case letter follows a lower-case one."""
    before = r"[^\r\n\p{L}\p{N}]?"
    return (
        f"{before}{upper}*{lower}+{contraction}|{before}{upper}+{lower}*{contraction}|{digits}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACES}"
    )


_THREES, _SINGLE = r"\p{N}{1,3}", r"\p{N}"
_LLAMA3 = (_cl100k(_THREES),)
_QWEN2 = (_cl100k(_SINGLE),)
_ANY_CASE = r"[\p{L}\p{M}]"
_BLOOM = r" ?[^(\s|.,!?…。，、।۔،)]+"
_CHAMELEON = (
    "<sentinel:[0-9]+>",
    "IMGIMG[A-I]{1,4}Z",
    r"[\t\n]|    |  ",
    _SINGLE,
    r"[\p{P}!-/:-@\[-`{-~]",
    _GPT2,
)
_DEEPSEEK_LLM = (
    r"[\r\n]",
    rf"\s?{_class(_DEEPSEEK_LETTERS)}+",
    r"\s?[!-/:-~！-／：-～‘-‟、-。]+",  # from U+3001 on: U+3000 is white space
    r"\s+(?![\s\S])",
    _DEEPSEEK_CJK,
    r"\p{N}+",
)
_DEEPSEEK_CODER = (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _DEEPSEEK_CJK, _SINGLE)
_DEEPSEEK_3 = NAMED["deepseek-v3"].patterns
_SPARK = (
    *_DEEPSEEK_3[:2],
    _DEEPSEEK_3[2]
    .replace(r"[\p{P}\p{S}]+[\r\n]*", r"[\p{P}\p{S}]+")
    .replace(r"\s*[\r\n]+|", r"[\r\n]|"),
    _SINGLE,
)
_KIMI = (
    f"[{_HAN}]+|[^\\r\\n\\p{{L}}\\p{{N}}]?[\\p{{L}}--[{_HAN}]]+(?:{_CASELESS})?"
    f"|{_THREES}|{_SIGNS}|{_SPACES}",
)
_YOUTU = (
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
    _cased(_ANY_CASE, _ANY_CASE, _SINGLE, f"(?:{_CASELESS})?"),
)
_HALVED = "|".join(rf"\s{{{count}}}(?!\S)" for count in (512, 256, 128, 64, 32, 16, 8, 4, "1,2"))
_MOE = r"[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+"
_LINES = r"[^\n]+|\n+"

DEFAULT = "default"
"""The value of `pre` that a file without this key means."""

_SPLITS: tuple[tuple[str, Split], ...] = (
    (
        "gpt-2 phi-2 mpt olmo jais gigachat jina-es jina-de jina-v1-en jina-v2-es jina-v2-de "
        "jina-v2-code roberta-bpe a.x-4.0 mellum modern-bert exaone4 trillion granite-docling",
        Split((_GPT2,)),
    ),
    (
        "starcoder refact command-r smollm codeshell exaone minerva-7b mellum2",
        Split((_SINGLE, _GPT2)),
    ),
    (
        "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano",
        Split(_LLAMA3, ignore_merges=True, add_bos=True),
    ),
    ("dbrx smaug-bpe", Split(_LLAMA3)),
    ("chatglm-bpe", Split(_LLAMA3, has_bos=False)),
    ("glm4 glm5", Split(_LLAMA3, ignore_merges=True, has_bos=False)),
    (
        "qwen2 deepseek-r1-qwen stablelm2 megrez kormo f2llmv2 hunyuan solar-open grok-2",
        Split(_QWEN2),
    ),
    (
        "qwen35",
        Split(
            (
                rf"{_CASELESS}|[^\r\n\p{{L}}\p{{N}}]?{_ANY_CASE}+|{_SINGLE}"
                rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}",
            )
        ),
    ),
    (
        "gpt-4o llama4 kanana2 talkie minimax-m2",
        Split((_cased(_UPPER, _LOWER, _THREES, f"(?:{_CASELESS})?"),)),
    ),
    ("tekken", Split((_cased(_UPPER, _LOWER, _SINGLE, ""),), ignore_merges=True, add_bos=True)),
    (
        "granite-embed-multi-97m",
        Split(
            (_cased(_MARKED_UPPER, _MARKED_LOWER, _THREES, f"(?:{_CASELESS})?"),),
            ignore_merges=True,
        ),
    ),
    ("bloom poro-chat gpt3-finnish", Split((_BLOOM,))),
    ("viking", Split((_BLOOM, _SINGLE))),
    ("deepseek-llm", Split(_DEEPSEEK_LLM)),
    ("deepseek-coder", Split(_DEEPSEEK_CODER)),
    ("deepseek-v3 hunyuan-dense joyai-llm hy_v4", Split(_DEEPSEEK_3)),
    ("spark2_5", Split(_SPARK)),
    ("falcon", Split((r"[\p{P}$+<=>^~|`]+", _GPT2, "[0-9][0-9][0-9]"))),
    ("chameleon", Split(_CHAMELEON, add_bos=True)),
    ("kimi-k2", Split(_KIMI)),
    ("youtu", Split(_YOUTU, ignore_merges=True)),
    (
        "jais-2",
        Split(
            (rf"{_CASELESS}|{_WORD}|{_THREES}|{_SIGNS}|\s*[\r\n]+|{_HALVED}|\s",),
        ),
    ),
    (
        "bailingmoe bailingmoe2 llada-moe",
        Split((f"{_CASELESS}|{_WORD}|{_SINGLE}|{_SIGNS}|{_ONE_END}",)),
    ),
    (
        "seed-coder",
        Split((rf"{_CASELESS}|{_WORD}|{_SINGLE}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_SPACES}",)),
    ),
    ("ufakzeka", Split((f"{_WORD}|{_SINGLE}|{_SIGNS}|{_SPACES}",))),
    ("laguna", Split((_LINES, *_QWEN2))),
    (
        "exaone-moe",
        Split(
            (rf"{_CASELESS}|{_MOE}|{_SINGLE}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]?|{_ONE_END}",),
        ),
    ),
    ("minicpm5", Split((_THREES, _cl100k(r"\p{N}+")), ignore_merges=True)),
    (DEFAULT, Split((r"[\p{P}$+<=>^~|]+", _GPT2, r"\p{N}+", "[0-9][0-9][0-9]"))),
)
"""The values of `pre` that mean the same split; the first is written."""

_REFUSED = {
    "whitespace": "its tokens are characters, and text between words is not encoded as such",
    **dict.fromkeys(
        ("tiny_aya", "cohere2moe", "afmoe"),
        "llama.cpp joins the text before a number with its first digits, which depends on the "
        "number of digits",
    ),
    "superbpe": "it splits numbers of ASCII from the right, and other numbers not at all",
}
"""The values of `pre` whose splits are not supported, with the cause."""

_BY_NAME = {name: split for names, split in _SPLITS for name in names.split()}

_OF_ASCII = "llama.cpp finds contractions such as 'S in ASCII only, not 'ſ"
_BOTH_CASES = "llama.cpp splits before marks, and letters outside ASCII have both cases"
_NEAR = {
    "llama3": (_LLAMA3, _OF_ASCII),
    "cl100k": (_LLAMA3, _OF_ASCII),
    "qwen2": (_QWEN2, _OF_ASCII),
    "o200k": (_BY_NAME["gpt-4o"].passes, f"in gpt-4o, {_BOTH_CASES}"),
}
"""Named pretokenizers that differ from what llama.cpp does for the tokenizers that they are of."""

_ANY_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_CASES = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_UPPER_BUT_HAN, _LOWER_BUT_HAN = (f"{one[:-1]}&&[^\\p{{Han}}]]" for one in _CASES)
_NEAR_PASSES = {
    (_cased(*_CASES, _SINGLE, ""),): ("tekken", f"in tekken, {_BOTH_CASES}"),
    (
        rf"{_ANY_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?{_ANY_CASE}+|{_SINGLE}"
        rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_SPACES}",
    ): ("qwen35", _OF_ASCII),
    (
        r"[\p{Han}]+|"
        + _cased(_UPPER_BUT_HAN, _LOWER_BUT_HAN, _THREES, f"{_ANY_CONTRACTION}?").replace(
            "\\n/", "\\n"
        ),
    ): ("kimi-k2", f"in kimi-k2, {_BOTH_CASES}"),
    ("[\r\n]", *_DEEPSEEK_CODER[1:3], "[一-龥\u0800-一가-\ud7ff]+", _SINGLE): (
        "deepseek-coder",
        "llama.cpp leaves white space out of runs of Chinese",
    ),
    (f"{PUNCTUATION}+", "[0-9][0-9][0-9]", _GPT2): (
        "falcon",
        "llama.cpp's punctuation is that of a newer Unicode",
    ),
}
"""The regexes of published tokenizer.json files, and the value of `pre` for these tokenizers."""


def split_of(pre: str, path: str | None) -> Split:
    """The split for a value of `pre`.

    Raises `VocabError` for one that is not known, or that digram cannot reproduce.
    """
    if pre in _BY_NAME:
        return _BY_NAME[pre]
    cause = f" ({_REFUSED[pre]})" if pre in _REFUSED else ""
    raise VocabError(
        f"tokenizer.ggml.pre {show(pre)} is not supported{cause}.",
        path=path,
        value=pre,
        hint=f"Supported: {', '.join(_BY_NAME)}.",
    )


def passes(pretokenizer: Pretokenizer) -> tuple[str, ...] | None:
    """The regexes of a pretokenizer, of which the policy for digits is one.

    None if it is not a list of regexes alone.
    """
    if pretokenizer.normalizer or pretokenizer.rules is not None or pretokenizer.byte_patterns:
        return None
    if pretokenizer.digits is None:
        return pretokenizer.patterns
    first = _DIGITS.get(pretokenizer.digits)
    return None if first is None else (first, *pretokenizer.patterns)


def named(found: tuple[str, ...]) -> Iterator[tuple[str, Split]]:
    """The splits with these regexes, each with its value of `pre`."""
    return ((names.split()[0], split) for names, split in _SPLITS if split.passes == found)


def near(pretokenizer: Pretokenizer) -> tuple[tuple[str, ...], str] | None:
    """The regexes of llama.cpp for a published pretokenizer that they split unlike, and how."""
    if pretokenizer.is_plain and pretokenizer.name in _NEAR:
        return _NEAR[pretokenizer.name]
    found = passes(pretokenizer) or ()
    plain = tuple(one.replace(NUMBER, _SINGLE) for one in found)
    if plain in _NEAR_PASSES:
        pre, difference = _NEAR_PASSES[plain]
        return _BY_NAME[pre].passes, difference
    if plain != found and any(named(plain)):
        return plain, "its digits are those of Unicode 17, and llama.cpp's are older"
    return None
