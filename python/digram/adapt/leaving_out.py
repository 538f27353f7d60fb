"""Leave out tokens of models in which no token is made of others: WordPiece and Unigram."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from digram.errors import OptionError, several
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.reserved_ids import new_id, without
from digram.vocab.scores import UnigramModel
from digram.vocab.wordpiece import WordPieceModel

__all__ = ["Whole", "least_used", "left_out"]

Whole = UnigramModel | WordPieceModel
"""The models whose tokens can be left out one by one."""


def least_used(
    definition: Definition, model: Whole, times: Sequence[int], number: int, keep: Collection[int]
) -> list[int]:
    """The ids of the tokens that are used least, in ascending order; of equal ones the highest ids.

    No text of known characters may become unknown: only tokens of several characters can go, and
    only if each of their characters is a token too.
    """
    tokens = definition.tokens
    fixed = {*keep, *(definition.byte_ids or ()), *_out_of_use(model)}
    known = {token for id, token in enumerate(tokens) if token and id not in fixed - {*keep}}
    free = [
        id
        for id, token in enumerate(tokens)
        if token and id not in fixed and _is_spelled(token, model, known)
    ]
    if len(free) < number:
        raise OptionError(
            f"{several(number, 'token')} cannot be removed: only {len(free):,} have several "
            "characters, each of which is a token, and are neither special nor kept.",
            value=number,
            hint="Remove fewer, or keep fewer.",
        )
    return sorted(sorted(free, key=lambda one: (times[one], -one))[:number])


def _out_of_use(model: Whole) -> tuple[int, ...]:
    """Ids of Unigram that are found by other rules than their score, or never."""
    return (*model.user_defined, *model.unused) if isinstance(model, UnigramModel) else ()


def _is_spelled(token: bytes, model: Whole, known: Collection[bytes]) -> bool:
    """Whether a token has several characters, all of which are tokens."""
    text = token.decode()
    if isinstance(model, UnigramModel):
        parts = [*text]
    elif text.startswith(" "):  # the first letter of a word is a token with the space before it
        parts = [text[:2], *text[2:]]
    else:
        parts = [*text]
    return len(parts) > 1 and all(part.encode() in known for part in parts)


def left_out(
    definition: Definition, model: Whole, gone: Sequence[int], compact: bool, before: str
) -> Definition:
    """The definition without some tokens.

    With `compact` higher ids move down, otherwise the ids of removed tokens are unused.
    """
    if not gone:
        return definition
    removed = {*gone}
    if compact:
        bare = without(replace(definition, model=BpeModel([])), [*gone])
        small = replace(bare, model=_renumbered(model, [*gone]))
    else:
        tokens = [None if id in removed else t for id, t in enumerate(definition.tokens)]
        small = replace(definition, tokens=tokens, model=_without_scores(model, removed))
    record = definition.training
    if record is None:
        return small
    options = record.options | {"pruned": before, "removed": len(gone)}
    return replace(small, training=replace(record, options=options))


def _renumbered(model: Whole, gone: list[int]) -> Whole:
    if isinstance(model, WordPieceModel):
        return model
    removed = {*gone}
    scores = [score for id, score in enumerate(model.scores) if id not in removed]

    def moved(ids: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(new_id(gone, id) for id in ids)

    user_defined, unused = moved(model.user_defined), moved(model.unused)
    return replace(model, scores=scores, user_defined=user_defined, unused=unused)


def _without_scores(model: Whole, removed: Collection[int]) -> Whole:
    if isinstance(model, WordPieceModel):
        return model
    scores = [None if id in removed else score for id, score in enumerate(model.scores)]
    return replace(model, scores=scores)
