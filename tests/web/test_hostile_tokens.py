"""Token texts that would be markup, scripts or tricks of the line, if the page took them for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
import vocabularies
from playwright.sync_api import Page
from web.looking import as_typed, enter, pane, seen, until, visible

import digram
from digram.web import Server, serve

Open = Callable[..., Page]

RUN = "window.ran=1"
MARKUP = [
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f"<img src=x onerror='{RUN}'//>",
    f"<svg onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<math><mtext><img src=x onerror={RUN}></mtext></math>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f'<iframe src="javascript:parent.{RUN}"></iframe>',
    f'<a href="javascript:{RUN}" autofocus onfocus={RUN}>x</a>',
    f"<body onload={RUN}>",
    f"<input autofocus onfocus={RUN}>",
    f"<details open ontoggle={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}>",
    f"<object data='javascript:{RUN}'></object>",
    f"<embed src='javascript:{RUN}'>",
    f"<form action='javascript:{RUN}'><button autofocus>x</button></form>",
    f"<style>@import 'http://evil.example/{RUN}';</style>",
    "<style>* { display: none !important }</style>",
    "<link rel=stylesheet href=http://evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<base href='http://evil.example/'>",
    f"<template><img src=x onerror={RUN}></template>",
    f"</textarea><img src=x onerror={RUN}>",
    f"</title><img src=x onerror={RUN}>",
    f"--><img src=x onerror={RUN}><!--",
    f"]]><img src=x onerror={RUN}>",
    f'"><img src=x onerror={RUN}>',
    f"' onmouseover='{RUN}",
    f'" onfocus="{RUN}" autofocus="',
    f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    f"${{{RUN}}}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"`;{RUN};`",
    f"'];{RUN};['",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"&#60;script&#62;{RUN}&#60;/script&#62;",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"%3Cscript%3E{RUN}%3C/script%3E",
    f"＜script＞{RUN}＜/script＞",
    f"<scr\0ipt>{RUN}</scr\0ipt>",
    f"<img\x0bsrc=x\x0conerror={RUN}>",
    "<plaintext>",
    "<noscript><xmp><listing>",
    "__proto__",
    "constructor",
    "#tree/0/1",
]
LINE = [
    "\u202egnp.exe",  # right to left, as file names are forged
    "\u202d\u202e\u202a\u202b\u202c",
    "\u2066\u2067\u2068\u2069",
    "abc\u200f\u200e\u061cdef",
    "ا" * 3 + "\u202e" + "abc",
    "\0",
    "\x00\x01\x02\x07\x08\x0e\x1b[31m\x7f",
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[H",
    "\u0085\u2028\u2029",
    "\ufeff\u200b\u2060\u180e",
    "\u200d\u200c",
    "\u00ad\u034f",
    "a" + "\u0301" * 200,
    "\ufff9\ufffa\ufffb",
    "\U000e0041\U000e007f",  # tags
    "\ue000\U0010fffd",  # for private use
    "\uffff\ufffe\U0001ffff",
    "\u3164\u115f\uffa0",  # letters without ink
    "\n" * 50,
    "\t" * 50,
    " " * 500,
    "W" * 2000,
    "🙂" * 100,
]
HOSTILE = [*MARKUP, *LINE]
HOSTILE_NAMES = [f"<img src=x onerror={RUN}>", f"\u202e<script>{RUN}</script>"]
UNSEEN = (
    r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f"
    r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
# What stands in lines: what would rearrange them is in boxes of its own, or where nothing is drawn.
IN_LINE = """() => {
  const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walk.nextNode()) {
    const isElsewhere = walk.currentNode.parentElement.matches('.block, .apart');
    if (!isElsewhere) found.push(walk.currentNode.data);
  }
  return found.join('');
}"""
APART = """[...document.querySelectorAll('.apart')].map((one) => getComputedStyle(one))
    .map(({ display, fontSize }) => `${display} ${fontSize}`)
    .filter((style) => style !== 'inline-block 0px')"""
MADE_OF = "script iframe object embed style svg math video audio form base meta link template xmp"


def hostile_tokenizer() -> digram.Tokenizer:
    """Each of the texts is a token, and a half of them are special tokens, too, with an ! after."""
    special = {f"{text}!": 1000 + i for i, text in enumerate(HOSTILE[::2])}
    tokens = [text.encode() for text in HOSTILE if text != "\0"]
    return digram.Tokenizer(
        vocabularies.changed(
            vocabularies.PLAIN,
            tokens=[*vocabularies.PLAIN.tokens, *tokens],
            ignore_merges=True,
            special_tokens=special,
        )
    )


@pytest.fixture(scope="module")
def hostile() -> Iterator[Server]:
    """A server of it, by a hostile name beside others."""
    tok = hostile_tokenizer()
    with serve(dict.fromkeys(HOSTILE_NAMES, tok)).running() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def figure(tell: Callable[[str], None]) -> None:
    """Tells how many there were."""
    tell(f"{len(HOSTILE)} hostile token texts in the browser, of which none ran a script")


def check(page: Page) -> None:
    """Nothing ran, and nothing of the page is made of a token."""
    elements = "[...document.querySelectorAll('body *')]"
    assert page.evaluate("window.ran") is None
    # Charts are drawn, and hold nothing but lines and numbers.
    drawn = "!one.closest('.plot > svg, svg.swatch')"
    names = page.evaluate(f"{elements}.filter((one) => {drawn}).map((one) => one.localName)")
    drawing = page.evaluate(f"{elements}.filter((one) => !({drawn})).map((one) => one.localName)")
    assert {*drawing} <= {"svg", "g", "path", "line", "text"}
    assert {*names}.isdisjoint(MADE_OF.split())
    assert names.count("img") == 1  # of the bar on top
    attributes = page.evaluate(
        f"{elements}.flatMap((one) => [...one.attributes].map((its) => [its.name, its.value]))"
    )
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert not [
        value for name, value in attributes if name in {"href", "src"} and value[0] not in "#/"
    ]
    assert not re.search(UNSEEN, page.evaluate(IN_LINE))
    assert page.evaluate(APART) == []


def test_in_the_view_of_a_text(opened: Open, hostile: Server) -> None:
    # Typed faster than by hand: a busy server may ask the page to come again, which it does.
    page = opened(hostile, expected="503")
    tok = hostile_tokenizer()
    for text in map(as_typed, HOSTILE):
        enter(page, text)
        ids = tok.encode(text, special="text")
        assert len(ids) == 1
        assert seen(page, f"{pane('ids')} >> .token") == [str(ids[0])]
        assert "".join(seen(page, f"{pane('text')} >> .token")).replace("\n", "") == visible(text)
        page.locator(f"{pane('text')} >> .token").first.hover(position={"x": 2, "y": 4})
        assert f"id {ids[0]}" in (page.text_content(".details") or "")
        check(page)
    enter(page, "".join(map(as_typed, HOSTILE)))
    check(page)
    page.check("#special")
    enter(page, "!".join(map(as_typed, HOSTILE)) + "!")
    assert "1000" in seen(page, f"{pane('ids')} >> .token")
    check(page)


def test_in_the_vocabulary(opened: Open, hostile: Server) -> None:
    page = opened(hostile, "vocabulary")
    page.select_option("select >> nth=0", "1")
    page.wait_for_selector(".rows .cell")
    body = page.locator(".rows")
    for _ in range(200):
        check(page)
        before = body.evaluate("(one) => one.scrollTop")
        body.evaluate("(one) => { one.scrollTop += one.clientHeight; }")
        page.wait_for_timeout(30)
        if body.evaluate("(one) => one.scrollTop") == before:
            break
    else:
        pytest.fail("the list has no end")
    for text in HOSTILE:
        page.fill("#search", text)
        page.wait_for_timeout(5)
    page.wait_for_timeout(300)
    check(page)
    page.select_option("select >> nth=1", "hex")
    page.fill("#search", MARKUP[0])
    page.wait_for_selector(".problem:visible")
    page.select_option("select >> nth=1", "text")
    page.wait_for_selector(".problem", state="hidden")
    assert page.locator(".rows .cell.id").count() > 0
    check(page)


def test_in_merge_trees(opened: Open, hostile: Server) -> None:
    page = opened(hostile, "tree")
    tok = hostile_tokenizer()
    ids = [tok.encode(text, special="text")[0] for text in HOSTILE] + [
        *tok.special_tokens.values()
    ][:5]
    for id in ids:
        page.evaluate("(id) => { location.hash = `tree/0/${id}`; }", id)
        until(page, f"document.querySelector('figcaption')?.textContent.includes('id {id},')")
        check(page)


def test_in_explanations(opened: Open, hostile: Server) -> None:
    page = opened(hostile, "explain")
    tok = hostile_tokenizer()
    page.wait_for_selector(".chosen h2")
    for text in map(as_typed, [*HOSTILE[::9], "".join(LINE[:-4]), " ".join(MARKUP)]):
        pretokens = digram.explain(tok, text).pretokens
        page.fill("#explain-text", text)
        until(page, f"document.querySelectorAll('.pretoken').length === {len(pretokens)}")
        longest = max(range(len(pretokens)), key=lambda i: len(pretokens[i].pretoken))
        page.click(f".pretoken >> nth={longest}", position={"x": 4, "y": 6})
        place = pretokens[longest].start
        until(page, f"document.querySelector('.chosen').innerText.includes('bytes {place:,} to')")
        check(page)


def test_in_replays(opened: Open, hostile: Server) -> None:
    page = opened(hostile, "replay")
    tok = hostile_tokenizer()
    page.wait_for_selector("#play")
    for text in map(as_typed, ["".join(LINE[:-4]), " ".join(MARKUP)]):
        first = len(digram.replay(tok, text).tokens(-1))
        page.fill("#replay-text", text)
        until(page, f"document.querySelector('.counts dd').textContent === '{first:,}'")
        check(page)
        page.click("[aria-label='Last merge']", force=True)
        check(page)


def test_in_curves(opened: Open, tok: digram.Tokenizer) -> None:
    with serve(dict.fromkeys(HOSTILE_NAMES, tok)).running() as running:
        page = opened(running, "curve")
        page.wait_for_selector(".legend li")  # of the text that stands there first
        with page.expect_response("**/api/curve"):
            page.fill("#curve-text", "".join(MARKUP + LINE[:-4]))
        page.wait_for_selector(".legend li")
        assert [*map(visible, HOSTILE_NAMES)] == [
            name.replace(" ", "·") for name in seen(page, ".legend b")
        ]
        check(page)


def test_in_names_of_texts(opened: Open, server: Server) -> None:
    page = opened(server, "languages")
    page.wait_for_selector(".bars dd")
    names = [*HOSTILE[:4], "__proto__", "\u202e<b>abc</b>", "\0\x1b[31m"]
    while page.locator(".texts li").count() < len(names):
        page.click("text=Add a text")
    for i, name in enumerate(names):
        page.fill(f".texts li >> nth={i} >> input", name)
        page.fill(f".texts li >> nth={i} >> textarea", f"{name}\n{name}")
    until(page, f"document.querySelectorAll('.bars dt').length === {len(names)}")
    shown = [visible(name).replace("·", " ") for name in names]
    until(page, "document.querySelectorAll('.bars dt')[4].textContent === '__proto__'")
    assert seen(page, ".bars dt") == shown
    assert seen(page, "table >> nth=0 >> th[scope=row]") == shown
    check(page)


def test_addresses(opened: Open, server: Server) -> None:
    page = opened(server, expected="400 (Bad Request)")
    for address in [
        "tree/0/1e3",
        "tree/0/-1",
        "tree/0/99999999999",
        "tree/99/1",
        "tree/__proto__/1",
        f"tree/0/<img src=x onerror={RUN}>",
        f"<img src=x onerror={RUN}>",
        "constructor",
        f"javascript:{RUN}",
        "vocabulary/%00/" + "a" * 10_000,
    ]:
        page.evaluate("(address) => { location.hash = address; }", address)
        page.wait_for_timeout(150)
        check(page)
        assert page.locator("nav a[aria-current]").count() == 1


def test_there_are_enough() -> None:
    assert len(MARKUP) >= 50
    assert len({*HOSTILE}) == len(HOSTILE)
