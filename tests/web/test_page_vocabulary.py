"""The vocabulary in a browser: all of it within reach, searched and sorted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page
from web.looking import DRAWN, hex_of, seen, until

import digram
from digram.web import Answers, Server, serve

Open = Callable[..., Page]
STATUS = "document.querySelector('[role=status]').textContent"


def rows(page: Page) -> list[list[str]]:
    """The rows in sight, from above: id, token, bytes, length, rank, count."""
    found: list[list[str]] = page.evaluate(
        f"""() => [...document.querySelectorAll('.rows .row')]
        .sort((a, b) => a.number - b.number)
        .map((row) => ({DRAWN})([...row.querySelectorAll('.cell')]))"""
    )
    return found


def ids(page: Page) -> list[int]:
    return [int(row[0]) for row in rows(page) if row]


def wait_for(page: Page, status: str) -> None:
    until(page, f"{STATUS} === '{status}'")
    until(page, "!document.querySelector('.rows .row:empty')")


def test_rows(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server, "vocabulary", viewport={"width": 1280, "height": 900})
    wait_for(page, "290 tokens")
    assert ids(page) == [*range(len(ids(page)))]
    page.fill("#search", "cat")
    found = [
        (merge.id, merge.token, merge.rank, merge.count)
        for merge in tok.merge_log
        if b"cat" in merge.token
    ]
    wait_for(page, f"{len(found)} of 290 tokens")
    assert rows(page) == [
        [
            str(id),
            token.decode().replace(" ", "·"),
            hex_of(token),
            str(len(token)),
            f"{rank:,}",
            f"{count:,}",
        ]
        for id, token, rank, count in found
    ]
    page.fill("#search", "<|END")
    wait_for(page, "0 of 290 tokens")
    page.fill("#search", "<|end|>")
    wait_for(page, "1 of 290 tokens")
    assert rows(page)[0][1] == "<|end|>special"


def test_searching_by_id_and_by_bytes(opened: Open, server: Server) -> None:
    page = opened(server, "vocabulary")
    page.select_option("label:has-text('in') select", "id")
    page.fill("#search", "260")
    wait_for(page, "1 of 290 tokens")
    assert ids(page) == [260]
    page.fill("#search", "")
    wait_for(page, "290 tokens")
    page.select_option("label:has-text('in') select", "hex")
    page.fill("#search", "e4")
    until(page, f"{STATUS}.endsWith('of 290 tokens')")
    assert 0xE4 in ids(page)
    page.fill("#search", "e4b")
    page.wait_for_selector(".problem:visible")
    assert "two digits per byte" in (page.text_content(".problem") or "")
    page.fill("#search", "E4 B8")
    page.wait_for_selector(".problem", state="hidden")


def test_sorting(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server, "vocabulary")
    wait_for(page, "290 tokens")
    answers = Answers({"one": tok})
    for name, title in [
        ("token", "Token"),
        ("bytes", "Length"),
        ("rank", "Rank"),
        ("count", "Count in training"),
        ("id", "Id"),
    ]:
        page.click(f".head button:text-is('{title}')")
        for _ in range(2):
            head = page.locator(f".head .{name}")
            descending = head.get_attribute("aria-sort") == "descending"
            asked = {"tokenizer": 0, "sort": name, "descending": descending, "count": 290}
            wanted = [row[0] for row in answers("vocabulary", asked)["rows"]]
            until(page, f"document.querySelector('.rows .cell.id')?.textContent === '{wanted[0]}'")
            assert ids(page) == wanted[: len(ids(page))]
            assert page.locator(".head [aria-sort]").count() == 1
            page.click(f".head button:text-is('{title}')")
            assert (head.get_attribute("aria-sort") == "descending") != descending


def test_the_keyboard(opened: Open, server: Server) -> None:
    page = opened(server, "vocabulary")
    wait_for(page, "290 tokens")
    page.focus(".rows")
    at = -1
    for key, wanted in [
        ("ArrowDown", 0),
        ("ArrowDown", 1),
        ("End", 289),
        ("ArrowUp", 288),
        ("Home", 0),
    ]:
        page.keyboard.press(key)
        until(page, "document.querySelector('.row.active .id') !== null")
        at = wanted
        assert seen(page, ".row.active .cell.id") == [str(at)]
        active = page.get_attribute(".rows", "aria-activedescendant")
        assert page.locator(f"#{active}").is_visible()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_selector(".tree")
    assert page.evaluate("location.hash") == "#tree/0/289"
    page.go_back()
    until(page, "document.querySelector('.row.active .id')?.textContent === '289'")


def test_the_other_tokenizer(opened: Open, server: Server, other: digram.Tokenizer) -> None:
    page = opened(server, "vocabulary")
    wait_for(page, "290 tokens")
    page.select_option("label:has-text('Tokenizer') select", "1")
    wait_for(page, f"{len(other)} tokens")
    page.click(".rows .row >> nth=5")
    page.wait_for_selector(".tree")
    assert page.evaluate("location.hash") == "#tree/1/5"


def test_a_large_one_has_few_elements(
    opened: Open, shared_data: Callable[[str], Path], tell: Callable[[str], None]
) -> None:
    tok = digram.load(shared_data("vocabs/o200k_base.tiktoken"), encoding="o200k_base")
    with serve({"o200k": tok}).running() as server:
        page = opened(server, "vocabulary")
        unused = tok.vocab_size - len(tok)
        size = f"size {tok.vocab_size:,}: {unused} ids have no token"
        wait_for(page, f"{len(tok):,} tokens ({size})")
        body = page.locator(".rows")
        for place in (0.25, 0.5, 1.0):
            body.evaluate("(one, place) => { one.scrollTop = place * one.scrollHeight; }", place)
            page.wait_for_timeout(50)
            until(page, "!document.querySelector('.rows .row:empty')")
            first = ids(page)[0]
            assert place == 1.0 or abs(first - place * len(tok)) < 100
        assert ids(page)[-1] == max(tok.special_tokens.values())
        assert page.evaluate("document.querySelectorAll('*').length") < 800
        page.fill("#search", "tokeniz")
        until(page, f"{STATUS}.includes(' of ')")
        wanted = [id for id in range(199_998) if b"tokeniz" in tok.id_to_token(id).lower()]
        wait_for(page, f"{len(wanted)} of {len(tok):,} tokens")
        assert ids(page) == wanted[: len(ids(page))]


def test_a_search_without_hits(opened: Open, server: Server) -> None:
    page = opened(server, "vocabulary")
    page.wait_for_selector(".rows .cell")
    for by, search, told in [
        ("text", "no such thing", "No token contains the text no·such·thing. See under Text"),
        ("id", "99999", "No token has the id 99999."),
        ("hex", "00 00", "No token contains the bytes 00·00."),
    ]:
        page.select_option("select >> nth=1", by)
        page.fill("#search", search)
        until(page, f"document.querySelector('.nothing').textContent.startsWith('{told}')")
        assert page.locator(".nothing").is_visible()
        assert not page.locator(".grid").is_visible()
        page.fill("#search", "")
        page.wait_for_selector(".rows .cell")
        assert not page.locator(".nothing").is_visible()
