"""The progress of a run in its inputs: the number of documents and their digest."""

from __future__ import annotations

from digram._core import Blake3
from digram.corpus import Text
from digram.shards.manifest import Input, Place

__all__ = ["Tally", "Unfinished"]


class Unfinished(bytes):
    """A part of a document that continues with the next text."""

    __slots__ = ()


class Tally:
    """Counts and hashes the documents that are done, one input after the other.

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
    little-endian, so that it also depends on empty documents and on the division of the text.
    """

    def __init__(self, inputs: list[Input]) -> None:
        self._inputs = inputs
        self.begin(0)

    def begin(self, file: int) -> None:
        """Start another input."""
        self.file, self.documents = file, 0
        self._digest = Blake3()
        self._open = 0  # bytes of the document that is not finished

    def add(self, texts: list[Text]) -> None:
        """Add documents of the input, or parts of one."""
        if not self._open and Unfinished not in map(type, texts):
            # The common case, which must be fast.
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
        """End the input; `changed` is the modification time of its file."""
        one = self._inputs[self.file]
        one.documents, one.blake3 = self.documents, self._digest.hexdigest()
        one.skipped, one.changed = skipped, changed

    def place(self) -> Place:
        """The current place, at the end of a document."""
        return Place(self.file, self.documents, self._digest.hexdigest())
