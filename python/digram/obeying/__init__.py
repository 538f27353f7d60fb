"""Whether a tokenizer obeys rules on a corpus, and what they cost."""

from digram.obeying.checking import check_rules
from digram.obeying.value import Kind, Place, RuleKind, RulesCheck

__all__ = ["Kind", "Place", "RuleKind", "RulesCheck", "check_rules"]
