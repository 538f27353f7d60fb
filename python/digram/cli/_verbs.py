"""Groups of verbs, and what the help page of every verb ends with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module

import click

__all__ = ["Verbs", "example", "verb_name"]


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
