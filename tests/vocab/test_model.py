"""A second kind of model: what asks no kind works with it, and what rests on merges refuses it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from vocabularies import BYTES

import digram
from digram import _core
from digram.tokenizer.summary import facts
from digram.vocab.bpe import BpeModel, require_bpe, require_ranked
from digram.vocab.definition import digest
from digram.vocab.model import Fault, Kernel, Model


@dataclass(frozen=True, slots=True)
class Words(Model, Kernel):
    """A pretoken that is a token becomes it, any other its bytes; nothing is merged."""

    kind: ClassVar[str] = "words"
    portable: ClassVar[bool] = False
    by_rank: ClassVar[bool] = False
    label: ClassVar[str] = "words"
    description: ClassVar[str] = "whole words or bytes"

    def kernel(self) -> Kernel:
        return self

    def tables(self, tokens: list[bytes | None]) -> _core.Model:
        return _core.Model(tokens, [])

    def fault(self, definition: digram.Definition) -> Fault | None:
        return None

    def made(self, definition: digram.Definition) -> set[int]:
        return {id for id, token in enumerate(definition.tokens) if token and len(token) > 1}

    def unreached(self, definition: digram.Definition) -> list[int]:
        return []

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind}

    def core(self) -> _core.Algorithm:
        return _core.Algorithm.ranked(True, False)

    def model(self, tables: _core.Model) -> Model:
        return self


DEFINITION = digram.Definition(
    tokens=[*BYTES, b"low", b" low"],
    model=Words(),
    pretokenizer=digram.Pretokenizer("gpt2"),
    special_tokens={"<s>": 258},
)
TOK = digram.Tokenizer(DEFINITION)
TEXT = "low low lower"


def test_it_encodes_and_is_a_tokenizer_like_any_other() -> None:
    assert TOK.encode(TEXT) == [256, 257, *b" lower"]
    assert TOK.decode(TOK.encode(TEXT)) == TEXT
    assert TOK.count(TEXT) == 8
    assert TOK.definition == DEFINITION
    assert pickle.loads(pickle.dumps(TOK)) == TOK
    assert [*TOK.merges, *TOK.merge_log, *TOK.events] == []
    assert repr(TOK) == "<digram.Tokenizer: 259 tokens, 1 special, pretokenizer='gpt2', words>"
    assert facts(TOK)["scheme"] == "whole words or bytes"
    assert TOK.with_special_tokens(["<t>"]).encode("<t>", special="parse") == [259]
    assert str(digram.evaluate(TOK, TEXT))
    assert digram.compare(TOK, TOK, TEXT)
    assert str(digram.audit(TOK))
    assert digram.report(TOK, TEXT).html()


def test_the_kind_is_part_of_the_digest() -> None:
    bpe = replace(DEFINITION, model=BpeModel([], ignore_merges=True))
    assert digram.Tokenizer(bpe).encode(TEXT) == TOK.encode(TEXT)
    assert digest(bpe) != digest(DEFINITION) == TOK.digest


@pytest.mark.parametrize(
    "call",
    [
        lambda: digram.extend(TOK, TEXT, add=1),
        lambda: digram.prune(TOK, TEXT, remove=1),
        lambda: digram.shrink(TOK, 257),
        lambda: digram.union(TOK, TOK),
        lambda: digram.replace_tokens(TOK, TEXT, 1),
        lambda: digram.explain(TOK, TEXT),
        lambda: digram.replay(TOK, TEXT),
        lambda: digram.merge_tree(TOK, 256),
        lambda: digram.curve(TOK, TEXT),
        lambda: TOK.with_rules(digram.Rules(["low"])),
    ],
)
def test_what_rests_on_merges_refuses_it(call: Callable[[], object]) -> None:
    with pytest.raises(digram.OptionError, match="of the kind 'words'") as caught:
        call()
    assert caught.value.value == "words"
    assert caught.value.hint


@pytest.mark.parametrize("format", ["huggingface", "tiktoken", "vocab_merges", "seed_pair", None])
def test_a_file_for_another_kind_refuses_it(format: str | None, tmp_path: Path) -> None:
    with pytest.raises(digram.VocabError, match="of the kind 'words'"):
        TOK.save(tmp_path / "words.json", format=format)
    assert [*tmp_path.iterdir()] == []


def test_bpe_is_asked_for_by_name() -> None:
    plain, odd = BpeModel([]), BpeModel([], scheme=digram.vocab.schemes.Picky(()))
    assert require_bpe(plain, "it") is require_ranked(plain, "it") is plain
    assert require_bpe(odd, "it") is odd
    with pytest.raises(digram.OptionError, match=r"it needs merges .* \(picky\)"):
        require_ranked(odd, "it")
    with pytest.raises(TypeError, match=r"definition\.model"):
        digram.Tokenizer(replace(DEFINITION, model=None))  # type: ignore[arg-type]
