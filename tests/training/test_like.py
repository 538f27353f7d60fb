"""`train(like=...)`: a new vocabulary in the pipeline of another tokenizer."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf_files
import pytest
import sentencepiece
import vocabularies
from formats import test_pipelines as pipelines
from formats import test_unigram as unigram
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

import digram
from digram.pretokenizers import SentencePiece

TEXT = ["low lower lowest", "the new newer newest é ö\n\tthe widest", "<s> 123 the end"] * 5
KEPT = (
    *("template", "context_size", "pad_token", "special_roles", "chat_templates", "matching"),
    *("space_symbol", "strip_first_space", "cleanup", "pretokenizer", "unit", "on_unknown"),
    *("decoding", "dropout", "trim_offsets"),
)


def trained_again(peer: Tokenizer, texts: list[str], size: int) -> dict[str, Any]:
    """What `train_new_from_iterator` of transformers does, without transformers."""
    file = json.loads(peer.to_str())
    added = file.pop("added_tokens")
    file.pop("post_processor")
    file["model"] |= {"vocab": {}, **({"merges": []} if "merges" in file["model"] else {})}
    fresh = Tokenizer.from_str(json.dumps(file))
    special = [
        AddedToken(**{k: v for k, v in token.items() if k not in ("special", "id")})
        for token in added
        if token["special"]
    ]
    kinds = {"BPE": trainers.BpeTrainer, "WordPiece": trainers.WordPieceTrainer}
    options: dict[str, Any] = {"vocab_size": size, "special_tokens": special}
    if "ByteLevel" in json.dumps(file["pre_tokenizer"]):
        options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
    trainer = kinds[file["model"]["type"]](show_progress=False, **options)
    fresh.train_from_iterator(texts, trainer)
    return dict(json.loads(fresh.to_str())["model"])


def peers() -> dict[str, Tokenizer]:
    """Tokenizers as transformers has them, with small vocabularies."""
    found = {}
    gpt2 = Tokenizer(models.BPE())
    gpt2.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    gpt2.decoder = decoders.ByteLevel()
    gpt2.normalizer = normalizers.NFC()
    found["bytes"] = gpt2
    llama = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    llama.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    llama.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    found["characters"] = llama
    metaspace = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    metaspace.pre_tokenizer = pre_tokenizers.Metaspace()
    metaspace.decoder = decoders.Metaspace()
    found["metaspace"] = metaspace
    for name, peer in found.items():
        special = ["<unk>", "<s>"] if name != "bytes" else ["<s>"]
        options: dict[str, Any] = {}
        if name == "bytes":
            options["initial_alphabet"] = pre_tokenizers.ByteLevel.alphabet()
        peer.train_from_iterator(
            ["another text with the letters abc"],
            trainers.BpeTrainer(
                vocab_size=300, special_tokens=special, show_progress=False, **options
            ),
        )
    return found


@pytest.mark.parametrize("name", ["bytes", "characters", "metaspace"])
@pytest.mark.parametrize("source", ["text", "en.txt", "multi.txt"])
def test_the_vocabulary_is_that_of_train_new_from_iterator(
    name: str, source: str, shared_data: Callable[[str], Path]
) -> None:
    texts, size = TEXT, 300
    if source != "text":
        text = shared_data(f"corpora/{source}").read_text(encoding="utf-8")
        texts, size = text[:150_000].split("\n"), 6000
    if name == "characters":
        texts = [text[:200] for text in texts[:300]]  # the peer makes one word of each
    peer = peers()[name]
    like = digram.formats.huggingface.loads(peer.to_str().encode())
    tok = digram.train(texts, like=digram.Tokenizer(like), vocab_size=size)
    expected = trained_again(peer, texts, size)
    made = json.loads(digram.formats.huggingface.dumps(tok.definition))["model"]
    assert made["vocab"] == expected["vocab"]
    assert made["merges"] == expected["merges"]


@pytest.mark.parametrize("name", vocabularies.SAMPLES)
def test_the_pipeline_is_kept(name: str) -> None:
    like = digram.Tokenizer(vocabularies.SAMPLES[name])
    of = like.definition
    if getattr(of.model, "scheme", None) is not None:
        with pytest.raises(digram.OptionError, match="applies merges differently"):
            digram.train(TEXT, like=like, vocab_size=like.vocab_size + 80)
        return
    tok = digram.train(TEXT, like=like, vocab_size=like.vocab_size + 80)
    made = tok.definition
    for field in KEPT:
        assert getattr(made, field) == getattr(of, field), field
    assert type(made.model) is type(of.model)
    for setting in ("ignore_merges", "fuse_unknown", "prefix", "suffix"):
        assert getattr(made.model, setting, None) == getattr(of.model, setting, None)
    assert {*of.special_tokens} == {*made.special_tokens}
    assert made.reserved.keys() == of.reserved.keys()
    assert (of.byte_ids is None) == (made.byte_ids is None)
    tok.encode(" ".join(TEXT))


def test_all_that_surrounds_a_vocabulary_is_kept() -> None:
    like = digram.train(
        "low low",
        vocab_size=280,
        special_tokens=["<s>", "</s>"],
        reserve={"x": 3},
        pad_to_multiple=8,
    )
    like = digram.Tokenizer(
        replace(
            like.definition,
            template=digram.Template("<s> $A </s>"),
            context_size=77,
            pad_token="</s>",
            special_roles=digram.SpecialRoles(bos="<s>"),
            chat_templates={"default": "{{ x }}"},
            matching={"<s>": digram.Matching(always=True)},
        )
    )
    tok = digram.train(TEXT * 9, like=like)
    assert tok.vocab_size == like.vocab_size
    assert tok.reserved.keys() == like.reserved.keys()
    for field in KEPT:
        assert getattr(tok.definition, field) == getattr(like.definition, field)
    more = digram.train(TEXT, like=like, special_tokens=["<more>", "<s>"], vocab_size=320)
    assert [*more.special_tokens][:3] == ["<s>", "</s>", "<more>"]
    first = digram.train(TEXT, like=tok, special_first=True, vocab_size=300)
    assert first.special_tokens["<s>"] == 0
    again = digram.train(TEXT, like=first, vocab_size=301)
    assert again.special_tokens["<s>"] == 0
    last = digram.train(TEXT, like=first, vocab_size=301, special_first=False)
    assert last.special_tokens["<s>"] > 256
    cut = digram.train(TEXT, like=like, pretokenizer="gpt2", vocab_size=300)
    assert cut.pretokenizer == digram.Pretokenizer("gpt2")
    assert digram.train(TEXT, like=like, max_merges=3).training is not None


@pytest.mark.parametrize("options", [{"vocab_size": 330}, {"max_merges": 40}, {"vocab_size": 310}])
def test_added_tokens_that_merges_make(options: dict[str, Any], tmp_path: Path) -> None:
    """As the runs of spaces of Gemma: a file has one id for each."""
    pipelines.gemma_with_runs().save(str(tmp_path / "like.json"))
    like = digram.load(tmp_path / "like.json")
    text = "def f(x):\n    return x\n\n\n        if y:\n            low lower\n" * 50
    tok = digram.train(text, like=like, **options)
    assert tok.vocab_size <= options.get("vocab_size", 400)
    assert tok.special_tokens.keys() == like.special_tokens.keys()
    assert tok.definition.tokens[tok.special_tokens["▁▁"]] == b"  "
    assert tok.special_tokens["\t"] == len(tok.definition.tokens)  # is not in the text
    tok.save(tmp_path / "new.json")
    assert digram.load(tmp_path / "new.json") == tok
    theirs = Tokenizer.from_file(str(tmp_path / "new.json"))
    for one in (text, "  a   b\t", "\n\n", "     ", "</s>x  <bos>"):
        assert tok(one, special="parse").ids == theirs.encode(one).ids


def test_symbols_of_users_in_the_text(tmp_path: Path) -> None:
    """Learned or not, they have one id, and SentencePiece reads the file."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["low lower lowest", "ban an  n the cat", "x y z"] * 30),
        model_writer=model,
        vocab_size=60,
        model_type="bpe",
        user_defined_symbols=["\n", "\n\n", "▁▁", "<u>", "ab"],
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (tmp_path / "like.model").write_bytes(model.getvalue())
    like = digram.load(tmp_path / "like.model")
    tok = digram.train("low  lower\n\n\nban an  n cab " * 20, like=like, vocab_size=60)
    assert tok.special_tokens.keys() == like.special_tokens.keys()
    for name in ("new.model", "new.json"):
        tok.save(tmp_path / name)
        assert digram.load(tmp_path / name) == tok
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "new.model"))
    for text in ("low  lower\n\n\n cab", "a\nb", "   x", "abab <u>  cab"):
        assert tok.encode(text) == theirs.encode(text)


@pytest.mark.filterwarnings("ignore:.*are unreachable")  # those with a line end in them
def test_gguf_of_gemma(tmp_path: Path) -> None:
    """Runs of spaces are tokens that text has and merges make; line ends are only the first."""
    runs = ["▁▁", "▁▁▁", "▁▁▁▁▁"]
    file = gguf_files.scored(
        tokens=(9, (8, [*gguf_files.PIECES, *runs, "\n", "\n\n"])),
        scores=(9, (6, [0.0] * 263 + [-1.0, -2.0, -3.0, -4.0, 0.0] + [-1000.0] * 5)),
        token_type=(9, (5, [2, 3, 3, *[6] * 256, *[1] * 8, 4, *[4] * 5])),
    )
    (tmp_path / "like.gguf").write_bytes(gguf_files.packed(file))
    like = digram.load(tmp_path / "like.gguf")
    assert isinstance(like.definition.model, digram.ScoredModel)
    tok = digram.train(["low  lower    lowest\n\n\nban an  n"] * 20, like=like, vocab_size=300)
    assert tok.special_tokens.keys() == like.special_tokens.keys()
    tok.save(tmp_path / "new.json")
    assert digram.load(tmp_path / "new.json") == tok
    tok.save(tmp_path / "new.gguf")
    again = digram.load(tmp_path / "new.gguf")  # may have merges that mean the same
    for text in ("low   lower\n\n\nban", "a          n\n", "\n   ▁▁ <tag>"):
        assert again.encode(text) == tok.encode(text)


def test_unigram_with_a_decoder_of_steps(tmp_path: Path) -> None:
    """The new vocabulary has no token of several spaces, for which the other one needs steps."""
    unigram.made(unigram.WORDS).save(str(tmp_path / "like.json"))
    like = digram.load(tmp_path / "like.json")
    assert like.definition.decoding is not None
    tok = digram.train("the cat sat on the mat " * 9, like=like, vocab_size=40)
    tok.save(tmp_path / "new.json")
    assert digram.load(tmp_path / "new.json") == tok


def test_models_of_scores_stay_what_they_are(tmp_path: Path) -> None:
    unigram = digram.train(
        TEXT,
        model=digram.Unigram(max_piece_length=3),
        vocab_size=60,
        pretokenizer=digram.Pretokenizer(None, normalizer=SentencePiece(symbols=("low",))),
    )
    tok = digram.train(["other texts with the low letters"] * 2, like=unigram, vocab_size=40)
    model = tok.definition.model
    assert isinstance(model, digram.UnigramModel)
    assert (model.addition, len(model.user_defined)) == ("single", 1)
    assert max(map(len, filter(None, tok.definition.tokens))) == 3
    digram.formats.sentencepiece.dumps(tok.definition)
    words = digram.Tokenizer(
        digram.Definition(
            tokens=[None, b" ", b"a", b" a"],
            model=digram.ScoredModel([None, -1.0, -2.0, 0.0]),
            pretokenizer=digram.Pretokenizer(None, normalizer=SentencePiece()),
            special_tokens={"<unk>": 0},
            unit="char",
            on_unknown=digram.SpecialToken("<unk>"),
            strip_first_space=True,
        )
    )
    tok = digram.train(["low lower lowest"] * 3, like=words, vocab_size=15)
    assert isinstance(tok.definition.model, digram.ScoredModel)
    assert tok.tokens(tok.encode("lower low")) == [b" lower", b" low"]
    digram.formats.digram.write(tok.definition, tmp_path / "new.json")
    assert digram.load(tmp_path / "new.json") == tok
    data = digram.formats.sentencepiece.dumps(tok.definition)
    import sentencepiece

    peer = sentencepiece.SentencePieceProcessor(model_proto=data)
    for text in TEXT:
        assert tok.encode(text) == peer.encode(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "wordpiece"}, "model='wordpiece' contradicts like=, whose model is 'bpe'"),
        ({"model": digram.Unigram()}, "contradicts like="),
        ({"unit": "char"}, "unit='char' contradicts like="),
    ],
)
def test_contradictions_are_refused(options: dict[str, Any], message: str) -> None:
    like = digram.train("low low", max_merges=2)
    with pytest.raises(digram.OptionError, match=message):
        digram.train(TEXT, like=like, **options)
    with pytest.raises(TypeError, match="like"):
        digram.train(TEXT, like="gpt2")  # type: ignore[arg-type]


@pytest.mark.parametrize("model", [digram.GreedyModel(), digram.WordLevelModel(splits=True)])
def test_models_that_are_not_learned_are_refused_by_name(model: Any) -> None:
    words = isinstance(model, digram.WordLevelModel)
    tokens: list[bytes | None] = [None, b"a", b"b"]
    if not words:
        tokens = [bytes([byte]) for byte in range(256)]
    tok = digram.Tokenizer(
        digram.Definition(
            tokens=tokens,
            model=model,
            pretokenizer=digram.Pretokenizer(None),
            special_tokens={"<unk>": 0} if words else {},
            unit="char" if words else "byte",
            on_unknown=digram.SpecialToken("<unk>") if words else "error",
        )
    )
    with pytest.raises(digram.OptionError, match=f"of the kind '{model.kind}', and train learns"):
        digram.train("a b", like=tok)


def test_a_model_of_single_characters_is_refused() -> None:
    characters = digram.Tokenizer(
        digram.Definition(
            tokens=[None, b" ", b"a", b"b"],
            model=digram.ScoredModel([None, -1.0, -2.0, -3.0]),
            pretokenizer=digram.Pretokenizer(None, normalizer=SentencePiece()),
            special_tokens={"<unk>": 0},
            unit="char",
            on_unknown=digram.SpecialToken("<unk>"),
        )
    )
    with pytest.raises(digram.OptionError, match="like= is a tokenizer of single characters"):
        digram.train("ab ab", like=characters, vocab_size=20)
