"""Blocks of ids, padding, and smaller vocabularies."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import any_corpora, cases, prose, ties

import digram
from digram import CorruptFileError, Definition, OptionError, SpecialToken, VocabError
from digram.formats import huggingface
from digram.pretokenizers.pretokenizer import resolve
from digram.vocab.bpe import BpeModel

TEXT = (
    "low low lower lowest newer newest wider widest, and so on and on, through thick and thin, "
    "wherever whatever happens happens to whomever"
)


def saved(tok: digram.Tokenizer) -> bytes:
    return huggingface.dumps(tok.definition, allow_loss=True)


# --- shrink

units = st.sampled_from(
    [
        {"unit": "byte"},
        {"unit": "byte", "byte_order": "gpt2"},
        {"unit": "char"},
        {"unit": "char", "on_unknown": "bytes"},
        {"unit": "char", "on_unknown": SpecialToken("<unk>")},
        {"unit": "char", "on_unknown": "bytes", "limit_alphabet": 3},
    ]
)
extras = st.fixed_dictionaries(
    {
        "special_tokens": st.sampled_from([[], ["<a>"], ["<a>", "<b>"]]),
        "special_first": st.booleans(),
        "reserve": st.sampled_from([{}, {"image": 3}, {"image": 1, "audio": 2}]),
        "pad_to_multiple": st.sampled_from([None, 1, 2, 8, 64]),
        "runners_up": st.sampled_from([0, 0, 1, 3]),
        "ties": ties,
        "pretokenizer": st.sampled_from([None, "gpt2", "whitespace"]),
    }
)


def without_merges(tok: digram.Tokenizer) -> int:
    """The size before padding, without the merges."""
    return tok.vocab_size - len(tok.reserved.get("unused", ())) - len(tok.merges)


@cases(400)
@given(any_corpora, units, extras, st.integers(1, 12), st.integers(1, 12))
def test_shrinking_is_training_to_the_smaller_size(
    corpus: list[str], unit: dict[str, Any], extra: dict[str, Any], one: int, other: int
) -> None:
    options = unit | extra
    fewer, more = sorted((one, other))
    base = without_merges(digram.train(corpus, max_merges=0, **options))
    large = digram.train(corpus, vocab_size=base + more, **options)
    assume(len(large.merges) >= fewer)
    small = digram.train(corpus, vocab_size=base + fewer, **options)
    shrunk = digram.shrink(large, base + fewer)
    assert shrunk == small
    assert shrunk.training == small.training
    assert shrunk.merge_log == small.merge_log
    assert saved(shrunk) == saved(small)
    assert saved(digram.shrink(huggingface_again(large), base + fewer)) == saved(small)


def huggingface_again(tok: digram.Tokenizer) -> digram.Tokenizer:
    return digram.Tokenizer(huggingface.loads(saved(tok)))


@cases(100)
@given(prose, st.sampled_from([{"max_merges": 9}, {"min_frequency": 2}, {"max_token_length": 4}]))
def test_other_limits_stay_in_the_record(corpus: list[str], limit: dict[str, Any]) -> None:
    large = digram.train(corpus, vocab_size=300, **limit)
    for merges in range(1, len(large.merges) + 1):
        small = digram.train(corpus, vocab_size=256 + merges, **limit)
        assert saved(digram.shrink(large, 256 + merges)) == saved(small)


def test_shrinking_to_the_own_size_names_it() -> None:
    tok = digram.train("abab", vocab_size=1000, pretokenizer=None)
    assert tok.vocab_size == 258
    same = digram.shrink(tok, 258)
    assert saved(same) == saved(digram.train("abab", vocab_size=258, pretokenizer=None))


def test_special_tokens_that_came_later_keep_their_distance() -> None:
    tok = digram.train(TEXT, vocab_size=266, pad_to_multiple=10)
    chat = tok.with_special_tokens({"<|user|>": 270, "<|far|>": 1000})
    assert tok.reserved == {"unused": range(266, 270)}
    small = digram.shrink(chat, chat.vocab_size - 6)
    assert small.special_tokens["<|user|>"] == 264
    assert small.special_tokens["<|far|>"] == 994
    assert small.reserved == {"unused": range(260, 264)}
    assert small.merges == tok.merges[:4]


def test_what_frames_a_text_stays() -> None:
    tok = digram.train(TEXT, vocab_size=270, special_tokens=["<s>", "<pad>"])
    framed = (
        tok.with_template(digram.Template("<s> $A")).with_pad_token("<pad>").with_context_size(8)
    )
    small = digram.shrink(framed, 262)
    assert small("low").ids[0] == small.special_tokens["<s>"] == 260
    assert (small.pad_token, small.context_size) == ("<pad>", 8)


@pytest.mark.parametrize(
    ("size", "hint"),
    [(265, "at most 264"), (258, "at least 259"), (0, "at least 259"), (-5, "at least 259")],
)
def test_sizes_that_make_no_sense(size: int, hint: str) -> None:
    tok = digram.train(TEXT, vocab_size=264, special_tokens=["<a>", "<b>"], pad_to_multiple=50)
    with pytest.raises(OptionError, match=f"vocab_size={size}") as caught:
        digram.shrink(tok, size)
    assert hint in str(caught.value.hint)


def test_a_size_is_a_whole_number() -> None:
    tok = digram.train(TEXT, vocab_size=264)
    for size in (True, 260.0, "260"):
        with pytest.raises(TypeError, match="vocab_size"):
            digram.shrink(tok, size)  # type: ignore[arg-type]


def test_without_merges_there_is_nothing_to_take_away() -> None:
    with pytest.raises(OptionError, match="leaves no room for a merge"):
        digram.shrink(digram.train(TEXT, max_merges=0), 256)


def definition(tokens: list[bytes], merges: list[tuple[int, int, int]]) -> Definition:
    base: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    model = BpeModel(merges)
    return Definition(tokens=[*base, *tokens], model=model, pretokenizer=resolve(None))


def test_ids_that_do_not_follow_the_merges_are_refused() -> None:
    crossed = definition([b"ab", b"cd"], [(99, 100, 257), (97, 98, 256)])
    with pytest.raises(VocabError, match="are not in the order of its merges") as caught:
        digram.shrink(digram.Tokenizer(crossed), 257)
    assert caught.value.hint


def test_a_part_that_nothing_makes_is_not_taken_from_what_stays() -> None:
    # "xyz" has the highest id, and the first merge needs it.
    odd = definition([b"xyza", b"ab", b"xyz"], [(258, 97, 256), (97, 98, 257)])
    with pytest.raises(VocabError, match="part of one that stays"):
        digram.shrink(digram.Tokenizer(odd), 258)


def test_characters_after_the_merges_move_down() -> None:
    """As in vocabularies that SentencePiece made: the pieces first, then the characters."""
    tok = digram.Tokenizer(
        Definition(
            tokens=[b"ab", b"abc", None, b"a", b"b", b"c"],
            model=BpeModel([(3, 4, 0), (0, 5, 1)]),
            pretokenizer=resolve(None),
            unit="char",
        )
    )
    small = digram.shrink(tok, 5)
    assert small.definition.tokens == [b"ab", None, b"a", b"b", b"c"]
    assert small.tokens(small.encode("abcab")) == [b"ab", b"c", b"ab"]


@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_published_vocabularies(
    name: str, shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    """The first lines of a file of ranks are the smaller vocabulary; special tokens follow it."""
    path = shared_data(f"vocabs/{name}.tiktoken")
    tok = digram.load(path, encoding=name)
    ranks = len(path.read_bytes().splitlines())
    small = digram.shrink(tok, tok.vocab_size - (ranks - 5000))
    cut = tmp_path / "cut.tiktoken"
    cut.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:5000]))
    moved = {text: id - (ranks - 5000) for text, id in tok.special_tokens.items()}
    alone = digram.load(cut, pretokenizer=tok.pretokenizer)
    assert small.special_tokens == moved
    assert small == alone.with_special_tokens(moved)
    text = "Hello, smaller vocabulary! Ünïcödé 中文 12345"
    assert small.encode(text) == alone.encode(text)


def test_a_file_of_hugging_face(shared_data: Callable[[str], Path]) -> None:
    tok = digram.load(shared_data("vocabs/gpt2_tokenizer.json"))
    small = digram.shrink(tok, 1000)
    assert small.special_tokens == {"<|endoftext|>": 999}
    assert small.merges == tok.merges[: 999 - 256]


# --- reserved blocks and padding


def test_blocks_follow_the_special_tokens_and_padding_ends() -> None:
    tok = digram.train(
        TEXT,
        vocab_size=300,
        special_tokens=["<s>"],
        reserve={"image": 8, "audio-codes": 4},
        pad_to_multiple=128,
    )
    assert len(tok.merges) == 300 - 256 - 1 - 12
    assert tok.special_tokens["<s>"] == 287
    assert tok.reserved == {
        "image": range(288, 296),
        "audio-codes": range(296, 300),
        "unused": range(300, 384),
    }
    assert tok.vocab_size == len(tok) == 384
    assert tok.special_tokens["<|audio-codes_3|>"] == tok.token_to_id("<|audio-codes_3|>") == 299


def test_what_a_reserved_id_does() -> None:
    tok = digram.train(TEXT, vocab_size=270, reserve={"image": 8})
    first = tok.reserved["image"].start
    assert tok.decode([first, *tok.encode("low")]) == "<|image_0|>low"
    assert tok.id_to_token(first + 7) == b"<|image_7|>"
    assert first not in tok.encode("<|image_0|>")  # text stays text
    assert tok.encode("<|image_0|>", special="parse") == [first]
    assert tok.encode([SpecialToken("<|image_3|>"), "low"])[0] == first + 3


def test_special_first_leaves_blocks_at_the_end() -> None:
    tok = digram.train(
        TEXT, vocab_size=300, special_tokens=["<s>"], special_first=True, reserve={"image": 8}
    )
    assert tok.special_tokens["<s>"] == 0
    assert tok.reserved["image"] == range(292, 300)


@cases(100)
@given(any_corpora, st.integers(1, 12), st.integers(1, 100))
def test_padding(corpus: list[str], merges: int, multiple: int) -> None:
    plain = digram.train(corpus, max_merges=merges)
    tok = digram.train(corpus, max_merges=merges, pad_to_multiple=multiple)
    assert tok.vocab_size % multiple == 0
    assert 0 <= tok.vocab_size - plain.vocab_size < multiple
    assert tok.merges == plain.merges
    assert len(tok) == tok.vocab_size


def test_saved_and_loaded(tmp_path: Path) -> None:
    tok = digram.train(TEXT, vocab_size=300, reserve={"image": 8}, pad_to_multiple=7)
    tok.save(tmp_path / "t.json")
    again = digram.load(tmp_path / "t.json")
    assert again == tok
    assert again.reserved == tok.reserved
    assert saved(again) == saved(tok)
    chars = digram.train(TEXT, max_merges=5, unit="char", on_unknown="bytes", reserve={"image": 2})
    assert huggingface_again(chars).reserved == chars.reserved


def test_names_of_blocks_are_part_of_a_tokenizer() -> None:
    tok = digram.train(TEXT, vocab_size=300, reserve={"image": 8})
    nameless = digram.Tokenizer(replace(tok.definition, reserved={}))
    assert nameless.special_tokens == tok.special_tokens
    assert nameless != tok


def test_hugging_face_has_the_same_ids() -> None:
    tok = digram.train(
        TEXT, vocab_size=300, special_tokens=["<s>"], reserve={"image": 8}, pad_to_multiple=64
    )
    theirs = tokenizers.Tokenizer.from_str(saved(tok).decode())
    assert theirs.get_vocab_size() == tok.vocab_size == 320
    for text, id in tok.special_tokens.items():
        assert theirs.token_to_id(text) == id
        assert theirs.decode([id], skip_special_tokens=False) == tok.decode([id]) == text
    mixed = "low <|image_3|> lower<|unused_1|>"
    assert theirs.encode(mixed).ids == tok.encode(mixed, special="parse")
    assert theirs.encode(TEXT).ids == tok.encode(TEXT)


@pytest.mark.parametrize("format_", ["tiktoken", "vocab_merges", "seed_pair"])
def test_formats_that_cannot_carry_blocks_refuse_them(format_: str, tmp_path: Path) -> None:
    tok = digram.train(TEXT, vocab_size=300, pretokenizer=None, reserve={"image": 8})
    with pytest.raises(VocabError, match="cannot store the 8 special tokens"):
        tok.save(tmp_path / "t", format=format_)
    tok.save(tmp_path / "t", format=format_, allow_loss=True)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"reserve": {"image": 0}}, "not between 1"),
        ({"reserve": {"image": 1 << 40}}, "not between 1"),
        ({"reserve": {"": 1}}, "not a name for a block"),
        ({"reserve": {"a|>": 1}}, "not a name for a block"),
        ({"reserve": {"7": 1}}, "not a name for a block"),
        ({"reserve": {"a b": 1}}, "not a name for a block"),
        ({"reserve": {"unused": 1}, "pad_to_multiple": 8}, "padding ids"),
        ({"reserve": {"a": 2}, "special_tokens": ["<|a_1|>"]}, "special token already"),
        (
            {"reserve": {"a": 200}},
            "room for a merge: the base has 256 tokens, in addition to 200 reserved ids",
        ),
        ({"pad_to_multiple": 0}, "not between 1"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        digram.train(TEXT, **{"vocab_size": 300} | options)


@pytest.mark.parametrize(
    "options", [{"reserve": {"a": 1.5}}, {"reserve": ["a"]}, {"pad_to_multiple": True}]
)
def test_options_of_the_wrong_type(options: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        digram.train(TEXT, vocab_size=300, **options)


def test_blocks_that_are_none_are_refused() -> None:
    tok = digram.train(TEXT, vocab_size=300, reserve={"image": 8})
    for ids in (range(290, 298), range(292, 301), range(292, 300, 2), range(10**9)):
        with pytest.raises(VocabError, match="reserved block 'image'"):
            digram.Tokenizer(replace(tok.definition, reserved={"image": ids}))


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ([292, 8], CorruptFileError),
        ({"image": [292]}, CorruptFileError),
        ({"image": [292, "8"]}, CorruptFileError),
        ({"image": [-1, 8]}, CorruptFileError),
        ({"image": [292, 0]}, CorruptFileError),
        ({"image": [291, 8]}, VocabError),
        ({"sound": [292, 8]}, VocabError),
        ({"image": [292, 7]}, CorruptFileError),  # the digest knows
    ],
)
def test_damaged_files(value: Any, error: type[Exception]) -> None:
    file = json.loads(saved(digram.train(TEXT, vocab_size=300, reserve={"image": 8})))
    file["model"]["digram"]["reserved"] = value
    with pytest.raises(error):
        huggingface.loads(json.dumps(file).encode())


def test_ranks_with_holes_keep_them() -> None:
    lines = [b64encode(bytes([i])) + b" %d\n" % i for i in range(256)]
    lines += [b64encode(b"th") + b" 256\n", b64encode(b"the") + b" 260\n"]
    lines += [b64encode(b"thee") + b" 261\n"]
    tok = digram.Tokenizer(digram.formats.tiktoken.loads(b"".join(lines), pretokenizer="gpt2"))
    small = digram.shrink(tok, 261)
    assert small.definition.tokens[256:] == [b"th", None, None, None, b"the"]
    # A gap at the end is not part of a size.
    assert digram.shrink(tok, 260).vocab_size == 257
