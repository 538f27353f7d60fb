"""Functions as tools: the JSON Schema that a function's type hints and docstring describe.

The result is that of `get_json_schema` in transformers 5, which templates of models expect. The
docstring has Google's format: a description, and a section "Args:" with a line for each argument.
"""

from __future__ import annotations

import inspect
import json
import re
import types
from collections.abc import Callable
from enum import Enum
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from digram.errors import OptionError, show

__all__ = ["is_function", "schema_of"]

_SCALARS = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_BARE: dict[Any, dict[str, Any]] = {
    **{kind: {"type": name} for kind, name in _SCALARS.items()},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
}
_OF_LIBRARIES = {("PIL.Image", "Image"): "image", ("torch", "Tensor"): "audio"}
_DEEPEST = 100

_ENTRY = re.compile(r"([ \t]*)(\w+)(?:[ \t]*\([^()\n]*\))?:")
_CHOICES = re.compile(r"\(choices:\s*(.*?)\)\s*$", re.IGNORECASE)


class _Docstring(NamedTuple):
    description: str
    arguments: dict[str, str]
    returns: str | None


def is_function(tool: object) -> bool:
    """Whether a tool is a function or a method of an object."""
    return inspect.isfunction(tool) or inspect.ismethod(tool)


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    '''The JSON Schema of a function.

    >>> def add(x: int, y: int = 0) -> int:
    ...     """Add two numbers.
    ...
    ...     Args:
    ...         x: the first
    ...         y: the second
    ...     """
    >>> schema_of(add)["function"]["parameters"]["properties"]["x"]
    {'type': 'integer', 'description': 'the first'}

    Raises `OptionError` for a function without a docstring, for an argument without a type hint or
    a description, and for a type that no JSON has.
    '''
    name = function.__name__
    text = inspect.getdoc(function)
    if not text:
        raise _unusable(name, "has no docstring", "Describe it and each of its arguments.")
    docstring = _parsed(text.strip())
    properties, required = _properties(function, name)
    returned = properties.pop("return", None)
    for argument, schema in properties.items():
        if argument not in docstring.arguments:
            raise _unusable(
                name,
                f"has no description of the argument {show(argument)} in its docstring",
                'Add a section "Args:" with a line "name: description" for each argument.',
            )
        _describe(schema, docstring.arguments[argument], name, argument)
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    described = {"name": name, "description": docstring.description, "parameters": parameters}
    if returned is not None:
        if docstring.returns is not None:
            returned["description"] = docstring.returns
        described["return"] = returned
    return {"type": "function", "function": described}


def _unusable(name: str, problem: str, hint: str) -> OptionError:
    return OptionError(f"the function {show(name)} {problem}.", value=name, hint=hint)


def _describe(schema: dict[str, Any], text: str, name: str, argument: str) -> None:
    choices = _CHOICES.search(text)
    if choices:
        try:
            found = json.loads(choices[1])
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, list):
            raise _unusable(
                name,
                f"has choices of the argument {show(argument)} that are no list in JSON",
                'Write them as (choices: ["tea", "coffee"]).',
            )
        schema["enum"] = [one.strip() if isinstance(one, str) else one for one in found]
        text = text[: choices.start()].strip()
    schema["description"] = text


def _properties(
    function: Callable[..., Any], name: str
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """The schema of each argument and of what is returned, and the names of required arguments."""
    try:
        hints = get_type_hints(function)
    except Exception as error:  # hints are evaluated, and may be anything
        problem = f"has type hints that cannot be evaluated: {error}"
        raise _unusable(name, problem, "Import what they name.") from None
    given = inspect.signature(function).parameters
    first = next(iter(given.values()), None)
    receiver = None
    if first is not None and first.name in ("self", "cls") and first.annotation is first.empty:
        receiver = first.name
    required = []
    for one in given.values():
        if one.name == receiver:
            continue
        if one.annotation is one.empty:
            problem = f"has no type hint for the argument {show(one.name)}"
            raise _unusable(name, problem, "Add it, as in x: int.")
        if one.default is one.empty:
            required.append(one.name)
    properties: dict[str, dict[str, Any]] = {}
    for argument, hint in hints.items():
        if argument == receiver:
            continue
        try:
            properties[argument] = _of_type(hint)
        except OptionError as error:
            if argument == "return":  # no model writes it, so it may be left out
                continue
            where = f"has an argument {show(argument)} that JSON cannot hold: {error.message}"
            raise _unusable(name, where.rstrip("."), error.hint or "") from None
    return properties, required


def _of_type(hint: Any, depth: int = 0) -> dict[str, Any]:
    """The schema of a type hint."""
    origin, args = get_origin(hint), get_args(hint)
    if depth > _DEEPEST:
        raise _no_type(hint, f"it has more than {_DEEPEST} levels")

    def inner(one: Any) -> dict[str, Any]:
        return _of_type(one, depth + 1)

    if origin is None:
        return _of_bare(hint)
    if origin in (Union, types.UnionType):
        return _of_union(args, inner)
    if origin is Literal:
        return _of_values(hint, args)
    if origin is list:
        return {"type": "array", "items": inner(args[0])} if args else {"type": "array"}
    if origin is tuple:
        return _of_tuple(hint, args, inner)
    if origin is dict:
        values = {"additionalProperties": inner(args[1])} if len(args) == 2 else {}
        return {"type": "object", **values}
    raise _no_type(hint, "it is no type of JSON")


def _of_bare(hint: Any) -> dict[str, Any]:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _of_values(hint, tuple(member.value for member in hint))
    place = getattr(hint, "__module__", None), getattr(hint, "__qualname__", None)
    if place in _OF_LIBRARIES:
        return {"type": _OF_LIBRARIES[place]}
    try:
        return dict(_BARE[hint])
    except (KeyError, TypeError):
        raise _no_type(hint, "it is no type of JSON") from None


def _of_values(hint: Any, values: tuple[Any, ...]) -> dict[str, Any]:
    if not values or any(type(value) not in _SCALARS for value in values):
        raise _no_type(hint, "its values are not all numbers, texts, bool or None")
    kinds = [*dict.fromkeys(_SCALARS[type(value)] for value in values)]
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": [*values]}


def _of_union(args: tuple[Any, ...], inner: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    schemas = [inner(one) for one in args if one is not type(None)]
    if len(schemas) == 1:
        found = schemas[0]
    elif all(one.keys() == {"type"} and isinstance(one["type"], str) for one in schemas):
        names = sorted({one["type"] for one in schemas})
        found = {"type": names[0] if len(names) == 1 else names}
    else:
        found = {"anyOf": schemas}
    return found | {"nullable": True} if type(None) in args else found


def _of_tuple(
    hint: Any, args: tuple[Any, ...], inner: Callable[[Any], dict[str, Any]]
) -> dict[str, Any]:
    if not args:
        return {"type": "array"}
    if len(args) == 1 or ... in args:
        raise _no_type(hint, "a tuple has two or more given items; use list[...] for others")
    return {"type": "array", "prefixItems": [inner(one) for one in args]}


def _no_type(hint: Any, reason: str) -> OptionError:
    return OptionError(
        f"there is no JSON Schema for the type {show(hint)}: {reason}.",
        hint="Use int, float, str, bool, list, tuple, dict, Literal, an Enum, or a union of these, "
        "or pass the schema as a dictionary.",
    )


def _parsed(text: str) -> _Docstring:
    """The parts of a docstring in Google's format."""
    description = re.split("Args:|Returns:|Raises:", text, maxsplit=1)[0].strip()
    arguments: dict[str, str] = {}
    if section := re.search(r"\n\s*Args:\n", text):
        inside = re.split("Returns:|Raises:", text[section.end() :], maxsplit=1)[0]
        arguments = _entries(inside.rstrip())
    returns = None
    if section := re.search(r"\n\s*Returns:\n\s*", text):
        returns = text[section.end() :].split("Raises:", 1)[0].strip()
    return _Docstring(description, arguments, returns)


def _entries(section: str) -> dict[str, str]:
    """The descriptions of arguments; each goes on until a name that is not indented deeper."""
    found: dict[str, list[str]] = {}
    indent, current = "", list[str]()
    for line in section.split("\n"):
        if not line.strip():
            continue
        entry = _ENTRY.match(line)
        is_deeper = line.startswith((f"{indent} ", f"{indent}\t"))
        # An entry without a text takes its next line, whatever that is.
        is_open = bool(found) and not any(map(str.strip, current))
        if entry and not is_open and not (found and is_deeper):
            indent, current = entry[1], [line[entry.end() :]]
            found[entry[2]] = current
        elif found:
            current.append(line)
    return {name: " ".join(map(str.strip, lines)).strip() for name, lines in found.items()}
