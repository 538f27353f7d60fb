"""What languages cost, in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Page
from web.looking import seen, until

import digram
from digram.web import Server

Open = Callable[..., Page]
TEXTS = {
    "the": "the cat sat\nthe mat\n",
    "中": "中文中文\n猫\n",
    "naïve": "naïve naïve naïve\n🙂🙂\n",
}
ROWS = ".texts li"
NONE = "none: not parallel"
NAMES = "JSON.stringify([...document.querySelectorAll('.bars dt')].map((one) => one.textContent))"


def enter(page: Page, texts: dict[str, str]) -> None:
    """Fill the rows with texts, and wait for what they cost."""
    while page.locator(ROWS).count() > len(texts):
        page.click(f"{ROWS} >> nth=-1 >> button")
    while page.locator(ROWS).count() < len(texts):
        page.click("text=Add a text")
    for i, (name, text) in enumerate(texts.items()):
        page.fill(f"{ROWS} >> nth={i} >> input", name)
        page.fill(f"{ROWS} >> nth={i} >> textarea", text)
    until_told(page, [*texts])


def until_told(page: Page, names: Sequence[str]) -> None:
    wanted = json.dumps([*names], ensure_ascii=False, separators=(",", ":"))
    until(page, f"{NAMES} === {json.dumps(wanted)}")


def table(page: Page, number: int) -> list[list[str]]:
    """The rows of a tokenizer's table."""
    found = page.locator("article table").nth(number).locator("tbody tr").all()
    return [row.locator("th, td").all_text_contents() for row in found]


def documents(reference: str | None) -> dict[str, list[str]]:
    """The texts, or their lines if these are parallel."""
    return {
        name: text.splitlines() if reference is not None else [text] for name, text in TEXTS.items()
    }


def wanted_rows(tok: digram.Tokenizer, reference: str | None) -> list[list[str]]:
    """The same of `digram.evaluate`."""
    found = digram.evaluate(tok, documents(reference), reference=reference)
    rows = []
    for name, one in found.by_name.items():
        rows.append([name])
        if found.parallel is not None:
            premium = found.parallel.premium[name]
            rows[-1] += [f"{premium:.2f}×", f"{found.parallel.tokens_per_line[name]:.2f}"]
        rows[-1] += [
            f"{one.tokens:,}",
            f"{one.bytes_per_token:.2f}",
            f"{one.characters_per_token:.2f}",
            f"{one.fertility:.2f}",
            f"{one.whole_words:.1%}",
            f"{one.coverage:.1%}",
        ]
    return rows


def test_each_tokenizer_has_the_measures(
    opened: Open, server: Server, tok: digram.Tokenizer, other: digram.Tokenizer
) -> None:
    page = opened(server, "languages")
    enter(page, TEXTS)
    for reference in ("the", "中", None):
        page.select_option("label:has-text('Line by line') select", label=reference or NONE)
        head = "premium over the reference" if reference else "tokens"
        until(page, f"document.querySelectorAll('thead th')[1].textContent === '{head}'")
        for number, one in enumerate((tok, other)):
            wanted = wanted_rows(one, reference)
            at = json.dumps(wanted[0][1])
            cell = f"document.querySelectorAll('article table')[{number}].querySelector('td')"
            until(page, f"{cell}.textContent === {at}")
            assert table(page, number) == wanted
            note = seen(page, "article .note")[number] if reference else ""
            if reference:
                found = digram.evaluate(one, documents(reference), reference=reference).parallel
                assert found is not None
                assert note.endswith(f": {found.gini:.3f}")
                assert f"Fewest tokens: {found.best}. Most: {found.worst}." in note


def test_bars_are_as_long_as_they_say(opened: Open, server: Server) -> None:
    page = opened(server, "languages")
    enter(page, TEXTS)
    for title in ("premium over the reference", "tokens", "coverage"):
        page.select_option("label:has-text('Show') select", label=title)
        assert page.get_attribute(".bars", "aria-label") == title
        values = [float(one.rstrip("×%")) for one in seen(page, ".bars .value")]
        widths = page.evaluate(
            "[...document.querySelectorAll('.bar-of')].map((one) => parseFloat(one.style.width))"
        )
        assert len(values) == len(widths) == 2 * len(TEXTS)
        for value, width in zip(values, widths, strict=True):
            assert abs(width - 100 * value / max(values)) < 0.5
        column = [
            head == title
            for head in page.locator("table >> nth=0 >> th[scope=col]").all_inner_texts()
        ].index(True)
        first = [row[column] for row in table(page, 0)]
        assert seen(page, ".bars .value")[::2] == first


def test_rows_are_added_renamed_and_removed(opened: Open, server: Server) -> None:
    page = opened(server, "languages")
    until_told(page, ["English", "German", "Greek", "Chinese"])
    page.click("text=Add a text")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Name of text 5"
    page.keyboard.type("Finnish")
    page.keyboard.press("Tab")
    page.keyboard.type("Joki nousee.\nLeipää.")
    until_told(page, ["English", "German", "Greek", "Chinese", "Finnish"])
    page.fill(f"{ROWS} >> nth=0 >> input", "British")
    until_told(page, ["British", "German", "Greek", "Chinese", "Finnish"])
    chosen = page.locator("label:has-text('Line by line') select option:checked")
    assert chosen.text_content() == "British"
    assert seen(page, "thead th")[1] == "premium over the reference"
    page.click("[aria-label='Remove German']")
    until_told(page, ["British", "Greek", "Chinese", "Finnish"])
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Remove Greek"
    for _ in range(4):
        page.click(f"{ROWS} >> nth=0 >> button")
    page.wait_for_selector(".results", state="hidden")


def test_what_is_wrong_is_told(opened: Open, server: Server) -> None:
    page = opened(server, "languages", expected="400 (Bad Request)")
    enter(page, TEXTS)
    page.fill(f"{ROWS} >> nth=0 >> textarea", "a\nb\nc\n")
    page.wait_for_selector(".problem:visible")
    told = page.text_content(".problem:visible") or ""
    assert "not parallel, line by line" in told
    assert told.endswith("Give all texts the same number of lines, or choose none.")
    page.select_option("label:has-text('Line by line') select", label=NONE)
    page.wait_for_selector(".results:visible")
    page.fill(f"{ROWS} >> nth=1 >> input", "the")
    page.wait_for_selector("section > .problem:visible")
    assert "two texts are named 'the'" in (page.text_content(".problem:visible") or "")


def test_files(opened: Open, server: Server, tok: digram.Tokenizer, tmp_path: Path) -> None:
    lines = {"eng": "the cat sat there\n", "deu": "die 中文 naïve\n"}
    for name, line in lines.items():
        (tmp_path / f"{name}.txt").write_text(line * 3)
    page = opened(server, "languages")
    page.set_input_files("#languages-files", [tmp_path / "eng.txt", tmp_path / "deu.txt"])
    until_told(page, ["eng", "deu"])
    assert [row[:2] for row in table(page, 0)] == [
        [name, f"{3 * tok.count(line):,}"] for name, line in lines.items()
    ]
    for name, line in lines.items():  # more than can be sent
        (tmp_path / f"long {name}.txt").write_text(line * 40_000)
    page.set_input_files("#languages-files", [tmp_path / "long eng.txt", tmp_path / "long deu.txt"])
    until_told(page, ["eng", "deu", "long eng", "long deu"])
    counts = [
        value.count("\n")
        for value in page.evaluate(
            "[...document.querySelectorAll('.texts textarea')].map((one) => one.value)"
        )
    ]
    assert counts[2] == counts[3] > 20_000
    said = page.text_content("#said")
    assert said == f"The first {counts[2]} lines of each file are used."
