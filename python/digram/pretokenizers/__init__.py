"""Pretokenizers split text before merging: named patterns, regexes, digits, rules, normalizers.

pretokenizer  `Pretokenizer`, the named patterns with their sources, digits
normalizers   `NFC`, `Lowercase`, ...: stages that change text before it is split
regex         `Regex`, a custom pattern
rules         `Rules` of a domain, as a value
shell         a pretokenizer as options of the command line
units         units of measurement, as a table
words         named rules by which text is cut into words
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram._util.on_first_use import on_first_use

if TYPE_CHECKING:
    from digram.pretokenizers.normalizers import (
        NFC,
        NFD,
        NFKC,
        NFKD,
        BertNormalizer,
        Lowercase,
        Nmt,
        Normalizer,
        Precompiled,
        Prepend,
        Replace,
        SentencePiece,
        Strip,
        StripAccents,
        Words,
    )
    from digram.pretokenizers.pretokenizer import (
        MISSING,
        NAMED,
        Digits,
        Pretokenizer,
        PretokenizerLike,
        pretokenize,
        resolve,
    )
    from digram.pretokenizers.regex import Regex
    from digram.pretokenizers.rules import Rules
    from digram.pretokenizers.words import BERT_WORDS, SPACED_WORDS

__all__ = [
    "BERT_WORDS",
    "MISSING",
    "NAMED",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "SPACED_WORDS",
    "BertNormalizer",
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
    "Strip",
    "StripAccents",
    "Words",
    "pretokenize",
    "resolve",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "normalizers": __all__,
            "pretokenizer": [
                "Digits",
                "MISSING",
                "NAMED",
                "Pretokenizer",
                "PretokenizerLike",
                "pretokenize",
                "resolve",
            ],
            "regex": ["Regex"],
            "rules": ["Rules"],
            "words": ["BERT_WORDS", "SPACED_WORDS"],
        },
    )
