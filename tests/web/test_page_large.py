"""A text of 100 kB: all of it there, few elements of it made."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page
from web.looking import as_typed, pane, seen, until

import digram
from digram.errors import several
from digram.web import Server, serve

Open = Callable[..., Page]
PASTE = """async (text) => {
  const area = document.getElementById('text');
  const began = performance.now();
  area.value = text;
  area.dispatchEvent(new InputEvent('input'));
  while (document.querySelector('.cards[aria-busy]')) {
    await new Promise((go) => setTimeout(go, 1));
  }
  await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  return performance.now() - began;
}"""
ELEMENTS = "document.querySelectorAll('*').length"
MOST_ELEMENTS = 10_000


def made_up() -> str:
    """100 kB of words and lines, some of them not in ASCII."""
    rng = random.Random(1)
    words = [
        "the",
        "cat",
        "sat",
        "on",
        "mat,",
        "and",
        "other",
        "cats",
        "there",
        "too.",
        "中文",
        "naïve",
        "🙂",
        "{x}",
        "2024\n\n",
    ]
    text = " ".join(rng.choices(words, k=22_000))
    return text.encode()[:100_000].decode("utf-8", "ignore")


def check(page: Page, toks: list[digram.Tokenizer], text: str) -> None:
    """The ids at both ends are right, wherever one goes, and what is far away is wiped."""
    for card, tok in enumerate(toks):
        ids = [str(id) for id in tok.encode(text)]
        shown = page.locator(pane("ids", card))
        first = seen(page, f"{pane('ids', card)} >> .block:first-child .token")
        assert first == ids[: len(first)] != []
        assert (shown.text_content() or "").split() == ids
        for kind in ("text", "ids", "bytes"):
            box = page.locator(pane(kind, card))
            for place in (0.5, 1.0):
                box.evaluate("(one, at) => { one.scrollTop = at * one.scrollHeight; }", place)
                page.wait_for_timeout(60)
            box.evaluate("(one) => { one.scrollTop = one.scrollHeight; }")
        page.locator(f"{pane('ids', card)} >> .block:last-child .token").first.wait_for()
        drawn = seen(page, f"{pane('ids', card)} >> .block:last-child .token")
        assert drawn == ids[-len(drawn) :]
    assert page.evaluate(ELEMENTS) < MOST_ELEMENTS


def test_a_large_text(
    opened: Open, server: Server, tok: digram.Tokenizer, other: digram.Tokenizer
) -> None:
    page = opened(server)
    text = made_up()
    page.evaluate(PASTE, text)
    assert page.evaluate(ELEMENTS) < MOST_ELEMENTS
    check(page, [tok, other], text)


@pytest.mark.parametrize("name", ["en", "code"])
def test_a_large_paste(
    opened: Open, shared_data: Callable[[str], Path], tell: Callable[[str], None], name: str
) -> None:
    with shared_data(f"corpora/{name}.txt").open("rb") as file:
        text = as_typed(file.read(100_000).decode("utf-8", "ignore"))
    toks = {
        one: digram.load(shared_data(f"vocabs/{one}.tiktoken"), encoding=one)
        for one in ("o200k_base", "cl100k_base")
    }
    for shown in ({"o200k_base": toks["o200k_base"]}, toks):
        with serve(shown).running() as server:
            page = opened(server, viewport={"width": 1280, "height": 900})
            times = ", ".join(f"{page.evaluate(PASTE, text + '.' * i):.0f}" for i in range(3))
            with_them = f"{several(len(shown), 'tokenizer')}, {page.evaluate(ELEMENTS):,} elements"
            tell(f"100 kB of {name} pasted, {with_them}: painted after {times} ms")
            check(page, [*shown.values()], text + "..")


def test_one_line_without_a_space(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server)
    text = "ab" * 50_000
    page.evaluate(PASTE, text)
    assert page.evaluate(ELEMENTS) < MOST_ELEMENTS
    assert (page.text_content(pane("text")) or "") == text


def test_typing_on_while_answers_are_on_their_way(
    opened: Open, server: Server, tok: digram.Tokenizer
) -> None:
    page = opened(server)
    text = made_up()
    page.evaluate(
        """(text) => {
          const area = document.getElementById('text');
          for (const now of [text, text + 'a', text + 'ab', 'the cat']) {
            area.value = now;
            area.dispatchEvent(new InputEvent('input'));
          }
        }""",
        text,
    )
    until(page, "document.querySelector('.cards[aria-busy]') === null")
    assert seen(page, f"{pane('ids')} >> .token") == [str(id) for id in tok.encode("the cat")]
