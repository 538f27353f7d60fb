"""What each kind of model does in a tokenizer.json; `huggingface` has the list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from digram.errors import VocabError
from digram.formats._show import show

if TYPE_CHECKING:
    from digram import _core
    from digram.formats._own import Steps
    from digram.vocab.definition import Definition, OnUnknown
    from digram.vocab.model import Kernel, Model

__all__ = ["ModelSection", "Names", "kind_of", "unsupported"]

Section = dict[str, Any]


class Names(NamedTuple):
    """How tokens are written in a file, for who writes the model into it."""

    names: dict[int, str]
    """The name of each id."""
    vocab: dict[str, int]
    """The same the other way, in order of the ids, as it stands in the file."""
    unknown: OnUnknown
    own: bool
    """Whether the file is for digram alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSection:
    """One kind of model in a tokenizer.json: how it is recognised, read and written.

    `Section` is the object `model` of the file, and where a function takes two, the second is
    `model.digram`, which files of others do not have. The last argument is the path, for messages.
    """

    kind: str
    """That of the `Model`."""
    claims: Callable[[Section], bool]
    """Whether the object says that it is of this kind."""
    check: Callable[[Section, str | None], None]
    """Refuses keys and values that are not supported, by name."""
    tables: Callable[[Section, Any], _core.Model | None]
    """A vocabulary of bytes read by the core, given the added tokens; None to read it in Python."""
    kernel: Callable[[Section, Section | None, str | None], Kernel]
    """What a tokenizer keeps beside these tables."""
    model: Callable[[Section, Section | None, dict[str, int], str | None], Model]
    """The whole model, given the ids of ordinary tokens by their names."""
    steps: Callable[[Section, Kernel], Steps]
    """Of what a record of training has the counts."""
    refuse: Callable[[Definition], None]
    """Raises `VocabError` where readers of others would give other ids."""
    written: Callable[[Definition, Names], Section]
    """The object."""


def kind_of(value: Any) -> str:
    """The type that an object of the file names; anything else as it stands there."""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else show(value)


def unsupported(what: str, path: str | None) -> VocabError:
    """An error about what digram does not do."""
    return VocabError(
        f"{what} is not supported.",
        path=path,
        hint="Remove it from a copy of the file if you can do without; the ids may then differ.",
    )
