r"""Split text into pretokens, before merges are learned or applied.

A pretokenizer is a list of splits. Each divides every piece of the previous one: each match of its
pattern is a piece, and so is the text between two matches. The pieces of a text always join to that
text, or to the normalized text if the pretokenizer has a normalizer. No merge crosses the border of
a piece.

>>> pretokenize("It's 2,024 tokens", "gpt2")
['It', "'s", ' 2', ',', '024', ' tokens']
>>> pretokenize("It's 2024", Pretokenizer("gpt2", digits="individual"))
['It', "'s", ' ', '2', '0', '2', '4']

Character classes follow Unicode 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args, overload

from digram import _core
from digram._util.validation import choice
from digram._util.wording import said
from digram.errors import OptionError, PatternError, show
from digram.pretokenizers.regex import Regex

if TYPE_CHECKING:  # most tokenizers have none of them
    from digram.pretokenizers.normalizers import Normalizer, Words
    from digram.pretokenizers.rules import Rules

__all__ = [
    "MISSING",
    "NAMED",
    "Digits",
    "Missing",
    "NamedPattern",
    "Pretokenizer",
    "PretokenizerLike",
    "Regex",
    "pretokenize",
    "resolve",
]

Digits = Literal["individual", "threes_from_left", "threes_from_right"]
_DIGITS = get_args(Digits)


class NamedPattern(NamedTuple):
    """A published pretokenizer: its splits, in order, and where they were published."""

    patterns: tuple[str, ...]
    source: str


_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"

# Published encodings, such as o200k_base, are listed in formats/_published.py.
NAMED: dict[str, NamedPattern] = {
    "gpt2": NamedPattern(
        (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",),
        "github.com/openai/gpt-2, src/encoder.py",
    ),
    "cl100k": NamedPattern(
        (
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|" + _SPACES,
        ),
        "github.com/openai/tiktoken, tiktoken_ext/openai_public.py, cl100k_base as first published",
    ),
    "o200k": NamedPattern(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            + _CONTRACTIONS
            + "?"
            + r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            + _CONTRACTIONS
            + "?"
            + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|"
            + _SPACES,
        ),
        "github.com/openai/tiktoken, tiktoken_ext/openai_public.py, o200k_base",
    ),
    "llama3": NamedPattern(
        (
            _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|" + _SPACES,
        ),
        "github.com/meta-llama/llama3, llama/tokenizer.py",
    ),
    "qwen2": NamedPattern(
        (
            _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|" + _SPACES,
        ),
        "huggingface.co/Qwen/Qwen2-7B, tokenizer.json",
    ),
    "deepseek-v3": NamedPattern(
        (
            r"\p{N}{1,3}",
            r"[一-龥぀-ゟ゠-ヿ]+",
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|" + _SPACES,
        ),
        "huggingface.co/deepseek-ai/DeepSeek-V3, tokenizer.json",
    ),
    # White space belongs to the word after it; after the last word it is a piece of its own.
    "whitespace": NamedPattern((r"\s*\S+|\s+",), "digram"),
}
_ALIASES = {"gpt4": "cl100k", "r50k": "gpt2", "p50k": "gpt2"}


@dataclass(frozen=True, slots=True, init=False)
class Pretokenizer:
    r"""A pretokenizer as a value: its splits, a policy for digits before them, rules, a normalizer.

    `pattern` is a published name (`digram.pretokenizers.NAMED`), a `Regex`, a sequence of them
    applied one after the other, or None for no split. `digits` first splits off runs of digits
    (`\p{N}`): "individual" into single digits, "threes_from_left" as `123|456|7`,
    "threes_from_right" as `1|234|567`.

    >>> Pretokenizer("gpt2", digits="threes_from_right")
    Pretokenizer('gpt2', digits='threes_from_right')
    >>> pretokenize("1234567", Pretokenizer(None, digits="threes_from_right"))
    ['1', '234', '567']

    `rules` are `digram.Rules`: the text that they name is split off first and stays whole. Their
    policy for numbers sets `digits`.

    >>> from digram import Rules
    >>> pretokenize("the 5mg-dose of St. John's wort", Pretokenizer(
    ...     "gpt2", rules=Rules(protect=["St. John's wort"], units=["mg"])))
    ['the', ' 5', 'mg', '-', 'dose', ' of', " St. John's wort"]

    `normalizer` is a stage that changes the text before all of this, or several of them (see
    `digram.pretokenizers.normalizers`):

    >>> from digram.pretokenizers import NFC, Lowercase
    >>> pretokenize("One Two", Pretokenizer("gpt2", normalizer=[NFC(), Lowercase()]))
    ['one', ' two']

    `byte_patterns` are splits after all others, a `Regex` or several, for which each byte is the
    letter by which Hugging Face's `ByteLevel` writes it: a space is `Ġ`, and é is `Ã©`. They may
    split a character of several bytes, as Falcon's do: one byte of ² is written `²`, which is a
    number. A piece of a `str` that is a part of a character is U+FFFD.

    >>> pretokenize("m²".encode(), Pretokenizer("gpt2", byte_patterns=Regex(r"\p{N}")))
    [b'm', b'\xc2', b'\xb2']
    """

    name: str | None
    patterns: tuple[str, ...]
    digits: Digits | None
    rules: Rules | None
    normalizer: tuple[Normalizer, ...]
    byte_patterns: tuple[str, ...]

    def __init__(
        self,
        pattern: str | Regex | Sequence[Regex] | None,
        *,
        digits: Digits | None = None,
        rules: Rules | None = None,
        normalizer: Normalizer | Sequence[Normalizer] | None = None,
        byte_patterns: Regex | Sequence[Regex] | None = None,
    ) -> None:
        choice("digits", digits, None, *_DIGITS)
        if rules is not None:
            _check_rules(rules)
        if rules is not None and rules.numbers is not None:
            if digits is not None and digits != rules.numbers:
                raise OptionError(
                    f"digits={show(digits)} and the rule numbers={rules.numbers!r} contradict each "
                    "other.",
                    value=digits,
                    hint="Leave out digits=.",
                )
            digits = None if rules.numbers == "whole" else rules.numbers
        name, patterns = _splits(pattern)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "patterns", patterns)
        object.__setattr__(self, "digits", digits)
        object.__setattr__(self, "rules", rules)
        object.__setattr__(self, "normalizer", _stages(normalizer))
        object.__setattr__(self, "byte_patterns", _byte_patterns(byte_patterns))
        self.splitter()  # raises for unsupported patterns now, not at first use

    def __repr__(self) -> str:
        pattern: object = self.name
        if self.name is None and self.patterns:
            regexes = [Regex(p) for p in self.patterns]
            pattern = regexes[0] if len(regexes) == 1 else regexes
        by_rules = self.rules is not None and self.rules.numbers is not None
        is_implied = self.digits is None or by_rules
        digits = "" if is_implied else f", digits={self.digits!r}"
        rules = "" if self.rules is None else f", rules={self.rules!r}"
        stages = self.normalizer[0] if len(self.normalizer) == 1 else [*self.normalizer]
        normalizer = f", normalizer={stages!r}" if self.normalizer else ""
        regexes = [Regex(one) for one in self.byte_patterns]
        shown = regexes[0] if len(regexes) == 1 else regexes
        of_bytes = f", byte_patterns={shown!r}" if regexes else ""
        return f"Pretokenizer({pattern!r}{digits}{rules}{normalizer}{of_bytes})"

    @property
    def is_plain(self) -> bool:
        """Whether it is fully described by its name, or does not split at all."""
        named = self.name is not None or not self.patterns
        others = (self.digits, self.rules, self.normalizer or None, self.byte_patterns or None)
        return named and others == (None, None, None, None)

    @property
    def normalizes(self) -> bool:
        """Whether text may change before it is split, by the normalizer or by rules for units."""
        return bool(self.normalizer) or (
            self.rules is not None and self.rules.normalize is not None
        )

    @property
    def words(self) -> Words | None:
        """The rule by which normalized text is cut into words, if there is one."""
        if not self.normalizer:
            return None
        from digram.pretokenizers.normalizers import Words

        last = self.normalizer[-1]
        return last if isinstance(last, Words) else None

    def splitter(self) -> _core.Splitter:
        """The compiled form, shared by equal pretokenizers of this process."""
        return _compile(self.patterns, self.digits, self.rules, self.normalizer, self.byte_patterns)

    def with_rules(self, rules: Rules | None) -> Pretokenizer:
        """The pretokenizer with other rules; None removes them with their digit policy.

        >>> from digram import Rules
        >>> ruled = Pretokenizer("gpt2").with_rules(Rules(numbers="individual"))
        >>> ruled.digits, ruled.with_rules(None)
        ('individual', Pretokenizer('gpt2'))
        """
        from_rules = self.rules is not None and self.rules.numbers is not None
        regexes = [Regex(pattern) for pattern in self.patterns]
        digits = None if from_rules else self.digits
        return Pretokenizer(
            regexes or None,
            digits=digits,
            rules=rules,
            normalizer=self.normalizer,
            byte_patterns=[Regex(pattern) for pattern in self.byte_patterns],
        )


def _splits(pattern: str | Regex | Sequence[Regex] | None) -> tuple[str | None, tuple[str, ...]]:
    if pattern is None:
        return None, ()
    if isinstance(pattern, Regex):
        patterns: tuple[str, ...] = (pattern.pattern,)
    elif isinstance(pattern, str):
        name = _ALIASES.get(pattern, pattern)
        if name not in NAMED:
            import difflib

            near = difflib.get_close_matches(name, [*NAMED, *_ALIASES], n=3, cutoff=0.3)
            nearest = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
            raise PatternError(
                f"there is no pretokenizer named {show(pattern)}.",
                value=pattern,
                hint=f"{nearest}Names: {', '.join(NAMED)} (gpt4 is cl100k); "
                "pretokenizer=None for no split, "
                f"{said('pretokenizer=digram.Regex(...)', '--regex PATTERN')} for your own.",
            )
        return name, NAMED[name].patterns
    elif isinstance(pattern, Sequence) and all(isinstance(p, Regex) for p in pattern):
        patterns = tuple(p.pattern for p in pattern if isinstance(p, Regex))
    else:
        raise TypeError(
            "a pretokenizer is a name, a digram.Regex, a sequence of them, or None, "
            f"not {show(pattern)}"
        )
    # A published pattern that is given as regexes gets its name, so that files keep it.
    known = next((name for name, named in NAMED.items() if named.patterns == patterns), None)
    return known, patterns


def _byte_patterns(patterns: Regex | Sequence[Regex] | None) -> tuple[str, ...]:
    found = () if patterns is None else (patterns,) if isinstance(patterns, Regex) else patterns
    if not isinstance(found, Sequence) or not all(isinstance(one, Regex) for one in found):
        raise TypeError(
            f"byte_patterns are a digram.Regex, a sequence of them, or None, not {show(patterns)}"
        )
    return tuple(one.pattern for one in found)


class Missing(Enum):
    """The default of `pretokenizer=`, since None means "no split".

    >>> MISSING
    <not given>
    """

    MISSING = "missing"

    def __repr__(self) -> str:
        return "<not given>"


MISSING: Final = Missing.MISSING

PretokenizerLike: TypeAlias = (
    str | Regex | Pretokenizer | Sequence[Regex] | Literal[Missing.MISSING] | None
)


@lru_cache(maxsize=32)
def _compile(
    patterns: tuple[str, ...],
    digits: Digits | None,
    rules: Rules | None,
    normalizer: tuple[Normalizer, ...],
    byte_patterns: tuple[str, ...],
) -> _core.Splitter:
    is_split = digits is not None
    stages, words = _described(normalizer) if normalizer else ([], [])
    of_rules = [] if rules is None else rules._normalizer(is_split)
    return _core.Splitter(
        list(patterns),
        digits,
        None if rules is None else rules._compiled(is_split),
        [*stages, *of_rules, *words],
        list(byte_patterns),
    )


def _check_rules(rules: Rules) -> None:
    from digram.pretokenizers.rules import Rules

    if not isinstance(rules, Rules):
        raise TypeError(f"rules are digram.Rules, not {show(rules)}")


def _stages(normalizer: Normalizer | Sequence[Normalizer] | None) -> tuple[Normalizer, ...]:
    if normalizer is None:
        return ()
    from digram.pretokenizers.normalizers import stages_of

    return stages_of(normalizer)


def _described(
    normalizer: tuple[Normalizer, ...],
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """The stages as the core reads them, and apart the one that cuts words, which is the last."""
    from digram.pretokenizers.normalizers import Words, described

    stages = described(normalizer)
    return stages, [stages.pop()] if isinstance(normalizer[-1], Words) else []


def resolve(pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None) -> Pretokenizer:
    """Convert any accepted argument to a `Pretokenizer`.

    >>> resolve("gpt4")
    Pretokenizer('cl100k')
    """
    return pretokenizer if isinstance(pretokenizer, Pretokenizer) else Pretokenizer(pretokenizer)


@overload
def pretokenize(
    text: str, pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None
) -> list[str]: ...
@overload
def pretokenize(
    text: bytes, pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None
) -> list[bytes]: ...
def pretokenize(
    text: str | bytes, pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None
) -> list[str] | list[bytes]:
    """Split `text` into pretokens, which join to it, or to the normalized text.

    >>> pretokenize("Hello, world!", "o200k")
    ['Hello', ',', ' world', '!']

    `bytes` give `bytes`; invalid UTF-8 is split like U+FFFD. Raises
    `PatternError` for an unknown name or an unsupported regex, `InvalidTextError` for a lone
    surrogate. Linear in the text.
    """
    return resolve(pretokenizer).splitter().split(text)
