"""Checks of every vocabulary, independent of the file format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import add
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from digram.errors import InternalError, VocabError, several
from digram.formats._show import show
from digram.vocab.merges import TOGETHER
from digram.vocab.model import Fault
from digram.vocab.special_tokens import SpecialToken

if TYPE_CHECKING:
    from digram.vocab.definition import Definition
    from digram.vocab.settings import Settings

__all__ = [
    "Place",
    "check",
    "check_bytes",
    "check_input",
    "check_range",
    "check_special",
    "id_table",
    "named_merges",
]

Part = TypeVar("Part", str, bytes)
Merge = tuple[int, int, int]


class Place(NamedTuple):
    """Where a vocabulary was read, for errors: its file, and the file of its merges if different.

    `first_line` is the line of the merge of rank 0, if the file has one merge per line.
    """

    path: str | None = None
    merges_path: str | None = None
    first_line: int | None = None

    def bad_merge(self, rank: int, problem: str, value: object, hint: str) -> VocabError:
        """An error about the merge with this rank."""
        path = self.merges_path or self.path
        if self.first_line is None:
            return VocabError(f"merge {rank}: {problem}", path=path, value=value, hint=hint)
        line = self.first_line + rank
        return VocabError(problem, path=path, line=line, value=value, hint=hint)

    def error(self, fault: Fault) -> VocabError:
        """An error about an inconsistent model."""
        problem, value, hint, rank = fault
        if rank is None:
            return VocabError(problem, path=self.path, value=value, hint=hint)
        return self.bad_merge(rank, problem, value, hint)


NOWHERE = Place()


def check(definition: Definition, place: Place = NOWHERE) -> Definition:
    """Check that a definition is consistent, and return it.

    Tokens must be distinct. One token may be empty in a vocabulary of bytes: it is never produced,
    and decodes to nothing. Special tokens must have texts and ids of their own, and the tokens
    named by the template and the padding must be special. Each merge must make the token with the
    joined bytes of its parts, must occur once, and must come after the merges that make its parts.
    All 256 bytes must be tokens if they are the alphabet or the fallback. Raises `VocabError` with
    the place. Linear in the vocabulary.
    """
    distinct: set[bytes | None] = {None, *definition.tokens}
    _check_tokens(definition, distinct, place.path)
    tokens = dict(enumerate(definition.tokens)) if definition.special_tokens else {}
    for text in _also_ordinary(definition):
        del tokens[definition.special_tokens[text]]
    check_special(definition.special_tokens, tokens.get, place.path)
    check_input(definition, definition.special_tokens, place.path)
    if definition.unit == "byte":
        check_bytes([byte for byte in range(256) if bytes([byte]) not in distinct], place.path)
    else:
        _check_characters(definition, place.path)
    fault = definition.model.fault(definition)
    if fault is not None:
        raise place.error(fault)
    return definition


def _also_ordinary(definition: Definition) -> list[str]:
    """The tokens found in all text with the id of the ordinary token that is their text."""
    symbol, tokens, special = definition.space_symbol, definition.tokens, definition.special_tokens
    fallback = {*(definition.byte_ids or ())}  # these have other names in files

    def is_ordinary(text: str) -> bool:
        spelled = text if symbol is None else text.replace(symbol, " ")
        token_id = special.get(text, -1)
        if not 0 <= token_id < len(tokens) or token_id in fallback:
            return False
        return tokens[token_id] == spelled.encode(errors="surrogatepass")

    return [text for text, one in definition.matching.items() if one.always and is_ordinary(text)]


def id_table(ids: Sequence[int], tokens: Iterable[Part], path: str | None) -> list[Part | None]:
    """The tokens by id, with None where there is none.

    Raises `VocabError` for ids that are out of range (see `check_range`) or given twice.
    """
    check_range(ids, path)
    table: list[Part | None] = [None] * (max(ids, default=-1) + 1)
    for token_id, token in zip(ids, tokens, strict=True):
        if table[token_id] is not None:
            raise VocabError(
                f"id {token_id} is the id of {show(table[token_id])} and of {show(token)}.",
                path=path,
                value=token_id,
                hint="Give each token an id of its own.",
            )
        table[token_id] = token
    return table


def check_range(ids: Collection[int], path: str | None) -> None:
    """Raises `VocabError` for an id that is negative or not below 2^24 + 16 * the number of tokens.

    A table of tokens is as long as the highest id; a small file must not cause a huge allocation.
    """
    limit = (1 << 24) + 16 * len(ids)
    for token_id in (min(ids, default=0), max(ids, default=0)):
        if not 0 <= token_id < limit:
            raise VocabError(
                f"id {show(token_id)} is out of range.",
                path=path,
                value=token_id,
                hint=f"Ids start at 0, and those of {several(len(ids), 'token')} must be below "
                f"{limit:,}.",
            )


def named_merges(
    pairs: Sequence[Sequence[Part]], token_to_id: dict[Part, int], place: Place
) -> list[Merge]:
    """Convert merges from pairs of tokens to ids. Each pair must have two parts.

    Raises `VocabError` for a part or a result that is not in the vocabulary.
    """
    lefts = [left for left, _ in pairs]
    rights = [right for _, right in pairs]
    find = token_to_id.__getitem__
    try:
        made = map(find, map(add, lefts, rights))
        return list(zip(map(find, lefts), map(find, rights), made, strict=True))
    except KeyError:
        pass
    for rank, (left, right) in enumerate(pairs):
        for needed in (left, right, left + right):
            if needed not in token_to_id:
                problem = (
                    f"{show(left)} + {show(right)} needs token {show(needed)}, which is not in the "
                    "vocabulary."
                )
                raise place.bad_merge(rank, problem, needed, TOGETHER)
    raise InternalError("a merge failed, but all its tokens exist.")


def _check_tokens(definition: Definition, distinct: set[bytes | None], path: str | None) -> None:
    if b"" in distinct and definition.unit == "char" and not definition.model.may_have_empty:
        token_id = definition.tokens.index(b"")
        raise VocabError(
            f"token {token_id} is empty.", path=path, value=token_id, hint="Remove it."
        )
    if len(distinct) - 1 == len(definition.tokens) - definition.tokens.count(None):
        return
    fallback = set(definition.byte_ids or ())  # a byte and a character may have the same bytes
    seen: dict[bytes, int] = {}
    for token_id, token in enumerate(definition.tokens):
        if token is None or token_id in fallback:
            continue
        if token in seen:
            raise VocabError(
                f"token {show(token)} has the ids {seen[token]} and {token_id}.",
                path=path,
                value=token,
                hint="Keep one of them.",
            )
        seen[token] = token_id


def check_special(
    special_tokens: dict[str, int], token: Callable[[int], bytes | None], path: str | None
) -> None:
    """Raises `VocabError` for special tokens without a text or an id of their own.

    `token` returns the bytes of the ordinary token with an id, or None.
    """
    owner: dict[int, str] = {}
    check_range(special_tokens.values(), path)
    for text, token_id in special_tokens.items():
        problem = None
        if not text:
            problem = "has no text."
        elif not _is_text(text):
            problem = "contains a lone surrogate or invalid UTF-8."
        elif (ordinary := token(token_id)) is not None:
            problem = f"has the id {token_id} of token {show(ordinary)}."
        elif token_id in owner:
            problem = f"has the id {token_id} of special token {show(owner[token_id])}."
        if problem:
            raise VocabError(
                f"special token {show(text)} {problem}",
                path=path,
                value=token_id,
                hint="Give each special token a text and an id of its own.",
            )
        owner[token_id] = text


def check_input(
    definition: Definition | Settings, special_tokens: Mapping[str, int], path: str | None
) -> None:
    """Raises `VocabError` unless the template, the padding and the roles name special tokens."""
    template, pad = definition.template, definition.pad_token
    named = [] if template is None else [("the template", name) for name in template.tokens]
    named += [] if pad is None else [("the pad token", pad)]
    if definition.special_roles is not None:
        roles = definition.special_roles.to_dict()
        named += [(f"the {role} token", text) for role, text in roles.items()]
    padding = definition.padding
    named += [("the padding", padding.token)] if padding is not None and padding.id is None else []
    for what, name in named:
        if name not in special_tokens:
            raise VocabError(
                f"{what} names {show(name)}, which is not a special token.",
                path=path,
                value=name,
                hint="Add it to the special tokens.",
            )
    size = definition.context_size
    if size is not None and size < 1:
        raise VocabError(f"the context size {show(size)} is not at least 1.", path=path, value=size)


def _is_text(text: str | bytes) -> bool:
    try:
        text.encode() if isinstance(text, str) else text.decode()
    except UnicodeError:
        return False
    return True


def check_bytes(missing: list[int], path: str | None) -> None:
    """Raises `VocabError` if bytes of a byte vocabulary have no token."""
    if missing:
        shown = ", ".join(f"0x{byte:02X}" for byte in missing[:8])
        raise VocabError(
            f"{len(missing)} of the 256 bytes have no token: "
            f"{shown}{', ...' if len(missing) > 8 else ''}.",
            path=path,
            value=missing[0],
            hint="Text with these bytes could not be encoded. Is the vocabulary complete, and is "
            "it a byte vocabulary?",
        )


def _check_characters(definition: Definition, path: str | None) -> None:
    if isinstance(definition.on_unknown, SpecialToken):
        if definition.on_unknown.text not in definition.special_tokens:
            raise VocabError(
                f"the unknown token {show(definition.on_unknown.text)} is not a special token.",
                path=path,
                hint="Add it to the special tokens.",
            )
    elif isinstance(definition.on_unknown, bytes):
        if definition.on_unknown not in definition.tokens:
            raise VocabError(
                f"the unknown token {show(definition.on_unknown)} is not a token.",
                path=path,
                hint="Add it to the tokens.",
            )
    elif definition.on_unknown == "bytes":
        tokens, ids = definition.tokens, definition.byte_ids or []
        found = [tokens[token_id] if 0 <= token_id < len(tokens) else None for token_id in ids]
        if found != [bytes([byte]) for byte in range(256)] or len(set(ids)) != 256:
            raise VocabError(
                "the fallback to bytes needs a token for each of the 256 bytes.", path=path
            )
    fallback = set(definition.byte_ids or ())
    for token_id, token in enumerate(definition.tokens):
        if token is not None and token_id not in fallback and not _is_text(token):
            problem = f"token {token_id}, {show(token)}, does not consist of characters."
            raise VocabError(problem, path=path, value=token)
