"""WordPiece as a model: what works with it, what refuses it, and which definitions are faulty."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import digram
from digram.formats._check import check
from digram.pretokenizers import BERT_WORDS, BertNormalizer, Pretokenizer
from digram.tokenizer.summary import facts

TEXT = "low low lower lowest, slow slower zoo! " * 9
TOK = digram.train(TEXT, model="wordpiece", vocab_size=44, special_tokens=["[PAD]"])
DEFINITION = TOK.definition


def test_it_is_a_tokenizer_like_any_other(tmp_path: Path) -> None:
    ids = TOK.encode(TEXT)
    assert TOK.definition == DEFINITION
    assert pickle.loads(pickle.dumps(TOK)) == TOK
    assert [*TOK.merges, *TOK.merge_log, *TOK.events, *TOK.unreachable()] == []
    assert repr(TOK).endswith("unit='char', wordpiece>")
    assert facts(TOK)["base"] + facts(TOK)["made"] + 2 == len(TOK)
    assert TOK.token_to_id(" low") == TOK.encode("low")[0]
    assert TOK.with_special_tokens(["<t>"]).encode("low<t>", special="parse")[-1] == len(TOK)
    assert [chunk.count for chunk in TOK.chunks(TEXT, 4)] == [*[4] * 20, 1]
    assert str(digram.evaluate(TOK, TEXT))
    assert digram.compare(TOK, TOK, TEXT)
    assert str(digram.audit(TOK, TEXT))
    assert digram.report(TOK, TEXT).html()
    assert "18 times" in repr(digram.find_token(TOK, " low", TEXT))
    files = digram.encode_files(TOK, [TEXT] * 3, tmp_path / "files", format="npy", end_of_text=None)
    assert files.tokens == 3 * len(ids)


@pytest.mark.parametrize(
    "call",
    [
        lambda: digram.extend(TOK, TEXT, add=1),
        lambda: digram.shrink(TOK, 40),
        lambda: digram.union(TOK, TOK),
        lambda: digram.replace_tokens(TOK, TEXT, 1),
        lambda: digram.replay(TOK, TEXT),
        lambda: digram.merge_tree(TOK, 20),
        lambda: digram.curve(TOK, TEXT),
        lambda: TOK.with_rules(digram.Rules(["low"])),
    ],
)
def test_what_rests_on_merges_refuses_it(call: Callable[[], object]) -> None:
    with pytest.raises(digram.OptionError, match="of the kind 'wordpiece'"):
        call()


def test_dropout_is_refused() -> None:
    with pytest.raises(digram.OptionError, match="dropout needs merges"):
        TOK.encode(TEXT, dropout=0.5, seed=1)


def test_an_unknown_word_is_one_id_whatever_its_length() -> None:
    long = "x" * 100_000
    low, unknown = TOK.encode("low"), TOK.special_tokens["[UNK]"]
    assert TOK.encode(f"low {long} low") == [*low, unknown, *low]
    assert TOK.fits(f"low {long}", 2)
    assert TOK(f"low {long}!").offsets == [(0, 3), (4, 100_004), (100_004, 100_005)]
    assert TOK.truncate(f"low {long} low", 2) == f"low {long}"
    assert TOK.encode("low" * 33) != TOK.encode("low" * 34) == [TOK.special_tokens["[UNK]"]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": "byte", "on_unknown": "error"}, "byte 0x00 has no token"),
        ({"on_unknown": "error"}, "a special token for unknown words"),
        ({"cleanup": True, "strip_first_space": False}, "leaves out the first space"),
        ({"cleanup": True, "model": digram.BpeModel([])}, "only WordPiece"),
        ({"model": digram.WordPieceModel(max_word_chars=0)}, "max_word_chars"),
        ({"model": digram.WordPieceModel(prefix="# ")}, "no space"),
    ],
)
def test_faulty_definitions_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises((digram.OptionError, digram.VocabError), match=message):
        digram.Tokenizer(replace(DEFINITION, **changes))


def test_files_refuse_what_they_could_not_tell_apart() -> None:
    tokens = [*DEFINITION.tokens]
    tokens[0] = b" ##x"
    with pytest.raises(digram.VocabError, match="begins a word with '##'"):
        check(replace(DEFINITION, tokens=tokens))
    tokens[0] = b""
    check(replace(DEFINITION, tokens=tokens))


def test_settings_are_part_of_the_digest() -> None:
    digests = {
        digram.Tokenizer(replace(DEFINITION, **changes)).digest
        for changes in (
            {},
            {"cleanup": True},
            {"model": digram.WordPieceModel(max_word_chars=99)},
            {"model": digram.WordPieceModel(prefix="@")},
            {"pretokenizer": Pretokenizer(None, normalizer=[BertNormalizer(), BERT_WORDS])},
        )
    }
    assert len(digests) == 5
