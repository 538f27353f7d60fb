"""GGUF, the file of llama.cpp: the tokenizer in its metadata. The weights are never read.

`read` reads the kinds of tokenizers in `_KINDS`, and gives the ids that llama.cpp gives; any other
is an error that names it. `write` writes a file with the vocabulary alone.

llama.cpp's ids can differ from those of the tokenizer.json that a model was published with:
`_gguf_splits` says how it splits, and it applies no normal form. Two of its habits are not
repeated: it looks for special tokens longest first in the whole text, where digram takes the
leftmost, which matters only for tokens that overlap in it; and for the kind "llama" it would merge
characters to a control token such as `<s>` if the vocabulary had all steps to it, which
SentencePiece never does.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, cast

from digram._util.storage import LARGEST, atomic_write, open_file
from digram._util.validation import path_name
from digram.errors import VocabError
from digram.formats._gguf_bytes import pre_of, read_bytes, written_bytes
from digram.formats._gguf_characters import CHARACTERS, read_characters
from digram.formats._gguf_fields import CHAT, PREFIX, ROLE_KEYS, Fields, fields_of
from digram.formats._gguf_file import Value, write_metadata
from digram.formats._gguf_greedy import read_greedy, written_greedy
from digram.formats._gguf_scores import read_scores, written_scores
from digram.formats._gguf_splits import split_of
from digram.formats._gguf_tokens import (
    CONTROL,
    ENDS,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    special_of,
)
from digram.formats._gguf_unigram import read_unigram, written_unigram
from digram.formats._gguf_words import read_words, written_words
from digram.formats._loss import (
    ranked,
    refuse_decoding,
    refuse_ignore_merges,
    refuse_options,
    refuse_reserved,
    refuse_rules,
)
from digram.formats._merged import in_stages
from digram.formats._show import show
from digram.pretokenizers.normalizers import NFC, NFD, NFKC, NFKD
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex
from digram.vocab.bpe import bpe
from digram.vocab.definition import Definition
from digram.vocab.greedy import GreedyModel
from digram.vocab.packed import Compact
from digram.vocab.scores import ScoredModel, UnigramModel
from digram.vocab.special_tokens import SpecialToken
from digram.vocab.wordpiece import WordPieceModel

if TYPE_CHECKING:
    from digram.vocab.special_tokens import Matching

__all__ = ["dumps", "load", "loads", "pretokenizer", "read", "write"]

_WHAT = "a .gguf file"
_OTHER = 'Save it with format="huggingface".'


def _read_merges(fields: Fields) -> Definition | Compact:
    """The tokenizer of a file with merges, of bytes or of characters."""
    return (read_characters if fields.text("pre") in CHARACTERS else read_bytes)(fields)


_KINDS: dict[str, Callable[[Fields], Definition | Compact]] = {
    "gpt2": _read_merges,
    "llama": read_scores,
    "gemma4": read_characters,
    "bert": read_words,
    "t5": read_unigram,
    "rwkv": read_greedy,
}
"""The reader for each value of `tokenizer.ggml.model`."""

_REFUSED = {
    "plamo2": "the tokenizer of PLaMo 2, which adds rounded costs from the end of a text",
    "hybriddna": "a tokenizer for DNA",
    "whitespace": "a tokenizer that splits at white space and puts it into tokens as it is",
    "none": "no tokenizer",
    "no_vocab": "no tokenizer",
}
"""Kinds that are not supported: what each is."""


def read(path: str | PathLike[str]) -> Definition:
    """Read the definition in a GGUF file; see `loads`. Also raises OSError."""
    return _plain(load(path_name(path)))


def load(path: str, *_: object) -> Definition | Compact:
    """Load the tokenizer of a file, of which only the metadata is read."""
    with open_file(path) as file:
        return _of(fields_of(file, path))


def loads(data: bytes, path: str | None = None) -> Definition:
    """The definition in the bytes of a GGUF file; `path` is for messages.

    Raises `CorruptFileError` with the position for a damaged file, `VocabError` for an inconsistent
    vocabulary and for one that digram cannot reproduce, and `LimitExceededError` for more than
    256 MiB of metadata. Linear in the metadata.
    """
    return _plain(_of(fields_of(BytesIO(data), path)))


def _plain(found: Definition | Compact) -> Definition:
    return found.plain() if isinstance(found, Compact) else found


def _of(fields: Fields) -> Definition | Compact:
    kind = fields.text("model")
    if kind is None:
        raise VocabError(
            "the file has no tokenizer: the key tokenizer.ggml.model is missing.",
            path=fields.path,
            hint="In a model of several files, the first one has the tokenizer.",
        )
    if kind not in _KINDS:
        what = f" ({_REFUSED[kind]})" if kind in _REFUSED else ""
        raise VocabError(
            f"tokenizer.ggml.model {show(kind)}{what} is not supported.",
            path=fields.path,
            value=kind,
            hint=f"digram reads {', '.join(_KINDS)}.",
        )
    return _KINDS[kind](fields)


def pretokenizer(pre: str) -> Pretokenizer:
    """The split that llama.cpp applies for a value of `tokenizer.ggml.pre`.

    A tokenizer that is trained with it can be saved as .gguf.

    >>> pretokenizer("starcoder")
    Pretokenizer('gpt2', digits='individual')

    Raises `VocabError` for a value that is not known or not supported.
    """
    return split_of(pre, None).pretokenizer()


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a GGUF file atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The bytes of a GGUF file with the vocabulary and no tensors.

    Raises `VocabError` for data that the file cannot store: a model other than BPE by rank or by
    scores, Unigram in double precision, WordPiece and `GreedyModel`; a pretokenizer that llama.cpp
    does not have; rules; a normalizer other than SentencePiece's with Unigram, and BERT's with
    WordPiece; merges of characters that no scores mean. Unless `allow_loss` leaves them out:
    details of pretokenizers that llama.cpp has only nearly, the limit of the length of words, flags
    of special tokens, templates other than a token before and after a text, and names of reserved
    ids.
    """
    definition = _without_normal_forms(in_stages(definition, _WHAT), allow_loss)
    model = definition.model
    refuse_rules(definition, _WHAT)
    special = definition.special_tokens
    size = 1 + max(
        (i for i, token in enumerate(definition.tokens) if token is not None), default=-1
    )
    size = max(size, *(id + 1 for id in special.values()), 0)
    _refuse_details(definition, allow_loss)
    if isinstance(model, WordPieceModel):
        return write_metadata(written_words(definition, _WHAT, allow_loss))
    pre, keys = "", dict[str, object]()
    if isinstance(model, GreedyModel):
        kind = "rwkv"
        names, types = written_greedy(definition, _WHAT, size)
    elif isinstance(model, UnigramModel):
        kind = "t5"
        names, types, keys = written_unigram(definition, model, _WHAT, size)
    elif definition.unit == "byte":
        merges = ranked(definition, _WHAT)
        kind, pre = "gpt2", pre_of(definition, merges, _WHAT, allow_loss)
        names, types, keys = written_bytes(definition, merges, pre, size)
    elif isinstance(model, ScoredModel):
        kind = "llama"
        names, types, keys = written_scores(definition, model, _WHAT, size)
    else:
        kind, merges = "llama", ranked(definition, _WHAT)
        refuse_ignore_merges(merges, _WHAT, allow_loss)
        names, types, keys = written_scores(definition, merges, _WHAT, size)
    _put_special(definition, names, types, pre, allow_loss)
    return write_metadata(
        {
            "general.architecture": kind.encode(),
            **_context(definition, kind),
            f"{PREFIX}model": kind.encode(),
            f"{PREFIX}tokens": [name.encode() for name in names],
            f"{PREFIX}token_type": array("i", types),
            **{f"{PREFIX}{key}": cast(Value, value) for key, value in keys.items()},
            **_around(definition, allow_loss),
        }
    )


def _without_normal_forms(definition: Definition, allow_loss: bool) -> Definition:
    """A tokenizer of bytes without the normalization forms, which llama.cpp does not apply.

    Raises `VocabError` for one that has some, unless `allow_loss`.
    """
    cut = definition.pretokenizer
    forms = [one for one in cut.normalizer if isinstance(one, NFC | NFD | NFKC | NFKD)]
    if definition.unit != "byte" or not forms or len(forms) < len(cut.normalizer):
        return definition
    if not allow_loss:
        raise VocabError(
            f"{_WHAT} cannot store {forms[0]!r}: llama.cpp applies no normalization form.",
            value=cut,
            hint=f"{_OTHER[:-1]}, or pass allow_loss=True if all text is in normal form.",
        )
    regexes = [Regex(pattern) for pattern in cut.patterns]
    plain = Pretokenizer(cut.name or regexes or None, digits=cut.digits, rules=cut.rules)
    return replace(definition, pretokenizer=plain)


def _context(definition: Definition, architecture: str) -> dict[str, Value]:
    size = definition.context_size
    return {} if size is None else {f"{architecture}.context_length": size}


def _refuse_details(definition: Definition, allow_loss: bool) -> None:
    """Raises `VocabError` for what a file cannot say of special tokens, unless it may be lost."""
    if b"" in definition.tokens:
        raise VocabError(f"{_WHAT} cannot store the empty token.", hint=_OTHER)
    refuse_decoding(definition, _WHAT, allow_loss)
    refuse_options(definition, _WHAT, allow_loss)
    refuse_reserved(definition, _WHAT, allow_loss)
    for text, one in definition.matching.items():
        flags = [name for name in ("lstrip", "rstrip", "single_word") if getattr(one, name)]
        if one.normalized and definition.pretokenizer.normalizer:
            flags.append("normalized")
        if flags and not allow_loss:
            raise VocabError(
                f"{_WHAT} cannot store {flags[0]} of {show(text)}.",
                value=text,
                hint=f"{_OTHER[:-1]}, or pass allow_loss=True to leave it out.",
            )


def _put_special(
    definition: Definition, names: list[str], types: list[int], pre: str, allow_loss: bool
) -> None:
    """Put the special tokens among the names and types of all ids.

    Raises `VocabError` for two tokens with one name, and for a token that llama.cpp finds where it
    should not be found, or does not find where it should.
    """
    ordinary = {name: i for i, name in enumerate(names)}
    matching = definition.matching
    for text, token_id in definition.special_tokens.items():
        if ordinary.get(text, token_id) != token_id:
            raise VocabError(
                f"special token {show(text)} has the name of token {ordinary[text]}.",
                value=text,
                hint=f"{_WHAT} has one id for each name. {_OTHER}",
            )
        always = text in matching and matching[text].always
        is_unknown = text == "<unk>" and definition.unit == "char"
        other = UNKNOWN if is_unknown or SpecialToken(text) == definition.on_unknown else CONTROL
        names[token_id], types[token_id] = text, USER_DEFINED if always else other
    merges = bpe(definition.model)
    if isinstance(definition.model, ScoredModel):
        made = definition.model.made(definition)
    elif merges:
        made = {made for _, _, made in merges.merges}
    else:
        made = _as_their_types(definition, types)
    found = special_of(names, types, made, lambda _: False, "", pre, None)
    for text in {*found.ids, *definition.special_tokens}:
        if text not in definition.special_tokens:
            problem = "is special for llama.cpp by its text, but not here"
        elif _always(found.matching, text) == _always(matching, text):
            continue
        else:
            where = "in all text" if _always(found.matching, text) else "only on request"
            problem = f"is found {where} by llama.cpp, whatever its type"
        if not allow_loss:
            raise VocabError(
                f"token {show(text)} {problem}.",
                value=text,
                hint=f"{_OTHER[:-1]}, or pass allow_loss=True to accept this.",
            )


def _as_their_types(definition: Definition, types: list[int]) -> set[int]:
    """The ids of tokens that are not special whatever their names, in a model without merges."""
    kind = NORMAL if isinstance(definition.model, GreedyModel) else UNUSED
    return {token_id for token_id, one in enumerate(types) if one == kind}


def _always(matching: dict[str, Matching], text: str) -> bool:
    return text in matching and matching[text].always


def _around(definition: Definition, allow_loss: bool) -> dict[str, Value]:
    """The keys for the tokens before and after a text, and for padding."""
    ids, template = definition.special_tokens, definition.template
    single = [] if template is None else [*template.single]
    at = next((n for n, (name, _) in enumerate(single) if name == "$A"), 0)
    before, after = single[:at], single[at + 1 :]
    plain = all(type_id == 0 for _, type_id in single) and len(before) < 2 and len(after) < 2
    if template is not None and template.pair is not None and plain and not allow_loss:
        raise VocabError(
            f"{_WHAT} can store the tokens around a text, but not those around a pair of texts, as "
            f"in {template!r}.",
            value=template,
            hint=f"{_OTHER[:-1]}, or pass allow_loss=True to leave out those of pairs; single "
            "texts get the same ids.",
        )
    if template is not None and not plain and not allow_loss:
        raise VocabError(
            f"{_WHAT} can store one token before a text and one after it, but not {template!r}.",
            value=template,
            hint=f"{_OTHER[:-1]}, or pass allow_loss=True to store as much of it as possible.",
        )
    keys: dict[str, Value] = {}
    for key, tokens in (("bos", before[:1]), ("eos", after[:1])):
        for name, _ in tokens:
            keys[f"{PREFIX}{key}_token_id"] = ids[name]
        keys[f"{PREFIX}add_{key}_token"] = bool(tokens)
    for role, text in definition.special_roles.to_dict().items():
        keys.setdefault(f"{PREFIX}{ROLE_KEYS[role]}_token_id", ids[text])
    end = min((i for text, i in ids.items() if text in ENDS), default=None)
    if (
        f"{PREFIX}eos_token_id" not in keys and end is not None
    ):  # otherwise llama.cpp takes any token with its default id
        keys[f"{PREFIX}eos_token_id"] = end
    if isinstance(definition.on_unknown, SpecialToken) and definition.unit == "char":
        keys[f"{PREFIX}unknown_token_id"] = ids[definition.on_unknown.text]
    elif definition.unit == "char" and "<unk>" in ids:
        keys[f"{PREFIX}unknown_token_id"] = ids["<unk>"]
    if definition.pad_token is not None:
        keys[f"{PREFIX}padding_token_id"] = ids[definition.pad_token]
    for name, chat in definition.chat_templates.items():
        keys[CHAT if name == "default" else f"{CHAT}.{name}"] = chat.encode()
    return keys
