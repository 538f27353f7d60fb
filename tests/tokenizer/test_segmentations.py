"""The best segmentations and samples of Unigram models, against all segmentations."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

import digram
from digram.errors import InvalidTextError, OptionError

TABLE = {
    "a": -1.0,
    "b": -1.5,
    "ab": -2.25,
    "aa": -1.75,
    "é": -3.0,
    "ba": -2.0,
    " ": -2.5,
    " a": -3.25,
}


def tokenizer(on_unknown: str = "token", pattern: str | None = None) -> digram.Tokenizer:
    fallback = on_unknown == "bytes"
    tokens: list[bytes | None] = [*(text.encode() for text in TABLE), None]
    tokens += [bytes([byte]) for byte in range(256)] if fallback else []
    error = on_unknown == "error"
    return digram.Tokenizer(
        digram.Definition(
            tokens=tokens,
            model=digram.UnigramModel([*TABLE.values(), None], unknown=-12.0),
            unit="char",
            pretokenizer=digram.Pretokenizer(None if pattern is None else digram.Regex(pattern)),
            special_tokens={"<unk>": len(TABLE)},
            on_unknown="bytes" if fallback else "error" if error else digram.SpecialToken("<unk>"),
            byte_ids=[*range(len(TABLE) + 1, len(TABLE) + 257)] if fallback else None,
        )
    )


def all_of(text: str) -> list[tuple[list[str], float]]:
    """All segmentations, by recursion."""
    if not text:
        return [([], 0.0)]
    found = []
    for length in range(1, len(text) + 1):
        piece = text[:length]
        if piece in TABLE or length == 1:
            score = TABLE.get(piece, -12.0)
            found += [([piece, *rest], score + total) for rest, total in all_of(text[length:])]
    return found


@pytest.mark.parametrize("text", ["", "a", "aab", "abaab", "aé xyb", "xx ab", "  aa"])
def test_the_best_are_the_best_of_all(text: str) -> None:
    tok = tokenizer("bytes")
    expected = sorted((total for _, total in all_of(text)), reverse=True)
    found = tok.encode_best(text, 10_000)
    assert [total for _, total in found] == pytest.approx(expected)
    assert len({tuple(ids) for ids, _ in found}) == len(found)
    assert all(tok.decode(ids) == text for ids, _ in found)
    assert tok.encode_best(text, 2) == found[:2]
    assert found[0][1] == pytest.approx(max(total for _, total in all_of(text)))


def test_unknown_runs_end_with_pretokens() -> None:
    text = "xy xya"
    assert tokenizer().encode_best(text, 1)[0][0] == tokenizer().encode(text)
    words = tokenizer(pattern=" |[^ ]+")
    assert words.encode_best("xy" + " " + "x", 1)[0][0] == words.encode("xy x")
    letters = tokenizer(pattern=".")
    assert letters.encode_best("xyab", 1)[0][0] == letters.encode("xyab") == [8, 8, 0, 1]
    with pytest.raises(InvalidTextError, match="'x'"):
        tokenizer("error").encode_best("ax", 1)


def test_samples_have_their_probabilities() -> None:
    tok, text, alpha, number = tokenizer("bytes"), "abaab", 0.7, 4000
    weights = {tuple(ids): math.exp(alpha * s) for ids, s in tok.encode_best(text, 99)}
    total = sum(weights.values())
    drawn = Counter(tuple(tok.encode_sample(text, alpha=alpha, seed=n)) for n in range(number))
    assert drawn.keys() <= weights.keys()
    for ids, weight in weights.items():
        expected = number * weight / total
        assert abs(drawn[ids] - expected) < 5 * math.sqrt(expected) + 1, ids
    few = Counter(tuple(tok.encode_sample(text, alpha=0, seed=n, count=2)) for n in range(400))
    assert few.keys() == {tuple(ids) for ids, _ in tok.encode_best(text, 2)}
    assert tok.encode_sample(text, alpha=1e9, seed=1) == tok.encode_best(text, 1)[0][0]
    assert tok.encode_sample(text, alpha=1, seed=7) == tok.encode_sample(text, alpha=1, seed=7)


def test_what_is_refused() -> None:
    tok = tokenizer()
    for count in (0, -1, 10_001, 1 << 70):
        with pytest.raises(OptionError):
            tok.encode_best("a", count)
    for alpha in (-1.0, math.nan, math.inf, 10**400):
        with pytest.raises(OptionError):
            tok.encode_sample("a", alpha=alpha, seed=0)
    for seed in (-1, 1 << 64):
        with pytest.raises(OptionError):
            tok.encode_sample("a", alpha=1, seed=seed)
    with pytest.raises(OptionError, match="only in Unigram"):
        digram.train("a", max_merges=0).encode_best("a", 1)
    with pytest.raises(TypeError):
        tok.encode_best("a", "b")  # type: ignore[arg-type]


def test_a_long_text_takes_linear_time() -> None:
    rng = random.Random(0)
    text = "".join(rng.choices("ab é", k=30_000))
    tok = tokenizer("bytes")
    assert tok.decode(tok.encode_best(text, 3)[2][0]) == text
    assert tok.decode(tok.encode_sample(text, alpha=0.1, seed=0)) == text
