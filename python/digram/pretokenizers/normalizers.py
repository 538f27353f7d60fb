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
from dataclasses import astuple, dataclass
from typing import ClassVar, TypeAlias

from digram.errors import OptionError, show

__all__ = [
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Lowercase",
    "Nmt",
    "Normalizer",
    "Prepend",
    "Replace",
    "Strip",
    "StripAccents",
    "described",
    "from_described",
    "stages_of",
]


class _Stage:
    """A stage of a normalizer: a value with the name that the core knows."""

    __slots__ = ()
    _name: ClassVar[str]


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

    With `once` only if it does not start with that text already; with `first` only at the start of
    the whole text, not after special tokens.
    """

    text: str
    once: bool = False
    first: bool = False
    _name: ClassVar[str] = "prepend"

    def __post_init__(self) -> None:
        _text("the text of Prepend", self.text)
        _flags("once and first", self.once, self.first)


@dataclass(frozen=True, slots=True)
class Replace(_Stage):
    """With one text in place of another, from the left; what was put in is not searched again.

    >>> from digram.pretokenizers import Pretokenizer, pretokenize
    >>> pretokenize("a b", Pretokenizer(None, normalizer=Replace(" ", "▁")))
    ['a▁b']
    """

    pattern: str
    content: str
    _name: ClassVar[str] = "replace"

    def __post_init__(self) -> None:
        _text("the pattern of Replace", self.pattern)
        _text("the content of Replace", self.content)
        if not self.pattern:
            raise OptionError("the pattern of Replace is empty.", value=self.pattern)


Normalizer: TypeAlias = (
    NFC | NFD | NFKC | NFKD | Lowercase | StripAccents | Nmt | Strip | Prepend | Replace
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
    return tuple(stages)


def described(stages: Sequence[Normalizer]) -> list[tuple[object, ...]]:
    """The stages as the core reads them: a name, and its arguments.

    >>> described([Strip(), Replace("a", "b")])
    [('strip', True, True), ('replace', 'a', 'b')]
    """
    return [(stage._name, *astuple(stage)) for stage in stages]


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
        stages.append(_NAMED[one[0]](*one[1:]))
    return tuple(stages)


_NAMED: dict[str, Callable[..., Normalizer]] = {
    kind._name: kind
    for kind in (NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Nmt, Strip, Prepend, Replace)
}


def _flags(what: str, *values: object) -> None:
    for value in values:
        if type(value) is not bool:
            raise TypeError(f"{what} are True or False, not {show(value)}")


def _text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} is a str, not {show(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise OptionError(f"{what} has a lone surrogate.", value=value) from None
