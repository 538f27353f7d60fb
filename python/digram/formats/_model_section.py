"""How each kind of model is stored in a tokenizer.json; `huggingface` lists the kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from digram import _core
    from digram.formats._own import Steps
    from digram.vocab.definition import Definition
    from digram.vocab.model import Kernel, Model
    from digram.vocab.settings import OnUnknown

__all__ = ["ModelSection", "Names"]

Section = dict[str, Any]


class Names(NamedTuple):
    """The names of tokens in a file, for writing the model."""

    names: dict[int, str]
    """The name of each id."""
    vocab: dict[str, int]
    """The id of each name, in order of the ids, as written to the file."""
    unknown: OnUnknown
    own: bool
    """Whether the file is only for digram."""

    def unknown_name(self, definition: Definition) -> str | None:
        """The name of the token for unknown text; None if there is none."""
        unknown = self.unknown
        if isinstance(unknown, str):
            return None
        if isinstance(unknown, bytes):
            return self.names[definition.tokens.index(unknown)]
        return unknown.text


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSection:
    """One kind of model in a tokenizer.json: how it is recognised, read and written.

    `Section` is the object `model` of the file. If a function takes a second one, it is
    `model.digram`, which only files of digram have. The last argument is the path, for messages.
    """

    kind: str
    """The kind of the `Model`."""
    claims: Callable[[Section], bool]
    """Whether an object is a model of this kind."""
    check: Callable[[Section, str | None], None]
    """Raises for unsupported keys and values, naming them."""
    opened: Callable[[Section, str | None], Section]
    """Puts the ids of tokens by their names under `vocab`, and that for unknown text under
    `unk_token`."""
    tables: Callable[[Section, Any], _core.Model | None]
    """Reads a byte vocabulary in the core, given the added tokens; None to read it in Python."""
    kernel: Callable[[Section, Section | None, str | None], Kernel]
    """The kernel of the model."""
    model: Callable[[Section, Section | None, dict[str, int], str | None], Model]
    """The complete model, given the ids of ordinary tokens by their names."""
    steps: Callable[[Section, Kernel], Steps]
    """What the counts of a training record belong to: the number and the name of these steps."""
    refuse: Callable[[Definition], None]
    """Raises `VocabError` if other programs would produce other ids."""
    written: Callable[[Definition, Names], Section]
    """The object to write."""
