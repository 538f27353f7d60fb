"""Training of BPE whose tokens are named by their place in a word, as those of CLIP and GPT-1.

The letters from which merging starts are those of each place: with the suffix "</w>", `w` inside a
word and `w</w>` at its end are two letters. Only `train(like=...)` trains it, since the pipeline of
a tokenizer says how words are marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from digram import _core
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Corpora
from digram.training.id_layout import preferred_first, reserved_of
from digram.training.merge_loop import Learned, Start, learned
from digram.training.options import RunOptions, TrainOptions, base_tokens, room_for_merges
from digram.training.spelled_tokens import Spotter
from digram.vocab.bpe import BpeKernel, BpeModel
from digram.vocab.definition import Definition
from digram.vocab.reserved_ids import padded, with_blocks
from digram.vocab.special_tokens import SpecialToken

__all__ = ["Affixed", "letters_of", "train_affixed"]

_UNKNOWN = SpecialToken("<unk>")
_BATCH = 1 << 14


@dataclass(frozen=True, slots=True)
class Affixed:
    """What files write before tokens that begin no word, and at the end of those that end one."""

    prefix: str
    suffix: str

    @property
    def named(self) -> str:
        """Both for messages and checkpoints.

        >>> Affixed("", "</w>").named
        "bpe with the suffix '</w>'"
        """
        return f"bpe with {BpeKernel(prefix=self.prefix, suffix=self.suffix).affixes}"


def letters_of(word: str, way: Affixed) -> Iterator[str]:
    """The letters of a word with the spaces that mark its start and its end.

    >>> [*letters_of("low ", Affixed("", "</w>"))], [*letters_of(" a ", Affixed("##", "</w>"))]
    (['l', 'o', 'w '], [' a '])
    """
    start, end = int(bool(way.prefix)), len(word) - bool(way.suffix)
    for at in range(start, end):
        yield word[0 if at == start else at : len(word) if at == end - 1 else at + 1]


def train_affixed(
    corpus: Corpora,
    options: TrainOptions,
    way: Affixed,
    run: RunOptions,
    *,
    weights: Mapping[str, Any] | None,
    spotter: Spotter | None,
    more: Mapping[str, Any],
) -> Tokenizer:
    """Count a corpus, learn merges, and make the tokenizer. `more` are options for the record."""
    if options.on_unknown == "bytes":
        raise OptionError(
            f'on_unknown="bytes" is not supported for {way.named}.',
            value="bytes",
            hint="Leave it out, or pass a special token.",
        )
    found = learned(
        corpus,
        lambda counts, _: _start(options, way, counts),
        options,
        run,
        deciding_options={**options.deciding_options(), "model": way.named},
        weights=weights,
        spotter=spotter,
    )
    return _tokenizer(options, way, found, more)


def _start(options: TrainOptions, way: Affixed, counts: _core.Counts | _core.SortedCounts) -> Start:
    """The letters from which merging starts, as a tokenizer that makes them of words."""
    base = base_tokens(_with_space(options), counts)
    definition = _of_bytes(base, way) if isinstance(base, bytes) else _of_text(base, way, counts)
    special = len(options.special)
    hole = len(definition.special_tokens)
    room = room_for_merges(
        options.vocab_size, len(definition.tokens), special, sum(reserved_of(options).values())
    )
    return Start(
        Tokenizer(definition), False, room, (special if options.special_first else 0) - hole
    )


def _with_space(options: TrainOptions) -> TrainOptions:
    """The options with the space that marks words as one more character."""
    alphabet, limit = options.alphabet, options.limit_alphabet
    if alphabet is not None and " " not in alphabet:
        return replace(options, alphabet=[*alphabet, " "])
    return options if limit is None else replace(options, limit_alphabet=limit + 1)


def _of_bytes(base: bytes, way: Affixed) -> Definition:
    """All bytes, and all of them at the end of a word, as in CLIP."""
    tokens = [bytes([byte]) for byte in base]
    space = base.index(b" ")
    merges = [(base.index(byte), space, 256 + base.index(byte)) for byte in range(256)]
    return Definition(
        tokens=[*tokens, *(one + b" " for one in tokens)],
        model=BpeModel(merges, suffix=way.suffix),
        pretokenizer=Pretokenizer(None),
    )


def _of_text(base: str, way: Affixed, given: _core.Counts | _core.SortedCounts) -> Definition:
    """The characters as they begin words or stand inside them, then as words have them.

    There is a token for others, which the new tokenizer leaves out.
    """
    counts = given.to_memory() if isinstance(given, _core.SortedCounts) else given
    begin = " " * bool(way.prefix)
    plain = dict.fromkeys(begin + one for one in base if one != " ")
    marked, known = set[str](), frozenset(base)
    for start in range(0, len(counts), _BATCH):
        for piece, _ in counts.items(start, _BATCH):
            text = piece if isinstance(piece, str) else bytes(piece).decode()
            marked.update(letters_of(text, way))
    found = sorted(one for one in marked if one not in plain and (one.strip(" ") or " ") in known)
    tokens = [one.encode() for one in (*plain, *found)]
    return Definition(
        tokens=[*tokens],
        model=BpeModel([], prefix=way.prefix, suffix=way.suffix),
        pretokenizer=Pretokenizer(None),
        special_tokens={_UNKNOWN.text: len(tokens)},
        unit="char",
        on_unknown=_UNKNOWN,
    )


def _tokenizer(
    options: TrainOptions, way: Affixed, found: Learned, more: Mapping[str, Any]
) -> Tokenizer:
    """Make the tokenizer from the learned merges. `more` are further options for the record."""
    tokens: list[bytes | None] = [token for token in found.tokens if token]
    shift = len(options.special) if options.special_first else 0
    first_special = 0 if options.special_first else len(tokens)
    begun, reserved = found.start.base, reserved_of(options)
    assert isinstance(begun, Tokenizer)
    # Tokens of the base are before the token of others, which those of merges are behind.
    hole, letters = shift - found.start.shift, len(begun._model.tokens())
    first_made = letters + found.start.shift
    moved = [
        (left + hole * (left < first_made), right + hole * (right < first_made), made)
        for left, right, made in found.merges
    ]
    given = begun._model.merges()
    record = found.record({**options.recorded(reserved), **more, "model": way.named})
    definition = Definition(
        tokens=[*[None] * shift, *tokens],
        model=BpeModel(
            [(a + shift, b + shift, id + shift) for a, b, id in given] + moved,
            prefix=way.prefix,
            suffix=way.suffix,
        ),
        pretokenizer=found.cut,
        special_tokens={text: first_special + i for i, text in enumerate(options.special)},
        unit=options.unit,
        on_unknown=options.on_unknown,
        strip_first_space=not way.suffix,
        training=preferred_first(record, len(given)),
    )
    return Tokenizer(padded(with_blocks(definition, reserved), options.pad_to_multiple))
