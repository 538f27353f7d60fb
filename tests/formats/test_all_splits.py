"""Merges that converters of ranks and scores write: each way to split a token in two.

Many have a part that is made later. They are left out if they are never applied, and the ids stay
those of a program that applies all merges.
"""

from __future__ import annotations

import json
import random
from itertools import pairwise
from typing import Any

import pytest
import tokenizers
import vocabularies
from vocabularies import CORPUS, trained

import digram
from digram.formats import huggingface
from digram.formats._alone import in_order
from digram.formats._letters import to_letters
from digram.vocab.bpe import require_bpe

Pairs = list[tuple[str, str]]


def applied(text: str, merges: Pairs) -> list[str]:
    """The lowest rank first, of equal ones the leftmost."""
    ranks = {pair: rank for rank, pair in reversed([*enumerate(merges)])}
    parts = [*text]
    while known := [(ranks[one], at) for at, one in enumerate(pairwise(parts)) if one in ranks]:
        at = min(known)[1]
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts


def is_in_order(merges: Pairs) -> bool:
    made: dict[str, int] = {}
    for rank, (left, right) in enumerate(merges):
        made.setdefault(left + right, rank)
    return all(max(made.get(a, -1), made.get(b, -1)) < rank for rank, (a, b) in enumerate(merges))


def every_split(names: list[str], letters: str) -> Pairs:
    known = {*names, *letters}
    return [
        (name[:at], name[at:])
        for name in names
        for at in range(1, len(name))
        if name[:at] in known and name[at:] in known
    ]


def test_merges_that_are_left_out_are_never_applied() -> None:
    rng = random.Random(0)
    ordered = dropped = 0
    for _ in range(700):
        letters = "abc"[: rng.choice([2, 3])]
        names = [*{"".join(rng.choices(letters, k=rng.randrange(2, 6))) for _ in range(12)}]
        names.sort(key=lambda name: (len(name) * rng.random(), name))
        merges = every_split(names, letters)
        if rng.random() < 0.3:
            rng.shuffle(merges)
        kept = [(left, right) for left, right in in_order(merges, {*letters, *names}, None)]
        ordered += is_in_order(kept)
        dropped += len(merges) - len(kept)
        for _ in range(20):
            text = "".join(rng.choices(letters, k=rng.randrange(12)))
            assert applied(text, kept) == applied(text, merges), (merges, text)
    assert ordered > 200
    assert dropped > 400


@pytest.mark.parametrize("longest", [4, 8, 16])
def test_runs_that_grow_from_the_left(longest: int) -> None:
    """As in Llama 2's tokenizer.json: the merges of longer runs come first."""
    runs = ["a" * length for length in range(longest, 1, -1)]
    merges = [("b", "a"), *every_split(runs, "ab")]
    merges.sort(key=lambda pair: (pair != ("b", "a"), -len(pair[0]), -len(pair[1])))
    vocab = {"a", "b", "ba", *runs}
    kept = [(left, right) for left, right in in_order(merges, vocab, None)]
    assert is_in_order(kept)
    for length in range(4 * longest):
        for text in ("a" * length, "b" + "a" * length + "b", "ba" * 3 + "a" * length):
            assert applied(text, kept) == applied(text, merges), text


def told(definition: digram.Definition, merges: Pairs) -> Any:
    top = json.loads(huggingface.dumps(definition, allow_loss=True))
    del top["model"]["digram"]
    top["model"]["merges"] = [list(pair) for pair in merges]
    return top


@pytest.mark.parametrize("name", ["gpt2", "o200k"])
def test_files_of_ranks_with_every_split(name: str) -> None:
    """As the tokenizer.json of Llama 3 is made from its ranks."""
    definition = trained(pretokenizer=name, max_merges=400)
    names = [to_letters(token or b"") for token in definition.tokens]
    merges = every_split(names[256:], "".join(names[:256]))
    assert not is_in_order(merges)
    top = told(definition, merges)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(top))
    found = huggingface.loads(json.dumps(top).encode())
    assert require_bpe(found.model, "a test").merges == require_bpe(definition.model, "").merges
    tok = digram.Tokenizer(found)
    for text in vocabularies.texts(300):
        assert tok.encode(text) == theirs.encode(text).ids, text
    # With ids in another order each merge is looked at.
    last = len(names) + 255
    top["model"]["vocab"] = {name: last - id if id > 255 else id for id, name in enumerate(names)}
    theirs = tokenizers.Tokenizer.from_str(json.dumps(top))
    again = digram.Tokenizer(huggingface.loads(json.dumps(top).encode()))
    assert len(again.merges) > len(tok.merges)
    for text in vocabularies.texts(300):
        assert again.encode(text) == theirs.encode(text).ids, text


def test_files_of_characters_with_every_split() -> None:
    """As the tokenizer.json of Llama 2 is made from its scores."""
    definition = trained(
        unit="char", on_unknown="bytes", pretokenizer="gpt2", special_tokens=["<s>"], max_merges=400
    )
    names = [
        (token or b"").decode()
        for id, token in enumerate(definition.tokens)
        if id not in (definition.byte_ids or []) and token is not None
    ]
    letters = "".join(name for name in names if len(name) == 1)
    made = [
        (definition.tokens[id] or b"").decode()
        for _, _, id in require_bpe(definition.model, "a test").merges
    ]
    merges = every_split(made, letters)
    assert not is_in_order(merges)
    top = told(definition, merges)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(top))
    tok = digram.Tokenizer(huggingface.loads(json.dumps(top).encode()))
    for text in (one.replace("<s>", "") for one in [*vocabularies.texts(300), CORPUS]):
        assert tok.encode(text) == theirs.encode(text).ids, text
