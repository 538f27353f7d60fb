"""What a report gathers, from which sources, and what it refuses."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import vocabularies

import digram

TOK = digram.Tokenizer(vocabularies.SAMPLES["cl100k"])
TEXTS = ["the cat sat", "low lower lowest", "naïve 中文字"]


def test_it_is_what_the_parts_say() -> None:
    found = digram.report(TOK, {"a": TEXTS, "b": "low"})
    expected = digram.evaluate(TOK, {"a": TEXTS, "b": "low"})
    assert found.evaluation.to_dict() == expected.to_dict()
    assert [*found.curves] == ["a", "b", ""]
    for name, texts in (("a", TEXTS), ("b", ["low"]), ("", [*TEXTS, "low"])):
        assert found.curves[name] == digram.curve(TOK, texts, sizes=found.curves[name].sizes)
    assert found.audit.to_dict() == digram.audit(TOK, [*TEXTS, "low"]).to_dict()
    assert found.tokenizer["digest"] == TOK.digest
    assert found.parallel is None


def test_one_source_needs_no_name() -> None:
    found = digram.report(TOK, TEXTS)
    assert [*found.evaluation.by_name] == [*found.curves] == [*found.samples] == ["corpus"]


def test_sources_of_all_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8"
    )
    lines = digram.files(tmp_path / "a.txt", separator="\n")
    sources = {
        "files": lines,
        "records": tmp_path / "b.jsonl",
        "table": digram.table(pyarrow.table({"text": TEXTS})),
        "list": TEXTS,
    }
    found = digram.report(TOK, sources)
    expected = digram.evaluate(TOK, TEXTS).total.to_dict()
    for name, one in found.evaluation.by_name.items():
        assert one.to_dict() == expected, name
        assert b"".join(found.samples[name].tokens) == TEXTS[0].encode()
    cut = digram.report(TOK, lines)
    assert cut.evaluation.total.to_dict() == expected
    assert cut.audit.to_dict() == digram.report(TOK, TEXTS).audit.to_dict()


def test_parallel_files_are_lines(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("the cat\nlow\n", encoding="utf-8")
    lists = {"en": ["the cat", "low"], "zh": ["猫", "低"]}
    others: list[dict[str, Any]] = [
        {"en": tmp_path / "en.txt", "zh": "猫\n低\n"},
        {"en": digram.files(tmp_path / "en.txt"), "zh": "猫\n低".encode()},
        {"en": digram.files(tmp_path / "en.txt", separator="\n"), "zh": ("猫", "低")},
    ]
    expected = digram.evaluate(TOK, lists, reference="en").to_dict()
    for lines in others:
        found = digram.report(TOK, "low", parallel=lines, reference="en")
        assert found.parallel is not None
        assert found.parallel.to_dict() == expected
        assert found.lines["en"].tokens == TOK.tokens(TOK.encode("the cat"))


@pytest.mark.parametrize("form", ["str", "bytes", "text", "lines", "gz", "jsonl"])
def test_an_empty_parallel_line_is_a_line(form: str, tmp_path: Path) -> None:
    def source(name: str, lines: list[str]) -> Any:
        text = "".join(f"{line}\n" for line in lines)
        if form in ("str", "bytes"):
            return text if form == "str" else text.encode()
        if form == "jsonl":
            text = "".join(json.dumps({"text": line}) + "\n" for line in lines)
        path = tmp_path / (f"{name}.jsonl" if form == "jsonl" else f"{name}.txt")
        path.write_text(text, encoding="utf-8")
        if form == "gz":
            packed = path.with_suffix(".txt.gz")
            packed.write_bytes(gzip.compress(path.read_bytes()))
            return packed
        return digram.files(path, separator="\n") if form == "lines" else path

    lists = {"en": ["", "the cat", "low"], "zh": ["猫", "", "低"], "sw": ["paka", "", ""]}
    english, chinese = source("en", lists["en"]), source("zh", lists["zh"])
    found = digram.report(TOK, "low", parallel={"en": english, "zh": chinese}, reference="en")
    pair = {name: lists[name] for name in ("en", "zh")}
    assert found.parallel is not None
    assert found.parallel.to_dict() == digram.evaluate(TOK, pair, reference="en").to_dict()
    assert found.lines["en"].ids == TOK.encode("low")  # the first that both have
    assert found.lines["zh"].ids == TOK.encode("低")
    other = source("sw", lists["sw"])
    found = digram.report(TOK, "low", parallel={"en": english, "sw": other}, reference="en")
    assert found.lines["en"].ids == []  # none is in both
    fewer = source("fewer", ["paka", "mkeka"])
    with pytest.raises(digram.OptionError, match="'fewer' has 2 texts and 'en' 3"):
        digram.report(TOK, "low", parallel={"en": english, "fewer": fewer}, reference="en")


def test_the_end_of_the_last_line_begins_none() -> None:
    lines: dict[str, Any] = {"a": "the cat\n\nlow", "b": "the cat\n\nlow\n", "c": b"\n\n\n"}
    found = digram.report(TOK, "low", parallel=lines, reference="a")
    assert found.parallel is not None
    assert {one.documents for one in found.parallel.by_name.values()} == {3}
    nothing = digram.report(TOK, "low", parallel={"a": "", "b": b""}, reference="a")
    assert nothing.parallel is not None
    assert nothing.parallel.total.documents == 0


def test_records_that_are_skipped_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "low"}\n{"text": 1}\n{"text": ""}\n', encoding="utf-8")
    lines: dict[str, Any] = {"a": digram.files(path, on_error="skip"), "b": ["low", ""]}
    with pytest.warns(UserWarning, match="1 record was skipped"):
        found = digram.report(TOK, "low", parallel=lines, reference="b")
    assert found.parallel is not None
    assert (found.parallel.skipped, found.parallel.by_name["a"].documents) == (1, 2)


def test_what_can_be_read_once_is_refused() -> None:
    reader = pyarrow.table({"text": TEXTS}).to_reader()
    for source in (iter(TEXTS), (text for text in TEXTS), digram.table(reader)):
        with pytest.raises(digram.OptionError, match=r"corpus\['a'\]: .*read only once"):
            digram.report(TOK, {"a": source})
    with pytest.raises(digram.OptionError, match=r"parallel\['a'\]: .*read only once"):
        digram.report(TOK, "low", parallel={"a": iter(TEXTS)}, reference="a")


def test_a_reference_makes_the_texts_parallel() -> None:
    texts = {"en": ["the low", "", "mat"], "zh": ["低", "墊", "子子"]}
    found = digram.report(TOK, texts, reference="en")
    assert found.parallel is not None
    assert found.parallel.to_dict() == digram.evaluate(TOK, texts, reference="en").to_dict()
    both = digram.report(TOK, texts, parallel=texts, reference="en")
    assert found.to_dict() == both.to_dict()
    assert found.html() == both.html()
    assert digram.report(TOK, texts).parallel is None
    joined = {name: "\n".join(lines) for name, lines in texts.items()}
    again = digram.report(TOK, joined, reference="en").parallel
    assert again is not None
    assert again.by_name["zh"].tokens == found.parallel.by_name["zh"].tokens
    with pytest.raises(digram.OptionError, match="not the name of a corpus"):
        digram.report(TOK, texts, reference="sw")
    with pytest.raises(digram.OptionError, match="line by line"):
        digram.report(TOK, {**texts, "sw": ["a"]}, reference="en")


def test_references_that_are_none() -> None:
    lines = {"en": ["low"], "zh": ["低"]}
    with pytest.raises(digram.OptionError, match="without reference="):
        digram.report(TOK, "low", parallel=lines)
    with pytest.raises(digram.OptionError, match="not the name of a corpus"):
        digram.report(TOK, "low", parallel=lines, reference="sw")
    with pytest.raises(digram.OptionError, match="line by line"):
        digram.report(TOK, "low", parallel={**lines, "sw": ["a", "b"]}, reference="en")


def test_names_that_would_mix() -> None:
    """The sum of all texts has a place of its own, in the curves and in what is shown."""
    texts = {"a\x00": ["low"], "b": ["the the"]}
    with pytest.raises(digram.OptionError, match=r"corpus\[''\] has no name"):
        digram.report(TOK, {**texts, "": ["the cat"]})
    with pytest.raises(digram.OptionError, match=r"parallel\[''\] has no name"):
        digram.report(TOK, "low", parallel={**texts, "": ["the cat"]}, reference="b")
    with pytest.raises(digram.OptionError, match="'all text', and so are all texts together"):
        digram.report(TOK, {**texts, "all text": ["the cat"]})
    for argument in ("corpus", "parallel"):
        of: dict[str, Any] = {"corpus": "low", "reference": "b"} if argument == "parallel" else {}
        of[argument] = {**texts, "a␀": ["the cat"]}
        with pytest.raises(digram.OptionError, match=rf"'a␀', and so is {argument}\['a\\x00'\]"):
            digram.report(TOK, **of)
    no_name: Any = 1
    with pytest.raises(TypeError, match="must be str, not 1"):
        digram.report(TOK, {**texts, no_name: ["the cat"]})
    # Where there is no sum, nothing mixes with it.
    alone = digram.report(
        TOK, {"all text": ["the cat"]}, parallel={"all text": ["a"]}, reference="all text"
    )
    assert alone.curves.keys() == {"all text"}


def test_as_dict_is_json() -> None:
    found = digram.report(TOK, {"a": TEXTS}, parallel={"en": ["low"], "zh": ["低"]}, reference="en")
    values = found.to_dict()
    assert json.loads(json.dumps(values)) == json.loads(json.dumps(values, sort_keys=True))
    assert values["evaluation"] == found.evaluation.to_dict()
    assert values["figures"]["premium"] == [*found.charts["premium"].data]
    assert values["samples"]["a"]["text"] == TEXTS[0]
    assert values["audit"] == found.audit.to_dict()


def test_save_figures(tmp_path: Path) -> None:
    found = digram.report(TOK, TEXTS)
    paths = found.save_figures(tmp_path / "new" / "figures")
    assert {path.name for path in paths} == {
        f"{name}.{kind}" for name in found.charts for kind in ("svg", "png", "csv")
    }
    assert all(path.stat().st_size for path in paths)
