r"""Convert pretokenizers to and from Hugging Face's `pre_tokenizer`.

A pretokenizer becomes a `Split` for the rules, one for the digit policy, one for each pattern, and
for bytes a `ByteLevel`, which writes bytes as letters (with `use_regex` true it also splits as
GPT-2 does). Stages after it split these letters: they are patterns of bytes.

A named pattern is written as in the best-known published file: some programs recognise a tokenizer
only by that exact text of the pattern, and refuse equivalent ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from digram.errors import CorruptFileError, PatternError, VocabError
from digram.formats._json import expect, unsupported
from digram.formats._portable import check_portable, from_oniguruma
from digram.formats._published import MISSING, Missing
from digram.formats._rules import check_carried, regex_of, whole_regex_of
from digram.formats._splits import READERS, only
from digram.formats._words import (
    KINDS,
    WordStages,
    removal_of,
    splits_letters,
    to_word_stages,
)
from digram.pretokenizers.normalizers import Normalizer, Words
from digram.pretokenizers.pretokenizer import NAMED, Digits, Pretokenizer, Regex
from digram.pretokenizers.rules import Rules
from digram.vocab.settings import Unit

__all__ = ["DIGITS", "from_stages", "to_stages"]

DIGITS: dict[Digits, str] = {
    "individual": r"\p{N}",
    "threes_from_left": r"\p{N}{1,3}",
    # Up to three digits, followed by a multiple of three digits and then by none.
    "threes_from_right": r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))",
}
_BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
_WORDS_OF_LETTERS = r"[\p{L}\p{Nd}\p{Pc}]+|[^\p{L}\p{Nd}\p{Pc}]+"
"""`\\w+|[^\\w\\s]+` among the letters of bytes, written so that all programs read it in one way."""
_GPT2 = NAMED["gpt2"].patterns

_unsupported = partial(
    unsupported,
    hint=f"digram reads {', '.join((*READERS, *KINDS))} and ByteLevel, after which text can only "
    "be split; anything else would result in other ids.",
)

_PUBLISHED: dict[str, tuple[str, ...]] = {name: named.patterns for name, named in NAMED.items()} | {
    # As in huggingface.co/Xenova/gpt-4, with the pattern of Llama 3, which splits in the same way.
    "cl100k": NAMED["llama3"].patterns,
    # The published file has quotation marks and line ends without a backslash.
    "deepseek-v3": tuple(
        one.replace(r"\"", '"').replace(r"\r\n", "\r\n") for one in NAMED["deepseek-v3"].patterns
    ),
}
"""The splits of each named pretokenizer as published. gpt2 is the split of `ByteLevel` itself."""
# Files without a name that have the shared pattern of cl100k and llama3 are read as llama3.
_NAME_OF = {patterns: name for name, patterns in _PUBLISHED.items() if name != "cl100k"}
_NAME_OF |= {named.patterns: name for name, named in NAMED.items()}


def to_stages(pretokenizer: Pretokenizer, unit: Unit, own: bool = False) -> dict[str, Any] | None:
    """The `pre_tokenizer` of a tokenizer.json.

    Raises `PatternError` for a pattern that Hugging Face's engine interprets differently, and for
    rules that regexes cannot express, unless the file is only for digram (`own`).
    """
    for pattern in pretokenizer.patterns:
        check_portable(pattern)
    for pattern in pretokenizer.byte_patterns:
        check_portable(pattern)
    if not own:
        check_carried(pretokenizer)
    digits = [DIGITS[pretokenizer.digits]] if pretokenizer.digits else []
    first, before = _of_rules(pretokenizer.rules, pretokenizer.digits)
    patterns = _PUBLISHED.get(pretokenizer.name or "", pretokenizer.patterns)
    words = None if own else pretokenizer.words
    prefix = "" if words is None else words.last.prefix
    prefixed = unit == "byte" and prefix == " "
    # A ByteLevel with a prefix is the first stage after the words, so it makes the only split.
    alone = not before and (words is None or not digits)
    by_letters = unit == "byte" and patterns == _GPT2 and alone
    later = [before + regex for regex in (*digits, *(() if by_letters else patterns))]
    stages: list[dict[str, Any]] = [] if words is None else _before_words(words, prefixed, later)
    stages += (_isolated(regex) for regex in (*first, *later))
    if unit == "byte":
        stages.append(_BYTE_LEVEL | {"add_prefix_space": prefixed, "use_regex": by_letters})
    stages += (_isolated(regex) for regex in pretokenizer.byte_patterns)
    if len(stages) < 2:
        return stages[0] if stages else None
    return {"type": "Sequence", "pretokenizers": stages}


def _isolated(regex: str) -> dict[str, Any]:
    pattern = {"Regex": regex}
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


def _before_words(words: Words, prefixed: bool, later: list[str]) -> list[dict[str, Any]]:
    """The stages of words; raises `VocabError` for a prefix that other libraries do not put."""
    if bool(words.last.prefix) is not prefixed or (prefixed and later):
        raise VocabError(
            f"a tokenizer.json cannot store the prefix of {words!r} with this model and these "
            "splits.",
            value=words,
            hint='Save it with format="digram".',
        )
    return to_word_stages(words)


def _of_rules(rules: Rules | None, digits: Digits | None) -> tuple[list[str], str]:
    """The regex of rules, if there are any, and the prefix of every later regex."""
    if rules is None:
        return [], ""
    regex = regex_of(rules, digits is not None)
    return ([regex] if regex else []), whole_regex_of(rules, digits is not None)


def from_stages(
    value: Any,
    digits: Digits | Literal[Missing.MISSING] | None,
    rules: Rules | None,
    name: str | Literal[Missing.MISSING] | None,
    normalizer: Sequence[Normalizer],
    path: str | None,
    in_letters: bool = False,
) -> tuple[Pretokenizer, Unit]:
    """Convert a `pre_tokenizer`, and the stages before it, to a pretokenizer and a unit.

    `in_letters` says that a normalizer has written bytes as letters before it.
    `digits`, `rules` and `name` are stored in files of digram: what the first splits implement, and
    the name of the rest. For files of other programs they are recognised by comparing the splits.
    Raises `VocabError` and `PatternError` for a `pre_tokenizer` that digram cannot reproduce, and
    `CorruptFileError` for a damaged one.
    """
    splits: list[str] = []
    of_bytes: list[Regex] = []
    unit: Unit = "byte" if in_letters else "char"
    words = WordStages()
    for where, stage in _flattened(value, "pre_tokenizer", path):
        kind = expect(stage.get("type"), str, f"{where}.type", path)
        if unit == "byte":
            of_bytes += _of_letters(stage, where, path)
            continue
        removal = removal_of(stage, where, path)
        if removal is not None:
            words.remove(splits, removal, path)
        elif kind in READERS:
            splits.append(READERS[kind](stage, where, path))
        elif kind == "ByteLevel":
            unit = "byte"
            prefixed, cuts = _byte_level(stage, where, path)
            if prefixed:
                words.put(splits, " ", path)
            splits += cuts
        else:
            raise _unsupported(f"{where} of type {kind}", path)
    if unit == "char" and words.keeps_what_it_leaves_out:
        words.put(splits, "", path)  # a model of words would leave out what these cut off
    if rules is not None:
        splits = _behind_rules(splits, rules, None if digits is MISSING else digits, path)
    policies = DIGITS.values()
    splits = [one if one in policies else from_oniguruma(one, path, anchors=True) for one in splits]
    normalizer = [*normalizer, *words.words()]
    return _pretokenizer(splits, digits, rules, name, (normalizer, of_bytes), path), unit


def _of_letters(stage: dict[str, Any], where: str, path: str | None) -> list[Regex]:
    """The pattern of a stage after `ByteLevel`, which gets the letters of bytes as text."""
    kind = stage["type"]
    removal = removal_of(stage, where, path)
    if kind in READERS and removal is None:
        return [Regex(from_oniguruma(READERS[kind](stage, where, path), path, anchors=True))]
    if kind == "Whitespace":
        return [Regex(_WORDS_OF_LETTERS)]
    if removal is not None and not splits_letters(removal.removed):
        return [Regex(regex) for regex in removal.splits if splits_letters(regex)]
    cause = "(it may change or leave out the letters of bytes)"
    raise _unsupported(f"{where} of type {kind} after ByteLevel {cause}", path)


def _behind_rules(
    splits: list[str], rules: Rules, digits: Digits | None, path: str | None
) -> list[str]:
    """The splits after that of the rules, without the prefix of the rules."""
    first, before = _of_rules(rules, digits)
    later = splits[len(first) :]
    if splits[: len(first)] != first or any(not one.startswith(before) for one in later):
        raise CorruptFileError(
            "the splits do not match the rules stored in the file.",
            path=path,
            hint="Save the tokenizer again; in Python, tok.with_rules changes rules.",
        )
    return [regex.removeprefix(before) for regex in later]


def _flattened(value: Any, where: str, path: str | None) -> list[tuple[str, dict[str, Any]]]:
    if value is None:
        return []
    stage = expect(value, dict, where, path)
    if stage.get("type") != "Sequence":
        return [(where, stage)]
    only(stage, {"type", "pretokenizers"}, where, path)
    inner = expect(stage.get("pretokenizers"), list, f"{where}.pretokenizers", path)
    found = []
    for index, one in enumerate(inner):
        # Sequences inside sequences nest at most as deep as the JSON reader allows.
        found += _flattened(one, f"{where}.pretokenizers[{index}]", path)
    return found


def _byte_level(
    stage: dict[str, Any], where: str, path: str | None
) -> tuple[bool, tuple[str, ...]]:
    """Whether each piece gets a space before it, and the splits."""
    only(stage, set(_BYTE_LEVEL), where, path)
    prefixed = expect(stage.get("add_prefix_space"), bool, f"{where}.add_prefix_space", path)
    expect(stage.get("trim_offsets", True), bool, f"{where}.trim_offsets", path)
    # Older files without this key mean true.
    cuts = expect(stage.get("use_regex", True), bool, f"{where}.use_regex", path)
    return prefixed, _GPT2 if cuts else ()


def _pretokenizer(
    splits: list[str],
    digits: Digits | Literal[Missing.MISSING] | None,
    rules: Rules | None,
    name: str | Literal[Missing.MISSING] | None,
    around: tuple[Sequence[Normalizer], Sequence[Regex]],
    path: str | None,
) -> Pretokenizer:
    policy: Digits | None
    if digits is MISSING:
        # The first split of deepseek-v3 looks like a policy.
        whole = tuple(splits) in _NAME_OF
        policies = (one for one, regex in DIGITS.items() if splits[:1] == [regex])
        policy = None if whole else next(policies, None)
    else:
        policy = digits
        if policy is not None and splits[:1] != [DIGITS[policy]]:
            raise CorruptFileError(
                f"the first Split should be {DIGITS[policy]!r}, for digits={policy!r}.",
                path=path,
                hint="If you changed it on purpose, remove the key 'digram' from the model.",
            )
    later = tuple(splits if policy is None else splits[1:])
    if name is MISSING:
        name = _NAME_OF.get(later)
    known = name is not None and _PUBLISHED.get(name) == later
    try:
        patterns = name if known else [Regex(regex) for regex in later]
        normalizer, of_bytes = around
        return Pretokenizer(
            patterns or None,
            digits=policy,
            rules=rules,
            normalizer=normalizer,
            byte_patterns=of_bytes,
        )
    except PatternError as error:
        raise PatternError(error.message, path=path, value=error.value, hint=error.hint) from None
