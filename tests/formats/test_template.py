"""Templates in files: what is written, what Hugging Face makes of it, and what is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import vocabularies
from tokenizers import processors

import digram
from digram import CorruptFileError, OptionError, Template, VocabError
from digram.formats.huggingface import dumps, loads
from digram.vocab.definition import digest

FRAMED = replace(
    vocabularies.SAMPLES["gpt2"],
    special_tokens={"<s>": 400, "</s>": 401, "a b": 402, "<pad>": 403},
    template=Template("<s> $A </s>:2", pair=["a b", ("$A", 3), "</s>", "</s>", ("$B", 1)]),
    context_size=12,
    pad_token="<pad>",
)
SINGLE = replace(FRAMED, template=Template("$A:1 </s>"))
NEWS: dict[str, Any] = {"template": FRAMED.template, "context_size": 12, "pad_token": "<pad>"}
NONE: dict[str, Any] = dict.fromkeys(NEWS)


@pytest.mark.parametrize("definition", [FRAMED, SINGLE, replace(FRAMED, template=None)])
def test_what_is_written_is_read_again(definition: digram.Definition, tmp_path: Path) -> None:
    again = loads(dumps(definition))
    assert again == definition
    assert dumps(again) == dumps(definition)
    tok = digram.Tokenizer(definition)
    tok.save(tmp_path / "tokenizer.json")
    for other in (digram.load(tmp_path / "tokenizer.json"), pickle.loads(pickle.dumps(tok))):
        assert other == tok
        assert other.definition == definition
        assert other("a") == tok("a")


def test_what_is_not_set_is_not_there() -> None:
    """Files and digests without a template are those of before."""
    plain = replace(FRAMED, **NONE)
    assert json.loads(dumps(plain))["model"]["digram"].keys() == {
        *("format", "digest", "seal", "pretokenizer", "training"),
    }
    assert json.loads(dumps(plain))["post_processor"] is None
    # As computed before there were templates.
    assert digest(vocabularies.BANANA) == (
        "1f72f7b063c800623304fbbf2cfc23bfcca1391175677caa9bda743bcfcff1d9"
    )


@pytest.mark.parametrize("name", NEWS)
def test_each_is_part_of_what_a_tokenizer_is(name: str) -> None:
    tok = digram.Tokenizer(FRAMED)
    none: dict[str, Any] = {name: None}
    other = digram.Tokenizer(replace(FRAMED, **none))
    assert other != tok
    assert other.digest != tok.digest
    assert getattr(tok, name) == NEWS[name]
    assert getattr(other, name) is None
    assert getattr(other, f"with_{name}")(NEWS[name]) == tok
    assert getattr(tok, f"with_{name}")(None) == other
    more = tok.with_special_tokens(["<new>"])
    assert getattr(more, name) == NEWS[name]
    assert other.encode("a<s>") == tok.encode("a<s>")


def test_a_template_names_special_tokens() -> None:
    plain = digram.Tokenizer(vocabularies.PLAIN)
    with pytest.raises(OptionError, match="the template names '<s>', which is not a special token"):
        plain.with_template(Template("<s> $A"))
    with pytest.raises(OptionError, match="pad_token names '<s>'"):
        plain.with_pad_token("<s>")
    for size in (0, -1, 1.5, True):
        with pytest.raises(OptionError, match="context_size"):
            plain.with_context_size(size)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"digram\.Template or None, not str"):
        plain.with_template("<s> $A")  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["tiktoken", "vocab_merges", "seed_pair"])
@pytest.mark.parametrize("name", NEWS)
def test_other_formats_cannot_carry_it(name: str, format: str, tmp_path: Path) -> None:
    said = {"template": Template("$A"), "context_size": 5, "pad_token": "<pad>"}
    changes: dict[str, Any] = {name: said[name]}
    if name == "pad_token":
        changes["special_tokens"] = {"<pad>": 300}
    named = replace(vocabularies.PLAIN, **changes)
    if name != "pad_token":  # which is refused as a special token
        with pytest.raises(VocabError, match=f"cannot store the {name.replace('_', ' ')}"):
            digram.Tokenizer(named).save(tmp_path / "file", format=format)
    digram.Tokenizer(named).save(tmp_path / "file", format=format, allow_loss=True)
    pretokenizer: dict[str, Any] = {} if format == "seed_pair" else {"pretokenizer": None}
    back = digram.load(tmp_path / "file", **pretokenizer)
    assert back == digram.Tokenizer(vocabularies.PLAIN)


@pytest.mark.parametrize("definition", [FRAMED, SINGLE])
def test_hugging_face_gives_the_same_ids(definition: digram.Definition) -> None:
    ours = digram.Tokenizer(definition)
    theirs = tokenizers.Tokenizer.from_str(dumps(definition).decode())
    texts = vocabularies.texts(200)
    for text, pair in pairwise(texts):
        for added in (True, False):
            found = ours(text, special="parse", add_special_tokens=added)
            assert found.ids == theirs.encode(text, add_special_tokens=added).ids
            if definition is FRAMED:
                both = ours(text, pair, special="parse", add_special_tokens=added)
                assert both.ids == theirs.encode(text, pair, add_special_tokens=added).ids


PROCESSORS: dict[str, Callable[[], Any]] = {
    "template": lambda: processors.TemplateProcessing(
        single="<s> $A </s>:1",
        pair="<s> $A $B:1 </s>:1",
        special_tokens=[("<s>", 400), ("</s>", 401)],
    ),
    "bert": lambda: processors.BertProcessing(("</s>", 401), ("<s>", 400)),
    "roberta": lambda: processors.RobertaProcessing(("</s>", 401), ("<s>", 400)),
    "byte level": lambda: processors.ByteLevel(trim_offsets=True),
    "sequence": lambda: processors.Sequence([processors.ByteLevel(), PROCESSORS["template"]()]),
}


@pytest.mark.parametrize("name", PROCESSORS)
def test_files_of_hugging_face(name: str) -> None:
    plain = replace(FRAMED, **NONE)
    theirs: Any = tokenizers.Tokenizer.from_str(dumps(plain).decode())
    theirs.post_processor = PROCESSORS[name]()
    definition = loads(theirs.to_str().encode())
    assert (definition.template is None) is (name == "byte level")
    ours = digram.Tokenizer(definition)
    for data in (theirs.to_str(), dumps(definition).decode()):
        again: Any = tokenizers.Tokenizer.from_str(data)
        for added in (True, False):
            for text in (("ab c",), ("ab c", "d é")):
                mine = ours(*text, add_special_tokens=added)
                other = again.encode(*text, add_special_tokens=added)
                assert (mine.ids, mine.type_ids) == (other.ids, other.type_ids)
                assert mine.special_tokens_mask == other.special_tokens_mask
                assert mine.sequence_ids == other.sequence_ids


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    top = json.loads(dumps(FRAMED))
    del top["model"]["digram"]["digest"], top["model"]["digram"]["seal"]
    change(top)
    return json.dumps(top).encode()


def post(**changes: Any) -> bytes:
    return changed(lambda top: top["post_processor"].update(changes))


def own(**changes: Any) -> bytes:
    return changed(lambda top: top["model"]["digram"]["input"].update(changes))


A, S = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<s>", "type_id": 0}}
TOKEN = {"id": "<s>", "ids": [400], "tokens": ["<s>"]}
REFUSED: list[tuple[bytes, type[Exception], str]] = [
    (post(type="Else"), VocabError, "post_processor Else is not supported"),
    (post(extra=1), VocabError, "the key 'extra' of the post_processor"),
    (post(single=None), CorruptFileError, r"post_processor\.single should be a list"),
    (post(single=[]), VocabError, r"has \$A 0 times"),
    (post(single=[A, A]), VocabError, r"has \$A 2 times"),
    (post(pair=[A]), VocabError, r"has \$B 0 times"),
    (post(single=[A | S]), VocabError, r"single\[0\].* is not supported"),
    (post(single=[{"Other": {}}]), VocabError, r"single\[0\].* is not supported"),
    (post(single=[7]), CorruptFileError, r"single\[0\] should be an object"),
    (post(single=[{"Sequence": {"id": "C", "type_id": 0}}]), VocabError, "not supported"),
    (post(single=[{"Sequence": {"id": "A"}}]), CorruptFileError, "type_id should be a whole"),
    (
        post(single=[{"Sequence": {"id": "A", "type_id": -1}}]),
        VocabError,
        "type id from 0",
    ),
    (post(special_tokens={}), VocabError, "'<s>' is not in its special_tokens"),
    (post(special_tokens=[]), CorruptFileError, "special_tokens should be an object"),
    (
        post(special_tokens={"<s>": TOKEN | {"ids": [400, 401]}}),
        VocabError,
        r"with the ids \[400, 401\]",
    ),
    (post(special_tokens={"<s>": TOKEN | {"ids": [1]}}), VocabError, "adds '<s>' with the id 1"),
    (
        post(special_tokens={"<s>": TOKEN | {"tokens": ["<t>"]}}),
        VocabError,
        "adds '<t>' with the id 400, which is not a special token",
    ),
    (
        changed(
            lambda top: top.update(
                post_processor={
                    "type": "Sequence",
                    "processors": [top["post_processor"], top["post_processor"]],
                }
            )
        ),
        VocabError,
        "two templates",
    ),
    (
        changed(
            lambda top: top.update(post_processor={"type": "BertProcessing", "cls": ["<s>", 400]})
        ),
        CorruptFileError,
        "sep should be a list",
    ),
    (
        changed(
            lambda top: top.update(
                post_processor={"type": "BertProcessing", "cls": ["<s>"], "sep": []}
            )
        ),
        VocabError,
        r"post_processor\.cls",
    ),
    (own(context_size=0), VocabError, "the context size 0"),
    (own(context_size="8"), CorruptFileError, r"context_size should be a whole number"),
    (own(pad_token="<x>"), VocabError, "the pad token names '<x>'"),
    (own(pad_token=3), CorruptFileError, "pad_token should be a string"),
    (own(pairs=None), CorruptFileError, "pairs should be true or false"),
    (own(extra=None), CorruptFileError, "the key 'extra' is not known"),
    (
        changed(lambda top: top["model"]["digram"]["input"].pop("pairs")),
        CorruptFileError,
        "the key 'pairs' is missing",
    ),
    (
        changed(lambda top: top["model"]["digram"].update(input=[])),
        CorruptFileError,
        "input should be an object",
    ),
]


@pytest.mark.parametrize(
    ("data", "error", "message"), REFUSED, ids=[message for _, _, message in REFUSED]
)
def test_refused(data: bytes, error: type[digram.DigramError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        loads(data, "t.json")
    assert caught.value.path == "t.json"


def test_a_changed_template_does_not_fit_the_digest() -> None:
    top = json.loads(dumps(FRAMED))
    top["post_processor"]["single"].pop()
    with pytest.raises(CorruptFileError, match="does not fit its digest"):
        loads(json.dumps(top).encode())
