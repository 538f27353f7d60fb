"""Training: from text to a tokenizer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from digram._util.validation import instance
from digram.corpus import Corpus, Files
from digram.corpus.binary_files import warn_of_binary
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, PretokenizerLike, resolve
from digram.pretokenizers.rules import Rules
from digram.tokenizer.merge import Merge
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Corpora, CorporaLike, Counts, corpora
from digram.training.id_layout import start_of, tokenizer_of
from digram.training.like import in_pipeline, options_like
from digram.training.merge_loop import learned, plain
from digram.training.models import (
    ModelLike,
    model_defaults,
    named_model,
    needed_special,
    refuse_beside_model,
    train_model,
)
from digram.training.options import (
    ByteOrder,
    RunOptions,
    Ties,
    TrainOptions,
    listed,
    refuse_beside_picky,
)
from digram.training.spelled_tokens import Spotter
from digram.training.superwords import (
    Boundless,
    SuperwordsLike,
    TwoStage,
    learned_superwords,
    named,
    refuse_normalizer,
)
from digram.vocab.settings import OnUnknown, Unit

__all__ = ["train"]


def train(
    corpus: CorporaLike | Counts,
    *,
    like: Tokenizer | None = None,
    model: ModelLike | None = None,
    vocab_size: int | None = None,
    min_frequency: int | None = None,
    max_merges: int | None = None,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    picky: float | None = None,
    unit: Unit | None = None,
    alphabet: Iterable[str] | None = None,
    limit_alphabet: int | None = None,
    on_unknown: OnUnknown | None = None,
    pretokenizer: PretokenizerLike = MISSING,
    rules: Rules | None = None,
    ties: Ties = "ids",
    special_tokens: Iterable[str] = (),
    special_first: bool | None = None,
    reserve: Mapping[str, int] | None = None,
    pad_to_multiple: int | None = None,
    byte_order: ByteOrder | None = None,
    weights: Mapping[str, Any] | None = None,
    superwords: SuperwordsLike | None = None,
    threads: int | None = None,
    memory_limit: int | str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    runners_up: int = 0,
    on_merge: Callable[[Merge], object] | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """Train a tokenizer on text or on pretoken counts.

    >>> import digram
    >>> tok = digram.train("banana", max_merges=1, pretokenizer=None)
    >>> tok.merges, tok.encode("banana")
    ([(b'a', b'n')], [98, 256, 256, 97])
    >>> tok.training.stop_reason
    'max_merges'

    Each step merges the most frequent pair of adjacent tokens into a new token.

    Model:
        like: a tokenizer, for a new vocabulary in its pipeline, as transformers'
            `train_new_from_iterator` makes. The kind of the model with its options, the
            pretokenizer, the unit, `on_unknown`, the special tokens with their roles and matching,
            reserved ids, the order of the base, the template, chat templates and the decoding are
            those of this tokenizer; so is the size, unless a limit is given. Other options come
            before those of the tokenizer; `special_tokens` are added to its own. If its tokens are
            named by their place in a word, as `w</w>` of CLIP, so are those of the new one: the
            letters of a base of characters are those of the corpus at each place, and
            `memory_limit` is not supported. Another model or unit is refused, and so is a
            tokenizer of superwords or PickyBPE.
        model: "bpe" (the default), "wordpiece" for the model of BERT, "unigram" for that of T5, or
            "wordlevel"; or `digram.WordPiece(...)` or `digram.Unigram(...)` with options. In
            WordPiece the base is the letters of words; `unit`, `on_unknown` and `pretokenizer`
            are "char", `SpecialToken("[UNK]")` and the words of BERT, unless given. A word with
            unknown characters is not learned from. `rules`, `superwords`, `picky` and `runners_up`
            are not supported, and with the rule "likelihood" neither are `memory_limit`,
            `checkpoint` and `ties`. Unigram has no merges: it needs `vocab_size`, and
            `min_frequency` is the minimum count of a token when training starts, at least 2. Its
            `unit`, `on_unknown` and `pretokenizer` are "char", `SpecialToken("<unk>")` and
            `Pretokenizer(None, normalizer=SentencePiece())`, unless given; with this normalizer
            tokens do not reach over spaces, and its symbols are tokens. `rules`, `superwords`,
            `picky`, `runners_up`, `ties`, `on_merge`, `max_merges` and `max_token_length` are not
            supported, and training must fit into `memory_limit`. "wordlevel" makes tokens of the
            most frequent whole words, by default those between white space; of equally frequent
            ones the first by code points. `vocab_size` and `min_frequency` limit them. Options of
            merges, `alphabet`, `limit_alphabet`, `memory_limit` and `checkpoint` are not supported.

    Input:
        corpus: a `str` or `bytes` is one text, with a warning if a file has this name. A `Path`, a
            list of paths, or `digram.files(...)` are files: text, JSON, CSV, Parquet or Arrow,
            optionally compressed, with a warning if a text file looks binary;
            `digram.files(..., separator=...)` splits them into documents. `digram.table(...)` is a
            column of a data frame. A list or iterator of texts is several texts; merges do not
            cross them. `CorporaLike` is any of these, or a dictionary that names several of them.
            `Counts` are text that was counted before.
        weights: the weights of the corpora of a dictionary, by name; 1 by default. See
            `Counts.scale` for fractions.
        pretokenizer: how text is split before merging (`digram.pretokenizers`), and when encoding.
            None does not split. The default is "o200k", or the pretokenizer of the counts.
        rules: text that is one token from the start, and text that is never joined
            (`digram.Rules`), also when encoding. Equivalent to a pretokenizer with these rules.

    Result, in order of ids: the base, the tokens of rules, the merges, the special tokens, reserved
    ids, padding.
        unit: "byte" starts from the 256 bytes, so that every text can be encoded; "char" from the
            sorted characters of the corpus, or from `alphabet`. The default is "byte", or the unit
            of the counts.
        limit_alphabet: for unit "char", the number of characters to keep: the most frequent ones
            (of equal ones those with the lowest code points); the others are unknown.
        on_unknown: for unit "char", how to encode unknown characters: "error", "bytes" (256 byte
            tokens come first) or `digram.SpecialToken("<unk>")`. With "error" the base must have
            all characters of the corpus, including white space that the pretokenizer keeps, so that
            the corpus can be encoded.
        special_tokens: tokens that are not made from text; `special_first` gives them the first
            ids. If their text occurs in the corpus, it is learned from like any other text, and a
            warning says how often; if it separates documents, split the texts at it. There is no
            warning for `Counts`.
        reserve: numbers of ids to reserve, by name, as in {"image": 8192} (`tok.reserved`).
        pad_to_multiple: add unused ids at the end, so that the size is a multiple of this.
        byte_order: for unit "byte", "value", or "gpt2" for the base ids of Hugging Face's trainer.

    Limits; the first one that is reached ends training, see `training.stop_reason`:
        vocab_size: the total number of tokens, including reserved ids, before padding.
        max_merges: the number of merges to learn. The merges that `rules` ask for
            (`Rules(prefer=...)`) come before them and are not counted.
        min_frequency: the minimum count of a pair to be merged. The default is 1; without
            `vocab_size` and `max_merges` it must be at least 2.
        max_token_length: the maximum length of a token in bytes.
        whole_characters: no token joins part of a character with other bytes: each token is whole
            characters, or a part of one character. Unit "char" implies it.

    Dropping tokens:
        picky: a share, greater than 0 and at most 1, such as 0.9. After each merge, each of its two
            parts is dropped if the merge used at least this share of its occurrences. A dropped
            token leaves the vocabulary, and its remaining occurrences are split into its parts.
            This leaves room for tokens that are used more. This is PickyBPE (Chizhov et al., "BPE
            Gets Picky", EMNLP 2024); `tok.events` has the merges and the dropped tokens, and
            encoding applies the same events. Only digram's own format can store the tokenizer.
            Training takes some 30 bytes of memory for each byte of distinct pretokens.
            `memory_limit`, `checkpoint`, `runners_up`, `on_merge` and `superwords` are not
            supported.

    Choice among pairs of equal count:
        ties: "ids" takes the smallest pair of ids; "first_seen" the pair that occurs first in the
            corpus as merged so far; "lexicographic" the greatest pair of byte strings; "printable"
            the same, with bytes in the order of the characters that GPT-2 prints for them. Except
            with "first_seen", the result does not depend on the order of the texts. It never
            depends on `threads`.

    Tokens of several words:
        superwords: "two-stage" (SuperBPE) or "boundless" (BoundlessBPE), or `digram.TwoStage(...)`
            or `digram.Boundless(...)` with options. The counts must fit into memory: `memory_limit`
            and `checkpoint` are not supported.

    Counts of pairs include overlapping ones: "aaa" contains (a, a) twice. A merge replaces from the
    left: "aaa" becomes "aa", "a".

    Large corpora:
        memory_limit: bytes, or "2 GB", for counting and merging, in addition to the interpreter and
            some megabytes of text. Data beyond it is written to temporary files, or to the folder
            of `checkpoint`. The merges are the same. The minimum is 24 MiB; a smaller limit reads
            the disk more often.
        checkpoint: a folder in which the run saves its progress. After a crash, the same call with
            the same folder resumes the run and makes the same tokenizer; `vocab_size` and
            `max_merges` may differ. If a progress bar is shown, a line says where the run resumed.
            The folder may be deleted when the run is done.

    `on_merge` is called with each `Merge`, including those of a resumed run. `runners_up` is the
    number of next most frequent pairs, with at least `min_frequency`, to store for each merge in
    `tok.merge_log`; it does not change the tokenizer. `progress` shows a bar on stderr, by default
    if stderr is a terminal. Raises `OptionError` for options that are invalid or without effect,
    and for a base that lacks characters of the corpus; `ConfigMismatchError` for counts made with
    another pretokenizer or unit; `CheckpointError` for a folder of another run or a damaged one;
    `InvalidTextError` for invalid text; `CorruptFileError` for a record without text or a damaged
    file; `OSError` for files that cannot be read.

    Time: that of splitting and counting the corpus once, on `threads` threads, and of the merges,
    which grows with the distinct pretokens. Memory: the distinct pretokens, and about 12 bytes for
    each of their bytes.
    """
    given = {name: value for name, value in locals().items() if name not in ("corpus", "like")}
    if like is not None:
        instance("like", like, Tokenizer)
        options_of = options_like(like, given)
        return in_pipeline(like, train(corpus, **options_of), options_of.get("vocab_size"))
    counts = corpus if isinstance(corpus, Counts) and superwords is None else None
    on_unknown = "error" if on_unknown is None else on_unknown
    way = None if model is None else named_model(model)
    if way is not None:
        refuse_beside_model(
            way,
            {
                "rules": rules,
                "superwords": superwords,
                "picky": picky,
                "runners_up": runners_up or None,
                "memory_limit": memory_limit,
                "checkpoint": checkpoint,
                "ties": None if ties == "ids" else ties,
                "on_merge": on_merge,
                "max_merges": max_merges,
                "max_token_length": max_token_length,
                "whole_characters": whole_characters or None,
                "alphabet": alphabet,
                "limit_alphabet": limit_alphabet,
            },
        )
        unit, on_unknown, pretokenizer = model_defaults(way, counts, unit, on_unknown, pretokenizer)
        special_tokens = needed_special(way, on_unknown, pretokenizer, listed(special_tokens))
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
        byte_order="value" if byte_order is None else byte_order,
        pretokenizer=_pretokenizer(counts, pretokenizer, rules),
        special_tokens=special_tokens,
        special_first=False if special_first is None else special_first,
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
    texts = corpora(corpus)
    warn_of_binary(_files_in(texts), "digram.train")
    spotter = Spotter(options.special) if options.special else None
    start = partial(start_of, options)
    more = {} if weights is None else {"weights": plain(weights)}
    if way is not None:
        return train_model(texts, options, way, run, weights=weights, spotter=spotter, more=more)
    if superwords is not None:
        joining = _checked_way(superwords, options, run)
        found = learned_superwords(
            texts, start, joining, options, run, weights=weights, spotter=spotter
        )
        return tokenizer_of(
            options, found, {**more, "superwords": joining._metadata(options.pretokenizer)}
        )
    found = learned(
        texts,
        start,
        options,
        run,
        deciding_options=options.deciding_options(),
        weights=weights,
        spotter=spotter,
    )
    return tokenizer_of(options, found, more)


def _files_in(texts: Corpora) -> list[Files]:
    """The files among the sources of a corpus."""
    found = texts.values() if isinstance(texts, Mapping) else [texts]
    sources = [one.source for one in found if isinstance(one, Corpus)]
    return [one for one in sources if isinstance(one, Files)]


def _unit(counts: Counts | None, unit: Unit | None) -> Unit:
    """The requested unit, or that of counts."""
    if unit is not None:
        return unit
    return "byte" if counts is None else counts.unit


def _pretokenizer(
    counts: Counts | None, pretokenizer: PretokenizerLike, rules: Rules | None
) -> Pretokenizer:
    """The requested pretokenizer, or that of counts, with the requested rules."""
    if pretokenizer is not MISSING:
        cut = resolve(pretokenizer)
    else:
        cut = resolve("o200k") if counts is None else counts.pretokenizer
    return cut if rules is None else cut.with_rules(rules)


def _checked_way(
    superwords: SuperwordsLike, options: TrainOptions, run: RunOptions
) -> TwoStage | Boundless:
    """The method for superwords; raises for options that it does not support."""
    if options.pretokenizer.rules is not None:
        raise OptionError(
            "superwords do not support rules: a rule cuts its terms out of the text, and a token "
            "of several words could neither contain such a term nor go around it.",
            value=superwords,
            hint="Leave out superwords=, or add the rules to the trained tokenizer, after "
            "two-stage superwords; in Python, tok.with_rules(rules) does.",
        )
    refuse_normalizer(options.pretokenizer)
    for name, value in (("memory_limit", run.memory), ("checkpoint", run.checkpoint)):
        if value is not None:
            raise OptionError(
                f"superwords do not support {name}=, since they are learned in memory.",
                value=value,
                hint="Train on a sample of the corpus.",
            )
    return named(superwords)
