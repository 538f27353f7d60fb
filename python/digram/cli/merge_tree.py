"""`digram merge-tree`: show the merges that a token consists of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from digram.cli import _loading, _options, _printing, _token_argument, _verbs

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["merge_tree"]


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example(
        "digram merge-tree -t tokenizer.json ' the'",
        "digram merge-tree -t tokenizer.json --by id 300",
    ),
)
@_token_argument.token_argument
@_loading.with_tokenizer
@_token_argument.by_option
@_options.color_option
@_options.json_option
def merge_tree(*, tok: Tokenizer, token: str, by: str, color: bool | None, as_json: bool) -> None:
    """Show the merges that TOKEN consists of: its two parts, their parts, and so on to bytes.

    Each part is shown with its id, the rank of its merge, and, if known, the count of its pair in
    the training corpus when it was merged.
    """
    import digram
    from digram.analysis.explain.lines.tree import tree_lines

    tree = digram.merge_tree(tok, _token_argument.token_named(token, by))
    if as_json:
        _printing.emit_json(tree.to_dict())
        return
    colored = _printing.is_colored(color)
    _printing.emit("".join([f"{line}\n" for line in tree_lines(tree, color=colored)]))
