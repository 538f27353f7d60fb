"""Counting what was compared, and showing the shortest text on which two programs differ."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

FIGURES: list[str] = []
"""One line for each comparison of this session."""


class Tally:
    """Counts texts and differences; leaving it prints the figures and fails if there were any.

    >>> with Tally("a peer") as tally:
    ...     tally.add(["a", "ab"], [[97], [97, 98]], [[97], [97, 98]])
    >>> FIGURES.pop()
    'a peer: 2 texts, 0.0 MB, 0 differences'
    """

    def __init__(self, what: str, unit: str = "texts") -> None:
        self.what = what
        self.unit = unit
        self.texts = 0
        self.bytes = 0
        self.differences = 0
        self.shortest: tuple[str, Any, Any] | None = None

    def add(self, texts: Sequence[str], ours: Sequence[Any], theirs: Sequence[Any]) -> None:
        """Compare what two programs made of some texts."""
        self.texts += len(texts)
        self.bytes += sum(len(text.encode()) for text in texts)
        for text, our, their in zip(texts, ours, theirs, strict=True):
            if our != their:
                self.differences += 1
                if self.shortest is None or len(text) < len(self.shortest[0]):
                    self.shortest = text, our, their

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            return
        figures = (
            f"{self.what}: {self.texts:,} {self.unit}, {self.bytes / 1e6:,.1f} MB, "
            f"{self.differences:,} differences"
        )
        FIGURES.append(figures)
        assert self.texts > 0, f"{self.what}: nothing was compared"
        if self.shortest is not None:
            text, our, their = self.shortest
            at = next((i for i, (a, b) in enumerate(zip(our, their, strict=False)) if a != b), -1)
            raise AssertionError(
                f"{figures}; the shortest is {text[:300]!r}, at index {at}:\n"
                f"ours   {our[max(at - 3, 0) :][:12]}\ntheirs {their[max(at - 3, 0) :][:12]}"
            )


def compare_merges(what: str, ours: Sequence[Any], theirs: Sequence[Any]) -> None:
    """Compare two lists of merges, and say at which rank they part."""
    same = next(
        (rank for rank, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b),
        min(len(ours), len(theirs)),
    )
    figures = f"{what}: {len(theirs):,} merges, the first {same:,} equal"
    FIGURES.append(figures)
    assert theirs, f"{what}: nothing was compared"
    assert len(ours) == len(theirs) == same, (
        f"{figures}; ours {ours[same : same + 3]}, theirs {theirs[same : same + 3]}"
    )
