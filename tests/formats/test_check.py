"""What must hold of every vocabulary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from vocabularies import BANANA, BYTES, PLAIN, SAMPLES, bpe, changed, of_bytes

from digram import Definition, DigramError, Matching, SpecialToken, Tokenizer, VocabError
from digram.formats._check import Place, check, id_table, named_merges

CHARACTERS = SAMPLES["characters or bytes"]
UNKNOWN = SAMPLES["characters or unknown"]


@pytest.mark.parametrize("name", SAMPLES)
def test_good_vocabularies_pass(name: str) -> None:
    assert check(SAMPLES[name]) is SAMPLES[name]


WRONG: list[tuple[Definition, dict[str, Any], str]] = [
    (PLAIN, {"tokens": [*PLAIN.tokens, b"", b""]}, "token b'' has the ids 259 and 260"),
    (PLAIN, {"tokens": [*PLAIN.tokens, b"an"]}, "token b'an' has the ids 256 and 259"),
    (PLAIN, {"tokens": [None, *PLAIN.tokens[1:]]}, "1 of the 256 bytes have no token: 0x00"),
    (PLAIN, {"tokens": []}, "256 of the 256 bytes"),
    (PLAIN, {"special_tokens": {"": 300}}, "special token '' has no text"),
    (PLAIN, {"special_tokens": {"\ud800": 300}}, "contains a lone surrogate"),
    (PLAIN, {"special_tokens": {"<a>": -1}}, "id -1 is out of range"),
    (PLAIN, {"special_tokens": {"<a>": 1 << 25}}, "id 33554432 is out of range"),
    (PLAIN, {"special_tokens": {"<a>": 256}}, "'<a>' has the id 256 of token b'an'"),
    (PLAIN, {"special_tokens": {"<a>": 300, "<b>": 300}}, "the id 300 of special token '<a>'"),
    (PLAIN, {"merges": [(97, 110, 999)]}, "merge 0: id 999 is not an ordinary token"),
    (PLAIN, {"merges": [(-1, 110, 256)]}, "merge 0: id -1 is not an ordinary token"),
    (PLAIN, {"merges": [(97, 1 << 80, 256)]}, "is not an ordinary token"),
    (PLAIN, {"merges": [(97, 110, 256), (98, 256, 257)]}, "merge 1: its parts are b'ban', but id"),
    (PLAIN, {"merges": [(97, 110, 256), (97, 110, 256)]}, "merge 1: .* occurs twice"),
    (PLAIN, {"merges": [*reversed(bpe(PLAIN).merges)]}, "merge 0: .* is made by a later merge"),
    (BANANA, {"merges": [(97, 259, 256)]}, "merge 0: id 259 is not an ordinary token"),
    (CHARACTERS, {"byte_ids": None, "tokens": []}, "the fallback to bytes needs a token for each"),
    (CHARACTERS, {"byte_ids": [*range(255)]}, "the fallback to bytes needs"),
    (CHARACTERS, {"byte_ids": [*range(1, 257)]}, "the fallback to bytes needs"),
    (CHARACTERS, {"byte_ids": [*range(255), -1]}, "the fallback to bytes needs"),
    (CHARACTERS, {"merges": [(97, 98, 300)]}, "merge 0: id 97 is not an ordinary token"),
    (CHARACTERS, {"tokens": [*CHARACTERS.tokens[:-1], b"\xff"]}, "does not consist of char|its p"),
    (UNKNOWN, {"on_unknown": SpecialToken("<none>")}, "'<none>' is not a special token"),
]


@pytest.mark.parametrize(("base", "changes", "message"), WRONG, ids=[one[2] for one in WRONG])
def test_contradictions_are_refused(
    base: Definition, changes: dict[str, Any], message: str
) -> None:
    definition = changed(base, **changes)
    with pytest.raises(VocabError, match=f"^t: .*({message})"):
        check(definition, Place("t"))


# What is a matter of files: a small one may not ask for a huge table, and a token that is there
# twice is a mistake, though the core would encode with the first one.
WRONG_ANYWHERE = [
    one
    for one in WRONG
    if one[2] not in ("id 33554432 is out of range", "token b'an' has the ids 256 and 259")
]


@pytest.mark.parametrize(
    ("base", "changes", "message"), WRONG_ANYWHERE, ids=[one[2] for one in WRONG_ANYWHERE]
)
def test_the_core_refuses_no_less(base: Definition, changes: dict[str, Any], message: str) -> None:
    """Files are checked for a message with a place; the core must not rely on it."""
    with pytest.raises((DigramError, OverflowError, TypeError, UnicodeEncodeError)):
        Tokenizer(changed(base, **changes))


def test_merges_have_the_line_where_they_stand() -> None:
    bad = changed(PLAIN, merges=[*bpe(PLAIN).merges, (97, 110, 256)])
    with pytest.raises(VocabError, match=r"^m, line 5: b'a' \+ b'n' occurs twice"):
        check(bad, Place("v", "m", 2))
    with pytest.raises(VocabError, match=r"^m: merge 3: "):
        check(bad, Place("v", "m"))
    pairs = [("a", "b")] * 4 + [("qq", "zz")]
    with pytest.raises(VocabError, match=r"^m, line 5: 'qq' \+ 'zz' needs token 'qqzz', which is"):
        named_merges(pairs, {"a": 0, "b": 1, "ab": 2, "qq": 3, "zz": 4}, Place("v", "m", 1))


def test_tokens_by_id() -> None:
    assert id_table([], [], None) == []
    assert id_table([2, 0], ["b", "a"], None) == ["a", None, "b"]
    for ids, message in (
        ([0, 0], "is the id of 'a' and of 'b'"),
        ([0, -1], "id -1"),
        ([0, 1 << 25], "range"),
    ):
        with pytest.raises(VocabError, match=message):
            id_table(ids, ["a", "b"], None)


def test_order_need_not_be_that_of_ids() -> None:
    """A vocabulary may be numbered in any way; only what makes what decides."""
    other = changed(
        PLAIN,
        tokens=[b"banan", b"anan", b"an", *BYTES],
        merges=[(100, 113, 2), (2, 2, 1), (101, 1, 0)],
    )
    assert check(other) is other
    assert Tokenizer(other).encode("banan") == [0]


def unreachable(definition: Definition) -> list[int]:
    return definition.model.unreached(definition)


def test_unreachable_tokens() -> None:
    assert unreachable(PLAIN) == unreachable(CHARACTERS) == unreachable(BANANA) == []
    assert unreachable(SAMPLES["unreachable token"]) == [259]
    assert unreachable(SAMPLES["whole pretokens"]) == []
    assert unreachable(of_bytes((97, 110), (256, 256), merges=[(97, 110, 256)])) == [257]
    two = replace(CHARACTERS, tokens=[*CHARACTERS.tokens, "🙂🙂🙂".encode()], special_tokens={})
    assert unreachable(two) == [len(two.tokens) - 1]


def test_a_token_found_in_text_is_none_of_the_bytes_of_unknown_characters() -> None:
    """In a file it has the name <0x09>, so that the added token would have no place."""
    byte = (CHARACTERS.byte_ids or [])[9]
    tab = replace(CHARACTERS, special_tokens={"\t": byte}, matching={"\t": Matching(always=True)})
    with pytest.raises(VocabError, match=f"has the id {byte} of token"):
        check(tab)
