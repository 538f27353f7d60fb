"""Markup taken apart and checked: only tags that we write, and nothing unseen in the text."""

from __future__ import annotations

import unicodedata
from html.parser import HTMLParser

__all__ = ["HOSTILE", "Page", "check"]

HOSTILE = [
    "<script>alert(1)</script>", "</script>", "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "</span>", "</div></div>", "</td></tr></table>", "<!--", "-->", "<!DOCTYPE html>", "<![CDATA[",
    "]]>", "<style>*{display:none}</style>", "</style>", "<iframe src='javascript:alert(1)'>",
    '" onmouseover="alert(1)', "' onmouseover='alert(1)", '">', "'>", "`", "&lt;", "&#60;", "&amp;",
    "&", "&nbsp", "javascript:alert(1)", "url(javascript:alert(1))", "expression(alert(1))",
    "{{x}}",
    "${x}", "{}", "{0}", "%s", "<a href=//x>", "<base href=//x>", "<meta http-equiv=refresh>",
    "\u202eevil", "\u2066\u2067\u2068", "\u2069\u2069", "\u200f\u061c", "\u200b", "\ufeff", "\x00",
    "\x08\x1b[2J", "\x7f", "\x85", "\u2028\u2029", "\U000e0041", "\ufff9\ufffb", "\ue000", "\ufdd0",
    "\u0301" * 50, "a" + "\u0301" * 50, "\U0001f1e6", "\u1160\u11ff", "\ud7fb", "\t\r\n", "العربية",
    "\ufffe", "﷽",
]  # fmt: skip
"""Texts that tokens of a vocabulary from somewhere may have."""


class Page(HTMLParser):
    """Markup taken apart, with its tags checked."""

    tags = frozenset(
        ["bdi", "br", "details", "div", "pre", "span", "summary", "table", "tbody", "td", "tr"]
    )
    attributes = frozenset(["class", "dir", "open", "style", "title"])
    alone = frozenset(["br"])

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.titles: list[str] = []
        self.styles: set[str] = set()
        self.feed(markup)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.tags
        assert {name for name, _ in attrs} <= self.attributes
        self.titles += [value or "" for name, value in attrs if name == "title"]
        self.styles |= {value or "" for name, value in attrs if name == "style"}
        if tag not in self.alone:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)


def check(markup: str, kind: type[Page] = Page) -> Page:
    """That markup is whole, has no tag of its contents, and hides nothing."""
    page = kind(markup)
    for character in "".join([*page.text, *page.titles]):
        category = unicodedata.category(character)
        assert category[0] != "C" or character in "\n\u200c\u200d", repr(character)
        assert category not in ("Zl", "Zp")
    for style in page.styles:
        assert "url(" not in style
        assert "expression" not in style
    return page
