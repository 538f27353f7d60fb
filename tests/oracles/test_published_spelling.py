"""Programs that know a tokenizer by its published spelling take our files, with the same ids.

They are installed beside the others for this alone: pip install gigatoken fastokens tokie.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
import vocabularies

import digram
from digram.pretokenizers.pretokenizer import NAMED

TEXT = vocabularies.CORPUS + (
    "IT'S 'LL 'ſ we'd 12345 ²½ Ⅷ\r\n\r\n  x  \n y\u00a0\u3000z カタカナ 北京 '\"#$abc <?php// /\n"
    "ქართული ไทย हिन्दी e\u0301 🙂🙂 \t\t ...\n"
)


def by_tokenizers(path: str) -> Callable[[str], list[int]]:
    tok = import_module("tokenizers").Tokenizer.from_file(path)
    return lambda text: [*tok.encode(text).ids]


def by_gigatoken(path: str) -> Callable[[str], list[int]]:
    tok = import_module("gigatoken").Tokenizer(path)
    return lambda text: [*map(int, tok.encode(text))]


def by_fastokens(path: str) -> Callable[[str], list[int]]:
    tok = import_module("fastokens").Tokenizer.from_file(path)
    return lambda text: [*tok.encode(text).ids]


def by_tokie(path: str) -> Callable[[str], list[int]]:
    tok = import_module("tokie").Tokenizer.from_json(path)
    return lambda text: [*tok.encode(text, False).ids]


READERS = {
    "tokenizers": by_tokenizers,
    "gigatoken": by_gigatoken,
    "fastokens": by_fastokens,
    "tokie": by_tokie,
}
# What docs/formats.md says of them: one refuses a pattern that it does not know, and one cuts by
# another that it takes it for, and any pattern otherwise at some white space outside ASCII.
REFUSES, OTHERWISE = {("gigatoken", "whitespace")}, {("tokie", "whitespace")}


@pytest.mark.parametrize("pretokenizer", NAMED)
@pytest.mark.parametrize("reader", READERS)
def test_our_files_give_the_same_ids_elsewhere(
    reader: str, pretokenizer: str, tmp_path: Path
) -> None:
    pytest.importorskip(reader, reason=f"needs {reader}: pip install {reader}")
    tok = digram.train(TEXT, max_merges=200, pretokenizer=pretokenizer)
    path = tmp_path / "tokenizer.json"
    tok.save(path)
    assert digram.load(path).pretokenizer == digram.Pretokenizer(pretokenizer)
    if (reader, pretokenizer) in REFUSES:
        with pytest.raises(RuntimeError, match="Unknown pre_tokenizer"):
            READERS[reader](str(path))
        return
    text = vocabularies.CORPUS if reader == "tokie" else TEXT
    found = READERS[reader](str(path))(text)
    assert (found == tok.encode(text)) is ((reader, pretokenizer) not in OTHERWISE)
