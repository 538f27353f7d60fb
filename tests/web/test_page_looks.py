"""What everybody can read: contrast, light and dark, on a phone, with the keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from web.looking import enter, pane

from digram.web import Server

Open = Callable[..., Page]
TEXT = "the cat sat on 中文 naïve 🙂!\n\tthe cats  there \u202e\0 'quotes'"
VIEWS = {
    "text": ".cards .token",
    "vocabulary": ".rows .token",
    "tree": ".tree .token",
    "explain": ".stage .token",
    "replay": "#frame",
    "curve": ".plot .own",
    "languages": ".bars dd",
}

# Of every text in sight: the ratio of contrast, as WCAG 2 defines it, and where it stands.
CONTRASTS = """() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const parse = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (color) => {
    const [r, g, b] = parse(color).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const grounds = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      const stops = style.backgroundImage.match(/rgba?\\([^)]*\\)/g);
      if (stops) return stops;
      if (parse(style.backgroundColor)[3] === 255) return [style.backgroundColor];
    }
    return [getComputedStyle(document.documentElement).colorScheme];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !one.checkVisibility() || one.disabled) continue;
    if (one.closest('.unseen, noscript, option')) continue;
    const ink = luminance(getComputedStyle(one).color);
    for (const ground of grounds(one)) {
      const other = luminance(ground);
      const ratio = (Math.max(ink, other) + 0.05) / (Math.min(ink, other) + 0.05);
      found.push([ratio, `${one.outerHTML.slice(0, 60)} ${walker.currentNode.data.slice(0, 30)}`]);
    }
  }
  return found;
}"""


def show(page: Page, view: str) -> None:
    """Go to a view, with a text in it."""
    page.click(f"nav a[href='#{view}']")
    if view == "text":
        enter(page, TEXT)
        page.locator(f"{pane('text')} >> .token").nth(1).hover()
    page.wait_for_selector(VIEWS[view])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(opened: Open, server: Server, scheme: str, tell: Callable[[str], None]) -> None:
    page = opened(server, color_scheme=scheme)
    lowest = 21.0
    for view in VIEWS:
        show(page, view)
        found = page.evaluate(CONTRASTS)
        assert len(found) > 20
        assert [place for ratio, place in found if ratio < 4.5] == []
        lowest = min(lowest, *(ratio for ratio, _ in found))
    show(page, "tree")
    page.fill("#word", "\U0010ffff")
    page.goto(page.url.partition("#")[0] + "#text")
    page.fill("#text", "x" * (1 << 20))
    page.wait_for_selector(".problem:visible")
    assert [place for ratio, place in page.evaluate(CONTRASTS) if ratio < 4.5] == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground[4:-1].split(","))) > 384) == (scheme == "light")
    tell(f"contrast, {scheme}: {lowest:.1f} at least")


@pytest.mark.parametrize("width", [320, 390, 768])
def test_narrow_screens(opened: Open, server: Server, width: int) -> None:
    page = opened(server, viewport={"width": width, "height": 700}, has_touch=True)
    for view in VIEWS:
        show(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        small = page.evaluate(
            """[...document.querySelectorAll('nav a, main :is(button, input, select, summary)')]
            .filter((one) => one.checkVisibility())
            .map((one) => [one.closest('label') ?? one, one])
            .filter(([whole]) => whole.getBoundingClientRect().height < 24)
            .map(([, one]) => one.outerHTML)"""
        )
        assert small == [], view


def test_touch(opened: Open, server: Server) -> None:
    page = opened(server, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    enter(page, "the cat")
    page.locator(f"{pane('text')} >> .token").first.tap()
    assert page.locator(".token.here").count() == 3
    assert page.locator(".details").is_visible()


def test_focus_is_seen(opened: Open, server: Server) -> None:
    page = opened(server)
    for view in VIEWS:
        show(page, view)
        page.evaluate("document.activeElement.blur()")
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            name, width, style = page.evaluate(
                """() => {
                  const one = document.activeElement;
                  const { outlineWidth, outlineStyle } = getComputedStyle(one);
                  return [one.outerHTML.slice(0, 80), parseFloat(outlineWidth), outlineStyle];
                }"""
            )
            if name.startswith("<body"):
                break
            reached.add(name)
            assert width >= 1, name
            assert style != "none", name
        assert len(reached) >= 6, view


def test_neighbours_differ(opened: Open, server: Server) -> None:
    for scheme in ("light", "dark"):
        page = opened(server, color_scheme=scheme)
        enter(page, "abcdefghijkl")
        grounds = page.evaluate(
            """[...document.querySelectorAll('.pane.ids')[0].querySelectorAll('.token')]
            .map((one) => getComputedStyle(one).backgroundColor)"""
        )
        assert len({*grounds[:6]}) == 6
        assert grounds[6:] == grounds[:6]
