"""Convert normalizers to and from Hugging Face's `normalizer`."""

from __future__ import annotations

from base64 import b64encode
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from digram.errors import CorruptFileError, OptionError, VocabError
from digram.formats._json import expect, unsupported
from digram.formats._show import show
from digram.formats._splits import only
from digram.pretokenizers.normalizers import (
    NFC,
    NFD,
    NFKC,
    NFKD,
    Lowercase,
    Nmt,
    Normalizer,
    Precompiled,
    Prepend,
    Replace,
    SentencePiece,
    SpacedWords,
    Strip,
    StripAccents,
)

__all__ = ["from_normalizer", "to_normalizer"]

_ALONE: dict[str, Normalizer] = {
    "NFC": NFC(),
    "NFD": NFD(),
    "NFKC": NFKC(),
    "NFKD": NFKD(),
    "Lowercase": Lowercase(),
    "StripAccents": StripAccents(),
    "Nmt": Nmt(),
}
_ONLY_HERE = ("once", "first")
"""Flags of `Prepend` that other libraries do not have."""
_NAME = {stage: name for name, stage in _ALONE.items()}

_unsupported = partial(
    unsupported,
    hint=f"digram reads {', '.join(_ALONE)}, Strip, Prepend, Precompiled, Replace of a String, and "
    "sequences of them; anything else would result in other ids.",
)


def to_normalizer(stages: Sequence[Normalizer], own: bool = False) -> dict[str, Any] | None:
    """The `normalizer` of a tokenizer.json.

    Raises `VocabError` for a stage that Hugging Face's libraries do not have, unless the file is
    only for digram (`own`).
    """
    written = [_written(stage, own) for stage in stages]
    if len(written) < 2:
        return written[0] if written else None
    return {"type": "Sequence", "normalizers": written}


def _written(stage: Normalizer, own: bool) -> dict[str, Any]:
    if isinstance(stage, Strip):
        return {"type": "Strip", "strip_left": stage.left, "strip_right": stage.right}
    if isinstance(stage, Prepend):
        flags = {name: True for name in _ONLY_HERE if getattr(stage, name)}
        if flags and not own:
            raise VocabError(
                f"a tokenizer.json cannot store {stage!r} among its normalizers.",
                value=stage,
                hint='Save it with format="digram".',
            )
        return {"type": "Prepend", "prepend": stage.text, **flags}
    if isinstance(stage, Replace):
        return {
            "type": "Replace",
            "pattern": {"String": stage.pattern},
            "content": stage.content,
        }
    if isinstance(stage, Precompiled):
        charsmap = b64encode(stage.charsmap).decode()
        return {"type": "Precompiled", "precompiled_charsmap": charsmap}
    if isinstance(stage, SentencePiece | SpacedWords):
        return _own_stage(stage, own)
    return {"type": _NAME[stage]}


def _own_stage(stage: SentencePiece | SpacedWords, own: bool) -> dict[str, Any]:
    """A stage that only files for digram have."""
    if not own:
        raise VocabError(
            f"a tokenizer.json cannot store {type(stage).__name__} among its normalizers.",
            value=type(stage).__name__,
            hint='Save it with format="digram".',
        )
    values = asdict(stage)
    if isinstance(stage, SentencePiece):
        values["charsmap"] = b64encode(stage.charsmap).decode()
        values["symbols"] = list(stage.symbols)
    return {"type": type(stage).__name__, **values}


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
    if kind not in _READERS:
        raise _unsupported(f"{where} {show(kind)}", path)
    return [_READERS[kind](stage, where, path)]


def _alone(stage: dict[str, Any], where: str, path: str | None) -> Normalizer:
    only(stage, {"type"}, where, path)
    return _ALONE[stage["type"]]


def _strip(stage: dict[str, Any], where: str, path: str | None) -> Strip:
    only(stage, {"type", "strip_left", "strip_right"}, where, path)
    sides = (
        expect(stage.get(f"strip_{side}"), bool, f"{where}.strip_{side}", path)
        for side in ("left", "right")
    )
    return Strip(*sides)


def _prepend(stage: dict[str, Any], where: str, path: str | None) -> Prepend:
    only(stage, {"type", "prepend", *_ONLY_HERE}, where, path)
    text = expect(stage.get("prepend"), str, f"{where}.prepend", path)
    flags = {
        name: expect(stage.get(name, False), bool, f"{where}.{name}", path) for name in _ONLY_HERE
    }
    return Prepend(text, **flags)


def _replace(stage: dict[str, Any], where: str, path: str | None) -> Replace:
    only(stage, {"type", "pattern", "content"}, where, path)
    pattern = expect(stage.get("pattern"), dict, f"{where}.pattern", path)
    if pattern.keys() != {"String"}:
        raise _unsupported(f"{where}.pattern other than a String", path)
    text = expect(pattern["String"], str, f"{where}.pattern.String", path)
    content = expect(stage.get("content"), str, f"{where}.content", path)
    try:
        return Replace(text, content)
    except OptionError as error:
        raise VocabError(f"{where}: {error.message}", path=path, value=error.value) from None


def _precompiled(stage: dict[str, Any], where: str, path: str | None) -> Precompiled:
    only(stage, {"type", "precompiled_charsmap"}, where, path)
    charsmap = _charsmap(stage, "precompiled_charsmap", where, path)
    if not charsmap:
        raise _unsupported(f"{where}.precompiled_charsmap without content", path)
    return Precompiled(charsmap)


def _spaced_words(stage: dict[str, Any], where: str, path: str | None) -> SpacedWords:
    only(stage, {"type", "symbol"}, where, path)
    symbol = expect(stage.get("symbol"), str, f"{where}.symbol", path)
    if len(symbol) != 1:
        raise CorruptFileError(f"{where}.symbol is not one character.", path=path)
    return SpacedWords(symbol)


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
    **dict.fromkeys(_ALONE, _alone),
    "Strip": _strip,
    "Prepend": _prepend,
    "Replace": _replace,
    "Precompiled": _precompiled,
    "SentencePiece": _sentencepiece,
    "SpacedWords": _spaced_words,
}
"""How each kind but a sequence is read."""
