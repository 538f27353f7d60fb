"""The names of tokens in a tokenizer.json."""

from __future__ import annotations

from collections.abc import Callable

from digram.errors import VocabError
from digram.formats import _affixes, _word_level, _wordpiece
from digram.formats._bpe import BYTE_TOKENS
from digram.formats._letters import to_letters
from digram.formats._show import show
from digram.formats._spaces import named
from digram.pretokenizers.normalizers import Words
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.word_level import WordLevelModel
from digram.vocab.wordpiece import WordPieceModel

__all__ = ["has_words", "names_of", "spelled"]


def has_words(definition: Definition) -> bool:
    """Whether tokens that begin a word have a space that the file does not write."""
    model = definition.model
    is_spaced = isinstance(model, WordLevelModel) and _word_level.is_spaced(definition)
    return isinstance(model, WordPieceModel) or is_spaced


def spelled(definition: Definition) -> dict[str, int]:
    """The id of each token by its name in the file. Raises if a name would have two ids."""
    ids: dict[str, int] = {}
    for name, token_id in (*_ordinary(definition), *definition.special_tokens.items()):
        if ids.setdefault(name, token_id) != token_id:
            raise VocabError(
                f"the tokens {ids[name]} and {token_id} would both be {show(name)} in a "
                "tokenizer.json, which allows only one id for a text.",
                value=name,
                hint="Choose another text for the special token, or another format.",
            )
    symbol = definition.space_symbol
    for text in definition.special_tokens if symbol is not None else ():
        # A reader cannot tell which of both text with spaces is.
        if " " in text and named(text, symbol) in ids:
            raise VocabError(
                f"the special token {show(text)} and the token {show(named(text, symbol))} have "
                "the same text, and a file has only one token for it.",
                value=text,
                hint="Choose another text for the special token.",
            )
    return ids


def names_of(definition: Definition) -> list[str | None]:
    """The name of each token by its id; None for holes. Raises for a token without a name."""
    named_tokens = [*_ordinary(definition), *_added(definition)]
    names: list[str | None] = [None] * (max((id for _, id in named_tokens), default=-1) + 1)
    for name, token_id in named_tokens:
        names[token_id] = name
    return names


def _added(definition: Definition) -> list[tuple[str, int]]:
    """Added tokens; those that are found in normalized text have the name that they have there."""
    cut, matching = definition.pretokenizer, definition.matching
    stages = [stage for stage in cut.normalizer if not isinstance(stage, Words)]
    splitter = Pretokenizer(None, normalizer=stages).splitter()
    symbol = definition.space_symbol if cut.words is None else None
    return [
        (
            named(splitter.normalize(text), symbol)
            if text in matching and matching[text].normalized
            else text,
            token_id,
        )
        for text, token_id in definition.special_tokens.items()
    ]


def _ordinary(definition: Definition) -> list[tuple[str, int]]:
    fallback = {i: BYTE_TOKENS[byte] for byte, i in enumerate(definition.byte_ids or ())}
    name_of = _name_of(definition)
    return [
        (fallback.get(i) or name_of(token), i)
        for i, token in enumerate(definition.tokens)
        if token is not None
    ]


def _name_of(definition: Definition) -> Callable[[bytes], str]:
    """A function that gives the name of an ordinary token."""
    if isinstance(definition.model, WordPieceModel):
        return _wordpiece.name_of(definition.model.prefix)
    if has_words(definition):
        return _word_level.name_of
    if isinstance(definition.model, BpeModel) and definition.model.kernel().affixes:
        return _affixes.name_of(definition.model, definition.unit)
    if definition.unit == "byte":
        return to_letters
    symbol = definition.space_symbol

    def name_of(token: bytes) -> str:
        text = token.decode()
        if symbol is not None and symbol in text:
            raise VocabError(
                f"the token {show(text)} has the symbol that stands for a space in the file.",
                value=text,
                hint="Set space_symbol to None, or to another one.",
            )
        return named(text, symbol)

    return name_of
