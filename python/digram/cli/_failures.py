"""Turn exceptions into one message on stderr and an exit code, without a traceback."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import click

from digram.cli._spelling import Spelling, spelled

__all__ = [
    "Failure",
    "advised",
    "failure",
    "of_verb",
    "quiet_stdout",
    "reserve_standard_files",
]

_USAGE, _INPUT, _IO, _INTERNAL, _INTERRUPTED = 2, 3, 4, 70, 130


class Failure(NamedTuple):
    """A message for stderr, and the exit code."""

    message: str
    exit_code: int

    def show(self) -> int:
        """Print the message and return the exit code."""
        click.echo(f"Error: {self.message}", err=True)
        return self.exit_code


_TEXT_IN = frozenset({"encode", "count", "truncate", "chunks"})
"""Verbs without `--text` that read text, and for which users may try `--text`."""
_OF_SEVERAL = frozenset({"evaluate", "serve"})
"""Verbs that take any number of tokenizers, and for which users may try `--against`."""


def advised(error: click.NoSuchOption) -> click.UsageError:
    """The error for an unknown option, with what to write instead if that is known."""
    context = error.ctx
    name = None if context is None else context.info_name
    if name in _OF_SEVERAL and error.option_name == "--against":
        several = "there is no option --against; repeat -t, as in -t old.json -t new.json"
        return click.UsageError(several, context)
    if context is None or error.option_name != "--text" or name not in _TEXT_IN:
        return _with_near_options(error)
    return click.UsageError(
        "there is no option --text; text comes from a file or stdin, as in\n"
        f"  printf %s 'some text' | {context.command_path} {context.command.options_metavar}\n"
        "To look at the tokens of a short text: digram show --text 'some text' -t PATH",
        context,
    )


def _with_near_options(error: click.NoSuchOption) -> click.UsageError:
    """The error with options that are written similarly, of the verb or else of `digram train`."""
    typed, context = error.option_name, error.ctx
    if context is None or not typed.startswith("--"):
        return error
    # click compares the dashes too, so that all short names seem similar.
    near = _near(typed, error.possibilities or (), 0.6)
    if near:
        return click.NoSuchOption(typed, possibilities=near, ctx=context)
    root = context.find_root()
    assert isinstance(root.command, click.Group)
    train = root.command.get_command(root, "train")
    options = [] if train is None else [one for param in train.params for one in param.opts]
    of_train = _near(typed, options, 0.75)[:1]
    told = "".join(f" digram train has {one!r}." for one in of_train)
    return click.NoSuchOption(typed, f"{error.message}{told}", ctx=context)


def _near(typed: str, options: Iterable[str], cutoff: float) -> list[str]:
    """The long options whose names are similar to a typed one, the most similar first."""
    import difflib  # imported here, since only errors need it

    names = [one[2:] for one in options if one.startswith("--")]
    return [f"--{one}" for one in difflib.get_close_matches(typed[2:], names, cutoff=cutoff)]


def failure(error: BaseException, options: Mapping[str, Spelling] | None = None) -> Failure:
    """The message and the exit code for an exception of a verb.

    `options` maps argument names in the message to options of the verb.
    """
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return Failure("interrupted.", _INTERRUPTED)
    if isinstance(error, OSError):
        return Failure(_system_message(error, options or {}), _IO)
    if isinstance(error, MemoryError):
        return Failure("out of memory.", _IO)

    from digram.errors import DigramError, InternalError, OptionError, PatternError

    if isinstance(error, DigramError) and not isinstance(error, InternalError):
        # A pattern error with a path comes from a file, any other from an option.
        typed = isinstance(error, PatternError) and error.path is None
        usage = typed or isinstance(error, OptionError)
        error.message = spelled(error.message, options or {})
        error.hint = None if error.hint is None else spelled(error.hint, options or {})
        return Failure(str(error), _USAGE if usage else _INPUT)
    import traceback

    # A panic of the core is a BaseException and is handled here too.
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return Failure(
        f"internal error{place}: {type(error).__name__}: {error}\n"
        "This should not happen; please report the command and this message.",
        _INTERNAL,
    )


def of_verb(error: BaseException) -> Failure:
    """The failure for an error after which the running verb continues."""
    root = click.get_current_context().find_root()
    spellings = getattr(root.command, "spellings", None)
    return failure(error, None if spellings is None else spellings(root))


def reserve_standard_files() -> None:
    """Open the null device in place of standard files that are closed.

    Otherwise the next file that is opened has the number of one of them, or none has, and libraries
    that use these numbers fail: the one that draws charts aborts its thread without a stdout.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one


def quiet_stdout() -> None:
    """Discard the buffer of stdout if it cannot be written.

    Otherwise Python tries again at exit, prints a traceback and changes the exit code.
    """
    if sys.stdout is None:  # closed by the parent process
        return
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _system_message(error: OSError, options: Mapping[str, Spelling]) -> str:
    if error.strerror is None:
        return str(error)
    where = "" if error.filename is None else f"{click.format_filename(error.filename)}: "
    reason = spelled(error.strerror, options)
    if error.errno == errno.ENOENT and error.strerror == os.strerror(errno.ENOENT):
        reason = "there is no such file or folder"  # the words of `digram.files`
    advice = "".join(f" {spelled(note, options)}" for note in getattr(error, "__notes__", ()))
    return f"{where}{reason}.{advice}"
