r"""The steps of a `digram.Decoding`, which are the decoders of Hugging Face's tokenizers.

Each makes a new list of tokens of a list of tokens. The first list has the names of the tokens, as
a `tokenizer.json` writes them; the tokens of the last list are joined.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import ClassVar, Literal, TypeAlias

from digram._util.validation import check_text, choice
from digram.errors import OptionError, show
from digram.pretokenizers.regex import Regex

__all__ = [
    "BpeDecoder",
    "ByteFallback",
    "ByteLevel",
    "Ctc",
    "Fuse",
    "Metaspace",
    "Replace",
    "Spaced",
    "Step",
    "StripEnds",
    "WordPiece",
]

_MAX_NUMBER = 1 << 32


class _Step:
    """A step: a value with the name that the core knows."""

    __slots__ = ()
    _name: ClassVar[str]

    def _described(self) -> tuple[object, ...]:
        """The name and the fields as the core reads them."""
        return self._name, *(getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ByteLevel(_Step):
    """The bytes whose letters the tokens are, as one token.

    A token with other characters is its UTF-8. U+FFFD replaces bytes that are not UTF-8.
    """

    _name: ClassVar[str] = "byte_level"


@dataclass(frozen=True, slots=True)
class WordPiece(_Step):
    """With a space before each token but the first, or without its prefix if it has that.

    With `cleanup` each token is without spaces before punctuation and some endings.
    """

    prefix: str = "##"
    cleanup: bool = True
    _name: ClassVar[str] = "word_piece"

    def __post_init__(self) -> None:
        check_text("the prefix of WordPiece", self.prefix)
        _flag("cleanup", self.cleanup)


@dataclass(frozen=True, slots=True)
class Metaspace(_Step):
    """With a space in place of a symbol; the first token is without it, unless the scheme is never.

    The schemes "always" and "first" differ only in how text is encoded.
    """

    symbol: str = "▁"
    prepend_scheme: Literal["always", "first", "never"] = "always"
    _name: ClassVar[str] = "metaspace"

    def __post_init__(self) -> None:
        _character("the symbol of Metaspace", self.symbol)
        choice("prepend_scheme", self.prepend_scheme, "always", "first", "never")


@dataclass(frozen=True, slots=True)
class BpeDecoder(_Step):
    """With a space in place of a suffix in each token, and without the suffix in the last one."""

    suffix: str = "</w>"
    _name: ClassVar[str] = "bpe_decoder"

    def __post_init__(self) -> None:
        check_text("the suffix of BpeDecoder", self.suffix)


@dataclass(frozen=True, slots=True)
class ByteFallback(_Step):
    """With text in place of tokens of bytes in a row, such as `<0xC3>` and `<0xA9>`.

    If the bytes of a row are not UTF-8, each of them becomes U+FFFD.
    """

    _name: ClassVar[str] = "byte_fallback"


@dataclass(frozen=True, slots=True)
class Fuse(_Step):
    """All tokens as one."""

    _name: ClassVar[str] = "fuse"


@dataclass(frozen=True, slots=True)
class StripEnds(_Step):
    """Each token without a character at its ends.

    The character is left out up to `start` times at the start and up to `stop` times at the end.
    Hugging Face's library fails where no characters are left before it has left out as many.
    """

    content: str
    start: int
    stop: int
    _name: ClassVar[str] = "strip_ends"

    def __post_init__(self) -> None:
        _character("the content of StripEnds", self.content)
        for name in ("start", "stop"):
            value = getattr(self, name)
            if type(value) is not int:
                raise TypeError(f"{name} is a whole number, not {show(value)}")
            if not 0 <= value < _MAX_NUMBER:
                raise OptionError(
                    f"{name}={show(value)} is not a number from 0 to {_MAX_NUMBER - 1:,}.",
                    value=value,
                )


@dataclass(frozen=True, slots=True)
class Replace(_Step):
    """With one text in place of another in each token, or in place of each match of a regex.

    An empty pattern is at both sides of each character; a token without characters has none.
    """

    pattern: str | Regex
    content: str
    _name: ClassVar[str] = "replace"

    def __post_init__(self) -> None:
        check_text("the content of Replace", self.content)
        if not isinstance(self.pattern, Regex):
            check_text("the pattern of Replace", self.pattern)

    def _described(self) -> tuple[object, ...]:
        if isinstance(self.pattern, Regex):
            return "replace_matches", self.pattern.pattern, self.content
        return self._name, self.pattern, self.content


@dataclass(frozen=True, slots=True)
class Ctc(_Step):
    """Each token once where it is repeated, without the pad token; as models of speech need it.

    With `cleanup` a token is without spaces before punctuation and some endings, and has a space in
    place of `word_delimiter`. Tokens of which nothing is left are left out.
    """

    pad: str = "<pad>"
    word_delimiter: str = "|"
    cleanup: bool = True
    _name: ClassVar[str] = "ctc"

    def __post_init__(self) -> None:
        check_text("the pad token of Ctc", self.pad)
        check_text("the word delimiter of Ctc", self.word_delimiter)
        _flag("cleanup", self.cleanup)


@dataclass(frozen=True, slots=True)
class Spaced(_Step):
    """With a space between all tokens, as a `tokenizer.json` without a decoder means it.

    It is the only step of a decoding.
    """

    _name: ClassVar[str] = "spaced"


Step: TypeAlias = (
    ByteLevel
    | WordPiece
    | Metaspace
    | BpeDecoder
    | ByteFallback
    | Fuse
    | StripEnds
    | Replace
    | Ctc
    | Spaced
)


def _flag(name: str, value: object) -> None:
    if type(value) is not bool:
        raise TypeError(f"{name} is True or False, not {show(value)}")


def _character(what: str, value: object) -> None:
    check_text(what, value)
    if not isinstance(value, str) or len(value) != 1:
        raise OptionError(f"{what} is one character, not {show(value)}.", value=value)
