"""The result of `digram.find_token`: the words with a token, their counts, and some places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from digram.errors import several

__all__ = ["Places", "Sample", "Word"]


@dataclass(frozen=True, slots=True)
class Word:
    """A pretoken that contains the token, its count, and how often it contains the token."""

    word: bytes
    count: int
    times: int


@dataclass(frozen=True, slots=True)
class Sample:
    """One place: the token with the bytes around it, its word, and where it is.

    `document` is the number of the text, from 0, and `offset` the offset of the token in it, in
    bytes. `path` is its file, and `record` its number in that file, from 1, if the file holds
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
        """All fields as plain values, ready for JSON."""
        shown = {name: _plain(getattr(self, name)) for name in ("before", "token", "after", "word")}
        names = ("document", "offset", "path", "record")
        return {**shown, **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True, eq=False)
class Places:
    """The result of `digram.find_token`: where a token occurs; `print` shows it as a table.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=3, pretokenizer="gpt2")
    >>> found = digram.find_token(tok, " low", ["low lower", "so low"])
    >>> found.times, found.pretokens, [word.word for word in found.words]
    (2, 4, [b' low', b' lower'])

    `times` is the number of occurrences of the token in `pretokens` pretokens of `documents` texts.
    `words` are the pretokens that contain it, the most frequent first. If there are more than
    65,536, the rarest are dropped from time to time, and the `count` of a word may be up to
    `missed` too low; `times` is exact all the same. `samples` are places, in as many different
    words as possible.
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
    """Records skipped under `on_error="skip"`."""

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
        """All fields as plain values, ready for JSON."""
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
