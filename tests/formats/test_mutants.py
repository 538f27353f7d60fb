"""Damaged files, by the thousand: each is refused with a `DigramError`, or is a vocabulary.

What is read must hold together: the core takes it, and it survives being written and read again.
`DIGRAM_MUTANTS=250000 pytest tests/formats/test_mutants.py` tries that many of each file.
"""

from __future__ import annotations

import os
import random

import pytest
from mutants import FILES, mutate_bytes, mutate_json, mutate_lines
from vocabularies import BANANA

from digram import DigramError, Tokenizer
from digram.formats._check import check
from digram.vocab.definition import digest

MUTANTS = int(os.environ.get("DIGRAM_MUTANTS", "1000"))


# A `.model` file without what stands behind its pieces is a vocabulary, read with a warning.
@pytest.mark.filterwarnings("ignore:.* be cut off:digram.DigramWarning")
@pytest.mark.parametrize("name", FILES)
def test_mutants_are_refused_or_hold_together(name: str) -> None:
    file = FILES[name]
    assert Tokenizer(file.load(file.data))
    rng = random.Random(name)
    of = [end for end in (".txt", ".tiktoken", ".model", ".json") if end in name]
    kinds = [mutate_bytes]
    if of:
        kinds.append(mutate_json if of == [".json"] else mutate_lines)
    accepted = 0
    for _ in range(MUTANTS):
        data = file.data
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            try:
                data = rng.choice(kinds)(data, rng)
            except (ValueError, IndexError):  # no longer of the form that this one needs
                data = mutate_bytes(data, rng)
        try:
            found = file.load(data)
        except DigramError:
            continue
        accepted += 1
        if name == "tokenizer.json" and b'"digest"' in data:
            assert digest(found) == digest(BANANA), data
        assert check(found) is found
        assert Tokenizer(found).definition == found
        try:
            written = file.dump(found)
        except DigramError:
            continue
        assert file.again(written) == found
    print(f"{name}: {MUTANTS:,} mutants, {accepted:,} of them are vocabularies")
    assert accepted < MUTANTS * 0.7
