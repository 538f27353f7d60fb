"""What a format cannot carry, and must not lose in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.errors import VocabError
from digram.formats._show import show

if TYPE_CHECKING:
    from digram.vocab.definition import Definition

__all__ = [
    "refuse_ignore_merges",
    "refuse_input",
    "refuse_rules",
    "refuse_scheme",
    "refuse_special_tokens",
]


def refuse_special_tokens(definition: Definition, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` if there are special tokens, unless they may be left out."""
    special = definition.special_tokens
    if special and not allow_loss:
        raise VocabError(
            f"{what} cannot carry the {len(special)} special token{'s' * (len(special) > 1)} "
            f"({show(dict(list(special.items())[:3]))}{', ...' * (len(special) > 3)}).",
            value=special,
            hint='Save it with format="huggingface", or pass allow_loss=True to leave them out; in '
            "Python, with_special_tokens({text: id}) names them again after loading.",
        )


def refuse_input(definition: Definition, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` for a template, context size or pad token, unless they may be lost."""
    names = ("template", "context_size", "pad_token")
    said = [name for name in names if getattr(definition, name) is not None]
    if said and not allow_loss:
        raise VocabError(
            f"{what} cannot carry the {said[0].replace('_', ' ')}.",
            value=getattr(definition, said[0]),
            hint='Save it with format="huggingface", or pass allow_loss=True to leave it out; in '
            f"Python, with_{said[0]} names it again after loading.",
        )


def refuse_rules(definition: Definition, what: str) -> None:
    """Raises `VocabError` if text is cut by rules, without which the ids would be others."""
    if definition.pretokenizer.rules is not None:
        raise VocabError(
            f"{what} cannot carry rules: what they cut out, and tokens that no merge makes.",
            hint='Save it with format="huggingface"; tok.with_rules(None) is without them.',
        )


def refuse_ignore_merges(definition: Definition, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` if whole pretokens are looked up, unless that may be lost."""
    if definition.ignore_merges and not allow_loss:
        raise VocabError(
            f"{what} cannot say that a pretoken which is a token is that token, whatever the "
            "merges are (ignore_merges).",
            hint='Save it with format="huggingface", or pass allow_loss=True: tokens that no '
            "merge makes are then out of reach.",
        )


def refuse_scheme(definition: Definition, what: str) -> None:
    """Raises `VocabError` unless merges are applied by rank alone: no more can be said."""
    if definition.scheme is not None:
        raise VocabError(
            f"{what} says that merges are applied by rank alone, and this tokenizer applies them "
            f"otherwise ({definition.scheme.kind}): its reader would give other ids.",
            value=definition.scheme.kind,
            hint='Save it with format="digram", a file that digram alone reads.',
        )
