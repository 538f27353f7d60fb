"""`tok([[part, ...], ...])`: ids of `encode`, and places in the parts end to end."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram import SpecialToken
from digram.errors import InvalidTextError, SpecialTokenError
from digram.pretokenizers import NFC, Lowercase, Pretokenizer
from digram.tokenizer.encoding.in_parts import joined

TOKENS = ["<s>", "</s>", "é</é>", "<pad>"]
TOKS = {
    name: digram.train(
        ["low lower é the"], max_merges=6, special_tokens=TOKENS, pretokenizer=pretokenizer
    )
    .with_template(digram.Template("<s> $A </s>", pair="<s> $A </s> $B </s>"))
    .with_pad_token("<pad>")
    for name, pretokenizer in {
        "gpt2": "gpt2",
        "none": None,
        "normalized": Pretokenizer("gpt2", normalizer=[NFC(), Lowercase()]),
    }.items()
}
pieces = st.sampled_from(
    ["low", " low", "lower ", "e\u0301", "é", "😀", "<s>", "", "A b", "\u0301"]
)
tokens = st.sampled_from(TOKENS).map(SpecialToken)


def with_token(parts: list[Any]) -> bool:
    return any(isinstance(part, SpecialToken) for part in parts)


strings = st.lists(pieces | tokens, min_size=1, max_size=6).filter(with_token)
mixed = st.lists(
    pieces | tokens | st.sampled_from([b"\xff", b"\xc3", b"\xa9x"]), min_size=1, max_size=6
).filter(with_token)
items: st.SearchStrategy[Any] = strings | mixed | strings.map(tuple) | pieces
batches = st.lists(items, min_size=1, max_size=4).filter(
    lambda batch: any(isinstance(one, list | tuple) for one in batch)
)
units: st.SearchStrategy[Any] = st.sampled_from([None, "characters", "bytes", "utf16"])


def runs(parts: Any) -> list[Any]:
    """The special tokens of a text, and the text between them."""
    if isinstance(parts, str | bytes):
        return [parts]
    found: list[Any] = []
    for part in parts:
        is_text = not isinstance(part, SpecialToken)
        if is_text and found and not isinstance(found[-1], SpecialToken):
            found[-1] = joined([found[-1], part])
        else:
            found.append(part)
    if any(isinstance(part, bytes) for part in parts):
        return [one.encode() if isinstance(one, str) else one for one in found]
    return found


def size(text: str | bytes, unit: str) -> int:
    data = text.encode() if isinstance(text, str) else text
    if unit == "bytes":
        return len(data)
    width = 1 if unit == "characters" else 2
    code = "utf-32-le" if unit == "characters" else "utf-16-le"
    return len(data.decode(errors="replace").encode(code)) // (4 if width == 1 else 2)


def expected(tok: digram.Tokenizer, parts: Any, unit: str) -> tuple[list[Any], list[int]]:
    """The offsets and the numbers of pretokens, of each run alone, moved behind those before it."""
    spans, words, at, word = list[Any](), list[int](), 0, 0
    for run in runs(parts):
        if isinstance(run, SpecialToken):
            spans.append((at, at + size(run.text, unit)))
            words.append(word)
            at, word = spans[-1][1], word + 1
            continue
        alone = tok(run, add_special_tokens=False, offsets=unit)  # type: ignore[call-overload]
        spans += [(at + start, at + end) for start, end in alone.offsets]
        words += [word + number for number in alone.word_ids]
        at, word = at + size(run, unit), words[-1] + 1 if words else 0
    return spans, words


@cases(700)
@given(st.sampled_from([*TOKS]), batches, units)
def test_parts_have_the_places_of_their_texts(name: str, batch: list[Any], unit: Any) -> None:
    tok = TOKS[name]
    found = tok(batch, add_special_tokens=False, offsets=unit)
    assert [one.ids for one in found.encodings] == tok.encode_batch(batch)
    for parts, one in zip(batch, found.encodings, strict=True):
        is_bytes = isinstance(joined(parts), bytes)
        own = unit or ("bytes" if is_bytes else "characters")
        spans, words = expected(tok, parts, own)
        assert (one.offsets, one.word_ids) == (spans, words)
        for word in {*words}:
            first, after = one.word_to_tokens(word) or (0, 0)
            assert [n for n, other in enumerate(words) if other == word] == [*range(first, after)]
        for position in range(size(joined(parts), own) + 1):
            covering = [n for n, (a, b) in enumerate(spans) if a <= position < b]
            assert one.char_to_token(position) == (covering[0] if covering else None)
    assert found == pickle.loads(pickle.dumps(found))


@cases(400)
@given(st.sampled_from(["gpt2", "none"]), strings, strings, st.integers(5, 12))
def test_parts_that_are_parsed_are_the_same(
    name: str, text: list[Any], pair: list[Any], limit: int
) -> None:
    """Where no text has that of a token, and each is on its own, parsing gives the same call."""
    tok = TOKS[name]
    plain = [
        [part for part in parts if isinstance(part, SpecialToken) or "<" not in part]
        for parts in (text, pair)
    ]
    options: dict[str, Any] = {"max_length": limit, "padding": "longest"}
    in_parts = tok([plain[0], "low"], [plain[1], "é"], **options)
    whole = [str(joined(parts)) for parts in plain]
    parsed = tok([whole[0], "low"], [whole[1], "é"], special="parse", **options)
    assert in_parts.encodings == parsed.encodings
    for key, array in in_parts.numpy().items():
        assert array.tolist() == parsed.numpy()[key].tolist()


def test_what_is_no_part_is_refused() -> None:
    tok = TOKS["gpt2"]
    with pytest.raises(TypeError, match=r"text\[1\]\[0\] is str, bytes or SpecialToken, not int"):
        tok(["low", [3, SpecialToken("<s>")]])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"pair\[0\]\[1\] is str, bytes"):
        tok(["low"], [["low", ["x"], SpecialToken("<s>")]])  # type: ignore[list-item]
    with pytest.raises(SpecialTokenError, match=r"text\[0\]: there is no special token"):
        tok([[SpecialToken("<none>")]])
    with pytest.raises(TypeError, match="not SpecialToken"):
        tok([SpecialToken("<s>"), "low"])  # type: ignore[list-item]
    end = SpecialToken("</s>")
    broken: list[Any] = [["a\ud800", end], ["a\ud800", b"x", end], [SpecialToken("<s>"), "\ud800"]]
    for parts in broken:
        with pytest.raises(InvalidTextError, match=r"text\[0\]"):
            tok([parts])
    for alone in ([], ["a", "b"]):
        with pytest.raises(TypeError, match=r"text\[0\] is a list without a SpecialToken"):
            tok([alone])
