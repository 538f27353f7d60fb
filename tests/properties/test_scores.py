"""Models of scores obey the reference, and their tokenizers keep the laws of all tokenizers."""

from __future__ import annotations

import pickle
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.pretokenizers import SPACED_WORDS, Pretokenizer, Regex
from digram.reference import scores as reference
from digram.vocab.model import Model
from digram.vocab.scores import ScoredModel, UnigramModel, in_single

LETTERS = "ab é日😀"
UNKNOWN = "<unk>"
SPACED = Pretokenizer(Regex(" ?[^ ]+| "), normalizer=SPACED_WORDS)

# Some tokens are longer than those that are found together with others.
letters = st.text(LETTERS, min_size=1, max_size=5) | st.integers(6, 20).map("a".__mul__)
texts = st.text(LETTERS + "x語", max_size=40) | st.text("aaaab", max_size=60)
# Few values, so that sums are often equal, and some that are rounded.
values = st.sampled_from([-1.0, -2.0, -3.0, -0.1, -0.3, -1.7, -30000.7])
tables = st.dictionaries(letters, values, min_size=1, max_size=24)
rounded = st.sampled_from(["double", "single"])


def tokenizer(
    table: dict[str, float], model: Model, *, fallback: bool, special: int
) -> digram.Tokenizer:
    """A tokenizer of these tokens, an unknown token, and if `fallback` all bytes."""
    tokens: list[bytes | None] = [*(text.encode() for text in table), None]
    if fallback:
        tokens += [bytes([byte]) for byte in range(256)]
    return digram.Tokenizer(
        digram.Definition(
            tokens=tokens,
            model=model,
            unit="char",
            pretokenizer=digram.Pretokenizer(None),
            special_tokens={UNKNOWN: special},
            on_unknown="bytes" if fallback else digram.SpecialToken(UNKNOWN),
            byte_ids=[*range(special + 1, special + 257)] if fallback else None,
        )
    )


def expected(tok: digram.Tokenizer, pieces: list[str], known: set[str]) -> list[int]:
    """The ids of the pieces of the reference."""
    byte_ids = tok.definition.byte_ids
    if byte_ids is None:
        found = reference.fused(pieces, known, UNKNOWN)
        special = tok.special_tokens[UNKNOWN]
        names = {text: id for id, text in enumerate(decoded(tok)) if text is not None}
        return [names.get(piece, special) for piece in found]
    ordinary = decoded(tok)[: tok.special_tokens[UNKNOWN]]
    names = {text: id for id, text in enumerate(ordinary) if text is not None}
    return [
        id
        for piece in pieces
        for id in ([names[piece]] if piece in known else [byte_ids[b] for b in piece.encode()])
    ]


def decoded(tok: digram.Tokenizer) -> list[str | None]:
    found = tok.definition.tokens
    return [None if token is None else token.decode(errors="replace") for token in found]


def check(tok: digram.Tokenizer, text: str, pieces: list[str], known: set[str]) -> None:
    ids = expected(tok, pieces, known)
    assert tok.encode(text) == ids
    assert tok.count(text) == len(ids)
    assert tok.encode_batch([text, "", text]) == [ids, [], ids]
    assert pickle.loads(pickle.dumps(tok)) == tok
    found = tok(text)
    assert found.ids == ids
    # Each offset begins where the last one ends, or inside the same character.
    assert [end for _, end in found.offsets][-1:] == [len(text)][: len(ids)]
    assert [id for chunk in tok.encode_stream([*text]) for id in chunk] == ids


@cases(150)
@given(table=tables, text=texts, addition=rounded, fallback=st.booleans())
def test_unigram(table: dict[str, float], text: str, addition: str, fallback: bool) -> None:
    unknown = min(table.values()) - 10
    model = UnigramModel(
        [*table.values(), None],
        unknown=unknown,
        addition=addition,  # type: ignore[arg-type]
    )
    tok = tokenizer(table, model, fallback=fallback, special=len(table))
    how = reference.single if addition == "single" else reference.double
    pieces = reference.segment(text, table, unknown, how)
    check(tok, text, pieces, {*table})
    # A token that is not in use is as if it were not there.
    unused = replace(tok.definition, model=replace(model, unused=(0,)))
    left = dict([*table.items()][1:])
    check(digram.Tokenizer(unused), text, reference.segment(text, left, unknown, how), {*left})


# Sums that are nearly equal, and some that reach the one from which on they are counted anew.
near = st.sampled_from([-1.0, -2.0, -3.0, -0.1, -1.1, -2.2, -3.3, -3.301, -4.4, -350.7])
repeated = st.tuples(
    st.lists(st.text(LETTERS + "x語", min_size=1, max_size=7), min_size=1, max_size=6),
    st.lists(st.integers(0, 5), min_size=10, max_size=300),
)


@cases(100)
@given(
    table=st.dictionaries(letters, near, min_size=1, max_size=24),
    words=repeated,
    addition=rounded,
    fallback=st.booleans(),
)
def test_parts_of_long_texts_are_cached(
    table: dict[str, float], words: tuple[list[str], list[int]], addition: str, fallback: bool
) -> None:
    unknown = -12.7
    model = UnigramModel([*table.values(), None], unknown=unknown, addition=addition)  # type: ignore[arg-type]
    tok = tokenizer(table, model, fallback=fallback, special=len(table))
    chosen, order = words
    text = "".join(chosen[number % len(chosen)] for number in order)
    how = reference.single if addition == "single" else reference.double
    for part in (text, text[1:], text[len(text) // 2 :]):
        pieces = reference.segment(part, table, unknown, how)
        ids = expected(tok, pieces, {*table})
        assert tok.encode(part) == ids
        assert tok.count(part) == len(ids)
    assert tok(text).ids == tok.encode(text)


@cases(100)
@given(
    table=st.dictionaries(letters | letters.map(" {}".format), near, min_size=1, max_size=24),
    words=repeated,
    longest=st.integers(1, 12),
    addition=rounded,
    fallback=st.booleans(),
)
def test_words_are_encoded_together(
    table: dict[str, float],
    words: tuple[list[str], list[int]],
    longest: int,
    addition: str,
    fallback: bool,
) -> None:
    unknown = -12.7
    model = UnigramModel([*table.values(), None], unknown=unknown, addition=addition)  # type: ignore[arg-type]
    made = tokenizer(table, model, fallback=fallback, special=len(table))
    tok = digram.Tokenizer(replace(made.definition, pretokenizer=SPACED))
    chosen, order = [word.replace(" ", "é") for word in words[0]], words[1]
    # Some are so long that they are encoded in parts.
    text = " ".join(chosen[number % len(chosen)] * (1 + number % longest) for number in order)
    how = reference.single if addition == "single" else reference.double
    ids = [
        id
        for word in text.split()
        for id in expected(tok, reference.segment(f" {word}", table, unknown, how), {*table})
    ]
    assert tok.encode(text) == ids
    assert tok.count(text) == len(ids)


@cases(150)
@given(table=tables, text=texts, fallback=st.booleans(), unused=st.integers(0, 3))
def test_scored(table: dict[str, float], text: str, fallback: bool, unused: int) -> None:
    left_out = [*table][:unused]
    model = ScoredModel([*map(in_single, table.values()), None], unused=tuple(range(len(left_out))))
    tok = tokenizer(table, model, fallback=fallback, special=len(table))
    pieces = reference.merged(text, {t: in_single(s) for t, s in table.items()}, left_out)
    check(tok, text, pieces, {*table} - {*left_out})
