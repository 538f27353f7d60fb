"""Errors for data that a format cannot store, so that it is not lost silently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from digram.errors import VocabError
from digram.formats._show import show
from digram.vocab.bpe import bpe
from digram.vocab.special_tokens import FLAGS, Matching

if TYPE_CHECKING:
    from digram.vocab.bpe import BpeModel
    from digram.vocab.definition import Definition

__all__ = [
    "LEFT_OUT",
    "listed",
    "ranked",
    "ranked_bytes",
    "refuse_decoding",
    "refuse_ignore_merges",
    "refuse_input",
    "refuse_matching",
    "refuse_normalizer",
    "refuse_options",
    "refuse_reserved",
    "refuse_rules",
    "refuse_special_tokens",
    "the",
    "without",
]

LEFT_OUT = frozenset(("training", "truncation_side", "padding_side"))
"""The fields of a definition that a format without a place for them leaves out."""


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

    These are the template, the context size, the pad token, the roles, the chat templates, the
    steps of decoding, the dropout, whether offsets are trimmed, truncation and padding.
    """
    fields = {
        "template": definition.template,
        "context_size": definition.context_size,
        "pad_token": definition.pad_token,
        "special_roles": definition.special_roles.to_dict() or None,
        "chat_template": definition.chat_templates or None,
    }
    refuse_decoding(definition, what, allow_loss)
    refuse_options(definition, what, allow_loss)
    present = [name for name, value in fields.items() if value is not None]
    if present and not allow_loss:
        setters = [f"with_{name}" for name in present]
        raise VocabError(
            f"{what} cannot store {the(present)}.",
            value=fields[present[0]],
            hint=f'Save it with format="huggingface", or {without(len(present))}; in Python, '
            f"{listed(setters)} set{'s' * (len(present) == 1)} "
            f"{'them' if len(present) > 1 else 'it'} again after loading.",
        )


def the(names: Sequence[str]) -> str:
    """Fields of a definition in words.

    >>> the(["template", "pad_token", "special_roles"])
    'the template, the pad token and the special roles'
    """
    return listed([f"the {name.replace('_', ' ')}" for name in names])


def listed(words: Sequence[str]) -> str:
    """Words as in a sentence."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def without(number: int) -> str:
    """What to do about a number of settings that change no id.

    >>> without(1)
    'pass allow_loss=True to leave it out, which changes no id of encode'
    """
    them = "it" if number == 1 else "them"
    return f"pass allow_loss=True to leave {them} out, which changes no id of encode"


def refuse_options(definition: Definition, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` for options of calls, unless `allow_loss`.

    These are the dropout, whether offsets are trimmed, truncation and padding.
    """
    for name in ("dropout", "trim_offsets", "truncation", "padding"):
        value = getattr(definition, name)
        if value is not None and not allow_loss:
            raise VocabError(
                f"{what} cannot store {name}.",
                value=value,
                hint='Save it with format="huggingface", or pass allow_loss=True to leave it out.',
            )


def refuse_decoding(definition: Definition, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` if decoded text is not the bytes of tokens, unless `allow_loss`."""
    if definition.strip_first_space and definition.unit == "byte" and not allow_loss:
        raise VocabError(
            f"{what} cannot store that decoded text has no space at its start.",
            value=True,
            hint='Save it with format="huggingface", or pass allow_loss=True: decoded text then '
            "has this space.",
        )
    if definition.decoding is not None and not allow_loss:
        raise VocabError(
            f"{what} cannot store decoding ({definition.decoding!r}).",
            value=definition.decoding,
            hint='Save it with format="huggingface", or pass allow_loss=True: decoded text is then '
            "the bytes of the tokens.",
        )


def refuse_reserved(definition: Definition, what: str, allow_loss: bool) -> None:
    """Raises `VocabError` for names of reserved ids, unless `allow_loss` is true."""
    if definition.reserved and not allow_loss:
        raise VocabError(
            f"{what} cannot store the names of reserved ids ({', '.join(definition.reserved)}).",
            value=definition.reserved,
            hint='Save it with format="huggingface", or pass allow_loss=True to leave them out; '
            "their special tokens stay.",
        )


def refuse_rules(definition: Definition, what: str) -> None:
    """Raises `VocabError` if there are rules, since without them the ids would differ."""
    if definition.pretokenizer.rules is not None:
        raise VocabError(
            f"{what} cannot store rules, nor their tokens, which no merge makes.",
            hint='Save it with format="huggingface", or remove them; in Python, '
            "tok.with_rules(None) does.",
        )


def refuse_normalizer(definition: Definition, what: str) -> None:
    """Raises `VocabError` for a normalizer or patterns of bytes: the ids would differ."""
    if definition.pretokenizer.byte_patterns:
        raise VocabError(
            f"{what} cannot store byte_patterns ({definition.pretokenizer.byte_patterns[0]!r}).",
            value=definition.pretokenizer.byte_patterns,
            hint='Save it with format="huggingface".',
        )
    if definition.pretokenizer.normalizer:
        raise VocabError(
            f"{what} cannot store a normalizer ({definition.pretokenizer.normalizer[0]!r}).",
            value=definition.pretokenizer.normalizer,
            hint='Save it with format="huggingface".',
        )


def refuse_matching(definition: Definition, what: str) -> None:
    """Raises `VocabError` for tokens in all text, and for flags that change where one is found."""
    plain = Matching()
    for text, one in sorted(definition.matching.items(), key=lambda item: not item[1].always):
        flag = next((name for name in FLAGS if getattr(one, name) != getattr(plain, name)), None)
        if flag is not None:
            how = "which is found in all text" if one.always else f"which has the flag {flag}"
            raise VocabError(
                f"{what} cannot store {show(text)}, {how}.",
                value=text,
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


def ranked_bytes(definition: Definition, what: str, allow_loss: bool) -> BpeModel:
    """The BPE model of a definition, for formats that store only merges of bytes and a pattern.

    Raises `VocabError` for anything else; unless `allow_loss` also for settings that only a model
    needs, and for names of reserved ids.
    """
    model = ranked(definition, what)
    if definition.unit != "byte":
        raise VocabError(
            f"{what} cannot store a character vocabulary.",
            hint='Save it with format="huggingface".',
        )
    refuse_rules(definition, what)
    refuse_matching(definition, what)
    refuse_input(definition, what, allow_loss)
    refuse_reserved(definition, what, allow_loss)
    return model


def ranked(definition: Definition, what: str, *, affixes: bool = False) -> BpeModel:
    """The BPE model of a definition, for formats that store only merges applied by rank.

    Raises `VocabError` for a model of another kind, one with a scheme, and one with a prefix or a
    suffix unless the format stores `affixes`.
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
    if not affixes and (model.prefix or model.suffix):
        raise VocabError(
            f"{what} cannot store {model.kernel().affixes} of tokens.",
            value=model.prefix or model.suffix,
            hint='Save it with format="huggingface".',
        )
    return model
