"""Convert normalizers to and from Hugging Face's `normalizer`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from digram.errors import OptionError, VocabError
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
    Prepend,
    Replace,
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
    hint=f"digram reads {', '.join(_ALONE)}, Strip, Prepend, Replace of a String, and sequences of "
    "them; anything else would result in other ids.",
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
    if kind == "Strip":
        only(stage, {"type", "strip_left", "strip_right"}, where, path)
        sides = (
            expect(stage.get(f"strip_{side}"), bool, f"{where}.strip_{side}", path)
            for side in ("left", "right")
        )
        return [Strip(*sides)]
    if kind == "Prepend":
        only(stage, {"type", "prepend", *_ONLY_HERE}, where, path)
        text = expect(stage.get("prepend"), str, f"{where}.prepend", path)
        flags = {
            name: expect(stage.get(name, False), bool, f"{where}.{name}", path)
            for name in _ONLY_HERE
        }
        return [Prepend(text, **flags)]
    if kind == "Replace":
        return [_replace(stage, where, path)]
    raise _unsupported(f"{where} {show(kind)}", path)


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
