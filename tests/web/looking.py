"""What a person does in the page, and sees."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page

import digram


def enter(page: Page, text: str) -> None:
    """Type a text at once, as a paste does, and wait for its tokens."""
    page.fill("#text", text)
    until_drawn(page)


def as_typed(text: str) -> str:
    """A text as a text area has it: with line feeds alone."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def until_drawn(page: Page) -> None:
    """Wait for the tokens of what was typed."""
    until(page, "document.querySelector('.cards:not([aria-busy])') !== null")


def until(page: Page, true: str) -> None:
    """Wait until something is true. Playwright's own way needs `eval`, which the page forbids."""
    for _ in range(1000):
        if page.evaluate(true):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"it never became true that {true}")


DRAWN = """(all) => all.map((one) => {
  const copy = one.cloneNode(true);
  for (const mark of copy.querySelectorAll('.space')) {
    mark.textContent = mark.textContent.replaceAll(' ', '·');
  }
  for (const mark of copy.querySelectorAll('.signed')) mark.textContent = mark.dataset.sign;
  return copy.textContent;
})"""


def seen(page: Page, selector: str) -> list[str]:
    """What a person sees in all elements of a kind: signs in place of what they are drawn over."""
    found: list[str] = page.locator(selector).evaluate_all(DRAWN)
    return found


def pane(kind: str, card: int = 0) -> str:
    """The selector of a pane: "text", "ids" or "bytes"."""
    return f".card >> nth={card} >> .pane.{kind}"


def marked(page: Page, kind: str, how: str = "here", card: int = 0) -> list[str]:
    """The tokens of a pane that are marked as those one looks at, or as what stands across."""
    return seen(page, f"{pane(kind, card)} >> .token.{how}")


def hex_of(token: bytes) -> str:
    """Bytes as the page writes them."""
    return token.hex(" ")


def visible(text: str) -> str:
    r"""A text as the page draws it, by the table in its documentation.

    >>> visible("a b\n\u202e")
    'a·b↵⟨U+202E⟩'
    """
    known = {" ": "·", "\n": "↵", "\r": "␍", "\t": "→", "\x7f": "␡"}
    drawn = ""
    for i, character in enumerate(text):
        if character in known:
            drawn += known[character]
        elif character < " ":
            drawn += chr(0x2400 + ord(character))
        elif is_seen(character) or (
            character in "\u200c\u200d"
            and is_seen(text[i - 1 : i])
            and is_seen(text[i + 1 : i + 2])
        ):
            drawn += character
        else:
            drawn += f"⟨U+{ord(character):04X}⟩"
    return drawn


def is_seen(character: str) -> bool:
    """Whether a character leaves ink, as its category has it."""
    return bool(character) and unicodedata.category(character)[0] not in "CZ"


def drawn_cells(tok: digram.Tokenizer, text: str, **options: Any) -> list[str]:
    """What the pane of a text shows: a token each, or several that share a character."""
    encoding = tok(text, add_special_tokens=False, offsets="bytes", **options)
    data, ends = text.encode(), [end for _, end in encoding.offsets]
    borders = [0] + [end for end in ends if end == len(data) or data[end] & 0xC0 != 0x80]
    pairs = pairwise(borders)
    return [visible(data[start:end].decode()) for start, end in pairs if start < end]


def differently_cut(sizes: Sequence[Sequence[int]]) -> list[set[int]]:
    """Of each tokenizer the tokens between borders that not all have: by definition, on sets."""
    borders = [borders_of(one) for one in sizes]
    common = sorted(set.intersection(*borders))
    found: list[set[int]] = [set() for _ in sizes]
    for start, end in pairwise(common):
        inside = [
            [i for i, (a, b) in enumerate(spans_of(one)) if start <= a and b <= end]
            for one in sizes
        ]
        if max(map(len, inside)) > 1:
            for mine, tokens in zip(found, inside, strict=True):
                mine |= {*tokens}
    return found


def spans_of(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Where tokens of these sizes start and end."""
    found, at = [], 0
    for size in sizes:
        found.append((at, at + size))
        at += size
    return found


def borders_of(sizes: Sequence[int]) -> set[int]:
    """Where tokens of these sizes start or end."""
    return {0} | {end for _, end in spans_of(sizes)}
