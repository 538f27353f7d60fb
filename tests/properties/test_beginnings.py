"""Of a long text only a beginning is read, and the result is that of reading all of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties.test_counting import step_back
from strategies import cases

import digram
from digram.pretokenizers import BERT_WORDS, NFC, Lowercase, Normalizer, Prepend, Replace

CORPUS = [
    "It's a naive cafe, the low lower lowest words! ",
    "die Größe, ДОМ дом 中文字中文。ひらがな カタカナ \ufb01t e\u0301!  end",
]
PIECES = st.sampled_from(
    [
        *[
            "low",
            "er",
            " ",
            "  ",
            "\n",
            "the ",
            "中文",
            "。",
            "が",
            "か\u3099",
            "e\u0301",
            "\ufb01",
        ],
        *["Größe", "!", "🙂", "\u2581", "x", "\u3000", "\t", "<|end|>", "①", "ДОМ"],
    ]
)
texts = st.lists(PIECES, min_size=1, max_size=30).map("".join)


def of_sentencepiece(kind: str, **options: Any) -> digram.Tokenizer:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(CORPUS * 20),
        model_writer=model,
        model_type=kind,
        vocab_size=90 if "byte_fallback" not in options else 340,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    with NamedTemporaryFile(suffix=".model") as file:
        file.write(model.getvalue())
        file.flush()
        return digram.load(file.name)


def of_characters(stages: Sequence[Normalizer], words: Any = None) -> digram.Tokenizer:
    pretokenizer = digram.Pretokenizer(None, normalizer=[*stages, *([words] if words else [])])
    return digram.train(
        CORPUS,
        unit="char",
        on_unknown=digram.SpecialToken("<unk>"),
        pretokenizer=pretokenizer,
        max_merges=40,
    )


MAKE: dict[str, Any] = {
    "Unigram": lambda: of_sentencepiece("unigram"),
    "Unigram, bytes": lambda: of_sentencepiece("unigram", byte_fallback=True),
    "BPE": lambda: of_sentencepiece("bpe"),
    "BPE, bytes": lambda: of_sentencepiece("bpe", byte_fallback=True),
    "BPE, behind": lambda: of_sentencepiece("bpe", treat_whitespace_as_suffix=True),
    "identity": lambda: of_sentencepiece("unigram", normalization_rule_name="identity"),
    "a space before": lambda: of_characters([Prepend("▁"), Replace(" ", "▁")]),
    "NFC": lambda: of_characters([NFC(), Lowercase()]),
    "words": lambda: of_characters([NFC()], BERT_WORDS),
}
made: dict[str, digram.Tokenizer] = {}


def tokenizer(name: str) -> digram.Tokenizer:
    if name not in made:
        made[name] = MAKE[name]().with_special_tokens(["<|end|>"])
    return made[name]


def truncated(tok: digram.Tokenizer, text: str, n: int, how: Any) -> str:
    """By the places of all tokens of the whole text."""
    if tok.count(text, special=how) <= n:
        return text
    offsets = tok(text, special=how).offsets
    ends = [(0, 0)]
    for number, ((_, end), (start, _)) in enumerate(pairwise(offsets), 1):
        if ends[-1][0] < end <= start:  # no character belongs to both tokens
            ends.append((end, number))
    pieces = [text[:end] for end, ids in reversed(ends) if ids <= n]
    found: str = step_back(pieces, lambda piece: tok.count(piece, special=how) <= n)
    return found


@pytest.mark.parametrize("name", MAKE)
@cases(40)
@given(text=texts, n=st.integers(0, 120), how=st.sampled_from(["text", "parse"]))
def test_a_beginning_is_enough(name: str, text: str, n: int, how: Any) -> None:
    tok = tokenizer(name)
    text *= 1 + 6_000 // len(text)
    count = tok.count(text, special=how)
    for limit in (n, count // 4):
        assert tok.fits(text, limit, special=how) is (count <= limit)
        assert tok.truncate(text, limit, special=how) == truncated(tok, text, limit, how)
