"""BPE with a suffix or a prefix of tokens in tokenizer.json, with the library itself beside it."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from strategies import real, scaled
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import digram
from digram import VocabError
from digram.formats._check import check as check_definition
from digram.formats.huggingface import loads
from digram.reference import affixes
from digram.vocab.schemes import Fewest

END = "</w>"
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
TRAINED_ON = [
    "The café's naïve façade: 12,345 résumés — Ångström, Dvořák; E\u0301te\u0301 a\u0323\u0302",
    "한국어 각 中文 日本語がカ゚ हिन्दी क़ ক্ষ ো Tiếng Việt được",
    "the lower lowest newer wider theatre other low lo l o w a ab abc # ## ### w> a/",
    "def f(x):\n    return x[0]  # <tool_call> ' s  t' 've\t\t\r\n\r\n   end",
]
HOSTILE = [
    *("", " ", "a", "x", "\u0378", "a\u0378", "\u0378a", "\u0378\u0378", "low</w>", "</w>", "##"),
    *("## a", "a##b", "a b</w> c", "l" * 300, "lower" * 70 + "\u0378", "日本語" * 90, "ſ ß İ Σ ΑΣ"),
    *("a\x00b", "\x85a\u200bb\u180e", "<unk>", "<s> a</s>b", "<|endoftext|> x", "e\u0301 \u0301"),
]


def trained(
    cut: Any,
    normalizer: Any = None,
    unknown: str | None = "<unk>",
    special: tuple[str, ...] = ("<s>", "</s>", "<unk>"),
    corpus: Sequence[str] = TRAINED_ON * 2,
    size: int = 500,
    **affixes: Any,
) -> Tokenizer:
    """A tokenizer of the library, trained by it."""
    model = models.BPE(unk_token=unknown, **affixes) if unknown else models.BPE(**affixes)
    theirs = Tokenizer(model)
    theirs.pre_tokenizer = cut
    if normalizer is not None:
        theirs.normalizer = normalizer
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=[*special], show_progress=False, **affixes
    )
    theirs.train_from_iterator(corpus, trainer)
    suffix, prefix = affixes.get("end_of_word_suffix"), affixes.get("continuing_subword_prefix")
    theirs.decoder = (
        decoders.BPEDecoder(suffix) if suffix else decoders.WordPiece(str(prefix), False)
    )
    return theirs


def gpt1(**training: Any) -> Tokenizer:
    bert = normalizers.BertNormalizer(strip_accents=True, lowercase=True)
    cut = pre_tokenizers.BertPreTokenizer()
    return trained(cut, bert, special=("<unk>",), end_of_word_suffix=END, **training)


def herbert(**training: Any) -> Tokenizer:
    bert = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    theirs = trained(pre_tokenizers.BertPreTokenizer(), bert, end_of_word_suffix=END, **training)
    theirs.post_processor = processors.BertProcessing(("</s>", 1), ("<s>", 0))
    return theirs


def fsmt(**training: Any) -> Tokenizer:
    """As the models of fairseq, whose text comes in words."""
    return trained(pre_tokenizers.WhitespaceSplit(), end_of_word_suffix=END, **training)


def xlm(**training: Any) -> Tokenizer:
    stages = [normalizers.NFKC(), normalizers.Lowercase(), normalizers.Replace("``", '"')]
    cut = pre_tokenizers.Whitespace()
    return trained(cut, normalizers.Sequence(stages), end_of_word_suffix=END, **training)


def blenderbot(**training: Any) -> Tokenizer:
    cut = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex("([.,!?()])"), "isolated"), pre_tokenizers.WhitespaceSplit()]
    )
    return trained(cut, normalizers.Lowercase(), end_of_word_suffix="@@", **training)


def short_suffix(**training: Any) -> Tokenizer:
    """A suffix that is a letter of words too."""
    return trained(pre_tokenizers.CharDelimiterSplit(" "), end_of_word_suffix="ÿ", **training)


def prefix(**training: Any) -> Tokenizer:
    return trained(pre_tokenizers.BertPreTokenizer(), continuing_subword_prefix="@@", **training)


def cleaned_prefix(**training: Any) -> Tokenizer:
    theirs = trained(pre_tokenizers.WhitespaceSplit(), continuing_subword_prefix="@@", **training)
    theirs.decoder = decoders.WordPiece("@@", True)
    return theirs


def both(**training: Any) -> Tokenizer:
    return trained(
        pre_tokenizers.Whitespace(),
        normalizers.NFC(),
        continuing_subword_prefix="@@",
        end_of_word_suffix=END,
        **training,
    )


def letter_affixes(**training: Any) -> Tokenizer:
    affixes: dict[str, Any] = {"continuing_subword_prefix": "ÿ", "end_of_word_suffix": "ø"}
    return trained(pre_tokenizers.WhitespaceSplit(), **affixes, **training)


def clip(corpus: Sequence[str] = TRAINED_ON * 3, size: int = 800) -> Tokenizer:
    """A small CLIP: all bytes, all bytes at the end of words, merges, two special tokens."""
    letters = pre_tokenizers.ByteLevel.alphabet()
    cut = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CLIP), "removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    learned = Tokenizer(models.BPE(end_of_word_suffix=END))
    learned.pre_tokenizer = cut
    trainer = trainers.BpeTrainer(
        vocab_size=size, end_of_word_suffix=END, initial_alphabet=letters, show_progress=False
    )
    learned.train_from_iterator(corpus, trainer)
    merges = json.loads(learned.to_str())["model"]["merges"]
    base = sorted(letters)
    names = [*base, *(letter + END for letter in base), *("".join(pair) for pair in merges)]
    names += ["<|startoftext|>", "<|endoftext|>"]
    vocab = {name: i for i, name in enumerate(dict.fromkeys(names))}
    pairs = [tuple(pair) for pair in merges]
    unk = "<|endoftext|>"
    theirs = Tokenizer(models.BPE(vocab, pairs, unk_token=unk, end_of_word_suffix=END))
    stages = [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    theirs.normalizer = normalizers.Sequence(stages)
    theirs.pre_tokenizer = cut
    theirs.add_special_tokens([AddedToken(name, normalized=False) for name in names[-2:]])
    start, end = ((name, vocab[name]) for name in names[-2:])
    theirs.post_processor = processors.RobertaProcessing(end, start, trim_offsets=False)
    theirs.decoder = decoders.ByteLevel()
    return theirs


CHARACTERS = [
    *(gpt1, herbert, fsmt, xlm, blenderbot, short_suffix),
    *(prefix, cleaned_prefix, both, letter_affixes),
]
FAMILIES = [*CHARACTERS, clip]


def check(ours: digram.Tokenizer, theirs: Tokenizer, corpus: list[str], fuzz: int = 0) -> None:
    """Ids, offsets and decoded text are the same; CLIP's text has the suffix in the library."""
    found = digram.verify(ours, theirs, corpus, fuzz=fuzz)
    assert found.equal, str(found)
    decoded = {"decoded"} if ours.unit == "char" else set()
    assert set(found.compared["text"]) == {"ids", "offsets", *decoded}
    assert found.texts == len(corpus) + fuzz


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_a_family_is_read_and_written(family: Any, tmp_path: Path) -> None:
    theirs = family()
    definition = loads(theirs.to_str().encode())
    ours = digram.Tokenizer(definition)
    check(ours, theirs, TRAINED_ON + HOSTILE, fuzz=scaled(3000))
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    again = digram.load(path)
    assert (again, again.definition) == (ours, definition)
    check(again, Tokenizer.from_file(str(path)), TRAINED_ON + HOSTILE, fuzz=scaled(500))
    ours.save(tmp_path / "own.json", format="digram")
    assert digram.load(tmp_path / "own.json") == ours


@pytest.mark.parametrize(
    "family", [gpt1, herbert, fsmt, prefix, both, clip], ids=lambda family: family.__name__
)
def test_languages(family: Any, shared_data: Callable[[str], Path]) -> None:
    corpus: list[str] = []
    for path in sorted(shared_data("flores-dev").glob("*.txt")):
        lines = path.read_text(encoding="utf-8").splitlines()[: real(20)]
        corpus += [*lines, unicodedata.normalize("NFD", "\n".join(lines))]
    assert len(corpus) > 800
    theirs = family(corpus=["\n".join(corpus[::2]), *corpus[::3]], size=8000)
    assert theirs.get_vocab_size() > 7000
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    check(ours, theirs, corpus)


def file_of(
    vocab: dict[str, int], merges: list[tuple[str, str]], pre: str, end: str, **flags: bool
) -> str:
    """A tokenizer.json of these tokens, in which the unknown token is special."""
    named = {"continuing_subword_prefix": pre, "end_of_word_suffix": end}
    given = {name: affix for name, affix in named.items() if affix}
    model = models.BPE(vocab, merges, unk_token="?", **given, **flags)
    theirs = Tokenizer(model)
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    theirs.decoder = decoders.BPEDecoder(end) if end else decoders.WordPiece(pre, False)
    theirs.add_special_tokens(["?"])
    return str(theirs.to_str())


def random_tokens(
    choose: random.Random, pre: str, end: str
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Letters at some places of words, and merges of what may be neighbours."""
    letters = [
        pre * inner + letter + end * last
        for letter in "abé日"
        for inner in (0, 1)
        for last in (0, 1)
    ]
    names = [name for name in dict.fromkeys(letters) if choose.random() < 0.85]
    merges: list[tuple[str, str]] = []
    for _ in range(choose.randrange(30)):
        lefts = [name for name in names if not (end and name.endswith(end))]
        rights = [name for name in names if name.startswith(pre)]
        if not lefts or not rights:
            break
        pair = choose.choice(lefts), choose.choice(rights)
        made = pair[0] + pair[1][len(pre) :]
        if pair not in merges and len(made) < 24:
            if made not in names:
                names.append(made)
            merges.append(pair)
    names.append("?")
    choose.shuffle(names)
    return {name: id for id, name in enumerate(names)}, merges


@pytest.mark.parametrize("ignores", [False, True])
@pytest.mark.parametrize("fuses", [False, True])
@pytest.mark.parametrize(("pre", "end"), [("", END), ("##", ""), ("##", END), ("@", "$")])
def test_any_merges_are_as_in_the_specification_and_the_library(
    pre: str, end: str, fuses: bool, ignores: bool
) -> None:
    choose = random.Random(pre + end)
    made = 0
    for _ in range(150):
        vocab, merges = random_tokens(choose, pre, end)
        flags = {"fuse_unk": fuses, "ignore_merges": ignores, "byte_fallback": True}
        file = file_of(vocab, merges, pre, end, **flags)
        theirs = Tokenizer.from_str(file)
        try:
            ours = digram.Tokenizer(loads(file.encode()))
        except VocabError as error:
            if "has a part that is made by a later merge" not in str(error):
                raise
            continue
        made += 1
        words = ["".join(choose.choices("abé日x", k=choose.randrange(1, 9))) for _ in range(40)]
        words += ["".join(choose.choices("abé日", k=choose.choice((70, 200))))]
        words += [name for name in choose.choices([*vocab], k=8) if name != "?"]
        for word in words:
            expected = affixes.encode(
                word,
                vocab,
                merges,
                prefix=pre,
                suffix=end,
                unknown=vocab["?"],
                fuse_unknown=fuses,
                ignore_merges=ignores,
            )
            found = theirs.encode(word, add_special_tokens=False)
            assert ours.encode(word) == expected == found.ids, (word, vocab, merges)
        text = " ".join(words)
        whole = theirs.encode(text)
        assert ours.encode(text) == whole.ids
        assert [tuple(span) for span in ours(text).offsets] == whole.offsets
        ids = choose.choices(range(len(vocab)), k=9)
        decoder = ours.decoder()
        parts = [decoder.push(id) for id in ids]
        text = theirs.decode(ids, skip_special_tokens=False)
        assert ours.decode(ids) == text == "".join(parts) + decoder.finish(), (ids, vocab)
        if end:
            assert text == affixes.decode([str(theirs.id_to_token(id)) for id in ids], end)
        kept = theirs.decode(ids, skip_special_tokens=True)
        assert ours.decode_batch([ids], skip_special_tokens=True) == [kept]
    assert made > 40


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_words_that_are_names_of_tokens(family: Any, tmp_path: Path) -> None:
    """With ignore_merges such a word becomes the token, whatever its place says."""
    file = json.loads(family().to_str())
    file["model"]["ignore_merges"] = True
    theirs = Tokenizer.from_str(json.dumps(file))
    definition = loads(json.dumps(file).encode())
    ours = digram.Tokenizer(definition)
    names = [name for name in theirs.get_vocab() if name not in ours.special_tokens]
    corpus = [*TRAINED_ON, *HOSTILE, *names, " ".join(names), "  ".join(names[::-3])]
    found = digram.verify(ours, theirs, corpus, fuzz=scaled(2000))
    assert found.equal, str(found)
    assert all({*parts} >= {"ids", "offsets"} for parts in found.compared.values())
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    again = digram.load(path)
    assert (again, again.definition) == (ours, definition)
    written = digram.verify(again, Tokenizer.from_file(str(path)), corpus, fuzz=200)
    assert written.equal, str(written)
    assert [ours.token_to_id(ours.id_to_token(id)) for id in range(ours.vocab_size)] == [
        *range(ours.vocab_size)
    ]
    for text in (TRAINED_ON[0], " ".join(names[:200])):
        stream = [id for ids in ours.encode_stream([text[:17], text[17:]]) for id in ids]
        assert stream == ours.encode(text)
        whole = ours(text, add_special_tokens=False)
        limited = ours(text, add_special_tokens=False, max_length=7)
        assert limited.ids == whole.ids[:7]
        assert limited.offsets == whole.offsets[:7]


def test_bytes_of_a_suffix_are_beyond_the_text_in_the_library() -> None:
    """So byte_fallback with affixes is refused: the suffix of an unknown letter becomes bytes."""
    names = ["?", "a", "a</w>", *(f"<0x{byte:02X}>" for byte in range(256))]
    vocab = {name: id for id, name in enumerate(names)}
    file = file_of(vocab, [], "", END, byte_fallback=True)
    found = Tokenizer.from_str(file).encode("az")
    assert found.tokens == ["a", "<0x7A>", *(f"<0x{byte:02X}>" for byte in b"</w>")]
    assert found.offsets[-1][1] > len("az")
    with pytest.raises(VocabError, match="at offsets beyond the text"):
        loads(file.encode())


def test_dropout_leaves_out_merges_of_marked_letters() -> None:
    theirs = both()
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    model = json.loads(theirs.to_str())
    model["model"]["dropout"] = 1.0
    letters = Tokenizer.from_str(json.dumps(model))
    for text in TRAINED_ON:
        assert ours.encode(text, dropout=1.0, seed=1) == letters.encode(text).ids


def test_text_of_clip_has_spaces_between_words() -> None:
    """As in transformers, whose class puts spaces in place of the suffix."""
    theirs = clip()
    ours = digram.Tokenizer(loads(theirs.to_str().encode()))
    for text in TRAINED_ON[:2]:
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert ours.decode(ids) == theirs.decode(ids).replace(END, " ").strip()
        decoder = ours.decoder()
        assert "".join(map(decoder.push, ids)) + decoder.finish() == ours.decode(ids)
    assert ours("low", special="parse").ids == theirs.encode("low").ids
    end = ours.special_tokens["<|endoftext|>"]
    assert ours.decode([*ours.encode("low"), end]) == "low <|endoftext|>"


def test_a_stream_holds_the_last_space_back() -> None:
    ours = digram.Tokenizer(loads(fsmt().to_str().encode()))
    decoder = ours.decoder()
    assert decoder.extend(ours.encode("lower")) == "lower"
    assert decoder.extend([]) == ""
    assert decoder.extend(ours.encode("a")) == " a"
    assert decoder.finish() == ""
    assert decoder.extend(ours.encode("low")) == "low"


def changed(change: Callable[[dict[str, Any]], Any], family: Any = fsmt) -> bytes:
    file = json.loads(family().to_str())
    change(file)
    return json.dumps(file).encode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda file: (
                file["model"].update(byte_fallback=True),
                file["model"]["vocab"].update({"<0x41>": 999}),
            ),
            r"byte_fallback with the suffix '</w>' \(other libraries make bytes of it too",
        ),
        (lambda file: file["decoder"].update(suffix=5), "decoder BPEDecoder with the suffix"),
        (lambda file: file.update(pre_tokenizer=None), "suffix '</w>' whose pre_tokenizer keeps"),
        (lambda file: file["model"]["vocab"].update({"a b": 999}), "'a b', which has a space"),
        (lambda file: file["added_tokens"][0].update(content="</w>"), "'</w>' has the id 0 of"),
        (lambda file: file["model"]["merges"].append(["a</w>", "b"]), "between which a word ends"),
        (
            lambda file: file["model"].update(continuing_subword_prefix="a"),
            "between which a word ends or begins|which may be at several places|beside",
        ),
    ],
)
def test_what_cannot_be_exact_is_refused(
    change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    with pytest.raises(VocabError, match=message):
        loads(changed(change))


@pytest.mark.filterwarnings("ignore:.*tokens are unreachable")
@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.update(decoder=None),
        lambda file: file["decoder"].update(suffix="@"),
        lambda file: file["model"]["vocab"].update({"a</w>b": len(file["model"]["vocab"])}),
        lambda file: file.update(decoder={"type": "Fuse"}),
    ],
)
def test_other_decoders_are_steps(change: Callable[[dict[str, Any]], Any], tmp_path: Path) -> None:
    """They were refused before decodings had steps, with which decoded text is exact."""
    data = changed(change)
    theirs, ours = Tokenizer.from_str(data.decode()), digram.Tokenizer(loads(data))
    assert ours.decoding is not None
    check(ours, theirs, TRAINED_ON + HOSTILE, fuzz=scaled(500))
    choose = random.Random(4)
    for _ in range(300):
        ids = choose.choices(range(ours.vocab_size), k=choose.randrange(9))
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
    ours.save(tmp_path / "tokenizer.json")
    assert digram.load(tmp_path / "tokenizer.json") == ours
    check(ours, Tokenizer.from_file(str(tmp_path / "tokenizer.json")), TRAINED_ON)


def test_a_name_with_two_meanings_is_refused() -> None:
    """The prefix itself, twice in a word: both are the same token in the library."""
    vocab = {"?": 0, "#": 1, "###": 2, "##": 3}
    with pytest.raises(VocabError, match="the token '###', which may be at several places"):
        loads(file_of(vocab | {"####": 4}, [("#", "###"), ("##", "###")], "##", "").encode())
    # The pre_tokenizer removes it from one word; the text of the token shows its place.
    tok = digram.Tokenizer(loads(file_of(vocab, [("#", "###")], "##", "").encode()))
    theirs = Tokenizer.from_str(file_of(vocab, [("#", "###")], "##", ""))
    for text in ("##", "#", "###", "####"):
        assert tok.encode(text) == theirs.encode(text).ids


def test_bytes_without_both_tokens_are_unknown_as_letters() -> None:
    def remove(file: dict[str, Any]) -> None:
        del file["model"]["vocab"]["é</w>"]

    file = changed(remove, clip)
    ours, theirs = digram.Tokenizer(loads(file)), Tokenizer.from_str(file.decode())
    assert (ours.unit, ours.on_unknown) == ("char", digram.SpecialToken("<|endoftext|>"))
    found = digram.verify(ours, theirs, [*TRAINED_ON, *HOSTILE, "\u0429 щ"], fuzz=500)
    assert found.equal, str(found)
    prefixed = changed(lambda file: file["model"].update(continuing_subword_prefix="@"), clip)
    with pytest.raises(VocabError, match="between which a word ends or begins"):
        loads(prefixed)


def test_functions_of_merges_and_other_formats_refuse(tmp_path: Path) -> None:
    for tok in (digram.Tokenizer(loads(family().to_str().encode())) for family in (fsmt, clip)):
        for call in (
            lambda tok=tok: digram.extend(tok, "low low", add=1),
            lambda tok=tok: digram.prune(tok, "low low", remove=1),
            lambda tok=tok: digram.union(tok, tok),
            lambda tok=tok: digram.explain(tok, "low"),
        ):
            with pytest.raises(digram.OptionError, match="the suffix '</w>'"):
                call()
        with pytest.raises(VocabError, match="contains no smaller ones"):
            digram.shrink(tok, 40)
        for format in ("tiktoken", "vocab_merges", "gguf", "tekken", "minbpe", "seed_pair"):
            with pytest.raises(VocabError, match="cannot store the suffix '</w>'"):
                tok.save(tmp_path / "x", format=format, allow_loss=True)


def test_definitions_are_checked() -> None:
    definition = loads(fsmt().to_str().encode())
    model = definition.model
    assert isinstance(model, digram.BpeModel)
    number: Any = 1
    for other, error, message in (
        (
            replace(model, scheme=Fewest()),
            VocabError,
            "needs merges that are applied by rank alone",
        ),
        (replace(model, suffix=number), TypeError, "suffix is a str"),
        (replace(model, suffix="\ud800"), digram.InvalidTextError, "suffix has a lone"),
    ):
        with pytest.raises(error, match=message):
            digram.Tokenizer(replace(definition, model=other))
    of_bytes = loads(clip().to_str().encode())
    assert isinstance(of_bytes.model, digram.BpeModel)
    for model, message in (
        (replace(of_bytes.model, prefix="##"), 'a prefix needs the unit "char"'),
        (replace(of_bytes.model, merges=of_bytes.model.merges[1:]), "first 256 merges do not join"),
    ):
        with pytest.raises(VocabError, match=message):
            check_definition(replace(of_bytes, model=model))
        with pytest.raises(VocabError, match="with bytes as units"):
            digram.Tokenizer(replace(of_bytes, model=model))
    end = len(definition.tokens)
    tokens = [*definition.tokens, *(bytes([byte]) for byte in range(256))]
    fallback = replace(
        definition, tokens=tokens, on_unknown="bytes", byte_ids=[*range(end, end + 256)]
    )
    with pytest.raises(VocabError, match="unknown characters cannot become bytes"):
        check_definition(fallback)
    with pytest.raises(digram.OptionError, match="unknown characters are not bytes"):
        digram.Tokenizer(fallback)
