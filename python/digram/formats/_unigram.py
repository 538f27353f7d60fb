"""Unigram in a tokenizer.json: the object `model` with the scores of its tokens.

Files for digram alone also store BPE by scores here, and scores that are added in single precision.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from digram import _core
from digram._util.wording import said
from digram.errors import CorruptFileError, VocabError
from digram.formats import _own
from digram.formats._json import dump, expect, kind_of, spelled, unsupported
from digram.formats._model_section import ModelSection, Names
from digram.formats._numbers import read_number, written_number
from digram.formats._show import show
from digram.vocab.definition import Definition
from digram.vocab.model import Kernel, Model
from digram.vocab.scores import ScoredModel, Spelled, UnigramModel
from digram.vocab.settings import OnUnknown
from digram.vocab.special_roles import SpecialRoles
from digram.vocab.special_tokens import SpecialToken

__all__ = [
    "SCORED",
    "UNIGRAM",
    "dumped",
    "number_in",
    "reader_of",
    "refuse_ordinary",
    "unknown_role",
    "without_config",
]

_KEYS = ("type", "unk_id", "vocab", "byte_fallback", "digram")
_OWN = "digram"
_UNKNOWN = ("<unk>", "[UNK]", "<UNK>")
"""Names of tokens for unknown characters."""
_NAME = re.compile(rb"<.+>|\[.+\]", re.DOTALL)
"""A token that usual text does not have."""
_PENALTY = 10.0
"""An unknown character has a score so much lower than the lowest one."""


def _kind_in(model: dict[str, Any]) -> str | None:
    """The kind of model in a file for digram alone."""
    own = model.get("digram")
    scheme = own.get("scheme") if isinstance(own, dict) else None
    found = scheme.get("kind") if isinstance(scheme, dict) else None
    return found if kind_of(model) == _OWN and isinstance(found, str) else None


def _claims(model: dict[str, Any]) -> bool:
    if kind_of(model) == "Unigram" or _kind_in(model) == UnigramModel.kind:
        return True
    return "type" not in model and isinstance(model.get("vocab"), list)


def _claims_scored(model: dict[str, Any]) -> bool:
    return _kind_in(model) == ScoredModel.kind


def _check(model: dict[str, Any], path: str | None) -> None:
    for key in model:
        if key not in _KEYS:
            raise unsupported(f"the key {show(key)} of the model", path)
    expect(model.get("byte_fallback", False), bool, "model.byte_fallback", path)
    if model.get("byte_fallback") is True and model.get("unk_id") is None and _is_of_others(model):
        what = "byte_fallback and without unk_id, which refuses unknown characters,"
        raise unsupported(f"a Unigram model with {what}", path)
    own = model.get("digram")
    if isinstance(own, dict) and "scheme" in own and _is_of_others(model):
        raise CorruptFileError(
            f"model.digram has a scheme, so the type of the model should be {_OWN!r}.", path=path
        )


def number_in(data: bytes) -> Callable[[str], float] | None:
    """What probably gives the numbers of a file: `reader_of` says it of the model that was read."""
    return read_number if b'"Unigram"' in data else None


def reader_of(section: ModelSection, model: dict[str, Any]) -> Callable[[str], float] | None:
    """What gives the numbers of a file with this model; None for `float`.

    The scores are those that Hugging Face's libraries read, which may round them.
    """
    return read_number if section is UNIGRAM and _is_of_others(model) else None


def dumped(top: dict[str, Any]) -> bytes:
    """The bytes of a file, in which Hugging Face's libraries read the scores that are in it.

    Raises `VocabError` for a score that no digits have there.
    """
    model = top["model"]
    pairs = model["vocab"]
    if not _is_of_others(model) or all(read_number(repr(score)) == score for _, score in pairs):
        return dump(top)
    rows = [
        b"[%s,%s]" % (spelled(name, ensure_ascii=False), _digits(name, score))
        for name, score in pairs
    ]
    end = b"]}}\n"
    start = dump(top | {"model": model | {"vocab": []}}).removesuffix(end)
    return start + b",".join(rows) + end


def _digits(name: str, score: float) -> bytes:
    found = written_number(score)
    if found is None:
        raise VocabError(
            f"a tokenizer.json cannot store the score {score!r} of the token {show(name)}: "
            "Hugging Face's reader rounds it, whatever the digits are.",
            value=score,
            hint='Round the scores to 12 places, or save it with format="digram".',
        )
    return found.encode()


def _opened(model: dict[str, Any], path: str | None) -> dict[str, Any]:
    """The model with its tokens as those of BPE are, and the scores beside them."""
    pairs = expect(model.get("vocab"), list, "model.vocab", path)
    vocab: dict[str, int] = {}
    scores: list[float] = []
    for id, pair in enumerate(pairs):
        if type(pair) is not list or [*map(type, pair)] not in ([str, float], [str, int]):
            raise CorruptFileError(
                f"model.vocab[{id}] should be a token and its score, not {show(pair)}.",
                path=path,
                value=pair,
            )
        name, score = pair
        if vocab.setdefault(name, id) != id:
            raise VocabError(
                f"the token {show(name)} has the ids {vocab[name]} and {id}.",
                path=path,
                value=name,
                hint="Remove one of them.",
            )
        scores.append(score)
    # What other programs do not allow, so that ids have no holes, digram's own files name.
    ids = model.get("digram", {}).get("scheme", {}).get("ids") if kind_of(model) == _OWN else None
    if ids is not None:
        numbers = expect(ids, list, "model.digram.scheme.ids", path)
        if len(numbers) != len(pairs) or not set(map(type, numbers)) <= {int}:
            raise CorruptFileError(
                "model.digram.scheme.ids should have an id per token.", path=path
            )
        vocab = dict(zip(vocab, numbers, strict=True))
    unknown = model.get("unk_id")
    if unknown is not None:
        index = expect(unknown, int, "model.unk_id", path)
        if not 0 <= index < len(pairs):
            raise VocabError(
                f"model.unk_id {index} is not the id of a token.", path=path, value=index
            )
        unknown = pairs[index][0]
    return model | {"vocab": vocab, "scores": scores, "unk_token": unknown}


def _model(
    model: dict[str, Any], own: dict[str, Any] | None, ids: dict[str, int], path: str | None
) -> Model:
    if "scores" not in model:
        model = _opened(model, path)
    scheme = _own_scheme(own)
    spelled = _spelled(scheme, path) if scheme else _names_of_others(model)
    fallback = set(scheme.get("bytes", ())) | {one.id for one in spelled}
    by_name = dict(zip(model["vocab"], model["scores"], strict=True))
    scores: list[float | None] = [None] * (max(ids.values(), default=-1) + 1)
    for name, id in ids.items():
        if id not in fallback:
            scores[id] = float(by_name[name])
    unused = tuple(_ids(scheme, "unused", path))
    if scheme.get("kind") == ScoredModel.kind:
        return ScoredModel(scores, unused=unused)
    lowest = min(model["scores"], default=0.0)
    addition = scheme.get("addition", "double")
    if addition not in ("double", "single"):
        raise CorruptFileError(
            f"model.digram.scheme.addition {show(addition)} is not known.", path=path
        )
    unknown = scheme.get("unknown", lowest - _PENALTY)
    if type(unknown) not in (int, float):
        raise CorruptFileError("model.digram.scheme.unknown should be a number.", path=path)
    return UnigramModel(
        scores,
        unknown=unknown,
        addition=addition,
        user_defined=tuple(_ids(scheme, "user_defined", path)),
        unused=unused,
        spelled=spelled,
    )


def _is_of_others(model: dict[str, Any]) -> bool:
    return kind_of(model) != _OWN


def _names_of_others(model: dict[str, Any]) -> tuple[Spelled, ...]:
    """The names of bytes, which Hugging Face's libraries look up in text as they do others."""
    if model.get("byte_fallback") is not True:
        return ()
    vocab = model["vocab"]
    scores = dict(zip(vocab, model["scores"], strict=True))
    names = (f"<0x{byte:02X}>" for byte in range(256))
    return tuple(Spelled(name, vocab[name], float(scores[name])) for name in names if name in vocab)


def _spelled(scheme: dict[str, Any], path: str | None) -> tuple[Spelled, ...]:
    """The names of tokens in a file for digram alone."""
    where = "model.digram.scheme.spelled"
    rows = expect(scheme.get("spelled", []), list, where, path)
    for row in rows:
        kinds = [*map(type, row)] if isinstance(row, list) else []
        if kinds not in ([str, int, float], [str, int, int]):
            raise CorruptFileError(
                f"{where} should have a name, an id and a score each.", path=path, value=row
            )
    return tuple(Spelled(*row) for row in rows)


def _own_scheme(own: dict[str, Any] | None) -> dict[str, Any]:
    found = (own or {}).get("scheme", {})
    return found if isinstance(found, dict) else {}


def _ids(scheme: dict[str, Any], name: str, path: str | None) -> list[int]:
    found = expect(scheme.get(name, []), list, f"model.digram.scheme.{name}", path)
    if not set(map(type, found)) <= {int}:
        raise CorruptFileError(f"model.digram.scheme.{name} should be a list of ids.", path=path)
    return found


def _tables(model: dict[str, Any], added: Any) -> _core.Model | None:
    """None: all tokens are characters."""
    return None


def _kernel(model: dict[str, Any], own: dict[str, Any] | None, path: str | None) -> Kernel:
    return _model(model, own, dict(model["vocab"]), path).kernel()


def _steps(model: dict[str, Any], kernel: Kernel) -> _own.Steps:
    return _own.Steps(0, "merge")


def _refuse(definition: Definition) -> None:
    """Raises `VocabError` for a model that adds scores in another way than other programs."""
    if not definition.model.portable:
        trained = ""
        if isinstance(definition.model, UnigramModel) and definition.model.addition == "single":
            trained = (
                ' Trained with the pretokenizer "o200k" or "whitespace", it can be saved as a '
                "tokenizer.json."
            )
        raise VocabError(
            "other programs would give other ids with a tokenizer.json of this tokenizer: "
            f"{definition.model.kernel().description}.",
            value=definition.model.kind,
            hint=f'Save it with format="digram", or with format="sentencepiece".{trained}',
        )
    # Hugging Face's reader of Unigram refuses keys that it does not know.
    stored = replace(without_config(definition), reserved={})
    for name in ("context_size", "chat_templates", "special_roles", "reserved"):
        value = getattr(definition, name)
        if value != getattr(stored, name):
            raise VocabError(
                f"a tokenizer.json with a Unigram model cannot store {name.replace('_', ' ')}.",
                value=value,
                hint='Save it with format="digram", or in a folder with '
                f"{said('tok.save_pretrained', 'digram convert --for transformers')}, which has "
                "files for all but reserved ids.",
            )


def without_config(definition: Definition) -> Definition:
    """A tokenizer as a file without any beside it stores it."""
    unk = definition.special_roles.unk if definition.on_unknown == "bytes" else None
    roles = SpecialRoles(unk=unk)
    return replace(definition, context_size=None, chat_templates={}, special_roles=roles)


def _written(definition: Definition, of: Names) -> dict[str, Any]:
    model, unknown = definition.model, of.unknown
    scores: list[float | None] = getattr(model, "scores", [])
    names = [of.names[id] for id in sorted(of.names)]
    found = [(scores[id] if id < len(scores) else None) for id in sorted(of.names)]
    spelled = model.spelled if isinstance(model, UnigramModel) else ()
    kept = {one.id: one.score for one in spelled}
    found = [kept.get(id, score) for id, score in zip(sorted(of.names), found, strict=True)]
    pairs = [
        [name, 0.0 if score is None else score] for name, score in zip(names, found, strict=True)
    ]
    unk_id = of.vocab[unknown.text] if isinstance(unknown, SpecialToken) else None
    if isinstance(unknown, bytes):
        unk_id = definition.tokens.index(unknown)
    if of.own:
        return {
            "type": _OWN,
            "unk_id": None if unk_id is None else sorted(of.names).index(unk_id),
            "byte_fallback": unknown == "bytes",
            "digram": _own.to_section(definition, {"scheme": _scheme(definition, of)}),
            "vocab": pairs,
        }
    if sorted(of.names) != [*range(len(names))]:
        missing = next(id for id, other in enumerate(sorted(of.names)) if id != other)
        raise VocabError(
            f"a Unigram model in a tokenizer.json has no token of the id {missing}, but ids are "
            "consecutive there.",
            value=missing,
            hint='Save it with format="digram".',
        )
    assert isinstance(model, UnigramModel), "other models are refused before"
    if unknown == "bytes":
        unk_id = _unknown_beside_bytes(definition, model)
    _set_lowest(pairs, unk_id, model, isinstance(unknown, bytes))
    fallback = unknown == "bytes"
    pairs = _without_added(pairs, definition)
    return {"type": "Unigram", "unk_id": unk_id, "byte_fallback": fallback, "vocab": pairs}


def _without_added(pairs: list[list[Any]], definition: Definition) -> list[list[Any]]:
    """The pieces without added tokens at the end, which have the ids that follow in any case.

    Text would become them where they are not found, as any other piece. Raises `VocabError` for
    those before other pieces, whose positions are their ids, if they are single words.
    """
    made = {*filter(None, definition.tokens)}
    added = {text for text in definition.special_tokens if text.encode() not in made}
    single = {text for text, one in definition.matching.items() if one.single_word} & added
    added -= {getattr(definition.on_unknown, "text", None)}
    end = len(pairs)
    while end and pairs[end - 1][0] in added:
        end -= 1
    for name, _ in pairs[:end]:
        if name in single:
            raise VocabError(
                f"a tokenizer.json with a Unigram model cannot store the added token {show(name)}, "
                "which is found as a single word only: other text would become it too.",
                value=name,
                hint='Save it with format="digram".',
            )
    return pairs[:end]


def refuse_ordinary(unknown: OnUnknown, path: str | None) -> None:
    """Refuse an unknown token that is a piece of usual text.

    Other libraries make one token of it and unknown characters beside it.
    """
    if isinstance(unknown, bytes) and not _NAME.fullmatch(unknown):
        text = unknown.decode(errors="surrogateescape")
        raise unsupported(
            f"the unknown token {show(text)} of Unigram, which is a piece of text,",
            path,
            hint='Let unk_id be the id of a token such as "<unk>".',
        )


def unknown_role(
    model: dict[str, Any], vocab: dict[str, int], special: dict[str, int]
) -> SpecialRoles:
    """The role of the unknown token, made special, in a file whose unknown characters are bytes."""
    text: str = model["unk_token"]
    special.setdefault(text, vocab[text])
    return SpecialRoles(unk=text)


def _unknown_beside_bytes(definition: Definition, model: UnigramModel) -> int:
    """The id that stands in a file for unknown characters, which become bytes.

    Raises `VocabError` if other programs would make tokens of the names of bytes, and if no token
    is for unknown characters.
    """
    names = {one.text for one in model.spelled}
    special = definition.special_tokens
    if not names.issuperset(f"<0x{byte:02X}>" for byte in range(256)):
        raise VocabError(
            "a Unigram model with a fallback to bytes in a tokenizer.json means that the text "
            "<0x41> becomes the token of a byte, which this tokenizer does not do.",
            hint='Save it with format="digram", or with format="sentencepiece".',
        )
    role = definition.special_roles.to_dict().get("unk", "")
    found = next((special[name] for name in (role, *_UNKNOWN) if name in special), None)
    if found is None:
        raise VocabError(
            "a tokenizer.json with a Unigram model needs a token for unknown characters, beside "
            "the tokens of bytes.",
            hint='Add the special token "<unk>", or save it with format="digram".',
        )
    return found


def _set_lowest(
    pairs: list[list[Any]], unk_id: int | None, model: UnigramModel, is_ordinary: bool
) -> None:
    """Give the unknown token the score from which that of unknown characters follows.

    Text may become one that is an ordinary token, whose score stays.
    """
    is_other = min(score for _, score in pairs) - _PENALTY != model.unknown
    if unk_id is not None and is_other and not is_ordinary:
        pairs[unk_id][1] = model.unknown + _PENALTY
    lowest = min((score for _, score in pairs), default=0.0)
    if unk_id is not None and lowest - _PENALTY != model.unknown:
        raise VocabError(
            f"a tokenizer.json cannot store the score {model.unknown} of unknown characters: it "
            f"would be {lowest - _PENALTY}, ten below the lowest score of a token.",
            value=model.unknown,
            hint='Save it with format="digram".',
        )


def _scheme(definition: Definition, of: Names) -> dict[str, Any]:
    """What no other program has a field for."""
    kernel = definition.model.kernel().to_dict()
    kernel.pop("scores", None)
    return {
        **kernel,
        "ids": sorted(of.names),
        "bytes": list(definition.byte_ids or ()),
    }


UNIGRAM = ModelSection(
    kind=UnigramModel.kind,
    claims=_claims,
    check=_check,
    opened=_opened,
    tables=_tables,
    kernel=_kernel,
    model=_model,
    steps=_steps,
    refuse=_refuse,
    written=_written,
)
SCORED = replace(UNIGRAM, kind=ScoredModel.kind, claims=_claims_scored)
