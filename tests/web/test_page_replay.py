"""Training played again, in a browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import Page
from web.looking import DRAWN, seen, until, visible

import digram
from digram.analysis.explain import Replay
from digram.web import Server, serve

Open = Callable[..., Page]
TEXT = "the other cats sat on the mat,\nthe cat"
WHERE = ".stepper .where"
TOKENS = "document.querySelector('.counts dd').textContent"


def replay(page: Page, text: str, found: Replay) -> None:
    """Type a text at once, and wait for its replay."""
    page.fill("#replay-text", text)
    until(page, f"document.querySelector('.where').textContent === '0 of {len(found.frames)}'")
    until(page, f"{TOKENS} === '{len(found.tokens(-1))}'")


def drawn(tokens: Sequence[bytes]) -> list[str]:
    """Tokens of whole characters as the page draws them."""
    return [visible(token.decode()) for token in tokens]


def is_shown(page: Page, found: Replay, at: int) -> None:
    """What stands after so many merges, and the one that comes next."""
    tokens = found.tokens(at - 1)
    assert seen(page, WHERE) == [f"{at} of {len(found.frames)}"]
    assert page.input_value("#frame") == str(at)
    assert seen(page, ".stage .token") == drawn(tokens)
    frame = found.frames[at] if at < len(found.frames) else None
    size = found.base if at == 0 else found.frames[at - 1].vocab_size
    size = found.vocab_size if frame is None else size
    ratio = f"{len(found.text) / len(tokens):.2f}"
    assert seen(page, ".counts dd") == [f"{len(tokens):,}", f"{size:,}", ratio]
    learned = [frame.merge.token for frame in reversed(found.frames[:at])]
    assert seen(page, ".chips .token") == drawn(learned[:60])
    if frame is None:
        assert "No merge is left" in seen(page, ".merge")[0]
        assert page.locator(".stage .there").count() == 0
        return
    left, right, token = drawn([frame.merge.left, frame.merge.right, frame.merge.token])
    assert seen(page, ".stage .there") == [left, right] * frame.times
    told = seen(page, ".merge p")[0]
    assert told.startswith(
        f"{left} + {right} → {token} rank {frame.merge.rank}, {frame.times} time"
    )
    assert told.endswith(f"; counted {frame.merge.count:,} times in training")
    rows = [
        row.locator("th .token, td").evaluate_all(DRAWN)
        for row in page.locator(".pairs tbody tr").all()
    ]
    assert rows == [
        [
            *drawn([one.left, one.right]),
            f"{one.count}",
            "never merged" if one.rank is None else f"{one.rank}",
        ]
        for one in frame.pairs
    ]
    nexts = [one.rank == frame.merge.rank for one in frame.pairs]
    assert page.locator(".pairs tr.now").count() == sum(nexts)


def test_each_merge_by_the_keys(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    found = digram.replay(tok, TEXT)
    assert len(found.frames) > 8
    page = opened(server, "replay")
    replay(page, TEXT, found)
    page.focus(".stepper")
    for at in range(len(found.frames)):
        is_shown(page, found, at)
        page.keyboard.press("ArrowRight")
    is_shown(page, found, len(found.frames))
    assert found.tokens() == tok.tokens(tok.encode(TEXT))
    assert page.text_content("#said") == f"{len(found.tokens())} tokens. No merge is left."
    page.keyboard.press("Home")
    is_shown(page, found, 0)
    note = seen(page, "[role=status]")[0]
    assert note == f"{len(found.frames)} of {found.merges} merges apply to this text"


def test_by_the_slider_and_buttons(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    found = digram.replay(tok, TEXT)
    page = opened(server, "replay")
    replay(page, TEXT, found)
    page.focus("#frame")
    page.keyboard.press("End")
    is_shown(page, found, len(found.frames))
    page.keyboard.press("ArrowLeft")
    is_shown(page, found, len(found.frames) - 1)
    value = page.get_attribute("#frame", "aria-valuetext")
    assert value == f"{len(found.frames) - 1} of {len(found.frames)} merges"
    page.click("[aria-label='Previous merge']")
    is_shown(page, found, len(found.frames) - 2)
    page.click("[aria-label='First merge']")
    page.click("[aria-label='Next merge']")
    is_shown(page, found, 1)


def test_it_plays_to_the_end(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    found = digram.replay(tok, TEXT)
    page = opened(server, "replay")
    replay(page, TEXT, found)
    page.select_option("label:has-text('Speed') select", "30")
    page.click("#play")
    assert page.text_content("#play") == "Pause"
    until(page, "document.querySelector('#play').textContent === 'Play'")
    is_shown(page, found, len(found.frames))
    page.click("#play")  # once more, from the first
    until(page, "Number(document.querySelector('#frame').value) > 2")
    until(page, "document.querySelector('#play').textContent === 'Play'")
    is_shown(page, found, len(found.frames))


@pytest.mark.parametrize("stops", ["#play", "[aria-label='Next merge']", "nav a[href='#text']"])
def test_it_stops(opened: Open, server: Server, tok: digram.Tokenizer, stops: str) -> None:
    found = digram.replay(tok, TEXT)
    page = opened(server, "replay")
    replay(page, TEXT, found)
    page.select_option("label:has-text('Speed') select", "10")
    page.click("#play")
    until(page, "Number(document.querySelector('#frame').value) > 1")
    page.click(stops)
    if stops.startswith("nav"):
        page.wait_for_timeout(200)
        page.click("nav a[href='#replay']")
    assert page.text_content("#play") == "Play"
    at = page.input_value("#frame")
    page.wait_for_timeout(400)
    assert page.input_value("#frame") == at
    is_shown(page, found, int(at))


@pytest.mark.parametrize(("motion", "speed"), [("reduce", "1"), ("no-preference", "3")])
def test_little_motion(opened: Open, server: Server, motion: str, speed: str) -> None:
    page = opened(server, "replay", reduced_motion=motion)
    page.wait_for_selector("#play")
    assert page.input_value("label:has-text('Speed') select") == speed
    moving = "[...document.querySelectorAll('*')].filter((one) => one.getAnimations().length)"
    assert page.evaluate(f"{moving}.length") == 0
    assert page.text_content("#play") == "Play"


def test_runners_up_and_merges_without_a_place(opened: Open) -> None:
    tok = digram.train(
        "aaab aaab aac xyz xyz", max_merges=6, runners_up=1, pretokenizer="whitespace"
    )
    text = "xyz"
    found = digram.replay(tok, text)
    first = found.frames[0]
    assert first.skipped > 0
    with serve({"a": tok}).running() as running:
        page = opened(running, "replay")
        replay(page, text, found)
        told = seen(page, ".merge p")
        after = first.merge.runners_up[0]
        assert told[1] == (
            f"Next in training: {' + '.join(drawn([after.left, after.right]))}, "
            f"counted {after.count} times"
        )
        assert told[2].startswith(f"{first.skipped} merge")


def test_no_text_and_too_much(opened: Open, server: Server) -> None:
    page = opened(server, "replay", expected="400 (Bad Request)")
    page.wait_for_selector("#play")
    page.fill("#replay-text", "a" * 4097)
    page.wait_for_selector(".problem:visible")
    assert "4,097 bytes" in (page.text_content(".problem") or "")
    assert not page.locator(".results").is_visible()
    page.fill("#replay-text", "")
    page.wait_for_selector(".problem", state="hidden")
    assert not page.locator(".results").is_visible()
