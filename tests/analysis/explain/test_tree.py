"""`digram.merge_tree`: the parts of a token, down to what text is made of."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import vocabularies
from hypothesis import given
from strategies import Vocabulary, any_tokenizers, cases
from strategies import vocabularies as any_vocabularies

import digram
from digram import TokenIdError, Tokenizer, VocabError
from digram.analysis.explain import Tree


def leaves(tree: Tree) -> list[bytes]:
    """The leaves, by going down."""
    if tree.left is None or tree.right is None:
        return [tree.token]
    assert tree.token == tree.left.token + tree.right.token
    return [*leaves(tree.left), *leaves(tree.right)]


@cases(200)
@given(any_tokenizers)
def test_parts_make_the_token(tok: Tokenizer) -> None:
    log = tok.merge_log
    for merge in log:
        tree = digram.merge_tree(tok, merge.id)
        assert (tree.id, tree.token, tree.kind) == (merge.id, merge.token, "merge")
        assert (tree.rank, tree.count) == (merge.rank, merge.count)
        assert tree.left is not None
        assert tree.right is not None
        assert (tree.left.token, tree.right.token) == (merge.left, merge.right)
        assert leaves(tree) == tree.leaves == [bytes([byte]) for byte in merge.token]
        assert len([*tree.walk()]) == 2 * len(merge.token) - 1
        assert tree.to_dict()["nodes"][0]["rank"] == merge.rank
        assert digram.merge_tree(tok, merge.token).to_dict() == tree.to_dict()


@cases(200)
@given(any_vocabularies())
def test_the_merge_that_the_encoder_comes_to(vocabulary: Vocabulary) -> None:
    tok = Tokenizer(vocabulary.definition)
    for left, right in vocabulary.merges:
        token = tok.id_to_token(left) + tok.id_to_token(right)
        tree = digram.merge_tree(tok, token)
        steps = digram.explain(tok, token).pretokens[0].steps
        if tok.encode(token) == [tree.id]:
            assert tree.rank == steps[-1].merge.rank
        else:
            assert tree.rank is not None
            assert tok.merges[tree.rank][0] + tok.merges[tree.rank][1] == token


def test_kinds() -> None:
    kinds = {
        "holes": {"<a>": "special", "an": "merge", "a": "byte"},
        "unreachable token": {"xyzzy": "whole", "anan": "merge"},
        "characters or bytes": {"é": "character", "中": "character", "<|end|>": "special"},
    }
    for name, tokens in kinds.items():
        tok = Tokenizer(vocabularies.SAMPLES[name])
        assert {token: digram.merge_tree(tok, token).kind for token in tokens} == tokens
    chars = Tokenizer(vocabularies.SAMPLES["characters or bytes"])
    assert chars.definition.byte_ids is not None
    assert digram.merge_tree(chars, chars.definition.byte_ids[200]).kind == "byte"


def test_what_is_no_token() -> None:
    tok = digram.train("aa", max_merges=1)
    for wrong in (257, -1):
        with pytest.raises(TokenIdError, match=rf"{wrong} is not in this vocabulary \(0..256\)"):
            digram.merge_tree(tok, wrong)
    for text in ("aaa", b"aaa"):
        with pytest.raises(VocabError, match="is not a token of this vocabulary"):
            digram.merge_tree(tok, text)
    for odd in (True, None, 1.5):
        with pytest.raises(TypeError, match="token must be an id, a str or bytes"):
            digram.merge_tree(tok, odd)  # type: ignore[arg-type]


def test_a_deep_tree_is_drawn_in_part() -> None:
    """A token of hundreds of characters, each merge of which adds one."""
    known: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    merges = []
    last = 97
    for number in range(600):
        known.append((known[last] or b"") + b"b")
        merges.append((last, 98, 256 + number))
        last = 256 + number
    tok = Tokenizer(
        digram.Definition(
            tokens=known, model=digram.BpeModel(merges), pretokenizer=digram.Pretokenizer(None)
        )
    )
    tree = digram.merge_tree(tok, last)
    assert (tree.depth, len(tree.leaves)) == (600, 601)
    lines = str(tree).splitlines()
    assert len(lines) < 60
    assert "not drawn further" in str(tree)
    assert "not drawn further" in tree._repr_html_()
    assert len(json.loads(json.dumps(tree.to_dict()))["nodes"]) == 1201


def test_ranks_imply_the_merges(shared_data: Callable[[str], Path]) -> None:
    path = shared_data("vocabs/cl100k_base.tiktoken")
    tok = digram.load(path, encoding="cl100k_base")
    tree = digram.merge_tree(tok, " tokenizer")
    assert tree.left is not None
    assert tree.right is not None
    assert (tree.left.token, tree.right.token) == (b" token", b"izer")
    assert (tree.count, tree.rank) == (None, tree.id - 256)
    assert tree.leaves == [bytes([byte]) for byte in b" tokenizer"]
