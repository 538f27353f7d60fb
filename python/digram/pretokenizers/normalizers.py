r"""Normalizers change a text before it is split into pretokens.

They are stages, applied in order, and do what those of Hugging Face's tokenizers do, with the same
results. A text that is already normal is checked and not copied.

>>> from digram.pretokenizers import NFC, Lowercase, Pretokenizer, pretokenize
>>> pretokenize("E\u0301te\u0301 2024", Pretokenizer("gpt2", normalizer=[NFC(), Lowercase()]))
['été', ' 2024']

Normalization loses text: `decode` gives the normalized text. Offsets are those of the given text.
Between special tokens each stretch of text is normalized on its own. Bytes that are not UTF-8 stay
as they are, and nothing joins with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias

from digram._util.validation import check_text, choice
from digram.errors import OptionError, show
from digram.pretokenizers.regex import Regex

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "BertNormalizer",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Precompiled",
    "Prepend",
    "Replace",
    "SentencePiece",
    "Strip",
    "StripAccents",
    "Words",
    "described",
    "from_described",
    "stages_of",
]


_MAX_RULES = 20
"""The number of rules for words, each of which cuts the words of the one before."""
_SHOWN = 16
"""`repr` counts the bytes of longer maps, and more symbols."""


class _Stage:
    """A stage of a normalizer: a value with the name that the core knows."""

    __slots__ = ()
    _name: ClassVar[str]

    def _described(self) -> tuple[object, ...]:
        """The name and the fields as the core reads them."""
        return self._name, *(_plain(getattr(self, one.name)) for one in fields(self))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class NFC(_Stage):
    r"""Unicode's composed form: a letter and its marks become one character where there is one.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("e\u0301", Pretokenizer(None, normalizer=NFC())) == ["\u00e9"]
    True

    Like the other three forms it follows Unicode 9, as Hugging Face's library does: characters that
    are newer do not change. Source: unicode.org/reports/tr15.
    """

    _name: ClassVar[str] = "nfc"


@dataclass(frozen=True, slots=True)
class NFD(_Stage):
    r"""Unicode's decomposed form: characters are taken apart into letters and marks.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("\u00e9", Pretokenizer(None, normalizer=NFD())) == ["e\u0301"]
    True
    """

    _name: ClassVar[str] = "nfd"


@dataclass(frozen=True, slots=True)
class NFKC(_Stage):
    r"""As `NFC`, and variants become plain: ligatures, full-width letters, numbers in circles.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("\ufb01t \uff21 \u2460", Pretokenizer(None, normalizer=NFKC()))
    ['fit A 1']
    """

    _name: ClassVar[str] = "nfkc"


@dataclass(frozen=True, slots=True)
class NFKD(_Stage):
    r"""As `NFD`, and variants become plain, as in `NFKC`.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("\uff21\u00c5", Pretokenizer(None, normalizer=NFKD())) == ["AA\u030a"]
    True
    """

    _name: ClassVar[str] = "nfkd"


@dataclass(frozen=True, slots=True)
class Lowercase(_Stage):
    """Each character in lower case, without regard to its neighbours: a sigma at the end stays one.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("ΑΣ Straße", Pretokenizer("gpt2", normalizer=Lowercase()))
    ['ασ', ' straße']
    """

    _name: ClassVar[str] = "lowercase"


@dataclass(frozen=True, slots=True)
class StripAccents(_Stage):
    r"""Without marks (category M). Characters are not taken apart: put `NFD` before it.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("\u00e9te\u0301", Pretokenizer(None, normalizer=[NFD(), StripAccents()]))
    ['ete']
    """

    _name: ClassVar[str] = "strip_accents"


@dataclass(frozen=True, slots=True)
class Nmt(_Stage):
    r"""Without control characters; tabs, line ends and some special spaces become spaces.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("a\tb\u200bc\x07", Pretokenizer(None, normalizer=Nmt()))
    ['a b c']
    """

    _name: ClassVar[str] = "nmt"


@dataclass(frozen=True, slots=True)
class Strip(_Stage):
    r"""Without white space at the start, at the end, or both.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize(" a b\n", Pretokenizer(None, normalizer=Strip()))
    ['a b']
    """

    left: bool = True
    right: bool = True
    _name: ClassVar[str] = "strip"

    def __post_init__(self) -> None:
        _flags("left and right", self.left, self.right)


@dataclass(frozen=True, slots=True)
class Prepend(_Stage):
    """With a text before each stretch of text that is not empty.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("low", Pretokenizer(None, normalizer=Prepend("_")))
    ['_low']
    """

    text: str
    _name: ClassVar[str] = "prepend"

    def __post_init__(self) -> None:
        check_text("the text of Prepend", self.text)


@dataclass(frozen=True, slots=True)
class Replace(_Stage):
    r"""With one text in place of another, from the left; what was put in is not searched again.

    >>> from digram.pretokenizers import Pretokenizer, Regex, pretokenize
    >>> pretokenize("a b", Pretokenizer(None, normalizer=Replace(" ", "▁")))
    ['a▁b']

    The pattern may be a regex, each match of which is replaced by the text `content` as it is:

    >>> pretokenize("a \n b", Pretokenizer(None, normalizer=Replace(Regex(r"\s+"), " ")))
    ['a b']
    """

    pattern: str | Regex
    content: str
    _name: ClassVar[str] = "replace"

    def __post_init__(self) -> None:
        check_text("the content of Replace", self.content)
        if isinstance(self.pattern, Regex):
            return
        check_text("the pattern of Replace", self.pattern)
        if not self.pattern:
            raise OptionError("the pattern of Replace is empty.", value=self.pattern)

    def _described(self) -> tuple[object, ...]:
        if isinstance(self.pattern, Regex):
            return "replace_matches", self.pattern.pattern, self.content
        return "replace", self.pattern, self.content

    @classmethod
    def _of_matches(cls, regex: Any, content: Any) -> Replace:
        """The reverse of `_described` for a regex."""
        return cls(Regex(regex), content)


@dataclass(frozen=True, slots=True)
class BertNormalizer(_Stage):
    r"""The normalization of BERT.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("Á\tb中c", Pretokenizer(None, normalizer=BertNormalizer()))
    ['a b 中 c']

    `clean_text` drops control and private characters, and makes every white space a space.
    `handle_chinese_chars` puts a space on each side of ideographs. `strip_accents` takes characters
    apart and drops their marks, so that Hangul becomes its parts; None means the value of
    `lowercase`.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True
    _name: ClassVar[str] = "bert"

    def __post_init__(self) -> None:
        accents = self.lowercase if self.strip_accents is None else self.strip_accents
        flags = (self.clean_text, self.handle_chinese_chars, accents, self.lowercase)
        _flags("the options of BertNormalizer", *flags)


@dataclass(frozen=True, slots=True)
class Words(_Stage):
    r"""Cut the text into words, leave some parts out, and mark where words begin or end.

    >>> from digram.pretokenizers import Pretokenizer, Regex, pretokenize
    >>> by_space = Words((Regex(r"\s+"),), removed=Regex(r"\s"), prefix=" ")
    >>> pretokenize("to  be\n", Pretokenizer(None, normalizer=by_space))
    [' to', ' be']

    The text is cut at each match of the first regex of `splits`, every piece by the next, and so
    on. Pieces that begin with a match of `removed` are left out; the others are the words. A word
    gets `prefix` at its start, unless it begins with that already, and `suffix` at its end; in
    words the character `space_symbol` becomes a space. With `first` only words that come from the
    first character of the whole text get the prefix: not one after an added token, nor one before
    which text was left out. Then each word is split on its own.

    With `letters` each byte of a word is written as its letter in GPT-2's alphabet, between the
    prefix and the suffix, which are always put. With `keep` there is one split and no `removed`:
    only its "matches" are kept, or only what is "between" them. `then` is another rule, by which
    each word is cut again as a text of its own; it has no `first`.

    >>> of_letters = Words((Regex(r" ?\w+"),), prefix=" ", letters=True)
    >>> pretokenize("to be\n", Pretokenizer(None, normalizer=of_letters))
    [' to', ' Ġbe', ' Ċ']
    >>> pretokenize("to be", Pretokenizer(None, normalizer=Words(prefix=" ", then=of_letters)))
    [' Ġto', ' Ġbe']
    >>> numbers = Words((Regex(r"\d+(?=€)"),), keep="matches")
    >>> pretokenize("12€ 4$ 10€", Pretokenizer(None, normalizer=numbers))
    ['12', '10']

    It is the last stage of a normalizer. Added tokens that are searched for in normalized text are
    searched for before it.
    """

    splits: tuple[Regex, ...] = ()
    removed: Regex | None = None
    prefix: str = ""
    suffix: str = ""
    space_symbol: str | None = None
    first: bool = False
    letters: bool = False
    keep: Literal["matches", "between"] | None = None
    then: Words | None = None
    _name: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        splits = self.splits
        if not isinstance(splits, tuple) or not all(isinstance(one, Regex) for one in splits):
            raise TypeError(f"the splits of Words are a tuple of digram.Regex, not {show(splits)}")
        if self.removed is not None and not isinstance(self.removed, Regex):
            raise TypeError(f"removed is a digram.Regex or None, not {show(self.removed)}")
        check_text("the prefix of Words", self.prefix)
        check_text("the suffix of Words", self.suffix)
        _flags("the flags of Words", self.first, self.letters)
        if self.space_symbol is not None:
            check_text("space_symbol", self.space_symbol)
            if len(self.space_symbol) != 1:
                raise OptionError("space_symbol is one character.", value=self.space_symbol)
            if self.letters:
                raise OptionError(
                    "words in the letters of bytes have no space_symbol.", value=self.space_symbol
                )
        then = self.then
        if then is not None and not isinstance(then, Words):
            raise TypeError(f"then is digram.pretokenizers.Words or None, not {show(then)}")
        if then is not None and then.first:
            raise OptionError("the rule `then` has no first.", value=then)
        if self._depth > _MAX_RULES:
            raise OptionError(f"there are more than {_MAX_RULES} rules for words.", value=then)
        if self.keep is not None:
            choice("keep", self.keep, "matches", "between", None)
            if len(splits) != 1 or self.removed is not None:
                raise OptionError("with keep there is one split and no removed.", value=self.keep)

    def __repr__(self) -> str:
        from digram.pretokenizers import words  # made of this class

        for name in ("BERT_WORDS", "SPACED_WORDS"):
            if self == getattr(words, name):
                return name
        values = ((one.name, getattr(self, one.name), one.default) for one in fields(self))
        given = (f"{name}={value!r}" for name, value, default in values if value != default)
        return f"Words({', '.join(given)})"

    @property
    def last(self) -> Words:
        """The rule that is applied last, which is this one without a `then`."""
        return self if self.then is None else self.then.last

    @property
    def _depth(self) -> int:
        return 1 if self.then is None else 1 + self.then._depth

    def _described(self) -> tuple[object, ...]:
        removed = None if self.removed is None else self.removed.pattern
        splits = [one.pattern for one in self.splits]
        marks = (self.prefix, self.suffix, self.space_symbol, self.first)
        then = None if self.then is None else self.then._described()
        # Digests have the last three only where they are set.
        last = (self.letters, self.keep, then) if self.letters or self.keep or then else ()
        return self._name, splits, removed, *marks, *last

    @classmethod
    def _of(cls, splits: Any, removed: Any, *marks: Any) -> Words:
        """The reverse of `_described`; TypeError and `OptionError` for what it never gives."""
        regex = None if removed is None else Regex(removed)
        if len(marks) == 7 and marks[-1] is not None:
            then = marks[-1]
            if not isinstance(then, list) or then[:1] != [cls._name] or len(then) not in (7, 10):
                raise TypeError(f"then is a rule for words, not {show(then)}")
            marks = (*marks[:-1], cls._of(*then[1:]))
        return cls(tuple(map(Regex, splits)), regex, *marks)


@dataclass(frozen=True, slots=True)
class Precompiled(_Stage):
    """A character map of SentencePiece, as Hugging Face's libraries apply it.

    `charsmap` has the bytes of the map, as a file stores them. A grapheme cluster of fewer than six
    bytes becomes the replacement of the shortest entry that it begins with, so that marks behind it
    are lost; in longer clusters each character is replaced on its own. `SentencePiece` applies the
    same map in another way. Raises `OptionError` for damaged maps, when it is first used.
    """

    charsmap: bytes
    _name: ClassVar[str] = "precompiled"

    def __post_init__(self) -> None:
        _bytes("the charsmap of Precompiled", self.charsmap)

    def __repr__(self) -> str:
        return _brief(self)


@dataclass(frozen=True, slots=True)
class SentencePiece(_Stage):
    """What SentencePiece does with a text before it is encoded.

    >>> from digram.pretokenizers import Pretokenizer, SentencePiece, pretokenize
    >>> pretokenize("  two   words ", Pretokenizer(None, normalizer=SentencePiece()))
    [' two words']

    From left to right, the longest entry of `charsmap` is replaced; it has the bytes of the map, as
    a file stores them, none if empty. The texts of `symbols` remain as they are. With
    `remove_spaces` there are no spaces at the ends, and one between words. `add_space` is "before",
    "behind" or None: where a space is added to a text. "before word" is the rule of llama.cpp for
    the same models: a text of spaces has no other one added, and a symbol "▁" at the end of a text
    is kept. Tokens have real spaces here, so the symbol "▁", which SentencePiece does not tell from
    a space, becomes one. A byte that is not UTF-8 becomes U+FFFD. Raises `OptionError` for damaged
    maps, when it is first used.
    """

    charsmap: bytes = b""
    add_space: Literal["before", "behind", "before word"] | None = "before"
    remove_spaces: bool = True
    symbols: tuple[str, ...] = ()
    _name: ClassVar[str] = "sentencepiece"

    def __post_init__(self) -> None:
        _bytes("the charsmap of SentencePiece", self.charsmap)
        _flags("remove_spaces", self.remove_spaces)
        if self.add_space not in ("before", "behind", "before word", None):
            raise OptionError(
                f"add_space={show(self.add_space)} is not known.",
                value=self.add_space,
                hint='Choose "before", "behind", "before word" or None.',
            )
        if not isinstance(self.symbols, tuple):
            raise TypeError(f"symbols are a tuple of texts, not {show(self.symbols)}")
        for symbol in self.symbols:
            check_text("a symbol of SentencePiece", symbol)
            if not symbol:
                raise OptionError("a symbol of SentencePiece is empty.", value=symbol)

    def __repr__(self) -> str:
        return _brief(self)


Normalizer: TypeAlias = (
    NFC
    | NFD
    | NFKC
    | NFKD
    | Lowercase
    | StripAccents
    | Nmt
    | Strip
    | Prepend
    | Replace
    | BertNormalizer
    | Words
    | Precompiled
    | SentencePiece
)
"""A stage of normalization."""


def stages_of(normalizer: Normalizer | Sequence[Normalizer] | None) -> tuple[Normalizer, ...]:
    """The stages of the argument `normalizer=`.

    >>> stages_of(NFC()), stages_of(None)
    ((NFC(),), ())
    """
    stages = () if normalizer is None else normalizer
    if isinstance(stages, _Stage):
        stages = (stages,)
    if not isinstance(stages, Sequence) or not all(isinstance(one, _Stage) for one in stages):
        raise TypeError(
            "a normalizer is a stage such as digram.pretokenizers.NFC(), a sequence of them, or "
            f"None, not {show(normalizer)}"
        )
    if any(isinstance(one, Words) for one in stages[:-1]):
        raise OptionError("Words is the last stage of a normalizer.", value=stages)
    return tuple(stages)


def described(stages: Sequence[Normalizer]) -> list[tuple[object, ...]]:
    """The stages as the core reads them: a name, and its arguments.

    >>> described([Strip(), Replace("a", "b")])
    [('strip', True, True), ('replace', 'a', 'b')]

    Bytes are written as text, one character for each.
    """
    return [stage._described() for stage in stages]


def from_described(found: object) -> tuple[Normalizer, ...]:
    """The reverse of `described`, of lists; TypeError and `OptionError` for what it never gives.

    >>> from_described([["nfc"], ["replace", "a", "b"]])
    (NFC(), Replace(pattern='a', content='b'))
    """
    if not isinstance(found, list):
        raise TypeError(f"stages are a list, not {show(found)}")
    stages = []
    for one in found:
        if not isinstance(one, list) or not one or one[0] not in _NAMED:
            raise TypeError(f"there is no stage of a normalizer {show(one)}")
        stages.append(_NAMED[one[0]](*_restored(one[0], one[1:])))
    return tuple(stages)


def _plain(value: object) -> object:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _restored(name: str, values: list[Any]) -> list[Any]:
    """The values of a stage in the types that it has."""
    if name not in ("precompiled", "sentencepiece") or not values:
        return values
    charsmap = values[0]
    try:
        first = charsmap.encode("latin-1") if isinstance(charsmap, str) else charsmap
    except UnicodeEncodeError:
        raise TypeError("the bytes of a charsmap are characters up to U+00FF") from None
    return [first, *(tuple(one) if isinstance(one, list) else one for one in values[1:])]


_KINDS = (NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Nmt, Strip, Prepend, Replace)
_NAMED: dict[str, Callable[..., Normalizer]] = {
    **{kind._name: kind for kind in (*_KINDS, BertNormalizer, Precompiled, SentencePiece)},
    "replace_matches": Replace._of_matches,
    Words._name: Words._of,
}


def _brief(stage: _Stage) -> str:
    """A stage as the code that makes it, except that long values are only counted."""
    shown = []
    for one in fields(stage):  # type: ignore[arg-type]
        value = getattr(stage, one.name)
        is_long = isinstance(value, bytes | tuple) and len(value) > _SHOWN
        unit = "bytes" if isinstance(value, bytes) else one.name
        shown.append(f"{one.name}=" + (f"<{len(value):,} {unit}>" if is_long else repr(value)))
    return f"{type(stage).__name__}({', '.join(shown)})"


def _flags(what: str, *values: object) -> None:
    for value in values:
        if type(value) is not bool:
            raise TypeError(f"{what} are True or False, not {show(value)}")


def _bytes(what: str, value: object) -> None:
    if not isinstance(value, bytes):
        raise TypeError(f"{what} is bytes, not {show(value)}")
