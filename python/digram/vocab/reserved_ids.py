"""The size of a vocabulary: reserved ids, padding, and smaller vocabularies inside it.

A reserved block of n ids is n special tokens, `<|name_0|>`, `<|name_1|>`, ... with consecutive ids,
so that every reader of a file has the same ids, and as many tokens as a model has rows. They come
after the merges and the other special tokens: the size of a block does not move the ids of text,
and the first rows of a model belong to text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from digram._util.validation import mapping
from digram.errors import OptionError, VocabError, several, show
from digram.vocab.bpe import require_bpe

if TYPE_CHECKING:  # importing it takes longer than reading a file
    from digram.vocab.definition import Definition, TrainingRecord

__all__ = [
    "PADDING",
    "Family",
    "base_ids",
    "blocks",
    "check_reserved",
    "family",
    "multiple_of",
    "new_id",
    "padded",
    "shrunk",
    "size_of",
    "with_blocks",
    "without",
    "without_padding",
]

PADDING = "unused"
"""The name of the block for padding."""

_NAME = re.compile(r"[^\W\d_][\w.-]*")
_MAX_IDS = 1 << 21  # the limit of the core


def blocks(
    reserve: Mapping[str, int] | None, pad_to_multiple: int | None, special_tokens: Iterable[str]
) -> dict[str, int]:
    """Check `reserve`, and return the number of ids for each name.

    Raises `OptionError` for an invalid name, a number below 1, and for a token that exists already;
    `TypeError` if it is not a mapping of names to whole numbers.
    """
    if reserve is not None and not isinstance(reserve, Mapping):
        raise TypeError('reserve is a mapping of names to numbers, as in {"image": 8192}')
    if pad_to_multiple is not None:
        _check_number("pad_to_multiple", pad_to_multiple)
    special = set(special_tokens)
    found = dict(reserve or {})
    for name, number in found.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise OptionError(
                f"reserve: {show(name)} is not a name for a block of ids.",
                value=name,
                hint="Use a letter, followed by letters, digits, '_', '-' and '.'.",
            )
        if name == PADDING and pad_to_multiple is not None:
            raise OptionError(
                f"reserve: {show(name)} is the name of the padding ids.",
                value=name,
                hint="Choose another name, or leave out pad_to_multiple=.",
            )
        _check_number(f"reserve[{name!r}]", number)
        clash = special & _texts(name, number).keys() if special else set()
        if clash:
            raise OptionError(
                f"reserve: {min(clash)!r} would be a token of the block {show(name)}, but is a "
                "special token already.",
                value=name,
                hint="Choose another name.",
            )
    return found


def with_blocks(definition: Definition, blocks: Mapping[str, int]) -> Definition:
    """Add blocks after the highest id, in order."""
    special, reserved = dict(definition.special_tokens), dict(definition.reserved)
    first = size_of(definition)
    for name, number in blocks.items():
        special |= {text: first + i for text, i in _texts(name, number).items()}
        reserved[name] = range(first, first + number)
        first += number
    return replace(definition, special_tokens=special, reserved=reserved)


def padded(definition: Definition, multiple: int | None) -> Definition:
    """Add unused ids at the end, so that the size is a multiple of `multiple`."""
    missing = 0 if multiple is None else -size_of(definition) % multiple
    return with_blocks(definition, {PADDING: missing}) if missing else definition


def multiple_of(definition: Definition) -> int | None:
    """The multiple to which the size was padded, if that is known."""
    record = definition.training
    multiple = None if record is None else record.options.get("pad_to_multiple")
    return multiple if type(multiple) is int and multiple > 0 else None


def check_reserved(
    reserved: Mapping[str, range], special_tokens: Mapping[str, int], path: str | None = None
) -> None:
    """Raises `VocabError` unless the ids of each block are those of its special tokens."""
    mapping("reserved", reserved, "names and ranges of ids")
    for name, ids in reserved.items():
        if not isinstance(ids, range):
            raise TypeError(f"reserved[{show(name)}] is a range of ids, not {show(ids)}")
        texts = _texts(name, len(ids)) if len(ids) <= len(special_tokens) else {name: 0}
        wrong = next((t for t, i in texts.items() if special_tokens.get(t) != ids.start + i), None)
        if wrong is not None or ids.step != 1:
            raise VocabError(
                f"the reserved block {show(name)} has the ids {ids.start} to {ids.stop - 1}, but "
                "its special tokens have other ids.",
                path=path,
                value=name,
                hint=f"Its tokens are <|{name}_0|>, <|{name}_1|>, ... with consecutive ids.",
            )


def shrunk(definition: Definition, vocab_size: int) -> Definition:
    """The definition that training to `vocab_size` would have made; see `digram.shrink`."""
    if isinstance(vocab_size, bool) or not isinstance(vocab_size, int):
        raise TypeError(f"vocab_size is a whole number, not {show(vocab_size)}")
    record = definition.training
    removed = family(definition).removed(vocab_size)
    small = without(without_padding(definition), removed)
    if record is not None:
        _check_words_first(record, _merges(small), whole=not removed)
        small = replace(small, training=_record(record, small, removed, vocab_size))
    if PADDING in small.reserved:
        return small  # other tokens follow the padding
    return padded(small, multiple_of(definition))


def _check_words_first(record: TrainingRecord, merges: int, *, whole: bool) -> None:
    """Raises `VocabError` for a size to which two-stage training would have learned fewer words."""
    superwords = record.options.get("superwords")
    if not isinstance(superwords, dict) or superwords.get("kind") != "two-stage":
        return
    words = superwords.get("subwords")
    if type(words) is int and merges >= words - 256:
        return
    if type(words) is float and whole and record.stop_reason in ("vocab_size", "max_merges"):
        return
    how = f"up to size {words}" if type(words) is int else f"by a share of the merges, {words}"
    raise VocabError(
        "this vocabulary contains none of that size: its words were learned before its "
        f"superwords, {how}.",
        value=words if isinstance(words, int | float) else None,
        hint="Train it to the smaller size.",
    )


class Family(NamedTuple):
    """The smaller vocabularies inside one: its size before padding, and the removable tokens."""

    size: int
    learned: list[int]
    """The ids of the tokens made by merges, in order. The last are removed first."""

    def removed(self, vocab_size: int) -> list[int]:
        """The ids to remove for this size; `OptionError` if there is no such vocabulary."""
        number = self.size - vocab_size
        if number < 0:
            raise OptionError(
                f"vocab_size={vocab_size} is more than the size {self.size} of this vocabulary.",
                value=vocab_size,
                hint=f"Choose at most {self.size}, or train to the larger size.",
            )
        if number >= len(self.learned):
            min_size = self.min_size
            raise OptionError(
                f"vocab_size={vocab_size} leaves no room for a merge: without merges there are "
                f"{several(min_size - 1, 'token')}.",
                value=vocab_size,
                hint=f"It must be at least {min_size}."
                if self.learned
                else "This vocabulary has no merges.",
            )
        return self.learned[len(self.learned) - number :]

    @property
    def min_size(self) -> int:
        """The size of the smallest vocabulary inside this one."""
        return self.size - max(len(self.learned) - 1, 0)


def family(definition: Definition) -> Family:
    """The smaller vocabularies inside this one; `VocabError` if there are none."""
    whole = without_padding(definition)
    model = require_bpe(whole.model, "a smaller vocabulary")
    if model.scheme is not None:
        raise VocabError(
            "this vocabulary contains no smaller ones: its merges are not applied by rank alone "
            f"({model.scheme.kind}).",
            hint="Train it to the smaller size.",
        )
    if model.prefix or model.suffix:
        raise VocabError(
            "this vocabulary contains no smaller ones: its tokens depend on where in a word they "
            "are.",
            hint="Train it to the smaller size.",
        )
    made = [id for _, _, id in model.merges]
    if any(a >= b for a, b in pairwise(made)):
        raise VocabError(
            "this vocabulary contains no smaller ones: its ids are not in the order of its merges.",
            hint="Train it to the smaller size.",
        )
    base = base_ids(whole, set(made))
    rules = whole.pretokenizer.rules
    kept = {None} if rules is None else {None, *rules.tokens()}
    learned = [id for id, token in enumerate(whole.tokens) if token not in kept and id not in base]
    if made:  # includes tokens without a merge whose ids follow the first merge
        learned = learned[bisect_left(learned, made[0]) :]
    return Family(size_of(whole), learned)


def base_ids(definition: Definition, made: set[int]) -> set[int]:
    """The ids of the bytes or characters that merges start from."""

    def is_one(token: bytes) -> bool:
        one = len(token) if definition.unit == "byte" else len(token.decode(errors="replace"))
        return one == 1

    fallback = set(definition.byte_ids or ())
    return fallback | {
        id
        for id, token in enumerate(definition.tokens)
        if token is not None and id not in made and is_one(token)
    }


def without(definition: Definition, removed: list[int]) -> Definition:
    """Remove tokens; the ids above them move down, and gaps are kept."""
    gone = set(removed)

    new = partial(new_id, removed)
    model = require_bpe(definition.model, "a vocabulary without some tokens")
    merges = [merge for merge in model.merges if merge[2] not in gone]
    for left, right, _ in merges:
        if left in gone or right in gone:
            raise VocabError(
                "this vocabulary contains none of that size: a removed token, which no merge "
                "makes, is part of one that stays.",
                value=left if left in gone else right,
                hint="Train it to the smaller size.",
            )
    first = removed[0] if removed else None
    if first is not None and any(max(merge) > first for merge in merges):
        merges = [(new(left), new(right), new(id)) for left, right, id in merges]
    byte_ids = definition.byte_ids
    return replace(
        definition,
        tokens=_without_gap(
            [token for id, token in enumerate(definition.tokens) if id not in gone]
        ),
        model=replace(model, merges=merges),
        byte_ids=None if byte_ids is None else [new(id) for id in byte_ids],
        special_tokens={text: new(id) for text, id in definition.special_tokens.items()},
        reserved={
            name: range(new(ids.start), new(ids.start) + len(ids))
            for name, ids in definition.reserved.items()
        },
    )


def _without_gap(tokens: list[bytes | None]) -> list[bytes | None]:
    while tokens and tokens[-1] is None:
        tokens.pop()
    return tokens


def new_id(removed: list[int], id: int) -> int:
    """The new id of a token that stays."""
    return id - bisect_left(removed, id)


def _record(
    record: TrainingRecord, small: Definition, removed: list[int], vocab_size: int
) -> TrainingRecord:
    merges, new = _merges(small), partial(new_id, removed)
    return replace(
        record,
        stop_reason="vocab_size",
        options=record.options | {"vocab_size": vocab_size},
        counts=record.counts[:merges],
        runners_up=record.runners_up
        and [
            [(new(left), new(right), count) for left, right, count in pairs]
            for pairs in record.runners_up[:merges]
        ],
        languages=record.languages and record.languages[:merges],
    )


def _merges(small: Definition) -> int:
    return len(require_bpe(small.model, "a smaller vocabulary").merges)


def without_padding(definition: Definition) -> Definition:
    """The definition without its padding block, if that is at the end."""
    ids = definition.reserved.get(PADDING)
    if ids is None or ids.stop != size_of(definition):
        return definition
    special = definition.special_tokens
    texts = _texts(PADDING, len(ids))
    return replace(
        definition,
        special_tokens={text: id for text, id in special.items() if text not in texts},
        reserved={name: ids for name, ids in definition.reserved.items() if name != PADDING},
    )


def _texts(name: str, number: int) -> dict[str, int]:
    """The texts of the tokens of a block, each with its index in the block."""
    return {f"<|{name}_{place}|>": place for place in range(number)}


def size_of(definition: Definition) -> int:
    """One more than the highest id."""
    tokens = definition.tokens
    end = next((i + 1 for i in reversed(range(len(tokens))) if tokens[i] is not None), 0)
    return max(end, max(definition.special_tokens.values(), default=-1) + 1)


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is a whole number, not {show(value)}")
    if not 1 <= value <= _MAX_IDS:
        raise OptionError(f"{name}={show(value)} is not between 1 and {_MAX_IDS:,}.", value=value)
