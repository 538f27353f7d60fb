"""Offsets that a post-processor trims are those of the library, in every call that has them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from strategies import scaled
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from tokenizers.trainers import BpeTrainer

import digram
from digram import VocabError
from digram.formats.huggingface import dumps, loads

CORPUS = ["The café's naïve  façade: 12,345 résumés\t— Ångström\n  end of it"]
POST: dict[str, Any] = {
    "spaces": processors.ByteLevel(add_prefix_space=False, trim_offsets=True),
    "spaces but the prefix": processors.ByteLevel(add_prefix_space=True, trim_offsets=True),
    "nothing": processors.ByteLevel(trim_offsets=False),
    "Roberta": processors.RobertaProcessing(("</s>", 1), ("<s>", 0), True, False),
    "Roberta with a prefix": processors.RobertaProcessing(("</s>", 1), ("<s>", 0), True, True),
    "Roberta, nothing": processors.RobertaProcessing(("</s>", 1), ("<s>", 0), False, True),
    "Llama 3": processors.Sequence(
        [
            processors.ByteLevel(add_prefix_space=True, trim_offsets=True),
            processors.TemplateProcessing(
                single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", 0)]
            ),
        ]
    ),
}


def made(post: Any, prefix: bool, normalizer: Any = None) -> Tokenizer:
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    theirs.decoder = decoders.ByteLevel()
    if normalizer is not None:
        theirs.normalizer = normalizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = BpeTrainer(
        vocab_size=320,
        initial_alphabet=alphabet,
        special_tokens=["<s>", "</s>"],
        show_progress=False,
    )
    theirs.train_from_iterator(CORPUS * 4, trainer)
    theirs.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    wide = AddedToken("<w>", lstrip=True, rstrip=True, normalized=False)
    theirs.add_tokens([wide, AddedToken("  ", normalized=False)])
    theirs.post_processor = post
    return theirs


def texts(number: int) -> list[str]:
    rng = random.Random(2)
    parts = [*"aeé— \t\n", "  ", " <mask>", "\u3000<w>  ", "<s>", " the", "end", "\U0001f600"]
    return ["".join(rng.choices(parts, k=rng.randrange(12))) for _ in range(number)]


@pytest.mark.parametrize("name", POST)
@pytest.mark.parametrize("prefix", [False, True])
def test_offsets(name: str, prefix: bool, tmp_path: Path) -> None:
    theirs = made(POST[name], prefix, normalizers.NFKC() if prefix else None)
    definition = loads(theirs.to_str().encode())
    tok = digram.Tokenizer(definition)
    assert (definition.trim_offsets is None) == ("nothing" in name)
    found = digram.verify(tok, theirs, [*CORPUS, *texts(scaled(200))], fuzz=scaled(300))
    assert found.equal, str(found)
    assert not any("trimmed" in note for note in found.not_compared)
    for text in texts(40):
        pair = text[::-1]
        for ours, other in (
            (tok(text, special="parse"), theirs.encode(text)),
            (tok(text, pair, special="parse"), theirs.encode(text, pair)),
        ):
            assert ours.offsets == other.offsets, text
            spans = [ours.token_to_chars(at) for at in range(len(ours))]
            assert [span or (0, 0) for span in spans] == ours.offsets
            for position in range(len(text) * (definition.trim_offsets is not None)):
                assert ours.char_to_token(position) == other.char_to_token(position), text
    again = digram.Tokenizer(loads(dumps(definition)))
    assert again == tok
    found = digram.verify(tok, Tokenizer.from_str(dumps(definition).decode()), texts(scaled(100)))
    assert found.equal, str(found)
    tok.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json") == tok


def test_arrays_words_and_windows() -> None:
    theirs = made(POST["Llama 3"], False)
    tok = digram.Tokenizer(loads(theirs.to_str().encode()))
    some = [text for text in texts(60) if text.strip()]
    rows = tok(some, special="parse").encodings
    assert [one.offsets for one in rows] == [one.offsets for one in theirs.encode_batch(some)]
    for text in some[:20]:
        array = tok([text, text], special="parse").numpy("offset_mapping")["offset_mapping"]
        assert [[*map(tuple, row)] for row in array.tolist()] == [theirs.encode(text).offsets] * 2
    words = [[" low", "a  b ", "é"], ["x"]]
    found = tok(words, is_split_into_words=True).encodings
    expected = theirs.encode_batch(words, is_pretokenized=True)
    assert [one.offsets for one in found] == [one.offsets for one in expected]
    theirs.enable_truncation(6, stride=2)
    cut = tok(CORPUS[0], max_length=6, overlap=2)
    other = theirs.encode(CORPUS[0])
    assert cut.offsets == other.offsets
    assert [one.offsets for one in cut.overflowing] == [one.offsets for one in other.overflowing]


def test_what_is_trimmed_twice_is_refused() -> None:
    level = processors.ByteLevel(trim_offsets=True)
    template = json.loads(POST["Llama 3"].__getstate__())["processors"][1]
    for post, message in (
        (processors.Sequence([level, level]), "twice"),
        (None, "after it adds tokens"),
    ):
        theirs = made(post or level, False)
        file = json.loads(theirs.to_str())
        if post is None:
            parts = [template, file["post_processor"]]
            file["post_processor"] = {"type": "Sequence", "processors": parts}
        with pytest.raises(VocabError, match=f"trims offsets {message}"):
            loads(json.dumps(file).encode())
