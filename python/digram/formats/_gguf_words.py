"""WordPiece in GGUF: the kind "bert", as converted from BERT's files.

A token that begins a word is written with the symbol "▁" before it, any other as it is, and names
in brackets as they are. The ids are those of BERT, with its normalization: lower case without
accents, unless the file says otherwise. llama.cpp has no limit for the length of a word, so there
is none here.
"""

from __future__ import annotations

from digram.errors import VocabError
from digram.formats._gguf_fields import Fields
from digram.formats._gguf_unknown import SYMBOL
from digram.formats._show import show
from digram.formats.vocab_txt import of_bert, of_names
from digram.vocab.definition import Definition
from digram.vocab.wordpiece import PREFIX

__all__ = ["read_words"]

_NO_LIMIT = 1 << 30
_ROLES = {
    "unk_token": ("unknown", 100),
    "sep_token": ("seperator", 102),  # as the key is spelled
    "pad_token": ("padding", 0),
    "cls_token": ("cls", 101),
    "mask_token": ("mask", 103),
}
"""The key for the id of each special token, and the id in a file without it."""


def read_words(fields: Fields) -> Definition:
    """The tokenizer of a file of the kind "bert". Raises `VocabError` for an inconsistent one."""
    names = fields.names()
    special = {}
    for role, (key, default) in _ROLES.items():
        token_id = fields.token_id(key, default, len(names))
        special[role] = "" if token_id is None else names[token_id]
    pretokenizer = of_bert(
        fields.flag("normalizer.lowercase", True),
        strip_accents=fields.optional_flag("normalizer.strip_accents"),
    )
    found = of_names(
        [_as_in_bert(name) for name in names],
        pretokenizer,
        special=special,
        max_word_chars=_NO_LIMIT,
        path=fields.path,
    )
    if len({*found.special_tokens}) < len({*filter(None, special.values())}):
        raise VocabError(
            f"two of the special tokens {show([*special.values()])} are one.", path=fields.path
        )
    return found


def _as_in_bert(name: str) -> str:
    """The name of a token in a vocab.txt.

    >>> [_as_in_bert(name) for name in ("▁low", "er", "[CLS]")]
    ['low', '##er', '[CLS]']
    """
    if name.startswith(SYMBOL):
        return name.removeprefix(SYMBOL)
    return name if name.startswith("[") and name.endswith("]") else PREFIX + name
