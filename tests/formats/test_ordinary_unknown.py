"""An unk_token that is not among the added tokens, with the library itself beside it.

It is an ordinary token there: text that is its name becomes what merges make of it.
"""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from formats.more_shapes import ESM_C
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

import digram
from digram import VocabError
from digram.formats.huggingface import loads
from digram.reference import affixes

UNK = "<unk>"
LETTERS = [*"<unk>ab "]
TEXTS = [
    *("", UNK, "a<unk>b", "<unk><unk>", "<unk", "unk>", "aéb", "é<unk>é", "éé", "日<unk>é<un"),
    *("<unk> <unk>", " <unk>", "é a", "<cls>LAG<unk>Zj<eos>", "a" * 50 + "é" * 9 + UNK),
]


def of(
    model: Any, cut: Any = None, decoder: Any = None, special: tuple[str, ...] = ()
) -> Tokenizer:
    theirs = Tokenizer(model)
    if cut is not None:
        theirs.pre_tokenizer = cut
    theirs.decoder = decoder or decoders.Fuse()
    theirs.add_special_tokens([*special])
    return theirs


def merged(**options: Any) -> Tokenizer:
    """Merges make the name of the unknown token of its letters."""
    names = [*LETTERS, "<u", "nk", "nk>", UNK, "ab"]
    pairs = [("<", "u"), ("n", "k"), ("nk", ">"), ("<u", "nk>"), ("a", "b")]
    vocab = {name: id for id, name in enumerate(names)}
    return of(models.BPE(vocab, pairs, unk_token=UNK, **options))


def unmerged(letters: str = "<unk>ab ", **options: Any) -> Tokenizer:
    vocab = {name: id for id, name in enumerate([*dict.fromkeys(letters), UNK])}
    return of(models.BPE(vocab, [], unk_token=UNK, **options))


def esm_c() -> Tokenizer:
    model = models.BPE({name: at for at, name in enumerate(ESM_C)}, [], unk_token=UNK)
    return of(model, special=("<cls>", "<pad>", "<mask>", "<eos>", "|"))


def letter(**options: Any) -> Tokenizer:
    """The unknown token is a letter that text has too."""
    vocab = {name: id for id, name in enumerate([*"ab?", "ab"])}
    return of(models.BPE(vocab, [("a", "b")], unk_token="?", **options))


def spaced() -> Tokenizer:
    names = ["▁", "<", "u", "n", "k", ">", "a", "b", "▁a", UNK]
    model = models.BPE({name: id for id, name in enumerate(names)}, [("▁", "a")], unk_token=UNK)
    return of(
        model,
        pre_tokenizers.Metaspace("▁"),
        decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()]),
    )


def affixed(pre: str, end: str, **options: Any) -> Tokenizer:
    forms = [a + one + b for one in "<unk>a" for a in {"", pre} for b in {"", end}]
    vocab = {name: id for id, name in enumerate(dict.fromkeys([*sorted(forms), UNK]))}
    named = {"continuing_subword_prefix": pre, "end_of_word_suffix": end}
    used = {name: affix for name, affix in named.items() if affix}
    return of(
        models.BPE(vocab, [], unk_token=UNK, **used, **options),
        pre_tokenizers.WhitespaceSplit(),
        decoders.BPEDecoder(end) if end else decoders.WordPiece(pre, False),
    )


def wordpiece(cut: Any) -> Tokenizer:
    names = ["[UNK]", "a", "##b", "[", "]", "UN", "##K", "UNK"]
    model = models.WordPiece({name: id for id, name in enumerate(names)}, unk_token="[UNK]")
    theirs = of(model, cut, decoders.WordPiece("##", False))
    theirs.normalizer = normalizers.BertNormalizer(lowercase=False)
    return theirs


def word_level() -> Tokenizer:
    model = models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]")
    return of(model, pre_tokenizers.WhitespaceSplit(), decoders.WordPiece("##", False))


FAMILIES = {
    "merged": merged,
    "merged and fused": lambda: merged(fuse_unk=True),
    "merged, ignoring merges": lambda: merged(ignore_merges=True),
    "unmerged": unmerged,
    "unmerged, ignoring merges": lambda: unmerged(ignore_merges=True),
    "unmerged and fused, ignoring merges": lambda: unmerged(ignore_merges=True, fuse_unk=True),
    "of unknown letters, ignoring merges": lambda: unmerged("ab", ignore_merges=True),
    "of unknown letters, fused": lambda: unmerged("ab", ignore_merges=True, fuse_unk=True),
    "ESM-C": esm_c,
    "a letter of text, fused": lambda: letter(fuse_unk=True),
    "a letter of text": letter,
    "spaced": spaced,
    "a suffix": lambda: affixed("", "</w>"),
    "a prefix": lambda: affixed("##", ""),
    "both, fused": lambda: affixed("##", "</w>", fuse_unk=True),
    "a prefix, ignoring merges": lambda: affixed("##", "", ignore_merges=True),
    "WordPiece": lambda: wordpiece(pre_tokenizers.BertPreTokenizer()),
    "WordLevel": word_level,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_an_ordinary_token(family: str, tmp_path: Path) -> None:
    theirs = FAMILIES[family]()
    definition = loads(theirs.to_str().encode())
    assert isinstance(definition.on_unknown, bytes)
    ours = digram.Tokenizer(definition)
    assert not {UNK, "[UNK]", "?"} & ours.special_tokens.keys()
    choose = random.Random(family)
    parts = [UNK, *"<unk>ab é?日", "[UNK]", "UNK", " "]
    corpus = ["".join(choose.choices(parts, k=choose.randrange(1, 12))) for _ in range(1500)]
    found = digram.verify(ours, theirs, [*TEXTS, *corpus], fuzz=300)
    assert found.equal, str(found)
    # With special tokens parsed: an unknown token that were special would be found in the text.
    assert {*found.compared["parse"]} >= {"ids", "offsets", "decoded", "decoded_without_special"}
    ours.save(tmp_path / "tokenizer.json")
    again = digram.load(tmp_path / "tokenizer.json")
    assert (again, again.definition) == (ours, definition)
    written = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in [*TEXTS, *corpus[:100]]:
        assert written.encode(text).ids == theirs.encode(text).ids
    ours.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json").definition == definition


@pytest.mark.parametrize("fuses", [False, True])
def test_ids_are_those_of_the_specification(fuses: bool) -> None:
    theirs = merged(fuse_unk=fuses)
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    model = json.loads(theirs.to_str())["model"]
    merges = [(left, right) for left, right in model["merges"]]
    choose = random.Random(1)
    for _ in range(300):
        text = "".join(choose.choices([UNK, *"<unk>ab é"], k=choose.randrange(9)))
        expected = affixes.encode(
            text, model["vocab"], merges, unknown=model["vocab"][UNK], fuse_unknown=fuses
        )
        assert ours.encode(text) == expected == theirs.encode(text).ids


def of_pieces(first: tuple[str, float]) -> Tokenizer:
    pieces = [
        first,
        *((one, -3.0 - id / 8) for id, one in enumerate("▁<unk>ab") if one != first[0]),
    ]
    return of(
        models.Unigram(pieces, 0),
        pre_tokenizers.Metaspace("▁"),
        decoders.Metaspace("▁"),
        special=("<pad>",),
    )


@pytest.mark.parametrize("first", [(UNK, 0.0), (UNK, -9.0), ("[UNK]", -2.0)])
def test_that_of_unigram_is_an_ordinary_token_too(first: Any, tmp_path: Path) -> None:
    theirs = of_pieces(first)
    definition = loads(theirs.to_str().encode())
    assert isinstance(definition.on_unknown, bytes)
    ours = digram.Tokenizer(definition)
    choose = random.Random(str(first))
    # The library makes one token of the name and unknown characters beside it.
    parts = [f"a{first[0]}b ", *"<unk>ab ", "bé日b", "<pad>", "  "]
    corpus = ["".join(choose.choices(parts, k=choose.randrange(1, 12))) for _ in range(1500)]
    found = digram.verify(ours, theirs, [*corpus, "b日éb", ""], fuzz=0)
    assert found.equal, str(found)
    assert {*found.compared["parse"]} >= {"ids", "offsets", "decoded", "decoded_without_special"}
    ours.save(tmp_path / "tokenizer.json")
    written = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in corpus:
        assert written.encode(text).ids == theirs.encode(text).ids
    ours.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json").definition == definition


@pytest.mark.parametrize("piece", ["▁", "▁a", "b"])
def test_that_of_unigram_is_no_piece_of_text(piece: str) -> None:
    """The library makes one token of the piece and unknown characters beside it."""
    theirs = of_pieces((piece, -2.5))
    with pytest.raises(VocabError, match="of Unigram, which is a piece of text, is not supported"):
        loads(theirs.to_str().encode())


def test_an_added_one_is_special() -> None:
    theirs = unmerged()
    theirs.add_special_tokens([UNK])
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    assert ours.on_unknown == digram.SpecialToken(UNK)
    assert ours.encode("a<unk>", special="parse") == theirs.encode("a<unk>").ids


def test_one_that_merges_use_is_refused() -> None:
    """The library merges unknown characters too: here é, which becomes ?, with the a after it."""
    vocab = {name: id for id, name in enumerate([*"ab?", "?a"])}
    theirs = of(models.BPE(vocab, [("?", "a")], unk_token="?"))
    assert theirs.encode("éa").tokens == ["?a"]
    with pytest.raises(VocabError, match=r"the unk_token '\?', which is a part of merges"):
        loads(theirs.to_str().encode())
    definition = loads(letter().to_str().encode())
    model = definition.model
    assert isinstance(model, digram.BpeModel)
    with pytest.raises(VocabError, match="of unknown characters is a part of a merge"):
        digram.Tokenizer(
            replace(
                definition,
                tokens=[*definition.tokens, b"?a"],
                model=replace(model, merges=[*model.merges, (2, 0, 4)]),
            )
        )
    with pytest.raises(VocabError, match="is not a token of this vocabulary"):
        digram.Tokenizer(replace(definition, on_unknown=b"<none>"))


def test_a_word_that_is_its_name_is_refused_in_wordpiece() -> None:
    """The library makes it of the start of a longer word too."""
    theirs = wordpiece(pre_tokenizers.WhitespaceSplit())
    assert theirs.encode("[UNK]b").tokens == ["[UNK]", "##b"]
    with pytest.raises(VocabError, match=r"the token '\[UNK\]', which is in the vocabulary of the"):
        loads(theirs.to_str().encode())


def test_functions_that_ask_for_it() -> None:
    ours = digram.Tokenizer(loads(merged().to_str().encode()))
    assert "<unk>" in str(digram.explain(ours, "aé<unk>"))
    assert ours.count("aé") == 2
    assert digram.evaluate(ours, "ab aé")
    assert ours._unknown_id == ours.token_to_id(UNK)
    assert digram.audit(ours)
