"""WordLevel as a model: each token is a whole word."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from digram import _core
from digram._util.validation import flag
from digram.vocab.model import Fault, Kernel, Model

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = ["WordLevelKernel", "WordLevelModel"]


@dataclass(frozen=True, slots=True)
class WordLevelModel(Model):
    """The model of a tokenizer whose tokens are whole words.

    >>> import digram
    >>> definition = digram.Definition(
    ...     tokens=[None, b" low", b" lower"],
    ...     model=digram.WordLevelModel(),
    ...     pretokenizer=digram.pretokenizers.Pretokenizer(digram.pretokenizers.Regex(" [^ ]+")),
    ...     special_tokens={"[UNK]": 0},
    ...     unit="char",
    ...     on_unknown=digram.SpecialToken("[UNK]"),
    ... )
    >>> tok = digram.Tokenizer(definition)
    >>> tok.encode(" lower low"), tok.encode(" lowest")
    ([2, 1], [0])

    A pretoken that is a token is that token. Any other one is the unknown token, `on_unknown` of
    the definition; with "error" it raises `InvalidTextError`. `unit` is "char".

    With `splits` a pretoken is first split into words, each of which begins with a space, and
    consecutive unknown words are one unknown token. SentencePiece's models of words are such.

    Nothing is checked before `Tokenizer(definition)`, which raises `VocabError` where the
    definition does not fit. Encoding takes linear time.
    """

    _: KW_ONLY
    splits: bool = False

    kind: ClassVar[str] = "wordlevel"
    may_have_empty: ClassVar[bool] = True

    @property
    def portable(self) -> bool:
        """Whether Hugging Face's libraries support it: only if pretokens are not split."""
        return not self.splits

    def kernel(self) -> WordLevelKernel:
        """The same setting."""
        return WordLevelKernel(self.splits)

    def fault(self, definition: Definition) -> Fault | None:
        """Check that unknown words are not encoded as bytes."""
        if definition.unit != "char" or definition.on_unknown == "bytes":
            problem = 'WordLevel needs unit="char" and has no fallback to bytes.'
            hint = 'Set on_unknown to SpecialToken("[UNK]"), or to "error".'
            return Fault(problem, definition.on_unknown, hint)
        return None

    def made(self, definition: Definition) -> set[int]:
        """None: words are not made from other tokens."""
        return set()


@dataclass(frozen=True, slots=True)
class WordLevelKernel(Kernel):
    """The setting of WordLevel; see `WordLevelModel`."""

    splits: bool = False

    kind: ClassVar[str] = "wordlevel"

    @property
    def description(self) -> str | None:
        """A sentence for a summary."""
        return "WordLevel: each token is a whole word"

    def to_dict(self) -> dict[str, Any]:
        """The kind and its setting."""
        return {"kind": self.kind, "splits": self.splits}

    def core(self) -> _core.Algorithm:
        """The algorithm for the core."""
        return _core.Algorithm.word_level(flag("splits", self.splits))

    def model(self, tables: _core.Model) -> WordLevelModel:
        """The model with this setting."""
        return WordLevelModel(splits=self.splits)
