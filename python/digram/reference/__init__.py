r"""Byte-pair encoding as a readable specification of the fast core.

The code is simple and slow. Training counts all pairs again at every step, and encoding scans every
pair again after every merge. It needs only Python: copy it and change it.

A **symbol** is an id, an index in the list of tokens. The first tokens are the **base**: the 256
bytes, or some characters. A **word** is a sequence of symbols with a weight, the number of its
occurrences in the corpus; pairs are counted only within words. To train without a pretokenizer,
make each text one word. A **merge** turns two adjacent symbols into a new one; the dictionary of
all merges, from a pair to the new symbol, is in the order of their **ranks**: the first learned
comes first.

>>> text = "like liker love lovely hug hugs hugging hearts"
>>> base = characters([text])
>>> trained = train(words([text], base), base, vocab_size=25, ties="first_seen")
>>> [token.decode() for token in trained.tokens[16:]]
[' h', ' l', ' hu', ' hug', 'ik', 'ike', ' lo', ' lov', ' love']
>>> ids = encode(symbols("like hugs", base), trained.merges)
>>> [trained.tokens[n].decode() for n in ids], decode(ids, trained.tokens)
(['l', 'ike', ' hug', 's'], 'like hugs')
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from typing import NamedTuple

Pair = tuple[int, int]
Word = tuple[Sequence[int], int]

BYTES = [bytes([value]) for value in range(256)]
"""The base of the byte unit: the id of a byte is its value."""

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
GPT2_BYTES = [BYTES[value] for value in dict.fromkeys([*_PRINTABLE, *range(256)])]
"""The same in GPT-2's order: the bytes that Latin-1 can print first, then the others."""


def characters(texts: Iterable[str]) -> list[bytes]:
    r"""The base of the character unit: the characters that occur, sorted, as UTF-8.

    >>> characters(["banana", "né"])
    [b'a', b'b', b'n', b'\xc3\xa9']
    """
    return [character.encode() for character in sorted(set("".join(texts)))]


def _units(text: str | bytes) -> list[bytes]:
    return [c.encode() for c in text] if isinstance(text, str) else [BYTES[value] for value in text]


def symbols(text: str | bytes, base: Sequence[bytes]) -> list[int]:
    """The base symbols of a text: one for each byte of `bytes`, for each character of `str`.

    >>> symbols(b"banana", BYTES), symbols("banana", [b"a", b"b", b"n"])
    ([98, 97, 110, 97, 110, 97], [1, 0, 2, 0, 2, 0])

    Raises KeyError for a byte or a character that is not in the base.
    """
    number = {token: n for n, token in enumerate(base)}
    return [number[unit] for unit in _units(text)]


def words(pretokens: Iterable[str | bytes], base: Sequence[bytes]) -> list[Word]:
    """The pretokens of a corpus as words: each distinct one once, in the order of first occurrence.

    >>> words(["be", "or", "be"], [b"b", b"e", b"o", b"r"])
    [((0, 1), 2), ((2, 3), 1)]

    A character outside the base belongs to no word: it ends one, like the end of a pretoken.

    >>> words(["be or", "be"], [b"b", b"e", b"o", b"r"])
    [((0, 1), 2), ((2, 3), 1)]
    """
    number = {token: n for n, token in enumerate(base)}
    counts = Counter(
        tuple(number[unit] for unit in run)
        for pretoken in pretokens
        for known, run in groupby(_units(pretoken), number.__contains__)
        if known
    )
    return list(counts.items())


def count_pairs(corpus: Iterable[Word]) -> dict[Pair, int]:
    """The count of each pair of adjacent symbols in the words, in the order of first occurrence.

    Overlapping places all count: `aaa` contains (a, a) twice. A word of weight 10 counts ten times.

    >>> count_pairs([(b"banana", 1)])
    {(98, 97): 1, (97, 110): 2, (110, 97): 2}
    >>> count_pairs([([7, 7, 7], 1), ([5, 7], 10)])
    {(7, 7): 2, (5, 7): 10}
    """
    counts: dict[Pair, int] = {}
    for word, weight in corpus:
        for pair in pairwise(word):
            counts[pair] = counts.get(pair, 0) + weight
    return counts


def merge(word: Sequence[int], pair: Pair, new: int) -> list[int]:
    """`word` with `new` in place of each `pair`, from the left; no symbol is used twice.

    >>> merge(b"banana", (97, 110), 256)
    [98, 256, 256, 97]
    >>> merge([7, 7, 7], (7, 7), 9)
    [9, 7]
    """
    merged: list[int] = []
    at = 0
    while at < len(word):
        found = tuple(word[at : at + 2]) == pair
        merged.append(new if found else word[at])
        at += 2 if found else 1
    return merged


def keeps_characters(token: bytes) -> bool:
    r"""Whether a token is whole characters, or a piece of a single one.

    >>> keeps_characters("né".encode()), keeps_characters("€".encode()[:2])
    (True, True)
    >>> keeps_characters(b" " + "€".encode()[:2]), keeps_characters("éé".encode()[1:3])
    (False, False)
    """
    if is_text(token):
        return True
    # The bytes of a character that may be missing before the piece, and after it.
    before = [b"", b"\xc2", b"\xe1", b"\xf1"]
    after = [byte * number for byte in (b"\x80", b"\xbf") for number in range(4)]
    around = (start + token + end for start in before for end in after)
    return any(is_text(whole) and len(whole.decode()) == 1 for whole in around)


def is_text(token: bytes) -> bool:
    """Whether bytes are whole characters.

    >>> is_text("né".encode()), is_text("né".encode()[:-1])
    (True, False)
    """
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def allowed(
    found: Mapping[Pair, int],
    tokens: Sequence[bytes],
    max_token_length: int | None,
    whole_characters: bool,
) -> dict[Pair, int]:
    """The pairs whose token may be made, with their counts."""
    made = {pair: tokens[pair[0]] + tokens[pair[1]] for pair in found}
    return {
        pair: count
        for pair, count in found.items()
        if (max_token_length is None or len(made[pair]) <= max_token_length)
        and (not whole_characters or keeps_characters(made[pair]))
    }


class Trained(NamedTuple):
    """The result of training. `counts[rank]` is the count of the pair when it was merged."""

    tokens: list[bytes]
    merges: dict[Pair, int]
    counts: list[int]
    stop_reason: str
    words: list[Word]


def train(
    corpus: Iterable[Word],
    base: Sequence[bytes],
    *,
    vocab_size: int | None = None,
    max_merges: int | None = None,
    min_frequency: int = 1,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    forbid: Callable[[bytes, bytes], bool] = lambda left, right: False,
    ties: str = "ids",
) -> Trained:
    """Merge the most frequent pair everywhere, and repeat.

    Training ends with `vocab_size` tokens (base included), after `max_merges` merges, when every
    pair occurs fewer than `min_frequency` times, or when no pair is left. A pair is never chosen if
    its token would have more than `max_token_length` bytes, or the bytes of an existing token, or
    if `forbid` returns true; training continues with the others. From single symbols no pair makes
    an existing token; words of larger tokens, made by a tokenizer to be extended, may contain a
    pair that does. With `whole_characters` only pairs are chosen whose token `keeps_characters`.

    >>> use = "use byte pair encoding to tokenize text".split()
    >>> base = characters(["abcdefghijklmnopqrstuvwxyz"])
    >>> trained = train(words(use, base), base, max_merges=7, ties="first_seen")
    >>> [(token.decode(), n) for token, n in zip(trained.tokens[26:], trained.counts)]
    [('te', 2), ('en', 2), ('to', 2), ('us', 1), ('use', 1), ('by', 1), ('byte', 1)]
    >>> train([([7, 7, 7], 1)], BYTES, vocab_size=999).stop_reason
    'no_pairs'
    >>> no_n = lambda left, right: right == b"n"
    >>> train([(b"banana", 1)], BYTES, max_merges=2, forbid=no_n).tokens[256:]
    [b'na', b'ana']

    `ties` decides among the pairs of the highest count. "ids": the smallest pair of symbols.
    "first_seen": the pair with the first place in the current words. "lexicographic": the greatest
    pair of byte strings; the left ones are compared first. "printable": the same with bytes in the
    order of `GPT2_BYTES`, the order of the characters that print them.

    >>> for ties in ("ids", "first_seen", "lexicographic", "printable"):
    ...     trained = train([(b"banana ", 1), (b"cc", 2)], BYTES, max_merges=4, ties=ties)
    ...     print([token.decode() for token in trained.tokens[256:]])
    ['an', 'cc', 'a ', 'ban']
    ['an', 'cc', 'ban', 'banan']
    ['na', 'cc', 'nana', 'nana ']
    ['na', 'cc', 'na ', 'nana ']

    Raises ValueError if `vocab_size` leaves no merge, and if neither a size nor a number of merges
    is given and `min_frequency` is below 2.
    """
    if vocab_size is not None and vocab_size <= len(base):
        raise ValueError(f"vocab_size must be greater than {len(base)}.")
    if vocab_size is None and max_merges is None and min_frequency < 2:
        raise ValueError("min_frequency must be at least 2 when no size is given.")
    now, tokens, known = list(corpus), list(base), set(base)
    merges: dict[Pair, int] = {}
    counts: list[int] = []

    while True:
        found = allowed(count_pairs(now), tokens, max_token_length, whole_characters)
        found = {p: n for p, n in found.items() if tokens[p[0]] + tokens[p[1]] not in known}
        found = {p: n for p, n in found.items() if not forbid(tokens[p[0]], tokens[p[1]])}
        if len(tokens) == vocab_size:
            reason = "vocab_size"
        elif len(merges) == max_merges:
            reason = "max_merges"
        elif not found:
            reason = "no_pairs"
        elif found[best := best_pair(found, tokens, ties)] < min_frequency:
            reason = "min_frequency"
        else:
            new = merges[best] = len(tokens)
            tokens.append(tokens[best[0]] + tokens[best[1]])
            known.add(tokens[-1])
            counts.append(found[best])
            now = [(merge(word, best, new), weight) for word, weight in now]
            continue
        return Trained(tokens, merges, counts, reason, now)


def best_pair(counts: Mapping[Pair, int], tokens: Sequence[bytes], ties: str) -> Pair:
    """The most frequent pair; among several the one that `ties` prefers (see `train`).

    >>> best_pair({(97, 32): 2, (97, 98): 2, (98, 97): 1}, BYTES, "lexicographic")
    (97, 98)
    >>> best_pair({(97, 32): 2, (97, 98): 2, (98, 97): 1}, BYTES, "printable")
    (97, 32)
    """

    def printed(token: bytes) -> list[int]:
        return [GPT2_BYTES.index(BYTES[value]) for value in token]

    def preference(pair: Pair) -> tuple[object, ...]:
        left, right = pair
        if ties == "first_seen":
            return (
                counts[pair],
            )  # `max` returns the first of equal pairs, and `counts` is ordered
        if ties == "ids":
            return counts[pair], -left, -right
        if ties == "lexicographic":
            return counts[pair], tokens[left], tokens[right]
        return counts[pair], printed(tokens[left]), printed(tokens[right])

    return max(counts, key=preference)


def encode(word: Iterable[int], merges: Mapping[Pair, int]) -> list[int]:
    """Merge one word: always the pair of the lowest rank, at its leftmost place.

    >>> encode(b"banana", {(97, 110): 256, (256, 97): 257, (110, 97): 258})
    [98, 256, 257]
    >>> encode(b"", {})
    []
    """
    ids = list(word)
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    while places := [(ranks[p], at) for at, p in enumerate(pairwise(ids)) if p in ranks]:
        _, at = min(places)
        ids[at : at + 2] = [merges[ids[at], ids[at + 1]]]
    return ids


def encode_text(
    text: str,
    base: Sequence[bytes],
    merges: Mapping[Pair, int],
    unknown: int,
    *,
    fuse_unknown: bool = False,
) -> list[int]:
    """Merge one pretoken in which some characters are not in the base: each is an unknown token.

    Nothing merges with it. With `fuse_unknown`, all unknown characters next to each other are one.

    >>> base, merges = [b"a", b"b", b"ab"], {(0, 1): 2}
    >>> encode_text("abxyab", base, merges, 9)
    [2, 9, 9, 2]
    >>> encode_text("abxyab", base, merges, 9, fuse_unknown=True)
    [2, 9, 2]
    """
    ids: list[int] = []
    known = set(base)
    for is_known, run in groupby(text, lambda character: character.encode() in known):
        characters_of_run = "".join(run)
        if is_known:
            ids += encode(symbols(characters_of_run, base), merges)
        else:
            ids += [unknown] * (1 if fuse_unknown else len(characters_of_run))
    return ids


def numbers(seed: int) -> Iterator[float]:
    """An endless stream of pseudorandom numbers from 0 up to 1: SplitMix64, with 53 bits of each.

    >>> few = numbers(7)
    >>> [round(next(few), 3) for _ in range(4)]
    [0.39, 0.017, 0.901, 0.583]
    """
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        yield ((mixed ^ mixed >> 31) >> 11) / 2**53


def encode_with_dropout(
    word: Iterable[int], merges: Mapping[Pair, int], dropout: float, chance: Iterator[float]
) -> list[int]:
    """Merge one word as `encode` does, but skip each place with some probability.

    At each step the places are visited in the order of `encode`, and each takes a number of
    `chance`. A place whose number is below `dropout` is skipped for this step; the first other one
    is merged. A step that skips all places is the last. The words of a text take their numbers from
    one `chance`, in order.

    >>> merges = {(97, 110): 256, (256, 97): 257}
    >>> chance = numbers(1)
    >>> [encode_with_dropout(b"ana", merges, 0.5, chance) for _ in range(4)]
    [[257], [256, 97], [97, 110, 97], [257]]
    """
    ids = list(word)
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    while True:
        places = sorted((ranks[p], at) for at, p in enumerate(pairwise(ids)) if p in ranks)
        at = next((at for _, at in places if next(chance) >= dropout), None)
        if at is None:
            return ids
        ids[at : at + 2] = [merges[ids[at], ids[at + 1]]]


def weigh(batches: Iterable[tuple[Mapping[bytes, int], Fraction]]) -> dict[bytes, int]:
    """The sum of weighted batches of pretoken counts.

    Each product is exact, and rounded once: to the nearest whole number, a half to the even one.
    Counts that round to 0 are dropped. A batch that decays by a factor keeps its counts, and its
    weight is multiplied: counts that were rounded at each step would never fall below 4 at a factor
    of 0.9.

    >>> tenth = Fraction(9, 10)
    >>> weigh([({b"low": 5, b"new": 1}, tenth**7), ({b"low": 1}, Fraction(1))])
    {b'low': 3}
    """
    total: dict[bytes, int] = {}
    for counts, weight in batches:
        for pretoken, count in counts.items():
            total[pretoken] = total.get(pretoken, 0) + round(count * weight)
    return {pretoken: count for pretoken, count in total.items() if count}


def decode(ids: Iterable[int], tokens: Sequence[bytes]) -> str:
    r"""The text of `ids`: the bytes of their tokens, joined. Invalid UTF-8 becomes U+FFFD.

    >>> decode([98, 256, 256, 97], [*BYTES, b"an"])
    'banana'
    >>> decode([65, 0xC3, 66], BYTES)
    'A\ufffdB'
    """
    return b"".join(tokens[n] for n in ids).decode("utf-8", errors="replace")


def offsets(forms: Iterable[bytes]) -> list[tuple[int, int]]:
    r"""Where each of several forms, the bytes of tokens, stands in their decoded text.

    A form covers each character of which it has a byte. Bytes that are not UTF-8 belong to the
    U+FFFD that replaces them; an empty form is before the character that goes on, or comes next.

    >>> offsets([b"a\xc3", b"\xa9", b"", b"\xff"])
    [(0, 2), (1, 2), (2, 2), (2, 3)]
    """
    listed = list(forms)
    whole = b"".join(listed)
    character_of: list[int] = []
    number = at = 0
    while at < len(whole):
        size = 1
        # Further bytes belong to the character as long as they do not begin another one.
        while at + size < len(whole) and _is_one(whole[at : at + size + 1]):
            size += 1
        character_of += [number] * size
        number, at = number + 1, at + size
    character_of.append(number)
    spans, at = [], 0
    for form in listed:
        start = character_of[at]
        spans.append((start, character_of[at + len(form) - 1] + 1 if form else start))
        at += len(form)
    return spans


def _is_one(data: bytes) -> bool:
    return len(data.decode("utf-8", errors="replace")) == 1
