"""The added tokens of a tokenizer.json: their ids and flags, and which are ordinary tokens too."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from digram._util.warning import warn
from digram.errors import VocabError
from digram.formats._json import expect, unsupported
from digram.formats._letters import LETTERS
from digram.formats._show import show
from digram.pretokenizers.normalizers import SentencePiece, Words
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.special_tokens import Matching

__all__ = [
    "AddedTokens",
    "added_tokens",
    "flags_in_file",
    "matching_of",
    "ordinary_tokens",
    "refuse_letters",
    "refuse_neighbours",
    "warn_of_other_ids",
]

AddedTokens = dict[str, tuple[int, Matching]]
"""The ids and flags of added tokens by their texts."""

_MATCHING = ("single_word", "lstrip", "rstrip", "normalized")
_FLAGS = (*_MATCHING, "special")


def added_tokens(
    value: Any, vocab: dict[str, int], names: Collection[str], path: str | None
) -> AddedTokens:
    """The ids and flags of the added tokens; `names` are those of the file, `vocab` has spaces."""
    special: AddedTokens = {}
    for index, entry in enumerate(
        expect([] if value is None else value, list, "added_tokens", path)
    ):
        where = f"added_tokens[{index}]"
        added = expect(entry, dict, where, path)
        token_id = expect(added.get("id"), int, f"{where}.id", path)
        text = expect(added.get("content"), str, f"{where}.content", path)
        flags = {flag: expect(added.get(flag), bool, f"{where}.{flag}", path) for flag in _FLAGS}
        unknown = added.keys() - {"id", "content", *_FLAGS}
        if unknown:
            raise unsupported(f"the key {show(min(unknown))} of {where}", path)
        if text in special or vocab.get(text, token_id) != token_id:
            if text not in special and text not in names:
                what = f"the added token {show(text)} beside a token whose symbol means its space"
                raise unsupported(what, path)
            other = special[text][0] if text in special else vocab.get(text)
            raise VocabError(
                f"the added token {show(text)} has the ids {other} and {token_id}.",
                path=path,
                value=text,
                hint="Remove one of them.",
            )
        always = not flags.pop("special")
        special[text] = token_id, Matching(always=always, **flags)
    return special


def warn_of_other_ids(added: AddedTokens, vocab: Collection[str], path: str | None) -> None:
    """Warn of ids that Hugging Face's library does not give: it counts on from its vocabulary.

    `vocab` has the names as they are in the file.
    """
    new = {text: token_id for text, (token_id, _) in added.items() if text not in vocab}
    other = next(((n, text) for n, text in enumerate(new, len(vocab)) if new[text] != n), None)
    if other is not None:
        warn(
            f"{path or 'the file'}: the added token {show(other[1])} has the id {new[other[1]]}; "
            f"Hugging Face's tokenizers ignores this number and gives it {other[0]}."
        )


def flags_in_file(matching: Matching) -> dict[str, bool]:
    """The flags of an added token."""
    return {flag: getattr(matching, flag) for flag in _MATCHING} | {"special": not matching.always}


def matching_of(
    flags: dict[str, Matching], pretokenizer: Pretokenizer, path: str | None
) -> dict[str, Matching]:
    """The flags that have an effect; those of other tokens are the default ones."""
    late = {text for text, one in flags.items() if one.normalized}
    changes = any(not isinstance(one, Words) for one in pretokenizer.normalizer)
    if not changes and len(late) == len(flags):
        # One pass finds all tokens in the text as it is.
        flags = {text: replace(one, normalized=False) for text, one in flags.items()}
        late = set()
    # SentencePiece leaves the texts of tokens as they are.
    stages = [one for one in pretokenizer.normalizer if not isinstance(one, SentencePiece)]
    cut, normal_forms = Pretokenizer(None, normalizer=stages), dict[str, str]()
    for text in late if changes else ():
        form = cut.splitter().normalize(text)
        other = normal_forms.setdefault(form, text)
        if not form or other != text:
            what = "nothing" if not form else f"that of {show(other)}"
            raise unsupported(
                f"the added token {show(text)} with the flag normalized, whose normal form is "
                f"{what},",
                path,
            )
    return {text: one for text, one in flags.items() if one != Matching()}


def refuse_neighbours(flags: dict[str, Matching], path: str | None) -> None:
    """Raises `VocabError` for tokens that are searched for beside the letters of bytes.

    Of these none is white space, and all of those beyond ASCII are parts of words.
    """
    for text, one in flags.items():
        if one.normalized and (one.lstrip or one.rstrip or one.single_word):
            what = (
                f"the added token {show(text)}, which depends on what is beside it, after ByteLevel"
            )
            raise unsupported(what, path)


def refuse_letters(flags: dict[str, Matching], names: Collection[str], path: str | None) -> None:
    """Raises `VocabError` for an added token with the id of a byte that text becomes otherwise."""
    for text, one in flags.items():
        byte = LETTERS.find(text) if len(text) == 1 and text in names else -1
        if byte >= 0 and not (one.always and text.encode() == bytes([byte])):
            what = (
                f"the added token {show(text)}, which is the letter of the byte 0x{byte:02X} too,"
            )
            raise unsupported(what, path)


def ordinary_tokens(
    vocab: dict[str, int],
    matching: dict[str, Matching],
    special: dict[str, int],
    model: dict[str, Any],
    known: set[int] | None,
) -> dict[str, int]:
    """The tokens that the model makes of text: all but the added tokens.

    Tokens found in all text may be among them, where they are not found: beside what makes them
    part of a word, or in text that is normalized. In BPE these are single letters, and what merges
    make or use; in Unigram all. Files of digram say which: `known` are the ids.
    """
    if known is not None:
        return {name: i for name, i in vocab.items() if name not in special or i in known}
    also = {text for text, one in matching.items() if one.always and text in vocab}
    if also and "scores" not in model:
        also = {text for text in also if len(text) == 1} | (also & _merged(model.get("merges")))
    return {name: i for name, i in vocab.items() if name not in special or name in also}


def _merged(merges: Any) -> set[str]:
    """The parts of merges, and what they make."""
    pairs = merges if isinstance(merges, list) else []
    split = (one.split(" ") if isinstance(one, str) else one for one in pairs)
    texts = [pair for pair in split if isinstance(pair, list) and {*map(type, pair)} == {str}]
    return {part for pair in texts for part in (*pair, "".join(pair))}
