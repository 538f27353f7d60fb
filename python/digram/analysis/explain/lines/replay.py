"""A replay as lines of text: all frames one after the other, or one frame as a screen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from digram.display import COLORS
from digram.display.terminal import WIDTH, chips, columns
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.explain.frames import Frame, PairCount, Replay

__all__ = ["colors", "played", "screen"]

_LINES = 12  # the maximum for the tokens of one frame, if all frames are listed
_BAR = 24  # columns
_BOLD, _END = "\x1b[1m", "\x1b[0m"
_SMALLEST = 24, 12  # columns and lines; a smaller terminal shows only a part of the screen
_KEYS = ("space next", "b back", "p play", "+ - speed", "g first", "G last", "q quit")


def played(found: Replay, *, color: bool = False, width: int = WIDTH) -> Iterator[str]:
    r"""All frames, line by line.

    >>> import digram
    >>> tok = digram.train("banana", max_merges=2, pretokenizer=None, runners_up=1)
    >>> print("\n".join(played(digram.replay(tok, "bananas"))))
    7 bytes, 1 pretoken; 256 tokens before the first of 2 merges
      [b][a][n][a][n][a][s]
    <BLANKLINE>
    rank 0, 257 tokens: [a] + [n], count 2; next [n] + [a] with 2
      in this text 2 × [a] + [n], 2 × [n] + [a], 1 × [b] + [a], 1 × [a] + [s]
      [b][an][an][a][s]
    <BLANKLINE>
    rank 1, 258 tokens: [b] + [an], count 1; next [an] + [a] with 1
      in this text 1 × [a] + [s], 1 × [b] + [an], 1 × [an] + [an], 1 × [an] + [a]
      [ban][an][a][s]
    """
    yield (
        f"{several(len(found.text), 'byte')}, {several(found.pretokens, 'pretoken')}; "
        f"{several(found.base, 'token')} before the first of {several(found.merges, 'merge')}"
    )
    yield from _tokens(found, -1, color, width, _LINES)
    for frame in found.frames:
        yield ""
        yield f"rank {frame.merge.rank:,}, {several(frame.vocab_size, 'token')}: " + "; ".join(
            [f"{_merge(frame, color)}", *_next(frame, color)]
        )
        line = "  in this text"
        for number, one in enumerate(frame.pairs):
            part = f" {one.count:,} × {_pair(one, color)}"
            if columns(line + part) > width:
                break
            line += f"{',' if number else ''}{part}"
        yield line
        yield from _tokens(found, frame.number, color, width, _LINES)


def screen(
    found: Replay, number: int, *, color: bool = False, width: int = WIDTH, height: int = 24
) -> list[str]:
    """One frame as the lines of a screen; -1 is the text before the first frame.

    It shows the size of the vocabulary, the merge, the most frequent pairs of the text before the
    merge, the tokens of the text after the merge with the new ones in bold, and the keys.
    """
    width, height = max(width, _SMALLEST[0]), max(height, _SMALLEST[1])
    frame = found.frames[number] if number >= 0 else None
    size = found.base if frame is None else frame.vocab_size
    grown = (size - found.base) / max(found.vocab_size - found.base, 1)
    title = f"{number + 1:,} of {len(found.frames):,}  {_bar(grown)}  {several(size, 'token')}"
    lines = [_bold(title, color)]
    if frame is None:
        lines += ["", "Before the first merge."]
    else:
        lines += ["", f"rank {frame.merge.rank:,}: {_merge(frame, color)}", *_next(frame, color)]
    lines.append("")
    following = found.frames[number + 1] if number + 1 < len(found.frames) else None
    if frame is not None:
        lines += ["Pairs of this text before it", *_pairs(frame, color, max(height // 3, 3)), ""]
    keys = _keys(following is None, width)
    available = height - len(lines) - 1 - len(keys)
    lines += _tokens(found, number, color, width, max(available, 1))
    return [*lines[: height - len(keys)], *[""] * (height - len(lines) - len(keys)), *keys]


def _merge(frame: Frame, color: bool) -> str:
    """The merged pair, and its count in the corpus."""
    merge = frame.merge
    count = "" if merge.count is None else f", count {merge.count:,}"
    left, right = chips([merge.left, merge.right], color=color)
    return f"{left} + {right}{count}"


def _next(frame: Frame, color: bool) -> list[str]:
    """The pair that was next most frequent in training, if known."""
    return [
        f"next {' + '.join(chips([one.left, one.right], color=color))} with {one.count:,}"
        for one in frame.merge.runners_up[:1]
    ]


def _pair(one: PairCount, color: bool) -> str:
    return " + ".join(chips([one.left, one.right], color=color))


def _pairs(frame: Frame, color: bool, rows: int) -> Iterator[str]:
    """The most frequent pairs with bars, including the merged pair."""
    maximum = max([one.count for one in frame.pairs], default=1)
    chosen = (frame.merge.left, frame.merge.right)
    shown = list(frame.pairs[:rows])
    if all((one.left, one.right) != chosen for one in shown):
        shown = [*shown[: rows - 1], frame._merged]
    for one in shown:
        mark = ">" if (one.left, one.right) == chosen else " "
        rank = "never merged" if one.rank is None else f"rank {one.rank:,}"
        yield f"{mark}{one.count:>6,} {_bar(one.count / maximum)} {_pair(one, color)}  {rank}"


def _bar(share: float) -> str:
    full = round(share * _BAR)
    return "█" * full + "░" * (_BAR - full)


def _bold(text: str, color: bool) -> str:
    return f"{_BOLD}{text}{_END}" if color else text


def _keys(is_last: bool, width: int) -> list[str]:
    """The keys, on as many lines as they need."""
    lines = ["The end." if is_last else ""]
    for one in _KEYS:
        if lines[-1] and len(lines[-1]) + len(one) + 3 > width:
            lines.append("")
        lines[-1] += f"{'   ' if lines[-1] else ''}{one}"
    return lines


def _tokens(found: Replay, number: int, color: bool, width: int, height: int) -> list[str]:
    """The tokens after a frame, in at most `height` lines.

    If there are more lines, those around the first new token are shown.
    """
    tokens, new = found.tokens(number), _new(found, number)
    shown_tokens = chips(tokens, color=color, positions=colors(found, number))
    lines, used, first = [""], 0, None
    for at, (token, shown) in enumerate(zip(tokens, shown_tokens, strict=True)):
        wide = columns(shown)
        if used and used + wide > width - 2:
            lines.append("")
            used = 0
        is_new = at in new
        if is_new and first is None:
            first = len(lines) - 1
        lines[-1] += f"{_BOLD}{shown}" if is_new and color else shown
        used += wide
        if token.endswith(b"\n"):
            lines.append("")
            used = 0
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    start = max(0, min((first or 0) - height // 3, len(lines) - height))
    kept = lines[start : start + height]
    return [f"{'…' if _is_cut(n, start, kept, lines) else ' '} {x}" for n, x in enumerate(kept)]


def _is_cut(number: int, start: int, kept: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether lines are omitted before this line, if it is the first, or after it, if the last."""
    return (number == 0 and start > 0) or (
        number == len(kept) - 1 and start + len(kept) < len(lines)
    )


def colors(found: Replay, number: int) -> list[int]:
    """The colour of each token, as an index of `COLORS`.

    It depends on the token's first byte or character, so that a token keeps its colour when its end
    is merged. A token with the colour of the token before it gets the next colour.
    """
    places = {start: at for at, start in enumerate([0, *found.ends(-1)])}
    chosen: list[int] = []
    for start in [0, *found.ends(number)][:-1]:
        own = places[start] % len(COLORS)
        same = bool(chosen) and chosen[-1] == own
        chosen.append((own + 1) % len(COLORS) if same else own)
    return chosen


def _new(found: Replay, number: int) -> set[int]:
    """The indices of the tokens that a frame made."""
    if number < 0:
        return set()
    ends = found.ends(number)
    return {bisect_right(ends, place) for place in found.frames[number].joined}
