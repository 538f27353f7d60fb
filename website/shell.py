"""The verbs of the command line as Markdown, from the commands themselves."""

from __future__ import annotations

import inspect
import re

import click

from digram.cli import cli


def verb(name: str) -> str:
    """A verb, as in "train" or "counts make": what it does, its options, its example."""
    command: click.Command | None = cli
    context = click.Context(cli, info_name="digram")
    for part in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(context, part)
        assert command is not None, name
        context = click.Context(command, info_name=part, parent=context)
    assert command is not None
    usage = command.get_usage(context).removeprefix("Usage: ")
    lines = ["", f"## digram {name}", "", "```text", " ".join(usage.split()), "```", ""]
    lines += [_prose(inspect.cleandoc(command.help or "")), ""]
    options = [record for option in command.params if (record := option.get_help_record(context))]
    if isinstance(command, click.Group):
        verbs = command.list_commands(context)
        lines += [f"- [`{name} {verb}`](#digram-{name}-{verb})" for verb in verbs]
    else:
        lines += ["| option | |", "|---|---|"]
        lines += [f"| `{option}` | {_cell(text)} |" for option, text in options if text]
    example = re.sub(r"^ *(\x08|Example:) *$", "", command.epilog or "", flags=re.MULTILINE)
    lines += [
        "",
        "```console",
        *(f"$ {line.strip()}" for line in example.splitlines() if line.strip()),
    ]
    return "\n".join([*lines, "```", ""])


def _prose(text: str) -> str:
    return re.sub(r"([*_\[])", r"\\\1", text.replace("\b\n", "").replace("<", "&lt;"))


def _cell(text: str) -> str:
    return _prose(" ".join(text.split())).replace("|", "\\|")
