"""Normalizers and added tokens, with the reference beside them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram import Definition, Matching, Pretokenizer, Regex
from digram.pretokenizers import (
    BERT_WORDS,
    NFC,
    NFD,
    NFKC,
    NFKD,
    SPACED_WORDS,
    Lowercase,
    Nmt,
    Prepend,
    Replace,
    Strip,
    Words,
)
from digram.pretokenizers import StripAccents as WithoutMarks
from digram.reference import BYTES, decode, encode
from digram.reference import normalization as reference
from digram.reference.normalization import Added, WordRule
from digram.vocab.bpe import BpeModel

SPACE, RUN = reference.WHITE_SPACE, f"{reference.WHITE_SPACE}+"
STAGES: list[tuple[Any, reference.Stage]] = [
    (NFC(), reference.form("NFC")),
    (NFD(), reference.form("NFD")),
    (NFKC(), reference.form("NFKC")),
    (NFKD(), reference.form("NFKD")),
    (Lowercase(), reference.lowercase),
    (WithoutMarks(), reference.strip_accents),
    (Nmt(), reference.nmt),
    (Strip(), reference.strip),
    (Prepend("▁a"), reference.prepend("▁a")),
    (Replace(" ", "▁"), reference.replace(" ", "▁")),
    (Replace("ab", ""), reference.replace("ab", "")),
    (Replace(Regex("a[b1]|[x▁]{2,}"), "é "), reference.replace_matches("a[b1]|[x▁]{2,}", "é ")),
]
RULES: list[tuple[list[Any], WordRule | None]] = [
    ([], None),
    ([SPACED_WORDS], WordRule([RUN], SPACE, " ")),
    ([BERT_WORDS], WordRule([RUN, "[.<>/_]"], SPACE, " ")),
    ([Words(prefix=" ")], WordRule(prefix=" ")),
    ([Words((Regex("[.x]+"),), Regex("[.x]"))], WordRule(["[.x]+"], "[.x]")),
    (
        [Words((Regex(r"\s+"),), Regex(r"\s"), " ", " ", "▁")],
        WordRule([RUN], SPACE, " ", " ", "▁"),
    ),
    (
        [Words((Regex(r"\s+"),), Regex(r"\s"), " ", letters=True)],
        WordRule([RUN], SPACE, " ", letters=True),
    ),
    (
        [Words((Regex("a|b(?=c)|(?<=1) "),), keep="matches", then=Words(suffix="x"))],
        WordRule(["a|b(?=c)|(?<=1) "], keep="matches", then=WordRule(suffix="x")),
    ),
    ([Words((Regex("[ab]+(?!c)"),), keep="between")], WordRule(["[ab]+(?!c)"], keep="between")),
    (
        [Words(prefix=" ", then=Words((Regex(" ?[ab.]+"),), suffix=" ", letters=True))],
        WordRule(prefix=" ", then=WordRule([" ?[ab.]+"], suffix=" ", letters=True)),
    ),
]
TEXTS = ["<s>", "</s>", "ab", "abc", " b", "  ", "\n\n", "b1", "é", "▁", "\u3000x", "A", "ß"]
PARTS = [*"abcABC1_ \t\n.é²Σß▁x", *TEXTS, "\u0301", "\u0323", "e\u0301", "\u1100\u1161", "ﬁ", "가"]

MERGES = {
    (97, 98): 256,
    (32, 32): 257,
    (256, 99): 258,
    (0xC3, 0xA9): 259,
    (32, 97): 260,
    (260, 98): 261,
}

flags = st.fixed_dictionaries(
    dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), st.booleans())
)
added = st.dictionaries(st.sampled_from(TEXTS), st.tuples(st.booleans(), flags), max_size=5)
stages = st.lists(st.sampled_from(STAGES), max_size=3)
texts = st.lists(st.sampled_from(PARTS), max_size=16).map("".join)


def tokenizer(tokens: dict[str, Any], normalizer: list[Any]) -> digram.Tokenizer:
    table: list[bytes | None] = [*BYTES]
    for left, right in MERGES:
        table.append((table[left] or b"") + (table[right] or b""))
    return digram.Tokenizer(
        Definition(
            tokens=table,
            model=BpeModel([(*pair, new) for pair, new in MERGES.items()]),
            pretokenizer=Pretokenizer(None, normalizer=normalizer),
            special_tokens={text: 300 + i for i, text in enumerate(tokens)},
            matching={text: Matching(always=always, **of) for text, (always, of) in tokens.items()},
        )
    )


def expected(
    text: str, tokens: dict[str, Any], chosen: list[reference.Stage], rule: WordRule | None
) -> list[int]:
    ids = {text: 300 + i for i, text in enumerate(tokens)}
    known = [
        Added(text, of["lstrip"], of["rstrip"], of["single_word"], of["normalized"])
        for text, (_, of) in tokens.items()
    ]
    found = []
    for piece in reference.segments(text, known, chosen, rule):
        found += [ids[piece.text]] if isinstance(piece, Added) else encode(piece.encode(), MERGES)
    return found


@cases(800)
@given(added, stages, st.sampled_from(RULES), texts)
def test_ids_are_those_of_the_reference(
    tokens: dict[str, Any],
    pipeline: list[tuple[Any, reference.Stage]],
    words: tuple[list[Any], WordRule | None],
    text: str,
) -> None:
    normalizer = [*(stage for stage, _ in pipeline), *words[0]]
    tok = tokenizer(tokens, normalizer)
    chosen = [stage for _, stage in pipeline]
    ids = expected(text, tokens, chosen, words[1])
    assert tok.encode(text, special="parse") == ids
    assert tok.encode_batch([text, text.encode()], special="parse") == [ids, ids]
    assert tok.count(text, special="parse") == len(ids)
    assert [id for some in tok.encode_stream([*text], special="parse") for id in some] == ids
    # Without special tokens only those are found that are found in all text.
    always = {text: one for text, one in tokens.items() if one[0]}
    plain = tokenizer(always, normalizer)
    names = {id: text for text, id in plain.special_tokens.items()}
    renamed = [tok.special_tokens[names[id]] if id in names else id for id in plain.encode(text)]
    assert tok.encode(text) == renamed
    assert len(tok(text, special="parse").offsets) == len(ids)


# Texts of whole blocks of characters that a stage leaves, or changes one by one.
FILLINGS = [
    *"aA é語д가",
    "ที่",
    "ế",
    "あ",
    "x ",
    "ab. ",
    "Abc\n",
    "e\u0323\u0302",
    "क्",
    "ب",
    "\u0301",
]
long_texts = st.lists(
    st.one_of(
        st.sampled_from(PARTS),
        st.tuples(st.sampled_from(FILLINGS), st.integers(1, 40)).map(lambda one: one[0] * one[1]),
    ),
    max_size=8,
).map("".join)


@cases(400)
@given(st.lists(st.sampled_from(STAGES[:8]), max_size=3), st.sampled_from(RULES), long_texts)
def test_blocks_are_normalized_like_characters(
    pipeline: list[tuple[Any, reference.Stage]],
    words: tuple[list[Any], WordRule | None],
    text: str,
) -> None:
    tok = tokenizer({}, [*(stage for stage, _ in pipeline), *words[0]])
    ids = expected(text, {}, [stage for _, stage in pipeline], words[1])
    assert tok.encode(text) == ids
    assert tok(text).ids == ids


@cases(200)
@given(stages, texts)
def test_what_is_normal_is_not_changed_again(
    pipeline: list[tuple[Any, reference.Stage]], text: str
) -> None:
    cut = Pretokenizer(None, normalizer=[stage for stage, _ in pipeline])
    normal = reference.normalize(text, [stage for _, stage in pipeline])
    assert "".join(digram.pretokenizers.pretokenize(text, cut)) == normal
    tok = tokenizer({}, [stage for stage, _ in pipeline])
    assert (
        tok.decode(tok.encode(text))
        == normal
        == decode(tok.encode(text), [token or b"" for token in tok._model.tokens()])
    )
