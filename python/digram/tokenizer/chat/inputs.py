"""What a template gets to see: plain values, in which each text is marked with its origin."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from digram.errors import LimitExceededError, OptionError, show
from digram.tokenizer.chat.marked import CONTENT, MODEL, TEMPLATE, Marked

__all__ = ["Messages", "messages_of", "plain", "reasoning_names", "texts_in"]

Messages = list[dict[str, Any]]
"""The messages of a chat as a template gets them."""

_DEEPEST = 100
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_REASONING = ("reasoning_content", "thinking", "reasoning")
"""The names under which the reasoning of a message is given; templates read the first."""


def plain(value: Any, trust: int = CONTENT, said: int = 0, depth: int = 0) -> Any:
    """A value as JSON has it, with marked texts; keys of dictionaries are content, too.

    >>> plain({"a": ("b", 1)})
    {'a': ('b', 1)}

    Dataclasses and models of pydantic become dictionaries, any other object a text with its type,
    so that a template has no method to call. Raises `LimitExceededError` for more than 100 levels.
    """
    if depth > _DEEPEST:
        raise LimitExceededError(f"the values of a chat have more than {_DEEPEST} levels.")
    if isinstance(value, str):
        return Marked(str.__str__(value), trust, said)
    if value is None or type(value) in (int, float, bool):
        return value

    def deeper(one: Any) -> Any:
        return plain(one, trust, said, depth + 1)

    if isinstance(value, Mapping):
        return {deeper(key): deeper(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = map(deeper, value)
        return tuple(items) if isinstance(value, tuple) else [*items]
    return _of_object(value, deeper)


def _of_object(value: Any, deeper: Callable[[Any], Any]) -> Any:
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {deeper(field.name): deeper(getattr(value, field.name)) for field in fields}
    if callable(getattr(value, "model_dump", None)):  # pydantic
        return deeper(value.model_dump())
    if type(value).__module__ == "numpy" and hasattr(value, "item") and not hasattr(value, "shape"):
        return deeper(value.item())
    return Marked(f"<{type(value).__name__}>")


def messages_of(messages: Any) -> Messages:
    """The messages of a chat; raises `TypeError` or `OptionError` if they are none.

    The role is the word of the program that calls, which templates build special tokens from: it
    counts as text of the template if it is a name in ASCII. All other texts are content, those of
    the assistant with the number of their message.
    """
    given = getattr(messages, "messages", messages)
    if not isinstance(given, list | tuple):
        raise TypeError(f"messages is a list of messages, not {type(given).__name__}")
    if not given:
        raise OptionError("there are no messages.", hint="A chat has at least one.")
    found = []
    for index, message in enumerate(given):
        fields = plain(message)
        if not isinstance(fields, dict):
            raise TypeError(
                f"messages[{index}] is a dict with a role and a content, not {show(message)}"
            )
        role = fields.get("role")
        if role == "assistant":
            fields = plain(message, MODEL, index + 1)
        if isinstance(role, str) and _NAME.fullmatch(role):
            fields["role"] = Marked(str.__str__(role), TEMPLATE)
        # Many templates fail for a value that is None, and take a missing one.
        fields = {key: value for key, value in fields.items() if value is not None}
        found.append(_with_reasoning(fields))
    return found


def _with_reasoning(fields: dict[str, Any]) -> dict[str, Any]:
    given = [fields[name] for name in _REASONING if fields.get(name) is not None]
    if not given:
        return fields
    return {"thinking": given[0], **fields, "reasoning_content": given[0]}


def reasoning_names(fields: dict[str, Any], name: str) -> list[str]:
    """The names under which a message has the same text as under `name`."""
    same = [other for other in _REASONING if fields.get(other) == fields[name]]
    return same if name in _REASONING else [name]


def texts_in(value: Any) -> list[str]:
    """All texts in a value of `plain`, in order.

    >>> texts_in({"a": [{"b": "c"}, 1]})
    ['a', 'b', 'c']
    """
    found: list[str] = []
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            left += [part for item in reversed(one.items()) for part in reversed(item)]
        elif isinstance(one, list | tuple):
            left += reversed(one)
    return found
