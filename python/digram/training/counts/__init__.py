"""Counts: which pretokens a corpus holds and how often, which is all that training needs.

value     `Counts`, an immutable value: looked up, added, taken apart, weighted
counting  `count_pretokens`, from texts and named corpora to counts
files     counts as a file and back: Arrow's own format, and Parquet
settings  what counts were made with, as a line of JSON and as a fingerprint
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
    refuse_separator,
    separator_in,
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
    "refuse_separator",
    "separator_in",
    "weights_without_names",
]
