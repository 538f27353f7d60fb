"""The occurrences of a token, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from digram.display import Drawn, harmless, in_context, runs
from digram.display.terminal import WIDTH, chip, chips, columns
from digram.errors import several

if TYPE_CHECKING:
    from digram.analysis.explain.places import Places, Sample

__all__ = ["amount", "left_out", "located", "places"]

_WORDS = 20


def places(
    found: Places, *, color: bool = False, rows: int = _WORDS, width: int = WIDTH
) -> Iterator[str]:
    r"""The occurrences of a token: its words with their counts, and lines of context.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=3, pretokenizer="gpt2")
    >>> print("\n".join(places(digram.find_token(tok, " low", "low low lower"))))
    [·low]  id 258, occurs 2 times
      in 2 words, of 3 pretokens in 1 document, 13 bytes
    <BLANKLINE>
       count  word
           1  [·low]
           1  [·lower]
    <BLANKLINE>
      text 0, byte 3                           low[·low]·lower
      text 0, byte 7                       low·low[·low]er
    """
    yield f"{chip(found.token, color=color)}  id {found.id}, occurs {several(found.times, 'time')}"
    yield f"  {amount(found)}"
    if found.words and rows:
        yield ""
        yield f"{'count':>8}  word"
    for word in found.words[:rows]:
        yield f"{word.count:>8,}  {chip(word.word, color=color)}"
    if len(found.words) > rows:
        yield f"{'':>8}  and {several(len(found.words) - rows, 'word')} more"
    if found.missed:
        yield f"{'':>8}  {left_out(found)}"
    yield from _samples(found.samples, color, width)


def amount(found: Places) -> str:
    """The number of words with the token, and the amount of text that was searched."""
    return (
        f"in {several(len(found.words), 'word')}, of {several(found.pretokens, 'pretoken')} in "
        f"{several(found.documents, 'document')}, {several(found.bytes, 'byte')}"
    )


def left_out(found: Places) -> str:
    """How far the counts of words may be off."""
    return f"rare words are omitted; counts may be up to {found.missed:,} too low"


def located(sample: Sample) -> str:
    """The text and the offset of a sample; in a file, its record and its offset."""
    byte = f"byte {sample.offset:,}"
    if sample.path is None:
        return f"text {sample.document:,}, {byte}"
    return byte if sample.record is None else f"record {sample.record:,}, {byte}"


def _samples(samples: Sequence[Sample], color: bool, width: int) -> Iterator[str]:
    """Lines of context, below the names of their files."""
    places = [located(sample) for sample in samples]
    wide = max(map(len, places), default=0)
    path = None
    for number, (sample, place) in enumerate(zip(samples, places, strict=True)):
        if number == 0:
            yield ""
        if sample.path != path:
            yield f"  {harmless(sample.path or '')}"
            path = sample.path
        yield f"  {place:<{wide}}  {_sample(sample, color, max(width - wide - 4, 20))}"


def _sample(sample: Sample, color: bool, width: int) -> str:
    before, _, after = in_context([sample.before, sample.token, sample.after])
    own = chips([sample.before, sample.token, sample.after], color=color)[1]
    side = max((width - columns(own)) // 2, 4)
    left = _text(_fitting(before[::-1], side)[::-1])
    right = _text(_fitting(after, side))
    return f"{' ' * (side - columns(left))}{left}{own}{right}"


def _fitting(parts: Sequence[Drawn], width: int) -> Sequence[Drawn]:
    """The first parts that fit into a number of columns."""
    used = 0
    for at, part in enumerate(parts):
        used += columns(part.text)
        if used > width:
            return parts[:at]
    return parts


def _text(parts: Sequence[Drawn]) -> str:
    return "".join([part.text for part in runs(parts)])
