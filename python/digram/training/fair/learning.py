"""Count the text of each language, and learn merges for one language at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from digram import _core
from digram._util.progress import differences
from digram._util.progress import progress as progress_bar
from digram.corpus import Corpus
from digram.errors import placed
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counting, Counts
from digram.training.fair.turns import Turns
from digram.training.id_layout import start_of
from digram.training.merge_loop import Learned, Reporter, merge_options, most_merges
from digram.training.options import RunOptions, TrainOptions

__all__ = ["Texts", "counted", "learned"]

Named = Mapping[str, Corpus | Counts]


class Texts(NamedTuple):
    """The counts, in the order of the languages."""

    languages: list[_core.Counts]
    dev: list[_core.Counts] | None
    skipped: int

    def together(self) -> _core.Counts:
        """The counts of all languages together."""
        return _core.Counts.merge(self.languages)


def counted(languages: Named, dev: Named | None, counting: Counting) -> Texts:
    """Count the text of each language."""
    found, skipped = _counted("languages", languages, [*languages], counting)
    if dev is None:
        return Texts(found, None, skipped)
    dev_found, dev_skipped = _counted("dev", dev, [*languages], counting)
    return Texts(found, dev_found, skipped + dev_skipped)


def _counted(
    argument: str, sources: Named, names: list[str], counting: Counting
) -> tuple[list[_core.Counts], int]:
    found, skipped = [], 0
    for number, name in enumerate(names):
        try:
            title = f"{name} (dev)" if argument == "dev" else name
            counts, passed = counting.count_one_of(number, title, sources[name])
        except Exception as error:
            placed(error, f"{argument}[{name!r}]")
            raise
        found.append(counts.to_memory() if isinstance(counts, _core.SortedCounts) else counts)
        skipped += passed
    return found, skipped


def learned(texts: Texts, turns: Turns, options: TrainOptions, run: RunOptions) -> Learned:
    """Learn the merges of a vocabulary, each for one language."""
    corpus = texts.together()
    begun = start_of(options, corpus, options.unit)
    limit = most_merges(begun, options)
    # With rules, preferred merges come first.
    old = len(begun.base._model.merges()) if isinstance(begun.base, Tokenizer) else 0
    tell = None if run.on_merge is None else Reporter(run.on_merge, begun, old, turns.names)
    rules = options.pretokenizer.rules
    forbid = rules._forbidden() if rules and rules.forbid else None
    with progress_bar("Merging", total=limit, unit="merges", enabled=run.progress) as advance:
        made = differences(advance)
        tokens, merges, counts, languages, stop = _core.train_fair(
            texts.languages,
            texts.dev,
            merge_options(begun, limit, options, forbid=forbid),
            global_merges=turns.global_merges,
            ratios=turns.ratios,
            window=turns.window,
            on_merge=tell,
            on_progress=made,
        )
        made(len(merges))
    found = Learned.of(
        begun,
        options.pretokenizer,
        options.unit,
        (tokens, merges, counts, [], stop),
        corpus,
        texts.skipped,
        limit,
        options,
    )
    names = [None if number is None else turns.names[number] for number in languages]
    return found._replace(languages=names)
