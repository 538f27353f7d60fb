"""The options of training, as values that are checked when they are made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, get_args

from digram import _core
from digram._util.validation import (
    check_threads,
    choice,
    flag,
    iterable,
    memory_in_bytes,
    real_number,
    whole_number,
)
from digram._util.wording import said
from digram.errors import OptionError, several, show
from digram.pretokenizers.normalizers import Replace, SentencePiece
from digram.pretokenizers.pretokenizer import Pretokenizer, resolve
from digram.tokenizer.merge import Merge
from digram.training.counts import check_unit
from digram.vocab.settings import OnUnknown, Unit
from digram.vocab.special_tokens import SpecialToken

__all__ = [
    "ByteOrder",
    "RunOptions",
    "Ties",
    "TrainOptions",
    "alphabet_of",
    "base_tokens",
    "listed",
    "refuse_beside_picky",
    "room_for_merges",
]

Ties = Literal["ids", "first_seen", "lexicographic", "printable"]
ByteOrder = Literal["value", "gpt2"]

# The bytes that GPT-2 prints unchanged, then the others: the order of the base tokens in Hugging
# Face's vocabularies, which sort by the printed characters.
GPT2_BYTE_ORDER = bytes([*range(33, 127), *range(161, 173), *range(174, 256)])
GPT2_BYTE_ORDER += bytes(byte for byte in range(256) if byte not in GPT2_BYTE_ORDER)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """The options that determine the result of training, together with the text.

    >>> options = TrainOptions(vocab_size=300, special_tokens=["<|end|>"])
    >>> options.ties, options.special_tokens
    ('ids', ('<|end|>',))
    >>> TrainOptions(vocab_size=0)
    Traceback (most recent call last):
    digram.errors.OptionError: vocab_size=0 is not at least 1.

    The fields are the arguments of `digram.train` with the same names. The constructor checks and
    normalizes them: numbers become plain ints, lists become tuples. Raises `TypeError` and
    `OptionError` as `train` does.

    An option that changes the merges also belongs in `deciding_options`, so that a checkpoint of
    another run is refused. CONTRIBUTING.md lists what else a new option needs.
    """

    vocab_size: int | None = None
    min_frequency: int | None = None
    max_merges: int | None = None
    max_token_length: int | None = None
    whole_characters: bool = False
    ties: Ties = "ids"
    runners_up: int = 0
    unit: Unit = "byte"
    alphabet: Iterable[str] | None = None
    limit_alphabet: int | None = None
    on_unknown: OnUnknown = "error"
    byte_order: ByteOrder = "value"
    pretokenizer: Pretokenizer = field(default_factory=lambda: resolve("o200k"))
    special_tokens: Iterable[str] = ()
    special_first: bool = False
    reserve: Mapping[str, int] | None = None
    pad_to_multiple: int | None = None
    picky: float | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        choice("ties", self.ties, *get_args(Ties))
        choice("byte_order", self.byte_order, *get_args(ByteOrder))
        check_unit(self.unit)
        self._check_unknown()
        for name, minimum in _MINIMUM.items():
            number = getattr(self, name)
            put(name, None if number is None else whole_number(name, number, minimum))
        put("runners_up", whole_number("runners_up", self.runners_up, 0))
        put("whole_characters", flag("whole_characters", self.whole_characters))
        put("special_first", flag("special_first", self.special_first))
        self._check_end()
        if self.alphabet is not None:
            put("alphabet", tuple(iterable("alphabet", self.alphabet, "several characters")))
        self._check_base()
        special = listed(self.special_tokens)
        if isinstance(self.on_unknown, SpecialToken) and self.on_unknown.text not in special:
            special += (self.on_unknown.text,)
        put("special_tokens", special)
        if self.picky is not None:
            put("picky", _share(self.picky))

    @property
    def special(self) -> tuple[str, ...]:
        """The special tokens, including that of unknown characters."""
        assert isinstance(self.special_tokens, tuple)
        return self.special_tokens

    @property
    def floor(self) -> int:
        """The minimum count of a pair to be merged."""
        return 1 if self.min_frequency is None else self.min_frequency

    def deciding_options(self) -> dict[str, Any]:
        """The options that determine the merges; a checkpoint identifies the run by them."""
        return {
            "ties": self.ties,
            "min_frequency": self.min_frequency,
            "max_token_length": self.max_token_length,
            "whole_characters": self.whole_characters or None,
            "byte_order": self.byte_order,
            "alphabet": None if self.alphabet is None else [*self.alphabet],
            "limit_alphabet": self.limit_alphabet,
            "on_unknown": self.on_unknown == "bytes",
            # Training of a model other than BPE names it.
            "model": None,
        }

    def recorded(self, reserved: Mapping[str, int]) -> dict[str, Any]:
        """The options for the training record; `reserved` are the reserved ids."""
        multiple = self.pad_to_multiple
        return {
            "vocab_size": self.vocab_size,
            "min_frequency": self.min_frequency,
            "max_merges": self.max_merges,
            "max_token_length": self.max_token_length,
            "byte_order": self.byte_order,
            "special_first": self.special_first,
            # Newer options are recorded only if they are used.
            **({"whole_characters": True} if self.whole_characters else {}),
            **({"limit_alphabet": self.limit_alphabet} if self.limit_alphabet else {}),
            **({"reserve": {**reserved}} if reserved else {}),
            **({"pad_to_multiple": multiple} if multiple else {}),
            **({} if self.picky is None else {"picky": self.picky}),
        }

    def _check_unknown(self) -> None:
        unknown = self.on_unknown
        named = isinstance(unknown, str) and unknown in ("error", "bytes")
        if not isinstance(unknown, SpecialToken) and not named:
            raise OptionError(
                f"on_unknown={show(unknown)} is not known.",
                value=unknown,
                hint='Pass "error", "bytes", or a token as '
                f"""{said('digram.SpecialToken("<unk>")', "'<unk>'")}.""",
            )

    def _check_end(self) -> None:
        """Raises if no limit would stop training before every pretoken is one token."""
        for name in ("vocab_size", "max_merges"):
            size = getattr(self, name)
            if size is not None and size > _core.MAX_VOCAB_SIZE:
                limit = f"{_core.MAX_VOCAB_SIZE:,}, the maximum size of a vocabulary"
                raise OptionError(f"{name}={show(size)} is more than {limit}.", value=size)
        if self.vocab_size is None and self.max_merges is None and self.floor < 2:
            raise OptionError(
                "without vocab_size or max_merges, min_frequency must be at least 2: otherwise "
                "training would continue until every pretoken is one token.",
                value=self.min_frequency,
                hint="Pass a limit; vocab_size=32_000 is a common size.",
            )

    def _check_base(self) -> None:
        """Raises for options that do not apply to the unit."""
        if self.unit == "byte":
            unknown = None if self.on_unknown == "error" else self.on_unknown
            for name, value in (
                ("alphabet", self.alphabet),
                ("limit_alphabet", self.limit_alphabet),
                ("on_unknown", unknown),
            ):
                if value is not None:
                    raise OptionError(
                        f'{name}= applies only to unit="char"; the base of unit="byte" is the '
                        "256 bytes, so no character is unknown.",
                        value=value,
                        hint=f'Leave out {name}=, or pass unit="char".',
                    )
            return
        if self.byte_order != "value":
            raise OptionError(
                'byte_order= applies only to unit="byte"; the base of unit="char" is characters.',
                value=self.byte_order,
                hint='Leave out byte_order=, or unit="char".',
            )
        if self.alphabet is not None and self.limit_alphabet is not None:
            raise OptionError(
                "alphabet= names the characters, but limit_alphabet= selects them from the corpus.",
                value=self.limit_alphabet,
                hint="Give one of them.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options for running training; the result does not depend on them.

    The fields are the arguments of `digram.train` with the same names. `memory_limit` is converted
    to bytes.
    """

    threads: int | None = None
    memory_limit: int | str | None = None
    checkpoint: str | os.PathLike[str] | None = None
    on_merge: Callable[[Merge], object] | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "threads", check_threads(self.threads))
        object.__setattr__(self, "memory_limit", memory_in_bytes(self.memory_limit))
        if self.on_merge is not None and not callable(self.on_merge):
            raise TypeError(f"on_merge is a function of a Merge, not {show(self.on_merge)}")

    @property
    def memory(self) -> int | None:
        """The limit in bytes."""
        assert not isinstance(self.memory_limit, str)
        return self.memory_limit


_MINIMUM = {
    "vocab_size": 1,
    "max_merges": 0,
    "min_frequency": 1,
    "max_token_length": 1,
    "limit_alphabet": 1,
}
"""The minimum of each number."""


def listed(special_tokens: Iterable[str]) -> tuple[str, ...]:
    """Check the special tokens: a list without duplicates, and not a `str`."""
    if isinstance(special_tokens, str):
        raise TypeError("special_tokens is a list of texts; put a single one in a list")
    if isinstance(special_tokens, Mapping):
        raise TypeError(
            "special_tokens is a list of texts, whose ids follow from training; for ids of your "
            "own call tok.with_special_tokens"
        )
    special = tuple(iterable("special_tokens", special_tokens, "several texts"))
    if len(set(special)) < len(special):
        twice = next(text for at, text in enumerate(special) if text in special[:at])
        raise OptionError(f"special_tokens= names {twice!r} twice.", value=twice)
    return special


def _share(threshold: float) -> float:
    """Check the share at which PickyBPE drops a token."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise TypeError(f"picky is a share, such as 0.9, not {show(threshold)}")
    share = real_number("picky", threshold)
    if not 0 < share <= 1:
        raise OptionError(
            f"picky={show(threshold)} is not above 0 and at most 1.",
            value=threshold,
            hint="0.9 drops tokens of which one merge uses nine tenths of the occurrences.",
        )
    return share


def refuse_beside_picky(others: Mapping[str, object]) -> None:
    """`OptionError` for options that PickyBPE does not support."""
    counting = said("digram.count_pretokens", "digram counts make")
    for name, value in others.items():
        if value is not None:
            hint = "tok.events has the merges and the dropped tokens."
            if name == "memory_limit":
                hint = f"Count the text with it, by {counting}, and train on the counts."
            elif name == "checkpoint":
                hint = f"Count the text by {counting}, save the counts, and train on them."
            elif name in ("rules", "superwords"):
                hint = "Leave out one of them."
            raise OptionError(f"picky= and {name}= cannot be combined.", value=value, hint=hint)


def base_tokens(options: TrainOptions, counts: _core.Counts | _core.SortedCounts) -> str | bytes:
    """The base tokens in the order of their ids, without the bytes of a fallback.

    Raises `OptionError` if the corpus has other characters and `on_unknown` is "error": the
    tokenizer could not encode the text that it was trained on.
    """
    if options.unit == "byte":
        return GPT2_BYTE_ORDER if options.byte_order == "gpt2" else bytes(range(256))
    alphabet, limit = options.alphabet, options.limit_alphabet
    if alphabet is None:
        base = _as_written(counts.characters(limit), options.pretokenizer)
    else:
        base = alphabet_of(alphabet)
    if options.on_unknown == "error" and (alphabet is not None or limit is not None):
        _check_all_known(base, "limit_alphabet" if alphabet is None else "alphabet", counts)
    return base


def _as_written(characters: str, cut: Pretokenizer) -> str:
    """Sorted characters, where a space counts as the symbol that stands for it in files."""
    symbol = None if cut.words is None else cut.words.last.space_symbol
    if any(isinstance(stage, SentencePiece) for stage in cut.normalizer):
        symbol = "▁"
    for stage in cut.normalizer:
        if isinstance(stage, Replace) and stage.content == " " and stage.pattern == "▁":
            symbol = "▁"
    if symbol is None:
        return characters
    return "".join(sorted(characters, key=lambda one: symbol if one == " " else one))


_SHOWN = 8  # characters that a message names


def _check_all_known(base: str, argument: str, counts: _core.Counts | _core.SortedCounts) -> None:
    """Refuses a base without some characters of the corpus."""
    known = {*base}
    missing = [character for character in counts.characters() if character not in known]
    if not missing:
        return
    named = ", ".join(f"{show(one)} (U+{ord(one):04X})" for one in missing[:_SHOWN])
    if len(missing) > _SHOWN:
        named += f" and {len(missing) - _SHOWN:,} more"
    ways = 'pass on_unknown="bytes" or on_unknown=digram.SpecialToken("<unk>")'
    raise OptionError(
        f"{argument}= leaves out {several(len(missing), 'character')} of the corpus: {named}. A "
        "tokenizer of it could not encode the text that it was trained on.",
        value=missing[0],
        hint=f"Add {'it' if len(missing) == 1 else 'them'} to alphabet=, or {ways}."
        if argument == "alphabet"
        else f"Raise it, or {ways}.",
    )


def alphabet_of(alphabet: Iterable[str]) -> str:
    """Join the characters of an alphabet; `OptionError` for an invalid one."""
    characters = list(alphabet)
    for index, character in enumerate(characters):
        if not isinstance(character, str) or len(character) != 1:
            raise OptionError(
                f"alphabet[{index}] = {show(character)} is not one character.", index=index
            )
    if len(set(characters)) < len(characters):
        twice = next(c for i, c in enumerate(characters) if c in characters[:i])
        raise OptionError(f"alphabet= contains {show(twice)} twice.", value=twice)
    return "".join(characters)


def room_for_merges(vocab_size: int | None, base: int, special: int, reserved: int) -> int | None:
    """The number of merges that fit into the vocabulary."""
    if vocab_size is None:
        return None
    taken = base + special + reserved
    if vocab_size <= taken:
        beside = [(special, "special token"), (reserved, "reserved id")]
        more = " and ".join(several(number, what) for number, what in beside if number)
        raise OptionError(
            f"vocab_size={vocab_size} leaves no room for a merge: the base has "
            f"{several(base, 'token')}{f', in addition to {more}' if more else ''}.",
            value=vocab_size,
            hint=f"It must be at least {taken + 1}.",
        )
    return vocab_size - taken
