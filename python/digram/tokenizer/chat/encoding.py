"""The ids of chats, with the place of each token in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from digram.errors import DigramError, SpecialTokenError, placed
from digram.tokenizer.chat.control import Control, Found
from digram.tokenizer.chat.marked import Marked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EncodedChat", "encoded_chats"]


class EncodedChat(NamedTuple):
    """The ids of a chat, the places of the tokens in characters, and the control tokens."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    found: list[Found]


def encoded_chats(
    control: Control, texts: Sequence[Marked], given: Sequence[list[str]], threads: int | None
) -> list[EncodedChat]:
    """The ids of several chats; `given` has all texts that were given for each.

    Raises `SpecialTokenError` if content would become a special token, and the errors of `encode`.
    """
    tok, names = control.renamed(texts)
    finds = [control.find(text) for text in texts]
    for number, (text, own) in enumerate(zip(texts, given, strict=True)):
        try:
            control.check(text, own)
        except DigramError as error:
            _in_batch(error, number, len(texts))
            raise
    written = [_Written(text, found, names) for text, found in zip(texts, finds, strict=True)]

    def place(index: int) -> str:
        return "the chat" if len(texts) == 1 else f"chat {index}"

    encoded = tok._encoded([one.text for one in written], "parse", "characters", threads, place)
    bounds, ends, spans = encoded.bounds(), control.special_ids(), encoded.numpy_spans()
    result = []
    for number, (one, found) in enumerate(zip(written, finds, strict=True)):
        start, stop = bounds[number], bounds[number + 1]
        ids = encoded.ids(start, stop)
        if [id for id in ids if id in ends] != control.expected(found):
            refused = SpecialTokenError(
                "the ids of the chat do not have exactly the special tokens that the template "
                "wrote: this tokenizer makes one of them from other text, or does not find one.",
                value=texts[number],
            )
            _in_batch(refused, number, len(texts))
            raise refused
        result.append(EncodedChat(ids, one.original(spans[start:stop]), found))
    return result


def _in_batch(error: DigramError, number: int, total: int) -> None:
    if total > 1:
        error.index = number
        placed(error, f"chat {number}")


class _Written:
    """A text with other names for its control tokens, and the way back to its places."""

    def __init__(self, text: Marked, found: list[Found], names: dict[str, str]) -> None:
        pieces: list[str] = []
        self._new, self._old = [0], [0]
        length = at = 0
        for start, stop, token in found:
            before, name = str.__getitem__(text, slice(at, start)), names[token]
            pieces += [before, name]
            # Between these two places is the name, and everything else is as long as it was.
            self._new += [length + len(before), length + len(before) + len(name)]
            self._old += [start, stop]
            length, at = self._new[-1], stop
        pieces.append(str.__getitem__(text, slice(at, None)))
        self.text = "".join(pieces)

    def original(self, spans: NDArray[np.int64]) -> list[tuple[int, int]]:
        """The places in the text of places in the one with other names."""
        import numpy as np

        new, old = np.array(self._new), np.array(self._old)
        index = np.searchsorted(new, spans, side="right") - 1
        # An odd index is that of the start of a name, inside which there is one place.
        places = old[index] + np.where(index % 2 == 1, 0, spans - new[index])
        return [*zip(places[:, 0].tolist(), places[:, 1].tolist(), strict=True)]
