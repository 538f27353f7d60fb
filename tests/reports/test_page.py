"""The page: one document that needs nothing, hides nothing, and is the same each time."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
import vocabularies
from markup import HOSTILE, Page, check

import digram
from digram.display import visible
from digram.reports import words

TOK = digram.Tokenizer(vocabularies.SAMPLES["cl100k"])
TEXTS = {"prose": vocabularies.texts(30), "rest": ["low lower lowest 12345"]}
LINES = {"English": ["the cat", "low"], "Chinese": ["猫", "低"]}
FOUND = digram.report(TOK, TEXTS, parallel=LINES, reference="English", title="A & B")
PAGE = FOUND.html()


class Document(Page):
    """A whole document: elements of text and of drawings, and nothing that loads or runs."""

    tags = Page.tags | {
        "a", "b", "body", "caption", "code", "dd", "dl", "dt", "figcaption", "figure", "footer",
        "g", "h1", "h2", "h3", "head", "header", "html", "li", "line", "meta", "nav", "p", "path",
        "rect", "section", "small", "style", "svg", "text", "th", "thead", "title", "ul",
    }  # fmt: skip
    attributes = Page.attributes | {
        "aria-hidden", "aria-label", "charset", "content", "d", "display", "fill", "font-family",
        "font-size", "font-weight", "height", "href", "id", "lang", "name", "opacity",
        "pointer-events", "role", "aria-roledescription", "scope", "stroke", "stroke-dasharray",
        "stroke-miterlimit", "stroke-width", "text-anchor", "transform", "version", "viewbox",
        "width", "x", "x2", "y", "y2",
    }  # fmt: skip
    alone = Page.alone | {"meta"}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        for name, value in attrs:
            assert name != "href" or (value or "").startswith("#")
            assert "url(" not in (value or "")

    def handle_decl(self, decl: str) -> None:
        assert decl == "doctype html"


def texts_of(page: str) -> str:
    """What a reader of the page sees."""
    body = page.partition("<body>")[2]
    return html.unescape(re.sub(r"<[^>]*>", " ", body))


def test_the_document_is_whole_and_needs_nothing() -> None:
    check(PAGE, Document)
    assert "<script" not in PAGE
    assert "://" not in PAGE  # no address at all
    assert not re.search(r"@import|url\(", PAGE)
    assert len(PAGE) < 200_000


def test_links_lead_into_the_page() -> None:
    ids = re.findall(r' id="(\w+)"', PAGE)
    assert len({*ids}) == len(ids)
    assert set(re.findall(r'href="#(\w+)"', PAGE)) == {*ids}


def test_figures_and_tables_are_numbered_as_they_come() -> None:
    for kind in ("Figure", "Table"):
        numbers = [int(number) for number in re.findall(rf"<b>{kind} (\d+)\.", PAGE)]
        assert numbers == [*range(1, len(numbers) + 1)]
    assert len(re.findall("<figure>", PAGE)) == len(FOUND.charts)
    for chart in FOUND.charts.values():
        assert f"{html.escape(chart.title)}." in PAGE


def test_the_page_tells_the_measures() -> None:
    seen = texts_of(PAGE)
    for one in FOUND.evaluation.by_name.values():
        for measure in words.MEASURES:
            assert measure.shown(one) in seen
            assert measure.definition in seen
    assert FOUND.parallel is not None
    assert FOUND.parallel.parallel is not None
    for name, premium in FOUND.parallel.parallel.premium.items():
        assert name in seen
        assert f"{premium:.2f}×" in seen
    assert f"{FOUND.parallel.parallel.gini:.3f}" in seen
    for finding in FOUND.audit.findings:
        assert finding.explanation in seen
    assert FOUND.tokenizer["digest"] in seen


def test_the_table_of_sizes_is_the_curve() -> None:
    line = r'<tr[^>]*><th scope="row" class="n">([\d,]+)</th>(.*?)</tr>'
    rows = {
        int(size.replace(",", "")): re.findall(r">([^<]+)</td>", cells)
        for size, cells in re.findall(line, PAGE)
    }
    assert len(rows) > 4
    assert max(rows) == TOK.vocab_size
    for size, cells in rows.items():
        points = [FOUND.curves[name][size] for name in ("prose", "rest", "")]
        numbers = [f"{point.bytes_per_token:.3f}" for point in points[:2]]
        shares = points[2].vocabulary_used, points[2].frequent
        assert cells == [*numbers, *map(words.share, shares)]


def test_samples_are_the_beginnings_of_the_texts() -> None:
    for name, texts in TEXTS.items():
        first = next(text for text in texts if text)
        shown = FOUND.samples[name]
        assert first.encode().startswith(b"".join(shown.tokens))
        assert shown.ids == TOK.encode(first)[: len(shown.ids)]
        for token in shown.tokens:
            if token.isascii():
                assert html.escape(visible(token).strip("·↵")) in PAGE
    assert FOUND.lines["Chinese"].ids == TOK.encode("猫")


def test_a_long_text_is_shown_in_part() -> None:
    found = digram.report(TOK, ["é lower " * 10_000]).samples["corpus"]
    assert not found.is_whole
    assert 100 < len(found.ids) <= 160
    assert (
        b"".join(found.tokens).decode()
        == ("é lower " * 999)[: len(b"".join(found.tokens).decode())]
    )


def test_hostile_texts_and_names() -> None:
    """Tokens, samples, names, titles, patterns and special tokens are text, whatever they hold."""
    tok = digram.train(
        [text for text in HOSTILE for _ in range(3)],
        min_frequency=2,
        max_merges=5_000,
        pretokenizer=None,
        special_tokens=HOSTILE[:8],
    )
    sources = {f"{number}{text}": [text, text] for number, text in enumerate(HOSTILE)}
    assert len(sources) >= 50
    found = digram.report(
        tok, sources, parallel=sources, reference=next(iter(sources)), title=" ".join(HOSTILE)
    )
    for sample, text in zip(found.samples.values(), HOSTILE, strict=True):
        assert b"".join(sample.tokens) == text.encode()
    page = check(found.html(), Document)
    seen = "".join(page.text)
    for text in HOSTILE:
        assert visible(text.encode()).replace("·", " ").split()[0] in seen.replace("·", " ")
    for chart in found.charts.values():
        drawn = chart.svg()
        assert "<script" not in drawn
        assert not re.search(r"<text[^>]*>[^<]*[\u202a-\u202e\u2066-\u2069\x00-\x08]", drawn)


def test_a_hostile_pattern() -> None:
    pattern = digram.Regex("</code><script>|\\w+|\\s+|.")
    tok = digram.train("low lower low", max_merges=2, pretokenizer=pattern)
    check(digram.report(tok, "low").html(), Document)


@pytest.mark.parametrize("name", ["two merges make one token", "characters or bytes"])
def test_vocabularies_of_all_kinds(name: str) -> None:
    tok = digram.Tokenizer(vocabularies.SAMPLES[name])
    found = digram.report(tok, "low lower")
    check(found.html(), Document)
    assert bool(found.no_curve) == (name != "characters or bytes") == ("curve" not in found.charts)
    assert found.no_curve in texts_of(found.html())


def test_nothing_to_measure() -> None:
    check(digram.report(TOK, []).html(), Document)


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    again = digram.report(
        digram.Tokenizer(vocabularies.SAMPLES["cl100k"]),
        {name: iter_free(texts) for name, texts in TEXTS.items()},
        parallel=LINES,
        reference="English",
        title="A & B",
        threads=1,
    )
    assert again.html() == PAGE
    again.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_bytes() == PAGE.encode()
    assert again.charts["curve"].png() == FOUND.charts["curve"].png()


def iter_free(texts: list[str]) -> tuple[str, ...]:
    """The same texts in another container."""
    return tuple(texts)


def test_in_a_notebook() -> None:
    frame = FOUND._repr_html_()
    found = re.fullmatch(r'<iframe sandbox srcdoc="([^"]*)" style="[^"]*"></iframe>', frame)
    assert found is not None
    assert html.unescape(found[1]) == PAGE
