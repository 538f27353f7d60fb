"""The result of an audit, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from digram._util.validation import mapping
from digram._util.wording import said
from digram.analysis.audit.findings import KINDS, Breach, Finding
from digram.errors import OptionError, several, show

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Audit", "Reading"]

JUNK = "junk"
"""The name, in limits, of all kinds of junk together."""


@dataclass(frozen=True, eq=False)
class Reading:
    """The size of the corpus, and the count of each token in it, by id."""

    documents: int
    bytes: int
    tokens: int
    skipped: int
    times: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of `digram.audit`: a finding for each kind, in `by_kind`; `print` shows a table.

    >>> import digram
    >>> text = "play: play? play! play play: play? play!"
    >>> report = digram.audit(digram.train(text, max_merges=9, pretokenizer="whitespace"))
    >>> finding = report.by_kind["punctuation"]
    >>> finding.count, finding.severity, finding.details
    (4, 'warning', ('[play] [·play] [·play!] [·play?] [play:] [·play:]',))
    >>> [str(breach) for breach in report.check(punctuation=2, partial=0)]
    ['punctuation: 4 of 264 (1.5%), where 2 are allowed']

    Kinds that need a corpus are missing if none was given.
    """

    by_kind: dict[str, Finding]
    tokens: int
    """The ordinary tokens: all but the special ones."""
    special_tokens: int
    corpus: Reading | None

    @property
    def findings(self) -> list[Finding]:
        """The findings with a count above 0, the most serious first."""
        order = ("error", "warning", "note")
        found = [finding for finding in self.by_kind.values() if finding.count]
        return sorted(found, key=lambda finding: order.index(finding.severity))

    def check(self, limits: Mapping[str, float] | None = None, /, **more: float) -> list[Breach]:
        """Check limits, and return those that are exceeded; an empty list if none are.

        >>> import digram
        >>> report = digram.audit(digram.train("low lower", max_merges=4), "low low")
        >>> assert not report.check(unreachable=0, unused=0.05, round_trip=0)
        >>> print(*report.check({"rare": 0}))
        rare: 2 of 260 (0.8%), where none is allowed

        An `int` limits the count, a `float` from 0.0 to 1.0 the share: 1 is one token, 1.0 all of
        them. `junk` limits all kinds of junk together. Raises `OptionError` for a kind that is
        unknown or needs a corpus, and for an invalid limit.
        """
        if limits is not None:
            mapping("limits", limits, "kinds and limits")
        breaches = []
        for kind, limit in {**(limits or {}), **more}.items():
            count, total = self._sum(kind)
            checked = _checked(kind, limit)
            value = count if isinstance(checked, int) else (count / total if total else 0.0)
            if value > checked:
                breaches.append(Breach(kind, checked, count, total))
        return breaches

    def _sum(self, kind: str) -> tuple[int, int]:
        """The count and the total of a kind, or of all kinds of junk."""
        if kind == JUNK:
            findings = [
                finding for name, finding in self.by_kind.items() if name.startswith(f"{JUNK}_")
            ]
            return sum(finding.count for finding in findings), self.tokens
        if kind in self.by_kind:
            return self.by_kind[kind].count, self.by_kind[kind].total
        if kind not in KINDS:
            import difflib

            matches = difflib.get_close_matches(kind, [*KINDS, JUNK], n=3, cutoff=0.4)
            names = " or ".join(matches) if matches else ", ".join(KINDS)
            hint = f"Did you mean {names}?" if matches else f"Choose from {names}."
            raise OptionError(f"{show(kind)} is not a kind of finding.", value=kind, hint=hint)
        raise OptionError(
            f"{show(kind)} needs a corpus, and none was audited.",
            value=kind,
            hint=f"Pass one, as in {said('digram.audit(tok, corpus)', 'digram audit FILES')}.",
        )

    def __str__(self) -> str:
        from digram.analysis.audit.table import table

        return table(self)

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def __repr__(self) -> str:
        worst = [finding.kind for finding in self.findings if finding.severity != "note"]
        return f"<digram.Audit: {several(self.tokens, 'token')}, found={worst}>"

    def to_dict(self) -> dict[str, Any]:
        """All fields but `times` as plain values, ready for JSON."""
        corpus = None
        if self.corpus is not None:
            names = ("documents", "bytes", "tokens", "skipped")
            corpus = {name: getattr(self.corpus, name) for name in names}
        return {
            "tokens": self.tokens,
            "special_tokens": self.special_tokens,
            "corpus": corpus,
            "findings": {kind: finding.to_dict() for kind, finding in self.by_kind.items()},
        }


def _checked(kind: str, limit: float) -> float:
    is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
    if is_number and (limit >= 0 if isinstance(limit, int) else 0 <= limit <= 1):
        return limit
    raise OptionError(
        f"{kind}={show(limit)} is not a limit.",
        value=limit,
        hint="Pass a count of 0 or more, or a share from 0.0 to 1.0.",
    )
