"""An option of training changes the outcome or is refused; none is dropped without a word."""

from __future__ import annotations

import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_corpora, cases

import digram
from digram.pretokenizers import Pretokenizer, Regex, Words

# It holds what every option needs to make a difference: ties, characters of several bytes, pairs
# of several frequencies, words that follow each other, tokens that become mere steps.
TEXT = (
    "the cat sat on the mat, the hat;\n\nthe é é è ë at at ta ta 1234 12 or of the on the sat " * 4
)
OTHER = "paka na mbwa na kuku na paka; na nyumba" * 3
NAMED = {"en": TEXT, "sw": OTHER}
COUNTS = {
    unit: digram.count_pretokens(TEXT, pretokenizer="gpt2", unit=unit) for unit in ("byte", "char")
}

OPTIONS: dict[str, Any] = {
    "vocab_size": None,  # a little less than without it
    "min_frequency": 13,
    "max_merges": 7,
    "max_token_length": 2,
    "whole_characters": True,
    "picky": 0.5,
    "unit": "char",
    "alphabet": "xyz" + "".join(sorted({*TEXT, *OTHER})),
    "limit_alphabet": 5,
    "on_unknown": digram.SpecialToken("<unk>"),
    "pretokenizer": digram.Regex(r"\w|\W+"),
    "rules": digram.Rules(["sat on"]),
    "ties": "lexicographic",
    "special_tokens": ["<s>"],
    "reserve": {"image": 3},
    "pad_to_multiple": 64,
    "byte_order": "gpt2",
    "weights": {"sw": 9},
    "superwords": "boundless",
    "runners_up": 2,
}
SPACED = digram.Pretokenizer(None, normalizer=digram.pretokenizers.SPACED_WORDS)
SETTINGS: dict[str, dict[str, Any]] = {
    "bytes": {},
    "characters": {"unit": "char"},
    "characters and bytes": {"unit": "char", "on_unknown": "bytes"},
    "an alphabet": {"unit": "char", "alphabet": OPTIONS["alphabet"][3:]},
    "rules": {"rules": digram.Rules(["the cat"])},
    "picky": {"picky": 0.7},
    "two stages": {"superwords": digram.TwoStage(subwords=0.5)},
    "boundless": {"superwords": "boundless"},
    "whole texts": {"pretokenizer": None},
    "words": {"model": "wordpiece", "pretokenizer": SPACED},
    "words by likelihood": {
        "model": digram.WordPiece(rule="likelihood"),
        "pretokenizer": SPACED,
        "min_frequency": 2,
    },
    "unigram": {"model": "unigram", "vocab_size": 60, "max_merges": None},
}
SOURCES: dict[str, Any] = {"text": TEXT, "names": NAMED, **COUNTS, "counts": {"en": COUNTS["byte"]}}

# There it changes nothing by its nature, as the documentation says.
NEEDLESS = {
    "whole_characters": (
        *("characters", "characters and bytes", "an alphabet", "char"),
        *("words", "words by likelihood", "unigram"),
    ),
    "unit": ("char", "words", "words by likelihood", "unigram"),
    "on_unknown": ("unigram",),
}


def outcome(tok: digram.Tokenizer) -> tuple[Any, ...]:
    """All that training decides, but for what the record says of the options."""
    record = tok.training
    assert record is not None
    return tok.digest, tok.merge_log, tok.events, record.documents, record.counts


def changes(run: Callable[..., digram.Tokenizer], given: dict[str, Any], name: str) -> bool:
    """Whether an option changes what training gives; True where it is refused."""
    before = run(**given)
    value = before.vocab_size - 3 if name == "vocab_size" else OPTIONS[name]
    try:
        return outcome(run(**{**given, name: value})) != outcome(before)
    except (digram.OptionError, digram.ConfigMismatchError):
        return True


def needed(option: str, *settings: str) -> bool:
    """Whether an option says something beside these settings."""
    said = any(option in SETTINGS.get(one, ()) for one in settings)
    return not said and not {*settings} & {*NEEDLESS.get(option, ())}


CASES = [
    (option, setting, source)
    for option in OPTIONS
    for setting in SETTINGS
    for source in SOURCES
    # Counts say themselves how text was cut, and of what unit they are.
    if source in ("text", "names") or setting in ("bytes", "picky")
    if needed(option, setting, source)
]


@pytest.mark.parametrize(("option", "setting", "source"), CASES)
def test_train(option: str, setting: str, source: str) -> None:
    given: dict[str, Any] = {"max_merges": 40, "pretokenizer": "gpt2", **SETTINGS[setting]}

    def run(**options: Any) -> digram.Tokenizer:
        return digram.train(SOURCES[source], **options)

    assert changes(run, given, option)


OF_FAIR = [
    (option, setting)
    for option in OPTIONS
    if option not in ("weights", "picky", "superwords", "runners_up")
    for setting in ("bytes", "characters", "characters and bytes", "an alphabet")
    if needed(option, setting)
]


@pytest.mark.parametrize(("option", "setting"), OF_FAIR)
def test_train_fair(option: str, setting: str) -> None:
    given: dict[str, Any] = {"max_merges": 40, "pretokenizer": "gpt2", **SETTINGS[setting]}

    def run(**options: Any) -> digram.Tokenizer:
        return digram.train_fair(NAMED, **options)

    assert changes(run, given, option)


OF_EXTEND = ["min_frequency", "max_token_length", "whole_characters", "ties"]
OF_EXTEND += ["weights", "runners_up"]


@pytest.mark.parametrize(
    ("option", "source"),
    [(option, source) for option in OF_EXTEND for source in SOURCES if needed(option, source)],
)
def test_extend(option: str, source: str) -> None:
    unit: Any = "char" if source == "char" else "byte"
    tok = digram.train(TEXT + OTHER, max_merges=0, pretokenizer="gpt2", unit=unit)

    def run(**options: Any) -> digram.Tokenizer:
        return digram.extend(tok, SOURCES[source], add=40, **options)[0]

    assert changes(run, {}, option)


@pytest.mark.parametrize("option", ["min_frequency", "ties", "special_tokens", "runners_up"])
def test_train_ids(option: str) -> None:
    rows = np.array([[0, 1, 2, 0, 1, 1, 0] * 7, [2, 0, 1, 2, 2, 1, 1] * 7])

    def run(**options: Any) -> digram.Tokenizer:
        return digram.train_ids(rows, max_merges=9, **options).tokenizer

    assert changes(run, {}, option)


@pytest.mark.parametrize(
    ("options", "problem", "remedy"),
    [
        ({"alphabet": "ab"}, 'alphabet= applies only to unit="char"', "Leave out alphabet="),
        (
            {"limit_alphabet": 2},
            'limit_alphabet= applies only to unit="char"',
            "Leave out limit_alphabet=",
        ),
        (
            {"on_unknown": "bytes"},
            'on_unknown= applies only to unit="char"',
            "Leave out on_unknown=",
        ),
        (
            {"on_unknown": digram.SpecialToken("<unk>")},
            'on_unknown= applies only to unit="char"',
            "Leave out on_unknown=",
        ),
        (
            {"unit": "char", "byte_order": "gpt2"},
            'byte_order= applies only to unit="byte"',
            "Leave out byte_order=",
        ),
        (
            {"unit": "char", "byte_order": "gpt2", "on_unknown": "bytes"},
            'byte_order= applies only to unit="byte"',
            "Leave out byte_order=",
        ),
    ],
)
def test_both_are_named_before_anything_is_read(
    options: dict[str, Any], problem: str, remedy: str
) -> None:
    def never() -> Any:
        raise AssertionError("a text was asked for")
        yield

    for learn in (digram.train, lambda text, **more: digram.train_fair({"a": text}, **more)):
        with pytest.raises(digram.OptionError) as caught:
            learn(never(), max_merges=1, **options)
        assert str(caught.value).startswith(problem)
        assert remedy in str(caught.value)


# --- what was trained on can be encoded

NAMES = ["gpt2", "cl100k", "o200k", "llama3", "qwen2", "deepseek-v3", "whitespace", None]


@pytest.mark.parametrize("pretokenizer", NAMES)
@pytest.mark.parametrize("unit", ["byte", "char"])
@cases(40)
@given(corpus=any_corpora, merges=st.integers(0, 8))
def test_what_was_trained_on_can_be_encoded(
    unit: Any, pretokenizer: str | None, corpus: list[str], merges: int
) -> None:
    tok = digram.train(corpus, unit=unit, pretokenizer=pretokenizer, max_merges=merges)
    for text in corpus:
        assert tok.decode(tok.encode(text)) == text


def test_letters_alone_are_a_base_for_words_without_their_spaces(tmp_path: Path) -> None:
    """As descriptions of BPE begin: words split at white space, and a base of letters."""
    text, letters = "use byte pair encoding to tokenize text", string.ascii_lowercase
    words = Words((Regex(r"\s+"),), removed=Regex(r"\s"))
    options: dict[str, Any] = {"unit": "char", "alphabet": letters, "ties": "first_seen"}
    for merges in range(12):
        cut = Pretokenizer(None, normalizer=words)
        tok = digram.train(text, pretokenizer=cut, max_merges=merges, **options)
        alone = digram.train(text.split(), pretokenizer=None, max_merges=merges, **options)
        assert tok.merges == alone.merges
        by_words = [id for word in text.split() for id in alone.encode(word)]
        assert tok.encode(text) == by_words
        assert tok.encode(f"  {text}\n") == by_words
        assert tok.decode(by_words) == text.replace(" ", "")
        tok.save(tmp_path / "tokenizer.json", allow_loss=True)
        theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        assert theirs.encode(text).ids == by_words


@pytest.mark.parametrize("pretokenizer", [*NAMES[:-1]])
def test_letters_alone_are_no_base_for_words_with_their_spaces(pretokenizer: str) -> None:
    text, letters = "use byte pair encoding to tokenize text", "abcdefghijklmnopqrstuvwxyz"
    options: dict[str, Any] = {"unit": "char", "pretokenizer": pretokenizer, "max_merges": 4}
    with pytest.raises(digram.OptionError) as caught:
        digram.train(text, alphabet=letters, **options)
    assert str(caught.value) == (
        "alphabet= leaves out 1 character of the corpus: ' ' (U+0020). A tokenizer of it could not "
        'encode the text that it was trained on. Add it to alphabet=, or pass on_unknown="bytes" '
        'or on_unknown=digram.SpecialToken("<unk>").'
    )
    tok = digram.train(text, alphabet=letters + " ", **options)
    assert tok.decode(tok.encode(text)) == text
    tok = digram.train(text, alphabet=letters, on_unknown="bytes", **options)
    assert tok.decode(tok.encode(text)) == text
    with pytest.raises(digram.OptionError, match=r"leaves out 10 characters .* and 2 more\. "):
        digram.train("0123456789", alphabet=letters, **options)
    with pytest.raises(digram.OptionError, match=r"^limit_alphabet= leaves out .* Raise it, or "):
        digram.train(text, limit_alphabet=9, **options)
