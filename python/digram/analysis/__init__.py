"""Functions of a tokenizer and a corpus: metrics, audit, the check of rules, explanations."""
