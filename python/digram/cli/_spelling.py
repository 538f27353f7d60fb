"""Rewrite messages of the library for the command line: arguments become options.

Messages name arguments as `name=value`, as Python writes them. A verb passes each message through
`spelled`, which knows only this notation. What else differs in a shell, such as a call, is `said`
where the message is made (`_util/wording.py`).

>>> options = {"vocab_size": Spelling("--vocab-size"), "allow_loss": Spelling("--allow-loss", True)}
>>> spelled("vocab_size=32_000 and allow_loss=True; see vocab_size, not 'vocab_size=1'", options)
"--vocab-size 32000 and --allow-loss; see --vocab-size, not 'vocab_size=1'"
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import click

__all__ = ["Spelling", "spelled", "spellings"]

# Messages quote user input with `repr`; quoted text is not changed, and neither is the argument of
# a call. A quote after a letter is an apostrophe. The pattern is compiled when a message is first
# rewritten: most commands show none.
_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_ARGUMENT = (
    rf"(?<![\w./-])(?<!\w\()(?:(?P<name>[a-z_]+)="
    rf"(?P<value>{_QUOTED}|digram\.\w+\((?:{_QUOTED}|\.\.\.)\)|\.\.\.|-?\w+\b(?!\()|(?![\w\[]))"
    rf"|(?P<bare>[a-z]+(?:_[a-z]+)+)\b(?!=|\(|\.\w)|{_QUOTED})"
)


class Spelling(NamedTuple):
    """How an option is written on the command line, and whether it is a flag without a value."""

    option: str
    is_flag: bool = False
    off: str | None = None
    """How a flag that is on by default is turned off."""


def spellings(commands: Iterable[click.Command]) -> dict[str, Spelling]:
    """The spelling of each argument of the library; the first command that has it decides.

    What a command takes without an option is called as its help page calls it, such as SIZE.
    """
    by_name: dict[str, Spelling] = {}
    for command in commands:
        for option in command.params:
            if isinstance(option, click.Argument) and option.nargs == 1:
                by_name.setdefault(str(option.name), Spelling((option.metavar or "").strip("[]")))
            elif isinstance(option, click.Option) and option.name is not None:
                off = max(option.secondary_opts, key=len, default=None)
                spelling = Spelling(max(option.opts, key=len), option.is_flag, off)
                by_name.setdefault(option.name.rstrip("_"), spelling)
    for name, other in (("template", "chat_template"), ("pad_token", "pad")):
        if other in by_name:  # `tok.chat` and the settings of a tokenizer call it otherwise
            by_name.setdefault(name, by_name[other])
    return by_name


def spelled(message: str, options: Mapping[str, Spelling]) -> str:
    """A message of the library with its arguments spelled as options.

    >>> options = {"pretokenizer": Spelling("--pretokenizer"), "regex": Spelling("--regex")}
    >>> spelled("pretokenizer=None, pretokenizer='gpt2', pretokenizer=digram.Regex('a')", options)
    '--pretokenizer none, --pretokenizer gpt2, --regex a'
    >>> spelled("no Strip(regex='x'), normalizer=[NFC()]", options | {"normalizer": Spelling("-n")})
    "no Strip(regex='x'), normalizer=[NFC()]"
    """
    return re.sub(_ARGUMENT, functools.partial(_in_shell, options), message)


def _in_shell(options: Mapping[str, Spelling], match: re.Match[str]) -> str:
    name, value = match["name"] or match["bare"], match["value"]
    if name not in options:
        return match[0]
    spelling = options[name]
    if value == "False" and spelling.off is not None:
        return spelling.off
    if not value or value == "..." or spelling.is_flag:
        return spelling.option
    if value.startswith("digram.Regex(") and "regex" in options:
        return f"{options['regex'].option} {_value(value)}"
    return f"{spelling.option} {_value(value)}"


def _value(python: str) -> str:
    import ast  # imported here, since only errors need it
    import shlex

    quoted = re.search(_QUOTED, python)
    if quoted is not None:
        text = str(ast.literal_eval(quoted[0]))
        return shlex.quote(text) if text.isprintable() else quoted[0]
    if python.endswith("(...)"):
        return "TOKEN"
    return "none" if python == "None" else python.replace("_", "")
