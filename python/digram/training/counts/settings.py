"""The settings of counts, and the metadata that files store with the rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, get_args

from digram.errors import CorruptFileError, OptionError, PatternError
from digram.pretokenizers.normalizers import described, from_described
from digram.pretokenizers.pretokenizer import Digits, Pretokenizer, Regex
from digram.pretokenizers.rules import Rules
from digram.vocab.settings import Unit

__all__ = ["COLUMNS", "CountsMetadata", "fingerprint", "from_json", "spelled", "to_json"]

VERSION = 1
"""The version of the metadata. Later versions are refused."""

COLUMNS = ("piece", "count", "first")
"""The columns of a table of counts; the last is optional."""


@dataclass(frozen=True, slots=True)
class CountsMetadata:
    """The metadata of a file of counts.

    `end` is the end of the corpus, for first occurrences, and `skipped` the number of skipped
    records.
    """

    pretokenizer: Pretokenizer
    unit: Unit
    documents: int
    bytes: int
    pretokens: int
    end: int | None
    skipped: int = 0


def fingerprint(pretokenizer: Pretokenizer, unit: Unit) -> str:
    """SHA-256, in hexadecimal, of the settings that determine counts: patterns, digits, unit.

    Files store it, so it must never change. Newer settings are included only if they are set.
    """
    import hashlib

    made_with: dict[str, Any] = {
        "digits": pretokenizer.digits,
        "patterns": pretokenizer.patterns,
        "unit": unit,
    }
    if pretokenizer.rules is not None:
        made_with["rules"] = pretokenizer.rules.to_dict()
    if pretokenizer.normalizer:
        made_with["normalizer"] = described(pretokenizer.normalizer)
    if pretokenizer.byte_patterns:
        made_with["byte_patterns"] = pretokenizer.byte_patterns
    return hashlib.sha256(json.dumps(made_with, sort_keys=True).encode()).hexdigest()


def spelled(pretokenizer: Pretokenizer) -> str:
    """A pretokenizer as Python code, for messages.

    >>> spelled(Pretokenizer("gpt2")), spelled(Pretokenizer(None, digits="individual"))
    ('"gpt2"', "digram.Pretokenizer(None, digits='individual')")
    """
    if pretokenizer.is_plain:
        return f'"{pretokenizer.name}"' if pretokenizer.name else "None"
    code = f"digram.{pretokenizer!r}".replace("Regex(", "digram.Regex(")
    for stage in {repr(stage) for stage in pretokenizer.normalizer}:
        code = code.replace(stage, f"digram.pretokenizers.{stage}")
    return code.replace("rules=Rules(", "rules=digram.Rules(")


def to_json(metadata: CountsMetadata) -> str:
    """The metadata as a line of JSON, the same for equal counts."""
    cut = metadata.pretokenizer
    return json.dumps(
        {
            "format": VERSION,
            "fingerprint": fingerprint(cut, metadata.unit),
            "pretokenizer": {
                "name": cut.name,
                "patterns": cut.patterns,
                "digits": cut.digits,
                **({} if cut.rules is None else {"rules": cut.rules.to_dict()}),
                **({"normalizer": described(cut.normalizer)} if cut.normalizer else {}),
                **({"byte_patterns": cut.byte_patterns} if cut.byte_patterns else {}),
            },
            "unit": metadata.unit,
            "documents": metadata.documents,
            "bytes": metadata.bytes,
            "pretokens": metadata.pretokens,
            "end": metadata.end,
            # Newer fields are written only if they differ from the default.
            **({"skipped": metadata.skipped} if metadata.skipped else {}),
        },
        sort_keys=True,
    )


def from_json(line: str) -> CountsMetadata:
    """The reverse of `to_json`; `CorruptFileError` for an invalid line."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise CorruptFileError("the metadata of the file are not JSON.") from None
    version = _expect(_expect(found, dict, "it").get("format"), int, "format")
    if version > VERSION:
        raise CorruptFileError(
            f"the file has format {version}; this version of digram reads up to {VERSION}.",
            value=version,
            hint="Install a newer digram.",
        )
    metadata = CountsMetadata(
        pretokenizer=_pretokenizer(_expect(found.get("pretokenizer"), dict, "pretokenizer")),
        unit=_one_of(found.get("unit"), get_args(Unit), "unit"),
        documents=_number(found.get("documents"), "documents"),
        bytes=_number(found.get("bytes"), "bytes"),
        pretokens=_number(found.get("pretokens"), "pretokens"),
        end=None if found.get("end") is None else _number(found["end"], "end"),
        skipped=_number(found.get("skipped", 0), "skipped"),
    )
    if found.get("fingerprint") != fingerprint(metadata.pretokenizer, metadata.unit):
        raise CorruptFileError(
            "the fingerprint does not match the pretokenizer and the unit.",
            value=found.get("fingerprint"),
        )
    return metadata


def _pretokenizer(found: dict[str, Any]) -> Pretokenizer:
    regexes, byte_patterns = (
        [
            Regex(_expect(one, str, f"pretokenizer.{name}"))
            for one in _expect(value, list, f"pretokenizer.{name}")
        ]
        for name, value in (
            ("patterns", found.get("patterns")),
            ("byte_patterns", found.get("byte_patterns", [])),
        )
    )
    digits = found.get("digits")
    if digits is not None:
        digits = _one_of(digits, get_args(Digits), "pretokenizer.digits")
    try:
        rules = Rules.from_dict(found["rules"]) if "rules" in found else None
        normalizer = from_described(found.get("normalizer", []))
        return Pretokenizer(
            regexes,
            digits=digits,
            rules=rules,
            normalizer=normalizer,
            byte_patterns=byte_patterns,
        )
    except PatternError as error:
        raise CorruptFileError(f"a pattern is not supported: {error}") from None
    except (OptionError, TypeError) as error:
        raise CorruptFileError(f"the rules or the normalizer are not valid: {error}") from None


def _expect(value: Any, kind: type, name: str) -> Any:
    if type(value) is not kind:
        raise CorruptFileError(
            f"{name} is of type {type(value).__name__}, expected {kind.__name__}."
        )
    return value


def _number(value: Any, name: str) -> int:
    number: int = _expect(value, int, name)
    if not 0 <= number < 1 << 64:
        raise CorruptFileError(f"{name}={number} is not a number of 64 bits.")
    return number


def _one_of(value: Any, allowed: tuple[Any, ...], name: str) -> Any:
    if value not in allowed:
        raise CorruptFileError(f"{name}={value!r} is not known.")
    return value
