"""Tokenizers of characters in GGUF: the kind "llama", whose tokens have scores.

llama.cpp puts the symbol "▁" in place of spaces, and one before a text; `_spaces` says how digram
does the same. A character without a token is encoded as its bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import isnan

from digram.errors import VocabError
from digram.formats._check import Place, check
from digram.formats._gguf_fields import Defaults, Fields
from digram.formats._gguf_tokens import BYTE, NORMAL, UNUSED, USER_DEFINED, padding, special_of
from digram.formats._gguf_unknown import BYTE_NAMES, SYMBOL, byte_ids_of, in_bytes
from digram.formats._json import unsupported
from digram.formats._scores import check_scores, merges_of, scores_of, without
from digram.formats._show import show
from digram.formats._spaces import named
from digram.pretokenizers.normalizers import Prepend, Replace
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.scores import ScoredModel

__all__ = ["read_scores", "written_scores"]

_BACK = Replace(SYMBOL, " ")
_HINT = 'Save it with format="huggingface".'
_DEFAULTS = Defaults(bos=1, eos=2, add_bos=True)


def read_scores(fields: Fields) -> Definition:
    """The tokenizer of a file of the kind "llama".

    Raises `VocabError` for an inconsistent vocabulary.
    """
    path = fields.path
    names = fields.names()
    types = fields.types(len(names))
    scores = fields.numbers("scores", "fil", len(names)) or [0.0] * len(names)
    ids = {name: token_id for token_id, name in enumerate(names)}
    byte_ids = byte_ids_of(ids, path)
    apart = set(byte_ids)
    # llama.cpp makes tokens of all types of characters. Text has no user-defined ones when it does,
    # except those that are made of spaces, as the runs of Gemma.
    spaced = {name for name, i in ids.items() if types[i] == USER_DEFINED and SYMBOL in name}
    merged = {
        name: i
        for name, i in ids.items()
        if (types[i] in (0, NORMAL, UNUSED) or name in spaced)
        and i not in apart
        and name != padding(i)
    }
    found = {name for name, i in ids.items() if types[i] == USER_DEFINED and i not in apart}
    merges = _merges(without(merged, found - spaced), scores, path)
    made = {name for name in merged if len(name) > 1}
    if merges is not None:
        made = {names[token_id] for _, _, token_id in merges}
    special = special_of(
        names,
        [NORMAL if token_id in apart else kind for token_id, kind in enumerate(types)],
        {ids[name] for name in made},
        lambda key: fields.has(f"{key}_token_id"),
        fields.model_name(),
        fields.text("pre") or "",
        path,
    )
    prefix = fields.flag("add_space_prefix", True)
    for name in merged:
        if " " in name:
            raise unsupported(f"the token {show(name)}, which has a space,", path)
    ordinary = {name: i for name, i in merged.items() if name in spaced or name not in special.ids}
    tokens = in_bytes(ordinary, byte_ids)
    if merges is None:
        has_score = {*ordinary.values()}
        model: BpeModel | ScoredModel = ScoredModel(
            [scores[i] if i in has_score else None for i in range(len(tokens))]
        )
    else:
        model = BpeModel(merges)
    definition = Definition(
        tokens=tokens,
        model=model,
        pretokenizer=Pretokenizer(None, normalizer=[_BACK, *([Prepend(" ")] if prefix else [])]),
        special_tokens=special.ids,
        unit="char",
        on_unknown="bytes",
        byte_ids=byte_ids,
        matching=special.matching,
        space_symbol=SYMBOL,
        strip_first_space=prefix,
        **fields.input(names, special.ids, _DEFAULTS)._asdict(),
    )
    return check(definition, Place(path))


def _merges(
    ids: dict[str, int], scores: Sequence[float], path: str | None
) -> list[tuple[int, int, int]] | None:
    """The merges that mean these scores; None if there are none, as for the runs of Gemma.

    Raises `VocabError` for a score that is not a number.
    """
    try:
        return merges_of(ids, scores, path)
    except VocabError:
        if any(isnan(scores[token_id]) for token_id in ids.values()):
            raise
        return None


def written_scores(
    definition: Definition, model: BpeModel | ScoredModel, what: str, size: int
) -> tuple[list[str], list[int], dict[str, object]]:
    """The names of all ids, their types before special tokens, and the keys of this kind.

    Raises `VocabError` for a tokenizer that such a file cannot store.
    """
    _check_way(definition, what)
    names = [padding(token_id) for token_id in range(size)]
    types = [UNUSED] * size
    byte_ids = dict(zip(definition.byte_ids or (), BYTE_NAMES, strict=False))
    for token_id, token in enumerate(definition.tokens):
        if token_id in byte_ids:
            names[token_id], types[token_id] = byte_ids[token_id], BYTE
        elif token is not None:
            names[token_id], types[token_id] = named(token.decode(), SYMBOL), NORMAL
    if isinstance(model, ScoredModel):
        scores = [score or 0.0 for score in model.scores]
        scores += [0.0] * (size - len(scores))
    else:
        scores = scores_of(size, model.merges)
        ids = {name: i for i, name in enumerate(names) if types[i] == NORMAL}
        found = {text for text, one in definition.matching.items() if one.always} - ids.keys()
        reached = without(ids, found)
        check_scores(names, reached, scores, model.merges, f"{what} with characters", _HINT)
    prefix = len(definition.pretokenizer.normalizer) > 1
    return (
        names,
        types,
        {
            "pre": b"default",
            "scores": array("f", scores),
            "add_space_prefix": prefix,
        },
    )


def _check_way(definition: Definition, what: str) -> None:
    """Raises `VocabError` for another treatment of spaces or of unknown characters."""
    cut = definition.pretokenizer
    known = ([_BACK], [_BACK, Prepend(" ")])
    stages = [*cut.normalizer]
    others = cut.patterns or cut.digits or stages not in known or definition.on_unknown != "bytes"
    if others or definition.space_symbol != SYMBOL:
        raise VocabError(
            f"{what} with characters means that spaces are the symbol {SYMBOL!r}, that nothing is "
            "split, and that unknown characters are encoded as bytes; this tokenizer has "
            f"on_unknown={definition.on_unknown!r}, space_symbol={definition.space_symbol!r} and "
            f"{cut!r}.",
            value=cut,
            hint=_HINT,
        )
    if definition.strip_first_space != (len(stages) > 1):
        raise VocabError(
            f"{what} means that decoding removes the first space if one is put before a text, and "
            "only then.",
            value=definition.strip_first_space,
            hint=_HINT,
        )
