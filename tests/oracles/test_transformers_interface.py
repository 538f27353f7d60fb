"""`digram.compat.transformers` against transformers 5: the same calls give the same values."""

from __future__ import annotations

import json
import pickle
import random
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import vocabularies
from formats.test_families import FAMILIES

import digram
from digram.compat.transformers import AddedToken, AutoTokenizer, PreTrainedTokenizerFast

transformers: Any = pytest.importorskip("transformers")

if int(transformers.__version__.split(".")[0]) < 5:
    pytest.skip("the interface is that of version 5", allow_module_level=True)

NAMES = ["gpt2", "qwen2", "cl100k", "two regexes", "characters or unknown"]
SPECIAL = ["<S>", "<E>", "<P>"]


def pair(name: str, folder: Path) -> tuple[PreTrainedTokenizerFast, Any]:
    tok = digram.Tokenizer(vocabularies.SAMPLES[name]).with_special_tokens(SPECIAL)
    tok = tok.with_template(digram.Template("<S> $A <E>", pair="<S> $A <E> $B:1 <E>:1"))
    tok.save_pretrained(folder, bos="<S>", eos="<E>", pad="<P>", context_size=40, allow_loss=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = transformers.AutoTokenizer.from_pretrained(str(folder))
    return AutoTokenizer.from_pretrained(folder), theirs


def options(rng: random.Random) -> dict[str, Any]:
    choices: dict[str, list[Any]] = {
        "add_special_tokens": [True, False],
        "padding": [True, False, "longest", "max_length", "do_not_pad"],
        "truncation": [True, False, None, "longest_first", "only_first", "only_second"],
        "max_length": [None, 9, 12, 40],
        "stride": [0, 2],
        "pad_to_multiple_of": [None, 4],
        "padding_side": [None, "left", "right"],
        "return_token_type_ids": [None, True, False],
        "return_attention_mask": [None, True, False],
        "return_overflowing_tokens": [False, True],
        "return_special_tokens_mask": [False, True],
        "return_offsets_mapping": [False, True],
        "return_length": [False, True],
        "split_special_tokens": [None, True],
        "return_tensors": [None, None, "np"],
    }
    return {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.4}


def plain(value: Any) -> Any:
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return [plain(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", NAMES)
def test_calls_give_the_same(name: str, tmp_path: Path) -> None:
    ours, theirs = pair(name, tmp_path / "f")
    rng = random.Random(name)
    texts = [one for one in vocabularies.texts(300, seed=2) if one.isprintable()]
    compared = refused = 0
    for _ in range(500):
        several = rng.random() < 0.7
        text: Any = rng.choices(texts, k=rng.randrange(1, 4)) if several else rng.choice(texts)
        other: Any = None
        if rng.random() < 0.3:
            other = rng.choices(texts, k=len(text)) if several else rng.choice(texts)
        given = options(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = theirs(text, other, **given)
            except BaseException as error:  # a panic is one
                if isinstance(error, KeyboardInterrupt):
                    raise
                refused += 1
                continue
            try:
                found = ours(text, other, **given)
            except digram.OptionError as error:
                # Texts of which nothing would be left, and windows that would not advance.
                if not re.search("leave|advance", str(error)):
                    print(given, text, other)
                    raise
                refused += 1
                continue
        assert [*found] == [*expected], given
        assert {key: plain(v) for key, v in found.items()} == {
            key: plain(v) for key, v in expected.items()
        }, given
        compared += 1
        for number in range(len(expected.encodings)):
            assert found.tokens(number) == expected.tokens(number)
            assert found.word_ids(number) == expected.word_ids(number)
            assert found.sequence_ids(number) == expected.sequence_ids(number)
    print(compared, "calls equal,", refused, "refused")
    assert compared > 300


@pytest.mark.parametrize(
    "family", ["T5, XLM-R", "XLNet", "DeBERTa 2 and 3", "BGE-M3, E5 multilingual, Jina 3", "SigLIP"]
)
def test_text_without_a_token_of_unigram_is_named_by_itself(family: str, tmp_path: Path) -> None:
    FAMILIES[family]().save(str(tmp_path / "tokenizer.json"))
    pad = "[PAD]" if family.startswith("DeBERTa") else "<pad>"
    said = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": pad}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(said))
    ours = AutoTokenizer.from_pretrained(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    parts = [
        "日本",
        "語",
        "low",
        " ",
        "  ",
        "ÅＡ",
        "e\u0301",
        "ﬁ",
        "<unk>",
        "[UNK]",
        "▁",
        "\n",
        "Q",
    ]
    rng = random.Random(family)
    named = 0
    for _ in range(300):
        text, other = ("".join(rng.choices(parts, k=rng.randrange(1, 9))) for _ in range(2))
        assert ours.tokenize(text) == theirs.tokenize(text), text
        given: dict[str, Any] = rng.choice(
            [
                {"padding": "max_length", "max_length": 12, "truncation": True},
                {"truncation": True, "max_length": 7, "return_overflowing_tokens": True},
                {},
            ]
        )
        for arguments in ((text,), (text, other), ([text, other],)):
            found, expected = ours(*arguments, **given), theirs(*arguments, **given)
            for number in range(len(expected.encodings)):
                assert found.tokens(number) == expected.tokens(number), (arguments, given)
        words = text.split() or ["low"]
        names = ours(words, is_split_into_words=True).tokens()
        assert names == theirs(words, is_split_into_words=True).tokens(), words
        named += any("語" in token for token in names)
    assert named > 50


@pytest.mark.parametrize("name", NAMES)
def test_methods_give_the_same(name: str, tmp_path: Path) -> None:
    ours, theirs = pair(name, tmp_path / "f")
    rng = random.Random(name)
    assert len(ours) == len(theirs)
    assert ours.vocab_size == theirs.vocab_size
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.get_added_vocab() == theirs.get_added_vocab()
    for attribute in (
        *("bos_token", "eos_token", "pad_token", "unk_token", "bos_token_id", "eos_token_id"),
        *("pad_token_id", "unk_token_id", "special_tokens_map", "all_special_tokens"),
        *("all_special_ids", "model_max_length", "padding_side", "truncation_side", "is_fast"),
        *("model_input_names", "pad_token_type_id", "clean_up_tokenization_spaces"),
    ):
        assert getattr(ours, attribute) == getattr(theirs, attribute), attribute
    for both in (True, False):
        assert ours.num_special_tokens_to_add(both) == theirs.num_special_tokens_to_add(both)
    special = [*ours.all_special_ids, 5, 6]
    assert ours.get_special_tokens_mask(
        special, already_has_special_tokens=True
    ) == theirs.get_special_tokens_mask(special, already_has_special_tokens=True)
    for text in [one for one in vocabularies.texts(200, seed=3) if one.isprintable()]:
        ids = ours.encode(text)
        assert ids == theirs.encode(text)
        assert ours.tokenize(text) == theirs.tokenize(text)
        tokens = ours.convert_ids_to_tokens(ids)
        assert tokens == theirs.convert_ids_to_tokens(ids)
        assert ours.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens)
        mixed = rng.sample(ids, len(ids))
        for skip in (False, True):
            assert ours.convert_ids_to_tokens(ids, skip) == theirs.convert_ids_to_tokens(ids, skip)
            for cleans in (None, False):
                assert ours.decode(mixed, skip, cleans) == theirs.decode(
                    mixed, skip, clean_up_tokenization_spaces=cleans
                )
        assert ours.batch_decode([ids, mixed]) == theirs.batch_decode([ids, mixed])
    assert ours.decode([5, 10**6]) == theirs.decode([5, 10**6])


@pytest.mark.parametrize("stored", [None, "left", "right"])
@pytest.mark.parametrize("configured", [None, "left", "right"])
def test_sides_are_those_of_the_files(stored: Any, configured: str | None, tmp_path: Path) -> None:
    """tokenizer_config.json decides, then tokenizer.json, and an argument before both."""
    tok = digram.Tokenizer(vocabularies.SAMPLES["gpt2"]).with_special_tokens(SPECIAL)
    folder = tmp_path / "f"
    tok.save_pretrained(folder, pad="<P>", allow_loss=True)
    path, config = folder / "tokenizer.json", folder / "tokenizer_config.json"
    if stored is not None:
        library = tokenizers.Tokenizer.from_file(str(path))
        pad_id = library.token_to_id("<P>")
        library.enable_padding(direction=stored, pad_id=pad_id, pad_token="<P>")
        library.enable_truncation(9, direction=stored)
        library.save(str(path))
    said = json.loads(config.read_text(encoding="utf-8"))
    for name in ("padding_side", "truncation_side"):
        said.pop(name, None)
        if configured is not None:
            said[name] = configured
    config.write_text(json.dumps(said), encoding="utf-8")
    arguments: list[dict[str, Any]] = [{}, {"padding_side": "left"}, {"truncation_side": "right"}]
    for given in arguments:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = transformers.AutoTokenizer.from_pretrained(str(folder), **given)
        ours = AutoTokenizer.from_pretrained(folder, **given)
        assert (ours.padding_side, ours.truncation_side) == (
            theirs.padding_side,
            theirs.truncation_side,
        )
        texts = ["low", "lower and slower, and the lowest"]
        limits: dict[str, Any] = {"padding": True, "truncation": True, "max_length": 5}
        assert ours(texts, **limits)["input_ids"] == theirs(texts, **limits)["input_ids"]
    # The file alone, and a tokenizer that was loaded.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
    for one in (
        PreTrainedTokenizerFast(tokenizer_file=path),
        PreTrainedTokenizerFast(digram.load(path)),
    ):
        sides = one.padding_side, one.truncation_side
        assert sides == (alone.padding_side, alone.truncation_side)
    # What is saved has the same sides for both.
    ours.save_pretrained(tmp_path / "g")
    again = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "g"))
    assert (again.padding_side, again.truncation_side) == (ours.padding_side, ours.truncation_side)


def test_tokens_that_are_added(tmp_path: Path) -> None:
    ours, theirs = pair("qwen2", tmp_path / "f")
    theirs_token = transformers.AddedToken
    for name, mine, other in [
        ("add_tokens", ["<new>", "other"], ["<new>", "other"]),
        ("add_tokens", AddedToken("<l>", lstrip=True), theirs_token("<l>", lstrip=True)),
        ("add_tokens", "<new>", "<new>"),
        ("add_special_tokens", {"mask_token": "<new>"}, {"mask_token": "<new>"}),
        ("add_special_tokens", {"pad_token": "<l>"}, {"pad_token": "<l>"}),
        ("add_special_tokens", {"mask_token": "<M>"}, {"mask_token": "<M>"}),
        ("add_special_tokens", {"eos_token": "<P>"}, {"eos_token": "<P>"}),
    ]:
        assert getattr(ours, name)(mine) == getattr(theirs, name)(other)
        assert len(ours) == len(theirs)
        assert ours.get_added_vocab() == theirs.get_added_vocab()
        assert ours.special_tokens_map == theirs.special_tokens_map
        for text in ("a <new> <l>b", "other <M><P>low", "another <newer>"):
            assert ours(text)["input_ids"] == theirs(text)["input_ids"]
            ids = ours(text)["input_ids"]
            assert ours.decode(ids, True) == theirs.decode(ids, True)
    ours.pad_token = ours.eos_token
    theirs.pad_token = theirs.eos_token
    assert ours.pad_token_id == theirs.pad_token_id
    ours.save_pretrained(tmp_path / "g")
    again = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "g"))
    assert again("other <M><P>low<new>")["input_ids"] == ours("other <M><P>low<new>")["input_ids"]
    assert AutoTokenizer.from_pretrained(tmp_path / "g").get_vocab() == ours.get_vocab()


def test_padding_of_what_calls_gave(tmp_path: Path) -> None:
    ours, theirs = pair("gpt2", tmp_path / "f")
    rng = random.Random(5)
    for _ in range(100):
        calls = [
            {"input_ids": rng.choices(range(99), k=n), "token_type_ids": [0] * n}
            for n in rng.choices(range(1, 9), k=3)
        ]
        given: dict[str, Any] = {
            "padding": rng.choice([True, "longest", "max_length", False]),
            "max_length": rng.choice([None, 12]),
            "pad_to_multiple_of": rng.choice([None, 8]),
            "padding_side": rng.choice([None, "left"]),
            "return_attention_mask": rng.choice([None, True, False]),
        }
        for inputs in (calls, calls[0]):
            found, expected = ours.pad(inputs, **given), theirs.pad(inputs, **given)
            assert dict(found) == dict(expected), given
    with pytest.raises(ValueError, match="input_ids"):
        ours.pad({"ids": [1]})


def test_arrays_of_empty_texts_are_of_numbers_too(tmp_path: Path) -> None:
    ours, theirs = pair("gpt2", tmp_path / "f")
    options = {"return_tensors": "np", "add_special_tokens": False, "return_offsets_mapping": True}
    for text, are_words in (("", False), (["", ""], False), ([], True), ([[], [""]], True)):
        given: dict[str, Any] = {**options, "is_split_into_words": are_words}
        found, expected = ours(text, **given), theirs(text, **given)
        assert list(found) == list(expected)
        for name in found:
            assert found[name].dtype == expected[name].dtype == "int64", (text, name)
            assert found[name].tolist() == expected[name].tolist()


def test_options_of_calls_are_saved_again(tmp_path: Path) -> None:
    """As `clean_up_tokenization_spaces` of BERT, which changes decoded text."""
    special = ["[PAD]", "[CLS]", "[SEP]", "[MASK]"]
    tok = digram.train("low , lower .", model="wordpiece", vocab_size=40, special_tokens=special)
    tok.save_pretrained(tmp_path / "f", unk="[UNK]", pad="[PAD]")
    path = tmp_path / "f" / "tokenizer_config.json"
    options = {"clean_up_tokenization_spaces": True, "split_special_tokens": True}
    path.write_text(json.dumps(json.loads(path.read_bytes()) | options))
    for number in range(2):
        ours = AutoTokenizer.from_pretrained(tmp_path / "fg"[number])
        theirs = transformers.AutoTokenizer.from_pretrained(str(tmp_path / "fg"[number]))
        ids = theirs("low , lower . [MASK]")["input_ids"]
        assert ours("low , lower . [MASK]")["input_ids"] == ids
        assert ours.decode(ids) == theirs.decode(ids)
        ours.save_pretrained(tmp_path / "g")


def test_it_goes_through_datasets(tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip("datasets")
    ours, theirs = pair("qwen2", tmp_path / "f")
    assert pickle.loads(pickle.dumps(ours))("low lower") == ours("low lower")
    rows = datasets.Dataset.from_dict({"text": ["low", "lower low", "", "slow"] * 5})

    def encode(tokenizer: Any) -> Any:
        call = lambda batch: tokenizer(batch["text"], truncation=True, max_length=8)  # noqa: E731
        return rows.map(call, batched=True, batch_size=3).to_dict()

    assert encode(ours) == encode(theirs)


def test_chats_are_equal(tmp_path: Path) -> None:
    ours, theirs = pair("qwen2", tmp_path / "f")
    source = (
        "{% for m in messages %}{{ bos_token + m.role }}{% generation %}{{ m.content + eos_token }}"
        "{% endgeneration %}{% endfor %}{% if add_generation_prompt %}<S>{% endif %}"
    )
    ours.chat_template = theirs.chat_template = source
    chats = [
        [{"role": "user", "content": "low <E> low"}],
        [{"role": "user", "content": "lower"}, {"role": "assistant", "content": "low"}],
    ]
    for conversation in (chats[0], chats[1], chats):
        for given in (
            {"tokenize": False},
            {"return_dict": False},
            {"add_generation_prompt": True},
            {"padding": True},
            {"return_assistant_tokens_mask": True},
            {"padding": True, "return_assistant_tokens_mask": True, "return_tensors": "np"},
            {"truncation": True, "max_length": 5},
            {"truncation": True, "max_length": 5, "return_assistant_tokens_mask": True},
        ):
            found = ours.apply_chat_template(conversation, **given)
            expected = theirs.apply_chat_template(conversation, **given)
            if isinstance(found, str | list):
                assert found == expected
            else:
                assert {k: plain(v) for k, v in found.items()} == {
                    k: plain(v) for k, v in expected.items()
                }
    ids = ours.apply_chat_template(chats[0], sanitize_control_tokens=True)["input_ids"]
    assert ids.count(ours.eos_token_id) == 1
