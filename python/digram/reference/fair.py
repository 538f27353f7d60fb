"""Merges for several languages, each for the language that is furthest behind."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from digram.reference import BYTES, Pair, Word, allowed, best_pair, count_pairs, merge


class Trained(NamedTuple):
    """The result of training for several languages.

    `languages[rank]` is the number of the language that the merge was made for, None for all, and
    `counts[rank]` the count of the pair in its words.
    """

    tokens: list[bytes]
    merges: dict[Pair, int]
    counts: list[int]
    languages: list[int | None]
    stop_reason: str


def train(
    corpora: Sequence[Sequence[Word]],
    base: Sequence[bytes] = BYTES,
    *,
    dev: Sequence[Sequence[Word]] | None = None,
    ratios: Sequence[float] | None = None,
    global_merges: int = 0,
    window: int | None = None,
    alpha: float = 2.0,
    max_merges: int,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    ties: str = "ids",
) -> Trained:
    """Merge the best pair of one language in all languages, and repeat.

    Each language has words to learn from, and each merge is made for the language that is furthest
    behind: the one whose `dev` words have the most symbols at that step; without `dev` its training
    words are measured. With `ratios` it is the language for which the number of symbols at the
    start, divided by the current number and by its ratio, is smallest; a language without words has
    no turn then. `whose_turn` defines the rest. The first `global_merges` are made for all: from
    the pairs of all words.

    >>> corpora, dev = [[(b"aabb", 9)], [(b"cd", 1)]], [[(b"ab", 1)], [(b"cdcd", 1)]]
    >>> found = train(corpora, BYTES, dev=dev, max_merges=3)
    >>> [(found.tokens[new], who) for new, who in zip(found.merges.values(), found.languages)]
    [(b'cd', 1), (b'aa', 0), (b'bb', 0)]

    A language without a pair of at least `min_frequency` occurrences has no more turns. Training
    ends after `max_merges`, or when no language has a turn.
    """
    now, measured = [list(words) for words in corpora], [list(words) for words in dev or ()]
    tokens, merges = list(base), dict[Pair, int]()
    counts, languages = list[int](), list[int | None]()
    start = [length(words) for words in now]
    out = {who for who, symbols in enumerate(start) if ratios is not None and not symbols}
    turns: list[int] = []
    while len(merges) < max_merges and len(out) < len(now):
        if len(merges) < global_merges:
            who = None
        else:
            behind: list[float] = [length(words) for words in measured or now]
            if ratios is not None:
                lengths = zip(start, behind, ratios, strict=True)
                behind = [-(old / new / aim) if old else 0.0 for old, new, aim in lengths]
            who = whose_turn(behind, out, turns, window, alpha)
            turns.append(who)
        found = count_pairs([word for words in now for word in words] if who is None else now[who])
        found = allowed(found, tokens, max_token_length, whole_characters)
        if not found or found[best := best_pair(found, tokens, ties)] < min_frequency:
            out |= set(range(len(now))) if who is None else {who}
            continue
        new = merges[best] = len(tokens)
        tokens.append(tokens[best[0]] + tokens[best[1]])
        counts.append(found[best])
        languages.append(who)
        for texts in (now, measured):
            texts[:] = [[(merge(word, best, new), n) for word, n in words] for words in texts]
    reason = "max_merges"
    if len(merges) < max_merges:
        left = count_pairs(word for words in now for word in words)
        rest = allowed(left, tokens, max_token_length, whole_characters)
        reason = "min_frequency" if rest else "no_pairs"
    return Trained(tokens, merges, counts, languages, reason)


def length(corpus: Iterable[Word]) -> int:
    """The number of symbols in the words of a corpus.

    >>> length([(b"banana", 1), (b"be", 10)])
    26
    """
    return sum(len(word) * weight for word, weight in corpus)


def whose_turn(
    behind: Sequence[float],
    out: set[int],
    turns: Sequence[int],
    window: int | None = None,
    alpha: float = 2.0,
) -> int:
    """The language of the next merge: the one furthest behind that is not in `out`.

    Of equal ones it is the first.

    >>> whose_turn([5, 9, 9], out=set(), turns=[]), whose_turn([5, 9, 9], out={1, 2}, turns=[])
    (1, 0)

    With a `window`, a number of past `turns`, a language waits that had more than `alpha` times its
    even share of them. If all do, the turn goes to the one least behind, or, if some languages are
    out, to the first of all languages, which may be out itself: then the turn is lost. (The program
    by Hugging Face that this follows does the same.)

    >>> [whose_turn([5, 9], set(), turns, window=4, alpha=1.0) for turns in ([1, 1], [0, 1, 1, 1])]
    [1, 0]
    >>> whose_turn([5, 9], {0}, [1, 1, 1], window=4, alpha=1.0)
    0
    """
    line = sorted(set(range(len(behind))) - out, key=lambda who: -behind[who])
    if window is None:
        return line[0]
    for who in line:
        if turns[-window:].count(who) / window <= alpha / len(behind):
            return who
    return 0 if out else line[-1]
