"""Folders without tokenizer.json: which file is read, and what the config beside it adds."""

from __future__ import annotations

import base64
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import vocabularies

import digram
from digram import OptionError, SpecialRoles, Template, VocabError, formats
from digram.formats import sentencepiece
from digram.formats._sentencepiece_file import Kind, ModelFile, Normalization, Piece, Type
from digram.vocab.special_tokens import Matching

PLAIN = digram.train(vocabularies.CORPUS, max_merges=20, pretokenizer="gpt2")
PIECES = ["hi", "▁a", "▁hi", "▁", "a", "b", "h", "i"]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "low", "##er", "!"]


def model(kind: Kind = Kind.BPE, more: list[Piece] | None = None, **normal: Any) -> bytes:
    """A file as that of Llama 2."""
    first = [
        Piece("<unk>", 0.0, Type.UNKNOWN),
        *(Piece(t, 0.0, Type.CONTROL) for t in ("<s>", "</s>")),
    ]
    bytes_of = [Piece(f"<0x{byte:02X}>", 0.0, Type.BYTE) for byte in range(256)]
    rest = [Piece(text, -float(i), Type.NORMAL) for i, text in enumerate(PIECES)]
    rules: dict[str, Any] = {"charsmap": b"", "add_dummy_prefix": True}
    rules |= {"remove_extra_whitespaces": False, **normal}
    return ModelFile(
        pieces=[*first, *(more or []), *bytes_of, *rest],
        kind=kind,
        byte_fallback=True,
        whitespace_as_suffix=False,
        normalization=Normalization(**rules),
    ).dumps()


def put(folder: Path, **files: Any) -> Path:
    """A folder of files, given by their names, in which "__" is a dot."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        (folder / name.replace("__", ".")).write_bytes(data)
    return folder


def quiet(folder: Path, **options: Any) -> digram.Tokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return digram.load(folder, **options)


def llama(**more: Any) -> dict[str, Any]:
    roles = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    said = {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "legacy": True}
    return {**said, **roles, **more}


def bert(**more: Any) -> dict[str, Any]:
    return {"do_lower_case": True, "tokenizer_class": "BertTokenizer", **more}


def vocab_txt() -> bytes:
    return "".join(f"{word}\n" for word in WORDS).encode()


# --- which file


@pytest.mark.parametrize(
    "name", ["spiece.model", "sentencepiece.bpe.model", "sentencepiece.model", "spm.model"]
)
def test_pieces_have_several_names(name: str, tmp_path: Path) -> None:
    tok = quiet(put(tmp_path / "f", **{name.replace(".", "__"): model()}))
    assert tok.definition == sentencepiece.loads(model())


@pytest.mark.parametrize("suffix", [".gguf", ".tiktoken"])
def test_a_single_file_is_found(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    PLAIN.save(tmp_path / "f" / f"any{suffix}")
    named = {"pretokenizer": "gpt2"} if suffix == ".tiktoken" else {}
    assert quiet(tmp_path / "f", **named).encode("low lower") == PLAIN.encode("low lower")
    assert formats.describes_itself(tmp_path / "f") is (suffix == ".gguf")
    PLAIN.save(tmp_path / "f" / f"other{suffix}")
    with pytest.raises(VocabError, match=r"two vocabularies, any.\w+ and other.*Pass the path"):
        digram.load(tmp_path / "f", **named)  # type: ignore[arg-type]


def test_the_content_says_what_tokenizer_model_is(tmp_path: Path) -> None:
    ranks = b"".join(base64.b64encode(bytes([i])) + b" %d\n" % i for i in range(256))
    folder = put(tmp_path / "f", tokenizer__model=ranks)
    with pytest.raises(OptionError, match="does not store the pretokenizer"):
        digram.load(folder)
    assert quiet(folder, pretokenizer="llama3").vocab_size == 256
    assert not formats.describes_itself(folder)
    folder = put(tmp_path / "g", tokenizer__model=model())
    assert formats.describes_itself(folder)
    with pytest.raises(OptionError, match="stores the pretokenizer itself"):
        digram.load(folder, pretokenizer="gpt2")


@pytest.mark.parametrize("name", ["tokenizer_config.json", "special_tokens_map.json"])
def test_a_file_beside_a_tokenizer_names_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(VocabError, match="Pass the folder instead") as caught:
        digram.load(tmp_path / name)
    assert str(tmp_path) in str(caught.value)
    PLAIN.save(tmp_path / "tokenizer.json")
    (tmp_path / "tokenizer.json").rename(tmp_path / name)
    assert digram.load(tmp_path / name) == PLAIN


def test_a_folder_with_none(tmp_path: Path) -> None:
    put(tmp_path / "f", tokenizer_config__json={}, config__json={})
    with pytest.raises(VocabError, match="contains no tokenizer"):
        digram.load(tmp_path / "f")


# --- SentencePiece with a config


def test_a_folder_like_llama_2(tmp_path: Path) -> None:
    config = llama(add_eos_token=True, model_max_length=4096, chat_template="T", pad_token="</s>")
    folder = put(tmp_path / "f", tokenizer__model=model(), tokenizer_config__json=config)
    tok = quiet(folder)
    assert tok.special_roles == SpecialRoles(bos="<s>", eos="</s>", unk="<unk>")
    assert (tok.pad_token, tok.context_size, tok.chat_template) == ("</s>", 4096, "T")
    pair = "<s> $A </s> <s>:1 $B:1 </s>:1"
    assert tok.definition.template == Template("<s> $A </s>", pair=pair)
    alone = digram.load(folder / "tokenizer.model")
    assert tok("hi a").ids == [1, *alone.encode("hi a"), 2]
    # The path of the file is the file alone.
    assert (alone.context_size, alone.special_roles) == (None, SpecialRoles())
    # What is read can be saved for transformers.
    tok.save_pretrained(tmp_path / "g")
    assert quiet(tmp_path / "g")("hi a").ids == tok("hi a").ids


def test_roles_of_the_map_and_of_the_class(tmp_path: Path) -> None:
    named = {"bos_token": "<s>", "eos_token": {"content": "</s>"}}
    folder = put(tmp_path / "f", tokenizer__model=model(), special_tokens_map__json=named)
    assert quiet(folder).special_roles == SpecialRoles(bos="<s>", eos="</s>", unk="<unk>")
    config = {"tokenizer_class": "LlamaTokenizerFast", "add_bos_token": True, "legacy": True}
    put(folder, tokenizer_config__json=config)
    tok = quiet(folder)
    assert tok.special_roles == SpecialRoles(bos="<s>", eos="</s>", unk="<unk>")
    assert tok("hi").ids[0] == 1


def test_added_tokens_behind_the_pieces(tmp_path: Path) -> None:
    size = sentencepiece.loads(model())
    first = len(size.tokens)
    special = {"content": "<pad>", "special": True, "normalized": False}
    added = {str(first): special, str(first + 1): {**special, "content": "<|x|>"}}
    config = llama(pad_token="<pad>", added_tokens_decoder=added)
    tok = quiet(put(tmp_path / "f", tokenizer__model=model(), tokenizer_config__json=config))
    assert (tok.pad_token, tok.special_tokens["<|x|>"]) == ("<pad>", first + 1)
    assert tok.encode("a<|x|>", special="parse")[-1] == first + 1
    older = {"<pad>": first, "<tag>": first + 1}
    folder = put(
        tmp_path / "g",
        tokenizer__model=model(),
        tokenizer_config__json=llama(pad_token="<pad>"),
        added_tokens__json=older,
    )
    with pytest.warns(UserWarning, match="after an added token"):
        tok = digram.load(folder)
    assert tok.matching == {"<tag>": Matching(always=True)}
    assert tok.encode("a<tag>")[-1] == first + 1
    with pytest.raises(
        VocabError, match=r"'<pad>', is not among the special tokens of tokenizer\.mo"
    ):
        digram.load(
            put(
                tmp_path / "h",
                tokenizer__model=model(),
                tokenizer_config__json=llama(pad_token="<pad>"),
            )
        )


@pytest.mark.parametrize(
    ("config", "rules", "warned"),
    [
        (
            {"tokenizer_class": "LlamaTokenizer", "legacy": True},
            {},
            "does not say add_bos_token",
        ),
        (llama(legacy=False), {}, "legacy is false"),
        (llama(legacy=None), {}, "does not say legacy, .* without one in transformers 5"),
        (llama(), {"remove_extra_whitespaces": True}, "does not read text as tokenizer.model says"),
        (llama(tokenizer_class="GemmaTokenizer"), {}, "does not read text as tokenizer.model says"),
    ],
)
def test_what_the_files_leave_open_is_said(
    config: Any, rules: Any, warned: str, tmp_path: Path
) -> None:
    folder = put(tmp_path / "f", tokenizer__model=model(**rules), tokenizer_config__json=config)
    with pytest.warns(UserWarning, match=warned):
        digram.load(folder)


def test_the_class_of_a_model_is_as_good_as_a_name(tmp_path: Path) -> None:
    """As transformers 5 takes it; that of Llama is one that reads as the file says."""
    config = llama(tokenizer_class=None, legacy=None)
    folder = put(tmp_path / "f", tokenizer__model=model(), tokenizer_config__json=config)
    for kind, told in (
        ("gemma2", "GemmaTokenizer of transformers 5 does not read text"),
        ("idefics2", "does not say legacy"),
    ):
        put(folder, config__json={"model_type": kind})
        with pytest.warns(UserWarning, match=told):
            digram.load(folder)
    put(folder, config__json={"model_type": "code_llama"})
    with pytest.raises(VocabError, match="CodeLlamaTokenizer"):
        digram.load(folder)
    put(folder, config__json={"model_type": "llama"})
    assert quiet(folder)("hi").ids[0] == 1


def test_gemma_and_unknown_classes(tmp_path: Path) -> None:
    plain = model(add_dummy_prefix=False)
    for name in ("GemmaTokenizer", "PreTrainedTokenizerFast"):
        config = llama(tokenizer_class=name)
        tok = quiet(put(tmp_path / name, tokenizer__model=plain, tokenizer_config__json=config))
        assert tok("hi").ids[0] == 1
    put(tmp_path / name, tokenizer_config__json=llama(tokenizer_class="SomeTokenizer"))
    with pytest.warns(UserWarning, match="SomeTokenizer.*may put other tokens around a text"):
        assert digram.load(tmp_path / name) == tok


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("XLMRobertaTokenizer", "other ids than SentencePiece"),
        ("CamembertTokenizerFast", "other ids than SentencePiece"),
        ("MBartTokenizer", "other ids than SentencePiece"),
        ("NllbTokenizer", "other ids than SentencePiece"),
        ("AlbertTokenizer", "puts tokens around it"),
    ],
)
def test_classes_with_other_ids_are_refused(name: str, reason: str, tmp_path: Path) -> None:
    file = "sentencepiece.bpe.model"
    folder = put(
        tmp_path / "f",
        **{file.replace(".", "__"): model()},
        tokenizer_config__json={"tokenizer_class": name},
    )
    with pytest.raises(VocabError, match=f"{name.removesuffix('Fast')}.*{reason}") as caught:
        digram.load(folder)
    assert "pass its path" in str(caught.value)
    assert quiet(folder / file).vocab_size
    (folder / "tokenizer_config.json").unlink()
    put(folder, config__json={"model_type": "xlm-roberta"})
    with pytest.raises(VocabError, match="XLMRobertaTokenizer"):
        digram.load(folder)


@pytest.mark.parametrize(
    ("name", "kind", "files"),
    [
        ("ByT5Tokenizer", None, {}),
        ("CanineTokenizer", "canine", {}),
        (None, "perceiver", {}),
        ("BertweetTokenizer", None, {"vocab__txt": b"low 3\n", "bpe__codes": b"l o 3\n"}),
        ("Wav2Vec2CTCTokenizer", None, {"vocab__json": {"<pad>": 0, "A": 1}}),
        (None, "marian", {"vocab__json": {"a": 0}, "source__spm": model()}),
        (None, "m2m_100", {"vocab__json": {"a": 0}, "sentencepiece__bpe__model": model()}),
        ("CTRLTokenizer", None, {"vocab__json": {"a": 0}, "merges__txt": b"#version: 0.2\n"}),
        ("SiglipTokenizer", None, {"spiece__model": model()}),
    ],
)
def test_classes_that_are_programs_are_refused(
    name: str | None, kind: str | None, files: Any, tmp_path: Path
) -> None:
    """With their names, and not with the reason that another format would have."""
    folder = put(tmp_path / "f", **files)
    put(folder, config__json={"model_type": kind}, tokenizer_config__json={"tokenizer_class": name})
    with pytest.raises(VocabError, match="is a program in Python"):
        digram.load(folder, pretokenizer="gpt2")
    with pytest.raises(VocabError, match="is a program in Python") as caught:
        digram.load(folder)
    with pytest.raises(VocabError, match="is a program in Python"):
        formats.describes_itself(folder)
    pieces = [file for file in files if file.endswith(("model", "txt")) and "merges" not in file]
    assert ("pass its path" in str(caught.value)) is bool(pieces)


def test_the_class_of_mt5_is_that_of_t5(tmp_path: Path) -> None:
    data = model(Kind.UNIGRAM, [Piece("<pad>", 0.0, Type.CONTROL)])
    found = [
        quiet(
            put(
                tmp_path / name,
                spiece__model=data,
                tokenizer_config__json={"tokenizer_class": name},
            )
        )
        for name in ("T5Tokenizer", "MT5Tokenizer")
    ]
    assert found[0] == found[1]
    assert found[1]("hi").ids[-1] == found[1].special_tokens["</s>"]


def test_t5_has_sentinels_and_an_end(tmp_path: Path) -> None:
    config = {"tokenizer_class": "T5Tokenizer", "extra_ids": 3, "model_max_length": 512}
    data = model(Kind.UNIGRAM, [Piece("<pad>", 0.0, Type.CONTROL)])
    tok = quiet(put(tmp_path / "f", spiece__model=data, tokenizer_config__json=config))
    first = len(sentencepiece.loads(data).tokens)
    sentinels = [tok.special_tokens[f"<extra_id_{number}>"] for number in range(3)]
    assert sentinels == [first + 2, first + 1, first]
    assert (tok.pad_token, tok.eos_token, tok.context_size) == ("<pad>", "</s>", 512)
    assert tok.definition.template == Template("$A </s>", pair="$A </s> $B </s>")
    named = [f"<extra_id_{number}>" for number in range(3)]
    listed = {**config, "additional_special_tokens": named}
    again = quiet(put(tmp_path / "f", tokenizer_config__json=listed))
    assert again.special_tokens == tok.special_tokens
    for wrong in ({**listed, "extra_ids": 2}, {**listed, "extra_ids": 0}):
        with pytest.raises(VocabError, match="3 tokens such as '<extra_id_0>' are listed, but"):
            digram.load(put(tmp_path / "f", tokenizer_config__json=wrong))
    del listed["extra_ids"]
    with pytest.raises(VocabError, match="100 where the config does not say it"):
        digram.load(put(tmp_path / "f", tokenizer_config__json=listed))
    with pytest.raises(VocabError, match="extra_ids -1 is out of range"):
        digram.load(put(tmp_path / "f", tokenizer_config__json={**config, "extra_ids": -1}))


def test_a_token_that_is_asked_for_has_a_name(tmp_path: Path) -> None:
    config: dict[str, Any] = {"add_bos_token": True, "bos_token": None}
    folder = put(tmp_path / "f", tokenizer__model=model(), tokenizer_config__json=config)
    with pytest.raises(VocabError, match="add_bos_token is true, but there is no bos_token"):
        digram.load(folder)
    put(folder, tokenizer_config__json={"add_bos_token": True})
    assert quiet(folder)("hi").ids[0] == 1


# --- BERT


def test_a_folder_of_bert(tmp_path: Path) -> None:
    config = bert(model_max_length=512, chat_template="T", additional_special_tokens=["[unused0]"])
    folder = put(tmp_path / "f", vocab__txt=vocab_txt(), tokenizer_config__json=config)
    tok = quiet(folder)
    assert (tok.context_size, tok.chat_template, tok.pad_token) == (512, "T", "[PAD]")
    assert tok.special_tokens["[unused0]"] == 5
    assert tok("Lower!").ids == [2, 6, 7, 8, 3]
    assert quiet(folder, encoding="bert-uncased").context_size == 512
    with pytest.warns(UserWarning, match="OtherTokenizer.*may put other tokens"):
        digram.load(
            put(tmp_path / "f", tokenizer_config__json=bert(tokenizer_class="OtherTokenizer"))
        )
    with pytest.raises(VocabError, match=r"MPNetTokenizer.*by rules that vocab\.txt does not have"):
        digram.load(
            put(tmp_path / "f", tokenizer_config__json=bert(tokenizer_class="MPNetTokenizer"))
        )
    with pytest.raises(VocabError, match=r"'\[X\]', is not among the special tokens of vocab\.txt"):
        digram.load(put(tmp_path / "f", tokenizer_config__json=bert(mask_token="[X]")))


# --- GPT-2


def gpt2(folder: Path, config: dict[str, Any] | None) -> Path:
    end = {"<|endoftext|>": PLAIN.vocab_size}
    PLAIN.save(folder, format="vocab_merges")
    vocab = json.loads((folder / "vocab.json").read_bytes())
    (folder / "vocab.json").write_text(json.dumps(vocab | end))
    lines = (folder / "merges.txt").read_text().splitlines(keepends=True)
    (folder / "merges.txt").write_text("".join(["#version: 0.2\n", *lines[1:]]))
    return folder if config is None else put(folder, tokenizer_config__json=config)


def test_a_class_is_certain_about_its_pretokenizer(tmp_path: Path) -> None:
    config = {"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": False}
    folder = gpt2(tmp_path / "f", {**config, "model_max_length": 1024})
    tok = quiet(folder)
    assert tok.encode("low lower") == PLAIN.encode("low lower")
    assert tok.special_tokens == {"<|endoftext|>": PLAIN.vocab_size}
    roles = SpecialRoles(**dict.fromkeys(("bos", "eos", "unk"), "<|endoftext|>"))
    assert (tok.special_roles, tok.context_size) == (roles, 1024)
    assert formats.describes_itself(folder)
    assert quiet(folder, pretokenizer="gpt2") == tok
    model_type = put(gpt2(tmp_path / "g", None), config__json={"model_type": "gpt2"})
    assert quiet(model_type).special_tokens == tok.special_tokens


@pytest.mark.parametrize("token", ["x", "low", "<x>", ""])
def test_a_token_that_text_needs_gets_no_role(token: str, tmp_path: Path) -> None:
    folder = gpt2(tmp_path / "f", {"tokenizer_class": "GPT2Tokenizer", "pad_token": token})
    with pytest.raises(VocabError, match="is not among the special tokens of vocab"):
        digram.load(folder)


@pytest.mark.parametrize(
    "config",
    [
        None,
        {},
        {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True},
        {"tokenizer_class": "RobertaTokenizer"},
    ],
)
def test_others_are_asked_for(config: Any, tmp_path: Path) -> None:
    folder = gpt2(tmp_path / "f", config)
    with pytest.raises(OptionError, match="does not store the pretokenizer"):
        digram.load(folder)
    assert not formats.describes_itself(folder)


def test_folders_without_a_config_are_as_before(tmp_path: Path) -> None:
    folder = gpt2(tmp_path / "f", None)
    with pytest.warns(UserWarning, match="unreachable"):
        found = digram.load(folder, pretokenizer="gpt2")
    assert found.special_tokens == {}
    tok = quiet(put(tmp_path / "g", tokenizer__model=model()))
    assert tok.definition == sentencepiece.loads(model())
    put(tmp_path / "g", added_tokens__json={"</x>": len(tok.definition.tokens)})
    with pytest.warns(UserWarning, match="after an added token"):
        assert "</x>" in digram.load(tmp_path / "g").special_tokens
