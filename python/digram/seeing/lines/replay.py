"""Training played again, as lines of text: all frames for a pipe, one of them for a screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from digram.errors import several
from digram.terminal import WIDTH

if TYPE_CHECKING:
    from digram.seeing.replay import Replay

__all__ = ["bar", "in_lines", "pair", "played", "screen"]

_LINES = 6  # that the tokens of a moment may take in a pipe
_BAR = 24  # columns
_BOLD, _DIM, _END = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def played(
    found: Replay, *, color: bool = False, width: int = WIDTH, frames: int | None = None
) -> Iterator[str]:
    r"""All frames, or the first ones.

    >>> import digram
    >>> tok = digram.train("banana", max_merges=2, pretokenizer=None, runners_up=1)
    >>> print("\\n".join(played(tok.replay("bananas"))))
    7 bytes, 1 pretoken; 256 tokens before the first of 2 merges
      [b][a][n][a][n][a][s]
    <BLANKLINE>
    rank 0: [a] + [n], count 2, before [n] + [a] with 2
      here 2 of [a] + [n], 2 of [n] + [a], 1 of [b] + [a], 1 of [a] + [s]
      [b][an][an][a][s]
      257 tokens
    <BLANKLINE>
    rank 1: [b] + [an], count 1, before [an] + [an] with 1
      here 1 of [a] + [s], 1 of [b] + [an], 1 of [an] + [an], 1 of [an] + [a]
      [ban][an][a][s]
      258 tokens
    """
    yield (
        f"{several(len(found.text), 'byte')}, {several(found.pretokens, 'pretoken')}; "
        f"{several(found.base, 'token')} before the first of {several(found.merges, 'merge')}"
    )
    yield from _state(found.tokens(-1), color, width)
