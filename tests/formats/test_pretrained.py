"""Folders as transformers writes them: what is written, read again, reported and refused."""

from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import vocabularies
from formats.test_pipelines import gemma_with_runs

import digram
from digram import CorruptFileError, LimitExceededError, OptionError, SpecialRoles, VocabError

SPECIAL = ["<s>", "</s>", "<pad>", "<unk>", "<|tool|>"]
TOK = digram.train(vocabularies.CORPUS, max_merges=40, special_tokens=SPECIAL)
ID = TOK.special_tokens
CHATS: dict[str, Any] = {
    "none": None,
    "one": "{% for m in messages %}<s>{{ m.content }}</s>{% endfor %} é\n",
    "several": {"default": "D", "tool_use": "T"},
    "named": {"rag": "R"},
}


def put(folder: Path, **files: Any) -> Path:
    """A folder with a tokenizer.json and other files, given by their names before the dot."""
    folder.mkdir(exist_ok=True)
    TOK.save(folder / "tokenizer.json")
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def quiet(folder: Path) -> digram.Tokenizer:
    """Load without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return digram.load(folder)


@pytest.mark.parametrize("chat", CHATS)
@pytest.mark.parametrize("size", [None, 4096])
def test_what_is_written_is_read_again(chat: str, size: int | None, tmp_path: Path) -> None:
    tok = TOK.with_chat_template(CHATS[chat]).with_context_size(size).with_pad_token("<pad>")
    tok = tok.with_special_roles(SpecialRoles(bos="<s>", eos="</s>", unk="<unk>", mask="<|tool|>"))
    tok.save_pretrained(tmp_path / "f")
    again = quiet(tmp_path / "f")
    assert (again, again.definition) == (tok, tok.definition)
    tok.save(tmp_path / "alone.json")
    assert digram.load(tmp_path / "alone.json").definition == tok.definition
    assert pickle.loads(pickle.dumps(tok)).definition == tok.definition
    TOK.save_pretrained(
        tmp_path / "g",
        bos="<s>",
        eos="</s>",
        unk="<unk>",
        pad="<pad>",
        context_size=size,
        chat_template=CHATS[chat],
    )
    given = quiet(tmp_path / "g")
    assert given.with_special_roles(tok.special_roles) == tok
    assert (given.bos_token, given.eos_token, given.unk_token) == ("<s>", "</s>", "<unk>")
    assert given.chat_template == tok.chat_template
    assert TOK.special_roles == SpecialRoles()  # `save_pretrained` changes nothing


SIDES: list[tuple[dict[str, Any], Any, Any]] = [
    ({"padding_side": "left"}, "left", "right"),
    ({"truncation_side": "left"}, "right", "left"),
    ({"tokenizer_class": "LlamaTokenizer"}, "right", "right"),  # tokens of bytes: another class
    ({"tokenizer_class": "CohereTokenizerFast"}, "left", "right"),
    ({"tokenizer_class": "CohereTokenizer", "padding_side": "right"}, "right", "right"),
]


@pytest.mark.parametrize(("config", "padding", "truncation"), SIDES, ids=repr)
def test_sides(config: dict[str, Any], padding: Any, truncation: Any, tmp_path: Path) -> None:
    """Those of the config or of its class; they are saved again, also in the file alone."""
    TOK.save_pretrained(tmp_path, pad="<pad>")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config | {"pad_token": "<pad>"}))
    tok = quiet(tmp_path)
    assert (tok.padding_side, tok.truncation_side) == (padding, truncation)
    tok.save_pretrained(tmp_path / "again")
    tok.save(tmp_path / "alone.json")
    for again in (quiet(tmp_path / "again"), digram.load(tmp_path / "alone.json")):
        assert (again.padding_side, again.truncation_side) == (padding, truncation)
    texts = ["low", "low low low"]
    assert (
        tok(texts, padding="longest").ids
        == TOK.with_pad_token("<pad>")(texts, padding="longest", padding_side=padding).ids
    )
    assert tok(texts, max_length=2).ids == TOK(texts, max_length=2, truncation_side=truncation).ids


def test_the_side_of_a_stored_padding(tmp_path: Path) -> None:
    """transformers takes it where the config says nothing."""
    padding = digram.Padding("<pad>", side="left")
    tok = digram.Tokenizer(replace(TOK.definition, padding=padding, pad_token="<pad>"))
    assert tok.padding_side == "right"
    tok.save(tmp_path / "tokenizer.json", format="huggingface")
    assert digram.load(tmp_path / "tokenizer.json").padding_side == "right"
    content = json.loads((tmp_path / "tokenizer.json").read_bytes())
    del content["model"]["digram"]  # as another program writes it
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    assert digram.load(tmp_path).padding_side == "left"
    (tmp_path / "tokenizer_config.json").write_text('{"padding_side": "right"}')
    assert digram.load(tmp_path).padding_side == "right"


@pytest.mark.parametrize("value", ["top", 1, ["left"]], ids=repr)
def test_a_side_that_is_not_known(value: Any, tmp_path: Path) -> None:
    TOK.save_pretrained(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"padding_side": value}))
    with pytest.raises(VocabError, match=r"padding_side .* is not known"):
        digram.load(tmp_path)
    with pytest.raises((OptionError, TypeError), match="padding_side"):
        TOK.with_padding_side(value)


def test_the_files(tmp_path: Path) -> None:
    TOK.save_pretrained(tmp_path, eos="</s>", pad="</s>")
    config = json.loads((tmp_path / "tokenizer_config.json").read_bytes())
    assert config == {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
        "model_max_length": 1000000000000000019884624838656,
        "padding_side": "right",
        "truncation_side": "right",
        "eos_token": "</s>",
        "pad_token": "</s>",
    }
    named = json.loads((tmp_path / "special_tokens_map.json").read_bytes())
    assert named == {"eos_token": "</s>", "pad_token": "</s>"}
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in vocabularies.texts(100):
        assert theirs.encode(text).ids == TOK.encode(text, special="parse")
    template = digram.Template("<s> $A", pair="<s> $A $B:1")
    TOK.with_template(template).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_bytes())
    # As for Llama, whose template for pairs has types that its model does not take.
    assert config["model_input_names"] == ["input_ids", "attention_mask"]
    assert "eos_token" not in config
    roles = digram.SpecialRoles(cls="<s>")
    TOK.with_template(template).with_special_roles(roles).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_bytes())
    assert config["model_input_names"] == ["input_ids", "token_type_ids", "attention_mask"]


def test_saving_that_is_refused(tmp_path: Path) -> None:
    for role in ("bos", "eos", "unk", "pad"):
        with pytest.raises(OptionError, match="'<x>', which is not a special token"):
            TOK.save_pretrained(tmp_path / "f", **{role: "<x>"})  # type: ignore[arg-type]
    joined = digram.train("low low lower", max_merges=5, superwords="boundless")
    with pytest.raises(VocabError, match="merges are applied by rank alone"):
        joined.save_pretrained(tmp_path / "f")
    assert not (tmp_path / "f").exists()
    for left in ("chat_template.jinja", "additional_chat_templates"):
        folder = tmp_path / left
        folder.mkdir()
        (folder / left).mkdir()
        with pytest.raises(OptionError, match=f"would read {left} of this folder instead"):
            TOK.save_pretrained(folder)
        assert [path.name for path in folder.iterdir()] == [left]


FLAGS = {"lstrip": False, "rstrip": False, "normalized": False, "single_word": False}


def token(text: str, **flags: bool) -> dict[str, Any]:
    return {"content": text, **FLAGS, "special": True, **flags}


def test_tokens_are_written_as_texts_or_objects(tmp_path: Path) -> None:
    config = {
        "bos_token": {"__type": "AddedToken", **token("<s>")},
        "eos_token": "</s>",
        "pad_token": None,
        "unk_token": token("<unk>"),
        "additional_special_tokens": ["<|tool|>", token("<s>")],
        "extra_special_tokens": {"image_token": "<|tool|>"},
        "added_tokens_decoder": {str(ID["<s>"]): token("<s>"), str(ID["<unk>"]): token("<unk>")},
        "model_max_length": 1e30,
        "tokenizer_class": "Qwen2Tokenizer",
        "chat_template": [{"name": "default", "template": "D"}, {"name": "rag", "template": "R"}],
    }
    tok = quiet(put(tmp_path, tokenizer_config=config))
    assert tok.special_roles == SpecialRoles(bos="<s>", eos="</s>", unk="<unk>")
    assert (tok.pad_token, tok.context_size) == (None, None)
    assert tok.chat_templates == {"default": "D", "rag": "R"}
    assert tok.encode("a<s>", special="parse") == TOK.encode("a<s>", special="parse")


@pytest.mark.parametrize(
    ("size", "found"),
    [
        *((512, 512), (512.0, 512), (10**20, 10**20)),
        *((10**20 + 1, None), (int(1e30), None), (None, None)),
    ],
)
def test_context_sizes(size: Any, found: int | None, tmp_path: Path) -> None:
    tok = quiet(put(tmp_path, tokenizer_config={"model_max_length": size}))
    assert tok.context_size == found


def test_tokens_of_the_map(tmp_path: Path) -> None:
    """It counts only where the config lists no added tokens; a contradiction is reported."""
    named = {"bos_token": token("<s>"), "eos_token": "</s>", "cls_token": "<unk>"}
    tok = quiet(put(tmp_path, special_tokens_map=named))
    assert tok.special_roles == SpecialRoles(bos="<s>", eos="</s>", cls="<unk>")
    put(tmp_path, tokenizer_config={"bos_token": "<pad>", "eos_token": "</s>"})
    with pytest.warns(UserWarning, match=r"bos_token is '<pad>' .* and '<s>' .*; '<s>' is taken"):
        assert digram.load(tmp_path).bos_token == "<s>"
    listed = {"bos_token": "<pad>", "eos_token": "</s>", "added_tokens_decoder": {}}
    put(tmp_path, tokenizer_config=listed)
    with pytest.warns(UserWarning, match="'<pad>' is taken") as caught:
        tok = digram.load(tmp_path)
    assert [warning.filename for warning in caught] == [__file__]
    assert tok.special_roles == SpecialRoles(bos="<pad>", eos="</s>")


def test_templates_in_files_of_their_own(tmp_path: Path) -> None:
    put(tmp_path, tokenizer_config={"chat_template": "old"})
    (tmp_path / "chat_template.jinja").write_text("J é", encoding="utf-8")
    with pytest.warns(UserWarning, match="chat templates of tokenizer_config.json are not those"):
        assert digram.load(tmp_path).chat_templates == {"default": "J é"}
    more = tmp_path / "additional_chat_templates"
    more.mkdir()
    (more / "rag.jinja").write_text("R")
    (more / "notes.txt").write_text("no template")
    (tmp_path / "tokenizer_config.json").unlink()
    assert quiet(tmp_path).chat_templates == {"default": "J é", "rag": "R"}
    (tmp_path / "chat_template.jinja").unlink()
    assert quiet(tmp_path).chat_templates == {"rag": "R"}
    (more / "rag.jinja").write_bytes(b"\xff")
    with pytest.raises(VocabError, match=r"rag\.jinja: byte 0 is not UTF-8"):
        digram.load(tmp_path)
    (more / "rag.jinja").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(LimitExceededError):
        digram.load(tmp_path)
    for number in range(101):
        (more / f"{number}.jinja").write_text("")
    with pytest.raises(LimitExceededError, match="more than 100 files"):
        digram.load(tmp_path)


def test_flags_of_the_config_replace_those_of_the_tokenizer(tmp_path: Path) -> None:
    decoder = {str(ID["</s>"]): token("</s>", lstrip=True, rstrip=True)}
    decoder |= {str(ID["<|tool|>"]): token("<|tool|>", special=False)}
    put(tmp_path, tokenizer_config={"added_tokens_decoder": decoder})
    with pytest.warns(UserWarning, match="gives added tokens other flags than tokenizer.json"):
        tok = digram.load(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    theirs.add_tokens([tokenizers.AddedToken(**one) for one in decoder.values()])
    for text in ("a </s>  b <|tool|>c", *vocabularies.texts(50)):
        assert tok.encode(text, special="parse") == theirs.encode(text).ids
    assert not tok.matching.get("<|tool|>", digram.Matching()).always  # it stays special
    ids = tok.encode("a<|tool|>b", special="parse")
    assert tok.decode(ids, skip_special_tokens=True) == theirs.decode(ids) == "ab"
    # Without a normalizer, the flag `normalized` has no effect.
    every = {str(id): token(text, normalized=True) for text, id in ID.items()}
    assert quiet(put(tmp_path, tokenizer_config={"added_tokens_decoder": every})) == TOK


def test_flags_of_roles_are_reported(tmp_path: Path) -> None:
    """transformers 4 uses them, version 5 does not."""
    config = {"eos_token": token("</s>", lstrip=True), "bos_token": token("<s>")}
    put(tmp_path, tokenizer_config=config)
    with pytest.warns(UserWarning, match="give tokens with a role other flags") as caught:
        tok = digram.load(tmp_path)
    assert len(caught) == 1
    assert tok.with_special_roles(None) == TOK
    config["eos_token"] = token("</s>")
    assert quiet(put(tmp_path, tokenizer_config=config)) == tok


def test_a_role_of_a_token_that_merges_make(tmp_path: Path) -> None:
    """It is found in all text, as in tokenizer.json, since it could not be left in text."""
    gemma_with_runs().save(str(tmp_path / "tokenizer.json"))
    flags = dict.fromkeys(("lstrip", "rstrip", "single_word", "normalized"), False)
    config = {"pad_token": {"content": "▁▁", **flags}, "sep_token": "\n"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tok = digram.load(tmp_path)
    assert (tok.pad_token, tok.special_roles.sep) == ("▁▁", "\n")
    assert tok.encode("a  \n") == digram.load(tmp_path / "tokenizer.json").encode("a  \n")


def test_what_differs_from_the_tokenizer_itself_is_reported(tmp_path: Path) -> None:
    tok = TOK.with_special_roles(SpecialRoles(eos="</s>")).with_context_size(8)
    tok.save(tmp_path / "tokenizer.json")
    assert quiet(tmp_path) == tok
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"model_max_length": 8, "bos_token": "<s>"}))
    with pytest.warns(UserWarning, match="the special roles in the files beside"):
        assert digram.load(tmp_path).special_roles == SpecialRoles(bos="<s>", eos="</s>")
    config.write_text(json.dumps({"model_max_length": 9, "eos_token": "</s>"}))
    with pytest.warns(UserWarning, match="the context size in the files beside"):
        assert digram.load(tmp_path).context_size == 9


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"eos_token": "<x>"}, VocabError, "the eos token, '<x>', is not among the added_tokens"),
    ({"pad_token": token("<x>")}, VocabError, "the pad token, '<x>', is not among"),
    ({"additional_special_tokens": ["<x>"]}, VocabError, "an item of additional_special_tokens"),
    ({"extra_special_tokens": {"a": "<x>"}}, VocabError, "'<x>', is not among"),
    ({"added_tokens_decoder": {"999": token("<x>")}}, VocabError, "'<x>' the id 999, but .* no ad"),
    ({"added_tokens_decoder": {"999": token("<s>")}}, VocabError, "the id 999, but .*has the id"),
    ({"added_tokens_decoder": {"x": token("<s>")}}, VocabError, r"\['x'\] is not an id"),
    ({"added_tokens_decoder": {"²": token("<s>")}}, VocabError, "is not an id"),
    (
        {"added_tokens_decoder": {str(ID["<s>"]): token("<s>"), "9": token("<s>")}},
        VocabError,
        "has '<s>' twice",
    ),
    ({"added_tokens_decoder": []}, CorruptFileError, "added_tokens_decoder should be an object"),
    ({"added_tokens_decoder": {"1": "<s>"}}, CorruptFileError, "should be an object"),
    ({"added_tokens_decoder": {"1": {}}}, CorruptFileError, "content should be a string"),
    ({"added_tokens_decoder": {"1": token("a", lstrip=1)}}, CorruptFileError, "true or false"),  # type: ignore[arg-type]
    ({"bos_token": 3}, CorruptFileError, "bos_token should be a string"),
    ({"bos_token": {"text": "<s>"}}, CorruptFileError, "bos_token.content should be a string"),
    ({"extra_special_tokens": "<s>"}, CorruptFileError, "should be a list"),
    ({"model_max_length": "8"}, CorruptFileError, "model_max_length should be a whole number"),
    ({"model_max_length": True}, CorruptFileError, "model_max_length should be a whole number"),
    ({"model_max_length": 1.5}, CorruptFileError, "model_max_length should be a whole number"),
    ({"model_max_length": 0}, VocabError, "is not at least 1"),
    ({"chat_template": 1}, CorruptFileError, "chat_template should be a string"),
    ({"chat_template": [{"name": "a"}]}, CorruptFileError, "template should be a string"),
    ({"chat_template": [{"name": "", "template": ""}]}, VocabError, "is empty or repeated"),
    ({"chat_template": [{"name": "a", "template": ""}] * 2}, VocabError, "is empty or repeated"),
    ([], CorruptFileError, "the file should be an object"),  # type: ignore[list-item]
]


@pytest.mark.parametrize(("config", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused(
    config: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    put(tmp_path, tokenizer_config=config)
    with pytest.raises(error, match=message) as caught:
        digram.load(tmp_path)
    assert getattr(caught.value, "path", None) == str(tmp_path / "tokenizer_config.json")
    assert quiet(tmp_path / "tokenizer.json") == TOK  # alone, it is read as before


@pytest.mark.parametrize("name", ["tokenizer_config", "special_tokens_map"])
def test_damaged_files(name: str, tmp_path: Path) -> None:
    path = put(tmp_path) / f"{name}.json"
    for data in (b"", b"{", b'{"eos_token": "\\ud800"}', b'{"a": 1, "a": 2}', b"\xff"):
        path.write_bytes(data)
        with pytest.raises(CorruptFileError) as caught:
            digram.load(tmp_path)
        assert caught.value.path == str(path)
    path.write_bytes(b'{"a": "' + b"x" * (1 << 24) + b'"}')
    with pytest.raises(LimitExceededError):
        digram.load(tmp_path)
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match="expected a file"):
        digram.load(tmp_path)


def test_roles_are_part_of_a_tokenizer() -> None:
    tok = TOK.with_special_roles(SpecialRoles(eos="</s>"))
    assert tok != TOK
    assert tok.with_special_roles(None) == TOK
    assert tok.with_chat_template("x") != tok
    assert tok.with_chat_template({"default": "x"}) == tok.with_chat_template("x")
    assert tok.with_chat_template("x").with_chat_template({}) == tok
    assert tok.encode("a</s>") == TOK.encode("a</s>")
    grown, _ = digram.extend(tok.with_chat_template("x"), "she shells " * 9, add=3)
    assert (grown.eos_token, grown.chat_template) == ("</s>", "x")


CALLS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: SpecialRoles(eos=3), TypeError, "special_roles.eos is a str"),  # type: ignore[arg-type]
    (lambda: SpecialRoles(eos="\ud800"), digram.InvalidTextError, "lone surrogate"),
    (lambda: TOK.with_special_roles("</s>"), TypeError, "SpecialRoles"),  # type: ignore[arg-type]
    (lambda: TOK.with_special_roles(cls="x"), OptionError, "the cls token is 'x'"),
    (lambda: TOK.with_special_roles("x", eos="</s>"), TypeError, "SpecialRoles"),  # type: ignore[arg-type]
    (lambda: TOK.with_special_roles(SpecialRoles(cls="x")), OptionError, "the cls token is 'x'"),
    (lambda: TOK.with_chat_template(3), TypeError, "chat_template is a dictionary"),  # type: ignore[arg-type]
    (lambda: TOK.with_chat_template({"": "x"}), OptionError, "is empty"),
    (lambda: TOK.with_chat_template({"a": 1}), TypeError, "is a str"),  # type: ignore[dict-item]
    (lambda: TOK.with_chat_template("\ud800"), digram.InvalidTextError, "lone surrogate"),
]


@pytest.mark.parametrize(("call", "error", "message"), CALLS, ids=range(len(CALLS)))
def test_other_values_are_refused(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_single_roles_are_set_and_removed() -> None:
    one = TOK.with_special_roles(bos="<s>")
    both = one.with_special_roles(eos="</s>")
    assert both.special_roles == SpecialRoles(bos="<s>", eos="</s>")
    assert both.with_special_roles(bos=None).special_roles == SpecialRoles(eos="</s>")
    assert both.with_special_roles() == both
    assert both.with_special_roles(None, unk="<unk>").special_roles == SpecialRoles(unk="<unk>")
    assert one.with_special_roles(both.special_roles) == both


@pytest.mark.parametrize("format", ["tiktoken", "vocab_merges", "seed_pair"])
def test_other_formats_cannot_store_them(format: str, tmp_path: Path) -> None:
    plain = digram.Tokenizer(vocabularies.PLAIN)
    with pytest.raises(VocabError, match="cannot store the chat template"):
        plain.with_chat_template("x").save(tmp_path / "file", format=format)
    plain.with_chat_template("x").save(tmp_path / "file", format=format, allow_loss=True)
    pretokenizer: dict[str, Any] = {} if format == "seed_pair" else {"pretokenizer": None}
    assert digram.load(tmp_path / "file", **pretokenizer) == plain
