"""tokenizer.json: what is written, what Hugging Face makes of it, and what is refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import vocabularies
from tokenizers import decoders, models, pre_tokenizers, trainers
from vocabularies import BANANA, PLAIN, SAMPLES, bpe

import digram
from digram import CorruptFileError, DigramError, PatternError, Pretokenizer, Regex, VocabError
from digram.formats.huggingface import dumps, loads, read, write
from digram.vocab.definition import digest

GOLDEN = Path(__file__).parents[2] / "testdata" / "formats"
LOSSY = {"characters or an error"}


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest) -> Any:
    return request.param, SAMPLES[request.param]


def test_what_is_written_is_read_again(sample: Any) -> None:
    name, definition = sample
    data = dumps(definition, allow_loss=name in LOSSY)
    again = loads(data)
    assert again == definition
    assert again.training == definition.training
    assert dumps(again, allow_loss=name in LOSSY) == data


def test_golden_bytes() -> None:
    assert dumps(BANANA) == (GOLDEN / "banana.json").read_bytes()
    assert read(GOLDEN / "banana.json") == BANANA


def test_the_first_format_is_read() -> None:
    """It had no seal, and all patterns as splits."""
    again = read(GOLDEN / "banana-format-1.json")
    assert (again, again.training) == (BANANA, BANANA.training)


def test_nothing_of_the_section_changes_unseen() -> None:
    """What is shown of a tokenizer, as the counts of its merges, is compared too."""
    rules = digram.Rules(["low low"], units=["mg"])
    rich = digram.train("low low lower 5 mg", max_merges=9, rules=rules, runners_up=2)
    rich = (
        rich.with_special_tokens(["<s>"])
        .with_template(digram.Template(["<s>", "$A"]))
        .with_context_size(9)
    )
    joined = digram.train("low low lower low low", max_merges=5, superwords="boundless")
    for data in (dumps(BANANA), dumps(rich.definition), dumps(joined.definition, own=True)):
        whole = json.loads(data)
        places = [*_leaves(whole["model"]["digram"])]
        assert len(places) > 10
        for way in places:
            changed = json.loads(json.dumps(whole))
            *there, last = way
            at = changed["model"]["digram"]
            for key in there:
                at = at[key]
            at[last] = at[last] + 1 if isinstance(at[last], int) else f"{at[last]}x"
            with pytest.raises(DigramError):
                loads(json.dumps(changed).encode())


def _leaves(value: Any) -> Iterator[tuple[Any, ...]]:
    """The places of all values that hold no others."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in inner:
        if isinstance(one, dict | list):
            yield from ((key, *rest) for rest in _leaves(one))
        else:
            yield (key,)


def test_the_order_of_keys_says_nothing() -> None:
    data = json.dumps(json.loads(dumps(BANANA)), sort_keys=True, indent=3)
    again = loads(data.encode())
    assert (again, again.training) == (BANANA, BANANA.training)


def test_counts_below_nothing_are_refused_where_nothing_is_compared() -> None:
    for name in ("documents", "bytes", "pretokens", "distinct_pretokens", "skipped"):
        with pytest.raises(CorruptFileError, match=rf"training\.{name} -1 is not a number"):
            loads(changed(*OWN, "training", name, to=-1))
    for count in (-1, 1 << 64):
        with pytest.raises(CorruptFileError, match="counts should have a number from 0 on"):
            loads(changed(*OWN, "training", "counts", to=[2, count, 1]))
        runners = [[], [[97, 98, count]], []]
        with pytest.raises(CorruptFileError, match="runners_up should be"):
            loads(changed(*OWN, "training", "runners_up", to=runners))


def test_the_file_says_where_the_tokenizer_comes_from() -> None:
    own = json.loads(dumps(BANANA))["model"]["digram"]
    assert own["digest"] == digest(BANANA)
    assert own["pretokenizer"] == {"name": "gpt2", "digits": "threes_from_right"}
    assert own["training"]["counts"] == [2, 1, 1]
    assert own["training"]["ties"] == "ids"
    assert digest(replace(BANANA, training=None)) == digest(BANANA)
    assert digest(replace(BANANA, tokens=[*BANANA.tokens, None])) == digest(BANANA)


def test_it_is_written_whole(tmp_path: Path) -> None:
    write(PLAIN, tmp_path / "tokenizer.json")
    assert read(tmp_path / "tokenizer.json") == PLAIN
    assert [path.name for path in tmp_path.iterdir()] == ["tokenizer.json"]


# --- what Hugging Face's library makes of it


def test_hugging_face_gives_the_same_ids_and_text(sample: Any) -> None:
    name, definition = sample
    ours = digram.Tokenizer(definition)
    theirs = tokenizers.Tokenizer.from_str(dumps(definition, allow_loss=name in LOSSY).decode())
    for text in vocabularies.texts(1000):
        try:
            ids = ours.encode(text, special="parse")
        except DigramError:
            assert name in LOSSY  # they drop the character instead
            continue
        found = theirs.encode(text).ids
        assert found == ids, text
        if "<unk>" not in definition.special_tokens:
            assert theirs.decode(ids, skip_special_tokens=False) == ours.decode(ids) == text
        mixed = [*definition.special_tokens.values(), *ids, *definition.special_tokens.values()]
        assert theirs.decode(mixed) == ours.decode(mixed, skip_special_tokens=True)
    for text, token_id in definition.special_tokens.items():
        assert theirs.token_to_id(text) == token_id
    assert theirs.get_vocab_size() == len(ours)


def test_texts_without_special_tokens_agree_by_default(sample: Any) -> None:
    name, definition = sample
    plain = replace(
        definition,
        special_tokens={t: i for t, i in definition.special_tokens.items() if t == "<unk>"},
    )
    ours = digram.Tokenizer(plain)
    theirs = tokenizers.Tokenizer.from_str(dumps(plain, allow_loss=name in LOSSY).decode())
    for text in vocabularies.texts(100, seed=1):
        if name not in LOSSY and "<unk>" not in text:
            assert theirs.encode(text).ids == ours.encode(text)


def test_what_hugging_face_saves_again_is_read(sample: Any) -> None:
    """Their library drops what is ours; the rest is still the same tokenizer."""
    name, definition = sample
    data = dumps(definition, allow_loss=name in LOSSY)
    again = loads(tokenizers.Tokenizer.from_str(data.decode()).to_str().encode())
    assert again.training is None
    if name == "two regexes":  # the first of which might as well be a digit policy
        assert again.pretokenizer == Pretokenizer(Regex(r"\s+"), digits="threes_from_left")
        again = replace(again, pretokenizer=definition.pretokenizer)
    if (
        definition.pretokenizer.name == "cl100k"
    ):  # published in the spelling of the other, and like it
        assert again.pretokenizer == Pretokenizer("llama3", digits=definition.pretokenizer.digits)
        again = replace(again, pretokenizer=definition.pretokenizer)
    assert again == replace(definition, training=None)


@pytest.mark.parametrize("initial_alphabet", [True, False], ids=["all bytes", "seen bytes"])
@pytest.mark.parametrize("split", [False, True], ids=["ByteLevel", "Split"])
def test_files_trained_by_hugging_face(initial_alphabet: bool, split: bool) -> None:
    theirs = tokenizers.Tokenizer(models.BPE())
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not split)
    regex = tokenizers.Regex(digram.pretokenizers.NAMED["cl100k"].patterns[0])
    cut = pre_tokenizers.Split(regex, "isolated")
    theirs.pre_tokenizer = pre_tokenizers.Sequence([cut, level]) if split else level
    theirs.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if initial_alphabet else []
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<s>", "<|end|>"],
        show_progress=False,
        initial_alphabet=alphabet,
    )
    theirs.train_from_iterator([vocabularies.CORPUS], trainer)
    data = theirs.to_str().encode()
    if not initial_alphabet:
        with pytest.raises(VocabError, match="of the 256 bytes have no token"):
            loads(data)
        return
    definition = loads(data)
    assert definition.pretokenizer == Pretokenizer("cl100k" if split else "gpt2")
    assert definition.special_tokens == {"<s>": 0, "<|end|>": 1}
    ours = digram.Tokenizer(definition)
    for text in vocabularies.texts(1000):
        assert theirs.encode(text).ids == ours.encode(text, special="parse")
    assert loads(dumps(definition)) == definition


def test_files_of_characters_trained_by_hugging_face() -> None:
    theirs = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    theirs.decoder = decoders.Fuse()
    trainer = trainers.BpeTrainer(vocab_size=200, special_tokens=["<unk>"], show_progress=False)
    theirs.train_from_iterator([vocabularies.CORPUS], trainer)
    definition = loads(theirs.to_str().encode())
    assert (definition.unit, definition.on_unknown) == ("char", digram.SpecialToken("<unk>"))
    ours = digram.Tokenizer(definition)
    for text in vocabularies.texts(1000):
        assert theirs.encode(text).ids == ours.encode(text, special="parse")


def test_gpt2_as_published(shared_data: Callable[[str], Path]) -> None:
    path = shared_data("vocabs/gpt2_tokenizer.json")
    definition = read(path)
    assert definition.pretokenizer == Pretokenizer("gpt2")
    assert definition.special_tokens == {"<|endoftext|>": 50256}
    assert (len(definition.tokens), len(bpe(definition).merges)) == (50256, 50000)
    again = loads(dumps(definition))
    assert again == definition
    ours, theirs = digram.Tokenizer(definition), tokenizers.Tokenizer.from_file(str(path))
    for text in vocabularies.texts(500):
        assert theirs.encode(text).ids == ours.encode(text)


# --- what the format cannot carry


def test_a_text_with_two_ids_is_refused() -> None:
    with pytest.raises(VocabError, match=r"the tokens 256 and 300 would both be 'an'"):
        dumps(replace(PLAIN, special_tokens={"an": 300}))
    with pytest.raises(VocabError, match="the tokens 32 and 300 would both be 'Ġ'"):
        dumps(replace(PLAIN, special_tokens={"Ġ": 300}), allow_loss=True)
    characters = SAMPLES["characters or bytes"]
    spelled = [*characters.tokens, b"<0x41>"]
    with pytest.raises(VocabError, match="both be '<0x41>'"):
        dumps(replace(characters, tokens=spelled, special_tokens={}))


@pytest.mark.parametrize("format", ["huggingface", "digram"])
def test_a_special_token_with_the_text_of_one_with_the_symbol_is_refused(
    format: str, tmp_path: Path
) -> None:
    """A file could have both, but a reader could not tell which of them a text is."""
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=[b" ", b"l", b"o", b" l"],
            model=digram.BpeModel([(0, 1, 3)]),
            pretokenizer=digram.Pretokenizer(None),
            unit="char",
            space_symbol="\u2581",
            on_unknown=digram.SpecialToken("<unk>"),
            special_tokens={"<unk>": 4, " l": 5},
        )
    )
    with pytest.raises(VocabError, match="' l' and the token '\u2581l' have the same text"):
        tok.save(tmp_path / "a.json", format=format)


def test_ids_that_could_not_be_read_are_refused() -> None:
    far = replace(PLAIN, special_tokens={"<far>": 10_000_000})
    assert loads(dumps(far)) == far
    with pytest.raises(VocabError, match="id 33554432 is out of range"):
        dumps(replace(PLAIN, special_tokens={"<far>": 1 << 25}))


def test_unknown_characters_that_would_be_lost_are_refused() -> None:
    with pytest.raises(VocabError, match=r"drop them silently.*allow_loss=True"):
        dumps(SAMPLES["characters or an error"])


@pytest.mark.parametrize("pattern", [r"\w+", r"a|a$", "(?i:é)", "[a&&b]x", "^a", r"(?:a+)+b"])
def test_patterns_that_would_be_read_otherwise_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="to the engine of Hugging Face's tokenizers"):
        dumps(replace(PLAIN, pretokenizer=Pretokenizer(Regex(pattern))))


# --- what is refused in files


def changed(*path: str | int, to: Any = None, delete: bool = False) -> bytes:
    """The file of BANANA, without digests, with one value changed."""
    top = json.loads(dumps(BANANA))
    del top["model"]["digram"]["digest"], top["model"]["digram"]["seal"]
    *way, last = path
    at = top
    for key in way:
        at = at[key]
    if delete:
        del at[last]
    else:
        at[last] = to
    return json.dumps(top, ensure_ascii=False).encode()


def cut_by(regex: str) -> bytes:
    """The same with another pattern."""
    stages = json.loads(dumps(BANANA))["pre_tokenizer"]["pretokenizers"]
    split = stages[0] | {"pattern": {"Regex": regex}}
    return changed("pre_tokenizer", "pretokenizers", to=[stages[0], split, LEVEL])


LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
UNTRIMMED = LEVEL | {"trim_offsets": False}
SPLIT = {"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Isolated", "invert": False}
ADDED = json.loads(dumps(BANANA))["added_tokens"][0]
OWN = ("model", "digram")
VOCAB = ("model", "vocab")
PRE = ("pre_tokenizer",)

REFUSED: list[tuple[bytes, type[Exception], str]] = [
    # not this kind of file
    (b"", CorruptFileError, "the file is empty"),
    (b" \n", CorruptFileError, "the file is empty"),
    (b"[]", CorruptFileError, "the file should be an object"),
    (b"{}", CorruptFileError, "is no tokenizer.json: its object is empty. Pass"),
    (
        b'{"version": "1.0", "vocab": {}}',
        CorruptFileError,
        "only 'version', 'vocab'. Pass",
    ),
    (b'{"model": null}', CorruptFileError, "model should be an object, not None"),
    (b'{"model": []}', CorruptFileError, "model should be an object"),
    (b'{"model": {}}', VocabError, "a model of type"),
    (
        changed("model", "type", to="Markov"),
        VocabError,
        "Markov is not supported. digram supports BPE, WordPiece, Unigram and WordLevel",
    ),
    (changed("model", "type", to=7), VocabError, "a model of type"),
    (changed("version", to="2.0"), VocabError, "version '2.0' is not supported"),
    (changed("version", to=None), VocabError, "version None"),
    # what digram does not do
    (
        changed("normalizer", to={"type": "Other"}),
        VocabError,
        "normalizer 'Other' is not supported",
    ),
    (changed("normalizer", to=[1]), CorruptFileError, "normalizer should be an object"),
    (changed("normalizer", to={"type": "NFC", "form": 1}), VocabError, "the key 'form'"),
    (changed("normalizer", to={"type": "Strip"}), CorruptFileError, "normalizer.strip_left"),
    (changed("normalizer", to={"type": "Prepend"}), CorruptFileError, "prepend should be a string"),
    (
        changed("normalizer", to={"type": "Replace", "pattern": {"String": ""}, "content": "a"}),
        VocabError,
        "the pattern of Replace is empty",
    ),
    (changed("truncation", to=5), CorruptFileError, "truncation should be an object"),
    (changed("padding", to=[]), CorruptFileError, "padding should be an object"),
    (changed("post_processor", to={"type": "Other"}), VocabError, "post_processor Other"),
    (changed("post_processor", to="ByteLevel"), VocabError, "post_processor 'ByteLevel'"),
    (changed("post_processor", to={"type": "Sequence"}), CorruptFileError, "post_processor"),
    (
        changed("post_processor", to={"type": "Sequence", "processors": [LEVEL, {"type": "New"}]}),
        VocabError,
        "post_processor New",
    ),
    (
        changed("post_processor", to={"type": "Sequence", "processors": 7}),
        CorruptFileError,
        "processors should be a list",
    ),
    (changed("something", to=1), VocabError, "the key 'something' is not supported"),
    (changed("model", "something", to=1), VocabError, "the key 'something' of the model"),
    (changed("model", "dropout", to=-0.1), CorruptFileError, "dropout -0.1 is not a probability"),
    (changed("model", "dropout", to=False), CorruptFileError, "dropout False is not"),
    (changed("model", "continuing_subword_prefix", to="##"), VocabError, "a word ends or begins"),
    (changed("model", "ignore_merges", to=1), CorruptFileError, "true or false, not 1"),
    (changed("model", "fuse_unk", to="no"), CorruptFileError, "true or false, not 'no'"),
    (changed("model", "unk_token", to=5), CorruptFileError, "unk_token should be a string"),
    (changed(*PRE, to={"type": "Scripts"}), VocabError, "of type Scripts"),
    (changed(*PRE, to={"type": "Metaspace"}), VocabError, "of type Metaspace"),
    (changed(*PRE, to={"type": 3}), CorruptFileError, "pre_tokenizer.type should be a string"),
    (changed(*PRE, to=[LEVEL]), CorruptFileError, "pre_tokenizer should be an object"),
    (changed(*PRE, to={"type": "Sequence"}), CorruptFileError, "pretokenizers should be a list"),
    (changed(*PRE, "pretokenizers", 0, "invert", to=1), CorruptFileError, "true or false"),
    (changed(*PRE, "pretokenizers", 0, "extra", to=1), VocabError, "the key 'extra'"),
    (changed(*PRE, "pretokenizers", 0, "pattern", to={"Other": "a"}), VocabError, "a Regex"),
    (changed(*PRE, "pretokenizers", 0, "pattern", to="a"), CorruptFileError, "an object"),
    (changed(*PRE, "pretokenizers", 0, "pattern", "Regex", to=1), CorruptFileError, "a string"),
    (
        cut_by(r"\X"),
        PatternError,
        r"'\\\\X' \(a cluster of characters\) is not supported",
    ),
    (
        cut_by(r"a{1000}{1000}"),
        PatternError,
        "after a repetition",
    ),
    (cut_by("a*"), PatternError, "t.json: "),
    (cut_by("("), PatternError, "not closed"),
    (
        changed(*PRE, "pretokenizers", 1, "add_prefix_space", delete=True),
        CorruptFileError,
        "add_prefix_space should be true or false",
    ),
    (changed(*PRE, "pretokenizers", 1, "use_regex", to=1), CorruptFileError, "use_regex"),
    (changed(*PRE, "pretokenizers", 1, "trim_offsets", to=1), CorruptFileError, "trim_offsets"),
    (
        changed(*PRE, to={"type": "Sequence", "pretokenizers": [LEVEL, LEVEL]}),
        VocabError,
        "of type ByteLevel after ByteLevel",
    ),
    (changed("decoder", to=None), VocabError, "decoder None is not supported"),
    (changed("decoder", to={"type": "Fuse"}), VocabError, "Set the decoder to ByteLevel"),
    (
        changed("decoder", to={"type": "Sequence", "decoders": [LEVEL, {"type": "Strip"}]}),
        VocabError,
        r"decoder ByteLevel \+ Strip",
    ),
    # special tokens
    (changed("added_tokens", to={}), CorruptFileError, "added_tokens should be a list"),
    (changed("added_tokens", 0, to="<s>"), CorruptFileError, r"added_tokens\[0\] should be an"),
    (changed("added_tokens", 0, "lstrip", to=1), CorruptFileError, "lstrip should be true or"),
    (
        changed("added_tokens", 0, "special", delete=True),
        CorruptFileError,
        "true or false, not None",
    ),
    (changed("added_tokens", 0, "id", to="259"), CorruptFileError, "id should be a whole number"),
    (changed("added_tokens", 0, "id", to=True), CorruptFileError, "id should be a whole number"),
    (changed("added_tokens", 0, "id", to=260), VocabError, "has the ids 259 and 260"),
    (changed("added_tokens", 0, "content", to=None), CorruptFileError, "content should be"),
    (changed("added_tokens", 0, "content", to=""), VocabError, "special token '' has no text"),
    (changed("added_tokens", 0, "extra", to=1), VocabError, "the key 'extra' of added"),
    (changed("added_tokens", to=[ADDED, ADDED]), VocabError, "has the ids 259 and 259"),
    (
        changed("added_tokens", to=[ADDED, ADDED | {"content": "<x>"}]),
        VocabError,
        "'<x>' has the id 259 of special token '<|end|>'",
    ),
    (changed("added_tokens", to=[ADDED, ADDED | {"content": "<x>", "id": 97}]), VocabError, "97"),
    (changed("added_tokens", to=[ADDED, ADDED | {"content": "<x>", "id": -1}]), VocabError, "-1"),
    (
        changed("added_tokens", to=[ADDED, ADDED | {"content": "<x>", "id": 1 << 40}]),
        VocabError,
        "out of range",
    ),
    (
        changed("added_tokens", to=[ADDED, ADDED | {"content": "an", "id": 256}]),
        VocabError,
        "the special token 'an', which is also in merges",
    ),
    (
        changed("added_tokens", to=[ADDED, ADDED | {"content": "a", "id": 97}]),
        VocabError,
        "the special token 'a', which is also in merges",
    ),
    # the vocabulary
    (changed(*VOCAB, to=[]), CorruptFileError, "model.vocab should be an object"),
    (changed(*VOCAB, delete=True), CorruptFileError, "model.vocab should be an object, not None"),
    (changed(*VOCAB, "an", to="256"), CorruptFileError, r"model.vocab\['an'\] should be a whole"),
    (changed(*VOCAB, "an", to=256.0), CorruptFileError, "not 256.0"),
    (changed(*VOCAB, "an", to=None), CorruptFileError, "not None"),
    (changed(*VOCAB, "an", to=True), CorruptFileError, "not True"),
    (changed(*VOCAB, "an", to=-1), VocabError, "id -1 is out of range"),
    (changed(*VOCAB, "an", to=1 << 32), VocabError, "id 4294967296 is out of range"),
    (changed(*VOCAB, "an", to=1 << 80), VocabError, "out of range"),
    (changed(*VOCAB, "an", to=257), VocabError, "id 257 is the id of 'an' and of 'anan'"),
    (changed(*VOCAB, "an", to=259), VocabError, "id 259 is the id of"),
    (
        changed(*VOCAB, "two words", to=300),
        VocabError,
        r"'two words' \(id 300\) is neither written",
    ),
    (changed(*VOCAB, "!", delete=True), VocabError, "1 of the 256 bytes have no token: 0x21"),
    (changed(*VOCAB, "an", delete=True), VocabError, "merge 0: 'a' . 'n' needs token 'an'"),
    (changed(*VOCAB, "anan", delete=True), VocabError, "merge 1: 'an' . 'an' needs"),
    # the merges
    (changed("model", "merges", to={}), CorruptFileError, "model.merges should be a list"),
    (changed("model", "merges", delete=True), CorruptFileError, "model.merges should be a list"),
    (changed("model", "merges", 0, to=5), CorruptFileError, r"merges\[0\] should be two tokens"),
    (changed("model", "merges", 0, to=["a"]), CorruptFileError, r"merges\[0\] should be two"),
    (changed("model", "merges", 1, to=["a", 1]), CorruptFileError, r"merges\[1\] should be two"),
    (changed("model", "merges", 1, to=["a", ["b"]]), CorruptFileError, r"merges\[1\]"),
    (changed("model", "merges", 1, to="an an"), CorruptFileError, r"merges\[1\] should be two"),
    (changed("model", "merges", to=["a n", "an an", "b"]), CorruptFileError, r"merges\[2\]"),
    (changed("model", "merges", to=["a n", "an  an"]), CorruptFileError, r"merges\[1\]"),
    (changed("model", "merges", to=["a n", "#version 0.2"]), VocabError, "merge 1: '#version'"),
    (changed("model", "merges", 1, to=["a", "n"]), VocabError, "merge 1: .* occurs twice"),
    (
        changed("model", "merges", to=["an an", "a n", "b anan"]),
        VocabError,
        "merge 0: .* is made by a later merge",
    ),
    (changed("model", "merges", 0, to=["a", "<|end|>"]), VocabError, "which is also in merges"),
    # what is ours
    (changed(*OWN, to=[]), CorruptFileError, "model.digram should be an object"),
    (changed(*OWN, "format", to=6), VocabError, r"format 6.*Install a newer digram"),
    (changed(*OWN, "format", to=0), CorruptFileError, "format 0 is not known"),
    (changed(*OWN, "format", delete=True), CorruptFileError, "format should be a whole number"),
    (changed(*OWN, "extra", to=0), CorruptFileError, "the key 'extra' is not known"),
    (changed(*OWN, "digest", to="0"), CorruptFileError, "does not fit its digest"),
    (changed(*OWN, "digest", to=None), CorruptFileError, "does not fit its digest"),
    (changed(*OWN, "seal", to="0"), CorruptFileError, "does not fit its seal"),
    (changed(*OWN, "seal", to=None), CorruptFileError, "does not fit its seal"),
    (changed(*OWN, "pretokenizer", "name", to=5), CorruptFileError, "name should be a string"),
    (changed(*OWN, "pretokenizer", to=None), CorruptFileError, "should be an object"),
    (changed(*OWN, "pretokenizer", "digits", to="fives"), CorruptFileError, "digits 'fives'"),
    (changed(*OWN, "pretokenizer", "digits", to=[]), CorruptFileError, "digits"),
    (
        changed(*OWN, "pretokenizer", "digits", to="individual"),
        CorruptFileError,
        "the first Split should be",
    ),
    (changed(*OWN, "training", to=[]), CorruptFileError, "training should be an object"),
    (changed(*OWN, "training", "ties", delete=True), CorruptFileError, "'ties' is missing"),
    (changed(*OWN, "training", "new", to=1), CorruptFileError, "'new' is not known"),
    (changed(*OWN, "training", "bytes", to=1.5), CorruptFileError, "bytes should be a whole"),
    (changed(*OWN, "training", "options", to=[]), CorruptFileError, "options should be an object"),
    (changed(*OWN, "training", "stop_reason", to="bored"), CorruptFileError, "'bored'"),
    (changed(*OWN, "training", "counts", to=[1]), CorruptFileError, "each of 3 merges"),
    (changed(*OWN, "training", "counts", to=[1, 2, "3"]), CorruptFileError, "each of 3"),
    (changed(*OWN, "training", "counts", to={}), CorruptFileError, "counts should be a list"),
    (changed(*OWN, "training", "skipped", to="1"), CorruptFileError, "skipped should be a whole"),
]


@pytest.mark.parametrize(
    ("data", "error", "message"), REFUSED, ids=[message for _, _, message in REFUSED]
)
def test_refused(data: bytes, error: type[DigramError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        loads(data, "t.json")
    assert str(caught.value).startswith("t.json")
    assert caught.value.path == "t.json"


@pytest.mark.parametrize(
    "data",
    [
        changed("model", "type", delete=True),
        changed("model", "dropout", to=0.0),
        changed("model", "continuing_subword_prefix", to=""),
        changed("model", "unk_token", to="<unk>"),
        changed("model", "merges", to=["a n", "an an", "b anan"]),
        changed("post_processor", to={"type": "Sequence", "processors": [UNTRIMMED]}),
        changed("post_processor", to=UNTRIMMED),
        changed("decoder", to={"type": "Sequence", "decoders": [LEVEL]}),
        changed("added_tokens", 0, "normalized", to=True),
        changed(*VOCAB, "<|end|>", delete=True),
        changed("model", "digram", delete=True),
        changed("model", "digram", "training", to=None),
    ],
)
def test_other_ways_to_say_the_same(data: bytes) -> None:
    assert replace(loads(data), training=None) == replace(BANANA, training=None)


@pytest.mark.parametrize("digits", ["individual", "threes_from_left", "threes_from_right", None])
@pytest.mark.parametrize("name", [*digram.pretokenizers.NAMED, None])
def test_digit_policies_are_recognised_in_files_of_others(name: Any, digits: Any) -> None:
    pretokenizer = Pretokenizer(name, digits=digits)
    top = json.loads(dumps(replace(PLAIN, pretokenizer=pretokenizer)))
    del top["model"]["digram"]
    again = loads(json.dumps(top).encode()).pretokenizer
    assert again == Pretokenizer("llama3" if name == "cl100k" else name, digits=digits)


def test_byte_level_that_cuts_comes_after_the_splits() -> None:
    cuts = LEVEL | {"use_regex": True}
    top = json.loads(changed("model", "digram", delete=True))
    top["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [SPLIT, cuts]}
    gpt2 = digram.pretokenizers.NAMED["gpt2"].patterns[0]
    expected = Pretokenizer([Regex("a"), Regex(gpt2)])
    assert loads(json.dumps(top).encode()).pretokenizer == expected
    old = {key: value for key, value in cuts.items() if key != "use_regex"}
    top["pre_tokenizer"] = old
    assert loads(json.dumps(top).encode()).pretokenizer == Pretokenizer("gpt2")


def characters(**model: Any) -> bytes:
    """A little file of characters."""
    top = json.loads(dumps(SAMPLES["characters or unknown"]))
    del top["model"]["digram"]
    top["model"] |= model
    return json.dumps(top, ensure_ascii=False).encode()


def test_files_of_characters() -> None:
    assert loads(characters()).on_unknown == digram.SpecialToken("<unk>")
    dropping = loads(characters(unk_token=None))
    assert dropping.on_unknown == "error"  # where others drop in silence
    assert bpe(loads(characters(fuse_unk=True))).fuse_unknown
    with pytest.raises(VocabError, match="unk_token '<none>' is not in the vocabulary"):
        loads(characters(unk_token="<none>"))
    # Without tokens of bytes it has no effect.
    assert loads(characters(byte_fallback=True)) == loads(characters())
    top = json.loads(dumps(SAMPLES["characters or bytes"]))
    del top["model"]["digram"]
    top["added_tokens"].append(ADDED | {"content": "<0x41>", "id": top["model"]["vocab"]["<0x41>"]})
    with pytest.raises(VocabError, match="'<0x41>', which is special"):
        loads(json.dumps(top).encode())
    del top["added_tokens"][-1]
    del top["model"]["vocab"]["<0x41>"]
    with pytest.raises(VocabError, match="'<0x41>', which is not in the vocabulary"):
        loads(json.dumps(top).encode())


def test_any_changed_token_shows() -> None:
    """A file of ours that is still well formed but no longer the same does not load."""
    data = dumps(BANANA)
    for old, new in ((b'"b":98,"c":99', b'"c":98,"b":99'), (b'"counts":[2', b'"counts":[3')):
        other = data.replace(old, new)
        assert other != data
        with pytest.raises(CorruptFileError, match="was changed after it was saved"):
            loads(other)


def test_every_truncation_is_refused() -> None:
    data = dumps(BANANA)
    rng = random.Random(0)
    for length in (*range(200), *rng.sample(range(len(data)), 300)):
        if data[:length].rstrip() == data.rstrip():
            continue
        with pytest.raises(CorruptFileError, match=r"truncated|empty") as caught:
            loads(data[:length], "t.json")
        assert caught.value.path == "t.json"
