"""Training for several languages, so that none falls behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from digram._util.validation import takes_no
from digram.corpus import CorpusLike
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import MISSING, PretokenizerLike, resolve
from digram.tokenizer.tokenizer import Merge, Tokenizer
from digram.training.counts import Counting, Counts, named_corpora, refuse_separator
from digram.training.fair.learning import counted, learned
from digram.training.fair.turns import checked_turns
from digram.training.id_layout import tokenizer_of
from digram.training.options import ByteOrder, RunOptions, Ties, TrainOptions
from digram.training.spelled_tokens import Spotter
from digram.vocab.definition import OnUnknown, Unit

__all__ = ["train_fair"]


_COUNTED = "Count each language before, by digram.count_pretokens within it."
_IN_TURNS = "Languages take turns without it; digram.train has it."


@takes_no(
    rules="Give them to the tokenizer afterwards: tok.with_rules(rules).",
    weights="Turns weigh the languages: dev= or ratios= say how.",
    memory_limit=_COUNTED,
    checkpoint="Count each language before, by digram.count_pretokens, and save the counts.",
    runners_up=_IN_TURNS,
    picky=_IN_TURNS,
    superwords=_IN_TURNS,
)
def train_fair(
    languages: Mapping[str, CorpusLike | Counts],
    *,
    dev: Mapping[str, CorpusLike | Counts] | None = None,
    ratios: Mapping[str, float] | None = None,
    global_merges: int = 0,
    window: int | None = None,
    alpha: float | None = None,
    vocab_size: int | None = None,
    min_frequency: int | None = None,
    max_merges: int | None = None,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    unit: Unit = "byte",
    alphabet: Iterable[str] | None = None,
    limit_alphabet: int | None = None,
    on_unknown: OnUnknown = "error",
    pretokenizer: PretokenizerLike = MISSING,
    ties: Ties = "ids",
    special_tokens: Iterable[str] = (),
    special_first: bool = False,
    reserve: Mapping[str, int] | None = None,
    pad_to_multiple: int | None = None,
    byte_order: ByteOrder = "value",
    separator: str | bytes | None = None,
    threads: int | None = None,
    on_merge: Callable[[Merge], object] | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """Learn a tokenizer for several languages: each merge is made for the one furthest behind.

    >>> import digram
    >>> texts = {"en": "the cat and the dog and the cow and the hen", "sw": "paka na mbwa na kuku"}
    >>> dev = {"en": "the cat and the hen", "sw": "paka na kuku"}
    >>> fair = digram.train_fair(texts, dev=dev, max_merges=8, pretokenizer="gpt2")
    >>> [(merge.language, merge.token) for merge in fair.merge_log[-4:]]
    [('en', b'nd'), ('sw', b' n'), ('en', b' and'), ('sw', b'ku')]
    >>> plain = digram.train(texts, max_merges=8, pretokenizer="gpt2")
    >>> [tok.count_batch(dev.values()) for tok in (plain, fair)]
    [[9, 11], [10, 9]]

    Parity-aware BPE (Foroutan et al. 2025, arXiv 2508.04796). At each step one language has its
    turn: the one whose dev text is longest, in tokens, under the merges so far; of equals the one
    that was named first. The pair that is most frequent in its training text becomes a token, in
    all languages. So a language with little training text gets its share of the vocabulary, and
    parallel dev texts come to cost about the same number of tokens.

        languages: the text of each language to learn from, by its name: corpora as for
            `digram.train`, or `Counts`.
        dev: text that says the same in each language, or as much of it as is to cost the same.
            Nothing is learned from it, it is measured. Without it the training texts are measured,
            and the language with most text has nearly all turns.
        ratios: in place of `dev`, how many times as short as at the start the training text of each
            language is to become, in proportion to the others: who has done least of that, has its
            turn. Bytes per character differ, so equal numbers do not mean equal cost.
        global_merges: how many merges come first that are the most frequent pairs of all languages
            together, as in `digram.train`; their language is None. (The hybrid variant.)
        window: how many turns to look back on: a language that had more than `alpha` times its even
            share of them waits, and the next one has its turn. (The window variant; 100 is usual.)
        alpha: above 0; 2 by default. With few languages, as many as there are or more bounds
            nothing. Where a language has no pair left, small numbers lose turns.

    There is neither a limit of memory nor a checkpoint: distinct pretokens of all languages are
    held in memory. Large corpora can be counted before (`digram.count_pretokens`).

    A language none of whose pairs occurs `min_frequency` times in its training text has no more
    turns. The other arguments are those of `digram.train`, but `ties="first_seen"` is refused:
    languages have no common order. The merges are those of Hugging Face's `ParityBpeTrainer` with
    `ties="printable"`, and the ids of the bytes too with `byte_order="gpt2"`; there the sizes are
    `num_merges` for `max_merges`, `ratio`, `variant="window"` with `window_size` and `alpha`.

    Returns an ordinary tokenizer. `tok.training.languages` and the `language` of each `Merge` say
    for whom a merge was made; its count is that in the training text of this language. What came
    of it, `digram.evaluate(tok, texts, reference="en")` tells: premium and Gini. Raises what
    `train` raises, and `OptionError` where `dev` or `ratios` name other languages. Cost: that of
    `train` on training and dev text, up to twice as much where the texts are small; memory in
    addition 8 bytes for each pair that is followed and each language.
    """
    turns = checked_turns(languages, dev, ratios, global_merges, window, alpha)
    options = TrainOptions(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        max_merges=max_merges,
        max_token_length=max_token_length,
        whole_characters=whole_characters,
        ties=ties,
        unit=unit,
        alphabet=alphabet,
        limit_alphabet=limit_alphabet,
        on_unknown=on_unknown,
        byte_order=byte_order,
        pretokenizer=resolve("o200k" if pretokenizer is MISSING else pretokenizer),
        special_tokens=special_tokens,
        special_first=special_first,
        reserve=reserve,
        pad_to_multiple=pad_to_multiple,
    )
    if options.ties == "first_seen":
        raise OptionError(
            'ties="first_seen": languages have no common order, so of their pairs none is first.',
            value=ties,
            hint='Choose ties="ids".',
        )
    cut = options.pretokenizer
    if cut.rules is not None:
        raise OptionError(
            "languages take turns without rules.",
            value=cut.rules,
            hint="Give them to the tokenizer afterwards: tok.with_rules(rules).",
        )
    run = RunOptions(threads=threads, on_merge=on_merge, progress=progress)
    spotter = Spotter(options.special) if options.special else None
    counting = Counting(cut, options.unit, run.threads, progress, spotter=spotter)
    refuse_separator(separator, *languages.values(), *(dev or {}).values())
    texts = counted(
        named_corpora("languages", languages, separator),
        None if dev is None else named_corpora("dev", dev, separator),
        counting,
    )
    if spotter is not None:
        spotter.warn()
    return tokenizer_of(options, learned(texts, turns, options, run), turns.options())
