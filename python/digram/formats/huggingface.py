"""Hugging Face's tokenizer.json: the whole tokenizer in one file.

`tokenizers`, transformers and vLLM load the files that `dumps` writes and produce the same ids.
Data without a field of Hugging Face's is stored under the key `digram` in `model`, which they
ignore (see `_own`).

`loads` also reads files of other programs if digram can reproduce their ids: BPE and Unigram
models, normalizers (`_normalizers`), pre_tokenizers that only split (`_splits`), `ByteLevel`, added
tokens with all their flags, and templates. Anything else is an error that names it. Truncation and
padding are arguments of `tok(text)`, so those of a file are kept, but applied only by calls that
pass them (`tok.call_options`); its padding names the token for padding. A file with a Unigram
model, which has no place for data of digram, is written with padding to the longest text of a batch
if the tokenizer has such a token.

Other programs parse special tokens in text by default; digram's `encode` does so only with
`special="parse"`. Added tokens that are not special are found in all text (`digram.Matching`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import Any, NamedTuple

from digram import _core
from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.errors import CorruptFileError, VocabError, several
from digram.formats import (
    _bpe,
    _greedy_model,
    _own,
    _unigram,
    _word_level,
    _wordpiece,
)
from digram.formats._added_tokens import (
    AddedTokens,
    added_tokens,
    flags_in_file,
    matching_of,
    ordinary_tokens,
    refuse_letters,
    refuse_neighbours,
    warn_of_other_ids,
)
from digram.formats._around import Around, Kept, read_around, vocabulary, written_around
from digram.formats._check import (
    Place,
    check,
    check_bytes,
    check_input,
    check_range,
    check_special,
)
from digram.formats._json import dump, expect, kind_of, parse, unsupported
from digram.formats._lettered import has_all_letters, is_in_letters
from digram.formats._letters import from_letters
from digram.formats._limits import from_padding, from_truncation, to_padding, to_truncation
from digram.formats._model_section import ModelSection, Names
from digram.formats._names import spelled
from digram.formats._registry import FORMATS, reading
from digram.formats._show import show
from digram.formats._template import from_post_processor, to_post_processor, trim_offsets_in
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.limits import Padding
from digram.vocab.model import Model
from digram.vocab.packed import Compact, compacted
from digram.vocab.settings import OnUnknown, Settings, TrimOffsets, Unit
from digram.vocab.special_roles import SpecialRoles
from digram.vocab.special_tokens import Matching, SpecialToken
from digram.vocab.template import Template
from digram.vocab.word_level import WordLevelModel

__all__ = ["compact", "dumps", "load", "loads", "read", "write"]

_TOP = (
    *("version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer"),
    *("post_processor", "decoder", "model"),
)
_SECTIONS = (
    *(_unigram.UNIGRAM, _unigram.SCORED, _wordpiece.SECTION, _word_level.SECTION),
    *(_greedy_model.SECTION, _bpe.SECTION),
)
"""The supported kinds of models."""


def read(path: str | PathLike[str]) -> Definition:
    """Read the definition in a tokenizer.json; see `loads`. Also raises OSError."""
    return loads(read_file(path), path_name(path))


def load(path: str, data: bytes, *_: object) -> Compact:
    """Load a file; it stores its pretokenizer, so the other arguments are ignored."""
    return compact(data, path)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a tokenizer.json atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def dumps(definition: Definition, *, allow_loss: bool = False, own: bool = False) -> bytes:
    """The bytes of a tokenizer.json. They depend only on the definition.

    Raises `PatternError` for a pattern that Hugging Face's engine interprets differently, and
    `VocabError` for a special token with the text of an ordinary one (the format has one id per
    text), for a tokenizer that does not merge by rank alone, and, unless `allow_loss` is true, for
    a character vocabulary whose unknown characters are an error: Hugging Face's libraries drop such
    characters silently. `own` writes a file that only digram reads.
    """
    if definition.model.kind == "scored" and not own:
        from digram.formats._merged import merged

        definition = merged(definition, "a tokenizer.json")
    flags = {text: definition.matching.get(text, Matching()) for text in definition.special_tokens}
    definition = replace(definition, matching=matching_of(flags, definition.pretokenizer, None))
    unknown: OnUnknown = definition.on_unknown if definition.unit == "char" else "error"
    section = _section_of(definition.model)
    if not own:
        section.refuse(definition)
    drops = definition.unit == "char" and not isinstance(definition.model, WordLevelModel)
    if drops and unknown == "error" and not (allow_loss or own or has_all_letters(definition)):
        raise VocabError(
            "unknown characters are an error for this tokenizer, but Hugging Face's libraries drop "
            "them silently.",
            hint='Train with on_unknown="bytes" or on_unknown=digram.SpecialToken("<unk>"), or '
            "pass allow_loss=True.",
        )
    ids = spelled(definition)
    check_range(ids.values(), None)  # otherwise the file could be written but not read
    names = {token_id: name for name, token_id in ids.items()}
    special = sorted(definition.special_tokens.items(), key=lambda item: item[1])
    # Includes special tokens: other programs would choose ids for those that are missing here.
    vocab = {names[token_id]: token_id for token_id in sorted(names)}
    model = section.written(definition, Names(names, vocab, unknown, own))
    top = dict.fromkeys(_TOP) | {
        "version": "1.0",
        "added_tokens": [
            {"id": i, "content": text, **flags_in_file(definition.matching.get(text, Matching()))}
            for text, i in special
        ],
        "truncation": to_truncation(definition.truncation),
        "padding": to_padding(definition) or (None if own else _padding(definition, section)),
        **written_around(definition, unknown == "bytes", own),
        "post_processor": to_post_processor(definition),
        "model": model,
    }
    data = _unigram.dumped(top) if section is _unigram.UNIGRAM else dump(top)
    if definition.decoding is not None and "digram" not in model:
        _check_decoding(definition, data)
    return data


def _padding(definition: Definition, section: ModelSection) -> dict[str, Any] | None:
    """The padding of a file whose model has no section of digram, which would name the token."""
    text = definition.pad_token
    if text is None or section is not _unigram.UNIGRAM:
        return None
    return {
        "strategy": "BatchLongest",
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": definition.special_tokens[text],
        "pad_type_id": 0,
        "pad_token": text,
    }


def _check_decoding(definition: Definition, data: bytes) -> None:
    """Raises `VocabError` if a file without a section of digram is read with another decoder."""
    again = loads(data)
    if (again.decoding, again.space_symbol) != (definition.decoding, definition.space_symbol):
        raise VocabError(
            f"a tokenizer.json with this model cannot store {definition.decoding!r}, since its "
            "decoder has a form of its own.",
            value=definition.decoding,
            hint='Set decoding to None, or save it with format="digram".',
        )


def loads(data: bytes, path: str | None = None) -> Definition:
    """The definition in the bytes of a tokenizer.json; `path` is for messages.

    Added tokens are special tokens, even if the model's vocabulary contains them; their flags are
    in `matching`. Unknown characters that Hugging Face's libraries would drop silently are an
    error. Raises `CorruptFileError` for a damaged file, `VocabError` for an inconsistent vocabulary
    and for unsupported features (pre_tokenizers that change text, ...), and `PatternError`
    for a pattern that digram interprets differently.
    """
    found = _read_in(data, path, lambda added: added)
    return found.plain() if isinstance(found, Compact) else found


def compact(
    data: bytes,
    path: str | None = None,
    amend: Callable[[AddedTokens], AddedTokens] = lambda added: added,
) -> Compact:
    """Like `loads`, but keep the tokens and merges in the core, which is fast for most files.

    `amend` returns the added tokens with the flags that another file gives them, or raises.
    """
    found = _read_in(data, path, amend)
    return found if isinstance(found, Compact) else compacted(found)


def _read_in(
    data: bytes, path: str | None, amend: Callable[[AddedTokens], AddedTokens]
) -> Compact | Definition:
    """The result of `loads`; in the core if the core could read the file."""
    number = _unigram.number_in(data)
    top = _parsed(data, path, number)
    model = expect(top.get("model"), dict, "model", path)
    section = _section_in(model, path)
    section.check(model, path)
    _check_top(top, path)
    # Parsing takes a fifth of loading, so it happens twice only in the rare case of a wrong guess.
    if (needed := _unigram.reader_of(section, model)) is not number:
        top = _parsed(data, path, needed)
        model = top["model"]
    own, model = _own.section(model, path), section.opened(model, path)
    unknown, names = model.get("unk_token"), model.get("vocab") or ()
    digits, rules, name = _own.digits(own, path), _own.rules(own, path), _own.name(own, path)
    byte_fallback = model.get("byte_fallback") is True
    if own is None and byte_fallback:
        _refuse_ignore_merges(model, path)
    kept = Kept(digits, rules, name, _own.decoding(own, path))
    around = read_around(top, model, _has_words(section, top, kept), kept, path)
    model, unit = around.model, around.unit
    if unit == "byte" and section is _bpe.SECTION:
        model = model | {"fuse_unk": False}  # every byte has a token

    in_core = section.tables(model, top.get("added_tokens")) if unit == "byte" else None
    vocab = vocabulary(model.get("vocab"), path) if in_core is None else model["vocab"]
    added = added_tokens(top.get("added_tokens"), vocab, names, path)
    if (amended := amend(added)) != added:
        added, own = amended, _own.without_digest(own)
    special = {text: i for text, (i, _) in sorted(added.items(), key=lambda item: item[1][0])}
    flags = {text: flags for text, (_, flags) in added.items()}
    if around.in_letters:
        refuse_neighbours(flags, path)
    if unit == "byte" and own is None:
        refuse_letters(flags, names, path)
    _refuse_words(section, model, vocab, flags, around.pretokenizer, unknown, path)
    matching = matching_of(flags, around.pretokenizer, path)
    file = _File(top, model, section, own, around, special, matching, path)
    found = _definition(file, vocab) if in_core is None else _compact(file, in_core)
    if own is None:
        warn_of_other_ids(added, names, path)
    return found


def _has_words(section: ModelSection, top: dict[str, Any], kept: Kept) -> bool:
    """Whether tokens that begin a word get a space that the file does not write."""
    if section is not _word_level.SECTION:
        return section is _wordpiece.SECTION
    return _word_level.has_words(top) if kept.decoding is None else kept.decoding.words


class _File(NamedTuple):
    """The parts of a file that were read, except the tokens."""

    top: dict[str, Any]
    model: dict[str, Any]
    section: ModelSection
    own: dict[str, Any] | None
    around: Around
    special: dict[str, int]
    matching: dict[str, Matching]
    path: str | None


def _compact(file: _File, in_core: _core.Model) -> Compact:
    """The tokenizer of a file whose tokens and merges the core has read."""
    top, model, section, own, around, special, matching, path = file
    check_special(special, in_core.token, path)
    check_bytes(list(in_core.missing_bytes()), path)
    kernel, given = section.kernel(model, own, path), _own.given(own, path)
    truncation = from_truncation(top.get("truncation"), path)
    padding = from_padding(top.get("padding"), special, path)
    settings = Settings(
        around.pretokenizer,
        kernel,
        training=_own.training(own, section.steps(model, kernel), in_core.tokens, path),
        template=_template(top, given, special, path),
        context_size=given.context_size,
        pad_token=_pad_token(padding, given),
        special_roles=_own.special_roles(own, path),
        chat_templates=_own.chat_templates(own, path) or None,
        matching=matching or None,
        strip_first_space=around.strip,
        decoding=around.decoding,
        dropout=_bpe.dropout_of(model),
        trim_offsets=trim_offsets_in(top.get("post_processor"), path),
        truncation=truncation,
        padding=padding,
        truncation_side=given.truncation_side or _own.side_of(truncation),
        padding_side=given.padding_side or _own.side_of(padding),
        reserved=_own.reserved(own, special, path) or None,
    )
    check_input(settings, special, path)
    found = Compact(in_core, special, settings)
    _own.check_digest(own, found, path)
    return found


def _definition(file: _File, vocab: dict[str, int]) -> Definition:
    """The definition of a file with this vocabulary."""
    top, model, section, own, around, special, matching, path = file
    unit, given = around.unit, _own.given(own, path)
    on_unknown: OnUnknown = "error"
    byte_ids, roles = None, _own.special_roles(own, path) or SpecialRoles()
    if around.fallback:
        on_unknown, byte_ids = "bytes", _byte_ids(vocab, special, path)
        if section is _unigram.UNIGRAM and own is None:
            roles = _unigram.unknown_role(model, vocab, special)
    elif unit == "char" and model.get("unk_token") is not None:
        on_unknown = _unknown_token(model, vocab, special, path)
        if section is _unigram.UNIGRAM and own is None:
            _unigram.refuse_ordinary(on_unknown, path)
    ordinary = ordinary_tokens(vocab, matching, special, model, _own.of_model(own, path))
    try:
        decoded = section.model(model, own, ordinary, path)
    except VocabError as error:
        text = error.value
        if not isinstance(text, str) or text not in special or text not in vocab:
            raise
        what = f"the special token {show(text)}, which is also in merges,"
        raise unsupported(what, path) from None
    if isinstance(decoded, BpeModel) and isinstance(on_unknown, bytes):
        _refuse_merged_unknown(decoded, vocab[on_unknown.decode()], model["unk_token"], path)
    tokens = _tokens(ordinary, unit, byte_ids, path)
    steps = section.steps(model, decoded.kernel())
    truncation = from_truncation(top.get("truncation"), path)
    padding = from_padding(top.get("padding"), special, path)
    definition = Definition(
        tokens=tokens,
        model=decoded,
        pretokenizer=around.pretokenizer,
        special_tokens=dict(sorted(special.items(), key=lambda item: item[1])),
        unit=unit,
        on_unknown=on_unknown,
        byte_ids=byte_ids,
        template=_template(top, given, special, path),
        context_size=given.context_size,
        pad_token=_pad_token(padding, given),
        special_roles=roles,
        chat_templates=_own.chat_templates(own, path),
        matching=matching,
        space_symbol=around.symbol,
        strip_first_space=around.strip,
        cleanup=around.cleanup,
        decoding=around.decoding,
        dropout=_bpe.dropout_of(model),
        trim_offsets=_trimming(top, around, path),
        truncation=truncation,
        padding=padding,
        truncation_side=given.truncation_side or _own.side_of(truncation),
        padding_side=given.padding_side or _own.side_of(padding),
        reserved=_own.reserved(own, special, path),
        training=_own.training(own, steps, lambda: tokens, path),
    )
    _own.check_digest(own, check(definition, Place(path)), path)
    return definition


def _trimming(top: dict[str, Any], around: Around, path: str | None) -> TrimOffsets | None:
    """What is left out of offsets, which depends on the letters of tokens."""
    if around.unit == "byte" or is_in_letters(around.pretokenizer):
        return trim_offsets_in(top.get("post_processor"), path)
    return None


def _refuse_words(
    section: ModelSection,
    model: dict[str, Any],
    vocab: dict[str, int],
    flags: dict[str, Matching],
    pretokenizer: Pretokenizer,
    unknown: str | None,
    path: str | None,
) -> None:
    """Raises `VocabError` if a model of words makes an added token of a word in other libraries."""
    if kind_of(model) == "digram":
        return  # no other library reads it
    if section is _wordpiece.SECTION:
        names = {*flags, *([] if unknown is None else [unknown])}
        _wordpiece.refuse_inner(flags, vocab, model["continuing_subword_prefix"], path)
    elif section is _word_level.SECTION:
        # The word that is the name of the unknown token is unknown anyway.
        names = {*flags} - {unknown}
    else:
        return
    known = {*vocab, unknown or ""}
    _wordpiece.refuse_ambiguous(known, flags, names, pretokenizer, path)


def _refuse_ignore_merges(model: dict[str, Any], path: str | None) -> None:
    """Raises `VocabError` if a text that is the name of a byte token would become that token."""
    if model.get("ignore_merges") is True:
        cause = "(the text <0x41> would become the token of a byte)"
        raise unsupported(f"ignore_merges with byte_fallback {cause}", path)


def _template(
    top: dict[str, Any], given: _own.Given, special: dict[str, int], path: str | None
) -> Template | None:
    template = from_post_processor(top.get("post_processor"), special, path)
    return template if template is None or given.pairs else Template(template.single)


def _section_in(model: dict[str, Any], path: str | None) -> ModelSection:
    for section in _SECTIONS:
        if section.claims(model):
            return section
    hint = "digram supports BPE, WordPiece, Unigram and WordLevel."
    raise unsupported(f"a model of type {kind_of(model)}", path, hint=hint)


def _section_of(model: Model) -> ModelSection:
    for section in _SECTIONS:
        if section.kind == model.kind:
            return section
    raise VocabError(
        f"a tokenizer.json cannot store a model of the kind {show(model.kind)}.", value=model.kind
    )


def _parsed(data: bytes, path: str | None, number: Callable[[str], float] | None) -> dict[str, Any]:
    """The object of a file. Raises `VocabError` for a vocab.json, even with a token "model"."""
    top = parse(data, path, number)
    if not isinstance(top, dict):
        told = f"this is no tokenizer.json: the file should be an object, not {show(top)}."
        raise CorruptFileError(told, path=path, value=top, hint=reading())
    if top and set(map(type, top.values())) == {int}:
        vocab, merges = FORMATS["vocab_merges"].pairs[0]
        raise VocabError(
            f"this is no tokenizer.json but a vocabulary, {several(len(top), 'token')} with their "
            "ids, as in vocab.json and encoder.json; the merges and the pretokenizer are missing.",
            path=path,
            hint=f"Put it into a folder as {vocab}, beside its {merges}, and pass the folder. "
            f"{FORMATS['vocab_merges'].half_hint}",
        )
    if "model" not in top:
        keys = ", ".join(map(show, [*top][:5])) + (", ..." if len(top) > 5 else "")
        has = f'it has no "model" with a vocabulary, only {keys}' if top else "its object is empty"
        raise CorruptFileError(
            f"this is no tokenizer.json: {has}.",
            path=path,
            hint=f"Pass the file or folder of a tokenizer; {reading()}",
        )
    return top


def _check_top(top: dict[str, Any], path: str | None) -> None:
    for key in top:
        if key not in _TOP:
            raise unsupported(f"the key {show(key)}", path)
    if top.get("version", "1.0") != "1.0":
        raise unsupported(f"version {show(top['version'])}", path)


def _pad_token(padding: Padding | None, given: _own.Given) -> str | None:
    """The token for padding: that of digram's section, else that of the padding of the file."""
    named = padding is not None and padding.id is None
    return given.pad_token or (padding.token if padding is not None and named else None)


def _unknown_token(
    model: dict[str, Any], vocab: dict[str, int], special: dict[str, int], path: str | None
) -> SpecialToken | bytes:
    """The token for unknown text, which is special if it is an added token."""
    text: str = model["unk_token"]
    if text not in vocab:
        raise VocabError(
            f"unk_token {show(text)} is not in the vocabulary.",
            path=path,
            value=text,
            hint="Add it.",
        )
    return SpecialToken(text) if text in special else text.encode()


def _refuse_merged_unknown(model: BpeModel, unknown: int, name: str, path: str | None) -> None:
    """Raises `VocabError` if other libraries would merge unknown characters."""
    if any(unknown in (left, right) for left, right, _ in model.merges):
        raise unsupported(
            f"the unk_token {show(name)}, which is a part of merges, so that unknown characters "
            "are merged,",
            path,
        )


def _byte_ids(vocab: dict[str, int], special: dict[str, int], path: str | None) -> list[int]:
    for name in _bpe.BYTE_TOKENS:
        if name not in vocab or name in special:
            problem = "is special" if name in special else "is not in the vocabulary"
            raise VocabError(
                f"byte_fallback needs the token {show(name)}, which {problem}.",
                path=path,
                value=name,
                hint="Add all 256 byte tokens, or none. With some of them, other libraries lose "
                "text or change the order of ids.",
            )
    return [vocab[name] for name in _bpe.BYTE_TOKENS]


def _tokens(
    ordinary: dict[str, int], unit: Unit, byte_ids: list[int] | None, path: str | None
) -> list[bytes | None]:
    if unit == "byte":
        try:
            tokens = from_letters(ordinary)
        except UnicodeEncodeError as error:
            name = error.object
            raise VocabError(
                f"token {show(name)} (id {ordinary[name]}) is neither written in the letters of "
                "ByteLevel nor an added token.",
                path=path,
                value=name,
                hint="If it is a special token, it belongs among the added_tokens.",
            ) from None
    else:
        tokens = [name.encode() for name in ordinary]
    table: list[bytes | None] = [None] * (max(ordinary.values(), default=-1) + 1)
    for token_id, token in zip(ordinary.values(), tokens, strict=True):
        table[token_id] = token
    for byte, token_id in enumerate(byte_ids or ()):
        table[token_id] = bytes([byte])
    return table
