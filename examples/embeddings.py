"""Give a model's embeddings rows for the tokens of a grown vocabulary, and see where they lie.

    python examples/embeddings.py [GENERAL DOMAIN]

GENERAL and DOMAIN are files, folders or quoted patterns; without them, parts of the source of
Python's own standard library. A tokenizer is trained on the one, and rows are learned for its
tokens from what stands beside them. Then the vocabulary is extended on the other, and
`change.embedding_plan()` says how the rows go on. To know how well that does, rows of the grown
vocabulary are learned as well, from the same text: there the new tokens lie where they should.
Ends with exit code 1 if the plan's rows are not nearer to that than others.

With PyTorch `grow` does the same to a model's layers.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import digram
from digram.display.symbols import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.float64]

TOKENS, MORE, WIDTH = 1_500, 300, 64
GENERAL = ("*.py", "json/*.py", "http/*.py", "urllib/*.py", "logging/*.py")
DOMAIN = ("email/*.py", "asyncio/*.py", "xml/*/*.py")
NEIGHBOURS = 10
WINDOW = 3
"""Tokens stand beside each other if at most two are between; the farther, the less it counts."""


def main(arguments: Sequence[str]) -> int:
    """Train, extend, apply the plan, compare; the exit code."""
    general, domain = corpora(arguments)
    tok = digram.train(general, vocab_size=TOKENS)
    grown, change = digram.extend(tok, domain, add=MORE)
    print(f"{change}.")
    text = [*general, *domain]
    old, true = (embeddings(beside(one, text), WIDTH) for one in (tok, grown))

    plan = change.embedding_plan()
    rows = plan.apply(old)
    assert (rows[: tok.vocab_size] == old).all(), "tokens that stay keep their rows"

    target = aligned(true, old)
    found = compared(others(rows, old, change.added), old, target, change.added)
    print(f"\nNew rows beside those learned from {sum(map(len, text)) / 1e6:.1f} MB of text:\n")
    print(f"{'':16}{'cosine':>8}{f'of {NEIGHBOURS} neighbours':>18}")
    for name, (cosine, shared) in found.items():
        print(f"{name:16}{cosine:8.2f}{shared:18.1%}")
    print(
        "\nSome new tokens, the tokens they were, and the old ones that they now lie nearest to:\n"
    )
    for id in change.added[:: max(1, len(change.added) // 8)]:
        parts = tok.tokens([part for part, _ in plan.row(id)])
        near = tok.tokens(nearest(rows[[id]], old, 4)[0].tolist())
        token = visible(grown.id_to_token(id))
        print(f"{token:14}{' '.join(map(visible, parts)):22}{' '.join(map(visible, near))}")
    good = all(
        found["plan"][measure] > values[measure]
        for name, values in found.items()
        if name != "plan"
        for measure in (0, 1)
    )
    print(
        "\nThe plan's rows are the nearest." if good else "\nTHE PLAN'S ROWS ARE NOT THE NEAREST."
    )
    return 0 if good else 1


def corpora(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The texts to begin with, and those of the domain."""
    if len(arguments) == 2:
        general, domain = (list(digram.files(pattern)) for pattern in arguments)
    else:
        library = sysconfig.get_path("stdlib")
        general, domain = (
            [text for part in parts for text in digram.files(f"{library}/{part}")]
            for parts in (GENERAL, DOMAIN)
        )
    return [str(text) for text in general], [str(text) for text in domain]


def beside(tok: digram.Tokenizer, texts: Sequence[str]) -> Rows:
    """How often each token stands near each other one."""
    ids, offsets = tok.encode_batch(texts, out="numpy")
    size = tok.vocab_size
    lengths = np.diff(offsets.astype(np.int64)).astype(np.int64)
    text = np.repeat(np.arange(len(texts)), lengths)
    found = np.zeros(size * size)
    for distance in range(1, WINDOW + 1):
        left, right = ids[:-distance].astype(np.int64), ids[distance:]
        same = text[:-distance] == text[distance:]
        found += np.bincount((left * size + right)[same], minlength=size * size) / distance
    table = found.reshape(size, size)
    return table + table.T


def embeddings(table: Rows, width: int) -> Rows:
    """Rows whose products come near to what standing beside each other says of two tokens.

    That is the positive pointwise mutual information, contexts smoothed by a power of 0.75, and its
    largest singular vectors, each times the root of its value (Levy, Goldberg, Dagan 2015,
    "Improving Distributional Similarity with Lessons Learned from Word Embeddings"). These are
    found by powers of the matrix on some random vectors (Halko, Martinsson, Tropp 2011).
    """
    often = table.sum(axis=0)
    context = often**0.75 / (often**0.75).sum()
    expected = np.outer(often, context)
    information = np.log(np.divide(table, expected, out=np.ones_like(table), where=table > 0))
    information = np.maximum(information, 0)
    basis = np.random.default_rng(0).normal(size=(len(table), width + 16))
    for _ in range(4):
        basis, _ = np.linalg.qr(information @ (information.T @ basis))
    vectors, values, _ = np.linalg.svd(basis.T @ information, full_matrices=False)
    rows: Rows = (basis @ vectors)[:, :width] * np.sqrt(values[:width])
    return rows


def aligned(rows: Rows, old: Rows) -> Rows:
    """Rows turned so that those of the tokens that stayed lie as near as they can to the old ones.

    Each learning has axes of its own, so rows of two can be compared only after a turn: the
    orthogonal one of Schönemann 1966.
    """
    left, _, right = np.linalg.svd(rows[: len(old)].T @ old)
    turned: Rows = rows @ (left @ right)
    return turned


def others(rows: Rows, old: Rows, added: Sequence[int]) -> dict[str, Rows]:
    """The new rows by the plan, and by what is done without one."""
    chance = np.random.default_rng(1)
    shape = len(added), old.shape[1]
    return {
        "plan": rows[added],
        "mean of all": np.broadcast_to(old.mean(axis=0), shape),
        "row of another": old[chance.integers(256, len(old), len(added))],
        "random": chance.normal(size=shape) * old.std(),
    }


def compared(
    ways: Mapping[str, Rows], old: Rows, target: Rows, added: Sequence[int]
) -> dict[str, tuple[float, float]]:
    """How near the new rows of each way lie to their target, and how many neighbours they share."""
    true = target[added]
    wanted = nearest(true, target[: len(old)], NEIGHBOURS)
    found = {}
    for name, rows in ways.items():
        cosine = float((unit(rows) * unit(true)).sum(axis=1).mean())
        near = nearest(rows, old, NEIGHBOURS)
        shared = [len({*one} & {*other}) for one, other in zip(near, wanted, strict=True)]
        found[name] = cosine, sum(shared) / (NEIGHBOURS * len(shared))
    return found


def nearest(rows: Rows, old: Rows, number: int) -> NDArray[np.int64]:
    """The ids of the old tokens that lie nearest, by cosine; single bytes are left out."""
    near = unit(rows) @ unit(old[256:]).T
    order: NDArray[np.int64] = np.argsort(-near, axis=1, kind="stable")[:, :number]
    return order + 256


def unit(rows: Rows) -> Rows:
    """The rows in length 1, but for those of length 0."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return found


def grow(layer: Any, plan: digram.EmbeddingPlan) -> None:
    """Give a `torch.nn.Embedding`, or the `torch.nn.Linear` of the output, the rows of a plan.

    In place, on the same device and in the same type; rows that stay are the same to the bit. Where
    both layers share one weight, grow the one, and then `head.weight = embedding.weight`. Make the
    optimizer anew after this: it holds the old weights.
    """
    import torch

    for name in ("weight", "bias"):
        old = getattr(layer, name, None)
        if old is None:
            continue
        # Of 64 bits, as NumPy has no bfloat16, and each smaller type comes back as it was.
        values = old.detach().cpu().double().numpy()
        rows = plan.apply(values.reshape(len(values), -1)).reshape(-1, *values.shape[1:])
        new = torch.from_numpy(rows).to(device=old.device, dtype=old.dtype)
        setattr(layer, name, torch.nn.Parameter(new, requires_grad=old.requires_grad))
    size = "num_embeddings" if hasattr(layer, "num_embeddings") else "out_features"
    setattr(layer, size, plan.new_size)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:  # as in `python examples/embeddings.py | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except digram.DigramError as error:
        sys.exit(f"embeddings: {error}")
    except OSError as error:
        sys.exit(f"embeddings: {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
