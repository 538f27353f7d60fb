"""`tok(text)` against a naive account of it: every list, every unit, every option."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import any_bytes, any_corpora, cases, special_soups, texts

import digram
from digram import SpecialToken, Template
from digram.tokenizer.encoding.encodings import COLUMNS

SPECIAL = ["<a>", "<a>b", "é>", "<|end|>", "<unk>", "<pad>"]
Pieces = Sequence[tuple[str, int]]


# --- the naive account


class Token(NamedTuple):
    """What is known of a token. `span` is in bytes."""

    id: int
    span: tuple[int, int]
    word: int | None
    type_id: int = 0
    sequence: int | None = None
    added: int = 0
    attended: int = 1


def cut(text: bytes, special: Sequence[str]) -> list[tuple[int, int, str | None]]:
    """Start, end, and which special token it is, if it is one: the longest from the left."""
    found: list[tuple[int, int, str | None]] = []
    at = start = 0
    while at < len(text):
        here = [s for s in special if text.startswith(s.encode(), at)]
        if not here:
            at += 1
            continue
        longest = max(here, key=len)
        found += [(start, at, None), (at, at + len(longest.encode()), longest)]
        start = at = at + len(longest.encode())
    return [*found, (start, at, None)]


def tokens(tok: digram.Tokenizer, text: bytes, special: Sequence[str]) -> list[Token]:
    """The tokens of a text, one pretoken after the other."""
    whole = digram.Tokenizer(replace(tok.definition, pretokenizer=digram.Pretokenizer(None)))
    unknown = tok.on_unknown.text if isinstance(tok.on_unknown, SpecialToken) else None
    found: list[Token] = []
    word = -1
    for start, end, name in cut(text, special):
        if name is not None:
            word += 1
            found.append(Token(tok.special_tokens[name], (start, end), word))
            continue
        at = start
        for pretoken in tok.pretokenize(text[start:end]):
            word += 1
            for i in whole.encode(pretoken):
                size = len(tok.id_to_token(i))
                if tok.special_tokens.get(str(unknown)) == i:
                    size = len(text[at:].decode()[0].encode())
                found.append(Token(i, (at, at + size), word))
                at += size
        assert at == end
    return found


def characters(text: bytes) -> list[bytes]:
    """The characters; where it is not UTF-8, what one U+FFFD stands for."""
    found: list[bytes] = []
    while text:
        try:
            return found + [c.encode() for c in text.decode()]
        except UnicodeDecodeError as error:
            found += [c.encode() for c in text[: error.start].decode()]
            found.append(text[error.start : error.end])
            text = text[error.end :]
    return found


def in_unit(span: tuple[int, int], text: bytes, unit: str) -> tuple[int, int]:
    """The span of all characters of which it holds a byte."""
    if unit == "bytes":
        return span
    at = units = 0
    covered = []
    for character in characters(text):
        size = len(character.decode(errors="replace").encode("utf-16-le")) // 2
        size = size if unit == "utf16" else 1
        if at < span[1] and at + len(character) > span[0]:
            covered += [units, units + size]
        at, units = at + len(character), units + size
    return covered[0], covered[-1]


class Refused(Exception):  # noqa: N818
    """The options make no sense together."""


def stay(lengths: list[int], room: int, strategy: str) -> list[int]:
    """How many tokens stay of each text: one after the other is taken away."""
    before = list(lengths)
    while sum(lengths) > room:
        if strategy == "raise":
            raise Refused
        if strategy == "longest_first" and len(lengths) == 2:
            # Of two of one length, the one that was the shorter gives way.
            first = lengths[0] > lengths[1] or (lengths[0] == lengths[1] and before[0] <= before[1])
            which = 0 if first else 1
        else:
            which = int(strategy == "only_second")
        lengths[which] -= 1
        if lengths[which] < 1:
            raise Refused
    return lengths


def windows(tokens: list[Token], size: int, overlap: int, side: str) -> list[list[Token]]:
    """Windows over tokens, the one that stays first."""
    if side == "left":
        return [cut[::-1] for cut in windows(tokens[::-1], size, overlap, "right")]
    if len(tokens) <= size:
        return [tokens]
    if overlap >= size:
        raise Refused
    found = [tokens[:size]]
    at = 0
    while at + size < len(tokens):
        at += size - overlap
        found.append(tokens[at : at + size])
    return found


def framed(
    tok: digram.Tokenizer, sequences: list[list[Token]], template: Pieces, added: bool
) -> list[Token]:
    row: list[Token] = []
    for name, type_id in template:
        if name in ("$A", "$B"):
            number = ["$A", "$B"].index(name)
            row += [t._replace(type_id=type_id, sequence=number) for t in sequences[number]]
        elif added:
            row.append(Token(tok.special_tokens[name], (0, 0), None, type_id, None, 1))
    return row


def rows(
    tok: digram.Tokenizer, sequences: list[list[Token]], template: Pieces, o: dict[str, Any]
) -> list[list[Token]]:
    """The encoding and its overflow."""
    added = o.get("add_special_tokens", True)
    extra = (len(template) - len(sequences)) * added
    if o.get("max_length") is None:
        cuts = [[tokens] for tokens in sequences]
    else:
        room = o["max_length"] - extra
        overlap, side = o.get("overlap", 0), o.get("truncation_side", "right")
        if room < 1 or overlap >= room:
            raise Refused
        strategy = o.get("truncation", "longest_first")
        sizes = stay([len(tokens) for tokens in sequences], room, strategy)
        cuts = [windows(t, n, overlap, side) for t, n in zip(sequences, sizes, strict=True)]
    first = [cut[0] for cut in cuts]
    others = [[window] for window in cuts[0]]
    if len(cuts) == 2:
        others = [[a, b] for a in cuts[0] for b in cuts[1]]
        others = [p for p in others if p[0] is not cuts[0][0]] + [
            p for p in others if p[0] is cuts[0][0]
        ]
    others = [p for p in others if any(a is not b for a, b in zip(p, first, strict=True))]
    return [framed(tok, pair, template, added) for pair in (first, *others)]


def padded(row: list[Token], width: int, pad: int, side: str) -> list[Token]:
    more = [Token(pad, (0, 0), None, 0, None, 1, 0)] * (width - len(row))
    return more + row if side == "left" else row + more


# --- what it is held against


@st.composite
def tokenizers(draw: st.DrawFn) -> digram.Tokenizer:
    unit = draw(st.sampled_from(["byte", "byte", "char"]))
    unknown: list[Any] = ["bytes", SpecialToken("<unk>")] if unit == "char" else ["error"]
    tok = digram.train(
        draw(any_corpora),
        unit=unit,  # type: ignore[arg-type]
        on_unknown=draw(st.sampled_from(unknown)),
        pretokenizer=draw(st.sampled_from([None, "gpt2", "o200k", "whitespace"])),
        max_merges=draw(st.integers(0, 16)),
        special_tokens=SPECIAL,
    )
    single = draw(st.sampled_from([None, "$A", "<a> $A:1", "<a> $A <|end|>:2"]))
    pair = draw(st.sampled_from(["$A $B", "<a> $A <a> <a> $B:1 <|end|>:1", "$B:3 <a> $A"]))
    template = None if single is None else Template(single, pair=pair)
    return tok.with_template(template).with_pad_token("<pad>")


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    chosen: dict[str, Any] = {"add_special_tokens": draw(st.booleans())}
    if draw(st.booleans()):
        chosen["max_length"] = draw(st.integers(1, 14))
        chosen["truncation"] = draw(
            st.sampled_from(["longest_first"] * 4 + ["only_first", "only_second", "raise"])
        )
        if chosen["truncation"] != "raise":
            chosen["overlap"] = draw(st.integers(0, 3))
            chosen["truncation_side"] = draw(st.sampled_from(["left", "right"]))
    if draw(st.booleans()):
        known = ["longest", "max_length"] if "max_length" in chosen else ["longest"]
        chosen["padding"] = draw(st.sampled_from(known))
        chosen["padding_side"] = draw(st.sampled_from(["left", "right"]))
        chosen["pad_to_multiple_of"] = draw(st.sampled_from([None, 1, 4]))
    return chosen


units = st.sampled_from([None, "characters", "bytes", "utf16"])
any_text: st.SearchStrategy[str | bytes] = special_soups | texts | texts.map(str.encode)


def columns(encoding: digram.Encoding) -> list[list[Any]]:
    found: list[list[Any]] = [
        *(encoding.ids, encoding.offsets, encoding.word_ids, encoding.type_ids),
        *(encoding.sequence_ids, encoding.special_tokens_mask, encoding.attention_mask),
    ]
    assert {len(column) for column in found} == {len(encoding)}
    return found


def expected(row: list[Token], sources: list[bytes], units: list[str]) -> list[list[Any]]:
    spans: list[Any] = [
        (0, 0) if t.sequence is None else in_unit(t.span, sources[t.sequence], units[t.sequence])
        for t in row
    ]
    return [
        *([t.id for t in row], spans, [t.word for t in row], [t.type_id for t in row]),
        *([t.sequence for t in row], [t.added for t in row], [t.attended for t in row]),
    ]


def unit_of(text: str | bytes, unit: str | None) -> str:
    return unit or ("characters" if isinstance(text, str) else "bytes")


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


def template_of(tok: digram.Tokenizer, pair: bool) -> Pieces:
    if tok.template is None:
        return [("$A", 0), ("$B", 1)] if pair else [("$A", 0)]
    return (tok.template.pair or ()) if pair else tok.template.single


def check_arrays(
    batch: digram.Encodings, every: list[list[list[Any]]], origin: list[int], width: int
) -> None:
    """The arrays hold the lists of each row."""
    for overflowing in (False, True):
        kept = [
            row
            for at, row in enumerate(every)
            if overflowing or at == 0 or origin[at] != origin[at - 1]
        ]
        if len({len(row[0]) for row in kept}) > 1:
            with pytest.raises(digram.OptionError, match="the same length"):
                batch.numpy(overflowing=overflowing)
            continue
        arrays = batch.numpy(*COLUMNS, overflowing=overflowing)
        assert {array.dtype.name for array in arrays.values()} == {"int64"}
        ids, spans, _, types, _, masks, attention = zip(*kept, strict=True) if kept else [()] * 7
        assert arrays["input_ids"].tolist() == list(ids)
        assert arrays["offset_mapping"].tolist() == [[list(s) for s in row] for row in spans]
        assert arrays["token_type_ids"].tolist() == list(types)
        assert arrays["special_tokens_mask"].tolist() == list(masks)
        assert arrays["attention_mask"].tolist() == list(attention)
        mapping = arrays["overflow_to_sample_mapping"].tolist()
        assert mapping == (origin if overflowing else sorted(set(origin)))
        assert arrays["input_ids"].shape == (len(kept), max(width, len(kept[0][0]) if kept else 0))


@cases(400)
@given(
    tokenizers(),
    st.lists(st.tuples(any_text, any_text), max_size=3),
    st.booleans(),
    options(),
    units,
    st.sampled_from(["text", "parse", ("<a>", "<|end|>", "<unk>")]),
)
def test_a_call_is_what_the_naive_account_says(
    tok: digram.Tokenizer,
    drawn: list[tuple[str | bytes, str | bytes]],
    with_pair: bool,
    o: dict[str, Any],
    unit: Any,
    special: Any,
) -> None:
    """Ids, spans, words, types, masks, overflow and padding, of batches and of single texts."""
    assume(with_pair or o.get("truncation") != "only_second")
    parsed = {"text": [], "parse": SPECIAL}.get(special, special)
    samples = [sample if with_pair else sample[:1] for sample in drawn]
    template = template_of(tok, with_pair)

    def call(*number: int) -> Any:
        """The call for all samples, or for one of them."""
        both: Sequence[Any] = [[a for a, _ in drawn], [b for _, b in drawn]]
        for one in number:
            both = drawn[one]
        return tok(*both[: 1 + with_pair], **o, offsets=unit, special=special)

    try:
        made = [
            rows(tok, [tokens(tok, as_bytes(text), parsed) for text in sample], template, o)
            for sample in samples
        ]
        if o.get("max_length") is not None and not samples:
            extra = (len(template) - 1 - with_pair) * o["add_special_tokens"]
            if o["max_length"] - extra < 1 or o.get("overlap", 0) >= o["max_length"] - extra:
                raise Refused
    except Refused:
        with pytest.raises((digram.OptionError, digram.LimitExceededError)):
            call()
        return
    width = 0
    if o.get("padding"):
        longest = max((len(row[0]) for row in made), default=0)
        if not samples and o["padding"] == "longest":
            longest = (len(template) - 1 - with_pair) * o["add_special_tokens"]
        width = o["max_length"] if o["padding"] == "max_length" else longest
        multiple = o["pad_to_multiple_of"] or 1
        width = -(-width // multiple) * multiple
    pad, side = tok.special_tokens["<pad>"], o.get("padding_side", "right")
    batch = call()
    assert len(batch.encodings) == len(made)
    every: list[list[list[Any]]] = []
    origin = []
    for number, (encoding, account) in enumerate(zip(batch.encodings, made, strict=True)):
        sources = [as_bytes(text) for text in samples[number]]
        named = [unit_of(text, unit) for text in samples[number]]
        wanted = [expected(padded(row, width, pad, side), sources, named) for row in account]
        assert columns(encoding) == wanted[0]
        assert [columns(other) for other in encoding.overflowing] == wanted[1:]
        assert all(other.overflowing == [] for other in encoding.overflowing)
        assert encoding.tokens == tok.tokens(encoding.ids)
        assert pickle.loads(pickle.dumps(encoding)) == encoding
        assert hash(pickle.loads(pickle.dumps(encoding))) == hash(encoding)
        if not o.get("padding"):
            assert call(number) == encoding
        every += wanted
        origin += [number] * len(wanted)
    assert batch.ids == [encoding.ids for encoding in batch.encodings]
    check_arrays(batch, every, origin, width)


@cases(300)
@given(tokenizers(), st.tuples(any_text, any_text), options(), units)
def test_lookups(
    tok: digram.Tokenizer, pair: tuple[str | bytes, str | bytes], o: dict[str, Any], unit: Any
) -> None:
    """They find what a search through the lists finds."""
    try:
        kept = tok(*pair, **o, offsets=unit, special="parse")
    except (digram.OptionError, digram.LimitExceededError):
        return
    for encoding in (kept, *kept.overflowing[:2]):
        which = list(zip(encoding.sequence_ids, encoding.offsets, encoding.word_ids, strict=True))
        for sequence in (0, 1):
            for place in range(-1, 12):
                covering = [
                    at
                    for at, (s, (a, b), _) in enumerate(which)
                    if s == sequence and a <= place < b
                ]
                assert encoding.char_to_token(place, sequence) == min(covering, default=None)
                of_word = [at for at, (s, _, w) in enumerate(which) if (s, w) == (sequence, place)]
                span = (of_word[0], of_word[-1] + 1) if of_word else None
                assert encoding.word_to_tokens(place, sequence) == span
        for at, (sequence_id, span, _) in enumerate(which):
            known = None if sequence_id is None else span
            assert encoding.token_to_chars(at) == known
            assert encoding.token_to_chars(at - len(encoding)) == known
        for at in (len(encoding), -len(encoding) - 1):
            with pytest.raises(digram.OptionError):
                encoding.token_to_chars(at)


@cases(200)
@given(tokenizers().filter(lambda tok: tok.unit == "byte"), any_bytes, units)
def test_any_bytes_have_places(tok: digram.Tokenizer, text: bytes, unit: Any) -> None:
    """Also where they are no UTF-8."""
    encoding = tok(text, offsets=unit, add_special_tokens=False)
    wanted = [token.span for token in tokens(tok, text, [])]
    assert tok(text, add_special_tokens=False).offsets == wanted
    assert encoding.offsets == [in_unit(span, text, unit or "bytes") for span in wanted]


@cases(300)
@given(tokenizers(), st.lists(st.lists(any_text, max_size=4), max_size=3), options(), units)
def test_split_texts(
    tok: digram.Tokenizer,
    drawn: list[list[str | bytes]],
    o: dict[str, Any],
    unit: Any,
) -> None:
    """Each word is encoded alone: its index is the word of its tokens, and places are in it."""
    o |= {} if o.get("truncation") != "only_second" else {"truncation": "longest_first"}
    assume(drawn)
    try:
        batch = tok(drawn, is_split_into_words=True, offsets=unit, **o)
    except (digram.OptionError, digram.LimitExceededError):
        return
    for words, kept in zip(drawn, batch.encodings, strict=True):
        for encoding in (kept, *kept.overflowing):
            where = list(zip(encoding.word_ids, encoding.ids, encoding.offsets, strict=True))
            for number in range(-1, len(words) + 1):
                at = [n for n, (word, _, _) in enumerate(where) if word == number]
                span = (at[0], at[-1] + 1) if at else None
                assert encoding.word_to_tokens(number) == span
            with pytest.raises(digram.OptionError, match="relative to words"):
                encoding.char_to_token(0)
        if not kept.overflowing:
            for number, word in enumerate(words):
                alone = tok(word, offsets=unit, add_special_tokens=False)
                found = [(i, span) for w, i, span in where if w == number]
                assert found == list(zip(alone.ids, alone.offsets, strict=True))
    if not o.get("padding"):
        assert tok(drawn[0], is_split_into_words=True, offsets=unit, **o) == batch[0]
