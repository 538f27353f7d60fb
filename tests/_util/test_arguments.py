"""Arguments of the wrong kind are refused alike everywhere, in digram's words and with a remedy."""

from __future__ import annotations

import copy
import json
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import digram
from digram import formats
from digram.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast

TOK = digram.train("low low lower", vocab_size=258, special_tokens=["<s>"])
COUNTS = digram.Counts({"low": 5, "lower": 1}, pretokenizer=None)


def trained(**options: Any) -> list[tuple[bytes, bytes]]:
    options = {"max_merges": 3, **options}
    return digram.train("low low lower lowest", **options).merges


def fair(**options: Any) -> list[tuple[bytes, bytes]]:
    texts = {"en": "low low lower lowest", "de": "nieder niedrig"}
    return digram.train_fair(texts, max_merges=6, **options).merges


# What is asked for, the name of the number, the least of it.
NUMBERS: dict[str, tuple[Callable[[Any], object], str, int]] = {
    "fits": (lambda n: TOK.fits("a", n), "max_length", 0),
    "truncate": (lambda n: TOK.truncate("a", n), "max_length", 0),
    "chunks": (lambda n: TOK.chunks("a", n), "max_length", 1),
    "overlap": (lambda n: TOK.chunks("a", 4, overlap=n), "overlap", 0),
    "limit": (lambda n: list(TOK.encode_stream(["a"], limit=n)), "limit", 1),
    "encode_batch": (lambda n: TOK.encode_batch(["a"], threads=n), "threads", 1),
    "encode_iter": (lambda n: list(TOK.encode_iter(["a"], threads=n)), "threads", 1),
    "count_batch": (lambda n: TOK.count_batch(["a"], threads=n), "threads", 1),
    "decode_batch": (lambda n: TOK.decode_batch([[97]], threads=n), "threads", 1),
    "call": (lambda n: TOK("a", threads=n), "threads", 1),
    "count_pretokens": (
        lambda n: digram.count_pretokens("a", pretokenizer="gpt2", threads=n),
        "threads",
        1,
    ),
    "train": (lambda n: trained(threads=n), "threads", 1),
    "max_merges": (lambda n: trained(max_merges=n), "max_merges", 0),
    "min_frequency": (lambda n: trained(min_frequency=n), "min_frequency", 1),
    "max_token_length": (lambda n: trained(max_token_length=n), "max_token_length", 1),
    "limit_alphabet": (
        lambda n: trained(unit="char", limit_alphabet=n, on_unknown="bytes"),
        "limit_alphabet",
        1,
    ),
    "runners_up": (lambda n: trained(runners_up=n), "runners_up", 0),
    "window": (lambda n: fair(window=n), "window", 1),
    "global_merges": (lambda n: fair(global_merges=n), "global_merges", 0),
    "filter": (lambda n: COUNTS.filter(min_count=n), "min_count", 1),
}


@pytest.mark.parametrize("call", NUMBERS)
def test_whole_numbers(call: str) -> None:
    run, name, least = NUMBERS[call]
    for wrong in ("3", 3.0, True, [3]):
        with pytest.raises(TypeError, match=f"^{name} is a whole number, not "):
            run(wrong)
    for small in (least - 1, -(2**70)):
        with pytest.raises(digram.OptionError, match=f"^{name}={small} is not at least {least}"):
            run(small)
    assert run(least + 1) == run(np.int64(least + 1))


ENDED = ("overlap", "max_merges")
"""What cannot be as large as one likes: more than the size of a chunk, or than there are ids."""


@pytest.mark.parametrize("call", [name for name in NUMBERS if name not in ENDED])
def test_numbers_beyond_all_texts(call: str) -> None:
    run, _, _ = NUMBERS[call]
    assert run(2**70) == run(1_000)


def test_a_vocabulary_has_an_end() -> None:
    for size in (2**40, 2**70):
        with pytest.raises(digram.OptionError, match="the maximum size of a vocabulary"):
            digram.train("low", vocab_size=size)
    nonsense: list[Any] = ["300", 300.0, True]
    for wrong in nonsense:
        with pytest.raises(TypeError, match=r"^vocab_size is a whole number, not "):
            digram.train("low", vocab_size=wrong)
    with pytest.raises(digram.OptionError, match=r"^vocab_size=0 is not at least 1"):
        digram.train("low", vocab_size=0)


def test_numbers_of_numpy_are_kept_as_plain_ones(tmp_path: Path) -> None:
    """In the record of a tokenizer, in its file, and in the note of a checkpoint."""
    options: dict[str, Any] = {"vocab_size": 258, "min_frequency": 1, "max_token_length": 4}
    of_numpy: dict[str, Any] = {name: np.int64(number) for name, number in options.items()}
    expected = digram.train("low low", **options)
    for _ in range(2):
        tok = digram.train("low low", checkpoint=tmp_path / "run", **of_numpy)
        assert tok == expected
        assert tok.digest == expected.digest
    assert digram.train("low low", checkpoint=tmp_path / "run", **options) == expected


def test_counts_are_told_apart_by_all_their_bits() -> None:
    counts = digram.Counts({"a": 2**64 - 2}, pretokenizer=None)
    assert counts.filter(min_count=2**64 - 2) == counts
    assert len(counts.filter(min_count=2**64 - 1)) == len(counts.filter(min_count=2**70)) == 0


def test_many_threads_for_much() -> None:
    text = "low lower " * 20_000
    ids = TOK.encode(text)
    assert TOK.decode_batch([ids] * 9, threads=2**61) == [text] * 9


@pytest.mark.parametrize(
    "call",
    [
        lambda seed: TOK.encode("ab", seed=seed),
        lambda seed: TOK.encode("ab", dropout=0.0, seed=seed),
        lambda seed: TOK.encode("ab", dropout=0.5, seed=seed),
        lambda seed: TOK.encode_batch(["ab"], seed=seed),
    ],
)
def test_seeds(call: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match=r"^seed is a whole number, not 'x'"):
        call("x")
    with pytest.raises(digram.OptionError, match="seed=-1 is not a number from 0"):
        call(-1)
    call(7)


PARTS: list[str | bytes | digram.SpecialToken] = ["a", digram.SpecialToken("<s>")]


@pytest.mark.parametrize(
    "call",
    [
        lambda: TOK.encode_batch(PARTS),  # type: ignore[arg-type]
        lambda: TOK.fits(PARTS, 3),  # type: ignore[arg-type]
        lambda: TOK.truncate(PARTS, 3),  # type: ignore[call-overload]
        lambda: TOK.chunks(PARTS, 3),  # type: ignore[call-overload]
        lambda: TOK.counter(PARTS),  # type: ignore[arg-type]
        lambda: TOK.intervals(PARTS),  # type: ignore[arg-type]
    ],
)
def test_parts_are_for_encode_and_count(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match="encode and count take the parts of one text, in a list"):
        call()
    assert TOK.count(PARTS) == len(TOK.encode(PARTS)) == 2


def test_a_path_is_no_text() -> None:
    path: Any = Path("corpus.txt")
    for call in (TOK.encode, TOK.count, TOK.pretokenize, lambda path: TOK.encode_batch([path])):
        with pytest.raises(TypeError, match="is str or bytes, not PosixPath; read the file first"):
            call(path)


def test_arrow_lists_of_ids_are_decoded() -> None:
    texts = ["low lower", "", "é", "<s>"]
    ids = TOK.encode_batch(texts, special="parse", out="arrow")
    assert TOK.decode_batch(ids) == texts
    assert TOK.decode_batch(TOK.encode_batch([], out="arrow")) == []
    with pytest.raises(TypeError, match="errors is a str, not int"):
        TOK.decode_batch(ids, errors=5)  # type: ignore[arg-type]


def test_a_special_token_is_named_once() -> None:
    with pytest.raises(digram.OptionError, match="names '<p>' twice"):
        digram.train("a", max_merges=0, special_tokens=["<p>", "<q>", "<p>"])
    with pytest.raises(digram.OptionError, match=r"'<s>' is already .*its id is 257\."):
        TOK.with_special_tokens(["<s>"])


@pytest.mark.parametrize("ids", [{"<x>": 3}, {"<x>": 257}, {"<x>": 300, "<y>": 300}])
def test_an_id_that_is_in_use_is_told_with_free_ones(ids: dict[str, int]) -> None:
    with pytest.raises(digram.VocabError, match=r"the id .*\. All ids from 258 on are free\.$"):
        TOK.with_special_tokens(ids)
    assert TOK.with_special_tokens(dict(zip(ids, (258, 259), strict=False))).vocab_size >= 259


def test_ids_of_special_tokens_are_not_chosen_in_training() -> None:
    with pytest.raises(TypeError, match=r"list of texts.*with_special_tokens"):
        digram.train("a", max_merges=0, special_tokens={"<x>": 300})


LISTS: dict[str, Callable[[Any], object]] = {
    "special_tokens": lambda value: digram.train("a", max_merges=0, special_tokens=value),
    "alphabet": lambda value: digram.train("a", max_merges=0, unit="char", alphabet=value),
    "tokens": TOK.with_special_tokens,
    "texts": TOK.encode_batch,
    "texts of counts": TOK.count_batch,
    "parts": digram.Counts.merge,
    "parts of ids": digram.IdSpace({"image": 4}).encode,
    "pieces": lambda value: digram.Counts(value, pretokenizer=None),
    "replace": lambda value: digram.IdSpace({"image": 4}).with_ranges({}, replace=value),
    "sequences": digram.train_ids([[1, 2]], max_merges=1).encode_batch,
    "weights": lambda value: digram.train_ids([[1, 2]], weights=value, max_merges=1),
    "keep": lambda value: digram.prune(TOK, "low", remove=1, keep=value),
    "sizes": lambda value: digram.curve(TOK, "low", sizes=value),
    "single": digram.Template,
    "batch": TOK.decode_batch,
    "batch of bytes": TOK.decode_bytes_batch,
}


@pytest.mark.parametrize("name", LISTS)
def test_lists(name: str) -> None:
    for value in (5, 0.5):
        with pytest.raises(TypeError) as caught:
            LISTS[name](value)
        assert re.fullmatch(
            rf"{name.partition(' ')[0]} is [a-z ]+, as in a list, not {value}",
            str(caught.value),
            re.I,
        ), caught.value


SPECIAL: dict[str, Callable[[Any], object]] = {
    "encode": lambda value: TOK.encode("a", special=value),
    "count": lambda value: TOK.count("a", special=value),
    "encode_batch": lambda value: TOK.encode_batch(["a"], special=value),
    "encode_iter": lambda value: TOK.encode_iter(["a"], special=value),
    "encode_stream": lambda value: TOK.encode_stream(["a"], special=value),
    "count_batch": lambda value: TOK.count_batch(["a"], special=value),
    "fits": lambda value: TOK.fits("a", 1, special=value),
    "truncate": lambda value: TOK.truncate("a", 1, special=value),
    "call": lambda value: TOK("a", special=value),
    "explain": lambda value: digram.explain(TOK, "a", special=value),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_what_is_done_with_special_tokens(name: str) -> None:
    for value in (5, True, 0.5):
        with pytest.raises(TypeError) as caught:
            SPECIAL[name](value)
        told = f'special is "text", "parse", "raise" or a set of str, not {value}'
        assert str(caught.value) == told


def test_numbers_of_segmentations() -> None:
    model = digram.UnigramModel([-1.0], unknown=-12.0)
    pretokenizer = digram.Pretokenizer(None)
    tok = digram.Tokenizer(
        digram.Definition(tokens=[b"a"], model=model, unit="char", pretokenizer=pretokenizer)
    )
    wrong: Any = None
    with pytest.raises(TypeError, match=r"^count is a whole number, not None$"):
        tok.encode_best("a", count=wrong)
    wrong = 1.5
    with pytest.raises(TypeError, match=r"^count is a whole number, not 1\.5$"):
        tok.encode_sample("a", alpha=1.0, seed=0, count=wrong)
    wrong = "x"
    with pytest.raises(TypeError, match=r"^alpha is a number, not 'x'$"):
        tok.encode_sample("a", alpha=wrong, seed=0)


def test_what_is_called_for_each_merge() -> None:
    with pytest.raises(TypeError, match="on_merge is a function of a Merge, not 5"):
        digram.train("low low", max_merges=1, on_merge=5)  # type: ignore[arg-type]
    plan = digram.extend(TOK, "aab", add=1)[1].embedding_plan()
    with pytest.raises(TypeError, match="id is a whole number, not None"):
        plan.row(None)  # type: ignore[arg-type]


ARRAY: Any = np.zeros(3)
FLAT: Any = digram.FlatIds


@pytest.mark.parametrize(
    "call",
    [
        lambda tok: tok.encode("a", dropout=10**5000, seed=1),
        lambda tok: tok.encode_batch(["a"], dropout=-(10**5000), seed=1),
        lambda tok: list(tok.encode_iter(["a"], dropout=10**5000, seed=1)),
        lambda tok: tok.decode_batch(FLAT([1], [0, 2**70])),
        lambda tok: tok.save("x.json", format=ARRAY),
        lambda tok: digram.show(tok, "a", ids=ARRAY),
        lambda tok: digram.train_fair({"a": "b c"}, ties=ARRAY, max_merges=1),
        lambda tok: digram.Tokenizer(replace(tok.definition, model=digram.BpeModel(ARRAY))),
        lambda tok: digram.table({"a": [1]}, "\udcff"),
        lambda tok: digram.train_ids([[1]], symbols=-(10**5000), max_merges=1),
        lambda tok: digram.audit(tok).check(ARRAY),
        lambda tok: digram.extend(tok, "aab", add=1)[1].embedding_plan().row(10**5000),
    ],
)
def test_what_no_argument_should_be_is_refused_by_name(call: Callable[[Any], object]) -> None:
    tok = digram.train("low low", max_merges=2, pretokenizer=None)
    with pytest.raises((digram.DigramError, TypeError)):
        call(tok)


READ: list[Any] = [
    formats.clip,
    formats.gguf,
    formats.huggingface,
    formats.minbpe,
    formats.rwkv,
    formats.sentencepiece,
    formats.subword_nmt,
    formats.tekken,
    formats.tiktoken,
]
"""Formats of one file that need no other argument to be read."""
SHARDS: dict[str, Any] = {"format": "npy", "end_of_text": None}
PATHS: dict[str, Callable[[Any], object]] = {
    "path": digram.load,
    "path of save": TOK.save,
    "folder": TOK.save_pretrained,
    "path of counts": digram.Counts.load,
    "path of saved counts": COUNTS.save,
    "path of rules": digram.Rules.load,
    "path of a change": digram.extend(TOK, "aab", add=1)[1].save,
    "folder of a history": digram.VocabularyHistory.load,
    "folder of shards": lambda value: digram.encode_files(TOK, ["a"], value, **SHARDS),
    "path of tokens": digram.read_tokens,
    "checkpoint": lambda value: digram.train("low", max_merges=1, checkpoint=value),
    "path of a format": digram.formats.read,
    **{f"path of {one.__name__}": one.read for one in READ},
    "path of vocab.txt": lambda value: digram.formats.vocab_txt.read(value, pretokenizer=None),
    "folder of two": lambda value: digram.formats.vocab_merges.read(value, pretokenizer=None),
    "folder of seeds": digram.formats.seed_pair.read,
    "folder of a plugin": lambda value: TOK.save_tiktoken_plugin(value, "low"),
    "pretrained_model_name_or_path": AutoTokenizer.from_pretrained,
    "tokenizer_file": lambda value: PreTrainedTokenizerFast(tokenizer_file=value),
    "save_directory": PreTrainedTokenizerFast(TOK).save_pretrained,
}


@pytest.mark.parametrize("name", PATHS)
def test_paths(name: str) -> None:
    for value in (5, ["a"]):
        argument = name.partition(" ")[0]
        with pytest.raises(TypeError) as caught:
            PATHS[name](value)
        assert str(caught.value) == f"{argument} is a str or a Path, not {value}"


@pytest.mark.parametrize("read", [*(one.read for one in READ), formats.seed_pair.read])
def test_a_path_of_bytes_is_written_as_text_in_messages(tmp_path: Path, read: Any) -> None:
    path = tmp_path / "damaged"
    if read is formats.seed_pair.read:
        path.mkdir()
        for name in formats.seed_pair.NAMES:
            (path / name).write_bytes(b"x\n\xff")
    else:
        path.write_bytes(b"x\n\xff")
    with pytest.raises(digram.CorruptFileError, match=re.escape(str(path))):
        read(bytes(path))


def test_fields(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    for value in (3, None, ["a", 3]):
        with pytest.raises(TypeError, match=r"^field must be a name or a list of names, not "):
            digram.files(tmp_path / "a.jsonl", field=value)  # type: ignore[arg-type]


SHOWN: dict[str, Callable[[], Any]] = {
    "special_tokens": lambda: TOK.special_tokens,
    "reserved": lambda: digram.train("a", vocab_size=258, reserve={"image": 1}).reserved,
    "matching": lambda: digram.train("a", max_merges=0).matching,
    "chat_templates": lambda: TOK.with_chat_template("{{ messages }}").chat_templates,
    "ranges": lambda: digram.IdSpace({"image": 4}).ranges,
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_dictionary_that_is_shown_refuses_changes(name: str) -> None:
    found = SHOWN[name]()
    key = next(iter(found), "x")
    changes: list[Callable[[], object]] = [
        lambda: found.__setitem__("zzz", 5),
        lambda: found.__delitem__(key),
        lambda: found.update(zzz=5),
        lambda: found.__ior__({"zzz": 5}),
        lambda: found.setdefault("zzz", 5),
        lambda: found.pop(key),
        found.popitem,
        found.clear,
    ]
    for change in changes:
        with pytest.raises(TypeError, match=r"read-only: .*, or change a copy, dict\(\.\.\.\)$"):
            change()
    assert found == SHOWN[name]()
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is type(found)
    for copied in (again, copy.copy(found), copy.deepcopy(found), found.copy(), found | {}):
        assert copied == found
    assert repr(found) == repr(dict(found))
    dict(found)["zzz"] = copy.deepcopy(found)["zzz"] = 5


def test_what_is_read_only_is_still_a_plain_value_elsewhere() -> None:
    assert json.dumps(TOK.special_tokens) == '{"<s>": 257}'
    assert type(TOK.definition.special_tokens) is dict
    assert type(TOK.definition.chat_templates) is dict
    assert pickle.loads(pickle.dumps(TOK)) == TOK
    assert b"ReadOnly" not in pickle.dumps(TOK)
