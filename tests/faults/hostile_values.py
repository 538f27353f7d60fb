"""Values that nobody passes on purpose, and that somebody passes one day."""

from __future__ import annotations

import decimal
import fractions
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import digram


class ForeignError(Exception):
    """What foreign code raises: it may come through any call as it is."""


def _raises(*_: Any, **__: Any) -> Any:
    raise ForeignError("this object is not to be asked")


def _itself(value: Any) -> Any:
    return value


def _raising(name: str, base: type = object) -> Any:
    return type("Foreign", (base,), {name: _raises})()


def _giving(name: str, value: Any, base: type = object) -> Any:
    return type("Foreign", (base,), {name: lambda *_: value})()


def _all_raising() -> Any:
    names = [f"__{name}__" for name in _ASKED if name not in ("class", "getattribute")]
    return type("Foreign", (), dict.fromkeys(names, _raises))()


_ASKED = [
    "str",
    "repr",
    "iter",
    "next",
    "len",
    "length_hint",
    "index",
    "int",
    "float",
    "bool",
    "hash",
    "eq",
    "lt",
    "contains",
    "getitem",
    "getattr",
    "getattribute",
    "fspath",
    "array",
    "arrow_c_stream",
    "arrow_c_array",
    "call",
    "format",
    "dataframe",
]


class _Sequence:
    """Two items, and a length that is not theirs."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: Any) -> Any:
        return ["a", "b"][place]

    def __iter__(self) -> Iterator[str]:
        return iter(["a", "b"])


class _Mapping(Mapping[Any, Any]):
    """Keys that it has no values for."""

    def __getitem__(self, key: Any) -> Any:
        raise ForeignError(key)

    def __iter__(self) -> Iterator[Any]:
        return iter(["a", "b"])

    def __len__(self) -> int:
        return 2


class _Everything:
    """Has each attribute, and can be called: passes every test by attributes."""

    def __getattr__(self, name: str) -> Any:
        return _Everything()

    def __call__(self, *_: Any, **__: Any) -> Any:
        return _Everything()


def _then_raises() -> Iterator[Any]:
    yield "a"
    raise ForeignError("no more")


def _within_itself(kind: type) -> Any:
    value = kind()
    if kind is dict:
        value["a"] = value
    else:
        value.append(value)
    return value


def _deep() -> Any:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def _released() -> memoryview:
    view = memoryview(b"ab")
    view.release()
    return view


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "Ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "True": lambda: True,
    "False": lambda: False,
    **{f"{number}": partial(_itself, number) for number in (0, -1, 1, 2, 255, 10**6)},
    **{f"2**{bits}": partial(_itself, 2**bits) for bits in (15, 16, 31, 32, 40, 63, 64, 70, 200)},
    **{f"-(2**{bits})": partial(_itself, -(2**bits)) for bits in (31, 63, 70)},
    "2**63 - 1": lambda: 2**63 - 1,
    "2**64 - 1": lambda: 2**64 - 1,
    "10**5000": lambda: 10**5000,
    "-(10**5000)": lambda: -(10**5000),
    "0.5": lambda: 0.5,
    **{text: partial(float, text) for text in ("nan", "inf", "-inf", "-0.0", "1e308")},
    "5e-324": lambda: 5e-324,
    "Decimal nan": lambda: decimal.Decimal("nan"),
    "Decimal snan": lambda: decimal.Decimal("snan"),
    "Decimal 1e999999": lambda: decimal.Decimal("1e999999"),
    "a third": lambda: fractions.Fraction(1, 3),
    "10**5000 / 3": lambda: fractions.Fraction(10**5000, 3),
    "1j": lambda: 1j,
    "empty": lambda: "",
    "a space": lambda: " ",
    "a": lambda: "a",
    "unknown": lambda: "unknown",
    "a number": lambda: "17",
    "many digits": lambda: "1" * 5000,
    "NUL": lambda: "a\0b",
    "a newline": lambda: "a\nb",
    "a lone surrogate": lambda: "\ud800",
    "a surrogate in text": lambda: "low\udfff low",
    "an escaped byte": lambda: "\udcff",
    "U+FFFD": lambda: "\ufffd",
    "beyond": lambda: "\U0010ffff",
    "a bracket": lambda: "([",
    "a long text": lambda: "low " * 20_000,
    "a long word": lambda: "a" * 70_000,
    "a str of its own": lambda: type("Text", (str,), {"encode": _raises, "split": _raises})("low"),
    "no bytes": lambda: b"",
    "bytes": lambda: b"low",
    "no UTF-8": lambda: b"\xff\xfe",
    "bytearray": lambda: bytearray(b"low"),
    "memoryview": lambda: memoryview(b"low"),
    "a released memoryview": _released,
    "a missing path": lambda: Path("missing", "file"),
    "a path with NUL": lambda: Path("a\0b"),
    "a path with a surrogate": lambda: Path("a\ud800"),
    "this folder": Path,
    "an empty list": list,
    "an empty tuple": tuple,
    "an empty dict": dict,
    "an empty set": set,
    "a set": lambda: {"a", 1},
    "a dict": lambda: {1: None},
    "a tuple": lambda: ("a", 1, None),
    "a list": lambda: [None, "a"],
    "lists": lambda: [[], ["a"], [[1]]],
    "a list of itself": lambda: _within_itself(list),
    "a dict of itself": lambda: _within_itself(dict),
    "a deep list": _deep,
    "an iterator": lambda: iter([1, "a"]),
    "a range": lambda: range(2**70, 2**70 + 3),
    "a slice": lambda: slice(1, "a"),
    "a generator that raises": _then_raises,
    "an endless length": lambda: _Sequence(2**62),
    "a negative length": lambda: _Sequence(-1),
    "a length of no number": lambda: _Sequence(1.5),  # type: ignore[arg-type]
    "a length too short": lambda: _Sequence(1),
    "a mapping without values": _Mapping,
    "object": object,
    "a class": lambda: int,
    "a function": lambda: _raises,
    "a module": lambda: types,
    "a lock": threading.Lock,
    "an error": lambda: ValueError("x"),
    "has everything": _Everything,
    "raises all": _all_raising,
    **{
        f"raises in {name}": partial(_raising, f"__{name}__")
        for name in _ASKED
        if name != "getattribute"
    },
    "raises in getattribute": lambda: _raising("__getattribute__"),
    "raises in class": type("Foreign", (), {"__class__": property(_raises)}),
    "a list that raises in iter": lambda: _raising("__iter__", list),
    "a list that raises in len": lambda: _raising("__len__", list),
    "a dict that raises in items": lambda: _raising("items", dict),
    "a dict that raises in keys": lambda: _raising("keys", dict),
    "an int that raises in index": lambda: _raising("__index__", int),
    "an int that raises in repr": lambda: _raising("__repr__", int),
    "a str that raises in repr": lambda: _raising("__repr__", str),
    "a str that raises in eq": lambda: type(
        "Foreign", (str,), {"__eq__": _raises, "__hash__": str.__hash__}
    )("low"),
    "index gives 2**70": lambda: _giving("__index__", 2**70),
    "index gives -1": lambda: _giving("__index__", -1),
    "index gives a str": lambda: _giving("__index__", "a"),
    "fspath gives a number": lambda: _giving("__fspath__", 7),
    "fspath gives NUL": lambda: _giving("__fspath__", "a\0b"),
    "iter gives a number": lambda: _giving("__iter__", 7),
    "hash gives a str": lambda: _giving("__hash__", "a"),
    "repr gives a number": lambda: _giving("__repr__", 7),
    "repr gives surrogates": lambda: _giving("__repr__", "\ud800" * 200),
    **{
        f"array of {dtype}": partial(np.ones, 3, dtype)
        for dtype in ("f2", "c16", "bool", "i1", ">u4", "u8", "M8[s]", "U3", "S2", "V4")
    },
    "array of objects": lambda: np.array([1, "a", None], dtype=object),
    "array of records": lambda: np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
    "array of -1": lambda: np.array([-1, 2**40]),
    "array of no dimension": lambda: np.array(7),
    "array of two dimensions": lambda: np.ones((2, 2), dtype="u4"),
    "empty array": lambda: np.array([]),
    "every second": lambda: np.arange(8, dtype="u4")[::2],
    "int64": lambda: np.int64(3),
    "float32 nan": lambda: np.float32("nan"),
    "str_": lambda: np.str_("low"),
    "a special token": lambda: digram.SpecialToken("<s>"),
    "a regex": lambda: digram.Regex("("),
    "rules": lambda: digram.Rules(["iron"]),
    "a template": lambda: digram.Template("$A"),
    "counts": lambda: digram.Counts({"a": 1}, pretokenizer="gpt2"),
    "a tokenizer": lambda: digram.train("ab", max_merges=1, unit="char"),
    "a tokenizer of sequences": lambda: digram.train_ids([[1, 2]], vocab_size=4),
}
