"""Unigram in a tokenizer.json, with the library itself beside it."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

import digram
from digram.errors import CorruptFileError, DigramError, LimitExceededError, VocabError
from digram.formats._sentencepiece_file import ModelFile
from digram.formats.huggingface import dumps, loads
from digram.vocab.scores import UnigramModel

LETTERS = ["▁", *"abcdeht", "é", "日", "本", "1", "."]
PIECES = [
    "▁a",
    "▁the",
    "the",
    "he",
    "aa",
    "aaa",
    "ab",
    "ba",
    "▁日本",
    "日本",
    "ed",
    "11",
    "..",
    "▁▁",
]
SPECIAL = ["<unk>", "<pad>", "</s>", "<mask>"]
PARTS = [
    *(
        "the ",
        "a",
        "aa",
        "aaa",
        "ab",
        "b",
        "x",
        "yz",
        "日本",
        "語",
        " ",
        "  ",
        "\t",
        "\n",
        "▁",
        "▁▁",
    ),
    *("é", "e\u0301", "\u3000", "\u00a0", "\u200b", "ﬁ", "①", "ｶﾞ", "a\u0301\u0302", "\x1e", "\r\n"),
    *(
        "\u1112\u1161\u11ab",
        "👩\u200d👧",
        "</s>",
        "<mask>",
        "<unk>",
        "1",
        "11",
        ".",
        "...",
        "É",
        "한",
    ),
]
WORDS = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])


def texts(count: int, seed: int = 0) -> Iterator[str]:
    rng = random.Random(seed)
    yield from ("", " ", "▁", " a", "the the")
    for _ in range(count):
        yield "".join(rng.choices(PARTS, k=rng.randrange(1, 14)))


def made(pre_tokenizer: Any, normalizer: Any = None, seed: int = 0) -> Tokenizer:
    """A tokenizer of the library, with scores of which many sums are equal."""
    rng = random.Random(seed)
    names = [*SPECIAL, *LETTERS, *PIECES]
    values = [-1.1, -2.2, -3.3, -2.0, -0.7]
    vocab = [(name, 0.0 if name in SPECIAL else rng.choice(values)) for name in names]
    theirs = Tokenizer(models.Unigram(vocab, unk_id=0, byte_fallback=False))
    theirs.pre_tokenizer = pre_tokenizer
    theirs.decoder = decoders.Metaspace()
    if normalizer is not None:
        theirs.normalizer = normalizer
    special = [AddedToken(name, normalized=False, special=True) for name in SPECIAL[:3]]
    theirs.add_special_tokens([*special, AddedToken("<mask>", lstrip=True, normalized=False)])
    return theirs


def charsmap() -> bytes:
    """The map nmt_nfkc, from a file of SentencePiece."""
    spm = pytest.importorskip("sentencepiece")
    import io

    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat"] * 9),
        model_writer=model,
        vocab_size=16,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return ModelFile.loads(model.getvalue(), None).normalization.charsmap


def check(theirs: Tokenizer, count: int) -> None:
    data = theirs.to_str().encode()
    ours = digram.Tokenizer(loads(data))
    for text in texts(count):
        found = theirs.encode(text, add_special_tokens=False)
        encoded = ours(text, special="parse", add_special_tokens=False)
        assert encoded.ids == found.ids, text
        assert [tuple(span) for span in encoded.offsets] == found.offsets, text
        assert ours.decode(found.ids) == theirs.decode(found.ids, skip_special_tokens=False), text
    again = dumps(ours.definition)
    assert loads(again) == ours.definition
    rebuilt = Tokenizer.from_str(again.decode())
    for text in texts(50, seed=1):
        assert rebuilt.encode(text).ids == theirs.encode(text).ids


@pytest.mark.parametrize("seed", range(4))
def test_ids_are_those_of_the_library(seed: int) -> None:
    check(made(WORDS, seed=seed), 300)
    check(made(pre_tokenizers.Metaspace(), normalizers.NFKC(), seed=seed), 300)
    check(made(pre_tokenizers.Metaspace(prepend_scheme="first"), seed=seed), 300)


@pytest.mark.parametrize("pre_tokenizer", [WORDS, pre_tokenizers.Metaspace()])
def test_character_maps_are_applied_as_there(pre_tokenizer: Any) -> None:
    check(made(pre_tokenizer, normalizers.Precompiled(charsmap())), 1500)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"byte_fallback": True, "unk_id": None}, VocabError, "byte_fallback and without unk_id"),
        ({"byte_fallback": True}, VocabError, "byte_fallback needs the token '<0x00>'"),
        ({"alpha": 0.1}, VocabError, "the key 'alpha'"),
        ({"unk_id": 999}, VocabError, "unk_id 999 is not the id of a token"),
        ({"vocab": {"a": 1}}, CorruptFileError, "model.vocab should be"),
        ({"vocab": [["a", 0.0], ["a", -1.0]]}, VocabError, "has the ids 0 and 1"),
        ({"vocab": [["a", "b"]]}, CorruptFileError, "a token and its score"),
    ],
)
def test_what_is_refused(change: dict[str, Any], error: type[DigramError], message: str) -> None:
    top = json.loads(made(WORDS).to_str())
    top["model"] |= change
    top["added_tokens"] = []
    with pytest.raises(error, match=message):
        loads(json.dumps(top).encode())


def test_the_score_of_unknown_characters_is_kept(tmp_path: Path) -> None:
    definition = loads(made(WORDS).to_str().encode())
    model = definition.model
    assert isinstance(model, UnigramModel)
    lower = replace(definition, model=replace(model, unknown=-20.0))
    assert loads(dumps(lower)) == lower
    with pytest.raises(VocabError, match=r"the score -5\.0 of unknown characters"):
        dumps(replace(definition, model=replace(model, unknown=-5.0)))
    for changed in ({"addition": "single"}, {"unused": (6,)}):
        other = replace(definition, model=replace(model, **changed))
        with pytest.raises(VocabError, match="would give other ids") as caught:
            dumps(other)
        assert ("Trained with" in str(caught.value)) == ("addition" in changed)


@pytest.mark.parametrize(
    "changes",
    [
        {"context_size": 7},
        {"chat_templates": {"default": "x"}},
        {"special_roles": digram.SpecialRoles(eos="</s>")},
    ],
)
def test_what_only_the_files_beside_it_store(changes: dict[str, Any], tmp_path: Path) -> None:
    definition = loads(made(WORDS).to_str().encode())
    tok = digram.Tokenizer(replace(definition, **changes))
    with pytest.raises(VocabError, match=f"cannot store {min(changes).replace('_', ' ')}"):
        tok.save(tmp_path / "tokenizer.json")
    tok.save_pretrained(tmp_path)
    assert digram.load(tmp_path) == tok


@pytest.mark.parametrize("length", [None, 8])
def test_padding_and_truncation_of_a_file(length: int | None, tmp_path: Path) -> None:
    """They are arguments of a call; the file that is written has them too."""
    theirs = made(WORDS)
    theirs.enable_truncation(6, stride=1)
    theirs.enable_padding(
        direction="left", pad_id=1, pad_type_id=2, pad_token="<pad>", length=length
    )
    definition = loads(theirs.to_str().encode())
    assert definition.pad_token == "<pad>"
    assert loads(dumps(definition)) == definition
    rebuilt = Tokenizer.from_str(dumps(definition).decode())
    batch = ["the cat", "a", "the the the the the the the"]
    tok = digram.Tokenizer(definition)
    expected = tok(batch, **tok.call_options).ids
    assert [one.ids for one in rebuilt.encode_batch(batch)] == [*map(list, expected)]
    theirs.no_truncation()
    theirs.no_padding()
    assert tok.encode_batch(batch) == [one.ids for one in theirs.encode_batch(batch)]
    assert json.loads(dumps(replace(definition, pad_token=None, padding=None)))["padding"] is None
    sized = tok.with_context_size(128)
    sized.save_pretrained(tmp_path / "folder")
    assert digram.load(tmp_path / "folder") == sized
    sized.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json") == sized


@pytest.mark.parametrize("name", ["▁▁", "t▁e"])
def test_all_spaces_of_the_first_token_are_left_out(name: str) -> None:
    """A model may give tokens first that no text does."""
    content = json.loads(made(WORDS).to_str())
    kept = [piece for piece in content["model"]["vocab"] if "▁" not in piece[0][1:]]
    for vocab, has_steps in [(kept, False), ([*kept, [name, -3.0]], True)]:
        content["model"]["vocab"] = vocab
        data = json.dumps(content)
        theirs, ours = Tokenizer.from_str(data), digram.Tokenizer(loads(data.encode()))
        assert (ours.definition.decoding is not None) is has_steps
        for first in range(4, len(vocab)):
            for ids in ([first], [first, len(vocab) - 1], [0, first]):
                assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
                assert ours.offsets(ids)[-1][1] == len(ours.decode(ids))


def test_single_words_are_no_pieces() -> None:
    """Where the token is not found as a word, the library would make it of text."""
    theirs = made(pre_tokenizers.Metaspace())
    theirs.add_tokens([AddedToken("<x>", single_word=True, special=False, normalized=False)])
    definition = loads(theirs.to_str().encode())
    rebuilt = Tokenizer.from_str(dumps(definition).decode())
    ours = digram.Tokenizer(definition)
    for text in ("a<x>b", "<x>", " <x> a", "aa<x>"):
        ids = theirs.encode(text).ids
        assert ours.encode(text, special="parse") == rebuilt.encode(text).ids == ids
    assert loads(dumps(definition)) == definition
    single = {"<pad>": digram.Matching(single_word=True)}
    with pytest.raises(VocabError, match="'<pad>', which is found as a single word only"):
        dumps(replace(definition, matching=definition.matching | single))


def of_bytes(rng: random.Random) -> bytes:
    """A file with tokens for bytes, whose names text becomes too."""
    pieces = {"".join(rng.choices("ab<unk>0x41é日", k=rng.randint(1, 4))) for _ in range(25)}
    values = rng.choice([[-1.0, -2.0], [-0.1, -0.3, -1.7], [-5.5]])
    vocab = [("<unk>", rng.choice([0.0, -3.0]))]
    vocab += [(piece, rng.choice(values)) for piece in sorted(pieces - {"<unk>"})]
    vocab += [(f"<0x{byte:02X}>", rng.choice([*values, 0.0, -30.0])) for byte in range(256)]
    theirs = Tokenizer(models.Unigram(vocab, unk_id=0, byte_fallback=True))
    theirs.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    theirs.add_special_tokens([AddedToken("<unk>", normalized=False, special=True)])
    return theirs.to_str().encode()


def test_bytes_of_unknown_characters_and_their_names() -> None:
    """Names of bytes are pieces, and each byte of a run has the offsets of the whole run."""
    parts = ["a", "b", "<0x41>", "<0xE6>", "日", "本", "é", "<", "unk", "x", " ", "0x41>", "<unk>"]
    for seed in range(20):
        rng = random.Random(seed)
        data = of_bytes(rng)
        theirs, ours = Tokenizer.from_str(data.decode()), digram.Tokenizer(loads(data))
        assert digram.Tokenizer(loads(dumps(ours.definition))) == ours
        assert digram.Tokenizer(loads(dumps(ours.definition, own=True))) == ours
        for _ in range(150):
            text = "".join(rng.choices(parts, k=rng.randrange(9)))
            expected = theirs.encode(text)
            found = ours(text, special="parse", add_special_tokens=False)
            assert found.ids == expected.ids, text
            assert found.offsets == expected.offsets, text
    assert ours.decode(ours.encode("xy日本")) == "xy日本"
    damaged = data.replace(b"<0x41>", b"<0x4Z>")
    with pytest.raises(VocabError, match="byte_fallback needs the token"):
        loads(damaged)


def test_many_long_pieces_are_refused_in_time() -> None:
    """Encoding each of them would take quadratic time, so that is not tried."""
    for pieces in (
        [(f"{'a' * 360}{number}", -1.0) for number in range(9000)]
        + [("a" * size, -1.0) for size in range(1, 360)],
        [("a" * size, -1.0 * size) for size in range(1, 2500)],
        [("ab" * 200_000, -1.0)],
    ):
        # The library itself overflows the stack with such a piece.
        model = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], *map(list, pieces)]}
        top = {"version": "1.0", "decoder": {"type": "Fuse"}, "model": model}
        definition = loads(json.dumps(top).encode())
        started = time.monotonic()
        with pytest.raises(LimitExceededError, match="the tokens are too long"):
            digram.Tokenizer(definition)
        assert time.monotonic() - started < 10
