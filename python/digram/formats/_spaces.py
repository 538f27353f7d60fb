"""Files in which a symbol stands for a space in tokens, as "▁" does in those of Llama and Mistral.

Other programs put the symbol in place of each space of a text, or before it, and a space in its
place when they decode. Here tokens have the spaces themselves, and the reverse happens: a symbol
that stands in a text becomes a space. The ids are the same, since no normalized text has both; and
a text without the symbol, as nearly every one is, stays as it is.

Without a pre_tokenizer, the prefix before a text is a normalizer, on both sides. `Metaspace` and
its prefix are `Words`; after stages that cut text, such as `WhitespaceSplit` and `Punctuation`,
they are the pieces. Stages after it, which see the symbol, become patterns that see a space.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from digram.decoders import Decoding
from digram.errors import VocabError
from digram.formats._decoders import FALLBACK, FUSE, STRIP_FIRST, shown, steps_of
from digram.formats._decoding import otherwise_steps
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._normalizers import from_normalizer, to_normalizer
from digram.formats._own import BySteps
from digram.formats._portable import from_oniguruma
from digram.formats._roles import with_role
from digram.formats._show import show
from digram.formats._splits import READERS, only
from digram.formats._words import (
    nested,
    removal_of,
    split_stage,
    to_word_stages,
    unnested,
    words_before,
)
from digram.pretokenizers.normalizers import Normalizer, Prepend, Replace, Words
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex
from digram.pretokenizers.words import SPACE_BEFORE

__all__ = ["Spaces", "decoder_of", "from_file", "named", "to_file"]

_SCHEMES = ("always", "first", "never")

_METASPACE = {"type", "replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"}

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
    decoding: Decoding | None
    """The steps of a decoder that does not only put spaces in place of the symbol."""


def from_file(
    top: dict[str, Any],
    model: dict[str, Any],
    byte_fallback: bool,
    kept: BySteps | None,
    path: str | None,
) -> tuple[Spaces, dict[str, Any]] | None:
    """What a file says of spaces, and its model with spaces in its tokens; None for other files.

    Raises `VocabError` for what digram cannot reproduce, and `CorruptFileError`.
    """
    decoder, names = top.get("decoder"), model.get("vocab")
    decoders = steps_of(decoder, names if isinstance(names, dict) else ())
    if kept is None:
        symbol = _symbol_of_cut(top, path) or (_symbol(decoders[0]) if decoders else None)
    else:
        symbol = kept.space_symbol
    if symbol is None:
        return None
    stages, patterns, is_split = _before(top, symbol, path)

    vocab = expect(model.get("vocab"), dict, "model.vocab", path)
    kept_names, is_shown = _marked(top, model, symbol)

    added = {str(entry.get("content")) for entry in _entries(top)}

    def special() -> bool:
        if not decoders or _symbol(decoders[0]) != symbol:
            raise _unsupported(f"decoder {shown(decoder)} with this model", path)
        if is_shown:
            raise _unsupported("an added token with the symbol of spaces", path)
        if kind_of(decoders[0]) == "Metaspace" and any(text.startswith(" ") for text in added):
            raise _unsupported("an added token with a space at its start", path)  # which stays
        strips = _strips_first(decoder, decoders, byte_fallback, is_split, path)
        if strips and kind_of(decoders[0]) == "Metaspace":
            # A model may give such a token first, of which all spaces are left out.
            several = (name for name in vocab if symbol in name[1:] and name not in kept_names)
            if (name := next(several, None)) is not None:
                raise _unsupported(f"the token {show(name)} with a space behind its start", path)
        return strips

    found = otherwise_steps(decoder, special, "char", kept is not None, path)
    strips, decoding = (False, found) if isinstance(found, Decoding) else (found, None)
    for name in vocab:
        # An added token is found as a whole, so that its spaces stay.
        if " " in name and (name not in added or name.replace(" ", symbol) in vocab):
            raise _unsupported(f"the token {show(name)}, which has a space,", path)
    names = {name: name if name in kept_names else name.replace(symbol, " ") for name in vocab}
    unknown = model.get("unk_token")
    spaced = model | {
        "vocab": {names[name]: token_id for name, token_id in vocab.items()},
        **({"merges": _merges(model["merges"], symbol)} if "merges" in model else {}),
        **({"unk_token": names.get(unknown, unknown)} if isinstance(unknown, str) else {}),
    }
    pretokenizer = Pretokenizer(patterns or None, normalizer=stages)
    return Spaces(symbol, pretokenizer, strips, decoding), spaced


def _entries(top: dict[str, Any]) -> list[dict[str, Any]]:
    """The added tokens of a file that have a text; others are an error found later."""
    added = top.get("added_tokens")
    entries = added if isinstance(added, list) else []
    return [one for one in entries if isinstance(one, dict) and isinstance(one.get("content"), str)]


def _marked(top: dict[str, Any], model: dict[str, Any], symbol: str) -> tuple[frozenset[str], bool]:
    """The added tokens that keep the symbol in their text, and whether any token shows it.

    A decoder puts a space in place of the symbol in these, too, so that they need its steps. Tokens
    that are found in all text, and are made by merges or are pieces of a Unigram model, are spaced
    as those are.
    """
    vocab, pairs = model["vocab"], _pairs(model.get("merges"))
    made = {name for pair in pairs for name in (*pair, "".join(pair)) if len(pair) == 2}
    kept, is_late = set[str](), False
    for one in _entries(top):
        text = one["content"]
        if symbol not in text:
            continue
        is_made = "merges" not in model or text == symbol or text in made
        if one.get("special") is True or not is_made or text not in vocab:
            kept.add(text)
        is_late |= one.get("normalized") is True
    return frozenset(kept), bool(kept) or is_late


def _pairs(merges: Any) -> list[list[str]]:
    """The pairs of merges that have only texts; others are an error found later."""
    found = merges if isinstance(merges, list) else []
    pairs = (one.split(" ") if isinstance(one, str) else one for one in found)
    return [
        one for one in pairs if isinstance(one, list) and all(isinstance(part, str) for part in one)
    ]


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


def _symbol_of_cut(top: dict[str, Any], path: str | None) -> str | None:
    """The symbol of a `Metaspace` that splits text, not the letters of bytes."""
    cuts = _flattened(top.get("pre_tokenizer"))
    spaced = [one for one in cuts if kind_of(one) == "Metaspace"]
    if not spaced or any(kind_of(one) == "ByteLevel" for one in cuts):
        return None
    if len(spaced) > 1:
        raise _unsupported("more than one Metaspace", path)
    return _symbol(spaced[0])


def _flattened(cut: Any) -> list[Any]:
    """The stages of nested sequences, in order."""
    parts = cut.get("pretokenizers") if kind_of(cut) == "Sequence" else None
    if not isinstance(parts, list):
        return [] if cut is None else [cut]
    # Sequences inside sequences nest at most as deep as the JSON reader allows.
    return [stage for part in parts for stage in _flattened(part)]


def _strips_first(
    decoder: Any, steps: list[Any], byte_fallback: bool, is_split: bool, path: str | None
) -> bool:
    """Whether a decoder leaves out the space before a text; raises for other decoders."""
    is_metaspace = kind_of(steps[0]) == "Metaspace"
    if is_metaspace and byte_fallback:
        raise _unsupported(
            "decoder Metaspace with byte_fallback, which shows names of bytes,", path
        )
    later = [FALLBACK] if byte_fallback else []
    strips = steps[1:] == [*later, FUSE, STRIP_FIRST]
    if not (strips or steps[1:] == later) or (is_metaspace and strips):
        raise _unsupported(f"decoder {shown(decoder)} with this model", path)
    return _metaspace_strips(steps[0], is_split, path) if is_metaspace else strips


def _metaspace_strips(decoder: dict[str, Any], is_split: bool, path: str | None) -> bool:
    """Whether a `Metaspace` leaves out the space before a text.

    It leaves out all spaces of the first token, which has at most one if text is split before each.
    """
    only(decoder, _METASPACE, "decoder", path)
    scheme = decoder.get("prepend_scheme", "always")
    if scheme not in _SCHEMES:
        raise _unsupported(f"a Metaspace with {show(scheme)}", path)
    if decoder.get("add_prefix_space", scheme != "never") is not (scheme != "never"):
        raise _unsupported("add_prefix_space that contradicts prepend_scheme", path)
    if not is_split and scheme != "never":
        raise _unsupported("a decoder Metaspace with a pre_tokenizer that does not split", path)
    return bool(scheme != "never")


def _before(
    top: dict[str, Any], symbol: str, path: str | None
) -> tuple[list[Normalizer], list[Regex], bool]:
    """The stages and the patterns before the model, and whether text is split at each space."""
    stages = from_normalizer(top.get("normalizer"), path)
    cuts = _flattened(top.get("pre_tokenizer"))
    at = next((at for at, one in enumerate(cuts) if kind_of(one) == "Metaspace"), None)
    if at is not None:
        scheme, split = _metaspace(cuts[at], symbol, path)
        words = words_before(
            cuts[:at],
            path,
            prefix="" if scheme == "never" else " ",
            space_symbol=symbol,
            first=scheme == "first",
        )
        later = _with_symbol(cuts, at + 1, symbol, path)
        return [*stages, words], [*([SPACE_BEFORE] if split else []), *later], split
    unused = {
        "type": "Split",
        "pattern": {"String": " "},
        "behavior": "MergedWithPrevious",
        "invert": False,
    }
    if stages[-1:] != [Replace(" ", symbol)]:
        kind = kind_of(top.get("pre_tokenizer"))
        raise _unsupported(f"pre_tokenizer {kind} with this normalizer", path)
    later = [] if cuts == [unused] else _with_symbol(cuts, 0, symbol, path)
    stages, back = stages[:-1], Replace(symbol, " ")
    if stages[-1:] == [Prepend(symbol)]:
        return [*stages[:-1], back, Prepend(" ")], later, False
    return [*stages, back], later, False


def _with_symbol(cuts: list[Any], start: int, symbol: str, path: str | None) -> list[Regex]:
    """The patterns of the stages from an index on, which split text with the symbol."""
    places = (f"pre_tokenizer.pretokenizers[{at}]" for at in range(start, len(cuts)))
    return [_of_stage(one, at, symbol, path) for one, at in zip(cuts[start:], places, strict=True)]


def _of_stage(stage: Any, where: str, symbol: str, path: str | None) -> Regex:
    """The pattern of a stage that splits text with the symbol, for text with spaces."""
    expect(stage, dict, where, path)
    kind = expect(stage.get("type"), str, f"{where}.type", path)
    if kind not in READERS or removal_of(stage, where, path) is not None:
        raise unsupported(
            f"{where} of type {kind}, which may leave out text, behind the symbol of spaces",
            path,
            hint="Put it before Metaspace. Where a symbol stands for spaces, digram reads "
            f"{', '.join(READERS)}, with all behaviors but removed.",
        )
    regex = from_oniguruma(READERS[kind](stage, where, path), path, anchors=True)
    try:
        return Regex(with_role(regex, symbol, " "))
    except VocabError as error:
        what = f"{where} behind the symbol of spaces, {error.message}"
        raise unsupported(what, path, hint="Spell its classes out, without spaces.") from None


def _metaspace(cut: dict[str, Any], symbol: str, path: str | None) -> tuple[str, bool]:
    """The `prepend_scheme` of a `Metaspace`, and whether it splits."""
    only(cut, _METASPACE, "pre_tokenizer", path)
    scheme, split = cut.get("prepend_scheme", "always"), cut.get("split", True)
    expect(split, bool, "pre_tokenizer.split", path)
    if cut.get("replacement") != symbol or scheme not in _SCHEMES:
        shown = f"{show(cut.get('replacement'))} and {show(scheme)}"
        raise _unsupported(f"a Metaspace with {shown}", path)
    if cut.get("add_prefix_space", scheme != "never") is not (scheme != "never"):
        raise _unsupported("add_prefix_space that contradicts prepend_scheme", path)
    return scheme, split


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


def to_file(pretokenizer: Pretokenizer, symbol: str) -> dict[str, Any]:
    """The normalizer and the pre_tokenizer of a file.

    Raises `VocabError` for a pretokenizer that such a file cannot have.
    """
    words = pretokenizer.words
    before = [*pretokenizer.normalizer] if words is None else [*pretokenizer.normalizer[:-1]]
    if pretokenizer.digits is not None or pretokenizer.rules is not None:
        raise _unstored(pretokenizer, symbol)
    if words is None:
        prefix = [Prepend(symbol)] if before[-1:] == [Prepend(" ")] else []
        before = before[: len(before) - len(prefix)]
        if before[-1:] != [Replace(symbol, " ")]:
            raise _unstored(pretokenizer, symbol)
        normalizer = to_normalizer([*before[:-1], *prefix, Replace(" ", symbol)])
        cut = _in_sequence(_splits(pretokenizer.patterns, symbol))
    else:
        normalizer = to_normalizer(before)
        cut = _to_metaspace(pretokenizer, words, symbol)
    return {"normalizer": normalizer, "pre_tokenizer": cut}


def decoder_of(symbol: str, byte_fallback: bool, strip_first: bool) -> dict[str, Any]:
    """The decoder of a file."""
    decoders = [
        {"type": "Replace", "pattern": {"String": symbol}, "content": " "},
        *([FALLBACK] if byte_fallback else []),
        FUSE,
        *([STRIP_FIRST] if strip_first else []),
    ]
    return {"type": "Sequence", "decoders": decoders}


def _to_metaspace(pretokenizer: Pretokenizer, words: Words, symbol: str) -> dict[str, Any]:
    """The pre_tokenizer of words; raises `VocabError` for others than those of `Metaspace`."""
    *rules, last = unnested(words)
    scheme = "never" if not last.prefix else "first" if last.first else "always"
    spaced = replace(last, splits=(), removed=None)
    expected = Words(
        prefix="" if scheme == "never" else " ", space_symbol=symbol, first=scheme == "first"
    )
    is_split = pretokenizer.patterns[:1] == (SPACE_BEFORE.pattern,)
    if spaced != expected:
        raise _unstored(pretokenizer, symbol)
    later = _splits(pretokenizer.patterns[is_split:], symbol)
    before = to_word_stages(nested([*rules, Words(last.splits, last.removed)]))
    cut = {
        "type": "Metaspace",
        "replacement": symbol,
        "prepend_scheme": scheme,
        "split": is_split,
    }
    found = _in_sequence([*before, cut, *later])
    assert found is not None
    return found


def _splits(patterns: tuple[str, ...], symbol: str) -> list[dict[str, Any]]:
    """The stages of patterns, which see the symbol in place of spaces."""
    return [split_stage(with_role(regex, " ", symbol), "Isolated") for regex in patterns]


def _in_sequence(stages: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Stages one after the other."""
    if len(stages) > 1:
        return {"type": "Sequence", "pretokenizers": stages}
    return stages[0] if stages else None


def _unstored(pretokenizer: Pretokenizer, symbol: str) -> VocabError:
    return VocabError(
        f"a tokenizer.json with the symbol {show(symbol)} for spaces cannot store "
        f"{pretokenizer!r}.",
        value=pretokenizer,
        hint="Set space_symbol to None, or the normalizer to one that such files have.",
    )
