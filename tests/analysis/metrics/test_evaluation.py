"""What `digram.evaluate` finds, against measures worked out naively, by text and by word."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
import regex
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_bytes, cases, texts

import digram
from digram.analysis.metrics import Evaluation, Measures

TOKENIZERS = {
    name: digram.Tokenizer(vocabularies.SAMPLES[name])
    for name in (
        "gpt2",
        "cl100k",
        "whitespace",
        "no pretokenizer",
        "digits from the right",
        "banana",
        "holes",
        "whole pretokens",
        "characters or bytes",
        "characters or unknown",
    )
}
TEXTS = ["the cat\tsat", "", "naïve 中文字", "low lower lowest 12345", "\n  \n"]
TOK = TOKENIZERS["cl100k"]


def naive(tok: digram.Tokenizer, batch: Sequence[str | bytes]) -> dict[str, float]:
    """Each measure by its definition."""
    special = set(tok.special_tokens.values())
    each = [tok.encode(text) for text in batch]
    ids = [id for found in each for id in found]
    raw = [text.encode() if isinstance(text, str) else text for text in batch]
    decoded = [text.decode("utf-8", "replace") for text in raw]
    words = [word for text in raw for word in split(text)]
    spaces = [id for id in ids if id not in special and is_space(tok.id_to_token(id))]
    shares = [count / len(ids) for count in Counter(ids).values()]
    number, characters = len(ids) or 1, sum(map(len, decoded)) or 1
    unknown = isinstance(tok.on_unknown, digram.SpecialToken)
    size = len(tok) - len(special) + unknown
    renyi = abs(math.log2(sum(p**2.5 for p in shares)) / 1.5) if ids else 0.0
    return {
        "documents": len(batch),
        "bytes": sum(map(len, raw)),
        "characters": sum(map(len, decoded)),
        "words": len(words),
        "tokens": len(ids),
        "bytes_per_token": sum(map(len, raw)) / number,
        "characters_per_token": sum(map(len, decoded)) / number,
        "words_per_token": len(words) / number,
        "tokens_per_document": len(ids) / (len(batch) or 1),
        "fertility": (len(ids) - len(spaces)) / len(words) if words else 0.0,
        "whole_words": sum(is_token(tok, word) for word in words) / (len(words) or 1),
        "coverage": sum(map(whole_characters, [tok] * len(each), each)) / characters,
        "entropy": abs(sum(p * math.log2(p) for p in shares)),
        "renyi_entropy": renyi,
        "renyi_efficiency": renyi / math.log2(size),
        "tokens_used": len(set(ids)),
        "vocabulary_used": len(set(ids)) / size,
    }


def split(text: bytes) -> list[bytes]:
    """The words of a text, by another engine's white space; what is no UTF-8 is a part of them."""
    marked = text.decode("utf-8", "surrogateescape")
    return [
        word.encode("utf-8", "surrogateescape")
        for word in regex.split(r"\p{White_Space}+", marked)
        if word
    ]


def is_space(token: bytes) -> bool:
    return regex.fullmatch(r"\p{White_Space}+", token.decode("utf-8", "replace")) is not None


def is_token(tok: digram.Tokenizer, word: bytes) -> bool:
    """Whether a word alone, or after a space, is one token that stands for it."""
    if tok.unit == "char" and not regex.fullmatch(".+", word.decode(), regex.DOTALL):
        return False
    for form in (word, b" " + word):
        ids = tok.encode(form)
        if len(ids) == 1 and tok.id_to_token(ids[0]) == form and form in tok._model.tokens():
            return True
    return False


def whole_characters(tok: digram.Tokenizer, ids: Sequence[int]) -> int:
    """By the bytes of the text: a character is whole where no token ends within it."""
    special = set(tok.special_tokens.values())
    pieces = [b"" if id in special else tok.id_to_token(id) for id in ids]
    text, ends = b"".join(pieces), {0}
    for piece in pieces:
        ends.add(max(ends) + len(piece))
    number = start = 0
    while start < len(text):
        for length in (1, 2, 3, 4):
            try:
                text[start : start + length].decode()
            except UnicodeDecodeError:
                continue
            number += not ends & set(range(start + 1, start + length))
            start += length
            break
        else:
            start += 1
    return number


def check(tok: digram.Tokenizer, batch: Sequence[str | bytes]) -> None:
    found = digram.evaluate(tok, batch, threads=1).total
    assert found.to_dict() == pytest.approx(naive(tok, batch), rel=1e-9, abs=1e-9)
    assert found.lengths.tolist() == tok.count_batch(batch)
    assert found.times.sum() == found.tokens


@cases(200)
@given(st.lists(texts, max_size=4), st.sampled_from([*TOKENIZERS]))
def test_measures_are_their_definitions(batch: list[str], name: str) -> None:
    check(TOKENIZERS[name], batch)


@cases(50)
@given(st.lists(any_bytes, max_size=4))
def test_measures_of_bytes_that_are_no_text(batch: list[bytes]) -> None:
    check(TOKENIZERS["gpt2"], batch)


@pytest.mark.parametrize("name", [*TOKENIZERS])
def test_measures_of_many_texts(name: str) -> None:
    check(TOKENIZERS[name], [*vocabularies.texts(60), vocabularies.CORPUS])


def test_white_space_is_that_of_the_patterns() -> None:
    """Python's own has four controls more, which are characters of a word to a pattern."""
    found = digram.evaluate(TOK, "a\x1cb \x1f a\u3000b\x85c").total
    assert found.words == 5
    assert found.fertility == pytest.approx((found.tokens - 2) / 5, abs=0.5)


def test_nothing_is_zero() -> None:
    for source in ([], "", ["", ""]):
        found = digram.evaluate(TOK, source).total.to_dict()
        assert set(found.values()) <= {0, found["documents"]}
        assert "documents" in str(digram.evaluate(TOK, source)) or found["documents"] == 1


def test_sources_of_all_kinds(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number}.txt").write_text(text, encoding="utf-8", newline="")
    sources: dict[str, Any] = {
        "tuple": tuple(TEXTS),
        "bytes": [text.encode() for text in TEXTS],
        "generator": (text for text in TEXTS),
        "json lines": tmp_path / "a.jsonl",
        "packed": [tmp_path / "b.jsonl.gz"],
        "files": digram.files(tmp_path / "*.txt"),
        "table": digram.table(pyarrow.table({"text": TEXTS})),
    }
    expected = digram.evaluate(TOK, TEXTS)
    found = digram.evaluate(TOK, sources)
    assert [*found.by_name] == [*sources]
    for one in found.by_name.values():
        assert one.to_dict() == expected.total.to_dict()
        assert one.lengths.tolist() == expected.total.lengths.tolist()
    assert found.total.tokens == len(sources) * expected.total.tokens
    assert found.total.fertility == pytest.approx(expected.total.fertility)
    assert found.parallel is None


def test_the_whole_is_the_sum_of_its_parts() -> None:
    parts = {"a": TEXTS[:2], "b": TEXTS[2:4], "c": TEXTS[4:]}
    found = digram.evaluate(TOK, parts)
    assert found.total.to_dict() == digram.evaluate(TOK, TEXTS).total.to_dict()
    assert found.total.lengths.tolist() == TOK.count_batch(TEXTS)


def test_a_separator_cuts(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("low lower\nlowest\n", encoding="utf-8")
    expected = digram.evaluate(TOK, ["low lower", "lowest"]).total.to_dict()
    rows = pyarrow.table({"text": ["low lower\nlowest\n"]})
    for source in (digram.files(path, separator="\n"), digram.table(rows, separator="\n")):
        assert digram.evaluate(TOK, source).total.to_dict() == expected
    assert digram.evaluate(TOK, path).total.documents == 1


def test_threads_change_nothing() -> None:
    batch = [vocabularies.CORPUS * 400, *vocabularies.texts(50)]
    one, two = (digram.evaluate(TOK, batch, threads=threads).total for threads in (1, 2))
    assert one.to_dict() == two.to_dict()
    assert np.array_equal(one.times, two.times)


def test_skipped_records_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "low"}\n{"text": 1}\n{}\n', encoding="utf-8")
    source = digram.files(path, on_error="skip")
    with pytest.warns(UserWarning, match="2 records were skipped"):
        found = digram.evaluate(TOK, {"a": source, "b": "low"})
    assert (found.skipped, found.total.documents, found.to_dict()["skipped"]) == (2, 2, 2)
    with pytest.raises(digram.CorruptFileError, match=r"corpus\['a'\]: .*"):
        digram.evaluate(TOK, {"a": path})


def test_special_tokens_stay_text() -> None:
    text = "a<|end|>b"
    found = digram.evaluate(TOK, text).total
    assert found.times[TOK.special_tokens["<|end|>"]] == 0
    assert found.tokens == TOK.count(text)
    assert found.vocab_size == len(TOK) - len(TOK.special_tokens)


def test_unknown_characters_are_not_covered() -> None:
    tok = digram.train(
        "abc abc", unit="char", on_unknown=digram.SpecialToken("<unk>"), max_merges=3
    )
    found = digram.evaluate(tok, "abc xyc").total
    assert found.coverage == 5 / 7
    assert found.whole_words == 0.5
    assert found.vocab_size == len(tok)  # text can become the unknown token too


def test_bytes_in_place_of_a_character_do_not_cover_it() -> None:
    tok = digram.train("abc abc", unit="char", on_unknown="bytes", max_merges=3)
    assert digram.evaluate(tok, "abc 中c").total.coverage == 5 / 6


def test_an_error_says_which_source() -> None:
    tok = digram.Tokenizer(vocabularies.SAMPLES["characters or an error"])
    with pytest.raises(digram.InvalidTextError, match=r"corpus\['b'\]: texts\[1\]: 'ж'"):
        digram.evaluate(tok, {"a": ["low"], "b": ["low", "ж"]})
    with pytest.raises(TypeError, match=r"corpus\['a'\]: corpus\[0\] is of type int"):
        digram.evaluate(tok, {"a": [1]})


def test_files_are_looked_up_before_anything_is_read(tmp_path: Path) -> None:
    def never() -> Any:
        raise AssertionError
        yield ""

    with pytest.raises(FileNotFoundError, match=r"none\.txt"):
        digram.evaluate(TOK, {"a": never(), "b": tmp_path / "none.txt"})


# --- parallel text


def test_parallel_text() -> None:
    lines = {"en": ["low", "lower"], "xx": ["中文", "字 中"], "en again": ["low", "lower"]}
    found = digram.evaluate(TOK, lines, reference="en").parallel
    assert found is not None
    each = {name: sum(map(TOK.count, texts)) / 2 for name, texts in lines.items()}
    assert found.tokens_per_line == each
    assert found.premium == {name: cost / each["en"] for name, cost in each.items()}
    assert (found.reference, found.best, found.worst) == ("en", "en", "xx")
    pairs = sum(abs(one - other) for one in each.values() for other in each.values())
    assert found.gini == pytest.approx(pairs / (2 * 3 * sum(each.values())))


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (
            {"en": ["a"]},
            {"reference": "de"},
            "reference='de' is not the name of a corpus. Choose from",
        ),
        (["a"], {"reference": "en"}, "reference='en' must be the name of a corpus"),
        ({"en": ["a", "b"], "de": ["a"]}, {"reference": "en"}, "'de' has 1 text and 'en' 2, so"),
        ({}, {}, "names no corpus"),
        (["a"], {"alpha": -1}, "alpha=-1 is not an order"),
        (["a"], {"threads": 0}, "threads=0 is not at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(source: Any, options: Any, message: str) -> None:
    with pytest.raises(digram.OptionError, match=message.replace(".", r"\.")):
        digram.evaluate(TOK, source, **options)


def test_names_are_text() -> None:
    with pytest.raises(TypeError, match="the names of corpora must be str, not 1"):
        digram.evaluate(TOK, {1: "a"})  # type: ignore[arg-type]


# --- how it is shown


def shown(found: Evaluation | Measures) -> str:
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80, text
    return text


def test_a_table_fits_a_terminal() -> None:
    long = "a name that is so long that no table of 80 columns can hold it beside the numbers"
    sources = {"en": ["low " * 1000] * 9, long: ["中" * 4000] * 9, "中文": ["x"] * 9}
    for reference in (None, "en"):
        text = shown(digram.evaluate(TOK, sources, reference=reference))
        assert "…" in text
        assert "中文 " in text
    assert "Gini" in text
    assert text.index("\n中文") < text.index("\nen ")  # by cost, the least first


def test_as_plain_values() -> None:
    found = digram.evaluate(TOK, {"a": "low", "b": "lowest"}, reference="a").to_dict()
    assert json.loads(json.dumps(found)) == found
    assert [*found] == ["vocab_size", "alpha", "skipped", "total", "by_name", "parallel"]
    assert found["parallel"]["premium"]["a"] == 1
    assert digram.evaluate(TOK, "low").to_dict()["parallel"] is None


def test_repr() -> None:
    assert repr(digram.evaluate(TOK, "low")).startswith("<digram.Evaluation: 1 token, 3 bytes")
    many = digram.evaluate(TOK, {str(number): "a" for number in range(6)})
    assert "by_name=['0', '1', '2', '...']" in repr(many)
