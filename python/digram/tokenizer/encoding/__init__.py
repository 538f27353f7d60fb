"""The call `tok(text)`: templates, truncation, padding, offsets and masks.

layout    the template of a tokenizer, with ids in place of names
options   the options of a call, checked
windows   truncation: which tokens stay, and the windows over the others
callable  the signature of the call
call      from the arguments of a call to its result
value     `Encoding`, the tokens of one text
batch     `Encodings`, those of several, and their arrays
"""

from __future__ import annotations

from digram.tokenizer.encoding.callable import CallableCore
from digram.tokenizer.encoding.encoding import Encoding
from digram.tokenizer.encoding.encodings import Encodings
from digram.tokenizer.encoding.template_ids import Layout

__all__ = ["CallableCore", "Encoding", "Encodings", "Layout"]
