"""Files in which a symbol stands for a space in tokens, as "▁" does in those of Llama and Mistral.

Other programs put the symbol in place of each space of a text, or before it, and a space in its
place when they decode. Here tokens have the spaces themselves, and the reverse happens: a symbol
that stands in a text becomes a space. The ids are the same, since no normalized text has both; and
a text without the symbol, as nearly every one is, stays as it is.

The prefix before a text is a `Prepend` on both sides. Without a pre_tokenizer it is a normalizer of
the file; with `Metaspace` it is its `prepend_scheme`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from digram.errors import VocabError
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._normalizers import from_normalizer, to_normalizer
from digram.formats._show import show
from digram.formats._splits import only
from digram.pretokenizers.normalizers import Normalizer, Prepend, Replace, SpacedWords
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex

__all__ = ["STRIP_FIRST", "Spaces", "from_file", "in_order", "named", "to_file"]

_BEFORE_SPACES = Regex(" ?[^ ]+| ")
"""The split of `Metaspace`: before each space."""
_FUSE = {"type": "Fuse"}
_FALLBACK = {"type": "ByteFallback"}
STRIP_FIRST = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
"""The decoder that removes the space at the start of a text."""
_SCHEMES = {"always": (True, False), "first": (True, True)}
"""`once` and `first` of `Prepend`."""

_METASPACE = {"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"}
_WORDS = {"type": "WhitespaceSplit"}

_unsupported = partial(
    unsupported,
    hint="With a decoder that puts spaces in place of a symbol, digram reads files whose "
    "normalizer ends by putting the symbol in place of spaces, or whose pre_tokenizer is "
    "Metaspace.",
)


class Spaces(NamedTuple):
    """What a file says of spaces."""

    symbol: str
    pretokenizer: Pretokenizer
    strip_first: bool


def from_file(
    top: dict[str, Any], model: dict[str, Any], byte_fallback: bool, path: str | None
) -> tuple[Spaces, dict[str, Any]] | None:
    """What a file says of spaces, and its model with spaces in its tokens; None for other files.

    Raises `VocabError` for what digram cannot reproduce, and `CorruptFileError`.
    """
    decoders = in_order(top.get("decoder"))
    symbol = _symbol(decoders[0]) if decoders else None
    if symbol is None:
        return None
    is_metaspace = kind_of(decoders[0]) == "Metaspace"
    steps = [] if is_metaspace else [*([_FALLBACK] if byte_fallback else []), _FUSE]
    strips = decoders[1:] == [*steps, STRIP_FIRST]
    if decoders[1:] not in (steps, [*steps, STRIP_FIRST]) or (is_metaspace and strips):
        kinds = " + ".join(kind_of(one) for one in decoders)
        raise _unsupported(f"decoder {kinds} with this model", path)
    stages, pattern = _before(top, symbol, path)
    if is_metaspace:
        strips = _metaspace_strips(decoders[0], pattern, path)
    vocab = expect(model.get("vocab"), dict, "model.vocab", path)
    for name in vocab:
        if " " in name:
            raise _unsupported(f"the token {show(name)}, which has a space,", path)
    for entry in top.get("added_tokens") or []:
        text = entry.get("content") if isinstance(entry, dict) else None
        if isinstance(text, str) and symbol in text:
            raise _unsupported(
                f"the added token {show(text)}, which has the symbol of spaces,", path
            )
    spaced = model | {
        "vocab": {name.replace(symbol, " "): token_id for name, token_id in vocab.items()},
        **({"merges": _merges(model["merges"], symbol)} if "merges" in model else {}),
    }
    pretokenizer = Pretokenizer(pattern, normalizer=stages)
    return Spaces(symbol, pretokenizer, strips), spaced


def in_order(decoder: Any) -> list[Any]:
    """The decoders of a sequence; the decoder itself if it is not one."""
    parts = decoder.get("decoders") if kind_of(decoder) == "Sequence" else None
    return parts if isinstance(parts, list) else [decoder]


def _symbol(decoder: Any) -> str | None:
    """The symbol in whose place a decoder puts a space."""
    if kind_of(decoder) == "Metaspace" and isinstance(decoder, dict):
        symbol = decoder.get("replacement")
        return symbol if isinstance(symbol, str) and len(symbol) == 1 and symbol != " " else None
    if not isinstance(decoder, dict) or kind_of(decoder) != "Replace":
        return None
    pattern = decoder.get("pattern")
    symbol = pattern.get("String") if isinstance(pattern, dict) else None
    is_one = isinstance(symbol, str) and len(symbol) == 1 and symbol != " "
    return symbol if is_one and decoder.get("content") == " " else None


def _metaspace_strips(decoder: dict[str, Any], pattern: Regex | None, path: str | None) -> bool:
    """Whether a `Metaspace` leaves out the space before a text.

    It leaves out all spaces of the first token, which has at most one if text is split before each.
    """
    only(decoder, _METASPACE, "decoder", path)
    scheme = decoder.get("prepend_scheme", "always")
    if scheme not in (*_SCHEMES, "never"):
        raise _unsupported(f"a Metaspace with {show(scheme)}", path)
    if decoder.get("add_prefix_space", scheme != "never") is not (scheme != "never"):
        raise _unsupported("add_prefix_space that contradicts prepend_scheme", path)
    if pattern is None and scheme != "never":
        raise _unsupported("a decoder Metaspace with a pre_tokenizer that does not split", path)
    return bool(scheme != "never")


def _before(
    top: dict[str, Any], symbol: str, path: str | None
) -> tuple[list[Normalizer], Regex | None]:
    """The stages and the pattern before the model."""
    stages = from_normalizer(top.get("normalizer"), path)
    cut = top.get("pre_tokenizer")
    back = Replace(symbol, " ")
    if kind_of(cut) == "Metaspace" and isinstance(cut, dict):
        prefix, split = _metaspace(cut, symbol, path)
        return [*stages, back, *prefix], _BEFORE_SPACES if split else None
    words = _after_words(cut)
    if words is not None:
        prefix, split = _metaspace(words, symbol, path)
        if prefix != [Prepend(" ", once=True)] or not split:
            raise _unsupported("WhitespaceSplit with this Metaspace", path)
        return [*stages, SpacedWords(symbol)], _BEFORE_SPACES
    unused = {
        "type": "Split",
        "pattern": {"String": " "},
        "behavior": "MergedWithPrevious",
        "invert": False,
    }
    if cut not in (None, unused) or stages[-1:] != [Replace(" ", symbol)]:
        raise _unsupported(f"pre_tokenizer {kind_of(cut)} with this normalizer", path)
    stages = stages[:-1]
    if stages[-1:] == [Prepend(symbol)]:
        return [*stages[:-1], back, Prepend(" ")], None
    return [*stages, back], None


def _after_words(cut: Any) -> dict[str, Any] | None:
    """The `Metaspace` of a pre_tokenizer that is `WhitespaceSplit` and then that."""
    parts = cut.get("pretokenizers") if isinstance(cut, dict) else None
    if kind_of(cut) != "Sequence" or not isinstance(parts, list) or len(parts) != 2:
        return None
    words, last = parts
    is_it = words == _WORDS and isinstance(last, dict) and kind_of(last) == "Metaspace"
    return last if is_it else None


def _metaspace(cut: dict[str, Any], symbol: str, path: str | None) -> tuple[list[Normalizer], bool]:
    """The prefix of a `Metaspace`, and whether it splits."""
    only(cut, _METASPACE, "pre_tokenizer", path)
    scheme, split = cut.get("prepend_scheme", "always"), cut.get("split", True)
    expect(split, bool, "pre_tokenizer.split", path)
    if cut.get("replacement") != symbol or scheme not in (*_SCHEMES, "never"):
        shown = f"{show(cut.get('replacement'))} and {show(scheme)}"
        raise _unsupported(f"a Metaspace with {shown}", path)
    if cut.get("add_prefix_space", scheme != "never") is not (scheme != "never"):
        raise _unsupported("add_prefix_space that contradicts prepend_scheme", path)
    if scheme == "never":
        return [], split
    once, first = _SCHEMES[scheme]
    return [Prepend(" ", once=once, first=first)], split


def _merges(merges: Any, symbol: str) -> Any:
    """Put spaces into the tokens of merges. Return a value that is not a list unchanged."""
    if not isinstance(merges, list):
        return merges
    pairs = [one.split(" ") if isinstance(one, str) else one for one in merges]
    return [
        [part.replace(symbol, " ") if isinstance(part, str) else part for part in pair]
        if isinstance(pair, list)
        else pair
        for pair in pairs
    ]


def named(name: str, symbol: str | None) -> str:
    """The name of a token in a file.

    >>> named(" low", "▁"), named(" low", None)
    ('▁low', ' low')
    """
    return name if symbol is None else name.replace(" ", symbol)


def to_file(
    pretokenizer: Pretokenizer, symbol: str, byte_fallback: bool, strip_first: bool
) -> dict[str, Any]:
    """The normalizer, the pre_tokenizer and the decoder of a file.

    Raises `VocabError` for a pretokenizer that such a file cannot have.
    """
    stages, cuts = [*pretokenizer.normalizer], pretokenizer.patterns
    if stages[-1:] == [SpacedWords(symbol)] and cuts == (_BEFORE_SPACES.pattern,) and strip_first:
        return _words_to_file(stages[:-1], symbol)
    prefix = stages.pop() if stages and isinstance(stages[-1], Prepend) else None
    scheme = _scheme_of(prefix)
    if (
        pretokenizer.digits is not None
        or pretokenizer.rules is not None
        or stages[-1:] != [Replace(symbol, " ")]
        or cuts not in ((), (_BEFORE_SPACES.pattern,))
        or (cuts and prefix is not None and scheme is None)
    ):
        raise VocabError(
            f"a tokenizer.json with the symbol {show(symbol)} for spaces cannot store "
            f"{pretokenizer!r}.",
            value=pretokenizer,
            hint="Set space_symbol to None, or the normalizer to one that such files have.",
        )
    stages = stages[:-1]
    if scheme is None and not cuts:
        before = [] if prefix is None else [Prepend(symbol)]
        normalizer = to_normalizer([*stages, *before, Replace(" ", symbol)])
        cut = None
    else:
        normalizer = to_normalizer(stages)
        cut = {
            "type": "Metaspace",
            "replacement": symbol,
            "prepend_scheme": scheme or "never",
            "split": bool(cuts),
        }
    decoders = [
        {"type": "Replace", "pattern": {"String": symbol}, "content": " "},
        *([_FALLBACK] if byte_fallback else []),
        _FUSE,
        *([STRIP_FIRST] if strip_first else []),
    ]
    return {
        "normalizer": normalizer,
        "pre_tokenizer": cut,
        "decoder": {"type": "Sequence", "decoders": decoders},
    }


def _words_to_file(stages: list[Normalizer], symbol: str) -> dict[str, Any]:
    metaspace = {
        "type": "Metaspace",
        "replacement": symbol,
        "prepend_scheme": "always",
        "split": True,
    }
    return {
        "normalizer": to_normalizer(stages),
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [_WORDS, metaspace]},
        "decoder": metaspace,
    }


def _scheme_of(prefix: Normalizer | None) -> str | None:
    """The `prepend_scheme` of a prefix; None if it is a normalizer in the file, or missing."""
    if not isinstance(prefix, Prepend) or not prefix.once:
        return None
    return next(name for name, flags in _SCHEMES.items() if flags == (prefix.once, prefix.first))
