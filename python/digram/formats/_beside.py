"""Folders of transformers without tokenizer.json: what the config beside the vocabulary adds.

The files of SentencePiece, BERT and GPT-2 store neither roles, context size nor chat templates, and
not which tokens are put around a text. The config does, or the class of transformers that it names.
A class that gives other ids than the file is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from digram.errors import VocabError
from digram.formats import pretrained
from digram.formats._added_tokens import AddedTokens
from digram.formats._check import Place, check
from digram.formats._class_rules import GEMMA, GPT2, LLAMA, T5, class_of, refuse
from digram.formats._class_stages import wrapped
from digram.formats._json import expect
from digram.formats._registry import TokenizerFormat
from digram.formats._show import show
from digram.formats.pretrained import Beside, content_of
from digram.pretokenizers.normalizers import SentencePiece
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.scores import ScoredModel
from digram.vocab.special_tokens import Matching
from digram.vocab.template import Template
from digram.vocab.wordpiece import WordPieceModel

__all__ = ["joined", "pretokenizer_of"]

_CONFIG, _ADDED = "tokenizer_config.json", "added_tokens.json"

_RULES = {
    GEMMA: SentencePiece(b"", add_space=None, remove_spaces=False),
    LLAMA: SentencePiece(b"", add_space="before", remove_spaces=False),
}
"""The rules by which a class reads text in transformers 5, whatever its file says.

In transformers 4 these classes put a token before a text if the config does not say add_bos_token.
"""
_BERT = frozenset(
    (
        *("BertTokenizer", "ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"),
        *("DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer", "LayoutLMTokenizer"),
        *("LxmertTokenizer", "MobileBertTokenizer", "RetriBertTokenizer", "SqueezeBertTokenizer"),
    )
)
_UNWRAPPED = frozenset((GPT2, "CodeGenTokenizer", "Qwen2Tokenizer"))
"""Classes for vocab.json and merges.txt that put no tokens around a text."""
_KNOWN = {
    "sentencepiece": frozenset((GEMMA, LLAMA, T5)),
    "vocab_txt": _BERT,
    "vocab_merges": _UNWRAPPED,
}
"""Classes whose rules are those of a format, and of this module."""
_GENERIC = frozenset(("", "PreTrainedTokenizer", "PythonBackend", "TokenizersBackend"))
_ROLES = {
    GEMMA: {"bos": "<bos>", "eos": "<eos>", "unk": "<unk>", "pad": "<pad>"},
    GPT2: dict.fromkeys(("bos", "eos", "unk"), "<|endoftext|>"),
    LLAMA: {"bos": "<s>", "eos": "</s>", "unk": "<unk>"},
    T5: {"eos": "</s>", "unk": "<unk>", "pad": "<pad>"},
}
"""The special tokens of a class by role, where the files say nothing."""
_EXTRA = "<extra_id_{}>"
_EXTRAS = 100
_MOST_EXTRAS = 100_000


def pretokenizer_of(folder: str, format: TokenizerFormat) -> str | None:
    """The pretokenizer of a format that stores none, if a class that is named is certain about it.

    Raises the errors of a damaged config.
    """
    if format.name != "vocab_merges":
        return None
    config = content_of(folder, _CONFIG)
    is_certain = class_of(folder, config) == GPT2 and not config.get("add_prefix_space")
    return "gpt2" if is_certain else None


def joined(
    folder: str, file: str, format: TokenizerFormat, found: Definition
) -> tuple[Definition, list[str]]:
    """A tokenizer with what the files beside `file` say, and warnings.

    Raises `VocabError` for a class with other ids, and for tokens that the file does not have.
    """
    beside, config = pretrained.read_beside(folder, file), content_of(folder, _CONFIG)
    name = class_of(folder, config)
    if not (name or config or beside.says_something() or content_of(folder, _ADDED)):
        return found, []
    usual: Mapping[str, str] = {}
    if format.name in ("sentencepiece", "vocab_txt"):
        refuse(folder, file, name)
    if format.name == "sentencepiece":
        usual = _ROLES[LLAMA]  # the names that SentencePiece gives its own
    for role, text in _ROLES.get(name, usual).items():
        if text in found.special_tokens or _is_ordinary(found, text):
            beside.named.setdefault(role, text)
    found = _with_tokens(found, beside, config, name)
    if format.name != "vocab_txt":
        found = replace(found, template=_template(beside, config, name) or found.template)
    _note(found, format.name, name, config, beside)
    return check(pretrained.joined_plain(found, beside), Place(beside.config)), beside.warnings


def _with_tokens(
    found: Definition, beside: Beside, config: Mapping[str, Any], name: str
) -> Definition:
    """The tokenizer with the added tokens of the config, and special tokens made of ordinary."""
    if name == T5:
        found = _with_extras(found, beside, config)
    new = beside.added if "added_tokens_decoder" in config else _added_before(beside)
    if _has_pieces(found):
        # Normalized ones would be pieces of SentencePiece, which transformers has not.
        new = {text: (id, replace(flags, normalized=False)) for text, (id, flags) in new.items()}
        beside.added = new if beside.added else {}
    named = [text for text in beside.named.values() if text is not None]
    for text in (*named, *beside.more, *new):
        found = _special(found, text)
    found = _with_added(found, new)
    before = {
        text: (id, found.matching.get(text, Matching()))
        for text, id in found.special_tokens.items()
    }
    after = {text: one for text, (_, one) in pretrained.amended(before, beside).items()}
    # The flags of user-defined pieces are part of SentencePiece's own rules.
    after |= {text: one for text, one in found.matching.items() if one.always and text not in new}
    return replace(found, matching={text: one for text, one in after.items() if one != Matching()})


def _with_added(found: Definition, new: AddedTokens) -> Definition:
    """The tokenizer with tokens that have ids behind those of the file."""
    size = max(len(found.tokens) - 1, *found.special_tokens.values(), -1) + 1
    behind = {
        text: one
        for text, one in new.items()
        if one[0] >= size and text not in found.special_tokens and not _is_ordinary(found, text)
    }
    return replace(
        found,
        special_tokens=found.special_tokens | {text: id for text, (id, _) in behind.items()},
        matching=found.matching | {text: flags for text, (_, flags) in behind.items()},
    )


def _with_extras(found: Definition, beside: Beside, config: Mapping[str, Any]) -> Definition:
    """The tokenizer with T5's sentinels, of which the first has the highest id."""
    listed = [text for text in beside.more if text.startswith(_EXTRA[:10])]
    number = expect(config.get("extra_ids", _EXTRAS), int, "extra_ids", beside.config)
    if not 0 <= number <= _MOST_EXTRAS:
        raise VocabError(f"extra_ids {show(number)} is out of range.", path=beside.config)
    if listed and len(listed) != number:
        raise VocabError(
            f"{len(listed):,} tokens such as {show(listed[0])} are listed, but extra_ids is "
            f"{number:,}{'' if 'extra_ids' in config else ' where the config does not say it'}.",
            path=beside.config,
            value=number,
            hint="Their ids depend on the number: correct extra_ids, or leave out the list.",
        )
    last = max(len(found.tokens) - 1, *found.special_tokens.values()) + number
    extra = {_EXTRA.format(index): last - index for index in range(number)}
    missing = {text: id for text, id in extra.items() if text not in found.special_tokens}
    return replace(found, special_tokens={**found.special_tokens, **missing})


def _added_before(beside: Beside) -> AddedTokens:
    """The tokens of added_tokens.json, which older versions write."""
    special = {*beside.named.values(), *beside.more}
    found: AddedTokens = {}
    for text, id in content_of(beside.folder, _ADDED).items():
        token_id = expect(id, int, f"the id of {show(text)}", beside.config)
        is_special = text in special
        found[text] = token_id, Matching(always=not is_special, normalized=not is_special)
    return found


def _has_pieces(found: Definition) -> bool:
    """Whether it is from a file of SentencePiece."""
    return any(isinstance(stage, SentencePiece) for stage in found.pretokenizer.normalizer)


def _is_ordinary(found: Definition, text: str) -> bool:
    return _ordinary_id(found, text) is not None


def _ordinary_id(found: Definition, text: str) -> int | None:
    """The id of an ordinary token that files write as this text."""
    spelled = f" {text}" if isinstance(found.model, WordPieceModel) else text
    try:
        return found.tokens.index(spelled.encode(errors="surrogatepass"))
    except ValueError:
        return None


def _special(found: Definition, text: str) -> Definition:
    """The tokenizer with an ordinary token as a special one, if it has it and no merge makes it."""
    id = None if text in found.special_tokens else _ordinary_id(found, text)
    model = found.model
    is_free = isinstance(model, WordPieceModel)
    if isinstance(model, BpeModel):
        # A single byte is a token that every text needs.
        is_free = len(text.encode()) > 1 and all(id not in merge for merge in model.merges)
    if id is None or not is_free:
        return found
    tokens = [*found.tokens]
    tokens[id] = None
    while tokens and tokens[-1] is None:
        tokens.pop()
    return replace(found, tokens=tokens, special_tokens={**found.special_tokens, text: id})


def _template(beside: Beside, config: Mapping[str, Any], name: str) -> Template | None:
    """The tokens around a text: those that the config asks for, or those of T5."""
    asked = {"bos": config.get("add_bos_token") is True, "eos": config.get("add_eos_token") is True}
    if name == T5:
        asked = {"bos": False, "eos": True}
    for role in asked:
        if asked[role] and beside.named.get(role) is None:
            raise VocabError(
                f"add_{role}_token is true, but there is no {role}_token.",
                path=beside.config,
                hint=f"Name it as {role}_token in {_CONFIG}.",
            )
    if not any(asked.values()):
        return None
    texts = {role: [beside.named.get(role) or ""] if asked[role] else [] for role in asked}
    return wrapped(texts["bos"], texts["eos"], 0 if name == T5 else 1)


def _note(
    found: Definition, format: str, name: str, config: Mapping[str, Any], beside: Beside
) -> None:
    """Note for warnings what the ids depend on, and the files do not settle."""
    note = beside.warnings.append
    if format == "sentencepiece":
        rules = found.pretokenizer.normalizer[0]
        plain = replace(rules, symbols=()) if isinstance(rules, SentencePiece) else rules
        if name in _RULES and (plain != _RULES[name] or not isinstance(found.model, ScoredModel)):
            note(
                f"the class {name} of transformers 5 does not read text as {beside.file} says; the "
                "ids are those of SentencePiece"
            )
        if name in _RULES and "add_bos_token" not in config:
            note(
                f"{_CONFIG} does not say add_bos_token, with which {name} puts a token before a "
                "text in transformers 4 and none in transformers 5; none is put there"
            )
        if name == LLAMA and config.get("legacy") is False:
            note(
                f"legacy is false in {_CONFIG}: after a special token in a text, transformers "
                "begins without a space; here each part begins with one, as in SentencePiece"
            )
        elif name == LLAMA and not config.get("legacy"):
            note(
                f"{_CONFIG} does not say legacy, without which {name} begins with a space after a "
                "special token in a text in transformers 4, and without one in transformers 5; "
                "here each part begins with one, as in SentencePiece"
            )
        elif any(one.always for one in found.matching.values() if not one.normalized):
            note(
                "after an added token in a text, transformers may begin without a space; here each "
                "part begins with one, as in SentencePiece"
            )
    known = _KNOWN[format]
    if name not in known | _GENERIC:
        note(
            f"the class {name}, which {_CONFIG} names, may put other tokens around a text, or "
            "change it, in ways that the files do not say"
        )
