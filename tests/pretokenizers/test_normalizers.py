"""Normalizers as values, and where a pretokenizer with one is used."""

from __future__ import annotations

import pickle
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import digram
from digram import OptionError, Pretokenizer, Regex
from digram.pretokenizers import (
    BERT_WORDS,
    NFC,
    NFD,
    NFKC,
    NFKD,
    SPACED_WORDS,
    BertNormalizer,
    Lowercase,
    Nmt,
    Precompiled,
    Prepend,
    Replace,
    SentencePiece,
    Strip,
    StripAccents,
    Words,
    pretokenize,
)
from digram.pretokenizers.normalizers import described, from_described

STAGES: list[Any] = [
    *(NFC(), NFD(), NFKC(), NFKD(), Lowercase(), StripAccents(), Nmt()),
    *(Strip(), Strip(right=False), Prepend("▁"), Replace("a", ""), Replace(Regex("a+"), "b")),
    *(BertNormalizer(), BertNormalizer(lowercase=False, strip_accents=True)),
    *(BERT_WORDS, Words((Regex("a+"),), Regex("a"), "", "_", "▁"), Words(prefix=" ", first=True)),
]
CORPUS = [
    "Cafe\u0301 noir, CAFÉ E\u0301te\u0301 2024",
    "the Cafe\u0301s of Été",
    "한국어 \u1112\u1161\u11ab",
] * 4
CUT = Pretokenizer("gpt2", normalizer=[NFC(), Lowercase()])


BERT = Pretokenizer(None, normalizer=[BertNormalizer(), BERT_WORDS])


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def words(text: str) -> str:
    return "".join(pretokenize(text, BERT))


# A pretokenizer, the text that it makes, and what splits that text in the same way.
BOTH = pytest.mark.parametrize(
    ("cut", "made", "plain_cut"), [(CUT, normal, "gpt2"), (BERT, words, Regex(" [^ ]+"))]
)


def test_long_values_are_counted() -> None:
    symbols = tuple(f"<{number}>" for number in range(1200))
    assert repr(SentencePiece(bytes(1 << 18), symbols=symbols)) == (
        "SentencePiece(charsmap=<262,144 bytes>, add_space='before', remove_spaces=True, "
        "symbols=<1,200 symbols>)"
    )
    assert repr(Precompiled(bytes(17))) == "Precompiled(charsmap=<17 bytes>)"


def test_words_are_shown_by_what_is_set() -> None:
    assert repr(BERT_WORDS) == "BERT_WORDS"
    assert repr(Words(prefix=" ")) == "Words(prefix=' ')"
    assert repr(Words(then=SPACED_WORDS)) == "Words(then=SPACED_WORDS)"


def test_a_tokenizer_is_shown_in_few_words() -> None:
    """What it consists of, without the values of stages and long patterns."""

    def shown(cut: Pretokenizer) -> str:
        return repr(digram.train("", max_merges=0, pretokenizer=cut))

    head = "<digram.Tokenizer: 256 tokens, pretokenizer="
    assert shown(Pretokenizer("gpt2")) == f"{head}'gpt2'>"
    assert shown(Pretokenizer(None)) == f"{head}None>"
    assert shown(Pretokenizer("gpt2", normalizer=[NFC(), Lowercase()])) == (
        f"{head}'gpt2', normalizer=[NFC, Lowercase]>"
    )
    assert shown(Pretokenizer(Regex("a+"), digits="individual")) == (
        f"{head}Regex('a+'), digits='individual'>"
    )
    assert shown(Pretokenizer(Regex("a" * 41))) == f"{head}<1 pattern>>"
    bert = Pretokenizer(None, normalizer=[BertNormalizer(), BERT_WORDS])
    assert len(shown(bert)) < 120
    ruled = Pretokenizer("gpt2", rules=digram.Rules(["ab"]), byte_patterns=Regex("a"))
    assert shown(ruled).endswith("pretokenizer='gpt2', rules, 1 pattern of bytes>")


@pytest.mark.parametrize("stage", STAGES, ids=repr)
def test_a_stage_is_a_value(stage: Any) -> None:
    cut = Pretokenizer("gpt2", normalizer=stage)
    assert cut.normalizer == (stage,)
    assert eval(repr(stage), {**globals()}) == stage
    assert from_described([[*one] for one in described([stage])]) == (stage,)
    assert pickle.loads(pickle.dumps(cut)) == cut
    assert (cut == Pretokenizer("gpt2"), cut.is_plain) == (False, False)
    assert repr(cut) == f"Pretokenizer('gpt2', normalizer={stage!r})"
    assert cut.with_rules(digram.Rules(["a"])).normalizer == (stage,)


ANY: Any = digram.pretokenizers  # what types would refuse
ANY_TOP: Any = digram


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (lambda: ANY.Pretokenizer(None, normalizer="NFC"), TypeError, "a normalizer is a stage"),
        (lambda: ANY.Pretokenizer(None, normalizer=[NFC]), TypeError, "a normalizer is a stage"),
        (lambda: Replace("", "a"), OptionError, "the pattern of Replace is empty"),
        (lambda: ANY.Replace(b"a", "b"), TypeError, "the pattern of Replace is a str"),
        (lambda: Prepend("\ud800"), OptionError, "lone surrogate"),
        (lambda: ANY.Words(first=1), TypeError, "flags of Words are True or False"),
        (lambda: ANY.Strip(left="no"), TypeError, "left and right are True or False"),
        (lambda: ANY_TOP.Matching(lstrip=1), TypeError, "lstrip is True or False"),
        (lambda: ANY.Words("a"), TypeError, "the splits of Words are a tuple"),
        (lambda: ANY.Words((), removed="a"), TypeError, "removed is a digram.Regex"),
        (lambda: Words(space_symbol="ab"), OptionError, "space_symbol is one character"),
        (lambda: ANY.BertNormalizer(1), TypeError, "options of BertNormalizer are True or False"),
        (
            lambda: Pretokenizer(None, normalizer=[BERT_WORDS, NFC()]),
            OptionError,
            "Words is the last stage",
        ),
        (lambda: from_described([["nfq"]]), TypeError, "there is no stage"),
    ],
)
def test_wrong_values_are_named(wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        wrong()


def test_bytes_that_are_not_utf8_remain() -> None:
    assert pretokenize(b"E\xff\xcc\x81e\xcc\x81", CUT) == [b"e", b"\xff\xcc\x81", b"\xc3\xa9"]


@BOTH
@pytest.mark.parametrize("threads", [1, 3])
def test_training_sees_normalized_text(
    cut: Pretokenizer, made: Any, plain_cut: Any, threads: int, tmp_path: Path
) -> None:
    plain = [made(text) for text in CORPUS]
    expected = digram.train(plain, vocab_size=290, pretokenizer=plain_cut)
    trained = digram.train(CORPUS, vocab_size=290, pretokenizer=cut, threads=threads)
    assert trained.merges == expected.merges
    assert trained.training is not None
    assert trained.training.bytes == sum(len(text.encode()) for text in plain)
    for text, same in zip(CORPUS, plain, strict=True):
        assert trained.encode(text) == expected.encode(same)
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(CORPUS * 3000), encoding="utf-8")
    options: dict[str, Any] = {"vocab_size": 290, "threads": threads}
    long = digram.train(path, pretokenizer=cut, **options)
    bounded = digram.train(path, pretokenizer=cut, memory_limit="100MB", **options)
    path.write_text(made(path.read_text(encoding="utf-8")), encoding="utf-8")
    again = digram.train(path, pretokenizer=plain_cut, **options)
    assert long.merges == bounded.merges == again.merges


@BOTH
def test_a_checkpoint_is_resumed(
    cut: Pretokenizer, made: Any, plain_cut: Any, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"pretokenizer": cut, "checkpoint": tmp_path / "run"}
    first = digram.train(CORPUS, vocab_size=280, **options)
    assert digram.train(CORPUS, vocab_size=280, **options) == first
    with pytest.raises(digram.errors.CheckpointError, match="the corpus is not the one"):
        digram.train(["x", *CORPUS[1:]], vocab_size=280, **options)


def test_counts_keep_it(tmp_path: Path) -> None:
    counts = digram.count_pretokens(CORPUS, pretokenizer=CUT)
    assert (counts["café"], counts[" café"]) == (4, 4)
    path = tmp_path / "counts.arrow"
    counts.save(path)
    again = digram.Counts.load(path)
    assert (again.pretokenizer, again == counts) == (CUT, True)
    with pytest.raises(digram.errors.ConfigMismatchError, match=r"digram.pretokenizers.NFC\(\)"):
        counts + digram.count_pretokens(CORPUS, pretokenizer="gpt2")
    trained = digram.train(again, vocab_size=290)
    assert trained == digram.train(CORPUS, vocab_size=290, pretokenizer=CUT)


def test_superwords_refuse_it() -> None:
    with pytest.raises(OptionError, match="superwords do not support a normalizer"):
        digram.train(CORPUS, vocab_size=290, pretokenizer=CUT, superwords="two-stage")


@BOTH
def test_a_long_text_on_several_threads(
    cut: Pretokenizer, made: Any, plain_cut: Any, tmp_path: Path
) -> None:
    tok = digram.train(CORPUS, vocab_size=290, pretokenizer=cut)
    text = " ".join(CORPUS * 2000)
    plain = digram.Tokenizer(replace(tok.definition, pretokenizer=Pretokenizer(plain_cut)))
    ids = plain.encode(made(text))
    assert tok.encode(text) == ids
    assert tok.encode_batch([text], threads=3) == [ids]
    assert tok.count(text) == len(ids)
    path = tmp_path / "long.txt"
    path.write_text(text, encoding="utf-8")
    folder = tmp_path / "ids"
    digram.encode_files(tok, path, folder, format="npy", end_of_text=None)
    assert digram.read_tokens(folder).ids.tolist() == ids


def test_what_is_studied_is_the_normalized_text() -> None:
    tok = digram.train(CORPUS, vocab_size=290, pretokenizer=CUT)
    text = "Cafe\u0301 ÉTÉ"
    found = digram.explain(tok, text)
    assert [id for one in found.pretokens for id in one.ids] == tok.encode(text)
    assert b"".join(one.pretoken for one in found.pretokens) == "café été".encode()
    assert tok.decode(tok.encode(text)) == "café été"
    cut = tok.truncate(text, 1)
    assert tok.count(cut) <= 1
    extended, _ = digram.extend(tok, CORPUS, add=5)
    assert extended.pretokenizer == CUT


def test_words_are_studied() -> None:
    tok = digram.train(CORPUS, vocab_size=290, pretokenizer=BERT)
    text = "Cafe\u0301,  ÉTÉ"
    assert tok.pretokenize(text) == [" cafe", " ,", " ete"]
    found = digram.explain(tok, text)
    assert [id for one in found.pretokens for id in one.ids] == tok.encode(text)
    assert [one.pretoken for one in found.pretokens] == [b" cafe", b" ,", b" ete"]
    assert (tok(text).offsets[-1], tok(text).word_ids[-1]) == ((8, 11), 2)
    assert tok.count(tok.truncate(text, 1)) <= 1
    assert all(tok.count(chunk.text) <= 8 for chunk in tok.chunks(text * 20, 8))
    assert "[·cafe]  bytes 0 to 4, cut out by words" in str(found)
    assert digram.find_token(tok, tok.encode("été")[0], CORPUS).times == 8
