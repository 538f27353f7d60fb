"""The keys of a GGUF file that tell of its tokenizer, with their types checked."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

from digram.errors import CorruptFileError, VocabError
from digram.formats._gguf_file import Metadata, Value, read_metadata
from digram.formats._json import unsupported
from digram.formats._show import show
from digram.vocab.special_roles import SpecialRoles
from digram.vocab.template import Template

__all__ = ["CHAT", "PREFIX", "ROLE_KEYS", "Defaults", "Fields", "Input", "fields_of"]

PREFIX = "tokenizer.ggml."
_GENERAL = ("general.architecture", "general.name")
_CONTEXT = ".context_length"
CHAT = "tokenizer.chat_template"
ROLE_KEYS = {
    "bos": "bos",
    "eos": "eos",
    "unk": "unknown",
    "sep": "seperator",  # as it is spelled there
    "cls": "cls",
    "mask": "mask",
}
"""The keys for the ids of special tokens, by their roles."""


def fields_of(file: BinaryIO, path: str | None) -> Fields:
    """The fields of a file; see `read_metadata` for the errors."""
    return Fields(read_metadata(file, path, _wanted), path)


def _wanted(key: str) -> bool:
    return key.startswith((PREFIX, CHAT)) or key in _GENERAL or key.endswith(_CONTEXT)


class Defaults(NamedTuple):
    """What a file means that does not say which tokens are around a text."""

    bos: int | None
    eos: int | None
    add_bos: bool = False
    add_eos: bool = False


class Input(NamedTuple):
    """The settings of `tok(text)`, named as in `Definition`."""

    special_roles: SpecialRoles
    template: Template | None
    context_size: int | None
    pad_token: str | None
    chat_templates: dict[str, str]


class Fields:
    """The keys of a file, without `tokenizer.ggml.`. A wrong type raises `CorruptFileError`."""

    def __init__(self, metadata: Metadata, path: str | None) -> None:
        self._metadata, self.path = metadata, path

    def _value(self, key: str, kind: type | tuple[type, ...], what: str) -> Any:
        """The value of a key, or None; `what` names the expected type."""
        value = self._metadata.get(key)
        if value is not None and type(value) not in (kind if isinstance(kind, tuple) else (kind,)):
            raise CorruptFileError(f"{key} should be {what}, not {_named(value)}.", path=self.path)
        return value

    def has(self, key: str) -> bool:
        """Whether there is a key."""
        return PREFIX + key in self._metadata

    def text(self, key: str) -> str | None:
        """A text."""
        return self._text(PREFIX + key)

    def _text(self, key: str) -> str | None:
        value = self._value(key, bytes, "a text")
        return None if value is None else self._decoded(value, key)

    def _decoded(self, text: bytes, where: str) -> str:
        try:
            return text.decode()
        except UnicodeDecodeError:
            raise CorruptFileError(f"{where} {show(text)} is not UTF-8.", path=self.path) from None

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.optional_flag(key)
        return default if value is None else value

    def texts(self, key: str) -> list[str]:
        """A list of texts. Raises `CorruptFileError` if the key is missing."""
        value = self._value(PREFIX + key, list, "a list of texts")
        if value is None:
            raise CorruptFileError(
                f"the key {PREFIX}{key} is missing.",
                path=self.path,
                hint="Is it a file with a tokenizer? Convert the model again.",
            )
        try:
            return [text.decode() for text in value]
        except UnicodeDecodeError:
            for index, text in enumerate(value):
                self._decoded(text, f"{PREFIX}{key}[{index}]")
            raise

    def numbers(self, key: str, kinds: str, count: int) -> Sequence[float] | None:
        """The first `count` numbers of a list, whose type is one of `kinds`; None without the key.

        Raises `CorruptFileError` for fewer.
        """
        value: array[Any] | None = self._value(PREFIX + key, array, "a list of numbers")
        if value is None:
            return None
        if value.typecode not in kinds:
            raise CorruptFileError(
                f"{PREFIX}{key} should have numbers of 32 bits, not {_named(value)}.",
                path=self.path,
            )
        if len(value) < count:
            raise CorruptFileError(
                f"{PREFIX}{key} has {len(value):,} numbers for {count:,} tokens.", path=self.path
            )
        return value[:count]

    def raw(self, key: str) -> bytes:
        """The bytes of a list of numbers of 8 bits; none without the key."""
        value: array[Any] | None = self._value(PREFIX + key, array, "a list of numbers")
        if value is not None and value.itemsize > 1:
            raise CorruptFileError(
                f"{PREFIX}{key} should have numbers of 8 bits, not {_named(value)}.", path=self.path
            )
        return b"" if value is None else value.tobytes()

    def names(self) -> list[str]:
        """The texts of the tokens, each of which is different; those without one get a name.

        Raises `VocabError` for a text that occurs twice.
        """
        found = [name or f"[EMPTY_{id}]" for id, name in enumerate(self.texts("tokens"))]
        if len(set(found)) < len(found):
            first: dict[str, int] = {}
            for token_id, name in enumerate(found):
                if first.setdefault(name, token_id) != token_id:
                    raise VocabError(
                        f"token {show(name)} has the ids {first[name]} and {token_id}.",
                        path=self.path,
                        value=name,
                        hint="Convert the model with a current version of llama.cpp.",
                    )
        return found

    def types(self, count: int) -> list[int]:
        """The types of the tokens; all are normal in a file that has none."""
        found = self.numbers("token_type", "il", count)
        return [1] * count if found is None else [int(kind) for kind in found]

    def model_name(self) -> str:
        """The name of the model."""
        return self._text("general.name") or ""

    def input(
        self,
        names: Sequence[str],
        special: dict[str, int],
        given: Defaults,
        *,
        always_bos: bool = False,
    ) -> Input:
        """The tokens around a text, the context size, and the token for padding.

        Raises `VocabError` if a token around a text is not special.
        """
        around: list[tuple[str, int]] = [("$A", 0)]
        if self.flag("add_bos_token", given.add_bos) or always_bos:
            around.insert(0, (self._around("bos", given.bos, names, special), 0))
        if self.flag("add_eos_token", given.add_eos):
            around.append((self._around("eos", given.eos, names, special), 0))
        pad = self.token_id("padding", None, len(names))
        chats = self._chat_templates()  # which name the tokens by their roles
        return Input(
            self._roles(names, special) if chats else SpecialRoles(),
            Template(around) if len(around) > 1 else None,
            self.context_size(),
            names[pad] if pad is not None and names[pad] in special else None,
            chats,
        )

    def _chat_templates(self) -> dict[str, str]:
        """The templates for chats, by name; that without a name is "default"."""
        found: dict[str, str] = {}
        for key in self._metadata:
            if key.startswith(CHAT):
                text = self._text(key)
                name = key.removeprefix(CHAT).removeprefix(".") or "default"
                found |= {} if text is None else {name: text}
        return found

    def optional_flag(self, key: str) -> bool | None:
        """True or false; None without the key."""
        value: bool | None = self._value(PREFIX + key, bool, "true or false")
        return value

    def _roles(self, names: Sequence[str], special: dict[str, int]) -> SpecialRoles:
        """The special tokens to which a key gives a role."""
        named = ((role, self.token_id(key, None, len(names))) for role, key in ROLE_KEYS.items())
        found = {role: names[token_id] for role, token_id in named if token_id is not None}
        return SpecialRoles(**{role: text for role, text in found.items() if text in special})

    def token_id(self, key: str, default: int | None, count: int) -> int | None:
        """The id of a token for a purpose; ids outside the vocabulary mean the default."""
        found: int | None = self._value(f"{PREFIX}{key}_token_id", int, "an id")
        if found is None or not 0 <= found < count:
            found = default
        return found if found is not None and found < count else None

    def _around(
        self, key: str, default: int | None, names: Sequence[str], special: dict[str, int]
    ) -> str:
        found = self.token_id(key, default, len(names))
        if found is None or names[found] not in special:
            shown = "no token" if found is None else f"token {found}, {show(names[found])},"
            raise unsupported(f"{shown} as the {key} token around a text", self.path)
        return names[found]

    def context_size(self) -> int | None:
        """The number of tokens that the model was made for."""
        architecture = self._text("general.architecture")
        size: int | None = self._value(f"{architecture}{_CONTEXT}", int, "a whole number")
        return size if size is not None and size >= 1 else None


def _named(value: Value) -> str:
    """A value for a message; a list by its length."""
    if isinstance(value, list):
        return f"a list of {len(value):,} texts"
    if isinstance(value, array):
        return f"a list of {len(value):,} numbers of {8 * value.itemsize} bits"
    return show(value)
