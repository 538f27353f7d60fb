"""Convert normalizers to and from Hugging Face's `normalizer`."""

from __future__ import annotations

from base64 import b64encode
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

from digram.errors import CorruptFileError, OptionError, PatternError, VocabError
from digram.formats._json import expect, unsupported
from digram.formats._portable import check_portable, from_oniguruma
from digram.formats._show import show
from digram.formats._splits import only
from digram.pretokenizers.normalizers import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    BertNormalizer,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SentencePiece,
    Strip,
    StripAccents,
    Words,
)
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.pretokenizers.regex import Regex

__all__ = ["before_letters", "from_normalizer", "to_normalizer"]

_ALONE: dict[str, Normalizer] = {
    "NFC": NFC(),
    "NFD": NFD(),
    "NFKC": NFKC(),
    "NFKD": NFKD(),
    "Lowercase": Lowercase(),
    "StripAccents": StripAccents(),
    "Nmt": Nmt(),
}
_OF_WORDS = tuple(field.name for field in fields(Words))
_NAME = {stage: name for name, stage in _ALONE.items()}

_unsupported = partial(
    unsupported,
    hint=f"digram reads {', '.join(_ALONE)}, BertNormalizer, Strip, Prepend, Replace, Precompiled, "
    "sequences of them, and for bytes ByteLevel at the end; anything else would give other ids.",
)


def to_normalizer(stages: Sequence[Normalizer], own: bool = False) -> dict[str, Any] | None:
    """The `normalizer` of a tokenizer.json.

    Words are stages of the `pre_tokenizer`, except in a file that is only for digram (`own`).

    Raises `PatternError` for a regex that Hugging Face's engine interprets differently.
    """
    written = [_written(one, own) for one in stages if own or not isinstance(one, Words)]
    if len(written) < 2:
        return written[0] if written else None
    return {"type": "Sequence", "normalizers": written}


def _written(stage: Normalizer, own: bool) -> dict[str, Any]:
    if isinstance(stage, Replace):
        return _of_replace(stage)
    if isinstance(stage, SentencePiece):
        return _of_sentencepiece(stage, own)
    for kind, fields_of in _WRITERS.items():
        if isinstance(stage, kind):
            return {"type": kind.__name__, **fields_of(stage)}
    return {"type": _NAME[stage]}


_WRITERS: dict[type, Callable[[Any], dict[str, Any]]] = {
    Strip: lambda stage: {"strip_left": stage.left, "strip_right": stage.right},
    Prepend: lambda stage: {"prepend": stage.text},
    Words: lambda stage: dict(zip(_OF_WORDS, stage._described()[1:], strict=False)),
    BertNormalizer: asdict,
    Precompiled: lambda stage: {"precompiled_charsmap": b64encode(stage.charsmap).decode()},
}
"""The fields of each kind."""


def _of_replace(stage: Replace) -> dict[str, Any]:
    pattern = {"String": stage.pattern}
    if isinstance(stage.pattern, Regex):
        check_portable(stage.pattern.pattern)
        pattern = {"Regex": stage.pattern.pattern}
    return {"type": "Replace", "pattern": pattern, "content": stage.content}


def _of_sentencepiece(stage: SentencePiece, own: bool) -> dict[str, Any]:
    """A stage that only files for digram have."""
    if not own:
        raise VocabError(
            "a tokenizer.json cannot store SentencePiece among its normalizers.",
            value="SentencePiece",
            hint='Save it with format="digram".',
        )
    charsmap = b64encode(stage.charsmap).decode()
    values = asdict(stage) | {"charsmap": charsmap, "symbols": list(stage.symbols)}
    return {"type": "SentencePiece", **values}


def from_normalizer(value: Any, path: str | None, where: str = "normalizer") -> list[Normalizer]:
    """The stages of a `normalizer`.

    Raises `VocabError` for one that digram cannot reproduce, `CorruptFileError` for a damaged one.
    """
    if value is None:
        return []
    stage = expect(value, dict, where, path)
    kind = expect(stage.get("type"), str, f"{where}.type", path)
    if kind == "Sequence":
        only(stage, {"type", "normalizers"}, where, path)
        inner = expect(stage.get("normalizers"), list, f"{where}.normalizers", path)
        found = []
        for index, one in enumerate(inner):
            found += from_normalizer(one, path, f"{where}.normalizers[{index}]")
        return found
    if kind in _ALONE:
        only(stage, {"type"}, where, path)
        return [_ALONE[kind]]
    if kind in _READERS:
        return [_READERS[kind](stage, where, path)]
    raise _unsupported(f"{where} {show(kind)}", path)


def before_letters(value: Any, path: str | None) -> tuple[Any, bool]:
    """A `normalizer` without the `ByteLevel` at its end, and whether it had one.

    >>> before_letters({"type": "ByteLevel"}, None), before_letters({"type": "NFC"}, None)
    ((None, True), ({'type': 'NFC'}, False))
    """
    if not isinstance(value, dict):
        return value, False
    if value.get("type") == "ByteLevel":
        only(value, {"type"}, "normalizer", path)
        return None, True
    stages = value.get("normalizers")
    if value.get("type") != "Sequence" or not isinstance(stages, list) or not stages:
        return value, False
    last, is_letters = before_letters(stages[-1], path)
    kept = [*stages[:-1], *([] if last is None else [last])]
    return (value | {"normalizers": kept} if is_letters else value), is_letters


def _strip(stage: dict[str, Any], where: str, path: str | None) -> Strip:
    only(stage, {"type", "strip_left", "strip_right"}, where, path)
    sides = (
        expect(stage.get(f"strip_{side}"), bool, f"{where}.strip_{side}", path)
        for side in ("left", "right")
    )
    return Strip(*sides)


def _prepend(stage: dict[str, Any], where: str, path: str | None) -> Prepend:
    only(stage, {"type", "prepend"}, where, path)
    return Prepend(expect(stage.get("prepend"), str, f"{where}.prepend", path))


def _bert(stage: dict[str, Any], where: str, path: str | None) -> BertNormalizer:
    names = [field.name for field in fields(BertNormalizer)]
    only(stage, {"type", *names}, where, path)
    values: dict[str, Any] = {name: stage.get(name) for name in names}
    for name, value in values.items():
        if name != "strip_accents" or value is not None:
            expect(value, bool, f"{where}.{name}", path)
    return BertNormalizer(**values)


def _words(stage: dict[str, Any], where: str, path: str | None) -> Words:
    """Words in a file of digram."""
    only(stage, {"type", *_OF_WORDS}, where, path)
    try:
        marks = _OF_WORDS if "letters" in stage else _OF_WORDS[:-3]
        return Words._of(*(stage.get(name) for name in marks))
    except (TypeError, OptionError) as error:
        problem = str(error)
        raise CorruptFileError(f"{where}: {problem}", path=path) from None


def _replace(stage: dict[str, Any], where: str, path: str | None) -> Replace:
    only(stage, {"type", "pattern", "content"}, where, path)
    pattern = expect(stage.get("pattern"), dict, f"{where}.pattern", path)
    if len(pattern) != 1 or not pattern.keys() <= {"Regex", "String"}:
        raise _unsupported(f"{where}.pattern other than a Regex or a String", path)
    ((kind, text),) = pattern.items()
    expect(text, str, f"{where}.pattern.{kind}", path)
    content = expect(stage.get("content"), str, f"{where}.content", path)
    try:
        found = Replace(Regex(from_oniguruma(text, path)) if kind == "Regex" else text, content)
        Pretokenizer(None, normalizer=found)
        return found
    except OptionError as error:
        raise VocabError(f"{where}: {error.message}", path=path, value=error.value) from None
    except PatternError as error:
        raise PatternError(
            f"{where}: {error.message}", path=path, value=error.value, hint=error.hint
        ) from None


def _precompiled(stage: dict[str, Any], where: str, path: str | None) -> Precompiled:
    only(stage, {"type", "precompiled_charsmap"}, where, path)
    charsmap = _charsmap(stage, "precompiled_charsmap", where, path)
    if not charsmap:
        raise _unsupported(f"{where}.precompiled_charsmap without content", path)
    return Precompiled(charsmap)


def _charsmap(stage: dict[str, Any], key: str, where: str, path: str | None) -> bytes:
    text = expect(stage.get(key), str, f"{where}.{key}", path)
    try:
        charsmap = a2b_base64(text, strict_mode=True)
    except (Base64Error, ValueError) as error:
        raise CorruptFileError(f"{where}.{key} is not base64: {error}.", path=path) from None
    return charsmap


def _sentencepiece(stage: dict[str, Any], where: str, path: str | None) -> SentencePiece:
    only(stage, {"type", "charsmap", "add_space", "remove_spaces", "symbols"}, where, path)
    remove = expect(stage.get("remove_spaces"), bool, f"{where}.remove_spaces", path)
    symbols = expect(stage.get("symbols"), list, f"{where}.symbols", path)
    try:
        return SentencePiece(
            _charsmap(stage, "charsmap", where, path),
            stage.get("add_space"),
            remove,
            tuple(symbols),
        )
    except (OptionError, TypeError) as error:
        raise CorruptFileError(f"{where}: {error}", path=path) from None


_READERS: dict[str, Callable[[dict[str, Any], str, str | None], Normalizer]] = {
    "Strip": _strip,
    "Prepend": _prepend,
    "Replace": _replace,
    "BertNormalizer": _bert,
    "Words": _words,
    "Precompiled": _precompiled,
    "SentencePiece": _sentencepiece,
}
