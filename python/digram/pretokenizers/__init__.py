"""Pretokenizers split text before merging: named patterns, regexes, digits, rules, normalizers.

pretokenizer  `Pretokenizer`, the named patterns with their sources, digits
normalizers   `NFC`, `Lowercase`, ...: stages that change text before it is split
regex         `Regex`, a custom pattern
rules         `Rules` of a domain, as a value
units         units of measurement, as a table
"""

from __future__ import annotations

from digram.pretokenizers.normalizers import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SentencePiece,
    SpacedWords,
    Strip,
    StripAccents,
)
from digram.pretokenizers.pretokenizer import (
    MISSING,
    NAMED,
    Pretokenizer,
    PretokenizerLike,
    pretokenize,
    resolve,
)
from digram.pretokenizers.regex import Regex
from digram.pretokenizers.rules import Digits, Rules

__all__ = [
    "MISSING",
    "NAMED",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Digits",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Pretokenizer",
    "PretokenizerLike",
    "Regex",
    "Replace",
    "Rules",
    "SentencePiece",
    "SpacedWords",
    "Strip",
    "StripAccents",
    "pretokenize",
    "resolve",
]
