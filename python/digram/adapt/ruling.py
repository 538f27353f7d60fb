"""A vocabulary that comes to obey rules."""

from __future__ import annotations

from dataclasses import replace

from digram.adapt.change import Change
from digram.adapt.padding import unpadded
from digram.rules import Rules
from digram.ruling import protecting
from digram.schemes import check_by_rank
from digram.sizes import padded
from digram.tokenizer import Tokenizer

__all__ = ["with_rules"]


def with_rules(tok: Tokenizer, rules: Rules | None) -> tuple[Tokenizer, Change]:
    """The tokenizer that obeys rules; see `Tokenizer.with_rules`."""
    if rules is not None and not isinstance(rules, Rules):
        raise TypeError(f"rules are digram.Rules or None, not {rules!r}")
    check_by_rank(tok._settings.scheme, "with_rules")
    whole, multiple = unpadded(tok)
    definition = whole.definition
    if rules is None:
        ruled = replace(definition, pretokenizer=definition.pretokenizer.with_rules(None))
    else:
        ruled = protecting(definition, rules)
    after = Tokenizer(padded(ruled, multiple))
    return after, Change.of(tok, after)
