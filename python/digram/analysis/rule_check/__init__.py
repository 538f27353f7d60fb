"""Whether a tokenizer obeys rules on a corpus, and what the rules cost."""

from digram.analysis.rule_check.checking import check_rules
from digram.analysis.rule_check.value import Kind, Place, RuleKind, RulesCheck

__all__ = ["Kind", "Place", "RuleKind", "RulesCheck", "check_rules"]
