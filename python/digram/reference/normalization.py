r"""Normalization and added tokens, as a readable specification.

A **stage** is a function that changes a text. A **normalizer** is a list of stages, applied in
order; then the text may be cut into **words**. **Added tokens** are found as a whole, in two
passes: most of them in the given text; those that are `late` in what is left between them, after
the stages.

>>> tokens = [Added("<s>"), Added("ab", late=True)]
>>> [getattr(piece, "text", piece) for piece in segments("xAB<s> AB", tokens, [str.lower])]
['x', 'ab', '<s>', ' ', 'ab']
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from digram.reference.letters import letters

Stage = Callable[[str], str]


def form(name: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> Stage:
    """A normalization form, by the tables of the running Python; the core's are of Unicode 9."""
    return lambda text: unicodedata.normalize(name, text)


def lowercase(text: str) -> str:
    """Each character alone, so that a sigma at the end of a word is like any other.

    >>> lowercase("ΑΣ İ")
    'ασ i̇'
    """
    return "".join(character.lower() for character in text)


def strip_accents(text: str) -> str:
    r"""Without marks; characters are not taken apart.

    >>> strip_accents("e\u0301\u00e9")
    'eé'
    """
    return "".join(c for c in text if not unicodedata.category(c).startswith("M"))


def nmt(text: str) -> str:
    r"""Without control characters, and with a space for some other characters.

    >>> nmt("a\tb\u200bc\x07")
    'a b c'
    """
    dropped = {*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F}
    spaces = {*b"\t\n\f\r", 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD}
    return "".join(" " if ord(c) in spaces else c for c in text if ord(c) not in dropped)


def strip(text: str) -> str:
    r"""Without white space at the ends; U+001C to U+001F are not white space.

    >>> strip("\u3000a b\n")
    'a b'
    """
    return re.sub(rf"^[{_SPACES}]+|[{_SPACES}]+\Z", "", text)


_SPACES = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
WHITE_SPACE = f"[{_SPACES}]"
"""A regex for one character of white space."""


def prepend(before: str) -> Stage:
    """A text before each text that is not empty."""
    return lambda text: before + text if text else text


def replace(pattern: str, content: str) -> Stage:
    """One text in place of another."""
    return lambda text: text.replace(pattern, content)


def replace_matches(regex: str, content: str) -> Stage:
    """A text in place of each match of a regex."""
    return lambda text: re.sub(regex, lambda _: content, text)


def normalize(text: str, stages: Sequence[Stage]) -> str:
    """All stages, in order.

    >>> normalize("A b", [lowercase, replace(" ", "▁"), prepend("▁")])
    '▁a▁b'
    """
    for stage in stages:
        text = stage(text)
    return text


class WordRule(NamedTuple):
    """How text is cut into words; `splits` are applied one after the other."""

    splits: Sequence[str] = ()
    removed: str | None = None
    prefix: str = ""
    suffix: str = ""
    space_symbol: str | None = None
    letters: bool = False
    keep: Literal["matches", "between"] | None = None
    then: "WordRule | None" = None


def words(text: str, rule: WordRule) -> list[str]:
    """The words of a text.

    The matches of a split, and the text between them, are pieces. Those that begin with a match of
    `removed` are left out.

    >>> words("to  be,", WordRule([" +", "[,.]"], " ", prefix=" "))
    [' to', ' be', ' ,']

    With `letters` the bytes of a word are written in the letters of GPT-2, and the prefix is put in
    any case. With `keep` only the matches of the only split are kept, or only what is between them.
    `then` cuts each word again.

    >>> words("a1b2", WordRule(["[0-9]"], keep="matches"))
    ['1', '2']

    >>> words("a é", WordRule(prefix=" ", then=WordRule([" "], suffix="|", letters=True)))
    ['Ġ|', 'a|', 'Ġ|', 'Ã©|']
    """
    pieces = [text] if text else []
    for split in rule.splits:
        pieces = [part for piece in pieces for part in re.split(f"({split})", piece) if part]
    if rule.keep is not None:
        cut = re.split(f"({rule.splits[0]})", text)
        pieces = [piece for piece in cut[rule.keep == "matches" :: 2] if piece]
    found = []
    for piece in pieces:
        if rule.removed is None or not re.match(rule.removed, piece):
            word = piece.replace(rule.space_symbol, " ") if rule.space_symbol else piece
            if rule.letters:
                found.append(letters(word.encode()).join((rule.prefix, rule.suffix)))
            else:
                found.append(word.removeprefix(rule.prefix).join((rule.prefix, rule.suffix)))
    if rule.then is not None:
        return [inner for word in found for inner in words(word, rule.then)]
    return found


class Added(NamedTuple):
    """An added token.

    `lstrip` and `rstrip` take white space beside the text into the token, but no spaces if it
    `keeps_spaces`; `single_word` wants no word character beside it; `late` is for the second pass.
    """

    text: str
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    late: bool = False
    keeps_spaces: bool = False

    def takes(self, character: str) -> bool:
        """Whether white space belongs to the token."""
        is_kept = self.keeps_spaces and character == " "
        return not is_kept and re.match(f"[{_SPACES}]", character) is not None


def found(text: str, tokens: Sequence[Added]) -> Iterator[tuple[int, int, Added]]:
    """The places of tokens in a text: start, end and token.

    The leftmost counts, and of several that start there the longest. What `single_word` rejects
    still hides the tokens that overlap it. White space that belongs to one token is not taken by
    `lstrip` of the next, but the text of the next may overlap it.

    >>> [place[:2] for place in found("a  <m> b", [Added("<m>", lstrip=True), Added(" b")])]
    [(1, 6), (6, 8)]
    >>> [place[:2] for place in found("abcd", [Added("abc", single_word=True), Added("ab")])]
    []
    """
    by_length = sorted(tokens, key=lambda token: -len(token.text))
    at, last = 0, 0
    while at < len(text):
        token = next((token for token in by_length if text.startswith(token.text, at)), None)
        if token is None:
            at += 1
            continue
        start, at = at, at + len(token.text)
        end = at
        if token.single_word and any(map(_is_word, (text[start - 1 : start], text[end : end + 1]))):
            continue
        if token.lstrip:
            while start > 0 and token.takes(text[start - 1]):
                start -= 1
            start = max(start, last)
        if token.rstrip:
            while end < len(text) and token.takes(text[end]):
                end += 1
        if start < end:  # otherwise it is white space of the last token
            yield start, end, token
            last = end


def _is_word(character: str) -> bool:
    """Whether it is a letter, a mark, a decimal digit, a connector or a joiner; false for none."""
    if not character:
        return False
    kind = unicodedata.category(character)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or character in "\u200c\u200d"


def segments(
    text: str, tokens: Sequence[Added], stages: Sequence[Stage], rule: WordRule | None = None
) -> list[str | Added]:
    """The added tokens of a text, and the normalized text between them, or its words.

    >>> segments("ab", [Added("AB", late=True)], [lowercase])[0].text
    'AB'

    >>> segments("<s>a", [Added("<s>")], [prepend("_")])[1:]
    ['_a']
    """
    early = [token for token in tokens if not token.late]
    # The second pass searches for tokens in the form that their own text has after normalization.
    forms = {
        token._replace(text=normalize(token.text, stages)): token for token in tokens if token.late
    }
    late = [form for form in forms if form.text]
    cut: list[str | Added] = []
    for piece in _pieces(text, early):
        if isinstance(piece, Added):
            cut.append(piece)
            continue
        for part in _pieces(normalize(piece, stages), late):
            if isinstance(part, Added):
                cut.append(forms[part])
            else:
                cut += [part] if rule is None else words(part, rule)
    return cut


def _pieces(text: str, tokens: Sequence[Added]) -> Iterator[str | Added]:
    at = 0
    for start, end, token in found(text, tokens):
        if at < start:
            yield text[at:start]
        yield token
        at = end
    if at < len(text):
        yield text[at:]
