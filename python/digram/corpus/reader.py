"""One pass over a corpus: its texts, its progress, and the records that were skipped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Generic, Literal, Self, TypeVar

from digram._util.validation import choice
from digram._util.warning import warn
from digram._util.wording import said
from digram.corpus.text import Text
from digram.errors import CorruptFileError

__all__ = ["OnError", "Pass", "Reading", "Records", "check_on_error"]

OnError = Literal["raise", "skip"]

_NAMED = 5  # the number of skipped records that a pass keeps with their places

Some = TypeVar("Some")
T_co = TypeVar("T_co", covariant=True, bound=Text | list[Text])


def check_on_error(on_error: OnError) -> OnError:
    """Check `on_error`."""
    choice("on_error", on_error, "raise", "skip")
    return on_error


@dataclass(slots=True)
class Pass:
    """The progress of a pass over a corpus."""

    done: int = 0
    """Bytes on disk that have been read."""
    skipped: int = 0
    """The number of skipped records."""
    faults: list[CorruptFileError] = field(default_factory=list)
    """The faults of the first few of them."""
    reported: bool = False
    ended: bool = False
    """Set when the pass was closed early."""
    record: int = 0
    """The number, from 1, of the last record of its file."""

    def read(self, stream: BinaryIO, size: int) -> Iterator[bytes]:
        """The content of a stream in blocks of `size` bytes, each counted as read."""
        while not self.ended and (block := stream.read(size)):
            self.done += len(block)
            yield block

    def numbered(self, texts: Iterable[Some]) -> Iterator[Some]:
        """The texts of the records of one file; skipped ones count in `record`."""
        before = self.skipped
        for number, text in enumerate(texts, 1):
            self.record = number + self.skipped - before
            yield text

    def end(self) -> None:
        """Stop reading."""
        self.ended = True

    def tell(self) -> None:
        """Warn, once, about the records that were skipped."""
        if not self.skipped or self.reported:
            return
        self.reported = True
        shown = "; ".join(_short(fault) for fault in self.faults)
        more = self.skipped - len(self.faults)
        rest = f"; and {more:,} more" if more else ""
        number = f"{self.skipped:,} record{'' if self.skipped == 1 else 's'}"
        was = "was" if self.skipped == 1 else "were"
        warn(f"{number} {was} skipped: {shown}{rest}.")


def _short(fault: CorruptFileError) -> str:
    text = CorruptFileError(
        fault.message, path=fault.path, record=fault.record, offset=fault.offset
    )
    return str(text).removesuffix(".")


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one file, or of a table, which has no path; faults are raised or noted."""

    path: str | os.PathLike[str] | None
    on_error: OnError
    seen: Pass
    remedy: str = ""
    """The hint besides skipping them."""

    def fault(self, record: int, offset: int | None, reason: str, value: object = None) -> None:
        """Report that record number `record`, from 1, at an offset of the text, has no text."""
        maker = "table(data" if self.path is None else "files(path"
        skip = 'on_error="skip"'
        error = CorruptFileError(
            reason,
            path=self.path,
            record=record,
            offset=offset,
            value=value,
            hint=f"Pass {said(f'digram.{maker}, {skip})', skip)} to skip and count bad records"
            f"{self.remedy}.",
        )
        if self.on_error == "raise":
            raise error
        self.seen.skipped += 1
        if len(self.seen.faults) < _NAMED:
            self.seen.faults.append(error)


class Reading(Iterator[T_co], Generic[T_co]):
    r"""The texts of a corpus, in order, with the progress of the pass.

    >>> import digram, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> _ = path.write_text('{"text": "one"}\n{"text": 2}\n{"text": "three"}\n')
    >>> texts = iter(digram.files(path, on_error="skip"))
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as warned:
    ...     warnings.simplefilter("always")
    ...     list(texts)
    [b'one', b'three']
    >>> texts.skipped, texts.faults[0].record, texts.done
    (1, 2, 46)
    >>> print(warned[0].message)
    1 record was skipped: ...a.jsonl, record 2 (byte 16): the field "text" is a number, not a
    string.

    `skipped` counts the records skipped under `on_error="skip"`, `faults` holds the errors of the
    first five of them, and `done` is the number of bytes read from disk (0 if the texts are not on
    disk). At the end a warning names the skipped records as well. `close` ends the pass and closes
    its files.
    """

    def __init__(self, texts: Iterable[T_co], seen: Pass | None = None) -> None:
        self._texts = iter(texts)
        self._seen = Pass() if seen is None else seen

    @property
    def done(self) -> int:
        """The bytes read from disk so far."""
        return self._seen.done

    @property
    def skipped(self) -> int:
        """The number of records skipped so far."""
        return self._seen.skipped

    @property
    def faults(self) -> list[CorruptFileError]:
        """The faults of the first few skipped records."""
        return list(self._seen.faults)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T_co:
        try:
            return next(self._texts)
        except StopIteration:
            self._seen.tell()
            raise

    def close(self) -> None:
        """End the pass."""
        close = getattr(self._texts, "close", None)
        if close is not None:
            close()
