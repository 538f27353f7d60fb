"""The example of embeddings: the plan's rows are the nearest, and layers of PyTorch grow by it."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import digram

EXAMPLE = Path(__file__).parents[1] / "examples" / "embeddings.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("embeddings", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def change() -> digram.Change:
    tok = digram.train("low low lower lowest", max_merges=2)
    return digram.extend(tok, "slower slow slow", add=3)[1]


def test_the_rows_of_the_plan_are_nearer_than_others(
    example: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(example, "TOKENS", 800)
    library = sysconfig.get_path("stdlib")
    assert example.main([f"{library}/email", f"{library}/asyncio"]) == 0
    out = capsys.readouterr().out
    assert out.endswith("The plan's rows are the nearest.\n")
    lines = {line[:16].strip(): line[16:].split() for line in out.splitlines()}
    plan, mean = (float(lines[name][0]) for name in ("plan", "mean of all"))
    assert plan > 1.3 * mean


def test_a_plan_that_says_nothing_is_told(
    example: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check can fail: with rows that are no better than chance it does."""

    def chance(self: digram.EmbeddingPlan, old: NDArray[Any]) -> NDArray[Any]:
        rows = np.random.default_rng(3).normal(size=(self.new_size - self.old_size, old.shape[1]))
        return np.concatenate([old, rows])

    monkeypatch.setattr(digram.EmbeddingPlan, "apply", chance)
    monkeypatch.setattr(example, "TOKENS", 800)
    library = Path(digram.__file__).parent
    assert (
        example.main(
            [str(library / "training" / "counts"), str(library / "multimodal" / "id_space")]
        )
        == 1
    )
    assert "ARE NOT THE NEAREST" in capsys.readouterr().out


def test_learned_rows_say_what_stands_together(example: ModuleType) -> None:
    tok = digram.train("red green blue one two three", max_merges=30, pretokenizer="whitespace")
    texts = ["red green blue red blue green", "one two three two one three"] * 40
    table = example.beside(tok, texts)
    ids = {word: tok.encode(f" {word}")[0] for word in ("red", "green", "one")}
    assert table[ids["red"], ids["green"]] > 0
    assert table[ids["red"], ids["one"]] == 0  # texts do not join
    assert (table == table.T).all()
    rows = example.unit(example.embeddings(table, 4))
    red, green, one = (rows[id] for id in ids.values())
    assert red @ green > 0.5 > red @ one
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    assert np.allclose(example.aligned(rows @ turn, rows), rows)


class Tensor:
    """Stands for a tensor of PyTorch: the calls that the example makes, and no more."""

    def __init__(self, values: NDArray[Any], requires_grad: bool = True) -> None:
        self.values, self.dtype, self.device = values, values.dtype, "cpu"
        self.requires_grad = requires_grad

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def double(self) -> Tensor:
        return Tensor(self.values.astype(np.float64))

    def numpy(self) -> NDArray[Any]:
        return self.values

    def to(self, *, device: str, dtype: Any) -> Tensor:
        assert device == self.device
        return Tensor(self.values.astype(dtype))


def parameter(tensor: Tensor, requires_grad: bool) -> Tensor:
    return Tensor(tensor.values, requires_grad)


def test_layers_grow_by_a_stand_in(
    example: ModuleType, change: digram.Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = SimpleNamespace(from_numpy=Tensor, nn=SimpleNamespace(Parameter=parameter))
    monkeypatch.setitem(sys.modules, "torch", torch)
    plan = change.embedding_plan()
    rng = np.random.default_rng(0)
    old = rng.normal(size=(plan.old_size + 5, 4)).astype(np.float16)  # padded, as models are
    bias = rng.normal(size=plan.old_size).astype(np.float32)
    embedding = SimpleNamespace(weight=Tensor(old, requires_grad=False), num_embeddings=len(old))
    head = SimpleNamespace(weight=Tensor(old), bias=Tensor(bias), out_features=len(old))
    example.grow(embedding, plan)
    example.grow(head, plan)
    assert (embedding.num_embeddings, head.out_features) == (plan.new_size, plan.new_size)
    assert embedding.weight.requires_grad is False
    assert head.weight.requires_grad is True
    for layer in (embedding, head):
        assert layer.weight.values.dtype == np.float16
        assert (layer.weight.values[: plan.old_size] == old[: plan.old_size]).all()
    expected = plan.apply(old.astype(np.float64)).astype(np.float16)
    assert (head.weight.values == expected).all()
    assert head.bias.values.shape == (plan.new_size,)
    for id in change.added:
        parts = [part for part, _ in plan.row(id)]
        assert head.bias.values[id] == pytest.approx(bias[parts].mean(), abs=1e-6)


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_layers_of_pytorch_grow(example: ModuleType, change: digram.Change, name: str) -> None:
    import torch

    dtype = getattr(torch, name)
    plan = change.embedding_plan()
    embedding = torch.nn.Embedding(plan.old_size, 8, dtype=dtype)
    head = torch.nn.Linear(8, plan.old_size, dtype=dtype)
    before = embedding.weight.detach().clone()
    example.grow(embedding, plan)
    example.grow(head, plan)
    assert torch.equal(embedding.weight[: plan.old_size], before)
    ids = torch.arange(plan.new_size)
    assert embedding(ids).shape == (plan.new_size, 8)
    scores = head(embedding(ids))
    assert scores.shape == (plan.new_size, plan.new_size)
    scores.sum().backward()
    assert embedding.weight.grad is not None
    new = change.added[0]
    parts = [part for part, _ in plan.row(new)]
    mean = before[parts].double().mean(dim=0).to(dtype)
    assert torch.allclose(embedding.weight[new], mean)
