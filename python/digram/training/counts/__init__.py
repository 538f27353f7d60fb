"""Counts: the distinct pretokens of a corpus and how often each occurs; training needs no more.

value     `Counts`, an immutable value: look up, add, filter, weigh
counting  `count_pretokens`: count a corpus, or named corpora with weights
files     save and load counts, in Arrow's own format or as Parquet
settings  the pretokenizer and unit of counts, as a line of JSON and as a fingerprint
"""

from __future__ import annotations

from digram.training.counts.counting import (
    Corpora,
    CorporaLike,
    Counting,
    corpora,
    count_pretokens,
    have_first,
    made_with,
    named_corpora,
    separator_in_words,
    weights_without_names,
)
from digram.training.counts.settings import fingerprint
from digram.training.counts.value import Counts, check_made, check_unit

__all__ = [
    "Corpora",
    "CorporaLike",
    "Counting",
    "Counts",
    "check_made",
    "check_unit",
    "corpora",
    "count_pretokens",
    "fingerprint",
    "have_first",
    "made_with",
    "named_corpora",
    "separator_in_words",
    "weights_without_names",
]
