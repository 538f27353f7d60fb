"""Training for several languages, with about equal cost for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from digram._util.validation import takes_no
from digram.corpus import CorpusLike
from digram.errors import OptionError
from digram.pretokenizers.pretokenizer import MISSING, PretokenizerLike, resolve
from digram.pretokenizers.rules import Rules
from digram.tokenizer.merge import Merge
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counting, Counts, named_corpora
from digram.training.fair.learning import counted, learned
from digram.training.fair.turns import checked_turns
from digram.training.id_layout import tokenizer_of
from digram.training.options import ByteOrder, RunOptions, Ties, TrainOptions
from digram.training.spelled_tokens import Spotter
from digram.vocab.settings import OnUnknown, Unit

__all__ = ["train_fair"]


_COUNTED = "Count each language with it, by digram.count_pretokens, and pass the counts."
_IN_TURNS = "Only digram.train supports it."


@takes_no(
    weights="Use dev= or ratios= to weight the languages.",
    memory_limit=_COUNTED,
    checkpoint="Count each language by digram.count_pretokens, and save the counts.",
    runners_up=_IN_TURNS,
    model="It trains BPE; train other models on all languages together, with digram.train.",
    like="Pass the options of that tokenizer, such as pretokenizer= and special_tokens=.",
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
    rules: Rules | None = None,
    ties: Ties = "ids",
    special_tokens: Iterable[str] = (),
    special_first: bool = False,
    reserve: Mapping[str, int] | None = None,
    pad_to_multiple: int | None = None,
    byte_order: ByteOrder = "value",
    threads: int | None = None,
    on_merge: Callable[[Merge], object] | None = None,
    progress: bool | None = None,
) -> Tokenizer:
    """Train one tokenizer for several languages; each merge is for the one that needs most tokens.

    >>> import digram
    >>> texts = {"en": "the cat and the dog and the cow and the hen", "sw": "paka na mbwa na kuku"}
    >>> dev = {"en": "the cat and the hen", "sw": "paka na kuku"}
    >>> fair = digram.train_fair(texts, dev=dev, max_merges=8, pretokenizer="gpt2")
    >>> [(merge.language, merge.token) for merge in fair.merge_log[-4:]]
    [('en', b'nd'), ('sw', b' n'), ('en', b' and'), ('sw', b'ku')]
    >>> plain = digram.train(texts, max_merges=8, pretokenizer="gpt2")
    >>> [tok.count_batch(dev.values()) for tok in (plain, fair)]
    [[9, 11], [10, 9]]

    Parity-aware BPE (Foroutan et al. 2025, arXiv 2508.04796). Each step selects the language whose
    dev text is longest, in tokens, under the merges so far; of equal ones the first. The most
    frequent pair of its training text becomes a token, in all languages. So a language with little
    training text gets its share of the vocabulary, and parallel dev texts come to need about the
    same number of tokens.

        languages: the training text of each language, by name: corpora as for `digram.train`, or
            `Counts`.
        dev: parallel text in each language, or texts that should need the same number of tokens.
            It is only measured, not learned from. Without it the training texts are measured, and
            the language with most text gets nearly all merges.
        ratios: instead of `dev`, the targets for the compression of each training text, relative to
            each other: the language furthest from its target is selected. Bytes per character
            differ, so equal numbers do not mean equal cost.
        global_merges: the number of first merges that use the counts of all languages together, as
            in `digram.train`; their language is None. (The hybrid variant.)
        window: the number of previous steps to consider: a language that was selected in more than
            `alpha` times an even share of them is skipped. (The window variant; 100 is usual.)
        alpha: greater than 0; 2 by default. A value of at least the number of languages has no
            effect. If a language has no pair left, small values can waste steps.

    There is neither a memory limit nor a checkpoint: the distinct pretokens of all languages are
    kept in memory. Large corpora can be counted before (`digram.count_pretokens`).

    `rules` are as for `digram.train`: their tokens, and the merges that they prefer, come before
    all turns, for no language.

    A language is no longer selected when none of its pairs occurs `min_frequency` times in its
    training text. The other arguments are those of `digram.train`, but `ties="first_seen"` is not
    supported, since languages have no common order. With `ties="printable"` the merges are those of
    Hugging Face's `ParityBpeTrainer`, and with `byte_order="gpt2"` so are the ids of the bytes;
    there the options are `num_merges` for `max_merges`, `ratio`, and `variant="window"` with
    `window_size` and `alpha`.

    Returns an ordinary tokenizer. `tok.training.languages`, and the `language` of each `Merge`, say
    for which language a merge was made; its count is that in the training text of this language.
    `digram.evaluate(tok, texts, reference="en")` measures the result: premium and Gini coefficient.
    Raises the errors of `train`, and `OptionError` if `dev` or `ratios` name other languages. Cost:
    that of `train` on training and dev text, up to twice as much for small texts; memory: in
    addition 8 bytes for each tracked pair and each language.
    """
    turns = checked_turns(languages, dev, ratios, global_merges, window, alpha)
    cut = resolve("o200k" if pretokenizer is MISSING else pretokenizer)
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
        pretokenizer=cut if rules is None else cut.with_rules(rules),
        special_tokens=special_tokens,
        special_first=special_first,
        reserve=reserve,
        pad_to_multiple=pad_to_multiple,
    )
    if options.ties == "first_seen":
        raise OptionError(
            'ties="first_seen" is not supported: languages have no common order.',
            value=ties,
            hint='Choose ties="ids".',
        )
    run = RunOptions(threads=threads, on_merge=on_merge, progress=progress)
    spotter = Spotter(options.special) if options.special else None
    counting = Counting(options.pretokenizer, options.unit, run.threads, progress, spotter=spotter)
    texts = counted(
        named_corpora("languages", languages),
        None if dev is None else named_corpora("dev", dev),
        counting,
    )
    if spotter is not None:
        spotter.warn()
    return tokenizer_of(options, learned(texts, turns, options, run), turns.options())
