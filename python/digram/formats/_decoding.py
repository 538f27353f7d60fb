"""Convert a `digram.Decoding` to and from Hugging Face's `decoder`.

Only decoders that have no other form here become one: see `_around`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeVar

from digram.decoders import (
    BpeDecoder,
    ByteFallback,
    ByteLevel,
    Ctc,
    Decoding,
    Fuse,
    Metaspace,
    Replace,
    Spaced,
    Step,
    StripEnds,
    WordPiece,
)
from digram.errors import CorruptFileError, OptionError, PatternError, VocabError
from digram.formats._json import expect, unsupported
from digram.formats._portable import check_portable, from_oniguruma
from digram.formats._show import show
from digram.formats._splits import only
from digram.pretokenizers.normalizers import Replace as ReplaceInText
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.pretokenizers.regex import Regex
from digram.vocab.settings import Unit

__all__ = ["from_decoder", "otherwise_steps", "to_decoder"]

T = TypeVar("T")

_unsupported = partial(unsupported, hint="digram reads the decoders of Hugging Face's library.")


def otherwise_steps(
    decoder: Any, special: Callable[[], T], unit: Unit, by_steps: bool, path: str | None
) -> T | Decoding:
    """What `special` makes of a decoder; if it raises `VocabError`, the decoder as steps.

    With `by_steps` the file says that the decoder has no other form. The error of `special` is
    raised if the decoder is damaged, and for bytes if it would show their letters.
    """
    if by_steps:
        return from_decoder(decoder, path)
    try:
        return special()
    except VocabError as error:
        refused = error
    try:
        found = from_decoder(decoder, path)
    except (CorruptFileError, VocabError) as error:
        _refuse(refused, f"{error.message.removesuffix('.')}", path)
    if unit == "byte" and ByteLevel() not in found.steps:
        _refuse(refused, "without ByteLevel, text would be the letters of bytes", path)
    return found


def _refuse(refused: VocabError, cause: str, path: str | None) -> NoReturn:
    message = f"{refused.message.removesuffix('.')} ({cause})."
    raise VocabError(message, path=path, value=refused.value, hint=refused.hint) from None


def from_decoder(value: Any, path: str | None) -> Decoding:
    """The steps of a `decoder`.

    Raises `CorruptFileError` for a damaged one, `VocabError` for one that is not known, and
    `PatternError` for a regex that digram interprets differently.
    """
    try:
        return Decoding([Spaced()] if value is None else _steps(value, "decoder", path))
    except OptionError as error:
        raise CorruptFileError(f"decoder: {error.message}", path=path) from None


def _steps(value: Any, where: str, path: str | None) -> list[Step]:
    one = expect(value, dict, where, path)
    kind = expect(one.get("type"), str, f"{where}.type", path)
    if kind == "Sequence":
        only(one, {"type", "decoders"}, where, path)
        parts = expect(one.get("decoders"), list, f"{where}.decoders", path)
        # Sequences inside sequences nest at most as deep as the JSON reader allows.
        numbered = enumerate(parts)
        return [
            step for i, part in numbered for step in _steps(part, f"{where}.decoders[{i}]", path)
        ]
    if kind not in _READERS:
        raise _unsupported(f"{where} {show(kind)}", path)
    keys, read = _READERS[kind]
    only(one, {"type", *keys}, where, path)

    def get(key: str, type: type[T], default: T | None = None) -> T:
        return expect(one.get(key, default), type, f"{where}.{key}", path)

    try:
        return [read(get)]
    except OptionError as error:
        raise CorruptFileError(f"{where}: {error.message}", path=path) from None
    except PatternError as error:
        raise PatternError(
            f"{where}: {error.message}", path=path, value=error.value, hint=error.hint
        ) from None


Get = Callable[..., Any]
"""A function of a key, its type, and a value for a missing key."""


def _metaspace(get: Get) -> Step:
    scheme = get("prepend_scheme", str, "always")
    get("split", bool, True)  # it has no effect here
    if get("add_prefix_space", bool, scheme != "never") is not (scheme != "never"):
        raise OptionError("add_prefix_space contradicts prepend_scheme.", value=scheme)
    return Metaspace(get("replacement", str), scheme)


def _byte_level(get: Get) -> Step:
    # They have no effect here, but the library needs them.
    for key in ("add_prefix_space", "trim_offsets"):
        get(key, bool)
    get("use_regex", bool, True)
    return ByteLevel()


def _replace(get: Get) -> Step:
    pattern, content = get("pattern", dict), get("content", str)
    if len(pattern) != 1 or not pattern.keys() <= {"Regex", "String"}:
        raise OptionError("the pattern is neither a Regex nor a String.", value=pattern)
    ((kind, text),) = pattern.items()
    if not isinstance(text, str):
        raise OptionError(f"the {kind} is not a string, but {show(text)}.", value=text)
    if kind == "String" or not text:  # an empty regex matches what an empty text does
        return Replace(text, content)
    found = Replace(Regex(from_oniguruma(text)), content)
    assert isinstance(found.pattern, Regex)
    Pretokenizer(found.pattern)  # raises for patterns that are not supported
    try:
        Pretokenizer(None, normalizer=ReplaceInText(found.pattern, content)).splitter()
    except PatternError:
        raise PatternError(
            f"pattern {show(text)}: in a decoder, look-around is supported only at the next "
            "character, as in (?!\\S).",
            value=text,
            hint="Use a pattern without it.",
        ) from None
    return found


_OF_BYTES = ("add_prefix_space", "trim_offsets", "use_regex")
_READERS: dict[str, tuple[tuple[str, ...], Callable[[Get], Step]]] = {
    "ByteLevel": (_OF_BYTES, _byte_level),
    "WordPiece": (
        ("prefix", "cleanup"),
        lambda get: WordPiece(get("prefix", str), get("cleanup", bool)),
    ),
    "Metaspace": (
        ("replacement", "prepend_scheme", "split", "add_prefix_space", "str_rep"),
        _metaspace,
    ),
    "BPEDecoder": (("suffix",), lambda get: BpeDecoder(get("suffix", str))),
    "ByteFallback": ((), lambda _: ByteFallback()),
    "Fuse": ((), lambda _: Fuse()),
    "Strip": (
        ("content", "start", "stop"),
        lambda get: StripEnds(get("content", str), get("start", int), get("stop", int)),
    ),
    "Replace": (("pattern", "content"), _replace),
    "CTC": (
        ("pad_token", "word_delimiter_token", "cleanup"),
        lambda get: Ctc(
            get("pad_token", str), get("word_delimiter_token", str), get("cleanup", bool)
        ),
    ),
}
"""For each type, its keys, and a function that makes the step with one that gets a value."""


def to_decoder(decoding: Decoding) -> dict[str, Any] | None:
    """The `decoder` of a tokenizer.json.

    Raises `PatternError` for a regex that Hugging Face's engine interprets differently.

    >>> to_decoder(Decoding([Fuse()])), to_decoder(Decoding([Spaced()]))
    ({'type': 'Fuse'}, None)
    """
    if decoding.steps == (Spaced(),):
        return None
    parts = [_written(step) for step in decoding.steps]
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "decoders": parts}


def _written(step: Step) -> dict[str, Any]:
    kind = type(step).__name__
    found: dict[str, Any] = {}
    match step:
        case ByteLevel():
            found = dict.fromkeys(_OF_BYTES, True)
        case WordPiece(prefix, cleanup):
            found = {"prefix": prefix, "cleanup": cleanup}
        case Metaspace(symbol, scheme):
            found = {"replacement": symbol, "prepend_scheme": scheme, "split": True}
        case BpeDecoder(suffix):
            kind, found = "BPEDecoder", {"suffix": suffix}
        case StripEnds(content, start, stop):
            kind, found = "Strip", {"content": content, "start": start, "stop": stop}
        case Replace(Regex(pattern), content):
            check_portable(pattern)
            found = {"pattern": {"Regex": pattern}, "content": content}
        case Replace(pattern, content):
            found = {"pattern": {"String": pattern}, "content": content}
        case Ctc(pad, delimiter, cleanup):
            names = {"pad_token": pad, "word_delimiter_token": delimiter}
            kind, found = "CTC", {**names, "cleanup": cleanup}
    return {"type": kind, **found}
