"""The result of a check of rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from digram.errors import several

__all__ = ["Kind", "Place", "RuleKind", "RulesCheck"]

Kind = Literal["terms", "abbreviations", "units", "patterns", "numbers", "forbidden"]


@dataclass(frozen=True, slots=True)
class Place:
    """A text that violates a rule, with its first occurrence.

    `became` are the tokens that cover it, `times` how often it became these, `document` the number
    of the text, from 0, and `start` the offset in it, in bytes.
    """

    text: str
    became: tuple[bytes, ...]
    times: int
    document: int
    start: int


@dataclass(frozen=True, slots=True)
class RuleKind:
    """The places of one kind of rule: how many, how many `violated` it, and the most frequent of
    these.

    `several` counts places that obey the rule and take more than one token, which only patterns and
    numbers may.
    """

    kind: Kind
    places: int
    violated: int
    several: int
    examples: tuple[Place, ...]

    @property
    def share(self) -> float:
        """The share of places that violate the rule; 0.0 if there are no places."""
        return self.violated / self.places if self.places else 0.0


@dataclass(frozen=True, eq=False)
class RulesCheck:
    """The result of `digram.check_rules`: the places of each kind of rule, and the cost of the
    rules.

    `tokens` is the count of this tokenizer's tokens; `with_rules` and `without_rules` are the
    counts for the same vocabulary with these rules and without any, or None if merges are not
    applied by rank alone (`picky`, `superwords="boundless"`), since such tokenizers cannot have
    rules. `print` shows a table.
    """

    by_kind: dict[Kind, RuleKind]
    documents: int
    bytes: int
    tokens: int
    with_rules: int | None
    without_rules: int | None

    @property
    def violated(self) -> int:
        """The number of places that violate a rule."""
        return sum(one.violated for one in self.by_kind.values())

    @property
    def cost(self) -> float | None:
        """How many more tokens the rules cost, as a share of those without rules: 0.02 is 2%.

        None if the counts are None.
        """
        if self.with_rules is None or self.without_rules is None:
            return None
        return self.with_rules / self.without_rules - 1 if self.without_rules else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON; tokens are text."""
        kinds = {}
        for kind, found in self.by_kind.items():
            fields = asdict(found)
            fields["examples"] = [*fields["examples"]]
            for place in fields["examples"]:
                place["became"] = [one.decode(errors="replace") for one in place["became"]]
            kinds[kind] = {**fields, "share": found.share}
        names = ("documents", "bytes", "tokens", "with_rules", "without_rules", "violated", "cost")
        return {**{name: getattr(self, name) for name in names}, "by_kind": kinds}

    def __str__(self) -> str:
        from digram.analysis.rule_check.table import table

        return table(self)

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def __repr__(self) -> str:
        places = sum(one.places for one in self.by_kind.values())
        return f"<digram.RulesCheck: {several(places, 'place')}, {self.violated:,} violated>"
