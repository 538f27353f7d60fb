"""What a format cannot carry, and must not lose in silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.errors import VocabError
from digram.formats._show import show
from digram.vocab.model import bpe

if TYPE_CHECKING:
    from digram.vocab.definition import Definition
    from digram.vocab.model import BpeModel

__all__ = [
    "ranked",
    "refuse_ignore_merges",
    "refuse_input",
    "refuse_rules",
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
    present = [name for name in names if getattr(definition, name) is not None]
    if present and not allow_loss:
        raise VocabError(
            f"{what} cannot carry the {present[0].replace('_', ' ')}.",
            value=getattr(definition, present[0]),
            hint='Save it with format="huggingface", or pass allow_loss=True to leave it out; in '
            f"Python, with_{present[0]} names it again after loading.",
        )


def refuse_rules(definition: Definition, what: str) -> None:
    """Raises `VocabError` if text is cut by rules, without which the ids would be others."""
    if definition.pretokenizer.rules is not None:
        raise VocabError(
            f"{what} cannot carry rules: what they cut out, and tokens that no merge makes.",
            hint='Save it with format="huggingface"; tok.with_rules(None) is without them.',
        )


def refuse_ignore_merges(model: BpeModel, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` if whole pretokens are looked up, unless that may be lost."""
    if model.ignore_merges and not allow_loss:
        raise VocabError(
            f"{what} cannot say that a pretoken which is a token is that token, whatever the "
            "merges are (ignore_merges).",
            hint='Save it with format="huggingface", or pass allow_loss=True: tokens that no '
            "merge makes are then out of reach.",
        )


def ranked(definition: Definition, what: str) -> BpeModel:
    """Its model, which this file holds as merges that are applied by rank: no more can be said.

    Raises `VocabError` for a model of another kind, and where there is a scheme.
    """
    model = bpe(definition.model)
    if model is None:
        raise VocabError(
            f"{what} holds the merges of a BPE tokenizer, and the model of this one is of the kind "
            f"{show(definition.model.kind)}.",
            value=definition.model.kind,
            hint='Save it with format="huggingface".',
        )
    if model.scheme is not None:
        raise VocabError(
            f"{what} says that merges are applied by rank alone, and this tokenizer applies them "
            f"otherwise ({model.scheme.kind}): its reader would give other ids.",
            value=model.scheme.kind,
            hint='Save it with format="digram", a file that digram alone reads.',
        )
    return model
