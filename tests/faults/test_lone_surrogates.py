"""A `str` with a lone surrogate has no UTF-8: every call that takes one refuses it by its name.

Python's own `str.encode` raises `UnicodeEncodeError`, a `ValueError`, which is not in the contract.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from faults import hostile_calls
from faults.public_surface import surface

import digram

TEXTS = ["low lower", "low \ud800"]
PLACE = r"\[1\] has a lone surrogate \(U\+D800\) at index 4, which is not a character"
TOK = digram.train("low lower lowest", max_merges=4)
RULES = digram.Rules(forbid=["lo"])
CORPORA: dict[str, Callable[[list[str]], Any]] = {
    "train": lambda texts: digram.train(texts, max_merges=2),
    "extend": lambda texts: digram.extend(TOK, texts, add=2),
    "evaluate": lambda texts: digram.evaluate(TOK, texts),
    "audit": lambda texts: digram.audit(TOK, texts),
    "compare": lambda texts: digram.compare(TOK, TOK, texts),
    "check_rules": lambda texts: digram.check_rules(TOK, texts, rules=RULES),
    "find_token": lambda texts: digram.find_token(TOK, "low", texts),
    "estimate_training": lambda texts: digram.estimate_training(9, 300, sample=texts),
}


@pytest.mark.parametrize("name", CORPORA)
def test_a_text_of_a_corpus_is_named(name: str) -> None:
    with pytest.raises(digram.InvalidTextError, match=PLACE):
        CORPORA[name](TEXTS)
    if name != "estimate_training":  # needs a larger sample
        CORPORA[name]([text.replace("\ud800", "é") for text in TEXTS])


@pytest.mark.parametrize("errors", ["\ud800", "strict\udfff", "ignore"])
def test_errors_is_one_of_two_names(errors: Any) -> None:
    one: Any = 1
    space = digram.IdSpace({"text": TOK})
    calls: list[Callable[[], object]] = [
        lambda: TOK.decode([104], errors=errors),
        lambda: TOK.decode_batch([[104]], errors=errors),
        lambda: TOK.decoder(errors=errors),
        lambda: space.decode([104], errors=errors),
    ]
    for call in calls:
        with pytest.raises(digram.OptionError, match="errors="):
            call()
    with pytest.raises(TypeError, match="errors is a str, not int"):
        TOK.decode([104], errors=one)


def test_corpora_made_directly_check_their_fields(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("low")
    table = digram.table(pyarrow.table({"text": ["low"]}))
    wrong: list[Any] = ["\n", ["\n"], {}, 1]
    unknown: Any = "\ud800"
    corpus: Any
    for corpus in (digram.files(tmp_path / "a.txt"), table):
        for separator in wrong:
            with pytest.raises(TypeError, match="separator is"):
                dataclasses.replace(corpus, separator=separator)
        with pytest.raises(digram.OptionError, match="separator is empty"):
            dataclasses.replace(corpus, separator=b"")
        with pytest.raises(digram.OptionError, match="on_error="):
            dataclasses.replace(corpus, on_error=unknown)
    with pytest.raises(digram.InvalidTextError, match="column has a lone surrogate"):
        dataclasses.replace(table, column=("\ud800",))
    with pytest.raises(digram.OptionError, match="lone surrogate"):
        dataclasses.replace(digram.files(tmp_path / "a.txt"), paths=(Path("a\ud800"),))


def test_surrogates_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A share of `tests/faults/hostile_calls.py --value surrogate`."""
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()):
        calls = surface()
    chosen = hostile_calls.cases(calls, 60, value="surrogate")
    faults = [
        f"--calls 60 --value surrogate --only {number}: {case}: {ended.said}"
        for number, case, ended in hostile_calls.campaign(chosen, lanes=2)
        if ended.is_fault
    ]
    assert not faults, "\n".join(faults)
