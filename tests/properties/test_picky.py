"""PickyBPE obeys the reference, in training and in encoding, and its tokenizers keep their laws."""

from __future__ import annotations

import inspect
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    Happened,
    Ties,
    any_bytes,
    cases,
    happened,
    limits,
    long_texts,
    over,
    picky_tokenizers,
    prose,
    sized,
    small_corpora,
    texts,
    ties,
)

import digram
from digram import reference
from digram.reference import picky
from digram.tokenizer.summary import facts
from digram.vocab.schemes import Picky

thresholds = st.sampled_from([0.05, 0.3, 0.5, 0.6, 0.75, 0.9, 1.0])


def spelled(picked: picky.Picked) -> list[digram.Event]:
    """The events of the reference by the bytes of tokens."""
    name = picked.tokens.__getitem__
    return [
        digram.Event(kind, name(token), tuple(map(name, parts)), times)  # type: ignore[arg-type]
        for kind, token, parts, times in picked.events
    ]


def check(tok: digram.Tokenizer, picked: picky.Picked) -> None:
    """The tokenizer holds what the reference found, and encodes its words as training left them."""
    assert tok.events == spelled(picked)
    assert tok.training is not None
    assert tok.training.stop_reason == picked.stop_reason
    assert tok.tokens(range(tok.vocab_size)) == [picked.tokens[n] for n in picked.live]
    alone = tok._uncut()
    token_to_id = {number: id for id, number in enumerate(picked.live)}
    for word, _ in picked.words:
        text = b"".join(picked.tokens[n] for n in word)
        assert alone.encode(text) == [token_to_id[n] for n in word]


@cases(700)
@given(small_corpora, ties, limits, thresholds, st.booleans())
def test_bytes_without_a_pretokenizer(
    corpus: list[str], ties: Ties, limits: dict[str, int], threshold: float, whole: bool
) -> None:
    options: dict[str, Any] = sized(limits, reference.BYTES) | {"whole_characters": whole}
    words = reference.words([text.encode() for text in corpus], reference.BYTES)
    picked = picky.train(words, reference.BYTES, threshold=threshold, ties=ties, **options)
    check(digram.train(corpus, pretokenizer=None, ties=ties, picky=threshold, **options), picked)


@cases(250)
@given(prose, ties, limits, thresholds, st.sampled_from(["value", "gpt2"]))
def test_bytes_with_a_pretokenizer(
    corpus: list[str], ties: Ties, limits: dict[str, int], threshold: float, order: Any
) -> None:
    base = reference.BYTES if order == "value" else reference.GPT2_BYTES
    options = sized(limits, base)
    pretokens = [part for text in corpus for part in digram.pretokenize(text, "gpt2")]
    words = reference.words([text.encode() for text in pretokens], base)
    picked = picky.train(words, base, threshold=threshold, ties=ties, **options)
    tok = digram.train(
        corpus, pretokenizer="gpt2", ties=ties, picky=threshold, byte_order=order, **options
    )
    check(tok, picked)


@cases(300)
@given(small_corpora, ties, limits, thresholds, st.booleans())
def test_characters(
    corpus: list[str], ties: Ties, limits: dict[str, int], threshold: float, turned: bool
) -> None:
    base = reference.characters(corpus)[:: -1 if turned else 1]
    options: dict[str, Any] = sized(limits, base)
    if turned:
        options["alphabet"] = [token.decode() for token in base]
    picked = picky.train(
        reference.words(corpus, base), base, threshold=threshold, ties=ties, **sized(limits, base)
    )
    tok = digram.train(
        corpus, pretokenizer=None, ties=ties, picky=threshold, unit="char", **options
    )
    check(tok, picked)


@cases(200)
@given(small_corpora, texts, limits, thresholds, st.sampled_from(["bytes", "special"]))
def test_characters_that_have_no_token(
    corpus: list[str], text: str, limits: dict[str, int], threshold: float, unknown: str
) -> None:
    """They join with nothing, and stand between runs that the events work on."""
    on_unknown: Any = "bytes" if unknown == "bytes" else digram.SpecialToken("<unk>")
    base = reference.characters(corpus)
    first = 256 if unknown == "bytes" else 0
    size: dict[str, Any] = {}
    if "room" in limits:
        size["vocab_size"] = first + len(base) + limits["room"]
    if size and unknown == "special":
        size["vocab_size"] += 1
    rest: dict[str, Any] = {name: n for name, n in limits.items() if name != "room"}
    tok = digram.train(
        corpus,
        pretokenizer=None,
        picky=threshold,
        unit="char",
        on_unknown=on_unknown,
        **size,
        **rest,
    )
    picked = picky.train(
        reference.words(corpus, base), base, threshold=threshold, **sized(limits, base)
    )
    assert tok.events == spelled(picked)
    token_to_id = {number: first + id for id, number in enumerate(picked.live)}
    number = {token: n for n, token in enumerate(base)}
    expected: list[int] = []
    run: list[int] = []
    for character in [*text, ""]:
        if character and character.encode() in number:
            run.append(number[character.encode()])
            continue
        expected += [token_to_id[n] for n in picky.encode(run, picked.events)]
        run = []
        if character:
            expected += character.encode() if first else [tok.special_tokens["<unk>"]]
    assert tok.encode(text) == expected


@cases(900)
@given(happened(), over("abcé€", 24) | long_texts | any_bytes)
def test_any_events_over_bytes(found: Happened, text: str | bytes) -> None:
    tok = digram.Tokenizer(found.definition)
    data = text.encode() if isinstance(text, str) else text
    expected = picky.encode(data, found.events)
    tokens = list(reference.BYTES)
    for event in found.events:
        if event.kind == "merge" and event.token == len(tokens):
            tokens.append(tokens[event.parts[0]] + tokens[event.parts[1]])
    assert tok.tokens(tok.encode(text)) == [tokens[n] for n in expected]


@cases(200)
@given(picky_tokenizers, texts)
def test_saved_pickled_and_built_again_it_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, tok: digram.Tokenizer, text: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "picky.json"
    tok.save(path)
    for again in (digram.load(path), pickle.loads(pickle.dumps(tok))):
        assert again == tok
        assert again.digest == tok.digest
        assert again.events == tok.events
        assert again.encode(text) == tok.encode(text)
    more = tok.with_special_tokens(["<|end|>"])
    assert more.events == tok.events
    assert more.encode(text) == tok.encode(text)
    assert (more == tok) is False


@cases(100)
@given(prose, st.sampled_from(["ids", "lexicographic"]), limits, thresholds, st.randoms())
def test_order_and_threads_do_not_matter(
    corpus: list[str], ties: Any, limits: dict[str, int], threshold: float, random: random.Random
) -> None:
    options: dict[str, Any] = sized(limits, reference.BYTES) | {"ties": ties, "picky": threshold}
    one = digram.train(corpus, pretokenizer="gpt2", threads=1, **options)
    shuffled = random.sample(corpus, len(corpus))
    other = digram.train(shuffled, pretokenizer="gpt2", threads=3, **options)
    assert one.events == other.events
    assert one.digest == other.digest


@cases(150)
@given(prose, ties, limits)
def test_where_nothing_is_dropped_it_is_what_training_learns(
    corpus: list[str], ties: Ties, limits: dict[str, int]
) -> None:
    options = sized(limits, reference.BYTES)
    plain = digram.train(corpus, pretokenizer="gpt2", ties=ties, **options)
    picky = digram.train(corpus, pretokenizer="gpt2", ties=ties, picky=1.0, **options)
    if all(event.kind == "merge" for event in picky.events):
        assert [event.parts for event in picky.events] == plain.merges
        assert [event.count for event in picky.events] == [one.count for one in plain.merge_log]
        assert all(picky.encode(text) == plain.encode(text) for text in corpus)


def test_a_token_that_was_a_step_only_makes_room_for_another() -> None:
    text = inspect.getsource(reference)
    plain = digram.train(text, vocab_size=400)
    picky = digram.train(text, vocab_size=400, picky=0.6)
    dropped = [event.token for event in picky.events if event.kind == "drop"]
    assert dropped
    assert len(plain) == len(picky) == 400
    assert {*dropped} - {*picky.tokens(range(400))}
    assert picky.decode(picky.encode(text)) == text


def test_a_dropped_token_may_come_back() -> None:
    """`he` goes with `the`, and comes back as what is frequent is all merged."""
    tok = digram.train("the the hut she he he he", pretokenizer="gpt2", picky=0.4, max_merges=3)
    kinds = [(event.kind, event.token) for event in tok.events]
    assert kinds.count(("merge", b"he")) == 2
    assert ("drop", b"he") in kinds


@pytest.mark.parametrize("name", ["memory_limit", "checkpoint", "runners_up", "on_merge"])
def test_what_does_not_go_with_it_is_refused(name: str, tmp_path: Path) -> None:
    value: Any = {"memory_limit": "1 GB", "checkpoint": tmp_path, "runners_up": 1}.get(name, print)
    options: dict[str, Any] = {name: value}
    with pytest.raises(digram.OptionError, match=f"picky= and {name}= cannot be combined"):
        digram.train("low", max_merges=1, picky=0.9, **options)


@pytest.mark.parametrize("wrong", [0, -0.5, 1.5, float("nan"), float("inf")])
def test_a_threshold_is_a_share(wrong: float) -> None:
    with pytest.raises(digram.OptionError, match=r"not above 0 and at most 1|not a finite"):
        digram.train("low", max_merges=1, picky=wrong)


@pytest.mark.parametrize("wrong", [True, "0.9", None.__class__])
def test_a_threshold_is_a_number(wrong: Any) -> None:
    with pytest.raises(TypeError, match="picky is a share"):
        digram.train("low", max_merges=1, picky=wrong)


@pytest.mark.parametrize(
    "events",
    [
        ((97, 256),),  # a part that is never made
        ((256,),),
        ((97,),),  # a base token
        ((97, 98), (256,), (256, 97)),  # a part that was dropped
        ((97, 98), (256,), (256,)),
    ],
)
def test_events_that_contradict_themselves(events: tuple[tuple[int, ...], ...]) -> None:
    definition = digram.Definition(
        tokens=[bytes([byte]) for byte in range(256)],
        model=digram.BpeModel([], scheme=Picky(events)),
        pretokenizer=digram.Pretokenizer(None),
    )
    with pytest.raises(digram.VocabError, match="at this time"):
        digram.Tokenizer(definition)


def test_a_token_that_is_left_must_be_in_the_vocabulary() -> None:
    definition = digram.Definition(
        tokens=[bytes([byte]) for byte in range(256)],
        model=digram.BpeModel([], scheme=Picky(((97, 98),))),
        pretokenizer=digram.Pretokenizer(None),
    )
    with pytest.raises(digram.VocabError, match='"ab" is left after all events'):
        digram.Tokenizer(definition)


@pytest.mark.parametrize("format", ["huggingface", "tiktoken", "vocab_merges", "seed_pair"])
def test_other_formats_cannot_carry_it(format: str, tmp_path: Path) -> None:
    tok = digram.train("low lower", max_merges=3, picky=0.5, pretokenizer=None)
    with pytest.raises(digram.VocabError, match="picky"):
        tok.save(tmp_path / "out", format=format, allow_loss=True)


GO_BY_RANK: dict[str, Any] = {
    "explain": lambda tok: digram.explain(tok, "low"),
    "replay": lambda tok: digram.replay(tok, "low"),
    "merge_tree": lambda tok: digram.merge_tree(tok, "low"),
    "extend": lambda tok: digram.extend(tok, "slow", add=1),
    "prune": lambda tok: digram.prune(tok, "slow", remove=1),
    "replace_tokens": lambda tok: digram.replace_tokens(tok, "slow", 1),
    "union": lambda tok: digram.union(tok, tok),
    "shrink": lambda tok: digram.shrink(tok, 257),
    "curve": lambda tok: digram.curve(tok, "low"),
    "dropout": lambda tok: tok.encode("low", dropout=0.1, seed=1),
}


@pytest.fixture
def low() -> digram.Tokenizer:
    return digram.train("low low lower lowest", max_merges=4, picky=0.6, pretokenizer="gpt2")


@pytest.mark.parametrize("name", GO_BY_RANK)
def test_what_goes_by_rank_is_refused(low: digram.Tokenizer, name: str) -> None:
    with pytest.raises((digram.OptionError, digram.VocabError), match="by rank"):
        GO_BY_RANK[name](low)
    if name == "union":
        with pytest.raises(digram.OptionError, match="by rank"):
            digram.union(digram.train("low", max_merges=1), low)


def test_what_is_seen_and_measured(low: digram.Tokenizer) -> None:
    """Tokens that events made are not base tokens."""
    learned = len(low) - 256
    assert digram.report(low, "low lower").contents.learned == learned
    assert facts(low)["base"] == 256
    assert facts(low)["events"] == {"merge": 4, "drop": sum(e.kind == "drop" for e in low.events)}
    assert digram.audit(low, "low lower").by_kind["unreachable"].count == 0
    assert digram.evaluate(low, "low lower").total.tokens == low.count("low lower")
    assert f"<td>{len(low.events)}" in low._repr_html_() or "events" in low._repr_html_()


def test_one_id_space_carries_it(low: digram.Tokenizer) -> None:
    space = digram.IdSpace({"image": 8, "text": low})
    assert space.encode([("text", "lower")]).tolist() == [id + 8 for id in low.encode("lower")]


def test_it_is_learned_in_any_unit_of_work() -> None:
    """From counts as from text, and with several corpora."""
    text = "low low lower lowest slow"
    tok = digram.train(text, max_merges=6, picky=0.5, pretokenizer="gpt2")
    counts = digram.count_pretokens(text, pretokenizer="gpt2")
    assert digram.train(counts, max_merges=6, picky=0.5) == tok
    named = {"one": text, "two": text}
    assert digram.train(named, max_merges=6, picky=0.5, pretokenizer="gpt2") == tok


def test_a_long_pretoken_takes_near_linear_time() -> None:
    """A million letters under tokens that come and go, by the steps of each."""
    tok = digram.train(["ab" * 500] * 3, max_merges=40, picky=0.3, pretokenizer=None)
    assert any(event.kind == "drop" for event in tok.events)
    text = "ab" * 500_000
    assert tok.decode(tok.encode(text)) == text


def test_a_damaged_file_is_told(tmp_path: Path, low: digram.Tokenizer) -> None:
    path = tmp_path / "tok.json"
    low.save(path)
    good = json.loads(path.read_text())["model"]["digram"]["scheme"]["events"]
    wrong: list[tuple[Any, str]] = [
        (good[:-1], "for each of 6 events"),
        ([*good, []], "is not a picky: an event is one number or two"),
        ([*good, [1, 2, 3]], "is not a picky: an event is one number or two"),
        ([*good, ["a"]], "is not a picky: numbers of tokens"),
        ([*good, [-1]], "is not a picky: numbers of tokens"),
        ([*good, [True]], "is not a picky: numbers of tokens"),
        (None, "is not a picky"),
        ([*good[:-1], [9_999]], "does not fit its digest"),
    ]
    for events, error in wrong:
        bad = json.loads(path.read_text())
        bad["model"]["digram"]["scheme"]["events"] = events
        (tmp_path / "bad.json").write_text(json.dumps(bad))
        with pytest.raises(digram.DigramError, match=error):
            digram.load(tmp_path / "bad.json")


def test_a_file_cannot_ask_for_all_memory(tmp_path: Path) -> None:
    """A token may double at each merge, and each of them be dropped into all its parts."""
    path = tmp_path / "tok.json"
    digram.train("the hut, the the she", max_merges=3, picky=0.7).save(path)
    said = json.loads(path.read_text())
    own = said["model"]["digram"]
    own["scheme"]["events"] = [[97, 97], *([255 + n, 255 + n] for n in range(1, 40))]
    own["training"] = None
    del own["digest"], own["seal"]
    path.write_text(json.dumps(said))
    with pytest.raises(digram.VocabError, match=r"makes a token of .* bytes; the limits are"):
        digram.load(path)
