"""Decoders of any steps in any order: the text is that of the library, or the file is refused."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from formats.decoder_shapes import (
    BYTE_NAMES,
    FAMILIES,
    characters,
    decoder,
    lists_of,
    of_bytes,
    of_fallback,
    of_metaspace,
    texts_of,
    theirs_of,
    unigram,
    with_decoder,
    with_suffix,
    word_piece,
)
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers import decoders as peer_decoders

import digram
from digram import CorruptFileError, DigramError, OptionError, PatternError, VocabError, decoders
from digram.decoders import Decoding
from digram.formats._decoding import from_decoder
from digram.formats._json import kind_of
from digram.formats._letters import LETTERS
from digram.formats.huggingface import dumps, loads
from digram.reference import decoding as specification

REASONS = {
    # With bytes as units.
    "without ByteLevel, text would be the letters of bytes",
    # The first step puts spaces in place of a symbol that stands for none in the rest of the file.
    "with this normalizer is not supported",
}
"""Why generated files are refused."""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_generated_decoders(family: Callable[[], Tokenizer]) -> None:
    """Forty lists of ids for each of 60 decoders; in all, 540 of these."""
    rng, seen = random.Random(family.__name__), Counter[str]()
    unlisted: list[str] = []
    for _ in range(60):
        of = decoder(rng, family is of_bytes)
        data = with_decoder(family, of)
        peer = Tokenizer.from_str(data.decode())
        try:
            definition = loads(data)
        except VocabError as error:
            seen["refused"] += 1
            unlisted += [] if any(one in error.message for one in REASONS) else [error.message]
            continue
        tok = digram.Tokenizer(definition)
        saved = dumps(definition)
        again = digram.Tokenizer(loads(saved))
        assert again == tok
        assert again.decoding == tok.decoding
        back = Tokenizer.from_str(saved.decode())
        by_steps = tok.decoding is not None
        seen["steps" if by_steps else "special"] += 1
        lists = lists_of(peer, rng)
        assert len(lists) == 40
        for skip in (False, True):
            batch = tok.decode_batch(lists, skip_special_tokens=skip, threads=2)
            for ids, found in zip(lists, batch, strict=True):
                expected = theirs_of(peer, ids, skip)
                assert found == tok.decode(ids, skip_special_tokens=skip)
                if expected is None:
                    seen["they fail"] += 1
                    continue
                if not by_steps and "\ufffd" in found:  # of bytes that are not UTF-8
                    continue
                seen["compared"] += 1
                assert found == expected, (of, ids)
                assert theirs_of(back, ids, skip) == expected, (of, ids)
        _check_single_tokens(tok, lists)
    assert unlisted == []
    assert seen["compared"] > 800, seen
    assert seen["steps"] + seen["special"] > 25, seen
    assert seen["steps"] > 20, seen
    if family in (word_piece, with_suffix):
        assert "refused" not in seen, seen


def _check_single_tokens(tok: digram.Tokenizer, lists: list[list[int]]) -> None:
    """A stream and offsets, where no step needs the whole list; else both are refused."""
    try:
        stream = tok.decoder()
    except OptionError:
        with pytest.raises(OptionError, match=r"step .* needs all tokens of a text at once"):
            tok.decoder()
        with pytest.raises(OptionError, match="tokens have no offsets in decoded text: the step"):
            tok.offsets([])
        return
    for ids in lists:
        text = tok.decode(ids)
        assert "".join([*map(stream.push, ids), stream.finish()]) == text
        ends = [len(tok.decode_bytes(ids[:count])) for count in range(len(ids) + 1)]
        assert tok.offsets(ids, unit="bytes") == [*pairwise(ends)]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_encoding_does_not_depend_on_the_decoder(family: Callable[[], Tokenizer]) -> None:
    rng, pieces = random.Random(3), ["a", "b", " ", "▁", "ab", "é", "<s>", "##x", "|", "1", "\n"]
    one = {"type": "WordPiece", "prefix": "a", "cleanup": False}
    for of in (CTC | {"pad_token": "b"}, {"type": "Sequence", "decoders": [one, LEVEL]}):
        if family is of_bytes and of["type"] == "CTC":
            continue  # refused
        content = with_decoder(family, of).decode()
        peer, tok = Tokenizer.from_str(content), digram.Tokenizer(loads(content.encode()))
        assert tok.decoding is not None
        found = digram.verify(tok, peer, None, fuzz=300)
        assert found.equal, str(found)
        for _ in range(300):
            text = "".join(rng.choices(pieces, k=rng.randrange(9)))
            assert tok.encode(text, special="parse") == peer.encode(text).ids, text


def test_metaspace_shows_the_names_of_bytes() -> None:
    """As in the library; before decodings had steps, such a file was refused."""
    pairs = [("<unk>", 0.0), ("▁", -2.0), ("a", -1.0), *((name, -9.0) for name in BYTE_NAMES)]
    peer = Tokenizer(models.Unigram(pairs, 0, True))
    peer.pre_tokenizer, peer.decoder = pre_tokenizers.Metaspace(), peer_decoders.Metaspace()
    tok = digram.Tokenizer(loads(peer.to_str().encode()))
    assert tok.decoding == Decoding([decoders.Metaspace()])
    for text in ("a é", "", "é a", "日a a"):
        ids = peer.encode(text).ids
        assert tok.encode(text) == ids
        assert tok.decode(ids) == peer.decode(ids, skip_special_tokens=False)
    assert "<0xC3><0xA9>" in tok.decode(tok.encode("é"))


SIMPLE: dict[Any, Callable[[Any], Any]] = {
    decoders.ByteLevel: lambda one: specification.byte_level,
    decoders.ByteFallback: lambda one: specification.byte_fallback,
    decoders.Fuse: lambda one: specification.fused,
    decoders.Spaced: lambda one: specification.spaced,
    decoders.BpeDecoder: lambda one: lambda tokens: specification.bpe_decoder(tokens, one.suffix),
    decoders.WordPiece: lambda one: (
        lambda tokens: specification.word_piece(tokens, one.prefix, one.cleanup)
    ),
    decoders.Metaspace: lambda one: (
        lambda tokens: specification.metaspace(tokens, one.symbol, one.prepend_scheme != "never")
    ),
    decoders.StripEnds: lambda one: (
        lambda tokens: specification.stripped(tokens, one.content, one.start, one.stop)
    ),
    decoders.Replace: lambda one: (
        lambda tokens: specification.replaced(tokens, one.pattern, one.content)
    ),
    decoders.Ctc: lambda one: (
        lambda tokens: specification.ctc(tokens, one.pad, one.word_delimiter, one.cleanup)
    ),
}


def any_step(rng: random.Random) -> Any:
    text, flag, two = texts_of(rng), rng.random() < 0.5, texts_of(rng)
    return rng.choice(
        [
            decoders.ByteLevel(),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.BpeDecoder(text),
            decoders.WordPiece(text, flag),
            decoders.Metaspace(rng.choice("▁ab "), rng.choice(["always", "never"])),
            decoders.StripEnds(rng.choice(" a▁#x"), rng.randrange(4), rng.randrange(4)),
            decoders.Replace(text, two),
            decoders.Ctc(text, two, flag),
        ]
    )


def test_the_core_does_what_the_specification_says() -> None:
    rng = random.Random(5)
    definition = loads(with_decoder(of_fallback, None))
    names = {id: name for name, id in of_fallback().get_vocab(with_added_tokens=True).items()}
    for _ in range(400):
        steps = [any_step(rng) for _ in range(rng.randrange(6))]
        steps = steps or [decoders.Spaced()]
        tok = digram.Tokenizer(replace(definition, decoding=Decoding(steps)))
        plain: list[Any] = [SIMPLE[type(one)](one) for one in steps]
        for _ in range(25):
            ids = rng.choices([*names], k=rng.randrange(9))
            expected = specification.decode([names[id] for id in ids], plain)
            assert tok.decode(ids) == expected, (steps, ids)


def heard(*steps: Any) -> digram.Tokenizer:
    definition = loads(with_decoder(characters, None))
    return digram.Tokenizer(replace(definition, decoding=Decoding(steps)))


@pytest.mark.filterwarnings("ignore:.*tokens are unreachable")
def test_it_is_part_of_the_tokenizer(tmp_path: Path) -> None:
    ctc = decoders.Ctc("<pad>", "|", True)
    tok, other = heard(ctc), heard(decoders.Ctc("<pad>", "|", False))
    plain = digram.Tokenizer(replace(tok.definition, decoding=None))
    assert len({tok.digest, other.digest, plain.digest}) == 3
    assert tok != other
    assert tok.decoding == tok.definition.decoding == Decoding([ctc])
    assert repr(tok).endswith(", decoding=[Ctc]>")
    assert "decoding" not in repr(plain)
    ids = [tok.vocab[name] for name in (b"a", b"a", b"<pad>", b"a", b"|", b"b")]
    for same in (pickle.loads(pickle.dumps(tok)), copy.deepcopy(tok), tok.with_context_size(5)):
        assert same.decoding == tok.decoding
        assert same.decode(ids) == "aa b"
    more = tok.with_special_tokens(["<end>"])
    assert more.decode([*ids, more.vocab_size - 1]) == "aa b<end>"
    assert more.decode([*ids, more.vocab_size - 1], skip_special_tokens=True) == "aa b"
    for name, format in (("a.json", "huggingface"), ("b.json", "digram")):
        tok.save(tmp_path / name, format=format)
        assert digram.load(tmp_path / name) == tok
    file = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert file["decoder"] == {
        "type": "CTC",
        "pad_token": "<pad>",
        "word_delimiter_token": "|",
        "cleanup": True,
    }
    file["decoder"]["cleanup"] = False
    with pytest.raises(CorruptFileError, match="does not fit its digest"):
        loads(json.dumps(file).encode())


@pytest.mark.parametrize(
    "steps",
    [
        [decoders.Fuse()],
        [decoders.Replace("▁", " "), decoders.Fuse()],
        [],
        [decoders.Spaced()],
        [decoders.ByteFallback(), decoders.Fuse(), decoders.StripEnds(" ", 1, 0)],
    ],
    ids=str,
)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_steps_that_have_a_form_of_their_own_stay_steps(family: Any, steps: Any) -> None:
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}
    definition = loads(with_decoder(family, level | {"use_regex": True}))
    definition = replace(definition, decoding=Decoding(steps))
    if family is unigram:
        try:
            data = dumps(definition)
        except VocabError:
            with pytest.raises(VocabError, match="since its decoder has a form of its own"):
                dumps(definition)
            data = dumps(definition, own=True)
    else:
        data = dumps(definition)
    assert digram.Tokenizer(loads(data)) == digram.Tokenizer(definition)


def test_what_needs_single_tokens_is_refused() -> None:
    for steps, name in (
        ([decoders.Ctc()], "Ctc"),
        ([decoders.Fuse(), decoders.StripEnds(" ", 1, 0)], "Fuse"),
        ([decoders.ByteFallback()], "ByteFallback"),
        ([decoders.BpeDecoder()], "BpeDecoder"),
        ([decoders.ByteLevel(), decoders.Replace("a", "b")], "ByteLevel"),
    ):
        tok = heard(*steps)
        with pytest.raises(OptionError, match=f"a stream of ids cannot .* the step {name} of"):
            tok.decoder()
        with pytest.raises(OptionError, match=f"no offsets in decoded .* the step {name} of"):
            tok.offsets([1])
    assert heard(decoders.ByteLevel()).decode([1], errors="strict") == "<s>"


@pytest.mark.parametrize("kind", ["letters", "names", "names, then letters"])
def test_bytes_that_are_not_utf8_may_be_an_error_in_any_step(kind: str) -> None:
    """Where the library puts U+FFFD, errors="strict" raises; other text is that of the library."""
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    if kind == "letters":
        names = [*LETTERS]
    names += ["a", "é", "\ufffd", "<0xZZ>"]
    steps: list[Any] = {
        "letters": [peer_decoders.ByteLevel(), peer_decoders.Replace("a", "bb")],
        "names": [peer_decoders.ByteFallback(), peer_decoders.Replace("a", "bb")],
        "names, then letters": [peer_decoders.ByteFallback(), peer_decoders.ByteLevel()],
    }[kind]
    vocab = {name: id for id, name in enumerate(dict.fromkeys(names))}
    library = Tokenizer(models.BPE(vocab, []))
    library.decoder = peer_decoders.Sequence(steps)
    definition = digram.Definition(
        tokens=[name.encode() for name in vocab],
        model=digram.BpeModel([]),
        pretokenizer=digram.Pretokenizer(None),
        unit="char",
        decoding=from_decoder(json.loads(library.decoder.__getstate__()), None),
    )
    tok = digram.Tokenizer(definition)
    choose = random.Random(kind)
    told = {True: 0, False: 0}
    clean = [[*b"ab"], [0xC3, 0xA9], [len(vocab) - 4, *"é日".encode()]]
    some = [choose.choices(range(len(vocab)), k=choose.randrange(4)) for _ in range(300)]
    for ids in [*clean, *some, *([*"é".encode(), *ids] for ids in some)]:
        expected = library.decode(ids, skip_special_tokens=False)
        assert tok.decode(ids) == expected
        # A token may be U+FFFD itself, which replaces nothing.
        own = sum(1 for id in ids if [*vocab][id] == "\ufffd")
        is_replaced = expected.count("\ufffd") > own
        told[is_replaced] += 1
        for decode in (
            tok.decode,
            lambda ids, errors: tok.decode_batch([[], ids], errors=errors)[1],
        ):
            if is_replaced:
                with pytest.raises(digram.InvalidTextError, match="not UTF-8") as caught:
                    decode(ids, errors="strict")
                assert caught.value.index is not None
            else:
                assert decode(ids, errors="strict") == expected
    assert min(told.values()) > 20
    with pytest.raises(digram.InvalidTextError) as caught:
        tok.decode([*"é".encode(), 0xC3], errors="strict")
    assert caught.value.index == 2


def test_formats_without_a_decoder_refuse(tmp_path: Path) -> None:
    data = with_decoder(of_bytes, {"type": "Sequence", "decoders": [LEVEL, CTC]})
    tok = digram.Tokenizer(loads(data))
    plain = digram.Tokenizer(replace(tok.definition, decoding=None, matching={}))
    tok = digram.Tokenizer(replace(plain.definition, decoding=tok.decoding))
    for format in digram.formats.FORMATS:
        if format in ("huggingface", "digram"):
            continue
        with pytest.raises(VocabError):
            tok.save(tmp_path / format, format=format)
    for format in ("tiktoken", "vocab_merges", "gguf", "tekken", "minbpe", "rwkv", "seed_pair"):
        with pytest.raises(VocabError) as refused:
            tok.save(tmp_path / format, format=format)
        try:
            plain.save(tmp_path / f"plain {format}", format=format)
        except VocabError:
            continue  # for another reason
        assert "cannot store decoding" in refused.value.message
    with pytest.raises(VocabError, match="cannot store decoding"):
        tok.to_tiktoken()


LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
CTC = {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}
DAMAGED: list[tuple[Any, str]] = [
    (CTC | {"pad_token": 5}, r"\(decoder.pad_token should be a string, not 5\)"),
    (CTC | {"new": 5}, r"the key 'new' of decoder is not supported"),
    ({"type": "CTC"}, "decoder.pad_token should be a string, not None"),
    ({"type": "Strip", "content": "ab", "start": 0, "stop": 1}, "is one character, not 'ab'"),
    ({"type": "Strip", "content": "a", "start": -1, "stop": 1}, "start=-1 is not a number"),
    ({"type": "Strip", "content": "a", "start": True, "stop": 1}, "start should be a whole number"),
    ({"type": "Strip", "content": "a", "start": 1 << 70, "stop": 1}, "is not a number from 0"),
    ({"type": "Replace", "pattern": {}, "content": ""}, "neither a Regex nor a String"),
    ({"type": "Replace", "pattern": {"String": 5}, "content": ""}, "the String is not a string"),
    ({"type": "Replace", "pattern": {"Regex": "a"}}, "content should be a string"),
    ({"type": "Metaspace", "replacement": "", "prepend_scheme": "never"}, "is one character"),
    ({"type": "Metaspace", "replacement": "x", "prepend_scheme": "no"}, "prepend_scheme"),
    (
        {"type": "Metaspace", "replacement": "x", "add_prefix_space": False},
        "add_prefix_space contradicts prepend_scheme",
    ),
    ({"type": "WordPiece", "prefix": "##", "cleanup": 1}, "cleanup should be true or false"),
    ({"type": "BPEDecoder"}, "suffix should be a string"),
    ({"type": "Sequence", "decoders": [CTC, 5]}, r"decoder.decoders\[1\] should be an object"),
    ({"type": "Sequence", "decoders": {}}, "decoder.decoders should be a list"),
    ({"type": "Sequence", "decoders": [{"type": "New"}]}, r"decoder.decoders\[0\] 'New' is not"),
    ({"type": "Sequence", "decoders": [CTC] * 1001}, "at most 1,000 steps"),
    (5, "decoder should be an object"),
]


@pytest.mark.parametrize(("of", "message"), DAMAGED, ids=[message for _, message in DAMAGED])
@pytest.mark.parametrize("family", [characters, of_metaspace, word_piece, with_suffix])
def test_damaged_decoders_are_refused(family: Any, of: Any, message: str) -> None:
    if family is characters and kind_of(of) == "Metaspace" and of["replacement"]:
        message = "with this normalizer is not"  # nothing else in the file has the symbol
    with pytest.raises(DigramError, match=message) as refused:
        loads(with_decoder(family, of), "t.json")
    assert refused.value.path == "t.json"


@pytest.mark.parametrize("regex", ["a*", "(", r"\b", "(a)\\1"])
def test_regexes_that_are_not_supported_are_refused(regex: str) -> None:
    of = {"type": "Replace", "pattern": {"Regex": regex}, "content": "b"}
    with pytest.raises(PatternError, match="decoder: ") as refused:
        loads(with_decoder(characters, of), "t.json")
    assert refused.value.path == "t.json"


def test_mutants_are_read_as_by_the_library_or_refused() -> None:
    """A changed value of a decoder: what is read, the library reads, too, and decodes as digram."""
    rng, read = random.Random(8), 0
    values: list[Any] = [None, 5, -1, True, "", "a", "ab", "Fuse", [], {}, [CTC], {"Regex": "a"}]
    for _ in range(600):
        of = decoder(rng) or {"type": "Fuse"}
        at = rng.choice([of, *of.get("decoders", [])])
        key = rng.choice([*at, "new"])
        if rng.random() < 0.3:
            at.pop(key, None)
        else:
            at[key] = rng.choice(values)
        data = with_decoder(characters, of)
        try:
            tok = digram.Tokenizer(loads(data))
        except DigramError:
            continue
        peer, read = Tokenizer.from_str(data.decode()), read + 1
        for ids in lists_of(peer, rng)[:10]:
            expected = theirs_of(peer, ids, False)
            assert expected is None or tok.decode(ids) == expected, (of, ids)
    assert read > 60


def test_a_text_that_grows_without_bounds_is_refused() -> None:
    growing = [decoders.Replace("a", "a" * 1000)] * 12
    with pytest.raises(digram.LimitExceededError, match="makes a text of more than"):
        heard(*growing)
    tok = heard(decoders.Fuse(), *growing)
    with pytest.raises(digram.LimitExceededError, match="makes a text of more than 1073741824"):
        tok.decode([tok.vocab[b"a"]])
    assert tok.decode([tok.vocab[b"b"]]) == "b"


def test_hostile_steps() -> None:
    for wrong in (5, "Fuse", [5], ["Fuse"], [decoders.Fuse], None):
        with pytest.raises(TypeError):
            Decoding(wrong)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="the only step"):
        Decoding([decoders.Spaced(), decoders.Fuse()])
    step: Any
    arguments: tuple[Any, ...]
    for step, arguments in (
        (decoders.StripEnds, ("", 0, 0)),
        (decoders.StripEnds, ("a", -1, 0)),
        (decoders.Replace, ("\ud800", "")),
        (decoders.Metaspace, ("a", "no")),
    ):
        with pytest.raises(OptionError):
            step(*arguments)
    for step, arguments in (
        (decoders.StripEnds, ("a", 1.0, 0)),
        (decoders.Replace, (5, "")),
        (decoders.Ctc, ("a", "b", 1)),
        (decoders.WordPiece, (None,)),
    ):
        with pytest.raises(TypeError):
            step(*arguments)
    definition = loads(with_decoder(characters, None))
    with pytest.raises(TypeError, match="decoding is"):
        digram.Tokenizer(replace(definition, decoding=[decoders.Fuse()]))  # type: ignore[arg-type]
