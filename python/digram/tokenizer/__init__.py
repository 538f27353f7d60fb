"""`Tokenizer` and its parts: encode, call, decode, count, truncate, load."""
