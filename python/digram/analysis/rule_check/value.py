"""What a check of rules found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from digram.errors import several

__all__ = ["Kind", "Place", "RuleKind", "RulesCheck"]

Kind = Literal["terms", "abbreviations", "units", "patterns", "numbers", "forbidden"]


@dataclass(frozen=True, slots=True)
class Place:
    """Something that is not as a rule wants it, with where it stands first.

    `became` are the tokens that hold it, `times` how often it became these, `document` the number
    of the text, from 0, and `start` the place in it, in bytes.
    """

    text: str
    became: tuple[bytes, ...]
    times: int
    document: int
    start: int


@dataclass(frozen=True, slots=True)
class RuleKind:
    """The places of one kind of rule: how many, how many `violated` it, and the most frequent of
    these. `several` counts places that obey and are more than one token, which only patterns and
    numbers may be.
    """

    kind: Kind
    places: int
    violated: int
    several: int
    examples: tuple[Place, ...]

    @property
    def share(self) -> float:
        """The share of places where the rule is violated; 0.0 where there are none."""
        return self.violated / self.places if self.places else 0.0


@dataclass(frozen=True, eq=False)
class RulesCheck:
    """What `digram.check_rules` returns: the places of each kind of rule, and what the rules cost.

    `tokens` are those of this tokenizer; `with_rules` and `without_rules` those of the same
    vocabulary with these rules and without any, None where merges are not applied by rank alone
    (`picky`, `superwords="boundless"`), which cannot get rules. `print` shows a table.
    """

    by_kind: dict[Kind, RuleKind]
    documents: int
    bytes: int
    tokens: int
    with_rules: int | None
    without_rules: int | None

    @property
    def violated(self) -> int:
        """At how many places some rule is violated."""
        return sum(one.violated for one in self.by_kind.values())

    @property
    def cost(self) -> float | None:
        """How many tokens more there are with rules, as a share of those without: 0.02 is 2%.

        None where these are.
        """
        if self.with_rules is None or self.without_rules is None:
            return None
        return self.with_rules / self.without_rules - 1 if self.without_rules else 0.0

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as JSON has them; tokens are text."""
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
