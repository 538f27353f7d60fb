"""What training is asked for: checked, and brought into the form of the core."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Literal, NamedTuple, get_args

from digram import _core
from digram._util.validation import check_threads, choice, flag, real_number, whole_number
from digram.errors import OptionError, several, show
from digram.vocab.definition import OnUnknown, Unit
from digram.vocab.special_tokens import Special

__all__ = [
    "ByteOrder",
    "Limits",
    "Ties",
    "base_tokens",
    "check_base",
    "check_choices",
    "checked_limits",
    "checked_picky",
    "room_for_merges",
    "warn_of_a_path",
]

Ties = Literal["ids", "first_seen", "lexicographic", "printable"]
ByteOrder = Literal["value", "gpt2"]

# The bytes that GPT-2 prints as themselves, and then the others: the order of the base tokens in
# Hugging Face's vocabularies, which sort the printable stand-ins.
GPT2_BYTE_ORDER = bytes([*range(33, 127), *range(161, 173), *range(174, 256)])
GPT2_BYTE_ORDER += bytes(byte for byte in range(256) if byte not in GPT2_BYTE_ORDER)


def check_choices(on_unknown: OnUnknown, ties: str, byte_order: str) -> None:
    """Refuses what is none of the words."""
    choice("ties", ties, *get_args(Ties))
    choice("byte_order", byte_order, *get_args(ByteOrder))
    named = isinstance(on_unknown, str) and on_unknown in ("error", "bytes")
    if not isinstance(on_unknown, Special) and not named:
        raise OptionError(
            f"on_unknown={show(on_unknown)} is not known.",
            value=on_unknown,
            hint='Pass "error", "bytes", or a token as digram.Special("<unk>").',
        )


class Limits(NamedTuple):
    """The numbers that training is asked for, as the core takes them."""

    vocab_size: int | None
    max_merges: int | None
    min_frequency: int | None
    max_token_length: int | None
    whole_characters: bool
    limit_alphabet: int | None
    runners_up: int
    threads: int | None


def checked_limits(
    vocab_size: int | None,
    max_merges: int | None,
    min_frequency: int | None,
    max_token_length: int | None,
    whole_characters: bool,
    limit_alphabet: int | None,
    runners_up: int,
    threads: int | None,
) -> Limits:
    """The same numbers as plain ints, which together say when training ends.

    Raises `TypeError` for what is no whole number; `OptionError` for one that is too small, and
    where nothing would stop training before every pretoken is one token.
    """

    def number(name: str, value: int | None, least: int) -> int | None:
        return None if value is None else whole_number(name, value, least)

    limits = Limits(
        vocab_size=number("vocab_size", vocab_size, 1),
        max_merges=number("max_merges", max_merges, 0),
        min_frequency=number("min_frequency", min_frequency, 1),
        max_token_length=number("max_token_length", max_token_length, 1),
        whole_characters=flag("whole_characters", whole_characters),
        limit_alphabet=number("limit_alphabet", limit_alphabet, 1),
        runners_up=whole_number("runners_up", runners_up, 0),
        threads=check_threads(threads),
    )
    for name, size in (("vocab_size", limits.vocab_size), ("max_merges", limits.max_merges)):
        if size is not None and size > _core.MAX_VOCAB_SIZE:
            asked = vocab_size if name == "vocab_size" else max_merges
            most = f"{_core.MAX_VOCAB_SIZE:,}, the most tokens there can be"
            raise OptionError(f"{name}={show(asked)} is more than {most}.", value=asked)
    if limits.vocab_size is None and limits.max_merges is None and (limits.min_frequency or 0) < 2:
        raise OptionError(
            "without vocab_size or max_merges, min_frequency must be at least 2, or training "
            "would go on until every pretoken is one token.",
            value=limits.min_frequency,
            hint="Say when to stop: vocab_size=32_000 is a usual size.",
        )
    return limits


def checked_picky(threshold: float, others: Mapping[str, object]) -> float:
    """The share from which on PickyBPE drops a token. `others` are options that it does without."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real):
        raise TypeError(f"picky is a share, such as 0.9, not {show(threshold)}")
    share = real_number("picky", threshold)
    if not 0 < share <= 1:
        raise OptionError(
            f"picky={show(threshold)} is no share above 0 and up to 1.",
            value=threshold,
            hint="0.9 drops tokens of which nine tenths are taken up by one merge.",
        )
    for name, value in others.items():
        if value is not None:
            hint = "tok.events tells what was merged and dropped."
            if name == "memory_limit":
                hint = "Count the text with it, by digram.count_pretokens, and train on the counts."
            elif name == "checkpoint":
                hint = (
                    "Count the text by digram.count_pretokens, save the counts, and train on them."
                )
            elif name in ("rules", "superwords"):
                hint = "Leave out one of them."
            raise OptionError(f"picky= and {name}= do not go together.", value=value, hint=hint)
    return share


def warn_of_a_path(source: object) -> None:
    """A `str` is always text; one that names a file was probably meant as the file."""
    if isinstance(source, str) and len(source) < 256 and "\n" not in source:
        try:
            # A word may be the name of a folder here; a path of several names is meant.
            named = os.path.isfile(source) or (
                os.sep in source.strip(os.sep) and os.path.isdir(source)
            )
        except ValueError:  # a NUL is in no name
            named = False
        if named:
            warnings.warn(
                f"training on the text {source!r}, which is also the name of a file or folder; for "
                "what is in it pass pathlib.Path(...) or digram.files(...)",
                stacklevel=3,
            )


def check_base(
    unit: Unit,
    alphabet: Iterable[str] | None,
    limit: int | None,
    on_unknown: OnUnknown,
    byte_order: ByteOrder,
) -> None:
    """Refuses what says something of a base that this unit does not have."""
    if unit == "byte":
        unknown = None if on_unknown == "error" else on_unknown
        for name, value in (
            ("alphabet", alphabet),
            ("limit_alphabet", limit),
            ("on_unknown", unknown),
        ):
            if value is not None:
                raise OptionError(
                    f'{name}= is for unit="char"; the base of unit="byte" is the bytes, in which '
                    "nothing is unknown.",
                    value=value,
                    hint=f'Leave out {name}=, or pass unit="char".',
                )
        return
    if byte_order != "value":
        raise OptionError(
            'byte_order= is for unit="byte"; the base of unit="char" is characters.',
            value=byte_order,
            hint='Leave out byte_order=, or unit="char".',
        )
    if alphabet is not None and limit is not None:
        raise OptionError(
            "alphabet= names the characters, and limit_alphabet= chooses among those of the "
            "corpus.",
            value=limit,
            hint="Give one of them.",
        )


def base_tokens(
    unit: Unit,
    alphabet: Iterable[str] | None,
    limit: int | None,
    on_unknown: OnUnknown,
    byte_order: ByteOrder,
    counts: _core.Counts | _core.SortedCounts,
) -> str | bytes:
    """The base tokens in the order of their ids, but for the bytes of a fallback.

    Raises `OptionError` where the corpus has other characters, and `on_unknown` is "error": such a
    tokenizer could not encode the text that it was trained on.
    """
    check_base(unit, alphabet, limit, on_unknown, byte_order)
    if unit == "byte":
        return GPT2_BYTE_ORDER if byte_order == "gpt2" else bytes(range(256))
    base = counts.characters(limit) if alphabet is None else _joined(alphabet)
    if on_unknown == "error" and (alphabet is not None or limit is not None):
        _check_all_known(base, "limit_alphabet" if alphabet is None else "alphabet", counts)
    return base


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
    ways = 'pass on_unknown="bytes" or on_unknown=digram.Special("<unk>")'
    raise OptionError(
        f"{argument}= leaves out {several(len(missing), 'character')} of the corpus: {named}. A "
        "tokenizer of it could not encode the text that it was trained on.",
        value=missing[0],
        hint=f"Add {'it' if len(missing) == 1 else 'them'} to alphabet=, or {ways}."
        if argument == "alphabet"
        else f"Raise it, or {ways}.",
    )


def _joined(alphabet: Iterable[str]) -> str:
    """The characters that are named, one after the other; `OptionError` for what is none."""
    characters = list(alphabet)
    for index, character in enumerate(characters):
        if not isinstance(character, str) or len(character) != 1:
            raise OptionError(
                f"alphabet[{index}] = {show(character)} is not one character.", index=index
            )
    if len(set(characters)) < len(characters):
        twice = next(c for i, c in enumerate(characters) if c in characters[:i])
        raise OptionError(f"alphabet= holds {show(twice)} twice.", value=twice)
    return "".join(characters)


def room_for_merges(vocab_size: int | None, base: int, special: int, reserved: int) -> int | None:
    """How many merges fit into the vocabulary."""
    if vocab_size is None:
        return None
    taken = base + special + reserved
    if vocab_size <= taken:
        more = f" and {several(reserved, 'reserved id')}" if reserved else ""
        raise OptionError(
            f"vocab_size={vocab_size} leaves no room for a merge: the base has "
            f"{several(base, 'token')}, beside {several(special, 'special token')}{more}.",
            value=vocab_size,
            hint=f"It must be at least {taken + 1}.",
        )
    return vocab_size - taken
