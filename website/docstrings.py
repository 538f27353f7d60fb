"""Docstrings as Markdown, for mkdocstrings: how griffe reads the package."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
        if found:
            if not argument and lines and lines[-1].strip():
                lines.append("")
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


class Types(griffe.Extension):
    """Writes out names of types that say no more than their value: of choices, and private ones."""

    def on_package(self, *, pkg: griffe.Module, **_more: Any) -> None:
        for function in _functions(pkg):
            function.labels.discard("method descriptor")
            for parameter in function.parameters:
                parameter.annotation = _written_out(parameter.annotation, pkg)
            function.returns = _written_out(function.returns, pkg)
            for overload in function.overloads or ():
                for parameter in overload.parameters:
                    parameter.annotation = _written_out(parameter.annotation, pkg)


def _functions(scope: griffe.Object) -> Iterator[griffe.Function]:
    for member in scope.members.values():
        if isinstance(member, griffe.Function):
            yield member
        elif isinstance(member, griffe.Class | griffe.Module):
            yield from _functions(member)


def _written_out(annotation: Any, pkg: griffe.Module) -> Any:
    if not isinstance(annotation, griffe.Expr):
        return annotation
    parts = [_value(part, pkg) for part in annotation.iterate(flat=True)]
    text = "".join(parts)
    return annotation if text == str(annotation) else text


def _value(part: Any, pkg: griffe.Module) -> str:
    """What a name stands for, if it is one of ours and that says more than the name."""
    if isinstance(part, griffe.ExprName) and part.canonical_path.startswith("digram."):
        try:
            named = pkg[part.canonical_path.removeprefix("digram.")]
        except KeyError:
            return str(part)
        if named.is_attribute and named.value is not None:
            value = str(named.value)
            if value.startswith("Literal[") or named.name.startswith("_"):
                return value
    return str(part)
