"""`digram.find_token`: the words and places of a token, against a search of all tokens."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import pyarrow
import pytest
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from strategies import any_corpora, any_tokenizers, cases

import digram
from digram import OptionError, TokenIdError, Tokenizer, VocabError
from digram.analysis.explain import looking

TEXTS = ["low low lower lowest", "the lowlands are low", "", "naïve 中文 low", "slow\nlow 123"]
TOK = digram.train(TEXTS, max_merges=6, pretokenizer="gpt2")


def naive(tok: Tokenizer, id: int, texts: Sequence[str]) -> tuple[dict[bytes, int], int]:
    """The words that hold a token with their counts, and how often the token stands in all."""
    words: Counter[bytes] = Counter()
    times = 0
    for text in texts:
        found = tok(text, offsets="bytes")
        spans = zip(found.ids, found.offsets, found.word_ids, strict=True)
        for _, together in groupby(spans, key=lambda one: one[2]):
            group = list(together)
            word = text.encode()[group[0][1][0] : group[-1][1][1]]
            number = [one[0] for one in group].count(id)
            times += number
            words[word] += number > 0
    return {word: count for word, count in words.items() if count}, times


@cases(250)
@given(any_tokenizers, any_corpora, st.integers(0, 20), st.integers(0, 4))
def test_all_tokens_gone_through(
    tok: Tokenizer, texts: list[str], number: int, samples: int
) -> None:
    made = [merge.id for merge in tok.merge_log] or [97]
    id = made[number % len(made)]
    found = digram.find_token(tok, id, texts, samples=samples)
    words, times = naive(tok, id, texts)
    assert ({one.word: one.count for one in found.words}, found.times) == (words, times)
    assert [one.count for one in found.words] == sorted(words.values(), reverse=True)
    assert (found.documents, found.bytes) == (len(texts), sum(len(t.encode()) for t in texts))
    assert found.pretokens == sum(len(tok.pretokenize(text)) for text in texts)
    assert sum(one.count * one.times for one in found.words) == times
    assert len(found.samples) == min(samples, times)
    assert len({sample.word for sample in found.samples}) == min(samples, len(words))
    places = [(sample.document, sample.offset) for sample in found.samples]
    assert places == sorted(set(places))
    for sample in found.samples:
        data = texts[sample.document].encode()
        end = sample.offset + len(sample.token)
        assert data[sample.offset : end] == sample.token == tok.id_to_token(id)
        assert data[: sample.offset].endswith(sample.before)
        assert data[end:].startswith(sample.after)
        assert sample.word in words
        assert (sample.path, sample.record) == (None, None)


@pytest.mark.parametrize("batch", [1, 100, 1 << 20])
def test_batches_of_any_size(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = digram.find_token(TOK, "low", TEXTS * 20).to_dict()
    monkeypatch.setattr(looking, "_BATCH", batch)
    again = digram.find_token(TOK, "low", TEXTS * 20).to_dict()
    assert {**again, "samples": 0} == {**whole, "samples": 0}
    assert {one["word"]["text"] for one in again["samples"]} == {
        one["word"]["text"] for one in whole["samples"]
    }


def test_rare_words_are_left_out_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "_BATCH", 64)
    monkeypatch.setattr(looking, "_MAX_WORDS", 16)
    tok = digram.train("low", max_merges=2, pretokenizer="whitespace")
    texts = [f"low low{number % 97} low{number}\n" for number in range(300)]
    found = digram.find_token(tok, "low", texts)
    words, times = naive(tok, found.id, texts)
    assert found.times == times == 900
    assert len(found.words) <= 16
    assert found.words[0].word == b"low"
    assert 0 < found.missed < 300
    for one in found.words:
        assert one.count <= words[one.word] <= one.count + found.missed
    assert "rare words are omitted" in str(found)
    assert "rare words are omitted" in found._repr_html_()


def test_files_of_all_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a low wall", encoding="utf-8")
    lines = [json.dumps({"text": text}) for text in TEXTS]
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    parquet.write_table(pyarrow.table({"text": ["x", " low"]}), tmp_path / "c.parquet")
    found = digram.find_token(TOK, " low", digram.files(tmp_path))
    words, times = naive(TOK, found.id, ["a low wall", *TEXTS, "x", " low"])
    assert ({one.word: one.count for one in found.words}, found.times) == (words, times)
    assert found.documents == 8
    for sample in found.samples:
        assert sample.path is not None
        texts = {"a.txt": ["a low wall"], "b.jsonl.gz": TEXTS, "c.parquet": ["x", " low"]}
        text = texts[Path(sample.path).name][(sample.record or 1) - 1]
        assert text.encode()[sample.offset :].startswith(b" low")
    places = {(Path(s.path or "").name, s.record, s.offset) for s in found.samples}
    assert ("a.txt", None, 1) in places


def test_records_and_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\ntwo low\nlow", encoding="utf-8")
    found = digram.find_token(TOK, "low", digram.files(path, separator="\n"))
    assert (found.documents, found.times) == (3, 1)
    bad = tmp_path / "b.jsonl"
    bad.write_text('{"text": "low"}\n{"text": 7}\n', encoding="utf-8")
    with pytest.warns(UserWarning, match="1 record was skipped"):
        found = digram.find_token(TOK, "low", digram.files(bad, on_error="skip"))
    assert (found.skipped, found.times) == (1, 1)


def test_an_iterator_and_one_text() -> None:
    assert (
        digram.find_token(TOK, "low", iter(TEXTS)).to_dict()
        == digram.find_token(TOK, "low", TEXTS).to_dict()
    )
    assert digram.find_token(TOK, "low", "low").times == 1


def test_a_long_text_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.txt"
    path.write_text("a low wall\n" * 2_000_000, encoding="utf-8")
    found = digram.find_token(TOK, " low", path, samples=1)
    assert (found.documents, found.times, found.bytes) == (1, 2_000_000, 22_000_000)
    assert found.samples[0].offset == 1


def test_the_unknown_token() -> None:
    tok = Tokenizer(vocabularies.SAMPLES["characters or unknown"])
    found = digram.find_token(tok, "<unk>", ["low ☃ low ☃☃"])
    assert found.times == tok.encode("low ☃ low ☃☃").count(found.id)
    assert found.times > 0


def test_context_ends_at_characters() -> None:
    text = "é" * 200 + " low " + "中" * 200
    (sample,) = digram.find_token(TOK, " low", [text]).samples
    assert set(sample.before.decode()) == {"é"}
    assert set(sample.after.decode()) == {" ", "中"}
    assert len(sample.before) >= 90


def test_what_cannot_be_looked_for() -> None:
    with pytest.raises(VocabError, match="is not a token"):
        digram.find_token(TOK, "nowhere", TEXTS)
    with pytest.raises(TokenIdError):
        digram.find_token(TOK, 9999, TEXTS)
    with pytest.raises(OptionError, match="samples=-1 is not at least 0"):
        digram.find_token(TOK, "low", TEXTS, samples=-1)
    special = TOK.with_special_tokens(["<|end|>"])
    with pytest.raises(OptionError, match="is a special token, which ordinary text never becomes"):
        digram.find_token(special, "<|end|>", TEXTS)
    with pytest.raises(FileNotFoundError):
        digram.find_token(TOK, "low", Path("not there"))


def test_nothing_found() -> None:
    found = digram.find_token(TOK, "low", ["high"])
    assert (found.times, found.words, found.samples) == (0, [], [])
    assert str(found).splitlines()[0] == f"[low]  id {found.id}, occurs 0 times"
    assert repr(found) == f"<digram.Places: b'low', id={found.id}, 0 times in 0 words>"
