"""Looking for what is wrong with a vocabulary. Each kind of finding is defined in docs/audit.md.

utf8        parts of characters at the ends of tokens
uncut       which strings a pretokenizer can leave whole
neighbours  which tokens can stand side by side
completing  texts that make a part of a character whole
reach       which tokens a text can become, by these four
junk, variants, digits, special   what is looked for in the vocabulary alone
reading     what is counted of a corpus, and what comes back when it is decoded
findings    the kinds, and what was found of one
value       all findings of an audit, and limits
auditing    from a tokenizer to findings
table       these as a person reads them in a terminal
"""

from __future__ import annotations

from digram.analysis.audit.auditing import audit
from digram.analysis.audit.findings import KINDS, Breach, Finding
from digram.analysis.audit.value import Audit

__all__ = ["KINDS", "Audit", "Breach", "Finding", "audit"]
