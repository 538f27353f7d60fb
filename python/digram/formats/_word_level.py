"""WordLevel in a tokenizer.json: tokens are whole words.

Where the file has no decoder, decoded text has a space between all tokens. Then tokens have a space
at the start here, as those of WordPiece that begin a word (`_wordpiece`), and all names in the file
are without it. With another decoder tokens are what the file says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from digram.errors import CorruptFileError, VocabError
from digram.formats import _own
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._model_section import ModelSection, Names
from digram.formats._show import show
from digram.vocab.definition import Definition
from digram.vocab.model import Kernel
from digram.vocab.word_level import WordLevelKernel, WordLevelModel

__all__ = ["SECTION", "decoder_of", "has_words", "is_cleaned", "is_spaced", "name_of", "spaced"]

_KEYS = ("type", "unk_token", "digram", "vocab")
_OWN = "digram"
_UNKNOWN = ("[UNK]", "<unk>", "[unknown]")
"""Names of an unknown token that a vocabulary may not have."""


def has_words(top: dict[str, Any]) -> bool:
    """Whether the tokens of a file are words between which decoded text has spaces."""
    decoder = top.get("decoder")
    return decoder is None or kind_of(decoder) == "WordPiece"


def is_spaced(definition: Definition) -> bool:
    """Whether the tokens of a definition have a space at the start that files do not write."""
    words = definition.pretokenizer.words
    return definition.strip_first_space and words is not None and words.last.prefix == " "


def spaced(names: Iterable[str], kept: Collection[str], path: str | None) -> list[str]:
    """The tokens of names in a file; those in `kept` stay as they are.

    >>> spaced(["[UNK]", "low"], ["[UNK]"], None)
    ['[UNK]', ' low']

    Raises `VocabError` if a name becomes one of those kept.
    """
    found = [name if name in kept else f" {name}" for name in names]
    if len({*found}) < len(found):
        wrong = next(text for text in found if text in kept and found.count(text) > 1)
        raise unsupported(f"the token {show(wrong[1:])} beside {show(wrong)}", path)
    return found


def name_of(token: bytes) -> str:
    """The name of a token in a file of words. Raises `VocabError` for one without the space.

    >>> name_of(b" low")
    'low'
    """
    text = token.decode()
    if not text.startswith(" "):
        raise VocabError(
            f"the token {show(text)} begins no word, and a tokenizer.json with a WordLevel model "
            "has words alone.",
            value=text,
            hint='Save it with format="digram".',
        )
    return text[1:]


def decoder_of(definition: Definition) -> dict[str, Any] | None:
    """The `decoder` of a file of words; its prefix is one that no token begins with."""
    if not definition.cleanup:
        return None
    names, prefix = [name_of(token) for token in definition.tokens if token is not None], "##"
    while any(name.startswith(prefix) for name in names):
        prefix += "#"
    return {"type": "WordPiece", "prefix": prefix, "cleanup": True}


def is_cleaned(decoder: Any, vocab: Collection[str], path: str | None) -> bool:
    """Whether a decoder leaves out spaces before punctuation; raises if it joins tokens too."""
    if decoder is None:
        return False
    prefix = expect(decoder.get("prefix"), str, "decoder.prefix", path)
    joined = next((name for name in vocab if name.startswith(prefix)), None)
    if joined is not None:
        raise unsupported(
            f"the token {show(joined)}, which the decoder WordPiece joins to the one before it,",
            path,
        )
    return expect(decoder.get("cleanup"), bool, "decoder.cleanup", path)


def _scheme(model: dict[str, Any]) -> dict[str, Any]:
    own = model.get("digram")
    scheme = own.get("scheme") if isinstance(own, dict) else None
    return scheme if isinstance(scheme, dict) else {}


def _claims(model: dict[str, Any]) -> bool:
    if "type" in model:
        is_own = kind_of(model) == _OWN and _scheme(model).get("kind") == WordLevelModel.kind
        return is_own or kind_of(model) == "WordLevel"
    return {"vocab", "unk_token"} <= model.keys() <= {*_KEYS}


def _check(model: dict[str, Any], path: str | None) -> None:
    for key in model:
        if key not in _KEYS:
            raise unsupported(f"the key {show(key)} of the model", path)
    if kind_of(model) != _OWN:
        expect(model.get("unk_token"), str, "model.unk_token", path)
        if _scheme(model):
            raise CorruptFileError(
                f"model.digram has a scheme, so the type of the model should be {_OWN!r}.",
                path=path,
            )
    expect(model.get("vocab"), dict, "model.vocab", path)


def _opened(model: dict[str, Any], path: str | None) -> dict[str, Any]:
    """The model; without an unknown token that the vocabulary does not have.

    Then unknown words are an error, as in Hugging Face's libraries.
    """
    unknown = model.get("unk_token")
    return model | {"unk_token": unknown if unknown in model["vocab"] else None}


def _kernel(model: dict[str, Any], own: dict[str, Any] | None, path: str | None) -> WordLevelKernel:
    splits = expect(_scheme(model).get("splits", False), bool, "model.digram.scheme.splits", path)
    return WordLevelKernel(splits)


def _model(
    model: dict[str, Any], own: dict[str, Any] | None, ids: dict[str, int], path: str | None
) -> WordLevelModel:
    return WordLevelModel(splits=_kernel(model, own, path).splits)


def _steps(model: dict[str, Any], kernel: Kernel) -> _own.Steps:
    return _own.Steps(0, "merge")


def _refuse(definition: Definition) -> None:
    if not definition.model.portable:
        raise VocabError(
            "a tokenizer.json cannot store a WordLevel model that splits text into words itself, "
            "as SentencePiece does.",
            hint='Save it with format="digram", or with format="sentencepiece".',
        )


def _written(definition: Definition, of: Names) -> dict[str, Any]:
    unknown = of.unknown_name(definition)
    if unknown is None and not of.own:
        unknown = next((name for name in _UNKNOWN if name not in of.vocab), None)
        if unknown is None:
            raise VocabError(
                "a tokenizer.json names an unknown token, but this tokenizer has none, and its "
                f"vocabulary has {', '.join(map(show, _UNKNOWN))}.",
                hint='Save it with format="digram".',
            )
    scheme = {"scheme": definition.model.kernel().to_dict()} if of.own else {}
    return {
        "type": _OWN if of.own else "WordLevel",
        "unk_token": unknown,
        "digram": _own.to_section(definition, scheme),
        "vocab": of.vocab,
    }


SECTION = ModelSection(
    kind=WordLevelModel.kind,
    claims=_claims,
    opened=_opened,
    check=_check,
    tables=lambda model, added: None,
    kernel=_kernel,
    model=_model,
    steps=_steps,
    refuse=_refuse,
    written=_written,
)
