"""How text is split before merging: named patterns, regexes, digits, the rules of a domain.

pretokenizer  `Pretokenizer`, the named patterns with their sources, digits
regex         `Regex`, a pattern of one's own
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
