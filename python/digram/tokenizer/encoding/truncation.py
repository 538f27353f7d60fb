"""Truncation: the tokens that are kept, and the windows over the others."""

from __future__ import annotations

from digram.errors import LimitExceededError, OptionError, several, show
from digram.tokenizer.encoding.options import Options

__all__ = ["Window", "kept", "windows"]

Window = tuple[int, int]
"""A start and a stop, in tokens."""


def windows(length: int, size: int, overlap: int, *, on_left: bool) -> list[Window]:
    """Windows of `size` tokens over `length` tokens; each overlaps the previous one by `overlap`.

    The first is the one that is kept; the last ends at the end of the tokens, and may be shorter.
    `on_left` says that tokens are removed there.

    >>> windows(9, 4, 1, on_left=False)
    [(0, 4), (3, 7), (6, 9)]
    >>> windows(9, 4, 1, on_left=True)
    [(5, 9), (2, 6), (0, 3)]
    >>> windows(4, 4, 0, on_left=False), windows(0, 4, 0, on_left=False)
    ([(0, 4)], [(0, 0)])
    """
    step = size - overlap
    starts = range(0, length - size + step, step) if length > size else range(1)
    found = [(start, min(start + size, length)) for start in starts]
    if on_left:
        found = [(length - stop, length - start) for start, stop in found]
    return found


def kept(lengths: tuple[int, ...], room: int, options: Options) -> tuple[int, ...]:
    """The number of tokens to keep of one or two texts that have more than `room` tokens.

    >>> first = Options(True, 8, "longest_first", "right", 0, None, "right", None, None)
    >>> kept((9,), 8, first), kept((2, 9), 8, first), kept((9, 9), 7, first)
    ((8,), (2, 6), (3, 4))

    Raises `OptionError` if a text would lose all its tokens, or if the windows would not advance;
    `LimitExceededError` with truncation="raise".
    """
    surplus = sum(lengths) - room
    if options.truncation == "raise":
        raise LimitExceededError(
            f"there are {sum(lengths)} tokens, but only {room} are allowed.",
            value=sum(lengths),
            hint='Pass a larger max_length, or truncation="longest_first" to cut.',
        )
    if options.truncation == "only_first":
        sizes: tuple[int, ...] = (lengths[0] - surplus, *lengths[1:])
    elif options.truncation == "only_second":
        sizes = (lengths[0], lengths[1] - surplus)
    elif len(lengths) == 1:
        sizes = (room,)
    else:
        # Truncate the longer text until both are equally long, and then both.
        half = room // 2
        if min(lengths) <= half:
            sizes = tuple(
                length if length == min(lengths) else room - min(lengths) for length in lengths
            )
        elif lengths[0] > lengths[1]:
            sizes = (room - half, half)
        else:
            sizes = (half, room - half)
    for number, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
        which = "text" if number == 0 else "pair"
        if size < 1 <= length:
            raise OptionError(
                f"truncation={show(options.truncation)} would leave nothing of the {which}: "
                f"there are {sum(lengths)} tokens, but only {room} are allowed.",
                value=options.max_length,
                hint="Pass a larger max_length, or another strategy.",
            )
        if size < length and options.overlap >= size:
            raise OptionError(
                f"overlap={options.overlap} is not below the {several(size, 'token')} left of the "
                f"{which}, so the windows over the others would not advance.",
                value=options.overlap,
                hint="Pass a smaller overlap, or a larger max_length.",
            )
    return sizes
