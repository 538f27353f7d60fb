"""The kind "rwkv" in GGUF: tokens of bytes, of which the longest is taken at each place.

Names of tokens have escapes for bytes (`_rwkv_names`). llama.cpp also makes control tokens such as
"<s>" and padding of text that has their names, which RWKV's own tokenizer never does; that is not
repeated.
"""

from __future__ import annotations

from digram.errors import VocabError
from digram.formats._check import Place, check
from digram.formats._gguf_fields import Defaults, Fields
from digram.formats._gguf_tokens import NORMAL, UNUSED, padding, special_of
from digram.formats._rwkv_names import spelled, unspelled
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.definition import Definition
from digram.vocab.greedy import GreedyModel

__all__ = ["read_greedy", "written_greedy"]


def read_greedy(fields: Fields) -> Definition:
    """The tokenizer of a file of the kind "rwkv". Raises `VocabError` for an inconsistent one."""
    path, names = fields.path, fields.names()
    types = fields.types(len(names))
    normal = {token_id for token_id, kind in enumerate(types) if kind == NORMAL}
    special = special_of(
        names,
        types,
        normal,
        lambda key: fields.has(f"{key}_token_id"),
        fields.model_name(),
        "",
        path,
    )
    tokens: list[bytes | None] = [None] * len(names)
    for token_id, name in enumerate(names):
        if name not in special.ids and name != padding(token_id):
            tokens[token_id] = unspelled(name, f"token {token_id}", path)
    while tokens and tokens[-1] is None:
        tokens.pop()
    definition = Definition(
        tokens=tokens,
        model=GreedyModel(),
        pretokenizer=Pretokenizer(None),
        special_tokens=special.ids,
        matching=special.matching,
        **fields.input(names, special.ids, Defaults(bos=None, eos=None))._asdict(),
    )
    return check(definition, Place(path))


def written_greedy(definition: Definition, what: str, size: int) -> tuple[list[str], list[int]]:
    """The names of all ids, and their types before special tokens.

    Raises `VocabError` for a tokenizer that such a file cannot store.
    """
    cut = definition.pretokenizer
    if cut.patterns or cut.digits or cut.normalizer:
        raise VocabError(
            f"{what} of the kind rwkv means that text is neither split nor changed, but this "
            f"tokenizer has {cut!r}.",
            value=cut,
            hint='Save it with format="digram".',
        )
    names, types = [padding(token_id) for token_id in range(size)], [UNUSED] * size
    for token_id, token in enumerate(definition.tokens):
        if token is not None:
            names[token_id], types[token_id] = spelled(token), NORMAL
    return names, types
