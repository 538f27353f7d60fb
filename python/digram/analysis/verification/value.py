"""The result of `digram.verify`: equal, or the shortest text on which two tokenizers differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from digram.analysis.verification.sides import FACTS, Fact, Mode
from digram.errors import several

__all__ = ["Counterexample", "Outcome", "Verification", "What"]

What = Fact | Literal["error"]
"""What differs: a fact, or that one side refuses the text."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one tokenizer makes of a text.

    `tokens` are bytes, or the spelling of the library in UTF-8. `offsets` has the start and the end
    of each token in the text, the end is None if the library does not tell it; in characters, and
    in bytes for a text of bytes. What a library does not tell is None. `error` is the message if
    the text was refused.
    """

    ids: tuple[int, ...]
    tokens: tuple[bytes, ...]
    offsets: tuple[tuple[int, int | None], ...] | None
    decoded: str | None
    decoded_without_special: str | None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON; tokens are text."""
        return {
            "ids": list(self.ids),
            "tokens": [token.decode(errors="backslashreplace") for token in self.tokens],
            "offsets": None if self.offsets is None else [list(span) for span in self.offsets],
            "decoded": self.decoded,
            "decoded_without_special": self.decoded_without_special,
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The shortest text found on which two tokenizers differ.

    `what` is the first fact that differs, `place` the index of the first token (or, for decoded
    text, character) that differs, and `mode` says whether special tokens in the text were plain
    text or parsed. `original` is the text that was shortened, as long as no shorter one differed;
    `is_shortest` is False if the time for that did not suffice.
    """

    text: str | bytes
    mode: Mode
    what: What
    place: int
    a: Outcome
    b: Outcome
    original: str | bytes = field(repr=False)
    is_shortest: bool

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON; a text of bytes is given in hexadecimal."""
        names = ("mode", "what", "place", "is_shortest")
        return {
            **_plain("text", self.text),
            **{name: getattr(self, name) for name in names},
            "a": self.a.to_dict(),
            "b": self.b.to_dict(),
            **_plain("original", self.original),
        }


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `digram.verify`.

    `names` are those of the two tokenizers; `texts` and `bytes` are the amount that was compared,
    in `seconds`. `compared` has the facts for each mode: "text" if special tokens in texts are
    plain text, "parse" if they are parsed. `not_compared` says what was not, and why. `refused` is
    the number of texts that both refused, counted for each mode. `counterexample` is None if all
    was equal. The seed makes the run reproducible.
    """

    names: tuple[str, str]
    counterexample: Counterexample | None
    texts: int
    bytes: int
    seconds: float
    compared: dict[Mode, tuple[Fact, ...]]
    not_compared: tuple[str, ...]
    refused: int
    seed: int

    @property
    def equal(self) -> bool:
        """Whether no difference was found."""
        return self.counterexample is None

    def __repr__(self) -> str:
        found = "equal" if self.counterexample is None else "different"
        return f"<digram.Verification: {found}, {several(self.texts, 'text')}>"

    def __str__(self) -> str:
        from digram.analysis.verification.table import table

        return table(self)

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON."""
        found = self.counterexample
        names = ("texts", "bytes", "seconds", "refused", "seed")
        return {
            "equal": self.equal,
            "names": list(self.names),
            **{name: getattr(self, name) for name in names},
            "compared": {mode: list(facts) for mode, facts in self.compared.items()},
            "not_compared": list(self.not_compared),
            "counterexample": None if found is None else found.to_dict(),
        }


def _plain(name: str, text: str | bytes) -> dict[str, str]:
    """A text for JSON; bytes get another name, so that they are not taken for text."""
    return {name: text} if isinstance(text, str) else {f"{name}_hex": text.hex()}


def named(what: What) -> str:
    """What differs, for people.

    >>> named("decoded"), named("error")
    ('decoded text', 'behaviour')
    """
    return "behaviour" if what == "error" else FACTS[what]
