"""Which special tokens begin a text, end it, stand for unknown text, and so on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from digram._util.validation import instance, word
from digram.errors import OptionError, show
from digram.vocab.special_tokens import named_tokens

__all__ = ["ROLES", "SpecialRoles", "check_chat_templates", "check_roles"]

ROLES = ("bos", "eos", "unk", "sep", "cls", "mask")
"""The fields of `SpecialRoles` in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecialRoles:
    """The special tokens with a role for the model, by their texts; None where there is none.

    `bos` begins a text and `eos` ends it, `unk` stands for unknown text, `sep` separates texts,
    `cls` stands for a whole text, and `mask` for a token to predict.

    >>> import digram
    >>> tok = digram.train("a", max_merges=0, special_tokens=["<s>", "</s>"])
    >>> tok = tok.with_special_roles(bos="<s>", eos="</s>")
    >>> tok.eos_token, tok.special_tokens[tok.eos_token]
    ('</s>', 257)

    Roles do not change ids: only a `digram.Template` adds tokens to a text. They are what programs
    that run the model need to know. The token for padding is `pad_token`.
    """

    bos: str | None = None
    eos: str | None = None
    unk: str | None = None
    sep: str | None = None
    cls: str | None = None
    mask: str | None = None

    def __post_init__(self) -> None:
        for role, text in self.to_dict().items():
            word(f"special_roles.{role}", text)

    def to_dict(self) -> dict[str, str]:
        """The roles that have a token, with its text.

        >>> SpecialRoles(eos="</s>").to_dict()
        {'eos': '</s>'}
        """
        named = ((role, getattr(self, role)) for role in ROLES)
        return {role: text for role, text in named if text is not None}


def check_roles(roles: SpecialRoles | None, special_tokens: Mapping[str, int]) -> None:
    """Raise `OptionError` unless roles name special tokens."""
    if roles is None:
        return
    instance("special_roles", roles, SpecialRoles)
    for role, text in roles.to_dict().items():
        if text not in special_tokens:
            raise OptionError(
                f"the {role} token is {show(text)}, which is not a special token of this "
                "tokenizer.",
                value=text,
                hint=f"{named_tokens(special_tokens)} In Python, with_special_tokens adds one.",
            )


def check_chat_templates(templates: Mapping[str, str] | None) -> None:
    """Raise `TypeError`, `OptionError` or `InvalidTextError` unless all are named texts."""
    for name, template in (templates or {}).items():
        if not word("the name of a chat template", name):
            raise OptionError("the name of a chat template is empty.", value=name)
        word(f"the chat template {show(name)}", template)
