"""Prune a vocabulary: remove the tokens that a corpus needs least."""

from __future__ import annotations

import contextlib
import heapq
import operator
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from digram._util.validation import check_threads, flag, instance, iterable, whole_number
from digram._util.wording import said
from digram.adapt.change import Change
from digram.adapt.leaving_out import Whole, least_used, left_out
from digram.adapt.padding import unpadded
from digram.corpus import Corpus, CorpusLike
from digram.errors import OptionError, several, show
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import (
    CorporaLike,
    Counts,
    check_made,
    count_pretokens,
)
from digram.vocab.bpe import require_ranked
from digram.vocab.definition import Definition
from digram.vocab.reserved_ids import (
    base_ids,
    new_id,
    padded,
    size_of,
    without,
)
from digram.vocab.scores import UnigramKernel
from digram.vocab.wordpiece import WordPieceKernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["counted", "prune", "uses"]

_AT_ONCE = 1 << 16  # distinct pretokens


def prune(
    tok: Tokenizer,
    corpus: CorporaLike | Counts,
    *,
    remove: int | None = None,
    vocab_size: int | None = None,
    keep: Iterable[str | bytes | int] = (),
    compact: bool = True,
    threads: int | None = None,
) -> tuple[Tokenizer, Change]:
    """Remove the tokens that a corpus needs least.

    >>> import digram
    >>> tok = digram.train("low low low lower lowest slow", vocab_size=262)
    >>> small, change = digram.prune(tok, "low lower", remove=3)
    >>> tok.tokens(change.removed)
    [b' lowe', b' s', b'st']
    >>> small.count("low lower"), tok.count("low lower")
    (4, 3)

        corpus: text as for `evaluate`, or counts made with this pretokenizer.
        remove, vocab_size: the number of tokens to remove, or of ids to keep. Pass one of them.
        keep: tokens, or their ids, to keep whatever their use.
        compact: whether higher ids move down; otherwise removed tokens leave unused ids, and every
            other token keeps its id.

    Only leaves are removed: tokens that are part of no other one, so every remaining token stays
    reachable. The least used leaf is removed first, of equal ones the last learned, and its uses
    are added to those of its parts. Single symbols and special tokens stay. Uses are counted once,
    under this tokenizer; a text with a removed token may be split differently nearby, so measure
    the outcome (`change.compare`).

    In WordPiece and Unigram models no token is a part of another, so the least used tokens are
    removed, of equal ones those with the highest ids. Tokens of one character stay, and so do those
    with a character that is not a token itself, so that no text of known characters becomes
    unknown. The scores of the others do not change.

    >>> words = digram.train("low low lower lowest slow", max_merges=6, model="wordpiece")
    >>> small, change = digram.prune(words, "low slow", remove=2)
    >>> words.tokens(change.removed)
    [b'st', b' lower']

    BPE by scores (`digram.ScoredModel`) is refused: which tokens make another one depends on the
    text. Raises `OptionError` if fewer tokens can be removed. Takes as
    long as encoding the corpus, and some µs per token.
    """
    instance("tok", tok, Tokenizer)
    if not isinstance(tok._settings.kernel, UnigramKernel | WordPieceKernel):
        require_ranked(tok._settings.kernel, "prune")
    if (remove is None) == (vocab_size is None):
        raise OptionError(
            "prune takes one of remove= and vocab_size=.",
            hint="Pass the number of tokens to remove, or the number of ids to keep.",
        )
    whole, multiple = unpadded(tok)
    definition = whole.definition
    if isinstance(corpus, Mapping | Counts):
        corpus = counted(tok, corpus, threads)
    if remove is None:
        size = whole_number("vocab_size", vocab_size, 1)
        remove = size_of(definition) - size
        if remove < 0:
            raise OptionError(
                f"vocab_size={size} is more than the {size_of(definition)} ids there are.",
                value=vocab_size,
                hint=f"Pass a smaller size; {said('digram.extend', 'digram extend')} adds tokens.",
            )
    else:
        remove = whole_number("remove", remove, 0)
    times = uses(whole, corpus, check_threads(threads))
    kept = _ids(whole, keep) | _of_rules(whole)
    compact, model = flag("compact", compact), definition.model
    if isinstance(model, Whole):
        gone = least_used(definition, model, times.tolist(), remove, kept)
        small = left_out(definition, model, gone, compact, tok.digest)
    else:
        gone = _least_used(definition, times.tolist(), remove, kept)
        small = _without(definition, gone, compact, tok.digest)
    after = Tokenizer(padded(small, multiple))
    return after, Change.of(tok, after)


def counted(
    tok: Tokenizer,
    corpus: CorporaLike | Counts,
    threads: int | None,
    progress: bool | None = False,
) -> Counts:
    """The counts of a corpus, which may be counts already."""
    if isinstance(corpus, Counts):
        return corpus
    return count_pretokens(
        corpus,
        pretokenizer=tok.pretokenizer,
        unit=tok.unit,
        threads=threads,
        progress=progress,
    )


def uses(
    tok: Tokenizer,
    corpus: CorpusLike | Counts,
    threads: int | None = None,
) -> NDArray[np.uint64]:
    """The count of each id in a corpus, which may be counts."""
    import numpy as np

    times = np.zeros(tok.vocab_size, np.uint64)
    if not isinstance(corpus, Counts):
        with contextlib.closing(Corpus.of(corpus).batches()) as reading:
            for batch in reading:
                times += tok._histogram_batch(batch, None, threads)[0]
        return times
    check_made(
        (corpus.pretokenizer, corpus.unit),
        (tok.pretokenizer, tok.unit),
        "these counts",
        "the tokenizer",
    )
    alone = tok._uncut()
    pieces = corpus.items()
    while some := [*islice(pieces, _AT_ONCE)]:
        ids, offsets = alone.encode_batch([one for one, _ in some], threads=threads, out="numpy")
        counts = np.array([count for _, count in some], np.uint64)
        np.add.at(times, ids, np.repeat(counts, np.diff(offsets).astype(np.int64)))
    return times


def _ids(tok: Tokenizer, keep: Iterable[str | bytes | int]) -> set[int]:
    """The ids of the named tokens."""
    if isinstance(keep, str | bytes):
        raise TypeError("keep must be several tokens; put a single one in a list")
    named = set()
    for number, token in enumerate(iterable("keep", keep, "several tokens")):
        if isinstance(token, str | bytes):
            id = tok.token_to_id(token)
        else:
            id = operator.index(token)
            tok.id_to_token(id)  # raises for an invalid id
        if id is None:
            raise OptionError(
                f"keep[{number}]: {show(token)} is not a token of this vocabulary.",
                index=number,
                value=token,
            )
        named.add(id)
    return named


def _of_rules(tok: Tokenizer) -> set[int]:
    """The ids of tokens that rules require."""
    if tok.rules is None:
        return set()
    # The parts of a preferred token stay too.
    preferred = ["".join(one).encode() for one in tok.rules.prefer]
    tokens = [*tok.rules.tokens(), *preferred]
    return {id for id in map(tok.token_to_id, tokens) if id is not None}


def _least_used(
    definition: Definition, times: Sequence[int], number: int, keep: Collection[int]
) -> list[int]:
    """The ids of a number of leaves, each the least used when it is removed, in ascending order.

    Text with a removed token is encoded to its parts, so its uses are added to theirs. Of tokens
    with equal uses the last learned is removed first.
    """
    made: dict[int, list[tuple[int, int]]] = {}
    for left, right, id in require_ranked(definition.model, "prune").merges:
        made.setdefault(id, []).append((left, right))
    # The number of merges that each token is a part of.
    parts = Counter(part for pairs in made.values() for pair in pairs for part in {*pair})
    fixed = base_ids(definition, set(made)) | {*keep}
    uses = {id: times[id] for id, token in enumerate(definition.tokens) if token is not None}
    leaves = [(count, -id) for id, count in uses.items() if id not in fixed and not parts[id]]
    heapq.heapify(leaves)
    gone: list[int] = []
    while len(gone) < number and leaves:
        count, id = heapq.heappop(leaves)
        id = -id
        gone.append(id)
        pairs = made.get(id, [])
        for part in pairs[0] if pairs else ():
            uses[part] += count
        for part in [part for pair in pairs for part in {*pair}]:
            parts[part] -= 1
            if not parts[part] and part not in fixed:
                heapq.heappush(leaves, (uses[part], -part))
    if len(gone) < number:
        raise OptionError(
            f"{several(number, 'token')} cannot be removed: only "
            f"{len(gone):,} are neither single symbols, nor special, nor kept.",
            value=number,
            hint="Remove fewer, or keep fewer.",
        )
    return sorted(gone)


def _without(definition: Definition, gone: Sequence[int], compact: bool, before: str) -> Definition:
    """The definition without tokens that are part of no other one.

    With `compact` higher ids move down, otherwise the ids of removed tokens are unused.
    """
    if not gone:
        return definition
    removed = {*gone}
    model = require_ranked(definition.model, "prune")
    kept = [rank for rank, (_, _, id) in enumerate(model.merges) if id not in removed]
    if compact:
        small, new = without(definition, [*gone]), partial(new_id, [*gone])
    else:
        tokens = [None if id in removed else t for id, t in enumerate(definition.tokens)]
        fewer = replace(model, merges=[model.merges[rank] for rank in kept])
        small, new = replace(definition, tokens=tokens, model=fewer), partial(new_id, [])
    record = definition.training
    if record is None:
        return small
    runners_up = record.runners_up and [
        [(new(a), new(b), n) for a, b, n in record.runners_up[rank] if not removed & {a, b}]
        for rank in kept
    ]
    options = record.options | {"pruned": before, "removed": len(gone)}
    counts = [record.counts[rank] for rank in kept]
    languages = record.languages and [record.languages[rank] for rank in kept]
    record = replace(record, counts=counts, runners_up=runners_up, languages=languages)
    return replace(small, training=replace(record, options=options))
