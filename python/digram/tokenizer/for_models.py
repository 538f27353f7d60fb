"""What programs that run a model need to know of its tokenizer, and files for them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from types import EllipsisType
from typing import TYPE_CHECKING, Any

from digram._core import Core
from digram._util.read_only import ReadOnly
from digram._util.validation import mapping
from digram.vocab.settings import Side

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.vocab.definition import Definition
    from digram.vocab.settings import Settings
    from digram.vocab.special_roles import SpecialRoles

__all__ = ["ForModelsCore"]


class ForModelsCore(Core):
    """The methods of `digram.Tokenizer` for roles of special tokens and for chat templates."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def definition(self) -> Definition: ...
        @property
        def _settings(self) -> Settings: ...
        def _with(self, settings: Settings) -> Tokenizer: ...
        def with_pad_token(self, pad_token: str | None) -> Tokenizer: ...
        def with_padding_side(self, side: Side) -> Tokenizer: ...
        def with_truncation_side(self, side: Side) -> Tokenizer: ...
        def with_context_size(self, context_size: int | None) -> Tokenizer: ...

    @property
    def special_roles(self) -> SpecialRoles:
        """Which special tokens begin texts, end them and so on, as `digram.SpecialRoles`."""
        from digram.vocab.special_roles import SpecialRoles

        return self._settings.special_roles or SpecialRoles()

    @property
    def padding_side(self) -> Side:
        """Where `tok(text, padding=...)` adds tokens: "left" or "right"."""
        return self._settings.padding_side

    @property
    def truncation_side(self) -> Side:
        """Where `tok(text, max_length=...)` removes tokens: "left" or "right"."""
        return self._settings.truncation_side

    @property
    def bos_token(self) -> str | None:
        """The text of the special token that begins a text; None if not set."""
        return self.special_roles.bos

    @property
    def eos_token(self) -> str | None:
        """The text of the special token that ends a text; None if not set."""
        return self.special_roles.eos

    @property
    def unk_token(self) -> str | None:
        """The text of the special token for unknown text; None if not set.

        Programs that run the model read it. What `encode` does is `on_unknown`.
        """
        return self.special_roles.unk

    @property
    def chat_templates(self) -> ReadOnly[str, str]:
        """The templates of the model's chats, in Jinja, by name; "default" is the usual one.

        The dictionary is read-only.
        """
        return ReadOnly(self._settings.chat_templates or {}, "call tok.with_chat_template")

    @property
    def chat_template(self) -> str | None:
        """The usual template of the model's chats; None if there is none."""
        return self.chat_templates.get("default")

    def with_special_roles(
        self,
        special_roles: SpecialRoles | EllipsisType | None = ...,
        /,
        *,
        bos: str | EllipsisType | None = ...,
        eos: str | EllipsisType | None = ...,
        unk: str | EllipsisType | None = ...,
        sep: str | EllipsisType | None = ...,
        cls: str | EllipsisType | None = ...,
        mask: str | EllipsisType | None = ...,
    ) -> Tokenizer:
        """Return a new tokenizer with other roles of its special tokens; None removes a role.

        >>> import digram
        >>> tok = digram.train("a", max_merges=0, special_tokens=["<|end|>"])
        >>> tok = tok.with_special_roles(eos="<|end|>")
        >>> tok.eos_token, tok.with_special_roles(eos=None).eos_token
        ('<|end|>', None)

        Roles that are not given stay. `special_roles` replaces all of them, by those of another
        tokenizer (`other.special_roles`) or none. The token for padding is that of
        `with_pad_token`. Raises `OptionError` for a special token that does not exist.
        """
        from dataclasses import replace

        from digram.vocab.special_roles import SpecialRoles

        named = {"bos": bos, "eos": eos, "unk": unk, "sep": sep, "cls": cls, "mask": mask}
        given: dict[str, Any] = {role: text for role, text in named.items() if text is not ...}
        roles = self.special_roles if special_roles is ... else special_roles
        if given and (roles is None or isinstance(roles, SpecialRoles)):
            roles = replace(roles or SpecialRoles(), **given)
        return self._with(self._settings._replace(special_roles=roles))

    def with_chat_template(self, chat_template: str | Mapping[str, str] | None) -> Tokenizer:
        """Return a new tokenizer with other templates of chats; None removes them.

        >>> import digram
        >>> tok = digram.train("a", max_merges=0)
        >>> tok.with_chat_template("{{ messages[0].content }}").chat_template
        '{{ messages[0].content }}'

        `chat_template` is the usual one, or several by name; `chat` renders them. Raises
        `OptionError` for an empty name.
        """
        if chat_template is None or isinstance(chat_template, str):
            templates = None if chat_template is None else {"default": chat_template}
        else:
            mapping("chat_template", chat_template, "names and templates")
            templates = dict(chat_template) or None
        return self._with(self._settings._replace(chat_templates=templates))

    def save_pretrained(
        self,
        folder: str | PathLike[str],
        *,
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
        unk: str | None = None,
        sep: str | None = None,
        cls: str | None = None,
        mask: str | None = None,
        padding_side: Side | None = None,
        truncation_side: Side | None = None,
        context_size: int | None = None,
        chat_template: str | Mapping[str, str] | None = None,
        allow_loss: bool = False,
    ) -> None:
        """Save a folder that `AutoTokenizer.from_pretrained` of transformers loads.

        >>> import digram, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "model"
        >>> tok = digram.train("low low lower", vocab_size=259, special_tokens=["<|end|>"])
        >>> tok.save_pretrained(folder, eos="<|end|>", pad="<|end|>", context_size=2048)
        >>> sorted(path.name for path in folder.iterdir())
        ['special_tokens_map.json', 'tokenizer.json', 'tokenizer_config.json']
        >>> digram.load(folder).eos_token
        '<|end|>'

        `pad` and the arguments for roles, `bos` to `mask`, are special tokens, the sides are "left"
        or "right", `context_size` is a number of tokens, and `chat_template` a template in Jinja,
        or several by name. What is not given is that of the tokenizer; some files name no roles,
        such as a `.gguf` file without a template of chats.
        transformers 4 and 5 give the same ids for such a folder, and parse the text of
        special tokens, as with `special="parse"`.

        Each file is replaced atomically, one after the other. Raises `OptionError` for a special
        token that does not exist, and for a folder with `chat_template.jinja` or
        `additional_chat_templates`, which transformers would read instead of this template;
        `VocabError` and `PatternError` as `save` does for "huggingface"; and `OSError` if a file
        cannot be written. Takes time linear in the size of the vocabulary.
        """
        from digram.formats import pretrained

        named = {"bos": bos, "eos": eos, "unk": unk, "sep": sep, "cls": cls, "mask": mask}
        tok = self.with_special_roles(
            **{role: text for role, text in named.items() if text is not None}
        )
        if pad is not None:
            tok = tok.with_pad_token(pad)
        if padding_side is not None:
            tok = tok.with_padding_side(padding_side)
        if truncation_side is not None:
            tok = tok.with_truncation_side(truncation_side)
        if context_size is not None:
            tok = tok.with_context_size(context_size)
        if chat_template is not None:
            tok = tok.with_chat_template(chat_template)
        pretrained.write(tok.definition, folder, allow_loss=allow_loss)
