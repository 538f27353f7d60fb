r"""Hugging Face's pre_tokenizers that leave text out, or put a space before each piece, as `Words`.

They are `Whitespace`, `WhitespaceSplit`, `BertPreTokenizer`, `UnicodeScripts`,
`CharDelimiterSplit`, `Split` and `Punctuation` with the behavior `Removed`, and `ByteLevel` with
`add_prefix_space`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

from digram.errors import CorruptFileError, VocabError
from digram.formats._json import expect, unsupported
from digram.formats._letters import LETTERS
from digram.formats._portable import check_portable, from_oniguruma
from digram.formats._show import show
from digram.formats._splits import CLASS, EACH_CHARACTER, READERS, escaped, only, regex_of_split
from digram.pretokenizers.normalizers import Normalizer, Words
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.pretokenizers.regex import Regex
from digram.pretokenizers.scripts import SCRIPT_RUNS, WITHOUT_SCRIPT
from digram.pretokenizers.words import PUNCTUATION

__all__ = [
    "KINDS",
    "WordStages",
    "nested",
    "removal_of",
    "split_stage",
    "splits_letters",
    "to_word_stages",
    "unnested",
    "words_before",
]

_WHITE_SPACE = r"\s"
_WORDS = r"\w+|[^\w\s]+"

_unsupported = partial(unsupported, hint="Put it before the stage that puts the space.")
_CONTEXT = re.compile(r"\(\?[=!<]|[*+?}]\+|[$^]|\\[bBAzZG]")
"""Signs of a regex that may match a part of a text but not the same characters on their own."""


class Removal(NamedTuple):
    """A stage that leaves text out: regexes that cut it, and that of what is left out."""

    splits: tuple[str, ...]
    removed: str
    """A class of which each character left out is one, or a regex that matches each whole piece."""
    whole: bool = False
    """Whether it matches whole pieces, so that no later split may cut them."""
    text: str | None = None
    """The only text that is left out, if there is only one."""
    keep: Literal["matches", "between"] | None = None
    """What is kept of the pieces of the only split, if that is not known from each piece alone."""
    at_start: bool = False
    """Whether the pieces that are left out are at the start of a text, and others may end so."""


_NAMED = {
    "WhitespaceSplit": Removal((r"\s+",), _WHITE_SPACE),
    "Whitespace": Removal((_WORDS,), _WHITE_SPACE),
    "BertPreTokenizer": Removal((r"\s+", PUNCTUATION), _WHITE_SPACE),
    "UnicodeScripts": Removal(SCRIPT_RUNS, WITHOUT_SCRIPT, at_start=True),
}
_COVERING = re.compile(
    # Texts, letters, numbers, and all other characters that are not white space.
    r"(?:(?:[^\\\s()\[\]{}.*+?^$|]|\\\|)+\|)*"
    r"(?:\[\\p\{L\}\]\+?|\\p\{L\}\+?)\|(?:\[\\p\{N\}\]\+?|\\p\{N\}\+?)\|\[\^\\s\\p\{L\}\\p\{N\}\]\+?"
)
"""The regexes of CLIP, whose matches are all that is not white space."""
KINDS = (*_NAMED, "CharDelimiterSplit")
"""The types of stages that leave text out; `Split` is another."""


def removal_of(stage: dict[str, Any], where: str, path: str | None) -> Removal | None:
    """What a stage leaves out; None for a stage that leaves nothing out.

    Raises `VocabError` for one that digram cannot reproduce, `CorruptFileError` for a damaged one.
    """
    kind = stage.get("type")
    if kind in _NAMED:
        only(stage, {"type"}, where, path)
        return _NAMED[kind]
    if kind == "CharDelimiterSplit":
        only(stage, {"type", "delimiter"}, where, path)
        delimiter = expect(stage.get("delimiter"), str, f"{where}.delimiter", path)
        if len(delimiter) != 1:
            raise CorruptFileError(
                f"{where}.delimiter should be one character, not {show(delimiter)}.", path=path
            )
        return _removed(escaped(delimiter), False)
    if stage.get("behavior") != "Removed":
        return None
    if kind == "Punctuation":
        only(stage, {"type", "behavior"}, where, path)
        return Removal((PUNCTUATION,), PUNCTUATION)
    if kind == "Split":
        regex, inverted = regex_of_split(stage, where, path)
        if regex or inverted:  # an empty regex leaves out all text or nothing
            cut = from_oniguruma(regex, path, anchors=True) if regex else EACH_CHARACTER
            found = _removed(cut, inverted and bool(regex))
            return found._replace(text=stage["pattern"].get("String")) if found.whole else found
    return None


def words_before(stages: list[Any], path: str | None, **marks: Any) -> Words:
    """The words of stages before one that puts these marks.

    Raises `VocabError` for stages that digram cannot reproduce, and `CorruptFileError` for damaged
    ones.
    """
    splits: list[str] = []
    words = WordStages()
    for index, one in enumerate(stages):
        where = f"pre_tokenizer.pretokenizers[{index}]"
        stage = expect(one, dict, where, path)
        kind = expect(stage.get("type"), str, f"{where}.type", path)
        removal = removal_of(stage, where, path)
        if removal is not None:
            words.remove(splits, removal, path)
        elif kind in READERS:
            splits.append(READERS[kind](stage, where, path))
        else:
            hint = f"digram reads {', '.join((*READERS, *KINDS))} before Metaspace."
            raise unsupported(f"{where} of type {kind} before Metaspace", path, hint=hint)
    words.put(splits, "", path)
    rules = words.rules(**marks)
    if len(rules) > 1 and rules[-1].first:
        raise unsupported(
            "Metaspace with the prepend_scheme first after a stage that leaves out matches",
            path,
            hint="Use the scheme always or never.",
        )
    return nested(rules)


def splits_letters(regex: str) -> bool:
    r"""Whether a regex splits text of the letters by which bytes are written.

    >>> splits_letters(r"\s+"), splits_letters("_")
    (False, True)
    """
    return len(Pretokenizer(Regex(regex)).splitter().split("a".join(LETTERS))) > 1


def _removed(regex: str, inverted: bool) -> Removal:
    """What a `Split` with this regex leaves out."""
    found = _removed_by(regex, inverted)
    if found is not None:
        return found
    return Removal((regex,), "", keep="matches" if inverted else "between")


def _removed_by(regex: str, inverted: bool) -> Removal | None:
    """What a `Split` leaves out, if that is known from each piece alone."""
    one = CLASS.fullmatch(regex)
    if one is not None:
        items = one["items"] or one["single"]
        is_removed = bool(one["negated"]) == inverted
        return Removal((regex,), f"[{items}]" if is_removed else f"[^{items}]")
    if inverted:
        return Removal((regex,), _WHITE_SPACE) if _COVERING.fullmatch(regex) else None
    is_plain = bool(regex) and _CONTEXT.search(regex) is None
    return Removal((regex,), regex, whole=True) if is_plain else None


@dataclass(slots=True)
class WordStages:
    """The stages of a `pre_tokenizer` up to the last that leaves text out or puts a prefix."""

    prefix: str = ""
    stages: list[str | Removal] = field(default_factory=list)
    """Regexes that cut, and stages that leave text out, in order."""
    is_used: bool = False

    def remove(self, before: list[str], removal: Removal, path: str | None) -> None:
        """Add a stage that leaves text out, after the splits `before`, which are moved here.

        Raises `VocabError` after a prefix, which would be cut, too.
        """
        if self.prefix:
            raise _unsupported("a stage that leaves text out after add_prefix_space", path)
        self._take(before, path)
        self.stages.append(removal)

    def put(self, before: list[str], prefix: str, path: str | None) -> None:
        """Add a stage that puts a prefix before each piece that the splits `before` make."""
        self._take(before, path)
        self.prefix = prefix

    @property
    def keeps_what_it_leaves_out(self) -> bool:
        """Whether the last stage leaves out at the start of a text what it keeps elsewhere."""
        last = self.stages[-1] if self.stages else ""
        return not isinstance(last, str) and last.at_start

    def _take(self, before: list[str], path: str | None) -> None:
        self.stages += (from_oniguruma(one, path, anchors=True) for one in before)
        before.clear()
        self.is_used = True

    def words(self) -> list[Normalizer]:
        """The last stage of the normalizer, if there are such stages."""
        return [nested(self.rules(prefix=self.prefix))] if self.is_used else []

    def rules(self, **marks: Any) -> list[Words]:
        """Rules by which the text is cut one after the other; the last one has the marks.

        There is one rule, unless what a stage leaves out is not known from each piece alone, may be
        cut by a later stage, or may be kept elsewhere and cut off by a later stage.
        """
        found, splits, removed = list[Words](), list[str](), list[str]()

        def close(**of: Any) -> None:
            regex = "|".join(dict.fromkeys(removed))
            rule = Words(tuple(map(Regex, splits)), Regex(regex) if regex else None, **of)
            splits.clear()
            removed.clear()
            if rule != Words():
                found.append(rule)

        for at, stage in enumerate(self.stages):
            if isinstance(stage, str):
                splits.append(stage)
                continue
            keep = stage.keep or ("between" if self._may_be_cut(stage, at + 1) else None)
            if keep is None:
                splits += stage.splits
                removed.append(stage.removed)
            else:
                close()
                found.append(Words((Regex(stage.splits[0]),), keep=keep))
                continue
            if stage.at_start and at + 1 < len(self.stages):
                close()  # what a later stage cuts off may be what only the start must not be
        close(**marks)
        return found or [Words()]

    def _may_be_cut(self, removal: Removal, behind: int) -> bool:
        """Whether stages from an index on may cut text that a stage leaves out as a whole."""
        later = [
            regex
            for stage in self.stages[behind:]
            for regex in ((stage,) if isinstance(stage, str) else stage.splits)
        ]
        if not removal.whole or not later:
            return False
        splitter = Pretokenizer([*map(Regex, later)]).splitter()
        return removal.text is None or len(splitter.split(removal.text)) > 1


def nested(rules: list[Words]) -> Words:
    """One rule, by which the words of each rule are cut by the next one."""
    whole = rules[-1]
    for rule in reversed(rules[:-1]):
        whole = replace(rule, then=whole)
    return whole


def unnested(words: Words) -> list[Words]:
    """The rules of words, each without the next.

    >>> [rule.prefix for rule in unnested(Words(prefix="a", then=Words(prefix="b")))]
    ['a', 'b']
    """
    rules = []
    rule: Words | None = words
    while rule is not None:
        rules.append(replace(rule, then=None))
        rule = rule.then
    return rules


def to_word_stages(words: Words) -> list[dict[str, Any]]:
    """The stages of a `pre_tokenizer`; the prefix is written by the stage after them.

    Raises `VocabError` for words that no stages of other libraries make, and `PatternError`.
    """
    *before, last = unnested(words)
    found = []
    for rule in before:
        if rule.prefix:
            raise _unstored(words)
        found += _stages_of(rule, words)
    return found + _stages_of(last, words)


def _stages_of(rule: Words, words: Words) -> list[dict[str, Any]]:
    splits = [one.pattern for one in rule.splits]
    removed = None if rule.removed is None else rule.removed.pattern
    if rule.suffix or rule.space_symbol or rule.letters:
        raise _unstored(words)
    if rule.keep is not None:
        return [split_stage(splits[0], "Removed", rule.keep == "matches")]
    last, stage = _last_stage(splits, removed) if removed is not None else (0, None)
    if removed is not None and stage is None:
        raise _unstored(words)
    before = [split_stage(regex, "Isolated") for regex in splits[: len(splits) - last]]
    return before if stage is None else [*before, stage]


def _unstored(words: Words) -> VocabError:
    return VocabError(
        f"a tokenizer.json cannot store {words!r}.",
        value=words,
        hint='Save it with format="digram".',
    )


def _last_stage(splits: list[str], removed: str) -> tuple[int, dict[str, Any] | None]:
    """The stage that leaves text out, and how many of the last splits it makes."""
    for name, removal in _NAMED.items():
        count = len(removal.splits)
        if removed == removal.removed and tuple(splits[-count:]) == removal.splits:
            return count, {"type": name}
    for inverted in (False, True):
        regex = splits[-1] if splits else ""
        found = _removed_by(regex, inverted)
        if found is not None and found.removed == removed:
            return 1, split_stage(regex, "Removed", inverted)
    return 0, None


def split_stage(regex: str, behavior: str, inverted: bool = False) -> dict[str, Any]:
    """A `Split`; raises `PatternError` for a regex that other libraries interpret differently."""
    check_portable(regex)
    pattern = {"Regex": regex}
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": inverted}
