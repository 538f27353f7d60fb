"""Random id spaces, compared with a dictionary that maps each id to its range and local id."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import cases

import digram
from digram import IdSpace, SpecialToken, TokenIdError

TEXT = "a cat sat on a mat, and the cat ate"
TOKENIZERS = [
    digram.train(TEXT, max_merges=4, pretokenizer=None),
    digram.train(TEXT, max_merges=9, special_tokens=["<|end|>", "<x>", "</x>"]),
    digram.train(
        TEXT,
        vocab_size=300,
        special_tokens=["<y>", "</y>"],
        reserve={"spare": 5},
        pad_to_multiple=64,
    ),
]


@dataclass(frozen=True)
class Drawn:
    """The arguments of a space, from which tests compute the expected ids on their own."""

    ranges: dict[str, Any]
    options: dict[str, Any]

    @property
    def space(self) -> IdSpace:
        return IdSpace(self.ranges, **self.options)


@st.composite
def drawn_spaces(draw: st.DrawFn) -> Drawn:
    """Spaces with all kinds of ranges in any order, with and without text."""
    ranges: dict[str, Any] = {}
    options: dict[str, Any] = {"spare": {}, "codebooks": {}, "markers": {}}
    names = []
    for name in draw(st.permutations(["text", "image", "audio", "action", "control"])):
        kind = draw(st.integers(0, 3))
        if kind == 0 and len(ranges) > 0:
            continue
        if name == "text":
            ranges[name] = draw(st.sampled_from(TOKENIZERS))
            names += [text for text in ranges[name].special_tokens if "_" not in text]
        elif name == "control":
            ranges[name] = [f"<{letter}>" for letter in "abcdefgh"]
            names += ranges[name]
        elif name == "audio":
            books = draw(st.integers(1, 4))
            options["codebooks"][name] = books
            ranges[name] = books * draw(st.integers(1, 5))
        else:
            ranges[name] = draw(st.integers(1, 40))
        if kind == 1 and options["codebooks"].get(name, 1) == 1:
            options["spare"][name] = draw(st.integers(0, 9))
    names = draw(st.permutations(names))
    for name in draw(st.permutations([*ranges])):
        if len(names) > 1 and draw(st.booleans()):
            options["markers"][name] = names.pop(), names.pop()
    options["align"] = draw(st.sampled_from([1, 1, 2, 8, 64]))
    return Drawn(ranges, options)


def size_of(held: Any) -> int:
    if isinstance(held, int):
        return held
    return held.vocab_size if isinstance(held, digram.Tokenizer) else len(held)


def expected(drawn: Drawn) -> dict[int, tuple[str, int]]:
    """The range and local id of each id. The ranges are simply counted, one after the other."""
    found, next = {}, 0
    for name, held in drawn.ranges.items():
        while next % drawn.options["align"]:
            next += 1
        for local in range(size_of(held)):
            found[next] = name, local
            next += 1
        next += drawn.options["spare"].get(name, 0)
    return found


def sequences(drawn: Drawn) -> st.SearchStrategy[list[tuple[str, list[int]]]]:
    """Parts of a sequence: the name of a range, and a flat list of local ids."""
    space = drawn.space
    marks = {one.id for of in space.ranges.values() for one in (of.begin, of.end) if one}

    @st.composite
    def build(draw: st.DrawFn) -> list[tuple[str, list[int]]]:
        parts: list[tuple[str, list[int]]] = []
        for name in draw(st.lists(st.sampled_from([*drawn.ranges]), max_size=8)):
            of = space[name]
            books = drawn.options["codebooks"].get(name, 1)
            if books == 1:
                free = [id - of.start for id in of.ids if id not in marks]
                if not free:
                    continue
                local = draw(st.lists(st.sampled_from(free), max_size=6))
            else:
                codes = st.integers(0, of.size // books - 1)
                frames = draw(st.lists(st.tuples(*[codes] * books), max_size=3))
                local = [
                    place * (of.size // books) + c for f in frames for place, c in enumerate(f)
                ]
            if of.begin is None and (not local or (parts and parts[-1][0] == name)):
                continue
            parts.append((name, local))
        return parts

    return build()


def as_given(drawn: Drawn, name: str, local: list[int]) -> Any:
    """The local ids of a part as `encode` takes them: with codebooks, one row for each frame."""
    books = drawn.options["codebooks"].get(name, 1)
    if books == 1:
        return local
    codes = size_of(drawn.ranges[name]) // books
    rows = [local[place : place + books] for place in range(0, len(local), books)]
    return [[code - book * codes for book, code in enumerate(row)] for row in rows]


spaces_with_parts = drawn_spaces().flatmap(lambda one: st.tuples(st.just(one), sequences(one)))


@cases(200)
@given(drawn_spaces())
def test_each_id_stands_for_one_thing(drawn: Drawn) -> None:
    space, known = drawn.space, expected(drawn)
    for name, held in drawn.ranges.items():
        of = space[name]
        assert of.start % drawn.options["align"] == 0
        if drawn.options["codebooks"].get(name, 1) == 1:
            found = space.to_global(name, np.arange(size_of(held)))
            assert [known[id] for id in found.tolist()] == [
                (name, local) for local in range(size_of(held))
            ]
    assert space.size % drawn.options["align"] == 0
    assert space.size > max(known)
    located = space.to_local([*known])
    assert [*zip(located.range.tolist(), located.local.tolist(), strict=True)] == [*known.values()]
    for id in set(range(space.size)) - known.keys():
        with pytest.raises(TokenIdError, match="in no range"):
            space.to_local([id])


@cases(250)
@given(spaces_with_parts)
def test_parts_come_back(case: tuple[Drawn, list[tuple[str, list[int]]]]) -> None:
    drawn, parts = case
    space = drawn.space
    ids = space.encode([(name, as_given(drawn, name, local)) for name, local in parts])
    assert ids.dtype == np.int64

    start = {name: id for id, (name, local) in expected(drawn).items() if local == 0}
    by_hand = []
    for name, local in parts:
        of = space[name]
        by_hand += [of.begin.id] if of.begin else []
        by_hand += [start[name] + id for id in local]
        by_hand += [of.end.id] if of.end else []
    assert ids.tolist() == by_hand

    found = space.split(ids)
    assert [part.range for part in found] == [name for name, _ in parts]
    for part, (name, local) in zip(found, parts, strict=True):
        assert part.content.tolist() == as_given(drawn, name, local)
    assert space.encode(found).tolist() == ids.tolist()


@cases(250)
@given(st.data(), spaces_with_parts)
def test_what_can_be_split_is_what_was_encoded(
    data: st.DataObject, case: tuple[Drawn, list[tuple[str, list[int]]]]
) -> None:
    drawn, parts = case
    space = drawn.space
    ids = space.encode([(name, as_given(drawn, name, local)) for name, local in parts]).tolist()
    marks = [one.id for of in space.ranges.values() for one in (of.begin, of.end) if one]
    any_id = st.integers(0, space.size - 1) | st.sampled_from([*marks, 0])
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(ids)))
        ids[place : place + data.draw(st.integers(0, 2))] = data.draw(st.lists(any_id, max_size=2))
    found, fault = None, None
    try:
        found = space.split(ids)
    except TokenIdError as error:
        fault = error
    if fault is not None:
        assert fault.index is not None
        assert ids[fault.index] == fault.value
    else:
        assert found is not None
        assert space.encode(found).tolist() == ids


@cases(200)
@given(spaces_with_parts, st.integers(0, 12))
def test_growing_moves_nothing(
    case: tuple[Drawn, list[tuple[str, list[int]]]], growth: int
) -> None:
    drawn, parts = case
    space = drawn.space
    ids = space.encode([(name, as_given(drawn, name, local)) for name, local in parts])
    known = [*expected(drawn)]
    for name, held in drawn.ranges.items():
        spare = drawn.options["spare"].get(name, 0)
        last = name == [*drawn.ranges][-1]
        more: Any = None
        if isinstance(held, list):
            more = [*held, *(f"<new {n}>" for n in range(growth))]
        elif isinstance(held, int):
            more = held + growth
        else:
            more = held.with_special_tokens([f"<new {n}>" for n in range(growth)])
        if drawn.options["codebooks"].get(name, 1) > 1:
            with pytest.raises(digram.OptionError, match="codebooks, and with more"):
                space.grow(name, more)
            continue
        if size_of(more) - size_of(held) > spare and not last:
            with pytest.raises(digram.OptionError, match=f"has {spare} spare "):
                space.grow(name, more)
            continue
        grown = space.grow(name, more)
        assert grown[name].size == size_of(more)
        assert grown.size >= space.size
        new = grown.with_ranges({"new": 7})
        assert new["new"].start >= space.size
        for after in (grown, new):
            for before, now in zip(space.to_local(known), after.to_local(known), strict=True):
                assert before.tolist() == now.tolist()
            for one, other in zip(space.split(ids), after.split(ids), strict=True):
                assert one.range == other.range
                assert one.content.tolist() == other.content.tolist()


@cases(100)
@given(drawn_spaces())
def test_files_and_copies(tmp_path_factory: pytest.TempPathFactory, drawn: Drawn) -> None:
    space = drawn.space
    path: Path = tmp_path_factory.getbasetemp() / "space.json"
    space.save(path)
    tokenizers = {"text": drawn.ranges["text"]} if "text" in drawn.ranges else {}
    for other in (
        IdSpace.load(path, tokenizers=tokenizers),
        IdSpace.load(path),
        pickle.loads(pickle.dumps(space)),
    ):
        assert other == space
        assert hash(other) == hash(space)
        assert other.size == space.size
    assert IdSpace.load(path, tokenizers=tokenizers).ranges == space.ranges


@cases(100)
@given(st.sampled_from(TOKENIZERS[1:]), st.lists(st.text(max_size=12), max_size=6))
def test_texts_come_back(tok: digram.Tokenizer, texts: list[str]) -> None:
    first, second = [*tok.special_tokens][-2:] if tok.reserved == {} else ("<y>", "</y>")
    space = IdSpace({"text": tok}, markers={"text": (first, second)})
    parts = [("text", text) for text in texts]
    assert space.decode(space.encode(parts)) == parts
    by_hand = [tok.encode([SpecialToken(first), text, SpecialToken(second)]) for text in texts]
    assert space.encode(parts).tolist() == [id for ids in by_hand for id in ids]
