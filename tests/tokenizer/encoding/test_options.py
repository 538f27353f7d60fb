"""The options of `tok(text)`: each that makes no sense, alone or beside others, is refused."""

from __future__ import annotations

from typing import Any

import pytest

import digram
from digram import DigramError, LimitExceededError, OptionError, Template

TOK = (
    digram.train("low lower", max_merges=2, special_tokens=["<s>", "<pad>"])
    .with_template(Template("<s> $A <s>", pair="<s> $A <s> $B:1"))
    .with_pad_token("<pad>")
)
PLAIN = digram.train("low lower", max_merges=2)

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"truncation": "longest"}, "truncation='longest' is not known. Pass 'longest_first',"),
    ({"truncation": True}, "truncation=True is not known"),
    ({"truncation_side": "top"}, "truncation_side='top' is not known. Pass 'left', 'right'"),
    ({"padding": "all"}, "padding='all' is not known. Pass 'longest', 'max_length', a number"),
    ({"padding": True}, "padding=True is not known"),
    ({"padding": False}, "padding=False is not known"),
    ({"padding_side": "up"}, "padding_side='up' is not known"),
    ({"offsets": "chars"}, "offsets='chars' is not known. Pass 'characters', 'bytes', 'utf16'"),
    ({"add_special_tokens": "no"}, "add_special_tokens='no' is not known. Pass True or False"),
    ({"max_length": 0}, "max_length=0 is not a whole number of at least 1. Pass a number of"),
    ({"max_length": True}, "max_length=True is not a whole number"),
    ({"max_length": 5.0}, r"max_length=5\.0 is not a whole number"),
    ({"max_length": "model"}, "max_length='model' is not a whole number"),
    ({"max_length": "context"}, "needs a context size.*with_context_size"),
    ({"max_length": 1}, "max_length=1 leaves no token for the text in addition to the 2 tokens"),
    ({"max_length": 2}, "max_length=2 leaves no token"),
    ({"overlap": -1}, "overlap=-1 is not a whole number of at least 0"),
    ({"overlap": 1}, "overlap=1 does nothing, since max_length is not given"),
    ({"truncation": "only_first"}, "truncation='only_first' does nothing, since max_length"),
    ({"truncation": "raise"}, "truncation='raise' does nothing, since max_length"),
    ({"truncation_side": "left"}, "truncation_side='left' does nothing, since max_length"),
    ({"max_length": 9, "truncation": "raise", "overlap": 1}, "since truncation does not cut"),
    (
        {"max_length": 9, "truncation": "raise", "truncation_side": "left"},
        "since truncation does not cut",
    ),
    ({"max_length": 9, "truncation": "only_second"}, "needs a pair"),
    ({"max_length": 5, "overlap": 3}, "overlap=3 is not below the 3 tokens left of a text"),
    ({"padding": "max_length"}, "needs max_length, too"),
    ({"padding_side": "left"}, "padding_side='left' does nothing, since padding is not given"),
    ({"pad_to_multiple_of": 8}, "pad_to_multiple_of=8 does nothing, since padding"),
    ({"padding": "longest", "pad_to_multiple_of": 0}, "pad_to_multiple_of=0 is not a whole"),
    ({"special": "yes"}, 'special="yes" is not known'),
    ({"threads": 0}, "threads=0 is not at least 1"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[str(o) for o, _ in REFUSED])
@pytest.mark.parametrize("text", ["low lower lowest", ["low", "lower"], []], ids=repr)
def test_refused(options: dict[str, Any], message: str, text: Any) -> None:
    """Whatever the text: an option that is wrong for one is wrong for all."""
    with pytest.raises(OptionError, match=message):
        TOK(text, **options)


def test_padding_needs_a_token() -> None:
    with pytest.raises(OptionError, match=r"needs a pad token.*with_pad_token"):
        PLAIN("low", padding="longest")


def test_what_depends_on_the_texts() -> None:
    options: dict[str, Any] = {"max_length": 8, "add_special_tokens": False}
    with pytest.raises(OptionError, match="overlap=3 is not below the 2 tokens left of the"):
        PLAIN("abcdef", "abcdefghi", overlap=3, truncation="only_second", **options)
    with pytest.raises(OptionError, match=r"^text\[1\]: .* would leave nothing of the") as caught:
        PLAIN(["a", "abcdefghij"], ["b", "cd"], truncation="only_second", **options)
    assert caught.value.index == 1
    with pytest.raises(
        LimitExceededError, match="there are 10 tokens, but only 8 are allowed"
    ) as limit:
        PLAIN(["a", "abcdefghij"], truncation="raise", **options)
    assert (limit.value.index, limit.value.value) == (1, 10)
    assert PLAIN("abcdefgh", truncation="raise", **options).ids == list(b"abcdefgh")


@pytest.mark.parametrize(
    ("arguments", "options", "message", "place"),
    [
        ((7,), {}, "text is str or bytes, or several of them in a list, not int", None),
        ((None,), {}, "not NoneType", None),
        ((bytearray(b"a"),), {}, "not bytearray", None),
        (("a", 7), {}, "text is str or bytes, not int", "the pair"),
        ((["a", 7],), {}, "text is str or bytes, not int", "text[1]"),
        (
            ([digram.SpecialToken("<s>"), "a"],),
            {},
            "SpecialToken; encode and count take",
            "text[0]",
        ),
        ((["a", "b"], ["c", None]), {}, "not NoneType", "pair[1]"),
        ((["a"], "b"), {}, "pair is str or bytes, or several", None),
        (("a",), {"is_split_into_words": True}, "text is a list of words, since is_split", None),
        ((["a", ["b"]],), {"is_split_into_words": True}, r"text\[0\] is a list of words", None),
        (([["a"], ["b", 5]],), {"is_split_into_words": True}, "not int", "text[1][1]"),
        (
            ([["a"]], [["b", 5]]),
            {"is_split_into_words": True},
            "not int",
            "pair[0][1]",
        ),
        ((["a"], ["b", 5]), {"is_split_into_words": True}, "not int", "pair[1]"),
    ],
)
def test_what_is_no_text(
    arguments: Any, options: dict[str, Any], message: str, place: str | None
) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        TOK(*arguments, **options)
    if place is not None:
        assert str(caught.value).startswith(f"{place}: ")


def test_texts_and_pairs_go_together() -> None:
    with pytest.raises(OptionError, match="there are 2 texts and 1 pairs"):
        TOK(["a", "b"], ["c"])


def test_texts_that_cannot_be_encoded_are_named() -> None:
    with pytest.raises(digram.InvalidTextError, match=r"^text\[1\]: .* lone surrogate"):
        TOK(["a", "b\ud800"])
    with pytest.raises(digram.InvalidTextError, match="lone surrogate"):
        TOK("\ud800")
    strict = digram.train("ab", unit="char", pretokenizer=None, max_merges=0)
    wrong = r"^text\[1\]\[1\]: 'z' .* at character 1"
    with pytest.raises(digram.InvalidTextError, match=wrong):
        strict([["a", "b"], ["a", "bz"]], is_split_into_words=True)
    with pytest.raises(digram.SpecialTokenError):
        TOK("a<s>", special="raise")


@pytest.mark.parametrize("column", ["ids", "", 7])
def test_columns_have_names(column: Any) -> None:
    with pytest.raises(OptionError, match="is not known"):
        TOK(["a"]).numpy(column)


def test_sequences_have_numbers() -> None:
    encoding = TOK("a")
    for sequence in (1, -1, True, "A"):
        wrong: Any = sequence
        with pytest.raises(OptionError, match="is not 0 for the text"):
            encoding.char_to_token(0, wrong)
        with pytest.raises(OptionError, match="is not 0 for the text"):
            encoding.word_to_tokens(0, wrong)


def test_errors_are_ours() -> None:
    assert issubclass(OptionError, DigramError)
    assert issubclass(OptionError, ValueError)
