"""What a tokenizer is, as plain values: the definition, special tokens, the template."""
