"""Which kernel encodes what is not a token: it decides the speed alone, so no test of ids tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from oracles.published import ENCODINGS

import digram
from digram.pretokenizers.pretokenizer import NAMED

Find = Callable[[str], Path]

SPACED = "the cat sat on the mat.\n\u00a0 \u00a0 \u00a0 \n \u3000 \u3000 x\n" * 50
"""Text from which merges of no-break and ideographic spaces with spaces are learned."""


@pytest.mark.parametrize("name", ENCODINGS)
def test_published_vocabularies_have_no_layers(name: str, shared_data: Find) -> None:
    tok = digram.load(shared_data(f"vocabs/{name}.tiktoken"), encoding=name)
    assert tok._kernel == "ranked"


def test_the_published_tokenizer_of_gpt2_has_no_layers(shared_data: Find) -> None:
    assert digram.load(shared_data("vocabs/gpt2_tokenizer.json"))._kernel == "ranked"


@pytest.mark.parametrize("name", NAMED)
def test_named_patterns_have_no_layers(name: str) -> None:
    # Merges that are rare, so that there are enough before them to be a layer.
    corpus = [*digram.files(str(Path(digram.__file__).parent / "training" / "**" / "*.py")), SPACED]
    tok = digram.train(corpus, vocab_size=2_000, pretokenizer=name)
    spaces = [
        merge for merge in tok.merge_log if merge.left[-1:] >= b"\x80" and merge.right[:1] == b" "
    ]
    assert spaces
    assert spaces[-1].rank > 256
    assert tok._kernel == "ranked"


@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        ({"superwords": "two-stage"}, "layered"),
        ({"superwords": "boundless"}, "layered"),
        ({"picky": 0.9}, "events"),
    ],
)
def test_layers_are_for_pretokens_of_several_words(options: dict[str, Any], kernel: str) -> None:
    corpus = digram.files(str(Path(digram.__file__).parent / "training" / "**" / "*.py"))
    assert digram.train(corpus, vocab_size=2_500, **options)._kernel == kernel
