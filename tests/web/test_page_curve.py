"""The curve of vocabulary size in a browser."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import log
from pathlib import Path

import pytest
import vocabularies
from playwright.sync_api import Page
from web.looking import seen, until

import digram
from digram.web import Server, serve
from digram.web.measuring import SMALL

Open = Callable[..., Page]
TEXT = "the cat sat on the mat, and there the other cats sat too. " * 3


def measure(page: Page, text: str) -> None:
    """Type a text at once, and wait for its curve."""
    page.fill("#curve-text", text)
    until(page, f"document.querySelector('[role=status]').textContent.startsWith('{len(text)} ')")
    until(page, "!document.querySelector('.results[aria-busy]')")


def rows(page: Page) -> list[list[str]]:
    """The table: a row for each size."""
    return [
        [cell.strip() for cell in row.locator("th, td").all_text_contents()]
        for row in page.locator("tbody tr").all()
    ]


def test_the_table_is_what_smaller_vocabularies_do(
    opened: Open, server: Server, tok: digram.Tokenizer, other: digram.Tokenizer
) -> None:
    page = opened(server, "curve")
    measure(page, TEXT)
    assert seen(page, "thead th") == ["vocabulary size", "one", "other"]
    found = rows(page)
    # 256 bytes and a special token, and a merge at least
    assert [int(row[0]) for row in found] == [258, 275, 290]
    for size, *cells in found:
        for one, cell in zip((tok, other), cells, strict=True):
            if int(size) > one.vocab_size:
                assert cell == "–"
                continue
            whole = one.vocab_size == int(size)
            tokens = (one if whole else digram.shrink(one, int(size))).count(TEXT)
            assert cell == f"{len(TEXT) / tokens:.2f}"
    page.select_option("label:has-text('Show') select", "tokens")
    assert rows(page)[-1] == ["290", str(tok.count(TEXT)), "–"]


def test_the_lines_go_through_the_table(opened: Open, server: Server) -> None:
    page = opened(server, "curve")
    measure(page, TEXT)
    own = [sum(cell != "–" for cell in column) for column in zip(*rows(page), strict=True)]
    for series, number in enumerate(own[1:]):
        marks = page.locator(f".plot g.s{series} .mark-of")
        assert marks.count() == number
        assert "own" in (marks.last.get_attribute("class") or "")
        assert page.locator(f".plot g.s{series} .own").count() == 1
    # A logarithmic axis: the log of the size gives the place x.
    places = page.evaluate(
        """[...document.querySelectorAll('.plot g.s0 .mark-of')]
        .map((one) => parseFloat(one.getAttribute('transform').slice(10)))"""
    )
    heights = page.evaluate(
        """[...document.querySelectorAll('.plot g.s0 .mark-of')]
        .map((one) => parseFloat(one.getAttribute('transform').split(/[ )]/)[1]))"""
    )
    assert places == sorted(places)
    assert heights == sorted(heights, reverse=True)
    (x0, x1, x2), (a, b, c) = places, (258, 275, 290)
    assert (x1 - x0) / (x2 - x0) == pytest.approx(log(b / a) / log(c / a), abs=1e-6)


def test_values_by_keys_and_by_pointing(opened: Open, server: Server) -> None:
    page = opened(server, "curve")
    measure(page, TEXT)
    found = rows(page)
    page.focus(".plot")
    for key, wanted in [("ArrowRight", 0), ("End", 2), ("ArrowLeft", 1), ("Home", 0)]:
        page.keyboard.press(key)
        size, *cells = found[wanted]
        values = [cell for cell in cells if cell != "–"]
        assert seen(page, ".told > b") == [size]
        assert seen(page, ".told .value b") == values
        said = page.text_content("#said") or ""
        assert said.startswith(f"{size}: ")
        assert all(f"{value} bytes per token" in said for value in values)
    page.locator(".plot g.s0 .own").hover(force=True)
    assert seen(page, ".told > b") == ["290"]
    assert page.locator(".plot .cursor.there").count() == 1


def test_the_text_is_that_of_the_text_view(opened: Open, server: Server) -> None:
    page = opened(server)
    page.fill("#text", "the other mat")
    page.click("nav a[href='#curve']")
    assert page.input_value("#curve-text") == "the other mat"
    page.fill("#curve-text", "the cats, the mat")
    page.click("nav a[href='#text']")
    assert page.input_value("#text") == "the cats, the mat"
    until(page, "document.querySelector('#size')?.textContent.startsWith('17 bytes')")


def test_a_file(opened: Open, server: Server, tok: digram.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes("the cats\r\nthe mat 中文\r\n".encode())
    page = opened(server, "curve")
    page.set_input_files("#curve-file", path)
    until(page, "document.querySelector('[role=status]').textContent === '24 bytes'")
    assert (
        rows(page)[-1][1]
        == f"{24 / tok.count('the cats' + chr(10) + 'the mat 中文' + chr(10)):.2f}"
    )
    long = tmp_path / "long.txt"
    long.write_bytes(b"the mat\n" * 200_000)
    page.set_input_files("#curve-file", long)
    until(page, "document.querySelector('[role=status]').textContent.includes('beginning')")
    assert page.text_content("[role=status]") == "888,880 bytes, the beginning of the file"


def test_the_table_is_copied(opened: Open, server: Server) -> None:
    page = opened(server, "curve", permissions=["clipboard-read", "clipboard-write"])
    measure(page, TEXT)
    page.click("caption button")
    until(page, "document.querySelector('caption button').textContent === 'Copied'")
    copied = page.evaluate("navigator.clipboard.readText()")
    lines = [line.split("\t") for line in copied.splitlines()]
    assert lines == [["vocabulary size", "one", "other"], *rows(page)]


def test_no_text_and_one_without_smaller_ones(opened: Open, tok: digram.Tokenizer) -> None:
    plain = digram.Tokenizer(vocabularies.of_bytes())
    with serve({"one": tok, "plain": plain}).running() as running:
        page = opened(running, "curve")
        measure(page, TEXT)
        assert seen(page, "thead th") == ["vocabulary size", "one"]
        assert "has no merges" in seen(page, ".legend li")[1]
        page.fill("#curve-text", "")
        until(page, "document.querySelector('[role=status]').textContent === '0 bytes'")
        assert [row[1] for row in rows(page)] == ["0.00", "0.00"]


def test_large_ones_have_all_round_sizes(opened: Open) -> None:
    rng = random.Random(1)
    corpus = " ".join("".join(rng.choices("abcdefgh", k=6)) for _ in range(900))
    tok = digram.train(corpus, vocab_size=750)
    with serve({"one": tok}).running() as running:
        page = opened(running, "curve")
        measure(page, TEXT)
        assert [int(row[0]) for row in rows(page)] == [257, *SMALL, 750]
