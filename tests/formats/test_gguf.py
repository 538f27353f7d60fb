"""GGUF: the ids are llama.cpp's, and what is written is read again.

`testdata/formats/llama-cpp-splits.json` has the lengths in bytes of the pieces into which llama.cpp
splits some texts, for each value of `pre`.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gguf_files import LETTERS, Entry, ids_of, keys, packed, scored
from vocabularies import SAMPLES

import digram
from digram import (
    Matching,
    Pretokenizer,
    Template,
    VocabError,
)
from digram.formats import gguf
from digram.formats._gguf_file import read_metadata
from digram.formats._gguf_splits import _BY_NAME
from digram.formats.gguf import dumps, loads, read, write
from digram.pretokenizers import NFC

TESTDATA = Path(__file__).parents[2] / "testdata" / "formats"


GOLDEN = json.loads((TESTDATA / "llama-cpp-splits.json").read_text(encoding="utf-8"))


CARRIED = ["gpt2", "deepseek-v3", "individual digits", "holes"]


@pytest.mark.parametrize("group", GOLDEN["splits"], ids=lambda group: group["pre"][0])
def test_texts_are_split_as_by_llama_cpp(group: dict[str, Any]) -> None:
    for pre in group["pre"]:
        split = gguf.pretokenizer(pre).splitter().split
        for text, lengths in zip(GOLDEN["texts"], group["lengths"], strict=True):
            assert [len(piece) for piece in split(text.encode())] == lengths, (pre, text)


def test_every_split_is_compared() -> None:
    assert {pre for group in GOLDEN["splits"] for pre in group["pre"]} == set(_BY_NAME)


@pytest.mark.parametrize("name", ["gpt-2", "refact", "llama-spm", "bert-bge"])
def test_published_vocabularies_give_the_ids_of_llama_cpp(
    shared_data: Callable[[str], Path], name: str
) -> None:
    path = shared_data(f"vocabs/ggml-vocab-{name}.gguf")
    texts = Path(f"{path}.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")
    expected = Path(f"{path}.out").read_text(encoding="utf-8").split("\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok = digram.load(path)
    pairs = [*zip(texts, expected, strict=True)]
    assert len(pairs) > 40
    for text, ids in pairs:
        assert tok.encode(text) == [int(id) for id in ids.split()], text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert digram.Tokenizer(loads(dumps(tok.definition))) == tok


def test_a_file_without_pre_is_not_split_as_gpt_2(shared_data: Callable[[str], Path]) -> None:
    """The expected ids are llama.cpp's."""
    path = shared_data("vocabs/ggml-vocab-gpt-neox.gguf")
    with pytest.warns(UserWarning, match=r"13 of the 256 bytes have no token.*from 50,432") as told:
        tok = digram.load(path)
    assert [warning.filename for warning in told] == [__file__]
    for text, ids in {
        "Hello, y'all! 1234567 $$": [12092, 13, 340, 8, 455, 2, 209, 10683, 25133, 24, 209, 1890],
        "a    b\n\n  c": [66, 50274, 67, 535, 50276, 68],
        "x<|endoftext|>y": [89, 29, 93, 423, 1171, 1156, 49651, 90],
    }.items():
        assert tok.encode(text) == ids, text


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_written_is_read_again(name: str, tmp_path: Path) -> None:
    definition = replace(SAMPLES[name], training=None)
    if definition.pretokenizer == Pretokenizer(None):
        definition = replace(definition, pretokenizer=Pretokenizer("gpt2"))
    ends = replace(
        definition,
        special_tokens=definition.special_tokens | {"<s>": 900, "<|call|>": 901, "</s>": 902},
        matching={"<|constrain|>": Matching(always=True)},
        template=Template("<s> $A </s>"),
        pad_token="</s>",
        context_size=77,
        chat_templates={"default": "{{ x }}", "tools": "é"},
        special_roles=digram.SpecialRoles(bos="<s>", eos="</s>"),
    )
    ends = replace(ends, special_tokens=ends.special_tokens | {"<|constrain|>": 903})
    for one in (definition, ends):
        write(one, tmp_path / "a.gguf")
        assert read(tmp_path / "a.gguf") == loads(dumps(one)) == one
        digram.Tokenizer(one).save(tmp_path / "b.gguf")
        assert digram.load(tmp_path / "b.gguf") == digram.Tokenizer(one)
        assert (tmp_path / "a.gguf").read_bytes() == (tmp_path / "b.gguf").read_bytes()


def test_bytes_without_pre_types_and_specials() -> None:
    definition = loads(packed(keys(token_type=None)))
    assert definition.special_tokens == {}
    assert definition.tokens[256:] == [b"an", b"th", b"<s>"]
    assert ids_of(definition, "than") == [257, 256]
    assert loads(packed(keys(pre=None))).pretokenizer == gguf.pretokenizer("default")
    assert loads(packed(keys(pre=(8, "default")))).pretokenizer == gguf.pretokenizer("default")


def test_both_byte_orders_and_versions() -> None:
    for entries in (keys(), scored()):
        plain = loads(packed(entries))
        assert loads(packed(entries, order=">")) == plain
        assert loads(packed(entries, version=2)) == plain


def test_unwanted_keys_are_skipped() -> None:
    others: dict[str, Entry] = {
        "general.name": (8, "a model"),
        "a.texts": (9, (8, ["x" * 10] * 5)),
        "a.numbers": (9, (12, [0.5] * 9)),
        "a.flags": (9, (7, [0, 1])),
        "a.nested": (9, (9, [(9, [(8, ["deep"])]), (9, [])])),
        "a.byte": (0, 3),
        "a.big": (10, 1 << 63),
        "tokenizer.huggingface.json": (8, "{" * 9999),
    }
    assert loads(packed({**others, **keys()})) == loads(packed(keys()))


def test_the_types_of_tokens_say_where_they_are_found() -> None:
    names = [
        "<ctl>",
        "<user>",
        "<unk>",
        "[PAD261]",
        "[unused]",
        "<|im_end|>",
        "<|channel|>",
        "</s>",
    ]
    types = [3, 4, 2, 5, 5, 4, 3, 1]
    tokens = (9, (8, [*LETTERS, "an", "th", *names]))
    definition = loads(packed(keys(tokens=tokens, token_type=(9, (5, [1] * 258 + types)))))
    # A padding at its own id is no token; some texts decide more than their types.
    assert list(definition.special_tokens) == [name for name in names if name != "[PAD261]"]
    always = {text for text, one in definition.matching.items() if one.always}
    assert always == {"<user>", "<|channel|>"}
    text = "a<ctl><user>an<|im_end|><|channel|>"
    assert ids_of(definition, text)[-1] == definition.special_tokens["<|channel|>"]
    assert definition.special_tokens["<ctl>"] in ids_of(definition, text, "parse")
    assert definition.special_tokens["<ctl>"] not in ids_of(definition, text)
    call = loads(
        packed(
            keys(
                tokens=(9, (8, [*LETTERS, "an", "th", "<|end|>", "<|call|>", "<|return|>"])),
                token_type=(9, (5, [1] * 258 + [3, 3, 3])),
            )
        )
    )
    assert call.matching == {"<|end|>": Matching(always=True)}


def test_the_two_models_whose_special_tokens_take_white_space() -> None:
    phi = loads(packed({"general.name": (8, "Phi-3 mini"), **scored()}))
    assert [text for text, one in phi.matching.items() if one.rstrip] == ["</s>", "<tag>"]
    jina = loads(
        packed(
            keys(
                pre=(8, "jina-v2-code"),
                tokens=(9, (8, [*LETTERS, "an", "th", "<mask>"])),
            )
        )
    )
    assert jina.matching == {"<mask>": Matching(lstrip=True)}


def test_tokens_around_a_text() -> None:
    for changes, single in (
        ({}, None),
        ({"add_bos_token": (7, 1), "bos_token_id": (4, 258)}, ["<s>", "$A"]),
        (
            {"add_bos_token": (7, 1), "add_eos_token": (7, 1)}
            | {"bos_token_id": (4, 258), "eos_token_id": (4, 258)},
            ["<s>", "$A", "<s>"],
        ),
        ({"pre": (8, "llama-bpe"), "bos_token_id": (4, 258)}, ["<s>", "$A"]),
        ({"pre": (8, "llama-bpe"), "add_bos_token": (7, 0)}, None),
    ):
        template = loads(packed(keys(**changes))).template
        found = None if template is None else [name for name, _ in template.single]
        assert found == single, changes
    with pytest.raises(VocabError, match=r"token 11, 'ċ', as the bos token .* not supported"):
        loads(packed(keys(add_bos_token=(7, 1))))
    for pad, named in ((258, "<s>"), (97, None), (1 << 31, None)):
        assert loads(packed(keys(padding_token_id=(4, pad)))).pad_token == named
    told = loads(packed({"general.architecture": (8, "x"), "x.context_length": (4, 9), **keys()}))
    assert told.context_size == 9


def test_user_defined_tokens_that_merges_make() -> None:
    """Such a token is cut out of every text first, so that its merges are without effect."""
    types = (9, (5, [1] * 256 + [4, 1, 3]))
    definition = loads(packed(keys(token_type=types, merges=(9, (8, ["a n", "t h", "t h"])))))
    assert definition.special_tokens == {"an": 256, "<s>": 258}
    assert ids_of(definition, "than") == [257, 256]
    with pytest.raises(VocabError, match=r"merge 'a n' has the special token 'an'"):
        loads(packed(keys(token_type=(9, (5, [1] * 256 + [3, 1, 3])))))


def test_bytes_without_a_token() -> None:
    """Such bytes are left out by llama.cpp; those that no text has get ids behind all others."""
    rare = [0xC0, 0xF1, 0xFF]
    names = [letter for byte, letter in enumerate(LETTERS) if byte not in rare]
    tokens, types = (9, (8, [*names, "an", "th", "<s>"])), (9, (5, [1] * 255 + [3]))
    with pytest.warns(UserWarning, match="3 of the 256 bytes have no token, such as 0xC0"):
        definition = loads(packed(keys(tokens=tokens, token_type=types)))
    assert [definition.tokens.index(bytes([byte])) for byte in rare] == [256, 257, 258]
    pieces = ["an", "Ġ", "Ã", "©"]
    assert ids_of(definition, "an é") == [[*names, "an"].index(piece) for piece in pieces]
    without_a = (9, (8, [*names[1:], "an", "th", "<s>"]))
    with pytest.raises(VocabError, match="4 of the 256 bytes have no token: 0x00, 0xC0"):
        loads(packed(keys(tokens=without_a, token_type=(9, (5, [1] * 254 + [3])))))


def test_tokens_with_a_role_are_written_for_llama_cpp() -> None:
    roles = digram.SpecialRoles(bos="<s>", eos="<|im_end|>", sep="</s>", mask="<m>")
    special = ["<s>", "</s>", "<m>", "<|im_end|>"]
    tok = digram.train("low", max_merges=1, pretokenizer="gpt2", special_tokens=special)
    data = dumps(tok.with_special_roles(roles).definition)
    metadata = read_metadata(io.BytesIO(data), None, lambda _: True)
    ids = {key: metadata.get(f"tokenizer.ggml.{key}_token_id") for key in ("bos", "eos", "mask")}
    assert ids == {"bos": 257, "eos": 260, "mask": 259}
    assert metadata["tokenizer.ggml.seperator_token_id"] == 258
    plain = read_metadata(io.BytesIO(dumps(tok.definition)), None, lambda _: True)
    assert plain["tokenizer.ggml.eos_token_id"] == 258  # llama.cpp takes it as the end


def test_a_chat_template_has_the_roles_that_it_names() -> None:
    chat = "{{ bos_token }}{% for one in messages %}{{ one.content }}{{ eos_token }}{% endfor %}"
    tok = digram.train("low", max_merges=1, pretokenizer="gpt2", special_tokens=["<s>", "</s>"])
    tok = tok.with_special_roles(digram.SpecialRoles(bos="<s>", eos="</s>"))
    again = digram.Tokenizer(loads(dumps(tok.with_chat_template(chat).definition)))
    assert (again.bos_token, again.eos_token) == ("<s>", "</s>")
    found = again.chat([{"role": "user", "content": "low"}])
    assert found.ids == [257, *tok.encode("low"), 258]


def test_normal_forms_are_left_out_on_request() -> None:
    plain = digram.train("low lower", max_merges=4, pretokenizer="gpt2")
    cut = Pretokenizer("gpt2", normalizer=NFC())
    normal = replace(plain.definition, pretokenizer=cut)
    assert digram.Tokenizer(loads(dumps(normal, allow_loss=True))) == plain
