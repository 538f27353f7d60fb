r"""The library's words for its options, in the spelling of a shell.

Errors and warnings of the library name its arguments as Python writes them. What a verb shows goes
through here once, at the border, so that no room below needs to know that there is a shell.

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

# Messages quote by `repr` what users wrote, and what is quoted stays as it is. A quote after a
# letter is an apostrophe.
_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_ARGUMENT = re.compile(
    rf"(?<![\w./-])(?:(?P<name>[a-z_]+)=(?P<value>{_QUOTED}|[\w.]+\((?:{_QUOTED}|\.\.\.)\)|-?\w+)?"
    rf"|(?P<bare>[a-z]+(?:_[a-z]+)+)\b(?!=|\(|\.\w)|{_QUOTED})"
)
# What a verb reads is named by its arguments, and how it is read by options of the verb itself.
_VERB = re.compile(r"\bdigram\.(explain|replay|show|merge_tree|find_token)\(tok, \.\.\.\)")
_OF_FILES = re.compile(r"digram\.files\(path, ([^()]*)\)")


class Spelling(NamedTuple):
    """How an option is written in a shell, and whether it is a flag without a value."""

    option: str
    is_flag: bool = False


def spellings(commands: Iterable[click.Command]) -> dict[str, Spelling]:
    """How the arguments of the library are spelled by verbs, the first one's spelling first."""
    found: dict[str, Spelling] = {}
    for command in commands:
        for option in command.params:
            if isinstance(option, click.Option) and option.name is not None:
                spelling = Spelling(max(option.opts, key=len), option.is_flag)
                found.setdefault(option.name.rstrip("_"), spelling)
    return found


def spelled(message: str, options: Mapping[str, Spelling]) -> str:
    """A message of the library with the options that it names as one types them.

    >>> options = {"pretokenizer": Spelling("--pretokenizer"), "regex": Spelling("--regex")}
    >>> spelled('pretokenizer=None, pretokenizer="gpt2", pretokenizer=digram.Regex(...)', options)
    '--pretokenizer none, --pretokenizer gpt2, --regex PATTERN'
    >>> options = {"on_error": Spelling("--on-error")}
    >>> spelled('Pass digram.files(path, on_error="skip") to skip records.', options)
    'Pass --on-error skip to skip records.'
    >>> options = {"format": Spelling("--format"), "source_format": Spelling("--source-format")}
    >>> spelled('Pass digram.files(path, format="text").', options)
    'Pass --source-format text.'
    >>> spelled("See what it becomes with digram.explain(tok, ...).", {})
    'See what it becomes with digram explain.'
    """
    message = _VERB.sub(lambda match: f"digram {match[1].replace('_', '-')}", message)
    # Beside the format of what is written, that of what is read has a name of its own.
    message = _OF_FILES.sub(lambda match: match[1].replace("format=", "source_format="), message)
    return _ARGUMENT.sub(functools.partial(_in_shell, options), message)


def _in_shell(options: Mapping[str, Spelling], match: re.Match[str]) -> str:
    name, value = match["name"] or match["bare"], match["value"]
    if name not in options:
        return match[0]
    spelling = options[name]
    if value is None or spelling.is_flag:
        return spelling.option
    if value.startswith("digram.Regex(") and "regex" in options:
        pattern = "PATTERN" if value.endswith("(...)") else _value(value)
        return f"{options['regex'].option} {pattern}"
    return f"{spelling.option} {_value(value)}"


def _value(python: str) -> str:
    import ast  # only for an error: the command line starts without
    import shlex

    quoted = re.search(_QUOTED, python)
    if quoted is not None:
        text = str(ast.literal_eval(quoted[0]))
        return shlex.quote(text) if text.isprintable() else quoted[0]
    if python.endswith("(...)"):
        return "TOKEN"
    return "none" if python == "None" else python.replace("_", "")
