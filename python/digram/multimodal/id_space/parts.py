"""Interleaved parts of several ranges as one array of ids, and back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from digram._util.validation import iterable
from digram.errors import DigramError, OptionError, TokenIdError, placed, several, show
from digram.multimodal.id_space.lookup import Lookup, whole_numbers
from digram.multimodal.id_space.ranges import IdRange
from digram.multimodal.sequences import SequenceTokenizer
from digram.vocab.special_tokens import SpecialToken

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Ids: TypeAlias = NDArray[np.int64]

__all__ = ["Content", "LocalPart", "Part", "decode", "encode", "split", "to_global"]

Content: TypeAlias = "str | bytes | Sequence[str | bytes | SpecialToken] | ArrayLike"
"""The content of a part: text, a sequence of numbers, names, or local ids."""


class Part(NamedTuple):
    """A part of a sequence: the name of its range, and its content."""

    range: str
    content: Any


class LocalPart(Part):
    """A part whose content is local ids, in a range whose tokenizer takes numbers."""

    __slots__ = ()


def encode(
    ranges: Mapping[str, IdRange], lookup: Lookup, parts: Iterable[tuple[str, Content]]
) -> Ids:
    """The global ids of parts, concatenated; see `IdSpace.encode`."""
    pieces: list[Ids] = []
    before: str | None = None  # the range whose part would continue with the next one
    for place, part in enumerate(iterable("parts", parts, "pairs of a range and its content")):
        try:
            of, content = _taken(ranges, part)
            local: Any = content if isinstance(part, LocalPart) else _local(of, content)
            ids = to_global(of, local, lookup)
            _check_no_marker(of, ids, lookup)
            if of.begin is None or of.end is None:
                _check_distinguishable(of, ids, before)
                before = of.name
                pieces.append(ids)
            else:
                before = None
                pieces += [np.array([of.begin.id]), ids, np.array([of.end.id])]
        except (DigramError, TypeError) as error:
            placed(error, f"parts[{place}]")
            raise
    return np.concatenate(pieces) if pieces else np.empty(0, np.int64)


def split(ranges: Mapping[str, IdRange], lookup: Lookup, ids: Ids) -> list[Part]:
    """The parts of global ids, with local ids; see `IdSpace.split`."""
    order = [*ranges.values()]
    which = lookup.which(ids)
    begins = {of.begin.id: of for of in order if of.begin is not None}
    ends = {of.end.id: of for of in order if of.end is not None}
    marks = np.isin(ids, lookup.markers)
    borders = np.flatnonzero((which[1:] != which[:-1]) | marks[1:] | marks[:-1]) + 1
    found: list[Part] = []
    inside: IdRange | None = None  # the range whose begin marker came last
    begun = 0
    for start, stop in pairwise([0, *borders.tolist(), len(ids)] if len(ids) else []):
        id = int(ids[start])
        if marks[start] and id in begins:
            if inside is not None:
                raise _out_of_place(ids, start, f"begins {begins[id].name!r}", inside)
            inside, begun = begins[id], start
        elif marks[start]:
            if inside is None or ends[id] is not inside:
                raise _out_of_place(ids, start, f"ends {ends[id].name!r}", inside)
            found.append(_part(inside, ids, begun + 1, start))
            inside = None
        elif inside is None:
            of = order[which[start]]
            if of.begin is not None:
                raise _out_of_place(ids, start, f"is of {of.name!r}", None)
            found.append(_part(of, ids, start, stop))
        elif order[which[start]] is not inside:
            name = order[which[start]].name
            raise _out_of_place(ids, start, f"is of {name!r}", inside)
    if inside is not None:
        raise TokenIdError(
            f"ids[{begun}] = {ids[begun]} begins a part of {inside.name!r} without an end.",
            index=begun,
            value=int(ids[begun]),
            hint="Leave out the ids from there on.",
        )
    return found


def decode(
    ranges: Mapping[str, IdRange], parts: Iterable[Part], errors: Literal["replace", "strict"]
) -> list[Part]:
    """Parts with text and names in place of their ids."""
    return [Part(name, _shown(ranges[name], local, errors)) for name, local in parts]


def to_global(of: IdRange, local: ArrayLike, lookup: Lookup) -> Ids:
    """Local ids as global ones, in one dimension; see `IdSpace.to_global`."""
    ids = _flat(of, local) + of.start
    if of.is_text:
        _check_not_replaced(of, ids, lookup)
    return ids


def _flat(of: IdRange, codes: ArrayLike) -> Ids:
    """Local ids in one dimension; the codes of several codebooks are interleaved."""
    hint = "Grow the range, or check the source of the ids."
    what = f"in the range {of.name!r}" if of.codebooks == 1 else f"in a codebook of {of.name!r}"
    local = whole_numbers("ids", codes, of.codes, what, hint)
    if of.codebooks == 1 and local.ndim == 1:
        return local
    if of.codebooks > 1 and (local.shape[1:] == (of.codebooks,) or not local.size):
        return (local.reshape(-1, of.codebooks) + _turns(of)).ravel()
    shape = f"(frames, {of.codebooks})" if of.codebooks > 1 else "(ids,)"
    raise OptionError(
        f"ids have the shape {local.shape}, and those of {of.name!r} have {shape}.",
        value=local.shape,
        hint="Transpose or slice them." if of.codebooks > 1 else "Flatten them (codes.ravel()).",
    )


def _turns(of: IdRange) -> Ids:
    """The offsets of the codebooks, to add to their codes."""
    return np.arange(of.codebooks, dtype=np.int64) * of.codes


def _taken(ranges: Mapping[str, IdRange], part: tuple[str, Content]) -> tuple[IdRange, Content]:
    if not isinstance(part, tuple) or len(part) != 2 or not isinstance(part[0], str):
        raise TypeError("a part must be a range's name and its content, as in ('image', codes)")
    if part[0] not in ranges:
        known = ", ".join(map(repr, ranges))
        raise OptionError(
            f"there is no range {show(part[0])}.", value=part[0], hint=f"There are {known}."
        )
    return ranges[part[0]], part[1]


def _local(of: IdRange, content: Content) -> ArrayLike:
    """The local ids of the content of a part, which may be text or names."""
    texts = str | bytes | SpecialToken
    several_texts = isinstance(content, list | tuple) and any(isinstance(x, texts) for x in content)
    if isinstance(of.tokenizer, SequenceTokenizer):
        if isinstance(content, texts) or several_texts:
            raise TypeError(
                f"the range {of.name!r} takes a sequence of numbers, not {show(content)}"
            )
        return of.tokenizer.encode_ids(content)  # type: ignore[arg-type]
    if not isinstance(content, texts) and not several_texts:
        return content  # type: ignore[return-value]
    if of.names is not None:
        if isinstance(content, texts):
            raise TypeError(f"the range {of.name!r} takes a list of names, as in [{show(content)}]")
        return _places(of, of.names, content)
    if of.tokenizer is None:
        raise OptionError(
            f"the range {of.name!r} has no tokenizer, so it takes ids and not text.",
            value=of.name,
            hint="Load the space with tokenizers=." if of.wanted else "Pass local ids.",
        )
    return of.tokenizer.encode(content)  # type: ignore[arg-type]


def _check_not_replaced(of: IdRange, ids: Ids, lookup: Lookup) -> None:
    """`TokenIdError` for an id of a tokenizer that belongs to another range."""
    which = lookup.which(ids)
    other = np.flatnonzero(which != lookup.place[of.name])
    if len(other):
        index = int(other[0])
        id = int(ids[index]) - of.start
        token = ""
        if of.tokens is not None:
            with contextlib.suppress(TokenIdError):  # the id may have no token
                token = f", the token {of.tokens.id_to_token(id)!r},"
        raise TokenIdError(
            f"ids[{index}] = {id} of {of.name!r}{token} is in the range "
            f"{lookup.names[which[index]]!r}.",
            index=index,
            value=id,
            hint="Pass ids of that range as a part of it; text with this token has no ids.",
        )


def _places(of: IdRange, names: Sequence[str], content: Any) -> list[int]:
    """The local ids of names."""
    known = {name: place for place, name in enumerate(names)}
    for name in content:
        if name not in known:
            some = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
            raise OptionError(
                f"{show(name)} is not a name of the range {of.name!r}.",
                value=name,
                hint=f"It has {some}.",
            )
    return [known[name] for name in content]


def _check_no_marker(of: IdRange, ids: Ids, lookup: Lookup) -> None:
    marked = np.flatnonzero(np.isin(ids, lookup.markers))
    if len(marked):
        index = int(marked[0])
        raise TokenIdError(
            f"ids[{index}] = {ids[index] - of.start} of {of.name!r} is a marker, which belongs "
            "before or after a part, not inside one.",
            index=index,
            value=int(ids[index] - of.start),
            hint="Leave it out: encode adds the markers.",
        )


def _check_distinguishable(of: IdRange, ids: Ids, before: str | None) -> None:
    if len(ids) and before != of.name:
        return
    what = "follows another part of it" if len(ids) else "is empty"
    remedy = "join the two" if len(ids) else "leave it out"
    raise OptionError(
        f"a part of {of.name!r} {what}, which split could not restore: the range has no markers.",
        value=of.name,
        hint=f"Give the range markers (markers=), or {remedy}.",
    )


def _part(of: IdRange, ids: Ids, start: int, stop: int) -> Part:
    """The local ids of `ids[start:stop]`; with codebooks, one row per frame."""
    local = ids[start:stop] - of.start
    if isinstance(of.tokenizer, SequenceTokenizer):
        return LocalPart(of.name, local)
    if of.codebooks == 1:
        return Part(of.name, local)
    turn = np.arange(len(local)) % of.codebooks
    wrong = np.flatnonzero(local // of.codes != turn)
    if len(wrong) or len(local) % of.codebooks:
        index = start + int(wrong[0]) if len(wrong) else stop - 1
        raise TokenIdError(
            f"ids[{index}] = {ids[index]} of {of.name!r} "
            + (
                f"is of codebook {local[index - start] // of.codes} in the place of codebook "
                f"{turn[index - start]}."
                if len(wrong)
                else f"is not the last of a frame of {several(of.codebooks, 'codebook')}."
            ),
            index=index,
            value=int(ids[index]),
            hint="Each frame has one code of each codebook, in order.",
        )
    return Part(of.name, local.reshape(-1, of.codebooks) - _turns(of))


def _shown(of: IdRange, local: Ids, errors: Literal["replace", "strict"]) -> Any:
    if isinstance(of.tokenizer, SequenceTokenizer):
        try:
            return of.tokenizer.decode_ids(local)
        except TokenIdError as error:
            error.hint = "Use split, which returns the local ids."
            raise
    if of.tokenizer is not None:
        return of.tokenizer.decode(local.tolist(), errors=errors)
    if of.names is not None:
        return [of.names[id] for id in local.tolist()]
    return local


def _out_of_place(ids: Ids, index: int, what: str, inside: IdRange | None) -> TokenIdError:
    where = "outside of its markers" if inside is None else f"inside a part of {inside.name!r}"
    if inside is None and what.startswith("ends"):
        where = "where no part has begun"
    return TokenIdError(
        f"ids[{index}] = {ids[index]} {what} {where}.",
        index=index,
        value=int(ids[index]),
        hint="A part with markers is between its own markers, and contains only ids of its range.",
    )
