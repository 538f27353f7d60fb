"""Audits: finding defects of a vocabulary. docs/audit.md defines each kind of finding.

utf8        incomplete characters at the ends of tokens
uncut       the strings that a pretokenizer can leave whole
neighbours  the tokens that can be adjacent
completing  texts that complete the incomplete characters of a token
reach       the tokens that text can become, from these four
junk, variants, digits, special   findings from the vocabulary alone
reading     the counts of a corpus, and the round trip of its texts
findings    the kinds of findings, and one finding
value       all findings of an audit, and their limits
auditing    from a tokenizer to its findings
table       the findings as a table for a terminal
"""

from __future__ import annotations

from digram.analysis.audit.auditing import audit
from digram.analysis.audit.findings import KINDS, Breach, Finding
from digram.analysis.audit.value import Audit

__all__ = ["KINDS", "Audit", "Breach", "Finding", "audit"]
