"""Special tokens as values, so that trusted and untrusted text can share one call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from digram._util.validation import instance, word
from digram.errors import OptionError, show

__all__ = [
    "FLAGS",
    "Flags",
    "Matching",
    "OnSpecial",
    "SpecialToken",
    "TextOrParts",
    "check_special",
    "checked",
    "flags_of",
    "named_tokens",
    "rule_of",
]

OnSpecial = Literal["text", "parse", "raise"] | Collection[str]
"""How the text of special tokens is encoded; a collection names the tokens to parse."""


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """A special token as part of a text.

    By default the text of a special token is encoded as plain text; a `SpecialToken` among the
    parts of a text is encoded as the token:

    >>> import digram
    >>> tok = digram.train("a user wrote this", max_merges=0, special_tokens=["<|im_start|>"])
    >>> tok.encode([digram.SpecialToken("<|im_start|>"), "<|im_start|>"])[:3]
    [256, 60, 124]
    """

    text: str

    def __post_init__(self) -> None:
        word("the text of a special token", self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """Where the text of a special token is that token, if not exactly as written and on request.

    `always` finds it in all text, whatever `special=` says; decoding never leaves it out. `lstrip`
    and `rstrip` take the white space before and after it into the token. `single_word` finds it
    only where no word character is directly before or after it. `normalized` searches for it in
    the normalized text between the tokens that are found without this flag.

    >>> import digram
    >>> from dataclasses import replace
    >>> tok = digram.train("a", max_merges=0, special_tokens=["<call>"])
    >>> called = replace(tok.definition, matching={"<call>": Matching(always=True, rstrip=True)})
    >>> tok.encode("<call> a")[:3], digram.Tokenizer(called).encode("<call> a")
    ([60, 99, 97], [256, 97])

    These are the flags of `AddedToken` in Hugging Face's tokenizers; `always` is its `special`
    negated.
    """

    always: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False

    def __post_init__(self) -> None:
        for flag in FLAGS:
            if type(getattr(self, flag)) is not bool:
                raise TypeError(f"{flag} is True or False, not {show(getattr(self, flag))}")


FLAGS = ("always", "lstrip", "rstrip", "single_word", "normalized")
"""The names of the fields of a `Matching`."""
Flags: TypeAlias = tuple[bool, bool, bool, bool, bool]
"""The fields of a `Matching` in order."""


def checked(
    matching: Mapping[str, Matching] | None, special_tokens: Mapping[str, int]
) -> Mapping[str, Matching]:
    """The argument `matching`; raises if it names other texts than special tokens.

    >>> checked(None, {"<s>": 256})
    {}
    """
    for text, one in (matching or {}).items():
        instance(f"matching[{show(text)}]", one, Matching)
        if text not in special_tokens:
            raise OptionError(
                f"matching names {show(text)}, which is not a special token of this tokenizer.",
                value=text,
            )
    return matching or {}


def flags_of(matching: Matching | None) -> Flags:
    """The fields of a `Matching` in order; None is the default one.

    >>> flags_of(Matching(lstrip=True)), flags_of(None)
    ((False, True, False, False, False), (False, False, False, False, False))
    """
    found = matching or Matching()
    return (
        found.always,
        found.lstrip,
        found.rstrip,
        found.single_word,
        found.normalized,
    )


TextOrParts: TypeAlias = str | bytes | Sequence[str | bytes | SpecialToken]
"""A text, or a list or tuple of its parts, which may include special tokens."""


def rule_of(special: OnSpecial) -> OnSpecial | None:
    """The argument for the core; None for "text", which is the fastest.

    >>> rule_of("text"), rule_of({"<s>"})
    (None, {'<s>'})
    >>> rule_of(5)
    Traceback (most recent call last):
        ...
    TypeError: special is "text", "parse", "raise" or a set of str, not 5
    """
    if isinstance(special, str) and special == "text":
        return None
    if special is not None:  # which the core takes too
        check_special(special)
    return special


def check_special(special: OnSpecial) -> None:
    """Raise `TypeError` if `special` is not iterable; the core checks the words and names in it."""
    if not isinstance(special, Iterable):
        raise TypeError(f'special is "text", "parse", "raise" or a set of str, not {show(special)}')


def named_tokens(special_tokens: Mapping[str, int]) -> str:
    """The special tokens that a tokenizer has, as a sentence of a message about another one.

    >>> named_tokens({}), named_tokens({"<s>": 7})
    ('It has no special tokens.', "Its special tokens: '<s>'.")
    """
    if not special_tokens:
        return "It has no special tokens."
    shown = ", ".join(map(show, [*special_tokens][:5]))
    more = f", … {len(special_tokens):,} in all" if len(special_tokens) > 5 else ""
    return f"Its special tokens: {shown}{more}."
