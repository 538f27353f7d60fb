"""Unite two vocabularies, and replace tokens of a vocabulary at a fixed size."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from digram._util.validation import instance, whole_number
from digram.adapt.change import Change
from digram.adapt.extending import extend, keeps_characters
from digram.adapt.padding import unpadded
from digram.adapt.pruning import counted, prune
from digram.errors import ConfigMismatchError
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import CorporaLike, Counts
from digram.vocab.bpe import require_ranked
from digram.vocab.definition import Definition, TrainingRecord
from digram.vocab.reserved_ids import multiple_of, padded, without_padding

__all__ = ["replace_tokens", "union"]


def union(tok: Tokenizer, other: Tokenizer, *, add: int | None = None) -> tuple[Tokenizer, Change]:
    """Add the tokens of another tokenizer that this one does not have.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=4)
    >>> both, change = digram.union(tok, digram.train("slow slow slower", max_merges=4))
    >>> both.tokens(change.added)
    [b'slo', b'slow', b' slow']

    They are added in the order in which the other tokenizer learned them, at most `add` of them.
    Each is one further merge at the end, so old ids, old merges and old encodings stay, as with
    `extend`. A token is left out if it would be unreachable, because no single merge of the tokens
    so far makes it or the pretokenizer splits it, and if the rules forbid it. The pretokenizer and
    the special tokens are those of `tok`. Raises `ConfigMismatchError` for another unit. If you
    have text to learn from, `extend` learns better tokens. Takes some µs per token of the other.
    """
    instance("tok", tok, Tokenizer)
    instance("other", other, Tokenizer)
    for one in (tok, other):
        require_ranked(one._settings.kernel, "union")
    if tok.unit != other.unit:
        raise ConfigMismatchError(
            f'one tokenizer has unit="{tok.unit}" and the other unit="{other.unit}".',
            hint="Unite tokenizers of the same unit.",
        )
    maximum = None if add is None else whole_number("add", add, 0)
    whole, multiple = unpadded(tok)
    definition, size = whole.definition, whole.vocab_size
    tokens = [*definition.tokens, *[None] * (size - len(definition.tokens))]
    fallback = {*(definition.byte_ids or ())}
    known = {token for id, token in enumerate(tokens) if token is not None and id not in fallback}
    wanted = [one.token for one in other.merge_log if one.token not in known]
    wanted = [*dict.fromkeys(token for token in wanted if _is_spelled(token, tok, known))]
    forbidden = tok.rules and tok.rules._forbidden()
    alone = whole._uncut()
    learned: dict[tuple[int, int], int] = {}
    for token, word in zip(wanted, alone.encode_batch(wanted), strict=True):
        if len(learned) == maximum:
            break
        parts = _merged(word, learned)
        if len(parts) == 2:  # one more merge makes it, after all merges before it
            left, right = (tokens[part] or b"" for part in parts)
            if forbidden and forbidden.holds(left, right):
                continue
            learned[parts[0], parts[1]] = len(tokens)
            tokens.append(token)
    if not learned:
        return tok, Change.of(tok, tok)
    model = require_ranked(definition.model, "union")
    merges = model.merges + [(left, right, id) for (left, right), id in learned.items()]
    record = _longer(
        definition.training, len(learned), {"merged": other.digest, "before": tok.digest}
    )
    grown = replace(definition, tokens=tokens, model=replace(model, merges=merges), training=record)
    after = Tokenizer(padded(grown, multiple))
    return after, Change.of(tok, after)


def _is_spelled(token: bytes, tok: Tokenizer, known: set[bytes]) -> bool:
    """Whether the tokenizer has all base symbols of a token, and does not split its text."""
    try:
        text = token.decode()
    except UnicodeDecodeError:  # its whole characters decide
        return tok.unit == "byte"
    if len(tok.pretokenize(text)) != 1:
        return False
    return tok.unit == "byte" or known.issuperset(character.encode() for character in text)


def _merged(word: Sequence[int], learned: dict[tuple[int, int], int]) -> list[int]:
    """Apply further merges to ids: those learned first come first, then the leftmost place."""
    ids: list[int | None] = [*word]
    before, after = [*range(-1, len(ids) - 1)], [*range(1, len(ids) + 1)]
    # The merged ids are in the order in which they were learned.
    queue = [(learned[pair], index) for index, pair in enumerate(pairwise(word)) if pair in learned]
    heapq.heapify(queue)
    while queue:
        made, index = heapq.heappop(queue)
        right = after[index]
        if right == len(ids) or learned.get((ids[index], ids[right])) != made:  # type: ignore[arg-type]
            continue
        ids[index], ids[right] = made, None
        after[index] = after[right]
        if after[index] < len(ids):
            before[after[index]] = index
        for left in (before[index], index):
            if left >= 0 and after[left] < len(ids):
                id = learned.get((ids[left], ids[after[left]]))  # type: ignore[arg-type]
                if id is not None:
                    heapq.heappush(queue, (id, left))
    return [id for id in ids if id is not None]


def _longer(
    record: TrainingRecord | None, merges: int, options: dict[str, Any]
) -> TrainingRecord | None:
    """A training record with more merges, whose counts are unknown."""
    if record is None:
        return None
    runners_up = record.runners_up and [*record.runners_up, *[[]] * merges]
    return replace(
        record,
        counts=[*record.counts, *[None] * merges],
        runners_up=runners_up,
        languages=record.languages and [*record.languages, *[None] * merges],
        options=record.options | options,
    )


def replace_tokens(
    tok: Tokenizer,
    corpus: CorporaLike | Counts,
    number: int,
    *,
    keep: Iterable[str | bytes | int] = (),
    min_frequency: int = 2,
    whole_characters: bool | None = None,
    threads: int | None = None,
    progress: bool | None = None,
) -> tuple[Tokenizer, Change]:
    """Replace the tokens that a corpus needs least by the next merges learned on it.

    >>> import digram
    >>> tok = digram.train("the cat sat on the mat with the hat", vocab_size=268)
    >>> notes = "fever, chills, fever and chills"
    >>> after, change = digram.replace_tokens(tok, notes, 6)
    >>> after.vocab_size, len(change.removed), len(change.added)
    (268, 6, 6)
    >>> tok.count(notes), after.count(notes)
    (29, 17)

    This is `prune`, then `extend`, and the new tokens take the ids of the removed ones. So the
    vocabulary keeps its size: a model's matrices keep their shape, and the rows of remaining tokens
    stay.

    `number` is the maximum number of tokens to replace. If the corpus has fewer pairs that occur
    `min_frequency` times, only as many tokens are removed as there are new ones; if it has none,
    the tokenizer does not change. A token that is removed and learned again is not replaced.
    `len(change.added)` is the number of replaced tokens.

    >>> same, change = digram.replace_tokens(tok, "at at", 6)
    >>> print(change)
    268 ids became 268, 0 tokens added, 0 removed

    The order of ids is then no longer the order of merges, so `shrink` and `.tiktoken` files refuse
    the result. The arguments and errors are those of `prune` and `extend`. Takes as long as both,
    but the corpus is counted once; if fewer tokens are replaced than `number`, the other steps are
    usually repeated once or twice.
    """
    instance("tok", tok, Tokenizer)
    require_ranked(tok._settings.kernel, "replace_tokens")
    number = whole_number("number", number, 0)
    corpus = counted(tok, corpus, threads, progress)
    multiple = multiple_of(tok.definition)
    whole, keep = _unpadded(tok.definition), keep if isinstance(keep, str | bytes) else [*keep]
    whole_characters = keeps_characters(tok, whole_characters)
    before = Tokenizer(whole)
    while True:
        smaller, _ = prune(before, corpus, remove=number, keep=keep, compact=False, threads=threads)
        if not number:
            return tok, Change.of(tok, tok)
        grown, change = extend(
            smaller,
            corpus,
            add=number,
            min_frequency=min_frequency,
            whole_characters=whole_characters,
            threads=threads,
            progress=progress,
        )
        if len(change.added) == number:
            break
        # There is less to learn: remove fewer, since ids were left without tokens. Some learned
        # tokens may be removed ones, so removing fewer may mean learning fewer again.
        number = len(change.added)
    swapped = _at_free_ids(whole, grown.definition, change.added)
    if swapped.training is not None:
        record = {"swapped": tok.digest, "number": number, "min_frequency": min_frequency}
        if whole_characters:
            record["whole_characters"] = True
        if multiple is not None:
            record["pad_to_multiple"] = multiple
        swapped = replace(swapped, training=replace(swapped.training, options=record))
    after = Tokenizer(padded(swapped, multiple))
    return after, Change.of(tok, after)


def _unpadded(definition: Definition) -> Definition:
    """The definition without padding, and with a record that does not request any."""
    if multiple_of(definition) is None:
        return definition
    bare = without_padding(definition)
    record = bare.training
    if record is not None:
        options = {
            name: value for name, value in record.options.items() if name != "pad_to_multiple"
        }
        record = replace(record, options=options)
    return replace(bare, training=record)


def _at_free_ids(old: Definition, grown: Definition, added: Sequence[int]) -> Definition:
    """The definition with new tokens at the ids of removed ones.

    A token that was learned again gets its old id, the others the lowest free ids.
    """
    start = min(added, default=len(grown.tokens))
    tokens = [*grown.tokens[:start], *[None] * (len(old.tokens) - start)][: len(old.tokens)]
    own = {
        token: id for id, token in enumerate(old.tokens) if token is not None and tokens[id] is None
    }
    ids = {id: own[token] for id in added if (token := grown.tokens[id]) in own}
    free = sorted({*own.values()} - {*ids.values()})
    ids |= zip((id for id in added if id not in ids), free, strict=False)
    for id, place in ids.items():
        tokens[place] = grown.tokens[id]

    def new(id: int) -> int:
        return ids.get(id, id)

    record = grown.training
    if record is not None and record.runners_up is not None:
        pairs = [[(new(a), new(b), n) for a, b, n in some] for some in record.runners_up]
        record = replace(record, runners_up=pairs)
    model = require_ranked(grown.model, "replace_tokens")
    merges = [(new(left), new(right), new(id)) for left, right, id in model.merges]
    return replace(grown, tokens=tokens, model=replace(model, merges=merges), training=record)
