"""Figures: their data against what encoding and evaluating say, and the files that they become."""

from __future__ import annotations

import csv
import io
import math
import re
import struct
import xml.etree.ElementTree as ET
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import vocabularies

import digram
from digram.display import harmless
from digram.reports import canvas, charts

TOK = digram.Tokenizer(vocabularies.SAMPLES["cl100k"])
TEXTS = {"prose": vocabularies.texts(30), "rest": ["low lower lowest 12345", "naïve 中文字"]}
LINES = {"English": ["the cat", "low"], "Polish": ["ten kot", "niski"], "Chinese": ["猫", "低"]}
FOUND = digram.report(TOK, TEXTS, parallel=LINES, reference="English")
NAMES = ["curve", "premium", "ranks", "lengths", "kinds"]


def test_the_figures() -> None:
    assert [*FOUND.charts] == NAMES
    assert all(chart.name == name and chart.title for name, chart in FOUND.charts.items())


def test_the_curve_is_that_of_smaller_tokenizers() -> None:
    rows = FOUND.charts["curve"].data
    assert {row["corpus"] for row in rows} == {"prose", "rest", "all text"}
    assert max(row["vocab_size"] for row in rows) == TOK.vocab_size
    for row in rows[:: len(rows) // 12]:
        name = row["corpus"]
        texts = [*TEXTS["prose"], *TEXTS["rest"]] if name == "all text" else TEXTS[name]
        small = digram.shrink(TOK, row["vocab_size"])
        tokens = sum(small.count_batch(texts))
        assert row["tokens"] == tokens
        assert row["bytes_per_token"] == sum(len(t.encode()) for t in texts) / tokens


def test_premiums_are_tokens_of_lines() -> None:
    rows = FOUND.charts["premium"].data
    costs = {name: sum(map(TOK.count, lines)) for name, lines in LINES.items()}
    assert [row["language"] for row in rows] == sorted(costs, key=lambda n: (costs[n], n))
    for row in rows:
        assert row["tokens_per_line"] == costs[row["language"]] / 2
        assert row["premium"] == pytest.approx(costs[row["language"]] / costs["English"])


def test_ranks_are_those_of_the_tokens() -> None:
    rows = FOUND.charts["ranks"].data
    for name, texts in TEXTS.items():
        counted = Counter(id for text in texts for id in TOK.encode(text))
        falling = [count for _, count in counted.most_common()]
        own = [row for row in rows if row["corpus"] == name]
        assert own[0]["rank"] == 1
        assert own[-1]["rank"] == len(falling)
        for row in own:
            assert row["times"] == falling[row["rank"] - 1]
            assert row["share"] == row["times"] / sum(falling)


@pytest.mark.parametrize("name", ["lengths", "kinds"])
def test_shares_are_of_all(name: str) -> None:
    rows = FOUND.charts[name].data
    assert sum(row["of_vocabulary"] for row in rows) == pytest.approx(1)
    assert sum(row["of_text"] for row in rows) == pytest.approx(1)
    assert sum(row["tokens"] for row in rows) == len(TOK) - len(TOK.special_tokens)
    assert sum(row["times"] for row in rows) == FOUND.evaluation.total.tokens
    assert sum(row["used"] for row in rows) == FOUND.evaluation.total.tokens_used


@pytest.mark.parametrize("name", NAMES)
def test_files(name: str, tmp_path: Path) -> None:
    chart = FOUND.charts[name]
    for kind in ("svg", "png", "csv"):
        chart.save(tmp_path / f"a.{kind}")
    root = ET.fromstring((tmp_path / "a.svg").read_text(encoding="utf-8"))
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    width = float(root.attrib["width"].removesuffix("pt"))
    assert width == pytest.approx(canvas.WIDTH, abs=1)  # points
    png = (tmp_path / "a.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    pixels, _ = struct.unpack(">II", png[16:24])
    assert pixels == pytest.approx(width * 300 / 72, abs=3)  # 300 dots an inch
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        read = [*csv.DictReader(file)]
    assert read == [{key: str(value) for key, value in row.items()} for row in chart.data]


def test_what_a_figure_shows() -> None:
    """Numbers of the data stand beside their marks, where one reads them."""
    drawn = {name: re.findall(r">([^<>]+)</text>", FOUND.charts[name].svg()) for name in NAMES}
    for row in FOUND.charts["premium"].data:
        assert f"{row['premium']:.2f}×" in drawn["premium"]
        assert row["language"] in drawn["premium"]
    for row in FOUND.charts["curve"].data:
        if row["vocab_size"] == TOK.vocab_size:
            assert f"{row['corpus']} {row['bytes_per_token']:.2f}" in drawn["curve"]
    assert f"{TOK.vocab_size:,} tokens" in drawn["curve"]
    assert {row["kind"] for row in FOUND.charts["kinds"].data} <= {*drawn["kinds"]}
    assert {"prose", "rest"} <= {*drawn["ranks"]}
    for labels in drawn.values():  # each axis says what it measures
        assert any(re.search(r"token|share|bytes", label) for label in labels)


def test_dots_stand_where_the_axis_says() -> None:
    """Equal ratios are equal distances, and beside the last dot is room for its label."""
    lines = {f"{number} times": ["ж" * number] for number in (1, 2, 3, 5, 9, 14)}
    chart = digram.report(TOK, "low", parallel=lines, reference="1 times").charts["premium"]
    dot = re.compile(rf'translate\(([\d.]+),[\d.]+\)" d="[^"]*" fill="{canvas.COLORS[0]}"')
    places = [float(x) for x in dot.findall(chart.svg())]
    logarithms = [math.log(row["premium"]) for row in chart.data]
    slope, first = np.polyfit(logarithms, places, 1)
    assert slope * np.array(logarithms) + first == pytest.approx(places, abs=1)
    assert slope > 10
    shift = re.search(r"translate\(([\d.]+),", chart.svg())
    assert shift is not None
    assert float(shift[1]) + max(places) + 28 < canvas.WIDTH


def test_names_of_all_kinds_are_spelled() -> None:
    names = ["a\x1b[2J", "b\u202eevil", "<c>", "d\x00", "e\ufffe"]
    texts = {name: ["low lower", "low"] for name in names}
    found = digram.report(TOK, texts, parallel=texts, reference=names[0])
    spelled = [harmless(name) for name in names]
    for name, field in (("curve", "corpus"), ("ranks", "corpus"), ("premium", "language")):
        chart = found.charts[name]
        assert set(spelled) <= {row[field] for row in chart.data}
        drawn = "".join(ET.fromstring(chart.svg()).itertext())
        assert all(one in drawn for one in spelled)
        assert not set("\x1b\u202e\x00\ufffe") & set(drawn)


def test_an_altair_chart_may_be_changed() -> None:
    chart = FOUND.charts["curve"].altair().properties(title="mine")
    out = io.StringIO()
    chart.save(out, format="svg")
    assert "mine" in out.getvalue()


def test_more_texts_than_colours() -> None:
    found = digram.report(TOK, {f"t{n}": ["low lower lowest"] for n in range(9)})
    drawn = found.charts["curve"].svg()
    assert "all text" in drawn
    assert "t0" in drawn
    assert "t8" not in drawn
    assert {row["corpus"] for row in found.charts["curve"].data} >= {"t0", "t8", "all text"}


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(digram.OptionError, match=r"\.svg, \.png or \.csv"):
        FOUND.charts["curve"].save(tmp_path / "a.pdf")
    assert not [*tmp_path.iterdir()]


def test_without_altair(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    found = digram.report(TOK, "low")
    with pytest.raises(digram.OptionError, match=r'pip install "\.\[plots\]"'):
        found.save(tmp_path / "a.html")
    with pytest.raises(digram.OptionError, match=r'pip install "\.\[plots\]"'):
        found.charts["curve"].save(tmp_path / "a.svg")
    assert not [*tmp_path.iterdir()]
    # The numbers need no drawing.
    found.charts["curve"].save(tmp_path / "a.csv")
    assert found.to_dict()["figures"]["lengths"]


def test_labels_are_apart() -> None:
    for values in ([1.0, 1.0, 1.0], [3.0, 2.9, 1.0, 1.05], [5.0]):
        places = canvas.apart(values, 0.3)
        rising = sorted(places)
        assert all(b - a >= 0.3 - 1e-6 for a, b in pairwise(rising))
        order = sorted(range(len(values)), key=values.__getitem__)
        assert sorted(order, key=places.__getitem__) == order


def test_no_figure_of_nothing() -> None:
    assert [*digram.report(TOK, []).charts] == ["lengths", "kinds"]
    assert charts.charts(digram.report(TOK, []))["lengths"].data[0]["of_text"] == 0
