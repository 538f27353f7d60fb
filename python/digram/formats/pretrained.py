"""The folder of a tokenizer as Hugging Face's transformers writes and reads it.

Beside tokenizer.json, tokenizer_config.json and special_tokens_map.json name the special tokens
with a role, the context size and the templates of chats; newer versions keep these templates in
chat_template.jinja and in the folder additional_chat_templates. Where files contradict each other,
what `AutoTokenizer` takes is taken here too, and a warning says so; what would give a token another
id than tokenizer.json is refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, get_args

from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.errors import LimitExceededError, OptionError, VocabError
from digram.formats import huggingface
from digram.formats._added_tokens import AddedTokens
from digram.formats._check import check_input
from digram.formats._class_stages import amended as stages_of_class
from digram.formats._classes import usual
from digram.formats._json import expect, parse
from digram.formats._show import show
from digram.formats._unigram import without_config
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.packed import Compact
from digram.vocab.scores import UnigramModel
from digram.vocab.settings import Settings, Side
from digram.vocab.special_roles import ROLES, SpecialRoles
from digram.vocab.special_tokens import Matching
from digram.vocab.wordpiece import WordPieceModel

__all__ = ["Beside", "amended", "content_of", "joined_plain", "load", "read_beside", "write"]

_TOKENIZER, _CONFIG, _MAP = "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"
_MODEL = "config.json"
_CHAT, _MORE_CHATS = "chat_template.jinja", "additional_chat_templates"
_SUFFIX = ".jinja"

_LARGEST_CONFIG = 1 << 24
_LARGEST_CHAT = 1 << 20
_MOST_CHATS = 100
_NO_LIMIT = int(1e30)
"""The `model_max_length` of a tokenizer without one; transformers writes this number."""
_UNLIMITED = int(1e20)
"""Above this, transformers takes a `model_max_length` for none."""

_VERSIONED = re.compile(r"tokenizer\..+\.json")
"""The name of a file for newer versions of transformers."""
_CLASSES = {"[CLS]", "<cls>"}
"""Special tokens of models that tell two texts apart by their types."""
_NAMED = {f"{role}_token": role for role in (*ROLES, "pad")}
_LISTS = ("additional_special_tokens", "extra_special_tokens")
_FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")


@dataclass(slots=True)
class Beside:
    """What the files beside a tokenizer say; `config` is the path that errors name."""

    folder: str
    config: str
    file: str = _TOKENIZER
    """The name of the file with the tokenizer."""
    named: dict[str, str | None] = field(default_factory=dict)
    """The special token of each role, None where the files say that there is none."""
    more: list[str] = field(default_factory=list)
    """Other tokens that the files call special."""
    of_model: list[str] = field(default_factory=list)
    """The tokens with a role that only this model has, such as `image_token`."""
    added: AddedTokens = field(default_factory=dict)
    of_roles: dict[str, Matching] = field(default_factory=dict)
    """The flags that objects give to tokens with a role."""
    context_size: int | None = None
    truncation_side: Side | None = None
    padding_side: Side | None = None
    class_config: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    """The contents of the two files by which transformers takes a class."""
    chats: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def says_something(self) -> bool:
        """Whether there is anything for a tokenizer in these files."""
        said = (self.named, self.more, self.added, self.context_size, self.chats)
        return any((*said, self.truncation_side, self.padding_side))

    @property
    def alone(self) -> str:
        """How to do without these files."""
        return f"To load {self.file} without the files beside it, pass its path."


def load(folder: str, data: bytes) -> tuple[Compact, list[str]]:
    """The tokenizer in a folder, and warnings; `data` is the content of its tokenizer.json.

    Raises the errors of `huggingface.loads`, and `VocabError` for files beside it that name tokens
    which it does not have, or has with other ids.
    """
    beside = read_beside(folder)
    _refuse_other_file(beside)
    path = os.path.join(folder, _TOKENIZER)
    raw: AddedTokens = {}
    found = huggingface.compact(data, path, lambda added: raw.update(added) or added)
    if found.settings.pad_token is not None:
        beside.named.setdefault("pad", found.settings.pad_token)
    by_class, notes = stages_of_class(
        data, found.settings, found.special_tokens, beside.class_config, beside.named, path
    )
    beside.warnings += notes
    if by_class is not None:
        data = by_class
        found = huggingface.compact(data, path)
    changed = amended(raw, beside)
    for text, id in found.special_tokens.items():
        # One that merges make too cannot be left in text; transformers has both. A piece of Unigram
        # is no piece where it is special, since it is found in all text before.
        is_made = found.model.token(id) is not None and found.settings.kernel.kind == BpeModel.kind
        if text in changed and is_made:
            changed[text] = id, replace(changed[text][1], always=raw[text][1].always)
    if changed != raw:
        again = huggingface.compact(data, path, lambda _: changed)
        if again.settings.matching != found.settings.matching:
            beside.warnings.append(
                f"{_CONFIG} gives added tokens other flags than {_TOKENIZER}, which are taken, as "
                "by transformers"
            )
        found = again
    by_role = dict(changed)
    for text, flags in beside.of_roles.items():
        id, before = changed[text]
        by_role[text] = id, replace(flags, always=before.always)
    if by_role != changed:
        again = huggingface.compact(data, path, lambda _: by_role)
        if again.settings.matching != found.settings.matching:
            beside.warnings.append(
                "the files beside it give tokens with a role other flags; transformers 4 uses "
                "them, and digram and transformers 5 do not"
            )
    return _joined(found, beside), beside.warnings


def _refuse_other_file(beside: Beside) -> None:
    """Refuse a config that names a file for newer versions, which transformers reads instead."""
    files = beside.class_config[0].get("fast_tokenizer_files")
    for name in files if isinstance(files, list) else ():
        if isinstance(name, str) and _VERSIONED.fullmatch(name):
            raise VocabError(
                f"the config names {show(name)}, which transformers reads instead of {_TOKENIZER}.",
                path=beside.config,
                value=name,
                hint=f"Pass the path of that file, or copy it to {_TOKENIZER} and leave out "
                f"fast_tokenizer_files. {beside.alone}",
            )


def write(definition: Definition, folder: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write the three files of a folder, each atomically; the folder is created.

    Raises the errors of `huggingface.dumps`; `OptionError` if the folder has templates of chats in
    files that transformers reads instead of the ones that are written; and OSError.
    """
    name = path_name(folder, "folder")
    is_unigram = isinstance(definition.model, UnigramModel)
    alone = without_config(definition) if is_unigram else definition
    files = {_TOKENIZER: huggingface.dumps(alone, allow_loss=allow_loss)}
    files |= {_CONFIG: _config(definition), _MAP: _lines(_tokens_by_role(definition))}
    for left in (_CHAT, _MORE_CHATS):
        path = os.path.join(name, left)
        if os.path.lexists(path):
            raise OptionError(
                f"transformers would read {left} of this folder instead of the chat templates of "
                "this tokenizer.",
                path=path,
                hint="Remove it, or save to another folder.",
            )
    os.makedirs(name, exist_ok=True)
    for file, data in files.items():
        atomic_write(os.path.join(name, file), data, LARGEST)


def _config(definition: Definition) -> bytes:
    template, chats = definition.template, definition.chat_templates
    special = definition.special_tokens
    pieces = () if template is None else (*template.single, *(template.pair or ()))
    # Templates of models that take no types have them too, as those of Llama.
    takes_types = (
        isinstance(definition.model, WordPieceModel)
        or definition.special_roles.cls is not None
        or not _CLASSES.isdisjoint(special)
    )
    typed = ["token_type_ids"] if takes_types and any(type_id for _, type_id in pieces) else []
    size = definition.context_size
    words = definition.pretokenizer.words
    # transformers 4 leaves out the prefix of the tokenizer.json without this key.
    prefixed = definition.unit == "byte" and words is not None and words.last.prefix == " "
    return _lines(
        {
            # The only class that gives the same ids in transformers 4 and 5.
            "tokenizer_class": "PreTrainedTokenizerFast",
            # It changes decoded text.
            "clean_up_tokenization_spaces": False,
            **({"add_prefix_space": True} if prefixed else {}),
            "model_input_names": ["input_ids", *typed, "attention_mask"],
            "model_max_length": _NO_LIMIT if size is None else size,
            "padding_side": definition.padding_side,
            "truncation_side": definition.truncation_side,
            **_tokens_by_role(definition),
            **({"chat_template": _written_chats(chats)} if chats else {}),
        }
    )


def _tokens_by_role(definition: Definition) -> dict[str, str]:
    texts: dict[str, str | None] = {**definition.special_roles.to_dict()}
    texts["pad"] = definition.pad_token
    return {key: text for key, role in _NAMED.items() if (text := texts.get(role)) is not None}


def _written_chats(chats: Mapping[str, str]) -> str | list[dict[str, str]]:
    if chats.keys() == {"default"}:
        return chats["default"]
    return [{"name": name, "template": template} for name, template in chats.items()]


def _lines(value: dict[str, Any]) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode() + b"\n"


def read_beside(folder: str, file: str = _TOKENIZER) -> Beside:
    """What the files beside a tokenizer say; `file` is the name of its own file, for messages."""
    config, path = _object(folder, _CONFIG)
    beside = Beside(folder, path, file)
    _read_roles(config, beside)
    for key in _LISTS:
        beside.more += _texts(config.get(key), key, path)
    for value in config.get(_LISTS[0]) or ():
        _note_flags(value, beside)
    more = config.get(_LISTS[1])
    named = config | (more if isinstance(more, dict) else {})
    beside.of_model = [
        value
        for key, value in named.items()
        if key.endswith("_token") and key not in _NAMED and isinstance(value, str)
    ]
    if "added_tokens_decoder" not in config:
        others, map_path = _object(folder, _MAP)
        for key in _LISTS:
            beside.more += _texts(others.get(key), key, map_path)
    _read_added(config.get("added_tokens_decoder"), beside)
    size = config["model_max_length"] if "model_max_length" in config else config.get("max_len")
    beside.context_size = _context_size(size, path)
    beside.truncation_side = _side(config, "truncation_side", path)
    beside.padding_side = _side(config, "padding_side", path)
    beside.class_config = config, content_of(folder, _MODEL)
    _read_chats(config.get("chat_template"), beside)
    return beside


def content_of(folder: str, name: str) -> dict[str, Any]:
    """The object in a file of JSON of a folder; empty if there is none.

    Raises `CorruptFileError` and `VocabError` for other content, and OSError.
    """
    return _object(folder, name)[0]


def _object(folder: str, name: str) -> tuple[dict[str, Any], str]:
    path = os.path.join(folder, name)
    if not os.path.lexists(path):
        return {}, path
    return expect(parse(read_file(path, _LARGEST_CONFIG), path), dict, "the file", path), path


def _read_roles(config: dict[str, Any], beside: Beside) -> None:
    """The tokens by role: those of the map, but only if the config does not list added tokens."""
    others, map_path = _object(beside.folder, _MAP)
    taken = "added_tokens_decoder" not in config
    for key, role in _NAMED.items():
        own = _text(config.get(key), key, beside.config)
        other = _text(others.get(key), key, map_path)
        if key in config:
            beside.named[role] = own
        if key in others and (taken or key not in config):
            beside.named[role] = other if taken else None
        value = others[key] if key in others and taken else config.get(key)
        _note_flags(value, beside)
        if key in config and key in others and own != other:
            beside.warnings.append(
                f"{key} is {show(own)} in {_CONFIG} and {show(other)} in {_MAP}; "
                f"{show(beside.named[role])} is taken, as by transformers"
            )


def _note_flags(value: Any, beside: Beside) -> None:
    """Note the flags of a token that is written as an object."""
    if isinstance(value, dict):
        flags = {flag: value.get(flag) is True for flag in _FLAGS if flag != "special"}
        beside.of_roles[value["content"]] = Matching(**flags)


def _text(value: Any, where: str, path: str) -> str | None:
    """A token, which is written as a text or as an object with its flags."""
    if isinstance(value, dict):
        return expect(value.get("content"), str, f"{where}.content", path)
    return None if value is None else expect(value, str, where, path)


def _texts(value: Any, where: str, path: str) -> list[str]:
    values = value.values() if isinstance(value, dict) else value
    if values is None:
        return []
    if not isinstance(value, dict):
        values = expect(value, list, where, path)
    return [text for one in values if (text := _text(one, f"an item of {where}", path)) is not None]


def _read_added(value: Any, beside: Beside) -> None:
    path = beside.config
    entries = expect({} if value is None else value, dict, "added_tokens_decoder", path)
    for key, entry in entries.items():
        where = f"added_tokens_decoder[{show(key)}]"
        if not (key.isascii() and key.isdigit() and len(key) <= 10):
            raise VocabError(f"{where} is not an id.", path=path, value=key)
        token = expect(entry, dict, where, path)
        text = expect(token.get("content"), str, f"{where}.content", path)
        special = expect(token.get("special", False), bool, f"{where}.special", path)
        usual = {"normalized": not special}  # the flags that an entry leaves out
        flags = {
            flag: expect(token.get(flag, usual.get(flag, False)), bool, f"{where}.{flag}", path)
            for flag in _FLAGS
        }
        if text in beside.added:
            raise VocabError(
                f"added_tokens_decoder has {show(text)} twice.", path=path, hint="Keep one of them."
            )
        always = not flags.pop("special")
        beside.added[text] = int(key), Matching(always=always, **flags)


def _context_size(value: Any, path: str) -> int | None:
    where = "model_max_length"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None or expect(value, int, where, path) > _UNLIMITED:
        return None
    if value < 1:
        raise VocabError(f"{where} {show(value)} is not at least 1.", path=path, value=value)
    return int(value)


def _side(config: dict[str, Any], key: str, path: str) -> Side | None:
    value = config.get(key)
    if value not in (None, *get_args(Side)):
        raise VocabError(
            f"{key} {show(value)} is not known.", path=path, value=value, hint='Write "right".'
        )
    return value


def _read_chats(value: Any, beside: Beside) -> None:
    """The templates of chats. Those in files of their own replace those of the config."""
    path, named = beside.config, {}
    if isinstance(value, list):
        for index, entry in enumerate(value):
            where = f"chat_template[{index}]"
            item = expect(entry, dict, where, path)
            name = expect(item.get("name"), str, f"{where}.name", path)
            if name in named or not name:
                raise VocabError(f"{where}: the name {show(name)} is empty or repeated.", path=path)
            named[name] = expect(item.get("template"), str, f"{where}.template", path)
    elif value is not None:
        named["default"] = expect(value, str, "chat_template", path)
    files = _chat_files(beside)
    if files and named and files != named:
        beside.warnings.append(
            f"the chat templates of {_CONFIG} are not those of {_CHAT} and {_MORE_CHATS}, which "
            "are taken, as by transformers"
        )
    beside.chats = files or named


def _chat_files(beside: Beside) -> dict[str, str]:
    folder = beside.folder
    paths = {}
    main, more = os.path.join(folder, _CHAT), os.path.join(folder, _MORE_CHATS)
    if os.path.lexists(main):
        paths["default"] = main
    if os.path.isdir(more):
        with os.scandir(more) as entries:
            for number, entry in enumerate(entries):
                if number == _MOST_CHATS:
                    raise LimitExceededError(
                        f"there are more than {_MOST_CHATS} files.", path=more, hint=beside.alone
                    )
                if entry.name.endswith(_SUFFIX) and entry.name != _SUFFIX:
                    paths[entry.name.removesuffix(_SUFFIX)] = entry.path
    return {name: _chat(paths[name]) for name in sorted(paths)}


def _chat(path: str) -> str:
    try:
        return read_file(path, _LARGEST_CHAT).decode()
    except UnicodeDecodeError as error:
        raise VocabError(
            f"byte {error.start} is not UTF-8.", path=path, hint="Copy the file again."
        ) from None


def amended(added: AddedTokens, beside: Beside) -> AddedTokens:
    """The added tokens with the flags that the config gives them.

    transformers adds the tokens again whose flags differ, which replaces the flags, and makes
    tokens special that have a role.
    """
    roles = {f"the {role} token": text for role, text in beside.named.items() if text is not None}
    listed = [*roles.items(), *((f"an item of {_LISTS[0]}", text) for text in beside.more)]
    is_json = beside.file == _TOKENIZER
    there = "there" if is_json else "with its id to added_tokens_decoder"
    among = f"the {'added_tokens' if is_json else 'special tokens'} of {beside.file}"
    for what, text in listed:
        if text not in added:
            raise VocabError(
                f"{what}, {show(text)}, is not among {among}.",
                path=beside.config,
                value=text,
                hint="transformers would give it a new id, or another one than the model was "
                f"trained with. Add it {there}. {beside.alone}",
            )
    changed = dict(added)
    for text, (id, matching) in beside.added.items():
        if text not in added or added[text][0] != id:
            other = f"has the id {added[text][0]}" if text in added else "is no added token"
            raise VocabError(
                f"added_tokens_decoder gives {show(text)} the id {id}, but in {beside.file} it "
                f"{other}.",
                path=beside.config,
                value=text,
                hint=f"Correct the wrong one. {beside.alone}",
            )
        before = added[text][1]
        if matching != before:
            # What was special stays so.
            changed[text] = id, replace(matching, always=matching.always and before.always)
    for text in {*roles.values(), *beside.of_model} & changed.keys():
        id, matching = changed[text]
        changed[text] = id, replace(matching, always=False)
    return changed


def joined_plain(found: Definition, beside: Beside) -> Definition:
    """A definition with what the files beside it say; what they leave out stays."""
    return replace(found, **_said(found, beside))


def _said(old: Definition | Settings, beside: Beside) -> dict[str, Any]:
    """The fields of a tokenizer that the files set, with what they leave out."""
    named = dict(beside.named)
    pad = named.pop("pad", old.pad_token)
    roles = (old.special_roles or SpecialRoles()).to_dict() | named
    return {
        "special_roles": SpecialRoles(**roles),
        "pad_token": pad,
        "context_size": beside.context_size or old.context_size,
        "chat_templates": beside.chats or old.chat_templates,
        "truncation_side": beside.truncation_side or old.truncation_side,
        "padding_side": beside.padding_side or _usual_side(old, beside),
    }


def _usual_side(old: Definition | Settings, beside: Beside) -> Side:
    """The side of padding that a file has, or that of the class that transformers takes."""
    if old.padding is not None or old.padding_side == "left":
        return old.padding_side
    return usual(*beside.class_config, of_bytes=old.unit == "byte").padding_side


def _joined(found: Compact, beside: Beside) -> Compact:
    """A tokenizer with what the files beside it say; what they leave out stays."""
    old = found.settings
    new = old._replace(**_said(old, beside))
    for name in ("special_roles", "pad_token", "context_size", "chat_templates"):
        before, after = getattr(old, name), getattr(new, name)
        if before not in (None, SpecialRoles(), after):
            what = name.replace("_", " ")
            beside.warnings.append(
                f"the {what} in the files beside {_TOKENIZER} differ from those in it, and are "
                "taken, as by transformers"
            )
    check_input(new, found.special_tokens, beside.config)
    return found._replace(settings=new)
