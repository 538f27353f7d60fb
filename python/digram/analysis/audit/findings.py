"""What an audit finds, one finding a kind: which tokens, how many of how many, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from digram.analysis.audit.junk import JUNK

__all__ = ["KINDS", "Breach", "Finding", "Kind", "Severity"]

Severity = Literal["error", "warning", "note"]


class Kind(NamedTuple):
    """A kind of finding. Its definition is in docs/audit.md."""

    severity: Severity
    explanation: str
    needs_corpus: bool = False
    of: str = "tokens"
    """What the share is of: tokens, special tokens, ids, texts, lengths."""
    remedy: str = ""
    """What to do about an error or a warning; of a note there is nothing to be done."""


_JUNK = {
    "controls": "hold control or format characters",
    "private": "hold private use or noncharacters",
    "mojibake": "text decoded in the wrong charset",
    "markup": "tags and entities of HTML or XML",
    "urls": "parts of addresses",
    "rules": "lines of signs, as in tables",
    "repeats": "a few characters again and again",
    "encoded": "look like hexadecimal or base64",
    "names": "user names, numbered identifiers",
}

_CLEAN = "Clean the training text of such, and train again."
_GROUPS = "Train with a rule for digits: one by one, or in threes from the right."
_NAME = "Choose a name that no text holds, as <|end|>."

KINDS: dict[str, Kind] = {
    "unreachable": Kind(
        "error",
        "nothing ever becomes them",
        remedy="Leave these tokens out: a model would never train its rows for them.",
    ),
    "bytes_only": Kind("note", "bytes become them, but no text"),
    "undecided": Kind("note", "neither a text was found nor a proof"),
    "unused": Kind(
        "warning",
        "do not occur in the corpus",
        needs_corpus=True,
        remedy="Prune these tokens, or train on text that is more like this corpus.",
    ),
    "rare": Kind("note", "occur in the corpus, but seldom", needs_corpus=True),
    "partial": Kind("note", "begin or end inside a character"),
    "duplicates": Kind(
        "warning",
        "equal another one in normal form",
        remedy="Normalize your texts to NFKC before training, if their forms mean the same.",
    ),
    "punctuation": Kind(
        "warning",
        "a word that is a token, punctuated",
        remedy="Train with a pretokenizer that keeps words and signs apart, as gpt2.",
    ),
    "case": Kind("note", "a word that is a token, but for case"),
    **{f"junk_{kind}": Kind("warning", _JUNK[kind], remedy=_CLEAN) for kind in JUNK},
    "digits": Kind("warning", "numbers, but not all of their size", remedy=_GROUPS),
    "number_splits": Kind(
        "warning", "lengths of numbers split unevenly", of="lengths", remedy=_GROUPS
    ),
    "long": Kind("note", "longer than what was asked for"),
    "special_ordinary": Kind(
        "warning", "read like ordinary text", of="special tokens", remedy=_NAME
    ),
    "special_overlap": Kind(
        "warning",
        "part of another special token",
        of="special tokens",
        remedy="Choose names of which none holds another.",
    ),
    "special_spaced": Kind(
        "warning",
        "hold white space",
        of="special tokens",
        remedy="Choose names without white space.",
    ),
    "special_markup": Kind(
        "warning", "look like markup that text may hold", of="special tokens", remedy=_NAME
    ),
    "special_in_text": Kind(
        "error",
        "occur in the corpus as text",
        needs_corpus=True,
        of="special tokens",
        remedy="Never parse special tokens in such text, or choose names that it does not hold.",
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
        "texts that ids do not give back",
        of="texts",
        remedy="Do not use this tokenizer where text has to come back; one over bytes gives it.",
    ),
}
"""All kinds, in the order in which they are reported."""


@dataclass(frozen=True)
class Finding:
    """What was found of one kind; none of it too, with a `count` of 0.

    >>> found = Finding("partial", (300, 301), 2, 400, ("[⟨E4⟩⟨B8⟩]",))
    >>> found.share, found.severity, found.explanation
    (0.005, 'note', 'begin or end inside a character')
    """

    kind: str
    ids: tuple[int, ...]
    """The tokens that it is about, in the order of their ids; empty where it is about texts."""
    count: int
    """How many there are: of ids, or of what the finding is about."""
    total: int
    """Of how many."""
    details: tuple[str, ...] = ()
    """What a person would look at first, each harmless to print."""

    @property
    def share(self) -> float:
        """`count` / `total`; of nothing 0."""
        return self.count / self.total if self.total else 0.0

    @property
    def severity(self) -> Severity:
        """How bad it is as a rule: "error", "warning" or "note"."""
        return KINDS[self.kind].severity

    @property
    def explanation(self) -> str:
        """What is said of the tokens."""
        return KINDS[self.kind].explanation

    @property
    def remedy(self) -> str:
        """What to do about an error or a warning; empty for a note."""
        return KINDS[self.kind].remedy

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as JSON has them."""
        names = ("severity", "count", "total", "share", "explanation", "remedy", "ids", "details")
        values = {name: getattr(self, name) for name in names}
        return {**values, "ids": list(self.ids), "details": list(self.details)}


@dataclass(frozen=True)
class Breach:
    """A threshold that does not hold; `str` says so in a line.

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
            # So many places that the share is seen to be above the limit.
            while places < 6 and round(share, places + 2) <= self.limit:
                places += 1
        found = f"{self.count:,} of {self.total:,} ({share:.{places}%})"
        return f"{self.kind}: {found}, where {'none is' if not self.limit else allowed} allowed"

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as JSON has them."""
        return {name: getattr(self, name) for name in ("kind", "limit", "count", "total")}
