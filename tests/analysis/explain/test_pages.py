"""What a notebook shows: whole markup without a script, whatever tokens and names hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import vocabularies
from hypothesis import given
from markup import HOSTILE, Page, check
from strategies import any_tokenizers, cases, texts

import digram
from digram import Definition, Pretokenizer, Regex, Template, Tokenizer
from digram.display import harmless
from digram.vocab.bpe import BpeModel

TOKENS = list(dict.fromkeys(text.encode() for text in HOSTILE))


def hostile() -> Tokenizer:
    """A vocabulary from somewhere: each of its tokens, names and patterns is meant to do harm."""
    known: list[bytes | None] = [bytes([byte]) for byte in range(256)]
    merges = []
    ids: dict[bytes, int] = {bytes([byte]): byte for byte in range(256)}
    for token in TOKENS:
        for end in range(2, len(token) + 1):
            if token[:end] not in ids:
                ids[token[:end]] = len(known)
                merges.append((ids[token[: end - 1]], ids[token[end - 1 : end]], len(known)))
                known.append(token[:end])
    special = {text: len(known) + n for n, text in enumerate(dict.fromkeys(HOSTILE[:20]))}
    return Tokenizer(
        Definition(
            tokens=known,
            model=BpeModel(merges),
            pretokenizer=Pretokenizer(Regex(r"<script>|<\w+|\s+|[^<]+|</span>")),
            special_tokens=special,
            template=Template("<!-- $A </span>"),
            pad_token="</span>",
        )
    )


TOK = hostile()
TEXT = " ".join(HOSTILE)


def shown(value: Any) -> Page:
    """What a notebook would show of it, checked."""
    return check(value._repr_html_())


def test_hostile_vocabularies() -> None:
    facts = "".join(shown(TOK).text)
    assert "special tokens" in facts
    assert "First merges" in facts
    shown(TOK(TEXT))
    shown(TOK(HOSTILE))
    for text in HOSTILE:
        shown(digram.explain(TOK, text))
        shown(digram.explain(TOK, text, special="parse"))
        shown(digram.replay(TOK, text, special="parse"))
    for token in TOKENS:
        found = TOK.token_to_id(token)
        if found is not None:
            shown(digram.merge_tree(TOK, token))


def test_hostile_names(tmp_path: Path) -> None:
    folder = tmp_path / "<script>alert(1)<"
    folder.mkdir()
    path = folder / "a\u202e\x1b[2J' onmouseover='x'.txt"
    path.write_text(TEXT, encoding="utf-8")
    page = shown(digram.find_token(TOK, TOK.encode("</style>")[-1], path))
    assert "<script>alert(1)<" in "".join(page.text)
    evaluation = digram.evaluate(TOK, {"<b>": "a", "\u202e\x1b[2J": "b", "c": "d\n"}, reference="c")
    assert "<b>" in "".join(shown(evaluation).text)


def test_reports() -> None:
    tok = digram.train("the cat sat on the mat " * 9, vocab_size=268)
    other = digram.shrink(tok, 262)
    for found in (
        digram.compare(tok, other, {"<b>": "the <i>cat\u202e", "שלום": "שלום mat"}),
        digram.curve(tok, "the cat", sizes=[260, 268]),
        digram.advise(digram.curve(tok, "the cat"), parameters="7B"),
        digram.advise(digram.curve(tok, "the cat"), parameters="7B")["large"],
        digram.audit(tok, "the cat <b>\u202e"),
        digram.estimate_training("1 GB", 32_000),
        digram.VocabularyHistory().add("a cat, a cat").record(tok).drift("mats, mats", add=5),
    ):
        text = "".join(shown(found).text)
        assert text.split() == harmless(str(found).replace("\n", " ")).split()


@cases(60)
@given(any_tokenizers, texts)
def test_any_tokenizer_and_text(tok: Tokenizer, text: str) -> None:
    encoding = tok(text)
    page = shown(encoding)
    titles = [title for title in page.titles if title.startswith("token ")]
    assert [int(title.split(", ")[1].removeprefix("id ")) for title in titles] == encoding.ids
    shown(digram.explain(tok, text))
    shown(digram.replay(tok, text))
    shown(tok)


@pytest.mark.parametrize("name", vocabularies.SAMPLES)
def test_every_kind_of_tokenizer(name: str) -> None:
    tok = Tokenizer(vocabularies.SAMPLES[name])
    assert f"{len(tok):,} tokens" in "".join(shown(tok).text)
    shown(digram.merge_tree(tok, tok.vocab_size - 1))


def test_what_the_template_added_is_framed() -> None:
    tok = digram.train("ab", max_merges=1, special_tokens=["<s>"])
    assert "dashed" in tok.with_template(Template("<s> $A"))("ab")._repr_html_()
    assert "dashed" not in tok("ab")._repr_html_()


def test_several_encodings() -> None:
    tok = digram.train("ab", max_merges=1, pretokenizer=None)
    page = check(tok(["ab", "ba"])._repr_html_())
    assert "2 texts" in "".join(page.text)


def test_it_is_as_large_as_what_one_can_look_at() -> None:
    tok = digram.train("a b" * 100, max_merges=3, pretokenizer="gpt2")
    long = "ab " * 20_000
    assert len(tok(long)._repr_html_()) < 1_500_000
    assert len(digram.explain(tok, long)._repr_html_()) < 1_500_000
    assert len(digram.replay(tok, long)._repr_html_()) < 1_500_000
