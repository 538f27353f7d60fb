"""Explanations in a browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import Page
from web.looking import seen, until, visible

import digram
from digram.analysis.explain import Merging, Step
from digram.web import Server, serve

Open = Callable[..., Page]
TEXT = "the other cats sat on the mat"
WHERE = ".stepper .where"


def explain(page: Page, text: str, pretokens: int) -> None:
    """Type a text at once, and wait for its pretokens."""
    page.fill("#explain-text", text)
    until(page, f"document.querySelectorAll('.pretoken').length === {pretokens}")


def choose(page: Page, number: int, one: Merging) -> None:
    page.click(f".pretoken >> nth={number}")
    until(page, f"document.querySelector('.where')?.textContent === '0 of {len(one.steps)}'")


def drawn(tokens: Sequence[bytes]) -> list[str]:
    """Tokens of whole characters as the page draws them."""
    return [visible(token.decode()) for token in tokens]


def equation(merge: digram.Merge) -> str:
    left, right, token = drawn([merge.left, merge.right, merge.token])
    return f"{left} + {right} → {token} rank {merge.rank:,}, count {merge.count:,}"


def is_shown(page: Page, step: Step) -> None:
    """The tokens before a step, which two are merged, and what else could have been."""
    assert seen(page, ".stage .token") == drawn(step.before)
    assert seen(page, ".stage .there") == drawn([step.merge.left, step.merge.right])
    marked = page.evaluate(
        "[...document.querySelectorAll('.stage .token')].findIndex((one) => one.matches('.there'))"
    )
    assert marked == step.place
    assert seen(page, ".next p >> nth=0") == [f"{equation(step.merge)} in training"]
    assert seen(page, ".others li") == [equation(one.merge) for one in step.candidates[1:]]


def test_each_step_by_the_keys(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    found = digram.explain(tok, TEXT).pretokens
    page = opened(server, "explain")
    explain(page, TEXT, len(found))
    number = max(range(len(found)), key=lambda i: len(found[i].steps))
    one = found[number]
    assert len(one.steps) > 2
    choose(page, number, one)
    page.focus(".stepper")
    for step in one.steps:
        is_shown(page, step)
        page.keyboard.press("ArrowRight")
        assert seen(page, WHERE) == [f"{step.number + 1} of {len(one.steps)}"]
        assert page.text_content("#said")
    assert seen(page, ".stage .token") == drawn(one.tokens)
    assert seen(page, ".next a") == [str(id) for id in one.ids]
    page.keyboard.press("ArrowRight")
    assert seen(page, WHERE) == [f"{len(one.steps)} of {len(one.steps)}"]
    page.keyboard.press("ArrowLeft")
    is_shown(page, one.steps[-1])
    page.keyboard.press("Home")
    is_shown(page, one.steps[0])
    page.click(".chosen summary")
    assert seen(page, ".merges li") == [equation(step.merge) for step in one.steps]
    page.keyboard.press("End")


def test_each_step_by_buttons(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    one = digram.explain(tok, "the").pretokens[0]
    page = opened(server, "explain")
    explain(page, "the", 1)
    choose(page, 0, one)
    for name, at in [("Next", 1), ("Last", 2), ("Previous", 1), ("First", 0), ("Previous", 0)]:
        page.click(f"[aria-label='{name} step']", force=True)  # one that leads nowhere, too
        assert seen(page, WHERE) == [f"{at} of {len(one.steps)}"]
        assert seen(page, ".stage .token") == drawn([*one.states][at])
    page.click("[aria-label='Last step']")
    page.click(".next a")
    page.wait_for_selector(".tree")
    assert page.evaluate("location.hash") == f"#tree/0/{one.ids[0]}"


def test_pretokens(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    found = digram.explain(tok, TEXT)
    page = opened(server, "explain")
    explain(page, TEXT, len(found.pretokens))
    drawn_pretokens = ["".join(drawn(one.tokens)) for one in found.pretokens]
    assert seen(page, ".pretoken") == drawn_pretokens
    ids = len(found.ids)
    assert seen(page, "[role=status]") == [f"{len(found.pretokens)} pretokens, {ids} tokens"]
    page.focus("#pretokens")
    for key, at in [("Home", 0), ("ArrowRight", 1), ("End", -1), ("ArrowLeft", -2)]:
        page.keyboard.press(key)
        one = found.pretokens[at]
        chosen = page.locator(".pretoken[aria-selected=true]")
        assert chosen.count() == 1
        assert seen(page, ".pretoken[aria-selected=true]") == [drawn_pretokens[at]]
        assert chosen.get_attribute("id") == page.get_attribute(
            "#pretokens", "aria-activedescendant"
        )
        told = seen(page, ".chosen > .quiet")[0]
        assert told.startswith(f"bytes {one.start} to {one.start + len(one.pretoken)}, ")
        assert one.cut.pattern is not None
        assert seen(page, ".cut code") == [visible(one.cut.pattern)]
        assert one.cut.alternative is not None
        part = f"Cut out by part {one.cut.alternative + 1} of o200k: "
        assert seen(page, ".cut")[0].startswith(part)


def test_special_tokens_and_the_other_tokenizer(
    opened: Open, server: Server, tok: digram.Tokenizer, other: digram.Tokenizer
) -> None:
    text = "the<|end|>"
    page = opened(server, "explain")
    explain(page, text, len(digram.explain(tok, text).pretokens))
    page.check("#explain-special")
    until(page, "document.querySelectorAll('.pretoken').length === 2")
    page.click(".pretoken >> nth=1")
    assert "special token" in seen(page, ".chosen")[0]
    assert page.locator(".stepper").count() == 0
    page.uncheck("#explain-special")
    page.select_option("label:has-text('Tokenizer') select", "1")
    ids = other.encode(TEXT)
    page.fill("#explain-text", TEXT)
    until(
        page, f"document.querySelector('[role=status]').textContent.endsWith(' {len(ids)} tokens')"
    )


def test_what_is_too_long(opened: Open) -> None:
    tok = digram.train("aa " * 8, max_merges=3, pretokenizer="whitespace")
    with serve({"a": tok}).running() as running:
        page = opened(running, "explain", expected="400 (Bad Request)")
        explain(page, f"{'a' * 257} aa", 2)
        page.click(".pretoken >> nth=0")
        until(page, "document.querySelector('.chosen').textContent.includes('of up to 256 bytes')")
        page.fill("#explain-text", "a" * 5000)
        page.wait_for_selector(".problem:visible")
        assert "up to 4,096" in (page.text_content(".problem") or "")
        assert not page.locator(".results").is_visible()
        page.fill("#explain-text", "")
        page.wait_for_selector(".problem", state="hidden")
        assert not page.locator(".results").is_visible()


@pytest.mark.parametrize("text", ["the cats", "the mat\n" * 200])
def test_it_begins_with_the_text_of_the_reader(opened: Open, server: Server, text: str) -> None:
    page = opened(server)
    page.fill("#text", text)
    page.click("nav a[href='#explain']")
    page.wait_for_selector(".stage")
    begun = page.input_value("#explain-text")
    assert begun == text[:600]
    assert page.evaluate("sessionStorage.getItem('digram text')") == text
