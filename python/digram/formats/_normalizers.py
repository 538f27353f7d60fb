"""Convert normalizers to and from Hugging Face's `normalizer`."""

from __future__ import annotations

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
    Prepend,
    Replace,
    Strip,
    StripAccents,
    Words,
)
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.pretokenizers.regex import Regex

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
_OF_WORDS = tuple(field.name for field in fields(Words))
_NAME = {stage: name for name, stage in _ALONE.items()}

_unsupported = partial(
    unsupported,
    hint=f"digram reads {', '.join(_ALONE)}, BertNormalizer, Strip, Prepend, Replace, and "
    "sequences of them; anything else would result in other ids.",
)


def to_normalizer(stages: Sequence[Normalizer], own: bool = False) -> dict[str, Any] | None:
    """The `normalizer` of a tokenizer.json.

    Words are stages of the `pre_tokenizer`, except in a file that is only for digram (`own`).

    Raises `PatternError` for a regex that Hugging Face's engine interprets differently.
    """
    written = [_written(one) for one in stages if own or not isinstance(one, Words)]
    if len(written) < 2:
        return written[0] if written else None
    return {"type": "Sequence", "normalizers": written}


def _written(stage: Normalizer) -> dict[str, Any]:
    if isinstance(stage, Strip):
        return {"type": "Strip", "strip_left": stage.left, "strip_right": stage.right}
    if isinstance(stage, Prepend):
        return {"type": "Prepend", "prepend": stage.text}
    if isinstance(stage, Replace):
        pattern = {"String": stage.pattern}
        if isinstance(stage.pattern, Regex):
            check_portable(stage.pattern.pattern)
            pattern = {"Regex": stage.pattern.pattern}
        return {"type": "Replace", "pattern": pattern, "content": stage.content}
    if isinstance(stage, Words):
        return {"type": "Words", **dict(zip(_OF_WORDS, stage._described()[1:], strict=True))}
    if isinstance(stage, BertNormalizer):
        return {"type": "BertNormalizer", **asdict(stage)}
    return {"type": _NAME[stage]}


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
        return Words._of(*(stage.get(name) for name in _OF_WORDS))
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


_READERS: dict[str, Callable[[dict[str, Any], str, str | None], Normalizer]] = {
    "Strip": _strip,
    "Prepend": _prepend,
    "Replace": _replace,
    "BertNormalizer": _bert,
    "Words": _words,
}
