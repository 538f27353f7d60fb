//! The automaton splits as the `regex` crate does.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use digram::Error;
use digram::interrupt::Interrupt;
use digram::pretokenize::{GoesOn, Pretokenizer, Rules, Stage};
use proptest::prelude::*;

use crate::cases::cases;

const PIECES: [&str; 18] = [
    "a", "B", "é", "ſ", "K", " ", "\n", "\r", "\t", "\u{a0}", "\u{3000}", "1", "٣", "½", "'", "!", "語",
    "\u{301}",
];

/// Patterns of the syntax that both know, with alternatives, repeats of all kinds and anchors.
const PATTERNS: [&str; 16] = [
    r"\w+|\s+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
    r"(?i:'s|'k)|\p{L}+?\p{M}|.",
    r"a*b|a",
    r"a+b",
    r"(?:ab|a)(?:c|bcd)?",
    r"\s+$|\s",
    r"^\S+|\d",
    r"\b\w+\b",
    r"\B.",
    r"(?m)^.+$",
    r"\p{Lu}?\p{Ll}{2,4}?|\p{N}",
    r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?",
    r"[a-zé]+(?:'[a-z]+)*",
    r"(?s-m:.{3})",
    r"[[:alpha:]&&[^a]]+",
];

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat())
}

/// Compiling takes a thousand times as long as splitting a small text.
fn compiled(pattern: &str) -> Arc<(Pretokenizer, regex::Regex)> {
    type Compiled = HashMap<String, Arc<(Pretokenizer, regex::Regex)>>;
    static COMPILED: LazyLock<Mutex<Compiled>> = LazyLock::new(Mutex::default);
    let new = || {
        let pretokenizer = Pretokenizer::new(&[Stage::Pattern(pattern.into())]).unwrap();
        // Look-ahead is ours alone.
        (pretokenizer, regex::Regex::new(pattern).unwrap_or(regex::Regex::new("x").unwrap()))
    };
    COMPILED.lock().unwrap().entry(pattern.into()).or_insert_with(|| Arc::new(new())).clone()
}

fn split(pattern: &str, text: &[u8]) -> Vec<Vec<u8>> {
    compiled(pattern).0.split(text).into_iter().map(<[u8]>::to_vec).collect()
}

/// The matches and what stands between them.
fn expected(pattern: &str, text: &str) -> Vec<Vec<u8>> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    for found in compiled(pattern).1.find_iter(text) {
        pieces.push(&text[at..found.start()]);
        pieces.push(found.as_str());
        at = found.end();
    }
    pieces.push(&text[at..]);
    pieces.into_iter().filter(|piece| !piece.is_empty()).map(|piece| piece.as_bytes().to_vec()).collect()
}

proptest! {
    #![proptest_config(cases(6_000))]

    #[test]
    fn matches_are_those_of_the_regex_crate(pattern in proptest::sample::select(&PATTERNS[..]), text in texts()) {
        prop_assert_eq!(split(pattern, text.as_bytes()), expected(pattern, &text), "{}", pattern);
    }

    #[test]
    fn runs_longer_than_what_is_matched_without_notes(
        pattern in proptest::sample::select(&PATTERNS[..]),
        runs in proptest::collection::vec((proptest::sample::select(&PIECES[..]), 1..400usize), 1..5),
    ) {
        let text: String = runs.into_iter().map(|(piece, times)| piece.repeat(times)).collect();
        prop_assert_eq!(split(pattern, text.as_bytes()), expected(pattern, &text), "{}", pattern);
    }

    #[test]
    fn bytes_that_are_no_utf8_split_as_the_replacement_character(
        pattern in proptest::sample::select(&PATTERNS[..]),
        parts in proptest::collection::vec(prop_oneof![texts().prop_map(String::into_bytes), any::<[u8; 2]>().prop_map(|b| b.to_vec())], 0..6),
    ) {
        let bytes = parts.concat();
        let pieces = split(pattern, &bytes);
        prop_assert_eq!(pieces.concat(), bytes.clone());
        let replaced: Vec<String> = pieces.iter().map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
        let whole = String::from_utf8_lossy(&bytes);
        prop_assert_eq!(replaced.iter().map(|s| s.as_bytes().to_vec()).collect::<Vec<_>>(), expected(pattern, &whole));
    }
}

/// Whether a pretoken holds a space behind a character that is not white space.
fn joins_words(pretoken: &[u8]) -> bool {
    let mut before = ' ';
    String::from_utf8_lossy(pretoken).chars().any(|c| {
        let joined = c == ' ' && !before.is_whitespace();
        before = c;
        joined
    })
}

proptest! {
    #![proptest_config(cases(6_000))]

    #[test]
    fn words_are_joined_by_those_alone_that_say_so(
        pattern in proptest::sample::select(&PATTERNS[..]),
        pieces in proptest::collection::vec(proptest::sample::select(&["a", "B", " ", " ", "\n", "1", "!", "'s", "\u{a0}"][..]), 0..20),
    ) {
        let text = pieces.concat();
        let joined = split(pattern, text.as_bytes()).iter().any(|pretoken| joins_words(pretoken));
        prop_assert!(!joined || compiled(pattern).0.joins_words(), "{} joins words of {:?}", pattern, text);
    }
}

#[test]
fn published_patterns_keep_words_apart() {
    let published = [
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"[^\s\p{L}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        r"\S+|\s+",
        r"\w+|[^\w\s]+|\s+",
    ];
    for pattern in published {
        assert!(!compiled(pattern).0.joins_words(), "{pattern}");
    }
    for pattern in [r"[^\n]+|\n", r"\p{L}+", r" ?[\p{L}' ]+|\s+|.", r"a b|\S|\s", r"\b\w+\b|\s+"] {
        assert!(compiled(pattern).0.joins_words(), "{pattern}");
    }
    let both = [Stage::Pattern(r"[^\n]+|\n".into()), Stage::Pattern(r"\S+|\s+".into())];
    assert!(!Pretokenizer::new(&both).unwrap().joins_words());
    assert!(Pretokenizer::new(&[]).unwrap().joins_words());
}

/// Look-ahead, gaps, stages one after the other.
fn pretokenizers() -> &'static [Pretokenizer] {
    static ALL: LazyLock<Vec<Pretokenizer>> = LazyLock::new(|| {
        let ahead = r"'(?i:[sdmt]|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
        let mut stages: Vec<Vec<Stage>> = vec![
            vec![],
            vec![Stage::Pattern(ahead.into())],
            vec![Stage::ThreesFromRight, Stage::Pattern(ahead.into())],
            vec![Stage::Pattern(r"\p{N}".into()), Stage::Pattern(ahead.into())],
            vec![
                Stage::Pattern(r"\s+".into()),
                Stage::ThreesFromRight,
                Stage::Pattern(r"\p{Lu}?\p{Ll}+".into()),
            ],
        ];
        let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let rules = Rules {
            terms: texts(&["aa", "a B", "1a", "é", "a!", "語", "B"]),
            units: texts(&["a", "é", "'"]),
            patterns: texts(&[r"[aB]\d+", "B+a?"]),
            ..Rules::default()
        };
        let pattern = Stage::Pattern(ahead.into());
        stages.push(vec![Stage::Rules(rules.clone()), pattern.clone()]);
        stages.push(vec![
            Stage::Rules(Rules { numbers: true, ..rules.clone() }),
            Stage::ThreesFromRight,
            pattern.clone(),
        ]);
        stages.push(vec![
            Stage::Rules(Rules { numbers: true, whole_numbers: true, ..rules.clone() }),
            pattern.clone(),
        ]);
        stages.push(vec![
            Stage::Rules(Rules { units: Vec::new(), ..rules.clone() }),
            Stage::Pattern(r"\s+".into()),
            pattern,
        ]);
        stages.push(vec![Stage::Rules(Rules { blanks: true, ..rules.clone() })]);
        stages.push(vec![Stage::Rules(rules)]);
        stages.extend(
            [
                r"(?<=[a-z]|B!)\w|(?=1)|\s+(?=\S{2})",
                r"(?<!\s\s)\w+(?=.?\s|$)|(?<=^a*)B|[^a]",
                r"(?=a.*!)a|(?<=1[^!]*)\s+",
            ]
            .map(|pattern| vec![Stage::Pattern(pattern.into())]),
        );
        stages.extend(PATTERNS.map(|pattern| vec![Stage::Pattern(pattern.into())]));
        stages.iter().map(|stages| Pretokenizer::new(stages).unwrap()).collect()
    });
    &ALL
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        8 => proptest::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => (proptest::sample::select(&PIECES[..]), 1..90usize).prop_map(|(p, n)| p.repeat(n).into_bytes()),
        1 => any::<[u8; 2]>().prop_map(|bytes| bytes.to_vec()),
    ];
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn at_a_border_the_parts_have_the_pretokens_of_the_whole(
        pretokenizer in 0..pretokenizers().len(), text in any_text()
    ) {
        let pretokenizer = &pretokenizers()[pretokenizer];
        let whole = pretokenizer.split(&text);
        for at in (0..=text.len()).filter(|&at| pretokenizer.is_border(&text, at)) {
            let parts = [pretokenizer.split(&text[..at]), pretokenizer.split(&text[at..])].concat();
            prop_assert_eq!(&parts, &whole, "{:?} {}", String::from_utf8_lossy(&text), at);
        }
    }

    #[test]
    fn settled_pretokens_stay_however_the_text_goes_on(
        pretokenizer in 0..pretokenizers().len(), text in any_text(), end in any::<proptest::sample::Index>(),
    ) {
        let pretokenizer = &pretokenizers()[pretokenizer];
        let known = &text[..end.index(text.len() + 1)];
        let mut pieces = Vec::new();
        let flow = pretokenizer.try_for_many(known, 0, GoesOn::Maybe, |mut start, ends| {
            ends.iter().for_each(|&end| pieces.push(&known[std::mem::replace(&mut start, end)..end]));
            std::ops::ControlFlow::<()>::Continue(())
        });
        let settled: usize = pieces.iter().map(|piece| piece.len()).sum();
        prop_assert_eq!(flow, std::ops::ControlFlow::Continue(settled));
        let whole = pretokenizer.split(&text);
        prop_assert!(whole.starts_with(&pieces), "{:?} {}", String::from_utf8_lossy(&text), known.len());
    }
}

#[test]
fn borders_are_all_over_most_text() {
    let text = "The quick brown foxes weren't amused, 'twas said; 1,234 of them.\n".repeat(4);
    for pretokenizer in &pretokenizers()[1..4] {
        let borders = (0..text.len()).filter(|&at| pretokenizer.is_border(text.as_bytes(), at)).count();
        let pretokens = pretokenizer.split(text.as_bytes()).len();
        assert!(borders * 4 > pretokens * 3, "{borders} borders for {pretokens} pretokens");
        let mut settled = 0;
        _ = pretokenizer.try_for_many(text.as_bytes(), 0, GoesOn::Maybe, |_, ends| {
            settled += ends.len();
            std::ops::ControlFlow::<()>::Continue(())
        });
        assert!(settled + 2 >= pretokens, "{settled} of {pretokens} pretokens settled");
    }
}

#[test]
fn one_character_of_look_ahead() {
    let text = b"a  b   \n  c  ";
    let pieces: Vec<String> = split(r"\s+(?!\S)|\s+|\S+", text)
        .into_iter()
        .map(|piece| String::from_utf8(piece).unwrap())
        .collect();
    assert_eq!(pieces, ["a", " ", " ", "b", "   \n ", " ", "c", "  "]);
    assert_eq!(split(r"a(?=b)|[ab]{2}", b"aab"), [b"aa".to_vec(), b"b".to_vec()]);
    assert_eq!(split(r"a(?=b)", b"aab"), [b"a".to_vec(), b"a".to_vec(), b"b".to_vec()]);
}

#[test]
fn look_around_of_any_kind() {
    let strings = |pattern: &str, text: &str| -> Vec<String> {
        split(pattern, text.as_bytes()).into_iter().map(|piece| String::from_utf8(piece).unwrap()).collect()
    };
    assert_eq!(strings(r"(?<=[a-z])(?=[A-Z])", "oneTwoTHree"), ["one", "Two", "THree"]);
    assert_eq!(strings(r"(?<=a+)b", "babaab"), ["ba", "b", "aa", "b"]);
    assert_eq!(strings(r"(?<!\d\d)\w(?=.*!)", "é12a!b"), ["é", "1", "2", "a!b"]);
    assert_eq!(strings(r"(?i)a(?=b)", "aBab"), ["a", "B", "a", "b"]);
    assert_eq!(strings(r"a(?=b(?!c)|(?<=xa)$)", "abcabxa"), ["abc", "a", "bx", "a"]);
    assert_eq!(strings(r"(?=)", "aé!"), ["a", "é", "!"]);
    assert_eq!(strings(r"(?!)", "aé!"), ["aé!"]);
    // Over the borders of windows, forward and backward, beside characters of several bytes.
    for length in [(1 << 16) - 2, (1 << 16) - 1, 1 << 16, (1 << 18) + 1] {
        let run = "é".repeat(length);
        let text = format!("a{run}b{run}a{run}");
        let ends = [1, length * 2 + 1, length * 2 + 2, length * 4 + 2, length * 4 + 3];
        let found =
            compiled(r"(?<=^aé*)b|(?<!a.*)a(?=é+b)|(?<=bé+)a(?=é+$)").0.ends(text.as_bytes(), &digram::Never);
        assert_eq!(found.unwrap(), [&ends[..], &[text.len()]].concat());
    }
}

#[test]
fn look_around_takes_linear_time() {
    // Quadratic work would be 2^36 steps or more.
    let text = "a".repeat(1 << 18);
    for pattern in
        [r"(?=a+b)a", r"(?<=b.*)a", r"a(?=.*b)|a+b", r"(?<!^a*)a", r"(?:(?=a+)a)+b|(?<=a{9})(?=a+$)a"]
    {
        assert!(!split(pattern, text.as_bytes()).is_empty());
    }
}

#[test]
fn what_is_not_supported_says_so() {
    for (pattern, says) in [
        (r"(?<=a)b", ""),
        (r"(?!ab)c", ""),
        (r"(?<!a(?=b*c)[^d]?)(?i:e)|(?!)", ""),
        (r"(a)\1", "backreferences"),
        (r"a*", "match nothing"),
        (r"(?!\S)", ""),
        (r"[a(?<=b)]", ""),
        (r"(?<=a)b|c?", "match nothing"),
        (r"a$|b*", "match nothing"),
        (r"(?x)a #(?=b)", "inside a set"),
        (r"(?<=a++)b", "look-behind"),
        (r"(?=a++a)b", "possessive quantifier"),
        (r"(?:(?=a)b?)*c", "match the empty string"),
        (r"(?<=(a|b)*a(a|b){15})c", "states"),
        (r"a|", "match nothing"),
        (r"a++a", "possessive quantifier"),
        (r"(?:\p{N}{1,3}+x?)+", ""),
        (r"(?:\p{N}{1,3}+1)+", "possessive quantifier"),
        (r" ?+[^a]", "possessive quantifier"),
        (r"a++|\p{N}{1,3}+| ?+a", ""),
        (r"\p{L}+[+*]+\++", ""),
        (r"[", "unclosed"),
        (r"(?!a", "unclosed"),
        (r"[(?!a)]x", ""),
        (r"\w{1,30000}", "steps"),
        (r"(a|b)*a(a|b){15}", "states"),
    ] {
        match Pretokenizer::new(&[Stage::Pattern(pattern.into())]) {
            Ok(_) => assert_eq!(says, "", "{pattern}"),
            Err(error) => assert!(!says.is_empty() && error.to_string().contains(says), "{pattern}: {error}"),
        }
    }
}

/// Patterns that are short and whose automata are not.
fn large() -> Vec<(String, bool)> {
    let sets = |count: u32| (0..count).map(|i| format!("[{}-{}]", letter(i), letter(2 * i + 1)));
    vec![
        // Each is refused or not on every machine, since work is counted in steps.
        ("a{1,9000}".into(), true),
        ("[a-z]{1,9000}".into(), true),
        ("(a|b|ab){1,3000}".into(), true),
        ("(?:a?){1,9000}b".into(), false),
        (format!("(?s:{})x", ".?".repeat(9000)), false),
        (format!("(?:{}x){{1,20}}", sets(120).map(|set| set + "?").collect::<String>()), false),
        (format!("(?:{}){{1,100}}", sets(100).collect::<Vec<_>>().join("|")), true),
        (r"(?:\b\w|\B\W){1,900}".into(), true),
        (r"\w".repeat(1 << 15) + "x", false),
    ]
}

fn letter(number: u32) -> char {
    char::from_u32(0x100 + number).unwrap()
}

#[test]
fn large_automata_are_built_or_refused_in_so_many_steps_and_the_watch_is_asked() {
    struct Asked(std::cell::Cell<usize>);
    impl Interrupt for Asked {
        fn check(&self) -> digram::Result<()> {
            self.0.set(self.0.get() + 1);
            Ok(())
        }
    }
    for (pattern, fits) in large() {
        let interrupt = Asked(0.into());
        match Pretokenizer::with_interrupt(&[Stage::Pattern(pattern.clone())], &interrupt) {
            Ok(_) => assert!(fits, "{pattern:.20}"),
            Err(error) => {
                let error = error.to_string();
                assert!(!fits, "{pattern:.20}: {error}");
                assert!(error.contains("more than") && error.len() < 400, "{error}");
            }
        }
        assert!(interrupt.0.get() <= 1 << 10, "{pattern:.20}: {}", interrupt.0.get());
        let stopped = Pretokenizer::with_interrupt(&[Stage::Pattern(pattern.clone())], &Stopped).err();
        let is_asked = interrupt.0.get() > 0;
        assert_eq!(stopped == Some(Error::Interrupted), is_asked, "{pattern:.20}");
    }
    // The steps of all patterns are limited together.
    let rules = |count: usize| Rules {
        patterns: (0..count).map(|number| format!("[a-z]{{1,20}}{number}")).collect(),
        ..Rules::default()
    };
    assert!(Pretokenizer::new(&[Stage::Rules(rules(200))]).is_ok());
    let error = Pretokenizer::new(&[Stage::Rules(rules(20_000))]).err().unwrap();
    assert!(error.to_string().contains("after those of the patterns before it"), "{error}");
}

struct Stopped;

impl Interrupt for Stopped {
    fn check(&self) -> digram::Result<()> {
        Err(Error::Interrupted)
    }
}

#[test]
fn a_pattern_that_looks_far_ahead_in_vain_takes_linear_time() {
    // Counted in time, but far from the limit: quadratic work would be 2^36 steps here.
    let text = "a".repeat(1 << 18);
    assert_eq!(split(r"a+b", text.as_bytes()).len(), 1);
    assert_eq!(split(r"a*b|a", text.as_bytes()).len(), 1 << 18);
    let spaced = format!("{}x", "\n  ".repeat(1 << 16));
    assert_eq!(split(r"\s*[\r\n]+|\s+(?!\S)|\s+|x", spaced.as_bytes()).len(), 4);
}
