"""What a tokenizer.json has around its model: normalizers, pre_tokenizers and decoders."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from digram.decoders import Decoding
from digram.errors import VocabError
from digram.formats import _affixes, _bpe, _own, _word_level, _wordpiece
from digram.formats._added_tokens import added_tokens
from digram.formats._check import id_table
from digram.formats._decoders import FALLBACK, FUSE, STRIP_FIRST, shown, steps_of
from digram.formats._decoding import from_decoder, otherwise_steps, to_decoder
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._lettered import in_letters, is_in_letters, to_bytes
from digram.formats._names import has_words
from digram.formats._normalizers import before_letters, from_normalizer, to_normalizer
from digram.formats._show import show
from digram.formats._spaces import decoder_of as spaces_decoder
from digram.formats._spaces import from_file, to_file
from digram.formats._stages import from_stages, to_stages
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.settings import Unit
from digram.vocab.wordpiece import WordPieceModel

__all__ = ["Around", "Kept", "read_around", "vocabulary", "written_around"]

_BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}


def written_around(definition: Definition, fallback: bool, own: bool) -> dict[str, Any]:
    """What happens to text before and after the model."""
    around = _written_before(definition, own)
    decoding = definition.decoding
    decoder = _decoder_of(definition, fallback) if decoding is None else to_decoder(decoding)
    return around | {"decoder": decoder}


def _written_before(definition: Definition, own: bool) -> dict[str, Any]:
    cut, model = definition.pretokenizer, definition.model
    if has_words(definition):
        cut = cut if own else _wordpiece.without_spaces(cut)
    elif isinstance(model, BpeModel) and model.kernel().affixes:
        spaces = (" " * bool(model.prefix), " " * bool(model.suffix))
        if is_in_letters(cut) and not own:
            cut = to_bytes(cut, *spaces)
            normalizer = to_normalizer(cut.normalizer)
            return {"normalizer": normalizer, "pre_tokenizer": to_stages(cut, "byte")}
        cut = cut if own else _wordpiece.without_spaces(cut, *spaces)
    elif definition.space_symbol is not None:
        return to_file(cut, definition.space_symbol)
    return {
        "normalizer": to_normalizer(cut.normalizer, own),
        "pre_tokenizer": to_stages(cut, definition.unit, own),
    }


def _decoder_of(definition: Definition, fallback: bool) -> dict[str, Any] | None:
    """The decoder of a definition without a `Decoding`."""
    model, strip = definition.model, definition.strip_first_space
    if has_words(definition):
        if isinstance(model, WordPieceModel):
            return _wordpiece.decoder_of(definition)
        return _word_level.decoder_of(definition)
    if isinstance(model, BpeModel) and model.kernel().affixes:
        is_byte = definition.unit == "byte"
        return _BYTE_LEVEL if is_byte else _affixes.decoder_of(definition)
    if definition.space_symbol is not None:
        return spaces_decoder(definition.space_symbol, fallback, strip)
    decoders = _decoders(definition.unit, fallback, strip)
    if len(decoders) == 1:
        return decoders[0]
    return {"type": "Sequence", "decoders": decoders}


class Kept(NamedTuple):
    """What a file of digram says of the parts around the model."""

    digits: Any
    rules: Any
    name: Any
    decoding: _own.BySteps | None

    @property
    def of_cut(self) -> tuple[Any, Any, Any]:
        """What belongs to the pretokenizer."""
        return self.digits, self.rules, self.name


class Around(NamedTuple):
    """The model with its tokens as text, and what happens to text before and after it."""

    model: dict[str, Any]
    pretokenizer: Pretokenizer
    unit: Unit
    fallback: bool
    symbol: str | None
    strip: bool
    cleanup: bool = False
    in_letters: bool = False
    """Whether a normalizer writes bytes as letters, in which some added tokens are found."""
    decoding: Decoding | None = None


def read_around(
    top: dict[str, Any],
    model: dict[str, Any],
    of_words: bool,
    kept: Kept,
    path: str | None,
) -> Around:
    """Read what is around the model, which has words if `of_words`."""
    if of_words:
        return _read_words(top, model, kept, path)
    if _affixes.affixes_of(model) is not None:
        return _read_affixed(top, model, kept, path)
    byte_fallback = model.get("byte_fallback") is True
    spaced = from_file(top, model, byte_fallback, kept.decoding, path)
    if spaced is not None:
        (symbol, pretokenizer, strip, decoding), model = spaced
        return Around(model, pretokenizer, "char", byte_fallback, symbol, strip, decoding=decoding)
    normalizer, in_letters = before_letters(top.get("normalizer"), path)
    stages = from_normalizer(normalizer, path)
    pretokenizer, unit = from_stages(
        top.get("pre_tokenizer"), *kept.of_cut, stages, path, in_letters
    )
    fallback, decoder = unit == "char" and byte_fallback, top.get("decoder")
    strip, decoding = _decoded(
        decoder,
        lambda: _strips_first(decoder, unit, fallback, model.get("vocab"), path),
        unit,
        kept,
        path,
    )
    return Around(
        model, pretokenizer, unit, fallback, None, strip, in_letters=in_letters, decoding=decoding
    )


def _decoded(
    decoder: Any, special: Callable[[], bool], unit: Unit, kept: Kept, path: str | None
) -> tuple[bool, Decoding | None]:
    """What `special` says of a decoder, or its steps where it refuses the decoder."""
    found = otherwise_steps(decoder, special, unit, kept.decoding is not None, path)
    return (False, found) if isinstance(found, Decoding) else (found, None)


def _read_words(top: dict[str, Any], model: dict[str, Any], kept: Kept, path: str | None) -> Around:
    """Read what is around a model of words."""
    prefix, unknown = model.get("continuing_subword_prefix"), model["unk_token"]
    stages = from_normalizer(top.get("normalizer"), path)
    cut, unit = from_stages(top.get("pre_tokenizer"), *kept.of_cut, stages, path)
    if unit == "byte":
        raise unsupported(f"ByteLevel with a {kind_of(model)} model", path)
    pretokenizer = _wordpiece.cut_into_words(cut, kind_of(model), path)
    vocab = vocabulary(model["vocab"], path)
    added = added_tokens(top.get("added_tokens"), vocab, vocab, path)
    as_they_are, decoder = {*added}, top.get("decoder")
    if prefix is None:
        names = _word_level.spaced(vocab, as_they_are, path)
        special = partial(_word_level.is_cleaned, decoder, {*vocab} - as_they_are, path)
    else:
        names = _wordpiece.spaced(vocab, as_they_are, prefix, path)
        special = partial(_wordpiece.is_cleaned, decoder, prefix, path)
    cleanup, decoding = _decoded(decoder, special, unit, kept, path)
    renamed = dict(zip(vocab, names, strict=True))
    model = model | {
        "vocab": dict(zip(names, vocab.values(), strict=True)),
        "unk_token": renamed.get(unknown, unknown),
    }
    # The spaces of tokens are not written, so their first one is left out.
    return Around(model, pretokenizer, "char", False, None, True, cleanup, decoding=decoding)


def _read_affixed(
    top: dict[str, Any], model: dict[str, Any], kept: Kept, path: str | None
) -> Around:
    """Read what is around a BPE model whose tokens have a prefix or a suffix."""
    affixes = _affixes.affixes_of(model)
    assert affixes is not None
    stages = from_normalizer(top.get("normalizer"), path)
    cut, unit = from_stages(top.get("pre_tokenizer"), *kept.of_cut, stages, path)
    spaces = (" " * bool(affixes.prefix), " " * bool(affixes.suffix))
    vocab = vocabulary(model.get("vocab"), path)
    lettered = is_in_letters(cut)  # in a file of digram
    if unit == "byte" and _affixes.are_letters(affixes, _wordpiece.keeps_spaces(cut), model):
        cut, unit, lettered = in_letters(cut, *spaces, path), "char", True
    pretokenizer = cut
    if not lettered:
        what = f"BPE with {affixes.named()}"
        pretokenizer = _wordpiece.cut_into_words(cut, what, path, *spaces)
    added = added_tokens(top.get("added_tokens"), vocab, vocab, path)
    cleanup, decoding = False, None
    if lettered:  # any decoder is exact as its steps, since they get the names of tokens
        decoding = from_decoder(top.get("decoder"), path)
    else:
        special = partial(_affixes.is_cleaned, top, vocab, affixes, unit, path)
        cleanup, decoding = _decoded(top.get("decoder"), special, unit, kept, path)
    pairs = _bpe.merge_pairs(model.get("merges"), path)
    kept_names = {*added}
    if unit == "byte" and model.get("unk_token") is not None:
        kept_names.add(model["unk_token"])  # no text becomes it
    model = _affixes.spaced(model, pairs, kept_names, unit, path)
    strip = not affixes.suffix
    return Around(model, pretokenizer, unit, False, None, strip, cleanup, decoding=decoding)


def _decoders(unit: Unit, fallback: bool, strips: bool = False) -> list[dict[str, Any]]:
    """The decoders of a file without a symbol for spaces."""
    stripped = [STRIP_FIRST] if strips else []
    if unit == "byte":
        return [_BYTE_LEVEL, *stripped]
    return [*([FALLBACK] if fallback else []), FUSE, *stripped]


def _strips_first(decoder: Any, unit: Unit, fallback: bool, vocab: Any, path: str | None) -> bool:
    """Whether a decoder removes a space at the start of the text; raises for other decoders."""

    def kinds(steps: list[Any]) -> list[str]:
        # The options of ByteLevel have no effect here.
        return [kind_of(one) if kind_of(one) == "ByteLevel" else show(one) for one in steps]

    names = vocab if isinstance(vocab, dict) else ()
    found = steps_of(decoder, names)
    for strips in (False, True):
        expected = _decoders(unit, fallback, strips)
        sequence = {"type": "Sequence", "decoders": expected}
        fused = [FUSE, STRIP_FIRST] if found[-2:] == [FUSE, STRIP_FIRST] else []
        plain = [*found[:-2], STRIP_FIRST] if fused and unit == "byte" else found
        if kinds(plain) == kinds(steps_of(sequence, names)):
            return strips
    raise VocabError(
        f"decoder {shown(decoder)} is not supported with this pre_tokenizer.",
        path=path,
        hint=f"Set the decoder to {' + '.join(map(kind_of, _decoders(unit, fallback)))}, which "
        "restores the text.",
    )


def vocabulary(value: Any, path: str | None) -> dict[str, int]:
    vocab = expect(value, dict, "model.vocab", path)
    if not set(map(type, vocab.values())) <= {int}:
        for name, token_id in vocab.items():
            expect(token_id, int, f"model.vocab[{show(name)}]", path)
    id_table([*vocab.values()], vocab, path)  # raises for duplicate ids and ids out of range
    return vocab
