"""What a report gathers, from which sources, and what it refuses."""

from __future__ import annotations

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
    found = TOK.report({"a": TEXTS, "b": "low"})
    expected = TOK.evaluate({"a": TEXTS, "b": "low"})
    assert found.evaluation.as_dict() == expected.as_dict()
    assert [*found.curves] == ["a", "b", ""]
    for name, texts in (("a", TEXTS), ("b", ["low"]), ("", [*TEXTS, "low"])):
        assert found.curves[name] == TOK.curve(texts, sizes=found.curves[name].sizes)
    assert found.audit.as_dict() == TOK.audit([*TEXTS, "low"]).as_dict()
    assert found.tokenizer["digest"] == TOK.digest
    assert found.parallel is None


def test_one_source_needs_no_name() -> None:
    found = TOK.report(TEXTS)
    assert [*found.evaluation.by_name] == [*found.curves] == [*found.samples] == ["corpus"]


def test_sources_of_all_kinds(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8"
    )
    sources = {
        "files": digram.files(tmp_path / "a.txt", separator="\n"),
        "records": tmp_path / "b.jsonl",
        "table": digram.table(pyarrow.table({"text": TEXTS})),
        "list": TEXTS,
    }
    found = TOK.report(sources)
    expected = TOK.evaluate(TEXTS).total.as_dict()
    for name, one in found.evaluation.by_name.items():
        assert one.as_dict() == expected, name
        assert b"".join(found.samples[name].tokens) == TEXTS[0].encode()
    cut = TOK.report(tmp_path / "a.txt", separator="\n")
    assert cut.evaluation.total.as_dict() == expected


def test_parallel_files_are_lines(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("the cat\nlow\n", encoding="utf-8")
    lists = {"en": ["the cat", "low"], "zh": ["猫", "低"]}
    others: list[dict[str, Any]] = [
        {"en": tmp_path / "en.txt", "zh": "猫\n低\n"},
        {"en": digram.files(tmp_path / "en.txt"), "zh": "猫\n低".encode()},
        {"en": digram.files(tmp_path / "en.txt", separator="\n"), "zh": ("猫", "低")},
    ]
    expected = TOK.evaluate(lists, reference="en").as_dict()
    for lines in others:
        found = TOK.report("low", parallel=lines, reference="en")
        assert found.parallel is not None
        assert found.parallel.as_dict() == expected
        assert found.lines["en"].tokens == TOK.tokens(TOK.encode("the cat"))


def test_what_can_be_read_once_is_refused() -> None:
    reader = pyarrow.table({"text": TEXTS}).to_reader()
    for source in (iter(TEXTS), (text for text in TEXTS), digram.table(reader)):
        with pytest.raises(digram.OptionError, match=r"corpus\['a'\]: .*read once"):
            TOK.report({"a": source})
    with pytest.raises(digram.OptionError, match=r"parallel\['a'\]: .*read once"):
        TOK.report("low", parallel={"a": iter(TEXTS)}, reference="a")


def test_references_that_are_none() -> None:
    lines = {"en": ["low"], "zh": ["低"]}
    with pytest.raises(digram.OptionError, match="there are none"):
        TOK.report(lines, reference="en")
    with pytest.raises(digram.OptionError, match="none is named"):
        TOK.report("low", parallel=lines)
    with pytest.raises(digram.OptionError, match="none of the sources"):
        TOK.report("low", parallel=lines, reference="sw")
    with pytest.raises(digram.OptionError, match="line by line"):
        TOK.report("low", parallel={**lines, "sw": ["a", "b"]}, reference="en")


def test_names_that_would_mix() -> None:
    """The sum of all texts has a place of its own, in the curves and in what is shown."""
    texts = {"a\x00": ["low"], "b": ["the the"]}
    with pytest.raises(digram.OptionError, match=r"corpus\[''\] has no name"):
        TOK.report({**texts, "": ["the cat"]})
    with pytest.raises(digram.OptionError, match=r"parallel\[''\] has no name"):
        TOK.report("low", parallel={**texts, "": ["the cat"]}, reference="b")
    with pytest.raises(digram.OptionError, match="'all text', and so are all texts together"):
        TOK.report({**texts, "all text": ["the cat"]})
    for argument in ("corpus", "parallel"):
        of: dict[str, Any] = {"corpus": "low", "reference": "b"} if argument == "parallel" else {}
        of[argument] = {**texts, "a␀": ["the cat"]}
        with pytest.raises(digram.OptionError, match=rf"'a␀', and so is {argument}\['a\\x00'\]"):
            TOK.report(**of)
    no_name: Any = 1
    with pytest.raises(TypeError, match="are str, not 1"):
        TOK.report({**texts, no_name: ["the cat"]})
    # Where there is no sum, nothing mixes with it.
    alone = TOK.report(
        {"all text": ["the cat"]}, parallel={"all text": ["a"]}, reference="all text"
    )
    assert alone.curves.keys() == {"all text"}


def test_as_dict_is_json() -> None:
    found = TOK.report({"a": TEXTS}, parallel={"en": ["low"], "zh": ["低"]}, reference="en")
    values = found.as_dict()
    assert json.loads(json.dumps(values)) == json.loads(json.dumps(values, sort_keys=True))
    assert values["evaluation"] == found.evaluation.as_dict()
    assert values["figures"]["premium"] == [*found.charts["premium"].data]
    assert values["samples"]["a"]["text"] == TEXTS[0]
    assert values["audit"] == found.audit.as_dict()


def test_save_figures(tmp_path: Path) -> None:
    found = TOK.report(TEXTS)
    paths = found.save_figures(tmp_path / "new" / "figures")
    assert {path.name for path in paths} == {
        f"{name}.{kind}" for name in found.charts for kind in ("svg", "png", "csv")
    }
    assert all(path.stat().st_size for path in paths)
