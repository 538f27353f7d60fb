"""Docstrings as Markdown, for mkdocstrings: how griffe reads the package."""

from __future__ import annotations

import re
from typing import Any

import griffe

ARGUMENT = re.compile(r" {4}(\w+(?:, \w+)*): (.*)")


def markdown(docstring: str) -> str:
    r"""A docstring as Markdown: examples between fences, indented arguments as a list.

    An example reaches from its first `>>>` to the next empty line.

    >>> markdown("Adds.\n\n>>> 1 + 1\n2").splitlines()
    ['Adds.', '', '```pycon', '>>> 1 + 1', '2', '```']
    >>> markdown("Adds.\n\n    n: one\n        of them\n    m: other").splitlines()
    ['Adds.', '', '- `n`: one', '  of them', '- `m`: other']
    """
    lines, example, argument = list[str](), False, False
    for line in docstring.splitlines():
        found = None if example else ARGUMENT.fullmatch(line)
        if found and (argument or not lines or not lines[-1].strip()):
            lines.append(f"- `{found[1]}`: {found[2]}")
            argument = True
            continue
        if argument and line.startswith(" " * 8):
            lines.append(f"  {line.strip()}")
            continue
        argument = False
        if not example and line.lstrip().startswith(">>>"):
            lines.append("```pycon")
            example = True
        elif example and not line.strip():
            lines.append("```")
            example = False
        lines.append(line)
    return "\n".join([*lines, "```"] if example else lines)


class Markdown(griffe.Extension):
    """Makes Markdown of all docstrings."""

    def on_instance(self, *, obj: griffe.Object, **_more: Any) -> None:
        if obj.docstring is not None and not obj.is_alias:
            obj.docstring.value = markdown(obj.docstring.value)


class Names(griffe.Extension):
    """Writes out the short names that the types of the compiled core have in its stub."""

    def on_package(self, *, pkg: griffe.Module, **_more: Any) -> None:
        core = pkg["_core"]
        types = {
            name: str(member.value)
            for name, member in core.attributes.items()
            if name.startswith("_") and not name.startswith("__") and member.value is not None
        }
        for kind in core.classes.values():
            for method in kind.functions.values():
                method.labels.discard("method descriptor")
                for parameter in method.parameters:
                    parameter.annotation = _written_out(parameter.annotation, types)
                method.returns = _written_out(method.returns, types)


def _written_out(annotation: Any, types: dict[str, str]) -> Any:
    text = str(annotation)
    while short := re.search(r"\b_\w+", text):
        if short[0] not in types:
            return annotation
        text = text.replace(short[0], types[short[0]])
    return annotation if annotation is None or text == str(annotation) else text
