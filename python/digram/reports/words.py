"""The descriptions of measures and figures in a report, in words that can be cited."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from digram.analysis.metrics.table import share as nearly

if TYPE_CHECKING:
    from digram.analysis.metrics import Measures

__all__ = [
    "FIGURES",
    "LIMITS",
    "LONG",
    "MEASURES",
    "PARALLEL",
    "RARE",
    "SOURCES",
    "TOLD",
    "Measure",
    "share",
]


def share(value: float) -> str:
    """A share as a percentage; 0% means none, and 100% all.

    >>> share(0.0), share(0.0001), share(0.5), share(0.9999)
    ('0%', '<0.1%', '50.0%', '99.9%')
    """
    if value == 0:
        return "0%"
    return "<0.1%" if value < 0.0005 else nearly(value)


class Measure(NamedTuple):
    """A column of the table of measures."""

    name: str
    shown: Callable[[Measures], str]
    definition: str


MEASURES = (
    Measure(
        "bytes per token",
        lambda of: f"{of.bytes_per_token:.3f}",
        "Bytes of the text in UTF-8, divided by its tokens: the compression. Higher is cheaper. Do "
        "not compare it across scripts, whose characters differ in bytes.",
    ),
    Measure(
        "characters per token",
        lambda of: f"{of.characters_per_token:.3f}",
        "Code points of the text, divided by its tokens.",
    ),
    Measure(
        "fertility",
        lambda of: f"{of.fertility:.3f}",
        "Tokens that contain more than white space, divided by words, which white space separates "
        "(Rust et al. 2021). The minimum is 1 if words are not joined.",
    ),
    Measure(
        "whole words",
        lambda of: share(of.whole_words),
        "The share of words that are one token, with or without the space before them.",
    ),
    Measure(
        "coverage",
        lambda of: share(of.coverage),
        "The share of characters that are not split between tokens. The others are split into "
        "bytes, or became the unknown token.",
    ),
    Measure(
        "entropy",
        lambda of: f"{of.entropy:.3f}",
        "Shannon's entropy of a token, −Σ p log₂ p, in bits, where p is the share of each token in "
        "all tokens of the text.",
    ),
    Measure(
        "Rényi efficiency",
        lambda of: f"{of.renyi_efficiency:.3f}",
        "Rényi's entropy of order 2.5, divided by log₂ of the size of the vocabulary (Zouhar et "
        "al. 2023). 1 if all tokens are equally frequent.",
    ),
    Measure(
        "vocabulary used",
        lambda of: share(of.vocabulary_used),
        "The share of the vocabulary, without special tokens, that occurs in the text. It grows "
        "with the length of the text.",
    ),
)

PARALLEL = {
    "tokens per line": "Tokens, divided by lines. The lines have the same content in each "
    "language, so this compares the costs of languages without a notion of a word.",
    "premium": "Tokens per line as a multiple of the reference's (Petrov et al. 2023).",
    "Gini coefficient": "The inequality of the tokens per line: 0 if all are equal, always below 1 "
    "(Gini 1912; for tokens Foroutan et al. 2025).",
}

FIGURES = {
    "curve": "Bytes per token of the smaller vocabularies inside this one, each made of its "
    "first merges. The dashed line is this vocabulary. The axis of sizes is logarithmic.",
    "premium": "Dots are tokens per line as a multiple of the reference's, which is at 1×, on "
    "a logarithmic axis. Dots further right cost more.",
    "ranks": "The share of each token in all tokens of a text, from the most to the least "
    "frequent, both on logarithmic axes. Tokens after a steep drop are hardly used.",
    "lengths": "Shares of the tokens of the vocabulary and of those of the text, by length in "
    "bytes. Text contains shorter tokens than the vocabulary, since these are more "
    "frequent.",
    "kinds": "Shares of the tokens of the vocabulary and of those of the text, by kind: "
    "words by script, numbers, identifiers, punctuation, white space; other bytes are tokens that "
    "are not valid UTF-8. The axis is logarithmic.",
}

RARE, LONG = 10, 32
LIMITS = {"rare": f"fewer than {RARE} times", "long": f"more than {LONG} characters"}
"""The limits of the audit."""

TOLD = frozenset(
    ["duplicates", "punctuation", "case", "digits", "number_splits", "special_overlap",
     "special_in_text"]
)  # fmt: skip
"""Findings whose details contain more than the tokens alone."""

SOURCES = (
    "Foroutan et al. 2025, “Parity-Aware Byte-Pair Encoding”.",
    "Gini 1912, “Variabilità e mutabilità”.",
    "Petrov, La Malfa, Torr, Bibi 2023, “Language Model Tokenizers Introduce Unfairness Between "
    "Languages”, NeurIPS.",
    "Rust, Pfeiffer, Vulić, Ruder, Gurevych 2021, “How Good is Your Tokenizer?”, ACL.",
    "Zouhar, Meister, Gastaldi, Du, Sachan, Cotterell 2023, “Tokenization and the Noiseless "
    "Channel”, ACL.",
)
