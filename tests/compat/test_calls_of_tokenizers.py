"""Each public name of `tokenizers.Tokenizer` and `Encoding`, and what to call in digram instead.

After a change: PYTHONPATH=tests python tests/compat/test_calls_of_tokenizers.py.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import tokenizers
from compat.calls import PAGE, Absent, Row, Same, public, same, section, table, written
from formats import test_pipelines as pipelines
from formats.test_wordpiece import NAMES, peer

import digram
from digram.formats import huggingface

TEXTS = [
    *("", " ", "  a", "the café's naïve façade", "12,345 résumés —", "e\u0301 한국어 각 日本語"),
    *("<s>a</s> b<unk>", "[CLS] hello [MASK]", "def f(x):\n    return x[0]\r\n", "🙂a\u200d"),
]
SHORT = ["the", "café of the résumés", "", "a b"]
WORDS = [["the", "café"], ["x"], ["résumés", " of", ""]]
FOLDER = Path(tempfile.mkdtemp())


class Both(NamedTuple):
    """A tokenizer of the library, and what digram reads from its file."""

    theirs: tokenizers.Tokenizer
    ours: digram.Tokenizer


MAKERS: dict[str, Callable[[], tokenizers.Tokenizer]] = {
    "bytes with a template": pipelines.command_r,
    "spaces as a symbol": pipelines.llama2,
    "words of BERT": lambda: peer(NAMES),
}


def both(maker: Callable[[], tokenizers.Tokenizer]) -> Both:
    theirs = maker()
    path = FOLDER / "tokenizer.json"
    theirs.save(str(path))
    ours = digram.load(path)
    return Both(theirs, ours.with_pad_token(next(iter(ours.special_tokens))))


def plain(encoding: Any) -> Any:
    """The columns that both libraries have, with the same names."""
    names = ("ids", "type_ids", "offsets", "word_ids", "sequence_ids", "special_tokens_mask")
    columns = [list(map(_plain, getattr(encoding, name))) for name in names]
    return [*columns, encoding.attention_mask]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def each(call: Callable[[Any, str], Any], texts: list[str] = TEXTS) -> Callable[[Any], Any]:
    return lambda tok: [call(tok, text) for text in texts]


def parsed(tok: digram.Tokenizer, *texts: Any, **options: Any) -> Any:
    return tok(*texts, special="parse", **options)


def truncated(**options: Any) -> Callable[[tokenizers.Tokenizer], Any]:
    def call(tok: tokenizers.Tokenizer) -> Any:
        tok.enable_truncation(**options)
        found = [tok.encode(text) for text in TEXTS]
        tok.no_truncation()
        return [[one.ids, [part.ids for part in one.overflowing]] for one in found]

    return call


def truncated_here(**options: Any) -> Callable[[digram.Tokenizer], Any]:
    return each(
        lambda tok, text: [
            (found := parsed(tok, text, **options)).ids,
            [part.ids for part in found.overflowing],
        ]
    )


def padded(**options: Any) -> Callable[[tokenizers.Tokenizer], Any]:
    def call(tok: tokenizers.Tokenizer) -> Any:
        token = min(tok.get_added_tokens_decoder().items())[1].content
        tok.enable_padding(pad_id=tok.token_to_id(token), pad_token=token, **options)
        found = [plain(one) for one in tok.encode_batch(SHORT)]
        tok.no_padding()
        return found

    return call


def padded_here(**options: Any) -> Callable[[digram.Tokenizer], Any]:
    return lambda tok: [plain(one) for one in parsed(tok, SHORT, **options)[:]]


LIMITS = {
    "truncation": ("max_length", "stride", "strategy", "direction"),
    "padding": ("length", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token", "direction"),
}


def limits(kind: str, **options: Any) -> Callable[[tokenizers.Tokenizer], Any]:
    """Those of a tokenizer, in the order of `LIMITS`; its file is left in `FOLDER`."""

    def call(tok: tokenizers.Tokenizer) -> Any:
        getattr(tok, f"enable_{kind}")(**options)
        tok.save(str(FOLDER / f"{kind}.json"))
        found = getattr(tok, kind)
        getattr(tok, f"no_{kind}")()
        return [found[name] for name in LIMITS[kind]]

    return call


def limits_here(kind: str) -> Callable[[digram.Tokenizer], Any]:
    def call(_: digram.Tokenizer) -> Any:
        read = digram.load(FOLDER / f"{kind}.json")
        if (cut := read.truncation) is not None:
            return [cut.max_length, cut.overlap, cut.strategy, cut.side]
        padding = read.padding
        assert padding is not None
        id = read.special_tokens[padding.token] if padding.id is None else padding.id
        return [
            *(padding.length, padding.multiple_of, id),
            *(padding.type_id, padding.token, padding.side),
        ]

    return call


def as_text(tok: tokenizers.Tokenizer) -> Any:
    """Special tokens as text, as it is there after setting an attribute."""
    tok.encode_special_tokens = True
    found = [tok.encode(text, add_special_tokens=False).ids for text in TEXTS]
    tok.encode_special_tokens = False
    return found


def trained(tok: tokenizers.Tokenizer) -> Any:
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = pipelines.level(True)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(pipelines.TRAINED_ON, trainer)
    return [made.encode(text).ids for text in TEXTS]


def trained_here(tok: digram.Tokenizer) -> Any:
    options: dict[str, Any] = {"byte_order": "gpt2", "pretokenizer": "gpt2"}
    made = digram.train(pipelines.TRAINED_ON, vocab_size=300, **options)
    return [made.encode(text) for text in TEXTS]


def read_again(tok: tokenizers.Tokenizer) -> Any:
    return [tok.encode(text).ids for text in TEXTS]


def saved_here(tok: digram.Tokenizer) -> Any:
    tok.save(FOLDER / "again.json")
    return read_again(tokenizers.Tokenizer.from_file(str(FOLDER / "again.json")))


def from_text(tok: tokenizers.Tokenizer) -> Any:
    return read_again(tokenizers.Tokenizer.from_str(tok.to_str()))


def from_text_here(tok: digram.Tokenizer) -> Any:
    again = digram.Tokenizer(huggingface.loads(huggingface.dumps(tok.definition)))
    return [parsed(again, text).ids for text in TEXTS]


IDS = (each(lambda tok, text: tok.encode(text).ids), each(lambda tok, text: parsed(tok, text).ids))
IMMUTABLE = "a tokenizer is immutable: every option is an argument of the call"


def no_async(call: str) -> Absent:
    return Absent(f"calls release the GIL: `await asyncio.to_thread({call})`")


PARTS = "parts of a file; here `tok.definition` has them as plain values"

TOKENIZER: dict[str, Row] = {
    "encode": same(
        'tok(text, special="parse")',
        (
            each(lambda tok, text: plain(tok.encode(text))),
            each(lambda tok, text: plain(parsed(tok, text))),
        ),
        (
            each(lambda tok, text: plain(tok.encode(text, "a b"))),
            each(lambda tok, text: plain(parsed(tok, text, "a b"))),
        ),
        (
            each(lambda tok, text: plain(tok.encode(text, add_special_tokens=False))),
            each(lambda tok, text: plain(parsed(tok, text, add_special_tokens=False))),
        ),
        (
            lambda tok: [tok.encode(words, is_pretokenized=True).ids for words in WORDS],
            lambda tok: [parsed(tok, words, is_split_into_words=True).ids for words in WORDS],
        ),
        note="a pair is the second argument; `is_pretokenized` is `is_split_into_words`",
    ),
    "encode_batch": same(
        'tok(texts, special="parse")',
        (
            lambda tok: [plain(one) for one in tok.encode_batch(TEXTS)],
            lambda tok: [plain(one) for one in parsed(tok, TEXTS)[:]],
        ),
        (
            lambda tok: [plain(one) for one in tok.encode_batch([(text, "a") for text in TEXTS])],
            lambda tok: [plain(one) for one in parsed(tok, TEXTS, ["a"] * len(TEXTS))[:]],
        ),
        (lambda tok: list(tok.encode_batch([])), lambda tok: parsed(tok, [])[:]),
        note="pairs are a second list; texts with and without a pair need two calls",
    ),
    "encode_batch_fast": same(
        'tok.encode_batch(texts, special="parse")',
        (
            lambda tok: [one.ids for one in tok.encode_batch_fast(TEXTS, add_special_tokens=False)],
            lambda tok: tok.encode_batch(TEXTS, special="parse"),
        ),
        note="only ids, without a template",
    ),
    "async_encode": no_async("tok, text"),
    "async_encode_batch": no_async("tok, texts"),
    "async_encode_batch_fast": no_async("tok.encode_batch, texts"),
    "encode_special_tokens": same(
        'special="text"',
        (as_text, each(lambda tok, text: tok.encode(text))),
        note="the default of all calls",
    ),
    "decode": same(
        "tok.decode(ids, skip_special_tokens=True)",
        (
            each(lambda tok, text: tok.decode(tok.encode(text).ids)),
            each(lambda tok, text: tok.decode(parsed(tok, text).ids, skip_special_tokens=True)),
        ),
        (
            each(lambda tok, text: tok.decode(tok.encode(text).ids, skip_special_tokens=False)),
            each(lambda tok, text: tok.decode(parsed(tok, text).ids)),
        ),
        (lambda tok: tok.decode([]), lambda tok: tok.decode([])),
        note="the default there; here special tokens are kept by default",
    ),
    "decode_batch": same(
        "tok.decode_batch(batch, skip_special_tokens=True)",
        (
            lambda tok: tok.decode_batch([tok.encode(text).ids for text in TEXTS]),
            lambda tok: tok.decode_batch(
                [parsed(tok, text).ids for text in TEXTS], skip_special_tokens=True
            ),
        ),
    ),
    "async_decode_batch": no_async("tok.decode_batch, batch"),
    "token_to_id": same(
        "tok.token_to_id(token)",
        (
            lambda tok: sorted(
                tok.token_to_id(one.content) for one in tok.get_added_tokens_decoder().values()
            ),
            lambda tok: sorted(map(tok.token_to_id, tok.special_tokens)),
        ),
        (
            lambda tok: tok.token_to_id("no such token"),
            lambda tok: tok.token_to_id("no such token"),
        ),
        note="a token is its bytes: `b' low'`, not `Ġlow`",
    ),
    "id_to_token": same(
        "tok.id_to_token(id)",
        (
            lambda tok: [tok.id_to_token(id) for id in sorted(tok.get_added_tokens_decoder())],
            lambda tok: [
                tok.id_to_token(id).decode() for id in sorted(tok.special_tokens.values())
            ],
        ),
        note="bytes; an id without a token is an error, and None there",
    ),
    "get_vocab": same(
        "tok.vocab",
        (
            lambda tok: sorted(
                id for token, id in tok.get_vocab().items() if not token.startswith("<0x")
            ),
            lambda tok: sorted(set(tok.vocab.values()) - set(tok.definition.byte_ids or ())),
        ),
        note="a mapping from bytes; `a` and `<0x61>` have the same, and the first is named",
    ),
    "get_vocab_size": same("len(tok)", (lambda tok: tok.get_vocab_size(), len)),
    "get_added_tokens_decoder": same(
        "tok.special_tokens",
        (
            lambda tok: {
                one.content: id for id, one in sorted(tok.get_added_tokens_decoder().items())
            },
            lambda tok: dict(sorted(tok.special_tokens.items(), key=lambda item: item[1])),
        ),
        note="`tok.matching` has the flags",
    ),
    "add_special_tokens": same(
        "tok.with_special_tokens([...])",
        (
            lambda tok: _added(tok).encode("a<new>b", add_special_tokens=False).ids,
            lambda tok: tok.with_special_tokens(["<new>"]).encode("a<new>b", special="parse"),
        ),
        note="returns a new tokenizer",
    ),
    "add_tokens": Absent(
        "build a `digram.Definition` with `matching={text: digram.Matching(always=True)}`"
    ),
    "num_special_tokens_to_add": same(
        'len(tok(""))',
        (
            lambda tok: [tok.num_special_tokens_to_add(is_pair) for is_pair in (False, True)],
            lambda tok: [len(tok("")), len(tok("", ""))],
        ),
        note='for pairs `len(tok("", ""))`',
    ),
    "enable_truncation": same(
        "tok(text, max_length=5, overlap=1)",
        (truncated(max_length=5), truncated_here(max_length=5)),
        (truncated(max_length=6, stride=1), truncated_here(max_length=6, overlap=1)),
        (
            truncated(max_length=5, direction="left"),
            truncated_here(max_length=5, truncation_side="left"),
        ),
        (
            truncated(max_length=5, strategy="only_first"),
            truncated_here(max_length=5, truncation="only_first"),
        ),
        note="`stride` is `overlap`, `direction` is `truncation_side`, `strategy` is `truncation`",
    ),
    "no_truncation": Absent(IMMUTABLE),
    "truncation": same(
        "tok.truncation",
        (limits("truncation", max_length=7, stride=2, direction="left"), limits_here("truncation")),
        note="that of the file; `tok(text, **tok.call_options)` applies it",
    ),
    "enable_padding": same(
        'tok(texts, padding="longest")',
        (padded(), padded_here(padding="longest")),
        (padded(length=32), padded_here(padding="max_length", max_length=32)),
        (padded(direction="left"), padded_here(padding="longest", padding_side="left")),
        (
            padded(pad_to_multiple_of=4),
            padded_here(padding="longest", pad_to_multiple_of=4),
        ),
        note="the token is that of `tok.with_pad_token`",
    ),
    "no_padding": Absent(IMMUTABLE),
    "padding": same(
        "tok.padding",
        (limits("padding", direction="left", pad_to_multiple_of=4), limits_here("padding")),
        note="that of the file; `tok(text, **tok.call_options)` applies it",
    ),
    "post_process": same(
        "tok(text)",
        (
            each(
                lambda tok, text: (
                    tok.post_process(tok.encode(text, add_special_tokens=False), None, True).ids
                )
            ),
            IDS[1],
        ),
        note="one call encodes, truncates and adds the template",
    ),
    "post_processor": Absent("`tok.template`, and `tok.with_template(...)`"),
    "normalizer": Absent("`tok.pretokenizer.normalizer`, a tuple of stages"),
    "pre_tokenizer": Absent("`tok.pretokenizer`; `tok.pretokenize(text)` splits a text"),
    "model": Absent(PARTS),
    "decoder": Absent(PARTS),
    "from_file": same("digram.load(path)", IDS),
    "from_str": same(
        "digram.formats.huggingface.loads(data)",
        (from_text, from_text_here),
        note="bytes to a `Definition`, for `digram.Tokenizer(definition)`",
    ),
    "from_buffer": same(
        "digram.formats.huggingface.loads(data)",
        (
            lambda tok: read_again(tokenizers.Tokenizer.from_buffer(tok.to_str().encode())),
            from_text_here,
        ),
    ),
    "from_pretrained": Absent(
        "`digram.load(name)`; only `digram.load(name, download=True)` uses the network"
    ),
    "save": same("tok.save(path)", (read_again, saved_here)),
    "to_str": same("digram.formats.huggingface.dumps(tok.definition)", (from_text, from_text_here)),
    "train": Absent("`digram.train(paths, vocab_size=...)` makes a new tokenizer"),
    "train_from_iterator": same(
        'digram.train(texts, vocab_size=..., byte_order="gpt2")',
        (trained, trained_here),
        note="with this option the ids are the same",
    ),
}


def _added(tok: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    copy = tokenizers.Tokenizer.from_str(tok.to_str())
    assert copy.add_special_tokens(["<new>"]) == 1
    return copy


def pair_of(tok: Any) -> Any:
    if isinstance(tok, digram.Tokenizer):
        return parsed(tok, "the café 12", "x résumés")
    return tok.encode("the café 12", "x résumés")


def column(name: str) -> tuple[Any, Any]:
    def call(tok: Any) -> Any:
        return [_plain(one) for one in getattr(pair_of(tok), name)]

    return call, call


def asked(name: str) -> tuple[Any, Any]:
    """A method that takes a position, for all positions of both texts."""

    def call(tok: Any) -> Any:
        encoding = pair_of(tok)
        more: list[tuple[int, ...]] = [(), (0,), (1,)]
        return [getattr(encoding, name)(at, *rest) for rest in more for at in range(14)]

    return call, call


def _chars_of_tokens() -> tuple[Any, Any]:
    def call(tok: Any) -> Any:
        encoding = pair_of(tok)
        return [encoding.token_to_chars(at) for at in range(len(encoding))]

    return call, call


def derived(theirs: Callable[[Any], Any], ours: Callable[[Any], Any]) -> tuple[Any, Any]:
    return lambda tok: theirs(pair_of(tok)), lambda tok: ours(pair_of(tok))


def _word_of_char(encoding: Any, at: int, sequence: int) -> int | None:
    token = encoding.char_to_token(at, sequence)
    return None if token is None else encoding.word_ids[token]


def _chars_of_word(encoding: Any, word: int, sequence: int) -> tuple[int, int] | None:
    tokens = encoding.word_to_tokens(word, sequence)
    if tokens is None:
        return None
    offsets = encoding.offsets
    return offsets[tokens[0]][0], offsets[tokens[1] - 1][1]


PLACES = [(at, sequence) for sequence in (0, 1) for at in range(14)]
CHANGES = "an encoding is immutable: it is made by the options of `tok(text)`"

ENCODING: dict[str, Row] = {
    "ids": same("encoding.ids", column("ids")),
    "type_ids": same("encoding.type_ids", column("type_ids")),
    "tokens": same(
        "encoding.tokens",
        derived(lambda one: len(one.tokens), lambda one: len(one.tokens)),
        note="bytes",
    ),
    "offsets": same("encoding.offsets", column("offsets")),
    "attention_mask": same("encoding.attention_mask", column("attention_mask")),
    "special_tokens_mask": same("encoding.special_tokens_mask", column("special_tokens_mask")),
    "sequence_ids": same("encoding.sequence_ids", column("sequence_ids")),
    "word_ids": same("encoding.word_ids", column("word_ids")),
    "words": same(
        "encoding.word_ids",
        derived(lambda one: one.words, lambda one: one.word_ids),
        note="an older name",
    ),
    "overflowing": same(
        "encoding.overflowing", (truncated(max_length=5), truncated_here(max_length=5))
    ),
    "n_sequences": same(
        "1 + max(id for id in encoding.sequence_ids if id is not None)",
        derived(
            lambda one: one.n_sequences,
            lambda one: 1 + max(id for id in one.sequence_ids if id is not None),
        ),
    ),
    "char_to_token": same("encoding.char_to_token(position, sequence)", asked("char_to_token")),
    "token_to_chars": same("encoding.token_to_chars(token)", _chars_of_tokens()),
    "word_to_tokens": same("encoding.word_to_tokens(word, sequence)", asked("word_to_tokens")),
    "char_to_word": same(
        "encoding.word_ids[encoding.char_to_token(position)]",
        derived(
            lambda one: [one.char_to_word(*place) for place in PLACES],
            lambda one: [_word_of_char(one, *place) for place in PLACES],
        ),
    ),
    "token_to_word": same(
        "encoding.word_ids[token]",
        derived(
            lambda one: [one.token_to_word(at) for at in range(len(one))],
            lambda one: one.word_ids,
        ),
    ),
    "token_to_sequence": same(
        "encoding.sequence_ids[token]",
        derived(
            lambda one: [one.token_to_sequence(at) for at in range(len(one))],
            lambda one: one.sequence_ids,
        ),
    ),
    "word_to_chars": same(
        "encoding.offsets",
        derived(
            lambda one: [one.word_to_chars(*place) for place in PLACES],
            lambda one: [_chars_of_word(one, *place) for place in PLACES],
        ),
        note="from the first to the last token of `word_to_tokens`",
    ),
    "merge": Absent(CHANGES),
    "pad": Absent(CHANGES),
    "truncate": Absent(CHANGES),
    "set_sequence_id": Absent(CHANGES),
}
TABLES = {"Tokenizer": TOKENIZER, "Encoding": ENCODING}


@pytest.mark.parametrize("kind", TABLES)
def test_no_name_is_missing(kind: str) -> None:
    """So that a name of a later version is compared, or the page says why not."""
    assert {*TABLES[kind]} == public(getattr(tokenizers, kind))
    assert section(f"tokenizers.{kind}", PAGE.read_text(encoding="utf-8")) == table(TABLES[kind])


CASES = [
    (maker, kind, name)
    for maker in MAKERS
    for kind, rows in TABLES.items()
    for name, row in rows.items()
    if isinstance(row, Same)
]


@pytest.mark.parametrize(("maker", "kind", "name"), CASES)
def test_the_same_results(maker: str, kind: str, name: str) -> None:
    theirs, ours = both(MAKERS[maker])
    row = TABLES[kind][name]
    assert isinstance(row, Same)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for there, here in row.pairs:
            expected, found = there(theirs), here(ours)
            assert json.loads(json.dumps(found)) == json.loads(json.dumps(expected))


@pytest.mark.parametrize("maker", MAKERS)
def test_wrong_inputs_are_refused_by_both(maker: str) -> None:
    theirs, ours = both(MAKERS[maker])
    wrong: Any
    for wrong in (None, 5, [["a", "b"]], ["a", 5]):
        with pytest.raises(TypeError):
            theirs.encode(wrong)
        with pytest.raises(TypeError):
            ours(wrong)
    with pytest.raises(TypeError):
        theirs.encode("a b", is_pretokenized=True)
    with pytest.raises(TypeError):
        ours("a b", is_split_into_words=True)


if __name__ == "__main__":
    for kind, rows in TABLES.items():
        written(f"tokenizers.{kind}", rows)
