r"""Rewrite messages of the library for the command line: arguments become options.

Errors and warnings of the library name arguments as Python writes them. A verb passes each message
through `spelled`, so that no other package needs to know the command line.

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

# Patterns are compiled when a message is first rewritten: most commands show none.
#
# Messages quote user input with `repr`; quoted text is not changed. A quote after a letter is an
# apostrophe.
_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_ARGUMENT = (
    rf"(?<![\w./-])(?:(?P<name>[a-z_]+)="
    rf"(?P<value>{_QUOTED}|[\w.]+\((?:{_QUOTED}|\.\.\.)\)|\.\.\.|-?\w+)?"
    rf"|(?P<bare>[a-z]+(?:_[a-z]+)+)\b(?!=|\(|\.\w)|{_QUOTED})"
)
# A call in a message becomes the verb; the arguments of digram.files become options of the verb.
_VERB = r"\bdigram\.(explain|replay|show|merge_tree|find_token)\(tok, \.\.\.\)"
_OF_FILES = rf"digram\.files\(path, ((?:{_QUOTED}|[^()'\"])*)\)"
_FORMAT = rf"{_QUOTED}|\bformat="


class Spelling(NamedTuple):
    """How an option is written on the command line, and whether it is a flag without a value."""

    option: str
    is_flag: bool = False


def spellings(commands: Iterable[click.Command]) -> dict[str, Spelling]:
    """The spelling of each argument of the library; the first command that has it decides."""
    by_name: dict[str, Spelling] = {}
    for command in commands:
        for option in command.params:
            if isinstance(option, click.Option) and option.name is not None:
                spelling = Spelling(max(option.opts, key=len), option.is_flag)
                by_name.setdefault(option.name.rstrip("_"), spelling)
    return by_name


def spelled(message: str, options: Mapping[str, Spelling]) -> str:
    """A message of the library with its arguments spelled as options.

    >>> options = {"pretokenizer": Spelling("--pretokenizer"), "regex": Spelling("--regex")}
    >>> spelled('pretokenizer=None, pretokenizer="gpt2", pretokenizer=digram.Regex(...)', options)
    '--pretokenizer none, --pretokenizer gpt2, --regex PATTERN'
    >>> options = {"on_error": Spelling("--on-error")}
    >>> spelled('Pass digram.files(path, on_error="skip") to skip records.', options)
    'Pass --on-error skip to skip records.'
    >>> options = {"format": Spelling("--format"), "source_format": Spelling("--source-format")}
    >>> spelled('Pass digram.files(path, format="text").', options)
    'Pass --source-format text.'
    >>> options = {"separator": Spelling("--separator")}
    >>> spelled("Pass digram.files(path, separator='<|(format=)|>').", options)
    "Pass --separator '<|(format=)|>'."
    >>> spelled("Split it with digram.files(path, separator=...).", options)
    'Split it with --separator.'
    >>> spelled("See what it becomes with digram.explain(tok, ...).", {})
    'See what it becomes with digram explain.'
    """
    message = re.sub(_VERB, lambda match: f"digram {match[1].replace('_', '-')}", message)
    # The format of the source is --source-format, since --format is that of the output.
    message = re.sub(_OF_FILES, lambda of: re.sub(_FORMAT, _of_the_source, of[1]), message)
    return re.sub(_ARGUMENT, functools.partial(_in_shell, options), message)


def _of_the_source(match: re.Match[str]) -> str:
    return "source_format=" if match[0] == "format=" else match[0]


def _in_shell(options: Mapping[str, Spelling], match: re.Match[str]) -> str:
    name, value = match["name"] or match["bare"], match["value"]
    if name not in options:
        return match[0]
    spelling = options[name]
    if value in (None, "...") or spelling.is_flag:
        return spelling.option
    if value.startswith("digram.Regex(") and "regex" in options:
        pattern = "PATTERN" if value.endswith("(...)") else _value(value)
        return f"{options['regex'].option} {pattern}"
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
