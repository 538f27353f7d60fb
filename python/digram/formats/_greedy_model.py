"""Models of the longest token in a file for digram alone; no tokenizer.json has them."""

from __future__ import annotations

from typing import Any

from digram.errors import VocabError
from digram.formats import _own
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._model_section import ModelSection, Names
from digram.formats._show import show
from digram.vocab.definition import Definition
from digram.vocab.greedy import GreedyKernel, GreedyModel
from digram.vocab.model import Kernel

__all__ = ["SECTION"]

_KEYS = ("type", "digram", "vocab")
_OWN = "digram"


def _claims(model: dict[str, Any]) -> bool:
    own = model.get("digram")
    scheme = own.get("scheme") if isinstance(own, dict) else None
    kind = scheme.get("kind") if isinstance(scheme, dict) else None
    return kind_of(model) == _OWN and kind == GreedyModel.kind


def _check(model: dict[str, Any], path: str | None) -> None:
    for key in model:
        if key not in _KEYS:
            raise unsupported(f"the key {show(key)} of the model", path)
    expect(model.get("vocab"), dict, "model.vocab", path)


def _kernel(model: dict[str, Any], own: dict[str, Any] | None, path: str | None) -> GreedyKernel:
    return GreedyKernel()


def _model(
    model: dict[str, Any], own: dict[str, Any] | None, ids: dict[str, int], path: str | None
) -> GreedyModel:
    return GreedyModel()


def _steps(model: dict[str, Any], kernel: Kernel) -> _own.Steps:
    return _own.Steps(0, "merge")


def _refuse(definition: Definition) -> None:
    raise VocabError(
        "a tokenizer.json cannot store a model that takes the longest token.",
        value=GreedyModel.kind,
        hint='Save it with format="digram", format="rwkv" or format="gguf".',
    )


def _written(definition: Definition, of: Names) -> dict[str, Any]:
    scheme = {"scheme": definition.model.kernel().to_dict()}
    return {"type": _OWN, "digram": _own.to_section(definition, scheme), "vocab": of.vocab}


SECTION = ModelSection(
    kind=GreedyModel.kind,
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
