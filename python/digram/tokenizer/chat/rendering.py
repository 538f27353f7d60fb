"""Rendering: the text of a chat, marked with its origin."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NamedTuple

from digram.errors import DigramError, OptionError, show
from digram.tokenizer.chat.environment import compiled
from digram.tokenizer.chat.inputs import Messages, plain, reasoning_names
from digram.tokenizer.chat.marked import TEMPLATE, Marked, joined

__all__ = ["Request", "generation_prompt", "rendered"]

_TAG = "CONTINUE_FINAL_MESSAGE_TAG "
"""The text after which a chat is cut; transformers has the same, which a template may trim."""


class Request(NamedTuple):
    """What is rendered beside the messages."""

    source: str
    tokens: Mapping[str, str]
    """The variables with special tokens, such as `bos_token`."""
    tools: Any
    documents: Any
    variables: Mapping[str, Any]
    add_generation_prompt: bool
    continue_final_message: bool | str

    def of_template(self) -> dict[str, Any]:
        """The variables for the template, but the messages."""
        tokens = {name: Marked(text, TEMPLATE) for name, text in self.tokens.items()}
        return {
            **tokens,
            **{name: plain(value) for name, value in self.variables.items()},
            "tools": _dictionaries("tools", self.tools),
            "documents": _dictionaries("documents", self.documents),
            "add_generation_prompt": self.add_generation_prompt,
        }


def rendered(chat: Messages, request: Request) -> Marked:
    """The text of a chat. Raises `OptionError` if the template fails or refuses the messages."""
    variables = request.of_template()
    if not request.continue_final_message:
        return _run(request.source, chat, variables)
    chat = [*chat[:-1], copy.deepcopy(chat[-1])]
    last = _tagged(chat[-1], request)
    text = _run(request.source, chat, variables)
    at = str.rfind(text, _TAG.strip())
    if at < 0 or last.strip() not in text:
        raise OptionError(
            "the template does not write the final message as it is, so it cannot be continued.",
            value=last,
            hint="It may leave out a part of it.",
        )
    is_kept = str.startswith(text, _TAG, at)
    return text[:at] if is_kept else text[:at].rstrip()


def _run(source: str, chat: Messages, variables: dict[str, Any]) -> Marked:
    template = compiled(source)
    try:
        text = template.render(messages=chat, **variables)
    except (DigramError, MemoryError):
        raise
    except RecursionError:
        raise OptionError("the chat template calls itself without an end.") from None
    except Exception as error:  # a template is a program of its own
        raise OptionError(
            f"the chat template fails: {type(error).__name__}: {error}.",
            hint="Pass what it expects, or another template.",
        ) from error
    return text if isinstance(text, Marked) else joined([text])


def generation_prompt(chat: Messages, request: Request) -> Marked:
    """What the template adds to ask for a message of the assistant; empty if that is unclear."""
    plainly = request._replace(continue_final_message=False, add_generation_prompt=False)
    try:
        without = rendered(chat, plainly)
        with_it = rendered(chat, plainly._replace(add_generation_prompt=True))
    except OptionError:
        return Marked()
    return with_it[len(without) :] if with_it.startswith(without) else Marked()


def _tagged(last: dict[str, Any], request: Request) -> Marked:
    """Append the tag to the text that is to be continued, and return that text without it."""
    key = request.continue_final_message
    name = key if isinstance(key, str) else "content"
    if last.get(name) is None:
        raise OptionError(f"the final message has no {show(name)} to continue.", value=key)
    names = reasoning_names(last, name)
    if not any(one in request.source for one in names):
        raise OptionError(
            f"the chat template does not use the field {show(name)} of messages.", value=key
        )
    if isinstance(last[name], Marked):
        text: Marked = last[name]
        for one in names:
            last[one] = text + _TAG
        return text
    blocks = last[name] if isinstance(last[name], list | tuple) else ()
    for block in reversed(blocks):
        if isinstance(block, dict) and isinstance(block.get("text"), Marked):
            text = block["text"]
            block["text"] = text + _TAG
            return text
    raise OptionError(f"the field {show(name)} of the final message has no text.", value=key)


def _dictionaries(name: str, values: Any) -> Any:
    if values is None:
        return None
    if not isinstance(values, list | tuple):
        raise TypeError(f"{name} is a list of dictionaries, not {type(values).__name__}")
    for index, value in enumerate(values):
        if not isinstance(value, Mapping):
            what = " as JSON Schema, or a function" if name == "tools" else ""
            kind = type(value).__name__
            raise TypeError(f"{name}[{index}] is a dictionary{what}, not {kind}")
    return plain(values)
