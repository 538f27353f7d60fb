"""SentencePiece's .model: the ids, texts and offsets of the library, and damaged files."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import digram
from digram.errors import CorruptFileError, DigramError, DigramWarning, VocabError
from digram.formats import sentencepiece
from digram.formats._sentencepiece_file import Kind, ModelFile, Normalization, Piece, Type
from digram.vocab.scores import ScoredModel, UnigramModel

spm = pytest.importorskip("sentencepiece")

CORPUS = [
    "the cat sat on the mat, and the other cat ate the hat; that is the theory of cats.",
    "Der Hut, der Hund und das Haus: 1234567890 Häuser, ein schöner Tag im Frühling.",
    "日本語のテキストと、日本の本。ｶﾞｷﾞｸﾞ ＡＢＣ ①②③ ﬁn ﬂow",
    "def f(x):\n\treturn [x, x  ,   x]  # hahaha aaaaaaa ........ ------",
] * 8
PARTS = [
    *("<s>", "</s>", "<unk>", "<mask>", "<0x41>", "▁", "▁▁", " ", "  ", "\t", "\n", "\u3000"),
    *("\u00a0", "\u200b", "é", "e\u0301", "ﬁ", "①", "ｶﾞ", "\u1112\u1161\u11ab", "ſ", "ß", "İ"),
    *("a", "aa", "aaa", "b", "x", "1", "22", "333", "😀", "\ufffd", "～", ".", "...", "hahaha"),
    *("cat", "ab", "日本", "the", "The"),
]
OPTIONS: dict[str, dict[str, Any]] = {
    "T5": {"model_type": "unigram", "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1},
    "XLM-R": {"model_type": "unigram", "character_coverage": 0.98},
    "bytes": {
        "model_type": "unigram",
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
    },
    "symbols": {
        "model_type": "unigram",
        "user_defined_symbols": ["<mask>", "ab", "▁▁", "the", "é", "ﬁ"],
    },
    "suffix": {"model_type": "unigram", "treat_whitespace_as_suffix": True},
    "folded": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc_cf"},
    "without prefix": {
        "model_type": "unigram",
        "add_dummy_prefix": False,
        "normalization_rule_name": "nfkc",
    },
    "Llama 2": {
        "model_type": "bpe",
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "split_digits": True,
        "allow_whitespace_only_pieces": True,
    },
    "Gemma": {
        "model_type": "bpe",
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
        "user_defined_symbols": ["\n", "\t", "▁▁", "▁▁▁", "<mask>"],
    },
    "BPE": {"model_type": "bpe", "character_coverage": 0.98},
    "BPE symbols": {
        "model_type": "bpe",
        "user_defined_symbols": ["<mask>", "ab", "▁▁", "the", "é", "ﬁ"],
    },
    "characters": {"model_type": "char", "user_defined_symbols": ["ab", "<mask>"]},
    "characters and bytes": {
        "model_type": "char",
        "byte_fallback": True,
        "treat_whitespace_as_suffix": True,
        "normalization_rule_name": "nfkc_cf",
    },
    "words": {"model_type": "word"},
    "words, kept as they are": {
        "model_type": "word",
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
        "user_defined_symbols": ["<mask>", "▁the", "ab"],
    },
    "words with suffixes": {
        "model_type": "word",
        "treat_whitespace_as_suffix": True,
        "normalization_rule_name": "nmt_nfkc_cf",
    },
    "scripts joined": {
        "model_type": "unigram",
        "split_by_unicode_script": False,
        "split_by_number": False,
        "split_by_whitespace": False,
        "split_digits": True,
        "allow_whitespace_only_pieces": True,
        "normalization_rule_name": "nfkc_cf",
    },
    "BPE of suffixes": {
        "model_type": "bpe",
        "treat_whitespace_as_suffix": True,
        "remove_extra_whitespaces": False,
        "split_by_unicode_script": False,
    },
    "bytes and symbols": {
        "model_type": "unigram",
        "byte_fallback": True,
        "user_defined_symbols": ["<mask>", "ab", "the"],
        "add_dummy_prefix": False,
    },
}


def trained(**options: Any) -> bytes:
    """A file that the library's own trainer writes."""
    model = io.BytesIO()
    fallback = 256 * options.get("byte_fallback", False)
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        vocab_size=260 + fallback,
        hard_vocab_limit=False,
        minloglevel=2,
        num_threads=1,
        **options,
    )
    return model.getvalue()


def texts(count: int, seed: int, parts: list[str] = PARTS) -> Iterator[str]:
    rng = random.Random(seed)
    yield from ("", " ", "   ", "▁", "a", *CORPUS[:4])
    for _ in range(count):
        yield "".join(rng.choices(parts, k=rng.randrange(1, 16)))


def check_ids(data: bytes, count: int, seed: int = 0, parts: list[str] = PARTS) -> None:
    """All of the library's ids, and the texts that they decode to."""
    theirs = spm.SentencePieceProcessor(model_proto=data)
    ours = digram.Tokenizer(sentencepiece.loads(data))
    unknown = theirs.unk_id()
    for text in texts(count, seed, parts):
        ids = theirs.encode(text)
        assert ours.encode(text) == ids, text
        if not text.lstrip().startswith("▁"):
            expected = theirs.decode(ids).replace(" ⁇ ", theirs.id_to_piece(unknown))
            assert ours.decode(ids) == expected, text
        assert len(ours(text).offsets) == len(ids)


def test_a_rule_of_ones_own(tmp_path: Path) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text("61\t62 63\n31\t\nE9\t65 301\n74 68\t64\n")
    for kind in ("unigram", "bpe", "word", "char"):
        check_ids(trained(model_type=kind, normalization_rule_tsv=str(rules)), 200)


@pytest.mark.parametrize("name", OPTIONS)
def test_ids_of_trained_models(name: str, tmp_path: Path) -> None:
    data = trained(**OPTIONS[name])
    check_ids(data, 400)
    (tmp_path / "tokenizer.model").write_bytes(data)
    tok = digram.load(tmp_path)
    for path in ("again.model", "again.json"):
        tok.save(tmp_path / path)
        assert digram.load(tmp_path / path) == tok
    check_ids((tmp_path / "again.model").read_bytes(), 50, seed=1)


def test_offsets_are_those_of_the_library() -> None:
    """But where a character becomes several, which tokens share."""
    for name in ("T5", "without prefix", "Llama 2", "BPE", "suffix"):
        data = trained(**OPTIONS[name])
        theirs = spm.SentencePieceProcessor(model_proto=data)
        ours = digram.Tokenizer(sentencepiece.loads(data))
        for text in texts(300, 2):
            expected = theirs.encode(text, return_type="offset_mapping")["offsets"]
            found = ours(text).offsets
            if "ﬁ" in text or name == "Llama 2":
                both = zip(found, expected, strict=True)
                assert all(a <= start <= end <= b for (a, b), (start, end) in both), text
            else:
                assert found == expected, text


def adversarial(rng: random.Random, kind: Kind) -> ModelFile:
    """Equal scores, runs of one letter, pieces of every type, and letters without a piece."""
    letters = "ab▁é"
    names = {"▁", *rng.sample(letters, rng.randrange(1, 4))}
    if kind is Kind.WORD:
        names |= {"▁" + "".join(rng.choices("abé", k=rng.randint(1, 3))) for _ in range(9)}
    longest = 1 if kind is Kind.CHAR else 7
    names |= {"".join(rng.choices(letters, k=rng.randint(1, longest))) for _ in range(24)}
    pieces = [Piece("<unk>", 0.0, Type.UNKNOWN), Piece("<s>", 0.0, Type.CONTROL)]
    fallback = rng.random() < 0.5 and kind is not Kind.WORD
    if fallback:
        pieces += [Piece(f"<0x{byte:02X}>", 0.0, Type.BYTE) for byte in range(256)]
    scores = rng.choice([[-1.0, -2.0], [0.0], [-0.1, -0.3, -0.7, -1.1], [-7.3, -9000.7, -3.1]])
    for name in sorted(names):
        choices = [Type.NORMAL] * 8 + ([Type.UNUSED, Type.USER_DEFINED] if name != "▁" else [])
        if kind is Kind.WORD:
            choices = [one for one in choices if one is not Type.UNUSED]
        kept = rng.choice(choices)
        pieces.append(
            Piece(name, rng.choice(scores) if kept is not Type.USER_DEFINED else 0.0, kept)
        )
    normalization = Normalization(
        add_dummy_prefix=rng.random() < 0.5, remove_extra_whitespaces=rng.random() < 0.5
    )
    return ModelFile(pieces=pieces, kind=kind, byte_fallback=fallback, normalization=normalization)


@pytest.mark.parametrize("kind", [Kind.UNIGRAM, Kind.BPE, Kind.CHAR, Kind.WORD])
def test_ids_of_adversarial_models(kind: Kind) -> None:
    rng = random.Random(kind)
    for seed in range(60):
        data = adversarial(rng, kind).dumps()
        check_ids(data, 60, seed, [*"ab▁é x", "aa", "aaa", "ab", "ba", "  ", "<s>", "éé"])


def test_sums_of_long_texts_are_rounded_as_there() -> None:
    pieces = [Piece("<unk>", 0.0, Type.UNKNOWN), Piece("▁", -1.0)]
    pieces += [Piece("a" * n, -1.1 * n**0.99) for n in range(1, 6)]
    pieces += [Piece("b", -5000.3), Piece("bb", -10000.7)]
    data = ModelFile(pieces=pieces).dumps()
    theirs, ours = (
        spm.SentencePieceProcessor(model_proto=data),
        digram.Tokenizer(sentencepiece.loads(data)),
    )
    rng = random.Random(0)
    text = "".join(rng.choices(["a", "b", " "], [8, 1, 1], k=40_000))
    assert ours.encode(text) == theirs.encode(text)


def test_characters_that_training_did_not_see() -> None:
    data = trained(model_type="char", required_chars="Ꙫ")
    theirs = spm.SentencePieceProcessor(model_proto=data)
    ours = digram.Tokenizer(sentencepiece.loads(data))
    assert "Ꙫ".encode() in ours.definition.tokens
    for text in texts(200, 9, [*PARTS, "Ꙫ"]):
        assert ours.encode(text) == theirs.encode(text), text
    again = sentencepiece.loads(sentencepiece.dumps(ours.definition))
    assert again == ours.definition


def plain() -> ModelFile:
    pieces = [Piece("<unk>", 0.0, Type.UNKNOWN), Piece("▁", -1.0), Piece("a", -2.0)]
    return ModelFile(pieces=pieces)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (
            {
                "kind": Kind.WORD,
                "byte_fallback": True,
                "pieces": [
                    *plain().pieces,
                    *(Piece(f"<0x{byte:02X}>", 0.0, Type.BYTE) for byte in range(256)),
                ],
            },
            VocabError,
            "a model of words with byte_fallback",
        ),
        (
            {"normalization": Normalization(escape_whitespaces=False)},
            VocabError,
            "escape_whitespaces",
        ),
        ({"pieces": [Piece("▁")]}, CorruptFileError, "no piece is for unknown characters"),
        ({"pieces": [*plain().pieces, Piece("a")]}, CorruptFileError, "is piece 2 too"),
        ({"pieces": [*plain().pieces, Piece("a b")]}, VocabError, "real space"),
        ({"pieces": [*plain().pieces, Piece("x" * 8000)]}, CorruptFileError, "more than 7,999"),
        ({"pieces": [*plain().pieces, Piece("\0")]}, CorruptFileError, "zero byte"),
        (
            {"pieces": [*plain().pieces, Piece("b", float("inf"))]},
            CorruptFileError,
            "the score inf",
        ),
        (
            {"pieces": [*plain().pieces, Piece("<0x41>", 0.0, Type.BYTE)]},
            CorruptFileError,
            "no byte_fallback",
        ),
        (
            {"pieces": [*plain().pieces, Piece("<u>", 0.0, Type.UNKNOWN)]},
            CorruptFileError,
            "second piece for unknown",
        ),
        ({"byte_fallback": True}, CorruptFileError, "256 pieces of bytes, but there are 0"),
        (
            {"normalization": Normalization(charsmap=b"\1\2\3\4\5")},
            CorruptFileError,
            "character map is damaged",
        ),
    ],
)
def test_what_is_refused(changed: dict[str, Any], error: type[DigramError], message: str) -> None:
    data = replace(plain(), **changed).dumps()
    with pytest.raises(error, match=message):
        digram.Tokenizer(sentencepiece.loads(data, "a.model"))


@pytest.mark.parametrize("fallback", [False, True])
def test_the_names_of_pieces_with_a_role(fallback: bool) -> None:
    """As Gemma names them: where they are lost, programs do not find the start of a text."""
    ids = {"pad_id": 0, "eos_id": 1, "bos_id": 2, "unk_id": 3}
    names = {"pad": "[pad]", "eos": "<eos>", "bos": "<bos>", "unk": "[unk]"}
    pieces = {f"{role}_piece": text for role, text in names.items()}
    data = trained(model_type="bpe", byte_fallback=fallback, **ids, **pieces)
    tok = digram.Tokenizer(sentencepiece.loads(data))
    assert tok.special_roles == digram.SpecialRoles(
        bos="<bos>", eos="<eos>", unk="[unk]" if fallback else None
    )
    assert tok.pad_token == "[pad]"
    written = sentencepiece.dumps(tok.definition)
    assert digram.Tokenizer(sentencepiece.loads(written)) == tok
    for one in (data, written):
        theirs = spm.SentencePieceProcessor(model_proto=one)
        found = theirs.pad_id(), theirs.eos_id(), theirs.bos_id(), theirs.unk_id()
        assert found == (0, 1, 2, 3)
    usual = tok.with_special_roles(digram.SpecialRoles(eos="<eos>", mask="<bos>"))
    with pytest.raises(VocabError, match="special roles"):
        sentencepiece.dumps(usual.definition)


def test_files_that_are_cut_off_behind_a_piece_or_a_message() -> None:
    data = plain().dumps()
    trainer, normalizer = data.index(b"\x129"), data.index(b"\x1a\n")
    for end, missing in ((trainer, "trainer_spec and no normalizer_spec"), (normalizer, "norm")):
        with pytest.warns(DigramWarning, match=f"the file has no {missing}.* copy it again"):
            check_ids(data[:end], 20)


@pytest.mark.filterwarnings("ignore:.* be cut off:digram.DigramWarning")
def test_damaged_files() -> None:
    data = replace(plain(), byte_fallback=False).dumps()
    rng = random.Random(0)
    for end in range(len(data)):
        try_load(data[:end])
    for _ in range(3000):
        at, end = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
        middle = bytes(rng.choices([0, 1, 10, 127, 128, 255], k=rng.randrange(4)))
        try_load(data[:at] + middle + data[end:])


def try_load(data: bytes) -> None:
    try:
        tok = digram.Tokenizer(sentencepiece.loads(data))
    except DigramError:
        return
    assert tok.decode(tok.encode("a a")) is not None


def test_what_cannot_be_stored() -> None:
    tok = digram.Tokenizer(sentencepiece.loads(plain().dumps()))
    definition = tok.definition
    model = definition.model
    assert isinstance(model, UnigramModel)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"model": replace(model, addition="double")}, "double precision"),
        ({"model": replace(model, unknown=-5.0)}, "the score -5.0 of unknown"),
        ({"model": replace(model, scores=[None, -1.0, -2.1], unknown=-12.1)}, "it has 32 bits"),
        ({"on_unknown": "error"}, "unknown characters are an error"),
        ({"strip_first_space": False}, "strip_first_space"),
        ({"pretokenizer": digram.Pretokenizer("gpt2")}, "gpt2"),
        ({"special_tokens": {"<unk>": 0, "<x>": 9}}, "without the id 3"),
        ({"pad_token": "<unk>"}, "pad token"),
        ({"special_roles": digram.SpecialRoles(mask="<unk>")}, "special roles"),
        (
            {"model": ScoredModel([None, -1.0, -2.0]), "tokens": [None, b" ", "▁".encode()]},
            "symbol",
        ),
    ]
    for changed, message in cases:
        with pytest.raises(VocabError, match=message):
            sentencepiece.dumps(replace(definition, **changed))
    with pytest.raises(VocabError, match="a model of the kind"):
        sentencepiece.dumps(digram.train("a", max_merges=0).definition)


def test_ids_of_published_models(data_dir: Path) -> None:
    for name, corpus in (("spm_test_model", "botchan"), ("spm_test_ja_model", "wagahai")):
        path = data_dir / "vocabs" / f"{name}.model"
        theirs, ours = spm.SentencePieceProcessor(model_file=str(path)), digram.load(path)
        lines = (data_dir / "corpora" / f"{corpus}.txt").read_text("utf-8").splitlines()[:1500]
        lines += [
            line
            for file in sorted((data_dir / "flores-dev").glob("*.txt"))
            for line in file.read_text("utf-8").splitlines()[:20]
        ]
        assert ours.encode_batch(lines) == theirs.encode(lines)
