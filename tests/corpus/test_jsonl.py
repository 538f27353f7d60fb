"""Lines of JSON: held against Python's own parser, with every fault at its place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases, texts

import digram
from digram import _core
from digram.corpus import Pass
from digram.corpus.jsonl import json_lines
from digram.corpus.reader import Records
from digram.errors import CorruptFileError, OptionError


class _NoJsonError(ValueError):
    pass


def decoded(item: bytes | list[bytes]) -> str | list[str]:
    return item.decode() if isinstance(item, bytes) else [text.decode() for text in item]


def oracle(line: bytes, field: list[str]) -> str | list[str] | None:
    """The text in a field, by Python's parser with what it allows beyond JSON refused."""

    def refuse(constant: str) -> None:
        raise _NoJsonError(constant)

    try:
        value = json.loads(line.decode(), parse_constant=refuse)
        if not isinstance(value, dict):
            return None
        texts = within(value, field)
    except (ValueError, KeyError):
        return None
    return texts[0] if texts[1:] == [None] else texts  # type: ignore[return-value]


def within(value: Any, field: list[str]) -> list[str | None]:
    """The texts in a field; of a text that is in no list, a None behind it."""
    if isinstance(value, list):
        if not value:
            raise _NoJsonError("an empty list")
        return [text for item in value for text in within(item, field) if text is not None]
    if not field:
        if not isinstance(value, str):
            raise _NoJsonError("no string")
        value.encode()
        return [value, None]
    if not isinstance(value, dict):
        raise _NoJsonError("no object")
    for key in value:
        key.encode()  # a lone surrogate is not a character of a name either
    return within(value[field[0]], field[1:])


keys = st.sampled_from(["text", "meta", "a", "é", "t.x", ""])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
)
records = st.dictionaries(keys, values | texts, max_size=4)
lines = st.builds(
    lambda value, escaped, marks: json.dumps(
        value, ensure_ascii=escaped, separators=marks
    ).encode(),
    records | values,
    st.booleans(),
    st.sampled_from([(",", ":"), (" , ", " : ")]),
)
broken = st.builds(
    lambda line, at, byte: line[: at % (len(line) + 1)] + byte + line[(at + 1) % (len(line) + 1) :],
    lines,
    st.integers(0, 200),
    st.sampled_from(
        [b"", b'"', b"\\", b"{", b"]", b",", b"\xff", b"\xed\xa0\x80", b"\x01", b"1", b"\\ud800"]
    ),
).filter(lambda line: b"\n" not in line)
fields = st.sampled_from([["text"], ["meta", "text"], ["t.x"], ["meta", "a", "é"], [""]])


def test_a_name_that_is_no_text_is_refused_where_names_are_compared() -> None:
    for line, expected in (
        (rb'{"\ud800": 1, "text": "x"}', None),
        (rb'{"a": {"\ud800": 1}, "text": "x"}', "x"),
        (rb'{"a": "\ud800", "text": "x"}', "x"),
    ):
        _, found, faults = _core.json_texts(line, ["text"])
        assert [decoded(text) for text in found] == ([] if expected is None else [expected])
        assert len(faults) == (expected is None)
        assert oracle(line, ["text"]) == expected


@cases(150)
@given(st.lists(lines | broken | st.just(b"") | st.just(b" \t"), max_size=5), fields)
def test_fields_are_what_the_parser_of_python_finds(given: list[bytes], field: list[str]) -> None:
    found, given_texts, faults = _core.json_texts(b"\n".join(given), field)
    kept = [line for line in given if line.strip(b" \t\r")]
    expected = [oracle(line, field) for line in kept]
    assert found == len(kept)
    assert [decoded(text) for text in given_texts] == [
        text for text in expected if text is not None
    ]
    assert [record for _, record, *_ in faults] == [
        number for number, text in enumerate(expected) if text is None
    ]
    for before, record, start, reason, _ in faults:
        assert before == sum(text is not None for text in expected[:record])
        assert b"\n".join(given)[start:].startswith(kept[record])
        assert reason.endswith(".")


@cases(100)
@given(st.lists(texts, max_size=6), st.integers(1, 40), st.booleans(), st.booleans())
def test_blocks_may_end_anywhere(given: list[str], size: int, ascii: bool, ended: bool) -> None:
    data = "\r\n".join(json.dumps({"text": t}, ensure_ascii=ascii) for t in given).encode()
    data += b"\n" * ended
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    found = json_lines(blocks, ("text",), Records("a", "raise", Pass()))
    assert [decoded(text) for text in found] == given


FAULTS: list[tuple[bytes, str]] = [
    (b'{"text": "tw', "invalid JSON."),
    (b'{"text": "two"} x', "invalid JSON."),
    (b'{"text": NaN}', "invalid JSON."),
    (b"{'text': 'two'}", "invalid JSON."),
    (b'{"text": "t\tw"}', "invalid JSON."),
    (b'{"text": "\xff"}', "the record is not UTF-8 at byte 10."),
    (b'{"text": "\\ud800"}', "the record has a lone surrogate, which is not a character."),
    (b'{"text": "\\udc00\\ud800"}', "the record has a lone surrogate, which is not a character."),
    (b"{}", 'there is no field "text".'),
    (b'{"id": 1, "body": "x"}', 'there is no field "text"; the record has "body", "id".'),
    (b'{"text": null}', 'the field "text" is null, not a string.'),
    (b'{"text": 1.5}', 'the field "text" is a number, not a string.'),
    (b'{"text": false}', 'the field "text" is true or false, not a string.'),
    (b'{"text": ["two", 2]}', 'the field "text[1]" is a number, not a string.'),
    (b'{"text": [["a", "b"], ["c", null]]}', 'the field "text[1][1]" is null, not a string.'),
    (b'{"text": []}', 'the list "text" is empty.'),
    (b'{"text": ["two", []]}', 'the list "text[1]" is empty.'),
    (b'[{"text": "two"}]', "the record is an array, not an object."),
    (b'{"text": {"a": 1}}', 'the field "text" is an object, not a string.'),
    (b'"two"', "the record is a string, not an object."),
    (b"[" * 65 + b"]" * 65, "the record is nested more than 64 levels deep."),
    (b'{"a":' * 65 + b"1" + b"}" * 65, "the record is nested more than 64 levels deep."),
    (b"[" * 100_000, "the record is nested more than 64 levels deep."),
]


@pytest.mark.parametrize(("line", "reason"), FAULTS)
def test_a_fault_is_told_with_its_place(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_bytes(b'{"text": "one"}\n\n' + line + b'\n{"text": "three"}')
    with pytest.raises(CorruptFileError) as caught:
        digram.count_pretokens(path)
    error = caught.value
    assert (error.path, error.record, error.offset) == (str(path), 2, 17)
    assert str(error) == (
        f"{path}, record 2 (byte 17): {reason} Nothing was counted from this file. "
        'Pass digram.files(path, on_error="skip") to skip and count bad records.'
    )
    texts = iter(digram.files(path))
    assert next(texts) == b"one"
    with pytest.raises(CorruptFileError, match=re.escape(f"{reason} Pass digram.files(")):
        next(texts)
    skipping = iter(digram.files(path, on_error="skip"))
    with pytest.warns(UserWarning, match=r"^1 record was skipped: .*, record 2 \(byte 17\)"):
        assert list(skipping) == [b"one", b"three"]
    assert (skipping.skipped, [str(fault) for fault in skipping.faults]) == (
        1,
        [
            f"{path}, record 2 (byte 17): {reason} "
            'Pass digram.files(path, on_error="skip") to skip and count bad records.'
        ],
    )


def test_what_is_nested_as_deep_as_allowed() -> None:
    within = b'{"a": ' + b"[" * 63 + b'"]]]]"' + b"]" * 63 + b', "text": "[[{' + b"[" * 80 + b'"}'
    assert _core.json_texts(within, ["text"])[1] == [b"[[{" + b"[" * 80]


def test_names_that_come_twice_and_empty_texts(tmp_path: Path) -> None:
    """The last one wins, as with the parsers of Python, JavaScript and Rust."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "one", "text": "two"}\r\n{"text": ""}\n  \n')
    assert list(digram.files(path)) == [b"two", b""]
    assert digram.count_pretokens(path).documents == 2
    path.write_bytes(b'{"text": "one", "text": null}')
    with pytest.raises(CorruptFileError, match="is null"):
        list(digram.files(path))
    path.write_bytes(b"")
    assert list(digram.files(path)) == []


def test_fields_within_each_other_and_names_with_dots(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"meta.text": "dot", "meta": {"text": "within"}}')
    assert list(digram.files(path, field="meta.text")) == [b"within"]
    assert list(digram.files(path, field=["meta.text"])) == [b"dot"]
    assert list(digram.files(path, field=["meta", "text"])) == [b"within"]


def test_many_faults_are_counted_and_the_first_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join('{"text": "ok"}\n{"text": 1}\n' for _ in range(1000)))
    found = digram.files(path, on_error="skip")
    shown = "; ".join(f"[^;]*, record {n} .* is a number, not a string" for n in (2, 4, 6, 8, 10))
    with pytest.warns(UserWarning, match=f"^1,000 records were skipped: {shown}; and 995 more.$"):
        counts = digram.count_pretokens(found)
    assert (counts.documents, counts.skipped) == (1000, 1000)


def test_a_line_longer_than_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "one"}\n{"text": "' + "word " * 2_000_000 + '"}\n')
    assert digram.count_pretokens(path).documents == 2
    with pytest.raises(OptionError, match=r"a record of more than .* exceeds memory_limit="):
        digram.count_pretokens(path, memory_limit="24 MiB")


@cases(50)
@given(st.lists(st.one_of(lines, broken), max_size=6))
def test_skipping_gives_what_is_right(tmp_path_factory: Any, given: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("skip") / "a.jsonl"
    path.write_bytes(b"\n".join(given))
    expected = [oracle(line, ["text"]) for line in given if line.strip(b" \t\r")]
    texts = iter(digram.files(path, on_error="skip"))
    wrong = expected.count(None)
    if wrong:
        with pytest.warns(UserWarning, match="skipped"):
            found = list(texts)
    else:
        found = list(texts)
    flat = [text for text in expected if text is not None]
    assert [text.decode() for text in found] == [
        text for one in flat for text in ([one] if isinstance(one, str) else one)
    ]
    assert texts.skipped == wrong


CHAT = """\
{"messages": [{"role": "user", "content": "hi"}, {"role": "bot", "content": "how are you?"}]}
{"messages": [{"role": "user", "content": "one"}, {"role": "bot", "content": null}]}
{"messages": [{"content": "bye"}]}
"""


def test_the_texts_in_a_list_are_documents_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(CHAT)
    found = digram.files(path, field="messages.content")
    with pytest.raises(CorruptFileError, match=r'record 2 .*"messages\[1\]\.content" is null'):
        list(found)
    skipping = iter(digram.files(path, field="messages.content", on_error="skip"))
    with pytest.warns(UserWarning, match="^1 record was skipped"):
        assert list(skipping) == [b"hi", b"how are you?", b"bye"]
    cut = digram.files(path, field="messages.content", on_error="skip", separator=" ")
    with pytest.warns(UserWarning, match="^1 record was skipped"):
        assert list(cut) == [b"hi", b"how", b"are", b"you?", b"bye"]


def test_texts_of_a_list_are_encoded_one_by_one_and_a_fault_names_the_record(
    tmp_path: Path,
) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text(CHAT.replace("null", '"<|end|>"'))
    tok = digram.train("hi bye one how are you", max_merges=9, special_tokens=["<|end|>"])
    source = digram.files(path, field="messages.content")
    done = digram.encode_files(tok, source, tmp_path / "out", format="megatron", end_of_text=None)
    assert done.documents == 5
    assert [tok.decode(ids) for ids in done] == [
        "hi", "how are you?", "one", "<|end|>", "bye",
    ]  # fmt: skip
    with pytest.raises(digram.SpecialTokenError) as caught:
        digram.encode_files(
            tok, source, tmp_path / "out2", format="megatron", end_of_text=None, special="raise"
        )
    assert (caught.value.record, caught.value.offset) == (2, CHAT.index("\n") + 1)
