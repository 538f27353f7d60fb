"""What `digram.find_token` returns: the words that have a token, how often, and in which texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from digram.errors import several

__all__ = ["Places", "Sample", "Word"]


@dataclass(frozen=True, slots=True)
class Word:
    """A pretoken that the token is in, how often it stands, and how often the token is in it."""

    word: bytes
    count: int
    times: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One place: the token with the bytes around it, in which word, and where that is.

    `document` is the number of the text, from 0, and `offset` where the token begins in it, in
    bytes. `path` is its file, and `record` its number in that file, from 1, where there are
    several.
    """

    before: bytes
    token: bytes
    after: bytes
    word: bytes
    document: int
    offset: int
    path: str | None = None
    record: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as JSON has them."""
        shown = {name: _plain(getattr(self, name)) for name in ("before", "token", "after", "word")}
        names = ("document", "offset", "path", "record")
        return {**shown, **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True, eq=False)
class Places:
    """What `digram.find_token` returns: where a token stands; `print` shows it as a table.

    `times` is how often the token stands in `pretokens` pretokens of `documents` texts. `words` are
    the pretokens that it is in, the most frequent first. More than 65,536 of them are not kept;
    then the rarest were left out now and then, and a word may stand up to `missed` times more than
    its `count` says. `times` is exact all the same. `samples` are places, in as many different
    words as there are.
    """

    id: int
    token: bytes
    times: int
    documents: int
    bytes: int
    pretokens: int
    words: list[Word]
    missed: int
    samples: list[Sample]
    skipped: int
    """Records that were skipped under `on_error="skip"`."""

    def __str__(self) -> str:
        from digram.analysis.explain.lines.places import places

        return "\n".join(places(self))

    def __repr__(self) -> str:
        parts = [several(self.times, "time"), f"in {several(len(self.words), 'word')}"]
        return f"<digram.Places: {self.token!r}, id={self.id}, {' '.join(parts)}>"

    def _repr_html_(self) -> str:
        from digram.analysis.explain.pages import places

        return places(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as JSON has them."""
        names = ("times", "documents", "bytes", "pretokens", "missed", "skipped")
        return {
            "id": self.id,
            **_plain(self.token),
            **{name: getattr(self, name) for name in names},
            "words": [
                {**_plain(one.word), "count": one.count, "times": one.times} for one in self.words
            ],
            "samples": [one.to_dict() for one in self.samples],
        }


def _plain(data: bytes) -> dict[str, str]:
    return {"text": data.decode("utf-8", "replace"), "hex": data.hex()}
