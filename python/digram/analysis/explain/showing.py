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
    r"""Print the tokens of a text: neighbours in different colours, or in brackets.

    >>> import digram
    >>> tok = digram.train("low lower lowest", max_merges=3, pretokenizer="gpt2")
    >>> digram.show(tok, "low é", ids=True)
    [low] [·] [⟨C3…⟩] [⟨…A9=é⟩]
    257   32  195     169

    With `ids` each id stands below its token, in lines as wide as the terminal. White space
    and what cannot be seen have signs, and a character that is spread over several tokens shows
    in each which bytes of it these are (docs/seeing.md). `color` is for a terminal that is not
    known as one, or against colours; by default they are used on a terminal, unless `NO_COLOR`
    is set. A notebook gets markup with the same colours, as of `tok(text)`. Raises as `encode`.
    """
    instance("tok", tok, Tokenizer)
    found, ids = tok.encode(text, special=special), flag("ids", ids)
    if color is None and in_notebook():
        display(tokens_page(tok.tokens(found), found if ids else None))
        return
    if sys.stdout is None:  # closed, and then there is nothing to see, as with print
        return
    sys.stdout.writelines(
        shown(
            tok.tokens(found),
            found if ids else None,
            color=use_color(sys.stdout) if color is None else flag("color", color),
            width=shutil.get_terminal_size().columns,
        )
    )
