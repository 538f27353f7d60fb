"""Errors for data that a format cannot store, so that it is not lost silently."""

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
    "refuse_matching",
    "refuse_normalizer",
    "refuse_rules",
    "refuse_special_tokens",
]


def refuse_special_tokens(definition: Definition, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` if there are special tokens, unless `allow_loss` is true."""
    special = definition.special_tokens
    if special and not allow_loss:
        raise VocabError(
            f"{what} cannot store the {len(special)} special token{'s' * (len(special) > 1)} "
            f"({show(dict(list(special.items())[:3]))}{', ...' * (len(special) > 3)}).",
            value=special,
            hint='Save it with format="huggingface", or pass allow_loss=True to leave them out; in '
            "Python, with_special_tokens({text: id}) adds them again after loading.",
        )


def refuse_input(definition: Definition, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` for settings that only a model needs, unless `allow_loss`.

    These are the template, the context size, the pad token, the roles and the chat templates.
    """
    fields = {
        "template": definition.template,
        "context_size": definition.context_size,
        "pad_token": definition.pad_token,
        "special_roles": definition.special_roles.to_dict() or None,
        "chat_template": definition.chat_templates or None,
    }
    present = [name for name, value in fields.items() if value is not None]
    if present and not allow_loss:
        raise VocabError(
            f"{what} cannot store the {present[0].replace('_', ' ')}.",
            value=fields[present[0]],
            hint='Save it with format="huggingface", or pass allow_loss=True to leave it out; in '
            f"Python, with_{present[0]} sets it again after loading.",
        )


def refuse_rules(definition: Definition, what: str) -> None:
    """Raises `VocabError` if there are rules, since without them the ids would differ."""
    if definition.pretokenizer.rules is not None:
        raise VocabError(
            f"{what} cannot store rules, nor their tokens, which no merge makes.",
            hint='Save it with format="huggingface", or remove them with tok.with_rules(None).',
        )


def refuse_normalizer(definition: Definition, what: str) -> None:
    """Raises `VocabError` if there is a normalizer, since without it the ids would differ."""
    if definition.pretokenizer.normalizer:
        raise VocabError(
            f"{what} cannot store a normalizer ({definition.pretokenizer.normalizer[0]!r}).",
            value=definition.pretokenizer.normalizer,
            hint='Save it with format="huggingface".',
        )


def refuse_matching(definition: Definition, what: str) -> None:
    """Raises `VocabError` for tokens in all text, since without them the ids would differ."""
    always = [text for text, one in definition.matching.items() if one.always]
    if always:
        raise VocabError(
            f"{what} cannot store {show(always[0])}, which is found in all text.",
            value=always[0],
            hint='Save it with format="huggingface".',
        )


def refuse_ignore_merges(model: BpeModel, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` if `ignore_merges` is set, unless `allow_loss` is true."""
    if model.ignore_merges and not allow_loss:
        raise VocabError(
            f"{what} cannot store ignore_merges, which makes a token of each pretoken that equals "
            "one, without merging.",
            hint='Save it with format="huggingface", or pass allow_loss=True: tokens that no '
            "merge makes then become unreachable.",
        )


def ranked(definition: Definition, what: str) -> BpeModel:
    """The BPE model of a definition, for formats that store only merges applied by rank.

    Raises `VocabError` for a model of another kind, or one with a scheme.
    """
    model = bpe(definition.model)
    if model is None:
        raise VocabError(
            f"{what} can only store the merges of a BPE tokenizer, but the model of this one is of "
            f"the kind {show(definition.model.kind)}.",
            value=definition.model.kind,
            hint='Save it with format="huggingface".',
        )
    if model.scheme is not None:
        raise VocabError(
            f"{what} implies that merges are applied by rank alone, but this tokenizer applies "
            f"them differently ({model.scheme.kind}): other programs would produce other ids.",
            value=model.scheme.kind,
            hint='Save it with format="digram", which only digram can read.',
        )
    return model
