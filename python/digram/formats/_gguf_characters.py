"""Tokenizers of characters with merges in GGUF: those of Gemma 4 and some others.

As for the kind "llama", spaces are the symbol "▁" in tokens, and a character without a token is
encoded as its bytes. Nothing is put before a text, and line ends are never merged with other text.
"""

from __future__ import annotations

from digram.formats._alone import in_order
from digram.formats._check import Place, check, named_merges
from digram.formats._gguf_fields import Defaults, Fields
from digram.formats._gguf_tokens import NORMAL, UNUSED, merge_parts, padding, special_of, without
from digram.formats._gguf_unknown import SYMBOL, byte_ids_of, in_bytes
from digram.formats._json import unsupported
from digram.formats._show import show
from digram.pretokenizers.normalizers import Replace
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition

__all__ = ["CHARACTERS", "read_characters"]

CHARACTERS = ("gemma4", "granite-embed-multi-311m", "sarvam-moe")
"""The values of `pre` for which tokens are characters."""
_WHOLE_LINES = CHARACTERS[:2]
"""Of these, those for which a run of line ends that is a token is that token, and with a bos."""
_LINES = Regex(r"[^\n]+|\n+")
_NONE = Defaults(None, None)


def read_characters(fields: Fields) -> Definition:
    """The tokenizer of a file of the kind "gemma4", or with a `pre` of `CHARACTERS`.

    Raises `VocabError` for an inconsistent vocabulary, and for tokens of line ends that are not
    found in all text.
    """
    path = fields.path
    pre = "gemma4" if fields.text("model") == "gemma4" else fields.text("pre") or ""
    names = fields.names()
    types = fields.types(len(names))
    ids = {name: token_id for token_id, name in enumerate(names)}
    byte_ids = byte_ids_of(ids, path)
    apart = set(byte_ids)
    texts = fields.texts("merges")
    results = {merge.replace(" ", "", 1) for merge in texts}
    special = special_of(
        names,
        [NORMAL if token_id in apart else kind for token_id, kind in enumerate(types)],
        {token_id for token_id, name in enumerate(names) if name in results},
        lambda key: fields.has(f"{key}_token_id"),
        fields.model_name(),
        pre,
        path,
    )
    ordinary = {
        name: i
        for name, i in ids.items()
        if i not in apart
        and name not in special.ids
        and not (types[i] == UNUSED and name == padding(i))
    }
    for name in ordinary:
        if " " in name:
            raise unsupported(f"the token {show(name)}, which has a space,", path)
        if pre in _WHOLE_LINES and len(name) > 1 and not name.strip("\n"):
            raise unsupported(f"the token {show(name)}, which is not user-defined,", path)
    pairs = [merge_parts(one) for one in dict.fromkeys(without(texts, results, special, path))]
    merges = named_merges(in_order(pairs, ordinary, path), ordinary, Place(path))
    around = fields.input(names, special.ids, _NONE, always_bos=pre in _WHOLE_LINES)
    definition = Definition(
        tokens=in_bytes(ordinary, byte_ids),
        model=BpeModel(merges),
        pretokenizer=Pretokenizer(_LINES, normalizer=[Replace(SYMBOL, " ")]),
        special_tokens=special.ids,
        unit="char",
        on_unknown="bytes",
        byte_ids=byte_ids,
        matching=special.matching,
        space_symbol=SYMBOL,
        **around._asdict(),
    )
    return check(definition, Place(path))
