"""How far a run is in its inputs: documents, and a digest of what they hold."""

from __future__ import annotations

from digram._core import Blake3
from digram.corpus import Text
from digram.shards.manifest import Input, Place

__all__ = ["Tally", "Unfinished"]


class Unfinished(bytes):
    """A part of a document that goes on with the next text."""

    __slots__ = ()


class Tally:
    """The documents of the inputs that are done, one input after the other.

    >>> from digram.shards.manifest import Input
    >>> tally = Tally([Input("a.txt", 3), Input("b.txt", 2)])
    >>> tally.add(["one", b"two"])
    >>> tally.place().documents, tally.place().blake3[:8]
    (2, '4a1dc435')
    >>> tally.end(skipped=0, changed=None)
    >>> tally.begin(1)
    >>> tally.place().file, tally.place().documents
    (1, 0)

    The digest of an input is BLAKE3 of its documents, each followed by its length in eight bytes,
    little-endian: so it is that of these documents alone, also of empty ones and of how the same
    text is cut.
    """

    def __init__(self, inputs: list[Input]) -> None:
        self._inputs = inputs
        self.begin(0)

    def begin(self, file: int) -> None:
        """Go on to another input."""
        self.file, self.documents = file, 0
        self._digest = Blake3()
        self._open = 0  # bytes of the document that is not finished

    def add(self, texts: list[Text]) -> None:
        """Documents of the input, or the next parts of one."""
        if not self._open and Unfinished not in map(type, texts):
            # The usual case, and the one where a microsecond a document is felt.
            self._digest.update_documents(texts)
            self.documents += len(texts)
            return
        for text in texts:
            data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
            self._digest.update(data)
            self._open += len(data)
            if type(text) is not Unfinished:
                self._digest.update(self._open.to_bytes(8, "little"))
                self.documents += 1
                self._open = 0

    def end(self, skipped: int, changed: int | None) -> None:
        """The input has no more documents; `changed` is when its file was."""
        one = self._inputs[self.file]
        one.documents, one.blake3 = self.documents, self._digest.hexdigest()
        one.skipped, one.changed = skipped, changed

    def place(self) -> Place:
        """Where this is, at the end of a document."""
        return Place(self.file, self.documents, self._digest.hexdigest())
