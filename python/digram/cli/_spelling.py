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
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

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
_CALL = rf"\((?:{_QUOTED}|[^()'\"])*\)"
_VERB = (
    r"(?<![\w./'-])digram\."
    r"(explain|replay|show|merge_tree|find_token|extend|train|count_pretokens|audit)\b"
    rf"(?!\.\w|/)(?:{_CALL})?"
)
_COUNTS = {"count_pretokens": "counts make"}
_SETTER = (
    r"(?<![\w./'-])(?:tok\.)?"
    rf"(?:with_(chat_template|context_size|pad_token)|save_pretrained)(?:{_CALL})?"
)
_FOLDER = "digram convert --for transformers"
"""The command that does what these methods do."""
_SET = {
    "chat_template": f"{_FOLDER} --chat-template FILE",
    "context_size": f"{_FOLDER} --context-size N",
    "pad_token": f"{_FOLDER} --pad TOKEN",
}
_OF_FILES = rf"digram\.files\(path, ((?:{_QUOTED}|[^()'\"])*)\)"
_FORMAT = rf"{_QUOTED}|\bformat="
_SPLIT = rf"\bpretokenizer=digram\.formats\.gguf\.pretokenizer\(({_QUOTED})\)"
_TOKEN = rf"(?<!=)\bdigram\.SpecialToken\(({_QUOTED})\)"
_CODE = (
    r"(?<![\w.])(?:(pretokenizer=digram\.(?=Pretokenizer\()|(?=Pretokenizer\())"
    r"|normalizer=(?=\[?[A-Z]\w+\())"
)
"""The start of a value that is Python's code, for which the shell has several options."""
_REPR = rf"(?<![\w.])(?:{_QUOTED}|[A-Z]\w*\()"
"""The start of a value as Python writes it, in which nothing is an argument; or a quoted text."""


class Spelling(NamedTuple):
    """How an option is written on the command line, and whether it is a flag without a value."""

    option: str
    is_flag: bool = False
    off: str | None = None
    """How a flag that is on by default is turned off."""


def spellings(commands: Iterable[click.Command]) -> dict[str, Spelling]:
    """The spelling of each argument of the library; the first command that has it decides."""
    by_name: dict[str, Spelling] = {}
    for command in commands:
        for option in command.params:
            if isinstance(option, click.Option) and option.name is not None:
                off = max(option.secondary_opts, key=len, default=None)
                spelling = Spelling(max(option.opts, key=len), option.is_flag, off)
                by_name.setdefault(option.name.rstrip("_"), spelling)
    if "chat_template" in by_name:
        by_name.setdefault("template", by_name["chat_template"])  # as `tok.chat` calls it
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
    >>> spelled("Set it: tok.with_chat_template(...).", {})
    'Set it: digram convert --for transformers --chat-template FILE.'
    >>> spelled("Train as in pretokenizer=digram.formats.gguf.pretokenizer('command-r').", {})
    'Train as in --pretokenizer gpt2 --digits individual.'
    >>> spelled("no Strip(regex='x'), as digram.SpecialToken('<unk>')", {"regex": Spelling("-r")})
    "no Strip(regex='x'), as '<unk>'"
    """
    for code, shown in _CODES.items():
        message = _replaced(code, shown, message)
    message = _with_pretokenizers(message)
    # The format of the source is --source-format, since --format is that of the output.
    message = re.sub(_OF_FILES, lambda of: re.sub(_FORMAT, _of_the_source, of[1]), message)
    in_shell = functools.partial(_in_shell, options)
    parts = _with_values(message)
    return "".join(
        part if is_value else re.sub(_ARGUMENT, in_shell, part) for part, is_value in parts
    )


def _replaced(code: str, shown: Callable[[re.Match[str]], str], message: str) -> str:
    """A message with its matches of a pattern replaced, but for those in quotes."""

    def replacement(match: re.Match[str]) -> str:
        return match[0] if match[0][0] in "'\"" else shown(match)

    return re.sub(rf"(?<![\w./-]){_QUOTED}|{code}", replacement, message)


def _with_values(message: str) -> Iterator[tuple[str, bool]]:
    """The parts of a message, and whether each is a value as Python writes it.

    >>> [*_with_values("the Strip(left=True), here")]
    [('the ', False), ('Strip(left=True)', True), (', here', False)]
    """
    done = 0
    for start in re.finditer(_REPR, message):
        if start.start() < done or start[0][0] in "'\"":
            continue
        end = _end(message, start.start())
        if end is not None:
            yield message[done : start.start()], False
            yield message[start.start() : end], True
            done = end
    yield message[done:], False


def _end(message: str, start: int) -> int | None:
    """Where a call or a list that starts here ends; None if it does not."""
    depth = 0
    for one in re.finditer(rf"{_QUOTED}|[()\[\]]", message[start:]):
        depth += (one[0] in "([") - (one[0] in ")]")
        if not depth and one[0] in ")]":
            return start + one.end()
    return None


def _with_pretokenizers(message: str) -> str:
    """A message with the options of pretokenizers and normalizers that it has as Python's code.

    >>> _with_pretokenizers("pretokenizer=digram.Pretokenizer('gpt2', normalizer=NFC()), too")
    '--pretokenizer gpt2 --normalizer nfc, too'
    >>> _with_pretokenizers("It has Pretokenizer(None, digits='individual').")
    'It has --pretokenizer none --digits individual.'
    >>> print(_with_pretokenizers("Or normalizer=[NFC(), Strip(left=True, right=False)]."))
    Or --normalizer nfc --normalizer '["strip", true, false]'.
    """
    shown, done, within = "", 0, 0
    for start in re.finditer(_CODE, message):
        end = _end(message, start.end())
        if end is None or start.start() < within:
            continue
        within = end
        options = _options_of(start[1], message[start.end() : end])
        if options is not None:
            shown += message[done : start.start()] + options
            done = end
    return shown + message[done:]


def _options_of(name: str | None, code: str) -> str | None:
    """The options for a pretokenizer or a normalizer that is Python's code; None if there are none.

    Only calls of their classes are made: a message may have the text of a file.
    """
    import ast

    from digram import pretokenizers
    from digram.cli._pretokenizers import pretokenizer_spelled

    def made(node: ast.expr) -> Any:
        if isinstance(node, ast.List | ast.Tuple):
            return [*map(made, node.elts)]
        if not isinstance(node, ast.Call):
            return ast.literal_eval(node)
        kind = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if kind not in _KINDS:
            raise ValueError(kind)
        by_name = {one.arg: made(one.value) for one in node.keywords if one.arg is not None}
        return getattr(pretokenizers, kind)(*map(made, node.args), **by_name)

    try:
        value = made(ast.parse(code, mode="eval").body)
        if name is None:
            whole = pretokenizer_spelled(pretokenizers.Pretokenizer(None, normalizer=value))
            return whole.removeprefix("--pretokenizer none ")
        return None if value.rules or value.byte_patterns else pretokenizer_spelled(value)
    except Exception:  # it is something else that looks like it
        return None


_KINDS = frozenset(
    (
        *("Pretokenizer", "Regex", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Nmt", "Strip"),
        *("Prepend", "Replace", "StripAccents", "BertNormalizer"),
    )
)


def _is_python(match: re.Match[str]) -> bool:
    """Whether the sentence says that this is done in Python."""
    return "in Python," in match.string[: match.start()].rpartition(". ")[2]


def _verb(name: str) -> str:
    """The verb of a function.

    >>> _verb("find_token"), _verb("count_pretokens")
    ('find-token', 'counts make')
    """
    return _COUNTS.get(name, name).replace("_", "-")


def _split(quoted: str) -> str:
    """The options for a split of llama.cpp, which has no name in the shell."""
    import ast

    from digram.cli._pretokenizers import pretokenizer_spelled
    from digram.formats import gguf

    return pretokenizer_spelled(gguf.pretokenizer(ast.literal_eval(quoted)))


def _of_the_source(match: re.Match[str]) -> str:
    return "source_format=" if match[0] == "format=" else match[0]


def _in_shell(options: Mapping[str, Spelling], match: re.Match[str]) -> str:
    name, value = match["name"] or match["bare"], match["value"]
    if name not in options:
        return match[0]
    spelling = options[name]
    if value == "False" and spelling.off is not None:
        return spelling.off
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


_CODES: dict[str, Callable[[re.Match[str]], str]] = {
    _VERB: lambda of: f"digram {_verb(of[1])}",
    _SETTER: lambda of: of[0] if _is_python(of) else _SET.get(of[1], _FOLDER),
    _SPLIT: lambda of: _split(of[1]),
    _TOKEN: lambda of: _value(of[1]),
}
"""What stands in place of code that a pattern matches."""
