"""Convert templates to and from the post_processor of a tokenizer.json.

Templates are written as `TemplateProcessing`. `BertProcessing` and `RobertaProcessing` are read as
templates too. `ByteLevel`, and `trim_offsets`, affect offsets but not ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from digram.errors import OptionError, VocabError
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._show import show
from digram.vocab.definition import Definition
from digram.vocab.settings import TrimOffsets
from digram.vocab.template import SEQUENCES, Piece, Template

__all__ = ["from_post_processor", "to_post_processor", "trim_offsets_in"]

_NO_PAIR: tuple[Piece, ...] = (("$A", 0), ("$B", 1))
"""The pair written for a template that is only for single texts, since the format needs one."""

_KEYS = {
    "TemplateProcessing": {"type", "single", "pair", "special_tokens"},
    "BertProcessing": {"type", "sep", "cls"},
    "RobertaProcessing": {"type", "sep", "cls", "trim_offsets", "add_prefix_space"},
}

_unsupported = partial(
    unsupported,
    hint="digram reads ByteLevel, TemplateProcessing, BertProcessing and RobertaProcessing; "
    "anything else would result in other ids from tok(text).",
)


def to_post_processor(definition: Definition) -> dict[str, Any] | None:
    """The `post_processor` of a tokenizer.json."""
    added = _to_template(definition)
    if definition.trim_offsets is None:
        return added
    prefixed = definition.trim_offsets == "spaces but the prefix"
    trimming = {"type": "ByteLevel", "add_prefix_space": prefixed, "trim_offsets": True}
    if added is None:
        return trimming
    return {"type": "Sequence", "processors": [trimming, added]}


def _to_template(definition: Definition) -> dict[str, Any] | None:
    template = definition.template
    if template is None:
        return None
    ids = {name: definition.special_tokens[name] for name in sorted(template.tokens)}
    return {
        "type": "TemplateProcessing",
        "single": [_written(piece) for piece in template.single],
        "pair": [_written(piece) for piece in template.pair or _NO_PAIR],
        "special_tokens": {
            name: {"id": name, "ids": [i], "tokens": [name]} for name, i in ids.items()
        },
    }


def trim_offsets_in(value: Any, path: str | None) -> TrimOffsets | None:
    """Which spaces a `post_processor`, which was read without an error, leaves out of offsets.

    Raises `VocabError` if it does so twice, or after it adds tokens.
    """
    parts = value.get("processors") if kind_of(value) == "Sequence" else [value]
    found: TrimOffsets | None = None
    is_after_template = False
    for part in parts:
        trims = kind_of(part) in ("ByteLevel", "RobertaProcessing")
        if trims and part.get("trim_offsets", True):
            if found is not None or is_after_template:
                what = "twice" if found is not None else "after it adds tokens"
                raise _unsupported(f"a post_processor that trims offsets {what}", path)
            prefixed = part.get("add_prefix_space", True)
            found = "spaces but the prefix" if prefixed else "spaces"
        is_after_template |= kind_of(part) in _KEYS
    return found


def from_post_processor(
    value: Any, special: Mapping[str, int], path: str | None
) -> Template | None:
    """Convert a `post_processor` to a template; None for none.

    Raises `VocabError` for an unsupported one, `CorruptFileError` for a damaged one.
    """
    parts: Any = [value]
    if isinstance(value, dict) and kind_of(value) == "Sequence":
        parts = value.get("processors")
    found = None
    for part in expect(parts, list, "post_processor.processors", path):
        # ByteLevel trims offsets and adds nothing; see `trim_offsets_in`.
        if part is None or kind_of(part) == "ByteLevel":
            continue
        if kind_of(part) not in _KEYS or not isinstance(part, dict):
            raise _unsupported(f"post_processor {kind_of(part)}", path)
        for key in part.keys() - _KEYS[kind_of(part)]:
            raise _unsupported(f"the key {show(key)} of the post_processor", path)
        if found is not None:
            raise _unsupported("a post_processor with two templates", path)
        found = _template(part, special, path)
    return found


def _template(part: dict[str, Any], special: Mapping[str, int], path: str | None) -> Template:
    if kind_of(part) == "TemplateProcessing":
        tokens = expect(part.get("special_tokens"), dict, "post_processor.special_tokens", path)
        named = {name: _one_token(token, special, path) for name, token in tokens.items()}
        single, pair = (_pieces(part.get(key), named, key, path) for key in ("single", "pair"))
    else:
        cls, sep = (_pair(part.get(key), key, special, path) for key in ("cls", "sep"))
        second = int(kind_of(part) == "BertProcessing")
        between = [(sep, 0)] if second else [(sep, 0), (sep, 0)]
        single = [(cls, 0), ("$A", 0), (sep, 0)]
        pair = [(cls, 0), ("$A", 0), *between, ("$B", second), (sep, second)]
    try:
        return Template(single, pair)
    except OptionError as error:
        raise VocabError(f"post_processor: {error.message}", path=path) from None


def _pieces(value: Any, named: Mapping[str, str], key: str, path: str | None) -> list[Piece]:
    where = f"post_processor.{key}"
    pieces = []
    for index, piece in enumerate(expect(value, list, where, path)):
        at = f"{where}[{index}]"
        kinds = [*expect(piece, dict, at, path).items()]
        if len(kinds) != 1 or kinds[0][0] not in ("SpecialToken", "Sequence"):
            raise _unsupported(f"{at}, {show(piece)},", path)
        kind, content = kinds[0][0], expect(kinds[0][1], dict, at, path)
        name = expect(content.get("id"), str, f"{at}.id", path)
        type_id = expect(content.get("type_id"), int, f"{at}.type_id", path)
        if kind == "Sequence":
            if f"${name}" not in SEQUENCES:
                raise _unsupported(f"{at}, {show(piece)},", path)
            name = f"${name}"
        elif name not in named:
            raise VocabError(f"{at}: {show(name)} is not in its special_tokens.", path=path)
        else:
            name = named[name]
        pieces.append((name, type_id))
    return pieces


def _one_token(token: Any, special: Mapping[str, int], path: str | None) -> str:
    where = "post_processor.special_tokens"
    content = expect(token, dict, where, path)
    ids = expect(content.get("ids"), list, f"{where}.ids", path)
    tokens = expect(content.get("tokens"), list, f"{where}.tokens", path)
    if len(ids) != 1 or len(tokens) != 1:
        raise _unsupported(f"a special token of the post_processor with the ids {show(ids)}", path)
    return _known(tokens[0], ids[0], where, special, path)


def _pair(value: Any, key: str, special: Mapping[str, int], path: str | None) -> str:
    where = f"post_processor.{key}"
    if len(expect(value, list, where, path)) != 2:
        raise _unsupported(f"{where} {show(value)}", path)
    return _known(value[0], value[1], where, special, path)


def _known(
    name: Any, token_id: Any, where: str, special: Mapping[str, int], path: str | None
) -> str:
    text, number = expect(name, str, where, path), expect(token_id, int, where, path)
    if special.get(text) != number or text in SEQUENCES:
        raise VocabError(
            f"the post_processor adds {show(text)} with the id {number}, which is not a special "
            "token of this tokenizer.",
            path=path,
            value=text,
            hint="It belongs among the added_tokens.",
        )
    return text


def _written(piece: Piece) -> dict[str, Any]:
    name, type_id = piece
    if name in SEQUENCES:
        return {"Sequence": {"id": name[1:], "type_id": type_id}}
    return {"SpecialToken": {"id": name, "type_id": type_id}}
