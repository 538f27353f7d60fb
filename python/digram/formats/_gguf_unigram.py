"""Unigram in GGUF: the kind "t5", as converted from SentencePiece's files.

llama.cpp adds the scores in double precision, also those that SentencePiece adds in single, and
puts a space before a text by a rule of its own (`SentencePiece(add_space="before word")`). Tokens
that users defined are found in all text, and have the score 0 where normalization makes their text.
Tokens of the type "unused" are made like normal ones.
(github.com/ggml-org/llama.cpp, src/llama-vocab.cpp, llm_tokenizer_ugm)
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping

from digram.errors import CorruptFileError, OptionError, VocabError
from digram.formats._check import Place, check
from digram.formats._gguf_fields import Defaults, Fields
from digram.formats._gguf_tokens import BYTE, NORMAL, UNUSED, USER_DEFINED, padding, special_of
from digram.formats._gguf_unknown import SYMBOL
from digram.formats._json import unsupported
from digram.formats._show import show
from digram.pretokenizers.normalizers import SentencePiece
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.definition import Definition
from digram.vocab.scores import Spelled, UnigramModel, in_single
from digram.vocab.special_tokens import SpecialToken

__all__ = ["read_unigram", "written_unigram"]

_DEFAULTS = Defaults(bos=None, eos=1, add_eos=True)
_UNKNOWN = 2
"""The id of the token for unknown characters, in a file without the key."""
_PENALTY = 10.0


def read_unigram(fields: Fields) -> Definition:
    """The tokenizer of a file of the kind "t5". Raises `VocabError` for an inconsistent one."""
    path, names = fields.path, fields.names()
    types = fields.types(len(names))
    numbers = fields.numbers("scores", "fil", len(names)) or [0.0] * len(names)
    special = special_of(
        names,
        types,
        {token_id for token_id, kind in enumerate(types) if kind == UNUSED},
        lambda key: fields.has(f"{key}_token_id"),
        fields.model_name(),
        "",
        path,
    )
    unknown = fields.token_id("unknown", _UNKNOWN, len(names))
    if unknown is None:
        raise CorruptFileError("no token is for unknown characters.", path=path)
    special.ids.setdefault(names[unknown], unknown)
    tokens: list[bytes | None] = [None] * len(names)
    scores: list[float | None] = [None] * len(names)
    spelled = []
    for token_id, (name, kind) in enumerate(zip(names, types, strict=True)):
        if kind == BYTE:
            raise unsupported(f"the token {show(name)} of a byte in a Unigram model", path)
        if kind == USER_DEFINED:
            spelled.append(Spelled(name.replace(SYMBOL, " "), token_id, 0.0))
        if name in special.ids or (kind == UNUSED and name == padding(token_id)):
            continue
        if " " in name:
            raise unsupported(f"the token {show(name)}, which has a space,", path)
        tokens[token_id] = name.replace(SYMBOL, " ").encode()
        scores[token_id] = float(numbers[token_id]) + 0.0
    while tokens and tokens[-1] is None:
        tokens.pop()
    scores = scores[: len(tokens)]
    lowest = min((numbers[id] for id, kind in enumerate(types) if kind == NORMAL), default=None)
    if lowest is None:
        raise unsupported("a Unigram model without normal tokens", path)
    definition = Definition(
        tokens=tokens,
        model=UnigramModel(scores, unknown=_unknown_score(lowest, path), spelled=tuple(spelled)),
        pretokenizer=_pretokenizer(fields),
        special_tokens=special.ids,
        unit="char",
        on_unknown=SpecialToken(names[unknown]),
        matching=special.matching,
        strip_first_space=_adds_space(fields),
        **fields.input(names, special.ids, _DEFAULTS)._asdict(),
    )
    return check(definition, Place(path))


def _adds_space(fields: Fields) -> bool:
    """Whether a text begins with a space: by a flag, and whenever others are removed."""
    return fields.flag("add_space_prefix", False) or fields.flag("remove_extra_whitespaces", False)


def _pretokenizer(fields: Fields) -> Pretokenizer:
    rules = SentencePiece(
        fields.raw("precompiled_charsmap"),
        add_space="before word" if _adds_space(fields) else None,
        remove_spaces=fields.flag("remove_extra_whitespaces", False),
    )
    try:
        return Pretokenizer(None, normalizer=[rules])
    except OptionError as error:
        raise CorruptFileError(error.message, path=fields.path) from None


def _unknown_score(lowest: float, path: str | None) -> float:
    try:
        return in_single(lowest - _PENALTY)
    except OverflowError:
        raise CorruptFileError(f"a token has the score {lowest}.", path=path) from None


def written_unigram(
    definition: Definition, model: UnigramModel, what: str, size: int
) -> tuple[list[str], list[int], dict[str, object]]:
    """The names of all ids, their types before special tokens, and the keys of this kind.

    Raises `VocabError` for a tokenizer that such a file cannot store.
    """
    rules = _rules(definition, what)
    _check_model(definition, model, what)
    names, types = [padding(token_id) for token_id in range(size)], [UNUSED] * size
    scores = array("f", [0.0]) * size
    for token_id, token in enumerate(definition.tokens):
        if token is not None:
            text = token.decode()
            if SYMBOL in text:
                raise VocabError(
                    f"the token {show(text)} has the symbol that stands for a space in {what}.",
                    value=text,
                )
            names[token_id], types[token_id] = text.replace(" ", SYMBOL), NORMAL
            scores[token_id] = model.scores[token_id] or 0.0
    keys: dict[str, object] = {
        "pre": b"default",
        "scores": scores,
        "add_space_prefix": rules.add_space is not None,
        "remove_extra_whitespaces": rules.remove_spaces,
    }
    if rules.charsmap:
        keys["precompiled_charsmap"] = array("B", rules.charsmap)
    return names, types, keys


def _rules(definition: Definition, what: str) -> SentencePiece:
    """The normalizer; raises `VocabError` for another one."""
    cut = definition.pretokenizer
    rules = cut.normalizer[0] if len(cut.normalizer) == 1 else None
    if isinstance(rules, SentencePiece) and not (cut.patterns or cut.digits or rules.symbols):
        fits = rules.add_space == "before word" or not (rules.add_space or rules.remove_spaces)
        if fits and definition.strip_first_space is (rules.add_space is not None):
            return rules
    raise VocabError(
        f"{what} with a Unigram model cannot store {cut!r} with "
        f"strip_first_space={definition.strip_first_space}.",
        value=cut,
        hint='It stores the normalizer SentencePiece with add_space="before word" alone.',
    )


def _check_model(definition: Definition, model: UnigramModel, what: str) -> None:
    """Raises `VocabError` for scores and names that llama.cpp would understand otherwise."""
    special, matching = definition.special_tokens, definition.matching
    always = {
        text: id for text, id in special.items() if text in matching and matching[text].always
    }
    named: Mapping[str, int] = {one.text: one.id for one in model.spelled}
    expected = {text.replace(SYMBOL, " "): id for text, id in always.items()}
    problem = None
    if model.addition != "double" or model.unused or model.user_defined:
        problem = f"a Unigram model with {model.addition} precision or unused tokens"
    elif not isinstance(definition.on_unknown, SpecialToken):
        problem = f"on_unknown={definition.on_unknown!r} with a Unigram model"
    elif named != expected or any(one.score for one in model.spelled):
        problem = "other names that text becomes than those of tokens found in all text"
    else:
        known = [score for score in model.scores if score is not None]
        wrong = next((score for score in known if in_single(score) != score), None)
        if wrong is not None:
            problem = f"the score {wrong}, which has more than 32 bits"
        elif not known or in_single(min(known) - _PENALTY) != model.unknown:
            problem = f"the score {model.unknown} of unknown characters"
    if problem is not None:
        raise VocabError(
            f"{what} cannot store {problem}.", value=problem, hint='Save it with format="digram".'
        )
