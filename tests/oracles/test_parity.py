"""The merges and turns of Hugging Face's `ParityBpeTrainer`."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from oracles.tally import compare_merges
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

import digram
from digram.pretokenizers.pretokenizer import NAMED

Find = Callable[[str], Path]
Texts = Mapping[str, Sequence[str]]
Model = dict[str, Any]

LANGUAGES = ["eng_Latn", "deu_Latn", "tur_Latn", "rus_Cyrl", "hin_Deva", "zho_Hans"]
VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "hybrid": {"global_merges": 300},
    "window": {"window": 50, "alpha": 1.2},
    "hybrid window": {"global_merges": 150, "window": 20, "alpha": 1.5},
}


def theirs(
    texts: Texts,
    dev: Texts | None,
    ratios: Mapping[str, float] | None,
    pretokenizer: str,
    *,
    max_merges: int,
    window: int | None = None,
    alpha: float = 2.0,
    min_frequency: int = 0,
    global_merges: int = 0,
) -> Model:
    """The model that their trainer makes, as it stands in a file."""
    tokenizer = Tokenizer(models.BPE())
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    splits = [
        pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in NAMED[pretokenizer].patterns
    ]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*splits, byte_level])
    trainer = trainers.ParityBpeTrainer(
        num_merges=max_merges,
        variant="base" if window is None else "window",
        window_size=window or 100,
        alpha=alpha,
        min_frequency=min_frequency,
        global_merges=global_merges,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trainer.train_from_iterator(
        tokenizer,
        train_iterators=[iter(one) for one in texts.values()],
        dev_iterators=None if dev is None else [iter(dev[name]) for name in texts],
        ratio=None if ratios is None else [ratios[name] for name in texts],
    )
    return dict(json.loads(tokenizer.to_str())["model"])


def both(
    texts: Texts,
    dev: Texts | None = None,
    ratios: Mapping[str, float] | None = None,
    pretokenizer: str = "gpt2",
    **options: Any,
) -> tuple[Model, Model]:
    """Our model and theirs."""
    tok = digram.train_fair(
        texts,
        dev=dev,
        ratios=ratios,
        pretokenizer=pretokenizer,
        ties="printable",
        byte_order="gpt2",
        **{**options, "min_frequency": options.get("min_frequency") or 1},
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        tok.save(path, format="huggingface")
        ours = json.loads(path.read_text(encoding="utf-8"))["model"]
    return ours, theirs(texts, dev, ratios, pretokenizer, **options)


def check(what: str, texts: Texts, dev: Texts | None = None, **options: Any) -> None:
    """Both learn the same merges, and all tokens have the same ids."""
    ours, other = both(texts, dev, **options)
    compare_merges(f"ParityBpeTrainer, {what}", ours["merges"], other["merges"])
    assert ours["vocab"] == other["vocab"]


@pytest.fixture(scope="module")
def lines(shared_data: Find) -> dict[str, list[str]]:
    """The lines of some languages, which say the same."""
    folder = shared_data("flores-dev")
    read = {name: (folder / f"{name}.txt").read_text(encoding="utf-8") for name in LANGUAGES}
    return {name: text.splitlines() for name, text in read.items()}


def unbalanced(lines: Texts) -> dict[str, Sequence[str]]:
    """Much text of two languages, and little of the others."""
    return {name: lines[name][: 300 if n < 2 else 60] for n, name in enumerate(lines)}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("pretokenizer", ["gpt2", "o200k"])
def test_steered_by_dev_text(lines: dict[str, list[str]], variant: str, pretokenizer: str) -> None:
    dev = {name: of[500:560] for name, of in lines.items()}
    options = {"max_merges": 600, "pretokenizer": pretokenizer, **VARIANTS[variant]}
    check(f"{variant}, {pretokenizer}", unbalanced(lines), dev, **options)


@pytest.mark.parametrize("variant", VARIANTS)
def test_steered_by_training_text(lines: dict[str, list[str]], variant: str) -> None:
    check(variant, unbalanced(lines), max_merges=600, **VARIANTS[variant])


@pytest.mark.parametrize("variant", VARIANTS)
def test_steered_by_ratios(lines: dict[str, list[str]], variant: str) -> None:
    ratios = dict(zip(LANGUAGES, (1.0, 1.05, 1.1, 1.8, 2.5, 0.9), strict=True))
    options = {"ratios": ratios, "max_merges": 600, **VARIANTS[variant]}
    check(f"ratios, {variant}", unbalanced(lines), **options)


@pytest.mark.parametrize("frequency", [0, 2, 5])
def test_until_no_language_has_a_turn(lines: dict[str, list[str]], frequency: int) -> None:
    """Their window variant may never end then."""
    texts = {name: of[:4] for name, of in lines.items()}
    dev = {name: of[4:8] for name, of in lines.items()}
    check("to the end", texts, dev, max_merges=9_000, min_frequency=frequency)


def test_texts_of_few_letters() -> None:
    """Ties everywhere, and languages without a pair, or without text."""
    learned: list[list[Any]] = [[], []]
    for seed in range(60):
        chance = random.Random(seed)

        def some(most: int, chance: random.Random = chance) -> dict[str, list[str]]:
            letters = "".join(chance.choices("aab é", k=9))
            sizes = [chance.randrange(most) for _ in range(3)]
            return {
                name: [" ".join(letters[: chance.randrange(9)] for _ in range(size))] * 2
                for name, size in zip("xyz", sizes, strict=True)
            }

        texts, dev = some(12), some(6) if chance.random() < 0.6 else None
        options: dict[str, Any] = {
            "max_merges": chance.choice([3, 10, 30]),
            "global_merges": chance.choice([0, 0, 4]),
            "min_frequency": chance.choice([0, 2]),
        }
        if chance.random() < 0.3:  # so many that nobody waits, which ends for them
            options |= {"window": chance.choice([2, 5]), "alpha": 3.0}
        found = both(texts, dev, **options)
        for model, merges in zip(found, learned, strict=True):
            merges.append([seed, *model["merges"]])
    compare_merges("ParityBpeTrainer, few letters", *learned)
