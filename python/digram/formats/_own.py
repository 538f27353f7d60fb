"""The section `digram` in the model of a tokenizer.json: data beyond Hugging Face's fields.

format        the version of this layout
digest        `digram.vocab.definition.digest` of the tokenizer
seal          SHA-256 of the rest of the section, to detect changes of data that the digest does not
              cover, such as counts of merges. Without digest and seal, nothing is checked
pretokenizer  the name, which distinguishes pretokenizers that are published with equal patterns;
              the digit policy; the rules, if there are any
training      the `TrainingRecord`, with the counts of the merges, or null; if they were kept, the
              runners-up of merges, [left id, right id, count] each; for several languages, the
              language of each merge
input         the context size, the pad token, whether the template is for pairs too, and the sides
              of truncation and padding that the rest of the file does not say; left out if all
              have their defaults
special_roles if tokens have roles: their texts by role
chat_templates  if there are any: the templates by name
decoding      if the decoder of the file is a `digram.Decoding`: the symbol of spaces,
              and whether tokens have spaces that the file does not write
reserved      if ids are reserved: [first id, number] by name
of_model      if there are any: the ids of added tokens that the model makes of text, too
scheme        if merges are not applied by rank alone: see `digram.vocab.schemes`. The type of the
              model is then "digram", which other programs do not read

Formats before 5 have no seal, and write each pattern as `digram.pretokenizers.pretokenizer` does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any, Literal, NamedTuple, cast, get_args

from digram.errors import CorruptFileError, OptionError, PatternError, VocabError, several
from digram.formats._json import expect, spelled
from digram.formats._published import MISSING, Missing
from digram.formats._show import show
from digram.pretokenizers.pretokenizer import Digits
from digram.pretokenizers.rules import Rules
from digram.vocab.definition import Definition, StopReason, TrainingRecord, digest
from digram.vocab.limits import Padding, Truncation
from digram.vocab.packed import Compact
from digram.vocab.reserved_ids import check_reserved
from digram.vocab.settings import Side
from digram.vocab.special_roles import ROLES, SpecialRoles

__all__ = [
    "BySteps",
    "Given",
    "Steps",
    "chat_templates",
    "check_digest",
    "decoding",
    "digits",
    "given",
    "name",
    "of_model",
    "reserved",
    "rules",
    "section",
    "side_of",
    "special_roles",
    "to_section",
    "training",
    "without_digest",
]

VERSION = 5
"""The version of the layout. Later versions are refused."""

_UNSEALED = {"digest", "seal"}  # the digest is compared with the tokenizer itself
_KEYS = {"format", "pretokenizer", "training", "input", "reserved", "scheme"}
_KEYS |= {"special_roles", "chat_templates", "decoding", "of_model", *_UNSEALED}
_END = 1 << 64  # upper bound of counts
_FIELDS = {field.name: field.type for field in fields(TrainingRecord)}
_LATER = {
    "runners_up": None,
    "skipped": 0,
    "languages": None,
}  # written only if they differ from these defaults
_KINDS: dict[str, type] = {"str": str, "int": int, "StopReason": str, "dict[str, Any]": dict}


class Given(NamedTuple):
    """The settings of `tok(text)` besides the template, named as in `Definition`.

    Sides are None where they are those of the truncation and padding of the file.
    """

    context_size: int | None = None
    pad_token: str | None = None
    pairs: bool = True
    truncation_side: Side | None = None
    padding_side: Side | None = None


_SIDES = frozenset(("truncation_side", "padding_side"))
"""The settings that a file has only if they differ from the rest of it."""


class BySteps(NamedTuple):
    """That the decoder of a file is a `digram.Decoding`."""

    space_symbol: str | None
    words: bool
    """Whether tokens that begin a word have a space that the file does not write."""


class Steps(NamedTuple):
    """The steps that training counted: their number and their name."""

    number: int
    name: str


def to_section(definition: Definition, of_model: dict[str, Any]) -> dict[str, Any]:
    """The section as JSON; `of_model` are the entries about the model."""
    record = definition.training
    if record is not None:
        _check_counts(definition, record)
    pairs = definition.template is None or definition.template.pair is not None
    given = Given(definition.context_size, definition.pad_token, pairs, *_other_sides(definition))
    kept = {} if record is None else {name: getattr(record, name) for name in _FIELDS}
    kept = {name: value for name, value in kept.items() if value != _LATER.get(name, ...)}
    blocks = {name: [ids.start, len(ids)] for name, ids in definition.reserved.items()}
    news = {
        **({} if given == Given() else {"input": _input(given)}),
        **({"special_roles": roles} if (roles := definition.special_roles.to_dict()) else {}),
        **({"chat_templates": templates} if (templates := definition.chat_templates) else {}),
        **({} if definition.decoding is None else {"decoding": _by_steps(definition)}),
        **({"reserved": blocks} if blocks else {}),
        **({"of_model": both} if (both := _of_model(definition)) else {}),
        **of_model,
    }
    ruled = definition.pretokenizer.rules
    content = {
        "format": VERSION,
        "pretokenizer": {
            "name": definition.pretokenizer.name,
            "digits": definition.pretokenizer.digits,
            **({} if ruled is None else {"rules": ruled.to_dict()}),
        },
        "training": kept or None,
        **news,
    }
    first = {"format": VERSION, "digest": digest(definition), "seal": _seal(content)}
    return first | content


def _check_counts(definition: Definition, record: TrainingRecord) -> None:
    """Raises `VocabError` unless the record has what reading expects: a count for each merge."""
    model = definition.model
    events = getattr(getattr(model, "scheme", None), "events", None)
    steps = getattr(model, "merges", ()) if events is None else events
    lists = (record.counts, record.runners_up, record.languages)
    wrong = next((one for one in lists if one is not None and len(one) != len(steps)), None)
    if wrong is not None:
        raise VocabError(
            f"the training record is about {several(len(wrong), 'merge')}, but there are "
            f"{len(steps):,}, so a file of both could not be read.",
            value=len(wrong),
            hint="Set training to None in the definition.",
        )


def _input(given: Given) -> dict[str, Any]:
    values = given._asdict().items()
    return {key: value for key, value in values if value is not None or key not in _SIDES}


def _other_sides(definition: Definition) -> Iterator[Side | None]:
    """The two sides, where they are not those that the rest of a file says."""
    for limit, side in (
        (definition.truncation, definition.truncation_side),
        (definition.padding, definition.padding_side),
    ):
        yield None if side == side_of(limit) else side


def side_of(limit: Truncation | Padding | None) -> Side:
    """The side of a file that says no other."""
    return "right" if limit is None else limit.side


def _of_model(definition: Definition) -> list[int]:
    """The ids of added tokens that are ordinary tokens, too."""
    tokens = dict(enumerate(definition.tokens))
    return sorted(id for id in definition.special_tokens.values() if tokens.get(id) is not None)


def _by_steps(definition: Definition) -> dict[str, Any]:
    words = definition.pretokenizer.words
    spaced = definition.strip_first_space and words is not None and words.last.prefix == " "
    return {"space_symbol": definition.space_symbol, "words": spaced}


def _seal(own: dict[str, Any]) -> str:
    """SHA-256, in hexadecimal, of the section without its two digests, independent of key order."""
    sealed = {key: value for key, value in own.items() if key not in _UNSEALED}
    return hashlib.sha256(spelled(sealed, sort_keys=True)).hexdigest()


def section(model: dict[str, Any], path: str | None) -> dict[str, Any] | None:
    """The section of a model; None in files of other programs."""
    if "digram" not in model:
        return None
    own = expect(model["digram"], dict, "model.digram", path)
    version = expect(own.get("format"), int, "model.digram.format", path)
    if version > VERSION:
        raise VocabError(
            f"the file has format {version}; this version of digram reads up to {VERSION}.",
            path=path,
            value=version,
            hint="Install a newer digram.",
        )
    unknown = own.keys() - _KEYS
    if version < 1 or unknown:
        what = f"the key {show(min(unknown))}" if unknown else f"format {version}"
        raise CorruptFileError(f"model.digram: {what} is not known.", path=path)
    return own


def digits(
    own: dict[str, Any] | None, path: str | None
) -> Digits | Literal[Missing.MISSING] | None:
    """The digit policy that the first split implements; `MISSING` without a section."""
    if own is None:
        return MISSING
    content = expect(own.get("pretokenizer"), dict, "model.digram.pretokenizer", path)
    policy = content.get("digits")
    if policy is not None and policy not in get_args(Digits):
        raise CorruptFileError(
            f"model.digram.pretokenizer.digits {show(policy)} is not known.",
            path=path,
            hint=f"Policies: {', '.join(get_args(Digits))}.",
        )
    return cast("Digits | None", policy)


def name(own: dict[str, Any] | None, path: str | None) -> str | Literal[Missing.MISSING] | None:
    """The name of the pretokenizer; `MISSING` without a section."""
    if own is None:
        return MISSING
    content = expect(own.get("pretokenizer"), dict, "model.digram.pretokenizer", path).get("name")
    return None if content is None else expect(content, str, "model.digram.pretokenizer.name", path)


def decoding(own: dict[str, Any] | None, path: str | None) -> BySteps | None:
    """What the file says of its decoder, if that is a `digram.Decoding`."""
    if own is None or "decoding" not in own:
        return None
    where = "model.digram.decoding"
    content = expect(own["decoding"], dict, where, path)
    if content.keys() != {*BySteps._fields}:
        raise CorruptFileError(f"{where} should have the keys space_symbol and words.", path=path)
    symbol = content["space_symbol"]
    if symbol is not None and len(expect(symbol, str, f"{where}.space_symbol", path)) != 1:
        raise CorruptFileError(f"{where}.space_symbol should be one character.", path=path)
    return BySteps(symbol, expect(content["words"], bool, f"{where}.words", path))


def rules(own: dict[str, Any] | None, path: str | None) -> Rules | None:
    """The rules that the first split implements."""
    if own is None or "rules" not in own["pretokenizer"]:
        return None
    where = "model.digram.pretokenizer.rules"
    content = expect(own["pretokenizer"]["rules"], dict, where, path)
    try:
        return Rules.from_dict(content)
    except (OptionError, PatternError) as error:
        raise CorruptFileError(f"{where}: {error.message}", path=path, hint=error.hint) from None
    except TypeError as error:
        raise CorruptFileError(f"{where}: {error}.", path=path) from None


def given(own: dict[str, Any] | None, path: str | None) -> Given:
    """The context size, the pad token, whether the template is for pairs, and sides."""
    if own is None or "input" not in own:
        return Given()
    where = "model.digram.input"
    values = expect(own["input"], dict, where, path)
    needed = {*Given._fields} - _SIDES
    wrong_keys = (values.keys() - {*Given._fields}) | (needed - values.keys())
    if wrong_keys:
        wrong = min(wrong_keys)
        problem = "is missing" if wrong in needed else "is not known"
        raise CorruptFileError(f"{where}: the key {show(wrong)} {problem}.", path=path)
    kinds: tuple[tuple[str, type], ...] = (("context_size", int), ("pad_token", str))
    for name, kind in kinds:
        if values[name] is not None:
            expect(values[name], kind, f"{where}.{name}", path)
    expect(values["pairs"], bool, f"{where}.pairs", path)
    for name in sorted(_SIDES & values.keys()):
        if values[name] not in get_args(Side):
            raise CorruptFileError(f"{where}.{name} {show(values[name])} is not known.", path=path)
    return Given(**values)


def special_roles(own: dict[str, Any] | None, path: str | None) -> SpecialRoles | None:
    """The special tokens with a role; None if no token has one."""
    found = _texts(own, "special_roles", path)
    unknown = found.keys() - {*ROLES}
    if unknown:
        raise CorruptFileError(
            f"model.digram.special_roles: the key {show(min(unknown))} is not known.", path=path
        )
    return SpecialRoles(**found) if found else None


def chat_templates(own: dict[str, Any] | None, path: str | None) -> dict[str, str]:
    """The templates of chats by name."""
    return _texts(own, "chat_templates", path)


def without_digest(own: dict[str, Any] | None) -> dict[str, Any] | None:
    """The section for a tokenizer that another file changes, which the digest does not fit."""
    return own and {key: value for key, value in own.items() if key != "digest"}


def _texts(own: dict[str, Any] | None, key: str, path: str | None) -> dict[str, str]:
    if own is None or key not in own:
        return {}
    where = f"model.digram.{key}"
    values = expect(own[key], dict, where, path)
    return {
        name: expect(value, str, f"{where}[{show(name)}]", path) for name, value in values.items()
    }


def reserved(
    own: dict[str, Any] | None, special_tokens: dict[str, int], path: str | None
) -> dict[str, range]:
    """The reserved blocks."""
    if own is None or "reserved" not in own:
        return {}
    where = "model.digram.reserved"
    found = {}
    for name, value in expect(own["reserved"], dict, where, path).items():
        at = f"{where}[{show(name)}]"
        pair = expect(value, list, at, path)
        if len(pair) != 2 or not set(map(type, pair)) <= {int} or pair[0] < 0 or pair[1] < 1:
            raise CorruptFileError(
                f"{at} should be a first id and a number of ids, not {show(pair)}.", path=path
            )
        found[name] = range(pair[0], pair[0] + pair[1])
    check_reserved(found, special_tokens, path)
    return found


def of_model(own: dict[str, Any] | None, path: str | None) -> set[int] | None:
    """The ids of added tokens that the model makes of text; None in files of other programs."""
    if own is None:
        return None
    where = "model.digram.of_model"
    ids = expect(own.get("of_model", []), list, where, path)
    if not set(map(type, ids)) <= {int}:
        raise CorruptFileError(f"{where} should be a list of ids.", path=path)
    return {*ids}


def training(
    own: dict[str, Any] | None,
    steps: Steps,
    tokens: Callable[[], list[bytes | None]],
    path: str | None,
) -> TrainingRecord | None:
    """The training record, if the file has one. `tokens` is called only if it is needed."""
    if own is None or own.get("training") is None:
        return None
    merges, what = steps
    where = "model.digram.training"
    content = expect(own["training"], dict, where, path)
    fields_ = _FIELDS.keys() - _LATER.keys() | (content.keys() & _LATER.keys())
    if content.keys() != fields_:
        wrong = min(content.keys() ^ fields_)
        problem = "is missing" if wrong in _FIELDS else "is not known"
        raise CorruptFileError(f"{where}: the key {show(wrong)} {problem}.", path=path)
    for name, kind in _FIELDS.items():
        if name in content and name not in ("counts", "runners_up", "languages"):
            value: object = expect(content[name], _KINDS[str(kind)], f"{where}.{name}", path)
            if isinstance(value, int) and not 0 <= value < _END:
                raise CorruptFileError(f"{where}.{name} {show(value)} is not a number.", path=path)
    if content["stop_reason"] not in get_args(StopReason):
        shown = show(content["stop_reason"])
        raise CorruptFileError(f"{where}.stop_reason {shown} is not known.", path=path)
    counts = expect(content["counts"], list, f"{where}.counts", path)
    if len(counts) != merges or not _are_counts(counts):
        raise CorruptFileError(
            f"{where}.counts should have a number from 0 on, or null if it is not known, for each "
            f"of {several(merges, what)}.",
            path=path,
        )
    if "runners_up" in content:
        at = f"{where}.runners_up"
        content = content | {
            "runners_up": _runners_up(content["runners_up"], merges, tokens(), at, path)
        }
    if "languages" in content:
        languages = expect(content["languages"], list, f"{where}.languages", path)
        if len(languages) != merges or not set(map(type, languages)) <= {str, type(None)}:
            raise CorruptFileError(
                f"{where}.languages should have the name of a language, or null for all of them, "
                f"for each of {several(merges, 'merge')}.",
                path=path,
            )
    return TrainingRecord(**content)


def _are_counts(values: list[Any]) -> bool:
    """Whether all values are counts or null."""
    if not set(map(type, values)) <= {int, type(None)}:
        return False
    known = [value for value in values if value is not None]
    return min(known, default=0) >= 0 and max(known, default=0) < _END


def _runners_up(
    value: Any, merges: int, tokens: list[bytes | None], where: str, path: str | None
) -> list[list[tuple[int, int, int]]]:
    found = expect(value, list, where, path)
    pairs = [pair for each in found for pair in expect(each, list, where, path)]
    known = {id for id, token in enumerate(tokens) if token is not None}
    right = all(
        type(pair) is list
        and [*map(type, pair)] == [int] * 3
        and known.issuperset(pair[:2])
        and 0 <= pair[2] < _END
        for pair in pairs
    )
    if len(found) != merges or not right:
        raise CorruptFileError(
            f"{where} should be a list of [left id, right id, count] for each of the {merges} "
            "merges.",
            path=path,
        )
    return [[(left, right, count) for left, right, count in each] for each in found]


def check_digest(
    own: dict[str, Any] | None, definition: Definition | Compact, path: str | None
) -> None:
    """Refuses a file in which anything of digram's has changed since it was saved."""
    if own is None:
        return
    compared = {}
    if "digest" in own:
        found = definition.digest() if isinstance(definition, Compact) else digest(definition)
        compared["digest"] = found
    if "seal" in own:
        compared["seal"] = _seal(own)
    for key, found in compared.items():
        if own[key] != found:
            what = "the file holds" if key == "digest" else "stands under model.digram"
            raise CorruptFileError(
                f"what {what} does not fit its {key}, so it was changed after it was saved.",
                path=path,
                value=own[key],
                hint="Save the tokenizer again. If the change was meant, remove the keys 'digest' "
                "and 'seal' from model.digram.",
            )
