"""WordPiece in a tokenizer.json, and how files write its tokens.

Files write a token that begins a word as it is, and any other one with a prefix, such as `##`. Here
the first ones have a space at the start instead, as the words of the pretokenizer do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from digram.errors import VocabError
from digram.formats import _own
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._model_section import ModelSection, Names
from digram.formats._show import show
from digram.formats._stages import DIGITS
from digram.formats._words import to_word_stages
from digram.pretokenizers.normalizers import Words
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex
from digram.vocab.definition import Definition
from digram.vocab.model import Kernel
from digram.vocab.special_tokens import Matching, SpecialToken
from digram.vocab.wordpiece import WordPieceKernel, WordPieceModel

__all__ = [
    "SECTION",
    "cut_into_words",
    "decoder_of",
    "is_cleaned",
    "keeps_spaces",
    "name_of",
    "refuse_ambiguous",
    "spaced",
    "without_spaces",
]

_KEYS = (
    *("type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "digram"),
    "vocab",
)
_OWN = "digram"


def spaced(names: Iterable[str], kept: Collection[str], prefix: str, path: str | None) -> list[str]:
    """The tokens of names in a file, as text; those in `kept` stay as they are.

    >>> spaced(["[UNK]", "low", "##er"], ["[UNK]"], "##", None)
    ['[UNK]', ' low', 'er']

    Raises `VocabError` for a name that has a space after the prefix, and for one that becomes what
    another one is.
    """
    found: dict[str, str] = {}
    for name in names:
        inner = name.removeprefix(prefix)
        if inner is not name and inner.startswith(" "):
            raise unsupported(f"the token {show(name)}, which has a space after its prefix,", path)
        text = name if name in kept else inner if name.startswith(prefix) else f" {name}"
        if found.setdefault(text, name) != name or (text in kept and name not in kept):
            raise unsupported(f"the token {show(name)} beside {show(found[text])}", path)
    return [*found]


def name_of(prefix: str) -> Callable[[bytes], str]:
    """A function that gives the name of a token in a file.

    >>> [*map(name_of("##"), [b" low", b"er"])]
    ['low', '##er']
    """

    def named(token: bytes) -> str:
        text = token.decode()
        return text[1:] if text.startswith(" ") else prefix + text

    return named


def cut_into_words(
    cut: Pretokenizer, kind: str, path: str | None, prefix: str = " ", suffix: str = ""
) -> Pretokenizer:
    """A pretokenizer of a file with a model of words, with a space before each word, or behind it.

    Raises `VocabError` if words may contain the white space between them.
    """
    words = cut.words
    if words is None or keeps_spaces(cut):
        in_two = words is not None and words.then is not None
        how = "leaves text out in two stages" if in_two else "keeps white space"
        raise unsupported(
            f"{kind} whose pre_tokenizer {how}",
            path,
            hint=f"digram reads {kind} with BertPreTokenizer, Whitespace, WhitespaceSplit, and "
            "other stages after them.",
        )
    digits = [Regex(DIGITS[cut.digits])] if cut.digits else []
    splits = (*words.splits, *digits, *map(Regex, cut.patterns))
    marked = replace(words, splits=splits, prefix=prefix, suffix=suffix)
    return Pretokenizer(None, normalizer=[*cut.normalizer[:-1], marked])


def keeps_spaces(cut: Pretokenizer) -> bool:
    """Whether words may contain the white space between them."""
    words = cut.words
    if words is None or words.then is not None:
        return True  # a regex may keep spaces, whatever it does with one
    return words.removed is None or bool(_unmarked(cut).splitter().split(" "))


def without_spaces(cut: Pretokenizer, prefix: str = " ", suffix: str = "") -> Pretokenizer:
    """The reverse of `cut_into_words`; raises `VocabError` for what it never gives."""
    words = cut.words
    fits = words is not None and replace(words, splits=(), removed=None) == Words(
        prefix=prefix, suffix=suffix, space_symbol=words.space_symbol, first=words.first
    )
    if words is None or not fits or cut.patterns or cut.digits or cut.rules:
        raise VocabError(
            f"a tokenizer.json with a model of words cannot store {cut!r}.",
            value=cut,
            hint="Use a normalizer that ends with words that have a space at the start if tokens "
            "have a prefix in files, and at the end if they have a suffix, such as "
            "digram.pretokenizers.BERT_WORDS, and no pattern, or save it with "
            'format="digram".',
        )
    for count in range(len(words.splits), 0, -1):
        first = replace(words, splits=words.splits[:count], prefix="", suffix="")
        with suppress(VocabError):
            # The stage that leaves out white space is the last of these; the others split words.
            to_word_stages(first)
            stages = [*cut.normalizer[:-1], first]
            return Pretokenizer(words.splits[count:] or None, normalizer=stages)
    return _unmarked(cut)


def _unmarked(cut: Pretokenizer) -> Pretokenizer:
    """The pretokenizer without the spaces of its words."""
    assert cut.words is not None
    words = replace(cut.words, prefix="", suffix="")
    return Pretokenizer(None, normalizer=[*cut.normalizer[:-1], words])


def decoder_of(definition: Definition) -> dict[str, Any]:
    """The `decoder` of a tokenizer.json.

    Raises `VocabError` where the first space is kept, and for a model without a prefix.
    """
    model = definition.model
    assert isinstance(model, WordPieceModel)
    if not model.prefix:
        raise VocabError(
            "a tokenizer.json with a WordPiece model needs a prefix for tokens inside words.",
            hint='Set the prefix of the model to "##".',
        )
    if not definition.strip_first_space:
        raise VocabError(
            "a tokenizer.json with a WordPiece model implies decoded text without the first space.",
            hint="Set strip_first_space=True in the definition.",
        )
    return {"type": "WordPiece", "prefix": model.prefix, "cleanup": definition.cleanup}


def is_cleaned(decoder: Any, prefix: str, path: str | None) -> bool:
    """Whether a decoder leaves out spaces before punctuation; raises for other decoders."""
    if kind_of(decoder) != "WordPiece" or decoder.get("prefix") != prefix:
        raise unsupported(
            f"decoder {kind_of(decoder)} with a WordPiece model",
            path,
            hint=f"Set it to WordPiece with the prefix {show(prefix)}.",
        )
    return expect(decoder.get("cleanup"), bool, "decoder.cleanup", path)


def refuse_ambiguous(
    vocab: Collection[str],
    added: dict[str, Matching],
    names: Collection[str],
    cut: Pretokenizer,
    path: str | None,
) -> None:
    """Raises `VocabError` for tokens in `names` that other libraries also make from words.

    Their models have all entries, so a word that is the text of an added token becomes it even
    where that text is not found as an added token. `added` are the flags in the file.
    """
    prefix = "" if cut.words is None else cut.words.prefix
    changes = len(cut.normalizer) > (cut.words is not None)
    for text in sorted(names):
        flags = added.get(text)
        is_found = flags is not None and not flags.single_word and (flags.normalized or not changes)
        if text in vocab and not is_found and cut.splitter().split(text) == [prefix + text]:
            raise unsupported(
                f"the token {show(text)}, which is in the vocabulary of the model too, so that "
                "words may become it where it is not found as an added token,",
                path,
            )


def _refuse(definition: Definition) -> None:
    """Raises `VocabError` for a special token that a tokenizer.json would make of words too."""
    model, special = definition.model, definition.special_tokens
    assert isinstance(model, WordPieceModel)
    unknown = definition.on_unknown
    flags = {text: definition.matching.get(text, Matching()) for text in special}
    names = {*flags, *([unknown.text] if isinstance(unknown, SpecialToken) else [])}
    try:
        refuse_inner(flags, flags, model.prefix, None)
        refuse_ambiguous(names, flags, names, definition.pretokenizer, None)
    except VocabError as error:
        raise VocabError(
            f"a tokenizer.json of WordPiece cannot store a special token that words may become: "
            f"{error.message}",
            value=error.value,
            hint='Give the token another text, as in "[TEXT]", or save it with format="digram".',
        ) from None


def refuse_inner(
    flags: Collection[str], vocab: Collection[str], prefix: str, path: str | None
) -> None:
    """Raises `VocabError` for an added token that other libraries also make inside words."""
    inner = next((text for text in flags if text in vocab and text.startswith(prefix)), None)
    if inner is not None:
        what = f"the added token {show(inner)}, which is also a piece inside words,"
        raise unsupported(what, path)


def _claims(model: dict[str, Any]) -> bool:
    if "type" in model:
        own = kind_of(model) == _OWN and "max_input_chars_per_word" in model
        return own or kind_of(model) == "WordPiece"
    return "merges" not in model and {*_KEYS} - {"type", "digram"} <= model.keys()


def _check(model: dict[str, Any], path: str | None) -> None:
    for key in model:
        if key not in _KEYS:
            raise unsupported(f"the key {show(key)} of the model", path)
    expect(model.get("unk_token"), str, "model.unk_token", path)
    if not expect(model.get("continuing_subword_prefix"), str, f"model.{_KEYS[2]}", path):
        raise unsupported("an empty continuing_subword_prefix", path)
    if expect(model.get("max_input_chars_per_word"), int, f"model.{_KEYS[3]}", path) < 1:
        raise unsupported(f"max_input_chars_per_word {model['max_input_chars_per_word']}", path)
    expect(model.get("vocab"), dict, "model.vocab", path)


def _kernel(model: dict[str, Any], own: dict[str, Any] | None, path: str | None) -> WordPieceKernel:
    return WordPieceKernel(model["max_input_chars_per_word"], model["continuing_subword_prefix"])


def _model(
    model: dict[str, Any], own: dict[str, Any] | None, ids: dict[str, int], path: str | None
) -> WordPieceModel:
    kernel = _kernel(model, own, path)
    return WordPieceModel(max_word_chars=kernel.max_word_chars, prefix=kernel.prefix)


def _steps(model: dict[str, Any], kernel: Kernel) -> _own.Steps:
    return _own.Steps(0, "merge")


def _written(definition: Definition, of: Names) -> dict[str, Any]:
    model = definition.model
    assert isinstance(model, WordPieceModel)
    return {
        "type": _OWN if of.own else "WordPiece",
        "unk_token": of.unknown_name(definition),
        "continuing_subword_prefix": model.prefix,
        "max_input_chars_per_word": model.max_word_chars,
        "digram": _own.to_section(definition, {}),
        "vocab": of.vocab,
    }


SECTION = ModelSection(
    kind=WordPieceModel.kind,
    claims=_claims,
    opened=lambda model, _: model,
    check=_check,
    tables=lambda model, added: None,
    kernel=_kernel,
    model=_model,
    steps=_steps,
    refuse=_refuse,
    written=_written,
)
