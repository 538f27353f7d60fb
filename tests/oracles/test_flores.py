"""What 43 languages cost: tokens per line, premium and Gini on FLORES-200, as tiktoken counts."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from oracles.published import ENCODINGS, encoding

import digram
from digram.analysis.metrics import Evaluation

Find = Callable[[str], Path]
LINES = 997
LANGUAGES = 43
STATED: dict[str, list[int]] = tomllib.loads(
    (Path(__file__).parents[2] / "testdata" / "flores.toml").read_text(encoding="utf-8")
)["tokens"]

# Tokens of dev and devtest together under r50k_base and cl100k_base, by Petrov et al. 2023:
# assets/tokenization_lengths.csv of github.com/AleksandarPetrov/tokenization-fairness.
PUBLISHED = {
    "eng_Latn": (52_567, 52_835),
    "amh_Ethi": (409_343, 405_644),
    "arb_Arab": (231_316, 160_485),
    "ben_Beng": (507_509, 308_325),
    "bod_Tibt": (784_601, 595_659),
    "bul_Cyrl": (289_393, 139_501),
    "ces_Latn": (137_859, 111_264),
    "deu_Latn": (112_600, 83_450),
    "ell_Grek": (343_953, 271_846),
    "fin_Latn": (119_621, 105_276),
    "fra_Latn": (104_971, 84_407),
    "heb_Hebr": (231_019, 193_616),
    "hin_Deva": (392_092, 253_270),
    "hun_Latn": (139_602, 113_411),
    "hye_Armn": (526_451, 527_113),
    "ind_Latn": (104_006, 82_006),
    "ita_Latn": (105_594, 86_628),
    "jpn_Jpan": (157_858, 121_627),
}


class Evaluated(NamedTuple):
    """What we find in all languages under one vocabulary."""

    name: str
    found: Evaluation


@pytest.fixture(scope="module")
def flores(shared_data: Find) -> dict[str, Path]:
    """The file of each language."""
    return {path.stem: path for path in sorted(shared_data("flores-dev").glob("*.txt"))}


@pytest.fixture(scope="module", params=ENCODINGS)
def evaluated(
    request: pytest.FixtureRequest, flores: dict[str, Path], shared_data: Find
) -> Evaluated:
    name: str = request.param
    tok = digram.load(shared_data(f"vocabs/{name}.tiktoken"), encoding=name)
    lines = {language: digram.files(path, separator="\n") for language, path in flores.items()}
    return Evaluated(name, digram.evaluate(tok, lines, reference="eng_Latn"))


def test_tokens_of_each_language_are_tiktokens(evaluated: Evaluated) -> None:
    column = ENCODINGS.index(evaluated.name)
    assert len(evaluated.found.by_name) == LANGUAGES
    assert {n: of.documents for n, of in evaluated.found.by_name.items()} == dict.fromkeys(
        STATED, LINES
    )
    assert {n: of.tokens for n, of in evaluated.found.by_name.items()} == {
        language: counts[column] for language, counts in STATED.items()
    }


def test_tokens_of_each_line_are_tiktokens(
    evaluated: Evaluated, flores: dict[str, Path], shared_data: Find, full: bool
) -> None:
    theirs = encoding(evaluated.name, shared_data)
    step = 1 if full else 50
    for language, path in flores.items():
        lines = path.read_text(encoding="utf-8").splitlines()[::step]
        counts = [len(theirs.encode_ordinary(line)) for line in lines]
        assert evaluated.found.by_name[language].lengths.tolist()[::step] == counts


def test_premium_and_gini_are_their_definitions(evaluated: Evaluated) -> None:
    parallel = evaluated.found.parallel
    assert parallel is not None
    column = ENCODINGS.index(evaluated.name)
    costs = {language: counts[column] / LINES for language, counts in STATED.items()}
    assert parallel.tokens_per_line == costs
    english = costs["eng_Latn"]
    assert parallel.premium == {language: cost / english for language, cost in costs.items()}
    pairs = sum(abs(one - other) for one in costs.values() for other in costs.values())
    mean = sum(costs.values()) / LANGUAGES
    assert parallel.gini == pytest.approx(pairs / (2 * LANGUAGES**2 * mean), rel=1e-12)
    assert costs[parallel.best] == min(costs.values())
    assert costs[parallel.worst] == max(costs.values())


def test_premiums_are_near_the_published_ones(evaluated: Evaluated) -> None:
    """Theirs are of twice as much text, of which we have the first half."""
    if evaluated.name == "o200k_base":
        return  # younger than the paper
    parallel = evaluated.found.parallel
    assert parallel is not None
    column = ENCODINGS.index(evaluated.name)
    english = PUBLISHED["eng_Latn"][column]
    for language, tokens in PUBLISHED.items():
        assert parallel.premium[language] == pytest.approx(tokens[column] / english, rel=0.02)


def test_entropy_is_that_of_the_ids(
    evaluated: Evaluated, flores: dict[str, Path], shared_data: Find
) -> None:
    tok = digram.load(shared_data(f"vocabs/{evaluated.name}.tiktoken"), encoding=evaluated.name)
    lines = flores["shn_Mymr"].read_text(encoding="utf-8").splitlines()
    times = np.bincount(tok.encode_batch(lines, out="numpy").ids, minlength=tok.vocab_size)
    of = evaluated.found.by_name["shn_Mymr"]
    assert np.array_equal(of.times, times)
    shares = times[times > 0] / times.sum()
    assert of.entropy == pytest.approx(-(shares * np.log2(shares)).sum(), rel=1e-12)
