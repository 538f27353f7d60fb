"""Versions, log, faults: what a history says, and what it refuses."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import digram

GENERAL = "the cat sat on the mat with the hat and the bat "
MEDICAL = "fever, chills, fever and chills, feverish chilling "


def history() -> digram.VocabularyHistory:
    return digram.VocabularyHistory().add(GENERAL, name="general").next(vocab_size=270)


def test_the_log_tells_what_was_done() -> None:
    found = history().add(MEDICAL, name="med", weight=3).decay(0.9).next(add=2).forget(name="med")
    digests = [version.digest[:12] for version in found.versions]
    assert [str(entry) for entry in found.log] == [
        "add 'general': 1 document, 48 bytes",
        f"version 1 {digests[0]}: train, vocab_size=270",
        "add 'med': 1 document, 51 bytes, 3 times",
        "decay by 9/10",
        f"version 2 {digests[1]}: extend, add=2",
        "forget 'med': 1 document, 51 bytes",
    ]
    assert [found.log[version.place].number for version in found.versions] == [1, 2]
    assert found.log[2].digest == found.log[5].digest != found.log[0].digest
    assert str(found.versions[0]) == f"version 1 {digests[0]}: 270 ids"
    assert str(found.versions[1]).endswith("270 ids became 272, 2 tokens added, 0 removed")
    assert repr(found) == (
        '<digram.VocabularyHistory: 2 versions, 1 name, 6 steps, pretokenizer="o200k">'
    )


def test_it_is_a_value() -> None:
    one = history()
    two = one.add(MEDICAL)
    assert (len(one.log), len(two.log)) == (2, 3)
    assert one != two
    assert one == history() != "history"
    assert hash(one) == hash(history())
    assert copy.deepcopy(two) == two
    with pytest.raises(AttributeError, match="immutable"):
        one._batches = ()
    with pytest.raises(AttributeError, match="immutable"):
        del one._log


def test_sources_of_all_kinds(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(GENERAL, encoding="utf-8")
    counts = digram.count_pretokens(GENERAL)
    expected = digram.VocabularyHistory().add(GENERAL).counts
    for source in ([GENERAL], path, digram.files(path), iter([GENERAL]), counts):
        assert digram.VocabularyHistory().add(source).counts == expected
    both = digram.VocabularyHistory().add({"a": GENERAL, "b": [MEDICAL]}, weight=2)
    assert [*both.parts] == ["a", "b"]
    assert both.counts["fever"] == 2
    path.write_text("low\n\nlow")
    cut = digram.VocabularyHistory().add(digram.files(path, separator="\n\n"))
    assert cut.counts.documents == 2
    assert digram.VocabularyHistory().add("").add(GENERAL, name="b").parts["text"].documents == 1


def test_a_vocabulary_that_has_a_size_to_keep() -> None:
    padded = digram.VocabularyHistory().add(GENERAL).next(vocab_size=270, pad_to_multiple=16)
    assert padded.tokenizer.vocab_size == 272
    grown = padded.add(MEDICAL).next(vocab_size=275)
    assert (grown.tokenizer.vocab_size, len(grown.map(1, 2).added)) == (288, 5)
    assert grown.next(swap=3).tokenizer.vocab_size == 288


def test_a_token_that_went_and_came_back_is_new() -> None:
    found = history()
    token = found.tokenizer.tokens([269])[0]
    smaller = found.record(digram.shrink(found.tokenizer, 269)).record(found.tokenizer)
    assert digram.Change.of(found.tokenizer, smaller.tokenizer).added == []
    assert smaller.map(1, 3).added == [269]
    assert smaller.map(3, 1).id_map[269] == -1
    assert smaller.tokenizer.tokens([269]) == [token]


def test_drift_of_text_like_that_it_was_made_on_is_chance() -> None:
    texts = [GENERAL * 20, MEDICAL * 20]
    made = digram.VocabularyHistory().add(texts).next(vocab_size=280)
    same = made.add(texts).drift(add=5)
    assert (same.divergence, same.unseen) == (0.0, 0.0)
    assert same.by_chance is not None
    assert 0 < same.by_chance < 0.01
    other = made.drift("ähnlich öffentlich über Ärzte, öffentliche Ämter " * 20, add=5)
    assert other.unseen is not None
    assert other.unseen > 0.8
    assert other.divergence is not None
    assert other.divergence > 100 * same.by_chance
    assert other.recent.bytes_per_token < same.recent.bytes_per_token


def test_gains_are_measured_where_one_says() -> None:
    found = history().add(MEDICAL * 9)
    trial = found.drift(add=12)
    tok, grown = (
        found.tokenizer,
        digram.extend(found.tokenizer, MEDICAL * 9, add=12, min_frequency=2)[0],
    )
    assert trial.trial.after == grown
    counts = (tok.count(MEDICAL * 9), grown.count(MEDICAL * 9))
    assert (trial.gain.before, trial.gain.after, trial.gain.held_out) == (*counts, False)
    assert trial.recent.tokens == tok.count(MEDICAL * 9)
    held = "chilling fevers of the cat"
    other = found.drift(add=12, on=held)
    counts = (tok.count(held), grown.count(held))
    assert (other.gain.before, other.gain.after, other.gain.held_out) == (*counts, True)
    assert other.gain.saved < trial.gain.saved
    assert found.drift(MEDICAL * 9, add=12).to_dict() == trial.to_dict()


@pytest.mark.parametrize(("parameters", "width"), [("7B", 4096), ("1M", 512), (3e9, 100_000)])
def test_when_an_update_pays(parameters: Any, width: int) -> None:
    """By the arithmetic of reading: after so many tokens as many operations were saved as spent."""
    found = history().add(MEDICAL * 9).drift(add=12, parameters=parameters, width=width)
    number = {"7B": 7e9, "1M": 1e6}.get(parameters, parameters)
    before, after = (
        2 * (number + width * size)
        for size in (found.trial.before.vocab_size, found.trial.after.vocab_size)
    )
    left = found.gain.after / found.gain.before
    read = found.pays_after
    spent = 3 * after  # for one token of training
    assert read * (before - after * left) == pytest.approx(spent)
    assert found.pays == (read <= 100)


def test_an_update_that_cannot_pay() -> None:
    found = history().drift("zq xj", add=5)
    assert (found.gain.added, found.gain.saved) == (0, 0.0)
    assert (found.pays_after, found.pays) == (float("inf"), False)
    assert found.to_dict()["pays_after"] is None
    assert "does not pay" in str(found)
    # Rows may cost more than shorter texts save.
    dear = history().drift(MEDICAL, add=9, on=GENERAL * 9 + "fever", parameters="1M", width=10**9)
    assert dear.gain.saved > 0
    assert not dear.pays


def test_a_history_that_knows_no_text_of_before() -> None:
    found = (
        digram.VocabularyHistory.of(digram.train(GENERAL, vocab_size=270)).add(MEDICAL).drift(add=5)
    )
    assert (found.base, found.divergence, found.by_chance, found.unseen) == (None,) * 4
    assert "made on" not in str(found)
    assert found.to_dict()["base"] is None


def test_drift_as_a_table() -> None:
    lines = str(history().add(MEDICAL * 9).drift(add=12, horizon=50)).splitlines()
    assert lines[0].split() == ["version", "1", "made", "on", "recent", "text"]
    assert any(line.startswith("Divergence of token frequencies 0.") for line in lines)
    assert lines[-1].endswith("within 50 an update pays.")
    assert all(len(line) <= 80 for line in lines)


def test_faults() -> None:
    empty = digram.VocabularyHistory()
    with pytest.raises(digram.OptionError, match="no version yet"):
        _ = empty.tokenizer
    with pytest.raises(digram.OptionError, match="no version yet"):
        empty.add(MEDICAL).drift()
    with pytest.raises(digram.OptionError, match="nothing was counted"):
        empty.next(vocab_size=300)
    with pytest.raises(digram.OptionError, match="has none yet"):
        empty.add(GENERAL).next(add=5)
    calls: list[dict[str, Any]] = [{}, {"add": 1, "swap": 1}]
    for options in calls:
        with pytest.raises(digram.OptionError, match="one of vocab_size="):
            history().next(**options)
    with pytest.raises(digram.OptionError, match="already the size of the newest version"):
        history().next(vocab_size=270)
    with pytest.raises(digram.OptionError, match="first_seen"):
        history().next(add=1, ties="first_seen")
    for number in (0, 2):
        with pytest.raises(digram.OptionError, match=f"={number} is not|no version {number}"):
            history().map(1, number)
    with pytest.raises(digram.ConfigMismatchError, match="history counts with"):
        history().record(digram.train("low", max_merges=1, pretokenizer="gpt2"))
    with pytest.raises(digram.ConfigMismatchError):
        history().add(digram.count_pretokens("low", pretokenizer="gpt2"))
    with pytest.raises(TypeError):
        history().record("tokenizer.json")  # type: ignore[arg-type]


def test_faults_of_counts() -> None:
    for factor in (0, -1, 1.5, float("nan")):
        with pytest.raises(digram.OptionError, match=r"factor="):
            history().decay(factor)
    with pytest.raises(digram.OptionError, match="nothing was added under the name 'x'"):
        history().forget(name="x")
    with pytest.raises(digram.OptionError, match="Choose from 'general'"):
        history().forget("low")
    with pytest.raises(digram.OptionError, match="does not contain all"):
        history().forget("low", name="general")
    with pytest.raises(digram.OptionError, match="does not contain all"):
        history().decay(0.5).forget("the the the the the the the", name="general")
    with pytest.raises(digram.OptionError, match="a corpus, a name, or both"):
        history().forget()
    with pytest.raises(digram.OptionError, match="their own names"):
        history().add({"a": "low"}, name="b")
    with pytest.raises(digram.OptionError, match="weight=0"):
        history().add("low", weight=0)
    with pytest.raises(digram.OptionError, match="one character"):
        history().add("low", name="")
    with pytest.raises(TypeError, match="name must be a str"):
        history().add("low", name=3)  # type: ignore[arg-type]


def test_what_has_faded_may_be_forgotten() -> None:
    gone = history().add("rare", name="few").decay(0.5)
    assert "few" not in gone.parts
    assert gone.forget(name="few") == gone.forget("rare", name="few") == gone
    assert gone.forget(name="few").log[-1].pretokens == 0
    kept = history().add("low low rare low low", name="few").decay(0.4)
    assert "rare" not in kept.parts["few"]
    assert kept.forget("low rare low", name="few").counts[" low"] == 1


def test_what_was_added_last_is_forgotten_first() -> None:
    before = digram.VocabularyHistory().add("low low low low").decay(0.5)
    assert before.add("low low").forget("low low") == before


def test_more_than_can_have_faded_was_never_there() -> None:
    faded = digram.VocabularyHistory().add(["low low low", "low", "low"]).decay(0.5)
    assert dict(faded.forget("zebra").counts.items()) == dict(faded.counts.items())
    with pytest.raises(digram.OptionError, match="does not contain all"):
        faded.forget(["zebra", "zebra"])


def test_faults_of_drift() -> None:
    with pytest.raises(digram.OptionError, match="nothing was added since"):
        history().drift()
    with pytest.raises(digram.OptionError, match="recent= contains no text"):
        history().drift([])
    with pytest.raises(digram.OptionError, match="horizon=0"):
        history().drift(MEDICAL, horizon=0)
    with pytest.raises(TypeError, match="horizon is a number"):
        history().drift(MEDICAL, horizon="far")  # type: ignore[arg-type]
    with pytest.raises(digram.OptionError, match="parameters="):
        history().drift(MEDICAL, parameters="big")


def test_what_is_forgotten_is_not_forgotten_again() -> None:
    history = (
        digram.VocabularyHistory().add("low lower", name="news").forget("low lower", name="news")
    )
    with pytest.raises(digram.OptionError, match="all of it was forgotten already"):
        history.forget("other text", name="news")
    faded = digram.VocabularyHistory().add("low", name="news").decay(0.1)
    assert str(faded.forget("low", name="news").log[-1]) == "forget 'news': 0 documents, 0 bytes"
