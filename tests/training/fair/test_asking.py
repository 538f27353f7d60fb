"""What `train_fair` is asked for: refused where it makes no sense, with the remedy."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import digram

TEXTS = {"en": "low low lower lowest", "sw": "chini chini kabisa"}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"dev": {"en": ""}},
            "dev= lacks the language 'sw'. Name every language, or leave it out.",
        ),
        ({"dev": {**TEXTS, "fr": ""}}, "dev= names 'fr', but no language has that name."),
        ({"ratios": {"en": 1}}, "ratios= lacks the language 'sw'."),
        ({"ratios": {"en": 1, "sw": 0}}, r"ratios\['sw'\]=0 is not a number above 0."),
        ({"ratios": {"en": 1, "sw": float("nan")}}, r"ratios\['sw'\]=nan is not a number above 0."),
        ({"ratios": {"en": 1, "sw": 1}, "dev": TEXTS}, "dev= and ratios= cannot be combined."),
        ({"alpha": 2.0}, "alpha= needs window=, which is missing."),
        ({"window": 5, "alpha": -1}, "alpha=-1 is not a number above 0."),
        ({"ties": "first_seen"}, "languages have no common order"),
        ({"ties": "last"}, "ties='last' is not known."),
        ({"max_merges": None}, "without vocab_size or max_merges"),
        ({"vocab_size": 256}, "leaves no room for a merge"),
        ({"alphabet": "ab"}, 'alphabet= applies only to unit="char"'),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(digram.OptionError, match=problem):
        digram.train_fair(TEXTS, **{"max_merges": 3, **options})


@pytest.mark.parametrize(
    ("languages", "options", "problem"),
    [
        ("low lower", {}, "languages is a dictionary by language"),
        (TEXTS, {"dev": ["low"]}, "dev is a dictionary by language"),
        (TEXTS, {"ratios": [1, 2]}, "ratios is a dictionary by language"),
        (TEXTS, {"ratios": {"en": "1", "sw": 1}}, r"ratios\['en'\] is a number, not '1'"),
        (TEXTS, {"window": 4, "alpha": True}, "alpha is a number, not True"),
        (TEXTS, {"special_tokens": "<s>"}, "special_tokens is a list of texts"),
        ({1: "low", "sw": "low"}, {}, "languages: the name of a language is text, not 1"),
        ({b"en": "low"}, {}, "languages: the name of a language is text, not b'en'"),
        (TEXTS, {"ratios": {1: 1}}, "ratios: the name of a language is text, not 1"),
        ({"en": "low", "sw": 5}, {}, r"languages\['sw'\]: "),
        (TEXTS, {"dev": {"en": "low", "sw": 5}}, r"dev\['sw'\]: "),
    ],
)
def test_values_of_the_wrong_kind(languages: Any, options: dict[str, Any], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        digram.train_fair(languages, max_merges=3, **options)


def test_no_language() -> None:
    with pytest.raises(digram.OptionError, match="names no language"):
        digram.train_fair({}, max_merges=3)


def test_counts_of_another_pretokenizer_are_refused() -> None:
    counts = digram.count_pretokens(TEXTS["sw"], pretokenizer="gpt2")
    with pytest.raises(digram.ConfigMismatchError, match=r"languages\['sw'\]: "):
        digram.train_fair({"en": TEXTS["en"], "sw": counts}, max_merges=3)
    tok = digram.train_fair(
        {"en": TEXTS["en"], "sw": counts}, max_merges=3, pretokenizer=counts.pretokenizer
    )
    assert tok == digram.train_fair(TEXTS, max_merges=3, pretokenizer="gpt2")


def test_files_and_separators(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text(text.replace(" ", "|"))
    files = {name: digram.files(tmp_path / f"{name}.txt", separator="|") for name in TEXTS}
    tok = digram.train_fair(files, dev=files, max_merges=9)
    split = {name: text.split() for name, text in TEXTS.items()}
    expected = digram.train_fair(split, dev=split, max_merges=9)
    assert tok.merge_log == expected.merge_log
    assert tok.training is not None
    assert (tok.training.documents, tok.training.bytes) == (7, 33)


def test_what_has_ids_beside_the_merges() -> None:
    options: dict[str, Any] = {
        "vocab_size": 270,
        "special_tokens": ["<s>"],
        "special_first": True,
        "reserve": {"image": 3},
        "pad_to_multiple": 16,
    }
    tok, plain = (
        digram.train_fair({"en": TEXTS["en"]}, **options),
        digram.train(TEXTS["en"], **options),
    )
    assert tok == plain
    assert (tok.vocab_size, tok.reserved) == (272, plain.reserved)


def test_the_record_says_what_was_asked_for() -> None:
    tok = digram.train_fair(TEXTS, ratios={"sw": 2, "en": 1}, window=7, max_merges=4)
    assert tok.training is not None
    asked = tok.training.options
    assert asked["languages"] == ["en", "sw"]
    assert asked["ratios"] == {"en": 1.0, "sw": 2.0}
    assert (asked["dev"], asked["window"], asked["alpha"]) == (False, 7, 2.0)


def test_languages_stay_with_their_merges() -> None:
    tok = digram.train_fair(TEXTS, dev=TEXTS, max_merges=6)
    languages = [merge.language for merge in tok.merge_log]
    assert {*languages} == {"en", "sw"}
    frames = digram.replay(tok, "lowest chini").frames
    assert {frame.merge.rank: frame.merge.language for frame in frames}.items() <= {
        *enumerate(languages)
    }
    grown, _ = digram.extend(tok, "xyz xyz", add=2)
    assert [merge.language for merge in grown.merge_log] == [*languages, None, None]
    both, _ = digram.union(tok, digram.train("xyz xyz", max_merges=2))
    assert [merge.language for merge in both.merge_log][:6] == languages
    pruned, change = digram.prune(tok, "low chini", remove=2)
    kept = [merge for merge in tok.merge_log if merge.id not in change.removed]
    assert [merge.language for merge in pruned.merge_log] == [merge.language for merge in kept]


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ("weights", "Use dev= or ratios= to weight"),
        ("memory_limit", "digram.count_pretokens"),
        ("checkpoint", "save the counts"),
        ("runners_up", "Only digram.train supports it"),
        ("picky", "Only digram.train supports it"),
        ("superwords", "Only digram.train supports it"),
        ("vocabsize", "did you mean vocab_size=?"),
        ("nonsense", "It takes dev=, ratios=,"),
    ],
)
def test_what_it_does_not_take(option: str, remedy: str) -> None:
    wrong: Any = {option: 1}
    with pytest.raises(TypeError) as caught:
        digram.train_fair({"en": "the cat"}, max_merges=1, **wrong)
    assert str(caught.value).startswith(f"train_fair() takes no {option}=")
    assert remedy in str(caught.value)
    assert str(caught.value).endswith("progress=.")


def test_every_option_of_training_is_taken_or_told_of() -> None:
    of_train = inspect.signature(digram.train).parameters
    named = {name for name, one in of_train.items() if one.kind is one.KEYWORD_ONLY}
    for option in named - inspect.signature(digram.train_fair).parameters.keys():
        wrong: Any = {option: None}
        with pytest.raises(TypeError, match=rf"takes no {option}=\. [A-Z].* It takes "):
            digram.train_fair({"en": "the cat"}, max_merges=1, **wrong)
