"""What a class of transformers puts in the place of stages of a tokenizer.json.

Where versions 4 and 5 do the same, it is done here too, and a warning says so if the file says
something else. Where only one of them does, a warning says that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from digram.errors import VocabError
from digram.formats import _own
from digram.formats._classes import PYTHON, taken
from digram.formats._json import dump, kind_of, parse
from digram.formats._show import show
from digram.pretokenizers.normalizers import BertNormalizer, Prepend
from digram.vocab.settings import Settings
from digram.vocab.template import Piece, Template

__all__ = ["amended", "wrapped"]

_LANGUAGES = {
    "MBart50Tokenizer": "en_XX",
    "MBartTokenizer": "en_XX",
    "NllbTokenizer": "eng_Latn",
    "SeamlessM4TTokenizer": "eng",
}
"""Classes that put the token of a language beside a text, and the usual language."""
_OF_BERT = frozenset(
    (
        *("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "LayoutLMTokenizer"),
        *("LxmertTokenizer", "MPNetTokenizer", "MobileBertTokenizer", "SqueezeBertTokenizer"),
    )
)
"""Classes that normalize text as their config says."""
_OF_BERT_4 = frozenset(
    (
        *("ConvBertTokenizer", "DPRContextEncoderTokenizer", "DPRQuestionEncoderTokenizer"),
        *("DPRReaderTokenizer", "FunnelTokenizer"),
    )
)
"""Classes that do so in transformers 4 only."""
_NORMALIZER = {
    "do_lower_case": ("lowercase", True),
    "strip_accents": ("strip_accents", None),
    "tokenize_chinese_chars": ("handle_chinese_chars", True),
}
"""The keys of a config, with those of BERT's normalizer and the values of a class."""
_PREFIXED = frozenset(
    (
        *("BartTokenizer", "BlenderbotTokenizer", "CodeGenTokenizer", "DebertaTokenizer"),
        *("GPT2Tokenizer", "GPTNeoXTokenizer", "LEDTokenizer", "LongformerTokenizer"),
        *("LukeTokenizer", "MvpTokenizer", "RobertaTokenizer", "WhisperTokenizer"),
    )
)
"""Classes that put a space before a text if their config says so, and only then."""
_SPACED = frozenset(
    (
        *("AlbertTokenizer", "BarthezTokenizer", "BigBirdTokenizer", "CamembertTokenizer"),
        *("CodeLlamaTokenizer", "LlamaTokenizer", "XGLMTokenizer", "XLMRobertaTokenizer"),
    )
)
"""Classes of transformers 5 that put a space before a text unless the config says false."""
_ALWAYS_SPACED = frozenset(("MBartTokenizer", "NllbTokenizer", "PegasusTokenizer", "T5Tokenizer"))
"""Those that put it there whatever the config says."""
_GPT_NEOX = "GPTNeoXTokenizer"
"""A class that has no post_processor, so that offsets have the spaces of tokens."""
_BEGUN = {
    **dict.fromkeys(("CodeLlamaTokenizer", "CohereTokenizer", "GemmaTokenizer"), True),
    _GPT_NEOX: False,
    "LlamaTokenizer": True,
}
"""Classes of transformers 4 that put tokens around a text; whether they begin it, if not told."""

_ENDED, _ENCLOSED = ((), ("eos",)), (("cls",), ("sep",))
_WRAPPED = {
    **dict.fromkeys(
        (
            *("AlbertTokenizer", "BartTokenizer", "BertTokenizer", "BigBirdTokenizer"),
            *("CamembertTokenizer", "ConvBertTokenizer", "DPRContextEncoderTokenizer"),
            *("DPRQuestionEncoderTokenizer", "DPRReaderTokenizer", "DebertaTokenizer"),
            *("DebertaV2Tokenizer", "DistilBertTokenizer", "ElectraTokenizer", "FunnelTokenizer"),
            *("HerbertTokenizer", "LEDTokenizer", "LayoutLMTokenizer", "LongformerTokenizer"),
            *("LukeTokenizer", "LxmertTokenizer", "MPNetTokenizer", "MobileBertTokenizer"),
            *("MvpTokenizer", "RemBertTokenizer", "RobertaTokenizer", "SqueezeBertTokenizer"),
            "XLMRobertaTokenizer",
        ),
        _ENCLOSED,
    ),
    **dict.fromkeys(("LasrTokenizer", "PegasusTokenizer", "T5Tokenizer"), _ENDED),
    "CLIPTokenizer": (("bos",), ("eos",)),
    "XLNetTokenizer": ((), ("sep", "cls")),
}
"""Classes of transformers 5 that put tokens around a text, whatever the file says: their roles."""

_Configs = tuple[Mapping[str, Any], Mapping[str, Any]]
_Changes = dict[str, dict[str, Any] | None]
"""By section of a tokenizer.json, what is in it instead; a template is the whole section."""


def wrapped(before: list[str], after: list[str], second: int = 1) -> Template:
    """The template with these tokens around each text of a pair; `second` is its type id.

    >>> wrapped(["<s>"], [])
    Template('<s> $A', pair='<s> $A <s>:1 $B:1')
    """
    first: list[Piece] = [
        *((text, 0) for text in before),
        ("$A", 0),
        *((text, 0) for text in after),
    ]
    behind = [(text if text != "$A" else "$B", second) for text, _ in first]
    return Template(first, [*first, *behind])


def amended(
    data: bytes,
    found: Settings,
    special: Mapping[str, int],
    configs: _Configs,
    named: Mapping[str, str | None],
    path: str,
) -> tuple[bytes | None, list[str]]:
    """A tokenizer.json with what a class has in place of its stages, None for no change.

    `configs` are the contents of tokenizer_config.json and config.json, `named` the special tokens
    by role. Also returns warnings. Raises `VocabError` for a language that is no special token.
    """
    name = taken(*configs, of_bytes=found.unit == "byte")
    changes: _Changes = {}
    if name in _LANGUAGES:
        template = _of_language(name, configs[0], special, named, path)
        if template != found.template:
            changes["post_processor"] = _written(template, special)
            found = found._replace(template=template)
    elif name == _GPT_NEOX and (found.template or found.trim_offsets):
        changes["post_processor"] = None
        found = found._replace(template=None)
    if name in _OF_BERT | _OF_BERT_4 and (normalizer := _of_bert(found, configs[0])):
        changes["normalizer"] = normalizer
    prefixed, words = configs[0].get("add_prefix_space") is True, found.pretokenizer.words
    has_prefix = words is not None and words.last.prefix != ""
    if found.unit == "byte" and prefixed is not has_prefix:
        changes["pre_tokenizer"] = {"add_prefix_space": prefixed}
    notes = _wrapped_otherwise(name, configs, found, named) + _spaced_otherwise(
        name, configs[0].get("add_prefix_space"), found, has_prefix
    )
    notes += _told_by_config(name, configs[0])
    return (_changed(data, name, changes, notes, path) if changes else None), notes


def _told_by_config(name: str, config: Mapping[str, Any]) -> list[str]:
    """Warnings of what transformers may do instead of what tokenizer.json says."""
    code = config.get("auto_map")
    of_tokenizer = code.get("AutoTokenizer") if isinstance(code, dict) else code
    told = []
    if config.get("fix_mistral_regex") is True:
        told.append(
            "fix_mistral_regex is true in tokenizer_config.json, with which transformers may put "
            "another regex in the place of that of tokenizer.json"
        )
    if name in PYTHON:
        told.append(
            f"the class {name} of transformers is a program in Python, which does not read "
            "tokenizer.json"
        )
    elif of_tokenizer:
        told.append(
            "auto_map in tokenizer_config.json names code for the tokenizer, which transformers "
            "runs if trust_remote_code is set"
        )
    return [f"{one}; digram does what tokenizer.json says" for one in told]


def _changed(
    data: bytes, name: str, changes: _Changes, notes: list[str], path: str
) -> bytes | None:
    """The file with changed sections, None if none of them is changed; adds to the notes."""
    top = parse(data, path)
    is_changed = False
    for section, change in changes.items():
        old = top.get(section)
        if section != "post_processor" and kind_of(old) not in _WHOLE:
            continue  # part of a sequence, which stays
        told = _told(section, change)
        if (section == "normalizer" and name in _OF_BERT_4) or (
            section == "pre_tokenizer" and name not in _PREFIXED
        ):
            notes.append(
                f"by tokenizer_config.json, transformers 4 has another {section} than "
                f"tokenizer.json ({told}); digram and transformers 5 do what tokenizer.json says"
            )
            continue
        top[section] = change if section == "post_processor" or change is None else old | change
        is_changed = True
        if section == "pre_tokenizer" and kind_of(top.get("post_processor")) == _TRIMMING:
            top["post_processor"] = top["post_processor"] | change
        if change is not None:
            notes.append(
                f"the class {name} has another {section} than tokenizer.json ({told}), which is "
                "taken, as by transformers"
            )
    own = top["model"].get("digram")
    if isinstance(own, dict):
        top["model"]["digram"] = _own.without_digest(own)
    return dump(top) if is_changed else None


_WHOLE = ("BertNormalizer", "ByteLevel")
"""The kinds of sections that are changed."""


_TRIMMING = "RobertaProcessing"
"""A kind of post_processor that leaves spaces out of offsets, but for the prefix."""


def _told(section: str, change: dict[str, Any] | None) -> str:
    if change is None:
        return "none"
    if section == "post_processor":
        pieces = (one for piece in change["single"] for one in piece.values())
        return " ".join("text" if one["id"] == "A" else one["id"] for one in pieces)
    return ", ".join(f"{key}: {json.dumps(value)}" for key, value in change.items())


def _of_language(
    name: str,
    config: Mapping[str, Any],
    special: Mapping[str, int],
    named: Mapping[str, str | None],
    path: str,
) -> Template:
    said = config.get("src_lang")
    language = said if isinstance(said, str) else _LANGUAGES[name]
    if name == "SeamlessM4TTokenizer" and "__" not in language:
        language = f"__{language}__"
    end = named.get("eos") or "</s>"
    for what, text in (("the token of the language", language), ("the end", end)):
        if text not in special:
            raise VocabError(
                f"{what}, {show(text)}, which the class {name} puts beside a text, is not among "
                "the added_tokens.",
                path=path,
                value=text,
                hint="Name another src_lang in tokenizer_config.json. To load tokenizer.json "
                "without the files beside it, pass its path.",
            )
    if name == "MBartTokenizer" or config.get("legacy_behaviour") is True:
        return Template(["$A", end, language], ["$A", "$B", end, language])
    return Template([language, "$A", end], [language, "$A", "$B", end])


def _written(template: Template, special: Mapping[str, int]) -> dict[str, Any]:
    def pieces(given: tuple[Piece, ...]) -> list[dict[str, Any]]:
        return [
            {"Sequence": {"id": text[1:], "type_id": type_id}}
            if text in ("$A", "$B")
            else {"SpecialToken": {"id": text, "type_id": type_id}}
            for text, type_id in given
        ]

    return {
        "type": "TemplateProcessing",
        "single": pieces(template.single),
        "pair": pieces(template.pair or ()),
        "special_tokens": {
            text: {"id": text, "ids": [special[text]], "tokens": [text]} for text in template.tokens
        },
    }


def _of_bert(found: Settings, config: Mapping[str, Any]) -> dict[str, Any]:
    """What the normalizer has in place of what the file says."""
    stages = found.pretokenizer.normalizer
    stage = stages[0] if stages else None
    if not isinstance(stage, BertNormalizer):
        return {}
    wanted = {
        key: config[of_config] if config.get(of_config) is not None else usual
        for of_config, (key, usual) in _NORMALIZER.items()
    }
    values = (wanted["lowercase"], wanted["strip_accents"], wanted["handle_chinese_chars"])
    if not all(value is None or isinstance(value, bool) for value in values):
        return {}
    lowercase, accents, ideographs = values
    there = (
        stage.lowercase,
        stage.lowercase if stage.strip_accents is None else stage.strip_accents,
        stage.handle_chinese_chars,
    )
    same = (lowercase, lowercase if accents is None else accents, ideographs) == there
    return {} if same else wanted


def _spaced_otherwise(name: str, said: Any, found: Settings, has_prefix: bool) -> list[str]:
    """A warning if a class puts a space before a text where the file does not, or the reverse."""
    stages = found.pretokenizer.normalizer
    has_prefix = has_prefix or any(isinstance(one, Prepend) for one in stages)
    puts = said is not False or name in _ALWAYS_SPACED
    if found.unit == "byte" or name not in _SPACED | _ALWAYS_SPACED or puts is has_prefix:
        return []
    return [
        f"the class {name} of transformers 5 puts {'a' if puts else 'no'} space before a text, "
        f"which tokenizer.json {'does not' if puts else 'does'}; digram does what it says"
    ]


def _wrapped_otherwise(
    name: str, configs: _Configs, found: Settings, named: Mapping[str, str | None]
) -> list[str]:
    """A warning if one version of transformers puts other tokens around a text than the file."""
    config = configs[0]
    named_class = next((one for each in configs if (one := each.get("tokenizer_class"))), "")
    before, after = _WRAPPED.get(name, ((), ()))
    if isinstance(named_class, str) and (named_class := named_class.removesuffix("Fast")) in _BEGUN:
        versions = named_class, "4", "5"
        begins = config.get("add_bos_token", _BEGUN[named_class])
        before = ("bos",) if begins else ()
        after = ("eos",) if config.get("add_eos_token") else ()
    elif name in _WRAPPED:
        versions = name, "5", "4"
    else:
        return []
    first, last = ([text for role in each if (text := named.get(role))] for each in (before, after))
    single = (("$A", 0),) if found.template is None else found.template.single
    there = [text for text, _ in single]
    if len(first + last) < len(before + after) or [*first, "$A", *last] == there:
        return []
    made, one, other = " ".join([*first, "text", *last]), *versions[1:]
    return [
        f"the class {versions[0]} of transformers {one} makes {made!r} of a text, whatever "
        f"tokenizer.json says; digram and transformers {other} do what it says"
    ]
