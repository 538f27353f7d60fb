"""Settings that have no effect on a tokenizer, so that no file could store them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.errors import OptionError, show
from digram.vocab.special_tokens import SpecialToken

if TYPE_CHECKING:
    from digram.vocab.settings import Settings

__all__ = ["refuse_unused"]

_OF_CHARACTERS = "a vocabulary of bytes has no unknown characters"
_OF_NAMES = "tokens that depend on their place in a word have names with a prefix or a suffix"

_BEHIND = "words have their space at the end"


def refuse_unused(settings: Settings) -> None:
    """Raise `OptionError` for a setting that the unit or the model does not use."""
    kernel = settings.kernel
    fuses = getattr(kernel, "fuse_unknown", False)
    affixes = [getattr(kernel, name, "") for name in ("prefix", "suffix")]
    words = settings.pretokenizer.words
    has_symbol = words is not None and words.last.space_symbol is not None
    by_words = any(affixes) or kernel.kind == "wordpiece"
    by_words |= kernel.kind == "wordlevel" and not has_symbol
    of_letters = words is not None and words.last.letters
    has_token = isinstance(settings.on_unknown, SpecialToken | bytes)
    found: list[tuple[str, object, bool, str]]
    if settings.unit == "byte":
        found = [
            ("on_unknown", settings.on_unknown, has_token, _OF_CHARACTERS),
            ("fuse_unknown", fuses, fuses, _OF_CHARACTERS),
            ("space_symbol", settings.space_symbol, True, "only names of characters have it"),
            ("strip_first_space", settings.strip_first_space, bool(affixes[1]), _BEHIND),
        ]
    else:
        found = [
            ("trim_offsets", settings.trim_offsets, not of_letters, "only bytes are trimmed"),
            ("fuse_unknown", fuses, not has_token, "unknown characters have no token"),
            ("space_symbol", settings.space_symbol, by_words, _OF_NAMES),
            ("strip_first_space", settings.strip_first_space, bool(affixes[1]), _BEHIND),
        ]
    for name, value, is_unused, reason in found:
        if value and is_unused:
            raise OptionError(
                f"{name}={show(value)} has no effect on this tokenizer: {reason}.",
                value=value,
                hint="Leave it out.",
            )
