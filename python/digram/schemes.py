"""How merges are applied, where it is not simply the lowest rank first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from digram import _core
from digram.errors import OptionError, several
from digram.pretokenizers import Pretokenizer, Regex

__all__ = ["SCHEMES", "Scheme", "Superwords", "check_by_rank"]


@dataclass(frozen=True, slots=True)
class Superwords:
    """Pretokens are cut into words; words are merged first, then those of one token join.

    `words` cuts a pretoken into words, and `ranks` are those of the merges that join words, in
    rising order; see `digram.Boundless`.
    """

    words: Pretokenizer
    ranks: tuple[int, ...]

    kind: ClassVar[str] = "superwords"

    def core(self) -> _core.Scheme:
        """The same for the core."""
        return _core.Scheme.superwords(self.words.splitter(), list(self.ranks))

    def __str__(self) -> str:
        cut = self.words.name or " then ".join(self.words.patterns) or "none"
        return f"{several(len(self.ranks), 'merge')} join words, which are cut by {cut}"

    def said(self) -> dict[str, Any]:
        """The same as JSON, for files and digests."""
        words = {"patterns": list(self.words.patterns), "digits": self.words.digits}
        return {"kind": self.kind, "words": words, "ranks": list(self.ranks)}

    @classmethod
    def read(cls, said: dict[str, Any]) -> Superwords:
        """What `said` wrote; KeyError, TypeError and ValueError for anything else."""
        patterns, digits = said["words"]["patterns"], said["words"]["digits"]
        if not all(isinstance(pattern, str) for pattern in patterns):
            raise TypeError("patterns are texts")
        if not all(type(rank) is int for rank in said["ranks"]):
            raise TypeError("ranks are whole numbers")
        words = Pretokenizer([Regex(pattern) for pattern in patterns] or None, digits=digits)
        return cls(words, tuple(said["ranks"]))


Scheme = Superwords

SCHEMES = {scheme.kind: scheme for scheme in (Superwords,)}
"""By the name that files have for them."""


def check_by_rank(scheme: Scheme | None, what: str) -> None:
    """Raises `OptionError` unless merges are applied by rank alone, which `what` rests on."""
    if scheme is not None:
        raise OptionError(
            f"{what} rests on merges that are applied by rank alone, and this tokenizer applies "
            f"them otherwise ({scheme.kind}).",
            value=scheme.kind,
            hint="Do it with a tokenizer without that, or train anew.",
        )
