"""Two vocabularies made one, and a vocabulary whose tokens change at a fixed size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from digram.adapt.change import Change
from digram.adapt.extending import extend
from digram.adapt.pruning import prune
from digram.arguments import whole_number
from digram.counts import Counts, Sources, count_pretokens
from digram.definition import Definition
from digram.errors import ConfigMismatchError
from digram.pretokenizers import Pretokenizer
from digram.tokenizer import Tokenizer

__all__ = ["merge", "swap"]


def merge(tok: Tokenizer, other: Tokenizer, *, add: int | None = None) -> tuple[Tokenizer, Change]:
    """The tokenizer with the tokens of another; see `Tokenizer.merge`."""
    if tok.unit != other.unit:
        raise ConfigMismatchError(
            f'one tokenizer has unit="{tok.unit}" and the other unit="{other.unit}".',
            hint="Merge tokenizers of the same unit.",
        )
    most = None if add is None else whole_number("add", add, 0)
    definition = tok.definition
    size = tok.vocab_size
    tokens = [*definition.tokens, *[None] * (size - len(definition.tokens))]
    known = {token for token in tokens if token is not None}
    wanted = [one.token for one in other.merge_log if one.token not in known]
    wanted = [*dict.fromkeys(token for token in wanted if _is_spelled(token, tok, known))]
    alone = Tokenizer(replace(definition, pretokenizer=Pretokenizer(None)))
    learned: dict[tuple[int, int], int] = {}
    for token, word in zip(wanted, alone.encode_batch(wanted), strict=True):
        if len(learned) == most:
            break
        parts = _merged(word, learned)
        if len(parts) == 2:  # one merge more makes it, and comes after all that are before it
            learned[parts[0], parts[1]] = len(tokens)
            tokens.append(token)
    if not learned:
        return tok, Change.of(tok, tok)
    merges = definition.merges + [(left, right, id) for (left, right), id in learned.items()]
    after = Tokenizer(replace(definition, tokens=tokens, merges=merges, training=None))
    return after, Change.of(tok, after)


def _is_spelled(token: bytes, tok: Tokenizer, known: set[bytes]) -> bool:
    """Whether the tokenizer has all base symbols of a token."""
    if tok.unit == "byte":
        return True
    try:
        return known.issuperset(character.encode() for character in token.decode())
    except UnicodeDecodeError:
        return False


def _merged(word: Sequence[int], learned: dict[tuple[int, int], int]) -> list[int]:
    """What more merges make of ids: the first learned first, the leftmost first."""
    ids = [*word]
    while found := [(learned[p], at) for at, p in enumerate(pairwise(ids)) if p in learned]:
        id, at = min(found)  # ids follow the order in which they were learned
        ids[at : at + 2] = [id]
    return ids


def swap(
    tok: Tokenizer,
    source: Sources | Counts,
    number: int,
    *,
    keep: Iterable[str | bytes | int] = (),
    min_frequency: int = 2,
    separator: str | bytes | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> tuple[Tokenizer, Change]:
    """The least used tokens out, the most useful in; see `Tokenizer.swap`."""
    number = whole_number("number", number, 0)
    if not isinstance(source, Counts):
        source = count_pretokens(
            source,
            pretokenizer=tok.pretokenizer,
            unit=tok.unit,
            separator=separator,
            threads=threads,
            progress=progress,
        )
    smaller, _ = prune(tok, source, remove=number, keep=keep, compact=False, threads=threads)
    if not number:
        return tok, Change.of(tok, tok)
    options: dict[str, Any] = {"threads": threads, "progress": progress}
    grown, change = extend(smaller, source, add=number, min_frequency=min_frequency, **options)
    after = Tokenizer(_at_free_ids(tok.definition, grown.definition, change.added))
    return after, Change.of(tok, after)


def _at_free_ids(old: Definition, grown: Definition, added: Sequence[int]) -> Definition:
    """The definition with new tokens at the ids of those that went, the lowest first."""
    left = [*grown.tokens[: min(added, default=len(grown.tokens))]]
    left += [None] * (len(old.tokens) - len(left))
    free = [id for id, token in enumerate(old.tokens) if token is not None and left[id] is None]
    ids = dict(zip(added, free, strict=False))
    tokens = [*left[: len(old.tokens)]]
    for id, place in ids.items():
        tokens[place] = grown.tokens[id]

    def new(id: int) -> int:
        return ids.get(id, id)

    record = grown.training
    if record is not None and record.runners_up is not None:
        pairs = [[(new(a), new(b), n) for a, b, n in some] for some in record.runners_up]
        record = replace(record, runners_up=pairs)
    merges = [(new(left), new(right), new(id)) for left, right, id in grown.merges]
    return replace(grown, tokens=tokens, merges=merges, training=record)
