"""The argument TOKEN, and the option that says how it is given."""

from __future__ import annotations

import click

__all__ = ["by_option", "token_argument", "token_named"]

token_argument = click.argument("token", metavar="TOKEN")

by_option = click.option(
    "--by",
    type=click.Choice(["text", "id", "hex"]),
    default="text",
    show_default=True,
    help="How TOKEN is given: as text, as an id, or as bytes in hexadecimal.",
)


def token_named(value: str, by: str) -> int | str | bytes:
    """Parse TOKEN as `by_option` says: an id, a text or bytes."""
    import os

    if by == "text":
        typed = os.fsencode(value)
        return value if typed == value.encode("utf-8", "replace") else typed
    try:
        return int(value) if by == "id" else bytes.fromhex(value)
    except ValueError:
        wanted = "an id, as in 300" if by == "id" else "hexadecimal, as in e4b8"
        raise click.UsageError(f"with --by {by} TOKEN is {wanted}, not {value!r}.") from None
