"""Functions as tools become JSON Schemas."""

from __future__ import annotations

import enum
import json
import random
from collections.abc import Callable
from typing import Any, Literal

import pytest

import digram
from digram.errors import OptionError
from digram.tokenizer.chat.functions import schema_of


class Color(enum.Enum):
    RED = "red"
    TWO = 2


class Empty(enum.Enum):
    pass


class Nested(enum.Enum):
    PAIR = (1, 2)


HINTS: list[Any] = [
    *(int, float, str, bool, Any, None, list, tuple, dict),
    *(list[int], dict[str, list[int]], tuple[int, str], int | None, int | str),
    *(list | tuple, list[int] | str | None, Literal["a", 1], Literal[True, None], Color),
    *(Color | None, int | Literal["x"]),
]
REFUSED: list[Any] = [set[int], Callable, Nested, Empty, tuple[int], tuple[int, ...], digram.Rules]
PARTS = [
    *("Do it.", "\n", "\n\n", "    ", "\t", "x: the x", " y (int): why", "z:", "* x: foo"),
    *("x (Optional[a]): b", "y: more\n      deeper: text", "\nArgs:\n", "\n    Args:\n", "Args:\n"),
    *("Returns:\n", "\nReturns:\n  the sum", "Raises:", "Raises:\n ValueError: no"),
    *('(choices: ["tea", " c "])', "(Choices: [1])", "(choices: [)", "w", "y (str, optional) : q"),
]


def function(rng: random.Random) -> Any:
    """A function with random hints and a random docstring."""
    names = rng.sample(["x", "y", "z"], rng.randint(0, 3))
    given = ", ".join(
        [*["self"] * (rng.random() < 0.1), *names[:1], *(f"{n}=1" for n in names[1:])]
    )
    found: dict[str, Any] = {}
    exec(f"def f({given}): pass", found)
    before = "".join(rng.choices(PARTS, k=rng.randint(0, 3)))
    after = "".join(
        rng.choice(["    ", "  ", "", "\t"]) + rng.choice(PARTS) + rng.choice(["\n", "", "\n\n"])
        for _ in range(rng.randint(0, 8))
    )
    found["f"].__doc__ = f"{before}{rng.choice(['', chr(10) + 'Args:' + chr(10)])}{after}"
    hints = {name: rng.choice(HINTS) for name in names if rng.random() < 0.97}
    if rng.random() < 0.1 and names:
        hints[names[0]] = rng.choice(REFUSED)
    if rng.random() < 0.4:
        hints["return"] = rng.choice([*HINTS, *REFUSED])
    found["f"].__annotations__ = hints
    return found["f"]


def test_schemas_are_those_of_transformers() -> None:
    theirs: Any = pytest.importorskip("transformers.utils.chat_template_utils")
    rng, compared = random.Random(7), 0
    for _ in range(6_000):
        one = function(rng)
        try:
            expected = json.dumps(theirs.get_json_schema(one))
        except Exception:  # errors of several kinds, that of the regex for choices too
            with pytest.raises(OptionError):
                schema_of(one)
            continue
        assert json.dumps(schema_of(one)) == expected, (one.__doc__, one.__annotations__)
        compared += 1
    assert compared > 1_000


def forecast(city: str, days: int | None = None, unit: Literal["C", "F"] = "C") -> list[float]:
    """Get the weather.

    Args:
        city (str): Name of the city,
            in English
        days: Number of days
        unit: Of the temperature

    Returns:
        The temperatures
    """
    raise AssertionError(city, days, unit)


def test_a_function_is_a_tool() -> None:
    schema = schema_of(forecast)["function"]
    assert schema == {
        "name": "forecast",
        "description": "Get the weather.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Name of the city, in English"},
                "days": {"type": "integer", "nullable": True, "description": "Number of days"},
                "unit": {
                    "type": "string",
                    "enum": ["C", "F"],
                    "description": "Of the temperature",
                },
            },
            "required": ["city"],
        },
        "return": {"type": "array", "items": {"type": "number"}, "description": "The temperatures"},
    }
    tok = digram.train("a", max_merges=0)
    messages = [{"role": "user", "content": "a"}]
    for template in ("{{ tools | tojson }}", "{{ tools[0].function.name }}"):
        by_function = tok.chat(messages, template=template, tools=[forecast])
        by_schema = tok.chat(messages, template=template, tools=[schema_of(forecast)])
        assert by_function.ids == by_schema.ids
    with pytest.raises(TypeError, match="or a function, not str"):
        tok.chat(messages, template="{{ tools }}", tools=["forecast"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("docstring", "hints", "message"),
    [
        (None, {"x": int}, "has no docstring"),
        ("Do.", {"x": int}, "has no description of the argument 'x'"),
        ("Do.\n\nArgs:\n    x: it", {}, "has no type hint for the argument 'x'"),
        ("Do.\n\nArgs:\n    x: it", {"x": set[int]}, "argument 'x' that JSON cannot hold"),
        ("Do.\n\nArgs:\n    x: it", {"x": tuple[int]}, "two or more given items"),
        ("Do.\n\nArgs:\n    x: it", {"x": "Unknown"}, "cannot be evaluated"),
        ("Do.\n\nArgs:\n    x: it (choices: 1)", {"x": int}, "no list in JSON"),
    ],
)
def test_what_is_no_tool_is_refused_by_name(
    docstring: str | None, hints: dict[str, Any], message: str
) -> None:
    def act(x):  # type: ignore[no-untyped-def]
        return x

    act.__doc__, act.__annotations__ = docstring, hints
    with pytest.raises(OptionError, match=r"the function 'act' ") as caught:
        schema_of(act)
    assert message in str(caught.value)
