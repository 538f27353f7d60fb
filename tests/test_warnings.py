"""A warning is shown at the line that called digram, and the command line shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import digram
from digram.compat.transformers import AutoTokenizer
from digram.distributed import executor

PACKAGE = Path(digram.__file__).parent


def skipping(folder: Path) -> digram.Files:
    (folder / "a.jsonl").write_text('{"text": 7}\n{"text": "low <s> er"}\n')
    return digram.files(folder / "a.jsonl", on_error="skip")


def too_long(folder: Path) -> None:
    tok = digram.train("low", max_merges=1, special_tokens=["<s>"]).with_context_size(2)
    tok.save_pretrained(folder / "model")
    AutoTokenizer.from_pretrained(folder / "model").encode("lower and lower")


def counted_by_workers(folder: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        executor.count(pool, skipping(folder))


CALLS: dict[str, Callable[[Path], object]] = {
    "1 record was skipped": lambda folder: digram.count_pretokens(skipping(folder)),
    "skipped: .*, record 1": lambda folder: list(skipping(folder)),
    "text of special tokens": lambda _: digram.train("<s>", max_merges=1, special_tokens=["<s>"]),
    "special tokens, and": lambda _: digram.train_fair(
        {"a": "a <s>", "b": "b"}, max_merges=1, special_tokens=["<s>"]
    ),
    "the workers' warnings name them": counted_by_workers,
    "but the model takes 2": too_long,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("says", CALLS)
def test_the_line_is_that_of_the_call(says: str, tmp_path: Path) -> None:
    with pytest.warns(digram.DigramWarning, match=says) as caught:
        CALLS[says](tmp_path)
    (place,) = {(one.category, one.filename) for one in caught if re.search(says, str(one.message))}
    assert place == (digram.DigramWarning, __file__)


def test_all_warnings_are_made_in_one_place() -> None:
    making = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "warnings.warn(" in path.read_text(encoding="utf-8")
    ]
    assert making == ["_util/warning.py"]
