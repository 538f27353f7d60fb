r"""Hugging Face's pre_tokenizers that leave text out, or put a space before each piece, as `Words`.

They are `Whitespace`, `WhitespaceSplit`, `BertPreTokenizer`, `UnicodeScripts`,
`CharDelimiterSplit`, `Split` and `Punctuation` with the behavior `Removed`, and `ByteLevel` with
`add_prefix_space`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

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
    "removal_of",
    "splits_letters",
    "to_word_stages",
    "words_before",
]

_WHITE_SPACE = r"\s"
_WORDS = r"\w+|[^\w\s]+"

_unsupported = partial(
    unsupported,
    hint="digram leaves out the matches of one class of characters, or the characters outside it, "
    "or the matches of a regex without look-around.",
)
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


_NAMED = {
    "WhitespaceSplit": Removal((r"\s+",), _WHITE_SPACE),
    "Whitespace": Removal((_WORDS,), _WHITE_SPACE),
    "BertPreTokenizer": Removal((r"\s+", PUNCTUATION), _WHITE_SPACE),
    "UnicodeScripts": Removal(SCRIPT_RUNS, WITHOUT_SCRIPT),
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
        return _removed(escaped(delimiter), False, where, path)
    if stage.get("behavior") != "Removed":
        return None
    if kind == "Punctuation":
        only(stage, {"type", "behavior"}, where, path)
        return Removal((PUNCTUATION,), PUNCTUATION)
    if kind == "Split":
        regex, inverted = regex_of_split(stage, where, path)
        if regex or inverted:  # an empty regex leaves out all text or nothing
            cut = from_oniguruma(regex, path) if regex else EACH_CHARACTER
            found = _removed(cut, inverted and bool(regex), where, path)
            return found._replace(text=stage["pattern"].get("String")) if found.whole else found
    return None


def words_before(stages: list[Any], path: str | None) -> tuple[tuple[Regex, ...], Regex | None]:
    """The splits and the removed text of stages before one that puts a prefix.

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
    return words.cuts()


def splits_letters(regex: str) -> bool:
    r"""Whether a regex splits text of the letters by which bytes are written.

    >>> splits_letters(r"\s+"), splits_letters("_")
    (False, True)
    """
    return len(Pretokenizer(Regex(regex)).splitter().split("a".join(LETTERS))) > 1


def _removed(regex: str, inverted: bool, where: str, path: str | None) -> Removal:
    """What a `Split` with this regex leaves out; raises `VocabError` for other regexes."""
    found = _removed_by(regex, inverted)
    if found is None:
        what = "inverted, with a Regex other than one class"
        if not inverted:
            what = "with a Regex other than one class that depends on what is beside its matches"
        raise _unsupported(f"{where}.behavior 'Removed', {what}", path)
    return found


def _removed_by(regex: str, inverted: bool) -> Removal | None:
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
    splits: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    whole: list[Removal] = field(default_factory=list)
    is_used: bool = False

    def remove(self, before: list[str], removal: Removal, path: str | None) -> None:
        """Add a stage that leaves text out, after the splits `before`, which are moved here.

        Raises `VocabError` after a prefix, which would be cut, too, and for a split that cuts what
        an earlier stage left out as a whole.
        """
        if self.prefix:
            raise _unsupported("a stage that leaves text out after add_prefix_space", path)
        self._refuse_cuts([*before, *removal.splits], path)
        self._take(before, path)
        self.whole += [removal] if removal.whole else []
        self.splits += removal.splits
        self.removed.append(removal.removed)

    def put(self, before: list[str], prefix: str, path: str | None) -> None:
        """Add a stage that puts a prefix before each piece that the splits `before` make."""
        self._refuse_cuts(before, path)
        self._take(before, path)
        self.prefix = prefix

    def _refuse_cuts(self, splits: list[str], path: str | None) -> None:
        """Raises `VocabError` if these splits may cut text that is left out as a whole."""
        for removal in self.whole if splits else ():
            cut = Pretokenizer([Regex(from_oniguruma(one, path)) for one in splits]).splitter()
            if removal.text is None or len(cut.split(removal.text)) > 1:
                left_out = show(removal.text if removal.text is not None else removal.removed)
                raise _unsupported(
                    f"a stage that may cut {left_out}, which a stage before it leaves out,", path
                )

    def _take(self, before: list[str], path: str | None) -> None:
        self.splits += (from_oniguruma(one, path) for one in before)
        before.clear()
        self.is_used = True

    def words(self) -> list[Normalizer]:
        """The last stage of the normalizer, if there are such stages."""
        return [Words(*self.cuts(), self.prefix)] if self.is_used else []

    def cuts(self) -> tuple[tuple[Regex, ...], Regex | None]:
        """By what text is cut, and what is left out."""
        removed = "|".join(dict.fromkeys(self.removed))
        return tuple(map(Regex, self.splits)), Regex(removed) if removed else None


def to_word_stages(words: Words) -> list[dict[str, Any]]:
    """The stages of a `pre_tokenizer`; the prefix is written by the stage after them.

    Raises `VocabError` for words that no stages of other libraries make, and `PatternError`.
    """
    splits = [one.pattern for one in words.splits]
    removed = None if words.removed is None else words.removed.pattern
    last, stage = _last_stage(splits, removed) if removed is not None else (0, None)
    if words.suffix or words.space_symbol or (removed is not None and stage is None):
        raise VocabError(
            f"a tokenizer.json cannot store {words!r}.",
            value=words,
            hint='Save it with format="digram".',
        )
    before = [_split(regex, "Isolated") for regex in splits[: len(splits) - last]]
    return before if stage is None else [*before, stage]


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
            return 1, _split(regex, "Removed", inverted)
    return 0, None


def _split(regex: str, behavior: str, inverted: bool = False) -> dict[str, Any]:
    check_portable(regex)
    pattern = {"Regex": regex}
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": inverted}
