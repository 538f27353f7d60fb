"""Pretokenizers split text before merging: named patterns, regexes, digits, rules.

pretokenizer  `Pretokenizer`, the named patterns with their sources, digits
regex         `Regex`, a custom pattern
rules         `Rules` of a domain, as a value
units         units of measurement, as a table
"""

from __future__ import annotations

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
    "Digits",
    "Pretokenizer",
    "PretokenizerLike",
    "Regex",
    "Rules",
    "pretokenize",
    "resolve",
]
