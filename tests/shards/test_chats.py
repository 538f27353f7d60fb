"""Chats as documents: their ids and masks in files, with places of faulty records, and resuming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chat_templates
import pyarrow as pa
import pyarrow.parquet
import pytest
import vocabularies

import digram
from digram import CorruptFileError, OptionError

TOK = chat_templates.with_chats(digram.Tokenizer(vocabularies.SAMPLES["qwen2"]), {})
CHATS: list[Any] = [
    [
        {"role": "user", "content": f"low {number}"},
        {"role": "assistant", "content": "lower" * number},
    ]
    for number in range(20)
]


def lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def table_in(folder: Path, format: str) -> Any:
    paths = sorted(folder.glob(f"tokens-*.{format}"))
    if format == "parquet":
        return pa.concat_tables([pa.parquet.read_table(path) for path in paths])
    return pa.concat_tables([pa.ipc.open_file(path).read_all() for path in paths])


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize("end", [None, "</s>"])
@pytest.mark.parametrize("template", [True, "headers"])
def test_files_have_the_ids_and_masks_of_chats(
    format: str, end: str | None, template: bool | str, tmp_path: Path
) -> None:
    path = lines(tmp_path / "chats.jsonl", [{"messages": one} for one in CHATS])
    given: dict[str, Any] = {"format": format, "end_of_text": end, "shard_tokens": 150}
    made = digram.encode_files(TOK, path, tmp_path / "out", chats=template, **given)
    assert len([*(tmp_path / "out").glob("tokens-*")]) > 1
    name = None if template is True else "headers"
    chats = TOK.chat_batch(CHATS, template=name)
    after = [] if end is None else [TOK.special_tokens[end]]
    table = table_in(tmp_path / "out", format)
    assert table.column("input_ids").to_pylist() == [one.ids + after for one in chats]
    masks = [one.assistant_mask + [0] * len(after) for one in chats]
    assert table.column("assistant_masks").to_pylist() == masks
    assert [ids.tolist() for ids in made] == [one.ids + after for one in chats]


def test_tools_of_a_record(tmp_path: Path) -> None:
    tools = [{"name": "f"}]
    records = [CHATS[0], {"messages": CHATS[1], "tools": tools}, {"messages": CHATS[2]}]
    given: dict[str, Any] = {"format": "arrow", "end_of_text": None, "chats": True}
    made = digram.encode_files(TOK, map(json.dumps, records), tmp_path / "out", **given)
    wanted = [TOK.chat(CHATS[0]), TOK.chat(CHATS[1], tools=tools), TOK.chat(CHATS[2])]
    assert [ids.tolist() for ids in made] == [one.ids for one in wanted]


def test_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    path = lines(tmp_path / "chats.jsonl", CHATS)
    given: dict[str, Any] = {"format": "parquet", "end_of_text": None, "shard_tokens": 100}
    whole = digram.encode_files(TOK, path, tmp_path / "whole", chats=True, **given)
    right = path.read_bytes()
    # The last record is damaged, so that the run stops.
    path.write_bytes(right[:-3] + b"x]\n")
    with pytest.raises(CorruptFileError, match=r"chats.jsonl, record 20 .*not JSON"):
        digram.encode_files(TOK, path, tmp_path / "again", chats=True, **given)
    path.write_bytes(right)
    again = digram.encode_files(TOK, path, tmp_path / "again", chats=True, resume=True, **given)
    assert [*map(list, again)] == [*map(list, whole)]
    for name in sorted(one.name for one in (tmp_path / "whole").glob("tokens-*")):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    with pytest.raises(digram.CheckpointError, match="chats"):
        digram.encode_files(TOK, path, tmp_path / "whole", resume=True, **given)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("7", "no list"),
        ('{"messages": "low"}', "no list"),
        ("[]", "there are no messages"),
        ("[7]", r"messages\[0\] is a dict"),
        ('[{"role": "user"}]', "the chat template fails"),
        ('[{"role": "user", "content": "\\ud800"}]', "surrogate"),
    ],
)
def test_faulty_records_are_named(line: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_text(json.dumps(CHATS[0]) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(digram.DigramError, match=f"record 2 .*{reason}"):
        digram.encode_files(
            TOK, path, tmp_path / "out", format="arrow", end_of_text=None, chats=True
        )


def test_refusals(tmp_path: Path) -> None:
    given: dict[str, Any] = {"end_of_text": None, "chats": True}
    with pytest.raises(OptionError, match=r"megatron.*no place.*arrow"):
        digram.encode_files(TOK, [], tmp_path / "out", format="megatron", **given)
    with pytest.raises(OptionError, match="special='parse' does nothing"):
        digram.encode_files(TOK, [], tmp_path / "out", format="arrow", special="parse", **given)
    given["chats"] = 1
    with pytest.raises(TypeError, match="chats is"):
        digram.encode_files(TOK, [], tmp_path / "out", format="arrow", **given)
