"""The special tokens of a tokenizer by their roles, and adding tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from digram.compat.transformers.names import names_of
from digram.errors import OptionError, show
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.special_tokens import Matching

__all__ = ["ATTRIBUTES", "AddedToken", "SpecialTokens"]

ATTRIBUTES = tuple(f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
_LISTS = ("additional_special_tokens", "extra_special_tokens")


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token that is found in text as a whole, as in the library tokenizers.

    `normalized` is by default the opposite of `special`.
    """

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool | None = None
    special: bool = False

    def __str__(self) -> str:
        return self.content

    def matching(self, special: bool) -> Matching:
        """The same as a `digram.Matching`."""
        special = special or self.special
        normalized = not special if self.normalized is None else self.normalized
        return Matching(
            always=not special,
            lstrip=self.lstrip,
            rstrip=self.rstrip,
            single_word=self.single_word,
            normalized=normalized,
        )


class SpecialTokens:
    """The part of the interface that is about special and added tokens; `_tok` is replaced."""

    _tok: Tokenizer

    def __getattr__(self, name: str) -> Any:
        is_id = name.endswith("_token_id")
        attribute = name.removesuffix("_id") if is_id else name
        specific = self.__dict__.get("_of_model", {}).get(attribute)
        if specific is not None:
            return self._tok.special_tokens[specific] if is_id else specific
        if attribute not in ATTRIBUTES or "_tok" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        role = attribute.removesuffix("_token")
        tok = self._tok
        text = tok.pad_token if role == "pad" else getattr(tok.special_roles, role)
        return text if not is_id or text is None else tok.special_tokens[text]

    def __setattr__(self, name: str, value: Any) -> None:
        is_id = name.endswith("_token_id")
        attribute = name.removesuffix("_id") if is_id else name
        if attribute not in ATTRIBUTES:
            object.__setattr__(self, name, value)
            return
        text = names_of(self._tok).texts[value] if is_id and value is not None else value
        self._set_role(attribute, None if text is None else str(text))

    def _set_role(self, attribute: str, text: str | None) -> None:
        tok = self._tok
        if text is not None and text not in tok.special_tokens:
            raise OptionError(
                f"{attribute} is {show(text)}, which is no added token of this tokenizer.",
                value=text,
                hint=f"Add it: tokenizer.add_special_tokens({{{attribute!r}: {text!r}}}).",
            )
        if attribute == "pad_token":
            self._tok = tok.with_pad_token(text)
        else:
            role = attribute.removesuffix("_token")
            self._tok = tok.with_special_roles(replace(tok.special_roles, **{role: text}))

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The special tokens that have a role, also one that only this model has."""
        found = ((name, getattr(self, name)) for name in ATTRIBUTES)
        return {name: text for name, text in found if text is not None} | self._specific

    @property
    def all_special_tokens(self) -> list[str]:
        """The special tokens with a role, and then those that were added without one."""
        return list(dict.fromkeys([*self.special_tokens_map.values(), *self._extra]))

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of `all_special_tokens`."""
        return [self._tok.special_tokens[text] for text in self.all_special_tokens]

    @property
    def extra_special_tokens(self) -> list[str]:
        """The special tokens without a role."""
        return list(self._extra)

    @extra_special_tokens.setter
    def extra_special_tokens(self, tokens: Iterable[Any]) -> None:
        self.add_special_tokens({"extra_special_tokens": list(tokens)})

    @property
    def _extra(self) -> list[str]:
        extra: list[str] = self.__dict__.setdefault("_added_special", [])
        return extra

    @property
    def _specific(self) -> dict[str, str]:
        """The special tokens with a role that only this model has, such as `image_token`."""
        specific: dict[str, str] = self.__dict__.setdefault("_of_model", {})
        return specific

    def _note_special(self, config: Mapping[str, Any], more: Mapping[str, Any]) -> None:
        """Note the tokens that the files of a folder call special, and which are among these.

        `config` is the content of tokenizer_config.json, and `more` of special_tokens_map.json.
        """
        extra = config.get(_LISTS[1]) or config.get(_LISTS[0])
        if isinstance(extra, dict):
            extra = config.get(_LISTS[0])
        if not any(isinstance(config.get(key), list) for key in _LISTS):
            extra = more.get(_LISTS[0])
        config = {**more, **config}
        named = {
            name: value
            for name, value in config.items()
            if name.endswith("_token") and name not in ATTRIBUTES
        }
        for key in ("extra_special_tokens", "model_specific_special_tokens"):
            value = config.get(key)
            named |= value if isinstance(value, dict) else {}
        lists = [one for one in (extra, more.get(_LISTS[1])) if isinstance(one, list)]
        known = self._tok.special_tokens
        texts = [text for one in lists for value in one if (text := _text_of(value)) in known]
        self.__dict__["_added_special"] = list(dict.fromkeys([*self._extra, *texts]))
        found = ((name, _text_of(value)) for name, value in named.items())
        self.__dict__["_of_model"] = {name: text for name, text in found if text in known}

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """The added tokens by id, with their flags."""
        found, matching = {}, self._tok.matching
        for text, id in names_of(self._tok).added.items():
            flags = matching.get(text, Matching())
            found[id] = AddedToken(
                text,
                single_word=flags.single_word,
                lstrip=flags.lstrip,
                rstrip=flags.rstrip,
                normalized=flags.normalized,
                special=not flags.always,
            )
        return found

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        """The ids of the added tokens."""
        return dict(names_of(self._tok).added)

    def get_added_vocab(self) -> dict[str, int]:
        """The ids of the added tokens."""
        return self.added_tokens_encoder

    def add_tokens(self, new_tokens: Any, special_tokens: bool = False) -> int:
        """Add tokens that are found in text as a whole; returns how many are new.

        One that is an added token already gets the flags that are given, and counts if it had
        others.

        Raises `OptionError` for a text that is a token of the model.
        """
        if not new_tokens:
            return 0
        given = [new_tokens] if isinstance(new_tokens, str | AddedToken) else list(new_tokens)
        return self._add([_added(one) for one in given], special_tokens)

    def add_special_tokens(
        self, special_tokens_dict: Mapping[str, Any], replace_extra_special_tokens: bool = True
    ) -> int:
        """Add special tokens by roles, or as `extra_special_tokens`; returns how many are new.

        One that is an added token already gets the flags that are given, and counts if it had
        others.
        """
        return self._assign(special_tokens_dict, replace_extra_special_tokens)

    def _assign(
        self, given: Mapping[str, Any], replaces_extra: bool = True, *, changes: bool = True
    ) -> int:
        """Add special tokens; those that there are already keep their flags unless `changes`."""
        count = 0
        for name, value in given.items():
            if name in _LISTS:
                texts = [_added(one) for one in value]
                count += self._add(texts, True, changes=changes)
                known = [] if replaces_extra else self._extra
                extra = [*known, *(one.content for one in texts)]
                self.__dict__["_added_special"] = list(dict.fromkeys(extra))
            elif name in ATTRIBUTES:
                one = _added(value)
                count += self._add([one], True, changes=changes)
                self._set_role(name, one.content)
            else:
                raise OptionError(f"{show(name)} is not the role of a special token.", value=name)
        return count

    def _add(self, tokens: Iterable[AddedToken], special: bool, *, changes: bool = True) -> int:
        tok = self._tok
        names = names_of(tok)
        flags = {one.content: one.matching(special) for one in tokens}
        new = [text for text in flags if text not in tok.special_tokens]
        for text in new:
            if text in names.model:
                raise OptionError(
                    f"{show(text)} is a token of the model, and digram has one text for an id.",
                    value=text,
                    hint="Add a text that is no token.",
                )
            if text.startswith(" ") and tok.definition.space_symbol is not None:
                raise OptionError(
                    f"{show(text)} begins with a space, which transformers keeps at the start of "
                    "decoded text, and this tokenizer leaves out.",
                    value=text,
                    hint="Add it without the space, with lstrip=True to take spaces before it.",
                )
        changed = {}
        for text in flags.keys() & tok.special_tokens.keys() if changes else ():
            before = tok.matching.get(text, Matching())
            # What was special stays so.
            one = replace(flags[text], always=flags[text].always and before.always)
            if one != before:
                changed[text] = one
        if not new and not changed:
            return 0
        ids = {text: tok.vocab_size + number for number, text in enumerate(new)}
        definition = (tok.with_special_tokens(ids) if ids else tok).definition
        all_flags = {**tok.matching, **{text: flags[text] for text in new}, **changed}
        matching = {text: one for text, one in all_flags.items() if one != Matching()}
        made = Tokenizer(replace(definition, matching=matching))
        names_of(made)  # raises for tokens that this interface could not name later
        self._tok = made
        return len(new) + len(changed)


def _text_of(value: Any) -> str:
    """The text of a token in a config; empty for what is none."""
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""


def _added(value: Any) -> AddedToken:
    if isinstance(value, AddedToken):
        return value
    if isinstance(value, str):
        return AddedToken(value)
    if type(value).__name__ == "AddedToken":  # that of the library tokenizers
        names = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
        return AddedToken(**{name: getattr(value, name) for name in names})
    raise TypeError(f"a token is a str or an AddedToken, not {type(value).__name__}")
