"""The control tokens of a chat: where the template writes them, and how no other text becomes one.

In the text that is encoded, each control token that the template wrote has another name, which
occurs in no content, and the tokenizer knows these tokens only by those names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from os import urandom
from typing import TYPE_CHECKING, NamedTuple

from digram.errors import SpecialTokenError, show
from digram.tokenizer.chat.marked import CONTENT, MODEL, TEMPLATE, Marked, Mixed
from digram.vocab.packed import Compact
from digram.vocab.special_tokens import Matching, SpecialToken

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["Control", "Found", "control_of"]

_KEYS, _DIGITS = (0x100000, 0xFFFE), 0xF0000
"""The private characters of plane 16 and 15, of which names consist."""

_Pattern = re.Pattern[str] | None


class Found(NamedTuple):
    """A control token in the text of a chat: its place in characters, and its text."""

    start: int
    stop: int
    token: str


class Control:
    """The control tokens of a tokenizer for one template.

    These are its special tokens. Those that it finds in all text, as tags of tools often are, are
    control tokens if the template writes them; the model's own messages may have them, too.
    """

    def __init__(self, tok: Tokenizer, source: str) -> None:
        flags = {text: tok.matching.get(text, Matching()) for text in tok.special_tokens}
        self.tok = tok
        self.special = {text for text, one in flags.items() if not one.always}
        shared = {text for text in flags.keys() - self.special if text in source}
        self.names = [t for t in flags if t in self.special or (t in shared and not t.isspace())]
        first = [text for text, one in flags.items() if not one.normalized]
        second = [text for text, one in flags.items() if one.normalized]
        self._all = _either(first), _either(second)
        self._shared = _either(shared.intersection(first)), _either(shared.intersection(second))

    def find(self, text: Marked) -> list[Found]:
        """The control tokens that the template wrote, and shared ones that the model wrote."""
        found: list[Found] = []
        names = set(self.names)
        for start, stop, trust in _stretches(text):
            passes = {TEMPLATE: self._all, MODEL: self._shared}.get(trust, (None, None))
            for at, end in _matches(str.__getitem__(text, slice(start, stop)), passes):
                token = str.__getitem__(text, slice(start + at, start + end))
                if token in names:
                    found.append(Found(start + at, start + end, token))
        return found

    def check(self, text: Marked, given: Iterable[str]) -> None:
        """Raise if a special token in what counts as content is of the template.

        It is if none of the `given` texts has it: then the template made it by an operation that
        does not keep the origin of a text. If it mixed its own text with others, these are known.
        """
        contents: str | None = None
        known = set[str]()
        for start, stop, trust in _stretches(text):
            if trust == TEMPLATE:
                continue
            for token in self._tokens(str.__getitem__(text, slice(start, stop))):
                if token in known:
                    continue
                known.add(token)
                contents = "".join(given) if contents is None else contents
                if token not in contents:
                    raise _lost(token)
        at = 0
        for run in text.runs() if known else ():
            if run.mixed is not None:
                self._check_mixed(str.__getitem__(text, slice(at, at + run.length)), run.mixed)
            at += run.length

    def _check_mixed(self, text: str, mixed: Mixed) -> None:
        """Raise for a special token of the template, or more of them than the other texts have."""
        for token, number in Counter(self._tokens(text)).items():
            is_own = any(token in one for one in mixed.template)
            if is_own or number > sum(one.count(token) for one in mixed.others):
                raise _lost(token)

    def _tokens(self, text: str) -> Iterator[str]:
        """The special tokens in a text."""
        for start, stop in _matches(text, self._all):
            if text[start:stop] in self.special:
                yield text[start:stop]

    def expected(self, found: Iterable[Found]) -> list[int]:
        """The ids of special tokens that the encoding has to have, in order."""
        ids = self.tok.special_tokens
        unknown = self._unknown()
        return [
            ids[one.token] for one in found if one.token in self.special and one.token != unknown
        ]

    def special_ids(self) -> set[int]:
        """The ids of special tokens that no content may have."""
        ids = self.tok.special_tokens
        return {ids[text] for text in self.special} - {ids.get(self._unknown() or "", -1)}

    def _unknown(self) -> str | None:
        unknown = self.tok.on_unknown
        return unknown.text if isinstance(unknown, SpecialToken) else None

    def renamed(self, texts: Collection[str]) -> tuple[Tokenizer, dict[str, str]]:
        """A tokenizer with other names for the control tokens, which none of the texts has."""
        tok, names = _renamed(self.tok, tuple(self.names))
        while names and any(_key(names) in text for text in texts):
            tok, names = _rename(self.tok, self.names)
        return tok, names


def _lost(token: str) -> SpecialTokenError:
    return SpecialTokenError(
        f"the chat template makes the special token {show(token)} in a way that does not show "
        "where its text is from.",
        value=token,
        hint="Write it as a literal, alone or joined by + or ~.",
    )


@lru_cache(maxsize=8)
def control_of(tok: Tokenizer, source: str) -> Control:
    """The control tokens of a tokenizer for a template; the last ones are kept."""
    return Control(tok, source)


@lru_cache(maxsize=4)
def _renamed(tok: Tokenizer, names: tuple[str, ...]) -> tuple[Tokenizer, dict[str, str]]:
    # Renaming takes as long as with_special_tokens, many times as long as encoding a chat.
    return _rename(tok, names)


def _rename(tok: Tokenizer, names: Collection[str]) -> tuple[Tokenizer, dict[str, str]]:
    # Nobody can foresee the key, and no content has all of them.
    key = "".join(chr(_KEYS[0] + int.from_bytes(urandom(4)) % _KEYS[1]) for _ in range(3))
    new = {
        text: key + "".join(chr(_DIGITS + int(digit)) for digit in str(number)) + key
        for number, text in enumerate(names)
    }
    settings = tok._settings
    unknown = settings.on_unknown
    if isinstance(unknown, SpecialToken) and unknown.text in new:
        unknown = SpecialToken(new[unknown.text])
    matching = {new.get(text, text): one for text, one in (settings.matching or {}).items()}
    special_tokens = {new.get(text, text): id for text, id in tok.special_tokens.items()}
    only_encodes = settings._replace(
        on_unknown=unknown,
        matching=matching or None,
        template=None,
        pad_token=None,
        padding=None,
        special_roles=None,
        chat_templates=None,
        reserved=None,
    )
    return type(tok)._of(Compact(tok._model, special_tokens, only_encodes)), new


def _key(names: dict[str, str]) -> str:
    return next(iter(names.values()))[:3]


def _either(texts: Iterable[str]) -> _Pattern:
    """A pattern for several texts, of which it finds the longest at a place."""
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))) if longest_first else None


def _stretches(text: Marked) -> Iterator[tuple[int, int, int]]:
    """The start, end and trust of the stretches of a text with the same trust."""
    start, at, trust = 0, 0, CONTENT
    for run in text.runs():
        if run.trust != trust and at > start:
            yield start, at, trust
            start = at
        trust = run.trust
        at += run.length
    if at > start:
        yield start, at, trust


def _matches(text: str, passes: tuple[_Pattern, _Pattern]) -> list[tuple[int, int]]:
    """The places of tokens, of which those of the first pass come before those of the second."""
    first, second = passes
    found = [] if first is None else [match.span() for match in first.finditer(text)]
    if second is None:
        return found
    both, at = [], 0
    for start, end in [*found, (len(text), len(text))]:
        both += [match.span() for match in second.finditer(text, at, start)]
        both += [(start, end)] * (start < end)
        at = end
    return both
