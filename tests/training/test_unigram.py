"""Training of Unigram: the tokens and scores are those of the reference, and files keep them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.pretokenizers import Prepend, Pretokenizer, SentencePiece, Words, pretokenize
from digram.pretokenizers.words import SPACE_BEFORE, SPACE_BEHIND
from digram.reference import unigram

TEXTS = st.lists(
    st.text("aabbcé ", max_size=40)
    | st.sampled_from(
        ["low lower lowest newest widest", "aaaa aaaa aaa b", "abababababababab" * 3]
    ),
    min_size=1,
    max_size=6,
)
METASPACE = Pretokenizer(SPACE_BEFORE, normalizer=[Words(prefix=" ", space_symbol="▁")])


def segments(texts: list[str], cut: Pretokenizer) -> Counter[str]:
    return Counter(word for text in texts for word in pretokenize(text, cut))


def learned(tok: digram.Tokenizer) -> list[tuple[str, float]]:
    """The tokens of text with their scores, in the order of ids."""
    definition = tok.definition
    assert isinstance(definition.model, digram.UnigramModel)
    pairs = zip(definition.tokens, definition.model.scores, strict=False)
    return [(t.decode(), s) for t, s in pairs if t is not None and s is not None]


@cases(150)
@given(
    texts=TEXTS,
    room=st.integers(17, 50),
    seed_size=st.sampled_from([50, 60, 1000]),
    longest=st.sampled_from([1, 2, 5, 16]),
    least=st.sampled_from([2, 3]),
    shrinking=st.sampled_from([0.3, 0.75, 0.99]),
    steps=st.sampled_from([1, 2, 3]),
)
def test_tokens_and_scores_are_those_of_the_reference(
    texts: list[str],
    room: int,
    seed_size: int,
    longest: int,
    least: int,
    shrinking: float,
    steps: int,
) -> None:
    cut = Pretokenizer(SPACE_BEFORE, normalizer=Prepend(" "))
    words = segments(texts, cut)
    expected, full = unigram.train(
        words,
        pieces=room,
        seed_size=seed_size,
        max_length=longest,
        min_count=least,
        shrinking=shrinking,
        steps=steps,
    )
    way = digram.Unigram(
        seed_size=seed_size,
        max_piece_length=longest,
        shrinking=shrinking,
        sub_iterations=steps,
        character_coverage=1.0,
    )
    for threads in (1, 3):
        tok = digram.train(
            texts[::-1] if threads == 1 else texts,
            model=way,
            vocab_size=room + 1,
            min_frequency=least,
            pretokenizer=cut,
            threads=threads,
        )
        assert learned(tok) == [(piece, round(score, 12)) for piece, score in expected]
        assert tok.training is not None
        assert tok.training.stop_reason == ("vocab_size" if full else "min_frequency")


def test_long_texts_are_those_of_the_reference() -> None:
    """Sums of probabilities of long texts are far below the smallest number."""
    text = "".join(chr(0x4E00 + n * n % 97) for n in range(150)) + "ab" * 20
    rare = [text, text[::-1], "ab" * 30]
    expected, _ = unigram.train(segments(rare, Pretokenizer(None)), pieces=150)
    way = digram.Unigram(character_coverage=1.0)
    tok = digram.train(rare, model=way, vocab_size=151, pretokenizer=None)
    assert learned(tok) == [(piece, round(score, 12)) for piece, score in expected]
    long = "".join(chr(0x4E00 + n * n % 4999) for n in range(20_000))
    tok = digram.train(long, model=way, vocab_size=6_000, pretokenizer=None)
    assert tok.decode(tok.encode(long)) == long


@pytest.mark.parametrize("bytes_", [False, True])
@pytest.mark.parametrize("behind", [False, True])
@cases(25)
@given(texts=TEXTS, symbols=st.sampled_from([(), ("aab",), ("b", "lo", "a▁b")]))
def test_sentencepiece_gives_the_same_ids(
    bytes_: bool, behind: bool, texts: list[str], symbols: tuple[str, ...]
) -> None:
    rules = SentencePiece(add_space="behind" if behind else "before", symbols=symbols)
    tok = digram.train(
        texts,
        model="unigram",
        vocab_size=300 if bytes_ else 40,
        pretokenizer=Pretokenizer(None, normalizer=rules),
        on_unknown="bytes" if bytes_ else "error",
        special_tokens=["<s>", "</s>"],
        special_first=True,
    )
    peer = sentencepiece.SentencePieceProcessor(
        model_proto=digram.formats.sentencepiece.dumps(tok.definition)
    )
    for text in [*texts, "low aab lob newest", " lo  wé", "ßa▁b\u3042 x"]:
        assert tok.encode(text) == peer.encode(text)
    assert (
        digram.formats.sentencepiece.loads(
            digram.formats.sentencepiece.dumps(tok.definition)
        ).tokens
        == tok.definition.tokens
    )


@cases(40)
@given(texts=TEXTS)
def test_tokenizers_gives_the_same_ids(texts: list[str]) -> None:
    tok = digram.train(texts, model="unigram", vocab_size=40, pretokenizer=METASPACE)
    peer = tokenizers.Tokenizer.from_str(digram.formats.huggingface.dumps(tok.definition).decode())
    for text in [*texts, "low aab lob newest", " lo  wé", "ßa\u3042 x"]:
        assert tok.encode(text) == peer.encode(text).ids
        assert tok.decode(tok.encode(text)) == peer.decode(
            tok.encode(text), skip_special_tokens=False
        )


def test_saved_and_loaded(tmp_path: Path) -> None:
    text = "low low lower lowest newest widest " * 3
    options: dict[str, Any] = {"model": "unigram", "vocab_size": 24, "pad_to_multiple": 8}
    tok = digram.train(text, reserve={"x": 2}, **options)
    spaced = digram.train(text, pretokenizer=METASPACE, **options)
    for one, name, format in [
        (tok, "t.json", "digram"),
        (spaced, "s.json", "digram"),
        (digram.train(text, model="unigram", vocab_size=24), "t.model", "sentencepiece"),
        (
            digram.train(text, model="unigram", vocab_size=24, pretokenizer=METASPACE),
            "h.json",
            None,
        ),
    ]:
        one.save(tmp_path / name, format=format)
        again = digram.load(tmp_path / name)
        assert again == one
        if format == "digram":
            assert again.training == one.training
        again.save(tmp_path / "own.json", format="digram")
        assert digram.load(tmp_path / "own.json") == one
    assert tok.training is not None
    assert tok.training.options["model"]["kind"] == "unigram"
    assert tok.training.options["model"]["seed_size"] == 1_000_000


def test_characters_are_chosen() -> None:
    text = "aaaa bbb cc d"

    def names(**options: Any) -> str:
        tok = digram.train(text, **options)
        return "".join(sorted(token for token, _ in learned(tok) if len(token) == 1))

    few: dict[str, Any] = {"model": digram.Unigram(character_coverage=0.7), "vocab_size": 12}
    assert names(**few) == " ab"
    assert names(**few, limit_alphabet=2) == " a"
    assert names(**few, alphabet="dz") == " dz"
    assert names(model="unigram", vocab_size=30) == " abcd"
    tok = digram.train("aaaa axa a", model="unigram", vocab_size=8, alphabet="a")
    assert tok.encode("xxx a")[1] == tok.special_tokens["<unk>"]
    assert not any("x" in token for token, _ in learned(tok))


def test_counts_and_words_give_the_same() -> None:
    text = ["low lower lowest", "new newer  newest", "lower"] * 3
    whole = digram.train(text, model="unigram", vocab_size=30)
    for cut in (SentencePiece(), [SentencePiece()]):
        for pattern in (None, SPACE_BEFORE):
            made = Pretokenizer(pattern, normalizer=cut)
            counts = digram.count_pretokens(text, pretokenizer=made, unit="char")
            assert digram.train(counts, model="unigram", vocab_size=30) == whole
    assert whole.pretokenizer == Pretokenizer(None, normalizer=SentencePiece())
    behind = Pretokenizer(None, normalizer=SentencePiece(add_space="behind"))
    tok = digram.train(text, model="unigram", vocab_size=30, pretokenizer=behind)
    assert tok.pretokenizer == behind
    assert tok.tokens(tok.encode("lower"))[-1] == b"er "
    assert Pretokenizer(SPACE_BEHIND, normalizer=behind.normalizer) != behind


def test_a_run_on_disk_gives_the_same(tmp_path: Path) -> None:
    text = [f"low lower number{n} word{n % 7}" for n in range(3000)]
    options: dict[str, Any] = {"model": "unigram", "vocab_size": 200}
    whole = digram.train(text, **options)
    assert digram.train(text, **options, memory_limit="24 MiB") == whole
    for _ in range(2):
        assert digram.train(text, **options, checkpoint=tmp_path / "run") == whole
    many = [f"{n:06}{n * n:012}" for n in range(20_000)]
    with pytest.raises(digram.LimitExceededError, match=r"Unigram takes about \d+ MB"):
        digram.train(many, **options, memory_limit="24 MiB")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": None, "min_frequency": 2}, "Unigram needs vocab_size"),
        ({"vocab_size": 1}, "no room for tokens of text"),
        ({"vocab_size": 3}, "the alphabet has 4 characters"),
        ({"model": digram.Unigram(seed_size=3)}, "seed_size=3 is less than"),
        ({"unit": "byte"}, 'Unigram needs unit="char"'),
        ({"picky": 0.9}, "model='unigram' and picky="),
        ({"superwords": "two-stage"}, "and superwords="),
        ({"rules": digram.Rules(["a"])}, "and rules="),
        ({"pretokenizer": Pretokenizer("gpt2", rules=digram.Rules(["a"]))}, "rules"),
        ({"runners_up": 1}, "and runners_up="),
        ({"ties": "lexicographic"}, "ties="),
        ({"max_merges": 2}, "max_merges="),
        ({"max_token_length": 2}, "max_piece_length"),
        ({"on_merge": print}, "on_merge="),
        ({"byte_order": "gpt2"}, "byte_order="),
        (
            {"pretokenizer": Pretokenizer(None, normalizer=SentencePiece(symbols=("▁",)))},
            "is a space",
        ),
    ],
)
def test_options_without_effect_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(digram.OptionError, match=message):
        digram.train("low low", **{"model": "unigram", "vocab_size": 20, **options})


@pytest.mark.parametrize(
    "options",
    [
        {"seed_size": 0},
        {"shrinking": 1},
        {"shrinking": 0.0},
        {"sub_iterations": 0},
        {"max_piece_length": 0},
        {"character_coverage": 1.1},
        {"character_coverage": 0},
    ],
)
def test_options_of_unigram_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(digram.OptionError):
        digram.Unigram(**options)


def test_nothing_is_learned_from_nothing() -> None:
    tok = digram.train("", model="unigram", vocab_size=10)
    assert learned(tok) == [(" ", 0.0)]
    assert tok.training is not None
    assert tok.training.stop_reason == "min_frequency"
    assert digram.train("", model="unigram", vocab_size=10, pretokenizer=None).vocab_size == 1


def test_the_loss_is_at_most_that_of_sentencepiece(shared_data: Callable[[str], Path]) -> None:
    import io

    from digram import _core

    text = shared_data("corpora/botchan.txt").read_text(encoding="utf-8")
    lines, size, model = text.splitlines(), 2000, io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=size,
        normalization_rule_name="identity",
        split_by_unicode_script=False,
        split_by_number=False,
        minloglevel=2,
    )
    peer = digram.Tokenizer(digram.formats.sentencepiece.loads(model.getvalue()))
    tok = digram.train(lines, model="unigram", vocab_size=size - 2)
    cut = Pretokenizer(SPACE_BEFORE, normalizer=SentencePiece())
    counts = digram.count_pretokens(lines, pretokenizer=cut, unit="char")

    def logarithm(one: digram.Tokenizer) -> float:
        pairs = [(token.encode(), score) for token, score in learned(one)]
        unknown = min(score for _, score in pairs) - 10
        return _core.unigram_likelihood(
            counts._held, pairs, unknown=unknown, spaces="first", symbols=[]
        )[0]

    assert logarithm(tok) > logarithm(peer)
    assert len(learned(tok)) == len(learned(peer))
