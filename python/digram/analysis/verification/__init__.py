"""Verification: whether two tokenizers give the same results, and the shortest text if not.

alphabet    the parts of generated texts, by class
generator   random texts from these parts, special tokens and pieces of vocabularies
sides       what is asked of a tokenizer; own: those of digram, peers: those of other libraries
comparing   the answers of two sides, for many texts at once
shrinking   the shortest text that differs
value       the result; table shows it
verifying   `verify`
"""

from __future__ import annotations

from digram.analysis.verification.alphabet import CLASSES
from digram.analysis.verification.generator import TextGenerator
from digram.analysis.verification.value import Counterexample, Outcome, Verification
from digram.analysis.verification.verifying import verify

__all__ = ["CLASSES", "Counterexample", "Outcome", "TextGenerator", "Verification", "verify"]
