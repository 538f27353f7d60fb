"""Training of WordPiece: the tokens are those of the reference, and of Hugging Face's trainer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import digram
from digram import _core
from digram.pretokenizers import SPACED_WORDS, Pretokenizer
from digram.reference import wordpiece
from digram.training.wordpiece import base_of

SPACED = Pretokenizer(None, normalizer=SPACED_WORDS)
TEXTS = st.lists(
    st.text("aabbc#é ", max_size=30) | st.sampled_from(["low lower lowest", "aaaa aaa ##a #"]),
    min_size=1,
    max_size=6,
)


def words(texts: list[str]) -> Counter[str]:
    return Counter(word for text in texts for word in text.split())


def names(tok: digram.Tokenizer) -> list[str]:
    """The tokens as files write them."""
    texts = [token.decode() for token in tok.definition.tokens if token is not None]
    return [text[1:] if text.startswith(" ") else f"##{text}" for text in texts]


def bytes_of(name: str) -> bytes:
    return name[2:].encode() if len(name) > 2 and name.startswith("##") else b" " + name.encode()


@cases(250)
@given(
    texts=TEXTS,
    rule=st.sampled_from(["count", "likelihood"]),
    merges=st.sampled_from([0, 3, 60]),
    least=st.integers(1, 3),
    first=st.booleans(),
)
def test_the_tokens_are_those_of_the_reference(
    texts: list[str], rule: Any, merges: int, least: int, first: bool
) -> None:
    expected = wordpiece.train(words(texts), max_merges=merges, min_frequency=least, rule=rule)
    seen: list[bytes] = []

    def see(merge: digram.Merge) -> None:
        seen.append(merge.token)
        assert bytes_of(expected[merge.id - 2 * first]) == merge.token

    tok = digram.train(
        texts,
        model=digram.WordPiece(rule=rule),
        max_merges=merges,
        min_frequency=least,
        pretokenizer=SPACED,
        special_tokens=["[PAD]", "[UNK]"],
        special_first=first,
        on_merge=see,
    )
    assert names(tok) == expected
    assert seen == [*map(bytes_of, expected[len(wordpiece.letters(words(texts))) :])]
    assert tok.special_tokens == (
        {"[PAD]": 0, "[UNK]": 1} if first else {"[PAD]": len(expected), "[UNK]": len(expected) + 1}
    )
    for text in texts:
        assert tok.special_tokens["[UNK]"] not in tok.encode(text)
        if "##" not in text:  # with which a word may begin as its inside does
            assert tok.decode(tok.encode(text)) == " ".join(text.split())


def trained_by_peer(texts: list[str], size: int, least: int) -> list[str]:
    peer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    peer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, min_frequency=least, special_tokens=["[UNK]"], show_progress=False
    )
    peer.train_from_iterator(texts, trainer)
    vocab = peer.get_vocab()
    return sorted(vocab, key=vocab.__getitem__)[1:]


def same_as_peer(texts: list[str], size: int, least: int) -> None:
    """The tokens are those of the peer, which orders the letters inside words differently."""
    expected = trained_by_peer(texts, size, least)
    tok = digram.train(
        texts, model="wordpiece", vocab_size=size, min_frequency=least, pretokenizer=SPACED
    )
    number = len(wordpiece.letters(words(texts)))
    assert {*expected[:number]} == {*names(tok)[:number]}
    # With the order of the peer's letters, which differs in each of its runs, all is the same.
    counts = digram.count_pretokens(texts, pretokenizer=SPACED, unit="char")
    options = _core.MergeOptions(
        base_of([*map(bytes_of, expected[:number])]),
        with_bytes=False,
        max_merges=size - 1 - number,
        min_frequency=least,
        max_token_length=None,
        whole_characters=False,
        ties="ids",
    )
    found = _core.train(counts._held, options)[0]
    assert [token for token in found if token] == [*map(bytes_of, expected)]


@pytest.mark.parametrize(("size", "least"), [(300, 0), (900, 2), (4000, 3)])
def test_the_tokens_are_those_of_the_peer(
    size: int, least: int, shared_data: Callable[[str], Path]
) -> None:
    text = shared_data("corpora/en.txt").read_text(encoding="utf-8")[:300_000]
    same_as_peer(text.splitlines(), size, max(1, least))


def test_words_with_unknown_letters_are_not_learned_from() -> None:
    text = ["abc abc abx abx abx"]
    tok = digram.train(text, model="wordpiece", max_merges=9, limit_alphabet=3)
    # a and b are the most frequent letters, and then x.
    assert names(tok) == ["a", "b", "x", "##b", "##x", "ab", "abx"]
    assert tok.tokens(tok.encode("abc abx")) == [b"[UNK]", b" abx"]
    assert names(digram.train(text, model="wordpiece", max_merges=1, alphabet="abc"))[-1] == "ab"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "unigrams"}, "model"),
        ({"unit": "byte"}, 'WordPiece needs unit="char"'),
        ({"on_unknown": "bytes"}, "is not supported by WordPiece"),
        ({"pretokenizer": "gpt2"}, "a space before each"),
        ({"picky": 0.9}, "model='wordpiece' and picky="),
        ({"superwords": "two-stage"}, "and superwords="),
        ({"rules": digram.Rules(["a"])}, "and rules="),
        ({"runners_up": 1}, "and runners_up="),
        ({"model": digram.WordPiece(rule="likelihood"), "memory_limit": "1 GB"}, "memory_limit="),
        ({"model": digram.WordPiece(rule="likelihood"), "ties": "lexicographic"}, "ties="),
    ],
)
def test_options_without_effect_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(digram.OptionError, match=message):
        digram.train("low low", **{"model": "wordpiece", "max_merges": 2, **options})


@pytest.mark.parametrize(
    "options", [{"rule": "bpe"}, {"max_word_chars": 0}, {"prefix": ""}, {"prefix": "# "}]
)
def test_options_of_wordpiece_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(digram.OptionError):
        digram.WordPiece(**options)


def test_a_run_on_disk_gives_the_same(tmp_path: Path) -> None:
    text = [f"low lower number{n} word{n % 7}" for n in range(3000)]
    whole = digram.train(text, model="wordpiece", vocab_size=200)
    assert digram.train(text, model="wordpiece", vocab_size=200, memory_limit="24 MiB") == whole
    tok = digram.train(text, model="wordpiece", vocab_size=200, checkpoint=tmp_path / "run")
    assert tok == whole
    with pytest.raises(digram.CheckpointError, match="wordpiece by count"):
        digram.train(
            text,
            unit="char",
            on_unknown=digram.SpecialToken("[UNK]"),
            pretokenizer=tok.pretokenizer,
            vocab_size=200,
            checkpoint=tmp_path / "run",
        )


def test_saved_and_loaded(tmp_path: Path) -> None:
    tok = digram.train(
        "low low lower", model="wordpiece", vocab_size=20, reserve={"x": 2}, pad_to_multiple=8
    )
    for format in ("huggingface", "digram"):
        tok.save(tmp_path / "t.json", format=format)
        again = digram.load(tmp_path / "t.json")
        assert again == tok
        assert again.training == tok.training
        assert again.training is not None
        assert again.training.options["model"] == {"kind": "wordpiece", "rule": "count"}
