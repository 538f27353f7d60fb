"""BPE in a tokenizer.json: the object `model` with its vocabulary and merges."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NoReturn

from digram import _core
from digram.errors import CorruptFileError, InternalError, LimitExceededError
from digram.formats import _own
from digram.formats._affixes import affixes_of, check_affixes, unspaced
from digram.formats._alone import in_order, late
from digram.formats._byte_merges import core_model
from digram.formats._check import Place, named_merges
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._letters import LETTERS
from digram.formats._loss import ranked
from digram.formats._model_section import ModelSection, Names
from digram.formats._show import show
from digram.vocab.bpe import BpeKernel, BpeModel, picky, require_bpe
from digram.vocab.definition import Definition
from digram.vocab.model import Kernel
from digram.vocab.schemes import SCHEMES, Scheme

__all__ = ["BYTE_TOKENS", "SECTION", "dropout_of", "merge_pairs"]

_KEYS = (
    *("type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
    *("fuse_unk", "byte_fallback", "ignore_merges", "digram", "vocab", "merges"),
)
_OWN = "digram"
BYTE_TOKENS = [f"<0x{byte:02X}>" for byte in range(256)]
"""The names of the tokens of bytes, which other characters become with `byte_fallback`."""


def _claims(model: dict[str, Any]) -> bool:
    return kind_of(model) in ("BPE", _OWN) or ("type" not in model and "merges" in model)


def _check(model: dict[str, Any], path: str | None) -> None:
    for key in model:
        if key not in _KEYS:
            raise unsupported(f"the key {show(key)} of the model", path)
    dropout = model.get("dropout")
    if dropout is not None and not (type(dropout) in (int, float) and 0 <= dropout <= 1):
        raise CorruptFileError(
            f"model.dropout {show(dropout)} is not a probability, from 0 to 1.", path=path
        )
    for key in ("fuse_unk", "byte_fallback", "ignore_merges"):
        expect(model.get(key, False), bool, f"model.{key}", path)
    if model.get("unk_token") is not None:
        expect(model["unk_token"], str, "model.unk_token", path)
    check_affixes(model, path)
    own = model.get("digram")
    if isinstance(own, dict) and "scheme" in own and kind_of(model) != _OWN:
        raise CorruptFileError(
            f"model.digram has a scheme, so the type of the model should be {_OWN!r}.", path=path
        )


def _opened(model: dict[str, Any], path: str | None) -> dict[str, Any]:
    vocab = model.get("vocab")
    if model.get("byte_fallback") is True and isinstance(vocab, dict):
        # Without any token of a byte it has no effect.
        return model | {"byte_fallback": any(name in vocab for name in BYTE_TOKENS)}
    return model


def _tables(model: dict[str, Any], added: Any) -> _core.Model | None:
    """The tokens and merges of a byte vocabulary; None if the core cannot read them.

    Then Python reads them and finds the error, if there is one.
    """
    vocab, merges = model.get("vocab"), model.get("merges")
    listed = added if isinstance(added, list) else []
    entries = [entry for entry in listed if isinstance(entry, dict)]
    contents = [entry.get("content") for entry in entries]
    special = [text for text in contents if isinstance(text, str)]
    if any(_is_letter(entry) for entry in entries):
        return None
    if not isinstance(vocab, dict) or not isinstance(merges, list):
        return None
    found = _core.Model.from_letters(vocab, special, merges, LETTERS)
    if found is not None or not set(map(type, vocab.values())) <= {int}:
        return found
    apart = set(special)
    ordinary = {name: token_id for name, token_id in vocab.items() if name not in apart}
    try:
        pairs = merge_pairs(merges, None)
        return core_model(ordinary, pairs, None) if late(pairs) else None
    except (CorruptFileError, LimitExceededError):
        return None  # and Python names the place


def _is_letter(entry: dict[str, Any]) -> bool:
    """Whether an added token may be the token of a byte too, found in all text."""
    text = entry.get("content")
    return entry.get("special") is not True and isinstance(text, str) and len(text) == 1


def _kernel(model: dict[str, Any], own: dict[str, Any] | None, path: str | None) -> BpeKernel:
    prefix, suffix = affixes_of(model) or ("", "")
    ignore_merges, fuses = model.get("ignore_merges", False), _fuses_unknown(model)
    return BpeKernel(ignore_merges, _scheme(own, path), fuses, prefix, suffix)


def _model(
    model: dict[str, Any], own: dict[str, Any] | None, ids: dict[str, int], path: str | None
) -> BpeModel:
    pairs: Sequence[Sequence[str]] = merge_pairs(model.get("merges"), path)
    if affixes_of(model) is None:  # with affixes, a space belongs to a letter
        pairs = in_order(pairs, ids, path)
    merges, kernel = named_merges(pairs, ids, Place(path)), _kernel(model, own, path)
    return BpeModel(
        merges,
        ignore_merges=kernel.ignore_merges,
        fuse_unknown=kernel.fuse_unknown,
        scheme=kernel.scheme,
        prefix=kernel.prefix,
        suffix=kernel.suffix,
    )


def dropout_of(model: dict[str, Any]) -> float | None:
    """The probability with which other libraries leave out merges; None for 0."""
    dropout = model.get("dropout")
    return float(dropout) if dropout else None


def _fuses_unknown(model: dict[str, Any]) -> bool:
    """Whether consecutive unknown characters are one token; byte tokens are not fused."""
    fuses = model.get("fuse_unk") is True and model.get("byte_fallback") is not True
    return fuses and model.get("unk_token") is not None


def _scheme(own: dict[str, Any] | None, path: str | None) -> Scheme | None:
    """The scheme by which merges are applied; None if that is by rank alone."""
    if own is None or "scheme" not in own:
        return None
    where = "model.digram.scheme"
    content = expect(own["scheme"], dict, where, path)
    kind = SCHEMES.get(str(content.get("kind")))
    if kind is None:
        raise CorruptFileError(f"{where}.kind {show(content.get('kind'))} is not known.", path=path)
    try:
        return kind.from_dict(content)
    except (KeyError, TypeError, ValueError) as error:
        raise CorruptFileError(f"{where} is not a {kind.kind}: {error}.", path=path) from None


def _steps(model: dict[str, Any], kernel: Kernel) -> _own.Steps:
    events = picky(kernel)
    if events is not None:
        return _own.Steps(len(events.events), "event")
    return _own.Steps(len(model["merges"]), "merge")


def _refuse(definition: Definition) -> None:
    ranked(definition, "a tokenizer.json", affixes=True)


def _written(definition: Definition, of: Names) -> dict[str, Any]:
    model, names, unknown = require_bpe(definition.model, "a BPE model"), of.names, of.unknown
    scheme = {} if model.scheme is None else {"scheme": model.scheme.to_dict()}
    return dict.fromkeys(_KEYS) | {
        "type": _OWN if of.own else "BPE",
        "dropout": definition.dropout,
        "unk_token": of.unknown_name(definition),
        "continuing_subword_prefix": model.prefix or None,
        "end_of_word_suffix": model.suffix or None,
        "fuse_unk": model.fuse_unknown,
        "byte_fallback": unknown == "bytes",
        "ignore_merges": model.ignore_merges,
        "digram": _own.to_section(definition, scheme),
        "vocab": of.vocab,
        "merges": [
            [names[left], names[right]] for left, right in unspaced(definition, model.merges)
        ],
    }


def merge_pairs(value: Any, path: str | None) -> list[list[str]]:
    """The merges as pairs; the file may write them as `["a", "b"]` or as `"a b"`."""
    merges = expect(value, list, "model.merges", path)
    if set(map(type, merges)) == {str}:
        merges = [merge.split(" ") for merge in merges]
    if not set(map(type, merges)) <= {list} or not set(map(len, merges)) <= {2}:
        _fail_merge(value, path)
    if not set(map(type, chain.from_iterable(merges))) <= {str}:
        _fail_merge(value, path)
    return merges


def _fail_merge(merges: list[Any], path: str | None) -> NoReturn:
    for rank, merge in enumerate(merges):
        pair = merge.split(" ") if type(merge) is str and type(merges[0]) is str else merge
        if type(pair) is not list or [*map(type, pair)] != [str, str]:
            raise CorruptFileError(
                f"model.merges[{rank}] should be two tokens, not {show(merge)}.",
                path=path,
                value=merge,
                hint='Write it as ["left", "right"].',
            )
    raise InternalError("merges were refused, but each of them is valid.")


SECTION = ModelSection(
    kind=BpeModel.kind,
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
