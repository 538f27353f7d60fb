"""The kinds of findings, and one finding: which tokens, how many of how many, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from digram.analysis.audit.junk import JUNK

__all__ = ["KINDS", "Breach", "Finding", "Kind", "Severity"]

Severity = Literal["error", "warning", "note"]


class Kind(NamedTuple):
    """A kind of finding. docs/audit.md defines each."""

    severity: Severity
    explanation: str
    needs_corpus: bool = False
    of: str = "tokens"
    """The base of the share: tokens, special tokens, ids, texts or lengths."""
    remedy: str = ""
    """The remedy of an error or a warning; notes need none."""


_JUNK = {
    "controls": "contain control or format characters",
    "private": "contain private use or noncharacters",
    "mojibake": "text decoded in the wrong charset",
    "markup": "tags and entities of HTML or XML",
    "urls": "parts of addresses",
    "rules": "lines of symbols, as in tables",
    "repeats": "repeat a few characters",
    "encoded": "look like hexadecimal or base64",
    "names": "user names, numbered identifiers",
}

_CLEAN = "Remove such text from the training corpus, and train again."
_GROUPS = "Train with a rule for digits: one by one, or in threes from the right."
_NAME = "Choose a name that no text contains, such as <|end|>."

KINDS: dict[str, Kind] = {
    "unreachable": Kind(
        "error",
        "no input is encoded to them",
        remedy="Leave these tokens out: a model would never train its rows for them.",
    ),
    "bytes_only": Kind("note", "only invalid UTF-8 is encoded to them"),
    "undecided": Kind("note", "neither a text nor a proof was found"),
    "unused": Kind(
        "warning",
        "do not occur in the corpus",
        needs_corpus=True,
        remedy="Prune these tokens, or train on text that is more like this corpus.",
    ),
    "rare": Kind("note", "occur rarely in the corpus", needs_corpus=True),
    "partial": Kind("note", "begin or end inside a character"),
    "duplicates": Kind(
        "warning",
        "equal another token in normal form",
        remedy="Normalize your texts to NFKC before training, if their forms mean the same.",
    ),
    "punctuation": Kind(
        "warning",
        "another token with punctuation",
        remedy="Train with a pretokenizer that separates words from punctuation, such as gpt2.",
    ),
    "case": Kind("note", "another token in different case"),
    **{f"junk_{kind}": Kind("warning", _JUNK[kind], remedy=_CLEAN) for kind in JUNK},
    "digits": Kind("warning", "only some numbers of their length", remedy=_GROUPS),
    "number_splits": Kind(
        "warning", "lengths of numbers split unevenly", of="lengths", remedy=_GROUPS
    ),
    "long": Kind("note", "longer than the limit"),
    "special_ordinary": Kind(
        "warning", "read like ordinary text", of="special tokens", remedy=_NAME
    ),
    "special_overlap": Kind(
        "warning",
        "part of another special token",
        of="special tokens",
        remedy="Choose names that do not contain each other.",
    ),
    "special_spaced": Kind(
        "warning",
        "contain white space",
        of="special tokens",
        remedy="Choose names without white space.",
    ),
    "special_markup": Kind(
        "warning", "look like markup in ordinary text", of="special tokens", remedy=_NAME
    ),
    "special_in_text": Kind(
        "error",
        "occur in the corpus as text",
        needs_corpus=True,
        of="special tokens",
        remedy="Never parse special tokens in such text, or choose names that it does not contain.",
    ),
    "gaps": Kind("note", "ids without a token", of="ids"),
    "ids_beyond": Kind(
        "warning",
        "ids not below the number of tokens",
        of="ids",
        remedy="Give the model a row for each id up to the highest, not one for each token.",
    ),
    "round_trip": Kind(
        "error",
        "texts changed by a round trip",
        of="texts",
        remedy="Do not use this tokenizer if texts must survive a round trip; use one over bytes.",
    ),
}
"""All kinds, in the order in which they are reported."""


@dataclass(frozen=True)
class Finding:
    """The result for one kind; if nothing was found, `count` is 0.

    >>> finding = Finding("partial", (300, 301), 2, 400, ("[⟨E4⟩⟨B8⟩]",))
    >>> finding.share, finding.severity, finding.explanation
    (0.005, 'note', 'begin or end inside a character')
    """

    kind: str
    ids: tuple[int, ...]
    """The tokens of the finding, in the order of their ids; empty for findings about texts."""
    count: int
    """How many were found."""
    total: int
    """Out of how many."""
    details: tuple[str, ...] = ()
    """Examples to look at first, each safe to print."""

    @property
    def share(self) -> float:
        """`count` / `total`; 0 if `total` is 0."""
        return self.count / self.total if self.total else 0.0

    @property
    def severity(self) -> Severity:
        """How serious the kind is: "error", "warning" or "note"."""
        return KINDS[self.kind].severity

    @property
    def explanation(self) -> str:
        """What the kind means, as a predicate of the tokens."""
        return KINDS[self.kind].explanation

    @property
    def remedy(self) -> str:
        """How to fix an error or a warning; empty for a note."""
        return KINDS[self.kind].remedy

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        names = ("severity", "count", "total", "share", "explanation", "remedy", "ids", "details")
        values = {name: getattr(self, name) for name in names}
        return {**values, "ids": list(self.ids), "details": list(self.details)}


@dataclass(frozen=True)
class Breach:
    """A limit that is exceeded; `str` describes it in one line.

    >>> print(Breach("unused", 0.05, 120, 1000))
    unused: 120 of 1,000 (12.0%), where 5% are allowed
    """

    kind: str
    limit: float
    count: int
    total: int

    def __str__(self) -> str:
        share = self.count / self.total if self.total else 0.0
        places = 1
        if isinstance(self.limit, int):
            allowed = f"{self.limit:,} {'is' if self.limit == 1 else 'are'}"
        else:
            allowed = f"{100 * self.limit:.6g}% are"
            # Enough decimals to show that the share is above the limit.
            while places < 6 and round(share, places + 2) <= self.limit:
                places += 1
        result = f"{self.count:,} of {self.total:,} ({share:.{places}%})"
        return f"{self.kind}: {result}, where {'none is' if not self.limit else allowed} allowed"

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        return {name: getattr(self, name) for name in ("kind", "limit", "count", "total")}
