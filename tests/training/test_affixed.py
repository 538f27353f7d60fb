"""Training of BPE with a suffix or a prefix: `train(like=...)` of tokenizers such as CLIP's."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from formats.test_affixes import (
    CHARACTERS,
    FAMILIES,
    HOSTILE,
    TRAINED_ON,
    both,
    clip,
    fsmt,
    gpt1,
    prefix,
)
from tokenizers import AddedToken, Tokenizer, models, trainers

import digram
from digram.formats.huggingface import dumps, loads
from digram.reference.affixes import symbols
from digram.vocab.bpe import require_bpe

TEXT = [*TRAINED_ON * 3, *["the theatre of the other theory lower lowest low"] * 5]


def read(theirs: Tokenizer) -> digram.Tokenizer:
    return digram.Tokenizer(loads(theirs.to_str().encode()))


def names_in(tok: digram.Tokenizer) -> dict[str, Any]:
    return dict(json.loads(dumps(tok.definition, allow_loss=True))["model"])


def plain_training(
    words: Counter[str], first: list[str], pre: str, end: str, least: int
) -> list[tuple[str, str]]:
    """Merges by counts; of equal ones, that of the lowest ids. `first` are names by id."""
    ids = {name: id for id, name in enumerate(first)}
    pieces = {word: symbols(word, pre, end) for word in words}
    merges: list[tuple[str, str]] = []
    while True:
        counts: Counter[tuple[str, str]] = Counter()
        for word, parts in pieces.items():
            for pair in pairwise(parts):
                counts[pair] += words[word]
        best = min(
            counts, key=lambda pair: (-counts[pair], ids[pair[0]], ids[pair[1]]), default=None
        )
        if best is None or counts[best] < least:
            return merges
        merges.append(best)
        made = best[0] + best[1][len(pre) :]
        ids.setdefault(made, len(ids))
        for parts in pieces.values():
            at = 0
            while at < len(parts) - 1:
                if (parts[at], parts[at + 1]) == best:
                    parts[at : at + 2] = [made]
                at += 1


@pytest.mark.parametrize(
    ("family", "pre", "end"), [(fsmt, "", "</w>"), (prefix, "@@", ""), (both, "@@", "</w>")]
)
def test_merges_are_those_of_a_plain_loop(family: Any, pre: str, end: str) -> None:
    choose = random.Random(7)
    like = read(family())
    for _ in range(25):
        letters = "abcé日"[: choose.randrange(1, 6)]
        words = Counter(
            "".join(choose.choices(letters, k=choose.randrange(1, 12)))
            for _ in range(choose.randrange(1, 60))
        )
        corpus = [" ".join(words.elements())]
        tok = digram.train(corpus, like=like, vocab_size=900, min_frequency=2)
        model = names_in(tok)
        merges = [tuple(pair) for pair in model["merges"]]
        first = sorted(model["vocab"], key=model["vocab"].__getitem__)
        base = first[: len(first) - len({a + b[len(pre) :] for a, b in merges})]
        assert merges == plain_training(words, base, pre, end, 2), words
        assert tok.training is not None
        assert len(tok.training.counts) == len(merges)
        for word in words:
            tok.encode(word)


def trained_again(theirs: Tokenizer, texts: list[str], size: int) -> dict[str, Any]:
    """What `train_new_from_iterator` of transformers does; ids of letters differ in each run."""
    file = json.loads(theirs.to_str())
    added = file.pop("added_tokens")
    file.pop("post_processor")
    affixes = {
        name: file["model"][name]
        for name in ("end_of_word_suffix", "continuing_subword_prefix")
        if file["model"][name]
    }
    file["model"] |= {"vocab": {}, "merges": []}
    fresh = Tokenizer.from_str(json.dumps(file))
    special = [AddedToken(one["content"], special=True) for one in added]
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, show_progress=False, **affixes
    )
    fresh.train_from_iterator(texts, trainer)
    assert isinstance(fresh.model, models.BPE)
    return dict(json.loads(fresh.to_str())["model"])


@pytest.mark.parametrize("family", [gpt1, fsmt, prefix, both])
def test_letters_and_merges_are_those_of_the_library_without_ties(family: Any) -> None:
    theirs = family()
    pairs = ["ab", "cd", "ef", "gh", "ba", "dc", "fe"]
    texts = [" ".join([word] * 3**n) for n, word in enumerate(pairs, 1)]
    texts += ["abx " * 5000, "xcd " * 7000, "éa " * 11000]
    tok = digram.train(texts, like=read(theirs), vocab_size=300)
    ours, expected = names_in(tok), trained_again(theirs, texts, 300)
    assert {*map(tuple, ours["merges"])} == {*map(tuple, expected["merges"])}
    assert {*ours["vocab"]} == {*expected["vocab"]}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_the_library_reads_what_was_trained(family: Any) -> None:
    like = read(family())
    tok = digram.train(TEXT, like=like, vocab_size=like.vocab_size - 20)
    assert tok.vocab_size == like.vocab_size - 20
    written = Tokenizer.from_str(dumps(tok.definition, allow_loss=True).decode())
    found = digram.verify(tok, written, TRAINED_ON + HOSTILE, fuzz=300)
    assert found.equal, str(found)
    assert tok.definition.pretokenizer == like.definition.pretokenizer
    assert {*tok.special_tokens} == {*like.special_tokens}
    assert tok.training is not None
    assert tok.training.stop_reason == "vocab_size"
    again = digram.train(TEXT, like=tok)  # of the same size
    assert again.definition.model == tok.definition.model


def test_clip_keeps_its_bytes() -> None:
    like = read(clip())
    tok = digram.train(TEXT, like=like, vocab_size=600)
    names = sorted(names_in(tok)["vocab"].items(), key=lambda pair: pair[1])
    theirs = sorted(names_in(like)["vocab"].items(), key=lambda pair: pair[1])
    assert names[:256] == theirs[:256]
    assert all(name == names[id][0] + "</w>" for name, id in names[256:512] for id in [id - 256])
    assert tok.decode(tok.encode("any 日本語 text")) == "any 日本語 text"


def test_the_settings_of_the_model_are_kept() -> None:
    unknown = models.BPE({"<unk>": 0, "a": 1, "b": 2}, [], unk_token="<unk>", fuse_unk=True)
    theirs = Tokenizer(unknown)
    theirs.add_special_tokens(["<unk>"])
    definition = replace(read(theirs).definition, dropout=0.25)
    tok = digram.train(["abab ab"], like=digram.Tokenizer(definition), vocab_size=8)
    assert require_bpe(tok.definition.model, "the test").fuse_unknown
    assert tok.encode("xyz") == [tok.special_tokens["<unk>"]]
    assert tok.dropout == 0.25
    for family in CHARACTERS:
        like = read(family())
        fused = replace(require_bpe(like.definition.model, "the test"), fuse_unknown=True)
        made = digram.train(TEXT, like=digram.Tokenizer(replace(like.definition, model=fused)))
        assert require_bpe(made.definition.model, "the test").fuse_unknown
    as_bytes = digram.train(
        ["abab"], like=digram.Tokenizer(definition), on_unknown="bytes", max_merges=1
    )
    assert not require_bpe(as_bytes.definition.model, "the test").fuse_unknown


def test_a_limited_alphabet_and_a_checkpoint(tmp_path: Path) -> None:
    like = read(fsmt())
    tok = digram.train(TEXT, like=like, vocab_size=90, limit_alphabet=20)
    unknown = tok.special_tokens["<unk>"]
    assert unknown in tok.encode("日本語")
    assert len({name for name in names_in(tok)["vocab"] if len(name) == 1}) == 20
    few = digram.train(TEXT, like=like, max_merges=9, alphabet="lowerth")
    assert {name for name in names_in(few)["vocab"] if len(name) == 1} == {*"lowerth"}
    assert few.special_tokens["<unk>"] in few.encode("x")
    whole = digram.train(TEXT, like=like, vocab_size=200)
    run = digram.train(TEXT, like=like, vocab_size=200, checkpoint=tmp_path / "run")
    again = digram.train(TEXT, like=like, vocab_size=200, checkpoint=tmp_path / "run")
    assert run.definition == again.definition == whole.definition
    seen: list[digram.Merge] = []
    digram.train(TEXT, like=like, vocab_size=200, on_merge=seen.append)
    assert [one.token for one in seen] == [
        whole.id_to_token(id) for _, _, id in require_bpe(whole.definition.model, "the test").merges
    ]
    assert [one.id for one in seen] == [
        id for _, _, id in require_bpe(whole.definition.model, "the test").merges
    ]


def test_options_without_effect_are_refused() -> None:
    like = read(fsmt())
    assert digram.train(TEXT, like=like, model="bpe").vocab_size == like.vocab_size
    for options, message in (
        ({"memory_limit": "1 GB"}, "like= with bpe with the suffix '</w>' and memory_limit="),
        ({"on_unknown": "bytes"}, 'on_unknown="bytes" is not supported for bpe with the suffix'),
        ({"unit": "byte"}, "unit='byte' contradicts like="),
        ({"superwords": "two-stage"}, "and superwords= cannot be combined"),
        ({"vocab_size": 10}, "leaves no room for a merge"),
    ):
        with pytest.raises(digram.OptionError, match=message):
            digram.train(TEXT, like=like, **options)
