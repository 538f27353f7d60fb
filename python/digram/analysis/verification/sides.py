"""A side of a comparison: a tokenizer of any library, asked for many texts at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = ["FACTS", "Answers", "Fact", "Mode", "Offsets", "Side", "answers", "tokens_of"]

Mode = Literal["text", "parse"]
"""Whether special tokens in a text are plain text, or are parsed as these tokens."""

Fact = Literal["ids", "offsets", "decoded", "decoded_without_special"]
FACTS: dict[Fact, str] = {
    "ids": "ids",
    "offsets": "offsets",
    "decoded": "decoded text",
    "decoded_without_special": "text decoded without special tokens",
}
"""What is compared, in this order, with its name in reports."""

Offsets: TypeAlias = list[tuple[int, int]] | list[int]
"""The start and the end of each token in the text, or only its start; in characters, and in bytes
for a text of bytes."""


@dataclass(slots=True)
class Answers:
    """What a side says of several texts, in their order; None for what it does not say.

    `errors` has the messages for the texts that it refused, by position; their other answers have
    no meaning.
    """

    ids: list[list[int]]
    offsets: Sequence[Offsets] | None = None
    decoded: list[str] | None = None
    decoded_without_special: list[str] | None = None
    errors: dict[int, str] = field(default_factory=dict)


class Side(ABC):
    """A tokenizer of some library."""

    name: str
    """The library with its version, or the path of the file."""
    modes: tuple[Mode, ...] = ("text", "parse")
    takes_bytes = False
    """Whether it encodes bytes that are not UTF-8."""
    facts: tuple[Fact, ...] = ("ids", "offsets", "decoded")
    has_ends = True
    """Whether its offsets have the ends of tokens too."""
    ends_at_next = False
    """Whether each token ends where the next one starts, so that only starts say something."""
    puts_empty_space = False
    """Whether a token of the space alone that is put before a text has an empty range there."""
    replaces_runs = False
    """Whether all bytes of a run are replaced in decoded text if one of them is not UTF-8."""
    strips_spaces = False
    """Whether decoded text is without all spaces that it starts with."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        """What cannot be compared with this side, and why."""
        self.settings: dict[str, Any] = {}
        """What it tells programs that run a model, by its name; no fact depends on it."""
        self.undecoded: frozenset[int] = frozenset()
        """Ids that it is known to decode in another way than digram."""
        self.undecoded_kind = "added tokens of byte-level letters"
        """What these are."""

    @property
    @abstractmethod
    def special_tokens(self) -> list[str]:
        """The texts of special and other added tokens."""

    @abstractmethod
    def tokens(self) -> Iterable[bytes | None]:
        """The tokens of the vocabulary, as well as the library tells them."""

    @abstractmethod
    def spelled(self, ids: Sequence[int]) -> list[bytes]:
        """The tokens of these ids, to be shown."""

    @abstractmethod
    def ask(self, texts: list[str] | list[bytes], mode: Mode) -> Answers:
        """Encode texts and decode the ids; may raise anything."""

    def beside_digram(self, *, trims: bool, by_steps: bool) -> None:  # noqa: B027
        """Leave out what digram does in another way by design, and note it.

        `trims` says whether the tokenizer of digram leaves spaces out of offsets, and `by_steps`
        whether it decodes by the steps of a decoder.
        """


def answers(side: Side, texts: list[str] | list[bytes], mode: Mode) -> Answers:
    """What a side says of the texts; what it raises for one of them is an answer too.

    A panic of a library in Rust is no `Exception`, but also about this text. Ctrl-C and lack of
    memory are not.
    """
    try:
        return side.ask(texts, mode)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:
        if len(texts) == 1:
            told = f"{type(error).__name__}: {str(error)[:300]}"
            return Answers([[]], [[]], [""], [""], {0: told})
    # One of several is refused: ask for each half, so that the others have their answers.
    half = len(texts) // 2
    one, other = answers(side, texts[:half], mode), answers(side, texts[half:], mode)
    return Answers(
        one.ids + other.ids,
        _joined(one.offsets, other.offsets),
        _joined(one.decoded, other.decoded),
        _joined(one.decoded_without_special, other.decoded_without_special),
        one.errors | {half + place: told for place, told in other.errors.items()},
    )


def tokens_of(side: Side) -> list[bytes | None]:
    """The tokens of a side, of which texts are generated; none if its library fails at one."""
    try:
        return [*side.tokens()]
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:
        return []


def _joined(one: Sequence | None, other: Sequence | None) -> list | None:  # type: ignore[type-arg]
    return None if one is None or other is None else [*one, *other]
