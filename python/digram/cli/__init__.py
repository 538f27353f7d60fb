"""The command line: `digram VERB`, one file a verb, click alone imported at the start."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from io import TextIOWrapper
from typing import Any

import click

from digram.cli.common import Verbs, example, log
from digram.cli.faults import advised, failure, quiet_stdout
from digram.cli.spelling import Spelling, spelled, spellings

__all__ = ["VERBS", "cli", "main"]

# A verb's module is imported when it is called, so that none waits for the others.
VERBS = {
    "train": ("train", "Learn a tokenizer from files."),
    "train-fair": ("train_fair", "Learn a tokenizer in which no language falls behind."),
    "encode": ("encode", "Turn text into ids."),
    "decode": ("encode", "Turn ids into text."),
    "count": ("count", "Count tokens, bytes and characters."),
    "truncate": ("truncate", "Cut a text to a maximum number of tokens."),
    "chunks": ("chunks", "Cut texts into chunks with a maximum number of tokens."),
    "show": ("show", "Show a text with its tokens in colour."),
    "explain": ("explain", "Show which merges made a text's tokens."),
    "replay": ("replay", "Play training again on a text, merge by merge."),
    "merge-tree": ("merge_tree", "Show what a token was merged of."),
    "find-token": ("find_token", "Show where a token stands in a corpus."),
    "inspect": ("inspect", "Show what a tokenizer holds."),
    "serve": ("serve", "Look at tokenizers in a page of this machine."),
    "evaluate": ("evaluate", "Measure how well a tokenizer does on text."),
    "audit": ("audit", "Find what is wrong with a vocabulary; a gate for CI."),
    "check-rules": ("check_rules", "Check whether text becomes tokens as rules want it."),
    "compare": ("compare", "Compare two tokenizers on the same text."),
    "report": ("report", "Report on a tokenizer in one page."),
    "advise": ("advise", "Say how large a vocabulary should be."),
    "counts": ("counts", "Count a corpus once, to train on it often."),
    "extend": ("extend", "Teach a tokenizer more tokens for a domain."),
    "prune": ("prune", "Take away the tokens that a corpus needs least."),
    "grow": ("grow", "Let a vocabulary follow a stream of text."),
    "shrink": ("shrink", "Make a smaller tokenizer of the same family."),
    "estimate-training": ("estimate_training", "Say what a training run will need."),
    "convert": ("convert", "Rewrite a tokenizer in another format."),
}


class _Verbs(Verbs):
    """All verbs, and every fault as a message and a code."""

    verbs = VERBS
    room = "digram.cli"

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        try:
            return super().make_context(*args, **more)
        except OSError as error:  # a help page that nobody takes, or no more of it
            quiet_stdout()
            code = 0 if isinstance(error, BrokenPipeError) else failure(error).show()
            raise click.exceptions.Exit(code) from None

    def invoke(self, ctx: click.Context) -> Any:
        with warnings.catch_warnings():
            # What digram warns of is told, whatever filters the process was started with.
            warnings.filterwarnings("always", category=UserWarning, module=r"digram\b")
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
                # Whoever read has read enough, as in `digram show ... | head`: no fault of ours.
                quiet_stdout()
                ctx.exit(0)
            except BaseException as error:
                if isinstance(error, click.exceptions.Exit | click.ClickException | SystemExit):
                    raise
                quiet_stdout()
                ctx.exit(failure(error, self.spellings(ctx)).show())

    def spellings(self, ctx: click.Context) -> dict[str, Spelling]:
        """The options of this verb; the remedy may be one of training or of converting."""
        verbs = (ctx.invoked_subcommand, "train", "convert")
        commands = (self.get_command(ctx, name) for name in verbs if name is not None)
        return spellings(simple for command in commands for simple in _simple(ctx, command))


def _simple(ctx: click.Context, command: click.Command | None) -> Iterator[click.Command]:
    """The commands of a group, or the one command."""
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
    """Byte-pair encoding: train a tokenizer, use it, look inside, take it anywhere.

    -t names a tokenizer, -o what is written, --format its format, --json asks for facts as JSON.
    Sizes may end in k, M or B: 32k is 32,000. Data goes to stdout, everything else to stderr. The
    exit code is 0 when all went well, 1 when a check failed, 2 for wrong usage, 3 for bad input, 4
    when reading or writing failed, 70 for a fault of digram itself, 130 after Ctrl-C.
    """


def main() -> None:
    """Run the command line of this process and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # messages show tokens, whatever the locale
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(prog_name="digram", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        code = failure(error).show()
    sys.exit(code if isinstance(code, int) else 0)
