"""Training: from text to a tokenizer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.pretokenizers.rules import Rules
from digram.tokenizer.tokenizer import Merge, Tokenizer
from digram.training.counts import CorporaLike, Counts, corpora
from digram.training.id_layout import start_of, tokenizer_of
from digram.training.merge_loop import learned, plain
from digram.training.options import (
    ByteOrder,
    RunOptions,
    Ties,
    TrainOptions,
    refuse_beside_picky,
    warn_of_a_path,
)
from digram.training.spelled_tokens import Spotter
from digram.training.superwords import (
    Boundless,
    SuperwordsLike,
    TwoStage,
    learned_superwords,
    named,
)
from digram.vocab.definition import OnUnknown, Unit

__all__ = ["train"]


def train(
    corpus: CorporaLike | Counts,
    *,
    vocab_size: int | None = None,
    min_frequency: int | None = None,
    max_merges: int | None = None,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    picky: float | None = None,
    unit: Unit | None = None,
    alphabet: Iterable[str] | None = None,
    limit_alphabet: int | None = None,
    on_unknown: OnUnknown = "error",
    pretokenizer: PretokenizerLike = MISSING,
    rules: Rules | None = None,
    ties: Ties = "ids",
    special_tokens: Iterable[str] = (),
    special_first: bool = False,
    reserve: Mapping[str, int] | None = None,
    pad_to_multiple: int | None = None,
    byte_order: ByteOrder = "value",
    separator: str | bytes | None = None,
    weights: Mapping[str, Any] | None = None,
    superwords: SuperwordsLike | None = None,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    runners_up: int = 0,
    on_merge: Callable[[Merge], object] | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """Learn a tokenizer from text or counts: again and again the most frequent pair becomes one.

    >>> import digram
    >>> tok = digram.train("banana", max_merges=1, pretokenizer=None)
    >>> tok.merges, tok.encode("banana")
    ([(b'a', b'n')], [98, 256, 256, 97])
    >>> tok.training.stop_reason
    'max_merges'

    What comes in:
        corpus: a `str` or `bytes` is one text. A `Path`, a list of them, or `digram.files(...)`
            are files: text, JSON lines, Parquet or Arrow, also packed. `digram.table(...)` is a
            column of a data frame. A list or any iterator of texts is several texts, which never
            join. A dictionary names several such corpora, and `Counts` are text that was counted
            before.
        weights: how much the corpora of a dictionary count, by name; 1 by default. See
            `Counts.scale` for what becomes of fractions.
        separator: cuts each text or file into documents; it is itself no part of them.
        pretokenizer: how text is cut before merging (`digram.pretokenizers`); the same cut is kept
            for encoding. None leaves texts whole. By default it is "o200k", or that of the counts.
        rules: what is one token from the start, and what is never joined (`digram.Rules`); kept for
            encoding too. The same as a pretokenizer with these rules.

    What goes out, in order of id: the base, the tokens of rules, the merges, the special tokens,
    reserved ids, padding.
        unit: "byte" starts from the 256 bytes, so that every text can be encoded; "char" from the
            characters of the corpus, sorted, or from `alphabet`. By default "byte", or that of the
            counts.
        limit_alphabet: for unit "char", how many characters to keep, the most frequent ones (among
            equals the lowest code points); the others are unknown.
        on_unknown: for unit "char", what becomes of other characters when encoding: "error",
            "bytes" (256 byte tokens come first) or `digram.SpecialToken("<unk>")`. With "error" the
            base must have all characters of the corpus, white space too where the pretokenizer
            keeps it: what was trained on can be encoded.
        special_tokens: they stand for no text; `special_first` gives them the first ids instead.
            Text that spells one is learned from as any text, with a warning that says how often it
            was seen; `separator` cuts it out where it ends documents. Counts do not tell.
        reserve: numbers of ids to set aside, by name, as in {"image": 8192} (`tok.reserved`).
        pad_to_multiple: unused ids at the end make the size a multiple of this.
        byte_order: for unit "byte", "value", or "gpt2" for the base ids that Hugging Face's
            trainer gives.

    When to stop, whichever comes first; `training.stop_reason` says which it was:
        vocab_size: this many tokens in all, reserved ones included, before padding.
        max_merges: this many merges, beside those that rules prefer.
        min_frequency: no pair is left that occurs so often. At least 2 where neither size nor
            number of merges is given; 1 by default otherwise.
        max_token_length: no merge makes a longer token, in bytes.
        whole_characters: no token reaches over the border of a character with less than all of
            it: each is whole characters, or a piece from inside one. For unit "char" it holds
            anyway.

    What goes again:
        picky: a share, above 0 and up to 1, such as 0.9. After each merge its two parts are asked:
            of the times that it stood in the corpus, in how many did the merge take it up? A part
            whose share reaches this is dropped: it leaves the vocabulary, and wherever it still
            stands it is split into what it was made of. So the size has room for tokens that are
            used. This is PickyBPE (Chizhov et al., "BPE Gets Picky", EMNLP 2024); `tok.events`
            tells what was merged and dropped, and such a tokenizer encodes by the same events. It
            is saved in digram's own format. Training is in memory, some 30 bytes for each byte of
            distinct pretokens: `memory_limit`, `checkpoint`, `runners_up`, `on_merge` and
            `superwords` are refused.

    Which pair, among those of the same count:
        ties: "ids" the smallest pair of ids; "first_seen" the one that occurs first in the corpus
            as it is merged so far; "lexicographic" the greatest pair of byte strings, "printable"
            the same with bytes in the order of the characters that GPT-2 prints for them. Except
            for "first_seen" the result does not depend on the order of the texts; it never depends
            on `threads`.

    Tokens of several words:
        superwords: "two-stage" (SuperBPE) or "boundless" (BoundlessBPE), or `digram.TwoStage(...)`,
            `digram.Boundless(...)` with options. The corpus is held in memory, so `memory_limit`
            and `checkpoint` are refused.

    Counts are of neighbouring places and overlap: "aaa" holds (a, a) twice. A merge replaces from
    the left: "aaa" becomes "aa", "a".

    For large corpora:
        memory_limit: bytes, or "2 GB", that counting and merging may take beside the interpreter
            and some megabytes of text; what does not fit goes to the folder for temporary files,
            or to that of `checkpoint`. The merges are the same. At least 24 MiB; the less, the more
            often the disk is read.
        checkpoint: a folder in which the run notes how far it is, each corpus of a dictionary for
            itself. The same call with the same folder goes on from there after a kill, and ends
            with the same tokenizer; `vocab_size` and `max_merges` may be others. Where a bar is
            drawn, a line says from where it went on. It may be deleted when the run is done.

    `on_merge` is called with each `Merge`, also with those of an earlier run that it goes on from.
    `runners_up` is how many of the next pairs that reach `min_frequency` to keep with each merge,
    for `tok.merge_log`; it does not change the tokenizer. `progress` draws a bar on stderr, by
    default where stderr is a terminal. Raises `OptionError` for options that are invalid, or that
    have no effect with the others, and for a base that lacks characters of the corpus;
    `ConfigMismatchError` for counts that were made with another pretokenizer or unit,
    `CheckpointError` for a folder of another run or a damaged one, `InvalidTextError` for text that
    is none, `CorruptFileError` for a record that holds no text or a file that is damaged, `OSError`
    for files that cannot be read. Memory: the distinct pretokens, and about 12 bytes for
    each of their bytes.
    """
    counts = corpus if isinstance(corpus, Counts) and superwords is None else None
    options = TrainOptions(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        max_merges=max_merges,
        max_token_length=max_token_length,
        whole_characters=whole_characters,
        ties=ties,
        runners_up=runners_up,
        unit=_unit(counts, unit),
        alphabet=alphabet,
        limit_alphabet=limit_alphabet,
        on_unknown=on_unknown,
        byte_order=byte_order,
        pretokenizer=_pretokenizer(counts, pretokenizer, rules),
        special_tokens=special_tokens,
        special_first=special_first,
        reserve=reserve,
        pad_to_multiple=pad_to_multiple,
        picky=picky,
    )
    run = RunOptions(
        threads=threads,
        memory_limit=memory_limit,
        checkpoint=checkpoint,
        on_merge=on_merge,
        progress=progress,
    )
    if picky is not None:
        refuse_beside_picky(
            {
                "rules": options.pretokenizer.rules,
                "superwords": superwords,
                "memory_limit": memory_limit,
                "checkpoint": checkpoint,
                "runners_up": runners_up or None,
                "on_merge": on_merge,
            },
        )
    warn_of_a_path(corpus)
    texts = corpora(corpus, separator)
    spotter = Spotter(options.special) if options.special else None
    start = partial(start_of, options)
    more = {} if weights is None else {"weights": plain(weights)}
    if superwords is not None:
        way = _checked_way(superwords, options, run)
        found = learned_superwords(
            texts, start, way, options, run, weights=weights, spotter=spotter
        )
        return tokenizer_of(
            options, found, {**more, "superwords": way._metadata(options.pretokenizer)}
        )
    found = learned(
        texts,
        start,
        options,
        run,
        decides=options.decides(),
        weights=weights,
        spotter=spotter,
    )
    return tokenizer_of(options, found, more)


def _unit(counts: Counts | None, unit: Unit | None) -> Unit:
    """The unit that is asked for, or that of counts."""
    if unit is not None:
        return unit
    return "byte" if counts is None else counts.unit


def _pretokenizer(
    counts: Counts | None, pretokenizer: PretokenizerLike, rules: Rules | None
) -> Pretokenizer:
    """The pretokenizer that is asked for, or that of counts, with the rules that are asked for."""
    if pretokenizer is not MISSING:
        cut = resolve(pretokenizer)
    else:
        cut = resolve("o200k") if counts is None else counts.pretokenizer
    return cut if rules is None else cut.with_rules(rules)


def _checked_way(
    superwords: SuperwordsLike, options: TrainOptions, run: RunOptions
) -> TwoStage | Boundless:
    """How superwords are learned; refuses what they are learned without."""
    if options.pretokenizer.rules is not None:
        raise OptionError(
            "superwords are learned without rules.",
            value=superwords,
            hint="Leave out rules=, or superwords=.",
        )
    for name, value in (("memory_limit", run.memory), ("checkpoint", run.checkpoint)):
        if value is not None:
            raise OptionError(
                f"superwords are learned in memory, without {name}=.",
                value=value,
                hint="Learn them from a sample of the corpus.",
            )
    return named(superwords)
