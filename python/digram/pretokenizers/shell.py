"""A pretokenizer as options of the command line."""

from __future__ import annotations

import json
import shlex

from digram._util.wording import said
from digram.pretokenizers.normalizers import described
from digram.pretokenizers.pretokenizer import Pretokenizer

__all__ = ["STAGES", "options_of", "said_of"]

STAGES = ("nfc", "nfd", "nfkc", "nfkd", "lowercase", "strip_accents", "nmt", "strip", "bert")
"""The stages of a normalizer that need no values, as the option names them."""


def options_of(pretokenizer: Pretokenizer) -> str:
    r"""The options that make this pretokenizer, except for rules and byte patterns.

    >>> from digram.pretokenizers import NFC, Strip
    >>> options_of(Pretokenizer("gpt2", normalizer=[NFC(), Strip(right=False)]))
    '--pretokenizer gpt2 --normalizer nfc --normalizer \'["strip", true, false]\''
    """
    if pretokenizer.name is None and pretokenizer.patterns:
        words = [word for pattern in pretokenizer.patterns for word in ("--regex", pattern)]
    else:
        words = ["--pretokenizer", pretokenizer.name or "none"]
    if pretokenizer.digits is not None:
        words += ["--digits", pretokenizer.digits]
    for name, *values in described(pretokenizer.normalizer):
        as_json = json.dumps([name, *values], ensure_ascii=False)
        words += ["--normalizer", str(name) if name in STAGES and not values else as_json]
    return shlex.join(words)


def said_of(pretokenizer: Pretokenizer, python: str) -> str:
    """A pretokenizer in a message: this code, or in a shell the options, where there are any."""
    if pretokenizer.rules is not None or pretokenizer.byte_patterns:
        return python
    return said(python, options_of(pretokenizer))
