"""WordPiece as a model: the longest token at each place of a word."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from digram import _core
from digram._util.validation import whole_number, word
from digram.errors import OptionError, show
from digram.vocab.model import Fault, Kernel, Model

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = ["MAX_WORD_CHARS", "PREFIX", "WordPieceKernel", "WordPieceModel"]

MAX_WORD_CHARS = 100
"""The number of characters of a word from which on BERT takes it as unknown."""
PREFIX = "##"
"""What BERT's files write before a token that begins no word."""


@dataclass(frozen=True, slots=True)
class WordPieceModel(Model):
    """The model of a WordPiece tokenizer, such as that of BERT.

    >>> import digram
    >>> definition = digram.Definition(
    ...     tokens=[None, b" un", b"aff", b"able"],
    ...     model=digram.WordPieceModel(),
    ...     pretokenizer=digram.pretokenizers.Pretokenizer(digram.pretokenizers.Regex(" [^ ]+")),
    ...     special_tokens={"[UNK]": 0},
    ...     unit="char",
    ...     on_unknown=digram.SpecialToken("[UNK]"),
    ... )
    >>> tok = digram.Tokenizer(definition)
    >>> tok.encode(" unaffable"), tok.encode(" unfair")
    ([1, 2, 3], [0])

    A pretoken is a word with a space before it, and so is a token that begins a word; the other
    tokens have no space. The first token of a word is the longest one that it begins with, and so
    on. If no token matches somewhere, or the word has more than `max_word_chars` characters, the
    whole word is the unknown token, `on_unknown` of the definition. `unit` is "char".

    `prefix` is what files write before tokens that begin no word, in place of the missing space. A
    word that begins with the prefix itself may begin with such a token, as in other libraries. With
    an empty prefix there is no such case, and files cannot store the tokenizer.

    Nothing is checked before `Tokenizer(definition)`, which raises `VocabError` where the
    definition does not fit.
    """

    _: KW_ONLY
    max_word_chars: int = MAX_WORD_CHARS
    prefix: str = PREFIX

    kind: ClassVar[str] = "wordpiece"
    may_have_empty: ClassVar[bool] = True

    @property
    def portable(self) -> bool:
        """True: Hugging Face's libraries support it."""
        return True

    def kernel(self) -> WordPieceKernel:
        """The same settings."""
        return WordPieceKernel(self.max_word_chars, self.prefix)

    def fault(self, definition: Definition) -> Fault | None:
        """Check that there is an unknown token, and that files can tell all tokens apart."""
        if definition.unit != "char" or isinstance(definition.on_unknown, str):
            problem = 'WordPiece needs unit="char" and a token for unknown words.'
            return Fault(problem, definition.on_unknown, 'Set on_unknown to SpecialToken("[UNK]").')
        word_prefix = b" " + self.prefix.encode()
        for id, token in enumerate(definition.tokens):
            if token is not None and self.prefix and token.startswith(word_prefix):
                problem = (
                    f"token {id}, {show(token)}, begins a word with {show(self.prefix)}, which is "
                    "written before tokens that begin no word."
                )
                return Fault(problem, id, "Remove it, or choose another prefix.")
        return None

    def made(self, definition: Definition) -> set[int]:
        """Tokens of more than one letter."""
        return {
            id
            for id, token in enumerate(definition.tokens)
            if token is not None and len(token.decode(errors="replace").removeprefix(" ")) > 1
        }

    def unreached(self, definition: Definition) -> list[int]:
        """Tokens that are longer than a word may be, and a space alone."""
        ids = []
        for id, token in enumerate(definition.tokens):
            text = (token or b"").decode(errors="replace").removeprefix(" ")
            if token and (not text or len(text) > self.max_word_chars):
                ids.append(id)
        return ids


@dataclass(frozen=True, slots=True)
class WordPieceKernel(Kernel):
    """The settings of WordPiece; see `WordPieceModel`."""

    max_word_chars: int = MAX_WORD_CHARS
    prefix: str = PREFIX

    kind: ClassVar[str] = "wordpiece"

    @property
    def description(self) -> str | None:
        """A sentence for a summary."""
        return "WordPiece: the longest token at each place of a word"

    def to_dict(self) -> dict[str, Any]:
        """The kind and its settings."""
        return {"kind": self.kind, "max_word_chars": self.max_word_chars, "prefix": self.prefix}

    def core(self) -> _core.Algorithm:
        """The algorithm for the core."""
        most = whole_number("max_word_chars", self.max_word_chars, 1)
        prefix = word("prefix", self.prefix)
        if " " in prefix:
            raise OptionError(f"prefix must have no space, not {show(prefix)}.", value=prefix)
        return _core.Algorithm.wordpiece(most, prefix)

    def model(self, tables: _core.Model) -> WordPieceModel:
        """The model with these settings."""
        return WordPieceModel(max_word_chars=self.max_word_chars, prefix=self.prefix)
