"""The command line: `digram VERB`, with one module for each verb.

A group of verbs is a package. Modules whose names start with an underscore are shared by verbs.
At the start, only click and `_verbs` are imported.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from digram.cli._verbs import Verbs, example

if TYPE_CHECKING:
    from digram.cli._spelling import Spelling

__all__ = ["VERBS", "cli", "main"]

# The module of a verb is imported when the verb is called: importing all of them takes long.
VERBS = {
    "train": ("train", "Train a tokenizer on files."),
    "train-fair": ("train_fair", "Train one tokenizer for several languages, fairly."),
    "encode": ("encode", "Turn text into ids."),
    "decode": ("encode", "Turn ids into text."),
    "count": ("count", "Count tokens, bytes and characters."),
    "truncate": ("truncate", "Cut a text to a maximum number of tokens."),
    "chunks": ("chunks", "Cut texts into chunks with a maximum number of tokens."),
    "show": ("show", "Show a text with its tokens in colour."),
    "explain": ("explain", "Show which merges produced the tokens of a text."),
    "replay": ("replay", "Replay training on a text, merge by merge."),
    "merge-tree": ("merge_tree", "Show the merges that a token consists of."),
    "find-token": ("find_token", "Show where a token occurs in a corpus."),
    "inspect": ("inspect", "Show the contents of a tokenizer."),
    "serve": ("serve", "Explore tokenizers on a local web page."),
    "evaluate": ("evaluate", "Measure how well tokenizers encode text."),
    "audit": ("audit", "Find defects of a vocabulary, with limits for CI."),
    "check-rules": ("check_rules", "Check whether the tokens of a text obey rules."),
    "compare": ("compare", "Compare two tokenizers on the same text."),
    "verify": ("verify", "Find a text on which two tokenizers differ."),
    "report": ("report", "Write a report on a tokenizer as one page."),
    "advise": ("advise", "Recommend a size for a vocabulary."),
    "counts": ("counts", "Count the pretokens of a corpus, for training."),
    "extend": ("extend", "Add tokens for a domain to a tokenizer."),
    "prune": ("prune", "Remove the tokens that a corpus needs least."),
    "grow": ("grow", "Update a vocabulary as new text arrives."),
    "shrink": ("shrink", "Make a smaller tokenizer from a trained one."),
    "estimate-training": ("estimate_training", "Estimate what a training run needs."),
    "convert": ("convert", "Convert a tokenizer to another file format."),
}


class _Verbs(Verbs):
    """The group of all verbs; turns every exception into a message and an exit code."""

    verbs = VERBS
    package = "digram.cli"

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*args, **more)
        except OSError as error:  # stdout was closed while a help page was written
            from digram.cli._failures import failure, quiet_stdout

            quiet_stdout()
            code = 0 if isinstance(error, BrokenPipeError) else failure(error).show()
            raise click.exceptions.Exit(code) from None

    def invoke(self, ctx: click.Context) -> Any:
        # Before the verb, since a verb may fail for lack of memory.
        from digram._util.wording import in_a_shell
        from digram.cli._failures import advised, failure, quiet_stdout, reserve_standard_files
        from digram.cli._printing import log
        from digram.cli._spelling import spelled
        from digram.errors import DigramWarning

        reserve_standard_files()
        with in_a_shell(), warnings.catch_warnings():
            # Show digram's warnings even if the process was started with filters against them.
            warnings.filterwarnings("always", category=DigramWarning)
            warnings.showwarning = lambda message, *_place, **_more: log(
                f"Warning: {spelled(str(message), self.spellings(ctx))}"
            )
            try:
                result = super().invoke(ctx)
                if sys.stdout is not None:
                    sys.stdout.flush()
                return result
            except click.NoSuchOption as error:
                raise advised(error) from None
            except BrokenPipeError:
                # The reader of stdout has stopped, as in `digram show ... | head`: not an error.
                quiet_stdout()
                ctx.exit(0)
            except BaseException as error:
                if isinstance(error, click.exceptions.Exit | click.ClickException | SystemExit):
                    raise
                quiet_stdout()
                ctx.exit(failure(error, self.spellings(ctx)).show())

    def spellings(self, ctx: click.Context) -> dict[str, Spelling]:
        """The options of this verb, and those of train and convert, which a remedy may name."""
        from digram.cli._spelling import spellings

        verbs = (ctx.invoked_subcommand, "train", "convert")
        commands = (self.get_command(ctx, name) for name in verbs if name is not None)
        return spellings(simple for command in commands for simple in _simple(ctx, command))


def _simple(ctx: click.Context, command: click.Command | None) -> Iterator[click.Command]:
    """The commands of a group, or the command itself."""
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            yield from _simple(ctx, command.get_command(ctx, name))
    elif command is not None:
        yield command


def _version(ctx: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked:
        from digram import __version__

        click.echo(f"digram {__version__}")
        ctx.exit()


@click.group(
    epilog=example(
        "digram train book.txt --vocab-size 4000 -o tokenizer.json",
        "echo 'Hello, world!' | digram show -t tokenizer.json",
    ),
    cls=_Verbs,
    subcommand_metavar="VERB [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Byte-pair encoding: train a tokenizer, use it, inspect it, convert it.

    -t names a tokenizer, -o the output, --format the format of the output; --json prints JSON.
    Sizes may end in k, M or B: 32k is 32,000. Data goes to stdout, everything else to stderr. The
    exit code is 0 for success, 1 if a check failed, 2 for wrong usage, 3 for bad input, 4 if
    reading or writing failed, 70 for an error in digram itself, 130 after Ctrl-C.
    """


def main() -> None:
    """Run the command line of this process and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # messages show tokens in any locale
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(prog_name="digram", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        from digram.cli._failures import failure

        code = failure(error).show()
    sys.exit(code if isinstance(code, int) else 0)
