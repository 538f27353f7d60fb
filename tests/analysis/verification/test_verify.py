"""`digram.verify` finds what is wrong, and the shortest text that shows it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import processors as processing
from vocabularies import CORPUS, bpe, of_bytes

import digram
from digram import Matching, Pretokenizer, Verification, verify
from digram.analysis.verification import CLASSES, Counterexample, TextGenerator, comparing, peers
from digram.formats import huggingface, sentencepiece
from digram.pretokenizers import NFC, NFKC, SentencePiece
from digram.vocab.scores import ScoredModel


def shown(found: Verification) -> Counterexample:
    """The counterexample; the report of a comparison without one would be the failure."""
    assert found.counterexample is not None, str(found)
    return found.counterexample


WORDS = digram.train("low lower lowest slow", max_merges=8, pretokenizer="gpt2")
MARKED = digram.train(CORPUS, max_merges=60, pretokenizer="gpt2", special_tokens=["<s>", "<|end|>"])


def with_matching(**flags: bool) -> digram.Tokenizer:
    changed = replace(MARKED.definition, matching={"<s>": Matching(**flags)})
    return digram.Tokenizer(changed)


def cut_by(pretokenizer: Pretokenizer) -> digram.Tokenizer:
    return digram.Tokenizer(replace(MARKED.definition, pretokenizer=pretokenizer))


def swapped(tok: digram.Tokenizer, rank: int) -> digram.Tokenizer:
    """A tokenizer with two merges in the wrong order."""
    model = bpe(tok.definition)
    merges = list(model.merges)
    merges[rank], merges[rank + 1] = merges[rank + 1], merges[rank]
    return digram.Tokenizer(replace(tok.definition, model=replace(model, merges=merges)))


OVERLAP = digram.Tokenizer(of_bytes((97, 98), (98, 99)))

# What is damaged: a whole tokenizer, a damaged one, and the shortest texts, of which one is found.
DAMAGES: dict[str, tuple[digram.Tokenizer, digram.Tokenizer, str, set[str | bytes]]] = {
    "a merge is swapped": (OVERLAP, swapped(OVERLAP, 0), "ids", {"abc"}),
    "a merge is missing": (
        digram.Tokenizer(of_bytes((97, 98), (256, 99))),
        digram.Tokenizer(of_bytes((97, 98))),
        "ids",
        {"abc"},
    ),
    "a merge of broken characters": (
        digram.Tokenizer(of_bytes((0xC3, 0xC3))),
        digram.Tokenizer(of_bytes()),
        "ids",
        {b"\xc3\xc3"},
    ),
    "another rule for digits": (
        digram.Tokenizer(of_bytes((48, 48), pretokenizer=Pretokenizer(None))),
        digram.Tokenizer(of_bytes((48, 48), pretokenizer=Pretokenizer(None, digits="individual"))),
        "ids",
        {"00"},
    ),
    "another normal form": (
        cut_by(Pretokenizer("gpt2", normalizer=NFC())),
        cut_by(Pretokenizer("gpt2", normalizer=NFKC())),
        "ids",
        {chr(code) for code in range(0x80, 0x110000)},
    ),
    "a flag that takes the space behind": (
        with_matching(rstrip=True),
        MARKED,
        "ids",
        {"<s> ", "<s>\t", "<s>\n", "<s>\r"},
    ),
    "a token found in all text": (with_matching(always=True), MARKED, "ids", {"<s>"}),
    "a token inside words": (
        with_matching(single_word=True),
        MARKED,
        "ids",
        {f"{letter}<s>" for letter in "abcdefghijklmnopqrstuvwxyz"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_one_damage_is_found_with_the_shortest_text(name: str) -> None:
    whole, damaged, what, shortest = DAMAGES[name]
    assert verify(whole, whole, fuzz=300).equal
    for one, other in ((whole, damaged), (damaged, whole)):
        found = shown(verify(one, other, fuzz=5_000))
        assert (found.what, found.is_shortest) == (what, True)
        assert found.text in shortest
        assert found.a.ids != found.b.ids
        special = found.mode
        assert found.a.ids == tuple(one.encode(found.text, special=special))
        assert found.b.ids == tuple(other.encode(found.text, special=special))
        assert found.b.tokens == tuple(other.tokens(found.b.ids))
        assert found.a.ids[: found.place] == found.b.ids[: found.place]
        assert found.a.ids[found.place :][:1] != found.b.ids[found.place :][:1]


def test_no_shorter_text_differs() -> None:
    """All shorter texts of three letters, for each two merges that are swapped."""
    pairs = ["ab", "bc", "ca", "bb", "aa", "cb"]
    whole = digram.Tokenizer(of_bytes(*(map(ord, pair) for pair in pairs)))  # type: ignore[arg-type]
    texts = ["".join(parts) for n in range(1, 6) for parts in product("abc", repeat=n)]
    for rank in range(len(pairs) - 1):
        damaged = swapped(whole, rank)
        ids = zip(texts, whole.encode_batch(texts), damaged.encode_batch(texts), strict=True)
        wrong = [text for text, mine, theirs in ids if mine != theirs]
        found = verify(whole, damaged, fuzz=5_000)
        if wrong:
            assert len(shown(found).text) == len(wrong[0])
        else:
            assert found.equal


def library(**changes: Any) -> Tokenizer:
    """A tokenizer of the library, with other parts in some places."""
    parts: dict[str, Any] = {
        "pre_tokenizer": pre_tokenizers.ByteLevel(add_prefix_space=False),
        "decoder": decoders.ByteLevel(),
    }
    letters = {letter: i for i, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    theirs = Tokenizer(models.BPE(letters | {"lo": 256, "Ġlo": 257}, [("l", "o"), ("Ġ", "lo")]))
    for name, part in (parts | changes).items():
        setattr(theirs, name, part)
    theirs.add_special_tokens([AddedToken("<s>", special=True, normalized=False)])
    return theirs


def read(theirs: Tokenizer, tmp_path: Path) -> str:
    path = tmp_path / "tokenizer.json"
    theirs.save(str(path))
    return str(path)


@pytest.mark.parametrize(
    ("changes", "what", "shortest"),
    [
        ({"normalizer": normalizers.Lowercase()}, "ids", "A"),
        ({"decoder": decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])},
         "decoded", " "),
        ({"pre_tokenizer": pre_tokenizers.ByteLevel(add_prefix_space=True)}, "ids", "a"),
        ({"pre_tokenizer": pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex("l"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ])}, "ids", "lo"),
    ],
)  # fmt: skip
def test_the_library_differs_from_a_file(
    tmp_path: Path, changes: dict[str, Any], what: str, shortest: str
) -> None:
    path = read(library(), tmp_path)
    assert verify(path, library(), fuzz=500).equal
    found = verify(path, library(**changes), fuzz=2000)
    assert (shown(found).what, shown(found).text) == (what, shortest)
    assert found.names[0] == f"digram, {path}"
    assert found.names[1].startswith("tokenizers 0.")


def test_trimmed_offsets() -> None:
    """What a file trims is compared trimmed, unless digram does not trim."""
    trimmed = library(post_processor=processing.ByteLevel(trim_offsets=True))
    plain = library(post_processor=processing.ByteLevel(trim_offsets=False))
    found = shown(verify(plain, trimmed, fuzz=500))
    assert (found.what, found.text, found.place) == ("offsets", " ", 0)
    assert (found.a.offsets, found.b.offsets) == (((0, 1),), ((0, 0),))
    from digram.formats.huggingface import loads

    ours = digram.Tokenizer(loads(trimmed.to_str().encode()))
    report = verify(ours, trimmed, fuzz=500)
    assert report.equal
    assert "offsets" in report.compared["text"]
    assert not any("trimmed offsets" in reason for reason in report.not_compared)
    # One that does not trim is compared with untrimmed offsets.
    untrimmed = digram.Tokenizer(replace(ours.definition, trim_offsets=None))
    report = verify(untrimmed, trimmed, fuzz=500)
    assert report.equal, str(report)
    assert any("trimmed offsets" in reason for reason in report.not_compared)
    # The object is as it was.
    assert trimmed.encode(" ").offsets == [(0, 0)]
    assert trimmed.encode("<s>").ids == [258]


def test_added_tokens_of_byte_level_letters(tmp_path: Path) -> None:
    theirs = library()
    theirs.add_tokens([AddedToken("éé", normalized=False)])
    report = verify(read(theirs, tmp_path), theirs, ["éé a", "b"], fuzz=500)
    assert report.equal, str(report)
    assert any("byte-level letters" in reason for reason in report.not_compared)


ALL_BYTES = {bytes([byte]): byte for byte in range(256)}


def test_a_panic_is_a_difference() -> None:
    """A vocabulary without the letter q: tiktoken's core panics, which is no `Exception`."""
    ranks = {token: id for token, id in ALL_BYTES.items() if token != b"q"} | {b"zz": 256}
    theirs = tiktoken.Encoding("few", pat_str="[a-z]+|.", mergeable_ranks=ranks, special_tokens={})
    whole = tiktoken.Encoding(
        "all", pat_str="[a-z]+|.", mergeable_ranks=ALL_BYTES | {b"zz": 256}, special_tokens={}
    )
    found = verify(whole, theirs, "a" * 1000 + "q" + "b" * 1000, fuzz=0)
    assert (shown(found).what, shown(found).text) == ("error", "q")
    assert shown(found).a.error is None
    assert "PanicException" in str(shown(found).b.error)
    assert "PanicException" in str(found)
    both = verify(theirs, theirs, ["q", "a"], fuzz=0)
    assert (both.equal, both.refused, both.texts) == (True, 1, 2)


def test_a_text_that_only_digram_refuses() -> None:
    ours = digram.train("abc", max_merges=0, unit="char", pretokenizer=None)
    theirs = tiktoken.Encoding(
        "abc", pat_str="(?s:.)", mergeable_ranks=ALL_BYTES, special_tokens={}
    )
    found = shown(verify(ours, theirs, "abcx", fuzz=0))
    assert (found.what, found.text, found.b.error) in [("error", "x", None), ("ids", "a", None)]


def test_what_is_compared_with_tiktoken() -> None:
    ranks = ALL_BYTES | {b"lo": 256, b"low": 257}
    special = {"<|end|>": 258}
    pattern = digram.pretokenizers.NAMED["gpt2"].patterns[0]
    theirs = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    ours = digram.Tokenizer(
        of_bytes((108, 111), (256, 119), pretokenizer=Pretokenizer("gpt2"), special_tokens=special)
    )
    found = verify(ours, theirs, "low", fuzz=1000)
    assert (found.equal, found.texts) == (True, 1001)
    facts = ("ids", "offsets", "decoded")
    assert found.compared == {"text": facts, "parse": facts}
    assert any(reason.startswith("ends of offsets: tiktoken") for reason in found.not_compared)
    assert any("decoded without special tokens: b does not" in one for one in found.not_compared)
    assert any(reason.startswith("bytes that are not UTF-8") for reason in found.not_compared)
    other = digram.Tokenizer(replace(ours.definition, special_tokens={"<|end|>": 259}))
    different = shown(verify(other, theirs, fuzz=1000))
    assert (different.text, different.mode) == ("<|end|>", "parse")


def pieces(path: Path) -> Any:
    """A processor of sentencepiece, which is not a requirement of the tests."""
    return pytest.importorskip("sentencepiece").SentencePieceProcessor(model_file=str(path))


def test_sentencepiece(shared_data: Callable[[str], Path]) -> None:
    english, japanese = (
        pieces(shared_data(f"vocabs/{name}"))
        for name in ("spm_test_model.model", "spm_test_ja_model.model")
    )
    found = verify(english, english, fuzz=500)
    assert found.equal
    assert found.compared == {"text": ("ids", "offsets", "decoded")}
    assert len(shown(verify(english, japanese, fuzz=500)).text) == 1


def test_each_text_of_a_batch_is_converted_a_few_times(
    shared_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All texts of a batch were converted anew for each of them that was compared alone."""
    path = shared_data("vocabs/spm_test_model.model")
    calls = 0

    def counted(offsets: Any) -> Any:
        nonlocal calls
        calls += 1
        return apart(offsets)

    apart = comparing._apart
    monkeypatch.setattr(comparing, "_apart", counted)
    assert verify(digram.load(path), pieces(path), fuzz=500).equal
    assert 500 <= calls <= 8 * 500


def test_offsets_of_sentencepiece_are_compared_as_it_counts_them() -> None:
    """Characters that become several, bytes, and characters that are removed."""
    spm = pytest.importorskip("sentencepiece")
    for options in (
        {"model_type": "unigram", "byte_fallback": True},
        {"model_type": "bpe", "normalization_rule_name": "nfkc_cf"},
        {"model_type": "word"},
        {"model_type": "char"},
    ):
        model = io.BytesIO()
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(["the cat sat on the mat. ﬁn ① é", "日本 の 本"] * 9),
            model_writer=model,
            vocab_size=60 + 256 * ("byte_fallback" in options),
            hard_vocab_limit=False,
            minloglevel=2,
            **options,
        )
        theirs = spm.SentencePieceProcessor(model_proto=model.getvalue())
        ours = digram.Tokenizer(sentencepiece.loads(model.getvalue()))
        found = verify(ours, theirs, ["ﬁﬁ \x01the\u200b cat 😀"], fuzz=600)
        assert found.equal, found
        assert found.compared == {"text": ("ids", "offsets", "decoded")}
        assert any("ends of tokens" in reason for reason in found.not_compared)


def test_the_space_before_a_text_may_have_no_range() -> None:
    """SentencePiece gives it none, and `tokenizers` that of the next character."""
    scored = digram.Tokenizer(
        digram.Definition(
            tokens=[None, b" ", b"l", b"o", b"w", b"lo", b" lo"],
            model=ScoredModel([None, -4.0, -5.0, -6.0, -7.0, -1.0, -2.0]),
            pretokenizer=Pretokenizer(None, normalizer=SentencePiece(remove_spaces=False)),
            special_tokens={"<unk>": 0},
            unit="char",
            on_unknown=digram.SpecialToken("<unk>"),
            strip_first_space=True,
        )
    )
    merged = digram.Tokenizer(huggingface.loads(huggingface.dumps(scored.definition)))
    theirs = tokenizers.Tokenizer.from_str(huggingface.dumps(scored.definition).decode())
    assert scored("w").offsets == [(0, 0), (0, 1)]
    assert merged("w").offsets == theirs.encode("w").offsets == [(0, 1), (0, 1)]
    for a, b in ((scored, merged), (merged, scored), (scored, theirs)):
        found = verify(a, b, "w<unk>w", fuzz=500)
        assert found.equal, found
        assert "offsets" in found.compared["parse"]
        (told,) = (one for one in found.not_compared if "the space put before a text" in one)
        side = "b" if a is merged else "a"
        assert told.startswith(f"the range of the space put before a text: none for {side}, as in")
        assert "the space" not in str(verify(a, b, "w", fuzz=0, offsets=False).not_compared)
    # Nothing else is left out.
    other = verify(scored, cut_by(Pretokenizer(None)), "w", fuzz=0)
    assert not other.equal
    plain = library(post_processor=processing.ByteLevel(trim_offsets=False))
    trimmed = library(post_processor=processing.ByteLevel(trim_offsets=True))
    found = verify(plain, trimmed, " ", fuzz=0)
    assert shown(found).what == "offsets"
    assert "Its ids are equal.\nOffsets are left out with offsets=False." in str(found)


def test_offsets_can_be_left_out() -> None:
    found = verify(WORDS, WORDS, fuzz=200, offsets=False)
    assert found.compared["text"] == ("ids", "decoded")
    assert found.not_compared == ("offsets: left out on request",)


def test_models_that_make_special_tokens_of_text() -> None:
    """They are compared with special tokens parsed, since digram makes none of text."""
    theirs = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"[UNK]": 0, "[PAD]": 1, "low": 2}, unk_token="[UNK]")
    )
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    theirs.add_special_tokens(["[UNK]", "[PAD]"])
    ours = digram.Tokenizer(huggingface.loads(theirs.to_str().encode()))
    found = verify(ours, theirs, ["low [PAD] x"], fuzz=500)
    assert found.equal
    assert list(found.compared) == ["parse"]
    assert any("makes them of text" in reason for reason in found.not_compared)


def test_merges_that_are_ignored_make_special_tokens_of_text() -> None:
    vocab = {"<s>": 0, **{letter: id for id, letter in enumerate("<s>ab", 1)}}
    theirs = tokenizers.Tokenizer(models.BPE(vocab, [], ignore_merges=True, unk_token="<s>"))
    theirs.pre_tokenizer, theirs.decoder = pre_tokenizers.WhitespaceSplit(), decoders.Fuse()
    theirs.add_special_tokens(["<s>"])
    ours = digram.Tokenizer(huggingface.loads(theirs.to_str().encode()))
    found = verify(ours, theirs, ["a <s> b"], fuzz=500)
    assert found.equal
    assert list(found.compared) == ["parse"]


def test_files_that_cannot_be_read_are_no_faulty_vocabularies(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    folder = tmp_path / "a.model"
    folder.mkdir()
    (folder / "tokenizer.model").mkdir()
    for library in ("tokenizers", "tiktoken"):
        with pytest.raises((IsADirectoryError, digram.VocabError, digram.OptionError)):
            peers.load(str(folder / "tokenizer.model"), library)
    with pytest.raises(IsADirectoryError):
        peers.load(str(folder), "tiktoken", "gpt2")
    (tmp_path / "damaged.model").write_bytes(b"x")
    with pytest.raises(digram.VocabError, match="sentencepiece does not load it"):
        peers.load(str(tmp_path / "damaged.model"), "sentencepiece")


def test_the_corpus_is_compared_first(tmp_path: Path) -> None:
    damaged = swapped(OVERLAP, 0)
    path = tmp_path / "a.txt"
    path.write_bytes(b"cab\n" * 50_000 + b"abc" + b"\nbca" * 50_000)
    found = verify(OVERLAP, damaged, path)
    assert shown(found).text == "abc"
    assert (found.texts, found.bytes) == (1, path.stat().st_size)
    texts: list[str | bytes] = ["ab", b"bc"]
    assert verify(OVERLAP, damaged, iter(texts), fuzz=0).equal


def test_texts_that_no_side_can_take(tmp_path: Path) -> None:
    theirs = library()
    texts: list[str | bytes] = ["a", b"\xff", "\ud800", b"b"]
    found = verify(read(theirs, tmp_path), theirs, texts, fuzz=0)
    assert (found.texts, found.equal) == (2, True)
    assert "1 texts of the corpus that are not UTF-8" in found.not_compared
    assert "1 texts of the corpus with lone surrogates" in found.not_compared
    assert verify(WORDS, WORDS, texts, fuzz=0).texts == 3


def test_a_run_can_be_repeated() -> None:
    damaged = swapped(OVERLAP, 0)
    one, other = (verify(OVERLAP, damaged, fuzz=4000, seed=3) for _ in "ab")
    assert one.counterexample == other.counterexample
    assert (one.texts, one.bytes) == (other.texts, other.bytes)
    originals = {shown(verify(OVERLAP, damaged, fuzz=4000, seed=n)).original for n in range(5)}
    assert len(originals) > 1


def test_a_verification_as_values() -> None:
    found = verify(WORDS, swapped(OVERLAP, 0), b"lo\xff" * 3, fuzz=0)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["equal"] is False
    assert told["counterexample"]["what"] == "ids"
    assert told["counterexample"]["original_hex"] == (b"lo\xff" * 3).hex()
    assert "<pre" in found._repr_html_()
    equal = verify(WORDS, WORDS, fuzz=10)
    assert json.loads(json.dumps(equal.to_dict()))["counterexample"] is None


def test_a_random_tokenizer_is_named() -> None:
    """With dropout the ids change between calls; the report says so and shows no difference."""
    theirs = library()
    theirs.model.dropout = 0.5
    with pytest.raises(digram.OptionError, match=r"from call to call\. Turn off dropout"):
        verify(theirs, theirs, ["lo lo lo"] * 50, fuzz=0)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((WORDS, 5), {}, TypeError),
        ((None, WORDS), {}, TypeError),
        ((WORDS, "no such file"), {}, FileNotFoundError),
        ((WORDS, WORDS, 5), {}, TypeError),
        ((WORDS, WORDS), {"fuzz": -1}, digram.OptionError),
        ((WORDS, WORDS), {"seed": -1}, digram.OptionError),
        ((WORDS, WORDS), {"fuzz": "many"}, TypeError),
        ((WORDS, WORDS), {"fuzz": 0}, digram.OptionError),
        ((WORDS, WORDS), {"names": "a"}, TypeError),
        ((WORDS, WORDS), {"names": ("a", 5)}, TypeError),
    ],
)
def test_refused(arguments: Any, options: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        verify(*arguments, **options)


def test_generated_texts_meet_every_class_and_token() -> None:
    special = ["<s>", "<|user|>"]
    generator = TextGenerator(special, [b" low", b"\xff\xfe", "中".encode()])
    texts = list(generator.texts(20_000))
    assert texts == list(generator.texts(20_000))
    assert texts[:100] != list(generator.texts(100, seed=1))
    whole = "\n".join(texts)
    assert [name for name, parts in CLASSES.items() if not any(p in whole for p in parts)] == []
    # Each special token is beside a part of each class, before it and after it.
    for token in special:
        for name, parts in CLASSES.items():
            assert any(f"{token}{part}" in whole for part in parts), name
            assert any(f"{part}{token}" in whole for part in parts), name
    assert max(map(len, texts)) > 500
    whole.encode()  # no lone surrogates
    broken = b"".join(generator.byte_texts(2000))
    assert b"\xff\xfe" in broken


class _Cutter:
    """A part of a pipeline that is written in Python."""

    def pre_tokenize(self, pretokenized: Any) -> None:
        pretokenized.split(lambda _index, text: [text])


def test_what_cannot_be_copied_is_not_changed(shared_data: Callable[[str], Path]) -> None:
    """The library does not copy parts in Python: so special tokens are parsed, as it is set."""
    theirs = library(
        pre_tokenizer=pre_tokenizers.Sequence(
            [
                pre_tokenizers.PreTokenizer.custom(_Cutter()),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        )
    )
    found = verify(theirs, library(), fuzz=300)
    assert found.equal, str(found)
    assert [*found.compared] == ["parse"]
    assert any("it cannot be copied" in reason for reason in found.not_compared)
    only_text = pieces(shared_data("vocabs/spm_test_model.model"))
    with pytest.raises(digram.OptionError, match="nothing can be compared"):
        verify(theirs, only_text, fuzz=10)


def test_a_library_that_cannot_decode_one_token_is_compared(tmp_path: Path) -> None:
    """`Strip` of what another step left empty is a panic there."""
    words = tokenizers.models.WordLevel({"[UNK]": 0, "a": 1, "xa": 2, "b": 3}, unk_token="[UNK]")
    theirs = tokenizers.Tokenizer(words)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    steps = [tokenizers.decoders.Replace("a", ""), tokenizers.decoders.Strip("x", 0, 1)]
    theirs.decoder = tokenizers.decoders.Sequence(steps)
    theirs.save(str(tmp_path / "t.json"))
    found = digram.verify(tmp_path / "t.json", theirs, ["a b", "b"], fuzz=0)
    assert not found.equal
    assert "PanicException" in str(found)


def test_settings_that_differ_are_told() -> None:
    told = "settings for a model, which differ: "
    tok = digram.train("low", max_merges=1, special_tokens=["<s>", "<p>"])
    other = tok.with_special_roles(eos="<s>").with_padding_side("left").with_context_size(9)
    other = other.with_chat_template("{{ messages }}")
    found = verify(tok, other, fuzz=10)
    assert found.equal
    assert found.not_compared == (
        f"{told}eos token (none and '<s>'), padding side ('right' and 'left'), context size (none "
        "and 9), chat templates",
    )
    assert verify(other, other, fuzz=10).not_compared == ()
    assert told not in str(verify(other, tok.to_tiktoken(), fuzz=10))


def test_bytes_are_compared_unless_a_side_refuses_them() -> None:
    nfc = digram.train("low", max_merges=1, pretokenizer=Pretokenizer("gpt2", normalizer=NFC()))
    assert nfc.encode(b"\xff")
    assert verify(nfc, nfc, [b"\xff"], fuzz=0).not_compared == ()
    chars = digram.train("low", max_merges=1, unit="char", on_unknown="bytes")
    found = verify(nfc, chars, "low", fuzz=0)
    assert "bytes that are not UTF-8: b does not take them" in found.not_compared
    both = verify(chars, chars, "low", fuzz=0).not_compared
    assert both == ("bytes that are not UTF-8: a and b do not take them",)
