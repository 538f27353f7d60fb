"""The view of a text, in a browser: tokens, ids, bytes, counts, differences."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import vocabularies
from playwright.sync_api import Page, Route
from web.looking import (
    as_typed,
    differently_cut,
    drawn_cells,
    enter,
    hex_of,
    marked,
    pane,
    seen,
    until,
)

import digram
from digram.web import Server, serve

Open = Callable[..., Page]
TEXT = "the cat sat on 中文 naïve 🙂!\n\tthe cats  there"


def test_typing(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server)
    page.fill("#text", "")
    page.locator("#text").press_sequentially("the cats 🙂")
    until(page, "document.querySelector('#size').textContent.startsWith('13 bytes')")
    ids = tok.encode("the cats 🙂")
    until(page, f"document.querySelectorAll('.pane.ids .token').length >= {len(ids)}")
    assert seen(page, f"{pane('ids')} >> .token") == [str(id) for id in ids]
    assert page.text_content("#size") == "13 bytes, 10 characters"


def test_what_is_seen_is_what_the_tokenizer_says(opened: Open) -> None:
    names = ["gpt2", "cl100k", "whitespace", "no pretokenizer", "characters or bytes", "holes"]
    toks = {name: digram.Tokenizer(vocabularies.SAMPLES[name]) for name in names}
    with serve(toks).running() as server:
        page = opened(server)
        for text in map(as_typed, [TEXT, "", *vocabularies.texts(12, seed=3)]):
            enter(page, text)
            for card, tok in enumerate(toks.values()):
                ids = tok.encode(text, special="text")
                assert seen(page, f"{pane('ids', card)} >> .token") == [str(id) for id in ids]
                cells = [
                    one.replace("\n", "") for one in seen(page, f"{pane('text', card)} >> .token")
                ]
                assert cells == drawn_cells(tok, text, special="text")
                encoding = tok(text, special="text", add_special_tokens=False, offsets="bytes")
                data = text.encode()
                assert seen(page, f"{pane('bytes', card)} >> .token") == [
                    hex_of(data[start:end]) for start, end in encoding.offsets
                ]
                counts = seen(page, f".card >> nth={card} >> .counts dd")
                per = f"{len(data) / len(ids):.2f}" if ids else "–"
                assert counts == [f"{len(ids):,}", per, f"{len({*ids}):,}"]


def test_hovering_goes_both_ways(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server)
    enter(page, TEXT)
    ids = tok.encode(TEXT)
    tokens = tok.tokens(ids)
    alone = [i for i, token in enumerate(tokens) if token.isascii()]
    for kind in ("text", "ids", "bytes"):
        for i in alone[:3] + alone[-2:]:
            cell = sum(1 for j in range(i) if j in alone) if kind == "text" else i
            if kind == "text" and i > max(alone[:3]):
                continue
            page.locator(f"{pane(kind)} >> .token").nth(cell).hover()
            assert marked(page, "ids") == [str(ids[i])]
            assert marked(page, "bytes") == [hex_of(tokens[i])]
            assert (
                "".join(marked(page, "text")).rstrip("\n")
                == drawn_cells(tok, tokens[i].decode())[0]
            )
            details = page.text_content(".details") or ""
            assert f"id {ids[i]}" in details
            assert f"{i + 1} of {len(ids)}" in details
            assert hex_of(tokens[i]) in details


def test_tokens_that_share_a_character(opened: Open) -> None:
    tok = digram.Tokenizer(vocabularies.of_bytes((0xF0, 0x9F)))
    with serve({"bytes": tok}).running() as server:
        page = opened(server)
        enter(page, "a🙂b")
        assert seen(page, f"{pane('text')} >> .token") == ["a", "🙂", "b"]
        shared = page.locator(f"{pane('text')} >> .token.shared")
        box = shared.bounding_box()
        assert box is not None
        for share, id in [(0.2, 256), (0.6, 0x99), (0.8, 0x82)]:
            page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            assert marked(page, "ids") == [str(id)]
            assert "shares the character 🙂" in (page.text_content(".details") or "")


def test_the_keyboard(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server)
    enter(page, TEXT)
    ids = [str(id) for id in tok.encode(TEXT)]
    page.focus(pane("text"))
    said = "document.getElementById('said').textContent"
    for key, at in [
        ("ArrowRight", 0),
        ("ArrowRight", 1),
        ("End", -1),
        ("ArrowLeft", -2),
        ("Home", 0),
    ]:
        page.keyboard.press(key)
        assert marked(page, "ids") == [ids[at]]
        assert f"id {ids[at]}, token {range(len(ids))[at] + 1} of {len(ids)}" in page.evaluate(said)
    page.keyboard.press("Enter")
    page.wait_for_selector(".tree")
    assert page.evaluate("location.hash") == f"#tree/0/{ids[0]}"


def test_every_control_is_reached_and_named(opened: Open, server: Server) -> None:
    page = opened(server)
    for view in ("text", "vocabulary", "tree"):
        page.click(f"nav a[href='#{view}']")
        page.wait_for_timeout(100)
        unnamed = page.evaluate(
            """[...document.querySelectorAll('a, button, input, select, textarea, [tabindex="0"]')]
            .filter((one) => one.checkVisibility())
            .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length))
            .map((one) => one.outerHTML)"""
        )
        assert unnamed == []
    page.reload()
    page.wait_for_selector("nav a")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


@pytest.fixture
def both(tok: digram.Tokenizer, other: digram.Tokenizer) -> list[digram.Tokenizer]:
    """Both tokenizers of the server."""
    return [tok, other]


def ringed(page: Page, card: int) -> set[int]:
    found: list[int] = page.evaluate(
        """(card) => {
          const found = [];
          document.querySelectorAll('.card')[card].querySelectorAll('.pane.ids .token')
            .forEach((one, i) => { if (one.classList.contains('ring')) found.push(i); });
          return found;
        }""",
        card,
    )
    return {*found}


def test_disagreements_are_ringed(
    opened: Open, server: Server, both: list[digram.Tokenizer]
) -> None:
    page = opened(server)
    for text in [TEXT, "sat", "?", "the cat sat there, too."]:
        enter(page, text)
        sizes = [
            [
                end - start
                for start, end in tok(text, add_special_tokens=False, offsets="bytes").offsets
            ]
            for tok in both
        ]
        wanted = differently_cut(sizes)
        assert [ringed(page, card) for card in range(2)] == wanted
        has_any = any(wanted)
        assert page.locator("[aria-label='Next place split differently']").is_enabled() == has_any
        if not has_any:
            assert page.text_content(".differences") == "‹All split alike›"


def test_from_difference_to_difference(opened: Open, server: Server) -> None:
    page = opened(server)
    enter(page, TEXT)
    total = int((page.text_content(".differences span") or "").split()[0])
    assert total > 1
    first = None
    for step in range(total + 1):
        page.click("[aria-label='Next place split differently']")
        told = page.text_content(".differences span")
        assert told == f"{step % total + 1} of {total} places split differently"
        stretches = [" ".join(marked(page, "bytes", "there", card)) for card in range(2)]
        assert stretches[0] == stretches[1] != ""
        first = first or stretches
    assert stretches == first
    page.click("[aria-label='Previous place split differently']")
    assert page.text_content(".differences span") == f"{total} of {total} places split differently"


def test_what_others_have_in_its_place(opened: Open, server: Server) -> None:
    page = opened(server)
    enter(page, "the cat sat")
    for i in range(page.locator(f"{pane('ids')} >> .token").count()):
        page.locator(f"{pane('ids')} >> .token").nth(i).hover()
        mine = "".join(marked(page, "bytes"))
        across = " ".join(marked(page, "bytes", "there", 1))
        assert mine in across


def test_a_tokenizer_may_be_left_out(opened: Open, server: Server) -> None:
    page = opened(server)
    enter(page, TEXT)
    page.uncheck("text=other")
    until(page, "document.querySelectorAll('.card')[1].hidden")
    until(page, "document.querySelectorAll('.ring').length === 0")
    assert not page.locator(".differences").is_visible()
    page.check("text=other")
    until(page, "document.querySelectorAll('.ring').length > 0")


def test_special_tokens(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server)
    enter(page, "a<|end|>b")
    assert len(seen(page, f"{pane('ids')} >> .token")) > 3
    page.check("#special")
    special = str(tok.special_tokens["<|end|>"])
    until(page, "document.querySelectorAll('.card .pane.ids')[0].children[0].children.length === 3")
    assert seen(page, f"{pane('ids')} >> .token") == [str(ord("a")), special, str(ord("b"))]


def test_a_text_is_there_after_a_reload(opened: Open, server: Server) -> None:
    page = opened(server)
    enter(page, "stay <b>here</b>")
    page.reload()
    page.wait_for_selector(f"{pane('ids')} >> .token")
    assert page.input_value("#text") == "stay <b>here</b>"
    assert server.token not in page.url


def test_errors_are_shown(opened: Open) -> None:
    tok = digram.Tokenizer(vocabularies.SAMPLES["characters or an error"])
    with serve(
        {"characters": tok, "bytes": digram.Tokenizer(vocabularies.PLAIN)}
    ).running() as server:
        page = opened(server)
        enter(page, "low ☃")
        problem = page.text_content(".card .problem") or ""
        assert "☃" in problem
        assert seen(page, f"{pane('ids', 1)} >> .token") != []
        enter(page, "low")
        assert not page.locator(".card .problem").first.is_visible()
        page.fill("#text", "x" * (1 << 20))
        page.wait_for_selector("section > .problem:visible")
        assert "up to 1 MiB" in (page.text_content("section > .problem") or "")
        enter(page, "low")
        assert not page.locator("section > .problem").is_visible()


def test_without_the_token_nothing_is_shown(opened: Open, server: Server) -> None:
    page = opened(server, expected="401 (Unauthorized)")
    other = page.context.new_page()  # another tab, which has not the token
    other.goto(f"http://127.0.0.1:{server.port}/")
    other.wait_for_selector(".problem")
    assert "including the part after the #" in (other.text_content(".problem") or "")
    assert other.locator("nav a").count() == 0


def test_a_server_that_is_gone(opened: Open, tok: digram.Tokenizer) -> None:
    with serve({"one": tok}).running() as server:
        page = opened(server, expected="ERR_CONNECTION_REFUSED")
        enter(page, "the cat")
    page.fill("#text", "the cats")
    page.wait_for_selector("section > .problem:visible")
    assert "Start digram serve again" in (page.text_content("section > .problem") or "")


def test_a_busy_server_is_asked_again(opened: Open, server: Server) -> None:
    page = opened(server, expected="503")
    left = 2

    def busy(route: Route) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            route.continue_()
        else:
            error = {"kind": "Refusal", "message": "the server is busy.", "remedy": "Ask again."}
            told = {"retry-after": "0.1"}
            route.fulfill(status=503, headers=told, json={"error": error})

    page.route("**/api/encode", busy)
    enter(page, "the cats")
    assert left == -1
    assert page.locator(".problem:visible").count() == 0
    assert seen(page, f"{pane('text')} >> .token") != []
    left = 100
    enter(page, "the cat")
    assert seen(page, ".problem:visible") == ["the server is busy. Ask again."]


def test_many_lines_at_once_are_few_questions(opened: Open, server: Server) -> None:
    page = opened(server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    enter(page, "the mat again\n" * 400)
    assert page.locator(".problem:visible").count() == 0
    assert 1 <= len(asked) <= 8


COPY = "() => getSelection().toString()"


def test_the_text_itself_is_found_and_copied(opened: Open, server: Server) -> None:
    page = opened(server)
    text = (
        "the cat  sat\n\ton\u00a0the mat, na\u00efve\u200b \u202ecats\n" + "the mat again\n" * 400
    )
    enter(page, text)
    shown = page.locator(pane("text"))
    assert shown.text_content() == text
    # As Ctrl-F does, from the beginning of the pane; far down, too, where nothing is drawn yet.
    for phrase in ("cat  sat", "the mat, na\u00efve", "mat again\nthe mat"):
        page.evaluate(f"getSelection().collapse(document.querySelector('{PANE}'), 0)")
        assert page.evaluate("(phrase) => window.find(phrase)", phrase), phrase
        assert page.evaluate(COPY) == phrase
    page.evaluate(f"getSelection().selectAllChildren(document.querySelector('{PANE}'))")
    copied = page.evaluate(COPY)
    assert copied.replace("\u00a0", " ").splitlines() == text.replace("\u00a0", " ").splitlines()


PANE = ".pane.text"


def test_ids_are_copied(opened: Open, server: Server, tok: digram.Tokenizer) -> None:
    page = opened(server, permissions=["clipboard-read", "clipboard-write"])
    enter(page, TEXT)
    page.click("[aria-label='Copy the ids of one']")
    until(page, "document.querySelector('.copy').textContent === 'Copied'")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert json.loads(copied) == tok.encode(TEXT)


def test_nothing_of_another_text_stays_beside_an_error(opened: Open, server: Server) -> None:
    page = opened(server)
    enter(page, "the cats")
    assert page.locator(".counts:visible").count() == 2
    page.fill("#text", "x" * (1 << 20))
    page.wait_for_selector(".problem:visible")
    assert page.text_content("#size") == ""
    for what in (".counts", ".pane", ".differences", ".details"):
        assert page.locator(f"{what}:visible").count() == 0, what
    enter(page, "the cat")
    assert page.locator(".counts:visible").count() == 2
    assert page.locator(".problem:visible").count() == 0


def test_two_sizes_are_explained(opened: Open, tok: digram.Tokenizer) -> None:
    holes = digram.Tokenizer(vocabularies.SAMPLES["holes"])
    missing = holes.vocab_size - len(holes)
    assert missing > 1
    with serve({"holes": holes, "whole": tok}).running() as server:
        page = opened(server)
        told = (
            f"{len(holes):,} tokens (size {holes.vocab_size:,}: {missing:,} ids have no token)",
            "290 tokens,",
        )
        for line, start in zip(seen(page, ".card header p"), told, strict=True):
            assert line.startswith(start)
