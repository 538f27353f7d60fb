"""What the page is answered, against the tokenizer itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import vocabularies
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram.errors import DigramError, LimitExceededError, OptionError, TokenIdError
from digram.web import Answers

TOKENIZERS = {name: digram.Tokenizer(one) for name, one in vocabularies.SAMPLES.items()}
ANSWERS = Answers(TOKENIZERS)
TEXTS = vocabularies.texts(40, seed=5)


def rows(**asked: Any) -> list[list[Any]]:
    asked = {"tokenizer": 0, "count": 1000} | asked
    found: list[list[Any]] = ANSWERS("vocabulary", asked)["rows"]
    return found


@pytest.mark.parametrize("special", [False, True])
def test_encodings_have_the_ids_and_cover_the_text(special: bool) -> None:
    for text in TEXTS:
        asked = {"text": text, "special": special, "tokenizers": [*range(len(TOKENIZERS))]}
        answer = json.loads(json.dumps(ANSWERS("encode", asked)))
        for tok, found in zip(TOKENIZERS.values(), answer["encodings"], strict=True):
            if "error" in found:
                assert tok.unit == "char"  # of which one kind refuses characters that it has not
                with pytest.raises(DigramError) as refused:
                    tok.encode(text, special="parse" if special else "text")
                assert found["error"]["kind"] == type(refused.value).__name__
                continue
            ids = tok.encode(text, special="parse" if special else "text")
            assert found["ids"] == ids
            assert len(found["sizes"]) == len(ids)
            assert sum(found["sizes"]) == len(text.encode())
            if tok.unit == "byte":
                assert found["sizes"] == [len(token) for token in tok.tokens(ids)]


def test_the_facts(tok: digram.Tokenizer) -> None:
    assert Answers({"one": tok})("tokenizers", {}) == {
        "tokenizers": [
            {
                "name": "one",
                "tokens": 290,
                "vocab_size": 290,
                "merges": 33,
                "special_tokens": 1,
                "unit": "byte",
                "pretokenizer": "o200k",
                "has_counts": True,
            }
        ]
    }


@pytest.mark.parametrize("number", range(len(TOKENIZERS)), ids=[*TOKENIZERS])
def test_the_vocabulary_is_all_of_it(number: int) -> None:
    tok = [*TOKENIZERS.values()][number]
    found = ANSWERS("vocabulary", {"tokenizer": number, "count": 1000})
    assert found["total"] == len(found["rows"]) == len(tok)
    assert [row[0] for row in found["rows"]] == sorted(row[0] for row in found["rows"])
    for id, hex, _, _, special in found["rows"]:
        assert bytes.fromhex(hex) == tok.id_to_token(id)
        assert special == (id in tok.special_tokens.values())
    made = {(merge.id, merge.rank, merge.count) for merge in tok.merge_log}
    ranked = [(id, rank, count) for id, _, rank, count, _ in found["rows"] if rank is not None]
    assert {*ranked} <= made
    assert [id for id, _, _ in ranked] == sorted({id for id, _, _ in made})


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("sort", ["id", "token", "bytes", "rank", "count"])
def test_orders(sort: str, descending: bool) -> None:
    keys: dict[str, Callable[[list[Any]], Any]] = {
        "id": lambda row: row[0],
        "token": lambda row: bytes.fromhex(row[1]),
        "bytes": lambda row: len(row[1]),
        "rank": lambda row: row[2],
        "count": lambda row: row[3],
    }
    every = rows()
    known = [row for row in every if keys[sort](row) is not None]
    unknown = [row for row in every if keys[sort](row) is None]
    want = sorted(known, key=keys[sort], reverse=descending) + unknown
    assert rows(sort=sort, descending=descending) == want
    assert rows(sort=sort, descending=descending, start=7, count=5) == want[7:12]
    assert rows(sort=sort, descending=descending, start=len(want)) == []


@cases(200)
@given(
    st.sampled_from([*TOKENIZERS]), st.sampled_from(TEXTS), st.integers(0, 40), st.integers(1, 3)
)
def test_a_search_finds_what_holds_the_text(name: str, text: str, start: int, size: int) -> None:
    tok, search = TOKENIZERS[name], text[start : start + size]
    found = Answers({name: tok})("vocabulary", {"tokenizer": 0, "search": search, "count": 1000})
    in_any_case = search == search.lower()
    for row in rows(tokenizer=[*TOKENIZERS].index(name)):
        token = bytes.fromhex(row[1]).decode("utf-8", "surrogateescape")
        holds = search in (token.lower() if in_any_case else token)
        assert (row in found["rows"]) == holds


@pytest.mark.parametrize(
    ("search", "by", "wanted"),
    [
        ("ö", "text", ["ö\ufffd", "Grö\ufffd", "Größe"]),
        ("Größ", "text", ["Größe"]),
        ("größ", "text", ["Größe"]),
        ("GRÖSS", "text", []),
        ("5", "id", ["\x05"]),
        (" 1,0 ", "id", ["\n"]),
        ("99999", "id", []),
        ("9" * 100, "id", []),
        ("none", "id", []),
        ("-1", "id", []),
        ("²", "id", []),
        ("٣", "id", ["\x03"]),
        ("C3 9F", "hex", ["Größe"]),
        ("00", "hex", ["\0"]),
    ],
)
def test_searches_by_example(search: str, by: str, wanted: list[str]) -> None:
    tok = digram.train("Größe " * 9, max_merges=6)
    found = Answers({"tok": tok})("vocabulary", {"tokenizer": 0, "search": search, "by": by})
    assert [bytes.fromhex(row[1]).decode("utf-8", "replace") for row in found["rows"]] == wanted


def test_many_ask_at_once() -> None:
    tok = TOKENIZERS["gpt2"]
    searches = [token.decode("latin-1") for token in map(tok.id_to_token, range(97, 123))] * 8
    asked = [{"tokenizer": 0, "search": search, "count": 1000} for search in searches]
    one_by_one = [Answers({"gpt2": tok})("vocabulary", one) for one in asked[:26]] * 8
    answers = Answers({"gpt2": tok})
    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(lambda one: answers("vocabulary", one), asked)] == one_by_one


@pytest.mark.parametrize("number", range(len(TOKENIZERS)), ids=[*TOKENIZERS])
def test_trees(number: int) -> None:
    tok = [*TOKENIZERS.values()][number]
    pairs = {(m.left, m.right, m.rank, m.count, m.id) for m in tok.merge_log}
    made = {m.id for m in tok.merge_log}
    for row in ANSWERS("vocabulary", {"tokenizer": number, "count": 1000})["rows"]:
        nodes = ANSWERS("tree", {"tokenizer": number, "id": row[0]})["nodes"]
        assert nodes[0]["id"] == row[0]
        assert nodes[0]["rank"] == row[2]
        for at, node in enumerate(nodes):
            token = bytes.fromhex(node["hex"])
            assert token == tok.id_to_token(node["id"])
            assert (node["kind"] == "merge") == (node["id"] in made)
            # Its parts: what stands below it, one level down.
            below = node["level"] + 1
            after = [one["level"] for one in nodes[at + 1 :]] + [0]
            end = at + 1 + next(i for i, level in enumerate(after) if level < below)
            parts = [one for one in nodes[at + 1 : end] if one["level"] == below]
            if node["kind"] != "merge":
                assert parts == []
                continue
            left, right = (bytes.fromhex(part["hex"]) for part in parts)
            assert left + right == token
            assert (left, right, node["rank"], node["count"], node["id"]) in pairs


def test_a_tree_that_is_too_large() -> None:
    merges = [(97, 97)] + [(255 + n, 97) for n in range(1, 1100)]
    answers = Answers({"long": digram.Tokenizer(vocabularies.of_bytes(*merges))})
    assert len(answers("tree", {"tokenizer": 0, "id": 1000})["nodes"]) == 2 * 746 - 1
    with pytest.raises(LimitExceededError, match="more than 2,000 nodes"):
        answers("tree", {"tokenizer": 0, "id": 1354})


def test_curves() -> None:
    numbers = [*range(len(TOKENIZERS))]
    text = TEXTS[3] * 20
    found = json.loads(json.dumps(ANSWERS("curve", {"text": text, "tokenizers": numbers})))
    kinds = set()
    for tok, one in zip(TOKENIZERS.values(), found["curves"], strict=True):
        kinds.add("error" in one)
        if "error" in one:
            with pytest.raises(DigramError):  # a curve's least size and its own
                digram.curve(tok, text, sizes=[tok.vocab_size])
            continue
        sizes = [point["vocab_size"] for point in one["points"]]
        assert sizes == sorted(sizes)
        assert sizes[-1] == one["own"]
        assert one["points"] == digram.curve(tok, text, sizes=sizes).to_dict()["points"]
    assert kinds == {True, False}


@cases(60)
@given(st.sampled_from([*TOKENIZERS]), st.sampled_from(TEXTS), st.booleans())
def test_explanations_come_to_the_tokens(name: str, text: str, special: bool) -> None:
    tok = TOKENIZERS[name]
    answers, asked = Answers({name: tok}), {"tokenizer": 0, "text": text, "special": special}
    if tok.unit == "char" and tok.on_unknown == "error":
        return
    found = answers("explain", asked)["pretokens"]
    data = text.encode()
    assert b"".join(data[one["start"] :][: one["size"]] for one in found) == data
    ids = tok.encode(text, special="parse" if special else "text")
    assert [id for one in found for id in one["ids"]] == ids
    for number, one in enumerate(found):
        steps = answers("steps", asked | {"pretoken": number})
        assert bytes.fromhex(steps["hex"]) == data[one["start"] :][: one["size"]]
        assert len(steps["steps"]) == one["steps"]
        if one["how"] != "merges":
            continue
        state = steps["first"]
        for step in steps["steps"]:  # as the page plays them
            at = step["place"]
            assert state[at : at + 2] == [step["left"], step["right"]]
            state[at : at + 2] = [step["hex"]]
            assert step["candidates"][0]["rank"] == step["rank"]
        assert state == one["tokens"]


def test_replays() -> None:
    tok = TOKENIZERS["gpt2"]
    text = TEXTS[5]
    found = ANSWERS("replay", {"tokenizer": [*TOKENIZERS].index("gpt2"), "text": text})
    assert json.loads(json.dumps(found)) == digram.replay(tok, text).to_dict()


def test_what_is_too_long_to_be_looked_into() -> None:
    answers = Answers({"a": digram.train("aa" * 8, max_merges=2, pretokenizer=None)})
    for question in ("explain", "replay"):
        answers(question, {"tokenizer": 0, "text": "é" * 2048})
        with pytest.raises(
            LimitExceededError, match="4,097 bytes, and this view takes up to 4,096"
        ):
            answers(question, {"tokenizer": 0, "text": "é" * 2048 + "!"})
    asked = {"tokenizer": 0, "pretoken": 0}
    assert len(answers("steps", asked | {"text": "a" * 256})["steps"]) == 192
    with pytest.raises(LimitExceededError, match="257 bytes, and its steps are shown up to 256"):
        answers("steps", asked | {"text": "a" * 257})
    for number in (1, -1):
        with pytest.raises(OptionError, match=f"no pretoken {number}"):
            answers("steps", asked | {"text": "a", "pretoken": number})


@pytest.mark.parametrize("reference", [None, "b"])
def test_measures(reference: str | None) -> None:
    texts = {"a": "ab\nba", "b": "the\ncat", "c": "x\n"}
    if reference is not None:
        texts["c"] += "y"
    asked: dict[str, Any] = {
        "texts": [*map(list, texts.items())],
        "tokenizers": [*range(len(TOKENIZERS))],
    }
    if reference is not None:
        asked["reference"] = reference
    found = json.loads(json.dumps(ANSWERS("measures", asked)))["measures"]
    for tok, one in zip(TOKENIZERS.values(), found, strict=True):
        if "error" in one:
            assert tok.unit == "char"
            continue
        assert [*one["by_name"]] == [*texts]
        for name, text in texts.items():
            count = (
                sum(tok.count(line) for line in text.split("\n")) if reference else tok.count(text)
            )
            assert one["by_name"][name]["tokens"] == count
        assert (one["parallel"] is None) == (reference is None)


@pytest.mark.parametrize(
    ("question", "arguments", "message"),
    [
        ("shutdown", {}, "'shutdown' is not a question; choose from tokenizers, encode"),
        ("_encode", {}, "is not a question"),
        ("tokenizers", [], "must be an object"),
        ("tokenizers", None, "must be an object"),
        ("tokenizers", {"a": 1}, "has no argument 'a'"),
        ("encode", {}, "the argument 'text' is missing"),
        ("encode", {"text": 3, "tokenizers": [0]}, "'text' is 3, not a string"),
        ("encode", {"text": ["a"], "tokenizers": [0]}, "not a string"),
        ("encode", {"text": "a", "tokenizers": 0}, "not a list"),
        ("encode", {"text": "a", "tokenizers": [-1]}, "there is no tokenizer -1"),
        ("encode", {"text": "a", "tokenizers": [True]}, "there is no tokenizer True"),
        ("encode", {"text": "a", "tokenizers": [None]}, "there is no tokenizer None"),
        ("encode", {"text": "a", "tokenizers": [10**30]}, "there is no tokenizer"),
        ("encode", {"text": "a", "tokenizers": [0], "special": 1}, "not true or false"),
        ("encode", {"text": "a", "tokenizers": [0], "dropout": 1}, "no argument 'dropout'"),
        ("vocabulary", {"tokenizer": 0, "sort": "hash"}, "sort='hash' is none of"),
        ("vocabulary", {"tokenizer": 0, "by": "regex"}, "by='regex' is none of"),
        ("vocabulary", {"tokenizer": 0, "by": "hex", "search": "q"}, "not bytes in hexadecimal"),
        ("vocabulary", {"tokenizer": 0, "start": -1}, "select no rows"),
        ("vocabulary", {"tokenizer": 0, "count": 1001}, "select no rows"),
        ("vocabulary", {"tokenizer": 0, "count": True}, "not a whole number"),
        ("vocabulary", {"tokenizer": 0, "start": 1.5}, "not a whole number"),
        ("vocabulary", {"tokenizer": "0"}, "not a whole number"),
        ("tree", {"tokenizer": 0, "id": "5"}, "not a whole number"),
        ("curve", {"text": "a", "tokenizers": [0] * 99}, "there are no 99 tokenizers"),
        ("curve", {"text": None, "tokenizers": [0]}, "the argument 'text' is missing"),
        ("measures", {"texts": {}, "tokenizers": [0]}, "'texts' is {}, not a list"),
        ("measures", {"texts": [["a"]], "tokenizers": [0]}, "is not a name with a text"),
        ("measures", {"texts": [["a", 1]], "tokenizers": [0]}, "is not a name with a text"),
        ("measures", {"texts": [["a", "b"]] * 2, "tokenizers": [0]}, "two texts are named 'a'"),
        (
            "measures",
            {"texts": [[str(n), "a"] for n in range(201)], "tokenizers": [0]},
            "there are 201 texts, and 200 are the maximum",
        ),
        (
            "measures",
            {"texts": [["a", "b"]], "tokenizers": [0], "reference": None},
            "'reference' is missing",
        ),
    ],
)
def test_what_is_no_question(question: str, arguments: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        ANSWERS(question, arguments)


@pytest.mark.parametrize("id", [-1, 2**31, 10**30])
def test_ids_that_are_not_there(id: int) -> None:
    with pytest.raises(TokenIdError, match="is not in this vocabulary"):
        ANSWERS("tree", {"tokenizer": 0, "id": id})
