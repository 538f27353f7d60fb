"""Counts are what counting by hand gives, however they were joined, saved and brought back."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import Ties, any_bytes, any_corpora, cases, limits, prose, sized, texts, ties

import digram
from digram import Counts, count_pretokens, reference
from digram.training.counts import files

pretokenizers = st.sampled_from([None, "gpt2", "o200k", "whitespace"])


def by_hand(corpus: Sequence[str | bytes], pretokenizer: Any) -> dict[bytes, tuple[int, int]]:
    """Each pretoken with its count and the bytes before its first occurrence, in that order."""
    found: dict[bytes, tuple[int, int]] = {}
    before = 0
    for text in corpus:
        data = text.encode() if isinstance(text, str) else text
        for piece in digram.pretokenize(data, pretokenizer):
            count, first = found.get(piece, (0, before))
            found[piece] = (count + 1, first)
            before += len(piece)
    return found


def table_of(counts: Counts) -> dict[bytes, tuple[int, ...]]:
    """The same as it comes out through Arrow."""
    columns = counts.to_arrow().to_pydict()
    return dict(
        zip(
            columns["piece"],
            zip(*(columns[name] for name in columns if name != "piece"), strict=True),
            strict=True,
        )
    )


def saved(counts: Counts) -> bytes:
    return b"".join(files.to_bytes(counts))


def again(counts: Counts) -> Counts:
    """The counts by way of a file."""
    core, what = files.from_bytes(saved(counts))
    return Counts._of(core, what.pretokenizer, what.unit)


@cases(400)
@given(any_corpora | st.lists(any_bytes, max_size=4), pretokenizers, st.integers(1, 3))
def test_they_are_what_counting_by_hand_gives(
    corpus: list[Any], pretokenizer: Any, threads: int
) -> None:
    counts = count_pretokens(corpus, pretokenizer=pretokenizer, threads=threads)
    expected = by_hand(corpus, pretokenizer)
    assert list(counts.items()) == [(piece, count) for piece, (count, _) in expected.items()]
    assert list(counts) == list(expected)
    assert table_of(counts) == expected
    assert list(table_of(counts)) == sorted(expected)
    assert counts.has_first
    assert len(counts) == len(expected)
    assert counts.documents == len(corpus)
    assert counts.bytes == sum(count * len(piece) for piece, (count, _) in expected.items())
    assert counts.pretokens == sum(count for count, _ in expected.values())
    assert all(counts[piece] == count for piece, (count, _) in expected.items())
    assert all(piece in counts for piece in expected)
    assert counts[b"\xff\xfe\xfd"] == 0
    assert b"\xff\xfe\xfd" not in counts
    ranked = sorted(((p, n) for p, (n, _) in expected.items()), key=lambda pn: (-pn[1], pn[0]))
    assert counts.most_common() == ranked
    assert counts.most_common(3) == ranked[:3]


@cases(250)
@given(any_corpora, pretokenizers, st.lists(st.integers(0, 6), max_size=4))
def test_shards_add_up_to_the_whole(corpus: list[str], pretokenizer: Any, cuts: list[int]) -> None:
    """In the order of the corpus, first occurrences and the bytes of the file are the whole's."""
    whole = count_pretokens(corpus, pretokenizer=pretokenizer)
    edges = [0, *sorted(cuts), len(corpus)]
    shards = [
        count_pretokens(corpus[start:stop], pretokenizer=pretokenizer)
        for start, stop in zip(edges[:-1], [max(e, 0) for e in edges[1:]], strict=True)
        if start <= stop
    ]
    shards = shards if sum(s.documents for s in shards) == len(corpus) else [whole]
    merged = Counts.merge(shards)
    assert merged == whole
    assert hash(merged) == hash(whole)
    assert saved(merged) == saved(whole)
    assert sum(shards) == whole
    assert Counts.merge([again(shard) for shard in shards]) == whole


@cases(250)
@given(prose, st.randoms(), limits, st.sampled_from(["ids", "lexicographic"]))
def test_shards_in_any_order_give_one_digest(
    corpus: list[str], random: random.Random, limits: dict[str, int], ties: Any
) -> None:
    """Without first occurrences the counts themselves, and always what is learned of them."""
    whole = count_pretokens(corpus, pretokenizer="gpt2")
    shards = [count_pretokens(text, pretokenizer="gpt2") for text in corpus] or [whole]
    random.shuffle(shards)
    at = random.randrange(len(shards))
    parts = [Counts.merge(part) for part in (shards[:at], shards[at:]) if part]
    merged = Counts.merge(parts[::-1])
    options = sized(limits, reference.BYTES)
    one, other = (digram.train(counts, ties=ties, **options) for counts in (whole, merged))
    assert one.digest == other.digest
    assert one.merge_log == other.merge_log
    assert merged.without_first() == whole.without_first()
    assert saved(merged.without_first()) == saved(whole.without_first())


@cases(400)
@given(any_corpora, pretokenizers, ties, limits, st.booleans())
def test_training_on_counts_is_training_on_text(
    corpus: list[str], pretokenizer: Any, ties: Ties, limits: dict[str, int], by_file: bool
) -> None:
    counts = count_pretokens(corpus, pretokenizer=pretokenizer)
    options = sized(limits, reference.BYTES)
    text = digram.train(corpus, pretokenizer=pretokenizer, ties=ties, **options)
    counted = digram.train(again(counts) if by_file else counts, ties=ties, **options)
    assert counted == text
    assert counted.training == text.training
    assert counted.merge_log == text.merge_log


@cases(200)
@given(prose, limits, ties)
def test_characters(corpus: list[str], limits: dict[str, int], ties: Ties) -> None:
    counts = count_pretokens(corpus, pretokenizer="gpt2", unit="char")
    options = sized(limits, reference.characters(corpus))
    text = digram.train(corpus, pretokenizer="gpt2", unit="char", ties=ties, **options)
    assert digram.train(again(counts), ties=ties, **options) == text


@cases(250)
@given(prose, prose, pretokenizers)
def test_what_was_added_can_be_taken_away(
    corpus: list[str], more: list[str], pretokenizer: Any
) -> None:
    a, b = (count_pretokens(part, pretokenizer=pretokenizer) for part in (corpus, more))
    assert (a + b) - b == a.without_first()
    assert (a + b) - a == b.without_first()
    assert len(a - a) == 0
    left = Counter(dict(a.items()))
    left.subtract(dict(b.items()))
    if min(left.values(), default=0) >= 0 and a.documents >= b.documents:
        assert dict((a - b).items()) == +left
    elif a.documents >= b.documents:
        short = min(piece for piece, count in left.items() if count < 0)
        with pytest.raises(digram.OptionError, match="was counted") as raised:
            a - b
        assert repr(short) in str(raised.value) or b"'" in short


counted = st.dictionaries(st.binary(min_size=1, max_size=12), st.integers(1, 2**70), max_size=8)


@cases(250)
@given(counted, st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9))
def test_weights_round_once_a_half_to_the_even(found: dict[bytes, int], weight: Fraction) -> None:
    """Python's `round` of a fraction is the rule."""
    found = {piece: count % 2**40 + 1 for piece, count in found.items()}
    counts = Counts(found, pretokenizer=None)
    expected = {piece: round(count * weight) for piece, count in found.items()}
    expected = {piece: count for piece, count in expected.items() if count}
    if sum(count * len(piece) for piece, count in expected.items()) >= 2**64:
        with pytest.raises(digram.LimitExceededError):
            counts.scale(weight)
        return
    scaled = counts.scale(weight)
    assert dict(scaled.items()) == expected
    assert scaled.bytes == sum(count * len(piece) for piece, count in expected.items())
    assert scaled.pretokens == sum(expected.values())


@cases(300)
@given(prose, st.integers(1, 5), pretokenizers)
def test_filters_and_weights_keep_the_order_of_the_corpus(
    corpus: list[str], number: int, pretokenizer: Any
) -> None:
    counts = count_pretokens(corpus, pretokenizer=pretokenizer)
    expected = by_hand(corpus, pretokenizer)
    frequent = {piece: row for piece, row in expected.items() if row[0] >= number}
    filtered = counts.filter(min_count=number)
    assert table_of(filtered) == frequent
    assert list(filtered) == list(frequent)
    assert filtered.documents == len(corpus)
    scaled = counts.scale(number)
    assert table_of(scaled) == {p: (number * n, first) for p, (n, first) in expected.items()}
    assert scaled.documents == len(corpus)
    # What comes after still comes after all of the text, not only after what is left of it.
    joined = by_hand([*corpus, *corpus], pretokenizer)
    both = filtered + counts
    assert [piece for piece in joined if piece in both] == [p for p in joined if p in counts]
    assert all(
        first == (expected[p][1] if p in frequent else expected[p][1] + counts.bytes)
        for p, (_, first) in table_of(both).items()
    )


@cases(300)
@given(st.dictionaries(st.sampled_from("abc"), prose, min_size=1), st.data())
def test_named_sources_with_weights(sources: dict[str, list[str]], data: st.DataObject) -> None:
    """Whole weights are as if the source were there so many times."""
    weights = {name: data.draw(st.integers(1, 4)) for name in sources if data.draw(st.booleans())}
    repeated = [
        text for n, corpus in sources.items() for _ in range(weights.get(n, 1)) for text in corpus
    ]
    counts = count_pretokens(sources, pretokenizer="gpt2", weights=weights)
    assert dict(counts.items()) == dict(count_pretokens(repeated, pretokenizer="gpt2").items())
    tok = digram.train(sources, pretokenizer="gpt2", weights=weights, max_merges=20)
    assert tok == digram.train(repeated, pretokenizer="gpt2", max_merges=20)
    assert tok == digram.train(counts, max_merges=20)
    assert tok.training is not None
    assert tok.training.documents == sum(map(len, sources.values()))


@cases(250)
@given(any_corpora, pretokenizers, st.sampled_from(["byte", "char"]), st.booleans())
def test_files_pickles_and_tables_bring_back_the_same(
    corpus: list[str], pretokenizer: Any, unit: Any, first: bool
) -> None:
    counts = count_pretokens(corpus, pretokenizer=pretokenizer, unit=unit)
    counts = counts if first else counts.without_first()
    for back in (
        again(counts),
        pickle.loads(pickle.dumps(counts)),
        Counts.from_arrow(counts),
        Counts.from_arrow(counts.to_arrow()),
        Counts.from_arrow(counts.to_arrow(), like=counts),
    ):
        assert back == counts
        assert (back.pretokenizer, back.unit) == (counts.pretokenizer, unit)
        assert saved(back) == saved(counts)


@cases(300)
@given(st.lists(st.tuples(texts.filter(bool), st.integers(0, 2**62)), max_size=8), st.data())
def test_rows_from_elsewhere_are_added_up(rows: list[tuple[str, int]], data: st.DataObject) -> None:
    pieces, numbers = [piece for piece, _ in rows], [count % 2**40 for _, count in rows]
    kind = data.draw(
        st.sampled_from(["binary", "large_binary", "binary_view", "string", "large_string"])
    )
    as_text = kind.endswith("string")
    column = pyarrow.array(
        pieces if as_text else [p.encode() for p in pieces], getattr(pyarrow, kind)()
    )
    of = data.draw(st.sampled_from([pyarrow.int64(), pyarrow.uint64()]))
    table = pyarrow.table({"count": pyarrow.array(numbers, of), "other": numbers, "piece": column})
    table = pyarrow.concat_tables([table.slice(0, 3), table.slice(3)])
    counts = Counts.from_arrow(table, pretokenizer=None)
    expected: Counter[bytes] = Counter()
    for piece, count in zip(pieces, numbers, strict=True):
        expected[piece.encode()] += count
    assert dict(counts.items()) == dict(+expected)
    assert not counts.has_first
    if rows:
        batch = table.combine_chunks().to_batches()[0]
        assert Counts.from_arrow(batch, pretokenizer=None) == counts


@pytest.mark.parametrize("many", [2**33 + 1, 2**53 + 1, 2**57 + 1])
@pytest.mark.parametrize("how", ["arrow", "parquet", "pickle"])
def test_counts_beyond_32_and_53_bits(many: int, how: str, tmp_path: Path) -> None:
    """They stay exact through a file, and learn the merges of the same counts divided by them."""
    small = Counts({"low": 5, "lower": 2, "new": 6, "newer": 3, "wider": 4}, pretokenizer=None)
    large = small.scale(many)
    assert dict(large.items()) == {piece: count * many for piece, count in small.items()}
    if how == "pickle":
        back = pickle.loads(pickle.dumps(large))
    else:
        large.save(tmp_path / f"counts.{how}")
        back = Counts.load(tmp_path / f"counts.{how}")
    assert back == large
    one, other = (digram.train(counts, max_merges=9) for counts in (small, back))
    assert one.merges == other.merges
    assert [many * (m.count or 0) for m in one.merge_log] == [m.count for m in other.merge_log]
