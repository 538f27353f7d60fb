"""Patterns that cross over to Hugging Face's engine are read alike there; others are refused."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest
from tokenizers import Regex as TheirRegex
from tokenizers.pre_tokenizers import Split

from digram import DigramError, PatternError, Pretokenizer, Regex, pretokenize
from digram.formats import _portable
from digram.formats._portable import check_portable, from_oniguruma, takes_nothing
from digram.formats._properties import POSIX, PROPERTIES
from digram.formats._stages import to_stages
from digram.pretokenizers.pretokenizer import NAMED

# All planes with characters, and the borders of the others.
PLANES = [range(0xD800), range(0xE000, 0x323C0), range(0xE0000, 0xE0200)]
BORDERS = [range(plane << 16, (plane << 16) + 3) for plane in range(4, 17) if plane != 14]
EVERY = "".join(chr(code) for codes in (*PLANES, *BORDERS) for code in codes)
CATEGORIES = [name for name in sorted(PROPERTIES) if len(name) == 2]
CLASSES = [name for name in sorted(PROPERTIES) if len(name) == 1]
OTHERS = [name for name in sorted(PROPERTIES) if len(name) > 2]


@lru_cache(maxsize=1)
def compiled(pattern: str) -> Split:
    return Split(TheirRegex(pattern), "isolated")


def theirs(pattern: str, text: str) -> list[str]:
    return [piece for piece, _ in compiled(pattern).pre_tokenize_str(text)]


def theirs_in_time(pattern: str, text: str) -> list[str] | None:
    """The same; None where the engine gives up, since it would take too long."""
    try:
        return theirs(pattern, text)
    except BaseException as error:  # PanicException has no module to import it from
        if "retry-limit-in-match over" not in str(error):
            raise
        return None


@pytest.mark.parametrize("names", [CATEGORIES, CLASSES], ids=lambda names: names[0])
def test_properties_hold_the_same_characters(names: list[str]) -> None:
    for pattern in ("|".join(rf"\p{{{name}}}+" for name in names), rf"\P{{{names[-1]}}}+"):
        check_portable(pattern)
        assert theirs(pattern, EVERY) == pretokenize(EVERY, Regex(pattern))


@pytest.mark.parametrize("first", range(0, len(OTHERS), 20))
def test_each_other_property_holds_the_same_characters(first: int) -> None:
    for name in OTHERS[first : first + 20]:
        pattern = rf"\p{{{name}}}+"
        check_portable(pattern)
        assert theirs(pattern, EVERY) == pretokenize(EVERY, Regex(pattern)), name


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"\s+", r"\S+", r"\d+|\D+", r"\t|\n|\r|\f|\v", r"[^\s\p{L}\p{N}]+", r"[^\S\d]", "[^a]+"),
        *("(?i:[a-z])", "(?i:[a-z]+)", "(?i:s|k|i)", r"\P{L}+", r"[\P{Lu}a-z]+", "[a-é]", "[é中-]"),
        *(r"\u0061|\u3000", r"[\x{61}-\x{7A}\u4e00-\u9fff]", r"(?i:\x{6B})"),
        *(r"\p{L}++", r"[^\s\p{L}]?+\p{L}++|\s++", r"\p{N}*+\p{L}"),
        *(r"(?=\p{Lu})", r"(?<=\p{Ll})(?=\p{Lu})", r"(?<=[a-z]{2}|1)\S", r"\S(?=\S\s|.{2}1)"),
        *(r"(?<!\s\s|a)\p{L}+", r"(?!a|(?<=b)c)[a-z]+", r"(?<=(?:b|c)a)[^a]"),
        *(".", ".+", r".(?=\p{L})", r"\p{L}(?!\p{M})", r"[^a](?![^\n])"),
        *(r"(?>\p{L}+)|(?>\s+)|.", r"\p{letter}+", r"[a[^\p{Alpha}b]]", r"\a|[\a ]"),
        *(r"(?:\s+|\p{L}+)+", r"(?:\p{L}(?!\p{M}))+", r"(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+"),
    ],
)
def test_classes_hold_the_same_characters(pattern: str) -> None:
    check_portable(pattern)
    assert theirs(pattern, EVERY) == pretokenize(EVERY, Regex(pattern))


def test_published_patterns_consist_of_what_is_portable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_portable, "_NAMED_PATTERNS", frozenset())
    for named in NAMED.values():
        for pattern in named.patterns:
            check_portable(pattern)


LOOKS = ["(?=", "(?!", "(?<=", "(?<!"]


@pytest.mark.parametrize(
    ("pattern", "construct"),
    [
        *((rf"a{one}", one) for one in (r"\w", r"\W", r"\b", r"\B", r"\h", r"\R", r"\X", r"\A")),
        *((rf"a{one}", one) for one in (r"\z", r"\Z", r"\G", r"\K", r"\1", r"\x", r"\u", r"\e")),
        *((rf"a{one}", one) for one in (r"\<", r"\>", r"\'", r"\`", r"\é", r"\0", r"\Q", r"\p")),
        *((f"a{one}b", one) for one in ("^", "$", "}", ")", "]")),
        ("a{b", "{b"),
        *((f"a(?{one}b)", f"(?{one}") for one in ("s", "m", "x", "P", "<", "#")),
        *((f"a{look}{inside}", look) for look in LOOKS for inside in ("", "a", "a|b")),
        *((f"a{look}b$)", "$") for look in LOOKS),
        *((f"a{look}b)*", "*") for look in LOOKS),
        *(
            (f"a{look}{inside})", look)
            for look in LOOKS[2:]
            for inside in ("(?=a)b", "(?<!a)b", "a+", "a?b")
        ),
        *((f"a{look}(b))", look) for look in LOOKS[2:]),
        (r"(?i)a", "(?i"),
        (r"(?-i:a)", "(?-"),
        (r"a+++", "+"),
        (r"a+?+", "+"),
        (r"\p{N}{1,3}+", "+"),
        (r"a{2}?", "{2}?"),
        (r"a{,3}", "{,3}"),
        (r"a{x}", "{x}"),
        (r"a**", "*"),
        (r"a{2}{3}", "{"),
        (r"*a", "*"),
        (r"(+a)", "+"),
        (r"(?:a+)+b", "+"),
        (r"(?:(?:a+)+b?)+?(?!b)", "+?"),
        (r"(?:a{1,2}){2,}", "{2,}"),
        (r"(?:(?:a+)*|b){2}", "*"),
        (r"a(?!(?:b+)+c)", "+"),
        (r"(?:\s?(?!\S))*", "*"),
        (r"a(?!\S)?", "?"),
        (r"[a&&b]", "&&"),
        (r"[a--b]", "--"),
        (r"[#--]", "--"),
        (r"[a~~b]", "~~"),
        (r"[a||b]", "||"),
        (r"[[:alpha:]]", "["),
        (r"[a[b]]", "["),
        (r"[]a]", "]"),
        (r"[^]a]", "]"),
        (r"[z-a]", "-"),
        (r"[\d-z]", "-"),
        (r"[a-\d]", "-"),
        (r"[\w]", r"\w"),
        (r"[a", "["),
        (r"[a-", "["),
        (r"(a", "("),
        (r"(?:a|(b)", "(?:"),
        (r"\p{Alnum}", r"\p{Alnum}"),
        (r"\p{^L}", r"\p"),
        (r"\pL", r"\p"),
        ("\\", "\\"),
        ("(?i:é)", "é"),
        ("(?i:[é])", "é"),
        ("(?i:ss)", "ss"),
        ("(?i:aFFb)", "FF"),
        (r"(?i:\p{Lu})", r"\p{Lu}"),
        (r"(?i:\u00e9)", r"\u00e9"),
        (r"[\u0062-\x{61}]", "-"),
        ("(" * 60 + "a" + ")" * 60, "("),
    ],
)
def test_refused(pattern: str, construct: str) -> None:
    with pytest.raises(PatternError, match="engine of Hugging Face's") as caught:
        check_portable(pattern, "t.json")
    assert caught.value.value == construct
    assert str(caught.value).startswith("t.json: pattern ")
    index = caught.value.index
    assert index is not None
    assert pattern[index:].startswith(construct[:2])


ATOMS = [
    *"abkstfiKS '-,#~&=!<>:_\"@%/;é中\n\t",
    *(r"\s", r"\S", r"\d", r"\D", r"\p{L}", r"\p{N}", r"\P{L}", r"\p{Lu}", r"\p{Han}", r"\r"),
    *(r"\-", r"\.", r"\[", r"\]", r"\^", r"\\", r"\/", r"\&", r"\~", r"\#", r"\"", r"\v", r"\f"),
    *(r"\w", r"\b", r"\'", r"\_", r"\:", r"\=", r"\@", r"\%", r"\!", r"\,", r"\;", r"\{", r"\$"),
    *("^", "$", "."),
]
REPEATS = [
    *[""] * 5,
    "+",
    "*",
    "?",
    "+?",
    "*?",
    "??",
    "{2}",
    "{1,3}",
    "{2,}",
    "{1,3}?",
    "{2}?",
    "++",
]
TEXT = [*"abkstfiKSſßẞﬀﬁﬆİıéK中́ \t\n\r\x0b\x85\u00a0\u2028'-,#~&=!^][\"019²٣𝟘AZǅ_."]


def some_class(rng: random.Random) -> str:
    odd = ["^", "]", "[", "-", "&&", "--", "a-", f"{rng.choice('abk0A ')}-{rng.choice('fmz9Zé')}"]
    items = [rng.choice(odd if rng.random() < 0.3 else ATOMS) for _ in range(rng.randrange(1, 5))]
    return f"[{rng.choice(['', '^'])}{''.join(items)}]"


def some_pattern(rng: random.Random, depth: int = 0) -> str:
    def atom() -> str:
        kind = rng.random()
        if kind < 0.2 and depth < 3:
            return f"{rng.choice(['(?:', '(?i:', '('])}{some_pattern(rng, depth + 1)})"
        if kind < 0.4:
            return some_class(rng)
        if kind < 0.5:
            inside = rng.choice([r"\S", r"\s", rng.choice(ATOMS)])
            if rng.random() < 0.5 and depth < 3:
                inside = some_pattern(rng, depth + 1)
            return f"{rng.choice(LOOKS)}{inside})"
        return str(rng.choice(ATOMS))

    def branch() -> str:
        return "".join(atom() + rng.choice(REPEATS) for _ in range(rng.randrange(1, 4)))

    return "|".join(branch() for _ in range(rng.choice([1, 1, 2, 3])))


def test_random_patterns_are_refused_or_read_alike() -> None:
    """8,000 patterns, of which about 1,200 cross over, on 20 texts each."""
    rng = random.Random(7)
    crossed = 0
    for _ in range(8_000):
        pattern = some_pattern(rng)
        try:
            check_portable(pattern)
            splitter = Pretokenizer(Regex(pattern)).splitter()
        except DigramError:
            continue
        crossed += 1
        for _ in range(20):
            text = "".join(rng.choices(TEXT, k=rng.randrange(30)))
            assert theirs(pattern, text) == splitter.split(text), (pattern, text)
    assert crossed > 800


ONIGURUMAS = [
    *(
        r"\w",
        r"\W",
        r"\w+|[^\w\s]+",
        r"[\w\s]+",
        r"[^\wa]",
        r"[\W]",
        r"[\H1]+",
        r"\h+",
        r"\H",
        r"[\h_]+",
        "[[:punct:]]",
    ),
    *(r"[^[:punct:]a]+", "[a[b-d]e]", "[^[ab]c]", r"[x[(\s|]y]+", r"\s+$", ".$", r"\p{N}{1,3}+"),
    *(r"\b", r"\B", r"\b.", r"\B.\B", r"^.", r"(?<=^.).", r"^\s+|\s+$|\S", r".\z", r"\A.", r".\Z"),
    *(r"\R", r"\R+", r"\N+", r"\O{3}", r"(?<one>\p{L})\p{M}", r"(?'one'\p{L}+)|\p{N}"),
    *(r"[^\x00-\x7F]+", r"\x41|\x7", r"[\0-\040\x7f]", r"\e|[\e-\x30]", "(?i)[a-k]+|s", "(?m).+"),
    *("(?mi:.[a-c]|k.).", "(?m)(?i:a|.{3})|x", "(?m:.)b.", "(?im)s|."),
    *(r"\p{^L}", r"\P{^Lu}", r"[\p{^Alpha}a]", r"\p{ lowercase-Letter }", r"\P{alnum}"),
    *(rf"\p{{{name}}}" for name in ("Alnum", "Blank", "Graph", "Print", "XDigit")),
    *(rf"[a\P{{{name}}}]" for name in ("Alnum", "Blank", "Graph", "Print", "XDigit")),
    *(f"[[:{name}:]]" for name in POSIX),
    *(f"[a[:^{name}:]é]" for name in POSIX),
]


@pytest.mark.parametrize("pattern", ONIGURUMAS)
def test_constructs_of_their_engine_are_written_in_other_words(pattern: str) -> None:
    with pytest.raises(PatternError):
        check_portable(pattern)
    ours = from_oniguruma(pattern, anchors=True)
    assert from_oniguruma(ours, anchors=True) == ours
    assert theirs(pattern, EVERY) == pretokenize(EVERY, Regex(ours))


@pytest.mark.parametrize(
    ("pattern", "construct"),
    [
        *((one, one) for one in (r"\X", r"\K", r"\G", r"\p{Word}", r"\p{Emojis}", r"\xe9")),
        *((f"[a{one}]", "[") for one in ("[:alphas:]", "[b")),
        *((rf"(?i:{one})", one) for one in (r"\w", r"\b")),
        *((rf"(?i:{one})", one[:2]) for one in (r"\p{^L}", r"\X")),
        (r"(?i:[[:alpha:]])", "["),
        *((one + "a)", one[:3]) for one in ("(?<1>", "(?~", "(?-i:", "(?x:")),
        *((rf"(.){one}", one[:2]) for one in (r"\1", r"\k<a>", r"\g<1>")),
        ("[a[^[b]]]", "["),
        ("a(?i)b", "(?i"),
        *((f"[a[{one}]]", one[0]) for one in ("-b", "[b]", r"\w")),
        ("[&[&a]]", "&&"),
        ("a{2,3}+", "+"),
        ("a{1,3}++", "+"),
        ("a+++", "+"),
        (r"(?:\s?$)+", "+"),
    ],
)
def test_constructs_of_their_engine_that_have_no_other_words(pattern: str, construct: str) -> None:
    with pytest.raises(PatternError, match="of Hugging Face's tokenizers") as caught:
        from_oniguruma(pattern, "t.json", anchors=True)
    assert caught.value.value == construct


def test_random_patterns_of_their_engine_are_refused_or_read_alike() -> None:
    """8,000 patterns with constructs that are written in other words, on 20 texts each."""
    rng = random.Random(8)
    extra = [
        r"\w",
        r"\W",
        r"\h",
        "$",
        ".",
        "[a[bk]s]",
        "[[:punct:]é]",
        r"[\w-]",
        r"[^\h ]",
        "[^[ab]k]",
        *(r"\A", r"\z", r"\Z", "^", r"\R", r"\x41", r"[\W_]", "[[:alpha:][:^upper:]]", r"\p{^Lu}"),
    ]
    changed = 0
    for _ in range(8_000):
        atoms = [
            rng.choice(extra if rng.random() < 0.5 else ATOMS) for _ in range(rng.randrange(1, 5))
        ]
        pattern = "".join(atom + rng.choice([*REPEATS, "{1,3}+"]) for atom in atoms)
        try:
            ours = from_oniguruma(pattern, anchors=True)
            splitter = Pretokenizer(Regex(ours)).splitter()
        except DigramError:
            continue
        changed += ours != pattern
        for _ in range(20):
            text = "".join(rng.choices(TEXT, k=rng.randrange(30)))
            expected = theirs_in_time(pattern, text)
            if expected is None:
                continue
            assert expected == splitter.split(text), (pattern, ours, text)
    assert changed > 800


def test_random_look_around_of_their_engine_is_read_alike() -> None:
    """3,000 patterns, of which about 150 cross over; what their engine refuses is in no file."""
    rng = random.Random(11)
    crossed = 0
    for _ in range(3_000):
        parts = (some_pattern(rng, 2) for _ in range(2))
        behind = rng.choice(["(?<=", "(?<!"]) + rng.choice(["", "", "^", r"\b", "a+|"])
        pattern = f"{next(parts)}{behind}{next(parts)}){rng.choice(ATOMS)}"
        try:
            splitter = Pretokenizer(Regex(from_oniguruma(pattern, anchors=True))).splitter()
            theirs(pattern, "")
        except DigramError:
            continue
        except Exception as error:
            if "Oniguruma error" not in str(error):
                raise
            continue
        crossed += 1
        for _ in range(20):
            text = "".join(rng.choices(TEXT, k=rng.randrange(30)))
            expected = theirs_in_time(pattern, text)
            if expected is None:
                continue
            assert expected == splitter.split(text), (pattern, text)
    assert crossed > 100


def test_what_is_slow_to_their_engine_alone_is_read() -> None:
    slow = r"(?:a+)+b"
    assert from_oniguruma(slow) == slow
    assert pretokenize("a" * 50 + "c" + "aab", Regex(slow)) == ["a" * 50 + "c", "aab"]
    with pytest.raises(PatternError, match="may take exponential time to the engine"):
        check_portable(slow)


@pytest.mark.parametrize("pattern", ["^", r"\b", r"\B", r"\A", r"\z", r"\Z"])
def test_anchors_are_read_only_where_any_look_around_is(pattern: str) -> None:
    with pytest.raises(PatternError, match="is not supported in a pattern of Hugging Face's"):
        from_oniguruma(pattern)
    assert "(?" in from_oniguruma(pattern, anchors=True)


def test_reasons_say_what_is_missing() -> None:
    with pytest.raises(
        PatternError, match=r"'\\\\X' \(a cluster of characters\) is not supported in"
    ):
        from_oniguruma(r"a\X")


def test_patterns_that_take_nothing() -> None:
    for pattern in (r"(?=a)|(?<!b)", r"(?:(?=a)(?!b))", r"(?>(?=a))"):
        assert takes_nothing(pattern)
    for pattern in (r"(?=a)|b", r"a?", r"(?=a)b*"):
        assert not takes_nothing(pattern)


@pytest.mark.parametrize("digits", ["individual", "threes_from_left", "threes_from_right"])
def test_digit_policies_are_read_alike(digits: str) -> None:
    pretokenizer = Pretokenizer(None, digits=digits)  # type: ignore[arg-type]
    stage = to_stages(pretokenizer, "char")
    assert stage is not None
    pattern = stage["pattern"]["Regex"]
    rng = random.Random(3)
    for length in (*range(40), *[rng.randrange(200) for _ in range(200)]):
        text = "".join(rng.choices("0123456789٣½²a, " if length % 2 else "0123456789", k=length))
        assert theirs(pattern, text) == pretokenizer.splitter().split(text)
