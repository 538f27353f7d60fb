"""WordPiece in GGUF: the kind "bert", as converted from BERT's files.

A token that begins a word is written with the symbol "▁" before it, any other as it is, and names
in brackets as they are. The ids are those of BERT, with its normalization: lower case without
accents, unless the file says otherwise. llama.cpp has no limit for the length of a word, so there
is none here.

A file is written only if reading it gives the same tokenizer.
"""

from __future__ import annotations

from array import array
from dataclasses import replace

from digram._util.wording import said
from digram.errors import VocabError
from digram.formats._gguf_fields import PREFIX, Fields
from digram.formats._gguf_file import Value
from digram.formats._gguf_tokens import CONTROL, NORMAL, UNKNOWN
from digram.formats._gguf_unknown import SYMBOL
from digram.formats._show import show
from digram.formats._wordpiece import name_of
from digram.formats.vocab_txt import of_bert, of_names
from digram.pretokenizers.normalizers import BertNormalizer
from digram.vocab.definition import Definition
from digram.vocab.special_roles import SpecialRoles
from digram.vocab.special_tokens import SpecialToken
from digram.vocab.wordpiece import PREFIX as INNER

__all__ = ["read_words", "written_words"]

_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_NO_LIMIT = 1 << 30
_ROLES = {
    "unk_token": (("unknown",), 100),
    "sep_token": (("seperator",), 102),  # as the key is spelled
    "pad_token": (("padding",), 0),
    "cls_token": (("bos", "cls"), 101),  # older versions of llama.cpp read the second
    "mask_token": (("mask",), 103),
}
"""The keys for the id of each special token, and the id in a file without them."""


def read_words(fields: Fields) -> Definition:
    """The tokenizer of a file of the kind "bert". Raises `VocabError` for an inconsistent one."""
    names = fields.names()
    special = {}
    for role, (keys, token_id) in _ROLES.items():
        found: int | None = token_id
        for key in reversed(keys):
            found = fields.token_id(key, found, len(names))
        special[role] = "" if found is None else names[found]
    pretokenizer = of_bert(
        fields.flag("normalizer.lowercase", True),
        strip_accents=fields.optional_flag("normalizer.strip_accents"),
    )
    definition = of_names(
        [_as_in_bert(name) for name in names],
        pretokenizer,
        special=special,
        max_word_chars=_NO_LIMIT,
        path=fields.path,
    )
    if len({*definition.special_tokens}) < len({*filter(None, special.values())}):
        raise VocabError(
            f"two of the special tokens {show([*special.values()])} are one.", path=fields.path
        )
    return replace(definition, context_size=fields.context_size())


def written_words(definition: Definition, what: str, allow_loss: bool) -> dict[str, Value]:
    """The metadata of a file.

    Raises `VocabError` unless reading it gives the same tokenizer. If `allow_loss` is true, only
    text without special tokens must have the same ids, in words that are not too long for either.
    """
    metadata = _metadata(definition)
    taken = {*definition.special_tokens.values()}
    for role, (keys, token_id) in _ROLES.items():
        is_ordinary = token_id < len(definition.tokens) and token_id not in taken
        if f"{PREFIX}{keys[0]}_token_id" not in metadata and is_ordinary:
            in_shell = " ".join(f"--special-token '{token}'" for token in _TOKENS)
            tokens = said(f"special_tokens={[*_TOKENS]}", in_shell)
            raise VocabError(
                f"{what} cannot store this WordPiece tokenizer without a {role.replace('_', ' ')}: "
                f"llama.cpp takes token {token_id} for it.",
                value=role,
                hint=f'Save it with format="huggingface", or train with {tokens} and '
                "special_first=True.",
            )
    try:
        found = read_words(Fields(metadata, None))
    except VocabError as error:
        raise VocabError(
            f"{what} cannot store this WordPiece tokenizer; for llama.cpp, {error.message}",
            value=error.value,
            hint='Save it with format="huggingface".',
        ) from None
    ids = ("special_tokens", "tokens", "pretokenizer", "on_unknown", "unit", "byte_ids")
    rest = (
        *("model", "template", "pad_token", "context_size", "matching", "chat_templates"),
        *("strip_first_space", "cleanup"),
    )
    differ = [name for name in ids if getattr(found, name) != getattr(definition, name)]
    if differ:
        hint = 'Save it with format="huggingface".'
    elif not allow_loss:
        hint = 'Save it with format="huggingface", or pass allow_loss=True to leave it out.'
        differ = [name for name in rest if getattr(found, name) != getattr(definition, name)]
        if definition.special_roles not in (SpecialRoles(), found.special_roles):
            differ.append("special_roles")
    if differ:
        value, means = getattr(definition, differ[0]), getattr(found, differ[0])
        shown = "" if differ[0] == "tokens" else f", {show(value)}: llama.cpp means {show(means)}"
        problem = f"the {differ[0].replace('_', ' ')} of a WordPiece tokenizer{shown}"
        limit = getattr(value, "max_word_chars", _NO_LIMIT)
        if limit != _NO_LIMIT:
            problem = f"the limit of {limit} characters for words: llama.cpp has none"
        raise VocabError(f"{what} cannot store {problem}.", value=value, hint=hint)
    return metadata


def _metadata(definition: Definition) -> dict[str, Value]:
    """What a file says if it can store a tokenizer; whatever it cannot is left out."""
    special = definition.special_tokens
    in_bert = name_of(INNER)
    names = [""] * (1 + max((len(definition.tokens) - 1, *special.values())))
    types = array("i", [NORMAL]) * len(names)
    for token_id, token in enumerate(definition.tokens):
        if token is not None:
            name = in_bert(token)
            names[token_id] = name[2:] if name.startswith(INNER) else SYMBOL + name
            if name.startswith("[") and name.endswith("]"):
                names[token_id] = name
    for text, token_id in special.items():
        names[token_id], types[token_id] = text, CONTROL
    keys: dict[str, Value] = {}
    for role, named in _roles(definition).items():
        if named in special:
            keys |= {f"{key}_token_id": special[named] for key in _ROLES[role][0]}
    if isinstance(definition.on_unknown, SpecialToken):
        types[special[definition.on_unknown.text]] = UNKNOWN
    first = next(iter(definition.pretokenizer.normalizer), None)
    if isinstance(first, BertNormalizer):
        keys["normalizer.lowercase"] = first.lowercase
        if first.strip_accents is not None:
            keys["normalizer.strip_accents"] = first.strip_accents
    size = definition.context_size
    return {
        "general.architecture": b"bert",
        **({} if size is None else {"bert.context_length": size}),
        f"{PREFIX}model": b"bert",
        f"{PREFIX}tokens": [name.encode() for name in names],
        f"{PREFIX}token_type": types,
        **{PREFIX + key: value for key, value in keys.items()},
    }


def _roles(definition: Definition) -> dict[str, str | None]:
    """The texts of the special tokens by their roles in BERT."""
    roles, unknown = definition.special_roles, definition.on_unknown
    around = [] if definition.template is None else [name for name, _ in definition.template.single]
    return {
        "unk_token": unknown.text if isinstance(unknown, SpecialToken) else None,
        "sep_token": roles.sep or (around[-1] if around else None),
        "pad_token": definition.pad_token,
        "cls_token": roles.cls or (around[0] if around else None),
        "mask_token": roles.mask or "[MASK]",
    }


def _as_in_bert(name: str) -> str:
    """The name of a token in a vocab.txt.

    >>> [_as_in_bert(name) for name in ("▁low", "er", "[CLS]")]
    ['low', '##er', '[CLS]']
    """
    if name.startswith(SYMBOL):
        return name.removeprefix(SYMBOL)
    return name if name.startswith("[") and name.endswith("]") else INNER + name
