"""Rules as a value, in vocabularies, in files, and checked."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import digram
from digram import Rules
from digram.errors import CorruptFileError, OptionError, PatternError, VocabError
from digram.pretokenizers import units
from digram.pretokenizers.rules import SEPARATORS

NOTES = ["iron 5 mg, then iron 10mg", "insulin glargine 12.5 mg/dL on the other hand"] * 5
RULES = Rules(["iron", "insulin glargine"], units=["mg", "mg/dL"], numbers="individual")


@pytest.fixture(scope="module")
def tok() -> digram.Tokenizer:
    return digram.train(NOTES, max_merges=12, rules=RULES, special_tokens=["<|end|>"])


def test_tokens_of_rules_come_after_the_bytes(tok: digram.Tokenizer) -> None:
    of_rules = RULES.tokens()
    assert tok.tokens(range(256, 256 + len(of_rules))) == of_rules
    assert of_rules == [
        *(b"iron", b" iron", b"insulin glargine", b" insulin glargine"),
        *(b"mg", b" mg", b"mg/dL", b" mg/dL"),
    ]
    assert tok.rules == RULES
    assert digram.audit(tok).by_kind["unreachable"].count == 0


def test_a_unit_without_a_number_is_one_token() -> None:
    rules = Rules(units=["mg", "g"])
    ruled = digram.train(["x y"], max_merges=1, rules=rules)
    assert ruled.tokens(ruled.encode("mg: mg"))[::2] == [b"mg", b" mg"]
    assert digram.check_rules(ruled, "take mg now: 5 mg").by_kind["units"].places == 2
    assert digram.check_rules(ruled, "take mg now: 5 mg").violated == 0
    plain = digram.train(["x y"], max_merges=1)
    found = digram.check_rules(plain, "take mg now", rules).by_kind["units"]
    assert (found.places, found.violated) == (1, 1)


def test_special_tokens_may_come_first() -> None:
    first = digram.train(
        NOTES, max_merges=5, rules=RULES, special_tokens=["<|end|>"], special_first=True
    )
    last = digram.train(NOTES, max_merges=5, rules=RULES)
    assert [id - 1 for id in first.encode(NOTES[0])] == last.encode(NOTES[0])
    assert first.merges == last.merges


def test_vocab_size_counts_the_tokens_of_rules() -> None:
    assert digram.train(NOTES, vocab_size=272, rules=RULES).vocab_size == 272
    with pytest.raises(OptionError, match="the base has 264 tokens"):
        digram.train(NOTES, vocab_size=260, rules=RULES)


def test_rules_of_a_pretokenizer_are_rules() -> None:
    cut = digram.Pretokenizer("o200k", rules=RULES)
    assert digram.train(NOTES, max_merges=5, pretokenizer=cut) == digram.train(
        NOTES, max_merges=5, rules=RULES
    )


def test_counts_are_made_and_kept_with_rules(tmp_path: Path) -> None:
    cut = digram.Pretokenizer("o200k", rules=RULES)
    counts = digram.count_pretokens(NOTES, pretokenizer=cut)
    counts.save(tmp_path / "counts.arrow")
    read = digram.Counts.load(tmp_path / "counts.arrow")
    assert read.pretokenizer == cut
    trained = digram.train(NOTES, max_merges=5, rules=RULES)
    for one in (counts, read):
        assert digram.train(one, max_merges=5) == trained
        assert digram.train(one, max_merges=5, rules=RULES) == trained
    with pytest.raises(digram.ConfigMismatchError, match="pretokenizer"):
        digram.train(counts, max_merges=5, rules=Rules(["iron"]))
    limited = digram.count_pretokens(NOTES, pretokenizer=cut, memory_limit="100 MB")
    assert digram.train(limited, max_merges=5) == trained


def test_memory_and_checkpoints_change_nothing(tmp_path: Path) -> None:
    rules = Rules(["iron"], units=["mg"], forbid=["th", ("e", "n")], prefer=["in"])
    trained = digram.train(NOTES, max_merges=9, rules=rules)
    again = digram.train(
        NOTES, max_merges=9, rules=rules, memory_limit="24 MiB", checkpoint=tmp_path / "run"
    )
    assert again == trained
    with pytest.raises(digram.CheckpointError, match="rules"):
        digram.train(NOTES, max_merges=9, rules=Rules(["iron"]), checkpoint=tmp_path / "run")


def test_workers_count_by_rules() -> None:
    with ThreadPoolExecutor(2) as pool:
        shards = [NOTES[:5], NOTES[5:]]
        tok = digram.distributed.executor.train(pool, shards, max_merges=9, rules=RULES)
    assert tok == digram.train(NOTES, max_merges=9, rules=RULES)


def test_saved_pickled_and_loaded(tok: digram.Tokenizer, tmp_path: Path) -> None:
    assert pickle.loads(pickle.dumps(tok)) == tok
    tok.save(tmp_path / "tokenizer.json")
    read = digram.load(tmp_path / "tokenizer.json")
    assert (read, read.rules, read.digest) == (tok, RULES, tok.digest)
    assert read.encode("iron 5-mg") == tok.encode("iron 5-mg")
    plain = digram.Tokenizer(tok.with_rules(None).definition)
    assert plain.digest != tok.digest
    for format in ("tiktoken", "vocab_merges", "seed_pair"):
        with pytest.raises(VocabError, match="cannot store rules"):
            tok.save(tmp_path / "other", format=format)


def test_files_that_were_changed_are_refused(tok: digram.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    tok.save(path)
    good = json.loads(path.read_text(encoding="utf-8"))

    def refused(change: Any, match: str) -> None:
        data = json.loads(json.dumps(good))
        change(data["model"]["digram"]["pretokenizer"], data["pre_tokenizer"]["pretokenizers"])
        path.write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(CorruptFileError, match=match):
            digram.load(path)

    refused(lambda own, _: own.update(rules={"protect": ["steel"]}), "do not match the rules")
    refused(lambda own, _: own.update(rules={"protected": []}), "is not a kind of rule")
    refused(lambda own, _: own.update(rules={"protect": [1]}), "is a text")
    refused(lambda own, _: own.update(rules=[]), "rules")
    refused(lambda _, splits: splits.pop(0), "do not match the rules")


def test_what_regexes_cannot_say_is_for_digram_alone(tmp_path: Path) -> None:
    for pretokenizer, rules in (
        ("deepseek-v3", Rules(["iron ore"])),
        ("gpt2", Rules(patterns=[r"a+(?!\S)"])),
        ("gpt2", Rules(patterns=[r"ISO|ISOs-\d+"])),
        ("gpt2", Rules(patterns=[r"a(?:b|bc-\d+)"])),
        ("gpt2", Rules(patterns=[r"a[a-z]*?(?:-\d+)??"])),
        ("gpt2", Rules(patterns=[r"(?:a)?(?:ab)?-"])),
        ("gpt2", Rules(["--"], patterns=[r"x-\d+(?:--[A-Z]+)?"])),
        ("gpt2", Rules(patterns=[r"x-\d+(?:--[A-Z]+)?", "--"])),
        ("gpt2", Rules(patterns=[r"x-(?:\d+y)?"], numbers="individual")),
        ("o200k", Rules(patterns=[r"\d{3}"], numbers="threes_from_left")),
    ):
        tok = digram.train(NOTES, max_merges=3, pretokenizer=pretokenizer, rules=rules)
        path = tmp_path / "tokenizer.json"
        with pytest.raises(PatternError, match=r'cannot store.*format="digram"'):
            tok.save(path)
        tok.save(path, format="digram")
        assert digram.load(path) == tok


def test_terms_that_begin_alike_are_saved(tmp_path: Path) -> None:
    """However many, one inside the other: what they become in a file is nested as deep."""
    rules = Rules(["a" * size for size in range(1, 1_100)])
    tok = digram.train("aaa a", max_merges=1, pretokenizer="gpt2", rules=rules)
    tok.save(tmp_path / "tokenizer.json")
    assert digram.load(tmp_path / "tokenizer.json") == tok


def test_a_published_vocabulary_gets_rules(tok: digram.Tokenizer) -> None:
    plain = digram.train(NOTES, max_merges=12, special_tokens=["<|end|>"])
    ruled = plain.with_rules(RULES)
    change = digram.Change.of(plain, ruled)
    assert ruled.tokens(range(268)) == plain.tokens(range(268))
    assert set(ruled.tokens(change.added)) <= set(RULES.tokens())
    assert ruled.special_tokens == plain.special_tokens
    assert digram.check_rules(ruled, NOTES).violated == 0
    back = ruled.with_rules(None)
    assert (back.rules, back.pretokenizer) == (None, plain.pretokenizer)
    padded = digram.train(NOTES, max_merges=12, pad_to_multiple=64)
    assert padded.with_rules(RULES).vocab_size % 64 == 0


def test_changes_keep_the_tokens_of_rules(tok: digram.Tokenizer) -> None:
    more, _ = digram.extend(tok, ["then iron 5 mg and then"], add=3)
    assert more.rules == RULES
    assert more.vocab_size == tok.vocab_size + 3
    pruned, _ = digram.prune(tok, "nothing of it", remove=4)
    small = digram.shrink(tok, tok.vocab_size - 5)
    assert small == digram.train(NOTES, max_merges=7, rules=RULES, special_tokens=["<|end|>"])
    for one in (more, pruned, small, digram.shrink(tok.with_rules(RULES), tok.vocab_size - 3)):
        assert all(one.token_to_id(token) is not None for token in RULES.tokens())
        assert digram.check_rules(one, NOTES).violated == 0
    with pytest.raises(OptionError, match="cannot be removed"):
        digram.prune(tok, "nothing of it", remove=15)


def test_prune_keeps_what_is_preferred() -> None:
    rules = Rules(prefer=["zq", ("zq", "x")])
    tok = digram.train(NOTES, max_merges=9, rules=rules)
    pruned, _ = digram.prune(tok, "iron then", remove=9)
    assert pruned.token_to_id(b"zqx") is not None
    with pytest.raises(OptionError, match="cannot be removed"):
        digram.prune(tok, "iron then", remove=10)


def test_extend_obeys_what_is_forbidden() -> None:
    plain = digram.train("ab", max_merges=0, pretokenizer="gpt2")
    ruled = plain.with_rules(Rules(forbid=["th"]))
    corpus = "the then them that this " * 3
    for one, expected in ((plain, True), (ruled, False)):
        made = [merge.token for merge in digram.extend(one, corpus, add=4)[0].merge_log]
        assert (b"th" in made) is expected
        assert len(made) == 4


def test_merge_obeys_what_is_forbidden() -> None:
    plain = digram.train("ab", max_merges=0, pretokenizer="gpt2")
    other = digram.train("the then them that this " * 3, max_merges=6, pretokenizer="gpt2")
    ruled = plain.with_rules(Rules(forbid=["th", " t"]))
    assert digram.union(plain, other)[0].token_to_id(b"th") or digram.union(plain, other)[
        0
    ].token_to_id(b" t")
    merged, _ = digram.union(ruled, other)
    assert (merged.token_to_id(b"th"), merged.token_to_id(b" t")) == (None, None)
    assert merged.vocab_size > ruled.vocab_size
    assert digram.check_rules(merged, "the then").violated == 0


def test_preferred_merges_come_first() -> None:
    rules = Rules(["iron"], prefer=["non", ("r", "e"), ("p", "re"), " the"])
    tok = digram.train(NOTES, vocab_size=275, rules=rules, runners_up=1)
    made = [one.token for one in tok.merge_log]
    assert made[:7] == [b"no", b"non", b"re", b"pre", b" t", b" th", b" the"]
    assert [one.count for one in tok.merge_log][:8].count(None) == 7
    assert tok.tokens(tok.encode("prenon")) == [b"pre", b"non"]
    assert tok.vocab_size == 275
    assert (
        digram.shrink(digram.train(NOTES, vocab_size=275, rules=rules), 270).merges
        == tok.merges[:12]
    )


@pytest.mark.parametrize(
    ("rules", "match"),
    [
        ({"prefer": [("p", "re")]}, "'re' is not a token yet"),
        ({"prefer": ["iron"], "protect": ["iron"], "forbid": ["ir"]}, None),
        ({"prefer": ["ore"], "forbid": ["or"]}, "'or' is forbidden"),
        ({"prefer": ["mgx"], "units": ["mg"]}, "'mg' is a token already"),
        ({"prefer": ["a b"]}, "is split into"),
    ],
)
def test_preferred_merges_that_cannot_be(rules: dict[str, Any], match: str | None) -> None:
    if match is None:
        assert b"ir" not in digram.train(NOTES, max_merges=3, rules=Rules(**rules)).tokens([256])
        return
    with pytest.raises(OptionError, match=match):
        digram.train(NOTES, max_merges=3, rules=Rules(**rules))


@pytest.mark.parametrize(
    ("prefer", "limits", "match"),
    [
        (["aé"], {"whole_characters": True}, "part of a character"),
        ([("a", "é")], {"whole_characters": True}, "'é' is not a token yet"),
        (["abc"], {"max_token_length": 2}, "'abc' is longer than max_token_length=2"),
        ([("a", " b")], {}, "is split into"),
    ],
)
def test_preferred_merges_keep_the_limits(
    prefer: list[Any], limits: dict[str, Any], match: str
) -> None:
    with pytest.raises(OptionError, match=match):
        digram.train(NOTES, max_merges=3, rules=Rules(prefer=prefer), **limits)
    good = Rules(prefer=["é", "aé"])
    tok = digram.train(NOTES, max_merges=3, rules=good, whole_characters=True, max_token_length=3)
    assert [merge.token for merge in tok.merge_log[:2]] == ["é".encode(), "aé".encode()]
    assert len(tok.merge_log) == 5


def test_a_list_of_terms_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "terms.txt"
    path.write_text("\ufeffiron\n\n  vitamin D \niron\n", encoding="utf-8")
    assert Rules(path).protect == ("iron", "vitamin D")
    path.write_bytes(b"iron\nna\xefve")
    with pytest.raises(CorruptFileError, match=r"terms\.txt.*not UTF-8, at byte 7"):
        Rules(path)
    with pytest.raises(FileNotFoundError):
        Rules(tmp_path / "missing")


def test_rules_are_a_value(tmp_path: Path) -> None:
    rules = Rules(
        ["iron"], case="forms", abbreviations=["p.o."], patterns=[digram.Regex(r"[A-Z]\d+")],
        numbers="whole", units=True, prefer=["in", ("a", "b")],
        forbid=["x", ("a", "c"), digram.Regex("[0-9]{2,}")],
    )  # fmt: skip
    assert Rules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert (
        hash(Rules.from_dict(rules.to_dict()))
        == hash(rules)
        == hash(pickle.loads(pickle.dumps(rules)))
    )
    rules.save(tmp_path / "rules.json")
    assert Rules.load(tmp_path / "rules.json") == rules
    assert "288 in all" in repr(rules) or len(rules.units) != 288
    assert eval(repr(RULES), {"Rules": Rules}) == RULES
    for text, error in (
        ("{", CorruptFileError),
        ('{"x": []}', OptionError),
        ("[]", CorruptFileError),
    ):
        (tmp_path / "bad.json").write_text(text, encoding="utf-8")
        with pytest.raises(error, match=r"bad\.json"):
            Rules.load(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"protect": "iron"}, TypeError, "protect is a list"),
        ({"protect": [""]}, OptionError, r"protect\[0\] is empty"),
        ({"protect": ["a", " b"]}, OptionError, r"protect\[1\] = ' b' begins or ends with white"),
        ({"protect": ["\ud800"]}, OptionError, "lone surrogate"),
        ({"protect": [1]}, TypeError, r"protect\[0\] is a text"),
        ({"case": "any"}, OptionError, "case='any' is not known"),
        ({"numbers": "threes"}, OptionError, "numbers='threes' is not known"),
        ({"units": "mg"}, TypeError, "units is a list"),
        ({"patterns": ["("]}, PatternError, "unclosed group"),
        ({"patterns": [r"\bab"]}, PatternError, "cannot look behind"),
        ({"patterns": ["a*"]}, PatternError, "match nothing"),
        ({"forbid": [digram.Regex("(")]}, PatternError, "unclosed group"),
        ({"forbid": [("a", "b", "c")]}, OptionError, "not a pair"),
        ({"protect": ["iron"], "forbid": [" iron"]}, OptionError, "' iron' is forbidden, but"),
        ({"prefer": [digram.Regex("a")]}, TypeError, r"prefer\[0\] is a text"),
    ],
)  # fmt: skip
def test_what_makes_no_sense(options: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        Rules(**options)


def test_rules_where_they_do_not_fit(tok: digram.Tokenizer) -> None:
    with pytest.raises(OptionError, match='need unit="byte"'):
        digram.train(NOTES, max_merges=1, unit="char", rules=RULES)
    with pytest.raises(OptionError, match="not support rules"):
        digram.train(NOTES, max_merges=1, superwords="two-stage", rules=RULES)
    with pytest.raises(OptionError, match="picky= and rules= cannot be combined"):
        digram.train(NOTES, max_merges=1, picky=0.9, rules=RULES)
    with pytest.raises(OptionError, match="contradict"):
        digram.Pretokenizer("gpt2", digits="threes_from_left", rules=RULES)
    with pytest.raises(TypeError, match=r"rules are digram\.Rules"):
        digram.Pretokenizer("gpt2", rules={"protect": []})  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="has no rules"):
        digram.check_rules(digram.train(NOTES, max_merges=1), NOTES)
    with pytest.raises(TypeError, match=r"rules is a digram\.Rules, not dict"):
        tok.with_rules({})  # type: ignore[arg-type]


def test_units_are_as_people_write_them() -> None:
    assert {"mg", "mcg", "µg", "μg", "mL", "IU", "mmol/L", "mmHg", "bpm", "%", "°C"} <= units.TABLE
    assert all(unit == unit.strip() and unit for unit in units.TABLE)
    assert Rules(units=units.TABLE | {"cfu/mL"}).units.count("cfu/mL") == 1
    assert Rules(units=False) == Rules(units=None) == Rules()
    assert set(SEPARATORS) >= {" ", "-", "\u00a0"}


def test_a_check_says_what_is_violated_and_where() -> None:
    general = digram.train(NOTES, max_merges=40, pretokenizer="whitespace")
    rules = Rules(
        ["iron"], abbreviations=["p.o."], units=["mg"], numbers="individual",
        patterns=[r"[A-Z]\d\d"], forbid=["mg,"],
    )  # fmt: skip
    texts = ["", "then iron 5 mg, p.o.", "E11 iron 10mg"]
    found = digram.check_rules(general, texts, rules)
    assert (found.documents, found.bytes) == (3, sum(map(len, texts)))
    assert found.tokens == found.without_rules == sum(map(len, general.encode_batch(texts)))
    assert found.with_rules == sum(map(len, general.with_rules(rules).encode_batch(texts)))
    places = {kind: (one.places, one.violated) for kind, one in found.by_kind.items()}
    assert places["terms"] == (2, 0)
    assert places["abbreviations"] == (1, 1)
    assert places["units"] == (2, 2)
    assert places["patterns"] == (1, 0)
    assert found.by_kind["patterns"].several == 1
    example = found.by_kind["units"].examples[0]
    assert (example.text, example.document, example.times) == ("mg", 1, 1)
    assert example.start == texts[1].index("mg")
    assert found.violated == sum(one.violated for one in found.by_kind.values())
    assert found.to_dict()["by_kind"]["units"]["violated"] == 2
    assert "units" in str(found)
    assert str(found).splitlines()[0] in found._repr_html_()


@pytest.mark.parametrize("way", [{"picky": 0.9}, {"superwords": "boundless"}])
def test_a_check_where_merges_are_not_by_rank_alone(way: dict[str, Any]) -> None:
    other = digram.train(NOTES, max_merges=20, **way)
    found = digram.check_rules(other, NOTES, RULES)
    assert found.by_kind["units"].violated > 0
    assert (found.with_rules, found.without_rules, found.cost) == (None, None, None)
    assert found.to_dict()["cost"] is None
    assert "with these rules" not in str(found)
    assert "units" in found._repr_html_()


def test_a_check_of_nothing() -> None:
    found = digram.check_rules(digram.train("a", max_merges=0, rules=RULES), [])
    assert (found.violated, found.cost, found.tokens) == (0, 0.0, 0)


@pytest.mark.parametrize(
    ("numbers", "violated"),
    [("individual", 1), ("threes_from_left", 0), ("threes_from_right", 1), ("whole", 0)],
)
def test_numbers_are_held_to_their_policy(numbers: Any, violated: int) -> None:
    """o200k cuts threes from the left; whole numbers may be several tokens."""
    tok = digram.train("1234 " * 9, max_merges=40, pretokenizer="o200k")
    assert tok.tokens(tok.encode("1234")) == [b"123", b"4"]
    found = digram.check_rules(tok, "is 1234", Rules(numbers=numbers)).by_kind["numbers"]
    assert (found.places, found.violated) == (1, violated)


def test_explanations_name_rules(tok: digram.Tokenizer) -> None:
    told = str(digram.explain(tok, "then iron 5mg"))
    assert "[·iron]  bytes 4 to 8, cut out by rules" in told
    assert "[mg]  bytes 11 to 12, cut out by rules" in told
    assert "[5]  byte 10, cut out by digits='individual'" in told


def test_text_before_may_make_a_term_of_what_was_there() -> None:
    tok = digram.train(["x y"], max_merges=1, rules=digram.Rules(["insulin glargine"]))
    counter = tok.counter()
    for letter in reversed("on insulin glargine"):
        counter.prepend(letter)
    assert counter.count == tok.count("on insulin glargine") == 3
    assert tok.truncate("on insulin glargine now", 5, side="left") == " insulin glargine now"
    assert tok.truncate("preinsulin glargine", 17, side="left") == "einsulin glargine"
    tok = digram.train(["x"], max_merges=1, rules=digram.Rules(units=["mg", "mg/dL"]))
    counter = tok.counter("/dL")
    counter.prepend("mg")
    assert counter.count == tok.count("mg/dL") == 1


DOSES = ["5ml", "5 ml", "5  mL", "5\u00a0\u202fml", "5 \u00b5g", "5 \u03bcg", "2 l"]
SPELLED = Rules(["iron"], units=["mL", "\u00b5g", "L"], normalize="units")


def test_a_unit_is_one_token_in_all_its_spellings(tmp_path: Path) -> None:
    tok = digram.train(NOTES, max_merges=12, rules=SPELLED)
    last = [tok.tokens(tok.encode(dose))[-1].decode() for dose in DOSES]
    assert last == ["mL"] * 4 + ["\u03bcg"] * 2 + ["L"]
    assert [tok.count(dose) for dose in DOSES[1:4]] == [3, 3, 3]
    assert tok.decode(tok.encode("html, 5  ml, ml")) == "html, 5 mL, mL"
    assert tok("5  ml").offsets == [(0, 1), (1, 2), (3, 5)]
    assert digram.check_rules(tok, DOSES).violated == 0
    text = str(digram.explain(tok, "5  ml"))
    assert "[mL]  bytes 2 to 3, cut out by rules" in text
    path = tmp_path / "tokenizer.json"
    tok.save(path, format="digram")
    assert digram.load(path) == tok
    assert pickle.loads(pickle.dumps(tok)) == tok
    assert tok != digram.train(NOTES, max_merges=12, rules=Rules(["iron"], units=SPELLED.units))


def test_training_counts_units_in_one_spelling() -> None:
    rules = Rules(units=["mL"], normalize="units")
    several = digram.train(["5 ml, 5  mL"] * 9, max_merges=9, rules=rules)
    one = digram.train(["5 mL, 5 mL"] * 9, max_merges=9, rules=rules)
    assert several.merges == one.merges


def test_a_protected_term_keeps_its_spelling() -> None:
    rules = Rules(["ml", "\u00b5g-assay"], units=["mL", "\u00b5g"], normalize="units")
    tok = digram.train(NOTES, max_merges=2, rules=rules)
    for text in ("5 ml of \u00b5g-assay", "the ml"):
        assert tok.decode(tok.encode(text)) == text


@pytest.mark.parametrize(
    "format", ["huggingface", "tiktoken", "gguf", "sentencepiece", "vocab_merges"]
)
def test_files_that_cannot_spell_units_are_refused(format: Any, tmp_path: Path) -> None:
    tok = digram.train(NOTES, max_merges=2, rules=SPELLED)
    with pytest.raises((OptionError, VocabError), match="cannot store"):
        tok.save(tmp_path / "tokenizer", format=format)


def test_other_spellings_violate_rules_for_units() -> None:
    tok = digram.train(NOTES, max_merges=12, rules=Rules(units=["ml", "mL"]))
    found = digram.check_rules(tok, "5 ml, 5 mL", Rules(units=["mL"], normalize="units"))
    places = found.by_kind["units"]
    assert (places.places, places.violated) == (2, 1)
    assert places.examples[0].text == "ml"


def test_spellings_are_refused_where_they_cannot_be_used() -> None:
    with pytest.raises(OptionError, match="no effect without units"):
        Rules(normalize="units")
    with pytest.raises(OptionError, match="7 places"):
        Rules(units=["\u00b5" * 7], normalize="units")
