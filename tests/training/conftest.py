"""What the tests of training share."""

from __future__ import annotations

import pytest
from training.test_determinism import SEPARATOR, invented

import digram


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> digram.Files:
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text(SEPARATOR.join(invented(2.0)), encoding="utf-8", newline="")
    return digram.files(path, separator=SEPARATOR)
