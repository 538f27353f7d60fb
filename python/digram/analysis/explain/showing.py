"""The tokens of a text, printed."""

from __future__ import annotations

import shutil
import sys

from digram._util.validation import flag, instance
from digram.analysis.explain.pages import tokens_page
from digram.display.notebook import display, in_notebook
from digram.display.terminal import shown, use_color
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.special_tokens import OnSpecial

__all__ = ["show"]


def show(
    tok: Tokenizer,
    text: str | bytes,
    *,
    ids: bool = False,
    color: bool | None = None,
    special: OnSpecial = "text",
) -> None:
    r"""Print the tokens of a text: in alternating colours, or in brackets.

    >>> import digram
    >>> tok = digram.train("low lower lowest", max_merges=3, pretokenizer="gpt2")
    >>> digram.show(tok, "low é", ids=True)
    [low] [·] [⟨C3…⟩] [⟨…A9=é⟩]
    257   32  195     169

    With `ids` each id is printed below its token, in lines as wide as the terminal. White space and
    invisible characters are printed as symbols; of a character that is split between tokens, each
    token shows its own bytes (docs/seeing.md). `color` overrides the default: colours on a
    terminal, unless `NO_COLOR` is set. In a notebook the output is HTML with the same colours, as
    for `tok(text)`. `special` is that of `encode`, whose errors are raised. Takes time linear in
    the text.
    """
    instance("tok", tok, Tokenizer)
    found, ids = tok.encode(text, special=special), flag("ids", ids)
    if color is None and in_notebook():
        display(tokens_page(tok.tokens(found), found if ids else None))
        return
    if sys.stdout is None:  # closed: print does nothing either
        return
    sys.stdout.writelines(
        shown(
            tok.tokens(found),
            found if ids else None,
            color=use_color(sys.stdout) if color is None else flag("color", color),
            width=shutil.get_terminal_size().columns,
        )
    )
