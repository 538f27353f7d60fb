"""Groups of verbs, and what the help page of every verb ends with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib import import_module

import click

__all__ = ["Verb", "Verbs", "example", "verb_name"]


class Verbs(click.Group):
    """A group of verbs in a fixed order, each imported when it is called.

    `verbs` maps each verb to its module in `package` and its summary.
    """

    verbs: Mapping[str, tuple[str, str]]
    package: str

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.verbs:
            return None
        command = getattr(
            import_module(f"{self.package}.{self.verbs[cmd_name][0]}"), cmd_name.replace("-", "_")
        )
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        _check_verb(ctx, args[0], self.verbs)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.verbs.items()])


def _check_verb(ctx: click.Context, name: str, verbs: Iterable[str]) -> None:
    """Raise a usage error for an unknown verb, with the closest known one."""
    if name not in verbs and not name.startswith("-"):
        import difflib

        near = difflib.get_close_matches(name, verbs, n=1)
        remedy = f"Did you mean {near[0]!r}?" if near else f"Verbs: {', '.join(verbs)}."
        ctx.fail(f"there is no verb {name!r}. {remedy}")


class Verb(click.Command):
    """A verb: an option with one value is given once, and a missing one is shown as it is typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            rest = super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if not isinstance(error.param, click.Option):
                raise
            told = self._asked(error.param)
            raise click.MissingParameter(told, ctx=error.ctx, param=error.param) from None
        _, _, order = self.make_parser(ctx).parse_args(given)
        for option, times in Counter(order).items():
            if times > 1 and isinstance(option, click.Option) and _takes_one(option):
                name = max(option.opts, key=len)
                ctx.fail(f"{name} is given {times} times, but it takes one value; give it once.")
        return rest

    def _asked(self, option: click.Option) -> str:
        """What to give for an option, as in the example of the verb."""
        if option.type.get_missing_message(option, None):
            return ""
        names = "|".join(map(re.escape, option.opts))
        shown = re.search(rf"(?<!\S)(?:{names})[ =](?:'[^']*'|\S+)", self.epilog or "")
        return f"Give it, as in {shown[0] if shown else f'{option.opts[0]} {option.metavar}'}."


def _takes_one(option: click.Option) -> bool:
    return not (option.multiple or option.is_flag or option.count)


def verb_name() -> str:
    """The name of the running verb, including its group: `counts make`."""
    context: click.Context | None = click.get_current_context()
    names = []
    while context is not None and context.parent is not None:
        names.append(context.info_name or "")
        context = context.parent
    return " ".join(reversed(names))


def example(*commands: str) -> str:
    """The end of a help page: example commands."""
    return "\n".join(["\b", "Example:", *(f"  {command}" for command in commands)])
