"""The tokenizers of transformers 5: `from digram.compat.transformers import AutoTokenizer`.

docs/transformers.md lists what is equal and what differs.

batch_encoding  the results of calls
strategies      padding and truncation
encoding        calls, and `pad`
names           the texts of tokens, as tokenizer.json has them
special         special and added tokens
vocabulary      texts and ids of tokens
chats           chat templates
origin          where `from_pretrained` reads files
tokenizer       the class with all these
auto            loading
"""

from __future__ import annotations

from digram.compat.transformers.auto import AutoTokenizer
from digram.compat.transformers.batch_encoding import BatchEncoding
from digram.compat.transformers.special import AddedToken
from digram.compat.transformers.tokenizer import PreTrainedTokenizerFast

__all__ = ["AddedToken", "AutoTokenizer", "BatchEncoding", "PreTrainedTokenizerFast"]
