"""Continued BPE: learn further merges of a tokenizer on another corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from digram import _core
from digram._util.validation import flag, instance, whole_number
from digram.adapt.change import Change
from digram.adapt.padding import unpadded
from digram.tokenizer.merge import Merge
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import CorporaLike, Counts, corpora
from digram.training.merge_loop import Learned, Start, learned, plain
from digram.training.options import RunOptions, Ties, TrainOptions
from digram.training.spelled_tokens import Spotter
from digram.vocab.bpe import require_ranked
from digram.vocab.definition import Definition, TrainingRecord
from digram.vocab.reserved_ids import padded
from digram.vocab.settings import Unit

__all__ = ["extend", "keeps_characters"]


def extend(
    tok: Tokenizer,
    corpus: CorporaLike | Counts,
    *,
    add: int,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    whole_characters: bool | None = None,
    ties: Ties = "ids",
    weights: Mapping[str, Any] | None = None,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    runners_up: int = 0,
    on_merge: Callable[[Merge], object] | None = None,
    progress: bool | None = None,
) -> tuple[Tokenizer, Change]:
    """Extend a tokenizer with merges learned on another corpus; all old tokens and merges stay.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", vocab_size=259, pretokenizer="whitespace")
    >>> tok, change = digram.extend(tok, "slowly slower slow", add=2)
    >>> print(change)
    259 ids became 261, 2 tokens added, 0 removed
    >>> [(merge.left, merge.right) for merge in tok.merge_log[-2:]]
    [(b's', b'low'), (b' ', b'slow')]

    This is continued BPE: the corpus is encoded with this tokenizer, and merging continues from
    there, with new ids after the highest one. So the new encoding of a text is the old one with
    some adjacent tokens merged, and every new token is reachable, unlike tokens that are only
    appended to a list. A merge whose token would have the bytes of an existing one is skipped.
    Padding ids (`pad_to_multiple`) are used first, and the new size is padded again. `add` is the
    maximum number of new tokens; there are fewer if no remaining pair occurs `min_frequency` times.
    `whole_characters` is by default that of the training of this tokenizer. The other arguments are
    those of `digram.train`.

    Added tokens that are found in all text (`digram.Matching(always=True)`) are left out of the
    corpus before it is counted, as `encode` finds them; with `Counts`, leave them out yourself. The
    text of other special tokens is learned from like any other text, and a warning says how often
    it occurs.

    Published vocabularies can be extended too; if rank and id are the same, as in `.tiktoken`
    files, they stay the same. Returns the new tokenizer, and a `Change` with the map of ids and the
    plan for a model's embeddings. Raises the errors of `train`, and those of `encode` for text
    that this tokenizer has no tokens for. Takes as long as training on the corpus and encoding its
    distinct pretokens.
    """
    instance("tok", tok, Tokenizer)
    require_ranked(tok._settings.kernel, "extend")
    options = TrainOptions(
        max_merges=whole_number("add", add, 1),
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        whole_characters=keeps_characters(tok, whole_characters),
        ties=ties,
        runners_up=runners_up,
        unit=tok.unit,
        pretokenizer=tok.pretokenizer,
    )
    run = RunOptions(
        threads=threads,
        memory_limit=memory_limit,
        checkpoint=checkpoint,
        on_merge=on_merge,
        progress=progress,
    )
    start, multiple = unpadded(tok)
    whole = start.definition

    def begin(_: _core.Counts | _core.SortedCounts, __: Unit) -> Start:
        return Start(start)

    asked = _found_on_request(tok)
    found = learned(
        corpora(corpus),
        begin,
        options,
        run,
        deciding_options={"extends": start.digest, **options.deciding_options()},
        weights=weights,
        spotter=Spotter(asked) if asked else None,
        between=tok if tok._finds_in_all_text else None,
    )
    record = {
        "extends": tok.digest,
        "add": options.max_merges,
        "min_frequency": options.min_frequency,
        "max_token_length": options.max_token_length,
        **({"whole_characters": True} if options.whole_characters else {}),
        **({} if weights is None else {"weights": plain(weights)}),
        **({} if multiple is None else {"pad_to_multiple": multiple}),
    }
    after = Tokenizer(padded(_grown(whole, found, record), multiple))
    return after, Change.of(tok, after)


def _found_on_request(tok: Tokenizer) -> list[str]:
    """The special tokens whose text is ordinary unless `special=` says otherwise.

    Those of reserved ids are left out: there may be thousands, with names that no text has.
    """
    always = {text for text, matching in tok.matching.items() if matching.always}
    reserved = {id for ids in tok.reserved.values() for id in ids}
    special = tok.special_tokens.items()
    return [text for text, id in special if text not in always and id not in reserved]


def keeps_characters(tok: Tokenizer, asked: bool | None) -> bool:
    """Whether new merges keep characters whole: the option, or else as in training."""
    if asked is not None:
        return flag("whole_characters", asked)
    record = tok.training
    return record is not None and record.options.get("whole_characters") is True


def _grown(whole: Definition, found: Learned, options: dict[str, Any]) -> Definition:
    """The definition with the learned tokens after its highest id."""
    model = require_ranked(whole.model, "extend")
    size = len(found.tokens) - len(found.merges)
    holes: list[bytes | None] = [None] * (size - len(whole.tokens))
    return replace(
        whole,
        tokens=[*whole.tokens, *holes, *found.tokens[size:]],
        model=replace(model, merges=model.merges + found.merges),
        training=_record(whole, found, options),
    )


def _record(whole: Definition, found: Learned, options: dict[str, Any]) -> TrainingRecord:
    """The training record with the new merges; the known counts of earlier merges stay."""
    before = whole.training
    unknown = len(require_ranked(whole.model, "extend").merges)
    counts: list[int | None] = [None] * unknown if before is None else [*before.counts]
    runners_up = found.runners_up
    if runners_up is not None or (before is not None and before.runners_up is not None):
        of_before = None if before is None else before.runners_up
        runners_up = (of_before or [[]] * unknown) + (runners_up or [[]] * len(found.merges))
    languages = None if before is None else before.languages
    return replace(
        found.record(options),
        counts=[*counts, *found.counts],
        runners_up=runners_up,
        languages=languages and [*languages, *[None] * len(found.merges)],
    )
