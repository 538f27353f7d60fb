"""The call `tok(text)`: templates, truncation, padding, offsets and masks.

template_ids  the template of a tokenizer, with ids instead of names
options       the options of a call, checked
truncation    the tokens that are kept, and the windows over the others
callable      the signature of the call
in_parts      the encoding of texts in parts
call          computes the result of a call
encoding      `Encoding`, the tokens of one text
encodings     `Encodings`, the tokens of several texts, and their arrays
"""
